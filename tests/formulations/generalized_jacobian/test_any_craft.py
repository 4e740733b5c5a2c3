"""The generalised Jacobian for any tree and any joint kind: a hundred random crafts, branching ones with wheels
included.
"""

import numpy as np
import pytest

import gyrostat as gs
from exact import exact, exact_craft, floats, rate
from gyrostat.formulations import generalized_jacobian as gj
from gyrostat.formulations.generalized_jacobian.accelerations import bias, to_paper
from gyrostat.formulations.generalized_jacobian.base_inverse import base_inertia_inverse
from gyrostat.formulations.generalized_jacobian.craft_links import craft_link_rates, craft_links
from gyrostat.formulations.generalized_jacobian.inertia_blocks import inertia_blocks
from gyrostat.formulations.generalized_jacobian.reduced_equations import (
    generalized_inertia as paper_generalized_inertia,
)
from gyrostat.tracing import compile
from random_trees import random_spacecraft, random_state
from wilde_arms import close

HUNDRED = range(100)
POINT = (0.1, -0.2, 0.3)


def case(seed):
    craft = random_spacecraft(seed, base="free", links=3 + seed % 7)
    return craft, *random_state(craft, seed + 1000)


def near(x, y, scale):
    assert np.abs(np.asarray(x) - y).max(initial=0.0) <= 1e-12 * scale


@pytest.mark.parametrize("seed", HUNDRED)
def test_inertia_and_jacobian_equal_elimination_from_the_mass_matrix(seed):
    craft, q, _ = case(seed)
    M, J = gs.mass_matrix(craft, q), gs.jacobian(craft, q, "tool", POINT)
    X = np.linalg.solve(M[:6, :6], M[:6, 6:])
    H_star = M[6:, 6:] - M[6:, :6] @ X
    size = np.abs(M[6:, 6:]).max(initial=1.0)
    near(gj.generalized_inertia(craft, q), H_star, size)
    links = craft_links(craft, q)
    # the paper's sums
    near(paper_generalized_inertia(inertia_blocks(links), base_inertia_inverse(links)), H_star, size)
    J_star = J[:, 6:] - J[:, :6] @ X
    near(gj.generalized_jacobian(craft, q, "tool", POINT), J_star, np.abs(J).max())


@pytest.mark.parametrize("seed", HUNDRED)
def test_velocity_terms_equal_elimination_from_the_bias_force(seed):
    """C* by the recursive bias force and by the paper's links, at zero momentum; energy says qdot.C* = 1/2 qdot^T H*'
    qdot.
    """
    craft, q, v = case(seed)
    qdot = v[6:]
    V_0 = gj.base_velocity_from_momentum(craft, q, qdot)
    v = np.concatenate([V_0, qdot])
    M, h = gs.mass_matrix(craft, q), gs.bias_force(craft, q, v)
    expected = h[6:] - M[6:, :6] @ np.linalg.solve(M[:6, :6], h[:6])
    scale = np.abs(h).max()
    C, c = gj.generalized_coriolis(craft, q, qdot)
    near(C, expected, scale)
    links = craft_links(craft, q)
    by_links = bias(links, craft_link_rates(craft, q, v), to_paper(craft, q, v), qdot)
    H, inverse = inertia_blocks(links), base_inertia_inverse(links)
    near(by_links.joints - H.H_0m.T @ inverse @ by_links.base, expected, scale)
    Hdot = gj.generalized_inertia_rate(craft, q, qdot)
    near(c, C - Hdot @ qdot, scale)
    near(qdot @ C, 0.5 * qdot @ Hdot @ qdot, scale * np.abs(qdot).sum() + 1)


@pytest.mark.parametrize("seed", HUNDRED)
def test_forward_dynamics_equals_the_recursive_one(seed):
    """By its backward error, and the reduced equation with momentum by the full one."""
    craft, q, v = case(seed)
    rng = np.random.default_rng(seed)
    tau, wrenches = rng.normal(size=craft.nv), rng.normal(size=(craft.nbodies, 6))
    vdot = gj.forward_dynamics(craft, q, v, tau, wrenches=wrenches)
    bias_force = gs.bias_force(craft, q, v)
    scale = np.abs(tau).max() + np.abs(bias_force).max()
    near(gs.inverse_dynamics(craft, q, v, vdot, wrenches=wrenches), tau, scale)
    tau[:6] = 0.0
    momentum = gs.momentum(craft, q, v)
    qddot = gj.reduced_forward_dynamics(craft, q, v[6:], tau[6:], momentum=momentum, wrenches=wrenches)
    full = gs.forward_dynamics(craft, q, v, tau, wrenches=wrenches)
    H_star = gj.generalized_inertia(craft, q)
    near(H_star @ (qddot - full[6:]), 0.0, scale)


