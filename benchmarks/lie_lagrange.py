"""What Lagrange's equations on Lie groups cost, traced: operations and times per state,
beside the recursive algorithms.

    python benchmarks/lie_lagrange.py

Prints a table; writes it to benchmarks/results/lie_lagrange.json.
"""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import numpy as np
from arms import arm, states
from rich.console import Console
from rich.table import Table
from timing import machine, seconds

import gyrostat as gs
from gyrostat.formulations import lie_lagrange, recursive
from gyrostat.tracing import compile

LENGTHS = (3, 6, 12, 24)
BATCH = 1000
QUANTITIES = {
    "forward dynamics: recursive": (recursive.forward_dynamics, {}),
    "forward dynamics: lie_lagrange": (lie_lagrange.forward_dynamics, {}),
    "mass matrix: recursive": (recursive.mass_matrix, {}),
    "mass matrix: lie_lagrange": (lie_lagrange.mass_matrix, {}),
    "C: christoffel": (gs.coriolis_matrix, {"choice": "christoffel"}),
    "C: skew": (gs.coriolis_matrix, {"choice": "skew"}),
    "C: lie": (gs.coriolis_matrix, {"choice": "lie"}),
    "reduced dynamics, SO(3) x R^n": (lie_lagrange.reduced_forward_dynamics, {}),
    "joint dynamics at any momentum": (lie_lagrange.joint_dynamics, {}),
}
SHAPES = {
    "reduced dynamics, SO(3) x R^n": lambda n: {"f": (n - 3,)},
    "joint dynamics at any momentum": lambda n: {"qd": (n - 6,), "tau_q": (n - 6,), "h_B": (3,)},
}


def rows_of(links: int) -> list[dict[str, Any]]:
    """Operations and times of all quantities for one arm, measured in turn."""
    craft = arm(links)
    q, v, tau = states(craft, BATCH)
    known = {
        "q": q,
        "v": v,
        "tau": tau,
        "f": np.delete(v, [3, 4, 5], axis=1),
        "qd": v[:, 6:],
        "tau_q": tau[:, 6:],
        "h_B": v[:, :3],
    }
    kernels, calls = {}, {}
    for name, (function, static) in QUANTITIES.items():
        inputs = SHAPES[name](craft.nv) if name in SHAPES else None
        kernel = compile(function, craft, inputs=inputs, static=static or None, threads=1)
        given = [known[port.path[0]] for port in kernel.graph.inputs]
        kernels[name], calls[name] = kernel, lambda kernel=kernel, given=given: kernel(*given)
    times = seconds(calls)
    return [
        {
            "quantity": name,
            "links": links,
            "operations": len(kernels[name].graph),
            "microseconds": 1e6 * times[name] / BATCH,
        }
        for name in QUANTITIES
    ]


def main() -> None:
    console = Console(width=120)
    rows = [row for links in LENGTHS for row in rows_of(links)]
    table = Table(
        "quantity", *(f"{n} links" for n in LENGTHS), title=f"operations, µs per state (batch of {BATCH}, one thread)"
    )
    for name in QUANTITIES:
        own = [r for r in rows if r["quantity"] == name]
        table.add_row(name, *(f"{r['operations']} / {r['microseconds']:.3f}" for r in own))
    console.print(table)
    place = Path(__file__).parent / "results" / "lie_lagrange.json"
    place.parent.mkdir(exist_ok=True)
    place.write_text(
        json.dumps({"machine": machine(), "date": datetime.date.today().isoformat(), "rows": rows}, indent=1) + "\n"
    )
    console.print(f"written to {place}")


if __name__ == "__main__":
    main()
