"""Equations (1)-(25) of Wilde et al. (2018): kinematics by direction cosines and by quaternions."""

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algebra import quat_from_rotation, rotation_about, rotation_from_rpy, skew
from gyrostat.formulations.generalized_jacobian import direction_cosines as dc
from gyrostat.formulations.generalized_jacobian import links as lk
from gyrostat.formulations.generalized_jacobian.paper import quaternions as qn
from wilde_arms import close, frames, links_at, random_arm, random_arm_state, to_craft

X, Y, Z = np.eye(3)
SEEDS = range(6)


def step(theta, d, alpha, c):
    """Rz(theta) Tz(d) Tx(c) Rx(alpha), motion by motion."""
    T = dc.homogeneous
    return (
        T(rotation_about(Z, theta), np.zeros(3))
        @ T(np.eye(3), d * Z)
        @ T(np.eye(3), c * X)
        @ T(rotation_about(X, alpha), np.zeros(3))
    )


def test_eq_1_and_2_the_denavit_hartenberg_step():
    for theta, d, alpha, c in np.random.default_rng(0).uniform(-3, 3, size=(20, 4)):
        close(dc.dh_transform(theta, d, alpha, c), step(theta, d, alpha, c))


def test_eq_2_is_exact_at_right_angles():
    A = dc.dh_transform(0.3, 0.0, np.pi / 2, 1.0)
    assert A[2, 2] == 0.0 and A[0, 1] == 0.0


def test_eq_3_homogeneous_transform_moves_points():
    rng = np.random.default_rng(1)
    R, p, x = rotation_from_rpy(rng.normal(size=3)), rng.normal(size=3), rng.normal(size=3)
    close((dc.homogeneous(R, p) @ np.append(x, 1.0))[:3], R @ x + p)


@pytest.mark.parametrize("seed", SEEDS)
def test_eq_4_link_frames_are_parallel_to_the_next_joint_frame(seed):
    arm, _ = random_arm(seed)
    T_J, T_L = frames(arm, random_arm_state(arm, seed))
    for i in range(1, arm.n + 1):
        close(T_L[i][:3, :3], T_J[i + 1][:3, :3])


@pytest.mark.parametrize("seed", SEEDS)
def test_eq_5_to_10_frames_equal_those_of_the_spacecraft(seed):
    """Joint axes (5), joint frames (8), (9), centres of mass (10), end effector: against the tree's own kinematics."""
    arm, craft = random_arm(seed)
    s = random_arm_state(arm, seed)
    T_J, T_L = frames(arm, s)
    q, _ = to_craft(craft, s)
    poses, axes = gs.forward_kinematics(craft, q), dc.joint_axes(T_J)
    for i, body in enumerate(craft.bodies):
        close(T_L[i][:3, 3], poses.p_NB[i] + poses.R_NB[i] @ body.com)  # (10)
        if i:
            close(T_J[i][:3, 3], poses.p_NB[i])  # (9)
            close(axes[i], poses.R_NB[i] @ Z)  # (5)
    tool = gs.frame_pose(craft, q, "tool")
    close(T_J[-1], dc.homogeneous(tool.R, tool.p))  # (9) at N + 1
    close(T_J[1][:3, 3], s.r_0 + s.R_0 @ arm.b0)  # (8)


def test_eq_6_and_7_euler_angles():
    """(7) element by element equals the product (6), which is URDF's rpy."""
    for phi, theta, psi in np.random.default_rng(2).uniform(-3, 3, size=(20, 3)):
        close(
            dc.euler_rotation(phi, theta, psi),
            rotation_about(Z, psi) @ rotation_about(Y, theta) @ rotation_about(X, phi),
        )
        close(dc.euler_rotation(phi, theta, psi), rotation_from_rpy([phi, theta, psi]))


def test_nomenclature_euler_rates_give_inertial_angular_velocity():
    rng, h = np.random.default_rng(3), 1e-6
    angles, rates = rng.normal(size=3), rng.normal(size=3)
    Rdot = (dc.euler_rotation(*(angles + h * rates)) - dc.euler_rotation(*(angles - h * rates))) / (2 * h)
    w = dc.euler_rate_matrix(angles[1], angles[2]) @ rates
    close(Rdot, skew(w) @ dc.euler_rotation(*angles), 1e-9)  # a central difference


@pytest.mark.parametrize("seed", SEEDS)
def test_eq_11_to_14_centers_of_mass(seed):
    arm, craft = random_arm(seed)
    s = random_arm_state(arm, seed)
    links, (_, T_L) = links_at(arm, s), frames(arm, s)
    q, _ = to_craft(craft, s)
    for i in range(arm.n + 1):
        close(s.r_0 + links.r[i], T_L[i][:3, 3])  # (11)
    close(s.r_0 + lk.system_center(links), gs.center_of_mass(craft, q))  # (12), (13)
    total = sum(m * r for m, r in zip(links.m, links.r, strict=True))
    close(lk.total_mass(links) * lk.system_center(links), total)  # (14)


@pytest.mark.parametrize("seed", SEEDS)
def test_eq_15_and_16_velocities_of_links(seed):
    arm, craft = random_arm(seed)
    s = random_arm_state(arm, seed)
    links, (q, v) = links_at(arm, s), to_craft(craft, s)
    for i, body in enumerate(craft.bodies):
        twist = gs.jacobian(craft, q, body.name, body.com) @ v
        close(lk.link_rotation_rate(links, i, s.xdot_0, s.qdot), twist[:3])
        close(lk.link_velocity(links, i, s.xdot_0, s.qdot), twist[3:])


def test_eq_17_skew_matrix():
    a, b = np.random.default_rng(4).normal(size=(2, 3))
    close(skew(a) @ b, np.cross(a, b))


def test_eq_18_to_21_quaternions():
    rng = np.random.default_rng(5)
    axis, angle, a = rng.normal(size=3), 1.1, rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    quat = qn.axis_angle_quaternion(axis, angle)  # (18)
    close(qn.quaternion_rotation(quat), rotation_about(axis, angle))  # (19)
    other = qn.axis_angle_quaternion(X, -0.4)
    close(
        qn.quaternion_rotation(qn.product(quat, other)), qn.quaternion_rotation(quat) @ qn.quaternion_rotation(other)
    )  # (20)
    close(qn.rotate(quat, np.append(a, 0.0)), np.append(rotation_about(axis, angle) @ a, 0.0))  # (21)


def test_eq_22_and_23_the_step_as_a_quaternion_and_a_translation():
    for theta, d, alpha, c in np.random.default_rng(6).uniform(-3, 3, size=(20, 4)):
        A = dc.dh_transform(theta, d, alpha, c)
        close(qn.quaternion_rotation(qn.dh_quaternion(theta, alpha)), A[:3, :3])  # (22)
        close(qn.dh_translation(theta, d, c), np.append(A[:3, 3], 0.0))  # (23)


@pytest.mark.parametrize("seed", SEEDS)
def test_eq_24_and_25_the_quaternion_route_equals_the_direction_cosine_route(seed):
    arm, _ = random_arm(seed, n=6)
    s = random_arm_state(arm, seed)
    T_J, _ = frames(arm, s)
    w, *xyz = quat_from_rotation(T_J[1][:3, :3])
    Q = qn.joint_quaternions(arm, np.array([*xyz, w]), s.q)
    p = qn.joint_positions(arm, T_J[1][:3, 3], Q, s.q)
    for i in range(arm.n + 1):
        close(qn.quaternion_rotation(Q[i]), T_J[i + 1][:3, :3])  # (24)
        close(p[i], T_J[i + 1][:3, 3])  # (25)
