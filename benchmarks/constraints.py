"""What constraints cost: two six-link arms welded to one client,
beside the same craft without constraints and MuJoCo's weld.

    python benchmarks/constraints.py

Prints a table; writes it to benchmarks/results/constraints.json. Processor time on one thread.
"""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from rich.console import Console
from rich.table import Table
from timing import machine, seconds

from gyrostat import constraints as gc
from gyrostat.formulations import attitude_lagrange, recursive
from gyrostat.kinematics import neutral
from gyrostat.papers.forbes2019 import crafts
from gyrostat.papers.forbes2019.servicing import welded_in_mujoco
from gyrostat.tracing import compile

BATCH = 1024


def rows() -> list[dict[str, Any]]:
    """One row per way to compute accelerations: operations, one state, a batch."""
    craft, constraints, q, v = crafts.two_arms(0.03)
    tau = crafts.wave(craft, 1.0, q, v)

    def constrained(craft: Any, q: Any, v: Any, tau: Any) -> Any:
        return gc.constrained_forward_dynamics(craft, 0.0, q, v, tau, constraints)

    functions = {"free: articulated bodies": recursive.forward_dynamics, "two welds, 12 rows": constrained}
    single = gc.weld("hand_L", "grip_L")

    def one_weld(craft: Any, q: Any, v: Any, tau: Any) -> Any:
        return gc.constrained_forward_dynamics(craft, 0.0, q, v, tau, [single])

    functions["one weld, 6 rows"] = one_weld
    kernels = {name: compile(f, craft, threads=1) for name, f in functions.items()}
    alone = crafts.servicer()
    maximal = compile(attitude_lagrange.forward_dynamics, alone, threads=1)
    free = (neutral(alone), np.zeros(alone.nv), np.ones(alone.nv))
    state = (q, v, tau)
    many = tuple(np.repeat(x[None], BATCH, axis=0) for x in state)
    calls: dict[str, Any] = {}
    for name, kernel in kernels.items():
        calls[name, "one"] = lambda kernel=kernel: kernel(*state)
        calls[name, "batch"] = lambda kernel=kernel: kernel(*many)
    key = "servicer alone, maximal coordinates: 13 joints as constraints"
    calls[key, "one"] = lambda: maximal(*free)
    many_free = tuple(np.repeat(x[None], BATCH, axis=0) for x in free)
    calls[key, "batch"] = lambda: maximal(*many_free)
    peer = welded_in_mujoco(craft, constraints, 1e-3)
    peer.set_state(q, v)
    calls["MuJoCo, two welds: mj_forward", "one"] = lambda: mujoco.mj_forward(peer.model, peer.data)
    times = seconds({f"{a}|{b}": call for (a, b), call in calls.items()})
    found = []
    for name in dict.fromkeys(a for a, _ in calls):
        kernel = {**kernels, key: maximal}.get(name)
        batch = times.get(f"{name}|batch")
        found.append(
            {
                "what": name,
                "operations": None if kernel is None else len(kernel.graph),
                "one_us": 1e6 * times[f"{name}|one"],
                "batch_us": None if batch is None else 1e6 * batch / BATCH,
            }
        )
    return found


def main() -> None:
    found = rows()
    table = Table("accelerations of", "operations", "one state, us", f"of a batch of {BATCH}, us", box=None)
    for row in found:
        cells = (row["operations"], row["one_us"], row["batch_us"])
        table.add_row(row["what"], *("" if c is None else f"{c}" if isinstance(c, int) else f"{c:.3g}" for c in cells))
    Console().print(table)
    result = {
        "machine": machine(),
        "date": datetime.date.today().isoformat(),
        "mujoco": mujoco.__version__,
        "rows": found,
    }
    out = Path(__file__).parent / "results" / "constraints.json"
    out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
