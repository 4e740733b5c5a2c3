"""One state of the six-link arm on a free base, as fast as it can be asked for: `call = kernel.bind(...)`; `call()`.

    python benchmarks/latency.py [--quick]

Beside it a plain call of the kernel, Pinocchio from Python, and Pinocchio from C++ (a loop of its own calls, compiled
by g++ -O3 against the headers that come with `pin`; left out where there are none). Values are compared before anything
is timed. Processor time, the least of the repeats: other work on the machine only adds. Prints a table; writes it to
benchmarks/results/latency.json.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import importlib.util
import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from timing import machine

import gyrostat as gs
from gyrostat import tracing
from manoeuvre import CRAFT

FUNCTIONS = {
    "forward dynamics": (gs.forward_dynamics, "aba(model, data, q, v, tau)"),
    "inverse dynamics": (gs.inverse_dynamics, "rnea(model, data, q, v, tau)"),
    "mass matrix": (gs.mass_matrix, "crba(model, data, q)"),
    "A, B": (tracing.linear_motion, "computeABADerivatives(model, data, q, v, tau)"),
}
LOOP = """
#include <chrono>
#include <cstdio>
#include <ctime>
#include <pinocchio/multibody.hpp>
#include <pinocchio/serialization.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/joint-configuration.hpp>
using namespace pinocchio;
int main(int, char **arguments) {
  Model model;
  model.loadFromText(arguments[1]);
  Data data(model);
  Eigen::VectorXd q = neutral(model), v = Eigen::VectorXd::Constant(model.nv, 0.1), tau = v;
  for (int k = 7; k < model.nq; ++k) q[k] = 0.1 * k;
  const int calls = 20000;
  auto least = [&](auto f) {
    double best = 1e9;
    for (int r = 0; r < 30; ++r) {
      clock_t start = clock();
      for (int k = 0; k < calls; ++k) f();
      best = std::min(best, double(clock() - start) / CLOCKS_PER_SEC / calls);
    }
    return best;
  };
  %s
}
"""
console = Console(width=130)


def least(call: Callable[[], Any], repeats: int, calls: int = 2000) -> float:
    """Seconds of processor time per call: the least of the repeats."""
    call()
    found = []
    for _ in range(repeats):
        start = time.process_time()
        for _ in range(calls):
            call()
        found.append((time.process_time() - start) / calls)
    return min(found)


def from_cpp(model: Any) -> dict[str, float]:
    """Pinocchio's own time, from a loop in C++."""
    found = importlib.util.find_spec("cmeel")
    prefix = Path(found.origin).parents[1] / "cmeel.prefix" if found and found.origin else Path("none")
    if not (prefix / "include" / "pinocchio").is_dir() or shutil.which("g++") is None:
        return {}
    lines = [f'std::printf("%g\\n", least([&] {{ {call}; }}));' for _, call in FUNCTIONS.values()]
    with tempfile.TemporaryDirectory() as folder:
        model.saveToText(f"{folder}/arm.txt")
        source = Path(folder) / "loop.cpp"
        source.write_text(LOOP % "\n  ".join(lines))
        eigen = [f"-I{p}" for p in ("/usr/include/eigen3", prefix / "include" / "eigen3") if Path(p).is_dir()]
        options = [
            "-std=c++17",
            "-O3",
            "-march=native",
            "-DNDEBUG",
            "-w",
            "-DBOOST_MPL_LIMIT_LIST_SIZE=30",
            "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30",
            "-DBOOST_FUSION_INVOKE_MAX_ARITY=12",
            "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
            f"-I{prefix / 'include'}",
            *eigen,
            f"-I{prefix / 'include' / 'urdfdom'}",
        ]
        linked = [f"-L{prefix / 'lib'}", f"-Wl,-rpath,{prefix / 'lib'}", "-lpinocchio_default", "-lboost_serialization"]
        built = subprocess.run(
            ["g++", *options, str(source), "-o", f"{folder}/loop", *linked],
            check=False,
            capture_output=True,
            text=True,
        )
        if built.returncode:
            first = next((line for line in built.stderr.splitlines() if "error" in line), "")
            console.print(f"Pinocchio in C++ is left out: {first}")
            return {}
        ran = subprocess.run([f"{folder}/loop", f"{folder}/arm.txt"], capture_output=True, text=True, check=True)
    return dict(zip(FUNCTIONS, map(float, ran.stdout.split()), strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer repeats, nothing written")
    quick = parser.parse_args().quick
    import pinocchio as pin

    from gyrostat.verification.peers.pinocchio import Pinocchio

    peer, rng = Pinocchio(CRAFT), np.random.default_rng(0)
    q = gs.neutral(CRAFT)
    q[7:] = rng.normal(size=6)
    v, tau = rng.normal(size=CRAFT.nv), rng.normal(size=CRAFT.nv)
    given = {"q": q, "v": v, "tau": tau, "vdot": tau}
    theirs = (peer.q(q), peer.v(v), peer.v(tau))
    calls: dict[str, Callable[..., Any]] = {
        "forward dynamics": lambda: pin.aba(peer.model, peer.data, *theirs),
        "inverse dynamics": lambda: pin.rnea(peer.model, peer.data, *theirs),
        "mass matrix": lambda: pin.crba(peer.model, peer.data, theirs[0]),
        "A, B": lambda: pin.computeABADerivatives(peer.model, peer.data, *theirs),
    }
    repeats, cpp = (10 if quick else 60), from_cpp(peer.model)
    table = Table(title="one state, microseconds (in brackets: how many times longer than bound)")
    for column in ("", "bound", "plain call", "Pinocchio, Python", "Pinocchio, C++", "bound less an empty call"):
        table.add_column(column, justify="left" if not column else "right")
    empty = tracing.compile(lambda craft, q: q[0], CRAFT).bind(q)
    overhead = least(empty, repeats)
    rows = []
    for name, (function, _) in FUNCTIONS.items():
        kernel = tracing.compile(function, CRAFT)
        arguments = [given[port.path[0]] for port in kernel.graph.inputs]
        bound = kernel.bind(*arguments)
        reference = kernel(*arguments)
        for found, expected in zip(_arrays(bound()), _arrays(reference), strict=True):
            assert np.max(np.abs(found - expected)) <= 1e-12 * np.max(np.abs(expected)), name
        row = {
            "function": name,
            "bound": least(bound, repeats),
            "plain": least(lambda k=kernel, a=arguments: k(*a), repeats),
            "pinocchio": least(calls[name], repeats),
            "pinocchio_cpp": cpp.get(name),
            "overhead": overhead,
        }
        rows.append(row)
        times = [_shown(row[key], row["bound"]) for key in ("plain", "pinocchio", "pinocchio_cpp")]
        table.add_row(name, f"{1e6 * row['bound']:.2f}", *times, f"{1e6 * (row['bound'] - overhead):.2f}")
    console.print(table)
    if not quick:
        versions = {name: importlib.metadata.version(name) for name in ("pin", "numpy", "llvmlite")}
        written = {"date": str(datetime.date.today()), "machine": machine(), "versions": versions, "rows": rows}
        (Path(__file__).parent / "results" / "latency.json").write_text(json.dumps(written, indent=1) + "\n")


def _arrays(value: Any) -> list[np.ndarray]:
    return [value] if isinstance(value, np.ndarray) else [np.asarray(x) for x in value]


def _shown(found: float | None, bound: float) -> str:
    return "-" if found is None else f"{1e6 * found:.2f} ({found / bound:.1f}x)"


if __name__ == "__main__":
    main()
