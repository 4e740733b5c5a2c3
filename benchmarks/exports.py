"""What was exported, as fast as it is here: C in a C loop; our kernel inside JAX against the same equations written for
JAX.

    python benchmarks/exports.py [--states 100000]

One thread each, in processor time. Values are compared first. Prints a table; writes it to
benchmarks/results/exports.json.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import jax_arm
import numpy as np
from timing import machine, seconds

import gyrostat as gs
from gyrostat.export import to_jax
from manoeuvre import CRAFT

LOOP = """
#include "fd.h"
#include <stdio.h>
#include <time.h>

int main(void)
{
    double q[13] = {1, 0, 0, 0, 0, 0, 0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6}, v[12] = {0.1}, tau[12] = {1}, out[12];
    double best = 1e9;
    for (int round = 0; round < 20; ++round) {
        const clock_t begin = clock();
        for (int k = 0; k < 100000; ++k) {
            q[7] += 1e-9;
            fd(q, v, tau, out);
            v[0] = 1e-9 * out[0];
        }
        const double t = (double)(clock() - begin) / CLOCKS_PER_SEC / 100000;
        best = t < best ? t : best;
    }
    printf("%.17g", best);
    return 0;
}
"""


def in_c() -> dict[str, float]:
    """Seconds of a call of the six-link forward dynamics, by compiler."""
    kernel = gs.compile(gs.forward_dynamics, CRAFT)
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        kernel.to_c("fd", folder)
        (Path(folder) / "main.c").write_text(LOOP)
        for compiler in filter(shutil.which, ("gcc", "clang")):
            command = [compiler, "-std=c99", "-O2", "main.c", "fd.c", "-lm", "-o", compiler]
            subprocess.run(command, cwd=folder, check=True)
            done = subprocess.run([f"./{compiler}"], cwd=folder, check=True, capture_output=True, text=True)
            found[compiler] = float(done.stdout)
    return found


def in_jax(states: int) -> dict[str, Any]:
    """Seconds of a batch: by JAX's own arithmetic, and by our kernel called from JAX."""
    import jax

    jax.config.update("jax_enable_x64", True)
    rng = np.random.default_rng(0)
    q = np.repeat(gs.neutral(CRAFT)[None], states, 0)
    q[:, 7:] = rng.normal(size=(states, 6))
    v, tau = rng.normal(size=(2, states, 12))
    theirs = jax.jit(jax.vmap(jax_arm.functions(CRAFT)["forward_dynamics"]))
    ours = jax.jit(to_jax(gs.compile(gs.forward_dynamics, CRAFT, threads=1)))
    given = [jax.numpy.asarray(x) for x in (q, v, tau)]
    worst = float(np.abs(theirs(*given) - ours(*given)).max() / np.abs(ours(*given)).max())
    assert worst < 1e-11, worst
    calls = {
        "theirs": lambda: theirs(*given).block_until_ready(),
        "ours": lambda: ours(*given).block_until_ready(),
    }
    times = seconds(calls, repeats=5)
    gradient = {}
    for name, function in (("theirs", theirs), ("ours", ours)):
        slope = jax.jit(jax.grad(lambda load, f=function: (f(given[0], given[1], load) ** 2).sum()))
        gradient[name] = lambda slope=slope: slope(given[2]).block_until_ready()
    return {"value": times, "gradient": seconds(gradient, repeats=3), "difference": worst}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--states", type=int, default=100_000)
    arguments = parser.parse_args()
    rows: dict[str, Any] = {"machine": machine(), "c": in_c(), "jax": in_jax(arguments.states)}
    for compiler, t in rows["c"].items():
        print(f"six-link forward dynamics in C, {compiler} -O2: {1e6 * t:.3f} us a call")
    for what in ("value", "gradient"):
        times = rows["jax"][what]
        ratio = times["theirs"] / times["ours"]
        print(f"{arguments.states} states from JAX, {what}: {1e3 * times['ours']:.1f} ms, {ratio:.0f}x JAX's own")
    results = Path(__file__).parent / "results"
    results.mkdir(exist_ok=True)
    (results / "exports.json").write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
