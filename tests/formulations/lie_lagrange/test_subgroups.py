"""Which joints are Lie subgroups, their velocity maps S, and the general formula (7') with the printed (7) failing."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from exact import TINY, exact, floats
from gyrostat.algebra import compose, exp_se3, inverse, log_se3
from gyrostat.formulations import lie_lagrange as lie
from gyrostat.formulations.lie_lagrange.subgroups import is_subgroup
from lie_crafts import SUBGROUPS, tree
from random_trees import random_axis, random_spacecraft, random_state


@pytest.mark.parametrize("kind", SUBGROUPS)
def test_subgroups_are_supported(kind):
    assert is_subgroup(gs.Joint("j", kind, axis=(0.0, 0.6, 0.8)))


def test_universal_joint_is_refused_by_name():
    craft = random_spacecraft(4, kinds=("universal",), base="free")
    q, v = random_state(craft, 0)
    reason = lie.supports(craft)
    assert "joint_1" in reason and "universal" in reason and "two revolute joints" in reason
    for function in (lie.coriolis_matrix, lie.skew_coriolis_matrix, lie.bias_force):
        with pytest.raises(ValueError, match="universal"):
            function(craft, q, v)
    with pytest.raises(ValueError, match="universal"):
        lie.forward_dynamics(craft, q, v, 0 * v)
    with pytest.raises(ValueError, match="universal"):
        lie.mass_matrix_derivatives(craft, q)


@pytest.mark.parametrize("kind", [k for k in SUBGROUPS if k not in ("fixed", "wheel")])
def test_eq21_velocity_map_is_that_of_the_exponential(kind):
    """v = S(phi) phidot, where exp(H phi) is where the joint goes: its body twist by differences of thirty digits."""
    rng = np.random.default_rng(3)
    joint = gs.Joint("j", kind, axis=random_axis(rng))
    H = joint.motion.H(joint.motion.neutral())
    phi, phidot = rng.normal(size=joint.nv), rng.normal(size=joint.nv)
    before, after = (exp_se3(H @ (exact(phi) + s * TINY * exact(phidot))) for s in (-1, 1))
    moved = floats(log_se3(compose(inverse(before), after)) / (2 * TINY))
    S = lie.velocity_map(H, phi)
    np.testing.assert_allclose(H @ (S @ phidot), moved, atol=1e-14)
    np.testing.assert_allclose(lie.velocity_map(H, 0 * phi), np.eye(joint.nv), atol=0)


@pytest.mark.parametrize("kind", [k for k in SUBGROUPS if k not in ("fixed", "wheel")])
def test_eq5_a_step_of_the_joint_is_the_exponential(kind):
    rng = np.random.default_rng(4)
    joint = gs.Joint("j", kind, axis=random_axis(rng))
    motion = joint.motion
    q, dv = motion.step(motion.neutral(), rng.normal(size=joint.nv)), rng.normal(size=joint.nv)
    expected = compose(motion.pose(q), exp_se3(motion.H(q) @ dv))
    found = motion.pose(motion.step(q, dv))
    np.testing.assert_allclose(found.R, expected.R, atol=1e-14)
    np.testing.assert_allclose(found.p, expected.p, atol=1e-14)


@pytest.mark.parametrize("kind", ["spherical", "planar", "free", "cylindrical", "cartesian"])
def test_eq21_derivatives_of_the_velocity_map(kind):
    rng = np.random.default_rng(5)
    joint = gs.Joint("j", kind, axis=random_axis(rng))
    H = joint.motion.H(joint.motion.neutral())
    dS = lie.velocity_map_derivatives(H)
    for k, e in enumerate(np.eye(joint.nv)):
        difference = (lie.velocity_map(exact(H), TINY * exact(e)) - lie.velocity_map(exact(H), -TINY * exact(e))) / (
            2 * TINY
        )
        np.testing.assert_allclose(dS[k], floats(difference), atol=1e-15)


def chart(rng, n):
    """M(phi) and S(phi), polynomials with random coefficients, and their exact derivatives."""
    A, B, C, D = rng.normal(size=(4, n, n, n))
    L0 = np.eye(n) * 3 + 0.3 * rng.normal(size=(n, n))

    def factor(phi):
        return L0 + np.tensordot(phi, A, 1) + np.tensordot(phi**2, B, 1)

    def M(phi):
        return factor(phi) @ factor(phi).T

    def dM(phi):
        dL = A + 2 * phi[:, None, None] * B
        return np.array([d @ factor(phi).T + factor(phi) @ d.T for d in dL])

    def S(phi):
        return 2 * np.eye(n) + 0.3 * (np.tensordot(phi, C, 1) + np.tensordot(phi**2, D, 1))

    def dS(phi):
        return 0.3 * (C + 2 * phi[:, None, None] * D)

    return M, dM, S, dS


def lagrange_bias(M, dM, S, dS, phi, phidot):
    """S^-T (d/dt dT/dphidot - dT/dphi) less M vdot, T = 1/2 phidot^T S^T M S phidot: Lagrange's equations in phi
    themselves.
    """
    n = len(phi)
    m = S(phi).T @ M(phi) @ S(phi)
    dm = [
        dS(phi)[k].T @ M(phi) @ S(phi) + S(phi).T @ dM(phi)[k] @ S(phi) + S(phi).T @ M(phi) @ dS(phi)[k]
        for k in range(n)
    ]
    mdot = sum(d * r for d, r in zip(dm, phidot, strict=True))
    bias = mdot @ phidot - 0.5 * np.array([phidot @ d @ phidot for d in dm])  # m phiddot + bias = S^T tau
    Sdot = sum(d * r for d, r in zip(dS(phi), phidot, strict=True))
    S_inv = np.linalg.inv(S(phi))
    return S_inv.T @ (bias - m @ (S_inv @ (Sdot @ phidot)))  # phiddot = S^-1 (vdot - Sdot phidot)


def printed_eq7(M, dM, S_inv, dS, v):
    first = np.einsum("kij,kl,l->ij", dM, S_inv, v) - 0.5 * np.einsum("ki,kjl,l->ij", S_inv, dM, v)
    curl = np.einsum("smj->mjs", dS) - np.einsum("jms->mjs", dS)  # dS_mj/dphi_s - dS_ms/dphi_j
    return first + np.einsum("mi,mjs,sk,kl,l->ij", S_inv, curl, S_inv, M, v)


@pytest.mark.parametrize("seed", range(3))
def test_eq7_is_lagranges_equation_in_any_local_coordinates(seed):
    rng = np.random.default_rng(seed)
    n = 5
    M, dM, S, dS = chart(rng, n)
    phi, phidot = 0.3 * rng.normal(size=n), rng.normal(size=n)
    v, S_inv = S(phi) @ phidot, np.linalg.inv(S(phi))
    expected = lagrange_bias(M, dM, S, dS, phi, phidot)
    C = lie.general_coriolis(M(phi), dM(phi), S_inv, dS(phi), v)
    np.testing.assert_allclose(C @ v, expected, atol=1e-12 * np.abs(expected).max())
    printed = printed_eq7(M(phi), dM(phi), S_inv, dS(phi), v) @ v
    assert np.abs(printed - expected).max() > 0.1 * np.abs(expected).max()


def local_data(craft, q):
    """M, dM, S^-1 = 1 and dS at phi = 0 of a whole craft, each joint with its own S."""
    dS = np.zeros((craft.nv,) * 3)
    for joint in craft.joints:
        if joint.nv:
            dS[joint.v_at, joint.v_at, joint.v_at] = lie.velocity_map_derivatives(joint.H(q))
    rotors = np.concatenate([np.full(joint.nv, joint.armature) for joint in craft.joints])
    return lie.mass_matrix(craft, q) - np.diag(rotors), lie.mass_matrix_derivatives(craft, q), np.eye(craft.nv), dS


@pytest.mark.parametrize("seed", range(6))
def test_eq7_at_phi_zero_gives_the_coriolis_matrix(seed):
    craft = tree(seed)
    q, v = random_state(craft, seed)
    C = lie.coriolis_matrix(craft, q, v)
    np.testing.assert_allclose(C, lie.general_coriolis(*local_data(craft, q), v), atol=1e-13 * max(1, np.abs(C).max()))


def test_printed_eq7_is_right_on_so3_by_accident_and_wrong_on_se3():
    for base, right in (("spherical", True), ("free", False)):
        craft = gs.Spacecraft.build(
            "body", [gs.Body("b", 7.0, (0.1, 0.2, -0.3), (3.0, 0.2, -0.1, 4.0, 0.3, 5.0), gs.Joint("j", base))]
        )
        q, v = random_state(craft, 1)
        error = printed_eq7(*local_data(craft, q), v) @ v - gs.bias_force(craft, q, v)
        assert np.abs(error).max() < 1e-13 if right else np.abs(error).max() > 1.0


@pytest.mark.parametrize("kind", ["spherical", "planar", "free"])
def test_gyroscopic_matrix_is_skew_and_pairs_momentum_with_brackets(kind):
    rng = np.random.default_rng(6)
    joint = gs.Joint("j", kind, axis=random_axis(rng))
    H, p = joint.motion.H(joint.motion.neutral()), rng.normal(size=joint.nv)
    K = lie.gyroscopic(H, p)
    np.testing.assert_allclose(K, -K.T, atol=1e-16)
    dS = lie.velocity_map_derivatives(H)
    bracket = -2 * np.einsum("ikj->kij", dS)  # [e_i, e_j]_k
    np.testing.assert_allclose(K, np.einsum("k,kij->ij", p, bracket), atol=1e-15)
