"""Joint motions and the laws that follow them, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.control.joint_motion import Rates, Waypoints, steps
from gyrostat.control.joint_tracking import effective_inertias, joint_computed_torque, joint_pd, joint_pid
from gyrostat.environment import uniform_gravity
from gyrostat.models import servicer
from laws import servicer_like, state

HOLD = Waypoints((), (), 0.0)


def test_waypoints_pass_through_their_points_at_rest_and_their_derivatives_agree():
    path = Waypoints((2.0, 3.0, 7.0), (1.0, -0.5, 4.0), start=0.25)
    for t, q in ((0.0, 0.25), (-1.0, 0.25), (2.0, 1.0), (3.0, -0.5), (7.0, 4.0), (100.0, 4.0)):
        motion = path(t)
        assert (motion.q, motion.qdot, motion.qddot) == pytest.approx((q, 0.0, 0.0), abs=1e-14)
    h = 1e-5
    for t in (0.3, 1.1, 2.4, 4.0, 6.9):
        before, here, after = path(t - h), path(t), path(t + h)
        assert (after.q - before.q) / (2 * h) == pytest.approx(here.qdot, rel=1e-7, abs=1e-8)
        assert (after.qdot - before.qdot) / (2 * h) == pytest.approx(here.qddot, rel=1e-7, abs=1e-7)


def test_rates_integrate_to_positions():
    path = Rates((1.0, 3.0), (0.5, -2.0), start=0.1)
    assert [path(t).q for t in (0.0, 1.0, 2.0, 3.0, 4.0)] == pytest.approx([0.1, 0.1, 0.6, 1.1, -0.9])
    assert [path(t).qdot for t in (0.0, 1.0, 2.9, 3.0)] == [0.0, 0.5, 0.5, -2.0]


def test_steps_hold_their_values():
    load = steps([1.0, 2.0], [[3.0, 0.0], [0.0, -1.0]])
    np.testing.assert_allclose([load(t) for t in (0.5, 1.0, 1.9, 2.0, 9.0)], [[0, 0], [3, 0], [3, 0], [0, -1], [0, -1]])


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: Waypoints((2.0, 1.0), (0.0, 0.0)), "times must increase"),
        (lambda: Waypoints((1.0,), (0.0, 0.0)), "expected as many of both"),
        (lambda: Waypoints((0.0,), (1.0,)), "after 0.0 s"),
        (lambda: Rates((1.0, 1.0), (0.0, 0.0)), "times must increase"),
    ],
)
def test_motions_that_cannot_be_are_refused(build, words):
    with pytest.raises(ValueError, match=words):
        build()


def test_computed_torque_makes_every_joint_a_second_order_system():
    """e'' + kd e' + kp e = 0 whatever the craft, tumbling or not, in gravity or not: here critically damped, e (1 + w
    t) exp(-w t).
    """
    craft = servicer()
    q, v = gs.neutral(craft), np.zeros(craft.nv)
    start = np.array([0.3, -0.2, 0.4, 0.1, -0.3, 0.2])
    q[7:], v[:6] = start, (0.05, -0.02, 0.03, 0.01, 0.0, 0.02)
    w, names = 2.0, [j.name for j in craft.joints[1:]]
    environment = uniform_gravity((0.0, 0.1, -0.3))
    law = joint_computed_torque(
        dict.fromkeys(names, HOLD), dict.fromkeys(names, w**2), dict.fromkeys(names, 2 * w), environment=environment
    )
    traj = gs.simulate(craft, q, v, (0.0, 3.0), control=law, environment=environment)
    t = traj.time[:, None]
    np.testing.assert_allclose(traj.q[:, 7:], start * (1 + w * t) * np.exp(-w * t), atol=1e-9)
    np.testing.assert_allclose(traj.signals["command"].values[:, :6], 0.0)


@pytest.mark.parametrize("known", [True, False])
def test_a_load_on_one_link_is_met_if_the_law_knows_of_it(known):
    """Gravity takes a floating craft along whole, whatever a law knows; a push on the hand does not: unknown, it moves
    the joints.
    """
    craft = servicer()
    q = gs.neutral(craft)
    q[7:] = start = np.array([0.3, -0.2, 0.4, 0.1, -0.3, 0.2])
    names = [j.name for j in craft.joints[1:]]
    push = gs.Environment(
        lambda craft, t, q, v: craft.wrenches({craft.bodies[-1].name: [0.5, 0.2, 0.1, 3.0, -2.0, 1.0]})
    )
    law = joint_computed_torque(
        {name: Waypoints((), (), angle) for name, angle in zip(names, start, strict=True)},
        dict.fromkeys(names, 4.0),
        dict.fromkeys(names, 4.0),
        environment=push if known else None,
    )
    traj = gs.simulate(craft, q, np.zeros(craft.nv), (0.0, 3.0), control=law, environment=push)
    moved = np.abs(traj.q[:, 7:] - start).max()
    assert moved < 1e-9 if known else moved > 1e-3


def one_joint():
    bodies = [
        gs.Body("wall", 1.0, joint=gs.Joint("base", "fixed")),
        gs.Body("arm", 2.0, inertia=[1.0, 1.0, 0.5], joint=gs.Joint("pivot", "revolute", "wall")),
    ]
    return gs.Spacecraft.build("one joint", bodies)


def test_pd_is_a_spring_and_a_damper():
    craft = one_joint()
    kp, kd, inertia = 2.0, 0.4, 0.5
    assert effective_inertias(craft, gs.neutral(craft))["pivot"] == pytest.approx(inertia)
    law = joint_pd({"pivot": HOLD}, {"pivot": kp}, {"pivot": kd})
    traj = gs.simulate(craft, [0.1], [0.0], (0.0, 10.0), control=law)
    s = -kd / (2 * inertia)
    w = np.sqrt(kp / inertia - s**2)
    expected = 0.1 * np.exp(s * traj.time) * (np.cos(w * traj.time) - s / w * np.sin(w * traj.time))
    np.testing.assert_allclose(traj.q[:, 0], expected, atol=1e-10)


def test_pid_removes_the_offset_that_a_load_leaves_to_pd():
    craft = one_joint()
    kp, kd, ki, load = {"pivot": 4.0}, {"pivot": 3.0}, {"pivot": 2.0}, 0.2
    pd, pid = joint_pd({"pivot": HOLD}, kp, kd), joint_pid({"pivot": HOLD}, kp, kd, ki)
    with_pd = gs.simulate(craft, [0.0], [0.0], (0.0, 60.0), control=lambda c, t, q, v: pd(c, t, q, v) + load)
    loaded = gs.Controller(lambda c, t, q, v, z: pid.output(c, t, q, v, z) + load, pid.state0, pid.derivative)
    with_pid = gs.simulate(craft, [0.0], [0.0], (0.0, 60.0), control=loaded)
    assert with_pd.q[-1, 0] == pytest.approx(load / kp["pivot"], rel=1e-6)
    assert with_pid.q[-1, 0] == pytest.approx(0.0, abs=1e-8)
    assert with_pid.data["z"].values[-1, 0] == pytest.approx(-load / ki["pivot"], rel=1e-6)


@pytest.mark.parametrize("law", ["pd", "pid", "computed torque"])
@pytest.mark.parametrize(
    ("name", "found"),
    [("hinge_0", "has no motor"), ("wheel_0", "is wheel"), ("ball", "is spherical"), ("root", "is free")],
)
def test_joints_without_a_motor_or_with_several_coordinates_are_refused_by_name(law, name, found):
    craft = servicer_like(1)
    ball = gs.Body("ball", 1.0, inertia=(1, 1, 1), joint=gs.Joint("ball", "spherical", "hull"))
    craft = gs.Spacecraft.build("craft", [*craft.bodies, ball])
    motions, gains = {name: HOLD}, {name: 1.0}
    control = {
        "pd": lambda: joint_pd(motions, gains, gains),
        "pid": lambda: joint_pid(motions, gains, gains, gains),
        "computed torque": lambda: joint_computed_torque(motions, gains, gains),
    }[law]()
    with pytest.raises(
        ValueError, match=rf"joint '{name}' of craft {found}; expected one with a motor and one coordinate"
    ):
        gs.simulate(craft, None, None, (0, 0.1), control=control)


def test_effective_inertia_is_what_a_unit_torque_accelerates_while_the_other_motors_hold():
    """The base and a panel on its spring go along."""
    craft = servicer_like(2, arm=3, panels=2)
    q = state(craft, 3)[0]
    for name, inertia in effective_inertias(craft, q).items():
        held = {
            j.name: np.zeros(1) for k, j in enumerate(craft.joints) if k and j.name != name and j.driven is not False
        }
        held = {n: x for n, x in held.items() if not n.startswith("hinge")}
        tau = np.zeros(craft.nv)
        tau[craft.joint_named(name).v_at] = 1.0
        vdot = gs.hybrid_dynamics(craft, q, np.zeros(craft.nv), tau, prescribed=held).vdot
        assert vdot[craft.joint_named(name).v_at.start] == pytest.approx(1.0 / inertia, rel=1e-9)
