"""The symbolic scalar that stands in for a float while a function is recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import rules
from .decisions import decided
from .errors import at_user_line
from .ops import CONDITIONS


class Trace:
    """The table of all nodes made during one recording. Equal nodes are made once (hash-consing)."""

    def __init__(self) -> None:
        self.table: dict[Any, Any] = {}

    def node(self, op: str, args: tuple[Any, ...], data: Any = None) -> Any:
        """The node `op(args)`; `args` are Exprs of this trace or floats, `data` is hashable (see graph.py)."""
        key = (op, args, data)
        found = self.table.get(key)
        if found is None:
            kind = Condition if op in CONDITIONS else Expr
            found = self.table[key] = kind(self, op, args, data, len(self.table))
        return found

    def kept(self, value: float, name: Any) -> Any:
        """A constant recorded as it is, apart from equal ones: nothing of the record depends on its value."""
        return self.node("const", (), (value, name))

    def input(self, name: str, component: int) -> Expr:
        """The symbol for one scalar component of a named input."""
        return self.node("input", (), (name, component))

    def inputs(self, name: str, shape: tuple[int, ...]) -> Any:
        """An object array of fresh symbols of that shape; a bare symbol for the shape ()."""
        if shape == ():
            return self.input(name, 0)
        symbols = np.empty(shape, dtype=object)
        symbols.reshape(-1)[:] = [self.input(name, k) for k in range(symbols.size)]
        return symbols


def _operand(a: Expr, b: Any) -> Any:
    """`b` as something the rules take: an Expr of the same trace or a float. NotImplemented lets NumPy broadcast."""
    kind = type(b)
    if kind is Expr:
        if b.trace is not a.trace:
            raise at_user_line(
                "values of two different traces meet",
                "A traced value was kept from an earlier call (in a global, a cache or an attribute): pass it as an "
                "argument.",
            )
        return b
    if kind is float:
        return b + 0.0  # -0.0 becomes 0.0: the sign of zero is not tracked
    if isinstance(b, np.ndarray):
        return NotImplemented
    if isinstance(b, (int, float, np.floating, np.integer, np.bool_)):
        return float(b) + 0.0
    if kind is Condition:
        raise at_user_line("a traced condition is used as a number", "Write where(condition, 1.0, 0.0).")
    return NotImplemented


def _operators(rule: Callable[[Any, Any], Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The methods `a.__op__(b)` and `b.__rop__(a)` of a two-argument rule."""

    def forward(a: Expr, b: Any) -> Any:
        b = _operand(a, b)
        return b if b is NotImplemented else rule(a, b)

    def reflected(b: Expr, a: Any) -> Any:
        a = _operand(b, a)
        return a if a is NotImplemented else rule(a, b)

    return forward, reflected


def _method(rule: Callable[[Any], Any]) -> Callable[[Expr], Any]:
    return lambda a: rule(a)


def _refuse(use: str, remedy: str) -> Callable[[Any], Any]:
    def method(self: Any) -> Any:
        raise at_user_line(
            f"a traced value is used as {use}; its value is not known while the function is recorded", remedy
        )

    return method


_BRANCH = (
    "Select with gyrostat.algebra.where(condition, a, b) instead of if, min, max, and, or; "
    "combine conditions with & | ~."
)
_NUMBER = (
    "Use the functions of gyrostat.algebra (sin, cos, sqrt, where, ...) instead of math; sizes and indices must not be "
    "traced."
)


class _Symbol:
    """What numbers and conditions have in common. `==` is identity, so that symbols can be keys of a dict."""

    __slots__ = ("args", "data", "index", "op", "trace")
    __array_priority__ = -1.0  # above NumPy's scalars, which leave operators to it; below arrays

    def __init__(self, trace: Trace, op: str, args: tuple[Any, ...], data: Any, index: int) -> None:
        self.trace, self.op, self.args, self.data, self.index = trace, op, args, data, index

    __bool__ = _refuse("a truth value", _BRANCH)
    __float__ = _refuse("a float", _NUMBER)
    __int__ = _refuse("an int", _NUMBER)
    __index__ = _refuse("an index", _NUMBER)
    __complex__ = _refuse("a complex number", _NUMBER)

    def __repr__(self) -> str:
        if self.op == "input":
            return f"{self.data[0]}[{self.data[1]}]"
        return f"<{self.op} #{self.index}>"

    def __reduce__(self) -> Any:
        raise at_user_line("a traced value cannot be pickled", "Pickle the Kernel or the Graph instead.")


class Expr(_Symbol):
    """A traced number. Arithmetic makes new nodes; NumPy arrays of dtype=object do the rest."""

    __slots__ = ()

    __add__, __radd__ = _operators(rules.add)
    __sub__, __rsub__ = _operators(rules.sub)
    __mul__, __rmul__ = _operators(rules.mul)
    __truediv__, __rtruediv__ = _operators(rules.div)
    __pow__, __rpow__ = _operators(rules.pow)
    __mod__, __rmod__ = _operators(rules.mod)
    __floordiv__, __rfloordiv__ = _operators(rules.floordiv)
    __lt__, __gt__ = _operators(rules.lt)
    __le__, __ge__ = _operators(rules.le)
    atan2, ratan2 = _operators(rules.atan2)
    minimum, rminimum = _operators(rules.minimum)
    maximum, rmaximum = _operators(rules.maximum)

    def __bool__(self) -> bool:
        found = decided(rules.lt(0.0, rules.absolute(self)))
        return super().__bool__() if found is None else found

    __neg__ = _method(rules.neg)
    __abs__ = absolute = fabs = _method(rules.absolute)
    sin = _method(rules.sin)
    cos = _method(rules.cos)
    tan = _method(rules.tan)
    asin = arcsin = _method(rules.asin)
    acos = arccos = _method(rules.acos)
    atan = arctan = _method(rules.atan)
    exp = _method(rules.exp)
    log = _method(rules.log)
    sqrt = _method(rules.sqrt)
    sign = _method(rules.sign)
    floor = __floor__ = _method(rules.floor)
    reciprocal = _method(rules.recip)
    arctan2 = atan2

    def __pos__(self) -> Expr:
        return self

    def scan(self, f: Callable[..., Any], start: Any, first: int, steps: int) -> Any:
        """What `algebra.scan` asks for: a loop, recorded."""
        from .scan import record

        return record(self.trace, f, start, first, steps)

    def conjugate(self) -> Expr:
        """Real numbers are their own conjugates (np.vdot asks)."""
        return self

    def square(self) -> Any:
        """What np.square asks for."""
        return rules.mul(self, self)


class Condition(_Symbol):
    """A traced comparison. `&`, `|` and `~` combine conditions, `where` selects by them."""

    __slots__ = ()

    def __bool__(self) -> bool:
        found = decided(self)
        return super().__bool__() if found is None else found

    def where(self, a: Any, b: Any) -> Any:
        """`a` where the condition holds, else `b`; scalars."""
        return rules.where(self, rules.number(self.trace, a), rules.number(self.trace, b))

    def __and__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, np.ndarray) else rules.logical_and(self, other)

    def __or__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, np.ndarray) else rules.logical_or(self, other)

    __rand__, __ror__ = __and__, __or__

    def __invert__(self) -> Any:
        return rules.logical_not(self)


def is_symbol(x: Any) -> bool:
    """A traced number or condition."""
    return isinstance(x, _Symbol)
