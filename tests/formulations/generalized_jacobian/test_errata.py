"""Printed equations of Wilde et al. (2018) that are wrong, each shown failing beside the corrected one.

(40), (43) and (44) are in test_equations_of_motion.py; the list is docs/errata/wilde2018.md.
"""

import numpy as np
import pytest

from gyrostat.algebra import cos, cross, rotation_from_rpy, sin, skew
from gyrostat.formulations.generalized_jacobian import base_inverse as bi
from gyrostat.formulations.generalized_jacobian import direction_cosines as dc
from gyrostat.formulations.generalized_jacobian import inertia_blocks as ib
from gyrostat.formulations.generalized_jacobian import links as lk
from gyrostat.formulations.generalized_jacobian.link_rates import arm_link_rates
from gyrostat.formulations.generalized_jacobian.paper import joint_derivatives as jd
from gyrostat.formulations.generalized_jacobian.paper import quaternions as qn
from wilde_arms import apart, by_joint, close, exact_arm, frames, links_at, random_arm, random_arm_state

ANGLES = np.array([0.4, -0.7, 1.1])


@pytest.fixture
def case():
    arm, _ = random_arm(1)
    s = random_arm_state(arm, 1)
    return arm, s, links_at(arm, s)


def test_eq_7_as_printed_is_no_rotation():
    _, theta, psi = ANGLES
    printed = dc.euler_rotation(psi, theta, psi)  # psi where phi is meant, in columns 2 and 3 (column 1 has no phi)
    apart(printed, rotation_from_rpy(ANGLES))
    close(dc.euler_rotation(*ANGLES), rotation_from_rpy(ANGLES))


def test_nomenclature_rate_matrix_as_printed_gives_body_components():
    phi, theta, psi = ANGLES
    cf, sf, ct, st = cos(phi), sin(phi), cos(theta), sin(theta)
    printed = np.array([[1.0, 0.0, -st], [0.0, cf, ct * sf], [0.0, -sf, ct * cf]])
    apart(printed, dc.euler_rate_matrix(theta, psi))
    close(dc.euler_rotation(*ANGLES) @ printed, dc.euler_rate_matrix(theta, psi))


def test_eq_10_puts_the_center_of_mass_off_the_line_between_joints_if_d_is_not_zero(case):
    """The text assumes it on that line; the code follows (10): p_i + d_i k_i + a_i x_{i+1} (no offset of our own
    here).
    """
    arm, s, _ = case
    arm = type(arm)(arm.mass, arm.inertia, arm.d, arm.alpha, arm.a, arm.b, arm.b0, arm.R01)
    T_J, T_L = frames(arm, s)
    for i in range(1, arm.n + 1):
        p, r, following = T_J[i][:3, 3], T_L[i][:3, 3], T_J[i + 1][:3, 3]
        close(r, p + arm.d[i - 1] * T_J[i][:3, 2] + arm.a[i - 1] * T_J[i + 1][:3, 0])
        off_line = np.linalg.norm(cross(r - p, following - p)) / np.linalg.norm(following - p)
        assert off_line > 0.01 * abs(arm.d[i - 1])


def test_eq_22_as_printed_lacks_a_component():
    theta, alpha = 0.8, 0.5
    printed = np.delete(qn.dh_quaternion(theta, alpha), 1)
    assert abs(printed @ printed - 1.0) > 1e-3  # not a unit quaternion, whatever the fourth component's place
    close(qn.dh_quaternion(theta, alpha) @ qn.dh_quaternion(theta, alpha), 1.0)


def test_eq_52_as_printed_is_not_symmetric_and_no_inverse(case):
    *_, links = case
    printed = bi.base_inertia_inverse(links).copy()
    printed[3:, :3] *= -1.0
    apart(printed, printed.T)
    apart(printed @ ib.base_inertia(links), np.eye(6))


def test_eq_57_and_59_as_printed_repeat_y_and_z(case):
    *_, links = case
    m, c, S_U = lk.total_mass(links), lk.system_center(links), bi.schur_complement(links)
    I = sum(links.I)
    yz = sum(m_i * (r[1] ** 2 + r[2] ** 2) for m_i, r in zip(links.m, links.r, strict=True))
    apart(I[1, 1] + yz - m * (c[0] ** 2 + c[2] ** 2), S_U[1, 1])  # (57)
    apart(I[2, 2] + yz - m * (c[0] ** 2 + c[1] ** 2), S_U[2, 2])  # (59)


def test_eq_68_as_printed_has_no_joint_0(case):
    """At i = 1 it adds k_0 qdot_0; taken as the rate of joint 1 it turns J_1, which is fixed on the base."""
    arm, s, _ = case
    T_J, _ = frames(arm, s)
    printed = s.w_0 + dc.joint_axes(T_J)[1] * s.qdot[0]
    Rdot_J1 = skew(s.w_0) @ s.R_0 @ arm.R01  # J_1 turns with the base
    apart(skew(printed) @ T_J[1][:3, :3], Rdot_J1)
    close(skew(s.w_0) @ T_J[1][:3, :3], Rdot_J1)


def test_eq_71_and_72_as_printed_have_too_many_columns(case):
    """i columns and zeros 3 x (N - 1) are N wide for i = 1 alone; J_R' must be as wide as J_R."""
    arm, s, links = case
    rates = arm_link_rates(arm, *frames(arm, s), s.w_0, s.qdot)
    for i in range(1, arm.n + 1):
        printed = np.hstack([rates.J_R[i][:, :i], np.zeros((3, arm.n - 1))])
        assert rates.J_R[i].shape == rates.J_T[i].shape == links.J_R[i].shape
        assert (printed.shape == links.J_R[i].shape) == (i == 1)


def test_eq_84_as_printed_is_wrong_in_the_second_row(case):
    arm, s, _ = case
    arm_ = exact_arm(arm)
    k = arm.n
    expected = by_joint(lambda state: frames(arm_, state)[0][-1], s, k)
    T_J, _ = frames(arm, s)
    derivative = jd.dh_derivative(s.q[k - 1], arm.alpha[k - 1], arm.c[k - 1])
    close(T_J[k] @ derivative, expected)
    derivative[1, 3] *= -1.0
    apart(T_J[k] @ derivative, expected)


def test_statement_on_the_euler_singularity():
    """ "DCM non-invertible" at theta = 90 degrees: the rotation is orthogonal there; it is the rate matrix that is
    singular.
    """
    R = dc.euler_rotation(0.3, np.pi / 2, -1.0)
    close(R @ R.T, np.eye(3))
    assert abs(np.linalg.det(dc.euler_rate_matrix(np.pi / 2, -1.0))) < 1e-15
