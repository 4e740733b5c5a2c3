"""Poses, twists, wrenches: SE(3) as a group, its adjoint, its exponential; what is dual stays dual."""

from __future__ import annotations

import numpy as np
import pytest

from exact import exact, mp, size
from gyrostat import algebra as g
from gyrostat.algebra import Pose

RNG = np.random.default_rng(11)
SIX = np.eye(6)


def random_pose() -> Pose:
    return Pose(g.rotation(RNG.normal(size=4)), RNG.normal(size=3))


def matrix(X: Pose) -> np.ndarray:
    return np.block([[X.R, np.reshape(X.p, (3, 1))], [np.zeros((1, 3)), np.ones((1, 1))]])


def twist_matrix(V: np.ndarray) -> np.ndarray:
    return np.block([[g.skew(V[:3]), np.reshape(V[3:], (3, 1))], [np.zeros((1, 4))]])


def taylor(A: np.ndarray) -> np.ndarray:
    """exp(A) by its plain series, sixty digits."""
    A = exact(A)
    term = total = exact(np.eye(len(A)))
    for j in range(1, 90):
        term = term @ A / mp.mpf(j)
        total = total + term
    return total


def close(a: Pose, b: Pose, tolerance: float = 4e-15) -> bool:
    return size(a.R - b.R) < tolerance and size(a.p - b.p) < tolerance * 4


@pytest.mark.parametrize("_", range(10))
def test_poses_are_a_group_of_matrices(_):
    X, Y, Z, p = random_pose(), random_pose(), random_pose(), RNG.normal(size=3)
    assert size(matrix(g.compose(X, Y)) - matrix(X) @ matrix(Y)) < 4e-15
    assert close(g.compose(g.compose(X, Y), Z), g.compose(X, g.compose(Y, Z)))
    assert close(g.compose(X, g.inverse(X)), g.IDENTITY) and close(g.compose(X, g.IDENTITY), X)
    assert size(g.transform_point(g.compose(X, Y), p) - g.transform_point(X, g.transform_point(Y, p))) < 1e-14
    assert size(g.transform_point(X, p) - (matrix(X) @ np.append(p, 1.0))[:3]) < 4e-15


@pytest.mark.parametrize("_", range(10))
def test_adjoint_identities(_):
    X, Y, V, U, F = random_pose(), random_pose(), *RNG.normal(size=(3, 6))
    Ad = g.adjoint(X)
    assert size(g.adjoint(g.compose(X, Y)) - Ad @ g.adjoint(Y)) < 2e-14
    assert size(g.adjoint(g.inverse(X)) @ Ad - SIX) < 2e-14
    # Ad V as a matrix is X V^ X^-1
    assert size(twist_matrix(Ad @ V) - matrix(X) @ twist_matrix(V) @ matrix(g.inverse(X))) < 2e-14
    assert size(g.twist_to_child(X, V) - g.adjoint(g.inverse(X)) @ V) < 1e-14
    assert size(g.wrench_to_parent(X, F) - g.adjoint(g.inverse(X)).T @ F) < 1e-14
    assert g.wrench_to_parent(X, F) @ V == pytest.approx(F @ g.twist_to_child(X, V), abs=1e-13)  # power is power
    assert size(Ad @ g.cross_motion(V, U) - g.cross_motion(Ad @ V, Ad @ U)) < 1e-13
    columns = np.column_stack([V, U])
    assert size(g.twist_to_child(X, columns)[:, 1] - g.twist_to_child(X, U)) < 1e-15
    assert size(g.wrench_to_parent(X, columns)[:, 1] - g.wrench_to_parent(X, U)) < 1e-15


@pytest.mark.parametrize("_", range(10))
def test_cross_products_of_twists_and_wrenches(_):
    V, U, W, F = RNG.normal(size=(4, 6))
    assert size(g.cross_motion(V, U) + g.cross_motion(U, V)) < 1e-15
    jacobi = g.cross_motion(V, g.cross_motion(U, W)) + g.cross_motion(U, g.cross_motion(W, V))
    assert size(jacobi + g.cross_motion(W, g.cross_motion(V, U))) < 2e-14
    assert size(g.cross_motion_matrix(V) @ U - g.cross_motion(V, U)) < 1e-15
    assert size(-g.cross_motion_matrix(V).T @ F - g.cross_force(V, F)) < 1e-15
    assert g.cross_force(V, F) @ U == pytest.approx(-(F @ g.cross_motion(V, U)), abs=1e-14)
    bracket = twist_matrix(V) @ twist_matrix(U) - twist_matrix(U) @ twist_matrix(V)
    assert size(twist_matrix(g.cross_motion(V, U)) - bracket) < 4e-15


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-6, 0.5, 0.9999, 1.0001, 2.0, 3.0, np.pi - 1e-6, 6.0])
def test_exponential_of_a_twist(angle):
    """Against the matrix series to sixty digits; its logarithm; a screw motion's own adjoint."""
    for a in np.concatenate([np.eye(3), g.rotation(RNG.normal(size=4))]):
        V = np.concatenate([angle * a, RNG.normal(size=3)])
        X = g.exp_se3(V)
        assert size(exact(matrix(X)) - taylor(twist_matrix(V))) < 3e-15
        assert size(g.adjoint(X) @ V - V) < 3e-14
        assert size(exact(g.adjoint(X)) - taylor(g.cross_motion_matrix(V))) < 2e-14
        if angle < np.pi:
            assert size(g.log_se3(X) - V) < 1e-14 * max(1.0, angle)


def test_rate_of_the_adjoint():
    """d/dt Ad_AB = Ad_AB (V_AB_B x)."""
    X, V = random_pose(), RNG.normal(size=6)
    quat, h = g.quat_from_rotation(X.R), mp.mpf(10) ** -20
    R, p, w, v = g.rotation(exact(quat)), exact(X.p), exact(V[:3]), exact(V[3:])

    def moved(t):  # first order is enough: the difference is central
        return g.adjoint(Pose(R @ (exact(np.eye(3)) + t * g.skew(w)), p + t * (R @ v)))

    rate = (moved(h) - moved(-h)) / (2 * h)
    assert size(rate - g.adjoint(Pose(R, p)) @ g.cross_motion_matrix(exact(V))) < 1e-30
