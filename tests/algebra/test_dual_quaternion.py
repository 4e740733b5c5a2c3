"""Dual quaternions against the numbered equations of Valverde & Tsiotras (2018), and against matrices."""

import mpmath
import numpy as np
import pytest

from gyrostat.algebra import (
    DQ_ONE,
    DQ_SWAP,
    Pose,
    adjoint,
    compose,
    cross,
    cross_motion,
    dq_adjoint,
    dq_adjoint_inverse,
    dq_circle,
    dq_conjugate,
    dq_cross,
    dq_dot,
    dq_exp,
    dq_from_pose,
    dq_interpolate,
    dq_left,
    dq_log,
    dq_multiply,
    dq_norm,
    dq_normalize,
    dq_right,
    dq_skew,
    dq_swap,
    dq_to_child,
    dq_to_parent,
    dq_vector_part,
    dual_inertia,
    dual_twist,
    dual_wrench,
    exp_se3,
    inverse,
    pose_adjoint,
    pose_adjoint_inverse,
    pose_from_dq,
    quat_conjugate,
    quat_cross,
    quat_dot,
    quat_exp,
    quat_left,
    quat_multiply,
    quat_right,
    quat_skew,
    rotation,
    skew,
    twist_from_dual,
    unswapped,
    wrench_from_dual,
    wrench_to_parent,
)
from random_trees import random_inertia, random_rotation

SEEDS = range(8)


def near(a, b, tol=1e-13):
    np.testing.assert_allclose(a, b, rtol=0, atol=tol * (1 + np.abs(b).max()))


def random_pose(rng) -> Pose:
    return Pose(random_rotation(rng), rng.normal(size=3))


def vector_dq(rng):
    return dual_twist(rng.normal(size=6))


@pytest.fixture(params=SEEDS)
def rng(request):
    return np.random.default_rng(request.param)


# ---- section 2.1


def test_table_1_products_of_quaternions(rng):
    a, b = rng.normal(size=(2, 4))
    ab, a_, b_ = quat_multiply(a, b), quat_conjugate(a), quat_conjugate(b)
    near(ab, [a[0] * b[0] - a[1:] @ b[1:], *(a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:]))])
    near(quat_dot(a, b), 0.5 * (quat_multiply(a_, b) + quat_multiply(b_, a)))
    near(quat_cross(a, b), 0.5 * (ab - quat_multiply(b_, a_)))
    near(quat_conjugate(ab), quat_multiply(b_, a_))


def test_equation_1_skew_operator(rng):
    s, b = rng.normal(size=(2, 4))
    s[0] = 0
    near(quat_skew(s) @ b, [0, *np.cross(s[1:], b[1:])])


def test_equations_2_3_4_left_and_right_multiplication(rng):
    a, b = rng.normal(size=(2, 4))
    near(quat_left(a) @ b, quat_multiply(a, b))
    near(quat_right(b) @ a, quat_multiply(a, b))
    a0, a1, a2, a3 = a
    near(quat_left(a), [[a0, -a1, -a2, -a3], [a1, a0, -a3, a2], [a2, a3, a0, -a1], [a3, -a2, a1, a0]])
    near(quat_right(a), [[a0, -a1, -a2, -a3], [a1, a0, a3, -a2], [a2, -a3, a0, a1], [a3, a2, -a1, a0]])


@mpmath.workdps(40)
def _attitude_kinematics(rng):
    w, phi = (np.array([mpmath.mpf(x) for x in rng.normal(size=3)]) for _ in range(2))
    h = mpmath.mpf(10) ** -11
    q = quat_exp(phi)
    ahead, behind = (quat_multiply(q, quat_exp(s * h * w)) for s in (1, -1))
    qdot = (ahead - behind) / (2 * h)
    near_mp(qdot, quat_multiply(q, np.array([0, *w])) / 2)
    near_mp(qdot, quat_multiply(np.array([0, *(rotation(q) @ w)]), q) / 2)


def test_equation_5_attitude_kinematics_in_either_frame(rng):
    """With 40 digits, a central difference of the exponential is exact to 1e-20."""
    _attitude_kinematics(rng)


def near_mp(a, b):
    assert max(abs(x - y) for x, y in zip(a, b, strict=True)) < mpmath.mpf(10) ** -19


# ---- section 2.2


