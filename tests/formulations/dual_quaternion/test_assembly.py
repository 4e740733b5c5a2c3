"""The system (50)-(60): its blocks, its symmetry, and its dense solutions."""

import numpy as np
import pytest

from backward_error import relative
from gyrostat.algebra import DQ_SWAP, dq_adjoint, dq_adjoint_inverse, dq_cross, dq_from_pose, dual_inertia, unswapped
from gyrostat.formulations import dual_quaternion as dq
from gyrostat.formulations.dual_quaternion.kinematics import frames, motion_of_rates
from gyrostat.formulations.dual_quaternion.loads import known_wrench
from gyrostat.formulations.dual_quaternion.paper.assembly import solution
from gyrostat.kinematics.arguments import Acting
from random_trees import random_spacecraft, random_state

PAPER = ("revolute", "prismatic", "spherical", "cylindrical", "cartesian")
SEEDS = range(10)


def case(seed, kinds=PAPER, **options):
    craft = random_spacecraft(seed, kinds=kinds, **({"base": "free", "rotors": False} | options))
    q, v = random_state(craft, seed + 100)
    rng = np.random.default_rng(seed)
    return craft, q, v, rng.normal(size=craft.nv), rng.normal(size=(craft.nbodies, 6))


@pytest.mark.parametrize("seed", SEEDS)
def test_equations_51_to_54_blocks_stand_where_the_incidence_matrix_says(seed):
    """By dual quaternions as printed: Ad = [[q]]_L [[q*]]_R."""
    craft, q, v, tau, F = case(seed)
    system, f, C = dq.assemble(craft, q, v, tau, wrenches=F), frames(craft, q, {}), dq.incidence_matrix(craft)
    names = [B for B, _ in f.bodies]
    assert not system.S22.any()  # (52)
    for b, B in enumerate(names):
        at = system.body_at[B]
        np.testing.assert_array_equal(system.S11[at, at], unswapped(f.M[B]))  # (51)
        R = f.map[B].R_Bi
        np.testing.assert_allclose(
            f.M[B], dual_inertia(craft.body(B).mass, R.T @ craft.body(B).inertia @ R), atol=1e-14
        )
        off = np.delete(system.S11[at], np.arange(at.start, at.stop), axis=1)
        assert not off.any()
        for j, row in enumerate(C):
            joint = names[j + 1]  # joint j is that of body j + 1
            its, maps = system.joint_at[joint], f.map[joint]
            q_bi, q_ik = dq_from_pose(f.X_ib[joint]), dq_from_pose(f.X_ki[joint])
            S12, S21 = {
                1: (-dq_adjoint_inverse(q_bi) @ maps.V, maps.Lambda @ dq_adjoint(q_bi)),
                0: (np.zeros(maps.V.shape), np.zeros(maps.Lambda.shape)),
                -1: (dq_adjoint(q_ik) @ maps.V, -maps.Lambda @ dq_adjoint_inverse(q_ik)),
            }[row[b]]
            np.testing.assert_allclose(system.S12[at, its], S12, atol=1e-14)  # (53)
            np.testing.assert_allclose(system.S21[its, at], S21, atol=1e-14)  # (54)
    assert sum(system.S12.shape) == 8 * len(names) + sum(6 - craft.joint(B).nv for B in names)


