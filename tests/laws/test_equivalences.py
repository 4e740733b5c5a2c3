"""The same spacecraft described in two ways moves alike: other inertial frames, other orders, wheels,
rotors, locked joints.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import gyrostat as gs
from exact import exact, exact_rotation, exact_scalar, size
from exact_cases import SEEDS, state
from gyrostat.algebra import Pose, compose, cross, rigid_inertia, rigid_inertia_to_parent, rotation
from random_trees import random_inertia, random_rotation, random_spacecraft, random_state

FREE = [seed for seed in SEEDS if state(seed).rough.joints[0].kind == "free"]


def moved(craft: gs.Spacecraft, X: Pose) -> gs.Spacecraft:
    """The craft in another inertial frame N', X = X_N'N: its base joint is displaced and turned there."""
    base, *rest = craft.bodies
    X_NJ = compose(X, Pose(base.joint.rotation, base.joint.position))
    return replace(craft, bodies=(replace(base, joint=replace(base.joint, rotation=X_NJ.R, position=X_NJ.p)), *rest))


# ---- the inertial frame


@pytest.mark.parametrize("seed", SEEDS)
def test_the_choice_of_inertial_frame_changes_no_dynamics(seed):
    s = state(seed)
    rng = np.random.default_rng(seed)
    X = Pose(exact_rotation(random_rotation(rng)), exact(rng.normal(size=3)))
    other = moved(s.craft, X)
    for function, args in (
        (gs.mass_matrix, (s.q,)),
        (gs.bias_force, (s.q, s.v)),
        (gs.kinetic_energy, (s.q, s.v)),
        (gs.forward_dynamics, (s.q, s.v, s.tau)),
        (gs.reaction_wrenches, (s.q, s.v, s.vdot)),
    ):
        here, there = function(s.craft, *args), function(other, *args)
        assert size(here - there) < 1e-60 * size(here), function.__name__
    h, com = gs.momentum(s.craft, s.q, s.v), gs.center_of_mass(s.craft, s.q)
    linear = X.R @ h[3:]
    turned = np.concatenate([X.R @ h[:3] + cross(X.p, linear), linear])
    assert size(gs.momentum(other, s.q, s.v) - turned) < 1e-60 * size(turned)
    assert size(gs.center_of_mass(other, s.q) - (X.p + X.R @ com)) < 1e-60
    for J, there in (
        (gs.jacobian(s.craft, s.q, "tool"), gs.jacobian(other, s.q, "tool")),
        (gs.jacobian_rate(s.craft, s.q, s.v, "tool"), gs.jacobian_rate(other, s.q, s.v, "tool")),
    ):
        assert size(np.concatenate([X.R @ J[:3], X.R @ J[3:]]) - there) < 1e-60


@pytest.mark.parametrize("seed", FREE)
def test_where_a_free_base_is_changes_no_dynamics(seed):
    s = state(seed)
    rng = np.random.default_rng(seed)
    q = s.q.copy()
    q[:7] = np.concatenate([exact(rng.normal(size=4)), exact(10 * rng.normal(size=3))])
    here = gs.forward_dynamics(s.craft, s.q, s.v, s.tau, wrenches=s.wrenches)
    assert size(here - gs.forward_dynamics(s.craft, q, s.v, s.tau, wrenches=s.wrenches)) < 1e-60 * size(here)


@pytest.mark.parametrize("seed", FREE)
def test_a_moving_inertial_frame_changes_no_forces(seed):
    """Galilei: u added to the base's velocity (fixed in N) turns in B, so v_B' changes by -w x u; all else stays."""
    s = state(seed)
    u_B = rotation(s.q[:4]).T @ exact([3.0, -2.0, 7.0])
    v = s.v.copy()
    v[3:6] = v[3:6] + u_B
    expected = gs.forward_dynamics(s.craft, s.q, s.v, s.tau, wrenches=s.wrenches)
    expected[3:6] = expected[3:6] - cross(s.v[:3], u_B)
    found = gs.forward_dynamics(s.craft, s.q, v, s.tau, wrenches=s.wrenches)
    assert size(found - expected) < 1e-60 * size(expected)


@pytest.mark.parametrize("seed", FREE)
def test_norm_and_sign_of_quaternions_do_not_matter(seed):
    s = state(seed)
    q = s.q.copy()
    for joint in s.craft.joints:
        if joint.kind in ("free", "spherical"):
            at = slice(joint.q_at.start, joint.q_at.start + 4)
            q[at] = -3 * q[at]
    for function, args in ((gs.mass_matrix, ()), (gs.bias_force, (s.v,)), (gs.forward_dynamics, (s.v, s.tau))):
        here = function(s.craft, s.q, *args)
        assert size(here - function(s.craft, q, *args)) < 1e-60 * size(here), function.__name__


# ---- the order of bodies


@pytest.mark.parametrize("seed", SEEDS)
def test_the_order_in_which_bodies_are_given_changes_nothing(seed):
    craft = state(seed).rough
    rng = np.random.default_rng(seed)
    other = gs.Spacecraft.build("shuffled", [craft.bodies[i] for i in rng.permutation(craft.nbodies)])
    q, v = random_state(craft, seed)
    tau, wrenches = rng.normal(size=craft.nv), rng.normal(size=(craft.nbodies, 6))
    to_q = np.concatenate([np.arange(craft.nq)[craft.joint_named(j.name).q_at] for j in other.joints])
    to_v = np.concatenate([np.arange(craft.nv)[craft.joint_named(j.name).v_at] for j in other.joints])
    rows = [craft.index(body.name) for body in other.bodies]
    here = gs.forward_dynamics(craft, q, v, tau, wrenches=wrenches)
    there = gs.forward_dynamics(other, q[to_q], v[to_v], tau[to_v], wrenches=wrenches[rows])
    assert size(here[to_v] - there) < 1e-12 * size(here)
    M = gs.mass_matrix(craft, q)
    assert size(M[np.ix_(to_v, to_v)] - gs.mass_matrix(other, q[to_q])) < 1e-14 * size(M)


# ---- wheels


def with_wheels(seed: int) -> gs.Spacecraft:
    """A free craft with branches and three included wheels: two on the base, one on a link; no other wheels."""
    kinds = ("revolute", "prismatic", "spherical", "universal", "planar")
    craft = random_spacecraft(seed, links=5, kinds=kinds, base="free")
    rng = np.random.default_rng(seed)
    small = 0.05 * min(np.linalg.eigvalsh(body.inertia)[0] for body in craft.bodies)
    wheels = [
        gs.Wheel(f"wheel_{k}", carrier, rng.normal(size=3), small * (1 + k), position=rng.normal(size=3))
        for k, carrier in enumerate(("base", "base", "body_2"))
    ]
    return gs.Spacecraft.build(craft.name, [*craft.bodies, *wheels], frames=craft.frames)


def loads(craft: gs.Spacecraft, seed: int):
    q, v = random_state(craft, seed)
    v[[joint.v_at.start for joint in craft.joints if joint.kind == "wheel"]] *= 500.0  # fast wheels
    rng = np.random.default_rng(seed + 1)
    return q, v, rng.normal(size=craft.nv), rng.normal(size=(craft.nbodies, 6))


@pytest.mark.parametrize("seed", range(10))
def test_wheel_elimination(seed):
    """I -> I - J a a^T, torque -w x (a h) - a tau_w with h = J (Omega + a.w), Omegadot = tau_w / J - a.wdot."""
    craft = with_wheels(seed)
    q, v, tau, wrenches = loads(craft, seed)
    vdot = gs.forward_dynamics(craft, q, v, tau, wrenches=wrenches)
    bodies = {body.name: body for body in craft.bodies if body not in craft.wheels}
    F = dict(zip((body.name for body in craft.bodies), wrenches, strict=True))
    R_NB = gs.forward_kinematics(craft, q).R_NB
    for wheel in craft.wheels:
        B, a, k = wheel.parent, wheel.joint.axis, craft.index(wheel.parent)
        J = a @ wheel.inertia @ a
        bodies[B] = replace(bodies[B], inertia=bodies[B].inertia - J * np.outer(a, a))
        w = R_NB[k].T @ gs.jacobian(craft, q, B)[:3] @ v
        h, tau_w = J * (v[wheel.joint.v_at][0] + a @ w), tau[wheel.joint.v_at][0]
        # the wheel's own load: its torque about a drives the spin, the rest reaches the carrier
        F_w = F.pop(wheel.name)
        across = F_w[:3] - (a @ F_w[:3]) * a
        spin = tau_w + a @ F_w[:3]
        torque = -np.cross(w, a * h) - a * tau_w + across + np.cross(wheel.joint.position, F_w[3:])
        F[B] = F[B] + np.concatenate([torque, F_w[3:]])
        J_w, Jdot_w = gs.jacobian(craft, q, B)[:3], gs.jacobian_rate(craft, q, v, B)[:3]
        wdot = R_NB[k].T @ (J_w @ vdot + Jdot_w @ v)
        turned = abs(v[wheel.joint.v_at][0]) * np.linalg.norm(w)  # a.(w x a h) / J cancels but for its round-off
        assert abs(vdot[wheel.joint.v_at][0] - (spin / J - a @ wdot)) < 1e-13 * (abs(spin / J) + turned)
    bare = gs.Spacecraft.build("bare", bodies.values())
    n = bare.nv
    rows = np.array([F[body.name] for body in bare.bodies])
    expected = gs.forward_dynamics(bare, q, v[:n], tau[:n], wrenches=rows)
    assert size(vdot[:n] - expected) < 1e-11 * size(expected)


@pytest.mark.parametrize("seed", range(10))
def test_a_wheel_is_a_revolute_axisymmetric_body_at_any_angle(seed):
    """Also one whose joint is turned on its carrier."""
    rng = np.random.default_rng(seed)
    craft = random_spacecraft(seed, links=4, kinds=("revolute", "spherical", "prismatic"), base="free")
    wheel = gs.Wheel(
        "wheel",
        "body_2",
        rng.normal(size=3),
        0.05,
        position=rng.normal(size=3),
        mass=0.8,
        transverse_inertia=0.03,
        included=False,
    )
    wheel = replace(wheel, joint=replace(wheel.joint, rotation=random_rotation(rng)))
    body = replace(wheel, joint=replace(wheel.joint, kind="revolute"))
    spins, turns = (gs.Spacecraft.build("x", [*craft.bodies, part]) for part in (wheel, body))
    order = np.concatenate([np.arange(turns.nv)[turns.joint_named(j.name).v_at] for j in spins.joints])
    q, v = random_state(turns, seed)
    tau = rng.normal(size=turns.nv)
    q_wheel = np.delete(q, turns.joint_named("wheel").q_at.start)
    for angle in (0.0, 1.0, -2.5):
        q[turns.joint_named("wheel").q_at] = angle
        there = gs.forward_dynamics(turns, q, v, tau)
        here = gs.forward_dynamics(spins, q_wheel, v[order], tau[order])
        assert size(here - there[order]) < 1e-11 * size(there)
        h = gs.momentum(turns, q, v)
        assert size(gs.momentum(spins, q_wheel, v[order]) - h) < 1e-13 * size(h)


@pytest.mark.parametrize("seed", range(10))
def test_an_included_wheel_is_a_separate_one_whose_carrier_is_told_of_it(seed):
    """Separate: own mass, place and inertia.

    Included: the carrier's mass properties are those of both, locked together.
    """
    rng = np.random.default_rng(seed)
    craft = random_spacecraft(seed, links=4, kinds=("revolute", "spherical", "prismatic"), base="free")
    own = {"mass": 0.8, "transverse_inertia": 0.03}
    a, p, R = rng.normal(size=3), rng.normal(size=3), random_rotation(rng)
    apart = gs.Wheel("wheel", "body_2", a, 0.05, position=p, included=False, **own)
    apart = replace(apart, joint=replace(apart.joint, rotation=R))
    part = gs.Wheel("wheel", "body_2", a, 0.05, position=p)
    part = replace(part, joint=replace(part.joint, rotation=R))
    separate = gs.Spacecraft.build("separate", [*craft.bodies, apart])
    both = [merged(body, apart) if body.name == "body_2" else body for body in craft.bodies]
    included = gs.Spacecraft.build("included", [*both, part])
    q, v, tau, _ = loads(separate, seed)
    here, there = gs.forward_dynamics(separate, q, v, tau), gs.forward_dynamics(included, q, v, tau)
    assert size(here - there) < 1e-11 * size(here)
    assert gs.kinetic_energy(separate, q, v) == pytest.approx(gs.kinetic_energy(included, q, v), rel=1e-12)
    h = gs.momentum(separate, q, v)
    assert size(h - gs.momentum(included, q, v)) < 1e-12 * size(h)


def merged(body: gs.Body, child: gs.Body) -> gs.Body:
    """The two as one rigid body, child at its joint's zero."""
    X = Pose(child.joint.rotation, child.joint.position)
    M = rigid_inertia(body.mass, body.com, body.inertia) + rigid_inertia_to_parent(
        X, rigid_inertia(child.mass, child.com, child.inertia)
    )
    com = M.h / M.m
    inertia = M.I_o - M.m * ((com @ com) * np.eye(3) - np.outer(com, com))
    return replace(body, mass=M.m, com=com, inertia=(inertia + inertia.T) / 2)


