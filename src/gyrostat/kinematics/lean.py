"""The same spacecraft in frames and inertias that cost the fewest operations, for recursions that are recorded.

Frames: a body on a hinge gets the hinge's axis for its z, and for its x the common normal to the hinge that it carries;
then its constant pose on its parent is a product of screws along z and x, each with few entries that are neither zero
nor one. In between stand bodies without mass.

    X_P'J' = Screw_z(theta1, d1) Screw_x(alpha, a) Screw_z(theta0, d),   theta1 = d1 = 0 where P' could be chosen   (1)

Inertias: what a joint cannot feel of its body is counted in the parent (`unfelt` of its kind), the whole body where it
is fixed. Kinetic energy stays the same function of q and v, and so do all forces along joints; articulated inertias of
parents are the same numbers. Khalil & Dombre, Modeling, Identification and Control of Robots (2002), ch. 9.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ..algebra import (
    IDENTITY,
    Array,
    Pose,
    RigidInertia,
    compose,
    cross,
    inertia_components,
    inertia_matrix,
    inverse,
    rigid_inertia_to_parent,
    wrench_to_parent,
)
from ..model import Body, FlexibleBody, Joint, Spacecraft

_TINY = 1e-14  # what rounding leaves of an angle, or of a length in units of the distance
_FAR = 3.0  # the foot of a common normal, in units of the distance: beyond, inertias about it would lose digits
_HEAVY = 1e3  # masses that stay where they are: moved onto bodies this much lighter, they would cost these their digits
MANY = 40  # bodies beyond which equal ones are recorded alike
_Z = np.array([0.0, 0.0, 1.0])
_known: WeakKeyDictionary[Spacecraft, Lean] = WeakKeyDictionary()  # one law asks for many things of one craft


@dataclass(frozen=True, eq=False)
class Lean(Spacecraft):
    """A spacecraft in other frames. q, v, tau stand where they did; bodies that are fixed to another are part of it."""

    inertias: Mapping[str, RigidInertia] = field(default_factory=dict)
    places: Mapping[str, tuple[str, Pose]] = field(
        default_factory=dict
    )  # of every body: the one that has it, and where

    def inertia(self, body: str) -> RigidInertia:
        return self.inertias[body]

    def locate(self, name: str) -> tuple[str, Pose]:
        """Of a body as it was: the one that has it, and where. Frames are those of the craft that was given."""
        return self.places[name]

    def wrenches_there(self, F_ext: Mapping[str, Array]) -> dict[str, Array]:
        """Wrenches on the bodies as they were, on those that are."""
        found: dict[str, Array] = {}
        for body, F in F_ext.items():
            B, X_BF = self.places[body]
            here = wrench_to_parent(X_BF, F)
            found[B] = found[B] + here if B in found else here
        return found


def lean(
    craft: Spacecraft, F_ext: Mapping[str, Array], *states: Array, at_most: float = 1.0
) -> tuple[Spacecraft, Mapping[str, Array]]:
    """The craft in those frames, and the wrenches on its bodies, where a state is recorded and places, turns and axes
    are numbers; else both as they are.

    Masses and inertias may be recorded, too; turning them costs operations for each state. at_most: the share of such
    bodies up to which that is worth it.
    """
    recorded = any(hasattr(e, "scan") for x in states for e in np.ravel(x))
    if not recorded or not _placed_by_numbers(craft):
        return craft, F_ext
    rigid = [b for b in craft.bodies if type(b) is Body]
    if sum(not _number(b.mass, b.com, b.inertia) for b in rigid) > at_most * len(rigid):
        return craft, F_ext
    found = _known.get(craft)
    if found is None:
        found = _known[craft] = reframed(craft)
    if craft.nbodies > MANY:
        found = _alike(found, next(e.trace for x in states for e in np.ravel(x) if hasattr(e, "scan")))
    return found, found.wrenches_there(F_ext)


def _alike(craft: Lean, trace: Any) -> Lean:
    """With numbers that are recorded as they are: of equal bodies the same is recorded, but for constants, and
    compiled once.
    """

    def kept(value: Any, *name: Any) -> Any:
        return value if not _number(value) else trace.kept(float(value), name) if value else 0.0

    def rotation(R: Array, B: str) -> Array:
        """Sines stand in it twice, with either sign."""
        seen: dict[float, Any] = {}
        found = R.astype(object)
        for at, x in np.ndenumerate(R):
            if abs(x) not in (0.0, 1.0):
                first, sign = seen.setdefault(abs(x), (trace.kept(float(x), (B, "R", at)), x))
                found[at] = first if sign == x else -first
        return found

    def vector(p: Array, *name: Any) -> Array:
        return np.array([kept(x, *name, k) for k, x in enumerate(p)], dtype=object)

    bodies, inertias = [craft.bodies[0]], dict(craft.inertias)
    for body in craft.bodies[1:]:
        B, joint, (m, h, I_o) = body.name, body.joint, craft.inertias[body.name]
        turn, step = rotation(joint.rotation, B), vector(joint.position, B, "p")
        bodies.append(replace(body, joint=replace(joint, rotation=turn, position=step)))
        six = vector(inertia_components(I_o), B, "I_o")
        inertias[B] = RigidInertia(kept(m, B, "m"), vector(h, B, "h"), inertia_matrix(six))
    return replace(craft, bodies=tuple(bodies), inertias=inertias)


def _placed_by_numbers(craft: Spacecraft) -> bool:
    joints = [b.joint for b in craft.bodies]
    return all(_number(joint.position, joint.rotation, joint.axis, joint.axis2) for joint in joints)


def _number(*values: Any) -> bool:
    """Not recorded."""
    return all(np.asarray(x).dtype != object for x in values)


def reframed(craft: Spacecraft) -> Lean:
    """The craft in those frames. Flexible bodies keep theirs, and nothing is moved to them or from them."""
    places = _carried(craft)
    on = {B: _on_its_carrier(craft, B, places) for B, (C, _) in places.items() if B == C}  # carrier P, X_PJ
    inertias = {B: _massless() for B in on if craft.flexible(B) is None}
    for B, (C, X_CB) in places.items():
        if C in inertias:
            inertias[C] = inertias[C] + rigid_inertia_to_parent(X_CB, craft.inertia(B))
    frames = _frames(craft, on, inertias)  # X_BB' of each
    bodies: list[Body] = []
    constant: dict[str, Pose] = {}
    for B, (P, X_PJ) in on.items():
        own, between = _placed(craft, B, P, X_PJ, frames)
        flexible = craft.flexible(B)
        bodies += [*between, Body(B, joint=own) if flexible is None else _with_joint(flexible, own)]
        inertias |= {body.name: _massless() for body in between}
        if flexible is None:
            inertias[B] = _rounded(rigid_inertia_to_parent(inverse(frames[B]), inertias[B]))
        constant[B] = IDENTITY
        for body in bodies[-1 - len(between) :]:
            constant[B] = compose(constant[B], Pose(body.joint.rotation, body.joint.position))
    _regroup(bodies, on, inertias, constant)
    there = {F: (B, compose(inverse(frames[B]), X_BF)) for F, (B, X_BF) in places.items()}
    return Lean(craft.name, tuple(bodies), memberships=craft.memberships, inertias=inertias, places=there)


def _regroup(
    bodies: list[Body],
    on: Mapping[str, tuple[str | None, Pose]],
    inertias: dict[str, RigidInertia],
    constant: Mapping[str, Pose],
) -> None:
    """What joints cannot feel goes to the parent, tip to base."""
    lightest = _lightest(on, inertias)
    for body in reversed(bodies):
        B, P = body.name, on.get(body.name, (None, IDENTITY))[0]
        if P not in inertias or B not in inertias:
            continue
        if not _number(inertias[B].I_o) and not body.joint.motion.hinge:
            continue  # what is subtracted for each state is no gain
        unfelt = body.joint.motion.unfelt(inertias[B])
        if not _number(inertias[B].m, lightest[P]) or inertias[B].m > _HEAVY * lightest[P]:
            unfelt = RigidInertia(0.0, np.zeros(3), unfelt.I_o)
        inertias[B] = _less(inertias[B], unfelt)
        inertias[P] = inertias[P] + rigid_inertia_to_parent(constant[B], unfelt)


def _massless() -> RigidInertia:
    return RigidInertia(0.0, np.zeros(3), np.zeros((3, 3)))


def _with_joint(body: FlexibleBody, joint: Joint) -> Any:
    """The body, with what has been worked out of it, on another joint."""
    found = copy.copy(body)
    object.__setattr__(found, "joint", joint)
    return found


def _carried(craft: Spacecraft) -> dict[str, tuple[str, Pose]]:
    """The body that each one is part of, and its pose there: itself, unless it is fixed to another that is rigid."""
    found: dict[str, tuple[str, Pose]] = {}
    for B, P in craft.base_to_tip:
        joint = craft.joint(B)
        if P is None or joint.nv or craft.flexible(B) or craft.flexible(P):
            found[B] = B, IDENTITY
        else:
            C, X_CP = found[P]
            found[B] = C, compose(X_CP, Pose(joint.rotation, joint.position))
    return found


def _on_its_carrier(craft: Spacecraft, B: str, places: Mapping[str, tuple[str, Pose]]) -> tuple[str | None, Pose]:
    """The body that carries B's joint, and the joint's pose there."""
    joint = craft.joint(B)
    X_PJ = Pose(joint.rotation, joint.position)
    if joint.parent is None:
        return None, X_PJ
    C, X_CP = places[joint.parent]
    return C, compose(X_CP, X_PJ)


def _frames(
    craft: Spacecraft, on: Mapping[str, tuple[str | None, Pose]], inertias: Mapping[str, RigidInertia]
) -> dict[str, Pose]:
    """X_BB' of each body: where the new frame stands in the old one."""
    size = dict.fromkeys(on, 1)
    next_axis: dict[str, tuple[int, Pose, Array]] = {}  # of each body: the joint that carries most
    for B, (P, X_PJ) in reversed(list(on.items())):
        if P is not None:
            size[P] += size[B]
            if craft.joint(B).motion.hinge and next_axis.get(P, (0,))[0] < size[B]:
                next_axis[P] = size[B], X_PJ, craft.joint(B).axis
    frames: dict[str, Pose] = {}
    for B, (P, X_PJ) in on.items():
        kind = craft.joint(B).motion
        if P is not None and kind.spins and _number(inertias[B].I_o):
            frames[B] = Pose(X_PJ.R.T @ frames[P].R, np.zeros(3))  # a wheel gets the axes of what carries it
        elif P is not None and kind.hinge and B in inertias:
            line = next_axis.get(B)
            toward = (line[1].p, line[1].R @ line[2]) if line else (_told(inertias[B].h), None)
            frames[B] = _along(craft.joint(B).axis, *toward)
        else:
            frames[B] = IDENTITY
    return frames