@pytest.mark.parametrize("seed", range(0, 100, 5))
def test_prescribed_joints_follow(seed):
    craft, q, v = case(seed)
    rng = np.random.default_rng(seed)
    tau = rng.normal(size=craft.nv)
    moving = [joint for joint in craft.joints[1:] if joint.nv]
    for followed in (moving[:1], moving, [craft.joints[0]], [craft.joints[0], *moving[-1:]]):
        prescribed = {joint.name: rng.normal(size=joint.nv) for joint in followed}
        vdot = gj.forward_dynamics(craft, q, v, tau, prescribed=prescribed)
        expected = gs.forward_dynamics(craft, q, v, tau, prescribed=prescribed)
        close(vdot, expected, 1e-11)  # cond(H*) of these crafts reaches 1e4


@pytest.mark.parametrize("seed", HUNDRED)
def test_base_velocity_from_momentum(seed):
    craft, q, v = case(seed)
    momentum = gs.momentum(craft, q, v)
    near(gj.base_velocity_from_momentum(craft, q, v[6:], momentum), v[:6], np.abs(v).max() * 10)
    floating = np.concatenate([gj.base_velocity_from_momentum(craft, q, v[6:]), v[6:]])
    near(gs.momentum(craft, q, floating), 0.0, np.abs(momentum).max())


@pytest.mark.parametrize("seed", range(0, 100, 10))
def test_rates_are_derivatives(seed):
    """dH*/dt and dJ*/dt against derivatives exact to thirty digits, every joint kind."""
    craft, q, v = case(seed)
    craft_, q_, v_ = exact_craft(craft), exact(q), exact(v)
    Hdot = rate(lambda at, _: gj.generalized_inertia(craft_, at), craft_, q_, v_)
    Jdot = rate(lambda at, _: gj.generalized_jacobian(craft_, at, "tool", POINT), craft_, q_, v_)
    close(gj.generalized_inertia_rate(craft, q, v[6:]), floats(Hdot), 1e-11)
    close(gj.generalized_jacobian_rate(craft, q, v, "tool", POINT), floats(Jdot), 1e-11)


@pytest.mark.parametrize("seed", range(10))
def test_generalized_inertia_does_not_depend_on_the_base(seed):
    craft, q, _ = case(seed)
    moved = np.concatenate([gs.step_configuration(craft, q, np.arange(1.0, craft.nv + 1))[:7], q[7:]])
    assert np.array_equal(gj.generalized_inertia(craft, q), gj.generalized_inertia(craft, moved))
    close(
        gj.generalized_jacobian_in_base(craft, q, "tool"), gj.generalized_jacobian_in_base(craft, moved, "tool"), 1e-15
    )


@pytest.mark.parametrize("base", ["fixed", "spherical", "planar"])
def test_other_bases_are_refused_by_name(base):
    craft = random_spacecraft(3, base=base)
    assert base in gj.supports(craft)
    with pytest.raises(ValueError, match="base joint 'base_joint'.*free base joint"):
        gj.generalized_inertia(craft, gs.neutral(craft))


def test_free_bases_are_supported():
    assert gj.supports(random_spacecraft(3, base="free")) is None


def test_wrong_shapes_are_explained():
    craft, q, v = case(0)
    with pytest.raises(ValueError, match=r"joint_rates has shape .* expected .*the base is eliminated"):
        gj.base_velocity_from_momentum(craft, q, v)
    with pytest.raises(ValueError, match=r"momentum has shape \(3,\); expected \(6,\)"):
        gj.base_velocity_from_momentum(craft, q, v[6:], np.zeros(3))


def test_a_craft_without_joints_has_empty_matrices():
    craft = gs.Spacecraft.build("rigid", [gs.Body("base", 10.0, inertia=(1.0, 2.0, 2.5))])
    q = gs.neutral(craft)
    assert gj.generalized_inertia(craft, q).shape == (0, 0)
    assert gj.generalized_jacobian(craft, q, "base").shape == (6, 0)
    v, tau = np.arange(6.0), np.ones(6)
    close(gj.forward_dynamics(craft, q, v, tau), gs.forward_dynamics(craft, q, v, tau))


def _carrier(craft):
    """A link with a mass of its own: no wheel."""
    return next(body.name for body in craft.bodies[2:] if body.joint.kind != "wheel")


@pytest.mark.parametrize("seed", [0, 7])
def test_compiled_with_masses_as_inputs(seed):
    """Every joint kind and wheels traced; dispersed mass properties are inputs."""
    craft, q, v = case(seed)
    tau = np.random.default_rng(seed).normal(size=craft.nv)
    values = {"base.mass": 31.0, "base.com": np.array([0.1, -0.2, 0.05]), f"{_carrier(craft)}.mass": 2.5}
    other = craft.with_values(values)
    kernel = compile(gj.forward_dynamics, craft, parameters=list(values))
    close(kernel(q, v, tau, parameters=values), gs.forward_dynamics(other, q, v, tau), 1e-10)
    kernel = compile(gj.generalized_inertia, craft, parameters=list(values))
    close(kernel(q, parameters=values), gj.generalized_inertia(other, q))
