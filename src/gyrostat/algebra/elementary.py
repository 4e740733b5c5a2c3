"""Elementary functions that work alike on floats, on symbols and on arrays of either.

NumPy's own `np.sin` fails on object arrays that hold plain floats; these dispatch element by element. A symbol is
anything that has a method of the function's name (`x.sin()`, `y.atan2(x)`), or, as mpmath numbers do,
a `context` with that function.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]  # of floats, of symbols while a function is recorded, or of mpmath numbers


def is_symbolic(x: Any) -> bool:
    """True if `x` is, or holds, anything but plain numbers."""
    return getattr(x, "dtype", None) == object or not isinstance(x, (int, float, np.generic, np.ndarray, list, tuple))


def unboxed(A: Array) -> Array:
    """An object array as floats, if plain numbers are all it holds."""
    return A.astype(float) if all(isinstance(x, (int, float, np.number)) for x in A.flat) else A


def is_zero(x: Any) -> bool:
    """True if x is the number zero; false for every symbol, whose value is not known."""
    return bool(x == 0)


def snapped(A: Array) -> Array:
    """Constants within round-off of 0 and +-1 made exact: structural zeros then vanish from traced code.

    Of the shape of what is given.
    """
    if is_symbolic(A):
        return A
    A = np.where(np.abs(A) < 1e-15, 0.0, A)
    return np.where(np.abs(np.abs(A) - 1.0) < 1e-15, np.sign(A), A)


def _unary(name: str, numeric: Callable[[Any], Any], scalar: Callable[[float], float]) -> Callable[[Any], Any]:
    def element(x: Any) -> Any:
        if isinstance(x, (int, float)):
            return scalar(x)
        if hasattr(x, "context"):  # mpmath: asked first, as its numbers have an attribute `exp` that is no function
            return getattr(x.context, {"absolute": "fabs"}.get(name, name))(x)
        return getattr(x, name)()

    def function(x: Any) -> Any:
        if isinstance(x, np.ndarray):
            return _each(element, x) if x.dtype == object else numeric(x)
        if isinstance(x, (list, tuple)):
            return function(np.asarray(x))
        if isinstance(x, (int, float, np.generic)):
            return numeric(x)
        return element(x)

    function.__name__ = name
    function.__doc__ = f"Element-wise {name} of floats, symbols, or arrays of either."
    return function


def _binary(name: str, numeric: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def element(a: Any, b: Any) -> Any:
        if isinstance(a, (int, float)) and isinstance(b, (int, float)):
            return numeric(a, b)
        if hasattr(a, name):
            return getattr(a, name)(b)
        if hasattr(b, "r" + name):
            return getattr(b, "r" + name)(a)
        if name == "minimum":  # mpmath from here on
            return min(a, b)
        if name == "maximum":
            return max(a, b)
        return getattr((a if hasattr(a, "context") else b).context, name)(a, b)

    def function(a: Any, b: Any) -> Any:
        a, b = _plain(a), _plain(b)
        if not (is_symbolic(a) or is_symbolic(b)):
            return numeric(a, b)
        if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
            pairs = np.broadcast(np.asarray(a, dtype=object), np.asarray(b, dtype=object))
            return _filled([element(x, y) for x, y in pairs], pairs.shape)
        return element(a, b)

    function.__name__ = name
    function.__doc__ = f"Element-wise {name} of floats, symbols, or arrays of either."
    return function


def _plain(x: Any) -> Any:
    return np.asarray(x) if isinstance(x, (list, tuple)) else x


def _filled(items: list[Any], shape: tuple[int, ...]) -> Array:
    out = np.empty(len(items), dtype=object)
    out[:] = items
    return out.reshape(shape)


def _each(element: Callable[[Any], Any], x: Array) -> Array:
    return _filled([element(e) for e in x.ravel()], x.shape)


def _sign(x: float) -> float:
    return float(np.sign(x))


sin = _unary("sin", np.sin, math.sin)
cos = _unary("cos", np.cos, math.cos)
tan = _unary("tan", np.tan, math.tan)
asin = _unary("asin", np.arcsin, math.asin)
acos = _unary("acos", np.arccos, math.acos)
atan = _unary("atan", np.arctan, math.atan)
exp = _unary("exp", np.exp, math.exp)
log = _unary("log", np.log, math.log)
sqrt = _unary("sqrt", np.sqrt, math.sqrt)
sign = _unary("sign", np.sign, _sign)
floor = _unary("floor", np.floor, lambda x: float(math.floor(x)))
absolute = _unary("absolute", np.absolute, abs)
atan2 = _binary("atan2", np.arctan2)
minimum = _binary("minimum", np.minimum)
maximum = _binary("maximum", np.maximum)


def where(condition: Any, a: Any, b: Any) -> Any:
    """`a` where `condition` holds, else `b`; each a scalar or an array, broadcast against each other.

    Both are evaluated: guard the argument as well, so that neither is infinite (`where(x > 0, sqrt(where(x > 0, x, 1)),
    0)`).
    """
    a, b = _plain(a), _plain(b)
    if not any(isinstance(x, np.ndarray) for x in (condition, a, b)):
        return _choose(condition, a, b)
    if not any(is_symbolic(x) for x in (condition, a, b)):
        return np.where(condition, a, b)
    triples = np.broadcast(*(np.asarray(x, dtype=object) for x in (condition, a, b)))
    return _filled([_choose(*triple) for triple in triples], triples.shape)


def _choose(condition: Any, a: Any, b: Any) -> Any:
    choose = getattr(condition, "where", None)
    if choose is None:
        return a if condition else b
    return choose(a, b)


def clip(x: Any, lower: Any, upper: Any) -> Any:
    """`x` held between `lower` and `upper`, element-wise."""
    return minimum(maximum(x, lower), upper)
