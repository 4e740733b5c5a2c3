"""Any combination of options of `gs.simulate`, on any craft, is honoured whole or refused by name;
what it does is accounted for.
"""

from __future__ import annotations

import os

import numpy as np
import pytest

import gyrostat as gs
from random_missions import END, MOVES, START, random_mission, refused

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


@pytest.mark.parametrize("seed", range(FIRST, FIRST + max(1, CASES // 12)))
def test_a_run_is_the_same_bits_in_a_batch_that_ends_here_and_there_resumed_and_from_a_file(seed, tmp_path):
    mission, rng = random_mission(seed), np.random.default_rng([seed, 4])
    craft, given, count = mission.craft, mission.keywords(), 3
    k, level = int(rng.integers(craft.nv)), float(0.02 * rng.normal())
    end = gs.When(lambda craft, t, q, v: v[k] - mission.v[k] + 0.3 * (t - START) - 0.05 - level, "end", terminal=True)
    given["events"] = [*given.get("events", ()), end]
    rigid = [b for b in craft.bodies if b.mass > 0 and not craft.flexible(b.name) and not b.joint.motion.spins]
    body = rigid[int(rng.integers(len(rigid)))]
    values = {name: np.stack([x, x, x]) for name, x in given.get("parameters", {}).items()}
    values[f"{body.name}.mass"] = body.mass * np.array([0.8, 1.0, 1.3])
    inputs = {name: x * np.array([1.0, 1.1, 1.2]) for name, x in given.get("inputs", {}).items()}
    given |= {"parameters": values, "progress": False} | ({"inputs": inputs} if inputs else {})
    q, v, span = np.tile(mission.q, (count, 1)), np.tile(mission.v, (count, 1)), (START, START + END)
    batch, _ = refused(lambda: gs.simulate(craft, q, v, span, **given))
    if batch is None:
        return
    own = {"parameters": {name: x[1] for name, x in values.items()}, "runs": 1}
    own |= {"inputs": {name: x[1] for name, x in inputs.items()}} if inputs else {}
    alone, _ = refused(lambda: gs.simulate(craft, mission.q, mission.v, span, **given | own))
    part, _ = refused(lambda: gs.simulate(craft, q, v, span, **given, max_steps=5))
    part.save(tmp_path / "part.nc")
    functions = ("control", "environment", "events", "constraints", "prescribed")
    again = {name: given[name] for name in functions if name in given} | {"progress": False}
    rest, words = refused(lambda: gs.simulate(craft, resume=gs.Trajectory.load(tmp_path / "part.nc"), **again))
    assert rest is not None, (str(mission), words)
    for name in ("q", "v", "work", "impulse", "q_end", "v_end", "t_end", "cause_work"):
        whole = batch.data[name].values
        np.testing.assert_array_equal(rest.data[name].values, whole, err_msg=f"{mission}, {name}")
        np.testing.assert_array_equal(alone.data[name].values, whole[1], err_msg=f"{mission}, {name}")
    assert [(e.run, e.name, e.t) for e in rest.events] == [(e.run, e.name, e.t) for e in batch.events], str(mission)


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
