"""Wrong loads, failures and exceptions in a simulation that is stepped: said clearly, and the state is unharmed."""

from __future__ import annotations

import os
import pickle
import signal
import threading
import warnings

import numpy as np
import pytest

import gyrostat as gs
import manoeuvre

RK4 = {"integrator": "rk4", "step": 0.05}


def ready(**options):
    craft, q, v = manoeuvre.start()
    runs = options.get("runs")
    sim = gs.Simulation(craft, **{**RK4, **options})
    sim.reset(q, v if runs is None else np.tile(v, (runs, 1)))
    return sim, q, v


def unharmed(sim, before):
    """It stands where it stood, and goes on as if nothing had been asked."""
    after = sim.state
    for name in ("t", "q", "v", "memory", "motors"):
        np.testing.assert_array_equal(getattr(after, name), getattr(before, name), err_msg=name)
    assert after.status == before.status


WRONG = {
    "too short": (np.zeros(6), ValueError, r"the load has shape \(6,\); expected \(12,\)"),
    "a matrix": (np.zeros((2, 12)), ValueError, r"the load has shape \(2, 12\); expected \(12,\)"),
    "nothing": (None, TypeError, "step needs the load"),
    "no number": (np.r_[np.zeros(8), np.nan, np.zeros(3)], ValueError, r"the load on 'joint_3' \(entry 8\) is nan"),
    "infinite": (np.r_[np.zeros(11), -np.inf], ValueError, r"'joint_6' \(entry 11\) is -inf; expected finite"),
    "an unknown joint": ({"joint_9": 1.0}, ValueError, "joint_9"),
    "words": ("hello", ValueError, "the load is 'hello'; expected real numbers"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_load_is_refused_and_moves_nothing(case):
    load, kind, words = WRONG[case]
    sim, *_ = ready(record=True)
    other = pickle.loads(pickle.dumps(sim))
    for each in (sim, other):
        each.step(np.full(12, 0.1), 0.1)
    before = sim.state
    with pytest.raises(kind, match=words):
        sim.step(load, 0.1)
    unharmed(sim, before)
    for each in (sim, other):
        each.step(np.full(12, -0.2), 0.1)
    np.testing.assert_array_equal(sim.trajectory().q, other.trajectory().q)


@pytest.mark.parametrize("dt", [0.0, -0.1, np.nan, np.inf])
def test_a_wrong_time_is_refused_and_moves_nothing(dt):
    sim, *_ = ready()
    before = sim.state
    with pytest.raises(ValueError, match="dt is"):
        sim.step(np.zeros(12), dt)
    with pytest.raises(ValueError, match="until is"):
        sim.advance(-1.0 if dt == 0.0 else dt)
    unharmed(sim, before)


def test_a_load_of_many_runs_names_the_run():
    sim, *_ = ready(runs=11)
    load = np.zeros((11, 12))
    load[9, 6] = np.nan
    before = sim.state
    with pytest.raises(ValueError, match=r"the load on 'joint_1' \(entry 6\) of run 9 is nan"):
        sim.step(load, 0.1)
    unharmed(sim, before)
    with pytest.raises(ValueError, match=r"shape \(10, 12\); expected \(12,\) or \(11, 12\)"):
        sim.step(np.zeros((10, 12)), 0.1)


def test_a_simulation_without_a_start_says_so():
    craft, q, v = manoeuvre.start()
    sim = gs.Simulation(craft)
    for call in (lambda: sim.step(np.zeros(12), 0.1), lambda: sim.advance(1.0), sim.trajectory, sim.snapshot):
        with pytest.raises(RuntimeError, match=r"no start yet. Give it one: sim.reset"):
            call()
    copy = pickle.loads(pickle.dumps(sim))
    copy.reset(q, v)
    with pytest.raises(TypeError, match="step needs dt="):
        copy.step(np.zeros(12))


def blowing_up(craft, t, q, v):
    """A push that has no end at t = 0.5."""
    return np.concatenate([np.zeros(6), [1.0 / (0.5 - t)], np.zeros(5)])


def test_stepping_after_a_failure_is_refused_until_the_run_is_put_back():
    sim, q, v = ready(integrator="dop853", step=None, rtol=1e-8, control=blowing_up, breakpoints=[0.5])
    sim.step(dt=0.2)
    kept = sim.snapshot()
    with pytest.warns(gs.SimulationWarning, match="stopped at t = 0.5 s.*Fastest joint"):
        sim.step(dt=0.6)
    assert sim.state.status[0] in ("underflow", "not_finite") and 0.2 < sim.t < 0.5
    before = sim.state
    for call in (lambda: sim.step(dt=0.1), lambda: sim.advance(1.0)):
        with pytest.raises(RuntimeError, match=r"stopped at t = 0.5 s.*It cannot go on: sim.reset\(q0, v0\)"):
            call()
    unharmed(sim, before)
    assert not sim.trajectory().ok and "stopped at" in sim.trajectory().failures[0]
    sim.restore(kept)
    sim.step(dt=0.1)
    assert sim.t == pytest.approx(0.3)
    sim.reset(q, v)
    sim.step(dt=0.1)
    assert sim.state.status == ("running",)


def test_a_run_that_fails_among_others_stops_alone():
    craft, q, v = manoeuvre.start()

    def law(craft, t, q, v, strength):
        return np.concatenate([np.zeros(6), [strength / (0.5 - t)], np.zeros(5)])

    runs, strength = 10, np.zeros(10)
    strength[[3, 8]] = 1.0
    sim = gs.Simulation(craft, control=law, inputs={"strength": strength}, runs=runs, integrator="rk4", step=0.05)
    sim.reset(q, v)
    with pytest.warns(gs.SimulationWarning) as told:
        sim.step(dt=0.6)
    assert [str(w.message).split(":")[0] for w in told] == ["servicer, run 3", "servicer, run 8"]
    assert {w.filename for w in told} == {__file__}
    state = sim.state
    assert [k for k in range(runs) if state.status[k] != "running"] == [3, 8]
    assert (state.t[[3, 8]] < 0.55).all() and (np.delete(state.t, [3, 8]) == 0.6).all()
    with pytest.raises(RuntimeError, match=r"\(2 runs failed.*sim.reset\(q0, v0, runs=\[3, 8\]\)"):
        sim.step(dt=0.1)
    sim.reset(q, v, runs=[3, 8], inputs={"strength": np.zeros(2)})
    sim.step(dt=0.1)
    np.testing.assert_allclose(sim.t, np.where(np.isin(np.arange(runs), [3, 8]), 0.1, 0.7))


class Wrong(Exception):
    pass


def test_an_exception_in_a_law_leaves_the_state_before_the_step():
    craft, q, v = manoeuvre.start()
    fails = {"at": np.inf}

    def law(craft, t, q, v, gain):
        if float(t) > fails["at"]:
            raise Wrong("the user's own")
        return np.concatenate([np.zeros(6), [gain], np.zeros(5)])

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gs.SimulationWarning)
        sims = [gs.Simulation(craft, control=law, inputs={"gain": 1.0}, runs=10, record=True, **RK4) for _ in range(2)]
    for sim in sims:
        sim.reset(q, v)
        sim.step({"gain": np.linspace(0.5, 2.0, 10)}, 0.2)
    before, fails["at"] = sims[0].state, 0.3
    with pytest.raises(Wrong, match="the user's own"):
        sims[0].step({"gain": 5.0}, 0.2)
    unharmed(sims[0], before)
    fails["at"] = np.inf
    for sim in sims:
        sim.step(dt=0.2)
    np.testing.assert_array_equal(sims[0].trajectory().q, sims[1].trajectory().q)


def test_an_exception_in_an_effect_leaves_the_state_before_the_step():
    craft, q, v = manoeuvre.start()

    def effect(craft, t, q, v):
        raise Wrong("no effect")

    event = gs.When(lambda craft, t, q, v: t - 0.33, "later", effect=effect)
    sim = gs.Simulation(craft, events=event, **RK4)
    sim.reset(q, v)
    sim.step(np.full(12, 0.1), 0.2)
    before = sim.state
    with pytest.raises(Wrong):
        sim.step(np.full(12, 0.1), 0.2)
    unharmed(sim, before)
    assert sim.events == ()


def test_too_many_steps_are_refused_with_the_time_that_was_reached():
    sim, *_ = ready(integrator="dop853", step=None, max_step=2e-3, max_steps=1000)
    with pytest.raises(RuntimeError, match=r"max_steps=1000 attempted steps were not enough; the run waits at t = \d"):
        sim.step(np.zeros(12), 5.0)
    assert 1.9 < sim.t < 2.3 and sim.state.status == ("running",)
    t = sim.t
    sim.step(np.zeros(12), 1.0)  # from where it waits, whatever had been asked before
    assert sim.t == pytest.approx(t + 1.0)


def test_ctrl_c_ends_a_long_step_and_the_run_waits_where_it_is():
    sim, *_ = ready(integrator="dop853", step=None, max_step=1e-4, max_steps=10**9)
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        sim.advance(1e5)
    t = float(sim.t)
    assert 0.0 < t < 1e5 and sim.state.status == ("running",) and np.isfinite(sim.q).all()
    sim.step(np.zeros(12), 0.01)
    assert sim.t == pytest.approx(t + 0.01)


REFUSED = {
    "nothing to simulate": (lambda c: gs.Simulation("servicer"), TypeError, "expected a Spacecraft"),
    "no runs": (lambda c: gs.Simulation(c, runs=0), ValueError, "runs is 0"),
    "fixed steps": (lambda c: gs.Simulation(c, integrator="rk4"), ValueError, "give step="),
    "unfelt inputs": (lambda c: gs.Simulation(c, inputs={"gain": 1.0}), ValueError, "asks for it by argument name"),
    "unfelt tolerance": (lambda c: gs.Simulation(c, rtol=1e-3, **RK4), ValueError, "no effect on the fixed steps"),
    "an unknown mode": (lambda c: gs.Simulation(c, mode="flaoting"), ValueError, "floating"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_simulate_refuses_is_refused(case):
    make, kind, words = REFUSED[case]
    with pytest.raises(kind, match=words):
        make(manoeuvre.start()[0])


def test_a_mode_refuses_loads_that_it_does_not_have():
    sim, *_ = ready(mode="floating")
    sim.step({"joint_2": 1.0}, 0.1)
    before = sim.state
    with pytest.raises(ValueError, match="mode 'floating'"):
        sim.step(np.r_[1.0, np.zeros(11)], 0.1)
    unharmed(sim, before)
    assert sim.trajectory().mode_audit is not None


def held(craft, t, q, v, gain):
    return np.concatenate([np.zeros(6), -gain * v[6:]])


def test_wrong_inputs_and_parameters_are_refused():
    sim, q, v = ready(control=held, inputs={"gain": 1.0}, parameters={"link_3.mass": 5.0})
    before = sim.state
    for given, kind, words in (
        (np.zeros(12), TypeError, "gives it inputs by name"),
        ({"gian": 1.0}, ValueError, "Its inputs: gain"),
        ({"gain": [1.0, 2.0]}, ValueError, r"input 'gain' has shape \(2,\); expected \(\)"),
        ({"gain": np.nan}, ValueError, "not finite"),
    ):
        with pytest.raises(kind, match=words):
            sim.step(given, 0.1)
    for options, words in (
        ({"parameters": {"link_4.mass": 1.0}}, r"parameters\['link_4.mass'\] is not among those"),
        ({"parameters": {"link_3.mass": -1.0}}, "'link_3': mass is -1.0"),
        ({"inputs": {"gian": 1.0}}, r"inputs\['gian'\] is not among"),
        ({"t0": np.nan}, "t0 is nan"),
        ({"runs": [1]}, "numbers from 0 to 0"),
    ):
        with pytest.raises(ValueError, match=words):
            sim.reset(q, v, **options)
    with pytest.raises(ValueError, match="q0 has shape"):
        sim.reset(q[:5], v)
    with pytest.raises(ValueError, match="made for one run"):
        sim.reset(np.tile(q, (3, 1)), v)
    unharmed(sim, before)


def test_a_snapshot_of_another_making_is_refused():
    sim, *_ = ready()
    others = [ready(integrator="gauss6")[0], ready(runs=2)[0], ready(control=held, inputs={"gain": 1.0})[0]]
    before = sim.state
    for other in others:
        with pytest.raises(ValueError, match="another making"):
            sim.restore(other.snapshot())
    with pytest.raises(TypeError, match="what snapshot"):
        sim.restore(sim.state)
    unharmed(sim, before)


def test_derivatives_and_formations_are_refused_with_what_to_use_instead():
    craft = gs.models.servicer()
    with pytest.raises(ValueError, match=r"sensitivities: .* gs\.simulate\(sensitivities=.*gs\.rollout"):
        gs.Simulation(craft, sensitivities=["q0"])
    with pytest.raises(TypeError, match=r"step by step; expected a Spacecraft\. Formations go by gs\.simulate"):
        gs.Simulation(gs.Formation({"one": craft}))
