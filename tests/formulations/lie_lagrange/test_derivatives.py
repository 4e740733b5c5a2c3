"""Closed-form derivatives: the appendices as printed, exact derivatives of traced functions, differences of thirty
digits.
"""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from backward_error import relative
from exact import TINY, exact, exact_craft, floats
from gyrostat.algebra import Pose, adjoint, compose, cross_motion_matrix, inverse
from gyrostat.formulations import lie_lagrange as lie
from gyrostat.tracing import jacobian_of
from lie_crafts import chain, tree
from random_trees import random_state

TURNING = ["revolute", "prismatic", "revolute", "revolute", "prismatic"]


def stepped_mass_matrix(craft, q, dv):
    return gs.mass_matrix(craft, gs.step_configuration(craft, q, dv))


@pytest.mark.parametrize("seed", range(4))
def test_derivatives_of_m_against_exact_tracing_derivatives(seed):
    craft = tree(seed, links=4)
    q, _ = random_state(craft, seed)
    expected = jacobian_of(stepped_mass_matrix, "dv")(craft, q, np.zeros(craft.nv))
    assert relative(lie.mass_matrix_derivatives(craft, q), np.moveaxis(expected, 2, 0)) < 1e-13


@pytest.mark.parametrize("seed", [4, 5])
def test_derivatives_of_m_against_differences(seed):
    craft = tree(seed, links=4)
    q, _ = random_state(craft, seed)
    exactly, at = exact_craft(craft), exact(q)
    found = lie.mass_matrix_derivatives(craft, q)
    for k in range(craft.nv):
        e = exact(np.eye(craft.nv)[k])
        difference = stepped_mass_matrix(exactly, at, TINY * e) - stepped_mass_matrix(exactly, at, -TINY * e)
        assert relative(found[k], floats(difference / (2 * TINY))) < 1e-13


# ---- the appendices, as they are printed: one chain, joints with one coordinate, bodies numbered from the base, 0 = b


class Chain:
    """g_ij, the joints' constant twists X_k in C_{k-1} at the present configuration, and link inertias."""

    def __init__(self, craft, q):
        self.craft, self.q, self.n = craft, q, craft.nbodies - 1
        self.step = [None] + [craft.joints[k].pose(q) for k in range(1, self.n + 1)]

    def g(self, i, j):
        """Pose of C_j in C_i."""
        if i > j:
            return inverse(self.g(j, i))
        pose = Pose(np.eye(3), np.zeros(3))
        for k in range(i + 1, j + 1):
            pose = compose(pose, self.step[k])
        return pose

    def Ad(self, i, j):
        return adjoint(self.g(i, j))

    def X(self, k):
        """Twist of joint k in C_{k-1}: it does not change with q_k."""
        return adjoint(self.step[k]) @ self.craft.joints[k].H(self.q)[:, 0]

    def dAd(self, i, j, k):
        """Proposition A.1."""
        if i < k <= j:
            return self.Ad(i, k - 1) @ cross_motion_matrix(self.X(k)) @ self.Ad(k - 1, j)
        if j < k <= i:
            return -self.Ad(i, k - 1) @ cross_motion_matrix(self.X(k)) @ self.Ad(k - 1, j)
        return np.zeros((6, 6))

    def J(self, i):
        """(B.1)."""
        columns = [self.Ad(0, m - 1) @ self.X(m) if m <= i else np.zeros(6) for m in range(1, self.n + 1)]
        return np.column_stack(columns)

    def dJ(self, i, k):
        """(B.2), zero blocks (6, k) and (6, n - i)."""
        columns = [self.dAd(0, m - 1, k) @ self.X(m) if k < m <= i else np.zeros(6) for m in range(1, self.n + 1)]
        return np.column_stack(columns)

    def dM(self, k):
        """(A.1), with H = 1."""
        n, H = self.n, np.eye(6)
        total = np.zeros((6 + n, 6 + n))
        for i in range(k, n + 1):
            M_i = self.craft.inertia(self.craft.bodies[i].name).matrix
            Ad, dAd, J = self.Ad(i, 0), self.dAd(i, 0, k), self.J(i)
            HJ, B = np.hstack([H, J]), Ad.T @ M_i @ Ad
            total += HJ.T @ (dAd.T @ M_i @ Ad + Ad.T @ M_i @ dAd) @ HJ
            if i > k:
                dJ = self.dJ(i, k)
                total[:6, 6:] += H.T @ B @ dJ
                total[6:, :6] += dJ.T @ B @ H
                total[6:, 6:] += dJ.T @ B @ J + J.T @ B @ dJ
        return total


@pytest.fixture(scope="module")
def printed():
    craft = chain(1, TURNING)
    q, _ = random_state(craft, 7)
    return Chain(craft, q)


def moved(chain_, k, sign):
    """The same chain, q_k moved by a tiny exact step."""
    craft = exact_craft(chain_.craft)
    q = exact(chain_.q)
    q[6 + k] = q[6 + k] + sign * TINY
    return Chain(craft, q)


def test_proposition_a1(printed):
    for k in range(1, printed.n + 1):
        after, before = moved(printed, k, 1), moved(printed, k, -1)
        for i in range(printed.n + 1):
            for j in range(printed.n + 1):
                difference = floats((after.Ad(i, j) - before.Ad(i, j)) / (2 * TINY))
                np.testing.assert_allclose(printed.dAd(i, j, k), difference, atol=1e-14 * 20)


def test_eqs_b1_and_b2(printed):
    _, v = random_state(printed.craft, 8)
    for k in range(1, printed.n + 1):
        after, before = moved(printed, k, 1), moved(printed, k, -1)
        for i in range(1, printed.n + 1):
            difference = floats((after.J(i) - before.J(i)) / (2 * TINY))
            np.testing.assert_allclose(printed.dJ(i, k), difference, atol=1e-13)
    for i in range(1, printed.n + 1):  # J_i is the geometric Jacobian about the base's origin
        body = printed.craft.bodies[i].name
        R = printed.craft.bodies[0].joint.pose(printed.q).R
        twist = printed.Ad(i, 0) @ (v[:6] + printed.J(i) @ v[6:])
        R_Ni = gs.frame_pose(printed.craft, printed.q, body).R
        expected = gs.jacobian(printed.craft, printed.q, body) @ v
        np.testing.assert_allclose(np.concatenate([R_Ni @ twist[:3], R_Ni @ twist[3:]]), expected, atol=1e-13)
        np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-14)


def test_eq_a1_as_printed_is_the_gathered_form(printed):
    found = lie.mass_matrix_derivatives(printed.craft, printed.q)
    np.testing.assert_array_equal(found[:6], 0.0)
    for k in range(1, printed.n + 1):
        assert relative(found[5 + k], printed.dM(k)) < 1e-14


def test_eqs24_25_rows_are_joints_and_columns_momenta(printed):
    """(C.1)-(C.2), (C.6)-(C.7): A_kj = (dM/dq_k v)_j, and Mdot = sum of dM/dq_k qdot_k."""
    craft, q = printed.craft, printed.q
    _, v = random_state(craft, 9)
    parts = lie.coriolis_parts(craft, q, v)
    dM = [np.zeros((craft.nv, craft.nv))] * 6 + [printed.dM(k) for k in range(1, printed.n + 1)]
    assert relative(parts.A, np.array([d @ v for d in dM])) < 1e-14
    assert relative(parts.Mdot, sum(d * rate for d, rate in zip(dM, v, strict=True))) < 1e-14
