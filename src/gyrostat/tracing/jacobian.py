"""Functions that return the exact Jacobian of other functions."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..algebra.elementary import Array
from . import derivatives, rules
from .expr import Condition, Expr, Trace
from .tree import entries, flatten, unflatten


def jacobian_of(function: Callable[..., Any], wrt: str | Sequence[str]) -> Callable[..., Any]:
    """The function that returns d function / d wrt, with the same arguments as `function`.

    wrt: the name of an argument (an array or a scalar) or of one of the spacecraft's values ("link_3.mass"); or several
    names, for a tuple of Jacobians. Each has the shape of the output followed by that of the argument; for a function
    with several outputs they are nested as those are.

    Derivatives are exact, forward or reverse by shape. The result can be traced, compiled and differentiated again; on
    floats the function is recorded anew at each call. Derivatives by q are those by its components, as the function is
    written: on the manifold, differentiate `step_configuration(craft, q, dv)` by dv, at zero.
    """
    names = _names(function, wrt)
    signature = inspect.signature(function)

    @functools.wraps(function)
    def derivative(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        recording = _trace_of([*args, *kwargs.values()]) or Trace()
        places = [_Place(recording, bound, name) for name in names]
        leaves, structure = flatten(function(*bound.args, **bound.kwargs), "value")
        outputs = [np.asarray(leaf, dtype=object) for _, leaf in leaves]
        results = _jacobians(recording, outputs, places)
        nested = tuple(unflatten(structure, iter(blocks)) for blocks in results)
        return nested[0] if isinstance(wrt, str) else nested

    derivative.__name__ = f"d_{getattr(function, '__name__', 'f')}_d_{'_'.join(names)}".replace(".", "_")
    derivative.__signature__ = signature  # type: ignore[attr-defined]
    return derivative


def _names(function: Callable[..., Any], wrt: Any) -> tuple[str, ...]:
    if hasattr(wrt, "bodies"):
        raise TypeError(
            f"jacobian_of({getattr(function, '__name__', 'f')}, craft): wrt is a spacecraft; expected the name of what "
            'to differentiate by, as in jacobian_of(f, "q"). The spacecraft comes when it is called or compiled: '
            'gs.compile(gs.jacobian_of(f, "q"), craft).'
        )
    names = (wrt,) if isinstance(wrt, str) else tuple(wrt) if isinstance(wrt, Sequence) else ()
    if not names or not all(isinstance(name, str) for name in names):
        raise TypeError(f'jacobian_of: wrt is {wrt!r:.60}; expected names of arguments or parameters, such as "q".')
    return names


class _Place:
    """One argument by which to differentiate: fresh symbols in its place, and the values that it had."""

    def __init__(self, recording: Trace, bound: inspect.BoundArguments, name: str) -> None:
        value = bound.arguments[name] if name in bound.arguments else _craft_value(bound, name)
        if value is None:
            raise TypeError(f"jacobian_of: argument '{name}' is None. Give it a value to differentiate by.")
        values = np.asarray(value, dtype=object)
        self.shape = values.shape
        self.values = [rules.number(recording, e) for e in values.flat]
        fresh = recording.inputs(f"d{len(recording.table)}", self.shape)
        self.symbols = list(np.asarray(fresh, dtype=object).flat)
        if name in bound.arguments:
            bound.arguments[name] = fresh
        else:
            craft = next(iter(bound.arguments))
            bound.arguments[craft] = bound.arguments[craft].with_values({name: fresh})


def _craft_value(bound: inspect.BoundArguments, name: str) -> Any:
    first: Any = next(iter(bound.arguments.values()), None)
    if not hasattr(first, "with_values"):
        raise TypeError(f"jacobian_of: there is no argument '{name}'. Choose from {list(bound.arguments)}.")
    return first.value(name)


def _trace_of(value: Any) -> Trace | None:
    """The trace of the first symbol found anywhere in nested values."""
    if isinstance(value, (Expr, Condition)):
        return value.trace
    if isinstance(value, np.ndarray):
        parts: Any = value.flat if value.dtype == object else ()
    else:
        parts = (entries(value) or {}).values()
    return next((found for part in parts if (found := _trace_of(part)) is not None), None)


def _jacobians(recording: Trace, outputs: list[Array], places: list[_Place]) -> list[list[Array]]:
    """For each place, the Jacobian of each output."""
    flat = [rules.number(recording, e) for output in outputs for e in output.flat]
    symbols = [symbol for place in places for symbol in place.symbols]
    values = [value for place in places for value in place.values]
    J = derivatives.jacobian(flat, symbols)
    J.reshape(-1)[:] = derivatives.substitute(list(J.flat), dict(zip(symbols, values, strict=True)))
    across = np.cumsum([len(place.symbols) for place in places])[:-1]
    down = np.cumsum([output.size for output in outputs])[:-1]
    return [
        [
            _as_plain(block.reshape(output.shape + place.shape))
            for block, output in zip(np.split(columns, down), outputs, strict=True)
        ]
        for columns, place in zip(np.split(J, across, axis=1), places, strict=True)
    ]


def _as_plain(block: Array) -> Array:
    """Floats as a float array, so that untraced callers never see objects."""
    return block.astype(float) if all(type(e) is float for e in block.flat) else block
