"""Equations (62)-(79): time derivatives, each against derivatives that are exact to thirty digits."""

import numpy as np
import pytest

from gyrostat.algebra import skew
from gyrostat.formulations.generalized_jacobian import inertia_blocks as ib
from gyrostat.formulations.generalized_jacobian import link_rates as lr
from gyrostat.formulations.generalized_jacobian import links as lk
from gyrostat.formulations.generalized_jacobian import reduced_equations as red
from gyrostat.formulations.generalized_jacobian.base_inverse import base_inertia_inverse
from gyrostat.formulations.generalized_jacobian.paper import block_rates as br
from gyrostat.formulations.generalized_jacobian.paper.joint_derivatives import arm_link_derivatives
from wilde_arms import along, close, exact_arm, frames, links_at, random_arm, random_arm_state

SEEDS = range(4)


def case(seed):
    arm, _ = random_arm(seed, n=3 + seed % 3)
    s = random_arm_state(arm, seed)
    T_J, T_L = frames(arm, s)
    return arm, s, T_J, T_L, links_at(arm, s), lr.arm_link_rates(arm, T_J, T_L, s.w_0, s.qdot)


@pytest.mark.parametrize("seed", SEEDS)
def test_eq_62_to_65_rate_of_the_generalized_inertia(seed):
    arm, s, _, _, links, rates = case(seed)
    arm_ = exact_arm(arm)

    def H_star(state):
        at = links_at(arm_, state)
        return red.generalized_inertia(ib.inertia_blocks(at), base_inertia_inverse(at))

    H, inverse = ib.inertia_blocks(links), base_inertia_inverse(links)
    Hdot = red.generalized_inertia_rate(H, inverse, br.block_rates(links, rates))
    close(Hdot, along(H_star, s))  # (62), (65)
    inverse_rate = along(lambda state: base_inertia_inverse(links_at(arm_, state)), s)
    close(-inverse @ br.base_inertia_rate(links, rates) @ inverse, inverse_rate)  # (63), (64)


@pytest.mark.parametrize("seed", SEEDS)
def test_eq_66_rate_of_the_manipulator_inertia(seed):
    arm, s, *_, links, rates = case(seed)
    arm_ = exact_arm(arm)
    close(
        br.manipulator_inertia_rate(links, rates), along(lambda state: ib.manipulator_inertia(links_at(arm_, state)), s)
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_eq_67_68_69_rotation_rates_of_frames(seed):
    arm, s, T_J, T_L, *_ = case(seed)
    arm_ = exact_arm(arm)
    w_J = lr.frame_rotation_rates(arm, T_J, s.w_0, s.qdot)
    for i in range(arm.n + 2):
        expected = along(lambda state, i=i: frames(arm_, state)[0][i][:3, :3], s)
        close(skew(w_J[i]) @ T_J[i][:3, :3], expected)  # (67), (68)
    for i in range(1, arm.n + 1):
        expected = along(lambda state, i=i: frames(arm_, state)[1][i][:3, :3], s)
        close(skew(w_J[i + 1]) @ T_L[i][:3, :3], expected)  # (69)


@pytest.mark.parametrize("seed", SEEDS)
def test_eq_70_to_73_rates_of_links(seed):
    arm, s, *_, rates = case(seed)
    arm_ = exact_arm(arm)
    for i in range(arm.n + 1):
        for name in ("I", "J_R", "J_T", "r"):  # (70), (71), (72) with (73), and r_0i'
            exactly = along(lambda state, i=i, name=name: getattr(links_at(arm_, state), name)[i], s)
            if i == 0 and name != "I":
                assert not np.any(exactly) and not np.any(getattr(rates, name)[0])
            else:
                close(getattr(rates, name)[i], exactly)


@pytest.mark.parametrize("seed", SEEDS)
def test_eq_74_75_76_rate_of_the_base_inertia(seed):
    arm, s, *_, links, rates = case(seed)
    arm_ = exact_arm(arm)
    moment = along(lambda state: lk.total_mass(links_at(arm_, state)) * lk.system_center(links_at(arm_, state)), s)
    close(br.system_moment_rate(links, rates), moment)  # (75)
    close(
        br.rotational_inertia_rate(links, rates), along(lambda state: ib.rotational_inertia(links_at(arm_, state)), s)
    )  # (76)
    close(br.base_inertia_rate(links, rates), along(lambda state: ib.base_inertia(links_at(arm_, state)), s))  # (74)


@pytest.mark.parametrize("seed", SEEDS)
def test_eq_77_78_79_rate_of_the_coupling_inertia(seed):
    arm, s, *_, links, rates = case(seed)
    arm_ = exact_arm(arm)
    expected = along(lambda state: ib.coupling_inertia(links_at(arm_, state)), s)
    close(br.coupling_inertia_rate(links, rates)[:3], expected[:3])  # (78)
    close(br.coupling_inertia_rate(links, rates)[3:], expected[3:])  # (79)


@pytest.mark.parametrize("seed", SEEDS)
def test_rates_split_into_joint_motion_and_base_rotation(seed):
    """H_0' = sum dH_0/dq_k qdot_k + Om H_0 - H_0 Om, H_0m' with Om on the left, H_m' and H*' without."""
    arm, s, T_J, T_L, links, rates = case(seed)
    H, Hdot, inverse = ib.inertia_blocks(links), br.block_rates(links, rates), base_inertia_inverse(links)
    dH = [br.block_rates(links, arm_link_derivatives(arm, T_J, T_L, s.q, k)) for k in range(1, arm.n + 1)]
    W = skew(s.w_0)
    Om = np.block([[W, np.zeros((3, 3))], [np.zeros((3, 3)), W]])
    by_joints = ib.Blocks(*(sum(d[block] * rate for d, rate in zip(dH, s.qdot, strict=True)) for block in range(3)))
    close(Hdot.H_0, by_joints.H_0 + Om @ H.H_0 - H.H_0 @ Om)
    close(Hdot.H_0m, by_joints.H_0m + Om @ H.H_0m)
    close(Hdot.H_m, by_joints.H_m)
    close(red.generalized_inertia_rate(H, inverse, Hdot), red.generalized_inertia_rate(H, inverse, by_joints))
