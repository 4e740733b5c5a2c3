"""A simulation that is stepped equals one that is run: the same bits, whatever acts and whoever integrates."""

from __future__ import annotations

import pickle
import warnings
from dataclasses import replace

import numpy as np
import pytest

import gyrostat as gs
import manoeuvre
from controllers import LAWS, SOFT
from gyrostat.models import servicer

METHODS = {
    "dop853": {"integrator": "dop853", "rtol": 1e-9},
    "rk45": {"integrator": "rk45", "rtol": 1e-7},
    "rk4": {"integrator": "rk4", "step": 0.11},
    "gauss6": {"integrator": "gauss6", "step": 0.1},
    "gauss16": {"integrator": "gauss16", "rtol": 1e-9},
    "gauss16, fixed": {"integrator": "gauss16", "step": 0.1},
}
DT, STEPS = 0.3, 12
rng = np.random.default_rng(11)
LOADS = np.concatenate([0.3 * rng.normal(size=(STEPS, 6)), rng.normal(size=(STEPS, 6)) * manoeuvre.KP / 20.0], axis=1)


def table(craft, t, q, v, sample):
    """The same loads as those that are given, from Python: float() cannot be traced."""
    return LOADS[int(float(sample)) % STEPS]


def quietly(function, *args, **options):
    """A law that is called from Python says so; here it is meant."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gs.SimulationWarning)
        return function(*args, **options)


def run_whole(craft, q, v, dt=DT, steps=STEPS, t0=0.0, control=None, **options):
    control = gs.Controller(table, period=dt) if control is None else control
    return quietly(
        gs.simulate,
        craft,
        q,
        v,
        (t0, t0 + dt * steps),
        control=control,
        save_at=t0 + dt * np.arange(steps + 1),
        **options,
    )


def stepped(craft, q, v, dt=DT, steps=STEPS, t0=0.0, **options):
    sim = gs.Simulation(craft, record=True, **options)
    sim.reset(q, v, t0=t0)
    for k in range(steps):
        sim.step(LOADS[k % STEPS], dt)
    return sim


def same_motion(a, b, names=("q", "v", "work", "impulse")):
    for name in names:
        np.testing.assert_array_equal(a.data[name].values, b.data[name].values, err_msg=name)
    for name in ("steps", "rejections", "t", "y"):
        np.testing.assert_array_equal(getattr(a.state, name), getattr(b.state, name), err_msg=name)
    assert [(e.run, e.name, e.t) for e in a.events] == [(e.run, e.name, e.t) for e in b.events]
    assert a.audit.looks == b.audit.looks
    # what looks is compiled along with the law, or with given loads: its last bits are those of other code
    np.testing.assert_allclose(a.audit.worst, b.audit.worst, rtol=0, atol=4 * np.finfo(float).eps)


@pytest.mark.parametrize("method", METHODS)
def test_steps_equal_one_run_with_sampled_control_bit_for_bit(method):
    craft, q, v = manoeuvre.start()
    whole = run_whole(craft, q, v, **METHODS[method])
    sim = stepped(craft, q, v, **METHODS[method])
    same_motion(sim.trajectory(), whole)
    np.testing.assert_array_equal(sim.q, whole.final[0])
    np.testing.assert_array_equal(sim.v, whole.final[1])
    assert sim.t == whole.time[-1] and sim.state.status == ("running",)
    held = sim.trajectory().data["held"].values
    np.testing.assert_array_equal(held[:-1], whole.data["held"].values[:-1])
    np.testing.assert_array_equal(held[:-1], LOADS)


def limited():
    """The servicer, whose second joint has little room, and weak motors."""
    craft = servicer()
    limits = gs.Limits(lower=-0.52, upper=-0.49, effort=3.0)
    joints = {"joint_2": limits, "joint_5": gs.Limits(effort=0.01)}
    bodies = [replace(b, joint=replace(b.joint, limits=joints.get(b.joint.name, b.joint.limits))) for b in craft.bodies]
    return gs.Spacecraft.build(craft.name, bodies)


def wrist_turns(craft, t, q, v):
    return q[10] - 0.21


def shaken(craft, t, q, v):
    """The wrist's rate is turned round."""
    return q, np.concatenate([v[:10], [-0.5 * v[10]], v[11:]])


