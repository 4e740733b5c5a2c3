"""gyrostat against another version of itself, in one run, one thread each.

    python benchmarks/against.py OTHER_CHECKOUT [--rounds 15]

Both versions run the cases below, each in a process of its own, turn by turn; a case is a plain call of the public
surface that both have. What is compared is the least processor time of all rounds, so that whatever else the machine
does counts for neither. Cases that the other version cannot run are left out and named. Prints a table; writes it to
benchmarks/results/against.json.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
Case = Callable[[], Callable[[], object]]
CASES: dict[str, Case] = {}


def case(name: str) -> Callable[[Case], Case]:
    def keep(make: Case) -> Case:
        CASES[name] = make
        return make

    return keep


def states(count: int) -> tuple[Any, Any, Any]:
    import numpy as np

    import gyrostat as gs
    from manoeuvre import CRAFT

    rng = np.random.default_rng(0)
    q = np.repeat(gs.neutral(CRAFT)[None], count, 0)
    q[:, 7:] = rng.normal(size=(count, 6))
    return q, rng.normal(size=(count, CRAFT.nv)), rng.normal(size=(count, CRAFT.nv))


def kernel(function: str, count: int) -> Callable[[], object]:
    import gyrostat as gs
    from manoeuvre import CRAFT

    compiled = gs.compile(getattr(gs, function), CRAFT, threads=1)
    q, v, tau = states(count)
    arguments = {"forward_dynamics": (q, v, tau), "inverse_dynamics": (q, v, tau), "generalized_inertia": (q,)}[
        function
    ]
    if count == 1:
        arguments = tuple(a[0] for a in arguments)
    return lambda: compiled(*arguments)


for _name in ("forward_dynamics", "inverse_dynamics", "generalized_inertia"):
    for _count in (1, 10_000):
        CASES[f"{_name}, {_count} state(s)"] = functools.partial(kernel, _name, _count)


def flight(which: str, runs: int, T: float, **options: Any) -> Callable[[], object]:
    import gyrostat as gs
    import manoeuvre

    motion = getattr(manoeuvre, which)
    q, v = (motion.q0, motion.v0) if runs == 1 else motion.states(runs)
    return lambda: gs.simulate(
        manoeuvre.CRAFT, q, v, (0.0, T), control=motion.law, save_at=[T], threads=1, progress=False, **options
    )


CASES |= {
    "dop853, one run of 200 s": lambda: flight("MANOEUVRE", 1, 200.0),
    "dop853 at 1e-12, 64 runs of 200 s": lambda: flight("MANOEUVRE", 64, 200.0, rtol=1e-12, atol=1e-12),
    "dop853, 256 runs, tumbling": lambda: flight("TUMBLE", 256, 20.0),
    "rk45, one run, tumbling": lambda: flight("TUMBLE", 1, 50.0, integrator="rk45"),
    "rk4, one run of 5000 steps": lambda: flight("HOLD", 1, 50.0, integrator="rk4", step=0.01),
    "rk4, 4000 runs of 100 steps": lambda: flight("HOLD", 4000, 1.0, integrator="rk4", step=0.01),
    "gauss6, one run of 1000 steps": lambda: flight("TUMBLE", 1, 10.0, integrator="gauss6", step=0.01),
    "gauss16, one run": lambda: flight("MANOEUVRE", 1, 200.0, integrator="gauss16"),
    "gauss16, 64 runs": lambda: flight("MANOEUVRE", 64, 200.0, integrator="gauss16"),
    "a call of one rk4 step": lambda: flight("HOLD", 1, 0.01, integrator="rk4", step=0.01),
}


@case("sampled PD, 500 samples")
def sampled() -> Callable[[], object]:
    import gyrostat as gs
    import manoeuvre

    law = gs.Controller(manoeuvre.hold, period=0.1)
    q, v = manoeuvre.HOLD.q0, manoeuvre.HOLD.v0
    return lambda: gs.simulate(manoeuvre.CRAFT, q, v, (0.0, 50.0), control=law, save_at=[50.0], progress=False)


@case("event, actuators and stops, 20 s")
def everything() -> Callable[[], object]:
    import gyrostat as gs
    import manoeuvre

    def passes(craft: Any, t: Any, q: Any, v: Any) -> Any:
        return q[8] - 0.1

    q, v = manoeuvre.HOLD.q0, manoeuvre.HOLD.v0
    options = {"events": [passes], "actuators": gs.Actuators(lag=0.05)}
    return lambda: gs.simulate(
        manoeuvre.CRAFT, q, v, (0.0, 20.0), control=manoeuvre.hold, save_at=[20.0], progress=False, **options
    )


@case("import gyrostat (wall)")
def importing() -> Callable[[], object]:
    return lambda: subprocess.run([sys.executable, "-c", "import gyrostat"], check=True)


def serve(only: str) -> None:
    """In the child: 'ready NAME' or 'no NAME why' for each case; then, asked by name, the seconds of one call."""
    calls: dict[str, tuple[Callable[[], object], int]] = {}
    for name, make in CASES.items():
        if only not in name:
            continue
        try:
            call = make()
            call()
            call()
            begin = time.process_time()
            call()
            once = max(time.process_time() - begin, 1e-6)
            calls[name] = call, max(1, min(2000, int(0.05 / once)))
            print(json.dumps(["ready", name]), flush=True)
        except (AttributeError, ImportError, TypeError, ValueError) as problem:
            print(json.dumps(["no", name, f"{type(problem).__name__}: {problem}"]), flush=True)
    print(json.dumps(["go"]), flush=True)
    for line in sys.stdin:
        name = line.strip()
        call, number = calls[name]
        clock = time.perf_counter if name.endswith("(wall)") else time.process_time
        begin = clock()
        for _ in range(number):
            call()
        print(json.dumps((clock() - begin) / number), flush=True)


class Version:
    """One checkout, in a process of its own."""

    def __init__(self, checkout: Path, only: str):
        environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(checkout / "src"), str(HERE)])}
        environment |= {"GYROSTAT_CACHE": str(checkout / ".cache" / "against"), "OMP_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "against.py"), "--serve", "--only", only],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.ready: set[str] = set()
        self.refused: dict[str, str] = {}
        while (answer := self._read())[0] != "go":
            if answer[0] == "ready":
                self.ready.add(answer[1])
            else:
                self.refused[answer[1]] = answer[2]

    def _read(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit("A process of the comparison ended: see above.")
        return json.loads(line)

    def seconds(self, name: str) -> float:
        assert self.process.stdin is not None
        self.process.stdin.write(name + "\n")
        self.process.stdin.flush()
        return float(self._read())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("other", type=Path, nargs="?", help="another checkout of gyrostat")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", default="", help="cases whose name holds this")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        serve(arguments.only)
        return
    from timing import machine

    versions = [Version(checkout, arguments.only) for checkout in (arguments.other.resolve(), HERE.parent)]
    names = [name for name in CASES if all(name in version.ready for version in versions)]
    for version, who in zip(versions, ("the other", "this"), strict=True):
        for name, why in version.refused.items():
            print(f"left out, {who} version: {name}: {why}")
    least = {name: [float("inf"), float("inf")] for name in names}
    for _ in range(arguments.rounds):
        for name in names:
            for k, version in enumerate(versions):
                least[name][k] = min(least[name][k], version.seconds(name))
    print(f"{'':44}{'other':>12}{'this':>12}{'this/other':>12}")
    for name, (other, this) in least.items():
        print(f"{name:44}{other * 1e6:10.1f}us{this * 1e6:10.1f}us{this / other:12.3f}")
    results = HERE / "results"
    results.mkdir(exist_ok=True)
    rows = {name: {"other_s": other, "this_s": this, "ratio": this / other} for name, (other, this) in least.items()}
    (results / "against.json").write_text(json.dumps({"machine": machine(), "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
