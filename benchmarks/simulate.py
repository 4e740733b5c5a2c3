"""`gs.simulate` on a six-link arm, against other libraries' integrators in the same run, one thread each.

    python benchmarks/simulate.py [--quick]

Three comparisons: the adaptive run of a manoeuvre against SciPy's DOP853 around Pinocchio; tight tolerances against
heyoka's Taylor method, one run and a batch; RK4 on a batch of ten thousand against MuJoCo's rollout. heyoka is fed with
the NumPy functions called on its expressions, and, which is better for it, with our graph. The time of gyrostat is that
of the integration, in processor time; what a whole call of `gs.simulate` costs besides (tracing, loading compiled code,
making the Trajectory) stands next to it. Compilation itself is not counted, for nobody. Prints tables; writes them to
benchmarks/results/simulate.json.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import integrators
import numpy as np
from rich.console import Console
from rich.table import Table
from timing import machine, seconds

import gyrostat as gs
from gyrostat.simulation.prepare import Request, prepare
from manoeuvre import CRAFT, HOLD, MANOEUVRE, TUMBLE, Case

LOOSE, TIGHT = 1e-10, 1e-13
RUNS, STEP = 10_000, 0.01
BATCH = 64
console = Console(width=150)
Row = dict[str, Any]


def prepared(case: Case, runs: int | None = None, **options: Any) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """(the whole call of `gs.simulate`, its integration alone: compiled, with a plan and a start)."""
    q, v = (case.q0, case.v0) if runs is None else case.states(runs)
    options = {"control": case.law, "save_at": [options.get("T", case.T)], "threads": 1, "progress": False} | options
    T = options.pop("T", case.T)

    def whole() -> Any:
        return gs.simulate(CRAFT, q, v, (0.0, T), **options)

    ready = prepare(Request(craft=CRAFT, q0=q, v0=v, t_span=(0.0, T), **options))
    return whole, ready.integrate


def final(trajectory: Any) -> np.ndarray:
    return np.concatenate(trajectory.final, axis=-1)


def error(case: Case, y: np.ndarray) -> float:
    """Largest deviation from a run at the smallest tolerance
    (another integrator's error is then as good as its own).
    """
    whole, _ = prepared(case, rtol=2.3e-14, atol=1e-16)
    y = y.copy()
    y[:4] /= np.linalg.norm(y[:4])
    return float(np.abs(y - final(whole())).max())


def against_scipy(quick: bool) -> list[Row]:
    tolerances = {"rtol": LOOSE, "atol": LOOSE / 100}
    whole, alone = prepared(MANOEUVRE, **tolerances)
    other = integrators.scipy_around_pinocchio(MANOEUVRE, **tolerances)
    times = seconds({"alone": alone, "whole": whole, "other": other}, repeats=3 if quick else 5)
    row = {"motion": MANOEUVRE.name, "by": "dop853", "tolerance": LOOSE, "peer": "SciPy DOP853 around pin.aba"}
    errors = {"error": error(MANOEUVRE, final(whole())), "peer_error": error(MANOEUVRE, other())}
    if errors["peer_error"] > 1e-9:
        raise RuntimeError(f"Pinocchio ends {errors['peer_error']:.1e} apart: not the same equations.")
    return [row | _columns(times, 1, 1) | errors]


def against_heyoka(quick: bool) -> list[Row]:
    rows = []
    tolerances = {"rtol": TIGHT, "atol": TIGHT}
    methods = ("gauss16", "dop853")
    for case in (TUMBLE, MANOEUVRE):
        made = {by: prepared(case, integrator=by, **tolerances) for by in methods}
        batches = {by: prepared(case, runs=BATCH, integrator=by, **tolerances) for by in methods}
        for ours in (False, True):
            system = integrators.heyoka_system(case, ours)
            row = {"tolerance": TIGHT, "peer": f"heyoka, fed with {'our graph' if ours else 'the NumPy functions'}"}
            other = integrators.heyoka_one(case, system, TIGHT)
            times = _in_turn(made, other, 3 if quick else 7)
            for by, (whole, _) in made.items():
                errors = {"error": error(case, final(whole())), "peer_error": error(case, other())}
                rows.append({"motion": case.name, "by": by} | row | _columns(times[by], 1, 1) | errors)
            other = integrators.heyoka_batch(case, system, TIGHT, BATCH)
            times = _in_turn(batches, other, 3 if quick else 5)
            rows += [
                {"motion": f"{case.name}, batch", "by": by} | row | _columns(times[by], BATCH, BATCH) for by in methods
            ]
    return rows


def _in_turn(made: dict[str, tuple[Any, Any]], other: Any, repeats: int) -> dict[str, dict[str, float]]:
    """Seconds of every method, alone and as a whole call, and of the other, all measured in turn."""
    calls = {f"{by} {k}": call for by, pair in made.items() for k, call in zip(("whole", "alone"), pair, strict=True)}
    times = seconds(calls | {"other": other}, repeats=repeats)
    return {by: {k: times[f"{by} {k}"] for k in ("whole", "alone")} | {"other": times["other"]} for by in made}


def against_mujoco(quick: bool) -> list[Row]:
    ours, theirs = 100, 10
    other, read = integrators.mujoco_rollout(HOLD, 4, 50, STEP)
    whole, _ = prepared(HOLD, runs=4, T=0.5, integrator="rk4", step=STEP)
    found = [np.concatenate(read(row)) for row in other()]
    apart = float(np.abs(np.array(found) - final(whole())).max())
    if apart > 1e-6:
        raise RuntimeError(f"MuJoCo and gyrostat end {apart:.1e} apart: they do not integrate the same equations.")
    whole, alone = prepared(HOLD, runs=RUNS, T=ours * STEP, integrator="rk4", step=STEP)
    other, _ = integrators.mujoco_rollout(HOLD, RUNS // 10, theirs, STEP)  # a tenth of the batch: each is on its own
    times = seconds({"alone": alone, "whole": whole, "other": other}, repeats=3 if quick else 5)
    row = {"motion": f"{HOLD.name}, batch of {RUNS}, steps of {STEP} s", "by": "rk4", "tolerance": float("nan")}
    row["peer"] = f"mujoco.rollout (ends {apart:.0e} apart)"
    return [row | _columns(times, RUNS * ours, RUNS // 10 * theirs)]


def _columns(times: dict[str, float], ours: int, theirs: int) -> Row:
    """Milliseconds per run (or per step), and the ratio."""
    alone, whole, other = times["alone"] / ours, times["whole"] / ours, times["other"] / theirs
    return {"ms": 1e3 * alone, "whole call": 1e3 * whole, "peer_ms": 1e3 * other, "ratio": other / alone}


def claims(rows: list[Row]) -> list[tuple[str, float, float]]:
    """(claim, measured, promised at least)."""

    def ratio(motion: str, peer: str, by: str) -> float:
        return next(r["ratio"] for r in rows if (r["motion"], r["by"]) == (motion, by) and r["peer"].startswith(peer))

    def best(motion: str, peer: str) -> float:
        return max(r["ratio"] for r in rows if r["motion"] == motion and r["peer"].startswith(peer))

    direct, held = "heyoka, fed with the NumPy", next(r["motion"] for r in rows if r["by"] == "rk4")
    return [
        (
            "the adaptive manoeuvre, against SciPy's DOP853 around pin.aba",
            ratio(MANOEUVRE.name, "SciPy", "dop853"),
            20.0,
        ),
        ("one run of the manoeuvre at 1e-13, against heyoka", best(MANOEUVRE.name, direct), 12.0),
        ("one tumbling run at 1e-13, against heyoka", best(TUMBLE.name, direct), 12.0),
        ("per run of a batch of the manoeuvre at 1e-13", best(f"{MANOEUVRE.name}, batch", direct), 30.0),
        ("per run of a tumbling batch at 1e-13", best(f"{TUMBLE.name}, batch", direct), 30.0),
        ("RK4 steps per second on a batch of 1e4, against mujoco.rollout", ratio(held, "mujoco", "rk4"), 25.0),
    ]


def show(rows: list[Row], promised: list[tuple[str, float, float]]) -> None:
    table = Table(
        "motion", "by", "tolerance", "gyrostat, ms", "whole call, ms", "peer", "peer, ms", "ratio", "error",
        "peer's error",
        title="ms per run, or per step (RK4); processor time of one thread, integration alone",
    )  # fmt: skip
    for row in rows:
        errors = [f"{row[k]:.0e}" if k in row else "" for k in ("error", "peer_error")]
        tolerance = "" if np.isnan(row["tolerance"]) else f"{row['tolerance']:.0e}"
        cells = [row["motion"], row["by"], tolerance, f"{row['ms']:.3g}", f"{row['whole call']:.3g}", row["peer"]]
        table.add_row(*cells, f"{row['peer_ms']:.3g}", f"{row['ratio']:.3g}", *errors)
    console.print(table)
    table = Table("claim", "measured", "promised", "")
    for claim, value, bound in promised:
        table.add_row(claim, f"{value:.3g}x", f">= {bound:g}x", "" if value >= bound else "not met")
    console.print(table)


def versions() -> dict[str, str]:
    return {
        name: importlib.metadata.version(name) for name in ("numpy", "scipy", "llvmlite", "pin", "mujoco", "heyoka")
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer repeats")
    quick = parser.parse_args().quick
    begun = time.perf_counter()
    rows = [*against_scipy(quick), *against_mujoco(quick), *against_heyoka(quick)]
    promised = claims(rows)
    show(rows, promised)
    result = {
        "machine": machine(),
        "date": datetime.date.today().isoformat(),
        "versions": versions(),
        "seconds": time.perf_counter() - begun,
        "rows": rows,
        "claims": [{"claim": c, "measured": v, "promised": b, "holds": v >= b} for c, v, b in promised],
    }
    place = Path(__file__).parent / "results" / "simulate.json"
    place.parent.mkdir(exist_ok=True)
    place.write_text(json.dumps(result, indent=1) + "\n")
    console.print(f"written to {place}")


if __name__ == "__main__":
    main()