def _told(h: Array) -> Array:
    """Zero where it is recorded."""
    return h if _number(h) else np.zeros(3)


def _lightest(on: Mapping[str, tuple[str | None, Pose]], inertias: Mapping[str, RigidInertia]) -> dict[str, Any]:
    """The least mass, of those that have any, from the base to each body; a recorded one where there is one."""
    found: dict[str, Any] = {}
    for B, (P, _) in on.items():
        own = inertias[B].m if B in inertias else np.inf
        before = np.inf if P is None else found[P]
        found[B] = min(own or np.inf, before) if _number(own, before) else own if _number(before) else before
    return found


def _along(z: Array, point: Array, direction: Array | None) -> Pose:
    """A frame on the axis z through the origin: its x along the common normal to the line through the point, and its
    origin at the foot; without a direction, x towards the point.
    """
    distance = float(np.linalg.norm(point))
    direction = z if direction is None else direction
    normal = cross(z, direction)
    sine = float(np.linalg.norm(normal))
    slide = 0.0
    if sine > 1e-6:
        slide = float(cross(point, direction) @ normal) / sine**2
        slide = slide if abs(slide) <= _FAR * distance else 0.0
    else:
        normal = point - (point @ z) * z
        if np.linalg.norm(normal) <= 1e-6 * distance or not distance:
            normal = np.eye(3)[0] if abs(z[0]) < 0.9 else np.eye(3)[1]
    x = normal - (normal @ z) * z
    x = x / np.linalg.norm(x)
    return Pose(np.column_stack([x, cross(z, x), z]), slide * z)


