"""Locked and prescribed joints, section 3.4: the printed system (65)-(76) fails, the corrected one agrees with the
augmented form.
"""

from dataclasses import replace

import numpy as np
import pytest

import gyrostat as gs
from backward_error import backward_error, relative
from gyrostat.algebra import compose, cos, dq_adjoint, dq_adjoint_inverse, dq_cross, dq_from_pose
from gyrostat.formulations import dual_quaternion as dq
from gyrostat.formulations.dual_quaternion.kinematics import frames, motion_of_rates
from gyrostat.simulation import simulate
from random_trees import random_spacecraft, random_state

PAPER = ("revolute", "prismatic", "spherical", "cylindrical", "cartesian")


def case(seed, **options):
    craft = random_spacecraft(seed, **options)
    q, v = random_state(craft, seed + 100)
    rng = np.random.default_rng(seed)
    return craft, q, v, rng.normal(size=craft.nv), rng.normal(size=(craft.nbodies, 6)), rng


@pytest.mark.parametrize("seed", range(40))
def test_equation_61_any_number_of_prescribed_joints_against_hybrid_dynamics(seed):
    craft, q, v, tau, F, rng = case(seed)
    share = (0.2, 0.5, 1.0)[seed % 3]
    prescribed = {j.name: rng.normal(size=j.nv) for j in craft.joints if j.nv and rng.random() < share}
    found = dq.solve(craft, q, v, tau, wrenches=F, prescribed=prescribed)
    expected = gs.hybrid_dynamics(craft, q, v, tau, wrenches=F, prescribed=prescribed)
    assert relative(found.vdot, expected.vdot) < 1e-11
    assert relative(found.tau, expected.tau) < 1e-11
    for name, vdot in prescribed.items():
        np.testing.assert_array_equal(craft.joint_named(name).rate(found.vdot), vdot)
    W = gs.reaction_wrenches(craft, q, v, expected.vdot, wrenches=F)
    assert relative(found.reaction_wrenches, W) < 1e-11


@pytest.mark.parametrize("seed", range(20))
def test_holding_loads_fed_back_return_the_prescribed_acceleration(seed):
    craft, q, v, tau, F, rng = case(seed)
    prescribed = {j.name: rng.normal(size=j.nv) for j in craft.joints if j.nv and rng.random() < 0.5}
    held = dq.solve(craft, q, v, tau, wrenches=F, prescribed=prescribed)
    free = dq.solve(craft, q, v, held.tau, wrenches=F)
    assert backward_error(craft, q, v, held.tau, held.vdot, F) < 1e-12
    assert relative(free.vdot, held.vdot) < 1e-10
    assert relative(free.reaction_wrenches, held.reaction_wrenches) < 1e-10


@pytest.mark.parametrize("kind", [*PAPER, "universal", "planar", "free"])
def test_a_locked_joint_is_a_rigid_body(kind):
    """The joint at rest, held, against the same craft with the joint welded where it stands."""
    craft, q, v, tau, F, _ = case(7, kinds=("revolute", "prismatic", "spherical"), base="free", rotors=False, links=5)
    bodies = list(craft.bodies)
    bodies[2] = replace(bodies[2], joint=replace(bodies[2].joint, kind=kind, axis2=(0.0, 0.6, 0.8)))
    craft = gs.Spacecraft.build("locked", bodies)
    q, v = random_state(craft, 3)
    rng = np.random.default_rng(3)
    tau = rng.normal(size=craft.nv)
    joint, name = craft.bodies[2].joint, craft.bodies[2].name
    v[joint.v_at] = 0.0
    locked = dq.solve(craft, q, v, tau, wrenches=F, prescribed={joint.name: np.zeros(joint.nv)})
    X = joint.pose(q)
    welded_bodies = [
        replace(b, joint=replace(b.joint, kind="fixed", rotation=X.R, position=X.p)) if b.name == name else b
        for b in craft.bodies
    ]
    welded = gs.Spacecraft.build("welded", welded_bodies)
    out = np.arange(joint.v_at.start, joint.v_at.stop)
    q_welded = np.delete(q, np.arange(joint.q_at.start, joint.q_at.stop))
    rigid = dq.solve(welded, q_welded, np.delete(v, out), np.delete(tau, out), wrenches=F)
    assert relative(np.delete(locked.vdot, out), rigid.vdot) < 1e-11
    assert relative(locked.reaction_wrenches, rigid.reaction_wrenches) < 1e-11
    row = rigid.reaction_wrenches[craft.index(name)]
    assert relative(joint.rate(locked.tau), joint.H(q).T @ row) < 1e-11  # the holding load is the weld's


