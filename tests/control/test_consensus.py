"""Consensus: attitudes agree without a leader."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from formation_crafts import armed, box
from gyrostat.algebra import exp_so3, quat_from_rotation
from gyrostat.control import attitude_consensus
from gyrostat.control.detumble import angular_momentum_in_base
from gyrostat.formation import Coupling, Formation, Group, ring, simulate
from gyrostat.kinematics import step_configuration
from laws import servicer_like, state


def test_consensus_of_eight_on_a_ring():
    """Scattered by up to a radian and turning, of other inertias: all point the same way, and turn together, without a
    leader.
    """
    names = [f"m{k}" for k in range(8)]
    rng = np.random.default_rng(2)
    inertia = np.array([[a, 0, 0, b, 0, c] for a, b, c in rng.uniform(0.4, 0.6, size=(8, 3))])
    formation = Formation({"ring": Group(box(), names, {"hull.inertia": inertia})})
    state = formation.neutral()
    for k in range(8):
        state["ring"][0][k, :4] = quat_from_rotation(exp_so3(0.6 * rng.normal(size=3)))
        state["ring"][1][k, :3] = 0.05 * rng.normal(size=3)
    law = attitude_consensus(0.4, 1.0)
    run = simulate(formation, state, (0, 120), control={"ring": Coupling(law, {"near": ring(names)})}, rtol=1e-9)
    apart = np.array([run.relative(n, to="m0").angle for n in names[1:]])
    assert apart[:, 0].max() > 0.5
    assert apart[:, -1].max() < 1e-3
    rates = np.array([run.member(n).w_N[-1] for n in names])
    assert np.abs(rates - rates[0]).max() < 1e-4
    worst = apart.max(axis=0)
    assert worst[200:].max() < worst[:200].max()


def test_a_base_that_is_turned_in_its_joint_is_refused():
    craft = servicer_like(1)
    q, v = state(craft, 1)
    with pytest.raises(ValueError, match="attitude_consensus compares quaternions in q; the base of .* is turned"):
        attitude_consensus(1.0, 1.0)(craft, 0.0, q, v, q[None], v[None], np.ones(1))


def test_a_member_that_sees_nobody_brakes_its_own_turn():
    """I w' = -own_damping w: the gyroscopic torque is compensated, nothing else acts."""
    craft = box()
    q, v = np.array([1.0, 0, 0, 0, 0, 0, 0]), np.array([0.3, -0.2, 0.5, 0.0, 0.0, 0.0])
    nobody = (q[None], 2.0 * v[None], np.zeros(1))
    tau = attitude_consensus(1.0, 2.0, own_damping=0.7)(craft, 0.0, q, v, *nobody)
    vdot = gs.forward_dynamics(craft, q, v, tau)
    np.testing.assert_allclose(craft.bodies[0].inertia @ vdot[:3], -0.7 * v[:3], atol=1e-13)
    np.testing.assert_allclose(vdot[3:], 0.0, atol=1e-13)


@pytest.mark.parametrize("seed", range(3))
def test_arms_and_wheels_that_turn_are_compensated_too(seed):
    """Nobody is seen: the angular momentum about the centre of mass, in base axes, falls as -own_damping w."""
    craft = armed()
    q, v = state(craft, seed)
    law = attitude_consensus(1.0, 2.0, own_damping=0.7)

    def momentum(x):
        return angular_momentum_in_base(craft, *x)

    tau = law(craft, 0.0, q, v, q[None], v[None], np.zeros(1))
    vdot, step = gs.forward_dynamics(craft, q, v, tau), 1e-5
    near = [(step_configuration(craft, q, s * step * v), v + s * step * vdot) for s in (1.0, -1.0)]
    rate = (momentum(near[0]) - momentum(near[1])) / (2.0 * step)
    np.testing.assert_allclose(rate, -0.7 * v[:3], atol=1e-6)
