"""The environment of a formation, as each member feels it: surfaces are of members, by their own bodies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...environment import Environment
from ...environment.in_files import ENVIRONMENTS
from ...io.toml.source import Source
from ...kinematics import neutral
from ...model import Spacecraft, nearest
from ..parts.environment import EnvironmentTable, environment_of


def environments_of(
    source: Source, table: EnvironmentTable, crafts: Mapping[str, Spacecraft]
) -> dict[str, Environment | None]:
    """By member. A surface's body is "member/body", or "body" of every member that has one of that name. What is wrong
    goes to the source's report.
    """
    names = [name for name in ENVIRONMENTS if isinstance(getattr(getattr(table, name), "surface", None), list)]
    for name in names:
        for k, surface in enumerate(getattr(table, name).surface):
            if not any(_own(surface.body, member, craft) for member, craft in crafts.items()):
                known = [f"{member}/{body.name}" for member, craft in crafts.items() for body in craft.bodies]
                message = f"no member has a body '{surface.body}'."
                place = ("environment", name, "surface", k)
                source.error("no-such-body", place, message, nearest(surface.body, known), "body")
    if not names or source.report.errors:
        return dict.fromkeys(crafts, environment_of(source, table))
    return {
        member: environment_of(source, _felt(table, names, member, craft), at=(craft, neutral(craft)))
        for member, craft in crafts.items()
    }


def _own(body: str, member: str, craft: Spacecraft) -> str:
    """The body in the member's own names; empty if it is another's."""
    whose, _, own = body.rpartition("/")
    return own if whose in ("", member) and own in {one.name for one in craft.bodies} else ""


def _felt(table: EnvironmentTable, names: list[str], member: str, craft: Spacecraft) -> EnvironmentTable:
    changed: dict[str, Any] = {}
    for name in names:
        entry = getattr(table, name)
        own = [
            surface.model_copy(update={"body": body})
            for surface in entry.surface
            if (body := _own(surface.body, member, craft))
        ]
        changed[name] = entry.model_copy(update={"surface": own}) if own else None
    return table.model_copy(update=changed)
