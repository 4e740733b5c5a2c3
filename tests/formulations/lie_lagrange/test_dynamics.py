"""M, C and accelerations against the recursive formulation and Pinocchio; what each Coriolis matrix guarantees."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from backward_error import backward_error, relative
from exact import TINY, exact, exact_craft, floats
from gyrostat.algebra import cross_force, cross_motion_matrix, twist_to_child
from gyrostat.formulations import lie_lagrange as lie
from gyrostat.formulations.lie_lagrange.base_frame import base_frame, momentum_cross, motion
from gyrostat.tracing import compile
from gyrostat.verification.peers.shared import swapped
from lie_crafts import paper_ad, tree
from random_trees import random_spacecraft, random_state

CHOICES = ("christoffel", "skew", "lie")


@pytest.mark.parametrize("seed", range(20))
def test_accelerations_solve_the_equation_of_motion(seed):
    craft = tree(seed)
    q, v = random_state(craft, seed)
    rng = np.random.default_rng(seed)
    tau, wrenches = 10 * rng.normal(size=craft.nv), rng.normal(size=(craft.nbodies, 6))
    vdot = lie.forward_dynamics(craft, q, v, tau, wrenches=wrenches)
    assert backward_error(craft, q, v, tau, vdot, wrenches) < 1e-12
    np.testing.assert_allclose(vdot, gs.forward_dynamics(craft, q, v, tau, wrenches=wrenches), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_prescribed_joints_follow(seed):
    craft = tree(seed)
    q, v = random_state(craft, seed)
    tau = np.random.default_rng(seed).normal(size=craft.nv)
    moving = [joint for joint in craft.joints[1:] if joint.nv]
    prescribed = {joint.name: np.arange(1.0, 1 + joint.nv) for joint in moving[::2]}
    vdot = lie.forward_dynamics(craft, q, v, tau, prescribed=prescribed)
    np.testing.assert_allclose(vdot, gs.forward_dynamics(craft, q, v, tau, prescribed=prescribed), rtol=1e-9, atol=1e-9)
    every = {joint.name: np.ones(joint.nv) for joint in craft.joints if joint.nv}
    np.testing.assert_array_equal(lie.forward_dynamics(craft, q, v, tau, prescribed=every), np.ones(craft.nv))


@pytest.mark.parametrize("seed", range(8))
def test_eqs8_to_11_against_pinocchio(seed):
    """M = CRBA, C v = RNEA at zero acceleration, acceleration = ABA."""
    craft = tree(seed, base="free")
    q, v = random_state(craft, seed)
    tau = np.random.default_rng(seed).normal(size=craft.nv)
    pytest.importorskip("pinocchio")
    from gyrostat.verification.peers.pinocchio import Pinocchio

    peer = Pinocchio(craft)
    M, bias = peer.mass_matrix(q), peer.bias_force(q, v)
    assert relative(lie.mass_matrix(craft, q), M) < 1e-13
    for choice in CHOICES:
        assert relative(gs.coriolis_matrix(craft, q, v, choice=choice) @ v, bias) < 1e-13
    assert relative(lie.bias_force(craft, q, v), bias) < 1e-13
    assert lie.kinetic_energy(craft, q, v) == pytest.approx(peer.kinetic_energy(q, v), rel=1e-12)
    np.testing.assert_allclose(
        lie.forward_dynamics(craft, q, v, tau), peer.forward_dynamics(q, v, tau), rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("base", ["fixed", "spherical", "planar", "revolute", "cartesian"])
def test_eq3_bases_with_fewer_degrees_of_freedom(base):
    """The selection matrix H is the base joint's map: attitude only, planar air bearing, none."""
    craft = tree(11, base=base, links=5)
    q, v = random_state(craft, 2)
    tau = np.random.default_rng(1).normal(size=craft.nv)
    frame = base_frame(craft, q)
    H = craft.bodies[0].joint.H(q)
    np.testing.assert_array_equal(frame.S["base"], H)
    np.testing.assert_allclose(motion(craft, frame, v).V["base"], H @ v[craft.bodies[0].joint.v_at], atol=1e-15)
    assert relative(lie.mass_matrix(craft, q), gs.mass_matrix(craft, q)) < 1e-13
    assert backward_error(craft, q, v, tau, lie.forward_dynamics(craft, q, v, tau)) < 1e-12


