"""The dynamically equivalent manipulator moves as the free-floating craft does; where there is none, it says why."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import gyrostat as gs
from backward_error import relative
from gyrostat.formulations import lie_lagrange as lie
from gyrostat.formulations.lie_lagrange.equivalent_manipulator import (
    equivalent_force,
    equivalent_manipulator,
    equivalent_state,
    space_state,
    supports,
)
from gyrostat.tracing import compile
from lie_crafts import chain, reduced
from random_trees import random_spacecraft, random_state

CHAINS = {
    "turning": ["revolute"] * 6,
    "with a slide": ["revolute", "prismatic", "revolute", "prismatic"],
    "groups": ["spherical", "cylindrical", "planar", "cartesian", "free"],
    "fixed link": ["revolute", "fixed", "revolute"],
    "one link": ["revolute"],
}


def cases():
    return [
        pytest.param(chain(i, kinds, wheels=w), id=f"{name}{', wheels' * w}")
        for i, (name, kinds) in enumerate(CHAINS.items())
        for w in (False, True)
    ]


def factors(craft, q, v):
    """v of the equivalent manipulator per v of the craft."""
    return equivalent_state(craft, q, np.ones(craft.nv)).v


@pytest.mark.parametrize("craft", cases())
def test_eq41_mass_matrix_is_the_reduced_one_of_the_craft(craft):
    """M' = M~ to 1e-12 for every q tried; slides are scaled, so M~ = D M' D."""
    manipulator = equivalent_manipulator(craft)
    for seed in range(10):
        q, v = random_state(craft, seed)
        D = factors(craft, q, v)
        M = gs.mass_matrix(manipulator, equivalent_state(craft, q, v).q)
        assert relative(D[:, None] * M * D, lie.reduced_mass_matrix(craft, q)) < 1e-12


@pytest.mark.parametrize("craft", cases())
def test_eq44_accelerations_at_any_momentum_and_load(craft):
    """Linear and angular momentum, base couple, base force: all non-zero."""
    manipulator = equivalent_manipulator(craft)
    for seed in range(4):
        q, v = random_state(craft, seed)
        tau = np.random.default_rng(seed).normal(size=craft.nv)
        state = equivalent_state(craft, q, v)
        expected = reduced(gs.forward_dynamics(craft, q, v, tau)) * factors(craft, q, v)
        for forward_dynamics in (gs.forward_dynamics, lie.forward_dynamics):
            found = forward_dynamics(manipulator, state.q, state.v, equivalent_force(craft, q, tau))
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("craft", cases())
def test_eq43_coriolis_matrix_is_the_reduced_one(craft):
    manipulator = equivalent_manipulator(craft)
    q, v = random_state(craft, 3)
    D, state = factors(craft, q, v), equivalent_state(craft, q, v)
    C = lie.coriolis_matrix(manipulator, state.q, state.v)
    assert relative(D[:, None] * C * D, lie.reduced_coriolis_matrix(craft, q, reduced(v))) < 1e-12


@pytest.mark.parametrize("craft", cases())
def test_end_effector_stands_where_the_crafts_stands_from_its_centre_of_mass(craft):
    manipulator = equivalent_manipulator(craft)
    for seed in range(4):
        q, v = random_state(craft, seed)
        tip, tool = gs.frame_pose(manipulator, equivalent_state(craft, q, v).q, "tool"), gs.frame_pose(craft, q, "tool")
        np.testing.assert_allclose(tip.p, tool.p - gs.center_of_mass(craft, q), atol=1e-13)
        np.testing.assert_allclose(tip.R, tool.R, atol=1e-14)


@pytest.mark.parametrize("craft", cases())
def test_states_convert_there_and_back(craft):
    q, v = random_state(craft, 5)
    v_cm = gs.momentum(craft, q, v)[3:] / gs.total_mass(craft)
    back = space_state(craft, equivalent_state(craft, q, v), gs.center_of_mass(craft, q), v_cm)
    np.testing.assert_allclose(back.q, q, atol=1e-13)
    np.testing.assert_allclose(back.v, v, atol=1e-12)


def test_eqs35_to_38_by_hand():
    """Masses 4, 2, 2 (Mt = 8): m'_2 = 2 64 / 24, m'_3 = 2 64 / 48; lengths from W and lc as printed."""
    bodies = [
        gs.Body("a", 4.0, (0.1, 0, 0), (1, 2, 3)),
        gs.Body("b", 2.0, (0.5, 0, 0), (0.1, 0.2, 0.3), gs.Joint("jb", "revolute", "a", (1.1, 0, 0))),
        gs.Body("c", 2.0, (0.4, 0, 0), (0.1, 0.2, 0.3), gs.Joint("jc", "revolute", "b", (1.0, 0, 0))),
    ]
    d = equivalent_manipulator(gs.Spacecraft.build("x", bodies, frames=[gs.Frame("tool", "c", (1.0, 0, 0))]))
    np.testing.assert_allclose([body.mass for body in d.bodies[1:]], [128 / 24, 128 / 48])  # (35)
    for body, was in zip(d.bodies, bodies, strict=True):
        np.testing.assert_allclose(body.inertia, was.inertia, atol=1e-15)  # (36)
    np.testing.assert_allclose(d.joint("b").position, [1.0 * 4 / 8, 0, 0])  # (36): W_1 = R_1 m_1 / Mt
    np.testing.assert_allclose(d.joint("c").position, [0.5 * 6 / 8 + 0.5 * 4 / 8, 0, 0])  # (37)
    np.testing.assert_allclose([body.com[0] for body in d.bodies], [0, 0.5 * 4 / 8, 0.4 * 6 / 8])  # (38)
    np.testing.assert_allclose(d.frames[0].position, [0.6 + 0.4 * 6 / 8, 0, 0])
    assert d.bodies[0].joint.kind == "spherical"


def test_links_centres_of_mass_are_jacobi_coordinates():
    """Centre of mass of link i = (S_{i-1} / Mt) (r_i - centre of mass of bodies 1 .. i-1)."""
    craft = chain(3, ["revolute", "prismatic", "revolute"])
    manipulator = equivalent_manipulator(craft)
    q, v = random_state(craft, 1)
    state = equivalent_state(craft, q, v)
    total = gs.total_mass(craft)
    moment, mass = np.zeros(3), 0.0
    for body, link in zip(craft.bodies, manipulator.bodies, strict=True):
        pose, virtual = gs.frame_pose(craft, q, body.name), gs.frame_pose(manipulator, state.q, body.name)
        r = pose.p + pose.R @ body.com
        if mass:
            np.testing.assert_allclose(virtual.p + virtual.R @ link.com, mass / total * (r - moment / mass), atol=1e-13)
        moment, mass = moment + body.mass * r, mass + body.mass


# ---- trajectories


def torques(t, n):
    """Base couple and joint torques that never vanish together."""
    return np.concatenate([0.4 * np.sin(0.7 * t + np.arange(3)), 0.2 * np.cos(0.5 * t + np.arange(n - 3))])


def flown(craft, q, v, tau, seconds, at):
    """q and v at the times `at`, by SciPy's DOP853 on the compiled right-hand side."""
    forward, rate = compile(gs.forward_dynamics, craft), compile(gs.configuration_rate, craft)

    def rhs(t, y):
        q, v = y[: craft.nq], y[craft.nq :]
        return np.concatenate([rate(q, v), forward(q, v, tau(t))])

    solution = solve_ivp(rhs, (0, seconds), np.concatenate([q, v]), "DOP853", at, rtol=1e-12, atol=1e-13)
    assert solution.success, solution.message
    return solution.y[: craft.nq].T, solution.y[craft.nq :].T


