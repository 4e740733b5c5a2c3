"""Several spacecraft as one: side by side in inertial space, or one attached to another as one tree."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..algebra import IDENTITY, Array, Pose, compose, inverse
from .findings import nearest
from .members import NAMESPACES, Membership
from .parts import Body, Frame, Joint, Thruster
from .spacecraft import Spacecraft

WORLD = "world"


def together(name: str, crafts: Sequence[Spacecraft]) -> Spacecraft:
    """Separate spacecraft as one model: each base moves freely, as before, on a massless body "world" that is fixed in
    N.

    q and v are those of the first, the second, ...; wheels last. Names that two of them share get the spacecraft's own
    name in front, as in "target.base". Constraints may then bind any frames of any of them. `members` of the result
    says what belongs to whom; those of a model that was put together already become members themselves.

    Raises ValueError where spacecraft or their members share a name.
    """
    crafts = list(crafts)
    if len({craft.name for craft in crafts}) < len(crafts):
        raise ValueError(
            f"{name}: spacecraft share a name: {', '.join(c.name for c in crafts)}. Rename them with "
            "dataclasses.replace."
        )
    shared = _shared(crafts)
    bodies = [Body(WORLD, joint=Joint(WORLD, "fixed"))]
    frames: list[Frame] = []
    thrusters: list[Thruster] = []
    for craft in crafts:
        own = _renamed(craft, shared)
        bodies += [replace(b, joint=replace(b.joint, parent=WORLD)) if b.parent is None else b for b in own.bodies]
        frames += own.frames
        thrusters += own.thrusters
    memberships = [m for craft in crafts for m in _memberships(craft, shared)]
    names = [m.name for m in memberships]
    if len(set(names)) < len(names):
        raise ValueError(f"{name}: members share a name: {', '.join(names)}. Rename them with dataclasses.replace.")
    return Spacecraft.build(name, bodies, frames=frames, thrusters=thrusters, memberships=memberships)


def attach(
    craft: Spacecraft, target: Spacecraft, at: str, by: str | None = None, *, pose: Pose = IDENTITY
) -> Spacecraft:
    """`target` fixed to `craft` as one tree: its frame `by` (its base by default) at the frame `at` of the craft,
    `pose` apart.

    What the target carries stays on it. `by` must be on the target's base. Names are as in `together`, so that
    `transfer_state` takes a state from there. Where `craft` was put together from members, the target becomes part of
    the one that carries `at`.
    """
    if target.memberships:
        raise ValueError(
            f"attach: {target.name} holds {len(target.memberships)} spacecraft, of which only one can be grasped. "
            "Attach that one, and put the rest beside it with gs.together."
        )
    shared = _shared([craft, target])
    own, other = _renamed(craft, shared), _renamed(target, shared)
    body, X_BF = own.locate(_name(craft, at, shared))
    held, X_TG = (other.base, IDENTITY) if by is None else other.locate(_name(target, by, shared))
    if held != other.base:
        raise ValueError(
            f"attach: frame '{by}' is on body '{held}' of {target.name}, whose base is '{other.base}'. Grasp a frame "
            "of the base, or keep both apart with gs.together and a weld constraint."
        )
    R, p = compose(compose(X_BF, pose), inverse(X_TG))
    base = other.bodies[0]
    grip = Joint(base.joint.name, "fixed", body, p, R)
    bodies = [*own.bodies, replace(base, joint=grip), *other.bodies[1:]]
    frames, thrusters = [*own.frames, *other.frames], [*own.thrusters, *other.thrusters]
    memberships = _memberships(craft, shared) if craft.memberships else ()
    name = f"{craft.name}+{target.name}"
    return Spacecraft.build(name, bodies, frames=frames, thrusters=thrusters, memberships=memberships)


def docked(craft: Spacecraft, first: str, second: str, pose: Pose) -> Spacecraft:
    """Two members of a model that was put together as one tree: the frame `second` fixed in the frame `first`, `pose`
    apart.

    One of the two frames is on the base of its member, which floats; that base hangs on the other frame's body from now
    on, and all that it carries belongs to the other member. Names stay as they are.
    """
    (body, X_BF), (held, X_TG) = craft.locate(first), craft.locate(second)
    bases = {m.base: m.name for m in craft.memberships}
    if held not in bases:
        body, X_BF, held, X_TG, pose = held, X_TG, body, X_BF, inverse(pose)
    if held not in bases:
        raise ValueError(
            f"'{first}' and '{second}' become one tree where one of them is on the base of its spacecraft; the bases "
            f"are {', '.join(bases) or 'none'}. Hold them by a grasp instead."
        )
    joint, carried = craft.joint(held), _carried_by(craft, held)
    if body in carried:
        raise ValueError(f"'{first}' and '{second}' are parts of one spacecraft already.")
    if not joint.motion.unbound:
        raise ValueError(f"'{bases[held]}' stands on a {joint.kind} base joint; what is attached must float.")
    R, p = compose(compose(X_BF, pose), inverse(X_TG))
    bodies = [replace(b, joint=Joint(joint.name, "fixed", body, p, R)) if b.name == held else b for b in craft.bodies]
    members = [m for m in craft.memberships if m.base != held]
    return Spacecraft.build(
        craft.name, bodies, frames=craft.frames, thrusters=craft.thrusters, source=craft.source, memberships=members
    )


def _carried_by(craft: Spacecraft, base: str) -> set[str]:
    found = {base}
    for name, parent in craft.base_to_tip:
        if parent in found:
            found.add(name)
    return found


def transfer_state(source: Spacecraft, q: Array, v: Array, to: Spacecraft) -> tuple[Array, Array]:
    """The state of the joints that both have, by name, with the rest of `to` at zero: from `together` to one of its
    members, or back.

    Returns q (nq,) and v (nv,) of `to`.
    """
    known = {joint.name: joint for joint in source.joints}
    qs, vs = [], []
    for joint in to.joints:
        old = known.get(joint.name)
        same = old is not None and (old.nq, old.nv) == (joint.nq, joint.nv)
        qs.append(
            q[..., old.q_at]
            if same and old is not None
            else np.broadcast_to(joint.motion.neutral(), (*q.shape[:-1], joint.nq))
        )
        vs.append(v[..., old.v_at] if same and old is not None else np.zeros((*v.shape[:-1], joint.nv)))
    return np.concatenate(qs, axis=-1), np.concatenate(vs, axis=-1)


def joined_state(both: Spacecraft, members: Sequence[tuple[Spacecraft, Any, Any]]) -> tuple[Array, Array]:
    """q and v of `together(name, [craft, ...])` from those of its members: (craft, q, v) each, in the same order.

    Raises ValueError unless there is one state for each member.
    """
    given = [craft.name for craft, _, _ in members]
    if len(members) != len(both.members):
        raise ValueError(
            f"{both.name} has the members {', '.join(m.name for m in both.members)}; "
            f"states are given of {', '.join(given) or 'none'}. Give one (craft, q, v) for each, in that order."
        )
    shared = _shared([craft for craft, _, _ in members])
    Q, V = np.zeros(both.nq), np.zeros(both.nv)
    for craft, q, v in members:
        q, v = _sized(craft, craft.q(q), craft.nq, "q"), _sized(craft, craft.v(v), craft.nv, "v")
        for joint in craft.joints:
            there = both.joint_named(_name(craft, joint.name, shared, "joint"))
            Q[there.q_at], V[there.v_at] = q[joint.q_at], v[joint.v_at]
    return Q, V


def _sized(craft: Spacecraft, given: Any, size: int, what: str) -> Array:
    values = np.asarray(given, dtype=float)
    if values.shape != (size,):
        raise ValueError(f"{what} of {craft.name}: expected shape ({size},), found {values.shape}.")
    return values


# ---- names


def _names(craft: Spacecraft) -> dict[str, tuple[str, ...]]:
    """By kind of part, in the craft's order: files keep it, and their bytes are the same each time."""
    return {
        "body or frame": tuple(dict.fromkeys([*(b.name for b in craft.bodies), *(f.name for f in craft.frames)])),
        "joint": tuple(joint.name for joint in craft.joints),
        "thruster": tuple(thruster.name for thruster in craft.thrusters),
    }