@pytest.mark.parametrize("seed", SEEDS)
def test_equations_55_56_right_hand_sides(seed):
    craft, q, v, tau, F = case(seed)
    system, f = dq.assemble(craft, q, v, tau, wrenches=F), frames(craft, q, {})
    m = motion_of_rates(craft, f, v)
    ext = {body.name: row for body, row in zip(craft.bodies, F, strict=True)}
    for B, P in f.bodies:
        expected = known_wrench(craft, f, m, B, Acting(tau, ext, {}))
        for child, parent in f.bodies:
            W_act = f.map[child].V_act @ craft.joint(child).rate(tau)
            if parent == B:
                expected = expected - dq_adjoint(dq_from_pose(f.X_ki[child])) @ W_act
            if child == B:
                expected = expected + dq_adjoint_inverse(dq_from_pose(f.X_ib[child])) @ W_act
        np.testing.assert_allclose(system.B1[system.body_at[B]], expected, atol=1e-12)  # (55)
        if P is not None:  # (56): Lambda multiplies the whole cross product
            both = dq_adjoint_inverse(dq_from_pose(f.X_ki[B]))
            printed = f.map[B].Lambda @ dq_cross(both @ m.w[P], m.w_joint[B])
            shifted = f.map[B].Lambda @ both @ dq_cross(m.w[P], dq_adjoint(dq_from_pose(f.X_ki[B])) @ m.w_joint[B])
            np.testing.assert_allclose(system.B2[system.joint_at[B]], printed, atol=1e-12)
            np.testing.assert_allclose(system.B2[system.joint_at[B]], shifted, atol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_equations_57_to_60_schur_complement(seed):
    """The printed inverse (58) and solution (60), literally, against the elimination."""
    craft, q, v, tau, F = case(seed)
    s = dq.assemble(craft, q, v, tau, wrenches=F)
    S11inv = np.linalg.inv(s.S11)
    complement = -s.S21 @ S11inv @ s.S12
    Cinv = np.linalg.inv(complement)
    top = S11inv + S11inv @ s.S12 @ Cinv @ s.S21 @ S11inv
    Sinv = np.block([[top, -S11inv @ s.S12 @ Cinv], [-Cinv @ s.S21 @ S11inv, Cinv]])  # (58)
    assert relative(Sinv @ s.S, np.eye(len(s.S))) < 1e-9
    T = np.linalg.solve(s.S21 @ S11inv @ s.S12, s.S21 @ S11inv @ s.B1 - s.B2)
    ydot = S11inv @ (s.B1 - s.S12 @ T)  # (60)
    found = solution(craft, q, v, tau, s, ydot, T, wrenches=F)
    expected = dq.solve(craft, q, v, tau, wrenches=F)
    for a, b in zip(found, expected, strict=True):
        assert relative(a, b) < 1e-9


@pytest.mark.parametrize("seed", SEEDS)
def test_symmetric_form_is_positive_definite_and_sparse(seed):
    craft, q, v, tau, _ = case(seed, links=7)
    s = dq.assemble(craft, q, v, tau)
    n = len(s.body_at)
    X = np.kron(np.eye(n), DQ_SWAP)
    np.testing.assert_allclose(s.S21, -s.Pi @ s.S12.T @ X, atol=1e-14)
    np.testing.assert_array_equal(s.Pi @ s.Pi.T, np.eye(len(s.Pi)))
    A, _ = dq.schur_complement(s)
    np.testing.assert_allclose(A, A.T, atol=1e-12 * np.abs(A).max())
    assert np.linalg.eigvalsh(A)[0] > 0
    C = np.abs(dq.incidence_matrix(craft))
    bodies = list(s.joint_at)[1:]
    for i, a in enumerate(bodies):
        for j, b in enumerate(bodies):
            if not C[i] @ C[j]:  # no body in common
                assert not A[s.joint_at[a], s.joint_at[b]].any()


@pytest.mark.parametrize("seed", SEEDS)
def test_the_matrix_depends_on_the_joint_coordinates_only(seed):
    craft, q, v, tau, F = case(seed)
    q2, v2 = random_state(craft, seed + 999)
    base = craft.joint(craft.base).q_at
    q2[base.stop :] = q[base.stop :]
    a, b = dq.assemble(craft, q, v, tau).S, dq.assemble(craft, q2, v2, 2 * tau, wrenches=F).S
    np.testing.assert_allclose(a, b, atol=1e-14)


@pytest.mark.parametrize("seed", range(25))
def test_dense_and_symmetric_solutions_of_every_kind_of_craft(seed):
    """All joint kinds, bases, wheels, rotors and prescribed joints: the whole matrix at once, and the symmetric
    form.
    """
    craft = random_spacecraft(seed)
    q, v = random_state(craft, seed + 1000)
    rng = np.random.default_rng(seed)
    tau, F = rng.normal(size=craft.nv), rng.normal(size=(craft.nbodies, 6))
    some = {j.name: rng.normal(size=j.nv) for j in craft.joints if j.nv and rng.random() < 0.4}
    for prescribed in ({}, some):
        options = {"wrenches": F, "prescribed": prescribed}
        expected = dq.solve(craft, q, v, tau, **options)
        s = dq.assemble(craft, q, v, tau, **options)
        z = np.linalg.solve(s.S, s.B)  # (59)
        dense = solution(craft, q, v, tau, s, z[: len(s.B1)], z[len(s.B1) :], **options)
        symmetric = dq.solve_by_schur_complement(craft, q, v, tau, **options)
        for found in (dense, symmetric):
            for a, b in zip(found, expected, strict=True):
                assert relative(a, b) < 1e-10
