"""Torque-free tumbling with the arm moving: the reduced equation with momentum keeps energy; as printed, (44) does
not.
"""

import numpy as np
from scipy.integrate import solve_ivp

import gyrostat as gs
from gyrostat.algebra import quat_multiply, rotation
from gyrostat.formulations.generalized_jacobian import base_velocity_from_momentum, reduced_forward_dynamics
from gyrostat.formulations.generalized_jacobian import inertia_blocks as ib
from gyrostat.formulations.generalized_jacobian import reduced_equations as red
from gyrostat.formulations.generalized_jacobian.base_inverse import base_inertia_inverse
from gyrostat.formulations.generalized_jacobian.link_rates import arm_link_rates
from gyrostat.formulations.generalized_jacobian.paper.block_rates import block_rates
from gyrostat.formulations.generalized_jacobian.paper.joint_derivatives import arm_link_derivatives
from wilde_arms import State, frames, links_at, random_arm, random_arm_state

N, SECONDS = 2, 6.0
ARM, CRAFT = random_arm(4, n=N)
L = np.array([0.0, 0.0, 0.0, 6.0, -4.0, 8.0])  # [P; L_0], P = 0: constant


def start():
    s = random_arm_state(ARM, 4)
    return np.concatenate([[1.0, 0.0, 0.0, 0.0], np.zeros(3), s.q, 0.5 * s.qdot])


def paper_state(y):
    n, R_0 = N, rotation(y[:4])
    return State(y[4:7], R_0, y[7 : 7 + n], np.zeros(6), y[7 + n :])


def matrices(y):
    s = paper_state(y)
    links = links_at(ARM, s)
    H, inverse = ib.inertia_blocks(links), base_inertia_inverse(links)
    return s._replace(xdot_0=red.base_velocity(H, inverse, s.qdot, L)), links, H, inverse


def energy(y):
    s, _, H, _ = matrices(y)
    return ib.kinetic_energy(H, s.xdot_0, s.qdot)


def motion(torque):
    """y' with the momentum's torque by `torque(H, inverse, Hdot, dH, qdot)`."""

    def rhs(_, y):
        s, links, H, inverse = matrices(y)
        T_J, T_L = frames(ARM, s)
        Hdot = block_rates(links, arm_link_rates(ARM, T_J, T_L, s.w_0, s.qdot))
        dH = [block_rates(links, arm_link_derivatives(ARM, T_J, T_L, s.q, k)) for k in range(1, N + 1)]
        Hdot_star = red.generalized_inertia_rate(H, inverse, Hdot)
        dH_star = [red.generalized_inertia_rate(H, inverse, d) for d in dH]
        C_star = red.generalized_coriolis(Hdot_star, dH_star, s.qdot)
        right = torque(H, inverse, Hdot, dH, s.qdot) - C_star
        qddot = np.linalg.solve(red.generalized_inertia(H, inverse), right)
        quat_rate = 0.5 * quat_multiply(np.concatenate([[0.0], s.w_0]), y[:4])
        return np.concatenate([quat_rate, s.xdot_0[:3], s.qdot, qddot])

    return rhs


def corrected(H, inverse, Hdot, dH, qdot):
    return red.momentum_torque(H, inverse, Hdot, dH, qdot, L, np.zeros(6))


def printed(H, inverse, Hdot, dH, qdot):
    X, y = inverse @ H.H_0m, inverse @ L
    return -(Hdot.H_0m.T - X.T @ Hdot.H_0) @ y - np.array([0.5 * (y @ d.H_0 @ y) for d in dH])


def simulated(rhs, rtol):
    return solve_ivp(rhs, (0.0, SECONDS), start(), method="DOP853", rtol=rtol, atol=1e-14).y[:, -1]


def test_eq_44_corrected_keeps_the_energy_and_the_general_equation_agrees():
    end = simulated(motion(corrected), 1e-13)
    assert abs(energy(end) / energy(start()) - 1.0) <= 1e-11

    h = np.concatenate([L[3:], L[:3]])  # gyrostat's order; P = 0, so about any point

    def ours(_, y):
        q, qdot = y[: 7 + N], y[7 + N :]
        v = np.concatenate([base_velocity_from_momentum(CRAFT, q, qdot, h), qdot])
        qddot = reduced_forward_dynamics(CRAFT, q, qdot, np.zeros(N), momentum=h)
        return np.concatenate([gs.configuration_rate(CRAFT, q, v), qddot])

    again = simulated(ours, 1e-13)
    assert np.abs(again - end).max() < 1e-10
    q, qdot = again[: 7 + N], again[7 + N :]
    v = np.concatenate([base_velocity_from_momentum(CRAFT, q, qdot, h), qdot])
    assert abs(gs.kinetic_energy(CRAFT, q, v) / energy(start()) - 1.0) <= 1e-11


def test_eq_44_as_printed_loses_the_energy_by_order_one():
    end = simulated(motion(printed), 1e-8)
    assert abs(energy(end) / energy(start()) - 1.0) > 0.1
