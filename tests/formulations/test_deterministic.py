"""Every formulation records the same operations in every process, whatever order Python's sets of names have there."""

from __future__ import annotations

import os
import subprocess
import sys

from gyrostat.formulations.registry import FORMULATIONS

PROGRAM = """
import hashlib
from gyrostat.formulations.registry import supporting
from gyrostat.tracing import trace
from random_trees import random_spacecraft

craft = random_spacecraft(3, links=4, kinds=("revolute", "prismatic", "spherical", "wheel"), base="free")
for name, module in supporting(craft)[0].items():
    graph = trace(module.forward_dynamics, craft, inputs={"wrenches": None})
    print(name, hashlib.sha256(repr([list(graph), graph.results]).encode()).hexdigest())
"""


def recorded(hash_seed: int) -> list[str]:
    """A line for each formulation, from a fresh process."""
    environment = os.environ | {"PYTHONHASHSEED": str(hash_seed), "PYTHONPATH": os.pathsep.join(sys.path)}
    found = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True)
    return found.stdout.splitlines()


def test_operations_do_not_depend_on_the_order_of_sets():
    first, *others = (recorded(seed) for seed in (0, 1, 2, 3))
    assert [line.split()[0] for line in first] == list(FORMULATIONS)
    for other in others:
        assert other == first
