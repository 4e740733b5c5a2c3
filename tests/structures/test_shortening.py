"""Second-order shapes from lines of slender members: those of a beam by finite elements, and where none can be had."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.structures import Section, stiffened

SECTION = Section(1e6, 400.0, 300.0, 200.0, 1.5)


def _with_lines(body, lines=None):
    """Its nodes in a row, without second-order shapes."""
    row = [body.nodes[k].name for k in np.argsort([node.position[0] for node in body.nodes])]
    return replace(body, second_order=None, lines=tuple(pairwise(row)) if lines is None else lines)


def test_a_beam_has_the_second_order_shapes_of_its_elements():
    beam = gs.beam("b", 4.0, SECTION, modes=4, motions=["y", "z"])
    found = stiffened(_with_lines(beam)).second_order
    assert found == pytest.approx(beam.second_order, abs=2e-3 * np.abs(beam.second_order).max())


def test_without_rotations_members_are_straight():
    """Two hinged bars of 1 m: the outer end comes in by half the squares of both slopes."""
    nodes = [gs.Node("a", (1, 0, 0), 1.0), gs.Node("b", (1, 0, 1), 1.0)]
    body = gs.FlexibleBody("b", nodes, [[[0, 0], [0.2, 0.0], [0, 0]], [[0, 0], [0.2, 0.3], [0, 0]]], stiffness=[1, 1],
                           lines=[("a", "b")])  # fmt: skip
    G = stiffened(body).second_order
    assert G[0] == pytest.approx(np.array([[[-0.04, 0], [0, 0]], np.zeros((2, 2)), np.zeros((2, 2))]))
    assert G[1, 0] == pytest.approx(G[0, 0]) and G[1, 2] == pytest.approx(np.array([[0, 0], [0, -0.09]]))


def test_a_rigid_turn_of_a_slender_thing_is_a_turn_to_second_order():
    """Fifty nodes on a crooked line that turn as one about a hinge at the frame, by one mode."""
    rng = np.random.default_rng(8)
    r = np.cumsum(np.column_stack([0.1 + 0.1 * rng.random(50), 0.1 * rng.normal(size=50), np.zeros(50)]), axis=0)
    nodes = [gs.Node(f"n{k}", at, 0.1) for k, at in enumerate(r)]
    Psi = np.zeros((50, 3, 1))
    Psi[:, 2] = 1.0
    lines = [(f"n{k}", f"n{k + 1}") for k in range(49)]
    Phi = np.cross(Psi, r[:, :, None], axis=1)
    free = gs.FlexibleBody("b", nodes, Phi, Psi, stiffness=[1.0], lines=lines)
    # the member from the frame to the first node has its slope from the frame's, which stands still
    G = stiffened(free).second_order[:, :, 0, 0]
    assert G - G[0] == pytest.approx(-(r - r[0]), abs=1e-12)  # cos: -1/2 e^2 r


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ((("n0", "n1"), ("n1", "n2"), ("n2", "n0")), "its lines close a loop"),
        ((("n0", "n1"),), "no line leads to node 'n2', which has mass"),
        ((), "no line leads to node 'n0'"),
    ],
)
def test_lines_that_do_not_tell_are_refused(lines, words):
    nodes = [gs.Node(f"n{k}", (1.0 + k, 0.5 * (k == 1), 0), 1.0) for k in range(3)]
    body = gs.FlexibleBody("b", nodes, [[[0], [1.0 + k], [0]] for k in range(3)], stiffness=[1.0], lines=lines)
    with pytest.raises(ValueError, match=words):
        stiffened(body)
