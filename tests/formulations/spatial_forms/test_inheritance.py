"""Multibody systems and formations inherit form and skewness from their bodies; relative equations of a virtual
tree.
"""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from backward_error import backward_error, relative
from exact import exact, exact_craft, rate, size
from gyrostat.algebra import Pose, adjoint, cross_motion_matrix, inverse, rotation
from gyrostat.formulations import spatial_forms as forms
from gyrostat.formulations.spatial_forms.coriolis_matrices import SKEW
from gyrostat.tracing import compile
from random_trees import random_spacecraft, random_state

# ---- spacecraft with arms


@pytest.mark.parametrize("seed", range(16))
def test_accelerations_solve_the_equation_of_motion(seed):
    """Every joint kind, base, wheel and rotor."""
    craft = random_spacecraft(seed)
    q, v = random_state(craft, seed)
    rng = np.random.default_rng(seed)
    tau, wrenches = 10 * rng.normal(size=craft.nv), rng.normal(size=(craft.nbodies, 6))
    vdot = forms.forward_dynamics(craft, q, v, tau, wrenches=wrenches)
    assert backward_error(craft, q, v, tau, vdot, wrenches) < 1e-12
    assert relative(forms.mass_matrix(craft, q), gs.mass_matrix(craft, q)) < 1e-13
    assert relative(forms.bias_force(craft, q, v), gs.bias_force(craft, q, v)) < 1e-13


