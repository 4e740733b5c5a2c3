"""Compiled functions of runs that were made before, by everything that enters them.

Tracing the equations is most of what a short run costs. Functions that users write (control law, environment,
prescribed motions, constraints) are traced anew at each call, for what they read from outside may have changed: their
graphs are part of the key.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import fields
from typing import Any, TypeVar

import numpy as np

from ...algebra import Array, Pose
from ...constraints import AbstractConstraint
from ...model import Spacecraft
from ...tracing import trace
from ..problem.equations import Equations

MOST = 64  # kept in memory
T = TypeVar("T")

_made: OrderedDict[Hashable, tuple[Spacecraft, Any]] = OrderedDict()  # those used last at the end


class _NoKey(Exception):
    """Something enters that cannot be compared."""


def made(equations: Equations, what: str, make: Callable[[], T]) -> T:
    """What `make` gives, made once for the same spacecraft (that very object), laws, motions,
    constraints and settings.
    """
    try:
        key = (what, _key(equations))
    except _NoKey:
        return make()
    craft, found = _made.pop(key, (equations.craft, None))
    found = make() if found is None else found
    _made[key] = craft, found  # the craft is kept: its id must not become another's
    while len(_made) > MOST:
        _made.popitem(last=False)
    return found


def _key(e: Equations) -> Hashable:
    if not e.dynamics.__module__.startswith("gyrostat."):
        raise _NoKey
    sizes = (e.layout.size, e.layout.n, e.layout.n_held)
    shapes = (tuple(e.inputs.items()), tuple(e.parameters.items()), sizes)
    python = (e.python_control, e.python_environment)
    options = (e.actuators, e.stops, e.conserve, e.loads, e.effects, e.sampled, e.own_seed, *python)
    varied = tuple(one.name for one in e.varied)
    motions = tuple((name, _motion(motion)) for name, motion in e.prescribed.items())
    held = tuple(_constraint(c) for c in e.constraints)
    return (
        id(e.craft),
        e.dynamics,
        e.laws,
        shapes,
        options,
        varied,
        motions,
        held,
        tuple(e.stabilisation) if held else (),
    )


def _motion(motion: Any) -> Hashable:
    return _traced(lambda t: np.reshape(motion(t), -1), {"t": ()}) if callable(motion) else _value(motion)


def _constraint(c: AbstractConstraint) -> Hashable:
    """Its numbers, where all of it is the library's own; otherwise what it does, traced anew."""
    names = (c.first, c.second)
    try:
        return (*names, _value(c))
    except _NoKey:
        pass

    def does(R: Array, p: Array, V: Array, t: Any) -> tuple[Any, ...]:
        X = Pose(R, p)
        return c.psi(X, t), c.G(X), c.G_rate(X, V), c.speed(t), c.acceleration(t)

    return (*names, _traced(does, {"R": (3, 3), "p": (3,), "V": (6,), "t": ()}))


def _value(x: Any) -> Hashable:
    """Numbers, names, and the library's own constraints made of them."""
    if x is None or isinstance(x, str | bool | int | float):
        return x
    if isinstance(x, tuple | list):
        return (type(x).__name__, *map(_value, x))
    if isinstance(x, AbstractConstraint) and type(x).__module__.startswith("gyrostat."):
        return (type(x), *(_value(getattr(x, f.name)) for f in fields(x)))
    if callable(x) or isinstance(x, AbstractConstraint):
        raise _NoKey
    array = np.asarray(x)
    if array.dtype == object:
        raise _NoKey
    return array.dtype.str, array.shape, array.tobytes()


def _traced(function: Callable[..., Any], inputs: dict[str, tuple[int, ...]]) -> Hashable:
    try:
        return trace(function, None, inputs=inputs).key
    except (TypeError, ValueError, AttributeError, IndexError):
        raise _NoKey from None  # whoever compiles the whole says what is wrong