def test_a_wheel_alone_on_a_body_follows_its_closed_form():
    """Free hub, wheel along z: tau_w / J on the wheel, -tau_w / (I - J) on the hub, from rest."""
    craft = gs.Spacecraft.build(
        "hub", [gs.Body("hub", 10.0, inertia=(2.0, 3.0, 4.0)), gs.Wheel("rw", "hub", (0, 0, 1), 0.5)]
    )
    vdot = gs.forward_dynamics(craft, gs.neutral(craft), np.zeros(7), np.array([0, 0, 0, 0, 0, 0, 0.7]))
    hub = -0.7 / (4.0 - 0.5)
    assert vdot == pytest.approx([0, 0, hub, 0, 0, 0, 0.7 / 0.5 - hub], abs=1e-15)


# ---- rotors


@pytest.mark.parametrize("seed", SEEDS)
def test_rotors_add_to_the_diagonal_and_nothing_to_the_momentum(seed):
    s = state(seed)
    bare = replace(
        s.craft,
        bodies=tuple(replace(b, joint=replace(b.joint, rotor_inertia=exact_scalar(0.0))) for b in s.craft.bodies),
    )
    full = replace(
        s.craft,
        bodies=tuple(
            replace(b, joint=replace(b.joint, rotor_inertia=exact_scalar(2.0), gear_ratio=exact_scalar(3.0)))
            for b in s.craft.bodies
        ),
    )
    M0, M = gs.mass_matrix(bare, s.q), gs.mass_matrix(full, s.q)
    assert size(M - M0 - 18 * np.eye(s.craft.nv)) < 1e-60
    assert size(gs.bias_force(full, s.q, s.v) - gs.bias_force(bare, s.q, s.v)) < 1e-60
    assert size(gs.momentum(full, s.q, s.v) - gs.momentum(bare, s.q, s.v)) < 1e-60
    gained = gs.kinetic_energy(full, s.q, s.v) - gs.kinetic_energy(bare, s.q, s.v)
    assert abs(gained - 9 * (s.v @ s.v)) < 1e-60
    residual = gs.inverse_dynamics(full, s.q, s.v, gs.forward_dynamics(full, s.q, s.v, s.tau)) - s.tau
    assert size(residual) < 1e-60
    assert (
        size(gs.inverse_dynamics(full, s.q, s.v, s.vdot) - gs.inverse_dynamics(bare, s.q, s.v, s.vdot) - 18 * s.vdot)
        < 1e-60
    )


