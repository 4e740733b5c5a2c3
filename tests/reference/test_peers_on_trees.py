"""Every recursive algorithm against Pinocchio and MuJoCo, on 200 random trees of every joint and base kind."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import gyrostat as gs
import peer_checks as check
from random_trees import ALL_KINDS, BASES, random_rotation, random_spacecraft

SEEDS = range(200)
MULTI = ("cylindrical", "universal", "spherical", "cartesian")


@cache
def case(seed: int) -> check.Case:
    """Every third tree has its base joint displaced and turned in N, and rotors on joints of several rates."""
    craft = random_spacecraft(seed)
    if seed % 3 == 0:
        rng = np.random.default_rng(seed + 3000)
        base, *rest = craft.bodies
        joint = replace(base.joint, position=rng.normal(size=3), rotation=random_rotation(rng))
        craft = gs.Spacecraft.build(craft.name, [replace(base, joint=joint), *rest], frames=craft.frames)
        craft = craft.with_values({f"{j.name}.rotor_inertia": 1e-4 for j in craft.joints if j.kind in MULTI})
    return check.make_case(craft, seed)


def test_the_trees_have_every_kind_and_branch_at_the_base_and_mid_arm():
    kinds, bases, at_base, mid_arm = set(), set(), 0, 0
    for seed in SEEDS:
        craft = case(seed).craft
        kinds |= {joint.kind for joint in craft.joints[1:]}
        bases.add(craft.joints[0].kind)
        parents = [body.parent for body in craft.bodies]
        branching = {name for name in parents if name is not None and parents.count(name) > 1}
        at_base += craft.base in branching
        mid_arm += bool(branching - {craft.base})
    assert kinds == set(ALL_KINDS) == set(gs.model.KINDS) and bases == set(BASES)
    assert at_base > 150 and mid_arm > 100
    assert sum(case(seed).mujoco is not None for seed in SEEDS) == len(SEEDS)


@pytest.mark.parametrize("seed", SEEDS)
def test_kinematics(seed):
    check.check_kinematics(case(seed))


@pytest.mark.parametrize("seed", SEEDS)
def test_mass_matrix_bias_and_inverse_dynamics(seed):
    check.check_dynamics(case(seed))


@pytest.mark.parametrize("seed", SEEDS)
def test_momentum_and_energy(seed):
    check.check_momentum(case(seed))


@pytest.mark.parametrize("seed", SEEDS)
def test_reaction_wrenches(seed):
    check.check_reactions(case(seed))


@pytest.mark.parametrize("seed", SEEDS)
def test_forward_dynamics(seed):
    check.check_forward_dynamics(case(seed))


@pytest.mark.parametrize("seed", SEEDS)
def test_hybrid_dynamics(seed):
    check.check_hybrid_dynamics(case(seed), seed)