def test_equation_6_the_dual_unit_is_nilpotent_and_commutes(rng):
    eps = np.array([0.0, 0, 0, 0, 1, 0, 0, 0])
    a = rng.normal(size=8)
    assert not dq_multiply(eps, eps).any()
    near(dq_multiply(eps, a), dq_multiply(a, eps))
    near(dq_multiply(eps, a), [0, 0, 0, 0, *a[:4]])


def test_table_2_products_of_dual_quaternions(rng):
    a, b, c = rng.normal(size=(3, 8))
    ab, a_, b_ = dq_multiply(a, b), dq_conjugate(a), dq_conjugate(b)
    near(dq_multiply(ab, c), dq_multiply(a, dq_multiply(b, c)))
    near(dq_conjugate(ab), dq_multiply(b_, a_))
    near(dq_dot(a, b), 0.5 * (dq_multiply(a_, b) + dq_multiply(b_, a)))
    near(dq_cross(a, b), 0.5 * (ab - dq_multiply(b_, a_)))
    near(dq_circle(a, b), a[:4] @ b[:4] + a[4:] @ b[4:])
    near(dq_swap(a), DQ_SWAP @ a)
    near(dq_norm(a) ** 2, dq_circle(a, a))
    near(dq_vector_part(ab), dq_cross(a, b))
    near(dq_multiply(DQ_ONE, a), a)


def test_equation_7_skew_operator(rng):
    s, b = vector_dq(rng), vector_dq(rng)
    near(dq_skew(s) @ b, dq_cross(s, b))


def test_equations_8_9_left_and_right_multiplication(rng):
    a, b = rng.normal(size=(2, 8))
    near(dq_left(a) @ b, dq_multiply(a, b))
    near(dq_right(b) @ a, dq_multiply(a, b))


def test_equations_10_11_lemma_1_cross_product_keeps_under_a_change_of_frame(rng):
    q, a, b = dq_from_pose(random_pose(rng)), vector_dq(rng), vector_dq(rng)
    a_Y, b_Y = dq_adjoint_inverse(q) @ a, dq_adjoint_inverse(q) @ b
    near(dq_cross(a_Y, b_Y), dq_adjoint_inverse(q) @ dq_cross(a, b))
    near(twist_from_dual(dq_cross(a, b)), cross_motion(twist_from_dual(a), twist_from_dual(b)))
    # the first line of the printed proof (11) lacks the factor 1/2 of the definition
    printed = dq_adjoint_inverse(q) @ (dq_multiply(a, b) - dq_multiply(dq_conjugate(b), dq_conjugate(a)))
    near(printed, 2 * dq_cross(a_Y, b_Y))


def test_equations_12_13_lemma_2_adjoints_undo_each_other(rng):
    q = dq_from_pose(random_pose(rng))
    near(dq_adjoint(q) @ dq_adjoint_inverse(q), np.eye(8))
    near(dq_adjoint_inverse(q) @ dq_adjoint(q), np.eye(8))
    a = rng.normal(size=8)
    near(dq_adjoint(q) @ a, dq_multiply(dq_multiply(q, a), dq_conjugate(q)))


def test_swap_turns_a_transpose_into_a_conjugate(rng):
    a = rng.normal(size=8)
    near(DQ_SWAP @ dq_left(a).T @ DQ_SWAP, dq_left(dq_conjugate(a)))
    near(DQ_SWAP @ dq_right(a).T @ DQ_SWAP, dq_right(dq_conjugate(a)))


def test_poses_are_unit_compose_and_come_back(rng):
    X, Y = random_pose(rng), random_pose(rng)
    q, p = dq_from_pose(X), dq_from_pose(Y)
    near(dq_dot(q, q), DQ_ONE)
    near(dq_multiply(dq_conjugate(q), q), DQ_ONE)
    both = pose_from_dq(dq_multiply(q, p))
    near(both.R, compose(X, Y).R)
    near(both.p, compose(X, Y).p)
    back = pose_from_dq(dq_conjugate(q))
    near(back.p, inverse(X).p)
    r_B = 2 * quat_multiply(quat_conjugate(q[:4]), q[4:])[1:]  # the other way of reading the position
    near(X.R @ r_B, X.p)
    near(pose_from_dq(-q).p, X.p)
    assert abs(dq_norm(q) - 1) > 1e-6  # table 2's norm is not the one in which poses are unit


