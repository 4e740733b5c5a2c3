"""Who flies: members by name, gathered into groups of equal structure.

Members of a group have the same bodies and joints; their differences (a mass, a mounting) are parameters. So a group is
traced and compiled once, and its members are a batch: ten thousand cost ten thousand times one,
not a matrix of their squares.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..algebra import Array, quat_from_rotation
from ..algebra.reals import reals
from ..environment.hill import from_hill, hill_frame
from ..environment.orbit import Orbit
from ..kinematics import neutral
from ..model import Spacecraft, nearest, wrong_name

State = dict[str, tuple[Array, Array]]  # group -> (q (members, nq), v (members, nv))


@dataclass(frozen=True, eq=False)
class Group:
    """Members of one structure. parameters: {"hull.mass": (members,)}: what they do not share."""

    craft: Spacecraft
    names: tuple[str, ...]
    parameters: Mapping[str, Array] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(self.names))
        if not self.names:
            raise ValueError(f"a group of {self.craft.name} has no member; give their names.")
        for name in self.names:
            reason = wrong_name(name)
            if reason:
                raise ValueError(f"a member of a group of {self.craft.name}: {reason}")
        base = self.craft.joint(self.craft.base)
        if not base.motion.unbound:
            raise ValueError(
                f"member '{self.names[0]}' ({self.craft.name}) stands on a {base.kind} base joint; a member of a "
                "formation must float. Load it with base='free'."
            )
        if self.craft.memberships:
            raise ValueError(
                f"member '{self.names[0]}' ({self.craft.name}) holds several spacecraft; give each of them as a member "
                "of its own."
            )
        if base.position.any() or not np.array_equal(base.rotation, np.eye(3)):
            raise ValueError(
                f"member '{self.names[0]}' ({self.craft.name}): its base joint '{base.name}' is mounted off N's origin "
                f"or turned (position {base.position.tolist()}); expected at the origin and upright, so that its "
                "coordinates are the base's pose."
            )
        checked = {}
        for name, value in self.parameters.items():
            shape = np.shape(self.craft.value(name))
            array = reals(value, f"parameter '{name}' of a group")
            if array.shape != (len(self.names), *shape):
                raise ValueError(
                    f"parameter '{name}' of a group has shape {array.shape}; expected one value for each of its "
                    f"{len(self.names)} members, {(len(self.names), *shape)}."
                )
            checked[name] = array
        object.__setattr__(self, "parameters", checked)

    def __len__(self) -> int:
        return len(self.names)

    def craft_of(self, k: int) -> Spacecraft:
        """The spacecraft of member k, with its own values."""
        own = {name: value[k] for name, value in self.parameters.items()}
        return self.craft.with_values(own) if own else self.craft


class Formation:
    """Spacecraft that fly together, on one clock.

    members: {name: Spacecraft}, or {group: Group} for many of a kind. Crafts of equal structure are gathered into
    groups; a group is named after its first member. orbit: where N's origin is, if there is one.
    """

    def __init__(self, members: Mapping[str, Spacecraft | Group], *, orbit: Orbit | None = None) -> None:
        if not members:
            raise ValueError("a formation needs members: give {name: Spacecraft}.")
        groups = {name: group for name, group in members.items() if isinstance(group, Group)}
        crafts = {name: craft for name, craft in members.items() if isinstance(craft, Spacecraft)}
        for name, other in members.items():
            if name not in groups and name not in crafts:
                raise TypeError(f"member '{name}' is {other!r}; expected a Spacecraft, or a Group of equal ones.")
        for group in gathered(crafts):
            groups.setdefault(group.names[0], group)
        self.groups: Mapping[str, Group] = groups
        self.orbit = orbit
        seen: dict[str, str] = {}
        for name, group in groups.items():
            for member in group.names:
                if member in seen:
                    raise ValueError(
                        f"two members are named '{member}' (groups '{seen[member]}' and '{name}'). Every member needs "
                        "a name of its own."
                    )
                seen[member] = name

    # ---- members

    @cached_property
    def _places(self) -> dict[str, tuple[str, int]]:
        return {name: (g, k) for g, group in self.groups.items() for k, name in enumerate(group.names)}

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def place(self, member: str) -> tuple[str, int]:
        """(group, number within it) of a member."""
        if member not in self._places:
            raise ValueError(f"the formation has no member '{member}'. {nearest(member, self._places)}")
        return self._places[member]

    def craft(self, member: str) -> Spacecraft:
        """The spacecraft of a member, with its own values."""
        group, k = self.place(member)
        return self.groups[group].craft_of(k)

    def group(self, name: str) -> Group:
        if name not in self.groups:
            raise ValueError(f"the formation has no group '{name}'. {nearest(name, self.groups)}")
        return self.groups[name]

    @property
    def crafts(self) -> dict[str, Spacecraft]:
        """Every member's spacecraft."""
        return {name: self.craft(name) for name in self}

    # ---- states

    def neutral(self) -> State:
        """Everybody at the origin, at rest."""
        return {
            g: (np.tile(neutral(group.craft), (len(group), 1)), np.zeros((len(group), group.craft.nv)))
            for g, group in self.groups.items()
        }

    def state(self, members: Mapping[str, tuple[Any, Any]]) -> State:
        """The formation's state from (q, v) by member, arrays or by joint name;
        members left out are at the origin, at rest.
        """
        state = self.neutral()
        for name, (q, v) in members.items():
            group, k = self.place(name)
            craft = self.groups[group].craft
            for what, array, value in (("q", state[group][0], craft.q(q)), ("v", state[group][1], craft.v(v))):
                if np.shape(value) != array[k].shape:
                    raise ValueError(
                        f"{what} of '{name}' has shape {np.shape(value)}; expected {array[k].shape} "
                        f"({self.groups[group].craft.name})."
                    )
                array[k] = value
        return state

    def hill_state(
        self,
        members: Mapping[str, Any],
        *,
        t: float = 0.0,
        turning: bool = True,
        joints: Mapping[str, Any] | None = None,
    ) -> State:
        """Members at (rho, rhodot) in the Hill frame of the orbit, aligned with it.

        members: {name: (rho (3,), rhodot (3,))}, or rho alone for a member at rest in the Hill frame. turning: they
        turn with it, as nadir-pointing craft do; otherwise their attitude stays as it is. joints: {name: joint
        coordinates, all of them, or by joint name}.
        """
        orbit = self.needs_orbit("hill_state")
        R_NH, w_N = hill_frame(*orbit.state(t))
        given = {}
        for name, where in members.items():
            rho, rhodot = (where, np.zeros(3)) if np.ndim(where) == 1 else where
            p, v_N = from_hill(orbit, t, *(reals(x, f"the Hill state of '{name}'") for x in (rho, rhodot)))
            craft = self.craft(name)
            q, v = neutral(craft), np.zeros(craft.nv)
            q[:4], q[4:7] = quat_from_rotation(R_NH), p
            v[:3], v[3:6] = R_NH.T @ w_N if turning else np.zeros(3), R_NH.T @ v_N
            if joints and name in joints:
                own = joints[name]
                q[7:] = craft.q(own)[7:] if isinstance(own, Mapping) else own
            given[name] = (q, v)
        return self.state(given)

    def needs_orbit(self, who: str) -> Orbit:
        if self.orbit is None:
            raise ValueError(
                f"{who}: this formation has no orbit, so there is no Hill frame. Give it one: Formation(members, "
                "orbit=gs.Orbit...)."
            )
        return self.orbit

    def __repr__(self) -> str:
        parts = ", ".join(f"{len(group)} x {group.craft.name}" for group in self.groups.values())
        return f"<Formation of {len(self)}: {parts}>"


def gathered(crafts: Mapping[str, Spacecraft]) -> list[Group]:
    """Crafts of equal structure as groups; values in which they differ become parameters."""
    kinds: dict[Any, list[str]] = {}
    for name, craft in crafts.items():
        kinds.setdefault(_structure(craft), []).append(name)
    return [_group([crafts[n] for n in names], names) for names in kinds.values()]


def _structure(craft: Spacecraft) -> Any:
    """What two crafts must share to be traced as one."""
    return tuple(
        (b.name, b.parent, b.included, b.joint.name, b.joint.kind, b.joint.limits.lower, b.joint.limits.upper)
        for b in craft.bodies
    )


def _group(crafts: Sequence[Spacecraft], names: Sequence[str]) -> Group:
    first, differing = crafts[0], {}
    if len(crafts) > 1 and any(craft is not first for craft in crafts):
        values = [craft.parameters() for craft in crafts]
        for name in values[0]:
            column = np.array([v[name] for v in values], dtype=float)
            if (column != column[0]).any():
                differing[name] = column
    return Group(first, tuple(names), differing)
