"""What the audit inside the compiled loop costs: the benchmarks' runs with its looks and without, in processor time.

    python benchmarks/looks.py [--quick]

Each pair is measured one right after the other, many times, in another order each time; of the ratios of the pairs the
median is taken, with the bounds that hold it with 95 %: what another program on the machine adds meets both of a pair,
or falls out. The time without looks is measured twice: by how much the two differ is the noise. Prints a table; writes
benchmarks/results/looks.json.
"""

from __future__ import annotations

import argparse
import datetime
import gc
import json
import random
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.stats import binom
from timing import machine

import gyrostat as gs
from gyrostat.simulation.prepare import Prepared, Request, prepare
from manoeuvre import CRAFT, MANOEUVRE, TUMBLE, Case

console = Console(width=150)
STEP, SECONDS = 0.01, 2.0
BATCH = {"dop853": 16, "rk45": 16, "gauss16": 4, "gauss6": 16, "rk4": 80}  # some milliseconds each
CASES: list[tuple[Case, dict[str, Any]]] = [
    *((case, {"integrator": "dop853", "rtol": 1e-10}) for case in (MANOEUVRE, TUMBLE)),
    *((case, {"integrator": "gauss16", "rtol": 1e-13}) for case in (MANOEUVRE, TUMBLE)),
    (TUMBLE, {"integrator": "rk45", "rtol": 1e-6}),
    *((TUMBLE, {"integrator": by, "step": STEP, "T": SECONDS}) for by in ("rk4", "gauss6")),
]


def made(case: Case, runs: int | None, T: float | None = None, **options: Any) -> tuple[Callable[[], Any], Prepared]:
    """The whole call of `gs.simulate`, and what it integrates."""
    q, v = (case.q0, case.v0) if runs is None else case.states(runs)
    end = case.T if T is None else T
    if "rtol" in options:
        options |= {"atol": options["rtol"] / 100}
    given = {"control": case.law, "save_at": [end], "threads": 1, "progress": False} | options
    request = {"q0": q, "v0": v, "t_span": (0.0, end), **given}
    return (lambda: gs.simulate(CRAFT, **request)), prepare(Request(craft=CRAFT, **request))


def rounds(calls: dict[str, Callable[[], object]], seconds: float) -> dict[str, np.ndarray]:
    """Processor time of each call, round by round, for so long and at least a hundred rounds.

    In another order each time: what was called before leaves the caches to the next.
    """
    found: dict[str, list[float]] = {name: [] for name in calls}
    order, rng = list(calls.items()), random.Random(0)
    for call in calls.values():
        call()
    begun = time.process_time()
    gc.disable()
    while time.process_time() - begun < seconds or min(map(len, found.values())) < 100:
        rng.shuffle(order)
        for name, call in order:
            start = time.process_time()
            call()
            found[name].append(time.process_time() - start)
    gc.enable()
    return {name: np.array(times) for name, times in found.items()}


def median(ratios: np.ndarray) -> tuple[float, float, float]:
    """With the bounds that hold it with 95 %, whatever the distribution."""
    ordered, n = np.sort(ratios), len(ratios)
    low, high = (int(k) for k in binom.ppf([0.025, 0.975], n, 0.5))
    return float(np.median(ordered)), float(ordered[low]), float(ordered[min(high, n - 1)])


def looks(quick: bool) -> list[dict[str, Any]]:
    rows = []
    for case, options in CASES:
        for runs in (None, BATCH[options["integrator"]]):
            whole, ready = made(case, runs, **options)
            (measures,) = ready.system.measures
            bare = replace(ready, system=replace(ready.system, measures=()))
            outcome = ready.integrate()
            calls = {"with": ready.integrate, "without": bare.integrate, "again": bare.integrate, "whole": whole}
            times = rounds(calls, 0.5 if quick else 6.0)
            percent, low, high = (100 * (x - 1.0) for x in median(times["with"] / times["without"]))
            noise, *_ = median(times["again"] / times["without"])
            steps, call = (float(np.median(times[name])) for name in ("without", "whole"))
            rows.append(
                {
                    "motion": case.name,
                    "by": options["integrator"],
                    "runs": runs or 1,
                    "steps": round(float(outcome.state.steps.mean())),
                    "every": measures.every,
                    "looks": float(outcome.state.measured[:, 1].mean()),
                    "steps, ms": 1e3 * steps,
                    "of steps, %": percent,
                    "from": low,
                    "to": high,
                    "of call, %": percent * steps / call,
                    "noise, %": 100 * (noise - 1.0),
                }
            )
    return rows


def show(rows: list[dict[str, Any]], title: str) -> None:
    table = Table(*map(str, rows[0]), title=title, box=None)
    for row in rows:
        table.add_row(*(f"{x:.2f}" if isinstance(x, float) else str(x) for x in row.values()))
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    rows = looks(quick)
    show(rows, "looks of the audit: what they add to the time of the steps")
    about = {"machine": machine(), "date": f"{datetime.date.today()}"}
    name = "looks_quick.json" if quick else "looks.json"
    (Path(__file__).parent / "results" / name).write_text(json.dumps(about | {"looks": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
