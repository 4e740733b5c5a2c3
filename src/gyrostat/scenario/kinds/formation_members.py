"""What each member of a formation does by itself: its law, sensors, motors and events, by group."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ...algebra import Array
from ...environment import Environment
from ...io.toml.source import Source
from ...model import Spacecraft
from ..parts.acting import own_options
from ..parts.environment import EnvironmentTable
from ..parts.events import events_of
from ..parts.motors import driven_by_motors, motor_options
from .formation_tables import MemberTable


def members_doing(
    source: Source,
    crafts: Mapping[str, Spacecraft],
    state: Mapping[str, tuple[Array, Array]],
    members: Sequence[MemberTable],
    stations: Collection[str],
    felt: Mapping[str, Environment | None],
    duration: float,
    around: EnvironmentTable,
) -> dict[str, Any]:
    """As options of a formation's run, {option: {member: ...}}. What is wrong goes to the source's report."""
    found: dict[str, dict[str, Any]] = {}
    breaks: set[float] = set()
    for k, table in enumerate(members):
        at, craft = source.inside("member", k), crafts[table.name]
        q, v = (x[0] for x in state[table.name])
        options = motor_options(at, table)
        options |= own_options(at, craft, table, q, v, (0.0, duration), felt[table.name], around).options
        if table.name in stations and "control" in options:
            message = f"'{table.name}' keeps a station, and has a law or loads of its own."
            at.error("twice", (), message, "Keep one of them: [[station]], or what the member does.")
        if table.name not in stations or table.actuators is None or not table.actuators.motor:
            options |= driven_by_motors(at, craft, table, options)
        else:
            message = "motors are those of a member's own law; a station has none."
            at.error("motors", ("actuators",), message, "Leave them out.", "motor")
        events = events_of(at, craft, table.event, q, v)
        breaks |= set(options.pop("breakpoints", ()))
        for name, value in {**options, **({"events": events} if events else {})}.items():
            found.setdefault(name, {})[table.name] = value
    return {**found, **({"breakpoints": sorted(breaks)} if breaks else {})}
