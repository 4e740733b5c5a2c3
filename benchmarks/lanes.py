"""Forward dynamics with vectors of two, four and eight doubles, as other processors have them, in one run on this one.

    python benchmarks/lanes.py [--quick]

Code is compiled for each processor's name and features and called here, which an x86 processor with AVX-512 can do;
ARM has two doubles (NEON) and runs under emulation in the tests. Values are compared before anything is timed.
Processor time of one thread, states by lane; two threads by the clock on the wall, beside what two processes make of
the machine, only on one that is idle.
Prints a table; writes it to benchmarks/results/lanes.json.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import json
import mmap
import os
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from arms import random_arm, states
from rich.console import Console
from rich.table import Table
from timing import machine, seconds

import gyrostat as gs
from gyrostat import tracing
from gyrostat.tracing import machine as host_machine

HOST = host_machine.host
PROCESSORS = {
    "SSE2": ("x86-64", "+sse2"),
    "AVX2": ("x86-64-v3", "+avx2,+fma"),
    "this one": None,
}
STATES = 20_000
IDLE = 0.5  # load of a machine on which two threads can be measured
console = Console(width=120)


def kernels(graph: tracing.Graph) -> dict[str, tracing.Kernel]:
    found = {}
    for name, forced in PROCESSORS.items():
        host_machine.host = HOST if forced is None else (lambda forced=forced: forced)  # type: ignore[assignment]
        for dtype in (np.float64, np.float32):
            kernel = tracing.Kernel(graph, dtype=dtype, threads=1)
            found[f"{name}, {kernel.lanes} of {np.dtype(dtype).name}"] = kernel
    host_machine.host = HOST
    return found


def two_threads(graph: tracing.Graph, craft: gs.Spacecraft, repeats: int) -> dict[str, float]:
    """Times as fast as one thread, by the wall; and what two processes of one thread each make of the same machine,
    which is all that it has. Medians of rounds, all measured in turn.
    """
    given = states(craft, 100_000)
    out = np.empty_like(given[1])
    both = {n: tracing.Kernel(graph, threads=n) for n in (1, 2)}
    times: dict[str, list[float]] = {"one": [], "two": [], "beside another": []}

    def call(name: str, threads: int) -> None:
        begun = time.perf_counter()
        both[threads](*given, out=out)
        times[name].append(time.perf_counter() - begun)

    with other_process(lambda: both[1](*given, out=out)) as at_work:
        for _ in range(repeats):
            for n in (1, 2):
                both[n](*given, out=out)
            call("one", 1)
            call("two", 2)
            with at_work():
                both[1](*given, out=out)
                call("beside another", 1)
    one, two, beside = (statistics.median(x) for x in times.values())
    return {"one_s": one, "two_s": two, "ratio": one / two, "two_processes": 2.0 * one / beside}


@contextlib.contextmanager
def other_process(work: Callable[[], object]) -> Iterator[Callable[[], contextlib.AbstractContextManager[None]]]:
    """A fork that does `work` again and again within `with at_work():`."""
    order = mmap.mmap(-1, 1)
    order[0] = WAIT
    child = os.fork()
    if child == 0:
        while order[0] != END:
            if order[0] == GO:
                work()
            else:
                time.sleep(1e-4)
        os._exit(0)

    @contextlib.contextmanager
    def at_work() -> Iterator[None]:
        order[0] = GO
        time.sleep(0.005)
        yield
        order[0] = WAIT
        time.sleep(0.01)

    try:
        yield at_work
    finally:
        order[0] = END
        os.waitpid(child, 0)


WAIT, GO, END = range(3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer repeats, nothing written")
    quick = parser.parse_args().quick
    craft = random_arm(7, seed=101)
    graph, given = tracing.trace(gs.forward_dynamics, craft), states(craft, STATES)
    calls: dict[str, Any] = {}
    reference = None
    for name, kernel in kernels(graph).items():
        found = kernel(*(x.astype(kernel.dtype) for x in given))
        reference = found if reference is None else reference
        allowed = 1e-9 if kernel.dtype == np.float64 else 0.1
        worst = np.max(np.abs(found - reference), axis=1) / np.max(np.abs(reference), axis=1)
        assert np.quantile(worst, 0.99) <= allowed, name
        by_lane = [kernel.to_lanes(x, x.shape[1:]) for x in given]
        out = kernel(*by_lane, layout="lanes")
        calls[name] = lambda k=kernel, x=by_lane, y=out: k(*x, layout="lanes", out=y)
    times = seconds(calls, 3 if quick else 9)
    slowest = max(times.values())
    table = Table("processor, lanes", "ns a state", "times the slowest", title=f"{graph.name}, {len(graph)} operations")
    for name, t in times.items():
        table.add_row(name, f"{1e9 * t / STATES:.0f}", f"{slowest / t:.2f}")
    console.print(table)
    load = os.getloadavg()[0]
    pair = two_threads(graph, craft, 5 if quick else 25) if load < IDLE else None
    told = (
        f"left out, the machine has a load of {load:.1f}"
        if pair is None
        else f"{pair['ratio']:.2f} times as fast as one; two processes {pair['two_processes']:.2f} times"
    )
    console.print(f"two threads: {told}")
    if not quick:
        rows = {name: 1e9 * t / STATES for name, t in times.items()}
        written = {"date": str(datetime.date.today()), "machine": machine(), "ns_per_state": rows, "two_threads": pair}
        (Path(__file__).parent / "results" / "lanes.json").write_text(json.dumps(written, indent=1) + "\n")


if __name__ == "__main__":
    main()
