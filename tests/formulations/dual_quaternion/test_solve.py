"""Accelerations and reactions of the eliminated system against `recursive`, and the laws they obey."""

import numpy as np
import pytest

import gyrostat as gs
from backward_error import backward_error, relative
from exact import size
from exact_cases import state
from gyrostat.algebra import transform_point
from gyrostat.formulations import decoupled
from gyrostat.formulations import dual_quaternion as dq
from random_trees import random_spacecraft, random_state

PAPER = ("revolute", "prismatic", "spherical", "cylindrical", "cartesian")


def loads(craft, seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=craft.nv), rng.normal(size=(craft.nbodies, 6))


def agrees_with_recursive(craft, seed):
    q, v = random_state(craft, seed + 5000)
    tau, F = loads(craft, seed)
    found = dq.solve(craft, q, v, tau, wrenches=F)
    assert backward_error(craft, q, v, tau, found.vdot, F) < 1e-12
    expected = gs.reaction_wrenches(craft, q, v, gs.forward_dynamics(craft, q, v, tau, wrenches=F), wrenches=F)
    assert relative(found.reaction_wrenches, expected) < 1e-11
    np.testing.assert_array_equal(found.tau, tau)
    np.testing.assert_array_equal(dq.forward_dynamics(craft, q, v, tau, wrenches=F), found.vdot)


@pytest.mark.parametrize("decade", range(20))
def test_equation_50_two_hundred_trees_of_the_papers_joints(decade):
    for seed in range(10 * decade, 10 * decade + 10):
        agrees_with_recursive(random_spacecraft(seed, kinds=PAPER, base="free", rotors=False), seed)


@pytest.mark.parametrize("decade", range(8))
def test_equation_50_every_joint_kind_base_wheel_and_rotor(decade):
    for seed in range(1000 + 10 * decade, 1010 + 10 * decade):
        agrees_with_recursive(random_spacecraft(seed), seed)


@pytest.mark.parametrize("seed", range(5))
def test_a_long_arm_keeps_its_digits(seed):
    craft = random_spacecraft(seed, links=40, kinds=("revolute",), base="free", rotors=False)
    q, v = random_state(craft, seed)
    tau, F = loads(craft, seed)
    assert backward_error(craft, q, v, tau, dq.forward_dynamics(craft, q, v, tau, wrenches=F), F) < 1e-11


@pytest.mark.parametrize("seed", range(10))
def test_reactions_do_no_work(seed):
    """Reaction wrenches less actuation are workless in every motion their joint allows."""
    craft = random_spacecraft(seed, rotors=False)
    q, v = random_state(craft, seed)
    tau, F = loads(craft, seed)
    W = dq.solve(craft, q, v, tau, wrenches=F).reaction_wrenches
    for body, row in zip(craft.bodies, W, strict=True):
        if body.joint.nv:
            np.testing.assert_allclose(
                body.joint.H(q).T @ row, body.joint.rate(tau), atol=1e-10 * (1 + np.abs(W).max())
            )


@pytest.mark.parametrize("seed", range(10))
def test_equation_30_momentum_changes_by_the_external_wrenches_alone(seed):
    """d/dt (dual momentum) from accelerations equals the wrenches carried to the inertial origin; internal loads do not
    count.
    """
    craft = random_spacecraft(seed, base="free")
    q, v = random_state(craft, seed)
    tau, F = loads(craft, seed)
    vdot = dq.forward_dynamics(craft, q, v, tau, wrenches=F)
    h = 1e-3

    def at(t):
        return dq.momentum(craft, gs.step_configuration(craft, q, t * v + 0.5 * t * t * vdot), v + t * vdot)

    central = [(at(k * h) - at(-k * h)) / (2 * k * h) for k in (1, 2, 3)]
    rate = (15 * central[0] - 6 * central[1] + central[2]) / 10
    poses, total = gs.forward_kinematics(craft, q), np.zeros(6)
    wrenches = F.copy()
    wrenches[0] += tau[:6]
    for R, p, row in zip(poses.R_NB, poses.p_NB, wrenches, strict=True):
        force = R @ row[3:]
        total += np.concatenate([R @ row[:3] + np.cross(p, force), force])
    np.testing.assert_allclose(rate, total, atol=1e-8 * (1 + np.abs(total).max()))


