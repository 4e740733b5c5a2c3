"""One family of references and one sense of errors: from where it is to where it should be."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from exact import exact
from gyrostat.algebra import Pose, compose, exp_so3, inverse, log_so3, quat_from_rotation, quat_multiply, rotation
from gyrostat.control import (
    PoseReference,
    attitude_error,
    base_as_reference,
    hill_reference,
    offset_reference,
    pose_error,
    pose_error_rate,
    pose_reference,
)
from gyrostat.environment import Orbit
from gyrostat.formulations import spatial_forms as forms
from laws import servicer_like, state

ORBIT = Orbit.circular(500e3, 0.9)
ELLIPTIC = Orbit.from_elements(7.5e6, 0.05, 0.9)


def random_pose(rng):
    return Pose(rotation(rng.normal(size=4)), rng.normal(size=3))


def moved_on(reference, s):
    """The reference after a short time s, right to second order."""
    twist = reference.twist + 0.5 * s * reference.rate
    X = Pose(exp_so3(s * twist[:3]) @ reference.X.R, reference.X.p + s * twist[3:])
    return PoseReference(X, reference.twist + s * reference.rate, reference.rate)


# ---- references


@pytest.mark.parametrize("orbit", [ORBIT, ELLIPTIC], ids=["circular", "elliptic"])
def test_a_place_in_the_hill_frame_moves_as_it_says(orbit):
    """Twist and rate are the derivatives of the pose, by fourth-order differences over a second: errors of n^5 h^4
    times the size, 1e-14.
    """
    R_HD, rho, t, h = exp_so3(np.array([0.3, -0.2, 0.5])), np.array([10.0, -20.0, 5.0]), 700.0, 1.0

    def at(s):
        return hill_reference(orbit, t + s, rho, R_HD)

    def slope(f):
        return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h)

    here = at(0.0)
    W = slope(lambda s: at(s).X.R) @ here.X.R.T
    np.testing.assert_allclose([W[2, 1], W[0, 2], W[1, 0]], here.twist[:3], atol=1e-12)
    np.testing.assert_allclose(slope(lambda s: at(s).X.p), here.twist[3:], atol=1e-11)
    np.testing.assert_allclose(slope(lambda s: at(s).twist), here.rate, atol=1e-12)


def test_a_slot_beside_a_leader_does_not_move_as_seen_from_it():
    """By the paper's relative equations, in body components."""
    rng = np.random.default_rng(0)
    X_LD, leader = random_pose(rng), PoseReference(random_pose(rng), *rng.normal(size=(2, 6)))
    slot = offset_reference(leader, X_LD)
    np.testing.assert_allclose(compose(inverse(leader.X), slot.X).R, X_LD.R, atol=1e-14)

    def in_body(r):
        R, w, v = r.X.R, r.X.R.T @ r.twist[:3], r.X.R.T @ r.twist[3:]
        Vdot = np.concatenate([R.T @ r.rate[:3], R.T @ r.rate[3:] - np.cross(w, v)])
        return np.concatenate([w, v]), Vdot

    (V_L, Vdot_L), (V_D, Vdot_D) = in_body(leader), in_body(slot)
    np.testing.assert_allclose(forms.relative_twist(leader.X, slot.X, V_L, V_D), 0, atol=1e-14)
    np.testing.assert_allclose(forms.relative_acceleration(X_LD, V_L, np.zeros(6), Vdot_L, Vdot_D), 0, atol=1e-13)


def test_a_bodys_own_rates_become_those_in_N():
    rng = np.random.default_rng(1)
    quat, p, w, wdot, v, a = rng.normal(size=4), *rng.normal(size=(5, 3))
    found = pose_reference(quat, p, w_ND_D=w, wdot_ND_D=wdot, v_N=v, a_N=a)
    R, h = rotation(quat), 1e-6
    np.testing.assert_allclose(found.X.R, R)
    turned = [R @ exp_so3(s * w) @ (w + s * wdot) for s in (h, -h)]
    np.testing.assert_allclose(found.rate, [*((turned[0] - turned[1]) / (2 * h)), *a], atol=1e-8)
    np.testing.assert_allclose(found.twist, [*(R @ w), *v], atol=1e-14)


