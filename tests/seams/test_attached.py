"""What is grasped and attached as one tree moves as what a weld holds, whatever the craft and the options: every
coordinate, every load, every cause of its books; or it is refused by name.
"""

from __future__ import annotations

import os
from functools import partial

import numpy as np
import pytest

from random_dockings import random_docking
from random_missions import MOVES, refused

CASES = max(2, int(os.environ.get("GYROSTAT_SEAMS", "0")) // 4)
FIRST = int(os.environ.get("GYROSTAT_SEAMS_FIRST", "5"))  # 5 and 6 take a third of the time of 0 and 1


@pytest.mark.parametrize("seed", range(FIRST, FIRST + CASES))
def test_one_tree_moves_as_the_weld_and_feels_every_option(seed):
    docking = random_docking(seed)
    tree, words = refused(lambda: docking.run(True))
    weld, others = refused(lambda: docking.run(False))
    if tree is None or weld is None:
        assert (tree is None) == (weld is None) or "one tree" in words, (str(docking), words, others)
        return
    assert tree.ok and weld.ok, str(docking)
    a, b = tree.trajectory, weld.trajectory
    assert a.audit.worst < 1e-9 and b.audit.worst < 1e-9, (str(docking), str(a.audit), str(b.audit))
    scale = 1.0 + max(np.abs(b.v).max(), np.abs(b.q).max())
    for name, near in (("q", 1e-7), ("v", 1e-7), ("tau", 1e-5), ("work", 1e-6), ("impulse", 1e-6)):
        apart = np.abs(a.data[name].values - b.data[name].values).max()
        size = scale + np.abs(b.data[name].values).max()
        assert apart < near * size, (str(docking), f"{name}: {apart:.1e} of {size:.1e}")
    for name, value in b.outcomes.items():
        assert a.outcomes[name] == pytest.approx(value, rel=1e-6), (str(docking), name)
    mission = docking.mission
    if not mission.external:
        h = a.momentum()
        assert np.abs(h - h[0]).max() < 1e-8 * (1.0 + np.abs(h).max()), (str(docking), np.abs(h - h[0]).max(axis=0))
    for option in mission.options:
        other, words = refused(lambda name=option.name: docking.run(True, name))
        if other is None:
            assert option.does == MOVES or words, str(docking)
            continue
        assert other.ok, (str(docking), option.name)
        moved = max(np.abs(x - y).max() for x, y in zip(other.trajectory.final, a.final, strict=True))
        if option.does == MOVES and not mission.idle(option):
            assert moved > 1e-7, (str(docking), f"{option.name} has no effect: {moved:.1e}")
        elif option.does != MOVES:
            assert moved < 1e-6 * scale, (str(docking), f"{option.name} changes the motion by {moved:.1e}")


def test_most_are_attached():
    """So that the test above does not pass by refusing everything."""
    accepted = [refused(partial(random_docking(seed).run, True))[0] is not None for seed in range(3)]
    assert sum(accepted) >= 2
