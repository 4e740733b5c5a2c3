"""The decoupled Newton-Euler baseline against `recursive` and `dual_quaternion`."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import gyrostat as gs
from backward_error import backward_error, relative
from gyrostat.formulations import decoupled
from gyrostat.formulations import dual_quaternion as dq
from random_trees import random_spacecraft, random_state


def case(seed, **options):
    craft = random_spacecraft(seed, **options)
    q, v = random_state(craft, seed + 100)
    rng = np.random.default_rng(seed)
    return craft, q, v, rng.normal(size=craft.nv), rng.normal(size=(craft.nbodies, 6)), rng


@pytest.mark.parametrize("seed", range(60))
def test_accelerations_and_reactions_equal_those_of_recursive(seed):
    craft, q, v, tau, F, _ = case(seed)
    found = decoupled.solve(craft, q, v, tau, wrenches=F)
    assert backward_error(craft, q, v, tau, found.vdot, F) < 1e-11
    vdot = gs.forward_dynamics(craft, q, v, tau, wrenches=F)
    assert relative(found.reaction_wrenches, gs.reaction_wrenches(craft, q, v, vdot, wrenches=F)) < 1e-10
    np.testing.assert_array_equal(decoupled.forward_dynamics(craft, q, v, tau, wrenches=F), found.vdot)


@pytest.mark.parametrize("seed", range(20))
def test_prescribed_joints_equal_those_of_the_dual_quaternions(seed):
    craft, q, v, tau, F, rng = case(seed)
    prescribed = {j.name: rng.normal(size=j.nv) for j in craft.joints if j.nv and rng.random() < 0.5}
    found = decoupled.solve(craft, q, v, tau, wrenches=F, prescribed=prescribed)
    expected = dq.solve(craft, q, v, tau, wrenches=F, prescribed=prescribed)
    for a, b in zip(found[:3], expected, strict=True):
        assert relative(a, b) < 1e-10


@pytest.mark.parametrize("seed", range(8))
def test_state_there_and_back_and_its_rate(seed):
    craft, q, v, tau, _, _ = case(seed, base="free", links=4)
    z = decoupled.decoupled_state(craft, q, v)
    q1, v1 = decoupled.state_from_decoupled(craft, z)
    assert relative(gs.configuration_difference(craft, q, q1), np.zeros(craft.nv)) < 1e-13
    assert relative(v1, v) < 1e-13
    how = {"method": "DOP853", "rtol": 1e-11, "atol": 1e-12}
    theirs = solve_ivp(lambda t, x: decoupled.decoupled_state_rate(craft, x, tau), (0, 0.02), z, **how).y[:, -1]
    x0 = dq.paper_state(craft, q, v)
    dual = solve_ivp(lambda t, x: dq.paper_state_rate(craft, x, tau), (0, 0.02), x0, **how).y[:, -1]
    (qa, va), (qb, vb) = decoupled.state_from_decoupled(craft, theirs), dq.state_from_paper(craft, dual)
    assert relative(gs.configuration_difference(craft, qa, qb), np.zeros(craft.nv)) < 1e-9
    assert relative(va, vb) < 1e-8


@pytest.mark.parametrize("seed", range(6))
def test_linear_momentum_is_linear_in_the_state(seed):
    """Its rate from the state's rate is the sum of the external forces, to round-off: why Runge-Kutta methods keep
    it.
    """
    craft, q, v, tau, _, _ = case(seed, base="free", kinds=("revolute", "prismatic", "spherical"))
    tau[:6] = 0.0
    rate = decoupled.decoupled_state_rate(craft, decoupled.decoupled_state(craft, q, v), tau)
    rows = rate[craft.nq : craft.nq + 6 * craft.nbodies].reshape(-1, 6)
    terms = np.array([body.mass * row[3:] for body, row in zip(craft.bodies, rows, strict=True)])
    assert np.abs(terms.sum(axis=0)).max() < 1e-13 * np.abs(terms).sum()


def test_refusals_say_why():
    wheel = gs.Body("wheel", 1.0, inertia=(1, 2, 1), joint=gs.Joint("spin", "wheel", "base", axis=(0, 0, 1)))
    lopsided = gs.Spacecraft.build("lopsided", [gs.Body("base", 5, inertia=(9, 9, 9)), wheel])
    with pytest.raises(ValueError, match="the decoupled formulation does not support lopsided: wheel 'wheel'"):
        decoupled.forward_dynamics(lopsided, gs.neutral(lopsided), np.zeros(7), np.zeros(7))
    craft = random_spacecraft(3, base="fixed")
    with pytest.raises(ValueError, match="the base of tree_3 is fixed"):
        decoupled.decoupled_state(craft, *random_state(craft, 3))
