"""What each operation becomes when it is recorded: folded, simplified, or a node.

Arguments are floats or Exprs of one trace, conditions are bools or Conditions. Signs are pulled outwards, constants
stand second and positive, commutative arguments are ordered: so that equal terms become one node.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .errors import at_user_line
from .ops import CONDITIONS, OPS

_LARGEST_UNROLLED_POWER = 16


def fold(op: str, *args: float) -> float:
    """The operation on plain floats, as IEEE 754 has it (no exceptions)."""
    with np.errstate(all="ignore"):
        return float(OPS[op].numeric(*(np.float64(a) for a in args)))


def number(trace: Any, x: Any) -> Any:
    """A scalar as the rules take it: an Expr of `trace` or a float."""
    found = None if isinstance(x, np.generic) else getattr(x, "trace", None)  # NumPy's scalars have a method `trace`
    if found is None:
        return float(x) + 0.0
    if found is not trace:
        raise at_user_line(
            "values of two different traces meet", "Pass the value as an argument of the traced function."
        )
    if x.op in CONDITIONS:
        raise at_user_line("a traced condition is used as a number", "Write where(condition, 1.0, 0.0).")
    return x


def _ordered(a: Any, b: Any) -> tuple[Any, Any]:
    return (a, b) if a.index <= b.index else (b, a)


def add(a: Any, b: Any) -> Any:
    if type(a) is float:
        if type(b) is float:
            return a + b
        a, b = b, a
    if type(b) is float:
        if b == 0.0:
            return a
        if a.op == "add" and type(a.args[1]) is float:
            return add(a.args[0], a.args[1] + b)
        if a.op == "neg":
            return sub(b, a.args[0])
        return a.trace.node("add", (a, b))
    if b.op == "neg":
        return sub(a, b.args[0])
    if a.op == "neg":
        return sub(b, a.args[0])
    if a is b:
        return mul(a, 2.0)
    if b.op == "sub" and b.args[1] is a:
        return b.args[0]
    if a.op == "sub" and a.args[1] is b:
        return a.args[0]
    return a.trace.node("add", _ordered(a, b))


def sub(a: Any, b: Any) -> Any:
    if type(b) is float:
        return add(a, -b)
    if type(a) is float:
        if a == 0.0:
            return neg(b)
        if b.op == "neg":
            return add(b.args[0], a)
        return b.trace.node("sub", (a, b))
    if a is b:
        return 0.0
    if b.op == "neg":
        return add(a, b.args[0])
    if a.op == "neg":
        return neg(add(a.args[0], b))
    if a.op == "add":
        if a.args[0] is b:
            return a.args[1]
        if a.args[1] is b:
            return a.args[0]
    if a.op == "sub" and a.args[0] is b:
        return neg(a.args[1])
    if b.op == "sub" and b.args[0] is a:
        return b.args[1]
    if b.op == "add":
        if b.args[0] is a:
            return neg(b.args[1])
        if b.args[1] is a:
            return neg(b.args[0])
    mirrored = a.trace.table.get(("sub", (b, a), None))
    return a.trace.node("sub", (a, b)) if mirrored is None else neg(mirrored)


def neg(a: Any) -> Any:
    if type(a) is float:
        return 0.0 - a
    return a.args[0] if a.op == "neg" else a.trace.node("neg", (a,))


def mul(a: Any, b: Any) -> Any:
    if type(a) is float:
        if type(b) is float:
            return a * b
        a, b = b, a
    if a.op == "neg":
        return neg(mul(a.args[0], b))
    if type(b) is float:
        if b == 0.0:
            return 0.0
        if b == 1.0:
            return a
        if b < 0.0:
            return neg(mul(a, -b))
        if a.op == "mul" and type(a.args[1]) is float:
            return mul(a.args[0], a.args[1] * b)
        return a.trace.node("mul", (a, b))
    if b.op == "neg":
        return neg(mul(a, b.args[0]))
    if a is b and a.op == "sqrt":
        return a.args[0]
    cancelled = _cancel(a, b)
    if cancelled is None:
        cancelled = _cancel(b, a)
    return a.trace.node("mul", _ordered(a, b)) if cancelled is None else cancelled


def _cancel(a: Any, b: Any) -> Any:
    """a b if b holds 1/a as a factor, or a is 1/x and b holds the factor x; else None."""
    inverse = a.args[0] if a.op == "recip" else a.trace.table.get(("recip", (a,), None))
    if inverse is None:
        return None
    if b is inverse:
        return 1.0
    if b.op == "mul":
        if b.args[0] is inverse:
            return b.args[1]
        if b.args[1] is inverse:
            return b.args[0]
    return None


def recip(a: Any) -> Any:
    if type(a) is float:
        return fold("recip", a)
    if a.op == "neg":
        return neg(recip(a.args[0]))
    if a.op == "recip":
        return a.args[0]
    if a.op == "mul" and type(a.args[1]) is float:
        return mul(recip(a.args[0]), 1.0 / a.args[1])
    return a.trace.node("recip", (a,))


def div(a: Any, b: Any) -> Any:
    return mul(a, recip(b))


def sqrt(a: Any) -> Any:
    return fold("sqrt", a) if type(a) is float else a.trace.node("sqrt", (a,))


def pow(a: Any, b: Any) -> Any:
    if type(b) is float:
        if type(a) is float:
            return fold("pow", a, b)
        if b == int(b) if math.isfinite(b) else False:
            if abs(b) <= _LARGEST_UNROLLED_POWER:
                return _integer_power(a, int(b))
        elif b == 0.5:
            return sqrt(a)
    trace = b.trace if type(a) is float else a.trace
    return trace.node("pow", (a, b))


def _integer_power(a: Any, n: int) -> Any:
    if n < 0:
        return recip(_integer_power(a, -n))
    result: Any = 1.0
    while n:
        if n & 1:
            result = mul(result, a)
        a, n = (mul(a, a) if n > 1 else a), n >> 1
    return result


def mod(a: Any, b: Any) -> Any:
    return _plain_binary("mod", a, b)


def floordiv(a: Any, b: Any) -> Any:
    return floor(add(div(sub(a, mod(a, b)), b), 0.5))  # an integer but for rounding


def atan2(a: Any, b: Any) -> Any:
    return _plain_binary("atan2", a, b)


def minimum(a: Any, b: Any) -> Any:
    return a if a is b else _plain_binary("min", a, b)


def maximum(a: Any, b: Any) -> Any:
    return a if a is b else _plain_binary("max", a, b)


def _plain_binary(op: str, a: Any, b: Any) -> Any:
    if type(a) is float:
        return fold(op, a, b) if type(b) is float else b.trace.node(op, (a, b))
    return a.trace.node(op, (a, b))


def sin(a: Any) -> Any:
    if type(a) is float:
        return fold("sin", a)
    return neg(sin(a.args[0])) if a.op == "neg" else a.trace.node("sin", (a,))


def cos(a: Any) -> Any:
    if type(a) is float:
        return fold("cos", a)
    return cos(a.args[0]) if a.op == "neg" else a.trace.node("cos", (a,))


def tan(a: Any) -> Any:
    return div(sin(a), cos(a))


def atan(a: Any) -> Any:
    return atan2(a, 1.0)


def asin(a: Any) -> Any:
    return atan2(a, sqrt(mul(sub(1.0, a), add(1.0, a))))


def acos(a: Any) -> Any:
    return atan2(sqrt(mul(sub(1.0, a), add(1.0, a))), a)


def exp(a: Any) -> Any:
    return fold("exp", a) if type(a) is float else a.trace.node("exp", (a,))


def log(a: Any) -> Any:
    return fold("log", a) if type(a) is float else a.trace.node("log", (a,))


def absolute(a: Any) -> Any:
    if type(a) is float:
        return abs(a)
    if a.op in ("abs", "sqrt", "exp"):
        return a
    return absolute(a.args[0]) if a.op == "neg" else a.trace.node("abs", (a,))


def sign(a: Any) -> Any:
    if type(a) is float:
        return fold("sign", a)
    return neg(sign(a.args[0])) if a.op == "neg" else a.trace.node("sign", (a,))


def floor(a: Any) -> Any:
    return fold("floor", a) if type(a) is float else a.trace.node("floor", (a,))


def uniform(*keys: Any) -> Any:
    traced = next((k.trace for k in keys if type(k) is not float), None)
    return fold("uniform", *keys) if traced is None else traced.node("uniform", keys)


def lt(a: Any, b: Any) -> Any:
    return _compare("lt", a, b)


def le(a: Any, b: Any) -> Any:
    return _compare("le", a, b)


def _compare(op: str, a: Any, b: Any) -> Any:
    if type(a) is float:
        return bool(fold(op, a, b)) if type(b) is float else b.trace.node(op, (a, b))
    return a.trace.node(op, (a, b))


def _truth(c: Any) -> bool | None:
    """The value of a condition that is known already, else None."""
    return bool(c) if isinstance(c, (bool, np.bool_)) else None


def logical_and(a: Any, b: Any) -> Any:
    for known, other in ((_truth(a), b), (_truth(b), a)):
        if known is not None:
            return other if known else False
    return a if a is b else a.trace.node("and", _ordered(a, b))


def logical_or(a: Any, b: Any) -> Any:
    for known, other in ((_truth(a), b), (_truth(b), a)):
        if known is not None:
            return True if known else other
    return a if a is b else a.trace.node("or", _ordered(a, b))


def logical_not(a: Any) -> Any:
    if _truth(a) is not None:
        return not a
    return a.args[0] if a.op == "not" else a.trace.node("not", (a,))


def where(c: Any, a: Any, b: Any) -> Any:
    known = _truth(c)
    if known is not None:
        return a if known else b
    if a is b or (type(a) is float and type(b) is float and a == b):
        return a
    return c.trace.node("where", (c, a, b))


RULES: dict[str, Callable[..., Any]] = {
    "add": add,
    "sub": sub,
    "mul": mul,
    "neg": neg,
    "recip": recip,
    "sqrt": sqrt,
    "pow": pow,
    "sin": sin,
    "cos": cos,
    "atan2": atan2,
    "exp": exp,
    "log": log,
    "abs": absolute,
    "min": minimum,
    "max": maximum,
    "sign": sign,
    "floor": floor,
    "mod": mod,
    "where": where,
    "uniform": uniform,
    "lt": lt,
    "le": le,
    "and": logical_and,
    "or": logical_or,
    "not": logical_not,
}
