"""Functions that see other members: whom, and how their states come in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..algebra import Array
from ..control.controller import Controller
from ..environment import Environment
from ..simulation.problem.events import When
from .members import Formation

Sees = str | Mapping[str, str] | Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Coupling:
    """A control law, an environment or an event of a group whose members see others.

    law: a function (craft, t, q, v, ...), a `Controller`, an `Environment` or a `When`, that asks by argument name for
         what it sees.
    sees: {"leader": "chief"}: everybody sees that member, as `q_leader` (nq,) and `v_leader` (nv,).
          {"near": {"a": "b", "b": "a"}}: each sees another one.
          {"near": {"a": ["b", "c"], "b": ["a"]}}: several, as `q_near` (k, nq) and `v_near` (k, nv), with `weight_near`
          (k,), one for those who are there, zero for the padding of members who see fewer.
    Those seen under one name must be of one group. A member not mentioned sees itself, with weight zero.
    """

    law: Callable[..., Any] | Controller | Environment | When
    sees: Mapping[str, Sees]


class View(NamedTuple):
    """What the members of a group see under one name: rows `rows` of another group's states."""

    name: str
    group: str
    rows: Array  # (members,) or (members, k)
    weight: Array | None  # (members, k) where several are seen

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names by which functions may ask for it."""
        return (f"q_{self.name}", f"v_{self.name}", *([] if self.weight is None else [f"weight_{self.name}"]))

    def same(self, other: View) -> bool:
        return self.group == other.group and np.array_equal(self.rows, other.rows)


def opened(function: Any) -> tuple[Any, list[Coupling]]:
    """A function, or several, without couplings; and those."""
    if isinstance(function, Coupling):
        return function.law, [function]
    if isinstance(function, list | tuple):
        found = [opened(each) for each in function]
        return [each for each, _ in found], [coupling for _, inner in found for coupling in inner]
    return function, []


def views(formation: Formation, group: str, coupling: Coupling, what: str, known: Sequence[View]) -> list[View]:
    """Names resolved to places, but for those that are known already. what: the option it is given by."""
    found = []
    for name, whom in coupling.sees.items():
        view = _view(formation, f"{what} of group '{group}'", group, name, whom)
        earlier = next((other for other in known if other.name == name), None)
        if earlier is None:
            found.append(view)
        elif not view.same(earlier):
            raise ValueError(
                f"{what} of group '{group}': '{name}' are others than those whom another function of the group sees "
                "under that name. Choose another name."
            )
    return found


def _view(formation: Formation, where: str, group: str, name: str, whom: Any) -> View:
    members = formation.group(group).names
    if isinstance(whom, str):
        whom = dict.fromkeys(members, whom)
    for member in whom:
        if member not in members:
            raise ValueError(
                f"{where}: '{member}' sees '{name}', but is not in the group ({', '.join(members[:5])}...)."
            )
    several = any(not isinstance(seen, str) for seen in whom.values())
    lists = [_as_list(whom.get(member, [])) for member in members]
    places = [[formation.place(seen) for seen in row] for row in lists]
    homes = {home for row in places for home, _ in row}
    if len(homes) != 1:
        raise ValueError(
            f"{where}: members seen as '{name}' belong to {sorted(homes) or 'no group'}; expected one group. Give "
            "those of each group a name of their own."
        )
    home = homes.pop()
    if not several:
        if any(len(row) != 1 for row in places):
            raise ValueError(f"{where}: not every member sees a '{name}'. Give lists, so that their number may differ.")
        return View(name, home, np.array([row[0][1] for row in places]), None)
    k = max(len(row) for row in places)
    index, weight = np.zeros((len(members), k), dtype=int), np.zeros((len(members), k))
    for i, row in enumerate(places):
        own = i if home == group else 0
        index[i] = [place for _, place in row] + [own] * (k - len(row))
        weight[i, : len(row)] = 1.0
    return View(name, home, index, weight)


def _as_list(seen: Any) -> list[str]:
    return [seen] if isinstance(seen, str) else list(seen)


def ring(names: Any) -> dict[str, list[str]]:
    """Everybody sees the one before and the one after: {"a": ["c", "b"], ...}."""
    names = list(names)
    return {name: [names[i - 1], names[(i + 1) % len(names)]] for i, name in enumerate(names)}