def _placed(
    craft: Spacecraft, B: str, P: str | None, X_PJ: Pose, frames: Mapping[str, Pose]
) -> tuple[Joint, list[Body]]:
    """B's joint on its new parent, and the bodies without mass in between."""
    joint = craft.joint(B)
    if P is None:
        return joint, []
    X = compose(inverse(frames[P]), compose(X_PJ, frames[B]))
    if not joint.motion.hinge or joint.mount is not None or craft.flexible(B):
        axis = frames[B].R.T @ joint.axis
        return replace(joint, parent=P, rotation=_clean(X.R), position=_clean(X.p), axis=axis), []
    *first, last = screws(X)
    between: list[Body] = []
    parent = P
    for k, part in enumerate(first):
        name = f"{B} < {k}"
        between.append(Body(name, joint=Joint(name, "fixed", parent, part.p, part.R)))
        parent = name
    return replace(joint, parent=parent, rotation=last.R, position=last.p, axis=_Z), between


def screws(X: Pose) -> list[Pose]:
    """(1): poses along z, x and z whose product is X; the last always, others where they do something.

    Where both axes z are nearly parallel, and d1 and d large and opposite, the position stands whole in the first.
    """
    R, p = X
    sine = float(np.hypot(R[0, 2], R[1, 2]))
    alpha = float(np.arctan2(sine, R[2, 2]))
    if sine > _TINY:
        theta1, theta0 = float(np.arctan2(R[0, 2], -R[1, 2])), float(np.arctan2(R[2, 0], R[2, 1]))
        if abs(abs(theta1) - np.pi) < _TINY:  # as well turned the other way round
            theta1, alpha, theta0 = 0.0, -alpha, float(np.arctan2(-R[2, 0], -R[2, 1]))
    else:
        theta1, theta0 = 0.0, float(np.arctan2(R[1, 0] * np.sign(R[2, 2]), R[0, 0]))
    first, middle, last = _turn(2, theta1), _turn(0, alpha), _turn(2, theta0)
    distance = float(np.linalg.norm(p))
    a, y, z = first.T @ p
    d = -y / middle[2, 1] if middle[2, 1] else 0.0
    if abs(d) > _FAR * distance or (not middle[2, 1] and abs(y) > _TINY * distance):
        parts = [Pose(first, p), Pose(middle, np.zeros(3)), Pose(last, np.zeros(3))]
    else:
        steps = (z - d * middle[2, 2]) * _Z, np.array([a, 0.0, 0.0]), d * _Z
        parts = [Pose(turn, step) for turn, step in zip((first, middle, last), steps, strict=True)]
    parts = [Pose(R, np.where(np.abs(p) <= _TINY * distance, 0.0, p)) for R, p in parts]
    return _joined(parts)


