"""Driven constraints: what is measured follows the function of time, for any number of turns and for every kind."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import constraints as gc
from gyrostat.algebra import Pose, cos, rotation_about, rotation_from_rpy, sin

TILTED = Pose(rotation_from_rpy(np.array([0.3, -0.5, 0.9])), np.array([0.2, -0.1, 0.4]))


def pair():
    """A planar base with an arm, and a free body, with frames that are off every axis."""
    cart = gs.Spacecraft.build(
        "cart",
        [
            gs.Body(
                "cart", 80.0, (0.1, 0.0, 0.2), (20.0, 25.0, 30.0), gs.Joint("cart", "planar", axis=(0.6, 0.0, 0.8))
            ),
            gs.Body("link", 6.0, (0.2, 0.1, 0.0), (0.5, 0.9, 0.8), gs.Joint("hinge", "revolute", "cart", (0.5, 0, 0))),
        ],
        frames=[gs.Frame("hand", "link", TILTED.p, TILTED.R)],
    )
    ball = gs.Spacecraft.build(
        "ball",
        [gs.Body("ball", 10.0, (0.0, 0.1, -0.1), (1.0, 1.2, 1.4))],
        frames=[gs.Frame("grip", "ball", (-0.3, 0.2, 0.1), rotation_from_rpy(np.array([-0.7, 0.2, 0.4])))],
    )
    return gs.together("pair", [cart, ball])


def start(craft, near=(0.9, 0.3, 0.2)):
    """The hand's frame and the grip's near each other, not aligned; everything moves."""
    rng = np.random.default_rng(4)
    q = gs.step_configuration(craft, gs.neutral(craft), 0.3 * rng.normal(size=craft.nv))
    at = craft.joint("ball")
    hand, grip = gs.frame_pose(craft, q, "hand"), gs.frame_pose(craft, q, "grip")
    q[at.q_at][4:] += hand.p + hand.R @ np.array(near) - grip.p
    return q, 0.1 * rng.normal(size=craft.nv)


def relative(craft, q, v):
    """R_12, p_12, and the grip's velocity in the hand's axes, by Jacobians alone."""
    one, two = gs.frame_pose(craft, q, "hand"), gs.frame_pose(craft, q, "grip")
    V1, V2 = gs.jacobian(craft, q, "hand") @ v, gs.jacobian(craft, q, "grip") @ v
    slide = V2[3:] - V1[3:] - np.cross(V1[:3], two.p - one.p)
    return one.R.T @ two.R, one.R.T @ (two.p - one.p), one.R.T @ slide, one.R.T @ (V2[:3] - V1[:3])


AXIS = np.array([2.0, -1.0, 2.0]) / 3.0


def ramp(t):
    return 0.3 * sin(0.8 * t) + 0.1 * t


HOLONOMIC = {  # driven constraint, and what shall follow the ramp
    "distance": (gc.distance("hand", "grip", 1.1), lambda R, p: np.linalg.norm(p) - 1.1),
    "plane": (gc.plane("hand", "grip", AXIS), lambda R, p: AXIS @ p),
    "perpendicular": (
        gc.perpendicular("hand", "grip", AXIS, (0, 0, 1)),
        lambda R, p: np.pi / 2 - np.arccos(AXIS @ R[:, 2]),
    ),
    "function": (gc.holonomic("hand", "grip", lambda R, p: p[0] + 0.2 * R[1, 2]), lambda R, p: p[0] + 0.2 * R[1, 2]),
    "posed plane": (gc.plane("hand", "grip", AXIS, pose=TILTED), lambda R, p: AXIS @ (p - TILTED.p)),
}


@pytest.mark.parametrize("name", HOLONOMIC)
def test_what_a_row_measures_follows_the_function(name):
    kind, measured = HOLONOMIC[name]
    craft = pair()
    con = [gc.driven(kind, ramp)]
    q, v = gc.project(craft, 0.5, *start(craft), con)
    run = gs.simulate(craft, q, v, (0.5, 6.0), constraints=con, rtol=1e-11, atol=1e-11)
    assert run.status == ("done",)
    for t, q, v in zip(run.time, run.q, run.v, strict=True):
        R, p, _, _ = relative(craft, q, v)
        assert measured(R, p) == pytest.approx(ramp(t), abs=2e-9)
        found = gc.residuals(craft, t, q, v, con)
        assert np.abs(found.position).max() < 2e-9 and np.abs(found.velocity).max() < 2e-9


def hinge(rate, *, pose=TILTED, axis=AXIS, turns=lambda t, w: w * t):
    return [
        gc.revolute("hand", "grip", axis, pose=pose),
        gc.driven(gc.angle("hand", "grip", axis, pose=pose), lambda t: turns(t, rate)),
    ]


@pytest.mark.parametrize("rate", [0.5, -2.3])
def test_a_driven_hinge_turns_past_half_a_turn_and_on(rate):
    """On off-axis frames and a base that is not free: rate and angle after several turns."""
    craft = pair()
    con = hinge(rate)
    q, v = gc.project(craft, 0.0, *start(craft, near=TILTED.p), con)
    run = gs.simulate(craft, q, v, (0.0, 20.0), constraints=con, rtol=1e-11, atol=1e-11)
    for t, q, v in zip(run.time, run.q, run.v, strict=True):
        R, p, _, w = relative(craft, q, v)
        assert np.abs(w - rate * AXIS).max() < 1e-8
        assert np.abs(R - rotation_about(AXIS, rate * t) @ TILTED.R).max() < 1e-8
        assert np.abs(p - TILTED.p).max() < 1e-9


@pytest.mark.parametrize("turned", [0.0, 3.0, np.pi, 3.3, 7.0, -11.0, 1000.3])
def test_angles_are_followed_from_any_number_of_turns(turned):
    """The error is what is left to turn, however many turns the function has made."""
    c = gc.driven(gc.angle("a", "b", AXIS, pose=TILTED), lambda t: turned + 0.0 * t)
    for left in (-3.0, -0.4, 0.0, 1e-9, 2.5):
        there = Pose(rotation_about(AXIS, turned + left) @ TILTED.R, TILTED.p)
        assert c.psi(there, 0.0)[0] == pytest.approx(left, abs=1e-12)
        assert np.abs(c.G(there) - np.concatenate([AXIS, np.zeros(3)])).max() < 1e-14


def test_a_function_that_is_an_angle_can_be_driven_past_its_jump():
    """With its period; without, the same function is off by a turn."""
    from gyrostat.algebra import atan2

    by_hand = lambda R, p: atan2(R[1, 0], R[0, 0])
    there = Pose(rotation_about(np.eye(3)[2], 7.0), np.zeros(3))
    drive = lambda t: 7.0 - 1e-3 + 0.0 * t
    assert gc.driven(gc.holonomic("a", "b", by_hand, period=2 * np.pi), drive).psi(there, 0.0)[0] == pytest.approx(1e-3)
    assert gc.driven(gc.holonomic("a", "b", by_hand), drive).psi(there, 0.0)[0] == pytest.approx(1e-3 - 2 * np.pi)


def test_a_driven_knife_edge_moves_at_the_rate_of_its_function():
    """f is the way gone: the speed along the edge's axis is df/dt; the position is free."""
    craft = pair()
    edge = gc.driven(gc.knife_edge("hand", "grip", (0.0, 0.6, 0.8)), lambda t: 0.1 * t + 0.02 * t * t)
    q, v = gc.project(craft, 0.0, *start(craft), [edge])
    run = gs.simulate(craft, q, v, (0.0, 10.0), constraints=[edge], rtol=1e-10, atol=1e-11)
    for t, q, v in zip(run.time, run.q, run.v, strict=True):
        R, _, slide, _ = relative(craft, q, v)
        assert (R @ [0.0, 0.6, 0.8]) @ slide == pytest.approx(0.1 + 0.04 * t, abs=1e-9)
        assert gc.residuals(craft, t, q, v, [edge]).position.tolist() == [0.0]


