"""limits = "note" or "stop": what happens where a joint goes beyond its limits of position, rate or effort."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ..._warned import warn_user
from ...algebra import Array
from ...io.toml.source import Source
from ...io.toml.tables import Table
from ...model import Spacecraft
from ...simulation import SimulationWarning, Trajectory
from ...simulation.limit_events import PREFIX, already_beyond, limit_events
from ...simulation.problem.events import When

Limits = Literal["note", "stop"]


class Limited(Table):
    """The key at the top of a file about the joints' limits."""

    limits: Limits = Field(
        default="note",
        description="Where a joint goes beyond its limits of position, rate or effort: a note, or the run fails.",
    )


def limits_met(source: Source, craft: Spacecraft, table: Limited, q: Array, v: Array) -> list[When]:
    """The events that end the run at a limit. A start beyond one goes to the source's report."""
    if table.limits == "note":
        return []
    for name in already_beyond(craft, q, v):
        source.error(
            "beyond-limits", (), f"the start is beyond the {name}.", 'Start within, or leave out "stop".', "limits"
        )
    return limit_events(craft)


def judge(trajectory: Trajectory, limits: Limits) -> None:
    """With "stop", a run that met a limit has failed, and says so."""
    if limits == "note":
        return
    found = [f"stopped at t = {e.t:.6g} s, at the {e.name}" for e in trajectory.events if e.name.startswith(PREFIX)]
    found += [f'{row}. With limits = "stop" that is a failure' for row in trajectory.saturation if not row.held]
    messages = tuple(f"{trajectory.craft.name}: {text}." for text in found)
    for message in messages:
        warn_user(message, SimulationWarning)
    trajectory.data.attrs["failures"] = (*trajectory.failures, *messages)
