"""Frames and inertias of the compiler's choice against those that were given, recorded alike: on all that a spacecraft
can be made of, and where digits are lost first.
"""

from __future__ import annotations

from dataclasses import replace

import mpmath
import numpy as np
import pytest

import gyrostat as gs
from gyrostat import constraints as gc
from gyrostat import tracing
from gyrostat.algebra import Pose
from gyrostat.formulations.recursive import articulated_body, composite_body, coriolis, momenta, newton_euler
from gyrostat.kinematics import inertial_poses, jacobian_rate, poses
from gyrostat.structures import Section
from gyrostat.tracing import inverse_dynamics_derivatives
from random_flexible import bending
from random_trees import BASES, random_axis, random_inertia, random_rotation, random_spacecraft, random_state

USERS = (articulated_body, composite_body, coriolis, momenta, newton_euler, inverse_dynamics_derivatives, poses)
OFTEN = ("revolute", "prismatic", "spherical", "universal", "fixed", "wheel")


def both(function, craft, **options):
    """Recorded in chosen frames, and in those that were given."""
    chosen = tracing.trace(function, craft, **options)
    with pytest.MonkeyPatch.context() as patch:
        for module in USERS:
            patch.setattr(module, "lean", lambda craft, F_ext, *states, **options: (craft, F_ext))
        given = tracing.trace(function, craft, **options)
    assert chosen.key != given.key  # else it says nothing
    return chosen, given


def agree(function, craft, *values, tolerance=1e-13, **options):
    graphs = both(function, craft, **options)
    for one, other in zip(*(graph.evaluate(*values) for graph in graphs), strict=True):
        assert np.abs(one - other).max(initial=0.0) <= tolerance * np.abs(other).max(initial=0.0)


def pieces(values):
    """The arrays of nested ones, in order."""
    return [values] if isinstance(values, np.ndarray) else [x for value in values for x in pieces(value)]


def bias(craft, q, v, wrenches):
    return gs.bias_force(craft, q, v, wrenches=wrenches)


def forward(craft, q, v, tau, wrenches):
    return gs.forward_dynamics(craft, q, v, tau, wrenches=wrenches)


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("seed", [0, 1])
def test_every_base_and_kind(seed, base):
    """Wheels, rotor inertias, branches; loads, derivatives, energy, forces; to rounding times what a solution costs."""
    craft = random_spacecraft(40 + seed, links=6, base=base)
    (q, v), rng = random_state(craft, seed), np.random.default_rng(seed)
    tau, F = rng.normal(size=craft.nv), rng.normal(size=(craft.nbodies, 6))
    agree(bias, craft, q, v, F, tolerance=1e-14 * craft.nv)
    agree(gs.mass_matrix, craft, q, tolerance=1e-14 * craft.nv)
    agree(gs.kinetic_energy, craft, q, v, tolerance=1e-14 * craft.nv)
    sharp = 1e-15 * np.linalg.cond(gs.mass_matrix(craft, q))
    agree(forward, craft, q, v, tau, F, tolerance=max(1e-13, sharp))
    if not seed:
        agree(tracing.linear_motion, craft, q, v, tau, tolerance=max(1e-13, 10 * sharp))


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("seed", [0, 1])
def test_places_jacobians_momentum_and_coriolis_matrices(seed, base):
    """Of points of every body: fixed ones, wheels, those in the middle."""
    craft = random_spacecraft(60 + seed, links=6, base=base)
    (q, v), point = random_state(craft, seed), (0.3, -0.2, 0.1)

    def everywhere(craft, q, v):
        of = [body.name for body in craft.bodies[1:]]
        return (
            [gs.frame_pose(craft, q, name) for name in of],
            [gs.jacobian(craft, q, name, point) for name in of],
            [jacobian_rate(craft, q, v, name, point) for name in of],
        )

    agree(everywhere, craft, q, v, tolerance=1e-13)
    agree(gs.momentum, craft, q, v, tolerance=1e-13)
    agree(gs.coriolis_matrix, craft, q, v, tolerance=1e-13)
    if base == "free":
        agree(gs.generalized_jacobian, craft, q, static={"frame": craft.bodies[-1].name}, tolerance=1e-11)