def test_normalisation_brings_a_disturbed_pose_back(rng):
    X = random_pose(rng)
    q = dq_normalize(dq_from_pose(X) + 1e-9 * rng.normal(size=8))
    near(dq_dot(q, q), DQ_ONE, 1e-15)
    near(pose_from_dq(q).p, X.p, 1e-8)
    near(dq_normalize(3.0 * dq_from_pose(X)), dq_from_pose(X))


def test_adjoint_of_a_pose_needs_no_quaternion(rng):
    X, s = random_pose(rng), vector_dq(rng)
    q = dq_from_pose(X)
    near(pose_adjoint(X), dq_adjoint(q))
    near(pose_adjoint_inverse(X), dq_adjoint_inverse(q))
    near(dq_to_parent(X, s), dq_adjoint(q) @ s)
    near(dq_to_child(X, s), dq_adjoint_inverse(q) @ s)
    columns = np.column_stack([vector_dq(rng), s])
    near(dq_to_child(X, columns)[:, 1], dq_to_child(X, s))


def test_equation_14_dual_velocity_seen_from_another_frame_of_the_body(rng):
    X_YX, V_Y = random_pose(rng), rng.normal(size=6)  # X is fixed on Y
    w_X = X_YX.R.T @ V_Y[:3]
    v_X = X_YX.R.T @ (V_Y[3:] + np.cross(V_Y[:3], X_YX.p))
    near(dq_adjoint_inverse(dq_from_pose(X_YX)) @ dual_twist(V_Y), dual_twist(np.concatenate([w_X, v_X])))


@mpmath.workdps(40)
def _pose_kinematics(rng):
    mp = np.vectorize(mpmath.mpf, otypes=[object])
    V, start = mp(rng.normal(size=6)), dq_exp(dual_twist(mp(rng.normal(size=6))))
    h = mpmath.mpf(10) ** -11
    qdot = (dq_multiply(start, dq_exp(dual_twist(h * V))) - dq_multiply(start, dq_exp(dual_twist(-h * V)))) / (2 * h)
    near_mp(qdot, dq_multiply(start, dual_twist(V)) / 2)
    near_mp(qdot, dq_multiply(dq_to_parent(pose_from_dq(start), dual_twist(V)), start) / 2)


def test_equation_15_pose_kinematics_in_either_frame(rng):
    _pose_kinematics(rng)


# ---- section 2.2.1


def test_equations_16_to_19_wrenches_shift(rng):
    X, F = random_pose(rng), rng.normal(size=6)
    near(wrench_from_dual(dual_wrench(F)), F)
    torque, force = F[:3], F[3:]
    # (17): about another point q, p - q = r
    r = rng.normal(size=3)
    moved = dq_to_parent(Pose(np.eye(3), r), dual_wrench(F))
    near(moved, [0, *force, 0, *(torque + np.cross(r, force))])
    # (19) is the transposed adjoint of twists, (18) its inverse
    near(wrench_from_dual(dq_adjoint(dq_from_pose(X)) @ dual_wrench(F)), wrench_to_parent(X, F))
    f_Y, r_Y = X.R.T @ force, -X.R.T @ X.p
    near(dq_adjoint_inverse(dq_from_pose(X)) @ dual_wrench(F), [0, *f_Y, 0, *(X.R.T @ torque + np.cross(r_Y, f_Y))])


def test_equations_20_21_twists_shift_alike(rng):
    X, V = random_pose(rng), rng.normal(size=6)
    near(twist_from_dual(dq_adjoint(dq_from_pose(X)) @ dual_twist(V)), adjoint(X) @ V)
    near(twist_from_dual(dq_adjoint_inverse(dq_from_pose(X)) @ dual_twist(V)), adjoint(inverse(X)) @ V)


def test_power_is_the_circle_product_with_a_swap_and_does_not_depend_on_the_frame(rng):
    X, V, F = random_pose(rng), rng.normal(size=6), rng.normal(size=6)
    power = dq_circle(dual_wrench(F), dq_swap(dual_twist(V)))
    near(power, F @ V)
    near(dq_circle(dq_to_parent(X, dual_wrench(F)), dq_swap(dq_to_parent(X, dual_twist(V)))), power)


# ---- section 2.2.2


