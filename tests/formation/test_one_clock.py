"""Members that see each other are one system of the engine: every integrator, events, resumption, interruption."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import gyrostat as gs
from formation_crafts import armed, box
from gyrostat.algebra import rotation
from gyrostat.formation import Coupling, Formation, Group, ring, simulate
from gyrostat.kinematics import configuration_rate
from random_trees import random_state

METHODS = {
    "dop853": {"rtol": 1e-12, "atol": 1e-13},
    "rk45": {"rtol": 1e-11, "atol": 1e-12},
    "rk4": {"step": 0.002},
    "gauss6": {"step": 0.02},
    "gauss16": {"rtol": 1e-12, "atol": 1e-13},
}


def pull(craft, t, q, v, q_near, v_near, weight_near):
    """A spring and a damper to the neighbours' bases, and a swinging arm."""
    R, force = rotation(q[:4]), np.zeros(3)
    for k in range(len(weight_near)):
        apart = q_near[k][4:7] - q[4:7]
        rate = rotation(q_near[k][:4]) @ v_near[k][3:6] - R @ v[3:6]
        force = force + weight_near[k] * (2.0 * apart + 0.5 * rate)
    joints = -0.3 * v[6:] + 0.2 * v_near[0][0]
    return np.concatenate([-0.1 * v[:3], R.T @ force, joints])


def three() -> tuple[Formation, dict, dict]:
    """Two craft with arms and a box, all seeing each other; the law of each group."""
    formation = Formation({"a": armed(), "b": armed(), "c": box(com=(0.1, 0.0, 0.05))})
    start = {name: random_state(formation.craft(name), k, 0.4) for k, name in enumerate(formation)}
    laws = {
        "a": Coupling(pull, {"near": {"a": ["c"], "b": ["c"]}}),
        "c": Coupling(pull, {"near": {"c": ["a", "b"]}}),
    }
    return formation, formation.state(start), laws


def by_numpy(formation, state, until):
    """The end of the same flight: SciPy's own DOP853 around NumPy functions."""
    crafts = {name: formation.craft(name) for name in formation}
    near = {"a": ["c"], "b": ["c"], "c": ["a", "b"]}
    sizes = [crafts[name].nq + crafts[name].nv for name in formation]
    cuts = np.cumsum(sizes)[:-1]

    def parts(y):
        rows = zip(formation, np.split(y, cuts), strict=True)
        return {name: (row[: crafts[name].nq], row[crafts[name].nq :]) for name, row in rows}

    def rate(t, y):
        now, found = parts(y), []
        for name, (q, v) in now.items():
            seen = [now[other] for other in near[name]]
            tau = pull(crafts[name], t, q, v, [s[0] for s in seen], [s[1] for s in seen], np.ones(len(seen)))
            found += [configuration_rate(crafts[name], q, v), gs.forward_dynamics(crafts[name], q, v, tau)]
        return np.concatenate(found)

    start = np.concatenate([np.concatenate([state[g][0][k], state[g][1][k]]) for g, k in map(formation.place, crafts)])
    return parts(solve_ivp(rate, (0.0, until), start, method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1])


@pytest.fixture(scope="module")
def truth():
    formation, state, _ = three()
    return by_numpy(formation, state, 2.0)


@pytest.mark.parametrize("integrator", METHODS)
def test_every_integrator_flies_what_scipy_flies(integrator, truth):
    formation, state, laws = three()
    run = simulate(
        formation, state, (0, 2), control=laws, integrator=integrator, save_at=[0, 0.7, 2.0], **METHODS[integrator]
    )
    assert run.ok
    for name, (q, v) in truth.items():
        np.testing.assert_allclose(
            run.member(name).q[-1], q / np.append([np.linalg.norm(q[:4])] * 4, np.ones(len(q) - 4)), atol=2e-9
        )
        np.testing.assert_allclose(run.member(name).v[-1], v, atol=2e-9)
    steps = {float(s) for trajectory in run.groups.values() for s in trajectory.state.steps}
    assert len(steps) == 1  # one clock
    assert all(audit.worst < 1e-8 for audit in run.audits.values())