@pytest.mark.parametrize("seed", range(4))
def test_eq4_link_twists_are_the_rates_of_their_poses(seed):
    """V_i = Ad_ib (H V + J_i qdot) against g^-1 gdot from poses, to thirty digits."""
    craft = tree(seed, links=4)
    q, v = (exact(x) for x in random_state(craft, seed))
    craft = exact_craft(craft)
    frame = base_frame(craft, q)
    moving = motion(craft, frame, v)
    qdot = gs.configuration_rate(craft, q, v)
    here, later, before = (gs.forward_kinematics(craft, q + s * TINY * qdot) for s in (0, 1, -1))
    for i, (B, _) in enumerate(craft.base_to_tip):
        if craft.joint(B).kind == "wheel":
            continue  # its frame stays with the carrier
        R = here.R_NB[i]
        W = R.T @ (later.R_NB[i] - before.R_NB[i]) / (2 * TINY)
        found = np.concatenate([[W[2, 1], W[0, 2], W[1, 0]], R.T @ (later.p_NB[i] - before.p_NB[i]) / (2 * TINY)])
        np.testing.assert_allclose(floats(twist_to_child(frame.X[B], moving.V[B])), floats(found), atol=1e-15)


def mdot(craft, q, v):
    """dM/dt from M itself, by differences exact to thirty digits."""
    craft, q, v = exact_craft(craft), exact(q), exact(v)
    qdot = gs.configuration_rate(craft, q, v)
    return floats((gs.mass_matrix(craft, q + TINY * qdot) - gs.mass_matrix(craft, q - TINY * qdot)) / (2 * TINY))


@pytest.mark.parametrize("seed", range(6))
def test_what_each_coriolis_matrix_guarantees(seed):
    craft = tree(seed)
    q, v = random_state(craft, seed)
    rng = np.random.default_rng(seed)
    Mdot, bias = mdot(craft, q, v), gs.bias_force(craft, q, v)
    scale = max(np.abs(Mdot).max(), np.abs(bias).max())
    for choice in CHOICES:
        C = gs.coriolis_matrix(craft, q, v, choice=choice)
        assert np.abs(C @ v - bias).max() < 1e-12 * scale
        assert abs(v @ (Mdot - 2 * C) @ v) < 1e-12 * scale * (v @ v)
        x, y = rng.normal(size=(2, craft.nv))
        defect = abs(x @ (Mdot - 2 * C) @ y + y @ (Mdot - 2 * C) @ x)
        if choice == "lie":
            assert defect > 1e-3 * scale  # (26') is not skew
        else:
            assert defect < 1e-12 * scale * np.linalg.norm(x) * np.linalg.norm(y)


@pytest.mark.parametrize("seed", range(4))
def test_christoffel_choice_is_free_of_torsion(seed):
    """C(v) u - C(u) v = M [v, u], rotors apart; the skew choice is not so."""
    craft = random_spacecraft(seed, kinds=("revolute", "spherical", "prismatic", "planar"), base="free", rotors=False)
    q, v = random_state(craft, seed)
    u = np.random.default_rng(seed).normal(size=craft.nv)
    bracket = np.zeros(craft.nv)
    for joint in craft.joints:
        H = joint.H(q)
        bracket[joint.v_at] = H.T @ (cross_motion_matrix(H @ v[joint.v_at]) @ (H @ u[joint.v_at]))
    expected = gs.mass_matrix(craft, q) @ bracket

    def torsion(choice):
        found = gs.coriolis_matrix(craft, q, v, choice=choice) @ u - gs.coriolis_matrix(craft, q, u, choice=choice) @ v
        return np.abs(found - expected).max() / np.abs(expected).max()

    assert torsion("christoffel") < 1e-12
    assert torsion("skew") > 1e-3


def test_christoffel_and_skew_agree_where_rates_are_derivatives_of_coordinates():
    craft = random_spacecraft(5, kinds=("revolute", "prismatic", "cartesian", "cylindrical"), base="fixed")
    q, v = random_state(craft, 1)
    C = gs.coriolis_matrix(craft, q, v, choice="christoffel")
    np.testing.assert_allclose(gs.coriolis_matrix(craft, q, v, choice="skew"), C, atol=1e-13 * np.abs(C).max())


def test_unknown_choice_is_refused():
    craft = tree(0)
    q, v = random_state(craft, 0)
    with pytest.raises(ValueError, match="'christoffel', 'skew' or 'lie'"):
        gs.coriolis_matrix(craft, q, v, choice="coriolis")