def _joined(parts: list[Pose]) -> list[Pose]:
    """Fewer where one is a step alone, or does nothing."""
    *others, last = parts
    found: list[Pose] = []
    for part in others:
        if found and np.array_equal(found[-1].R, np.eye(3)):
            part = Pose(part.R, found.pop().p + part.p)
        found.append(part)
    if found and np.array_equal(found[-1].R, np.eye(3)):
        last = Pose(last.R, found.pop().p + last.p)
    return [*found, last]


def _turn(axis: int, angle: float) -> Array:
    """About a coordinate axis; quarter turns to the last digit."""
    c, s = float(np.cos(angle)), float(np.sin(angle))
    if abs(s) < _TINY:
        c, s = float(np.sign(c)), 0.0
    elif abs(c) < _TINY:
        c, s = 0.0, float(np.sign(s))
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R = np.eye(3)
    R[i, i], R[i, j], R[j, i], R[j, j] = c, -s, s, c
    return R


def _clean(x: Array) -> Array:
    if not _number(x):
        return x
    return np.where(np.abs(x) <= 1e-15 * np.max(np.abs(x), initial=0.0), 0.0, x)


def _rounded(M: RigidInertia) -> RigidInertia:
    """Without what rounding left where there was nothing."""
    return RigidInertia(M.m, _clean(M.h), _clean(M.I_o))


def _less(M: RigidInertia, part: RigidInertia) -> RigidInertia:
    return RigidInertia(M.m - part.m, M.h - part.h, M.I_o - part.I_o)