def test_a_law_that_asks_for_place_and_jacobian_walks_the_arm_once():
    craft = uneven(3, 1.0)
    tip = craft.bodies[-1].name

    def place(craft, q):
        return gs.frame_pose(craft, q, tip)

    def both_of_them(craft, q):
        return gs.frame_pose(craft, q, tip), gs.jacobian(craft, q, tip)

    alone, of_both = len(tracing.trace(place, craft)), len(tracing.trace(both_of_them, craft))
    columns = len(tracing.trace(gs.jacobian, craft, static={"frame": tip}))
    assert of_both < alone + columns


@pytest.mark.parametrize("seed", range(4))
def test_closed_loops(seed):
    """Loads of constraints come from mass matrix and forces, and act as wrenches on bodies, some of them fixed."""
    craft = random_spacecraft(seed, links=7, base="free", kinds=OFTEN)
    q, v = random_state(craft, seed)
    X = inertial_poses(craft, q)
    one, two = [b.name for b in craft.bodies if b.joint.kind != "wheel"][1::3][:2]
    between = Pose(X[one].R.T @ X[two].R, X[one].R.T @ (X[two].p - X[one].p))
    held = [gc.as_it_is(gc.point(one, two), between)]
    tau = np.random.default_rng(seed).normal(size=craft.nv)

    def closed(craft, q, v, tau):
        return gc.constrained_forward_dynamics(craft, 0.0, q, v, tau, held)

    agree(closed, craft, q, v, tau, tolerance=1e-11)