# ---- prescribed and locked joints


@pytest.mark.parametrize("seed", SEEDS)
def test_the_loads_of_prescribed_joints_make_them_follow(seed):
    s = state(seed)
    joints = [joint for joint in s.craft.joints if joint.nv][::2]
    prescribed = {joint.name: s.vdot[joint.v_at] for joint in joints}
    follows = gs.hybrid_dynamics(s.craft, s.q, s.v, s.tau, wrenches=s.wrenches, prescribed=prescribed)
    pushed = gs.forward_dynamics(s.craft, s.q, s.v, follows.tau, wrenches=s.wrenches)
    assert size(pushed - follows.vdot) < 1e-55 * size(follows.vdot)
    for joint in joints:
        assert (follows.vdot[joint.v_at] == s.vdot[joint.v_at]).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_all_joints_prescribed_is_inverse_dynamics(seed):
    s = state(seed)
    prescribed = {joint.name: s.vdot[joint.v_at] for joint in s.craft.joints if joint.nv}
    loads = gs.hybrid_dynamics(s.craft, s.q, s.v, s.tau, wrenches=s.wrenches, prescribed=prescribed).tau
    assert size(loads - gs.inverse_dynamics(s.craft, s.q, s.v, s.vdot, wrenches=s.wrenches)) < 1e-60 * size(loads)


