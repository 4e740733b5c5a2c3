"""Equations (80)-(102): derivatives by joint angles, each against derivatives that are exact to thirty digits."""

import numpy as np
import pytest

from gyrostat.algebra import cross, skew
from gyrostat.formulations.generalized_jacobian import inertia_blocks as ib
from gyrostat.formulations.generalized_jacobian import reduced_equations as red
from gyrostat.formulations.generalized_jacobian.base_inverse import base_inertia_inverse
from gyrostat.formulations.generalized_jacobian.craft_links import craft_link_rates
from gyrostat.formulations.generalized_jacobian.direction_cosines import dh_transform, joint_axes
from gyrostat.formulations.generalized_jacobian.links import system_center, total_mass
from gyrostat.formulations.generalized_jacobian.paper import block_rates as br
from gyrostat.formulations.generalized_jacobian.paper import joint_derivatives as jd
from wilde_arms import by_joint, close, exact_arm, frames, links_at, random_arm, random_arm_state, to_craft

SEEDS = range(3)


def case(seed):
    arm, craft = random_arm(seed, n=4)
    s = random_arm_state(arm, seed)
    T_J, T_L = frames(arm, s)
    return arm, craft, s, T_J, T_L, links_at(arm, s)


def near(x, exactly):
    """As `close`, and exact zeros must be met exactly."""
    if np.any(exactly):
        close(x, exactly)
    else:
        assert not np.any(x)


@pytest.mark.parametrize("seed", SEEDS)
def test_eq_80_and_81_generalized_inertia_by_joint_angle(seed):
    arm, _, s, T_J, T_L, links = case(seed)
    arm_, H, inverse = exact_arm(arm), ib.inertia_blocks(links), base_inertia_inverse(links)

    def H_star(state):
        at = links_at(arm_, state)
        return red.generalized_inertia(ib.inertia_blocks(at), base_inertia_inverse(at))

    dH_star = []
    for k in range(1, arm.n + 1):
        dH = br.block_rates(links, jd.arm_link_derivatives(arm, T_J, T_L, s.q, k))
        dH_star.append(red.generalized_inertia_rate(H, inverse, dH))
        close(dH_star[-1], by_joint(H_star, s, k))  # (81)
    energy = [by_joint(lambda state: state.qdot @ H_star(state) @ state.qdot, s, k) for k in range(1, arm.n + 1)]
    close(red.centrifugal(dH_star, s.qdot), -0.5 * np.array(energy))  # (80), (48)
    assert np.abs(dH_star[0]).max() > 1e-3 * np.abs(dH_star[1]).max()  # unlike dH_m/dq_1, it is not zero


@pytest.mark.parametrize("seed", SEEDS)
def test_eq_82_manipulator_inertia_by_joint_angle(seed):
    arm, _, s, T_J, T_L, links = case(seed)
    arm_ = exact_arm(arm)
    for k in range(2, arm.n + 1):
        dH_m = br.manipulator_inertia_rate(links, jd.arm_link_derivatives(arm, T_J, T_L, s.q, k))
        close(dH_m, by_joint(lambda state: ib.manipulator_inertia(links_at(arm_, state)), s, k))
    dH_m = br.manipulator_inertia_rate(links, jd.arm_link_derivatives(arm, T_J, T_L, s.q, 1))
    assert np.abs(dH_m).max() < 1e-13 * np.abs(ib.manipulator_inertia(links)).max()  # joint 1 turns the whole arm


def test_eq_84_derivative_of_the_step():
    rng = np.random.default_rng(0)
    for theta, alpha, c in rng.uniform(-3, 3, size=(10, 3)):
        quarter = dh_transform(theta + np.pi / 2, 0.0, alpha, c)  # d/dtheta of cos and sin is a quarter turn ahead
        expected = np.vstack([quarter[:2], np.zeros((2, 4))])
        close(jd.dh_derivative(theta, alpha, c), expected)


