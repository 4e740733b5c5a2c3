"""The paper's state (43) and algorithm 1."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import gyrostat as gs
from backward_error import relative
from gyrostat.formulations import dual_quaternion as dq
from random_trees import random_spacecraft, random_state

SEEDS = range(8)
PAPER = ("revolute", "prismatic", "spherical", "cylindrical", "cartesian")


def case(seed, **options):
    craft = random_spacecraft(seed, base="free", **options)
    q, v = random_state(craft, seed + 100)
    return craft, q, v, np.random.default_rng(seed).normal(size=craft.nv)


@pytest.mark.parametrize("euler", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_equation_43_there_and_back(seed, euler):
    craft, q, v, _ = case(seed)
    x = dq.paper_state(craft, q, v, euler=euler)
    q1, v1 = dq.state_from_paper(craft, x, euler=euler)
    assert relative(gs.configuration_difference(craft, q, q1), np.zeros(craft.nv)) < 1e-13
    assert relative(v1, v) < 1e-13
    assert relative(dq.projected(craft, x, euler=euler), x) < 1e-13


@pytest.mark.parametrize("seed", SEEDS)
def test_equation_43_sizes_and_order(seed):
    craft, q, v, _ = case(seed, kinds=PAPER)
    x = dq.paper_state(craft, q, v, euler=True)
    D = sum(joint.nv for joint in craft.joints[1:])
    assert len(x) == 8 + D + 8 * craft.nbodies
    np.testing.assert_array_equal(x[8 + D :].reshape(-1, 8)[:, [0, 4]], 0)  # scalar rows of y


@pytest.mark.parametrize("euler", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_algorithm_1_moves_the_state_as_ours_does(seed, euler):
    """A short step of either state ends at the same configuration and velocity."""
    craft, q, v, tau = case(seed, links=4)
    x0 = dq.paper_state(craft, q, v, euler=euler)
    span, how = (0, 0.02), {"method": "DOP853", "rtol": 1e-11, "atol": 1e-12}
    theirs = solve_ivp(lambda t, x: dq.paper_state_rate(craft, x, tau, euler=euler), span, x0, **how)
    n = craft.nq
    ours = solve_ivp(
        lambda t, z: np.concatenate(
            [gs.configuration_rate(craft, z[:n], z[n:]), gs.forward_dynamics(craft, z[:n], z[n:], tau)]
        ),
        span,
        np.concatenate([q, v]),
        **how,
    )
    q1, v1 = dq.state_from_paper(craft, theirs.y[:, -1], euler=euler)
    assert relative(gs.configuration_difference(craft, ours.y[:n, -1], q1), np.zeros(craft.nv)) < 1e-9
    assert relative(v1, ours.y[n:, -1]) < 1e-8


@pytest.mark.parametrize("seed", SEEDS)
def test_algorithm_1_lines_9_to_12_a_prescribed_rate_replaces_what_y_says(seed):
    craft, q, v, tau = case(seed, kinds=PAPER, rotors=False)
    joint = craft.bodies[1].joint
    rate, acceleration = np.full(joint.nv, 0.3), np.full(joint.nv, -0.2)
    wrong = dq.paper_state(craft, q, v)
    right = v.copy()
    right[joint.v_at] = rate
    options = {"prescribed": {joint.name: acceleration}, "prescribed_rate": {joint.name: rate}}
    a = dq.paper_state_rate(craft, wrong, tau, **options)
    b = dq.paper_state_rate(craft, dq.paper_state(craft, q, right), tau, prescribed=options["prescribed"])
    assert relative(a, b) < 1e-12


def test_a_base_that_is_not_free_is_refused():
    craft = random_spacecraft(3, base="fixed")
    q, v = random_state(craft, 3)
    with pytest.raises(ValueError, match="the base of tree_3 is fixed; the paper's state"):
        dq.paper_state(craft, q, v)


def test_a_state_of_the_wrong_length_is_refused():
    craft, _, _, tau = case(1)
    with pytest.raises(ValueError, match=r"x has shape \(3,\); expected"):
        dq.paper_state_rate(craft, np.zeros(3), tau)