@pytest.mark.parametrize("seed", range(12))
def test_a_joint_held_at_rest_a_fixed_joint_and_one_rigid_body_are_the_same(seed):
    """Prescribed to stand still; replaced by a fixed joint at that pose; replaced by one body with the mass of both."""
    rng = np.random.default_rng(seed)
    kinds = ("revolute", "prismatic", "spherical", "cylindrical", "cartesian", "universal", "planar")
    craft = random_spacecraft(seed, links=5, kinds=kinds, base="free", rotors=False)
    held = craft.body("body_2")
    q, v = random_state(craft, seed)
    v[held.joint.v_at] = 0.0
    tau, wrenches = rng.normal(size=craft.nv), rng.normal(size=(craft.nbodies, 6))
    stands = gs.hybrid_dynamics(
        craft, q, v, tau, wrenches=wrenches, prescribed={held.joint.name: np.zeros(held.joint.nv)}
    )
    keep_q = np.delete(np.arange(craft.nq), np.arange(craft.nq)[held.joint.q_at])
    keep = np.delete(np.arange(craft.nv), np.arange(craft.nv)[held.joint.v_at])

    X = held.joint.pose(q)
    stiff = replace(held, joint=gs.Joint("held", "fixed", held.parent, X.p, X.R))
    fixed = gs.Spacecraft.build("fixed", [stiff if body.name == "body_2" else body for body in craft.bodies])
    q, v, tau = q[keep_q], v[keep], tau[keep]
    vdot = gs.forward_dynamics(fixed, q, v, tau, wrenches=wrenches)
    assert size(vdot - stands.vdot[keep]) < 1e-11 * size(vdot)
    reactions = gs.reaction_wrenches(fixed, q, v, vdot, wrenches=wrenches)
    along = held.joint.H(random_state(craft, seed)[0]).T @ reactions[fixed.index("body_2")]
    assert size(along - stands.tau[held.joint.v_at]) < 1e-11 * size(reactions)

    bodies = []
    for body in fixed.bodies:
        if body.name == stiff.parent:
            bodies.append(merged(body, stiff))
        elif body.parent == "body_2":  # now mounted on the merged body
            mount = compose(X, Pose(body.joint.rotation, body.joint.position))
            bodies.append(
                replace(body, joint=replace(body.joint, parent=stiff.parent, rotation=mount.R, position=mount.p))
            )
        elif body.name != "body_2":
            bodies.append(body)
    one = gs.Spacecraft.build("one", bodies)
    rows = {body.name: row for body, row in zip(craft.bodies, wrenches, strict=True)}
    force = X.R @ rows["body_2"][3:]
    rows[stiff.parent] = rows[stiff.parent] + np.concatenate([X.R @ rows["body_2"][:3] + np.cross(X.p, force), force])
    to_q = np.concatenate([np.arange(fixed.nq)[fixed.joint_named(j.name).q_at] for j in one.joints])
    to_v = np.concatenate([np.arange(fixed.nv)[fixed.joint_named(j.name).v_at] for j in one.joints])
    there = gs.forward_dynamics(one, q[to_q], v[to_v], tau[to_v], wrenches=np.array([rows[b.name] for b in one.bodies]))
    assert size(vdot[to_v] - there) < 1e-11 * size(vdot)
    M = gs.mass_matrix(fixed, q)
    assert size(M[np.ix_(to_v, to_v)] - gs.mass_matrix(one, q[to_q])) < 1e-13 * size(M)


def test_a_rigid_body_follows_eulers_equations():
    """One free body, its frame away from its centre of mass:
    I wdot = torque - w x I w, and Newton for the centre of mass.
    """
    rng = np.random.default_rng(3)
    mass, com, inertia = 4.0, rng.normal(size=3), random_inertia(rng, 4.0)
    craft = gs.Spacecraft.build("rock", [gs.Body("rock", mass, com, inertia)])
    q, v = random_state(craft, 3)
    torque, force = rng.normal(size=(2, 3))
    vdot = gs.forward_dynamics(craft, q, v, np.concatenate([torque, force]))
    w, u = v[:3], v[3:]
    wdot = np.linalg.solve(inertia, torque - np.cross(com, force) - np.cross(w, inertia @ w))
    a = force / mass - np.cross(wdot, com) - np.cross(w, np.cross(w, com)) - np.cross(w, u)
    assert size(vdot - np.concatenate([wdot, a])) < 1e-13 * size(vdot)