def same(a, b):
    """Bit for bit: saved rows, ends, audits, and what the next step depends on."""
    for g in a.groups:
        one, other = a.groups[g], b.groups[g]
        for name in one.data.data_vars:
            np.testing.assert_array_equal(one.data[name].values, other.data[name].values, err_msg=f"{g} {name}")
        for name, value in vars(one.state).items():
            np.testing.assert_array_equal(value, getattr(other.state, name), err_msg=f"{g} {name}")


@pytest.mark.parametrize("integrator", METHODS)
def test_a_run_that_is_resumed_is_the_undisturbed_one_bit_for_bit(integrator):
    """Cut by max_steps in the midst of things: a sampled law with memory beside a continuous one, events, effects."""
    formation, state, laws = three()
    counted = gs.Controller(
        lambda craft, t, q, v, z, q_near, v_near, weight_near: (
            (1 + 0.1 * z[0]) * pull(craft, t, q, v, q_near, v_near, weight_near)
        ),
        [0.0],
        update=lambda craft, t, q, v, z: z + 1.0,
        period=0.17,
    )  # fmt: skip
    kick = gs.When(lambda craft, t, q, v: q[4] - 0.01, "kick", effect=lambda craft, t, q, v: (q, v + 0.01))
    options = {
        "control": {"a": laws["a"], "c": Coupling(counted, laws["c"].sees)},
        "events": {"c": kick},
        "integrator": integrator,
        "save_at": np.linspace(3, 4, 7),
        **METHODS[integrator],
    }
    whole = simulate(formation, state, (3, 4), **options)
    assert whole.ok
    with pytest.warns(gs.SimulationWarning, match="took 9 steps"):
        cut = simulate(formation, state, (3, 4), max_steps=9, **options)
    assert cut.interrupted and not cut.ok
    same(simulate(formation, resume=cut), whole)


def test_a_run_goes_on_beyond_its_end_bit_for_bit():
    formation, state, laws = three()
    options = {"control": laws, "step": 0.01, "integrator": "rk4"}
    whole = simulate(formation, state, (0, 2), save_at=[0, 1, 2.0], **options)
    half = simulate(formation, state, (0, 1), save_at=[0, 1.0], **options)
    rest = simulate(formation, resume=half, t_span=(0, 2), save_at=[0, 1, 2.0])
    for g in formation.groups:
        for name in ("q", "v", "work", "impulse", "tau"):
            np.testing.assert_array_equal(rest.groups[g].data[name].values, whole.groups[g].data[name].values)


def test_what_cannot_be_resumed_is_said():
    formation, state, laws = three()
    run = simulate(formation, state, (0, 1), control=laws)
    for options, words in (
        ({"state": state}, "state, inputs, parameters, runs are those of the run"),
        ({"inputs": {}}, "state, inputs, parameters, runs are those of the run"),
        ({"resume": run.groups["a"]}, "expected the FormationTrajectory of a run"),
    ):
        with pytest.raises((ValueError, TypeError), match=words):
            simulate(formation, **{"resume": run, "t_span": (0, 2), **options})
    with pytest.raises(ValueError, match="with other groups or members"):
        simulate(Formation({"a": box()}), resume=run, t_span=(0, 2))
    alone = simulate(formation, state, (0, 1))
    with pytest.raises(ValueError, match="had clocks of their own"):
        simulate(formation, resume=alone, t_span=(0, 2), control=laws)


# ---- events


def distance(craft, t, q, v, q_other):
    gap = q_other[4:7] - q[4:7]
    return gap @ gap - 4.0


def meeting() -> tuple[Formation, dict]:
    """Two boxes that fly towards each other at 1 m/s from 6 m, and a craft that watches."""
    formation = Formation({"a": box(), "b": box(mass=3.0), "tug": armed()})
    state = formation.neutral()
    state["a"][0][1, 4:7] = [6.0, 0.0, 0.0]
    state["a"][1][:, 3:6] = [[0.25, 0, 0], [-0.75, 0, 0]]
    return formation, state