def test_driven_rolling_slips_at_the_rates_and_stands_at_the_height():
    craft = gs.Spacecraft.build("disc", [gs.Body("disc", 2.0, (0.0, 0.01, 0.0), (0.4, 0.2, 0.3))])
    slips = lambda t: np.array([0.1 * t, 0.05 * sin(t), 0.02 * (1.0 - cos(t))])
    con = [gc.driven(gc.rolling("N", "disc", 0.4), slips)]
    q = np.r_[gs.algebra.quat_exp(np.array([0.1, 0.2, -0.3])), 0.0, 0.0, 0.4]
    q, v = gc.project(craft, 0.0, q, np.array([0.3, 0.5, -0.2, 0.2, 0.1, 0.0]), con)
    run = gs.simulate(craft, q, v, (0.0, 5.0), constraints=con, rtol=1e-10, atol=1e-11)
    for t, q, v in zip(run.time, run.q, run.v, strict=True):
        V = gs.jacobian(craft, q, "disc") @ v
        contact = V[3:] + np.cross(V[:3], [0.0, 0.0, -0.4])
        assert contact == pytest.approx([0.1, 0.05 * np.cos(t), 0.02 * np.sin(t)], abs=1e-9)
        assert q[6] - 0.4 == pytest.approx(0.02 * (1.0 - np.cos(t)), abs=1e-9)


