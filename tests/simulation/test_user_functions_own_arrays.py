"""Functions that users write are given arrays of their own that cannot be written to:
NumPy raises at their line, and nothing else changes.
"""

from __future__ import annotations

import traceback
import warnings

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import constraints as gc
from gyrostat.papers.forbes2019 import crafts
from manoeuvre import start

CRAFT, Q, V = start()
V = V + 0.02


def halved(craft, t, q, v):
    w = v[6:]
    w *= 0.5  # here
    return np.concatenate([np.zeros(6), -1e-3 * w])


def right(craft, t, q, v):
    w = v[6:] * 0.5
    return np.concatenate([np.zeros(6), -1e-3 * w])


def nothing(craft, t, q, v):
    return np.zeros(craft.nv)


def stops(craft, t, q, v):
    v[:] = 0.0  # here
    return np.zeros(craft.nv)


def untraceable(craft, t, q, v):
    float(v[0])
    q[7] = 0.0  # here
    return np.zeros(craft.nv)


def wrenches(craft, t, q, v):
    v *= 0  # here
    return np.zeros((craft.nbodies, 6))


def potential(craft, t, q):
    q[4:7] -= 1.0  # here
    return q[6]


def event(craft, t, q, v):
    q[7] -= 0.3  # here
    return q[7]


def effect(craft, t, q, v):
    v *= -1.0  # here
    return q, v


def remembers(craft, t, q, v, z):
    z += 1.0  # here
    return np.zeros(craft.nv)


def gains(craft, t, q, v, gain):
    gain *= 2.0  # here
    return np.concatenate([np.zeros(6), -gain * v[6:]])


def heavier(craft, t, q, v):
    craft.body("link_3").inertia[...] *= 2.0  # here
    return np.zeros(craft.nv)


def relative(R, p):
    p -= 1.0  # here
    return p[:1]


def zdot(craft, t, q, v, z):
    return 0.0 * z


OPTIONS = {
    "law": {"control": halved},
    "law that stops everything": {"control": stops},
    "law called from Python": {"control": untraceable},
    "environment": {"environment": wrenches},
    "event": {"events": event},
    "effect": {"events": gs.When(lambda craft, t, q, v: t - 0.5, effect=effect)},
    "memory": {"control": gs.Controller(remembers, [1.0], derivative=zdot)},
    "rate of the memory": {"control": gs.Controller(lambda c, t, q, v, z: np.zeros(c.nv), [1.0], derivative=remembers)},
    "sampled law": {"control": gs.Controller(remembers, [1.0], update=zdot, period=0.1)},
    "update": {"control": gs.Controller(lambda c, t, q, v, z: np.zeros(c.nv), [1.0], update=remembers, period=0.1)},
    "inputs": {"control": gains, "inputs": {"gain": np.full(6, 0.1)}},
    "dispersed craft": {"control": heavier, "parameters": {"link_3.inertia": [1.0, 0.0, 0.0, 1.0, 0.0, 1.0]}},
}


@pytest.mark.parametrize("name", OPTIONS)
def test_writing_to_an_argument_is_refused_at_the_line_that_does(name):
    with pytest.raises(ValueError, match="read-only") as caught, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gs.simulate(CRAFT, Q, V, (0, 1), **OPTIONS[name])
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert last.filename == __file__ and "# here" in last.line


def test_a_potential_cannot_either():
    traj = gs.simulate(
        CRAFT, Q, V, (0, 0.1), environment=gs.Environment(lambda c, t, q, v: np.zeros((7, 6)), potential)
    )
    with pytest.raises(ValueError, match="read-only"):
        traj.potential_energy()


def test_a_function_of_a_constraint_cannot_either():
    craft, constraints, q = crafts.four_bar()
    odd = gc.holonomic("bus", "crank", relative)
    with pytest.raises(ValueError, match="read-only"):
        gs.simulate(craft, q, None, (0, 0.1), constraints=[*constraints, odd])


def test_a_law_that_sees_others_cannot_either():
    def law(craft, t, q, v, q_near):
        q_near[..., 4:7] -= 1.0
        return np.zeros(craft.nv)

    body = gs.Spacecraft.build("body", [gs.Body("body", 2.0, inertia=(1.0, 2.0, 2.5))])
    pair = gs.Formation({"pair": gs.Group(body, ("a", "b"))})
    with pytest.raises(ValueError, match="read-only"):
        gs.simulate(pair, t_span=(0, 1), control=gs.Coupling(law, {"near": {"a": "b", "b": "a"}}))


@pytest.mark.parametrize("wrong, law", [(halved, right), (stops, nothing)])
def test_what_was_refused_leaves_nothing_behind(wrong, law):
    """Before, the wrong law's motion was kept for the right one of the same graph: off by 0.47 after 10 s."""
    craft = CRAFT.with_values({"link_3.mass": 41.0 + (law is right)})
    with pytest.raises(ValueError, match="read-only"):
        gs.simulate(craft, Q, V, (0, 2), control=wrong)
    run = gs.simulate(craft, Q, V, (0, 2), control=law)
    free = gs.simulate(craft, Q, V, (0, 2))
    assert run.audit.worst < 1e-9
    assert np.abs(run.q - free.q).max() < (1e-2 if law is right else 1e-12)


def test_a_law_may_keep_what_it_is_given():
    kept = []

    def law(craft, t, q, v):
        kept.append((float(t), q, q.copy()))
        return np.zeros(craft.nv)

    with pytest.warns(gs.SimulationWarning, match="called from Python"):
        gs.simulate(CRAFT, Q, V, (0, 0.2), control=law)
    assert len(kept) > 10
    for _, given, then in kept[1:]:
        np.testing.assert_array_equal(given, then)
