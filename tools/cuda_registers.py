"""Registers, stack and spilled bytes of CUDA kernels, from NVRTC and ptxas; no card is needed.

    PYTHONPATH=src python tools/cuda_registers.py [sm_90] [NAMES ...]

Needs NumPy, CuPy and NVRTC (pip install cupy-cuda12x nvidia-cuda-nvrtc-cu12). The figures are in docs/notes/gpu.md.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from cupy.cuda import nvrtc

import gyrostat as gs
from gyrostat import tracing
from gyrostat.models import servicer
from gyrostat.simulation.engine.cuda_loop import loop_text
from gyrostat.simulation.integrators.methods import METHODS
from gyrostat.simulation.prepare import prepare
from gyrostat.simulation.problem.request import Request
from gyrostat.tracing.cards import OPTIONS
from gyrostat.tracing.cuda_text import module_text

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks"))
from arms import arm

PARTS = {"lanes", "integrate", "fixed_steps", "rhs_call"}


def function(craft: gs.Spacecraft, scalar: str = "double", f: Callable = gs.forward_dynamics) -> str:
    return module_text(tracing.trace(f, craft), scalar)


def loop(method: str, **options: float) -> str:
    def law(craft, t, q, v):
        return np.concatenate([np.zeros(6), -20.0 * q[7:] - 8.0 * v[6:]])

    p = prepare(Request(craft=servicer(), t_span=(0.0, 10.0), control=law, integrator=method, **options))
    return loop_text(p.system, METHODS[method], fixed=p.plan.fixed, n_control=p.plan.n_control)


TEXTS: dict[str, Callable[[], str]] = {
    "forward dynamics": lambda: function(servicer()),
    "forward dynamics, float32": lambda: function(servicer(), "float"),
    "30 links": lambda: function(arm(30)),
    "linearisation": lambda: function(servicer(), f=tracing.linear_motion),
    "loop, rk4": lambda: loop("rk4", step=0.01),
    "loop, dop853": lambda: loop("dop853"),
}


def report(text: str, arch: str) -> tuple[float, list[str]]:
    """Seconds, and lines: of each kernel and of the functions named above."""
    program, begun = nvrtc.createProgram(text, "gyrostat.cu", (), ()), time.perf_counter()
    nvrtc.compileProgram(program, (*OPTIONS, f"-arch={arch}", "--ptxas-options=-v"))
    seconds, log = time.perf_counter() - begun, nvrtc.getProgramLog(program)
    nvrtc.destroyProgram(program)
    found, name = [], ""
    for line in log.splitlines():
        if match := re.search(r"Function properties for (\S+)", line):
            name = next((part for part in PARTS if part in match[1]), "")
        elif name and (match := re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+)", line)):
            found.append(f"{name}: stack {match[1]}, spilled {match[2]} and read again {match[3]} bytes")
        elif match := re.search(r"Used (\d+) registers.* (\d+) bytes cumulative", line):
            found.append(f"a kernel: {match[1]} registers, {match[2]} bytes of stack in all")
    return seconds, found


if __name__ == "__main__":
    arch = next((word for word in sys.argv[1:] if word.startswith("sm_")), "sm_90")
    wanted = [word for word in sys.argv[1:] if not word.startswith("sm_")]
    print(f"NVRTC {'.'.join(map(str, nvrtc.getVersion()))}, {arch}")
    for title, make in TEXTS.items():
        if not wanted or title in wanted:
            seconds, lines = report(make(), arch)
            print(f"{title} ({seconds:.1f} s)", *lines, sep="\n  ", flush=True)
