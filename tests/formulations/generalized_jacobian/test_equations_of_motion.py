"""Equations (37)-(50), (109): the full and the reduced equations of motion, and the printed ones that are wrong."""

import numpy as np
import pytest

import gyrostat as gs
from exact import TINY, exact, floats
from gyrostat.algebra import cross, rpy_from_rotation
from gyrostat.formulations.generalized_jacobian import inertia_blocks as ib
from gyrostat.formulations.generalized_jacobian import reduced_equations as red
from gyrostat.formulations.generalized_jacobian import reduced_forward_dynamics
from gyrostat.formulations.generalized_jacobian.base_inverse import base_inertia_inverse
from gyrostat.formulations.generalized_jacobian.direction_cosines import euler_rate_matrix, euler_rotation
from gyrostat.formulations.generalized_jacobian.link_rates import arm_link_rates
from gyrostat.formulations.generalized_jacobian.links import system_center
from gyrostat.formulations.generalized_jacobian.paper.block_rates import block_rates
from gyrostat.formulations.generalized_jacobian.paper.joint_derivatives import arm_link_derivatives
from wilde_arms import (
    along,
    apart,
    by_joint,
    close,
    exact_arm,
    frames,
    links_at,
    random_arm,
    random_arm_state,
    to_craft,
    velocity_map,
    whole,
)

SEEDS = range(6)


class Case:
    """An arm, its state, all matrices and derivatives; accelerations under a load by the recursive formulation."""

    def __init__(self, seed, *, momentum=None):
        self.arm, self.craft = random_arm(seed, n=2 + seed % 4)
        s = random_arm_state(self.arm, seed)
        T_J, T_L = frames(self.arm, s)
        self.links = links_at(self.arm, s)
        self.H, self.inverse = ib.inertia_blocks(self.links), base_inertia_inverse(self.links)
        if momentum is not None:
            s = s._replace(xdot_0=red.base_velocity(self.H, self.inverse, s.qdot, momentum))
        self.s = s
        self.Hdot = block_rates(self.links, arm_link_rates(self.arm, T_J, T_L, s.w_0, s.qdot))
        self.dH = [
            block_rates(self.links, arm_link_derivatives(self.arm, T_J, T_L, s.q, k)) for k in range(1, self.arm.n + 1)
        ]
        self.M = ib.momentum(self.H, s.xdot_0, s.qdot)
        self.H_star = red.generalized_inertia(self.H, self.inverse)
        self.Hdot_star = red.generalized_inertia_rate(self.H, self.inverse, self.Hdot)
        self.dH_star = [red.generalized_inertia_rate(self.H, self.inverse, d) for d in self.dH]
        rng = np.random.default_rng(seed + 100)
        self.tau, self.load = rng.normal(size=self.arm.n), rng.normal(size=6)

    def accelerations(self, load):
        """[xdd_0; qdd] under [F; N_0] = load and tau."""
        s, R = self.s, self.s.R_0
        q, v = to_craft(self.craft, s)
        force = np.concatenate([load, self.tau])
        vdot = gs.forward_dynamics(self.craft, q, v, np.linalg.solve(velocity_map(s).T, force))
        return np.concatenate([R @ (vdot[3:6] + cross(v[:3], v[3:6])), R @ vdot[:3], vdot[6:]])


@pytest.mark.parametrize("seed", SEEDS)
def test_eq_37_to_41_full_equations_of_motion(seed):
    c = Case(seed)
    h_0, h_m = red.full_bias(c.H, c.Hdot, c.dH, c.s.xdot_0, c.s.qdot)
    right = np.concatenate([c.load - h_0, c.tau - h_m])
    close(np.linalg.solve(whole(c.H), right), c.accelerations(c.load), 1e-11)  # cond(H) is about 1e3