@pytest.mark.parametrize("seed", range(6))
def test_prescribed_joints_follow(seed):
    craft = random_spacecraft(seed)
    q, v = random_state(craft, seed)
    tau = np.random.default_rng(seed).normal(size=craft.nv)
    prescribed = {j.name: np.arange(1.0, 1 + j.nv) for j in craft.joints[1::2] if j.nv}
    vdot = forms.forward_dynamics(craft, q, v, tau, prescribed=prescribed)
    np.testing.assert_allclose(vdot, gs.forward_dynamics(craft, q, v, tau, prescribed=prescribed), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("choice", [*SKEW, "lie"])
@pytest.mark.parametrize("seed", range(4))
def test_coriolis_matrices(seed, choice):
    """C v is the bias; to thirty digits Mdot - 2C is skew where every body's is, and not for "lie"."""
    craft = random_spacecraft(seed, links=4)
    q, v = random_state(craft, seed)
    C = forms.coriolis_matrix(craft, q, v, choice=choice)
    assert relative(C @ v, gs.bias_force(craft, q, v)) < 1e-12
    craft, q, v = exact_craft(craft), exact(q), exact(v)
    N = rate(lambda q, _: forms.mass_matrix(craft, q), craft, q, v) - 2 * forms.coriolis_matrix(
        craft, q, v, choice=choice
    )
    skewness = size(N + N.T) / size(N)
    if choice == "lie":
        assert skewness > 1e-3
    else:
        assert skewness < 1e-30
    assert abs(float(v @ N @ v)) < 1e-28 * size(N)


def test_compiled():
    craft = random_spacecraft(2)
    q, v = random_state(craft, 2)
    tau = np.random.default_rng(2).normal(size=craft.nv)
    kernel = compile(forms.forward_dynamics, craft)
    np.testing.assert_allclose(kernel(q, v, tau), forms.forward_dynamics(craft, q, v, tau), rtol=1e-9, atol=1e-10)


def test_body_jacobian_rates_are_derivatives():
    """Jdot of every body, to thirty digits; a wheel's frame does not spin, so its columns are left out."""
    craft = random_spacecraft(7, links=5, kinds=("revolute", "universal", "spherical", "planar", "prismatic"))
    q, v = (exact(x) for x in random_state(craft, 7))
    craft = exact_craft(craft)
    here = forms.body_jacobians(craft, q, v)
    for B in here:
        seen = rate(lambda q, _, B=B: forms.body_jacobians(craft, q, v)[B].J, craft, q, v)
        assert size(seen - here[B].Jdot) < 1e-35


# ---- formations: (59)-(64)


@pytest.mark.parametrize("inertial", [False, True])
def test_eq60_to_64_stacked_equations(inertial):
    """Block by block what one dense system gives, and skew like every block of it (Proposition 4, corrected)."""
    rng = np.random.default_rng(3)
    crafts = [random_spacecraft(k, links=0, base="free") for k in range(5)]
    M = [craft.inertia(craft.base).matrix for craft in crafts]
    V, F = rng.normal(size=(2, 5, 6))
    eq = forms.stacked_equations(M, V, F, inertial_rates=inertial)
    dense_M, dense_C = np.zeros((30, 30)), np.zeros((30, 30))
    for k in range(5):
        at = slice(6 * k, 6 * k + 6)
        dense_M[at, at], dense_C[at, at] = M[k], eq.C[k]
    Vdot = np.linalg.solve(dense_M, F.ravel() - dense_C @ V.ravel())
    np.testing.assert_allclose(eq.acceleration().ravel(), Vdot, rtol=1e-9, atol=1e-10)
    N = eq.passivity()
    assert np.abs(N + np.swapaxes(N, 1, 2)).max() < 1e-12 * np.abs(N).max()
    assert eq.kinetic_energy() == pytest.approx(0.5 * V.ravel() @ dense_M @ V.ravel())
    assert eq.M.size + eq.C.size == 2 * 5 * 36


def test_proposition_4_as_printed_is_false():
    """Skew C_i with inertial rates: 𝓜' - 2𝓒 is not skew."""
    rng = np.random.default_rng(3)
    M = [random_spacecraft(k, links=0, base="free").inertia("base").matrix for k in range(3)]
    V = rng.normal(size=(3, 6))
    body = forms.stacked_equations(M, V, np.zeros((3, 6)))
    N = body._replace(inertial_rates=True).passivity()
    assert np.abs(N + np.swapaxes(N, 1, 2)).max() > 1e-2 * np.abs(N).max()


# ---- the virtual tree, section 4.1 of the digest


def formation(rigid=False):
    links = 0 if rigid else 3
    kinds = ("revolute", "prismatic", "spherical", "wheel")
    members = {f"craft {k}": random_spacecraft(k, links=links, kinds=kinds, base="free") for k in range(3)}
    states = {name: random_state(craft, 10 + k) for k, (name, craft) in enumerate(members.items())}
    return members, states


def poses(q):
    return Pose(rotation(q[:4]), q[4:7])


@pytest.mark.parametrize("leader", ["craft 0", "craft 2"])
def test_tree_state_and_back(leader):
    members, states = formation()
    tree = forms.virtual_tree(members, leader)
    q, v = forms.tree_state(members, leader, states)
    back = forms.member_states(members, leader, tree, q, v)
    for name, craft in members.items():
        np.testing.assert_allclose(back[name][1], states[name][1], atol=1e-13)
        here, there = gs.forward_kinematics(craft, back[name][0]), gs.forward_kinematics(craft, states[name][0])
        np.testing.assert_allclose(here.R_NB, there.R_NB, atol=1e-13)
        np.testing.assert_allclose(here.p_NB, there.p_NB, atol=1e-13)
    assert gs.kinetic_energy(tree, q, v) == pytest.approx(
        sum(gs.kinetic_energy(members[n], *states[n]) for n in members), rel=1e-12
    )


def test_tree_matrices_are_those_of_the_digest():
    """M_rel = A^T 𝓜 A and C_rel = A^T (𝓜 Adot + 𝓒 A), with A of identities and one column Ad_jL; Adot from Xdot = -ad
    X.
    """
    members, states = formation(rigid=True)
    names = list(members)
    tree = forms.virtual_tree(members, names[0])
    q, v = forms.tree_state(members, names[0], states)
    A, Adot, M, C = np.eye(18), np.zeros((18, 18)), np.zeros((18, 18)), np.zeros((18, 18))
    for k, name in enumerate(names):
        at = slice(6 * k, 6 * k + 6)
        M[at, at] = members[name].inertia("base").matrix
        C[at, at] = forms.coriolis(M[at, at], states[name][1])
        if k:
            X = adjoint(inverse(forms.relative_pose(poses(states[names[0]][0]), poses(states[name][0]))))
            A[at, :6], Adot[at, :6] = X, -cross_motion_matrix(v[at]) @ X
    np.testing.assert_allclose(A @ v, np.concatenate([states[n][1] for n in names]), atol=1e-12)
    assert relative(gs.mass_matrix(tree, q), A.T @ M @ A) < 1e-12
    assert relative(forms.coriolis_matrix(tree, q, v), A.T @ (M @ Adot + C @ A)) < 1e-12


def test_adjoint_rate():
    """Xdot = -ad_Theta X, to thirty digits."""
    members, states = formation(rigid=True)
    tree = forms.virtual_tree(members, "craft 0")
    q, v = (exact(x) for x in forms.tree_state(members, "craft 0", states))
    follower = tree.joint_named("craft 1/base_joint")
    craft = exact_craft(tree)

    def X(q, _):
        return adjoint(inverse(poses(q[follower.q_at])))

    expected = -cross_motion_matrix(v[follower.v_at]) @ X(q, v)
    assert size(rate(X, craft, q, v) - expected) < 1e-35


@pytest.mark.parametrize("leader", ["craft 0", "craft 1"])
def test_relative_accelerations(leader):
    """Tree dynamics, the explicit formula, and members on their own say the same, arms and wheels included."""
    members, states = formation()
    tree = forms.virtual_tree(members, leader)
    q, v = forms.tree_state(members, leader, states)
    rng = np.random.default_rng(4)
    own = {name: rng.normal(size=(craft.nbodies, 6)) for name, craft in members.items()}
    loads = {name: rng.normal(size=craft.nv) for name, craft in members.items()}
    alone = {
        n: gs.forward_dynamics(c, *states[n], np.concatenate([np.zeros(6), loads[n][6:]]), wrenches=own[n])
        for n, c in members.items()
    }
    of_body = {f"{n}/{body.name}": own[n][k] for n, c in members.items() for k, body in enumerate(c.bodies)}
    wrenches = np.array([of_body[body.name] for body in tree.bodies])
    tau = np.zeros(tree.nv)
    for name, craft in members.items():
        for joint in craft.joints[1:]:
            tau[tree.joint_named(f"{name}/{joint.name}").v_at] = loads[name][joint.v_at]
    for solve in (gs.forward_dynamics, forms.forward_dynamics):
        vdot = solve(tree, q, v, tau, wrenches=wrenches)
        for name, craft in members.items():
            base = tree.joint_named(f"{name}/{craft.joints[0].name}")
            expected = alone[name][:6]
            if name != leader:
                X_L, X_j = poses(states[leader][0]), poses(states[name][0])
                expected = forms.relative_acceleration(
                    forms.relative_pose(X_L, X_j), states[leader][1][:6], v[base.v_at], alone[leader][:6], expected
                )
            np.testing.assert_allclose(vdot[base.v_at], expected, rtol=1e-8, atol=1e-9)
            for joint in craft.joints[1:]:
                here = tree.joint_named(f"{name}/{joint.name}")
                np.testing.assert_allclose(vdot[here.v_at], alone[name][joint.v_at], rtol=1e-8, atol=1e-9)


def test_tree_passivity():
    """Mdot_rel - 2 C_rel is skew, to thirty digits."""
    members, states = formation()
    tree = forms.virtual_tree(members, "craft 1")
    q, v = (exact(x) for x in forms.tree_state(members, "craft 1", states))
    craft = exact_craft(tree)
    N = rate(lambda q, _: forms.mass_matrix(craft, q), craft, q, v) - 2 * forms.coriolis_matrix(craft, q, v)
    assert size(N + N.T) < 1e-30 * size(N)


def test_a_virtual_leader_is_a_moving_frame():
    """Prescribed to accelerate, it carries nobody: every member's own acceleration is as if it were not there."""
    members, states = formation()
    rng = np.random.default_rng(8)
    frame = (np.concatenate([rng.normal(size=4), rng.normal(size=3)]), rng.normal(size=6))
    frame[0][:4] /= np.linalg.norm(frame[0][:4])
    tree = forms.virtual_tree(members, "point", virtual_leader=True)
    q, v = forms.tree_state(members, "point", states, root=frame)
    A = rng.normal(size=6)
    vdot = gs.forward_dynamics(tree, q, v, np.zeros(tree.nv), prescribed={"point/frame": A})
    for name, craft in members.items():
        alone = gs.forward_dynamics(craft, *states[name], np.zeros(craft.nv))[:6]
        base = tree.joint_named(f"{name}/{craft.joints[0].name}")
        X = forms.relative_pose(poses(frame[0]), poses(states[name][0]))
        expected = forms.relative_acceleration(X, frame[1], v[base.v_at], A, alone)
        np.testing.assert_allclose(vdot[base.v_at], expected, rtol=1e-8, atol=1e-8)


def test_bad_formations_are_refused_by_name():
    members, _ = formation()
    with pytest.raises(ValueError, match="leader 'craft 9' is no member; the members are craft 0"):
        forms.virtual_tree(members, "craft 9")
    with pytest.raises(ValueError, match="virtual leader 'craft 1' has the name of a member"):
        forms.virtual_tree(members, "craft 1", virtual_leader=True)
    members["held"] = random_spacecraft(1, base="fixed")
    with pytest.raises(ValueError, match="member 'held' .* fixed base joint; a member of a formation must float"):
        forms.virtual_tree(members, "craft 0")
