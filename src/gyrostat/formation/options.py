"""Which options of `gs.simulate` a formation takes, for all of its groups or for each, and what to do in place of those
that it does not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from ..model import nearest
from ..simulation.problem.settings import Settings

if TYPE_CHECKING:
    from .members import Formation

ELSEWHERE = {
    "q0": "Give state={group: (q, v)}.",
    "v0": "Give state={group: (q, v)}.",
    "outcomes": "Outcomes are of one craft: gs.simulate(craft, ...); gs.together makes one of several.",
    "device": "Formations are computed on the processor.",
    "precision": "Members are computed in double precision.",
    "sensitivities": "Derivatives are of one craft: gs.simulate(craft, ...); gs.together makes one of several.",
}
# settings of a spacecraft: each group may have its own. The others are those of the clock, or of all noise
OF_A_GROUP = ("mode", "formulation", "stabilisation", "locked", "actuators", "stops", "conserve")
SETTINGS = tuple(field.name for field in fields(Settings))


def check_options(given: Mapping[str, Any]) -> None:
    """Raises a TypeError at the first option that no formation has, or that is one for all of its groups."""
    known = [*SETTINGS, "prescribed", "constraints", "threads"]
    for name, value in given.items():
        if name in ELSEWHERE:
            raise TypeError(f"{name}= is no option of a formation. {ELSEWHERE[name]}")
        if name not in known:
            raise TypeError(f"simulate has no option '{name}'. {nearest(name, known)}")
        if isinstance(value, Mapping) and name in SETTINGS and name not in OF_A_GROUP:
            raise TypeError(
                f"{name}= is one for all groups of a formation; found a mapping of {', '.join(map(str, value))}."
            )


def own_options(formation: Formation, given: Mapping[str, Any], g: str) -> dict[str, Any]:
    """The settings of one group."""
    return {name: by_group(formation, value, name)[g] if name in OF_A_GROUP else value for name, value in given.items()}


def by_group(formation: Formation, given: Any, what: str) -> dict[str, Any]:
    """One for each group, from one for all or from a mapping. (Prescribed motions are a mapping by themselves.)"""
    if isinstance(given, Mapping) and (what != "prescribed" or all(isinstance(x, Mapping) for x in given.values())):
        for name in given:
            if name not in formation.groups:
                raise ValueError(
                    f"{what}: the formation has no group '{name}'; its groups are {', '.join(formation.groups)}."
                )
        return {g: given.get(g) for g in formation.groups}
    return dict.fromkeys(formation.groups, given)
