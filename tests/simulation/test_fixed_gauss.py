"""Gauss methods with fixed steps on every kind of system: their stages are solved where round-off is all
that some components have.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.environment import ContactLaw, contact_with_plane
from gyrostat.models import servicer
from gyrostat.papers.forbes2019 import crafts

METHODS = ("gauss6", "gauss16")
ARM = ([0.3, -0.5, 0.8, 0.2, 0.4, -0.1], [0.1, -0.2, 0.1, 0.3, -0.2, 0.1])


def arm_on(kind):
    """The servicer's arm on a base of another kind."""
    bodies = list(servicer().bodies)
    first = bodies[0]
    bodies[0] = gs.Body(first.name, first.mass, (0.1, -0.2, 0.3), first.inertia, gs.Joint("base", kind))
    craft = gs.Spacecraft.build(f"arm on a {kind} base", bodies)
    base = {"fixed": ([], []), "planar": ([0.2, 0.1, -0.4], [0.1, 0.02, -0.03])}
    base["spherical"] = ([0.8, 0.36, -0.48, 0.0], [0.1, 0.05, -0.07])
    q, v = base[kind]
    return craft, np.r_[q, ARM[0]], np.r_[v, ARM[1]], {}


def planar_arm():
    """Everything moves in a plane: a third of the state is zero, or the round-off of sums that should be."""
    bodies = [gs.Body("base", 40.0, inertia=(3.0, 4.0, 5.0))]
    for k in range(3):
        joint = gs.Joint(f"joint_{k}", "revolute", bodies[-1].name, (0.5 if k else 0.3, 0, 0), axis=(0, 0, 1))
        bodies.append(gs.Body(f"link_{k}", 4.0, (0.25, 0, 0), (0.02, 0.3, 0.3), joint))
    craft = gs.Spacecraft.build("arm that moves in a plane", bodies)
    return craft, np.r_[gs.neutral(craft)[:7], 0.4, -0.7, 0.5], np.r_[np.zeros(6), 0.5, -0.3, 0.2], {}


def closed_loop():
    craft, constraints, q = crafts.four_bar()
    push = gs.joint_torques(craft, {"crank": 0.5})
    return craft, q, np.zeros(craft.nv), {"constraints": constraints, "control": lambda craft, t, q, v: push}


def contact():
    """A body turning slowly that touches a floor with a corner, and leaves it again."""
    body = gs.Body("body", 10.0, inertia=(1.0, 1.2, 1.4))
    craft = gs.Spacecraft.build("probe", [body], frames=[gs.Frame("tip", "body", (0.3, 0.1, -0.4))])
    law = ContactLaw(stiffness=800.0, damping=0.2, friction=0.3, slip_speed=0.05)
    q, v = np.r_[1, 0, 0, 0, 0, 0, 0.41], np.r_[0.1, 0.2, 0, 0.02, 0, -0.1]
    return craft, q, v, {"environment": contact_with_plane("tip", "N", law)}


def prescribed():
    craft = servicer()
    motion = {craft.joints[1].name: lambda t: 0.1 * np.cos(2.0 * t)}
    return craft, np.r_[gs.neutral(craft)[:7], ARM[0]], np.r_[np.zeros(6), ARM[1]], {"prescribed": motion}


def wheels():
    base = gs.Body("base", 100.0, inertia=(20.0, 25.0, 30.0))
    axes = np.eye(3)
    craft = gs.Spacecraft.build("wheels", [base, *[gs.Wheel(f"w{k}", "base", axes[k], 0.1) for k in range(3)]])

    def law(craft, t, q, v):
        return np.concatenate([np.zeros(6), 0.02 * v[:3] / 0.1])

    return craft, None, np.r_[0.02, 0.1, -0.05, 0, 0, 0, 50.0, 0, -30.0], {"control": law}


SYSTEMS = {
    "fixed base": lambda: arm_on("fixed"),
    "planar base": lambda: arm_on("planar"),
    "spherical base": lambda: arm_on("spherical"),
    "motion in a plane": planar_arm,
    "closed loop": closed_loop,
    "contact": contact,
    "prescribed": prescribed,
    "wheels": wheels,
}