@pytest.mark.parametrize("seed", range(4))
def test_bodies_without_mass_in_between(seed):
    """Two or three joints to one body, fixed ones among them."""
    rng = np.random.default_rng(seed)
    bodies = [gs.Body("bus", 20.0, rng.normal(scale=0.2, size=3), random_inertia(rng, 20.0))]
    for k, kind in enumerate(["revolute", "fixed", "revolute", "prismatic", "revolute", "revolute"]):
        mass = 0.0 if k in (0, 2, 4) else rng.uniform(1, 5)
        place = {"position": rng.normal(scale=0.3, size=3), "rotation": random_rotation(rng), "axis": random_axis(rng)}
        own = gs.Joint(f"joint_{k}", kind, bodies[-1].name, **place)
        com, inertia = (rng.normal(scale=0.3, size=3), random_inertia(rng, mass)) if mass else (np.zeros(3),) * 2
        bodies.append(gs.Body(f"body_{k}", mass, com, inertia, own))
    craft = gs.Spacecraft.build("massless", bodies)
    (q, v), tau, F = random_state(craft, seed), rng.normal(size=craft.nv), rng.normal(size=(craft.nbodies, 6))
    agree(forward, craft, q, v, tau, F, tolerance=1e-12)
    agree(tracing.linear_motion, craft, q, v, tau, tolerance=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_rigid_bodies_among_flexible_ones(seed):
    """A boom somewhere in a tree, or at its base, a body and a wheel on its nodes: it keeps its frame."""
    rng = np.random.default_rng(seed)
    craft = bending(random_spacecraft(seed), rng)
    q, v = random_state(craft, seed)
    tau, F = rng.normal(size=craft.nv), rng.normal(size=(craft.nbodies, 6))
    agree(forward, craft, q, v, tau, F, tolerance=1e-11)
    agree(bias, craft, q, v, F, tolerance=1e-13)
    agree(gs.mass_matrix, craft, q, tolerance=1e-13)
    agree(gs.kinetic_energy, craft, q, v, tolerance=1e-13)
    agree(gs.momentum, craft, q, v, tolerance=1e-13)

    eye = craft.frames[-1].name

    def seen(craft, q, v):
        return gs.frame_pose(craft, q, eye), gs.jacobian(craft, q, eye), jacobian_rate(craft, q, v, eye)

    for one, other in zip(tracing.trace(seen, craft).evaluate(q, v), pieces(seen(craft, q, v)), strict=True):
        assert np.abs(one - other).max() <= 1e-12 * np.abs(other).max()


def test_an_arm_beside_a_panel_saves_a_sixth():
    """And what is fixed to a flexible body, by a node or by its root, stays a body."""
    rng = np.random.default_rng(5)
    section = Section(1e6, 400.0, 300.0, 200.0, 1.5)
    bodies = [gs.Body("hub", 50.0, (0.02, 0.01, -0.03), (8.0, 9.0, 10.0))]

    def joint(name, kind, parent, far=0.3):
        place = {"position": far * rng.normal(size=3), "rotation": random_rotation(rng), "axis": random_axis(rng)}
        return gs.Joint(name, kind, parent, **place)

    for k in range(5):
        own = joint(f"joint_{k}", "revolute", bodies[-1].name)
        bodies.append(gs.Body(f"link_{k}", 3.0, rng.normal(scale=0.3, size=3), random_inertia(rng, 3.0), own))
    panel = gs.beam("panel", 2.0, section, modes=2, elements=6, joint=joint("root", "fixed", "hub"))
    loads = [
        gs.Body(name, 1.0, (0.1, 0.2, 0.3), (0.1, 0.12, 0.14), joint(f"hold {name}", kind, parent, far))
        for name, kind, parent, far in [
            ("tip", "fixed", "panel.tip", 0.3),
            ("box", "fixed", "panel", 0.0),
            ("dish", "revolute", "tip", 0.3),
            ("lid", "revolute", "panel.tip", 0.3),
        ]
    ]
    craft = gs.Spacecraft.build("bent", [*bodies, panel, *loads])
    (q, v), tau, F = random_state(craft, 1), rng.normal(size=craft.nv), rng.normal(size=(craft.nbodies, 6))
    chosen, given = both(gs.forward_dynamics, craft)
    assert len(chosen) < 0.835 * len(given)
    agree(forward, craft, q, v, tau, F, tolerance=1e-12)


def uneven(seed, ratio):
    """A random tree, its masses and inertias divided by something between 1 and the ratio."""
    craft = random_spacecraft(seed, links=6, rotors=False, kinds=("revolute", "prismatic", "spherical", "cylindrical"))
    rng = np.random.default_rng(seed)
    scale = ratio ** rng.uniform(-1, 0, size=craft.nbodies)
    return replace(
        craft,
        bodies=tuple(
            replace(b, mass=b.mass * s, inertia=b.inertia * s) for b, s in zip(craft.bodies, scale, strict=True)
        ),
    )


@pytest.mark.parametrize("near", [None, 1e-13, "right angles"])
def test_masses_a_million_apart_near_neutral_poses(near):
    """Against fifty digits, all kinds that move far: the worst of four trees loses 1e-13 or three times what it did in
    the frames that were given. near: how far from the neutral configuration, where axes line up; None: anywhere.
    """
    lost, before = [], []
    for seed in range(4):
        craft = uneven(seed, 1e6)
        (q, v), rng = random_state(craft, seed), np.random.default_rng(seed)
        if near is not None:
            quarters = np.pi / 2 * rng.integers(4, size=craft.nv)
            away = quarters if near == "right angles" else near * rng.normal(size=craft.nv)
            q = gs.step_configuration(craft, gs.neutral(craft), away)
        tau = rng.normal(size=craft.nv) * np.abs(gs.mass_matrix(craft, q).diagonal())
        with mpmath.workdps(50):
            exact = gs.forward_dynamics(craft, *(np.array([mpmath.mpf(float(e)) for e in x]) for x in (q, v, tau)))
            exact = np.array(exact, dtype=float)
        for graph, errors in zip(both(gs.forward_dynamics, craft), (lost, before), strict=True):
            errors.append(np.abs(graph.evaluate(q, v, tau)[0] - exact).max() / np.abs(exact).max())
    assert max(lost) <= 1e-13 + 3 * max(before)