def _shared(crafts: Iterable[Spacecraft]) -> dict[str, set[str]]:
    """Names that need the spacecraft's own in front, by kind of part."""
    seen: dict[str, set[str]] = {"body or frame": {WORLD}, "joint": {WORLD}, "thruster": set()}
    twice: dict[str, set[str]] = {kind: set() for kind in seen}
    for craft in crafts:
        for kind, names in _names(craft).items():
            twice[kind] |= seen[kind].intersection(names)
            seen[kind].update(names)
    return twice


def _name(craft: Spacecraft, name: str, shared: dict[str, set[str]], kind: str = "body or frame") -> str:
    if kind == "body or frame" and name not in _names(craft)[kind]:
        raise ValueError(f"{craft.name} has no body or frame '{name}'. {nearest(name, _names(craft)[kind])}")
    if kind == "joint" and craft.joint_named(name).kind == "modal":  # named by their body
        return f"{_name(craft, str(craft.joint_named(name).parent), shared)}.modes"
    return f"{craft.name}.{name}" if name in shared[kind] else name


def prefixed(craft: Spacecraft, prefix: str) -> Spacecraft:
    """With `prefix` in front of the name of every part: so that one arm can be on a craft twice."""
    return _named_anew(craft, lambda name, kind="body or frame": prefix + name)


def _renamed(craft: Spacecraft, shared: dict[str, set[str]]) -> Spacecraft:
    return _named_anew(craft, lambda name, kind="body or frame": _name(craft, name, shared, kind))


def _named_anew(craft: Spacecraft, new: Callable[..., str]) -> Spacecraft:
    """new(name, kind) of every part."""
    bodies = []
    for body in craft.bodies:
        parent = None if body.parent is None else new(body.parent)
        joint = replace(body.joint, name=new(body.joint.name, "joint"), parent=parent)
        bodies.append(replace(body, name=new(body.name), joint=joint))
    frames = [replace(f, name=new(f.name), body=new(f.body)) for f in craft.frames]
    thrusters = [replace(t, name=new(t.name, "thruster"), body=new(t.body)) for t in craft.thrusters]
    return replace(craft, bodies=tuple(bodies), frames=tuple(frames), thrusters=tuple(thrusters))


def _memberships(craft: Spacecraft, shared: dict[str, set[str]]) -> tuple[Membership, ...]:
    """Of what the craft holds (itself, where it stands alone), after its names have changed once more."""
    found = []
    for old in craft.memberships or (Membership(craft.name, craft.base),):
        member = craft.member(old.name)
        renamed = {}
        for kind in NAMESPACES:
            names = {own: _name(craft, member.here(own, kind), shared, kind) for own in _names(member.craft)[kind]}
            renamed[kind] = {own: here for own, here in names.items() if own != here}
        found.append(Membership(old.name, _name(craft, old.base, shared), renamed))
    return tuple(found)