@pytest.mark.parametrize("seed", range(20))
def test_equations_30_31_momentum_and_energy_equal_those_of_recursive(seed):
    craft = random_spacecraft(seed)
    q, v = random_state(craft, seed)
    assert relative(dq.momentum(craft, q, v), gs.momentum(craft, q, v)) < 1e-13
    assert relative(dq.kinetic_energy(craft, q, v), gs.kinetic_energy(craft, q, v)) < 1e-13
    np.testing.assert_array_equal(dq.dual_momentum(craft, q, v)[[0, 4]], 0)


@pytest.mark.parametrize("seed", range(5))
def test_equation_55_wrenches_at_end_effectors(seed):
    craft = random_spacecraft(seed)
    rng = np.random.default_rng(seed)
    F = rng.normal(size=6)
    rows = dq.end_effector_wrenches(craft, {"tool": F})
    body, X_BG = craft.locate("tool")
    k = craft.index(body)
    force = X_BG.R @ F[3:]
    expected = np.concatenate([X_BG.R @ F[:3] + np.cross(transform_point(X_BG, np.zeros(3)), force), force])
    np.testing.assert_allclose(rows[k], expected, atol=1e-14)
    assert not np.delete(rows, k, axis=0).any()
    with pytest.raises(ValueError, match=r"wrench at 'tool' has shape \(3,\); expected \(6,\)"):
        dq.end_effector_wrenches(craft, {"tool": F[:3]})


@pytest.mark.parametrize("seed", (0, 3, 12))
def test_thirty_digits(seed):
    """With mpmath numbers all agree to thirty digits: what they differ by in floats is round-off and nothing else."""
    c = state(seed)
    expected = gs.forward_dynamics(c.craft, c.q, c.v, c.tau, wrenches=c.wrenches)
    W = gs.reaction_wrenches(c.craft, c.q, c.v, expected, wrenches=c.wrenches)
    for formulation in (dq, decoupled):
        found = formulation.solve(c.craft, c.q, c.v, c.tau, wrenches=c.wrenches)
        assert size(found.vdot - expected) < 1e-30 * size(expected)
        assert size(found.reaction_wrenches - W) < 1e-30 * size(W)


# ---- bodies without an inverse, and who is refused


def two_bodies(mass=1.0, inertia=(1, 1, 1), **wheel):
    bodies = [
        gs.Body("base", 5, inertia=(2, 2, 2)),
        gs.Body("link", mass, (1, 0, 0), inertia, gs.Joint("elbow", "revolute", "base")),
    ]
    if wheel:
        bodies.append(gs.Wheel("wheel", "link", **wheel))
    return gs.Spacecraft.build("two", bodies)


@pytest.mark.parametrize(
    "craft",
    [
        two_bodies(inertia=(0, 1, 1)),
        two_bodies(mass=0.0),
        two_bodies(inertia=(1, 1, 0.5), axis=(0, 0, 1), spin_inertia=0.5),
    ],
    ids=["a rod", "no mass", "all wheel"],
)
def test_lemma_3_inertias_without_an_inverse_are_for_the_elimination_alone(craft):
    """S11 of (51) is singular, so (57)-(60) are refused by the body's name; the elimination inverts no body's
    inertia.
    """
    q, v = random_state(craft, 3)
    tau = np.random.default_rng(3).normal(size=craft.nv)
    expected = gs.forward_dynamics(craft, q, v, tau)
    assert np.abs(dq.forward_dynamics(craft, q, v, tau) - expected).max() < 1e-12 * np.abs(expected).max()
    with pytest.raises(ValueError, match="body 'link' of two has no mass, or no inertia about some axis"):
        dq.solve_by_schur_complement(craft, q, v, tau)


def test_an_unsymmetric_wheel_is_refused():
    wheel = gs.Body("wheel", 1.0, inertia=(1, 2, 1), joint=gs.Joint("spin", "wheel", "base", axis=(0, 0, 1)))
    craft = gs.Spacecraft.build("lopsided", [gs.Body("base", 5, inertia=(9, 9, 9)), wheel])
    assert "wheel 'wheel' is not symmetric about its axis" in str(dq.supports(craft))
