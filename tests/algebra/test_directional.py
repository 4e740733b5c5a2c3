"""Dual numbers: every rule against mpmath, nesting, and agreement with traced derivatives."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

import gyrostat as gs
from gyrostat import algebra
from gyrostat.algebra.directional import derivative_along, gradient

RULES = {
    "sin": algebra.sin,
    "cos": algebra.cos,
    "tan": algebra.tan,
    "asin": algebra.asin,
    "acos": algebra.acos,
    "atan": algebra.atan,
    "exp": algebra.exp,
    "log": algebra.log,
    "sqrt": algebra.sqrt,
}


@pytest.mark.parametrize("name", RULES)
def test_rules(name):
    with mpmath.workdps(40):
        for x in (0.1, 0.45, 0.9):
            exact = mpmath.diff(getattr(mpmath, name), x)
            assert abs(derivative_along(RULES[name], x, 1.0) - exact) <= 4e-16 * (1 + abs(exact)) * (1 + abs(exact))


def test_arithmetic_and_choices():
    def f(x, y):
        z = (x * y - 2.0 / x + 3.0) / (y + x * x) - x
        return algebra.where(z > 0.0, z, -z) + algebra.atan2(y, x) + algebra.maximum(x, y) + algebra.absolute(-y) + y**3

    x, y, dx, dy, h = 0.7, 1.3, 0.4, -0.9, 1e-6
    numerical = (f(x + h * dx, y + h * dy) - f(x - h * dx, y - h * dy)) / (2 * h)
    assert abs(derivative_along(f, (x, y), (dx, dy)) - numerical) < 1e-9


def test_second_derivatives_by_nesting():
    slope = lambda t: derivative_along(lambda s: algebra.sin(s * s), t, 1.0)
    t = 0.8
    assert abs(derivative_along(slope, t, 1.0) - (2 * np.cos(t * t) - 4 * t * t * np.sin(t * t))) < 1e-14


def test_gradient_has_one_more_axis():
    A = np.arange(6.0).reshape(2, 3)
    x = np.array([0.2, -0.5, 1.0])
    assert np.abs(gradient(lambda x: A @ x, x) - A).max() == 0.0
    assert gradient(lambda x: np.outer(x, x), x).shape == (3, 3, 3)
    assert gradient(lambda x: np.ones(2), x).tolist() == np.zeros((2, 3)).tolist()  # a constant has none


def test_symbols_are_differentiated_too():
    """Through a traced `where` as well: against differences of the compiled function."""

    def slope(x, dx):
        f = lambda x: algebra.where(x[0] < x[1], algebra.sin(x[0] * x[1]), algebra.exp(x[1]) / x[0])
        return derivative_along(f, x, dx)

    kernel = gs.compile(slope, None, inputs={"x": (2,), "dx": (2,)})
    for x in ([0.3, 0.8], [0.8, 0.3]):
        x, dx = np.array(x), np.array([1.0, -2.0])
        assert abs(kernel(x, dx) - slope(x, dx)) < 1e-14
