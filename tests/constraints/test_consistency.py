"""Projection onto constraints, and capture: momentum, energy, restitution."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import constraints as gc
from gyrostat.model.assembly import together
from gyrostat.papers.forbes2019 import crafts


def tumbling_pair(sides="L", seed=0):
    """Servicer at rest, client tumbling and drifting, hand near the grip."""
    craft, q = crafts.pair(sides)
    v = np.zeros(craft.nv)
    v[craft.joint("client").v_at] = 0.02, -0.05, 0.08, 0.01, -0.03, 0.02
    return craft, q, v


@pytest.mark.parametrize("grip", [gc.weld, gc.point, gc.revolute])
def test_capture_conserves_momentum_and_accounts_for_the_energy(grip):
    craft, q, v = tumbling_pair()
    constraint = gc.as_it_is(grip("hand_L", "grip_L"), relative(craft, q, "hand_L", "grip_L"))
    before = gs.momentum(craft, q, v)
    closing = gc.residuals(craft, 0.0, q, v, [constraint]).velocity
    found = gc.capture(craft, q, v, [constraint])
    size = np.abs(before).max()
    assert np.abs(gs.momentum(craft, q, found.v) - before).max() <= 1e-12 * size
    assert np.abs(gc.residuals(craft, 0.0, q, found.v, [constraint]).velocity).max() < 1e-14
    work = -found.impulses @ closing / 2  # the mean of the velocities before and after
    assert found.energy_lost == pytest.approx(work, rel=1e-12) and found.energy_lost > 0


def relative(craft, q, first, second):
    one, two = gs.frame_pose(craft, q, first), gs.frame_pose(craft, q, second)
    return gs.algebra.Pose(one.R.T @ two.R, one.R.T @ (two.p - one.p))


def test_impulse_is_what_the_client_receives():
    """The client's momentum changes by the reported impulse, about the grip."""
    craft, q, v = tumbling_pair()
    constraint = gc.as_it_is(gc.weld("hand_L", "grip_L"), relative(craft, q, "hand_L", "grip_L"))
    found = gc.capture(craft, q, v, [constraint])
    body, at = craft.body("client"), craft.joint("client").v_at
    R = gs.frame_pose(craft, q, "client").R
    p_grip, p_com = gs.frame_pose(craft, q, "grip_L").p, gs.frame_pose(craft, q, "client").p + R @ body.com
    dw, dv = (found.v - v)[at][:3], (found.v - v)[at][3:]
    linear = body.mass * R @ (dv + np.cross(dw, body.com))
    angular = R @ body.inertia @ dw + np.cross(p_com - p_grip, linear)
    assert np.abs(found.on_second[0] - np.concatenate([angular, linear])).max() < 1e-10 * np.abs(linear).max()


def test_restitution_reverses_the_closing_velocity():
    craft, q, v = tumbling_pair()
    constraint = gc.as_it_is(gc.point("hand_L", "grip_L"), relative(craft, q, "hand_L", "grip_L"))
    closing = gc.residuals(craft, 0.0, q, v, [constraint]).velocity
    for e in (0.3, 1.0):
        found = gc.capture(craft, q, v, [constraint], restitution=e)
        assert np.abs(gc.residuals(craft, 0.0, q, found.v, [constraint]).velocity + e * closing).max() < 1e-13
        if e == 1.0:
            assert abs(found.energy_lost) < 1e-12 * gs.kinetic_energy(craft, q, v)
    with pytest.raises(ValueError, match="restitution is 1.5; expected 0 .held. to 1 .elastic."):
        gc.capture(craft, q, v, [constraint], restitution=1.5)


def test_two_balls_collide_as_in_the_book():
    """Head on, masses m and M: v+ of the pair by momentum and restitution."""
    one = gs.Spacecraft.build("one", [gs.Body("a", 2.0, inertia=(1, 1, 1))])
    two = gs.Spacecraft.build("two", [gs.Body("b", 3.0, inertia=(1, 1, 1))])
    craft = together("balls", [one, two])
    q, v = gs.neutral(craft), np.zeros(12)
    v[3], v[9] = 1.0, -0.5
    found = gc.capture(craft, q, v, [gc.point("a", "b")], restitution=0.6)
    mean = (2.0 * 1.0 - 3.0 * 0.5) / 5.0
    assert found.v[3] == pytest.approx(mean - 0.6 * 1.5 * 3.0 / 5.0) and found.v[9] == pytest.approx(
        mean + 0.6 * 1.5 * 2.0 / 5.0
    )


def test_projection_closes_and_keeps_momentum():
    """Velocities are corrected by impulses in the constraints: the momentum does not change."""
    craft, q = crafts.pair()
    constraints = [gc.weld("hand_L", "grip_L"), gc.weld("hand_R", "grip_R")]
    v = 0.1 * np.random.default_rng(1).normal(size=craft.nv)
    closed, moving = gc.project(craft, 0.0, q, v, constraints)
    found = gc.residuals(craft, 0.0, closed, moving, constraints)
    assert np.abs(found.position).max() <= 1e-13 and np.abs(found.velocity).max() < 1e-13
    h0, h1 = gs.momentum(craft, closed, v), gs.momentum(craft, closed, moving)
    assert np.abs(h1 - h0).max() < 1e-12 * np.abs(h0).max()
    again = gc.project(craft, 0.0, closed, moving, constraints)
    assert np.abs(again[0] - closed).max() == 0.0 and np.abs(again[1] - moving).max() < 1e-14


