"""Springs, dampers, friction, stops, motors, locks, prescribed motions and gravity,
each against a closed form or a law.
"""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algebra import cos, rotation, sin
from manoeuvre import start

TIGHT = {"rtol": 1e-12, "atol": 1e-14}


def hinge(inertia=2.0, **joint):
    """A body on a hinge through its centre of mass, on a fixed base: inertia * angle'' = load."""
    base = gs.Body("base", 1.0, inertia=(1, 1, 1), joint=gs.Joint("base", "fixed"))
    body = gs.Body("body", 1.0, inertia=(1.0, 1.1, inertia), joint=gs.Joint("hinge", "revolute", "base", **joint))
    return gs.Spacecraft.build("hinge", [base, body])


def slider(mass=2.0, **joint):
    base = gs.Body("base", 1.0, inertia=(1, 1, 1), joint=gs.Joint("base", "fixed"))
    axis = {"axis": (1.0, 0.0, 0.0), **joint}
    body = gs.Body("body", mass, inertia=(1, 1, 1), joint=gs.Joint("slider", "prismatic", "base", **axis))
    return gs.Spacecraft.build("slider", [base, body])


# ---- joints


def test_damping_decays_exponentially():
    traj = gs.simulate(hinge(damping=0.6), None, [1.5], (0, 10), **TIGHT)
    np.testing.assert_allclose(traj.v[:, 0], 1.5 * np.exp(-0.3 * traj.time), rtol=1e-10)
    assert traj.audit.energy < 1e-11 and traj.data["work"].values[-1] == pytest.approx(
        -traj.kinetic_energy()[0] * (1 - np.exp(-6))
    )


def test_stiffness_gives_the_frequency_about_its_rest():
    traj = gs.simulate(hinge(stiffness=8.0, rest=0.3), [0.5], None, (0, 20), **TIGHT)
    np.testing.assert_allclose(traj.q[:, 0], 0.3 + 0.2 * np.cos(2.0 * traj.time), atol=1e-10)


def test_spring_of_a_spherical_joint_acts_about_the_axis_of_its_turn():
    """An isotropic body turned about any axis swings about that axis: angle'' = -k/I angle."""
    base = gs.Body("base", 1.0, inertia=(1, 1, 1), joint=gs.Joint("base", "fixed"))
    body = gs.Body("ball", 1.0, inertia=(2, 2, 2), joint=gs.Joint("socket", "spherical", "base", stiffness=3.0))
    craft = gs.Spacecraft.build("ball", [base, body])
    axis, angle = np.array([2.0, -1.0, 2.0]) / 3, 0.8
    traj = gs.simulate(craft, np.append(np.cos(angle / 2), np.sin(angle / 2) * axis), None, (0, 6), **TIGHT)
    now = angle * np.cos(np.sqrt(1.5) * traj.time)
    np.testing.assert_allclose(traj.q[:, 1:], np.sin(now / 2)[:, None] * axis, atol=1e-10)


def test_friction_brakes_at_a_constant_rate_until_it_holds():
    traj = gs.simulate(slider(friction=0.5), None, [1.0], (0, 6), rtol=1e-10, atol=1e-12)
    t = traj.time[traj.time < 3.5]
    np.testing.assert_allclose(traj.v[: len(t), 0], 1.0 - 0.25 * t, atol=1e-9)
    assert np.abs(traj.v[traj.time > 4.2]).max() < 1e-6 and abs(traj.final[0][0] - 2.0) < 2e-3


def test_a_stop_turns_back_what_hits_it_and_never_adds_energy():
    craft = slider(limits=gs.Limits(-0.5, 0.4))
    elastic = gs.simulate(craft, None, [1.0], (0, 4), stops=gs.Stops(1e4, 0.0, 1e-3), **TIGHT)
    energy = elastic.kinetic_energy()
    inside = (elastic.q[:, 0] > -0.5) & (elastic.q[:, 0] < 0.4)
    # a spring gives back what it took; its onset is a kink
    np.testing.assert_allclose(energy[inside], energy[0], rtol=1e-8)
    assert elastic.v[:, 0].min() < -0.99 and elastic.q[:, 0].max() < 0.42 and elastic.q[:, 0].min() > -0.52
    damped = gs.simulate(craft, None, [1.0], (0, 4), stops=gs.Stops(1e4, 3e2, 1e-3), **TIGHT)
    between = damped.kinetic_energy()[(damped.q[:, 0] > -0.5) & (damped.q[:, 0] < 0.4)]
    assert between[-1] < 0.5 * between[0] and np.diff(between).max() < 1e-9 and damped.audit.energy < 1e-9
    free = gs.simulate(craft, None, [1.0], (0, 4), **TIGHT)
    np.testing.assert_allclose(free.q[:, 0], free.time, atol=1e-12)  # limits alone do nothing