@pytest.mark.parametrize("seed", SEEDS)
def test_eq_41_is_the_derivative_of_the_energy(seed):
    c = Case(seed)
    arm_ = exact_arm(c.arm)
    energy = [
        by_joint(
            lambda state: ib.kinetic_energy(ib.inertia_blocks(links_at(arm_, state)), state.xdot_0, state.qdot), c.s, k
        )
        for k in range(1, c.arm.n + 1)
    ]
    _, h_m = red.full_bias(c.H, c.Hdot, c.dH, c.s.xdot_0, c.s.qdot)
    close(h_m - c.Hdot.H_0m.T @ c.s.xdot_0 - c.Hdot.H_m @ c.s.qdot, -np.array(energy))


def energy_by_euler_angles(c):
    """dT/d(phi, theta, psi) with xdot_0 held, exact: (40) read literally."""
    arm_, angles = exact_arm(c.arm), exact(rpy_from_rotation(c.s.R_0))
    exactly = type(c.s)(*(exact(x) for x in c.s))

    def energy(at):
        H = ib.inertia_blocks(links_at(arm_, exactly._replace(R_0=euler_rotation(*at))))
        return ib.kinetic_energy(H, exactly.xdot_0, exactly.qdot)

    steps = TINY * exact(np.eye(3))
    return floats(np.array([(energy(angles + h) - energy(angles - h)) / (2 * TINY) for h in steps]))


@pytest.mark.parametrize("seed", SEEDS)
def test_eq_40_as_printed_is_wrong_unless_the_momentum_is_zero(seed):
    """w_0 is no rate of the Euler angles: the literal c_0 is E^T (v_0 x P + w_0 x L_0), the true one v_0 x P."""
    c = Case(seed)
    _, theta, psi = rpy_from_rotation(c.s.R_0)
    literal = -energy_by_euler_angles(c)
    v_0, P, L_0 = c.s.xdot_0[:3], c.M[:3], c.M[3:]
    close(literal, euler_rate_matrix(theta, psi).T @ (cross(v_0, P) + cross(c.s.w_0, L_0)))
    h_0, h_m = red.full_bias(c.H, c.Hdot, c.dH, c.s.xdot_0, c.s.qdot)
    printed = h_0 - np.concatenate([np.zeros(3), cross(v_0, P)]) + np.concatenate([np.zeros(3), literal])
    right = np.concatenate([c.load - printed, c.tau - h_m])
    apart(np.linalg.solve(whole(c.H), right), c.accelerations(c.load), by=0.02)
    zero = Case(seed, momentum=np.zeros(6))
    assert np.abs(energy_by_euler_angles(zero)).max() < 1e-12


@pytest.mark.parametrize("seed", SEEDS)
def test_eq_43_true_rate_of_the_momentum_about_the_base(seed):
    """[P; L_0]' = [F; N_0 - v_0 x P]. As printed (zero) it fails as soon as P is not zero."""
    c = Case(seed)
    acceleration = c.accelerations(c.load)
    rate = np.hstack([c.H.H_0, c.H.H_0m]) @ acceleration + c.Hdot.H_0 @ c.s.xdot_0 + c.Hdot.H_0m @ c.s.qdot
    close(rate, red.momentum_rate(c.load[:3], c.load[3:], c.s.xdot_0[:3], c.M[:3]), 1e-11)
    free = c.accelerations(np.zeros(6))
    rate = np.hstack([c.H.H_0, c.H.H_0m]) @ free + c.Hdot.H_0 @ c.s.xdot_0 + c.Hdot.H_0m @ c.s.qdot
    assert np.abs(rate[3:]).max() > 1e-2 * np.abs(c.M).max()  # printed: zero
    P, r_C = c.M[:3], system_center(c.links)
    close(rate[3:], -cross(c.s.xdot_0[:3], P), 1e-11)
    # about the system's centre of mass it is conserved: L_0' - (r_0C x P)' = 0
    arm_ = exact_arm(c.arm)
    rdot_C = along(lambda state: system_center(links_at(arm_, state)), c.s)
    assert np.abs(rate[3:] - cross(rdot_C, P) - cross(r_C, rate[:3])).max() < 1e-11 * np.abs(c.M).max()


