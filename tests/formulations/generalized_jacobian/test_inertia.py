"""Equations (26)-(36), (42), (45), (51)-(61): inertia blocks, momentum, and the inverse of H_0."""

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algebra import skew
from gyrostat.formulations.generalized_jacobian import base_inverse as bi
from gyrostat.formulations.generalized_jacobian import inertia_blocks as ib
from gyrostat.formulations.generalized_jacobian import links as lk
from gyrostat.formulations.generalized_jacobian import reduced_equations as red
from wilde_arms import close, frames, links_at, random_arm, random_arm_state, to_craft, velocity_map, whole

SEEDS = range(8)
ELEMENTS = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


def case(seed):
    arm, craft = random_arm(seed, n=1 + seed % 7)
    s = random_arm_state(arm, seed)
    return arm, craft, s, links_at(arm, s)


@pytest.mark.parametrize("seed", SEEDS)
def test_eq_26_and_27_kinetic_energy(seed):
    _, craft, s, links = case(seed)
    energy = gs.kinetic_energy(craft, *to_craft(craft, s))
    close(ib.kinetic_energy_by_link(links, s.xdot_0, s.qdot), energy)  # (26)
    close(ib.kinetic_energy(ib.inertia_blocks(links), s.xdot_0, s.qdot), energy)  # (27)


@pytest.mark.parametrize("seed", SEEDS)
def test_eq_28_to_36_blocks_equal_the_mass_matrix(seed):
    _, craft, s, links = case(seed)
    B, (q, _) = velocity_map(s), to_craft(craft, s)
    expected = B.T @ gs.mass_matrix(craft, q) @ B
    H = ib.inertia_blocks(links)
    close(H.H_0, expected[:6, :6])  # (28), (29)
    close(H.H_0m[:3], expected[:3, 6:])  # (31), (32)
    close(H.H_0m[3:], expected[3:6, 6:])  # (34)
    close(H.H_m, expected[6:, 6:])  # (36)


@pytest.mark.parametrize("seed", SEEDS)
def test_eq_30_33_35_inertias_and_jacobians_of_links(seed):
    arm, craft, s, links = case(seed)
    q, _ = to_craft(craft, s)
    R_NB = gs.forward_kinematics(craft, q).R_NB
    _, T_L = frames(arm, s)
    for i, body in enumerate(craft.bodies):
        close(links.I[i], R_NB[i] @ body.inertia @ R_NB[i].T)  # (30)
        close(links.I[i], T_L[i][:3, :3] @ arm.inertia[i] @ T_L[i][:3, :3].T)
        J = gs.jacobian(craft, q, body.name, body.com)[:, 6:]
        close(links.J_R[i], J[:3])  # (35)
        close(links.J_T[i], J[3:])  # (33)


@pytest.mark.parametrize("seed", SEEDS)
def test_eq_42_momentum_about_the_base(seed):
    _, craft, s, links = case(seed)
    L_0, P = np.split(gs.momentum(craft, *to_craft(craft, s), about=s.r_0), 2)
    close(ib.momentum(ib.inertia_blocks(links), s.xdot_0, s.qdot), np.concatenate([P, L_0]))


@pytest.mark.parametrize("seed", SEEDS)
def test_eq_45_generalized_inertia_is_the_inverse_of_a_block_of_the_inverse(seed):
    *_, links = case(seed)
    H = ib.inertia_blocks(links)
    H_star = red.generalized_inertia(H, bi.base_inertia_inverse(links))
    close(np.linalg.inv(H_star), np.linalg.inv(whole(H))[6:, 6:], 1e-11)  # two inversions of matrices with cond 1e3
    assert np.linalg.eigvalsh(H_star).min() > 0


@pytest.mark.parametrize("seed", SEEDS)
def test_energy_splits_into_that_of_the_joints_and_that_of_the_momentum(seed):
    """T = 1/2 qdot^T H* qdot + 1/2 M^T H_0^-1 M."""
    *_, s, links = case(seed)
    H, inverse = ib.inertia_blocks(links), bi.base_inertia_inverse(links)
    M = ib.momentum(H, s.xdot_0, s.qdot)
    split = 0.5 * s.qdot @ red.generalized_inertia(H, inverse) @ s.qdot + 0.5 * M @ inverse @ M
    close(split, ib.kinetic_energy(H, s.xdot_0, s.qdot))


@pytest.mark.parametrize("seed", SEEDS)
def test_eq_51_and_52_inverse_of_the_base_inertia(seed):
    *_, links = case(seed)
    H_0, inverse = ib.base_inertia(links), bi.base_inertia_inverse(links)
    close(H_0[3:, :3], lk.total_mass(links) * skew(lk.system_center(links)))  # (51): W
    close(H_0 @ inverse, np.eye(6))
    close(inverse, inverse.T)


@pytest.mark.parametrize("seed", SEEDS)
def test_eq_53_schur_complement_is_the_inertia_about_the_system_center(seed):
    _, craft, s, links = case(seed)
    m, r = lk.total_mass(links), skew(lk.system_center(links))
    S_U = bi.schur_complement(links)
    close(S_U, ib.rotational_inertia(links) + m * r @ r)
    q, _ = to_craft(craft, s)
    composite = gs.kinematics.composite_inertia(craft, q)
    C = skew(gs.center_of_mass(craft, q))
    close(S_U, composite.I_o + m * C @ C, 1e-11)  # the craft is metres from the origin: digits cancel
    assert np.linalg.eigvalsh(S_U).min() > 0


@pytest.mark.parametrize("seed", SEEDS)
def test_eq_54_to_59_elements_of_the_schur_complement(seed):
    *_, links = case(seed)
    S_U, s = bi.schur_complement(links), bi.schur_elements(links)
    for (i, j), element in zip(ELEMENTS, s, strict=True):
        close(element * np.ones(1), S_U[i, j] * np.ones(1), 1e-11)


@pytest.mark.parametrize("seed", SEEDS)
def test_eq_60_and_61_determinant_and_adjugate(seed):
    *_, links = case(seed)
    S_U, s = bi.schur_complement(links), bi.schur_elements(links)
    close(bi.determinant(s), np.linalg.det(S_U), 1e-11)  # (60)
    close(bi.schur_inverse(s) @ S_U, np.eye(3), 1e-11)  # (61)
