"""What may be dispersed, by name, and where its values go in a batch of runs.

"link_3.mass"     any parameter of the model            "input:gain"    what a law, an environment or an event asks for
"q0:joint_2"      coordinates of a joint at the start   "v0:joint_2"    its velocities
"attitude:base"   of a joint that turns freely          "position:base" of a joint that is free
"rate:base"       its angular velocity, own axes        "velocity:base" its linear one
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..algebra import Array
from ..model import Joint, Spacecraft, nearest
from .distributions import Changed, Distribution

STATES = ("q0", "v0", "attitude", "position", "rate", "velocity")
KINDS = (*STATES, "input")


@dataclass(frozen=True, eq=False)
class Target:
    """A quantity: its shape and nominal value. at: its place in q or v. asked: the argument by which an input goes."""

    name: str
    kind: str
    shape: tuple[int, ...]
    nominal: Array | None
    at: slice | None = None
    asked: str = ""

    def shape_of(self, distribution: Distribution) -> tuple[int, ...]:
        """What is drawn of it: attitudes are turned by a rotation vector."""
        return (3,) if self._turned(distribution) else self.shape

    def _turned(self, distribution: Distribution) -> bool:
        return self.kind == "attitude" and isinstance(distribution, Changed)

    def check(self, distribution: Distribution, runs: int) -> None:
        if self._turned(distribution) and distribution.how == "scaled":  # type: ignore[attr-defined]
            raise ValueError(f"{self.name}: an attitude cannot be scaled; use added(...), a rotation vector.")
        distribution.check(self.shape_of(distribution), self.nominal, runs, self.name)

    def values(self, distribution: Distribution, u: Array, runs: Array) -> Array:
        """(n, *shape)."""
        if self._turned(distribution):
            turn = distribution.by.draw(u, (3,), None, runs)  # type: ignore[attr-defined]
            return _turned_by(self.nominal, turn)  # type: ignore[arg-type]
        found = distribution.draw(u, self.shape, self.nominal, runs)
        if self.kind == "attitude":
            found = found / np.linalg.norm(found, axis=1, keepdims=True)
        return found


def target(
    name: str, craft: Spacecraft, q0: Array, v0: Array, inputs: Mapping[str, Any], settings: Mapping[str, str]
) -> Target:
    """Raises a ValueError that says what there is. settings: of a scenario file, by the inputs that stand for them."""
    if name in settings:
        number = np.asarray(inputs[settings[name]], dtype=float)
        return Target(name, "input", number.shape, number, asked=settings[name])
    kind, colon, of = name.partition(":")
    if not colon:
        try:
            nominal = np.asarray(craft.value(name), dtype=float)
        except ValueError as error:
            raise ValueError(f"dispersions: {error} Or did you mean {', '.join(f'{k}:...' for k in KINDS)}?") from None
        return Target(name, "parameter", nominal.shape, nominal)
    if kind == "input":
        given = None if of not in inputs else np.asarray(inputs[of], dtype=float)
        return Target(name, kind, () if given is None else given.shape, given, asked=of)
    if kind not in STATES:
        raise ValueError(f"dispersions: '{name}' is of no known kind. {nearest(kind, KINDS)}")
    joint = _joint(craft, of, name)
    x = q0 if kind in ("q0", "attitude", "position") else v0
    at = _place(kind, joint, name)
    nominal = x[at]
    if at.stop - at.start == 1:
        return Target(name, kind, (), nominal[0], at)
    return Target(name, kind, nominal.shape, nominal, at)


def _joint(craft: Spacecraft, of: str, name: str) -> Joint:
    try:
        return craft.joint_named(of)
    except (ValueError, KeyError):
        known = [joint.name for joint in craft.joints]
        raise ValueError(f"dispersions: '{name}': {craft.name} has no joint '{of}'. {nearest(of, known)}") from None


def _place(kind: str, joint: Joint, name: str) -> slice:
    """In q or v."""
    turning = joint.motion.quaternion
    if kind == "q0":
        if turning is not None:
            raise ValueError(
                f"dispersions: '{name}': the coordinates of {joint.name} hold a quaternion. Disperse "
                f"'attitude:{joint.name}'" + (f" and 'position:{joint.name}'." if joint.motion.unbound else ".")
            )
        if not joint.nq:
            raise ValueError(f"dispersions: '{name}': {joint.name} has no coordinate; 'v0:{joint.name}' is its speed.")
        return joint.q_at
    if kind == "v0":
        if not joint.nv:
            raise ValueError(f"dispersions: '{name}': {joint.name} does not move.")
        return joint.v_at
    if turning is None:
        raise ValueError(f"dispersions: '{name}': {joint.name} ({joint.kind}) has no attitude; use 'q0:' and 'v0:'.")
    if kind in ("position", "velocity") and not joint.motion.unbound:
        raise ValueError(f"dispersions: '{name}': {joint.name} ({joint.kind}) cannot move away; only turn.")
    q, v = joint.q_at.start, joint.v_at.start
    return {
        "attitude": slice(q + turning.start, q + turning.stop),
        "position": slice(q + turning.stop, q + turning.stop + 3),
        "rate": slice(v, v + 3),
        "velocity": slice(v + 3, v + 6),
    }[kind]


def _turned_by(nominal: Array, turn: Array) -> Array:
    """nominal (4,) times exp(turn / 2), turn (n, 3) in the body's axes."""
    angle = np.linalg.norm(turn, axis=1, keepdims=True)
    c, s = np.cos(0.5 * angle), 0.5 * np.sinc(angle / (2.0 * np.pi)) * turn
    w, x = nominal[0], nominal[1:]
    scalar = w * c - np.sum(x * s, axis=1, keepdims=True)
    return np.hstack([scalar, w * s + c * x + np.cross(x, s)])
