"""The gradient of a rollout by all its torques, beside the rollout itself, and what it takes to compile them.

    python benchmarks/rollouts.py

Claims: the value and the gradient of 1000 steps by 6 torques each (6000 numbers) cost at most six rollouts; everything
is compiled within three seconds of processor time, for ten steps as for a hundred thousand. The craft is `servicer` (a
free base and six links); one thread, one run. Prints a table; writes it to benchmarks/results/rollouts.json.
"""

from __future__ import annotations

import datetime
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from timing import machine, seconds

import gyrostat as gs

STEPS = 1000
COMPILED = (10, 1000, 100_000)


def push(craft: gs.Spacecraft, t: Any, q: Any, v: Any, u: Any) -> Any:
    return np.concatenate([np.zeros(6), u])


def final(craft: gs.Spacecraft, t: Any, q: Any, v: Any) -> Any:
    miss = gs.frame_pose(craft, q, "tool").p - np.array([1.5, 0.3, 0.8])
    return miss @ miss + v @ v


def running(craft: gs.Spacecraft, t: Any, q: Any, v: Any, u: Any) -> Any:
    return 0.1 * (u @ u) + v[6:] @ v[6:]


def torques(steps: int) -> np.ndarray:
    return 0.3 * np.random.default_rng(0).normal(size=(steps, 6))


def rollout(steps: int) -> Any:
    return gs.rollout(gs.load("servicer"), push, steps, 0.01, history={"u": torques(steps)}, threads=1)


def compile_alone(steps: int) -> float:
    """Processor time of a new process with an empty cache, from the first call to the gradient; two runs' arithmetic
    taken off.
    """
    text = (
        "import time, rollouts\nt = time.process_time()\nr = rollouts.rollout({n})\n"
        "r.gradient(rollouts.final, rollouts.running)\nfirst = time.process_time() - t\nt = time.process_time()\n"
        "s = r.again(history={{'u': rollouts.torques({n})}})\ns.gradient(rollouts.final, rollouts.running)\n"
        "print(first - (time.process_time() - t))\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "GYROSTAT_CACHE": folder}
        here = str(Path(__file__).parent)
        done = subprocess.run(
            [sys.executable, "-c", text.format(n=steps)],
            cwd=here,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
    return float(done.stdout)


def main() -> None:
    roll = rollout(STEPS)
    history = {"u": torques(STEPS)}
    roll.gradient(final, running)
    calls = {
        "rollout": lambda: roll.again(history=history).final,
        "value and gradient": lambda: roll.again(history=history).gradient(final, running),
    }
    times = seconds(calls, repeats=15)
    ratio = times["value and gradient"] / times["rollout"]
    built = {steps: compile_alone(steps) for steps in COMPILED}
    table = Table(title=f"{STEPS} steps, 6 torques each, servicer; {machine()}")
    for heading in ("what", "ms", "claim"):
        table.add_column(heading, justify="left" if heading == "what" else "right")
    table.add_row("rollout", f"{1e3 * times['rollout']:.2f}", "")
    table.add_row("value and gradient", f"{1e3 * times['value and gradient']:.2f}", f"{ratio:.1f} rollouts (<= 6)")
    for steps, s in built.items():
        table.add_row(f"compiled, {steps} steps", f"{1e3 * s:.0f}", "<= 3000")
    Console().print(table)
    results = {
        "date": datetime.date.today().isoformat(),
        "machine": machine(),
        "milliseconds": {name: 1e3 * t for name, t in times.items()},
        "gradient_in_rollouts": ratio,
        "compile_seconds": {str(steps): s for steps, s in built.items()},
        "measured": time.strftime("%H:%M"),
    }
    path = Path(__file__).parent / "results" / "rollouts.json"
    path.write_text(json.dumps(results, indent=1) + "\n")
    print(f"gradient {ratio:.1f} rollouts (claim: 6); written to {path.name}")


if __name__ == "__main__":
    main()