def test_another_crafts_base_is_a_reference():
    """Its base's joint frame may be anywhere: pose, twist and rate are the frame's own in N."""
    craft = servicer_like(1)
    q, v = state(craft, 1)
    vdot, h = np.random.default_rng(2).normal(size=craft.nv), 1e-6
    found = base_as_reference(craft, q, v, vdot)
    X = gs.frame_pose(craft, q, "hull")
    np.testing.assert_allclose([*found.X.R.ravel(), *found.X.p], [*X.R.ravel(), *X.p], atol=1e-14)
    np.testing.assert_allclose(found.twist, gs.jacobian(craft, q, "hull") @ v, atol=1e-13)
    ends = [gs.jacobian(craft, gs.step_configuration(craft, q, s * v), "hull") @ (v + s * vdot) for s in (h, -h)]
    np.testing.assert_allclose(found.rate, (ends[0] - ends[1]) / (2 * h), atol=1e-8)


# ---- errors


def test_errors_lead_from_where_it_is_to_where_it_should_be():
    rng = np.random.default_rng(3)
    for _ in range(20):
        here, there = random_pose(rng), random_pose(rng)
        e = pose_error(here, there)
        np.testing.assert_allclose(here.R @ exp_so3(e[:3]), there.R, atol=1e-12)
        np.testing.assert_allclose(here.p + here.R @ e[3:], there.p, atol=1e-13)
        np.testing.assert_allclose(e[:3], log_so3(here.R.T @ there.R), atol=1e-12)
        quats = [s * quat_from_rotation(X.R) for s, X in ((3.0, here), (-0.5, there))]  # of any norm and sign
        np.testing.assert_allclose(attitude_error(*quats), e[:3], atol=1e-12)
    small = np.array([1e-9, -2e-9, 3e-9])
    quat = quat_from_rotation(here.R)
    turned = quat_multiply(quat, np.concatenate([[1.0], 0.5 * small]))
    np.testing.assert_allclose(attitude_error(quat, turned), small, atol=1e-15)


def test_errors_take_batches():
    rng = np.random.default_rng(4)
    quats, other = rng.normal(size=(5, 3, 4)), rng.normal(size=4)
    found = attitude_error(quats, other)
    assert found.shape == (5, 3, 3)
    for k in np.ndindex(5, 3):
        np.testing.assert_allclose(found[k], attitude_error(quats[k], other), atol=1e-15)
    R = np.array([[rotation(x) for x in row] for row in quats])
    poses, goal = Pose(R, rng.normal(size=(5, 3, 3))), random_pose(rng)
    errors = pose_error(poses, goal)
    assert errors.shape == (5, 3, 6)
    for k in np.ndindex(5, 3):
        np.testing.assert_allclose(errors[k], pose_error(Pose(R[k], poses.p[k]), goal), atol=1e-14)


def test_the_rate_of_an_error_is_its_derivative_at_any_error():
    """To sixteen digits and more, reference moving and accelerating, up to half a turn away."""
    rng = np.random.default_rng(5)
    craft = gs.Spacecraft.build("rock", [gs.Body("rock", 1.0, inertia=(1, 1, 1))])
    for angle in (1e-6, 0.3, 2.0, 3.1):
        q = exact(rng.normal(size=7))
        v = exact(rng.normal(size=6))
        axis = rng.normal(size=3)
        turn = exact(angle * axis / np.linalg.norm(axis))
        X = Pose(rotation(q[:4]), q[4:7])
        wanted = PoseReference(Pose(X.R @ exp_so3(turn), exact(rng.normal(size=3))), *exact(rng.normal(size=(2, 6))))
        qdot, h = gs.configuration_rate(craft, q, v), exact(1e-12)[()]

        def error(s, q=q, qdot=qdot, wanted=wanted):
            at = q + s * qdot
            return pose_error(Pose(rotation(at[:4]), at[4:7]), moved_on(wanted, s).X)

        expected = (error(h) - error(-h)) / (2 * h)
        found = pose_error_rate(error(0 * h), X, v, wanted)
        np.testing.assert_allclose(found.astype(float), expected.astype(float), atol=1e-13)
