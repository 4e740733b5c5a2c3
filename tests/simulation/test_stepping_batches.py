"""Many runs side by side, step by step: each is as it were alone, each can be put back alone."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import gyrostat as gs
import manoeuvre
from controllers import LAWS
from gyrostat.simulation.engine import resident

METHODS = {
    "dop853": {"integrator": "dop853", "rtol": 1e-8},
    "rk4": {"integrator": "rk4", "step": 0.1},
    "gauss6": {"integrator": "gauss6", "step": 0.1},
    "gauss16": {"integrator": "gauss16", "rtol": 1e-8},
}
RUNS, STEPS, DT = 19, 5, 0.2
rng = np.random.default_rng(3)
LOADS = rng.normal(size=(STEPS, RUNS, 12)) * np.r_[np.full(6, 0.2), manoeuvre.KP / 30.0]


def starts(count=RUNS):
    craft, q, v = manoeuvre.start()
    own = np.random.default_rng(5)
    q = q + np.concatenate([np.zeros((count, 7)), 0.3 * own.normal(size=(count, 6))], axis=1)
    return craft, q, v + 0.02 * own.normal(size=(count, 12))


@pytest.mark.parametrize("method", METHODS)
def test_runs_side_by_side_equal_runs_alone(method):
    craft, q, v = starts()
    masses = np.linspace(3.0, 9.0, RUNS)
    sim = gs.Simulation(craft, runs=RUNS, parameters={"link_2.mass": masses}, **METHODS[method])
    sim.reset(q, v)
    for load in LOADS:
        sim.step(load, DT)
    assert sim.q.shape == (RUNS, 13) and sim.t.shape == (RUNS,)
    alone = gs.Simulation(craft, parameters={"link_2.mass": 1.0}, **METHODS[method])
    for k in (0, 7, 8, RUNS - 1):
        alone.reset(q[k], v[k], parameters={"link_2.mass": masses[k]})
        for load in LOADS:
            alone.step(load[k], DT)
        np.testing.assert_array_equal(sim.q[k], alone.q)
        np.testing.assert_array_equal(sim.v[k], alone.v)
        np.testing.assert_array_equal(sim.signals["vdot"][k], alone.signals["vdot"])


@pytest.mark.parametrize("method", METHODS)
def test_a_run_that_is_reset_alone_equals_a_fresh_one_and_the_others_go_on(method):
    craft, q, v = starts()
    sim = gs.Simulation(craft, runs=RUNS, **METHODS[method])
    undisturbed = gs.Simulation(craft, runs=RUNS, **METHODS[method])
    for each in (sim, undisturbed):
        each.reset(q, v)
        for load in LOADS[:3]:
            each.step(load, DT)
    chosen = np.zeros(RUNS, dtype=bool)
    chosen[[1, 9, 18]] = True
    sim.reset(q[[4, 5, 6]], v[[4, 5, 6]], runs=chosen)
    np.testing.assert_array_equal(sim.t[chosen], 0.0)
    for load in LOADS[3:]:
        sim.step(load, DT)
        undisturbed.step(load, DT)
    np.testing.assert_array_equal(sim.q[~chosen], undisturbed.q[~chosen])
    fresh = gs.Simulation(craft, runs=3, **METHODS[method])
    fresh.reset(q[[4, 5, 6]], v[[4, 5, 6]])
    for load in LOADS[3:]:
        fresh.step(load[chosen], DT)
    np.testing.assert_array_equal(sim.q[chosen], fresh.q)
    np.testing.assert_array_equal(sim.v[chosen], fresh.v)
    np.testing.assert_allclose(sim.t[chosen], 2 * DT)
    with pytest.raises(ValueError, match="clocks of their own"):
        sim.trajectory()


@pytest.mark.parametrize("law", ["sampled", "noisy"])
def test_runs_reset_at_different_times_take_their_own_samples(law):
    craft, q, v = starts(10)
    more = {"control": LAWS[law](), "integrator": "rk4", "step": 0.1, "runs": 10, "seed": 5}
    if law == "noisy":
        more["inputs"] = {"gain": np.linspace(0.8, 1.2, 10)}
    sim, fresh = gs.Simulation(craft, **more), gs.Simulation(craft, **more)
    for each in (sim, fresh):
        each.reset(q, v)
    for _ in range(9):
        sim.step(dt=0.1)
    sim.reset(q[[2, 8]], v[[2, 8]], runs=[2, 8])
    for _ in range(23):
        sim.step(dt=0.1)
        fresh.step(dt=0.1)
    np.testing.assert_array_equal(sim.q[[2, 8]], fresh.q[[2, 8]])
    for _ in range(9):
        fresh.step(dt=0.1)
    others = np.delete(np.arange(10), [2, 8])
    np.testing.assert_array_equal(sim.q[others], fresh.q[others])


def test_noise_is_new_where_the_seed_is():
    craft, q, v = starts(4)
    more = {"control": LAWS["noisy"](), "integrator": "rk4", "step": 0.1, "runs": 4, "inputs": {"gain": [1.0] * 4}}
    sim = gs.Simulation(craft, seed=1, **more)
    found = []
    for seed in (None, None, 2):
        sim.reset(q, v, seed=seed)
        sim.advance(1.0)
        found.append(sim.q)
    sim.reset(q, v, seed=1)
    sim.reset(q[1], v[1], seed=2, runs=[1])
    sim.advance(1.0)
    np.testing.assert_array_equal(found[0], found[1])
    assert (np.abs(found[0] - found[2]).max(axis=1) > 1e-8).all()
    np.testing.assert_array_equal(sim.q[1], found[2][1])
    np.testing.assert_array_equal(sim.q[[0, 2, 3]], found[0][[0, 2, 3]])


def far(craft, t, q, v):
    return q[7] - 0.42


def test_runs_that_a_terminal_event_stops_stay_there_and_the_others_go_on():
    craft, q, v = starts()
    q[:, 7], v[:, 6] = np.linspace(0.2, 0.5, RUNS), 0.3
    more = {"events": gs.When(far, "far", terminal=True), "integrator": "rk4", "step": 0.1}
    sim = gs.Simulation(craft, runs=RUNS, record=True, **more)
    sim.reset(q, v)
    sim.step(np.zeros(12), DT)
    first = sim.state
    stopped = np.array([s == "stopped" for s in first.status])
    assert 0 < stopped.sum() < RUNS
    sim.step(np.zeros(12), DT)
    np.testing.assert_array_equal(sim.q[stopped], first.q[stopped])
    np.testing.assert_array_equal(sim.t[stopped], first.t[stopped])
    whole = gs.simulate(craft, q, v, (0, 2 * DT), save_at=[0.0, DT, 2 * DT], breakpoints=[DT], **more)
    found = sim.trajectory()
    np.testing.assert_allclose(found.q, whole.q, rtol=0, atol=1e-14)
    assert found.status == whole.status and len(sim.events) == len(whole.events)
    copy = pickle.loads(pickle.dumps(sim))
    np.testing.assert_array_equal(copy.q, sim.q)
    assert copy.state.status == sim.state.status and len(copy.events) == len(sim.events)


def test_no_number_depends_on_the_number_of_threads(monkeypatch):
    monkeypatch.setattr(resident, "WORTH_A_THREAD", 1)
    craft, q, v = starts()
    ends = []
    for threads in (1, 3):
        sim = gs.Simulation(craft, runs=RUNS, threads=threads, **METHODS["dop853"])
        sim.reset(q, v)
        for load in LOADS:
            sim.step(load, DT)
        bad = LOADS[0].copy()
        bad[-1, -1] = np.nan
        with pytest.raises(ValueError, match="of run 18 is nan"):
            sim.step(bad, DT)
        ends.append(np.hstack([sim.q, sim.v]))
    np.testing.assert_array_equal(*ends)


def test_records_of_many_runs_are_at_common_times():
    craft, q, v = starts(3)
    sim = gs.Simulation(craft, runs=3, record=True, **METHODS["rk4"])
    sim.reset(q, v, t0=5.0)
    for load in LOADS:
        sim.step(load[:3], DT)
    found = sim.trajectory()
    np.testing.assert_allclose(found.time, 5.0 + DT * np.arange(STEPS + 1))
    assert found.q.shape == (3, STEPS + 1, 13) and found.audit.worst < 1e-5
    np.testing.assert_array_equal(found.data["held"].values[:, :-1].swapaxes(0, 1), LOADS[:, :3])
    for options, words in (({"runs": [1]}, "common times"), ({"t0": 3.0, "runs": [1]}, "one t0")):
        with pytest.raises(ValueError, match=words):
            sim.reset(q[1], v[1], **options)
    for q0, words in ((q[:2], "given for 2 runs, but 3 begin"), (q[:, :4], "q0 has shape")):
        with pytest.raises(ValueError, match=words):
            sim.reset(q0, v[0])
