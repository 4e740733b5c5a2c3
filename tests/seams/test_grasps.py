"""Grasps of any kind between random craft on bases of any kind, held through phases or bounced off: momentum and energy
balance by named causes, what is grasped holds, options are felt; or they are refused by name.
"""

from __future__ import annotations

import os
from functools import partial

import numpy as np
import pytest

import gyrostat as gs
from random_grasps import random_grasp
from random_missions import MOVES, refused

CASES = max(1, int(os.environ.get("GYROSTAT_SEAMS", "0")) // 4)
FIRST = int(os.environ.get("GYROSTAT_SEAMS_FIRST", "0"))


@pytest.mark.parametrize("seed", range(FIRST, FIRST + CASES))
def test_a_grasp_holds_balances_and_goes_on_bit_for_bit(seed):
    grasping = random_grasp(seed)
    mission = grasping.mission
    run, words = refused(grasping.run)
    if run is None:
        return
    whole = run.trajectory
    assert run.ok and whole.audit.worst < 1e-9, (str(grasping), whole.failures, str(whole.audit))
    if not mission.external:
        h = whole.momentum()
        assert np.abs(h - h[0]).max() < 1e-8 * (1.0 + np.abs(h).max()), (str(grasping), np.abs(h - h[0]).max(axis=0))
    own = {name: np.asarray(value) for name, value in mission.keywords().get("parameters", {}).items()}
    craft = mission.craft.with_values(own) if own else mission.craft
    for phase in run.phases[1:-1] if not grasping.restitution else ():
        open_by = gs.constraints.residuals(craft, *phase.end, phase.constraints)
        assert max(np.abs(part).max() for part in open_by) < 1e-7, (str(grasping), phase.phase.name)
    part, _ = refused(lambda: grasping.run(max_steps=max(2, int(whole.state.steps[0]) // 4)))
    for _ in range(12):
        if part.phases[-1].finished and len(part.phases) == len(run.phases):
            break
        part, words = refused(partial(gs.simulate_phases, mission.craft, phases=grasping.phases, resume=part))
        assert part is not None, (str(grasping), words)
    for name in ("q", "v", "work", "impulse"):
        np.testing.assert_array_equal(
            part.trajectory.data[name].values, whole.data[name].values, err_msg=f"{grasping}, {name}"
        )
    for option in mission.options[seed % len(mission.options) :][:1] if mission.options else ():
        other, words = refused(lambda name=option.name: grasping.run(name))
        if other is None:
            assert option.does == MOVES or words, str(grasping)
        elif option.does == MOVES and not mission.idle(option):
            apart = max(np.abs(a - b).max() for a, b in zip(other.trajectory.final, whole.final, strict=True))
            assert apart > 1e-7, (str(grasping), f"{option.name} has no effect")


def test_most_grasps_are_made():
    """So that the test above does not pass by refusing everything."""
    assert sum(refused(random_grasp(seed).run)[0] is not None for seed in (0, 1)) >= 1