@pytest.mark.parametrize("kinds", [["revolute"] * 4, ["revolute", "prismatic", "revolute"]])
def test_trajectories_agree_over_a_minute(kinds):
    """Joints to 1e-9, with linear and angular momentum and a base couple; the tip is the tool's, from the centre of
    mass.
    """
    craft = chain(8, kinds, base_mass=60.0)
    manipulator = equivalent_manipulator(craft)
    q, v = random_state(craft, 2, speed=0.15)
    assert np.abs(gs.momentum(craft, q, v)).min() > 0.05
    D = factors(craft, q, v)
    at = np.linspace(0, 60, 31)

    def tau(t):
        felt = torques(t, craft.nv - 3)
        return np.concatenate([felt[:3], np.zeros(3), felt[3:]])

    in_space = flown(craft, q, v, tau, 60.0, at)
    start = equivalent_state(craft, q, v)
    on_ground = flown(manipulator, start.q, start.v, lambda t: torques(t, craft.nv - 3) / D, 60.0, at)
    for q_space, v_space, q_ground, v_ground in zip(*in_space, *on_ground, strict=True):
        expected = equivalent_state(craft, q_space, v_space)
        np.testing.assert_allclose(q_ground[4:], expected.q[4:], atol=1e-9)
        np.testing.assert_allclose(v_ground, expected.v, atol=1e-9)
        np.testing.assert_allclose(
            q_ground[:4] / np.linalg.norm(q_ground[:4]), expected.q[:4] / np.linalg.norm(expected.q[:4]), atol=1e-9
        )
        tool = gs.frame_pose(craft, q_space, "tool").p - gs.center_of_mass(craft, q_space)
        np.testing.assert_allclose(gs.frame_pose(manipulator, q_ground, "tool").p, tool, atol=1e-9)


