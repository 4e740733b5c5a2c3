"""Equations (62)-(102) and dJ*/dt once more, against the derivatives that tracing takes of the undifferentiated
equations.
"""

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algebra import skew
from gyrostat.formulations import generalized_jacobian as gj
from gyrostat.formulations.generalized_jacobian import reduced_equations as red
from gyrostat.formulations.generalized_jacobian.base_inverse import base_inertia_inverse
from gyrostat.formulations.generalized_jacobian.inertia_blocks import inertia_blocks
from gyrostat.formulations.generalized_jacobian.link_rates import arm_link_rates, point_rate
from gyrostat.formulations.generalized_jacobian.paper import implementations as im
from gyrostat.formulations.generalized_jacobian.paper import point_jacobians as pj
from gyrostat.formulations.generalized_jacobian.paper.block_rates import block_rates
from gyrostat.formulations.generalized_jacobian.paper.joint_derivatives import arm_link_derivatives
from gyrostat.tracing import compile, jacobian_of
from wilde_arms import State, close, frames, links_at, random_arm, random_arm_state, swapped, to_craft

SEEDS = range(3)


def case(seed, n=4):
    arm, craft = random_arm(seed, n=n)
    return arm, craft, random_arm_state(arm, seed)


def quantities(arm, s):
    """Everything that has a derivative in the paper: links, blocks, H*, J* of the end effector."""
    T_J, _ = frames(arm, s)
    links = links_at(arm, s)
    H, inverse, x = inertia_blocks(links), base_inertia_inverse(links), T_J[-1][:3, 3]
    H_star = red.generalized_inertia(H, inverse)
    J_m = pj.manipulator_jacobian(arm, T_J, arm.n, x)
    J_star = pj.generalized_jacobian(pj.base_jacobian(T_J, x), J_m, H, inverse)
    stacked = {name: np.array(getattr(links, name)) for name in ("I", "r", "J_T", "J_R")}
    return {**stacked, **H._asdict(), "H_star": H_star, "J_star": J_star}


def differentiated(arm, s, rates):
    """The same names, by the paper's derivative equations; `rates` are those of the links."""
    links = links_at(arm, s)
    blocks = block_rates(links, rates)
    H_star = red.generalized_inertia_rate(inertia_blocks(links), base_inertia_inverse(links), blocks)
    stacked = {name: np.array(getattr(rates, name)) for name in ("I", "r", "J_T", "J_R")}
    return {**stacked, **blocks._asdict(), "H_star": H_star}


@pytest.mark.parametrize("seed", SEEDS)
def test_eq_62_to_79_time_derivatives(seed):
    arm, _, s = case(seed)

    def moved(t):
        R_0 = s.R_0 + t * (skew(s.w_0) @ s.R_0)
        return quantities(arm, State(s.r_0 + t * s.xdot_0[:3], R_0, s.q + t * s.qdot, s.xdot_0, s.qdot))

    traced = jacobian_of(moved, "t")(0.0)
    T_J, T_L = frames(arm, s)
    ours = differentiated(arm, s, arm_link_rates(arm, T_J, T_L, s.w_0, s.qdot))
    links, x = links_at(arm, s), T_J[-1][:3, 3]
    ours["J_star"] = pj.generalized_jacobian_rate(
        pj.base_jacobian(T_J, x),
        pj.manipulator_jacobian_rate(arm, T_J, arm.n, x, s.w_0, s.qdot),
        inertia_blocks(links),
        base_inertia_inverse(links),
        block_rates(links, arm_link_rates(arm, T_J, T_L, s.w_0, s.qdot)),
        point_rate(T_J, arm.n, x, s.w_0, s.qdot),
    )
    assert ours.keys() == traced.keys()
    for name, value in ours.items():
        close(value, traced[name])


