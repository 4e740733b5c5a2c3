"""Loads of constraints on trees: against the whole system of equations, against joints of the model, redundant and
driven.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import constraints as gc
from gyrostat.algebra import Pose, cross, sin
from gyrostat.constraints.tree import free_response
from gyrostat.formulations import dual_quaternion
from gyrostat.kinematics import inertial_poses as poses
from gyrostat.model.assembly import together
from gyrostat.papers.forbes2019 import crafts
from random_trees import random_spacecraft, random_state

NONE = gc.NO_STABILISATION


def jacobian(craft, q, constraints, t=0.0):
    """Pi (rows, nv), column by column."""
    still = gc.residuals(craft, t, q, np.zeros(craft.nv), constraints).velocity
    return np.array([gc.residuals(craft, t, q, e, constraints).velocity - still for e in np.eye(craft.nv)]).T


def loops(seed):
    """A random tree whose last body is bound to an earlier one by three constraints that any state can satisfy in
    velocity.
    """
    craft = random_spacecraft(
        seed, links=7, base="free", kinds=("revolute", "prismatic", "spherical", "cartesian", "universal", "wheel")
    )
    q, v = random_state(craft, seed)
    bodies = [b.name for b in craft.bodies if b.joint.kind != "wheel"]
    X = poses(craft, q)

    def relative(a, b):
        return Pose(X[a].R.T @ X[b].R, X[a].R.T @ (X[b].p - X[a].p))

    constraints = [
        gc.as_it_is(gc.point(bodies[1], bodies[-1]), relative(bodies[1], bodies[-1])),
        gc.as_it_is(gc.parallel(bodies[2], bodies[-1], (1, 0, 1)), relative(bodies[2], bodies[-1])),
        gc.distance("N", bodies[-1], float(np.linalg.norm(X[bodies[-1]].p))),
    ]
    _, v = gc.project(craft, 0.0, q, v, constraints)
    return craft, q, v, constraints


@pytest.mark.parametrize("seed", range(6))
def test_against_the_whole_system(seed):
    """M vdot + b = tau + Pi^T lambda + wrenches and d/dt (Pi v) = 0, by the dense matrices and by differences in
    time.
    """
    craft, q, v, constraints = loops(seed)
    rng = np.random.default_rng(seed)
    tau, wrenches = rng.normal(size=craft.nv), rng.normal(size=(craft.nbodies, 6))
    options = {"wrenches": wrenches, "stabilisation": NONE}
    loads = gc.constraint_loads(craft, 0.0, q, v, tau, constraints, **options)
    vdot = gc.constrained_forward_dynamics(craft, 0.0, q, v, tau, constraints, **options)
    Pi = jacobian(craft, q, constraints)
    balance = gs.mass_matrix(craft, q) @ vdot + gs.bias_force(craft, q, v, wrenches=wrenches) - tau
    assert np.abs(balance - Pi.T @ loads.multipliers).max() < 1e-10 * np.abs(tau).max() * max(
        1.0, np.abs(loads.multipliers).max()
    )
    h = 1e-5

    def rate(s):
        return gc.residuals(
            craft, 0.0, gs.step_configuration(craft, q, s * v + 0.5 * s * s * vdot), v + s * vdot, constraints
        ).velocity

    assert np.abs(rate(h) - rate(-h)).max() / (2 * h) < 1e-6 * (1.0 + np.abs(vdot).max())


def opened(craft, name):
    """The craft with the joint of body `name` cut: the body moves freely on the world, a frame marks where it was
    mounted.
    """
    joint = craft.joint(name)
    mount = gs.Frame("mount", joint.parent, joint.position, joint.rotation)
    bodies = [
        replace(b, joint=gs.Joint(b.joint.name, "free", craft.base)) if b.name == name else b for b in craft.bodies
    ]
    return gs.Spacecraft.build("opened", bodies, frames=[*craft.frames, mount])


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "cylindrical", "spherical", "planar", "universal", "fixed"])
def test_a_joint_replaced_by_its_constraint(kind):
    """Same accelerations as the tree with the joint, and the constraint's wrench is the joint's reaction wrench."""
    rng = np.random.default_rng(4)
    axis, axis2 = np.array([0.0, 0.6, 0.8]), np.array([1.0, 0.0, 0.0])
    base = random_spacecraft(11, links=2, base="free", kinds=("revolute",), rotors=False)
    joint = gs.Joint("probe", kind, "body_2", (0.4, -0.2, 0.3), gs.algebra.rotation(rng.normal(size=4)), axis, axis2)
    tip = gs.Body("tip", 3.0, (0.3, 0.1, -0.2), (0.3, 0.4, 0.5), joint)
    craft = gs.Spacecraft.build("closed", [*base.bodies, tip])
    q, v = random_state(craft, 5)
    tau = rng.normal(size=craft.nv)
    tau[craft.joint("tip").v_at] = 0.0
    vdot = gs.forward_dynamics(craft, q, v, tau)
    reaction = gs.reaction_wrenches(craft, q, v, vdot)[craft.index("tip")]

    cut = opened(craft, "tip")
    arguments = {
        "revolute": (axis,),
        "prismatic": (axis,),
        "cylindrical": (axis,),
        "planar": (axis,),
        "universal": (axis, axis2),
    }
    bound = getattr(gc, {"fixed": "weld"}.get(kind, kind))("mount", "tip", *arguments.get(kind, ()))
    X, J = poses(craft, q)["tip"], gs.jacobian(craft, q, "tip")
    X_base = poses(craft, q)["base"]
    relative = Pose(X_base.R.T @ X.R, X_base.R.T @ (X.p - X_base.p))
    q_cut = np.concatenate([q[: craft.joint("tip").q_at.start], gs.algebra.quat_from_rotation(relative.R), relative.p])
    # relative twist of the tip on the base, about its origin in its axes
    w, v_tip = X.R.T @ (J @ v)[:3], X.R.T @ (J @ v)[3:]
    w_base, v_base = X_base.R @ v[:3], X_base.R @ v[3:6]
    own = np.concatenate([w - X.R.T @ w_base, v_tip - X.R.T @ (v_base + cross(w_base, X.p - X_base.p))])
    v_cut = np.concatenate([v[: craft.joint("tip").v_at.start], own])
    tau_cut = np.concatenate([tau[: craft.joint("tip").v_at.start], np.zeros(6)])

    held = gc.residuals(cut, 0.0, q_cut, v_cut, [bound])
    assert max(np.abs(held.position).max(), np.abs(held.velocity).max()) < 1e-12
    loads = gc.constraint_loads(cut, 0.0, q_cut, v_cut, tau_cut, [bound], stabilisation=NONE)
    found = gc.constrained_forward_dynamics(cut, 0.0, q_cut, v_cut, tau_cut, [bound], stabilisation=NONE)
    size = np.abs(vdot).max()
    shared = slice(0, craft.joint("tip").v_at.start)
    assert np.abs(found[shared] - vdot[shared]).max() < 1e-10 * size
    assert np.abs(loads.wrenches[cut.index("tip")] - reaction).max() < 1e-10 * np.abs(reaction).max()
    # the same on the second frame, about its origin, in N
    in_N = np.concatenate([X.R @ reaction[:3], X.R @ reaction[3:]])
    assert np.abs(loads.on_second[0] - in_N).max() < 1e-10 * np.abs(reaction).max()


def test_loads_on_the_two_frames_are_opposite_whatever_the_drift():
    """The sum of all wrenches about the inertial origin is zero even where the constraint is open by centimetres."""
    craft, q = crafts.pair()
    rng = np.random.default_rng(6)
    v, tau = 0.1 * rng.normal(size=craft.nv), rng.normal(size=craft.nv)
    constraints = [gc.weld("hand_L", "grip_L"), gc.distance("hand_R", "grip_R", 0.4)]
    loads = gc.constraint_loads(craft, 0.0, q, v, tau, constraints)
    X = poses(craft, q)
    total = np.zeros(6)
    for (B, _), wrench in zip(craft.base_to_tip, loads.wrenches, strict=True):
        total += gs.algebra.wrench_to_parent(X[B], wrench)
    assert np.abs(loads.wrenches).max() > 1.0 and np.abs(total).max() < 1e-12 * np.abs(loads.wrenches).max() * 10


def test_four_bar_is_redundant_and_gets_the_least_multipliers():
    craft, constraints, q = crafts.four_bar()
    rng = np.random.default_rng(7)
    _, v = gc.project(craft, 0.0, q, rng.normal(size=craft.nv), constraints)
    tau = rng.normal(size=craft.nv)
    Pi = jacobian(craft, q, constraints)
    assert Pi.shape[0] == 5 and np.linalg.matrix_rank(Pi, tol=1e-9) == 2
    loads = gc.constraint_loads(craft, 0.0, q, v, tau, constraints, stabilisation=NONE)
    vdot = gc.constrained_forward_dynamics(craft, 0.0, q, v, tau, constraints, stabilisation=NONE)
    M, b = gs.mass_matrix(craft, q), gs.bias_force(craft, q, v)
    free = np.linalg.solve(M, tau - b)
    h = 1e-5
    turned = [jacobian(craft, gs.step_configuration(craft, q, s * v), constraints) for s in (h, -h)]
    gamma = (turned[0] - turned[1]) / (2 * h) @ v
    best = np.linalg.pinv(Pi @ np.linalg.solve(M, Pi.T), rcond=1e-9) @ -(gamma + Pi @ free)
    assert np.abs(loads.multipliers - best).max() < 1e-6 * np.abs(best).max()
    assert np.abs(M @ vdot + b - tau - Pi.T @ loads.multipliers).max() < 1e-10 * np.abs(tau).max()


def test_any_formulation_moves_the_constrained_craft():
    craft, q, v, constraints = loops(2)
    tau = np.random.default_rng(2).normal(size=craft.nv)
    usual = gc.constrained_forward_dynamics(craft, 0.0, q, v, tau, constraints)
    other = gc.constrained_forward_dynamics(
        craft, 0.0, q, v, tau, constraints, formulation=dual_quaternion.forward_dynamics
    )
    assert np.abs(usual - other).max() < 1e-9 * np.abs(usual).max()


def test_prescribed_joints_stay_prescribed():
    craft, constraints, q = crafts.four_bar()
    bus = gs.Joint("hold", "fixed")
    held = gs.Spacecraft.build("held", [replace(craft.bodies[0], joint=bus), *craft.bodies[1:]], frames=craft.frames)
    q, v, tau = q[7:], np.zeros(3), np.zeros(3)
    vdot = gc.constrained_forward_dynamics(
        held, 0.0, q, v, tau, constraints, prescribed={"crank": 0.7}, stabilisation=NONE
    )
    assert vdot[0] == pytest.approx(0.7, abs=1e-14)
    assert np.abs(jacobian(held, q, constraints) @ vdot).max() < 1e-12  # at rest: Pi vdot = 0
    assert np.abs(vdot[1:]).min() > 1e-2


def test_driven_distance_is_followed():
    """Two free bodies on a rod whose length is prescribed: the distance's second derivative is the motion's."""
    one = gs.Spacecraft.build("one", [gs.Body("a", 2.0, inertia=(1, 1, 1))])
    two = gs.Spacecraft.build("two", [gs.Body("b", 3.0, inertia=(1, 1, 1))])
    craft = together("rod", [one, two])
    q = gs.neutral(craft)
    q[11] = 2.0
    rod = gc.driven(gc.distance("a", "b", 2.0), lambda t: 0.1 * sin(t) * t)
    t = 0.5
    constraints = [rod]
    q, v = gc.project(craft, t, q, np.zeros(craft.nv), constraints)
    vdot = gc.constrained_forward_dynamics(craft, t, q, v, np.zeros(craft.nv), constraints, stabilisation=NONE)
    r, rdot, rddot = q[11:14] - q[4:7], v[9:12] - v[3:6], vdot[9:12] - vdot[3:6]
    length = np.linalg.norm(r)
    assert length == pytest.approx(2.0 + 0.1 * np.sin(t) * t, rel=1e-13)
    second_derivative = (rdot @ rdot + r @ rddot - (r @ rdot / length) ** 2) / length
    assert second_derivative == pytest.approx(0.1 * (2 * np.cos(t) - t * np.sin(t)), rel=1e-12)
    momentum = 2.0 * vdot[3:6] + 3.0 * vdot[9:12]
    assert np.abs(momentum).max() < 1e-13


def test_baumgarte_pulls_an_open_constraint_back():
    """With frequency f and damping z: the second derivative of psi is -2 z f psidot - f^2 psi."""
    craft, q = crafts.pair()
    constraints = [gc.point("hand_L", "grip_L")]
    v = 0.05 * np.random.default_rng(8).normal(size=craft.nv)
    how = gc.Stabilisation(3.0, 0.7)
    before = gc.residuals(craft, 0.0, q, v, constraints)
    vdot = gc.constrained_forward_dynamics(craft, 0.0, q, v, np.zeros(craft.nv), constraints, stabilisation=how)
    h = 1e-5
    rates = [
        gc.residuals(
            craft, 0.0, gs.step_configuration(craft, q, s * v + 0.5 * s * s * vdot), v + s * vdot, constraints
        ).velocity
        for s in (h, -h)
    ]
    found = (rates[0] - rates[1]) / (2 * h)
    assert np.abs(found + 2 * 0.7 * 3.0 * before.velocity + 9.0 * before.position).max() < 1e-6


def test_nonholonomic_rows_have_no_position_term():
    craft, constraints = crafts.sleigh()
    moved = gs.neutral(craft)
    moved[4:6] = 3.0, -2.0
    v = np.zeros(6)
    v[2], v[3] = 1.3, 0.8
    slow = gc.constrained_forward_dynamics(craft, 0.0, moved, v, np.zeros(6), constraints, stabilisation=NONE)
    fast = gc.constrained_forward_dynamics(
        craft, 0.0, moved, v, np.zeros(6), constraints, stabilisation=gc.Stabilisation(9.0)
    )
    assert np.abs(slow - fast).max() < 1e-13


def test_the_solve_compiles_and_a_loop_costs_its_own_size():
    """Ten more links on another branch cost what they cost without the loop."""

    def bodies(extra):
        base = [gs.Body("bus", 50.0, inertia=(5, 6, 7))]
        for branch, n in (("a", 3), ("b", 3), ("c", extra)):
            parent = "bus"
            for k in range(n):
                joint = gs.Joint(
                    f"{branch}{k}", "revolute", parent, (0.5, 0.1, 0.0), axis=(0, 1, 0) if k % 2 else (0, 0, 1)
                )
                base.append(gs.Body(f"link_{branch}{k}", 2.0, (0.2, 0.0, 0.0), (0.1, 0.2, 0.2), joint))
                parent = f"link_{branch}{k}"
        return gs.Spacecraft.build("branches", base)

    def operations(function, craft):
        return len(gs.tracing.trace(function, craft).nodes)

    loop = [gc.point("link_a2", "link_b2")]
    closed = lambda craft, q, v, tau: gc.constrained_forward_dynamics(craft, 0.0, q, v, tau, loop)
    small, large = bodies(1), bodies(11)
    more_open = operations(gs.forward_dynamics, large) - operations(gs.forward_dynamics, small)
    more_closed = operations(closed, large) - operations(closed, small)
    assert more_closed < 2.2 * more_open  # free and constrained accelerations are two solutions with shared inertias
    kernel = gs.compile(closed, small)
    q, v = random_state(small, 3)
    tau = np.ones(small.nv)
    assert np.abs(kernel(q, v, tau) - closed(small, q, v, tau)).max() < 1e-10


def test_by_default_violations_die_out_as_a_critically_damped_oscillator_of_1_rad_per_s():
    """A free body 3 cm off the plane that holds it and moving at 2 cm/s: x'' = -2 x' - x."""
    craft = gs.Spacecraft.build("one", [gs.Body("b", 2.0, inertia=(1, 1, 1))])
    q, v = gs.neutral(craft), np.zeros(6)
    q[6], v[5] = 0.03, 0.02
    for given, (w, z) in (({}, (1.0, 1.0)), ({"stabilisation": gc.Stabilisation(3.0, 0.4)}, (3.0, 0.4))):
        vdot = gc.constrained_forward_dynamics(craft, 0.0, q, v, np.zeros(6), [gc.plane("N", "b")], **given)
        assert vdot[5] == pytest.approx(-2 * z * w * 0.02 - w * w * 0.03, rel=1e-12)


