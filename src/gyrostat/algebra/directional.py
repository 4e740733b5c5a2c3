"""Exact derivatives along a direction, by dual numbers a + b eps with eps^2 = 0: of floats and of symbols alike,
nested at will.

f(x + eps dx) = f(x) + eps (df/dx dx)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .elementary import Array, absolute, atan, atan2, cos, exp, log, sign, sin, sqrt, unboxed, where


def derivative_along(f: Callable[..., Any], at: Any, along: Any) -> Any:
    """d/ds f(at + s along) at s = 0, of the shape of f's result.

    f takes one argument, or several if `at` is a tuple; each a number or an array. `along` is laid out as `at`.
    """
    several = isinstance(at, tuple)
    points, directions = (at, along) if several else ((at,), (along,))
    arguments = [_dual(x, dx) for x, dx in zip(points, directions, strict=True)]
    return _slope(f(*arguments))


def gradient(f: Callable[[Array], Any], x: Array) -> Array:
    """df/dx: f's shape, and one more axis for the components of x (n,)."""
    columns = [np.asarray(derivative_along(f, x, e)) for e in np.eye(len(x))]
    return np.stack(columns, axis=-1)


def _dual(x: Any, dx: Any) -> Any:
    if np.ndim(x) == 0:
        return Dual(x, dx)
    x, dx = np.asarray(x), np.asarray(dx)
    out = np.empty(x.size, dtype=object)
    out[:] = [Dual(a, b) for a, b in zip(x.ravel().tolist(), dx.ravel().tolist(), strict=True)]
    return out.reshape(x.shape)


def _slope(y: Any) -> Any:
    if not isinstance(y, np.ndarray):
        return y.b if isinstance(y, Dual) else 0.0
    out = np.empty(y.size, dtype=object)
    out[:] = [e.b if isinstance(e, Dual) else 0.0 for e in y.ravel().tolist()]
    return unboxed(out.reshape(y.shape))


def _parts(x: Any) -> tuple[Any, Any]:
    return (x.a, x.b) if isinstance(x, Dual) else (x, 0.0)


class Dual:
    """a + b eps: a value and its derivative along one direction."""

    __slots__ = ("a", "b")
    __array_priority__ = -1.0  # above NumPy's scalars, which leave operators to it; below arrays

    def __init__(self, a: Any, b: Any) -> None:
        self.a, self.b = a, b

    def __add__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        c, d = _parts(other)
        return Dual(self.a + c, self.b + d)

    def __sub__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        c, d = _parts(other)
        return Dual(self.a - c, self.b - d)

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        c, d = _parts(other)
        return Dual(self.a * c, self.a * d + self.b * c)

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        c, d = _parts(other)
        ratio = self.a / c
        return Dual(ratio, (self.b - ratio * d) / c)

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other: Any) -> Any:
        return Dual(other - self.a, -self.b)

    def __rtruediv__(self, other: Any) -> Any:
        return Dual(other, 0.0) / self

    def __neg__(self) -> Dual:
        return Dual(-self.a, -self.b)

    def __pos__(self) -> Dual:
        return self

    def __pow__(self, n: float) -> Dual:
        return Dual(self.a**n, n * self.a ** (n - 1) * self.b)

    def __lt__(self, other: Any) -> Choice:
        return Choice(self.a < _parts(other)[0])

    def __le__(self, other: Any) -> Choice:
        return Choice(self.a <= _parts(other)[0])

    def __gt__(self, other: Any) -> Choice:
        return Choice(self.a > _parts(other)[0])

    def __ge__(self, other: Any) -> Choice:
        return Choice(self.a >= _parts(other)[0])

    def sin(self) -> Dual:
        return Dual(sin(self.a), cos(self.a) * self.b)

    def cos(self) -> Dual:
        return Dual(cos(self.a), -(sin(self.a) * self.b))

    def tan(self) -> Dual:
        return self.sin() / self.cos()

    def sqrt(self) -> Dual:
        root = sqrt(self.a)
        return Dual(root, self.b / (2.0 * root))

    def exp(self) -> Dual:
        value = exp(self.a)
        return Dual(value, value * self.b)

    def log(self) -> Dual:
        return Dual(log(self.a), self.b / self.a)

    def atan(self) -> Dual:
        return Dual(atan(self.a), self.b / (1.0 + self.a * self.a))

    def asin(self) -> Dual:
        return self.atan2((1.0 - self * self).sqrt())

    def acos(self) -> Dual:
        return (1.0 - self * self).sqrt().atan2(self)

    def absolute(self) -> Dual:
        return Dual(absolute(self.a), sign(self.a) * self.b)

    def sign(self) -> Dual:
        return Dual(sign(self.a), 0.0)

    def atan2(self, x: Any) -> Dual:
        c, d = _parts(x)
        return Dual(atan2(self.a, c), (self.b * c - self.a * d) / (self.a * self.a + c * c))

    def ratan2(self, y: Any) -> Dual:
        return Dual(y, 0.0).atan2(self)

    def minimum(self, other: Any) -> Any:
        return where(self < other, self, other)

    def maximum(self, other: Any) -> Any:
        return where(self > other, self, other)

    rminimum, rmaximum = minimum, maximum

    def __repr__(self) -> str:
        return f"({self.a} + {self.b} eps)"


class Choice:
    """A comparison of dual numbers: decided by their values, it selects values and derivatives."""

    __slots__ = ("holds",)

    def __init__(self, holds: Any) -> None:
        self.holds = holds

    def where(self, a: Any, b: Any) -> Dual:
        (a, da), (b, db) = _parts(a), _parts(b)
        return Dual(where(self.holds, a, b), where(self.holds, da, db))

    def __and__(self, other: Any) -> Choice:
        return Choice(self.holds & getattr(other, "holds", other))

    def __or__(self, other: Any) -> Choice:
        return Choice(self.holds | getattr(other, "holds", other))

    __rand__, __ror__ = __and__, __or__

    def __invert__(self) -> Choice:
        return Choice(not self.holds if isinstance(self.holds, (bool, np.bool_)) else ~self.holds)
