"""Equilibria: a run that starts there stays there."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import constraints as gc
from gyrostat.algebra import rotation_from_rpy

TILT = rotation_from_rpy(np.array([0.3, -0.4, 0.8]))
DOWN = gs.environment.uniform_gravity((0.4, -0.2, -2.0))


def arm(base="fixed", stiffness=9.0):
    bodies = [
        gs.Body("b", 30.0, (0.1, 0.2, 0.0), (6.0, 8.0, 9.0), gs.Joint("root", base)),
        gs.Body(
            "one",
            4.0,
            (0.3, 0.05, -0.1),
            (0.2, 0.5, 0.4),
            gs.Joint("first", "revolute", "b", (0.3, 0, 0.1), TILT, axis=(1, 2, 2), stiffness=stiffness),
        ),
        gs.Body(
            "two",
            2.0,
            (0.2, -0.1, 0.1),
            (0.1, 0.2, 0.2),
            gs.Joint("second", "spherical", "one", (0.6, 0, 0), TILT, stiffness=stiffness),
        ),
    ]
    return gs.Spacecraft.build("arm", bodies)


def stays(craft, found, **options):
    run = gs.simulate(craft, found.q, found.v, (0, 20.0), **options)
    return max(np.abs(gs.configuration_difference(craft, found.q, q)[craft.nv - 4 :]).max() for q in run.q)


def test_springs_sag_under_gravity_until_nothing_moves():
    craft = arm()
    found = gs.equilibrium(craft, environment=DOWN)
    assert found.worst < 1e-10 and np.abs(found.q - gs.neutral(craft)).max() > 0.05
    assert stays(craft, found, environment=DOWN) < 1e-8


def test_a_pendulum_of_one_spring_against_the_closed_form():
    """k theta = m g l cos(theta) for a horizontal rod that sags: the root of a scalar equation."""
    from scipy.optimize import brentq

    k, m, g, l = 3.0, 2.0, 1.5, 0.6
    rod = gs.Body("rod", m, (l, 0, 0), (0.1, 0.1, 0.1), gs.Joint("j", "revolute", "w", axis=(0, 1, 0), stiffness=k))
    craft = gs.Spacecraft.build("p", [gs.Body("w", 1.0, inertia=(1, 1, 1), joint=gs.Joint("root", "fixed")), rod])
    found = gs.equilibrium(craft, environment=gs.environment.uniform_gravity((0, 0, -g)))
    assert found.q[0] == pytest.approx(brentq(lambda a: k * a - m * g * l * np.cos(a), 0, 2), rel=1e-10)


def test_panels_of_a_spinning_craft_bend_until_they_follow():
    """Steady turn about the axis of symmetry: panels swing out; the whole spins on for ever."""
    panel = lambda name, y: gs.Body(
        name,
        3.0,
        (0.3, y, 0.4),
        (0.3, 0.2, 0.3),
        gs.Joint(f"{name}_j", "revolute", "bus", (0, y, 0), axis=(1, 0, 0), stiffness=20.0, damping=0.5),
    )
    bodies = [gs.Body("bus", 50.0, inertia=(9, 10, 15)), panel("left", 0.5), panel("right", -0.5)]
    craft = gs.Spacecraft.build("spinner", [bodies[0], *(b for b in bodies[1:])])
    craft = gs.Spacecraft.build(
        "spinner",
        [
            bodies[0],
            gs.Body(
                "l",
                3.0,
                (0, 0.5, 0.4),
                (0.3, 0.2, 0.3),
                gs.Joint("l", "revolute", "bus", (0, 0.5, 0), axis=(1, 0, 0), stiffness=20.0),
            ),
            gs.Body(
                "r",
                3.0,
                (0, -0.5, 0.4),
                (0.3, 0.2, 0.3),
                gs.Joint("r", "revolute", "bus", (0, -0.5, 0), axis=(1, 0, 0), stiffness=20.0),
            ),
        ],
    )
    v = np.zeros(craft.nv)
    v[2] = 1.0
    found = gs.equilibrium(craft, None, v)
    assert found.q[7] == pytest.approx(-found.q[8], rel=1e-8) and abs(found.q[7]) > 0.02
    run = gs.simulate(craft, found.q, v, (0, 10.0), rtol=1e-12)
    assert np.abs(run.v - v).max() < 1e-8 and np.abs(run.q[:, 7:] - found.q[7:]).max() < 1e-8


def test_the_load_that_holds_a_joint_where_it_is():
    """Under gravity: found as the holding load is that of inverse dynamics; the other joints sag."""
    craft = arm()
    q = gs.neutral(craft)
    q[0] = 0.4
    found = gs.equilibrium(craft, q, environment=DOWN, hold=["first"], find_loads=["first"])
    assert found.q[0] == 0.4 and np.abs(found.tau[1:]).max() == 0.0
    law = lambda craft, t, q, v: found.tau
    assert stays(craft, found, environment=DOWN, control=law) < 1e-8
    linear = gs.linearize(craft, found.q, found.v, found.tau, environment=DOWN)
    assert np.abs(linear.vdot).max() < 1e-9


def test_memory_of_an_integrating_law_is_found():
    craft = arm(stiffness=0.5)
    law = gs.Controller(
        lambda craft, t, q, v, z: np.concatenate([z, np.zeros(3)]) - v,
        (0.0,),
        derivative=lambda craft, t, q, v, z: np.array([0.2 - q[0]]),
    )
    found = gs.equilibrium(craft, environment=DOWN, control=law)
    assert found.q[0] == pytest.approx(0.2, abs=1e-9) and abs(found.memory[0]) > 0.1


def test_constraints_are_closed_as_well():
    """A hand on a point of inertial space: springs and constraint in balance, from an open start."""
    craft = arm()
    craft = gs.Spacecraft.build("arm", craft.bodies, frames=[gs.Frame("hand", "two", (0.4, 0, 0.1))])
    there = gs.frame_pose(craft, gs.neutral(craft), "hand").p + np.array([0.02, -0.05, 0.03])
    pin = gc.plane("N", "hand", (0, 0, 1), pose=gs.algebra.Pose(np.eye(3), there))
    found = gs.equilibrium(craft, environment=DOWN, constraints=[pin])
    assert gs.frame_pose(craft, found.q, "hand").p[2] == pytest.approx(there[2], abs=1e-9)
    assert stays(craft, found, environment=DOWN, constraints=[pin]) < 1e-7


def test_where_there_is_none_the_coordinate_that_moves_is_named():
    with pytest.raises(ValueError, match="'root vz' still accelerates by -2"):
        gs.equilibrium(arm("free"), environment=DOWN)
    moving = np.zeros(4)
    moving[0] = 0.1
    with pytest.raises(ValueError, match="v moves 'first' at 0.1: no equilibrium"):
        gs.equilibrium(arm(), None, moving)


def test_a_free_craft_at_rest_is_where_it_is():
    craft = arm("free")
    found = gs.equilibrium(craft)
    np.testing.assert_array_equal(found.q, gs.neutral(craft))
