"""Forward dynamics of long arms with general frames: how long compiling takes, and a state in a batch.

    python benchmarks/big_craft.py [--quick]

Beside it the same with equal stretches not shared (unrolled whole, up to 300 links) and `pin.aba`, called from Python
state by state; its memory grows faster than the links, so that its time at 1000 is that of 300 links,
scaled. Values are compared before anything is timed. Processor time: other work on the machine counts little.
Prints a table; writes it to benchmarks/results/big_craft.json.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ["GYROSTAT_CACHE"] = "off"

import numpy as np
from arms import random_arm, states
from rich.console import Console
from rich.table import Table
from timing import machine, seconds

import gyrostat as gs
from gyrostat import tracing
from gyrostat.kinematics import lean
from gyrostat.tracing import llvm

LINKS = (30, 60, 100, 300, 1000)
UNROLLED = 300  # links; more takes too long to compile
STATES = 512
SAMPLE = 8  # states for Pinocchio
PEER = 300  # links
console = Console(width=140)


@contextlib.contextmanager
def unrolled() -> Iterator[None]:
    """No stretch is shared, and equal bodies are not recorded alike."""
    before = lean.MANY, llvm.LONG
    lean.MANY = llvm.LONG = 10**9
    try:
        yield
    finally:
        lean.MANY, llvm.LONG = before


def compiled(craft: gs.Spacecraft) -> tuple[tracing.Kernel, float]:
    """The kernel, and the seconds that it took: recording, writing, compiling."""
    begun = time.process_time()
    kernel = tracing.compile(gs.forward_dynamics, craft, threads=1)
    return kernel, time.process_time() - begun


def row_of(links: int, repeats: int) -> dict[str, Any]:
    craft = random_arm(links)
    given = states(craft, STATES)
    kernel, took = compiled(craft)
    row: dict[str, Any] = {"links": links, "operations": len(kernel.graph), "compile_s": took}
    out = kernel(*given)
    calls = {"state": lambda: kernel(*given, out=out)}
    if links <= UNROLLED:
        with unrolled():
            whole, row["compile_unrolled_s"] = compiled(craft)
        other = whole(*given)
        assert np.max(np.abs(out - other)) <= 1e-9 * np.max(np.abs(other)), "shared and unrolled disagree"
        calls["unrolled"] = lambda: whole(*given, out=other)
    if links <= PEER:
        calls["pinocchio"] = pinocchio(craft, given, out)
    counts = {"state": STATES, "unrolled": STATES, "pinocchio": SAMPLE}
    return row | {f"{name}_us": 1e6 * t / counts[name] for name, t in seconds(calls, repeats).items()}


def pinocchio(craft: gs.Spacecraft, given: tuple[np.ndarray, ...], out: np.ndarray) -> Callable[[], object]:
    """The first states, one by one."""
    import pinocchio as pin

    from gyrostat.verification.peers.pinocchio import Pinocchio

    peer = Pinocchio(craft)
    rows = [(peer.q(q), peer.v(v), peer.v(tau)) for q, v, tau in zip(*(x[:SAMPLE] for x in given), strict=True)]
    theirs = pin.aba(peer.model, peer.data, *rows[0])
    assert np.max(np.abs(peer.v(out[0]) - theirs)) <= 1e-8 * np.max(np.abs(theirs)), "Pinocchio disagrees"
    return lambda: [pin.aba(peer.model, peer.data, *row) for row in rows]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="up to 100 links, nothing written")
    quick = parser.parse_args().quick
    tracing.compile(lambda x: x + 1.0, None, inputs={"x": ()})  # LLVM is ready
    rows = []
    table = Table("links", "operations", "compile, s", "unrolled, s", "us a state", "unrolled", "pin.aba")
    for links in LINKS[: 3 if quick else None]:
        row = row_of(links, 5)
        if links > PEER:
            row["pinocchio_us"] = rows[-1]["pinocchio_us"] * links / PEER
        rows.append(row)
        ours = row["state_us"]
        before = row.get("unrolled_us")
        table.add_row(
            *(str(links), str(row["operations"]), f"{row['compile_s']:.2f}"),
            "-" if before is None else f"{row['compile_unrolled_s']:.2f}",
            f"{ours:.2f}",
            "-" if before is None else f"{before:.2f} ({ours / before:.2f} of it)",
            f"{row['pinocchio_us']:.0f} ({row['pinocchio_us'] / ours:.1f}x)",
        )
    console.print(table)
    if not quick:
        written = {"date": str(datetime.date.today()), "machine": machine(), "states": STATES, "rows": rows}
        (Path(__file__).parent / "results" / "big_craft.json").write_text(json.dumps(written, indent=1) + "\n")


if __name__ == "__main__":
    main()
