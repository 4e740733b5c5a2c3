"""Any combination of options of `gs.simulate`, on any craft, is honoured whole or refused by name;
what it does is accounted for.
"""

from __future__ import annotations

import os

import numpy as np
import pytest

from random_missions import MOVES, random_mission, refused

CASES = int(os.environ.get("GYROSTAT_SEAMS", "24"))
FIRST = int(os.environ.get("GYROSTAT_SEAMS_FIRST", "0"))


@pytest.mark.parametrize("seed", range(FIRST, FIRST + CASES))
def test_every_option_that_is_accepted_has_its_effect_and_everything_balances(seed):
    mission = random_mission(seed)
    run, _ = refused(mission.run)
    if run is None:
        return
    assert run.ok, (str(mission), run.failures)
    assert run.audit.worst < 1e-9, (str(mission), str(run.audit))
    scale = 1.0 + np.abs(run.v).max()
    if not mission.external and not any(o.name in ("kick",) for o in mission.options):
        h = run.momentum()
        size = np.abs(h).max() + 1.0
        assert np.abs(h - h[0]).max() < 1e-9 * size * 10, (str(mission), np.abs(h - h[0]).max(axis=0))
    for option in mission.options:
        other, words = refused(lambda name=option.name: mission.run(name))
        if other is None:
            assert option.does == MOVES or words, str(mission)
            continue
        assert other.ok, (str(mission), option.name, other.failures)
        apart = max(np.abs(run.q - other.q).max(), np.abs(run.v - other.v).max())
        if option.does == MOVES and not mission.idle(option):
            assert apart > 1e-7, (str(mission), f"{option.name} has no effect: {apart:.1e}")
        elif option.does != MOVES:
            assert apart < 1e-6 * scale, (str(mission), f"{option.name} changes the motion by {apart:.1e}")


def test_most_random_combinations_are_accepted():
    """So that the test above does not pass by refusing everything."""
    accepted = [refused(random_mission(seed).run)[0] is not None for seed in range(30)]
    assert sum(accepted) >= 12


@pytest.mark.parametrize("seed", range(FIRST, FIRST + CASES))
def test_a_run_cut_into_phases_is_the_uncut_run_whatever_its_options(seed):
    mission = random_mission(seed)
    whole, words = refused(mission.run)
    cut, cut_words = refused(lambda: mission.run_in_phases(0.33))
    if whole is None or cut is None:
        assert (whole is None) == (cut is None) or "phase" in cut_words, (str(mission), words, cut_words)
        return
    assert cut.ok and cut.audit.worst < 1e-9, (str(mission), str(cut.audit))
    _, at, there = np.intersect1d(whole.time, cut.time, return_indices=True)
    assert len(at) == len(whole.time), str(mission)
    scale = 1.0 + np.abs(whole.v).max()
    np.testing.assert_allclose(cut.q[there], whole.q[at], atol=1e-7 * scale, err_msg=str(mission))
    np.testing.assert_allclose(cut.v[there], whole.v[at], atol=1e-7 * scale, err_msg=str(mission))
    np.testing.assert_allclose(
        cut.tau[there], whole.tau[at], atol=1e-5 * (1 + np.abs(whole.tau).max()), err_msg=str(mission)
    )
