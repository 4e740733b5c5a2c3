"""Equal stretches of long graphs are compiled once: the same values as node by node, whatever the stretches hold."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import tracing
from gyrostat.algebra import sin, sqrt, where
from gyrostat.kinematics import lean
from gyrostat.tracing import schedule
from gyrostat.tracing.kernel import Kernel
from gyrostat.tracing.llvm import LONG, assembly
from random_trees import ALL_KINDS, random_inertia, random_rotation, random_spacecraft, random_state


def chain(links: int, kinds=("revolute",)) -> gs.Spacecraft:
    """An arm with general frames; kinds in turn."""
    rng = np.random.default_rng(links)
    bodies = [gs.Body("base", 20.0, rng.normal(scale=0.2, size=3), random_inertia(rng, 20.0))]
    for k in range(links):
        place = rng.normal(scale=0.5, size=3), random_rotation(rng), rng.normal(size=3)
        own = gs.Joint(f"joint_{k}", kinds[k % len(kinds)], bodies[-1].name, *place, rotor_inertia=1e-3 * (k % 2))
        bodies.append(gs.Body(f"link_{k}", 3.0, rng.normal(scale=0.3, size=3), random_inertia(rng, 3.0), own))
    return gs.Spacecraft.build("chain", bodies)


def shared(graph: tracing.Graph) -> float:
    """The part of its operations that stand in stretches that occur more than once."""
    pieces, _ = schedule.parts(graph, 2500, 1000, LONG)
    return sum(len(part.nodes) for part in pieces if part.outline is not None) / len(graph)


def close(found, expected, tolerance):
    assert np.abs(found - expected).max() <= tolerance * np.abs(expected).max()


@pytest.mark.parametrize("kinds", [("revolute",), ("revolute", "prismatic", "spherical")])
def test_long_arms_accelerate_as_numbers_do(kinds):
    craft = chain(lean.MANY + 4, kinds)
    kernel, rng = tracing.compile(gs.forward_dynamics, craft), np.random.default_rng(1)
    assert shared(kernel.graph) > 0.5
    q, v = zip(*(random_state(craft, k, speed=0.1) for k in range(5)), strict=True)
    q, v, tau = np.array(q), np.array(v), rng.normal(size=(5, craft.nv))
    found = kernel(q, v, tau)
    close(found, kernel.graph.evaluate(q, v, tau)[0], 1e-10)
    close(found[3], gs.forward_dynamics(craft, q[3], v[3], tau[3]), 1e-10)
    close(kernel.bind(q[3], v[3], tau[3])(), found[3], 1e-10)  # scalar code
    assert np.array_equal(found[3], kernel(q[3], v[3], tau[3]))


def test_four_times_the_links_are_less_than_twice_the_code():
    lengths = [assembly(tracing.trace(gs.forward_dynamics, chain(n)), 4).text.count("\n") for n in (60, 240)]
    assert lengths[1] < 2 * lengths[0]


def test_branches_of_all_kinds_agree_with_numbers():
    """Nothing repeats itself for long, and all of it is right."""
    craft = random_spacecraft(3, links=44, kinds=[k for k in ALL_KINDS if k != "free"])
    (q, v), tau = random_state(craft, 3, speed=0.1), np.random.default_rng(3).normal(size=craft.nv)
    graph = tracing.trace(gs.forward_dynamics, craft)
    close(graph.evaluate(q, v, tau)[0], gs.forward_dynamics(craft, q, v, tau), 1e-9)
    (M,) = tracing.trace(gs.mass_matrix, craft).evaluate(q)
    close(M, gs.mass_matrix(craft, q), 1e-12)


def test_what_is_made_of_constants_alone_is_a_constant():
    graph = tracing.trace(gs.forward_dynamics, chain(lean.MANY))
    fixed = [all(graph.nodes[a].op == "const" for a in node.args) for node in graph if node.args]
    assert not any(fixed)


def test_kept_constants_can_be_differentiated_past():
    """dT/dv = M v."""
    craft = chain(lean.MANY)
    q, v = random_state(craft, 2)
    (found,) = tracing.trace(tracing.jacobian_of(gs.kinetic_energy, "v"), craft).evaluate(q, v)
    close(found, gs.mass_matrix(craft, q) @ v, 1e-12)


def rounds(x, y):
    """Six hundred of the same kind: conditions, sines, constants alike and not, results on the way and at the end."""
    numbers = np.random.default_rng(5).uniform(0.1, 0.9, size=(600, 3))
    left, seen = y[0] < 0.3, []
    for k, (a, b, c) in enumerate(numbers):
        x = sin(x) * a + where(left, b * x, x - 0.5) * 0.25
        left = (x < c) & (left | (x < y[1] * a)) | (x * b > 0.7)
        x = x + y[k % 2] * sqrt(c + x * x) + where(left, 0.125, a) - x * x * b
        x = 0.25 * x + sin(x * c)
        seen.append(x)
    return np.array(seen), where(left, x, y[1])


@pytest.mark.parametrize("lanes", [1, 2, 4, None])
def test_conditions_and_results_cross_stretches(lanes, monkeypatch):
    graph = tracing.trace(rounds, None, inputs={"x": (), "y": (2,)})
    assert shared(graph) > 0.5
    if lanes:
        monkeypatch.setattr(tracing.kernel.machine, "host_lanes", lambda scalar: lanes)
    rng = np.random.default_rng(6)
    x, y = rng.normal(size=13), rng.normal(size=(13, 2))
    expected = graph.evaluate(x, y)
    for found, one in zip(Kernel(graph)(x, y), expected, strict=True):
        assert np.abs(found - one).max() < 1e-12


def test_single_precision():
    graph = tracing.trace(rounds, None, inputs={"x": (), "y": (2,)})
    x, y = np.float32(0.3), np.array([0.2, 0.4], dtype=np.float32)
    found, expected = Kernel(graph, dtype=np.float32)(x, y), graph.evaluate(x, y)
    assert found[0].dtype == np.float32
    assert np.abs(found[0] - expected[0]).max() < 1e-3


def test_a_long_arm_keeps_momentum_and_energy():
    """Through the time loop, whose right-hand side is made of the same stretches."""
    craft = chain(lean.MANY + 2)
    q, v = random_state(craft, 7, speed=0.02)
    run = gs.simulate(craft, q, v, (0.0, 0.2), rtol=1e-10, atol=1e-12, progress=False)
    assert max(run.audit.linear, run.audit.angular, run.audit.energy) < 1e-10
