"""The reductions to SO(3) x R^n and to the joints alone, and the printed ones failing."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from backward_error import relative
from gyrostat.formulations import lie_lagrange as lie
from lie_crafts import chain, reduced, tree
from random_trees import random_spacecraft, random_state

SEEDS = range(6)


def setting(seed, **kwargs):
    craft = tree(seed, base="free", **kwargs)
    q, v = random_state(craft, seed)
    return craft, q, v, np.random.default_rng(seed).normal(size=craft.nv)


def pinned(craft):
    """The same craft with its base's origin held in N by a spherical joint."""
    from dataclasses import replace

    bodies = [replace(b, joint=replace(b.joint, kind="spherical")) if b.parent is None else b for b in craft.bodies]
    return gs.Spacecraft.build("pinned", bodies)


@pytest.mark.parametrize("seed", SEEDS)
def test_eq28_reduced_acceleration_is_that_of_the_whole(seed):
    """At any linear and angular momentum, base force included."""
    craft, q, v, tau = setting(seed)
    expected = gs.forward_dynamics(craft, q, v, tau)
    found = lie.reduced_forward_dynamics(craft, q, reduced(v), tau)
    np.testing.assert_allclose(found, reduced(expected), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("seed", SEEDS)
def test_eq15_reduced_mass_matrix_holds_the_energy_about_the_centre_of_mass(seed):
    craft, q, v, _ = setting(seed)
    f, m = reduced(v), gs.total_mass(craft)
    v_cm = gs.momentum(craft, q, v)[3:] / m
    expected = gs.kinetic_energy(craft, q, v) - 0.5 * m * v_cm @ v_cm
    assert abs(0.5 * f @ lie.reduced_mass_matrix(craft, q) @ f - expected) < 1e-12 * abs(expected)
    np.testing.assert_allclose(lie.base_velocity(craft, q, f, v_cm), v[3:6], atol=1e-13)
    G = lie.linear_elimination(craft, q)
    assert np.abs((gs.mass_matrix(craft, q) @ G)[3:6]).max() < 1e-13 * np.abs(gs.mass_matrix(craft, q)).max()


@pytest.mark.parametrize("seed", SEEDS)
def test_eq30_reduced_coriolis_from_the_derivatives_of_the_reduced_mass_matrix(seed):
    """C~ = M~dot - 1/2 A~ + K~ with dM~ = dM_ff - dM_fv G - G^T dM_vf, -h^ for the attitude."""
    craft, q, v, _ = setting(seed)
    f, M, dM = reduced(v), lie.mass_matrix(craft, q), lie.mass_matrix_derivatives(craft, q)
    at = reduced(np.arange(craft.nv))
    G = M[3:6][:, at] / gs.total_mass(craft)
    d = np.array([dM[k][np.ix_(at, at)] - dM[k][at, 3:6] @ G - G.T @ dM[k][3:6][:, at] for k in at])
    M_t = M[np.ix_(at, at)] - M[at, 3:6] @ G
    K, p = np.zeros_like(M_t), M_t @ f
    for joint in craft.joints:
        where = np.flatnonzero(np.isin(at, np.arange(craft.nv)[joint.v_at]))
        H = joint.H(q)[:, : len(where)]  # of the free base: the attitude
        K[np.ix_(where, where)] = lie.gyroscopic(H, p[where])
    expected = np.einsum("kij,k->ij", d, f) - 0.5 * np.einsum("kij,j->ki", d, f) + K
    assert relative(lie.reduced_mass_matrix(craft, q), M_t) < 1e-13
    assert relative(lie.reduced_coriolis_matrix(craft, q, f), expected) < 1e-12


@pytest.mark.parametrize("seed", SEEDS)
def test_reduced_coriolis_choices_keep_their_guarantees(seed):
    craft, q, v, _ = setting(seed)
    f = reduced(v)
    C = {choice: lie.reduced_coriolis_matrix(craft, q, f, choice=choice) for choice in ("lie", "skew", "christoffel")}
    d = lie.mass_matrix_derivatives(craft, q)
    N = lie.linear_elimination(craft, q)
    Mdot = sum(N.T @ d[k] @ N * rate for k, rate in enumerate(v))
    scale = np.abs(Mdot).max()
    for choice in ("skew", "christoffel"):
        assert relative(C[choice] @ f, C["lie"] @ f) < 1e-12
        defect = Mdot - 2 * C[choice]
        assert np.abs(defect + defect.T).max() < 1e-12 * scale


@pytest.mark.parametrize("seed", SEEDS)
def test_printed_eqs28_39_40_are_the_craft_with_its_base_pinned(seed):
    """Negative: H = [1; 0] in (9)-(10) gives the pinned base's mass matrix exactly, not the floating one's, nor its
    motion.
    """
    craft, q, v, tau = setting(seed, links=5)
    held, q_held, f = pinned(craft), np.delete(q, [4, 5, 6]), reduced(v)
    at = reduced(np.arange(craft.nv))
    naive = lie.mass_matrix(craft, q)[np.ix_(at, at)]
    assert relative(naive, gs.mass_matrix(held, q_held)) < 1e-14
    floating = lie.reduced_mass_matrix(craft, q)
    assert np.abs(naive - floating).max() > 1e-2 * np.abs(floating).max()
    tau[3:6] = 0
    true = reduced(gs.forward_dynamics(craft, q, v, tau))
    wrong = lie.forward_dynamics(held, q_held, f, reduced(tau))
    assert np.abs(wrong - true).max() > 1e-2 * np.abs(true).max()


def momentum_in_base(craft, q, v):
    h = gs.momentum(craft, q, v, about=gs.center_of_mass(craft, q))[:3]
    return gs.forward_kinematics(craft, q).R_NB[0].T @ h


@pytest.mark.parametrize("seed", SEEDS)
def test_joint_dynamics_at_any_momentum(seed):
    craft, q, v, tau = setting(seed)
    tau[:6] = 0
    h_B = momentum_in_base(craft, q, v)
    assert np.linalg.norm(h_B) > 1
    expected = gs.forward_dynamics(craft, q, v, tau)
    np.testing.assert_allclose(lie.joint_dynamics(craft, q, v[6:], tau[6:], h_B), expected[6:], rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(lie.base_rate(craft, q, v[6:], h_B), v[:3], atol=1e-13)


@pytest.mark.parametrize("seed", SEEDS)
def test_joint_dynamics_is_the_lagrange_poincare_equation(seed):
    """Mr qdd + Mrdot qd - 1/2 d(qd Mr qd) - 1/2 xi dI xi + (Adot - d(A qd))^T h + A^T (h x w) = tau, from derivatives
    of M~.
    """
    craft = chain(seed, ["revolute", "prismatic", "revolute", "cylindrical"])
    q, v = random_state(craft, seed)
    qd, h = v[6:], np.random.default_rng(seed).normal(size=3)
    N, dM = lie.linear_elimination(craft, q), lie.mass_matrix_derivatives(craft, q)
    M, d = lie.reduced_mass_matrix(craft, q), np.array([N.T @ x @ N for x in dM[6:]])
    inertia, M_wq = M[:3, :3], M[:3, 3:]
    A, xi = np.linalg.solve(inertia, M_wq), np.linalg.solve(inertia, h)
    w = xi - A @ qd
    dA = np.array([np.linalg.solve(inertia, x[:3, 3:] - x[:3, :3] @ A) for x in d])
    dMr = np.array([x[3:, 3:] - x[3:, :3] @ A - A.T @ x[:3, 3:] + A.T @ x[:3, :3] @ A for x in d])
    bias = np.einsum("kij,k,j->i", dMr, qd, qd) - 0.5 * np.einsum("kij,i,j->k", dMr, qd, qd)
    bias += -0.5 * np.einsum("kij,i,j->k", d[:, :3, :3], xi, xi) + A.T @ np.cross(h, w)
    bias += np.einsum("kij,k->ij", dA, qd).T @ h - np.einsum("kij,j,i->k", dA, qd, h)
    Mr = M[3:, 3:] - M_wq.T @ A
    assert relative(lie.joint_mass_matrix(craft, q), Mr) < 1e-12
    found = lie.joint_dynamics(craft, q, qd, 0 * qd, h)
    assert relative(Mr @ found, -bias) < 1e-12
    Cr = np.einsum("kij,k->ij", dMr, qd) - 0.5 * np.einsum("kij,j->ki", dMr, qd)  # (32')
    assert relative(lie.joint_coriolis_matrix(craft, q, qd), Cr) < 1e-12


@pytest.mark.parametrize("seed", SEEDS)
def test_eqs18_31_32_hold_at_zero_momentum_and_only_there(seed):
    """Zero linear momentum alone, as printed, is not enough."""
    craft, q, v, tau = setting(seed)
    tau[:6] = 0
    qd = v[6:]
    Mr, Cr = lie.joint_mass_matrix(craft, q), lie.joint_coriolis_matrix(craft, q, qd)
    v_zero = lie.linear_elimination(craft, q) @ lie.angular_elimination(craft, q) @ qd
    P = gs.momentum(craft, q, v_zero, about=gs.center_of_mass(craft, q))
    assert np.abs(P).max() < 1e-12 * np.abs(gs.mass_matrix(craft, q)).max()
    at_rest = gs.forward_dynamics(craft, q, v_zero, tau)[6:]
    np.testing.assert_allclose(Mr @ at_rest + Cr @ qd, tau[6:], atol=1e-11 * max(1, np.abs(Mr).max()))
    f = np.concatenate([lie.base_rate(craft, q, qd, [5.0, -3.0, 4.0]), qd])
    spinning = gs.forward_dynamics(craft, q, lie.linear_elimination(craft, q) @ f, tau)[6:]
    assert np.abs(Mr @ spinning + Cr @ qd - tau[6:]).max() > 1e-4


def test_a_base_that_is_not_free_is_refused():
    craft = random_spacecraft(1, kinds=("revolute",), base="planar")
    q, v = random_state(craft, 1)
    for call in (
        lambda: lie.reduced_mass_matrix(craft, q),
        lambda: lie.reduced_force(craft, q, v),
        lambda: lie.joint_mass_matrix(craft, q),
    ):
        with pytest.raises(ValueError, match="on a planar joint"):
            call()


def test_arguments_of_the_wrong_shape_are_refused():
    craft, q, v, tau = setting(0)
    with pytest.raises(ValueError, match=r"f has shape .*; expected"):
        lie.reduced_forward_dynamics(craft, q, v, tau)
    with pytest.raises(ValueError, match=r"tau_q has shape"):
        lie.joint_dynamics(craft, q, v[6:], tau)