@pytest.mark.parametrize("seed", SEEDS)
def test_eq_80_to_102_joint_derivatives(seed):
    arm, _, s = case(seed)
    traced = jacobian_of(lambda q: quantities(arm, s._replace(q=q)), "q")(s.q)
    T_J, T_L = frames(arm, s)
    for k in range(1, arm.n + 1):
        ours = differentiated(arm, s, arm_link_derivatives(arm, T_J, T_L, s.q, k))
        for name, value in ours.items():
            if name == "H_m" and k == 1:  # zero but for round-off
                assert np.abs(value).max() < 1e-13 * np.abs(inertia_blocks(links_at(arm, s)).H_m).max()
            else:
                close(value, traced[name][..., k - 1])


@pytest.mark.parametrize("seed", SEEDS)
def test_rates_of_any_craft(seed):
    """dH*/dt and dJ*/dt of the top level: chain rule through d/dq of the traced functions."""
    _, craft, s = case(seed)
    q, v = to_craft(craft, s)
    qdot = gs.configuration_rate(craft, q, v)
    dH = jacobian_of(gj.generalized_inertia, "q")(craft, q)
    dJ = jacobian_of(gj.generalized_jacobian, "q")(craft, q, "tool")
    close(gj.generalized_inertia_rate(craft, q, v[6:]), dH @ qdot)
    close(gj.generalized_jacobian_rate(craft, q, v, "tool"), dJ @ qdot)


@pytest.mark.parametrize("seed", range(2))
def test_figure_3_partially_and_fully_symbolic_agree(seed):
    """Both implementations, compiled, on a batch; and the top level, which needs no derivative matrix."""
    arm, craft, _ = case(seed, n=3)
    states = [random_arm_state(arm, 10 * seed + k) for k in range(11)]
    T_J0, q, qdot = (np.array(x) for x in zip(*((s.T_J0, s.q, s.qdot) for s in states), strict=True))
    shapes = {"T_J0": (4, 4), "q": (arm.n,), "qdot": (arm.n,)}
    numbers = compile(im.symbolic_part, None, static={"arm": arm}, inputs=shapes)(T_J0, q, qdot)
    partial = im.numerical_part(numbers, qdot)
    full = compile(im.fully_symbolic, None, static={"arm": arm}, inputs=shapes)(T_J0, q, qdot)
    for name in ("H", "C", "J"):
        close(getattr(partial, name), getattr(full, name))
    for k, s in enumerate(states):
        ours = to_craft(craft, s)[0]
        close(partial.H[k], gj.generalized_inertia(craft, ours))
        close(partial.C[k], gj.generalized_coriolis(craft, ours, s.qdot).C, 1e-11)
        close(swapped(partial.J[k]), gj.generalized_jacobian(craft, ours, "tool"))


def test_compiled_equals_numpy_on_a_batch():
    """H*, J*, the reduced dynamics with momentum and the base's velocity, bit-near to the NumPy functions."""
    arm, craft, _ = case(1)
    n, batch = arm.n, [to_craft(craft, random_arm_state(arm, k)) for k in range(9)]
    q, v = (np.array(x) for x in zip(*batch, strict=True))
    tau, h = np.random.default_rng(0).normal(size=(9, n)), np.array([gs.momentum(craft, *state) for state in batch])
    H = compile(gj.generalized_inertia, craft)(q)
    J = compile(gj.generalized_jacobian, craft, static={"frame": "tool"})(q)
    shapes = {"joint_rates": (n,), "joint_efforts": (n,), "momentum": (6,)}
    qddot = compile(gj.reduced_forward_dynamics, craft, inputs=shapes)(q, v[:, 6:], tau, momentum=h)
    del shapes["joint_efforts"]
    V_0 = compile(gj.base_velocity_from_momentum, craft, inputs=shapes)(q, v[:, 6:], h)
    for k in range(9):
        close(H[k], gj.generalized_inertia(craft, q[k]))
        close(J[k], gj.generalized_jacobian(craft, q[k], "tool"))
        close(qddot[k], gj.reduced_forward_dynamics(craft, q[k], v[k, 6:], tau[k], momentum=h[k]))
        close(V_0[k], v[k, :6])