# ---- (65)-(76): one prescribed joint, substituted


def substituted(craft, q, v, tau, F, B, vdot, *, printed):
    """Matrix and right-hand side of (71) for the joint of body B, unknowns [ydot without B; T; W_act], printed or
    corrected.
    """
    tau = tau.copy()
    joint = craft.joint(B)
    tau[joint.v_at] = 0.0  # (67): W_act,i is left out of B1
    s, f = dq.assemble(craft, q, v, tau, wrenches=F), frames(craft, q, {})
    m, P, maps = motion_of_rates(craft, f, v), craft.body(B).parent, f.map[B]
    q_bi, q_ik = dq_from_pose(f.X_ib[B]), dq_from_pose(f.X_ki[B])
    b, k, i = s.body_at[B], s.body_at[P], s.joint_at[B]
    S11, S21, B1, B2 = s.S11.copy(), s.S21.copy(), s.B1.copy(), s.B2.copy()
    q_bk = dq_from_pose(compose(f.X_ki[B], f.X_ib[B]))
    if not printed:  # substitute (64): wdot_b = G wdot_k + c
        G = dq_adjoint_inverse(q_bk)
        w_joint_k = dq_adjoint(q_ik) @ m.w_joint[B]
        c = dq_adjoint_inverse(q_bi) @ (maps.H @ vdot) + G @ dq_cross(m.w[P], w_joint_k)
        for S, rhs in ((S11, B1), (S21, B2)):
            rhs -= S[:, b] @ c
            S[:, k] += S[:, b] @ G
    gone = np.arange(b.start, b.stop)
    S11, S21 = np.delete(S11, gone, axis=1), np.delete(S21, gone, axis=1)  # printed: nothing else happens
    act = np.zeros((len(B1), joint.nv))
    act[b] = -dq_adjoint_inverse(q_bi) @ maps.V_act  # (68)
    act[k] = dq_adjoint(q_ik) @ maps.V_act  # (69)
    reduce = maps.V_act if printed else np.hstack([maps.V_act, maps.V])
    Upsilon_b = reduce.T @ dq_adjoint(q_bi)  # (75), with j = i + 1
    rows = [np.eye(8)] * len(f.bodies)
    rows[[B_ for B_, _ in f.bodies].index(B)] = Upsilon_b
    Upsilon = np.zeros((sum(len(r) for r in rows), len(B1)))
    at = 0
    for n, r in enumerate(rows):
        Upsilon[at : at + len(r), 8 * n : 8 * n + 8] = r
        at += len(r)
    if not printed:  # the constraints of joint i have become 0 = 0
        held = np.arange(i.start, i.stop)
        S21, B2 = np.delete(S21, held, axis=0), np.delete(B2, held)
    R, d = s.S12.shape[1], joint.nv
    matrix = np.block(
        [[Upsilon @ S11, Upsilon @ s.S12, Upsilon @ act], [S21, np.zeros((len(B2), R)), np.zeros((len(B2), d))]]
    )
    return matrix, np.concatenate([Upsilon @ B1, B2]), s


def unknowns(craft, q, v, tau, F, B, vdot, solved):
    """The same unknowns from `solve`: dual accelerations of the bodies other than B, T, and W_act."""
    f = frames(craft, q, {})
    s = dq.assemble(craft, q, v, solved.tau, wrenches=F)  # the holding load is now an ordinary actuation
    z = np.linalg.solve(s.S, s.B)
    n = len(s.B1)
    b = s.body_at[B]
    return np.concatenate([np.delete(z[:n], np.arange(b.start, b.stop)), z[n:], craft.joint(B).rate(solved.tau)]), f


def prescribable(seed):
    craft, q, v, tau, F, rng = case(seed, kinds=PAPER, base="free", rotors=False, links=6)
    bodies = [B for B, P in craft.base_to_tip if P is not None]
    B = bodies[seed % len(bodies)]
    return craft, q, v, tau, F, B, rng.normal(size=craft.joint(B).nv)


@pytest.mark.parametrize("seed", range(12))
def test_equations_64_71_corrected_agree_with_the_augmented_form(seed):
    craft, q, v, tau, F, B, vdot = prescribable(seed)
    solved = dq.solve(craft, q, v, tau, wrenches=F, prescribed={craft.joint(B).name: vdot})
    expected, _ = unknowns(craft, q, v, tau, F, B, vdot, solved)
    matrix, rhs, s = substituted(craft, q, v, tau, F, B, vdot, printed=False)
    size = 8 * (len(s.body_at) - 1) + s.S12.shape[1] + craft.joint(B).nv  # (76)
    assert matrix.shape == (size, size)
    assert relative(np.linalg.solve(matrix, rhs), expected) < 1e-9


