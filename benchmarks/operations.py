"""Operations of compiled equations, and what they are worth: against published counts and against `pin.aba`.

    python benchmarks/operations.py [--quick]

The published count is the articulated-body algorithm's in the table of costs of Featherstone, Rigid Body Dynamics
Algorithms (2008), ch. 10: 224 n - 259 multiplications and 205 n - 248 additions for a chain of n revolute joints with
general frames. Ours is what one more link adds to a random chain; multiplications count reciprocals. Arms are drawn
with seeds that nothing was tuned on. Processor time of one thread, 1e5 states as rows, turn by turn.
Prints tables; writes them to benchmarks/results/operations.json.
"""

from __future__ import annotations

import argparse
import datetime
import json
from pathlib import Path
from typing import Any

import numpy as np
from arms import random_arm, states
from rich.console import Console
from rich.table import Table
from timing import machine, seconds

import gyrostat as gs
from gyrostat import tracing
from gyrostat.models import servicer7

PUBLISHED = {"forward dynamics": (224, 205)}  # multiplications and additions of each further link
FUNCTIONS = {
    "forward dynamics": gs.forward_dynamics,
    "inverse dynamics": gs.inverse_dynamics,
    "mass matrix": gs.mass_matrix,
    "kinetic energy": gs.kinetic_energy,
}
WANTED = {"random arm": 35, "servicer": 65}  # times pin.aba
SEEDS = (101, 102, 103)
SAMPLE = 300  # states for Pinocchio
console = Console(width=120)


def a_link(function: Any, seed: int = 0, few: int = 8, many: int = 16) -> dict[str, float]:
    """Operations that each further link of a chain adds."""
    one, other = (tracing.trace(function, random_arm(n, seed)).counts for n in (few, many))
    each = {op: (other.get(op, 0) - one.get(op, 0)) / (many - few) for op in other}
    products = each.get("mul", 0.0) + each.get("recip", 0.0)
    sums = each.get("add", 0.0) + each.get("sub", 0.0) + each.get("neg", 0.0)
    return {"multiplications": products, "additions": sums, "all": sum(each.values())}


def against_pinocchio(name: str, craft: gs.Spacecraft, batch: int) -> dict[str, Any]:
    import pinocchio as pin

    from gyrostat.verification.peers.pinocchio import Pinocchio

    kernel, given = tracing.compile(gs.forward_dynamics, craft, threads=1), states(craft, batch)
    peer, out = Pinocchio(craft), kernel(*given)
    rows = [(peer.q(q), peer.v(v), peer.v(tau)) for q, v, tau in zip(*(x[:SAMPLE] for x in given), strict=True)]
    for row, found in zip(rows[:20], out, strict=False):
        theirs = pin.aba(peer.model, peer.data, *row)
        assert np.max(np.abs(peer.v(found) - theirs)) <= 1e-9 * np.max(np.abs(theirs)), name
    calls = {
        "gyrostat": lambda: kernel(*given, out=out),
        "pinocchio": lambda: [pin.aba(peer.model, peer.data, *row) for row in rows],
    }
    times = seconds(calls, repeats=9)
    ours, theirs = 1e6 * times["gyrostat"] / batch, 1e6 * times["pinocchio"] / len(rows)
    return {"craft": name, "operations": len(kernel.graph), "us": ours, "pin.aba_us": theirs, "ratio": theirs / ours}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer states, nothing written")
    quick = parser.parse_args().quick
    table = Table("of a random chain", "x a link", "+ a link", "published", title="operations")
    counts = {name: a_link(function) for name, function in FUNCTIONS.items()}
    for name, found in counts.items():
        published = PUBLISHED.get(name)
        table.add_row(
            *(name, f"{found['multiplications']:.1f}", f"{found['additions']:.1f}"),
            "" if published is None else "{} x, {} +".format(*published),
        )
    console.print(table)
    batch = 10_000 if quick else 100_000
    arms = {f"random arm, seed {seed}": random_arm(7, seed) for seed in SEEDS}
    rows = [against_pinocchio(name, craft, batch) for name, craft in (arms | {"servicer": servicer7()}).items()]
    table = Table("craft", "operations", "us a state", "pin.aba, us", "ratio", "wanted", title=f"{batch} states")
    for row in rows:
        wanted = next(value for name, value in WANTED.items() if row["craft"].startswith(name))
        times = f"{row['us']:.4f}", f"{row['pin.aba_us']:.2f}", f"{row['ratio']:.1f}"
        table.add_row(row["craft"], str(row["operations"]), *times, f">= {wanted}")
    console.print(table)
    if not quick:
        written = {"date": str(datetime.date.today()), "machine": machine(), "operations": counts, "rows": rows}
        (Path(__file__).parent / "results" / "operations.json").write_text(json.dumps(written, indent=1) + "\n")


if __name__ == "__main__":
    main()
