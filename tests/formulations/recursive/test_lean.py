"""Frames and inertias that cost fewer operations: the same functions of the same q, v, tau and wrenches."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

import gyrostat as gs
from gyrostat import tracing
from gyrostat.algebra import IDENTITY, Pose, RigidInertia, compose, rigid_inertia, rigid_inertia_to_parent
from gyrostat.kinematics.lean import Lean, lean, reframed, screws
from gyrostat.model.kinds import KINDS
from random_trees import (
    ALL_KINDS,
    random_axis,
    random_inertia,
    random_rotation,
    random_spacecraft,
    random_state,
)

ACTED_ON = {"inputs": {"wrenches": None}}


def close(found, expected, tolerance=1e-12):
    scale = np.max(np.abs(expected), initial=0.0)
    assert np.max(np.abs(found - expected), initial=0.0) <= tolerance * scale


@pytest.mark.parametrize("seed", range(24))
def test_recorded_functions_are_those_of_the_frames_that_were_given(seed):
    craft = random_spacecraft(seed)
    (q, v), rng = random_state(craft, seed), np.random.default_rng(seed)
    tau, F = rng.normal(size=craft.nv), rng.normal(size=(craft.nbodies, 6))
    for function in (gs.forward_dynamics, gs.inverse_dynamics):
        (found,) = tracing.trace(function, craft, **ACTED_ON).evaluate(q, v, tau, F)
        close(found, function(craft, q, v, tau, wrenches=F))
    (M,) = tracing.trace(gs.mass_matrix, craft).evaluate(q)
    close(M, gs.mass_matrix(craft, q))
    (T,) = tracing.trace(gs.kinetic_energy, craft).evaluate(q, v)
    close(T, gs.kinetic_energy(craft, q, v))


def test_every_kind_is_met():
    met = {joint.kind for seed in range(24) for joint in random_spacecraft(seed).joints}
    assert met == set(ALL_KINDS)


@pytest.mark.parametrize("seed", [3, 5, 7])
def test_prescribed_joints_follow_and_tell_their_loads(seed):
    craft = random_spacecraft(seed)
    (q, v), rng = random_state(craft, seed), np.random.default_rng(seed)
    tau = rng.normal(size=craft.nv)
    follow = {j.name: rng.normal(size=j.nv) for j in craft.joints[1:] if j.kind in ("revolute", "cylindrical", "wheel")}
    assert follow

    def hybrid(craft, q, v, tau):
        return tuple(gs.hybrid_dynamics(craft, q, v, tau, prescribed=follow))

    found = tracing.trace(hybrid, craft).evaluate(q, v, tau)
    for own, expected in zip(found, hybrid(craft, q, v, tau), strict=True):
        close(own, expected)


@pytest.mark.parametrize("seed", range(24))
def test_nothing_needs_more_operations_than_before(seed):
    """Wheels and bodies that are fixed, branches and bases of all kinds."""
    craft = random_spacecraft(seed)
    before = len(plain(craft))
    assert len(tracing.trace(gs.forward_dynamics, craft)) <= before


def plain(craft, **options):
    """Recorded in the frames that were given."""
    from gyrostat.formulations.recursive import articulated_body

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(articulated_body, "lean", lambda craft, F_ext, *states, **options: (craft, F_ext))
        return tracing.trace(gs.forward_dynamics, craft, **options)


def chain(seed, links, *, twist=None, ratio=1.0):
    """A random serial arm; twist: the angle between neighbouring axes; ratio: of masses from base to tip."""
    rng = np.random.default_rng(seed)
    bodies = [gs.Body("base", 20.0, rng.normal(scale=0.2, size=3), random_inertia(rng, 20.0))]
    for k in range(links):
        R = random_rotation(rng) if twist is None else Pose(*gs.algebra.exp_se3(twist * rng.normal(size=6))).R
        mass = 20.0 * ratio ** -((k + 1) / links)
        axis = random_axis(rng) if twist is None else np.eye(3)[2]
        joint = gs.Joint(f"joint_{k}", "revolute", bodies[-1].name, rng.normal(scale=0.5, size=3), R, axis)
        bodies.append(gs.Body(f"link_{k}", mass, rng.normal(scale=0.3, size=3), random_inertia(rng, mass), joint))
    return gs.Spacecraft.build(f"chain_{seed}", bodies)


def test_a_random_arm_needs_two_thirds_of_the_operations():
    craft = chain(0, 7)
    assert len(tracing.trace(gs.forward_dynamics, craft)) < 0.67 * len(plain(craft))


STRESS = {
    "light at the tip": {"ratio": 1e6},
    "light at the base": {"ratio": 1e-6},
    "nearly parallel, 1e-3": {"twist": 1e-3},
    "nearly parallel, 1e-7": {"twist": 1e-7},
    "nearly parallel, 1e-13": {"twist": 1e-13},
    "parallel": {"twist": 0.0},
}


@pytest.mark.parametrize("case", STRESS)
def test_rounding_stays_what_it_was(case):
    """Against fifty digits: the worst of eight is within 1e-13 and three times what the given frames lose."""
    lost, lost_before = [], []
    for seed in range(8):
        craft = chain(seed, 6, **STRESS[case])
        (q, v), rng = random_state(craft, seed), np.random.default_rng(seed)
        if seed % 2:
            q[7:] = 1e-6 * rng.normal(size=6)  # stretched out
        tau = rng.normal(size=craft.nv) * np.abs(gs.mass_matrix(craft, q).diagonal())
        with mpmath.workdps(50):
            exact = gs.forward_dynamics(craft, *(np.array([mpmath.mpf(float(e)) for e in x]) for x in (q, v, tau)))
            exact = np.array(exact, dtype=float)
        for graph, errors in ((tracing.trace(gs.forward_dynamics, craft), lost), (plain(craft), lost_before)):
            errors.append(np.max(np.abs(graph.evaluate(q, v, tau)[0] - exact)) / np.max(np.abs(exact)))
    assert max(lost) <= 1e-13 + 3 * max(lost_before)


POSES = [0.0, 1e-13, 1e-9, 1e-5, 0.03, 1.0, np.pi / 2, np.pi - 1e-9, np.pi]


@pytest.mark.parametrize("alpha", POSES)
def test_screws_multiply_to_the_pose(alpha):
    rng = np.random.default_rng(1)
    turn = np.array([[1, 0, 0], [0, np.cos(alpha), -np.sin(alpha)], [0, np.sin(alpha), np.cos(alpha)]])
    for k in range(12):
        about = [gs.algebra.rotation_about(np.eye(3)[2], angle) for angle in rng.uniform(-4, 4, size=2) * (k % 3)]
        X = Pose(about[0] @ turn @ about[1], rng.normal(size=3) * (k % 2))
        parts = screws(X)
        product = IDENTITY
        for part in parts:
            product = compose(product, part)
            assert 1.0 in part.R.diagonal()  # about one axis
        assert np.abs(product.R - X.R).max() < 3e-14
        assert np.abs(product.p - X.p).max() < 1e-13
        assert all(np.linalg.norm(part.p) < 10 for part in parts)  # no large steps there and back


@pytest.mark.parametrize("name", KINDS)
def test_what_a_joint_does_not_feel_looks_the_same_at_every_q(name):
    rng = np.random.default_rng(4)
    axes = [a / np.linalg.norm(a) for a in rng.normal(size=(2, 3))]
    kind = KINDS[name](*axes)
    M = rigid_inertia(2.0, rng.normal(size=3), random_inertia(rng, 2.0))
    unfelt = kind.unfelt(M)
    q = kind.step(kind.neutral(), rng.normal(size=len(kind.v_units)))
    seen = rigid_inertia_to_parent(kind.pose(q), unfelt)
    assert np.abs(seen.matrix - unfelt.matrix).max() < 1e-14
    if kind.v_units:
        assert np.abs(unfelt.matrix @ kind.H(q)).max() < 1e-14


def masses(craft, share=1):
    """Names of the mass properties of every `share`-th body that has any, and their values."""
    own = [b.name for b in craft.bodies if type(b) is gs.Body and b.mass][::share]
    names = [f"{name}.{what}" for name in own for what in ("mass", "com", "inertia")]
    names = [name for name in names if craft.body(name.split(".")[0]).joint.kind != "wheel" or "com" not in name]
    return names, [craft.value(name) for name in names]


@pytest.mark.parametrize("share", [1, 3])
@pytest.mark.parametrize("seed", range(8))
def test_recorded_masses(seed, share):
    """Of all bodies, or of some: the same functions of them; turning them costs no more than it saves."""
    craft = random_spacecraft(seed)
    names, values = masses(craft, share)
    (q, v), rng = random_state(craft, seed), np.random.default_rng(seed)
    tau, F = rng.normal(size=craft.nv), rng.normal(size=(craft.nbodies, 6))
    forward = tracing.trace(gs.forward_dynamics, craft, parameters=names)
    assert len(forward) <= 1.02 * len(plain(craft, parameters=names))
    close(forward.evaluate(q, v, tau, *values)[0], gs.forward_dynamics(craft, q, v, tau))
    inverse = tracing.trace(gs.inverse_dynamics, craft, parameters=names, **ACTED_ON)
    close(inverse.evaluate(q, v, tau, F, *values)[0], gs.inverse_dynamics(craft, q, v, tau, wrenches=F))
    M = tracing.trace(gs.mass_matrix, craft, parameters=names)
    close(M.evaluate(q, *values)[0], gs.mass_matrix(craft, q))


def test_dispersed_masses_cost_a_random_arm_little():
    """Two of seven: a campaign's kernel saves a quarter of the operations; all of them: an eighth."""
    craft = chain(0, 7)
    some, every = [f"link_{k}.mass" for k in (0, 3)], masses(craft)[0]
    assert len(tracing.trace(gs.forward_dynamics, craft, parameters=some)) < 0.75 * len(plain(craft, parameters=some))
    assert len(tracing.trace(gs.forward_dynamics, craft, parameters=every)) < 0.875 * len(
        plain(craft, parameters=every)
    )


def test_places_that_are_recorded_leave_the_frames_alone():
    craft = random_spacecraft(3)
    name = f"{craft.bodies[1].joint.name}.position"
    (q, v), tau = random_state(craft, 3), np.ones(craft.nv)
    graph = tracing.trace(gs.forward_dynamics, craft, parameters=[name])
    assert len(graph) == len(plain(craft, parameters=[name]))
    close(graph.evaluate(q, v, tau, craft.value(name))[0], gs.forward_dynamics(craft, q, v, tau))


def test_numbers_are_computed_in_the_frames_that_were_given():
    craft = random_spacecraft(3)
    same, F = lean(craft, {}, np.zeros(craft.nq))
    assert same is craft and F == {}
    assert isinstance(reframed(craft), Lean)


def test_mass_moves_and_none_is_lost():
    craft = random_spacecraft(3)
    other = reframed(craft)
    total = sum((craft.inertia(b.name).m for b in craft.bodies), 0.0)
    assert sum(M.m for M in other.inertias.values()) == pytest.approx(total, rel=1e-14)
    assert all(isinstance(M, RigidInertia) for M in other.inertias.values())
