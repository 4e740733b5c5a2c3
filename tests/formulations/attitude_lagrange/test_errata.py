"""What Forbes' slides print wrongly (docs/errata/forbes2019.md), shown failing."""

from __future__ import annotations

import numpy as np

from forbes_bodies import cloud, motion
from gyrostat.algebra import cross, skew
from gyrostat.attitude import PARAMETERISATIONS
from gyrostat.formulations.attitude_lagrange.one_body import (
    accelerations,
    body_accelerations,
    body_mass_matrix,
    mass_matrix,
    mass_matrix_rate,
    nonlinear_force,
)

DCM = PARAMETERISATIONS["direction_cosines"]


def rows(seed=0):
    at = motion(DCM, seed)
    return at, at.C, at.qdot.reshape(3, 3)


def test_noting_that_sign_of_the_second_rate():
    """Printed w2 = c1dot.c3; correct w2 = c3dot.c1 = -c1dot.c3."""
    at, c, cdot = rows()
    assert abs(cdot[2] @ c[0] - at.w[1]) < 1e-14 and abs(-cdot[0] @ c[2] - at.w[1]) < 1e-14
    assert abs(cdot[0] @ c[2] - at.w[1]) > 1e-1


def test_noting_that_indices_of_the_skew_products():
    """Printed cidot.cj = -cidot.ci for i != j; correct -cjdot.ci."""
    _, c, cdot = rows(1)
    assert abs(cdot[0] @ c[1] + cdot[1] @ c[0]) < 1e-14
    assert abs(cdot[0] @ c[1] + cdot[0] @ c[0]) > 1e-1


def test_therefore_intermediate_columns():
    """Printed first vector (c2dot.c3, c1dot.c3, -c1dot.c3); the last one, (c3.c2dot, c1.c3dot, c2.c1dot), is right."""
    at, c, cdot = rows(2)
    printed = np.array([cdot[1] @ c[2], cdot[0] @ c[2], -cdot[0] @ c[2]])
    assert np.abs(np.array([c[2] @ cdot[1], c[0] @ cdot[2], c[1] @ cdot[0]]) - at.w).max() < 1e-14
    assert np.abs(printed - at.w).max() > 1e-1


def test_rate_of_the_second_constraint():
    """Printed 2 c2.c1dot; correct 2 c2.c2dot, which vanishes."""
    _, c, cdot = rows(3)
    assert abs(c[1] @ cdot[1]) < 1e-14
    assert abs(c[1] @ cdot[0]) > 1e-1


def test_Xi_last_block_row():
    """Printed [-c2^T c1^T -1] in place of [-c2^ c1^ -1]: as scalar rows they do not annihilate the rates."""
    _, c, cdot = rows(4)
    assert np.abs(-cross(c[1], cdot[0]) + cross(c[0], cdot[1]) - cdot[2]).max() < 1e-14
    assert np.abs(-c[1] @ cdot[0] + c[0] @ cdot[1] - cdot[2]).max() > 1e-1


def test_Xi_Gamma_needs_the_lost_identity_block():
    """In the product Xi Gamma the block -1 is printed as 0: then it is not zero."""
    at, _, _ = rows(5)
    Xi, Gamma = DCM.Xi(at.q).copy(), DCM.Gamma(at.q)
    assert np.abs(Xi @ Gamma).max() < 1e-14
    Xi[3:, 6:] = 0.0
    assert np.abs(Xi @ Gamma).max() > 0.1


def test_mass_matrix_needs_its_lower_left_block():
    """T slide: without c^ C the kinetic energy is wrong."""
    body, at = cloud(0).body, motion(DCM, 0)
    M = mass_matrix(body, at.C)
    lost = M.copy()
    lost[3:, :3] = 0.0
    assert abs(at.nu @ M @ at.nu - at.nu @ lost @ at.nu) > 1e-2


def test_yields_has_three_terms():
    """Two are printed as one; leaving out either of them changes the equation."""
    body, at = cloud(1).body, motion(DCM, 1)
    turn = np.concatenate([np.zeros(3), cross(at.w, (mass_matrix(body, at.C) @ at.nu)[3:])])
    shift = np.concatenate([np.zeros(3), -cross(at.C @ at.v, cross(body.c, at.w))])
    rate = mass_matrix_rate(body, at.C, at.w) @ at.nu
    f_non = nonlinear_force(body, at.C, at.w)
    assert np.abs(rate + turn + shift + f_non).max() < 1e-12
    assert np.abs(rate + shift + f_non).max() > 1e-1 and np.abs(rate + turn + f_non).max() > 1e-1


def test_summary_derivative_of_the_attitude_rate():
    """Lower entry of nudot_B is wdot (printed w): M_B (vdot; w) + ... is not the load."""
    body, at = cloud(2).body, motion(DCM, 2)
    M, nu = body_mass_matrix(body), at.nu
    h = M @ nu
    turned = np.block([[skew(at.w), np.zeros((3, 3))], [skew(at.v), skew(at.w)]]) @ h
    nudot = body_accelerations(body, at.v, at.w, np.zeros(6))
    assert np.abs(M @ nudot + turned).max() < 1e-12
    assert np.abs(M @ np.concatenate([nudot[:3], at.w]) + turned).max() > 1e-1


def test_moment_of_the_forces():
    """Gamma^T f: the second row is sum r x f in B, not the forces again as printed."""
    body, at = cloud(3).body, motion(DCM, 3)
    f, r = np.array([0.5, -1.0, 2.0]), np.array([0.3, 0.2, -0.7])
    right = accelerations(body, at.C, at.w, np.concatenate([f, cross(r, at.C @ f)]))
    printed = accelerations(body, at.C, at.w, np.concatenate([f, f]))
    assert np.abs(right - printed).max() > 1e-1
