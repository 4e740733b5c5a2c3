"""Any combination of options, for any group of members that see each other or not, is honoured whole or refused by
name; what it does is accounted for.
"""

from __future__ import annotations

import os

import numpy as np
import pytest

import gyrostat as gs
from random_formations import FormationMission, random_formation
from random_missions import MOVES, refused

CASES = max(1, int(os.environ.get("GYROSTAT_SEAMS", "24")) // 2)
FIRST = int(os.environ.get("GYROSTAT_SEAMS_FIRST", "0"))
SEEDS = range(FIRST, FIRST + CASES)


def apart(a, b) -> float:
    return max(
        max(np.abs(a.groups[g].q - b.groups[g].q).max(), np.abs(a.groups[g].v - b.groups[g].v).max()) for g in a.groups
    )


def told(mission: FormationMission, g: str, *names: str) -> bool:
    return any(h == g and o.name in names for h, o in mission.options)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_option_that_is_accepted_has_its_effect_and_everything_balances(seed):
    mission = random_formation(seed)
    run, _ = refused(mission.run)
    if run is None:
        return
    assert run.ok, str(mission)
    for g, trajectory in run.groups.items():
        assert trajectory.audit.worst < 1e-9, (str(mission), g, str(trajectory.audit))
        if g not in mission.external and not told(mission, g, "kick", "tether"):
            h = trajectory.momentum()
            assert np.abs(h - h[:, :1]).max() < 1e-8 * (1.0 + np.abs(h).max()), (str(mission), g)
    if not mission.external and not any(o.name == "kick" for _, o in mission.options):
        p = sum(trajectory.momentum()[..., 3:].sum(axis=0) for trajectory in run.groups.values())
        assert np.abs(p - p[0]).max() < 1e-8 * (1.0 + np.abs(p).max()), str(mission)  # tethers are equal and opposite
    scale = 1.0 + max(np.abs(trajectory.v).max() for trajectory in run.groups.values())
    for g, option in mission.options:
        other, words = refused(lambda g=g, name=option.name: mission.run((g, name)))
        if other is None:
            assert option.does == MOVES or words, str(mission)
            continue
        assert other.ok, (str(mission), option.name)
        if option.does == MOVES and not mission.mission(g).idle(option):
            assert apart(run, other) > 1e-7, (str(mission), f"{option.name} of {g} has no effect")
        elif option.does != MOVES:
            assert apart(run, other) < 1e-6 * scale, (str(mission), f"{option.name} of {g} changes the motion")


def test_most_random_formations_are_accepted_and_see_each_other():
    """So that the test above does not pass by refusing everything, or by coupling nobody."""
    found = [random_formation(seed) for seed in range(20)]
    accepted = [refused(mission.run)[0] is not None for mission in found]
    seeing = [any("seeing" in o.name or o.name == "tether" for _, o in mission.options) for mission in found]
    assert sum(accepted) >= 10
    assert sum(a and b for a, b in zip(accepted, seeing, strict=True)) >= 8


@pytest.mark.parametrize("seed", SEEDS)
def test_a_run_is_the_same_bits_resumed_and_in_a_batch_whatever_its_options(seed):
    mission = random_formation(seed)
    whole, _ = refused(mission.run)
    if whole is None:
        return
    cut, _ = refused(lambda: mission.run(max_steps=5))
    assert cut.interrupted, str(mission)
    rest, words = refused(lambda: gs.simulate(mission.formation, resume=cut, progress=False))
    assert rest is not None, (str(mission), words)
    given = mission.keywords()
    for name in ("inputs", "parameters"):
        if name in given:
            given[name] = {g: {n: np.stack([x, 1.1 * x]) for n, x in own.items()} for g, own in given[name].items()}
    twice = {g: (np.stack([q, q]), np.stack([v, v])) for g, (q, v) in mission.state.items()}
    batch, words = refused(lambda: mission.fly(twice, **given))
    assert batch is not None, (str(mission), words)
    for g, trajectory in whole.groups.items():
        for other in (rest, batch[0]):
            for name in ("q", "v", "work", "impulse", "q_end", "cause_work"):
                np.testing.assert_array_equal(
                    other.groups[g].data[name].values, trajectory.data[name].values, err_msg=f"{mission}, {g}, {name}"
                )
