"""The experiment of section 4 of Valverde & Tsiotras (2018): every check of the digest, to its tolerances;
the appendix; the figures.
"""

import functools
import itertools

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import gyrostat as gs
from gyrostat.formulations import dual_quaternion as dq
from gyrostat.papers import valverde2018 as paper
from gyrostat.papers.valverde2018.checks import appendix_checks
from gyrostat.tracing import compile

RUNS = [("dual_quaternion", "paper"), ("decoupled", "paper"), ("dual_quaternion", "minimal"), ("recursive", "minimal")]


@functools.cache
def run(variant, formulation="dual_quaternion", state="paper", rtol=2.3e-14, atol=1e-14):
    return paper.run(variant, formulation, state, rtol, atol)


@pytest.mark.parametrize("variant", ["A", "B"])
@pytest.mark.parametrize(("formulation", "state"), RUNS)
def test_section_4_every_check_holds(variant, formulation, state):
    failed = [check for check in paper.experiment_checks(run(variant, formulation, state), variant) if not check.passed]
    assert not failed


@pytest.mark.parametrize("variant", ["A", "B"])
def test_section_4_joint_angles_at_the_end_do_not_depend_on_the_formulation(variant):
    runs = [run(variant, *which) for which in RUNS]
    assert paper.angle_spread(runs) < 1e-12
    assert np.abs(runs[0].q[-1, 7:]).max() > 1.0  # they have turned


def test_section_4_another_integrator_ends_at_the_same_angles():
    """SciPy's DOP853, restarted at the switches by hand."""
    craft, x = paper.spacecraft("A"), None
    rate = compile(dq.paper_state_rate, craft, inputs={"x": (43,)})
    x = dq.paper_state(craft, gs.neutral(craft), np.zeros(craft.nv))
    ends = [0.0, *(t for pulse in paper.PULSES for t in pulse), paper.END]
    for a, b in itertools.pairwise(ends):

        def f(t, x, b=b):
            return rate(x, paper.torques(craft, min(t, np.nextafter(b, 0.0)), None, None))

        x = solve_ivp(f, (a, b), x, method="DOP853", rtol=2.3e-14, atol=1e-14).y[:, -1]
    q, _ = dq.state_from_paper(craft, x)
    np.testing.assert_allclose(q[7:], run("A").q[-1, 7:], rtol=0, atol=1e-12)


@pytest.mark.parametrize("variant", ["A", "B"])
def test_figure_5c_condition_of_the_matrix(variant):
    """47 x 47; a function of the joint angles alone; the scalar rows change nothing."""
    craft, traj = paper.spacecraft(variant), run(variant)
    rng = np.random.default_rng(0)
    none = np.zeros(craft.nv)
    assert dq.assemble(craft, gs.neutral(craft), none, none).S.shape == (47, 47)
    q = traj.q[[0, 60, -1]]
    moved = q.copy()
    moved[:, :7] = rng.normal(size=(3, 7))
    np.testing.assert_allclose(paper.condition_numbers(craft, moved), paper.condition_numbers(craft, q), rtol=1e-9)
    for row in q:
        S = dq.assemble(craft, row, none, none).S
        scalars = [8 * b + k for b in range(4) for k in (0, 4)]
        vectors = np.delete(np.delete(S, scalars, axis=0), scalars, axis=1)
        np.testing.assert_allclose(np.linalg.cond(vectors), np.linalg.cond(S), rtol=1e-9)
        assert not np.delete(S[scalars], scalars, axis=1).any()  # they stand alone
    angles = rng.uniform(-np.pi, np.pi, size=(300, 3))
    anywhere = paper.condition_numbers(craft, np.hstack([np.tile(gs.neutral(craft)[:7], (300, 1)), angles]))
    assert 500 < anywhere.min() < anywhere.max() < 6000


def test_figure_6_the_decoupled_state_keeps_linear_momentum_at_any_tolerance_and_the_dual_quaternions_do_not():
    """What is measured, against the paper's claim of an advantage:
    linear invariants are kept by Runge-Kutta methods.
    """
    apart = paper.own_momentum(run("B", "decoupled", rtol=1e-8, atol=1e-8))
    dual = paper.own_momentum(run("B", "dual_quaternion", rtol=1e-8, atol=1e-8))
    assert np.abs(apart[:, 3:]).max() < 1e-14
    assert np.abs(dual[:, 3:]).max() > 1e-12


def test_torques_of_equation_78():
    craft = paper.spacecraft("A")
    at = {1.9: 0, 2.0: 0, 3.0: 0.5 * np.sin(1.0), 5.0: 0}
    for t, torque in at.items():
        np.testing.assert_allclose(paper.torques(craft, t, None, None)[6:], [torque, 0, 0], atol=1e-16)
    np.testing.assert_allclose(paper.torques(craft, 11.0, None, None)[6:], [0, 0.5 * np.sin(1.0), 0])
    np.testing.assert_allclose(paper.torques(craft, 21.5, None, None)[6:], [0, 0, 0.5 * np.sin(1.5)])


def test_appendix_two_arms_of_three_joint_types():
    craft = paper.two_arms()
    kinds = [joint.kind for joint in craft.joints[1:]]
    assert len(kinds) == 10
    assert {*kinds[:5]} == {"revolute", "prismatic", "spherical"}
    assert {*kinds[5:]} == {"revolute", "cylindrical", "spherical"}
    assert not [check for check in appendix_checks(3.0) if not check.passed]


def test_unknown_choices_are_named():
    with pytest.raises(ValueError, match="variant 'D' is not known; expected one of A, B, C"):
        paper.run("D")
    with pytest.raises(ValueError, match="'recursive' has no state of its own; expected dual_quaternion or decoupled"):
        paper.run("A", "recursive")
    with pytest.raises(ValueError, match="state 'tiny' is not known; expected 'paper' or 'minimal'"):
        paper.run("A", state="tiny")