@pytest.mark.parametrize("seed", range(12))
def test_equations_65_68_70_71_76_as_printed_are_square_and_invertible_but_wrong(seed):
    craft, q, v, tau, F, B, vdot = prescribable(seed)
    solved = dq.solve(craft, q, v, tau, wrenches=F, prescribed={craft.joint(B).name: vdot})
    expected, _ = unknowns(craft, q, v, tau, F, B, vdot, solved)
    matrix, rhs, s = substituted(craft, q, v, tau, F, B, vdot, printed=True)
    size = 8 * (len(s.body_at) - 1) + s.S12.shape[1] + craft.joint(B).nv
    assert matrix.shape == (size, size)
    assert np.linalg.matrix_rank(matrix) == size
    printed = np.linalg.solve(matrix, rhs)
    assert relative(printed, expected) > 1e-2


@pytest.mark.parametrize("seed", range(12))
def test_equation_71_substituting_into_the_printed_rows_is_singular(seed):
    """(64) put into the constraints of joint i gives 0 = 0: the rank drops by the number of its reactions."""
    craft, q, v, tau, F, B, _ = prescribable(seed)
    f, s = frames(craft, q, {}), dq.assemble(craft, q, v, tau, wrenches=F)
    P = craft.body(B).parent
    G = dq_adjoint_inverse(dq_from_pose(compose(f.X_ki[B], f.X_ib[B])))
    b, k, i = s.body_at[B], s.body_at[P], s.joint_at[B]
    S21 = s.S21.copy()
    S21[:, k] += S21[:, b] @ G
    held = np.delete(S21[i], np.arange(b.start, b.stop), axis=1)
    np.testing.assert_allclose(held, np.zeros(held.shape), atol=1e-13)
    assert len(held) == 6 - craft.joint(B).nv


def test_several_prescribed_joints_of_all_types_in_simulation():
    """Five joints of the five types follow sines at once; two more swing freely. Momentum, and the joints' positions,
    are kept.
    """
    kinds = ["revolute", "prismatic", "spherical", "cylindrical", "cartesian", "revolute", "revolute"]
    rng = np.random.default_rng(5)
    bodies = [gs.Body("base", 20.0, inertia=(8, 9, 10))]
    for k, kind in enumerate(kinds):
        parent = ["base", "b0", "b1", "base", "b3", "b4", "b2"][k]
        joint = gs.Joint(f"j{k}", kind, parent, rng.normal(scale=0.5, size=3), axis=rng.normal(size=3))
        bodies.append(gs.Body(f"b{k}", 2.0, rng.normal(scale=0.3, size=3), (0.4, 0.5, 0.6), joint))
    craft = gs.Spacecraft.build("all types", bodies)
    driven = [craft.joint_named(f"j{k}") for k in range(5)]
    amplitude = {j.name: rng.normal(scale=0.3, size=j.nv) for j in driven}
    follow = {name: lambda t, a=a: a * cos(1.3 * t) for name, a in amplitude.items()}
    q, v = gs.neutral(craft), np.zeros(craft.nv)
    v[:6] = 0.1 * rng.normal(size=6)
    traj = simulate(craft, q, v, (0, 5), formulation="dual_quaternion", prescribed=follow, rtol=1e-12, atol=1e-13)
    h = traj.momentum()
    assert np.abs(h - h[0]).max() < 1e-10
    q1, v1 = traj.final
    t = traj.time[-1]
    for j in driven:
        np.testing.assert_allclose(v1[j.v_at], amplitude[j.name] * np.sin(1.3 * t) / 1.3, atol=1e-10)
    j = driven[0]
    np.testing.assert_allclose(q1[j.q_at], amplitude[j.name] * (1 - np.cos(1.3 * t)) / 1.3**2, atol=1e-10)
    accelerations = {name: a * np.cos(1.3 * t) for name, a in amplitude.items()}
    solved = dq.solve(craft, q1, v1, np.zeros(craft.nv), prescribed=accelerations)
    # holding loads, and reactions, come out of a simulation
    np.testing.assert_allclose(traj.tau[-1], solved.tau, atol=1e-9)
    np.testing.assert_allclose(traj.reaction_wrenches().values[-1], solved.reaction_wrenches, atol=1e-9)