SEVERAL = {
    "point": (gc.point("hand", "grip"), 3),
    "line": (gc.line("hand", "grip", AXIS), 2),
    "parallel": (gc.parallel("hand", "grip", AXIS, pose=TILTED), 2),
    "cylindrical": (gc.cylindrical("hand", "grip", AXIS), 4),
    "planar": (gc.planar("hand", "grip", AXIS), 3),
    "revolute": (gc.revolute("hand", "grip", AXIS, pose=TILTED), 5),
    "universal": (gc.universal("hand", "grip", AXIS, (0, 1, 0)), 4),
}


@pytest.mark.parametrize("name", SEVERAL)
def test_several_rows_follow_together(name):
    """Second derivative of what is driven, by the loads: the residuals stay closed over a run."""
    kind, rows = SEVERAL[name]
    craft = pair()
    con = [gc.driven(kind, lambda t: np.array([0.1 * (k + 1) * sin(0.7 * t + k) for k in range(rows)]))]
    q, v = gc.project(craft, 0.4, *start(craft, near=(0.1, 0.05, 0.1)), con)
    run = gs.simulate(craft, q, v, (0.4, 3.0), constraints=con, rtol=1e-10, atol=1e-11)
    found = [gc.residuals(craft, t, q, v, con) for t, q, v in zip(run.time, run.q, run.v, strict=True)]
    assert max(np.abs(r.position).max() for r in found) < 1e-8 and max(np.abs(r.velocity).max() for r in found) < 1e-8
    h = 1e-5  # velocity residual: the time derivative of the position's
    for k in (3, 20):
        t, q, v = run.time[k], run.q[k], run.v[k] + 0.1
        moved = [gc.residuals(craft, t + s, gs.step_configuration(craft, q, s * v), v, con).position for s in (h, -h)]
        assert np.abs((moved[0] - moved[1]) / (2 * h) - gc.residuals(craft, t, q, v, con).velocity).max() < 1e-8


def test_drives_add_up_and_capture_meets_the_speed():
    craft = pair()
    q, v = start(craft)
    twice = gc.driven(gc.driven(gc.distance("hand", "grip", 1.0), lambda t: 0.3 * t), lambda t: -0.1 * t)
    assert twice.speed(0.0).tolist() == [pytest.approx(0.2)]
    after = gc.capture(craft, q, v, [twice]).v
    _, p, slide, _ = relative(craft, q, after)
    assert slide @ p / np.linalg.norm(p) == pytest.approx(0.2, abs=1e-13)


def test_violations_of_a_driven_hinge_die_out_past_half_a_turn():
    """Baumgarte's terms pull towards where the function is, not a turn away."""
    craft = pair()
    con = hinge(1.0)
    q, v = gc.project(craft, 9.0, *start(craft, near=TILTED.p), con)
    ball = craft.joint("ball")
    q[ball.q_at] = (
        gs.algebra.quat_multiply(q[ball.q_at][:4], gs.algebra.quat_exp(np.r_[0, 0, 1e-3])).tolist()
        + q[ball.q_at][4:].tolist()
    )
    tau = np.zeros(craft.nv)
    stiff = gc.constrained_forward_dynamics(craft, 9.0, q, v, tau, con, stabilisation=gc.Stabilisation(2.0, 1.0))
    loose = gc.constrained_forward_dynamics(craft, 9.0, q, v, tau, con, stabilisation=gc.NO_STABILISATION)
    assert 1e-6 < np.abs(stiff - loose).max() < 0.1  # a turn's error would pull with 4 * 6.28


def test_a_drive_of_the_wrong_size_is_refused_by_name():
    c = gc.driven(gc.revolute("hand", "grip"), lambda t: 0.5 * t)
    with pytest.raises(
        ValueError, match="driven revolute of hand and grip: .* one number; expected 5.*drive gs.constraints.angle"
    ):
        gc.residuals(pair(), 0.0, *start(pair()), [c])
    with pytest.raises(ValueError, match="shape .2,.; expected 1"):
        gc.driven(gc.plane("hand", "grip"), lambda t: np.array([t, t])).psi(TILTED, 0.0)
    with pytest.raises(ValueError, match="cannot be driven"):
        gc.driven(gc.prismatic("a", "b"), lambda t: t)
