"""Where an event function changes its sign within a step: cubics are followed exactly, and no pair of roots is lost."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.simulation.engine import crossings
from gyrostat.simulation.engine.crossings import Interval, Point, _zeros, changes, intervals

METHODS = {
    "dop853": {},
    "rk45": {"integrator": "rk45"},
    "gauss16": {"integrator": "gauss16"},
    "rk4": {"integrator": "rk4", "step": 5.0},
    "gauss6": {"integrator": "gauss6", "step": 5.0},
}


@pytest.mark.parametrize("seed", range(8))
def test_zeros_of_a_parabola(seed):
    rng = np.random.default_rng(seed)
    for a, b, c in rng.normal(size=(40, 3)):
        roots = np.roots([a, b, c])
        wanted = sorted(x.real for x in roots if abs(x.imag) < 1e-12 and 0.0 < x.real < 1.0)
        np.testing.assert_allclose(_zeros(a, b, c), wanted, rtol=1e-9)
    assert _zeros(0.0, 2.0, -1.0) == [0.5] and _zeros(0.0, 0.0, 1.0) == [] and _zeros(1.0, 0.0, 1.0) == []


def cubic(rng):
    """With its slope, over a span of its own."""
    p = np.polynomial.Polynomial(rng.normal(size=4))
    begin = rng.normal()
    return p, p.deriv(), begin, begin + rng.uniform(0.5, 2.0)


@pytest.mark.parametrize("seed", range(20))
def test_a_cubic_through_two_points_is_that_cubic(seed):
    rng = np.random.default_rng(seed)
    p, slope, begin, end = cubic(rng)
    whole = Interval(Point(begin, p(begin), slope(begin)), Point(end, p(end), slope(end)), 0.0)
    for x in rng.uniform(size=5):
        assert whole.at(x) == pytest.approx(p(begin + x * (end - begin)), abs=1e-12)
    m = begin + rng.uniform(0.2, 0.8) * (end - begin)
    halves = whole.split(Point(m, p(m), slope(m)))
    assert all(half.error < 1e-12 and half.resolved for half in halves)
    off = whole.split(Point(m, p(m) + 0.3, slope(m)))
    assert off[0].error == pytest.approx(0.15) == off[1].error  # half of what it misses
    steep = whole.split(Point(m, p(m), slope(m) + 0.3))
    assert steep[0].error == pytest.approx(0.5 * 0.25 * 0.3 * (end - begin))
    # extrema that matter: where the cubic is on the other side of zero than one of its ends, or nearly
    wanted = []
    for t in slope.roots():
        if abs(t.imag) < 1e-12 and begin < t.real < end:
            value, ends = p(t.real), (p(begin), p(end))
            doubt = 0.01 * (end - begin) * (abs(slope(begin)) + abs(slope(end)))
            if (value > -doubt and min(ends) < 0) or (value < doubt and max(ends) > 0):
                wanted.append((t.real - begin) / (end - begin))
    np.testing.assert_allclose(whole.extrema(), sorted(wanted), atol=1e-9)
    assert whole.doubtful or not (p(begin) * p(end) < 0 or wanted)


def test_a_step_is_seen_at_its_ends_and_between_with_slopes_per_second():
    p, near = np.polynomial.Polynomial([0.3, -1.0, 0.7, 0.4]), 2.0**-20
    begin, end, between = 2.0, 3.5, (0.3, 0.6)
    h = end - begin
    rows = [p(begin + near * h), p(end - near * h)]
    for c in between:
        rows += [p(begin + c * h), p(begin + (c + near) * h)]
    found = intervals(between, begin, end, p(begin), p(end), np.array(rows)[:, None])
    times = [begin, begin + 0.3 * h, begin + 0.6 * h, end]
    assert [(i.left.t, i.right.t) for i in found] == list(pairwise(times))
    for interval in found:
        for point in (interval.left, interval.right):
            assert point.g == pytest.approx(p(point.t)) and point.slope == pytest.approx(p.deriv()(point.t), abs=1e-4)
        assert interval.error < 1e-4


def test_signs_that_change_and_the_way():
    assert changes(-1.0, 0.0) and changes(-1.0, 2.0, 1) and not changes(-1.0, 2.0, -1)
    assert changes(1.0, 0.0) and changes(1.0, -2.0, -1) and not changes(1.0, -2.0, 1)
    assert not changes(0.0, 1.0) and not changes(0.0, -1.0) and not changes(1.0, 2.0)


@pytest.mark.parametrize("method", METHODS)
def test_no_pair_of_roots_is_lost_in_a_long_step(method):
    """Cubics of time with two roots near each other, seen from above and from below, while steps are seconds long."""
    rng = np.random.default_rng(7)
    wanted, events = [], []
    for k in range(24):
        first = rng.uniform(0.5, 9.0)
        roots = [first, first + 10.0 ** rng.uniform(-2.0, -0.3), rng.uniform(-8.0, 18.0)]
        p = np.polynomial.Polynomial.fromroots(roots) * rng.choice([-1.0, 1.0]) * 10.0 ** rng.uniform(-2, 2)
        ways = {"both": 0, "up": 1, "down": -1}
        for way, direction in ways.items():
            name = f"{k} {way}"
            events.append(
                gs.When(
                    lambda craft, t, q, v, p=p: sum(c * t**n for n, c in enumerate(p.coef)), name, direction=direction
                )
            )
            for root in roots:
                rises = p.deriv()(root) > 0
                if 0.0 < root < 10.0 and (direction == 0 or rises == (direction > 0)):
                    wanted.append((name, root))
    craft = gs.Spacecraft.build("box", [gs.Body("hull", 2.0, inertia=(1.0, 2.0, 2.5))])
    run = gs.simulate(craft, None, [0, 0, 0, 1.0, 0, 0], (0, 10), events=events, save_at=[10.0], **METHODS[method])
    found = sorted((event.name, event.t) for event in run.events)
    assert [name for name, _ in found] == [name for name, _ in sorted(wanted)]
    np.testing.assert_allclose([t for _, t in found], [t for _, t in sorted(wanted)], atol=1e-8)


class Lanes(np.ndarray):
    """Vectors and masks of the compiled code, as NumPy has them."""

    def where(self, yes, no):
        return np.where(self, yes, no).view(Lanes)


class OnArrays:
    """What of a function of the time loop these formulas ask for."""

    abs, max, sqrt = staticmethod(np.abs), staticmethod(np.maximum), staticmethod(np.sqrt)


def test_compiled_code_and_the_host_look_closely_at_the_same_intervals():
    """Functions seen at five points of a step, unevenly: errors and doubts of both, which are written apart."""
    rng = np.random.default_rng(11)
    places = np.r_[0.0, np.sort(rng.uniform(0.05, 0.95, 3)), 1.0]
    powers = np.arange(5)
    p = rng.normal(size=(4000, 5)) * 10.0 ** rng.uniform(-3, 1, size=(4000, 5))
    p[:, 0] *= rng.choice([1.0, 0.1, 0.01], 4000)
    values = p @ (places[None] ** powers[:, None])
    slopes = p[:, 1:] @ (powers[1:, None] * places[None] ** powers[:-1, None])
    seen = [(c, g.view(Lanes), d.view(Lanes)) for c, g, d in zip(places, values.T, slopes.T, strict=True)]
    with np.errstate(all="ignore"):
        errors = crossings._errors(OnArrays, seen)
        looked = [
            crossings._doubtful(OnArrays, left, right, error, np.zeros(4000).view(Lanes))
            for (left, right), error in zip(pairwise(seen), errors, strict=True)
        ]
    near = np.zeros((2 * len(places) - 2, 1))
    doubts = np.zeros((4000, 4), dtype=bool)
    for k, (g, d) in enumerate(zip(values, slopes, strict=True)):
        tiny = 2.0**-20
        near[0], near[1] = g[0] + tiny * d[0], g[-1] - tiny * d[-1]
        near[2::2, 0], near[3::2, 0] = g[1:-1], g[1:-1] + tiny * d[1:-1]
        host = intervals(places[1:-1], 0.0, 1.0, g[0], g[-1], near)
        np.testing.assert_allclose([i.error for i in host], [e[k] for e in errors], rtol=1e-4, atol=1e-8)
        doubts[k] = [i.doubtful for i in host]
    assert 0.1 < doubts.mean() < 0.9  # there are many of either kind
    assert (doubts != np.stack(looked, axis=1)).mean() < 1e-3  # on the verge, slopes of small differences decide
