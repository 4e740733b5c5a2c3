"""Spacecraft in maximal coordinates against the recursive formulation: accelerations and constraint wrenches."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.attitude import PARAMETERISATIONS
from gyrostat.formulations import attitude_lagrange
from gyrostat.formulations.attitude_lagrange.paper.state import maximal_state_rate, unpacked
from gyrostat.formulations.common.carriers import carrier_bodies
from gyrostat.kinematics import inertial_poses
from random_trees import random_spacecraft, random_state


def case(seed, **options):
    craft = random_spacecraft(seed, **options)
    q, v = random_state(craft, seed)
    rng = np.random.default_rng(seed)
    return craft, q, v, rng.normal(size=craft.nv), rng.normal(size=(craft.nbodies, 6))


@pytest.mark.parametrize("seed", range(12))
def test_accelerations_and_constraint_wrenches(seed):
    craft, q, v, tau, wrenches = case(seed)
    assert attitude_lagrange.supports(craft) is None
    solved = attitude_lagrange.solve(craft, q, v, tau, wrenches=wrenches)
    vdot = gs.forward_dynamics(craft, q, v, tau, wrenches=wrenches)
    reactions = gs.reaction_wrenches(craft, q, v, vdot, wrenches=wrenches)
    assert np.abs(solved.vdot - vdot).max(initial=0.0) <= 1e-10 * (1.0 + np.abs(vdot).max(initial=0.0))
    assert np.abs(solved.reaction_wrenches - reactions).max() <= 1e-10 * np.abs(reactions).max()


def test_prescribed_joints_and_their_loads():
    craft, q, v, tau, wrenches = case(3, links=6, kinds=("revolute", "prismatic", "wheel"), base="free")
    follows = {joint.name: 0.3 for joint in craft.joints[2:4]} | {craft.joints[-1].name: -0.7}
    solved = attitude_lagrange.solve(craft, q, v, tau, wrenches=wrenches, prescribed=follows)
    both = gs.hybrid_dynamics(craft, q, v, tau, wrenches=wrenches, prescribed=follows)
    assert np.abs(solved.vdot - both.vdot).max() < 1e-10 * np.abs(both.vdot).max()
    assert np.abs(solved.tau - both.tau).max() < 1e-10 * np.abs(both.tau).max()


def test_traced_and_compiled():
    craft, q, v, tau, _ = case(5, links=4, base="free")
    kernel = gs.compile(attitude_lagrange.forward_dynamics, craft)
    assert np.abs(kernel(q, v, tau) - attitude_lagrange.forward_dynamics(craft, q, v, tau)).max() < 1e-10


def test_unsupported_craft_is_refused_by_name():
    base = gs.Body("bus", 10.0, inertia=(9.0, 9.0, 9.0))
    wheel = gs.Body("wheel", 1.0, inertia=(1, 2, 1), joint=gs.Joint("spin", "wheel", "bus", axis=(0, 0, 1)))
    craft = gs.Spacecraft.build("lopsided", [base, wheel])
    assert "wheel 'wheel' is not symmetric" in attitude_lagrange.supports(craft)
    with pytest.raises(ValueError, match="attitude_lagrange does not support lopsided: wheel 'wheel'"):
        attitude_lagrange.forward_dynamics(craft, gs.neutral(craft), np.zeros(craft.nv), np.zeros(craft.nv))


# ---- the state: any parameterisation for any body


def test_state_holds_poses_and_twists_in_any_mixture():
    craft, q, v, _, _ = case(7, links=5, base="free")
    names = [B for B, _ in carrier_bodies(craft)]
    mixture = dict(
        zip(names, ("euler_313", "modified_rodrigues", "two_vectors", "axis_angle", "quaternion"), strict=False)
    )
    X_NB = inertial_poses(craft, q)
    z = attitude_lagrange.maximal_state(craft, q, v, mixture)
    X, V, _ = unpacked(craft, z, mixture)
    for B in names:
        assert np.abs(X[B].R - X_NB[B].R).max() < 1e-13 and np.abs(X[B].p - X_NB[B].p).max() < 1e-14
        J = gs.jacobian(craft, q, B)
        assert np.abs(X[B].R @ V[B][:3] - (J @ v)[:3]).max() < 1e-12
        assert np.abs(X[B].R @ V[B][3:] - (J @ v)[3:]).max() < 1e-12


@pytest.mark.parametrize("attitude", list(PARAMETERISATIONS))
def test_state_rate_is_the_derivative_along_the_motion(attitude):
    """Against differences of the states of the recursive formulation."""
    craft, q, v, tau, _ = case(11, links=3, kinds=("revolute", "spherical"), base="free")
    solved = attitude_lagrange.solve(craft, q, v, tau)
    rate = maximal_state_rate(craft, attitude_lagrange.maximal_state(craft, q, v, attitude), solved.nudot, (), attitude)
    h = 1e-5
    ahead, behind = (
        attitude_lagrange.maximal_state(
            craft, gs.step_configuration(craft, q, s * v + 0.5 * s * s * solved.vdot), v + s * solved.vdot, attitude
        )
        for s in (h, -h)
    )
    assert np.abs((ahead - behind) / (2 * h) - rate).max() < 1e-6 * (1.0 + np.abs(rate).max())


def test_unknown_body_in_the_mixture_is_refused():
    craft, q, v, _, _ = case(7, links=3, base="free")
    with pytest.raises(ValueError, match="has no body 'arm'"):
        attitude_lagrange.maximal_state(craft, q, v, {"arm": "quaternion"})
