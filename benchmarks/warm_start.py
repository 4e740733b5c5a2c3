"""What a run costs before it runs: `gs.simulate` of a craft that this machine has seen, in a process that has not.

    python benchmarks/warm_start.py

In fresh processes, the median of five: importing gyrostat; the first run of all, of another craft, which imports the
libraries of results (xarray, pandas); then the first run of the six-link arm and of an arm of 30 links under a law,
their machine code being on disk; and the same once more. Processor time. Writes benchmarks/results/warm_start.json.
"""

from __future__ import annotations

import datetime
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from timing import machine

PROGRAM = """
import time
start = time.process_time()
import gyrostat as gs
found = {"import gyrostat": time.process_time() - start}
import numpy as np
from arms import arm, random_arm

def law(craft, t, q, v):
    return np.concatenate([np.zeros(6), -0.1 * v[6:]])

def run(craft):
    start = time.process_time()
    gs.simulate(craft, gs.neutral(craft), 0.01 * np.ones(craft.nv), (0.0, 1.0), control=law, progress=False)
    return time.process_time() - start

found["first run, of two links"] = run(arm(2))
for links, craft in ((6, arm(6)), (30, random_arm(30))):
    found[f"first run of {links} links"] = run(craft)
    found[f"the same again, {links} links"] = run(craft)
import json
print(json.dumps(found))
"""


def run(cache: str) -> dict[str, float]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=environment | {"GYROSTAT_CACHE": cache},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def main() -> None:
    with tempfile.TemporaryDirectory() as cache:
        cold = run(cache)
        runs = [run(cache) for _ in range(5)]
    warm = {name: float(np.median([one[name] for one in runs])) for name in cold}
    table = Table("", "nothing on disk, s", "seen before, s")
    for name, found in warm.items():
        table.add_row(name, f"{cold[name]:.3f}", f"{found:.3f}")
    Console().print(table)
    written = {"date": str(datetime.date.today()), "machine": machine(), "cold_s": cold, "warm_s": warm}
    (Path(__file__).parent / "results" / "warm_start.json").write_text(json.dumps(written, indent=1) + "\n")


if __name__ == "__main__":
    main()
