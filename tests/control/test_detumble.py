"""Capture of a tumbling target, and taking the tumble out."""

import numpy as np

import gyrostat as gs
from gyrostat.control.detumble import (
    angular_momentum_in_base,
    braking_torque,
    captured_velocity,
    detumble_by_couple,
    detumble_by_wheels,
)
from gyrostat.control.wheels import wheel_momenta
from gyrostat.model import Role
from manoeuvring_crafts import small_servicer


def with_target(locked):
    """The small servicer and a 60 kg target, on a free joint at the tool (before) or fixed to it (after capture)."""
    craft = small_servicer(max_torque=50.0, max_speed=2000.0)
    kind = "fixed" if locked else "free"
    target = gs.Body(
        "target", 60.0, (0.3, 0.1, 0.0), (8.0, 10.0, 12.0), gs.Joint("grasp", kind, "lower", (0.8, 0.0, 0.0))
    )
    return gs.Spacecraft.build("servicer and target", [*craft.bodies, target], frames=craft.frames)


def tumbling():
    """Just before the capture: the servicer at rest, the target tumbling at the tool."""
    craft = with_target(False)
    q, v = gs.neutral(craft), np.zeros(craft.nv)
    q[craft.joint_named("shoulder").q_at], q[craft.joint_named("elbow").q_at] = 0.5, 0.8
    v[craft.joint_named("grasp").v_at] = [0.05, -0.08, 0.12, 0.0, 0.01, 0.0]
    return craft, q, v


def captured():
    """The same with the grasp locked: state of the craft with a fixed target."""
    before, q, v = tumbling()
    after = captured_velocity(before, q, v, "grasp")
    joint = before.joint_named("grasp")
    keep_q = np.delete(np.arange(before.nq), np.arange(joint.q_at.start, joint.q_at.stop))
    keep_v = np.delete(np.arange(before.nv), np.arange(joint.v_at.start, joint.v_at.stop))
    return with_target(True), q[keep_q], after[keep_v]


def test_a_capture_conserves_momentum_and_loses_energy():
    craft, q, v = tumbling()
    after = captured_velocity(craft, q, v, "grasp")
    np.testing.assert_allclose(gs.momentum(craft, q, after), gs.momentum(craft, q, v), atol=1e-12)
    assert gs.kinetic_energy(craft, q, after) < gs.kinetic_energy(craft, q, v)
    assert not after[craft.joint_named("grasp").v_at].any()
    np.testing.assert_allclose(captured_velocity(craft, q, after, "grasp"), after, atol=1e-12)


def test_the_impulse_is_the_grasps_alone():
    """M (v+ - v-) is zero but in the grasp: no other joint felt more than its own bearing."""
    craft, q, v = tumbling()
    impulse = gs.mass_matrix(craft, q) @ (captured_velocity(craft, q, v, "grasp") - v)
    others = np.delete(impulse, np.arange(*craft.joint_named("grasp").v_at.indices(craft.nv)))
    assert np.abs(others).max() < 1e-12 and np.abs(impulse).max() > 0.1


def test_the_braking_torque_is_bounded_and_fades():
    h = np.array([3.0, -4.0, 12.0])
    np.testing.assert_allclose(braking_torque(h, 2.0), -2.0 * h / 13.0)
    np.testing.assert_allclose(braking_torque(0.1 * h, 2.0), -0.1 * h)
    np.testing.assert_allclose(braking_torque(0.0 * h, 2.0), 0.0)


def test_the_couple_takes_the_momentum_out_along_a_straight_line():
    """Closed form: |h| = |h_0| - limit t, in the direction of h_0, for any craft, while its joints come to rest."""
    craft, q, v = captured()
    limit = 0.5
    law = detumble_by_couple(limit, joint_damping=0.5, settle=0.2)
    h0 = np.linalg.norm(angular_momentum_in_base(craft, q, v))
    T = (h0 - limit * 0.2) / limit
    run = gs.simulate(craft, q, v, (0, T + 10), control=law, mode="rotation-flying", breakpoints=[T], rtol=1e-11)
    h = run.momentum("com")[:, :3]
    size = np.linalg.norm(h, axis=1)
    first = run.time < T
    np.testing.assert_allclose(size[first], h0 - limit * run.time[first], atol=1e-8)
    np.testing.assert_allclose(h[first] / size[first][:, None], np.tile(h[0] / h0, (first.sum(), 1)), atol=1e-7)
    assert size[-1] < 1e-8
    assert np.abs(run.v[-1, :3]).max() < 1e-3 and np.abs(run.v[-1, 6:8]).max() < 1e-2
    assert run.mode_audit.ok


def test_wheels_store_the_tumble():
    craft, q, v = captured()
    run = gs.simulate(
        craft,
        q,
        v,
        (0, 120),
        control=detumble_by_wheels(rate=0.1, joint_damping=0.2),
        mode="rotation-floating",
        rtol=1e-11,
        actuators=gs.Actuators(),
    )
    assert np.abs(run.v[-1, :3]).max() < 1e-5 and np.abs(run.v[-1, 6:8]).max() < 1e-8
    assert run.mode_audit.ok and run.saturation == ()
    assert np.abs(wheel_momenta(craft, run.q[-1], run.v[-1])).max() > 0.1


def test_joints_come_to_rest_as_told_while_the_couple_brakes():
    """q'' = -joint_damping qdot at any instant, although the couple turns the base under them."""
    craft, q, v = captured()
    tau = detumble_by_couple(0.5, joint_damping=0.7)(craft, 0.0, q, v)
    vdot = gs.forward_dynamics(craft, q, v, tau)
    at = craft.at(Role.driven)
    assert np.abs(v[at]).max() > 1e-3
    np.testing.assert_allclose(vdot[at], -0.7 * v[at], atol=1e-12)