# ---- motors


def command(craft, t, q, v):
    return np.array([3.0])


def test_saturation_holds_the_effort_limit():
    craft = hinge(limits=gs.Limits(effort=0.5))
    traj = gs.simulate(craft, None, None, (0, 4), control=command, actuators=gs.Actuators(), **TIGHT)
    np.testing.assert_allclose(traj.v[:, 0], 0.25 * traj.time, atol=1e-12)
    np.testing.assert_allclose(traj.tau[:, 0], 0.5)
    np.testing.assert_allclose(traj.signals["command"].values[:, 0], 3.0)
    unlimited = gs.simulate(craft, None, None, (0, 4), control=command, actuators=gs.Actuators(saturate=False), **TIGHT)
    np.testing.assert_allclose(unlimited.v[:, 0], 1.5 * unlimited.time, atol=1e-11)


def test_lag_is_of_first_order():
    traj = gs.simulate(hinge(), None, None, (0, 4), control=command, actuators=gs.Actuators(lag=0.5), **TIGHT)
    load = 3.0 * (1 - np.exp(-traj.time / 0.5))
    np.testing.assert_allclose(traj.tau[:, 0], load, atol=1e-10)
    np.testing.assert_allclose(traj.v[:, 0], (3.0 * traj.time - 0.5 * load) / 2.0, atol=1e-10)


def test_rate_limit_is_a_ramp_that_ends_in_the_lag():
    """|command - load| / lag > rate: a ramp; from where they are equal on, the lag alone."""
    motor = gs.Actuators(lag=0.5, rate=2.0)
    traj = gs.simulate(hinge(), None, None, (0, 4), control=command, actuators=motor, breakpoints=[1.0], **TIGHT)
    t = traj.time
    load = np.where(t < 1.0, 2.0 * t, 3.0 - np.exp(-(t - 1.0) / 0.5))
    np.testing.assert_allclose(traj.tau[:, 0], load, atol=1e-9)


def test_motors_that_cannot_be():
    with pytest.raises(ValueError, match="lag is -1.0; expected one number, not negative"):
        gs.Actuators(lag=-1.0)
    with pytest.raises(ValueError, match="a rate limit needs a lag"):
        gs.Actuators(rate=2.0)


# ---- locks and prescribed motions


def merged(q_locked):
    """The servicer with joint 3 fixed where it is, rebuilt as one with fewer joints."""
    craft, _, _ = start()
    bodies = []
    for body in craft.bodies:
        joint = body.joint
        if joint.name == "joint_3":
            pose = joint.pose(q_locked)
            joint = gs.Joint("joint_3", "fixed", joint.parent, pose.p, pose.R)
        bodies.append(gs.Body(body.name, body.mass, body.com, body.inertia, joint))
    return gs.Spacecraft.build("merged", bodies)


def push(craft, t, q, v):
    """The same loads on the same joints, by name."""
    torques = {f"joint_{k}": (0.02 if k > 3 else 3.0) * sin(0.3 * t + k) for k in (1, 2, 4, 5, 6)}
    return gs.joint_torques(craft, torques)


def test_a_locked_joint_makes_one_body_of_two():
    craft, q, v = start()
    v[6:] = [0.05, -0.04, 0.0, 0.1, 0.02, -0.05]
    locked = gs.simulate(craft, q, v, (0, 10), control=push, locked="joint_3", **TIGHT)
    other = merged(q)
    q2, v2 = np.delete(q, 9), np.delete(v, 8)
    rigid = gs.simulate(other, q2, v2, (0, 10), control=push, **TIGHT)
    np.testing.assert_allclose(np.delete(locked.q, 9, axis=1), rigid.q, atol=1e-9)
    np.testing.assert_allclose(np.delete(locked.v, 8, axis=1), rigid.v, atol=1e-9)
    np.testing.assert_array_equal(locked.q[:, 9], q[9])
    # the holding load is the reaction's component along the joint's axis
    reaction = rigid.reaction_wrenches().values[:, craft.index("link_3")]
    np.testing.assert_allclose(locked.tau[:, 8], reaction[:, 2], atol=1e-8)
    assert np.abs(locked.tau[:, 8]).max() > 0.1 and locked.audit.worst < 1e-10