@pytest.mark.parametrize("seed", SEEDS)
def test_eq_44_reduced_equation_with_momentum_equals_the_full_one(seed):
    c = Case(seed)
    P = c.M[:3]
    Mdot = red.momentum_rate(np.zeros(3), np.zeros(3), c.s.xdot_0[:3], P)
    right = c.tau + red.momentum_torque(c.H, c.inverse, c.Hdot, c.dH, c.s.qdot, c.M, Mdot)
    C_star = red.generalized_coriolis(c.Hdot_star, c.dH_star, c.s.qdot)
    full = c.accelerations(np.zeros(6))[6:]
    close(np.linalg.solve(c.H_star, right - C_star), full, 1e-11)
    q, v = to_craft(c.craft, c.s)
    close(reduced_forward_dynamics(c.craft, q, v[6:], c.tau, momentum=gs.momentum(c.craft, q, v)), full, 1e-11)


@pytest.mark.parametrize("seed", SEEDS)
def test_eq_44_as_printed_is_wrong_and_either_correction_alone_does_not_help(seed):
    """With P = 0, so that M' = 0 and only the signs and the missing term are at stake."""
    L = np.random.default_rng(seed).normal(scale=20.0, size=3)
    c = Case(seed, momentum=np.concatenate([np.zeros(3), L]))
    X, y, qdot = c.inverse @ c.H.H_0m, c.inverse @ c.M, c.s.qdot
    drift = -(c.Hdot.H_0m.T - X.T @ c.Hdot.H_0) @ y
    missing = np.array([qdot @ (d.H_0m.T - X.T @ d.H_0) @ y for d in c.dH])
    third = np.array([0.5 * (y @ d.H_0 @ y) for d in c.dH])  # = -1/2 d_q(M^T H_0^-1 M)
    C_star = red.generalized_coriolis(c.Hdot_star, c.dH_star, qdot)
    full = c.accelerations(np.zeros(6))[6:]

    def solve(extra):
        return np.linalg.solve(c.H_star, c.tau - C_star + extra)

    close(solve(drift + missing + third), full, 1e-11)
    apart(solve(drift - third), full)  # as printed
    apart(solve(drift + third), full)  # sign mended only
    apart(solve(drift + missing - third), full)  # term added only


@pytest.mark.parametrize("seed", SEEDS)
def test_eq_46_to_50_zero_momentum(seed):
    c = Case(seed, momentum=np.zeros(6))
    qdot = c.s.qdot
    C_star = red.generalized_coriolis(c.Hdot_star, c.dH_star, qdot)  # (49)
    full = c.accelerations(np.zeros(6))[6:]
    close(np.linalg.solve(c.H_star, c.tau - C_star), full, 1e-11)  # (50)
    close(c.H_star @ full + c.Hdot_star @ qdot + red.centrifugal(c.dH_star, qdot), c.tau, 1e-11)  # (47), (48)
    assert np.abs(c.M).max() < 1e-12  # (46)
    # C* without any derivative matrix: h_m - H_0m^T H_0^-1 h_0
    h_0, h_m = red.full_bias(c.H, c.Hdot, c.dH, c.s.xdot_0, qdot)
    close(h_m - c.H.H_0m.T @ c.inverse @ h_0, C_star, 1e-11)
    close(qdot @ C_star, 0.5 * qdot @ c.Hdot_star @ qdot, 1e-11)  # passivity


@pytest.mark.parametrize("seed", SEEDS)
def test_eq_109_base_velocity_at_zero_momentum(seed):
    c = Case(seed)
    xdot_0 = red.base_velocity(c.H, c.inverse, c.s.qdot, np.zeros(6))
    q, v = to_craft(c.craft, c.s._replace(xdot_0=xdot_0))
    scale = np.abs(c.H.H_0 @ xdot_0).max()
    assert np.abs(gs.momentum(c.craft, q, v)).max() < 1e-13 * scale * (1 + np.abs(c.s.r_0).max())
