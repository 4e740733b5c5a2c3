"""The rooted tree (34)-(40)."""

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.formulations.dual_quaternion import incidence_matrix, termination_vector
from gyrostat.formulations.dual_quaternion.paper.topology import negatives, positives
from random_trees import random_spacecraft


def serial(links):
    bodies = [gs.Body("base", 1, inertia=(1, 1, 1))]
    for k in range(links):
        joint = gs.Joint(f"J{k + 1}", "revolute", bodies[-1].name, (1, 0, 0))
        bodies.append(gs.Body(f"link_{k + 1}", 1, inertia=(1, 1, 1), joint=joint))
    return gs.Spacecraft.build("figure 3", bodies)


def test_equations_36_to_40_example_1():
    C, T = incidence_matrix(serial(4)), termination_vector(serial(4))
    np.testing.assert_array_equal(C, [[-1, 1, 0, 0, 0], [0, -1, 1, 0, 0], [0, 0, -1, 1, 0], [0, 0, 0, -1, 1]])  # (36)
    np.testing.assert_array_equal(T, [0, 0, 0, 0, 1])  # (37)
    assert negatives(C[0]) == [0]  # (38), counted from zero
    assert positives(C[0]) == [1]  # (39)
    assert positives(T) == [4]  # (40)


@pytest.mark.parametrize("seed", range(20))
def test_equations_34_35_on_random_trees(seed):
    craft = random_spacecraft(seed)
    wheels = {wheel.name for wheel in craft.wheels}
    bodies = [B for B, _ in craft.base_to_tip if B not in wheels]
    C, T = incidence_matrix(craft), termination_vector(craft)
    assert C.shape == (len(bodies) - 1, len(bodies))
    for i, row in enumerate(C):
        (distal,), (proximal,) = positives(row), negatives(row)
        assert distal == i + 1  # joint i carries body i + 1 (from zero: body i + 1 too)
        assert bodies[proximal] == craft.body(bodies[distal]).parent
    assert not positives(C[:, 0])  # the base has no joint of the tree
    # against "several +1 entries" of section 3.1
    assert all(len(positives(C[:, b])) == 1 for b in range(1, len(bodies)))
    parents = {P for B, P in craft.base_to_tip if B not in wheels}
    np.testing.assert_array_equal(T, [int(B not in parents) for B in bodies])
