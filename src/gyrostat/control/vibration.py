"""Laws that leave modes alone, or take their energy: a notch in what motors are told, and damping where motors stand.

A notch at w multiplies each load by

    (s^2 + 2 depth width w s + w^2) / (s^2 + 2 width w s + w^2)                                              (1)

so that at w only the share `depth` of it is left, with x'' + 2 width w x' + w^2 x = u for each load u:

    y = u + 2 (depth - 1) width w x'                                                                         (2)

Damping -c v at a motor, of the rate that it turns itself, never adds energy, whatever bends, and damps every mode that
moves the motor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..algebra import Array
from ..model import Role, Spacecraft, nearest
from .controller import STATE, Controller, call, standing_for


def notched(
    craft: Spacecraft,
    law: Callable[..., Any] | Controller,
    frequency: float,
    *,
    width: float = 0.5,
    depth: float = 0.0,
    joints: Sequence[str] | None = None,
) -> Controller:
    """The law with a notch at `frequency` (Hz) in the loads of joints, wheels or the base, by name; all by default.

    width: damping ratio of the filter's poles: the wider, the more forgiving and the later. depth: share that is left
    at the frequency, 0 to 1. Put one around another for several modes. A sampled law is refused: its loads have steps.
    """
    inner = law if isinstance(law, Controller) else Controller(law)
    if inner.sampled:
        raise ValueError(
            f"notched: the law is sampled every {inner.period:g} s; expected one that acts at all times. Filter what "
            "it computes inside its own update."
        )
    if inner.propellant is not None:
        raise ValueError(
            "notched: the law burns propellant, whose masses begin its memory, and thrust goes through no notch. "
            "Notch the law beside it: burning(..., control=notched(...))."
        )
    if not (np.isfinite(frequency) and frequency > 0 and width > 0 and 0.0 <= depth <= 1.0):
        raise ValueError(
            f"notched: frequency is {frequency} Hz, width {width}, depth {depth}; expected a frequency and a width "
            "above zero and a depth from 0 to 1."
        )
    at, w = _places(craft, joints), 2.0 * np.pi * frequency
    n, pick = len(at), np.eye(craft.nv)[at]

    def loads(craft: Spacecraft, t: Any, q: Array, v: Array, z: Array, asked: Mapping[str, Any]) -> Array:
        own = (z[2 * n :],) if inner.remembers else ()
        return np.asarray(craft.v(call(inner.output, (craft, t, q, v, *own), asked), "tau"))

    def output(craft: Spacecraft, t: Any, q: Array, v: Array, z: Array, **asked: Any) -> Array:
        u: Array = loads(craft, t, q, v, z, asked)
        return u + pick.T @ (2.0 * (depth - 1.0) * width * w * z[n : 2 * n])

    def derivative(craft: Spacecraft, t: Any, q: Array, v: Array, z: Array, **asked: Any) -> Array:
        x, rate = z[:n], z[n : 2 * n]
        u = loads(craft, t, q, v, z, asked)[at]
        moving = [rate, u - 2.0 * width * w * rate - w * w * x]
        if inner.derivative is not None:
            moving.append(np.asarray(call(inner.derivative, (craft, t, q, v, z[2 * n :]), asked)))
        return np.concatenate(moving)

    names, own = (*STATE, "z"), [(inner.output, len(inner.given))]
    more = [(inner.derivative, len(inner.given))] if inner.derivative is not None else []
    return Controller(
        standing_for(output, names, *own),
        np.concatenate([np.zeros(2 * n), inner.state0]),
        standing_for(derivative, names, *own, *more),
        pushes=inner.pushes,
    )


def collocated_damping(craft: Spacecraft, gains: Mapping[str, float]) -> Callable[..., Array]:
    """The law tau = -gain * rate at driven joints and wheels, {name: N m s (or N s/m)}: passive, whatever bends.

    tau is (nv,). Raises ValueError for a joint without a motor, and for a negative gain.
    """
    c = np.zeros(craft.nv)
    driven = {joint.name: joint for joint in craft.joints if _is_driven(craft, joint)}
    for name, gain in gains.items():
        if name not in driven:
            raise ValueError(f"collocated_damping: no motor turns '{name}'. {nearest(name, driven)}")
        if not gain >= 0:
            raise ValueError(f"collocated_damping: the gain of '{name}' is {gain}; expected zero or more.")
        c[driven[name].v_at] = gain

    def law(craft: Spacecraft, t: Any, q: Array, v: Array) -> Array:
        return -c * v

    return law


def _is_driven(craft: Spacecraft, joint: Any) -> bool:
    return bool(joint.nv) and craft.roles[joint.v_at.start] in (Role.driven, Role.wheel)


def _places(craft: Spacecraft, joints: Sequence[str] | None) -> Array:
    """In v: of the joints named, or of all motors and of a base that moves."""
    if joints is None:
        return craft.at(Role.base, Role.driven, Role.wheel)
    found = [np.arange(craft.nv)[craft.joint_named(name).v_at] for name in joints]
    return np.concatenate(found) if found else np.zeros(0, dtype=int)