def test_projection_says_what_cannot_be_closed():
    craft, q = crafts.pair("L")
    held = [gc.weld("N", "bus"), gc.weld("N", "client", pose=gs.algebra.Pose(np.eye(3), np.array([9.0, 0.0, 0.0])))]
    with pytest.raises(
        ValueError, match="the weld of hand_L and grip_L is still open by .* Start from a configuration nearer"
    ):
        gc.project(craft, 0.0, q, np.zeros(craft.nv), [*held, gc.weld("hand_L", "grip_L")], iterations=15)


def test_no_constraints_change_nothing():
    craft, q, v = tumbling_pair()
    same = gc.project(craft, 0.0, q, v, [])
    assert [x.shape for x in gc.residuals(craft, 0.0, q, v, [])] == [(0,), (0,)]
    nothing = gc.constraint_loads(craft, 0.0, q, v, np.zeros(craft.nv), [])
    assert nothing.multipliers.shape == (0,) and nothing.on_second.shape == (0, 6)
    assert (same[0] == q).all() and (same[1] == v).all()
    assert (gc.capture(craft, q, v, []).v == v).all() and gc.capture(craft, q, v, []).impulses.shape == (0,)
    assert (
        gc.constraint_loads(craft, 0.0, q, v, np.zeros(craft.nv), []).wrenches.tolist()
        == np.zeros((craft.nbodies, 6)).tolist()
    )


def test_residuals_and_capture_know_the_driven_speed():
    """A hinge that a motor turns at 0.7 rad/s: held there, its residual is zero; grasped at rest, the client is set
    turning.
    """
    craft, q, v = tumbling_pair()
    angle = gc.grasped(craft, 0.4, q, gc.driven(gc.angle("hand_L", "grip_L", (1, 2, 2)), lambda t: 0.7 * t))
    hinge = gc.grasped(craft, 0.4, q, gc.revolute("hand_L", "grip_L", (1, 2, 2)))
    before = gc.residuals(craft, 0.4, q, v, [angle]).velocity[0]
    found = gc.capture(craft, q, v, [hinge, angle], t=0.4)
    hand, grip = (gs.jacobian(craft, q, name) @ found.v for name in ("hand_L", "grip_L"))
    axis = gs.frame_pose(craft, q, "hand_L").R @ (np.array([1, 2, 2]) / 3)
    np.testing.assert_allclose(grip[:3] - hand[:3], 0.7 * axis, atol=1e-12)
    hand, grip = (gs.jacobian(craft, q, name) @ v for name in ("hand_L", "grip_L"))
    assert before == pytest.approx((grip[:3] - hand[:3]) @ axis - 0.7, abs=1e-12)
    assert np.abs(gc.residuals(craft, 0.4, q, found.v, [hinge, angle]).velocity).max() < 1e-12
    rod = gc.driven(gc.grasped(craft, 0.0, q, gc.distance("hand_L", "grip_L", 1.0)), lambda t: 0.2 * t * (1.0 + t))
    started = gc.capture(craft, q, v, [rod]).v  # at t = 0, unless said otherwise
    assert gc.residuals(craft, 0.0, q, started, [rod]).velocity[0] == pytest.approx(0.0, abs=1e-12)
    bounced = gc.capture(craft, q, v, [hinge, angle], t=0.4, restitution=0.5)
    after = gc.residuals(craft, 0.4, q, bounced.v, [angle]).velocity[0]
    assert after == pytest.approx(-0.5 * before, abs=1e-12)


def test_speeds_that_contradict_each_other_are_refused():
    """Two motors on one hinge at different rates: neither project nor capture may return a state in which one of them
    lies.
    """
    craft, q, v = tumbling_pair()
    hinge = gc.grasped(craft, 0.0, q, gc.revolute("hand_L", "grip_L"))
    motors = [
        gc.grasped(craft, 0.0, q, gc.driven(gc.angle("hand_L", "grip_L"), lambda t, w=w: w * t)) for w in (0.1, 0.3)
    ]
    for function in (
        lambda: gc.project(craft, 0.0, q, v, [hinge, *motors]),
        lambda: gc.capture(craft, q, v, [hinge, *motors]),
    ):
        with pytest.raises(
            ValueError, match="no impulse gives the driven angle of hand_L and grip_L the speed it asks for"
        ):
            function()
    same = gc.grasped(craft, 0.0, q, gc.driven(gc.angle("hand_L", "grip_L"), lambda t: 0.1 * t))
    found = gc.capture(craft, q, v, [hinge, motors[0], same]).v
    assert np.abs(gc.residuals(craft, 0.0, q, found, [hinge, motors[0], same]).velocity).max() < 1e-12


def test_a_rod_between_points_that_meet_is_named():
    one = gs.Spacecraft.build("one", [gs.Body("a", 2.0, inertia=(1, 1, 1))])
    two = gs.Spacecraft.build("two", [gs.Body("b", 3.0, inertia=(1, 1, 1))])
    craft = together("rod", [one, two])
    with pytest.raises(ValueError, match="the distance of a and b is still open by 1 "):
        gc.project(craft, 0.0, gs.neutral(craft), np.zeros(12), [gc.distance("a", "b", 1.0)])


def test_slow_speeds_that_contradict_each_other_are_refused_too():
    """What is left is judged by the speeds themselves: 0.1 mrad/s too much is much of 1 mrad/s."""
    craft, q, v = tumbling_pair()
    hinge = gc.grasped(craft, 0.0, q, gc.revolute("hand_L", "grip_L"))
    motors = [
        gc.grasped(craft, 0.0, q, gc.driven(gc.angle("hand_L", "grip_L"), lambda t, w=w: w * t)) for w in (1e-3, 1.1e-3)
    ]
    with pytest.raises(ValueError, match="no impulse gives the driven angle"):
        gc.project(craft, 0.0, q, 0.0 * v, [hinge, *motors])