@pytest.mark.parametrize("integrator", ["dop853", "rk4", "gauss6", "gauss16"])
@pytest.mark.parametrize("terminal", [True, False])
def test_an_event_between_two_members_happens_where_they_meet(integrator, terminal):
    """Their distance falls to 2 m at t = 4 s and, where they fly on, grows beyond it at 8 s."""
    formation, state = meeting()
    near = Coupling(gs.When(distance, "near", terminal=terminal), {"other": {"a": "b", "b": "a"}})
    options = {"step": 0.3} if integrator in ("rk4", "gauss6") else {}
    run = simulate(
        formation, state, (0, 10), events={"a": near}, integrator=integrator, save_at=[0, 3, 10.0], **options
    )
    times = [(e.member, e.name, round(e.t, 9)) for e in run.events]
    expected = [(member, "near", t) for t in ((4.0,) if terminal else (4.0, 8.0)) for member in "ab"]
    assert sorted(times) == sorted(expected)
    np.testing.assert_allclose(run.events[0].q[4], [1.0], atol=1e-9)
    if terminal:
        assert run.groups["a"].status == ("stopped", "stopped")
        np.testing.assert_allclose(run.groups["a"].t_end, 4.0, atol=1e-9)
        assert np.isnan(run.groups["a"].q[:, -1]).all()
        assert run.groups["tug"].status == ("done",)  # it shares no clock with them


def test_members_that_collide_bounce_and_the_balance_names_it():
    """An elastic collision at 2 m as an effect of each member: momentum and energy are those of the two together."""
    formation, state = meeting()

    def bounce(craft, t, q, v, v_other, mass, mass_other):
        """Both see each other as they were before."""
        common = (mass * v[3] + mass_other * v_other[3]) / (mass + mass_other)
        return q, np.concatenate([v[:3], [2 * common - v[3]], v[4:]])

    hit = Coupling(gs.When(distance, "hit", direction=-1, effect=bounce), {"other": {"a": "b", "b": "a"}})
    masses = {"mass": [10.0, 3.0], "mass_other": [3.0, 10.0]}
    run = simulate(formation, state, (0, 10), events={"a": hit}, inputs={"a": masses}, save_at=[0, 10.0])
    speeds = run.groups["a"].v[:, -1, 3]
    common = (10 * 0.25 - 3 * 0.75) / 13
    np.testing.assert_allclose(speeds, [2 * common - 0.25, 2 * common + 0.75], atol=1e-9)
    audit = run.groups["a"].audit
    assert audit.worst < 1e-12
    assert any("hit" in cause for cause in map(str, audit.causes))
    np.testing.assert_allclose(run.groups["a"].data["impulse"].values[:, -1, 3].sum(), 0.0, atol=1e-9)


# ---- samples


def test_controllers_of_different_periods_share_the_clock():
    """Each takes its own samples, whoever else stops there: 0.3 s and 0.2 s, met at 0.6, 1.2, 1.8 s."""

    def counting(period):
        return gs.Controller(
            lambda craft, t, q, v, z, q_other: np.concatenate([[z[0]], 0.01 * q_other[4:7], np.zeros(craft.nv - 4)]),
            [0.0],
            update=lambda craft, t, q, v, z: z + 1.0,
            period=period,
        )

    formation = Formation({"a": box(), "tug": armed()})
    laws = {"a": Coupling(counting(0.3), {"other": "tug"}), "tug": Coupling(counting(0.2), {"other": "a"})}
    times = np.array([0.1, 0.25, 0.35, 0.45, 0.65, 1.0, 1.25, 1.85])
    run = simulate(formation, None, (0, 2), control=laws, save_at=times)
    for g, period in (("a", 0.3), ("tug", 0.2)):
        held = run.groups[g].data["held_z"].values[0, :, 0]
        np.testing.assert_array_equal(held, np.floor(times / period + 1e-9) + 1)
        np.testing.assert_array_equal(run.groups[g].data["held"].values[0, :, 0], held - 1)


