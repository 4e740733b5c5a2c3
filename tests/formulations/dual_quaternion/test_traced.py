"""Traced and compiled, the elimination costs what the articulated-body algorithm costs, and computes the same."""

import numpy as np
import pytest

import gyrostat as gs
from backward_error import relative
from gyrostat.formulations import dual_quaternion as dq
from gyrostat.tracing import compile, trace
from random_trees import random_spacecraft, random_state


def arms(count, links):
    """`count` arms of revolute joints with axes in turn along z, y, x on one free base."""
    bodies = [gs.Body("base", 100.0, (0.1, 0.0, 0.0), (40.0, 50.0, 60.0))]
    for arm in range(count):
        parent = "base"
        for k in range(links):
            name = f"arm_{arm}_link_{k}"
            joint = gs.Joint(f"{name}_joint", "revolute", parent, (0.3, 0.1 * arm, 0.5), axis=np.eye(3)[2 - k % 3])
            bodies.append(gs.Body(name, 5.0, (0.2, 0.0, 0.1), (0.3, 0.4, 0.5), joint))
            parent = name
    return gs.Spacecraft.build(f"{count} arms", bodies)


@pytest.mark.parametrize(("count", "links"), [(1, 6), (1, 30), (12, 6)])
def test_operations_are_within_three_times_those_of_articulated_bodies(count, links):
    """Section 5 of the design; 1.15 times is measured."""
    craft = arms(count, links)
    assert len(trace(dq.forward_dynamics, craft)) < 3.0 * len(trace(gs.forward_dynamics, craft))


def test_operations_grow_linearly_where_those_of_the_symmetric_form_do_not():
    ours = [len(trace(dq.forward_dynamics, arms(n, 1))) for n in (2, 4, 8)]
    assert ours[2] - ours[1] <= 2.0 * (ours[1] - ours[0])
    theirs = [len(trace(dq.solve_by_schur_complement, arms(n, 1))) for n in (2, 4, 8)]
    assert theirs[2] - theirs[1] > 3.0 * (theirs[1] - theirs[0])  # joints that share the base form a clique


@pytest.mark.parametrize("seed", range(4))
def test_compiled_equals_plain_numpy(seed):
    craft = random_spacecraft(seed, links=5)
    q, v = random_state(craft, seed)
    tau = np.random.default_rng(seed).normal(size=craft.nv)
    F = np.random.default_rng(seed + 1).normal(size=(craft.nbodies, 6))
    found = compile(dq.solve, craft, inputs={"wrenches": None})(q, v, tau, wrenches=F)
    for a, b in zip(found, dq.solve(craft, q, v, tau, wrenches=F), strict=True):
        assert relative(a, b) < 1e-11


def test_masses_inertias_and_axes_may_be_inputs():
    craft = random_spacecraft(11, links=4, kinds=("revolute",), base="free")
    q, v = random_state(craft, 1)
    tau = np.random.default_rng(1).normal(size=craft.nv)
    body, joint = craft.bodies[2].name, craft.bodies[2].joint.name
    names = [f"{body}.mass", f"{body}.com", f"{body}.inertia", f"{joint}.axis", "base.mass"]
    other = {name: np.asarray(craft.value(name)) * 1.1 for name in names if not name.endswith("axis")}
    other[f"{joint}.axis"] = np.array([0.48, -0.6, -0.64])
    found = compile(dq.forward_dynamics, craft, parameters=names)(q, v, tau, parameters=other)
    assert relative(found, gs.forward_dynamics(craft.with_values(other), q, v, tau)) < 1e-11