def test_equal_joint_angles_alone_are_not_enough():
    """Negative (end of section 5.2): the same q(0) with other joint rates or base rate moves otherwise."""
    craft = chain(8, ["revolute"] * 3)
    manipulator = equivalent_manipulator(craft)
    q, v = random_state(craft, 2)
    start = equivalent_state(craft, q, v)
    true = reduced(gs.forward_dynamics(craft, q, v, 0 * v))
    for wrong in (0 * start.v, np.concatenate([0 * start.v[:3], start.v[3:]])):
        assert np.abs(gs.forward_dynamics(manipulator, start.q, wrong, 0 * start.v) - true).max() > 1e-2


def test_unscaled_slide_is_wrong():
    """Negative: what the paper leaves out. Displacements as they are, not S_{i-1} / Mt of them, give another mass
    matrix.
    """
    craft = chain(1, ["revolute", "prismatic", "revolute"])
    q, _ = random_state(craft, 0)
    naive = gs.mass_matrix(equivalent_manipulator(craft), np.delete(q, [4, 5, 6]))
    M = lie.reduced_mass_matrix(craft, q)
    assert np.abs(naive - M).max() > 1e-2 * np.abs(M).max()


def test_passive_loads_and_limits_of_slides_are_scaled():
    """Spring, damper and friction powers are the same in both."""
    craft = chain(1, ["revolute", "prismatic"])
    slide = replace(
        craft.joints[2], stiffness=50.0, rest=0.1, damping=3.0, friction=0.7, limits=gs.Limits(-0.2, 0.4, 0.5, 20.0)
    )
    bodies = [replace(body, joint=slide) if body.joint.name == slide.name else body for body in craft.bodies]
    craft = gs.Spacecraft.build("sprung", bodies)
    q, v = random_state(craft, 0)
    virtual, state = equivalent_manipulator(craft).joints[2], equivalent_state(craft, q, v)
    x, xd, y, yd = q[-1], v[-1], state.q[-1], state.v[-1]
    assert y / x == pytest.approx(yd / xd) and 0 < y / x < 1
    assert virtual.stiffness * (y - virtual.rest) * yd == pytest.approx(slide.stiffness * (x - slide.rest) * xd)
    assert virtual.damping * yd * yd == pytest.approx(slide.damping * xd * xd)
    assert virtual.friction * yd == pytest.approx(slide.friction * xd)
    assert virtual.limits.effort * virtual.limits.velocity == pytest.approx(slide.limits.effort * slide.limits.velocity)
    assert virtual.limits.upper == pytest.approx(slide.limits.upper * y / x)


# ---- refusals


def test_branched_trees_are_refused_with_the_reason():
    craft = random_spacecraft(3, kinds=("revolute",), base="free")
    reason = supports(craft)
    assert "body 'base' carries" in reason and "one open chain" in reason and "reduced_mass_matrix" in reason
    with pytest.raises(gs.ModelError, match="one open chain"):
        equivalent_manipulator(craft)


def test_no_tree_of_the_same_topology_could_do():
    """Why: joints of two arms on a base feel each other through the centre of mass; those of a fixed-base tree do
    not.
    """
    arms = [
        gs.Body(
            name, 4.0, (0.5, 0.1, 0), (0.1, 0.4, 0.4), gs.Joint(name, "revolute", "base", position, axis=(0, 0.6, 0.8))
        )
        for name, position in (("left", (0.5, 0, 0)), ("right", (-0.5, 0, 0)))
    ]
    craft = gs.Spacecraft.build("two arms", [gs.Body("base", 20.0, inertia=(3, 3, 3)), *arms])
    q, _ = random_state(craft, 1)
    M, M_t = gs.mass_matrix(craft, q), lie.reduced_mass_matrix(craft, q)
    coupling = -M[3:6, 6] @ M[3:6, 7] / gs.total_mass(craft)
    assert M[6, 7] == 0.0 and abs(coupling) > 1e-3
    assert M_t[3, 4] == pytest.approx(coupling, rel=1e-12)


def test_other_refusals():
    craft = chain(1, ["revolute", "cylindrical"])
    bodies = list(craft.bodies)
    fixed = replace(bodies[0], joint=replace(bodies[0].joint, kind="planar"))
    assert "planar joint" in supports(gs.Spacecraft.build("x", [fixed, *bodies[1:]]))
    geared = replace(bodies[2], joint=replace(bodies[2].joint, rotor_inertia=1e-4))
    assert "one number cannot serve both" in supports(gs.Spacecraft.build("x", [*bodies[:2], geared]))
    weightless = replace(bodies[0], mass=0.0)
    assert "has no mass" in supports(gs.Spacecraft.build("x", [weightless, *bodies[1:]]))
