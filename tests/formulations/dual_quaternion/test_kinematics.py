"""Poses, velocities and accelerations of bodies and joints (41)-(49), (63), (64)."""

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algebra import (
    dq_adjoint,
    dq_adjoint_inverse,
    dq_cross,
    dq_from_pose,
    dq_multiply,
    dq_to_child,
    dq_to_parent,
    dual_twist,
    twist_from_dual,
)
from gyrostat.formulations.dual_quaternion.kinematics import (
    frames,
    joint_bias,
    motion_of_bodies,
    motion_of_rates,
    pose_of_bodies,
)
from gyrostat.kinematics import body_twists, joint_poses
from random_trees import random_spacecraft, random_state

SEEDS = range(10)


def case(seed, **options):
    craft = random_spacecraft(seed, **options)
    q, v = random_state(craft, seed + 100)
    f = frames(craft, q, {})
    return craft, q, v, f, motion_of_rates(craft, f, v)


def near(a, b, tol=1e-13):
    np.testing.assert_allclose(a, b, rtol=0, atol=tol * (1 + np.abs(b).max(initial=0.0)))


@pytest.mark.parametrize("seed", SEEDS)
def test_equations_41_63_dual_velocities_are_those_of_the_centres_of_mass(seed):
    craft, q, v, f, m = case(seed)
    V = body_twists(craft, q, v, joint_poses(craft, q))
    for B, _ in f.bodies:
        R_bB = f.map[B].R_Bi.T
        w, v_o = V[B][:3], V[B][3:]
        expected = np.concatenate([R_bB @ w, R_bB @ (v_o + np.cross(w, f.carrier[B].com))])
        near(m.w[B], dual_twist(expected))


@pytest.mark.parametrize("seed", SEEDS)
def test_poses_of_the_centres_of_mass(seed):
    craft, q, _, f, _ = case(seed)
    poses = gs.forward_kinematics(craft, q)
    for B, X_Nb in pose_of_bodies(f).items():
        k = craft.index(B)
        near(X_Nb.R, poses.R_NB[k] @ f.map[B].R_Bi)
        near(X_Nb.p, poses.p_NB[k] + poses.R_NB[k] @ f.carrier[B].com)


@pytest.mark.parametrize("seed", SEEDS)
def test_equations_46_47_joint_velocities_from_those_of_the_bodies(seed):
    craft, _, v, f, m = case(seed)
    wheels = np.concatenate([np.zeros(0), *(wheel.joint.rate(v) for wheel in craft.wheels)])
    again = motion_of_bodies(craft, f, m.w, wheels)
    near(again.v, v)
    for B, P in f.bodies:
        near(again.w_joint[B], m.w_joint[B])
        if P is not None:  # printed form, by dual quaternions
            q_bi, q_ik = dq_from_pose(f.X_ib[B]), dq_from_pose(f.X_ki[B])
            near(m.w_joint[B], dq_adjoint(q_bi) @ m.w[B] - dq_adjoint_inverse(q_ik) @ m.w[P])


def rate_of(function, craft, q, v, vdot, h=1e-3):
    """d/dt at t = 0 of an array along a curve that starts with velocity v and acceleration vdot, to order h^6."""

    def at(t):
        return function(gs.step_configuration(craft, q, t * v + 0.5 * t * t * vdot), v + t * vdot)

    central = [(at(k * h) - at(-k * h)) / (2 * k * h) for k in (1, 2, 3)]
    return (15 * central[0] - 6 * central[1] + central[2]) / 10


@pytest.mark.parametrize("seed", SEEDS)
def test_equations_45_48_rates_of_pose_and_joint_velocity(seed):
    """(45) and (48), by differences along the motion, with accelerations of every joint."""
    craft, q, v, f, m = case(seed, base="free", links=4)
    vdot = np.random.default_rng(seed).normal(size=craft.nv)

    def stacked(q_, v_):
        m_ = motion_of_rates(craft, frames(craft, q_, {}), v_)
        return np.concatenate([np.concatenate([m_.w[B], m_.w_joint[B]]) for B, _ in f.bodies])

    numeric = rate_of(stacked, craft, q, v, vdot).reshape(-1, 16)
    wdot = {B: row[:8] for (B, _), row in zip(f.bodies, numeric, strict=True)}
    w_joint_dot = {B: row[8:] for (B, _), row in zip(f.bodies, numeric, strict=True)}
    for B, P in f.bodies:
        a_parent = np.zeros(8) if P is None else dq_to_child(f.X_ki[B], wdot[P])
        crossed = dq_cross(m.w_parent[B], m.w_joint[B])
        near(w_joint_dot[B], dq_to_parent(f.X_ib[B], wdot[B]) - a_parent - crossed, 1e-8)  # (48)
        maps, joint = f.map[B], craft.joint(B)
        held = maps.Lambda @ (dq_to_parent(f.X_ib[B], wdot[B]) - a_parent - joint_bias(craft, f, q, m, B))
        near(held, np.zeros(6 - joint.nv), 1e-8)  # (49)
        near(maps.L @ (w_joint_dot[B] - joint_bias(craft, f, q, m, B) + crossed), joint.rate(vdot), 1e-8)
        if P is not None:  # (64)
            X_ki, X_ib = f.X_ki[B], f.X_ib[B]
            w_joint_k = dq_to_parent(X_ki, m.w_joint[B])
            inner = dq_to_child(X_ki, wdot[P] + dq_cross(m.w[P], w_joint_k))
            near(wdot[B], dq_to_child(X_ib, w_joint_dot[B]) + dq_to_child(X_ib, inner), 1e-8)

    def pose(q_, _):
        x = dq_from_pose(pose_of_bodies(frames(craft, q_, {}))[craft.base])
        return x if x @ start > 0 else -x

    start = dq_from_pose(pose_of_bodies(f)[craft.base])
    near(rate_of(pose, craft, q, v, vdot), 0.5 * dq_multiply(start, m.w[craft.base]), 1e-8)  # (45)


@pytest.mark.parametrize("seed", SEEDS)
def test_equation_49_constraints_hold_for_every_motion_of_the_joints(seed):
    _, _, _, f, m = case(seed)
    for B, _ in f.bodies:
        near(f.map[B].Lambda @ m.w_joint[B], np.zeros(len(f.map[B].Lambda)), 1e-14)
        assert twist_from_dual(m.w[B]).shape == (6,)