def gravity(craft):
    return gs.environment.uniform_gravity((0.02, -0.05, 0.1))


OPTIONS = {
    "motors that lag": lambda craft: {"actuators": gs.Actuators(lag=0.2, rate=30.0)},
    "gravity": lambda craft: {"environment": gravity(craft)},
    "prescribed and locked": lambda craft: {
        "prescribed": {"joint_2": lambda t: [0.02 * (1.0 - t)]},
        "locked": ["joint_4"],
    },
    "stops": lambda craft: {"stops": gs.Stops(), "actuators": gs.Actuators()},
    "breakpoints": lambda craft: {"breakpoints": [0.2, 0.6, 1.31]},
    "events": lambda craft: {"events": [wrist_turns, gs.When(wrist_turns, "shaken", effect=shaken)]},
    "parameters": lambda craft: {"parameters": {"link_3.mass": 7.0}},
    "another formulation": lambda craft: {"formulation": "lie_lagrange"},
    "longest steps": lambda craft: {"max_step": 0.04},
}


@pytest.mark.parametrize("method", ["dop853", "gauss6"])
@pytest.mark.parametrize("option", OPTIONS)
def test_whatever_acts_is_the_same_in_steps(option, method):
    craft, q, v = manoeuvre.start(limited() if option == "stops" else None)
    v[10] = 0.05
    more = OPTIONS[option](craft)
    more |= {"integrator": "gauss6", "step": 0.1} if method == "gauss6" and "max_step" not in more else {"rtol": 1e-8}
    v[9] = 0.0 if "locked" in more else 0.02
    whole, sim = run_whole(craft, q, v, **more), stepped(craft, q, v, **more)
    same_motion(sim.trajectory(), whole)
    assert [(e.name, e.t) for e in sim.events] == [(e.name, e.t) for e in whole.events]
    assert bool(whole.events) == (option == "events")


def test_a_terminal_event_ends_a_run_in_steps_where_it_does_in_one():
    craft, q, v = manoeuvre.start()
    v[10] = 0.05
    enough, passed = gs.When(wrist_turns, "enough", terminal=True), gs.When(lambda c, t, q, v: t - 0.4, "passed")
    more = {"events": [passed, enough], "integrator": "gauss6", "step": 0.1}
    whole = run_whole(craft, q, v, **more)
    sim = gs.Simulation(craft, record=True, **more)
    sim.reset(q, v)
    made = 0
    while sim.state.status == ("running",):
        sim.step(LOADS[made], DT)
        made += 1
    assert 1 < made < STEPS and sim.state.status == ("stopped",) == whole.status
    assert sim.t == whole.t_end == sim.events[1].t and abs(sim.q[10] - 0.21) < 1e-12
    found = sim.trajectory()
    np.testing.assert_array_equal(found.q[:made], whole.q[:made])
    np.testing.assert_array_equal(found.final[1], whole.final[1])
    assert (found.audit.worst, found.audit.looks) == (whole.audit.worst, whole.audit.looks)
    before = sim.state
    with pytest.raises(RuntimeError, match=r"stopped by a terminal event \('enough'\)"):
        sim.step(LOADS[made], DT)
    np.testing.assert_array_equal(sim.q, before.q)
    sim.reset(q, v)
    sim.step(LOADS[0], DT)
    np.testing.assert_array_equal(sim.q, whole.q[1])


def test_momentum_is_conserved_in_steps_as_in_a_run():
    craft, q, v = manoeuvre.start()
    sim = gs.Simulation(craft, conserve="momentum", rtol=1e-6, record=True)
    sim.reset(q, v)
    for load in LOADS:
        sim.step(np.concatenate([np.zeros(6), load[6:]]), DT)
    found = sim.trajectory()
    assert max(found.audit.linear, found.audit.angular) < 1e-13
    np.testing.assert_array_equal(sim.v, found.final[1])

    def joints(craft, t, q, v, sample):
        return np.concatenate([np.zeros(6), LOADS[int(float(sample)) % STEPS][6:]])

    law = gs.Controller(joints, period=DT)
    whole = run_whole(craft, q, v, control=law, conserve="momentum", rtol=1e-6)
    np.testing.assert_array_equal(found.q, whole.q)
    with pytest.raises(ValueError, match="acts on the base"):
        sim.step(LOADS[0], DT)
    np.testing.assert_array_equal(sim.q, whole.final[0])