@pytest.mark.parametrize("seed", range(4))
def test_eq22_base_momentum_obeys_kirchhoff(seed):
    """With no load on the base, P = (M v)_V, d/dt P = ad_V^T P, whatever the joints do."""
    craft = tree(seed, base="free")
    q, v = random_state(craft, seed)
    tau = np.random.default_rng(seed).normal(size=craft.nv)
    tau[:6] = 0
    vdot = lie.forward_dynamics(craft, q, v, tau)
    P = (lie.mass_matrix(craft, q) @ v)[:6]
    Pdot = (mdot(craft, q, v) @ v + lie.mass_matrix(craft, q) @ vdot)[:6]
    expected = cross_motion_matrix(v[:6]).T @ P
    np.testing.assert_allclose(Pdot, expected, atol=1e-11 * np.abs(expected).max())
    K = momentum_cross(P)
    np.testing.assert_allclose(K @ v[:6], cross_force(v[:6], P), atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("seed", range(3))
def test_printed_eqs22_26_and_c5_break_energy_and_momentum(seed):
    """-ad_P in place of K(P), in the paper's own order: the base rows of C v are wrong and work is made from
    nothing.
    """
    craft = tree(seed, base="free")
    q, v = random_state(craft, seed)
    parts = lie.coriolis_parts(craft, q, v)
    P = (lie.mass_matrix(craft, q) @ v)[:6]
    printed = parts.Mdot - 0.5 * parts.A + parts.K
    # rows and columns back to angular first
    printed[:6, :6] += -parts.K[:6, :6] - swapped(swapped(paper_ad(swapped(P))).T).T
    error = printed @ v - gs.bias_force(craft, q, v)
    (h, p), (w, velocity) = P.reshape(2, 3), v[:6].reshape(2, 3)
    scale = np.abs(P).max() * np.abs(v).max()
    np.testing.assert_allclose(error[3:6], -np.cross(h, velocity), atol=1e-12 * scale)  # force that is not there
    np.testing.assert_allclose(error[:3], np.cross(p, velocity), atol=1e-12 * scale)  # moment that is missing
    np.testing.assert_allclose(error[6:], 0, atol=1e-12 * scale)
    work = v @ (parts.Mdot - 2 * printed) @ v
    assert abs(work) > 1e-4 * scale and abs(work + 2 * w @ np.cross(p, velocity)) < 1e-12 * scale * np.linalg.norm(v)


def test_compiled_functions_agree_with_numpy():
    """Traced with dispersed mass properties; batch of three."""
    craft = tree(3, base="free", links=5)
    q, v = (np.array(x) for x in zip(*(random_state(craft, seed) for seed in range(3)), strict=True))
    tau = np.random.default_rng(0).normal(size=v.shape)
    mass = np.array([3.0, 4.0, 5.0])
    kernel = compile(lie.forward_dynamics, craft, parameters=["body_1.mass"])
    found = kernel(q, v, tau, parameters={"body_1.mass": mass})
    for k in range(3):
        other = craft.with_values({"body_1.mass": mass[k]})
        np.testing.assert_allclose(found[k], lie.forward_dynamics(other, q[k], v[k], tau[k]), rtol=1e-11, atol=1e-11)
    for choice in CHOICES:
        kernel = compile(gs.coriolis_matrix, craft, static={"choice": choice})
        for k in range(3):
            C = gs.coriolis_matrix(craft, q[k], v[k], choice=choice)
            np.testing.assert_allclose(kernel(q[k], v[k]), C, atol=1e-12 * np.abs(C).max())
    kernel = compile(lie.joint_dynamics, craft, inputs={"qd": (craft.nv - 6,), "tau_q": (craft.nv - 6,), "h_B": (3,)})
    expected = lie.joint_dynamics(craft, q[0], v[0, 6:], tau[0, 6:], [1.0, 2.0, 3.0])
    np.testing.assert_allclose(
        kernel(q[0], v[0, 6:], tau[0, 6:], np.array([1.0, 2.0, 3.0])), expected, rtol=1e-11, atol=1e-11
    )


def test_skew_and_lie_agree_for_one_rigid_body():
    body = gs.Spacecraft.build("body", [gs.Body("b", 7.0, (0.1, 0.2, -0.3), (3.0, 0.2, -0.1, 4.0, 0.3, 5.0))])
    q, v = random_state(body, 1)
    C = {choice: gs.coriolis_matrix(body, q, v, choice=choice) for choice in CHOICES}
    np.testing.assert_allclose(C["skew"], C["lie"], atol=1e-14)
    assert np.abs(C["skew"] - C["christoffel"]).max() > 0.1