@pytest.mark.parametrize("angle, both", [(3e-5, True), (3e-6, False)])
def test_nearly_parallel_rows_act_both_or_as_one_by_the_stated_threshold(angle, both):
    """Two planes at a small angle hold a body pulled along their common line's normal: both directions, or, nearer than
    1e-5, one.
    """
    craft = gs.Spacecraft.build("one", [gs.Body("b", 2.0, inertia=(1, 1, 1))])
    planes = [gc.plane("N", "b", (0, 0, 1)), gc.plane("N", "b", (0, np.sin(angle), np.cos(angle)))]
    pull = np.array([0.0, 0.0, 0.0, 0.0, 5.0, 7.0])
    vdot = gc.constrained_forward_dynamics(craft, 0.0, gs.neutral(craft), np.zeros(6), pull, planes, stabilisation=NONE)
    assert vdot[5] == pytest.approx(0.0, abs=1e-4)
    assert vdot[4] == pytest.approx(0.0 if both else 2.5, abs=1e-3)


def test_the_response_of_a_free_body_by_itself():
    """Of a row of force through its centre of mass 1/m; of couple, for equal moments of inertia J, 1/(3 J) and so of
    that order.
    """
    craft = gs.Spacecraft.build("ball", [gs.Body("ball", 4.0, inertia=(2.0, 2.0, 2.0))])
    np.testing.assert_allclose(free_response(craft, {"ball": np.eye(6)}, 6), [1 / 6] * 3 + [1 / 4] * 3)
    np.testing.assert_allclose(free_response(craft, {"ball": 2.0 * np.eye(6)}, 6), [4 / 6] * 3 + [4 / 4] * 3)
