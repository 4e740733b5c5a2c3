"""Elementary functions: alike on floats, arrays, object arrays of floats, mpmath numbers, and symbols."""

from __future__ import annotations

import math

import numpy as np
import pytest

from exact import exact, mp
from gyrostat import algebra as g

UNARY = {
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "asin": math.asin,
    "acos": math.acos,
    "atan": math.atan,
    "exp": math.exp,
    "log": math.log,
    "sqrt": math.sqrt,
    "floor": math.floor,
    "absolute": abs,
    "sign": lambda x: math.copysign(1.0, x),
}
BINARY = {"atan2": math.atan2, "minimum": min, "maximum": max}
X = np.array([[0.1, 0.25], [0.7, 0.9]])


class Symbol:
    """Anything with methods of the functions' names is a symbol."""

    def __init__(self, text: str):
        self.text = text

    def sin(self):
        return Symbol(f"sin({self.text})")

    def atan2(self, x):
        return Symbol(f"atan2({self.text}, {x})")

    def ratan2(self, y):
        return Symbol(f"atan2({y}, {self.text})")

    def __lt__(self, other):
        return Condition(f"{self.text} < {other}")


class Condition:
    def __init__(self, text: str):
        self.text = text

    def where(self, a, b):
        return Symbol(f"where({self.text}, {a}, {b})")


@pytest.mark.parametrize("name", UNARY)
def test_unary_functions(name):
    function, reference = getattr(g, name), UNARY[name]
    expected = np.array([[reference(x) for x in row] for row in X])
    assert function(X) == pytest.approx(expected, rel=1e-15)
    assert function(0.25) == pytest.approx(reference(0.25), rel=1e-15)
    assert function(np.float64(0.25)) == pytest.approx(reference(0.25), rel=1e-15)
    assert function([0.1, 0.25]) == pytest.approx(expected[0], rel=1e-15)
    assert function(1) == pytest.approx(reference(1), rel=1e-15)
    boxed = function(X.astype(object))
    assert boxed.dtype == object and boxed.shape == X.shape
    assert boxed.astype(float) == pytest.approx(expected, rel=1e-15)
    digits = function(exact(X))
    assert all(isinstance(x, mp.mpf) for x in digits.flat)
    assert digits.astype(float) == pytest.approx(expected, rel=1e-15)
    assert float(function(mp.mpf("0.25"))) == pytest.approx(reference(0.25), rel=1e-15)
    assert function(X).dtype == float and function(np.zeros((0,)) + 0.5).shape == (0,)


@pytest.mark.parametrize("name", BINARY)
def test_binary_functions_broadcast(name):
    function, reference = getattr(g, name), BINARY[name]
    y = np.array([0.3, -0.2])
    expected = np.array([[reference(a, b) for a, b in zip(row, y, strict=True)] for row in X])
    for a, b in ((X, y), (X.astype(object), y), (X, y.astype(object)), (exact(X), y), (X, exact(y)), (X, list(y))):
        assert function(a, b).astype(float) == pytest.approx(expected, rel=1e-15)
    assert float(function(mp.mpf("0.5"), 0.3)) == pytest.approx(reference(0.5, 0.3), rel=1e-15)
    assert function(0.5, 0.3) == pytest.approx(reference(0.5, 0.3), rel=1e-15)


def test_symbols_are_asked_by_method_name():
    x = Symbol("x")
    assert g.sin(x).text == "sin(x)"
    assert [e.text for e in g.sin(np.array([x, x]))] == ["sin(x)"] * 2
    assert g.atan2(x, 2.0).text == "atan2(x, 2.0)" and g.atan2(2.0, x).text == "atan2(2.0, x)"
    mixed = g.sin(np.array([x, 0.5], dtype=object))
    assert mixed[0].text == "sin(x)" and mixed[1] == math.sin(0.5)
    assert g.where(x < 1, 2.0, 3.0).text == "where(x < 1, 2.0, 3.0)"
    chosen = g.where(x < 1, np.array([1.0, 2.0]), 0.0)
    assert [e.text for e in chosen] == ["where(x < 1, 1.0, 0.0)", "where(x < 1, 2.0, 0.0)"]


def test_where_chooses_element_by_element():
    x = np.array([-1.0, 0.0, 4.0])
    root = g.where(x > 0, g.sqrt(g.where(x > 0, x, 1.0)), 0.0)  # the guard guards the argument as well
    assert root.tolist() == [0.0, 0.0, 2.0] and root.dtype == float
    assert g.where(True, 1.0, 2.0) == 1.0 and g.where(False, [1.0, 2.0], 5.0).tolist() == [5.0, 5.0]
    boxed = x.astype(object)
    assert g.where(boxed > 0, boxed, -boxed).tolist() == [1.0, 0.0, 4.0]
    assert g.where(np.bool_(True), x, 0.0).tolist() == x.tolist()


def test_clip():
    assert g.clip(np.array([-2.0, 0.5, 9.0]), -1.0, 1.0).tolist() == [-1.0, 0.5, 1.0]
    assert [float(x) for x in g.clip(exact([-2.0, 0.5, 9.0]), -1.0, 1.0)] == [-1.0, 0.5, 1.0]


def test_symbolic_or_not():
    assert not any(g.is_symbolic(x) for x in (1, 2.0, np.float64(3), np.ones(2), [1.0], (2,)))
    assert all(g.is_symbolic(x) for x in (Symbol("x"), np.array([1.0], dtype=object), mp.mpf(1)))
    assert g.unboxed(np.array([1, 2.0, np.float64(3)], dtype=object)).dtype == float
    assert g.unboxed(np.array([1.0, Symbol("x")], dtype=object)).dtype == object