def test_equations_22_to_28_dual_inertia_momentum_and_energy(rng):
    m, I, V = rng.uniform(1, 5), random_inertia(rng, 3.0), rng.normal(size=6)
    M, w = dual_inertia(m, I), dual_twist(V)
    near(np.diag(M)[[0, 1, 2, 3, 4]], [1, m, m, m, 1])
    H = M @ dq_swap(w)
    near(H, [0, *(m * V[3:]), 0, *(I @ V[:3])])  # (23)
    near(unswapped(M), M @ DQ_SWAP)  # (26)
    near(unswapped(M) @ w, H)  # (25), (28)
    near(0.5 * dq_circle(dq_swap(w), H), 0.5 * (m * V[3:] @ V[3:] + V[:3] @ I @ V[:3]))  # (24)
    Z = np.zeros((3, 3))
    near(unswapped(M)[np.ix_([1, 2, 3, 5, 6, 7], [1, 2, 3, 5, 6, 7])], np.block([[Z, m * np.eye(3)], [I, Z]]))  # (27)


def test_equation_29_lemma_3_inverse(rng):
    m, I = rng.uniform(1, 5), random_inertia(rng, 3.0)
    inverse_ = DQ_SWAP @ dual_inertia(1 / m, np.linalg.inv(I))
    near(inverse_ @ unswapped(dual_inertia(m, I)), np.eye(8), 1e-11)


def test_equations_32_33_newton_and_euler_about_the_centre_of_mass(rng):
    m, I, V, Vdot = rng.uniform(1, 5), random_inertia(rng, 3.0), rng.normal(size=6), rng.normal(size=6)
    M, w, wdot = dual_inertia(m, I), dual_twist(V), dual_twist(Vdot)
    W = M @ dq_swap(wdot) + dq_cross(w, M @ dq_swap(w))
    force = m * (Vdot[3:] + np.cross(V[:3], V[3:]))
    torque = I @ Vdot[:3] + np.cross(V[:3], I @ V[:3])
    near(wrench_from_dual(W), np.concatenate([torque, force]))


# ---- exponential, logarithm, interpolation


@pytest.mark.parametrize("size", [0.0, 1e-12, 1e-5, 0.3, 2.0, np.pi - 1e-6])
def test_exponential_and_logarithm_undo_each_other(rng, size):
    a = rng.normal(size=3)
    V = np.concatenate([size * a / np.linalg.norm(a), rng.normal(size=3)])
    q = dq_exp(dual_twist(V))
    near(dq_dot(q, q), DQ_ONE)
    near(pose_from_dq(q).R, exp_se3(V).R)
    near(pose_from_dq(q).p, exp_se3(V).p)
    near(twist_from_dual(dq_log(q)), V, 1e-9 if size > 3 else 1e-12)
    near(twist_from_dual(dq_log(-q)), V, 1e-9 if size > 3 else 1e-12)


def test_interpolation_is_a_screw_motion(rng):
    A, B = dq_from_pose(random_pose(rng)), dq_from_pose(random_pose(rng))
    near(dq_interpolate(A, B, 0.0), A)
    end = pose_from_dq(dq_interpolate(A, B, 1.0))
    near(end.R, pose_from_dq(B).R)
    near(end.p, pose_from_dq(B).p)
    half, quarter = dq_interpolate(A, B, 0.5), dq_interpolate(A, B, 0.25)
    near(dq_log(dq_multiply(dq_conjugate(A), quarter)), 0.5 * dq_log(dq_multiply(dq_conjugate(A), half)))
    near(dq_log(dq_multiply(dq_conjugate(half), B)), dq_log(dq_multiply(dq_conjugate(A), half)))
    flipped = dq_interpolate(A, -B, 0.5)  # the same pose: the same way, not the long one
    near(pose_from_dq(flipped).p, pose_from_dq(half).p)


def test_shift_of_an_inertia_is_that_of_matrices(rng):
    X, m, I = random_pose(rng), rng.uniform(1, 5), random_inertia(rng, 3.0)
    K = dq_adjoint(dq_from_pose(X)) @ unswapped(dual_inertia(m, I)) @ dq_adjoint_inverse(dq_from_pose(X))
    R, p = X
    I_o = R @ I @ R.T - m * skew(p) @ skew(p)
    near(K[5:, 1:4], I_o)
    w = rng.normal(size=3)
    near((K @ dual_twist(np.concatenate([w, np.zeros(3)])))[1:4], m * cross(w, p))