# ---- laws in Python: interrupted, or with a fault


def in_python(act):
    """A law that cannot be compiled, and what it does at its n-th call."""
    calls = []

    def law(craft, t, q, v, q_near, v_near, weight_near):
        calls.append(t)
        act(len(calls))
        return np.asarray(pull(craft, t, np.array(q, float), v, q_near, v_near, weight_near), dtype=float)

    return law


@pytest.mark.filterwarnings("ignore:the control law cannot be compiled")
def test_ctrl_c_keeps_what_was_done_and_the_rest_can_be_flown():
    formation, state, laws = three()

    def interrupt(count):
        if count == 400:
            os.kill(os.getpid(), signal.SIGINT)

    def flown(act, **options):
        own = {"a": Coupling(in_python(act), laws["a"].sees), "c": laws["c"]}
        return simulate(formation, control=own, **options)

    run = flown(interrupt, state=state, t_span=(0, 2))
    assert run.interrupted and 0 < run.t_end.min() < 2.0
    rest = flown(lambda count: None, resume=run)
    whole = flown(lambda count: None, state=state, t_span=(0, 2))
    same(rest, whole)


def test_an_exception_in_a_law_bears_the_flight_so_far():
    formation, state, laws = three()

    def fail(count):
        if count == 300:
            raise RuntimeError("lost")

    own = {"a": Coupling(in_python(fail), laws["a"].sees), "c": laws["c"]}
    with pytest.warns(gs.SimulationWarning), pytest.raises(RuntimeError, match="lost") as caught:
        simulate(formation, state, (0, 2), control=own)
    run = caught.value.trajectory
    assert isinstance(run, gs.FormationTrajectory) and 0 < run.t_end.min() < 2.0
    assert np.isfinite(run.groups["c"].q[:, 0]).all()


@pytest.mark.filterwarnings("ignore:the control law cannot be compiled")
def test_members_of_all_clusters_stop_when_one_is_interrupted():
    """The second pair would fly later: it stays where it is, and goes on with the others."""
    names = ["a", "b"]
    formation = Formation({"one": Group(box(), names), "two": Group(armed(), ["c", "d"])})
    state = formation.neutral()
    state["one"][1][:, 3:6] = [[0.1, 0, 0], [0, 0.2, 0]]

    def interrupt(count):
        if count == 100:
            os.kill(os.getpid(), signal.SIGINT)

    def laws(act):
        return {
            "one": Coupling(in_python(act), {"near": ring(names)}),
            "two": Coupling(pull, {"near": ring(["c", "d"])}),
        }

    run = simulate(formation, state, (0, 5), control=laws(interrupt))
    assert run.interrupted and run.groups["two"].t_end.max() == 0.0
    rest = simulate(formation, resume=run, control=laws(lambda count: None))
    assert rest.ok and rest.t_end.min() == 5.0


# ---- noise


def test_noise_of_members_is_uncorrelated_whoever_they_fly_with():
    def noisy(craft, t, q, v, q_other, run, sample, seed):
        return np.concatenate([[gs.tracing.normal(seed, run, sample, 0)], 1e-9 * q_other[4:7], np.zeros(craft.nv - 4)])

    formation = Formation({"a": box(), "b": box(), "tug": armed()})
    law = gs.Controller(noisy, period=0.05)
    laws = {"a": Coupling(law, {"other": "tug"}), "tug": Coupling(law, {"other": "a"})}
    run = simulate(
        formation, None, (0, 20), control=laws, seed=7, step=0.05, integrator="rk4", save_at=np.arange(0.0, 20, 0.05)
    )
    rows = np.concatenate([run.groups[g].data["held"].values[:, :, 0] for g in ("a", "tug")])
    correlation = np.corrcoef(rows) - np.eye(3)
    assert np.abs(correlation).max() < 0.15
    assert np.std(rows) == pytest.approx(1.0, abs=0.1)