def test_constraints_hold_in_steps():
    craft, q, v = manoeuvre.start()
    weld = gs.constraints.grasped(craft, 0.0, q, gs.constraints.weld("N", "base"))
    v = np.concatenate([np.zeros(6), [0.01, 0.0, -0.02, 0.0, 0.03, 0.1]])
    more = {"constraints": [weld], "integrator": "rk4", "step": 0.02}
    whole = run_whole(craft, q, v, **more)
    sim = stepped(craft, q, v, **more)
    found = sim.trajectory()
    np.testing.assert_array_equal(found.q, whole.q)
    assert np.abs(found.constraint_residuals().position).max() < 1e-9
    np.testing.assert_array_equal(sim.signals["on_second"], found.constraint_loads().on_second[-1])
    moved = v.copy()
    moved[4] = 0.1
    with pytest.raises(ValueError, match="does not hold at the start"):
        sim.reset(q, moved)
    np.testing.assert_array_equal(sim.q, whole.final[0])


@pytest.mark.parametrize("method", ["dop853", "rk4", "gauss16"])
@pytest.mark.parametrize("law", LAWS)
def test_a_control_law_acts_in_steps_as_with_breakpoints_there(law, method):
    """Steps of a quarter of a second: some end between the samples of the law, some on one."""
    craft, q, v = manoeuvre.start()
    control, dt, steps = LAWS[law](), 0.25, 14
    more = {**METHODS[method], "seed": 7}
    if law == "noisy":
        more["inputs"] = {"gain": 1.1}
    ends = dt * np.arange(1, steps + 1)
    whole = run_whole(craft, q, v, dt, steps, control=control, breakpoints=ends, **more)
    sim = gs.Simulation(craft, control=control, record=True, **more)
    sim.reset(q, v)
    for _ in range(steps):
        sim.step(dt=dt)
    found = sim.trajectory()
    same_motion_but_for_looks(found, whole)
    for name in ("z", "held", "held_z", "sample"):
        if name in whole.data:
            np.testing.assert_array_equal(found.data[name].values, whole.data[name].values, err_msg=name)


def same_motion_but_for_looks(a, b):
    for name in ("q", "v", "work", "impulse"):
        np.testing.assert_array_equal(a.data[name].values, b.data[name].values, err_msg=name)
    for name in ("steps", "rejections", "t", "y"):
        np.testing.assert_array_equal(getattr(a.state, name), getattr(b.state, name), err_msg=name)


def test_one_advance_equals_one_run_and_goes_on_from_there():
    craft, q, v = manoeuvre.start()
    control = LAWS["sampled"]()
    whole = gs.simulate(craft, q, v, (0, 9), control=control, save_at=[9.0])
    sim = gs.Simulation(craft, control=control)
    sim.reset(q, v)
    sim.advance(9.0)
    same_motion_but_for_looks(_last(sim.trajectory()), _last(whole))
    sim.advance(9.0)  # it is there
    assert sim.t == 9.0
    further = gs.simulate(craft, q, v, (0, 12), control=control, breakpoints=[9.0], save_at=[12.0])
    sim.advance(12.0)
    np.testing.assert_array_equal(sim.q, further.final[0])
    with pytest.raises(ValueError, match="not before 12 s"):
        sim.advance(11.0)


def _last(trajectory):
    return replace(trajectory, data=trajectory.data.isel(time=[-1]))


def test_times_may_be_seconds_since_1970():
    craft, q, v = manoeuvre.start()
    t0 = 1.7e9 + 0.1
    more = {"integrator": "rk4", "step": 0.1, "environment": gs.environment.uniform_gravity((0.0, 0.1, 0.0))}
    whole = run_whole(craft, q, v, t0=t0, **more)
    sim = stepped(craft, q, v, t0=t0, **more)
    np.testing.assert_array_equal(sim.trajectory().q[:-1], whole.q[:-1])  # the end of a span is where users see it
    assert sim.t == pytest.approx(t0 + STEPS * DT, abs=1e-6)