def test_a_prescribed_joint_follows_and_its_load_does_the_work():
    craft, q, v = start()
    v[:] = 0.0
    w = 0.4
    motion = {"joint_2": lambda t: 0.2 * w**2 * cos(w * t)}  # from q0 at rest: 0.2 (1 - cos wt)
    traj = gs.simulate(craft, q, v, (0, 12), prescribed=motion, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(traj.q[:, 8], q[8] + 0.2 * (1 - np.cos(w * traj.time)), atol=1e-10)
    np.testing.assert_allclose(traj.vdot[:, 7], 0.2 * w**2 * np.cos(w * traj.time), atol=1e-13)
    for k in (0, 100, 400):
        load = gs.inverse_dynamics(craft, traj.q[k], traj.v[k], traj.vdot[k])
        np.testing.assert_allclose(traj.tau[k], load, atol=1e-9)
        np.testing.assert_allclose(np.delete(load, 7), 0.0, atol=1e-9)  # nothing acts elsewhere
    assert traj.audit.worst < 1e-10


def test_a_prescribed_base_is_an_external_load():
    craft, q, v = start()
    v[:] = 0.0
    spin = {"base": lambda t: np.array([0.0, 0.0, 0.01, 0.002, 0.0, 0.0])}
    traj = gs.simulate(craft, q, v, (0, 8), prescribed=spin, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(traj.v[:, 2], 0.01 * traj.time, atol=1e-12)
    assert traj.audit.worst < 1e-10 and np.abs(traj.data["impulse"].values[-1]).max() > 10


# ---- environment


def test_uniform_gravity_is_a_parabola_and_its_potential_is_what_the_work_took():
    craft, q, v = start()
    v[6:] = [0.05, -0.04, 0.03, 0.1, 0.02, -0.05]
    g = np.array([0.0, 0.3, -1.5])
    traj = gs.simulate(
        craft, q, v, (0, 10), environment=gs.environment.uniform_gravity(g), control=push, rtol=1e-12, atol=1e-13
    )
    com, t = traj.center_of_mass(), traj.time[:, None]
    velocity = gs.momentum(craft, q, v)[3:] / gs.total_mass(craft)
    np.testing.assert_allclose(com, com[0] + velocity * t + g * t**2 / 2, atol=1e-9)
    potential = -gs.total_mass(craft) * com @ g
    np.testing.assert_allclose(traj.potential_energy(), potential, rtol=1e-12)
    motors = traj.data["work"].values - traj.data["work_environment"].values
    total = traj.kinetic_energy() + potential - motors
    np.testing.assert_allclose(total, total[0], atol=1e-10 * np.abs(potential).max())
    assert traj.audit.potential < 1e-11 and traj.audit.worst < 1e-11
    impulse = traj.data["impulse"].values
    np.testing.assert_allclose(impulse[:, 3:], gs.total_mass(craft) * g * t, rtol=1e-11, atol=1e-9)


def test_a_pendulum_keeps_its_energy():
    base = gs.Body("base", 1.0, inertia=(1, 1, 1), joint=gs.Joint("base", "fixed"))
    bob = gs.Body("bob", 2.0, (0.0, -0.7, 0.0), (0.1, 0.1, 0.1), gs.Joint("pivot", "revolute", "base"))
    craft = gs.Spacecraft.build("pendulum", [base, bob])
    traj = gs.simulate(
        craft, [2.5], None, (0, 20), environment=gs.environment.uniform_gravity([0, -9.81, 0]), rtol=1e-12
    )
    energy = traj.kinetic_energy() + traj.potential_energy()
    assert np.ptp(energy) < 1e-10 * np.ptp(traj.potential_energy())
    small = gs.simulate(
        craft, [1e-5], None, (0, 8), environment=gs.environment.uniform_gravity([0, -9.81, 0]), rtol=1e-12, atol=1e-18
    )
    omega = np.sqrt(2.0 * 9.81 * 0.7 / (0.1 + 2.0 * 0.49))
    np.testing.assert_allclose(small.q[:, 0], 1e-5 * np.cos(omega * small.time), atol=1e-14)


def test_a_potential_that_changes_with_time_is_not_held_against_the_work():
    craft, q, v = start()

    def wrenches(craft, t, q, v):
        rows = np.zeros((craft.nbodies, 6))
        force = rotation(q[:4]).T @ np.array([1.0, 0.0, 0.0]) * t
        return np.concatenate([[np.concatenate([np.zeros(3), force])], rows[1:]])

    pulled = gs.Environment(wrenches, lambda craft, t, q: -t * q[4])
    traj = gs.simulate(craft, q, v, (0, 5), environment=pulled, rtol=1e-12)
    assert traj.audit.potential is None and traj.audit.worst < 1e-10
    np.testing.assert_allclose(traj.potential_energy(), -traj.time * traj.q[:, 4])
    with pytest.raises(ValueError, match="has no potential"):
        gs.simulate(craft, q, v, (0, 1), environment=wrenches).potential_energy()
