"""A campaign of a six-link servicer with dispersed masses, against `mujoco.rollout` on one core; the memory it takes.

    python benchmarks/campaign.py [--runs 10000] [--theirs 10] [--single] [--memory] [--bsk PYTHON]

Claims: 1e4 runs of 100 s (RK4, steps of 10 ms, PD at the joints, seven dispersed masses, kept in a store) take a
twenty-fifth of the processor time per step that `mujoco.rollout` takes on the same model; with --memory, 1e6 short runs
into a store take no more memory at the end than after a tenth of them.

One thread each, processor time. MuJoCo makes ten runs of the same 100 s, one nominal model, half of them before the
campaign and half after it. Both integrate the same equations: runs of the nominal craft end alike, which is checked.
--single: the campaign in single precision, too, with what that costs its outcomes. --bsk: also Basilisk's Monte-Carlo
controller on the same servicer, by an interpreter where `pip install bsk` was done (basilisk_campaign.py).
Prints a table; writes benchmarks/results/campaign.json.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from integrators import mujoco_rollout
from rich.console import Console
from rich.table import Table
from timing import machine

import gyrostat as gs
from gyrostat import campaigns as c
from gyrostat import outcomes
from manoeuvre import CRAFT, HOLD, KD, KP, START, SWING, hold

STEP, SECONDS, PROMISED = 0.01, 100.0, 25.0
SPREAD = {f"{body.name}.mass": c.scaled(c.normal(1.0, 0.05)) for body in CRAFT.bodies}
ASKED = {
    "base turned": outcomes.largest(outcomes.attitude_error()),
    "rate": outcomes.last(outcomes.body_rate()),
    "energy": outcomes.last(outcomes.kinetic_energy()),
}
OPTIONS: dict[str, Any] = {"q0": HOLD.q0, "v0": HOLD.v0, "control": hold, "integrator": "rk4", "step": STEP}
SHORT_RUNS = 1_000_000


def processor(call: Callable[[], Any]) -> tuple[Any, float]:
    start = time.process_time()
    found = call()
    return found, time.process_time() - start


def apart() -> float:
    """How far the nominal run of both ends from the other's, after five seconds."""
    call, read = mujoco_rollout(HOLD, 1, 500, STEP)
    q, v = HOLD.states(1)
    ours = gs.simulate(
        CRAFT, q[0], v[0], (0, 5.0), save_at=[5.0], **{k: OPTIONS[k] for k in ("control", "integrator", "step")}
    )
    return float(np.abs(np.concatenate(read(call()[0])) - np.concatenate(ours.final)).max())


