"""Arguments at the door: arrays of the right shape, with an error that says what was found and what was expected."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..algebra import Array
from ..algebra.reals import REAL
from ..model import Spacecraft


def configuration(craft: Spacecraft, q: Any, name: str = "q") -> Array:
    """`q` as an array of shape (nq,), from one or from coordinates by joint name."""
    return shaped(
        craft.q(q), (craft.nq,), name, f"nq = {craft.nq} coordinates of {craft.name}; start from gs.neutral(craft)"
    )


def rates(craft: Spacecraft, v: Any, name: str = "v") -> Array:
    """`v`, or `vdot`, `tau`, `dv`, as an array of shape (nv,), from one or from values by joint name."""
    return shaped(
        craft.v(v, name), (craft.nv,), name, f"nv = {craft.nv} rates of {craft.name}, base [angular; linear] first"
    )


def vector3(x: Any, name: str) -> Array:
    """`x` as an array of shape (3,)."""
    return shaped(x, (3,), name, "three components")


def external(craft: Spacecraft, wrenches: Any) -> Mapping[str, Array]:
    """External wrench on each body that has one, in B about Bo."""
    if wrenches is None:
        return {}
    rows = shaped(
        craft.wrenches(wrenches),
        (craft.nbodies, 6),
        "wrenches",
        f"a row [torque; force] for each of {craft.nbodies} bodies",
    )
    return {body.name: row for body, row in zip(craft.bodies, rows, strict=True)}


def prescribed_rates(craft: Spacecraft, prescribed: Mapping[str, Any] | None) -> Mapping[str, Array]:
    """Acceleration of each body whose joint is prescribed, by body name; of modes by theirs."""
    given = dict(prescribed or {})
    moved = {body.joint.name: body.name for body in craft.bodies}  # modes go by their own name
    result = {}
    for name, value in given.items():
        joint = craft.joint_named(name)
        value = np.asarray(value)
        value = value.reshape(1) if value.shape == () and joint.nv == 1 else value
        result[moved.get(name, name)] = shaped(
            value, (joint.nv,), f"prescribed['{name}']", f"its {joint.nv} accelerations"
        )
    return result


class Acting(NamedTuple):
    """What acts on the craft."""

    tau: Array  # (nv,)
    F_ext: Mapping[str, Array]  # external wrench on each body that has one, in B about Bo
    follows: Mapping[str, Array]  # acceleration of each body whose joint is prescribed


def acting(craft: Spacecraft, tau: Any, wrenches: Any, prescribed: Mapping[str, Any] | None) -> Acting:
    """The arguments of forward dynamics besides the state."""
    return Acting(rates(craft, tau, "tau"), external(craft, wrenches), prescribed_rates(craft, prescribed))


def shaped(x: Any, shape: tuple[int, ...], name: str, meaning: str) -> Array:
    """`x` as an array of floats or symbols of that shape; `meaning` says in words what was expected."""
    try:
        result = np.asarray(x)
        if result.dtype.kind not in REAL:
            raise TypeError
        if result.dtype != object:
            result = np.asarray(result, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"{name} is {x!r}; expected an array of shape {shape}: {meaning}.") from None
    if result.shape != shape:
        hint = " For a batch of states, use gs.compile." if result.shape[-len(shape) :] == shape else ""
        raise ValueError(f"{name} has shape {result.shape}; expected {shape}: {meaning}.{hint}")
    return result
