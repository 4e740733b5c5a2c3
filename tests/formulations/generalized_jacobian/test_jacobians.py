"""Equations (103)-(111): Jacobians of any point, J*, and dJ*/dt."""

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.formulations.generalized_jacobian import generalized_jacobian, generalized_jacobian_rate
from gyrostat.formulations.generalized_jacobian import inertia_blocks as ib
from gyrostat.formulations.generalized_jacobian.base_inverse import base_inertia_inverse
from gyrostat.formulations.generalized_jacobian.link_rates import arm_link_rates, point_rate
from gyrostat.formulations.generalized_jacobian.paper import point_jacobians as pj
from gyrostat.formulations.generalized_jacobian.paper.block_rates import block_rates
from gyrostat.formulations.generalized_jacobian.reduced_equations import base_velocity
from wilde_arms import along, close, exact_arm, frames, links_at, random_arm, random_arm_state, swapped, to_craft

SEEDS = range(6)
POINT = np.array([0.3, -0.2, 0.5])  # in the axes of J_{i+1}, from its origin


def case(seed, n=None):
    arm, craft = random_arm(seed, n=2 + seed % 5 if n is None else n)
    return arm, craft, random_arm_state(arm, seed)


def point_at(T_J, link):
    return T_J[link + 1][:3, 3] + T_J[link + 1][:3, :3] @ POINT


@pytest.mark.parametrize("seed", SEEDS)
def test_eq_103_to_106_jacobians_of_any_point(seed):
    arm, craft, s = case(seed)
    T_J, _ = frames(arm, s)
    q, v = to_craft(craft, s)
    poses = gs.forward_kinematics(craft, q)
    for link in range(1, arm.n + 1):
        x = point_at(T_J, link)
        J_0, J_m = pj.base_jacobian(T_J, x), pj.manipulator_jacobian(arm, T_J, link, x)
        in_body = poses.R_NB[link].T @ (x - poses.p_NB[link])
        J = gs.jacobian(craft, q, f"link_{link}", in_body)
        close(swapped(J_m), J[:, 6:])  # (104)
        close(swapped(pj.point_twist(J_0, J_m, s.xdot_0, s.qdot)), J @ v)  # (103), (105), (106)


@pytest.mark.parametrize("seed", SEEDS)
def test_eq_107_108_110_generalized_jacobian(seed):
    arm, craft, s = case(seed)
    T_J, _ = frames(arm, s)
    links = links_at(arm, s)
    H, inverse = ib.inertia_blocks(links), base_inertia_inverse(links)
    x = T_J[-1][:3, 3]
    J_0, J_m = pj.base_jacobian(T_J, x), pj.manipulator_jacobian(arm, T_J, arm.n, x)
    J_star = pj.generalized_jacobian(J_0, J_m, H, inverse)  # (110)
    M = np.random.default_rng(seed).normal(size=6)
    for momentum in (np.zeros(6), M):
        xdot_0 = base_velocity(H, inverse, s.qdot, momentum)
        close(J_star @ s.qdot + J_0 @ inverse @ momentum, pj.point_twist(J_0, J_m, xdot_0, s.qdot))  # (107), (108)
    q, _ = to_craft(craft, s)
    close(swapped(J_star), generalized_jacobian(craft, q, "tool"))


@pytest.mark.parametrize("seed", SEEDS)
def test_rate_of_the_generalized_jacobian(seed):
    arm, craft, s = case(seed)
    arm_ = exact_arm(arm)

    def J_star(state):
        T_J, links = frames(arm_, state)[0], links_at(arm_, state)
        x = point_at(T_J, arm.n)
        J_0, J_m = pj.base_jacobian(T_J, x), pj.manipulator_jacobian(arm_, T_J, arm.n, x)
        return pj.generalized_jacobian(J_0, J_m, ib.inertia_blocks(links), base_inertia_inverse(links))

    T_J, T_L = frames(arm, s)
    links, x = links_at(arm, s), point_at(T_J, arm.n)
    Hdot = block_rates(links, arm_link_rates(arm, T_J, T_L, s.w_0, s.qdot))
    J_0 = pj.base_jacobian(T_J, x)
    Jdot_m = pj.manipulator_jacobian_rate(arm, T_J, arm.n, x, s.w_0, s.qdot)
    xdot_0i = point_rate(T_J, arm.n, x, s.w_0, s.qdot)
    rate = pj.generalized_jacobian_rate(
        J_0, Jdot_m, ib.inertia_blocks(links), base_inertia_inverse(links), Hdot, xdot_0i
    )
    exactly = along(J_star, s)
    close(rate, exactly)
    q, v = to_craft(craft, s)
    close(generalized_jacobian_rate(craft, q, v, "tool", POINT), swapped(exactly))


@pytest.mark.parametrize("n", [3, 6, 8])
def test_eq_111_joint_rates_for_an_end_effector_twist(n):
    """The inverse where it exists (six joints); least norm or least squares otherwise."""
    J_star = np.random.default_rng(n).normal(size=(6, n))
    qdot = np.random.default_rng(n + 1).normal(size=n)
    twist = J_star @ qdot
    solved = pj.joint_rates_for(J_star, twist)
    close(J_star @ solved, twist, 1e-10)  # cond(J J^T) is the square of cond(J)
    close(solved, np.linalg.pinv(J_star) @ twist, 1e-10)
    if n == 6:
        close(solved, np.linalg.solve(J_star, twist), 1e-10)


def test_eq_111_damping_keeps_rates_finite_at_a_singularity():
    J_star = np.diag([1.0, 1.0, 1.0, 1.0, 1.0, 0.0])
    rates = pj.joint_rates_for(J_star, np.ones(6), damping=0.01)
    close(rates[:5], np.full(5, 1 / 1.0001))
    assert rates[5] == 0.0
