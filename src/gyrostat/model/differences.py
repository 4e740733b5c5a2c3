"""In what two spacecraft differ, as far as their motion and its control do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from .flexible import FlexibleBody

if TYPE_CHECKING:
    from .spacecraft import Spacecraft

SAME = 1e-14  # relative: what a file may change of numbers that are computed from those it holds
_VALVE = ("rise_time", "fall_time")
_PASSIVE = ("stiffness", "rest", "damping", "friction", "backlash", "rotor_inertia", "gear_ratio")
_LIMITS = ("lower", "upper", "velocity", "effort")


def difference(a: Spacecraft, b: Spacecraft) -> str:
    """The first difference, as in "link_3.mass is 50, was 40"; empty if there is none. Names and shapes of the whole do
    not count.
    """
    for (name, value), (other, before) in zip(_facts(a), _facts(b), strict=False):
        if name != other:
            return f"it has {name} where it had {other}"
        if not _same(value, before):
            return f"{name} is {_words(value)}, was {_words(before)}"
    return "" if len(a.bodies) == len(b.bodies) else f"it has {len(a.bodies)} bodies, had {len(b.bodies)}"


def _facts(craft: Spacecraft) -> Iterator[tuple[str, Any]]:
    for body in craft.bodies:
        joint = body.joint
        yield f"{body.name}.parent", body.parent
        yield f"{joint.name}.kind", joint.kind
        yield f"{body.name}.included", body.included
        if isinstance(body, FlexibleBody):
            yield from _of_flexible(body)
        else:
            for name in ("mass", "com", "inertia"):
                yield f"{body.name}.{name}", getattr(body, name)
        yield f"{joint.name}.node", joint.node or ""
        for name in ("position", "rotation", *("axis", "axis2")[: joint.motion.axes], *_PASSIVE):
            yield f"{joint.name}.{name}", getattr(joint, name)
        for name in _LIMITS:
            yield f"{joint.name}.limits.{name}", getattr(joint.limits, name)
    yield "roles", [str(role) for role in craft.roles]
    for frame in craft.frames:
        yield f"{frame.name}.body", frame.body
        yield f"{frame.name}.position", frame.position
        yield f"{frame.name}.rotation", frame.rotation
    for thruster in craft.thrusters:
        yield f"{thruster.name}.body", thruster.body
        for name in ("position", "direction", "max_thrust", "minimum_on_time", "specific_impulse", *_VALVE):
            yield f"{thruster.name}.{name}", getattr(thruster, name)
    yield "the end", ""


def _of_flexible(body: FlexibleBody) -> Iterator[tuple[str, Any]]:
    for node in body.nodes:
        for name in ("position", "mass", "inertia"):
            yield f"{body.name}, node '{node.name}': {name}", getattr(node, name)
    for name in ("translations", "rotations", "stiffness", "damping", "rotary", "terms"):
        yield f"{body.name}.{name}", getattr(body, name)
    yield f"{body.name}.second_order", np.zeros(0) if body.second_order is None else body.second_order


def _same(a: Any, b: Any) -> bool:
    x, y = np.asarray(a), np.asarray(b)
    if x.shape != y.shape or x.dtype.kind != y.dtype.kind or x.dtype.kind != "f":
        return bool(np.array_equal(x, y))
    unlike = x != y  # infinities may be the same
    scale = np.abs(x[np.isfinite(x)]).max(initial=0.0)
    return bool((np.abs(x[unlike] - y[unlike]) <= SAME * scale).all())


def _words(value: Any) -> str:
    return np.array2string(np.asarray(value), precision=9, separator=", ").replace("\n", "")
