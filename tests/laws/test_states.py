"""The states that laws are tested on, and the fifty-digit arithmetic that tests them."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from exact import exact, floats, mp, rate, size
from exact_cases import SEEDS, state


def test_laws_are_tested_on_every_joint_and_base_kind():
    crafts = [state(seed).rough for seed in SEEDS]
    assert {joint.kind for craft in crafts for joint in craft.joints[1:]} == set(gs.model.KINDS)
    assert {craft.joints[0].kind for craft in crafts} == {"free", "fixed", "spherical", "planar"}
    assert {wheel.included for craft in crafts for wheel in craft.wheels} == {True, False}


@pytest.mark.parametrize("seed", SEEDS)
def test_forward_and_inverse_dynamics_are_inverse_to_sixty_digits(seed):
    s = state(seed)
    vdot = gs.forward_dynamics(s.craft, s.q, s.v, s.tau, wrenches=s.wrenches)
    back = gs.inverse_dynamics(s.craft, s.q, s.v, vdot, wrenches=s.wrenches)
    assert all(isinstance(x, mp.mpf) for x in vdot)
    assert size(back - s.tau) < 1e-60


@pytest.mark.parametrize("seed", SEEDS)
def test_true_error_of_float_dynamics(seed):
    """Floats against 70 digits: inputs alone, rounded to floats, leave an error of some 1e-16 cond(M)."""
    s = state(seed)
    q, v, vdot, tau, wrenches = (floats(x) for x in (s.q, s.v, s.vdot, s.tau, s.wrenches))
    M = gs.mass_matrix(s.craft, s.q)
    assert size(gs.mass_matrix(s.rough, q) - M) < 1e-14 * size(M)
    found, true = gs.bias_force(s.rough, q, v), gs.bias_force(s.craft, s.q, s.v)
    assert size(found - true) < 1e-14 * size(true)
    found = gs.inverse_dynamics(s.rough, q, v, vdot, wrenches=wrenches)
    true = gs.inverse_dynamics(s.craft, s.q, s.v, s.vdot, wrenches=s.wrenches)
    assert size(found - true) < 1e-14 * size(true)
    found = gs.forward_dynamics(s.rough, q, v, tau, wrenches=wrenches)
    true = gs.forward_dynamics(s.craft, s.q, s.v, s.tau, wrenches=s.wrenches)
    assert size(found - true) < max(1e-14, 1e-15 * np.linalg.cond(floats(M))) * size(true)


def test_rate_is_exact_to_thirty_digits():
    """The difference quotient itself, on a function whose derivative is known: the position of a free base."""
    s = state(0)
    found = rate(lambda q, v: q[4:7], s.craft, s.q, s.v)
    expected = gs.algebra.rotation(s.q[:4]) @ s.v[3:6]
    assert size(found - expected) < 1e-30
    sine = rate(lambda q, v: gs.algebra.sin(v[:1]), s.craft, s.q, s.v, exact(np.ones(s.craft.nv)))
    assert size(sine - gs.algebra.cos(s.v[:1])) < 1e-30