def test_a_step_that_is_no_whole_number_of_fixed_steps_ends_with_a_shorter_one():
    craft, q, v = manoeuvre.start()
    sim = stepped(craft, q, v, 0.25, integrator="rk4", step=0.1)
    assert sim.trajectory().state.steps[0] == 3 * STEPS
    whole = run_whole(craft, q, v, 0.25, integrator="rk4", step=0.1)
    np.testing.assert_array_equal(sim.q, whole.final[0])


# ---- inputs


def leaning(craft, t, q, v, target, gain):
    return np.concatenate([np.zeros(6), gain * SOFT * (manoeuvre.KP * (target - q[7:]) - manoeuvre.KD * v[6:])])


def test_inputs_that_change_between_steps_are_set_points_from_then_on():
    craft, q, v = manoeuvre.start()
    targets = manoeuvre.START + 0.1 * rng.normal(size=(4, 6))
    more = {"integrator": "gauss6", "step": 0.05}
    sim = gs.Simulation(craft, control=leaning, inputs={"target": targets[0], "gain": 1.0}, **more)
    sim.reset(q, v)
    for target in targets:
        sim.step({"target": target}, 0.5)

    def switched(craft, t, q, v):
        target = targets[3]
        for k in (2, 1, 0):
            target = gs.algebra.where(t < 0.5 * (k + 1), targets[k], target)
        return leaning(craft, t, q, v, target, 1.0)

    whole = gs.simulate(craft, q, v, (0, 2), control=switched, breakpoints=[0.5, 1.0, 1.5], save_at=[2.0], **more)
    np.testing.assert_allclose(sim.v, whole.final[1], rtol=0, atol=1e-15)
    np.testing.assert_allclose(sim.q, whole.final[0], rtol=0, atol=1e-14)


def test_inputs_of_a_sampled_law_count_from_the_sample_at_the_beginning_of_the_step():
    craft, q, v = manoeuvre.start()
    gains = np.array([0.5, 1.5, 0.2, 1.0])

    def by_sample(craft, t, q, v, sample):
        return leaning(craft, t, q, v, manoeuvre.START + 0.2, gains[int(float(sample)) % 4])

    more = {"integrator": "rk4", "step": 0.1}
    whole = quietly(
        gs.simulate, craft, q, v, (0, 2), control=gs.Controller(by_sample, period=0.5), save_at=[2.0], **more
    )
    law = gs.Controller(leaning, period=0.5)
    sim = gs.Simulation(craft, control=law, inputs={"target": manoeuvre.START + 0.2, "gain": 9.0}, **more)
    sim.reset(q, v)
    for gain in gains:
        sim.step({"gain": gain})  # dt: the fixed step
        for _ in range(4):
            sim.step()
    assert sim.t == pytest.approx(2.0, abs=1e-12)
    np.testing.assert_allclose(sim.q, whole.final[0], rtol=0, atol=1e-13)


def test_a_seed_given_at_the_reset_is_that_of_a_run():
    craft, q, v = manoeuvre.start()
    more = {"control": LAWS["noisy"](), "inputs": {"gain": 0.9}, "integrator": "rk4", "step": 0.1}
    sim = gs.Simulation(craft, **more)
    for seed in (3, 2**70 + 5, 3):
        sim.reset(q, v, seed=seed)
        for _ in range(20):
            sim.step(dt=0.1)
        whole = gs.simulate(craft, q, v, (0, 2), seed=seed, save_at=[2.0], breakpoints=0.1 * np.arange(1, 20), **more)
        np.testing.assert_allclose(sim.q, whole.final[0], rtol=0, atol=1e-13)
    sim.reset(q, v, seed=4)
    sim.advance(2.0)
    assert np.abs(sim.q - whole.final[0]).max() > 1e-7


# ---- going back