def against_mujoco(runs: int, theirs: int, single: bool) -> dict[str, Any]:
    steps = round(SECONDS / STEP)
    far = apart()
    if far > 1e-6:
        raise RuntimeError(f"MuJoCo and gyrostat end {far:.1e} apart: they do not integrate the same equations.")
    half, _ = mujoco_rollout(HOLD, theirs // 2, steps, STEP)
    _, before = processor(half)
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        given = {
            **OPTIONS,
            "seed": 1,
            "t_span": (0.0, SECONDS),
            "outcomes": ASKED,
            "threads": 1,
            "store": f"{folder}/runs",
        }
        found, ours = processor(lambda: gs.campaign(CRAFT, SPREAD, runs, **given))
        wall = time.perf_counter() - started
        assert found.complete and not found.failures
        turned = [float(x) for x in np.quantile(found.outcomes["base turned"], (0.5, 0.99))]
    alone = in_single(given, runs) if single else {}
    _, after = processor(half)
    per_step, per_step_theirs = ours / (runs * steps), (before + after) / (2 * (theirs // 2) * steps)
    return {
        "runs": runs,
        "steps of each": steps,
        "our processor seconds": ours,
        "our seconds on the clock": wall,
        "their runs": 2 * (theirs // 2),
        "their processor seconds": before + after,
        "us per step": 1e6 * per_step,
        "their us per step": 1e6 * per_step_theirs,
        "ratio": per_step_theirs / per_step,
        "nominal runs end apart by": far,
        "base turned, rad, 50 and 99 %": turned,
        **alone,
    }


def in_single(given: dict[str, Any], runs: int) -> dict[str, Any]:
    """The same campaign in single precision, without its block in double."""
    plain = {name: x for name, x in given.items() if name != "store"}
    gs.campaign(CRAFT, SPREAD, 16, precision="single", **{**plain, "t_span": (0.0, 1.0)})  # compiled
    found, both = processor(lambda: gs.campaign(CRAFT, SPREAD, runs, precision="single", **plain))
    _, one = processor(lambda: found.plan.in_double.block(0, min(1024, runs)))
    return {
        "processor seconds in single precision": both - one,
        "single moves outcomes by at most": {x.outcome: x.largest for x in found.single_precision},
        "of their spread": {x.outcome: x.largest / x.spread for x in found.single_precision},
    }


def basilisk(python: str, runs: int) -> dict[str, Any]:
    """Its controller, on the same craft, law and step."""
    bodies: list[dict[str, Any]] = []
    for k, body in enumerate(CRAFT.bodies):
        one = {"mass": body.mass, "com": body.com, "inertia": body.inertia}
        if k:
            joint, j = body.joint, k - 1
            one |= {"turn": joint.rotation, "offset": joint.position, "axis": joint.axis, "angle": START[j]}
            one |= {"target": START[j] + SWING[j], "kp": KP[j], "kd": KD[j]}
        bodies.append({name: np.asarray(x, dtype=float).tolist() for name, x in one.items()})
    case = {"bodies": bodies, "step": STEP, "seconds": SECONDS, "runs": runs}
    case |= {"rate": HOLD.v0[:3].tolist(), "velocity": HOLD.v0[3:6].tolist()}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "case.json"
        path.write_text(json.dumps(case), encoding="utf-8")
        script = Path(__file__).with_name("basilisk_campaign.py").resolve()
        done = subprocess.run([python, str(script), str(path)], check=True, capture_output=True, text=True, cwd=folder)
    found = json.loads(done.stdout.splitlines()[-1])
    ours = gs.simulate(
        CRAFT, HOLD.q0, HOLD.v0, (0, 5.0), save_at=[5.0], **{k: OPTIONS[k] for k in ("control", "integrator", "step")}
    )
    q, v = ours.final
    far = float(np.abs(np.concatenate([q[7:] - found["angles"], v[6:] - found["rates"]])).max())
    if far > 1e-6 or found["failed"]:
        raise RuntimeError(f"Basilisk and gyrostat end {far:.1e} apart: they do not integrate the same equations.")
    return {
        "version": found["version"],
        "runs": runs,
        "processor seconds": found["seconds"],
        "us per step": 1e6 * found["seconds"] / (runs * SECONDS / STEP),
        "nominal runs end apart by": far,
    }


def memory() -> dict[str, Any]:
    """Resident memory along 1e6 runs of a tenth of a second, in MiB."""
    from gyrostat.campaigns import store

    seen: list[float] = []
    write = store.Folder.write

    def watched(self: Any, block: Any) -> None:
        write(self, block)
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        seen.append(pages * os.sysconf("SC_PAGE_SIZE") / 2**20)

    store.Folder.write = watched  # type: ignore[method-assign]
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        given = {
            **OPTIONS,
            "seed": 1,
            "t_span": (0.0, 0.1),
            "outcomes": ASKED,
            "store": f"{folder}/runs",
            "block": 4096,
        }
        found = gs.campaign(CRAFT, SPREAD, SHORT_RUNS, **given)
        wall = time.perf_counter() - started
        assert found.complete
    store.Folder.write = write  # type: ignore[method-assign]
    tenth = len(seen) // 10
    return {
        "runs": SHORT_RUNS,
        "seconds on the clock": wall,
        "MiB after a tenth": max(seen[: tenth + 1]),
        "MiB at the most after that": max(seen[tenth + 1 :]),
        "MiB at the end": seen[-1],
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--theirs", type=int, default=10, help="runs of MuJoCo")
    parser.add_argument("--memory", action="store_true", help="also 1e6 short runs")
    parser.add_argument("--single", action="store_true", help="also in single precision")
    parser.add_argument("--bsk", metavar="PYTHON", help="an interpreter with Basilisk")
    given = parser.parse_args()
    found: dict[str, Any] = {"machine": machine(), "date": f"{datetime.date.today()}", "mujoco": mujoco.__version__}
    found["campaign"] = against_mujoco(given.runs, given.theirs, given.single)
    if given.bsk:
        found["basilisk"] = basilisk(given.bsk, given.theirs)
        found["basilisk"]["ratio"] = found["basilisk"]["us per step"] / found["campaign"]["us per step"]
    if given.memory:
        found["memory"] = memory()
    table = Table("what", "found", box=None)
    for part in ("campaign", "basilisk", "memory"):
        for name, value in found.get(part, {}).items():
            table.add_row(f"{part}: {name}", f"{value:.4g}" if isinstance(value, float) else str(value))
    Console(width=120).print(table)
    path = Path(__file__).parent / "results" / "campaign.json"
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    ratio = found["campaign"]["ratio"]
    if ratio < PROMISED:
        raise SystemExit(f"{ratio:.1f} times mujoco.rollout; {PROMISED:g} were promised.")


if __name__ == "__main__":
    main()