@pytest.mark.parametrize("seed", SEEDS)
def test_eq_83_and_85_to_91_transforms_by_joint_angle(seed):
    arm, _, s, T_J, _, _ = case(seed)
    arm_ = exact_arm(arm)
    for k in range(1, arm.n + 1):
        dT_J = jd.joint_transform_derivatives(arm, T_J, s.q, k)
        dT_L = jd.link_transform_derivatives(arm, T_J, dT_J, s.q, k)
        for i in range(arm.n + 2):
            near(dT_J[i], by_joint(lambda state, i=i: frames(arm_, state)[0][i], s, k))
            assert i > k or not np.any(dT_J[i])  # (85)
        for i in range(arm.n + 1):
            near(dT_L[i], by_joint(lambda state, i=i: frames(arm_, state)[1][i], s, k))
            assert i >= k or not np.any(dT_L[i])  # (89)


@pytest.mark.parametrize("seed", SEEDS)
def test_eq_92_93_94_98_102_links_by_joint_angle(seed):
    arm, _, s, T_J, T_L, _ = case(seed)
    arm_ = exact_arm(arm)
    for k in range(1, arm.n + 1):
        d = jd.arm_link_derivatives(arm, T_J, T_L, s.q, k)
        for i in range(arm.n + 1):
            for name in ("J_R", "J_T", "r", "I"):  # (92), (93) with (94), (98), (102)
                exactly = by_joint(lambda state, i=i, name=name: getattr(links_at(arm_, state), name)[i], s, k)
                near(getattr(d, name)[i], exactly)


@pytest.mark.parametrize("seed", SEEDS)
def test_eq_95_96_97_coupling_inertia_by_joint_angle(seed):
    arm, _, s, T_J, T_L, links = case(seed)
    arm_ = exact_arm(arm)
    for k in range(1, arm.n + 1):
        dH_0m = br.coupling_inertia_rate(links, jd.arm_link_derivatives(arm, T_J, T_L, s.q, k))
        expected = by_joint(lambda state: ib.coupling_inertia(links_at(arm_, state)), s, k)
        close(dH_0m[:3], expected[:3])  # (96)
        close(dH_0m[3:], expected[3:])  # (97)


@pytest.mark.parametrize("seed", SEEDS)
def test_eq_99_100_101_base_inertia_by_joint_angle(seed):
    arm, _, s, T_J, T_L, links = case(seed)
    arm_ = exact_arm(arm)
    for k in range(1, arm.n + 1):
        d = jd.arm_link_derivatives(arm, T_J, T_L, s.q, k)
        close(
            br.system_moment_rate(links, d),
            by_joint(lambda state: total_mass(links_at(arm_, state)) * system_center(links_at(arm_, state)), s, k),
        )  # (100)
        close(
            br.rotational_inertia_rate(links, d),
            by_joint(lambda state: ib.rotational_inertia(links_at(arm_, state)), s, k),
        )  # (101)
        close(
            br.base_inertia_rate(links, d), by_joint(lambda state: ib.base_inertia(links_at(arm_, state)), s, k)
        )  # (99)


@pytest.mark.parametrize("seed", SEEDS)
def test_everything_outboard_turns_about_the_joint(seed):
    """The cheaper rule: dr_i = k_k x (r_i - p_k), dI_i = [k_k]x I_i - I_i [k_k]x; and a unit rate of the tree's own
    links.
    """
    arm, craft, s, T_J, T_L, links = case(seed)
    q, _ = to_craft(craft, s)
    for k in range(1, arm.n + 1):
        d, axis, p = jd.arm_link_derivatives(arm, T_J, T_L, s.q, k), joint_axes(T_J)[k], T_J[k][:3, 3]
        unit = craft_link_rates(craft, q, np.eye(craft.nv)[5 + k])
        for i in range(k, arm.n + 1):
            close(d.r[i], cross(axis, T_L[i][:3, 3] - p))
            close(d.I[i], skew(axis) @ links.I[i] - links.I[i] @ skew(axis))
        for name in ("I", "r", "J_T", "J_R"):
            close(np.concatenate(getattr(d, name)), np.concatenate(getattr(unit, name)))
