"""Members of a model that holds several spacecraft: which part each of them is, and its own view of state and loads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from ..algebra import Array
from .findings import nearest

if TYPE_CHECKING:
    from .spacecraft import Spacecraft

NAMESPACES = ("body or frame", "joint", "thruster")


@dataclass(frozen=True, eq=False)
class Membership:
    """One spacecraft of several: everything that hangs on its base.

    base: that body's name in the model. renamed: {kind of part: {its own name: its name in the model}}, where they
    differ.
    """

    name: str
    base: str
    renamed: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def own_names(self, kind: str) -> dict[str, str]:
        """Name in the model -> own name, of what was renamed."""
        return {here: own for own, here in self.renamed.get(kind, {}).items()}


@dataclass(frozen=True, eq=False)
class Member:
    """One spacecraft of several, as it would be alone, and where its coordinates stand.

    craft: its own, with the masses and symbols that the model has now. q_at, v_at: places in the model's q and v, in
    its own order.
    body_at: rows of its bodies in arrays (nbodies, ...). size: nv of the model.
    """

    name: str
    craft: Spacecraft
    q_at: Array
    v_at: Array
    body_at: Array
    size: int
    membership: Membership
    bodies: tuple[str, ...]  # names in the model, in the order of `craft.bodies`

    def q(self, q: Array) -> Array:
        """The member's own q, from (..., nq) of the model."""
        return q[..., self.q_at]

    def v(self, v: Array) -> Array:
        """The member's own v (or vdot, tau), from (..., nv) of the model."""
        return v[..., self.v_at]

    def place(self, tau: Array) -> Array:
        """Loads (..., nv) of the model from the member's own, zero elsewhere."""
        tau = np.asarray(tau)
        if tau.ndim == 0 or tau.shape[-1] != len(self.v_at):
            raise ValueError(
                f"loads of '{self.name}' have shape {tau.shape}; expected ({len(self.v_at)},), as its own v."
            )
        placed = np.zeros((*tau.shape[:-1], self.size)).astype(tau.dtype)
        placed[..., self.v_at] = tau
        return placed

    def here(self, name: str, kind: str = "body or frame") -> str:
        """The name in the model of what the member calls `name`; kind: "body or frame", "joint" or "thruster"."""
        known = _names(self.craft, kind)
        if name not in known:
            raise ValueError(f"'{self.name}' has no {kind} '{name}'. {nearest(name, known)}")
        return self.membership.renamed.get(kind, {}).get(name, name)

    def own(self, name: str, kind: str = "body or frame") -> str:
        """What the member calls the part that the model calls `name`."""
        own = self.membership.own_names(kind).get(name, name)
        if own not in _names(self.craft, kind) or self.here(own, kind) != name:
            known = [self.here(x, kind) for x in _names(self.craft, kind)]
            raise ValueError(f"{kind} '{name}' is no part of '{self.name}'. {nearest(name, known)}")
        return own


def members_of(craft: Spacecraft) -> tuple[Member, ...]:
    return tuple(_member(craft, membership) for membership in craft.memberships)


def whole(craft: Spacecraft) -> Member:
    """A spacecraft alone, as the one member of itself."""
    q_at, v_at, body_at = (np.arange(n) for n in (craft.nq, craft.nv, craft.nbodies))
    names = tuple(body.name for body in craft.bodies)
    return Member(craft.name, craft, q_at, v_at, body_at, craft.nv, Membership(craft.name, craft.base), names)


def _member(craft: Spacecraft, membership: Membership) -> Member:
    from .flexible import joints_of
    from .spacecraft import Spacecraft, laid_out

    part = {kind: membership.own_names(kind) for kind in NAMESPACES}
    held = {craft.body(membership.base).name}
    for name, parent in craft.base_to_tip:
        if parent in held:
            held.add(name)
    rows = [k for k, body in enumerate(craft.bodies) if body.name in held]
    bodies = []
    for body in (craft.bodies[k] for k in rows):
        joint, parent = body.joint, None if body.name == membership.base else body.parent
        parent = parent if parent is None else part["body or frame"].get(parent, parent)
        joint = replace(joint, name=part["joint"].get(joint.name, joint.name), parent=parent)
        bodies.append(replace(body, name=part["body or frame"].get(body.name, body.name), joint=joint))
    frames = [
        replace(f, **{key: part["body or frame"].get(getattr(f, key), getattr(f, key)) for key in ("name", "body")})
        for f in craft.frames
        if f.body in held
    ]
    thrusters = [
        replace(t, name=part["thruster"].get(t.name, t.name), body=part["body or frame"].get(t.body, t.body))
        for t in craft.thrusters
        if t.body in held
    ]
    own = Spacecraft(membership.name, laid_out(bodies), tuple(frames), tuple(thrusters), source=craft.source)
    joints = [joint for k in rows for joint in joints_of(craft.bodies[k])]
    q_at = np.concatenate([np.arange(j.q_at.start, j.q_at.stop) for j in joints])
    v_at = np.concatenate([np.arange(j.v_at.start, j.v_at.stop) for j in joints])
    names = tuple(craft.bodies[k].name for k in rows)
    return Member(membership.name, own, q_at, v_at, np.array(rows), craft.nv, membership, names)


def _names(craft: Spacecraft, kind: str) -> list[str]:
    if kind not in NAMESPACES:
        raise ValueError(f"'{kind}' is no kind of part. {nearest(kind, NAMESPACES)}")
    return {
        "body or frame": [*(body.name for body in craft.bodies), *(frame.name for frame in craft.frames)],
        "joint": [joint.name for joint in craft.joints],
        "thruster": [thruster.name for thruster in craft.thrusters],
    }[kind]
