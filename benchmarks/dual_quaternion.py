"""What the dual quaternion system costs, traced: eliminated leaf to root, by the symmetric Schur complement,
and dense, beside ABA.

    python benchmarks/dual_quaternion.py

Claim: within 3 times the articulated-body algorithm per state, for 6 and 30 links in series and 12 arms of 6 links on
one base. Prints a table; writes it to benchmarks/results/dual_quaternion.json.
"""

from __future__ import annotations

import datetime
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from arms import arm, states
from rich.console import Console
from rich.table import Table
from timing import machine, seconds

import gyrostat as gs
from gyrostat.formulations import decoupled, dual_quaternion, recursive
from gyrostat.tracing import Kernel, trace

BATCH = 1000
LONGEST = 40_000  # operations that are still compiled here
TRACED = {
    "recursive (ABA)": recursive.forward_dynamics,
    "dual_quaternion, eliminated": dual_quaternion.forward_dynamics,
    "dual_quaternion with reactions": dual_quaternion.solve,
    "dual_quaternion, Schur complement": dual_quaternion.solve_by_schur_complement,
    "decoupled": decoupled.forward_dynamics,
}
CUBIC = ("dual_quaternion, Schur complement", "decoupled")  # not traced for many bodies
DENSE = "dense solve of S in NumPy"


def arms_on_one_base(count: int, links: int) -> gs.Spacecraft:
    """The same arm, `count` times."""
    one = arm(links)
    bodies = [one.bodies[0]]
    for k in range(count):
        for body in one.bodies[1:]:
            parent = "base" if body.parent == "base" else f"{body.parent}_{k}"
            joint = replace(body.joint, name=f"{body.joint.name}_{k}", parent=parent)
            bodies.append(replace(body, name=f"{body.name}_{k}", joint=joint))
    return gs.Spacecraft.build(f"{count} arms of {links} links", bodies)


def rows_of(craft: gs.Spacecraft) -> list[dict[str, Any]]:
    """Operations and microseconds per state of each way, measured in turn."""
    q, v, tau = states(craft, BATCH)
    graphs = {name: trace(f, craft) for name, f in TRACED.items() if not (name in CUBIC and craft.nbodies > 40)}
    calls: dict[str, Any] = {}
    for name, graph in graphs.items():
        if len(graph) <= LONGEST:
            kernel = Kernel(graph, threads=1)
            calls[name] = lambda kernel=kernel: kernel(q, v, tau)
    system = dual_quaternion.assemble(craft, q[0], v[0], tau[0])
    calls[DENSE] = lambda: np.linalg.solve(system.S, system.B)
    times = seconds(calls)
    rows = []
    for name in (*graphs, DENSE):
        operations = len(graphs[name]) if name in graphs else None
        time = times.get(name)
        per_state = None if time is None else 1e6 * time / (1 if name == DENSE else BATCH)
        rows.append({"craft": craft.name, "way": name, "operations": operations, "microseconds": per_state})
    return rows


def main() -> None:
    console = Console(width=120)
    crafts = [arm(6), arm(30), arms_on_one_base(12, 6)]
    table = Table(
        "",
        *(craft.name for craft in crafts),
        title=f"operations, µs per state, times ABA (batch of {BATCH}, one thread)",
    )
    found = {craft.name: {row["way"]: row for row in rows_of(craft)} for craft in crafts}
    for way in (*TRACED, DENSE):
        table.add_row(way, *(_cell(found[craft.name], way) for craft in crafts))
    console.print(table)
    for craft in crafts:
        own = found[craft.name]
        ratio = own["dual_quaternion, eliminated"]["microseconds"] / own["recursive (ABA)"]["microseconds"]
        console.print(
            f"{craft.name}: {ratio:.2f} times ABA per state; claimed: at most 3. {'ok' if ratio <= 3 else 'MISSED'}"
        )
    place = Path(__file__).parent / "results" / "dual_quaternion.json"
    place.parent.mkdir(exist_ok=True)
    rows = [row for own in found.values() for row in own.values()]
    place.write_text(
        json.dumps({"machine": machine(), "date": datetime.date.today().isoformat(), "rows": rows}, indent=1) + "\n"
    )
    console.print(f"written to {place}")


def _cell(own: dict[str, dict[str, Any]], way: str) -> str:
    if way not in own:
        return "-"
    row, reference = own[way], own["recursive (ABA)"]
    operations = "" if row["operations"] is None else f"{row['operations']} / "
    time = "not compiled" if row["microseconds"] is None else f"{row['microseconds']:.3f}"
    ratio = (
        row["microseconds"] / reference["microseconds"]
        if row["microseconds"]
        else row["operations"] / reference["operations"]
    )
    return f"{operations}{time} / {ratio:.2f}"


if __name__ == "__main__":
    main()
