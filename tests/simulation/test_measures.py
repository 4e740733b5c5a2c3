"""Measures: functions that are looked at inside the compiled loop, at the start,
at every n-th accepted step and at the end.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gyrostat.algebra import sin
from gyrostat.simulation.engine.block import lane_count
from gyrostat.simulation.engine.compiling import compiled
from gyrostat.simulation.engine.integrate import integrate
from gyrostat.simulation.engine.measures import Measures, Reduce
from gyrostat.simulation.engine.system import EventSpec, Plan, State, System

LANES = lane_count()

FIRST, LAST, LARGEST, SMALLEST = Reduce.first, Reduce.last, Reduce.largest, Reduce.smallest
ALL = (FIRST, LAST, LARGEST, SMALLEST)
EACH = tuple(how for how in ALL for _ in range(3))
END, RUNS = 3.0, LANES + 3
METHODS = {"rk4": 0.01, "gauss6": 0.03, "gauss16": 0.1, "dop853": 0.0, "rk45": 0.0, "gauss16 ": 0.0}  # and their steps


def rhs(x):
    """A pendulum with its own stiffness in each run: x = (t, angle, rate, stiffness)."""
    return np.array([x[2], -x[3] * sin(x[1])])


def value(x):
    """Something of a quick swing, the time, and what only the parameter tells; all of them in every way."""
    return np.concatenate([[sin(5.0 * x[1] + x[0]), x[0], 2.0 * x[3]]] * 4)


def system(every=1, function=None, groups=1, **more):
    function = compiled(value, 4) if function is None else function
    measures = tuple(Measures(function, EACH, every + k) for k in range(groups))
    return System(compiled(rhs, 4), 2, n_parameters=1, measures=measures, **more)


def plan(method, saves=(), **more):
    step = METHODS[method]
    saves = np.asarray(saves, dtype=float)
    stops = np.unique(np.append(saves, END)) if step or "gauss" in method else np.array([END])
    kinds = np.where(stops < END, 2.0, 0.0)
    given = {"threads": 1} | more
    tolerance = np.full(2, 1e-8)
    return Plan(method.strip(), stops, kinds, saves, tolerance, tolerance, 2, step > 0, step or np.inf, **given)


def begin(method, runs=RUNS):
    rng = np.random.default_rng(4)
    state = State.begin(np.zeros(runs), rng.normal(size=(runs, 2)), np.zeros((runs, 0)), np.full(runs, METHODS[method]))
    return state, rng.uniform(2.0, 5.0, size=(runs, 1))


def steps_of(system, method, state, own):
    """Every accepted state of every run: one attempted step after the other."""
    plain = replace(system, measures=())
    rows = [[np.r_[state.t[k], state.y[k], own[k]]] for k in range(len(own))]
    while (state.status == 0).any():
        before = state.steps
        state = integrate(plain, plan(method, most_steps=1), state, own).state
        for k in np.flatnonzero(state.steps > before):
            rows[k].append(np.r_[state.t[k], state.y[k], own[k]])
    return rows


def reduced(values):
    return np.stack([values[0], values[-1], values.max(axis=0), values.min(axis=0)])


@pytest.mark.parametrize("every", [1, 3, 1000])
@pytest.mark.parametrize("method", METHODS)
def test_what_is_reduced_in_the_loop_is_what_the_steps_themselves_show(method, every):
    whole = system(every)
    state, own = begin(method)
    outcome = integrate(whole, plan(method), state, own)
    for k, rows in enumerate(steps_of(whole, method, state, own)):
        at, gap, seen = 0, min(2, every), [rows[0]]
        while (at := at + gap) < len(rows):
            gap, seen = min(2 * gap, every), [*seen, rows[at]]
        if at - gap < len(rows) - 1:
            seen.append(rows[-1])
        expected = reduced(np.array([value(x)[:3] for x in seen])).ravel()
        np.testing.assert_allclose(outcome.state.measured[k, 4:], expected, rtol=1e-12, atol=1e-12)
        assert outcome.state.measured[k, 1] == len(seen)


@pytest.mark.parametrize("method", METHODS)
def test_it_depends_on_neither_batch_nor_threads_nor_interruptions_nor_on_what_is_saved(method):
    whole = system(every=2, groups=2)
    state, own = begin(method)
    outcome = integrate(whole, plan(method), state, own)
    other = integrate(whole, plan(method, threads=3), state, own)
    part = integrate(whole, plan(method, most_steps=3), state, own)
    legs = 1
    while (part.state.status == 0).any():
        part, legs = integrate(whole, plan(method, most_steps=4 + legs), part.state, own), legs + 1
    assert legs > 2
    for found in (other, part):
        np.testing.assert_array_equal(found.state.measured, outcome.state.measured)
    for k in (0, RUNS - 1):
        one = State(**{name: x[k : k + 1] for name, x in vars(state).items()})
        alone = integrate(whole, plan(method), one, own[k : k + 1])
        np.testing.assert_array_equal(alone.state.measured[0], outcome.state.measured[k])
    if METHODS[method] == 0.0 and "gauss" not in method:  # the same steps, wherever rows are saved
        saved = integrate(whole, plan(method, np.linspace(0, END, 7)), state, own)
        np.testing.assert_array_equal(saved.state.measured, outcome.state.measured)


@pytest.mark.parametrize("method", ["rk4", "dop853", "gauss16 "])
def test_measures_that_python_computes_are_the_same(method):
    state, own = begin(method)

    def called(x):
        return np.array([np.array([float(g) for g in value(row)]) for row in x])

    a, b = (integrate(system(2, f), plan(method), state, own) for f in (None, called))
    np.testing.assert_allclose(a.state.measured, b.state.measured, rtol=1e-12, atol=1e-12)


def test_terminal_events_and_failures_are_looked_at_where_the_run_ends():
    spec = EventSpec("down", terminal=True, direction=-1)
    whole = system(every=7, events=compiled(lambda x: np.array([x[1] + 0.3]), 4), specs=(spec,))
    state, own = begin("dop853")
    outcome = integrate(whole, plan("dop853"), state, own)
    assert (outcome.state.status == 5).any()
    np.testing.assert_array_equal(outcome.state.measured[:, 4 + 3 + 1], outcome.state.t)  # the last time
    np.testing.assert_array_equal(outcome.state.measured[:, 4 + 6 + 1], outcome.state.t)  # the largest


def test_no_number_once_seen_is_not_forgotten():
    """The root is none in the middle of the run."""
    function = compiled(lambda x: np.array([((x[0] - 1.0) ** 2 - 0.1) ** 0.5] * 4), 4)
    whole = System(compiled(rhs, 4), 2, n_parameters=1, measures=(Measures(function, ALL),))
    found = integrate(whole, plan("rk4"), *begin("rk4")).state.measured[:, 4:]
    np.testing.assert_allclose(found[:, :2], [[0.9**0.5, 3.9**0.5]] * RUNS)
    assert np.isnan(found[:, 2:]).all()
    with pytest.raises(ValueError, match=r"expected \['first', 'last', 'largest', 'smallest'\]"):
        Measures(function, (LARGEST, FIRST))