@pytest.mark.parametrize("method", METHODS)
def test_snapshots_and_pickles_equal_the_undisturbed_run(method):
    craft, q, v = manoeuvre.start()
    more = {**METHODS[method], "events": wrist_turns, "actuators": gs.Actuators(lag=0.3)}
    undisturbed = stepped(craft, q, v, **more).trajectory()
    sim = gs.Simulation(craft, record=True, **more)
    sim.reset(q, v)
    for load in LOADS[:5]:
        sim.step(load, DT)
    kept = sim.snapshot()
    copy = pickle.loads(pickle.dumps(sim))
    for load in LOADS[::-1]:
        sim.step(load, 0.17)  # elsewhere
    assert np.abs(sim.q - copy.q).max() > 1e-3
    sim.restore(pickle.loads(pickle.dumps(kept)))
    for other in (sim, copy):
        np.testing.assert_array_equal(other.q, undisturbed.q[5])
        for load in LOADS[5:]:
            other.step(load, DT)
        same_motion(other.trajectory(), undisturbed)


def test_looking_changes_nothing():
    craft, q, v = manoeuvre.start()
    undisturbed = stepped(craft, q, v).trajectory()
    sim = gs.Simulation(craft, record=True)
    sim.reset(q, v)
    for load in LOADS:
        sim.step(load, DT)
        assert sim.trajectory().audit.worst < 1e-9
        assert sim.signals["tau"].shape == (12,) and sim.state.q.shape == (13,)
    same_motion(sim.trajectory(), undisturbed)


def test_what_is_shown_is_what_the_trajectory_has():
    craft, q, v = manoeuvre.start()
    sim = stepped(craft, q, v, environment=gravity(craft), actuators=gs.Actuators(lag=0.2))
    found, signals, state = sim.trajectory(), sim.signals, sim.state
    for name in ("command", "tau", "wrenches", "vdot", "potential"):
        np.testing.assert_array_equal(signals[name], found.signals[name].values[-1], err_msg=name)
    np.testing.assert_array_equal(state.motors, found.data["load"].values[-1])
    assert state.t == found.time[-1] and np.linalg.norm(state.q[:4]) == pytest.approx(1.0, abs=1e-15)
    state.q[:] = 0.0  # a copy
    np.testing.assert_array_equal(sim.q, found.q[-1])


def test_a_trajectory_of_steps_can_be_saved_and_read(tmp_path):
    craft, q, v = manoeuvre.start()
    found = stepped(craft, q, v, integrator="rk4", step=0.1).trajectory()
    again = gs.Trajectory.load(found.save(tmp_path / "steps.nc"))
    np.testing.assert_array_equal(again.q, found.q)
    np.testing.assert_array_equal(again.tau, found.tau)
    assert again.audit.worst == found.audit.worst and "control pushes base" in str(found.audit)
    for trajectory in (found, again):
        with pytest.raises(ValueError, match=r"made step by step. Go on with the gs.Simulation that made it"):
            gs.simulate(craft, resume=trajectory, t_span=(0, 9))


def test_without_a_record_the_trajectory_is_the_start_and_the_present():
    craft = servicer()
    sim = gs.Simulation(craft, integrator="rk4", step=0.1)
    sim.reset()
    sim.step({"joint_1": 2.0})
    sim.step({"joint_1": -1.0})
    found = sim.trajectory()
    np.testing.assert_allclose(found.time, [0.0, 0.2])
    np.testing.assert_array_equal(found.q[0], gs.neutral(craft))
    np.testing.assert_array_equal(found.q[1], sim.q)
    assert found.audit.worst < 1e-6 and found.tau[1, 6] == -1.0


def test_ends_of_steps_and_samples_that_differ_by_round_off_are_one_time():
    """0.1 * 3 and 0.3 are not the same number; nobody makes a step from one to the other."""
    craft, q, v = manoeuvre.start()
    law = gs.Controller(lambda craft, t, q, v: manoeuvre.pd(craft, t, q, v), period=0.3)
    sim = gs.Simulation(craft, control=law, integrator="rk4", step=0.1)
    sim.reset(q, v)
    for _ in range(30):
        sim.step(dt=0.1)
    found = sim.trajectory()
    assert found.state.steps[0] == 30 and found.data["sample"].values[-1] == 10
    for dt in (0.05, 0.1, 0.025):
        sim.step(dt=dt)
    assert sim.t == pytest.approx(3.175, abs=1e-14)


