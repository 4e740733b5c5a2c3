"""The virtual manipulator: any point of any tree, from the centre of mass, as a sum of constant links."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.formulations.lie_lagrange.paper.virtual_manipulator import virtual_manipulator, virtual_tip
from lie_crafts import chain
from random_trees import random_spacecraft, random_state


@pytest.mark.parametrize("seed", range(12))
def test_tip_is_the_point_seen_from_the_centre_of_mass(seed):
    craft = random_spacecraft(seed)
    body = craft.bodies[seed % craft.nbodies].name
    point = np.random.default_rng(seed).normal(size=3)
    manipulator = virtual_manipulator(craft, body, point)
    for state in range(3):
        q, _ = random_state(craft, state)
        pose = gs.frame_pose(craft, q, body)
        expected = pose.p + pose.R @ point - gs.center_of_mass(craft, q)
        np.testing.assert_allclose(virtual_tip(craft, q, manipulator), expected, atol=1e-13)


def test_links_of_two_equal_bars_are_those_of_vafa_and_dubowsky():
    """Base of mass m, its joint r from its centre; bar of mass m, centre l beyond the joint, tool 2 l beyond it:
    V_1 = r m / 2 m, V_2 = 2 l - l m / 2 m."""
    bar = gs.Body("bar", 3.0, (0.5, 0, 0), (0.01, 0.1, 0.1), gs.Joint("j", "revolute", "base", (0.8, 0, 0)))
    craft = gs.Spacecraft.build(
        "bars", [gs.Body("base", 3.0, inertia=(1, 1, 1)), bar], frames=[gs.Frame("tool", "bar", (1.0, 0, 0))]
    )
    links, strokes = virtual_manipulator(craft, "tool")
    np.testing.assert_allclose(links, [[0.4, 0, 0], [0.75, 0, 0]], atol=1e-16)
    np.testing.assert_allclose(strokes, [0.0, 0.5], atol=1e-16)


def test_virtual_ground_stays_where_it_is():
    """No force: the tip's motion in N is the virtual manipulator's own, moved along with the centre of mass."""
    craft = chain(2, ["revolute", "revolute", "prismatic"])
    q, v = random_state(craft, 3)
    manipulator = virtual_manipulator(craft, "tool")
    h = 1e-6
    before, after = (gs.step_configuration(craft, q, s * h * v) for s in (-1, 1))
    rate = (virtual_tip(craft, after, manipulator) - virtual_tip(craft, before, manipulator)) / (2 * h)
    v_cm = gs.momentum(craft, q, v)[3:] / gs.total_mass(craft)
    np.testing.assert_allclose(rate + v_cm, (gs.jacobian(craft, q, "tool") @ v)[3:], atol=1e-8)