@pytest.mark.parametrize("step", [0.05, 0.001])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", SYSTEMS)
def test_fixed_steps_reach_the_end_and_agree_with_an_adaptive_run(name, method, step):
    craft, q, v, options = SYSTEMS[name]()
    end = 4.0 if step > 0.01 else 0.4
    times = np.linspace(0, end, 5)
    fixed = gs.simulate(craft, q, v, (0, end), integrator=method, step=step, save_at=times, **options)
    assert fixed.status == ("done",), fixed.failures
    exact = gs.simulate(craft, q, v, (0, end), rtol=1e-13, atol=1e-15, max_step=0.01, save_at=times, **options)
    limit = 2e-6 if (method, step) == ("gauss6", 0.05) else 1e-11
    if name == "contact":  # the force k d has a corner where it touches, which no order sees: k/m ddot (h/2)^2 / 2
        limit = 800.0 / 10.0 * 0.1 * step**2 / 8
    assert np.abs(fixed.v - exact.v).max() < limit * max(1.0, np.abs(exact.v).max())
    assert np.abs(exact.v - exact.v[0]).max() > 1e-3  # something happens


@pytest.mark.parametrize("method", METHODS)
def test_the_stages_are_solved_to_round_off_whatever_the_tolerances(method):
    """Tolerances say when to call the stages solved where they stop improving; never to stop earlier."""
    craft, q, v, _ = arm_on("fixed")
    runs = [
        gs.simulate(craft, q, v, (0, 2), integrator=method, step=0.05, rtol=rtol, atol=atol, save_at=[2.0])
        for rtol, atol in ((1e-10, 1e-12), (1e-3, 1e-4), (1e-3, 1e-12), (1e-13, 1e-13))
    ]
    for run in runs[1:]:
        assert run.status == ("done",)
        assert np.abs(run.v - runs[0].v).max() < 1e-13


@pytest.mark.parametrize("method", METHODS)
def test_the_advice_after_no_convergence_helps(method):
    """A damper with a time constant of 2 ms: at steps of 50 ms the iteration diverges."""
    bodies = [gs.Body("base", 100.0, inertia=(20.0, 25.0, 30.0))]
    joint = gs.Joint("hinge", "revolute", "base", (0.5, 0, 0), axis=(0, 1, 0), damping=100.0)
    craft = gs.Spacecraft.build("damped", [*bodies, gs.Body("arm", 2.0, (0.2, 0, 0.1), (0.1, 0.12, 0.14), joint)])
    start = (None, np.r_[np.zeros(6), 1.0], (0, 0.5))
    with pytest.warns(gs.SimulationWarning, match="use a smaller step, or integrator='gauss16' without step="):
        failed = gs.simulate(craft, *start, integrator=method, step=0.05)
    assert failed.status == ("no_convergence",)
    smaller = gs.simulate(craft, *start, integrator=method, step=0.002)
    chosen = gs.simulate(craft, *start, integrator="gauss16")
    assert smaller.status == chosen.status == ("done",)
    assert np.abs(smaller.final[1] - chosen.final[1]).max() < 1e-8


@pytest.mark.parametrize("method", METHODS)
def test_a_motion_from_rest_at_zero_is_solved_as_every_other(method):
    """Where every component is zero, tolerances are absolute: q = (F/k) (1 - cos w t), of a slider on a spring."""
    rail = gs.Body("rail", 10.0, inertia=(1, 1, 1), joint=gs.Joint("ground", "fixed"))
    slide = gs.Joint("slide", "prismatic", "rail", axis=(1, 0, 0), stiffness=8.0)
    craft = gs.Spacecraft.build("slider", [rail, gs.Body("cart", 2.0, inertia=(1, 1, 1), joint=slide)])
    law = lambda craft, t, q, v: np.array([0.4])
    run = gs.simulate(craft, None, None, (0, 2), control=law, integrator=method, step=0.02, save_at=[0.02, 0.1, 2.0])
    np.testing.assert_allclose(run.q[:, 0], 0.05 * (1 - np.cos(2 * run.time)), rtol=1e-9)


@pytest.mark.parametrize(("rate", "status"), [(20.0, "done"), (120.0, "no_convergence"), (300.0, "no_convergence")])
def test_an_iteration_that_grows_slowly_is_no_solution(rate, status):
    """v' = -c v at h = 0.05: the iteration's factor is c h times 0.22 (the spectral radius of A); where it is little
    above one, a hundred iterations leave numbers that are finite and wrong.
    """
    rail = gs.Body("rail", 10.0, inertia=(1, 1, 1), joint=gs.Joint("ground", "fixed"))
    slide = gs.Joint("slide", "prismatic", "rail", axis=(1, 0, 0), damping=2.0 * rate)
    craft = gs.Spacecraft.build("slider", [rail, gs.Body("cart", 2.0, inertia=(1, 1, 1), joint=slide)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gs.SimulationWarning)
        run = gs.simulate(craft, None, [1.0], (0, 0.05), integrator="gauss6", step=0.05)
    assert run.status == (status,)
    if status == "done":
        assert run.final[1][0] == pytest.approx(np.exp(-0.05 * rate), rel=1e-4)