def test_n_steps_end_at_n_times_dt_however_many_they_are():
    sim = gs.Simulation(servicer(), integrator="rk4", step=0.1)
    sim.reset()
    for _ in range(1000):
        sim.step(np.zeros(12))
    assert sim.t == 0.1 * 1000  # added up one by one, it would be 99.9999999999986


def test_functions_may_ask_for_the_number_of_the_step():
    craft, q, v = manoeuvre.start()

    def gusts(craft, t, q, v, sample):
        return np.full((craft.nbodies, 6), 0.01) * (1.0 + sample)

    more = {"environment": gusts, "integrator": "rk4", "step": 0.1}
    same_motion(stepped(craft, q, v, **more).trajectory(), run_whole(craft, q, v, **more))


def test_an_event_that_asks_for_an_input_does_not_happen_because_the_input_changes():
    craft, q, v = manoeuvre.start()
    v[6] = 0.1

    def beyond(craft, t, q, v, level):
        return q[7] - level

    still = lambda craft, t, q, v: np.zeros(craft.nv)
    sim = gs.Simulation(craft, control=still, events=beyond, inputs={"level": 9.0}, rtol=1e-8)
    sim.reset(q, v)
    sim.step({"level": 9.0}, 0.1)
    sim.step({"level": -9.0}, 0.1)
    assert sim.events == ()
    level = float(sim.q[7]) + 0.002
    sim.step({"level": level}, 0.1)
    assert len(sim.events) == 1 and abs(sim.events[0].q[7] - level) < 1e-12


def test_a_snapshot_knows_when_the_audit_looks_next():
    craft, q, v = manoeuvre.start()
    sim = gs.Simulation(craft, integrator="rk4", step=0.002)
    sim.reset(q, v)
    sim.step(LOADS[0], 0.006)
    kept = sim.snapshot()
    sim.step(LOADS[1], 0.6)
    undisturbed = sim.trajectory()
    sim.step(LOADS[2], 1.6)
    sim.restore(kept)
    sim.step(LOADS[1], 0.6)
    same_motion(sim.trajectory(), undisturbed)


def test_an_event_that_comes_and_goes_within_one_step_is_seen():
    """The last joint swings out and back while the load is held, in a single step of the integrator."""
    craft, q, v = manoeuvre.start()
    v[11] = 0.3
    H = gs.mass_matrix(craft, q)
    load = np.zeros(12)
    load[11] = -2.0 / np.linalg.inv(H)[11, 11]  # -2 rad/s^2: back after 0.3 s
    out = lambda craft, t, q, v: q[12] - manoeuvre.START[5] - 0.02
    sim = gs.Simulation(craft, events=out, integrator="rk4", step=0.3)
    sim.reset(q, v)
    sim.step(load)
    assert [round(e.t, 2) for e in sim.events] == [0.1, 0.2]


def test_a_sample_and_an_effect_at_the_end_of_a_step_come_in_the_order_of_a_run():
    """The law sees what was before the kick (0.14 apart before: stepped, it saw the kick)."""
    craft, v0 = servicer(), 0.1 * np.arange(12.0)
    law = gs.Controller(
        lambda craft, t, q, v, z: np.concatenate([np.zeros(6), -z]),
        np.zeros(6),
        update=lambda c, t, q, v, z: z + v[6:],
        period=0.1,
    )
    kick = gs.When(lambda craft, t, q, v: t - 0.2, "kick", effect=lambda craft, t, q, v: (q, v + np.arange(12.0) / 9.0))
    options = {"control": law, "events": kick, "rtol": 1e-9}
    run = gs.simulate(craft, None, v0, (0.0, 0.4), save_at=[0.4], **options)
    sim = gs.Simulation(craft, **options)
    sim.reset(None, v0)
    for _ in range(4):
        sim.step(dt=0.1)
    np.testing.assert_array_equal(sim.v, run.final[1])
