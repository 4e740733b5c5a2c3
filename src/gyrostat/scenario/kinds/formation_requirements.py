"""[[require]] of a formation: what one member, two of them, or all together have to reach.

Judged by the saved states, and straight lines between them: the finer `save_every`, the sharper.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import Field

from ...algebra import Array
from ...control.controller import call
from ...io.toml.source import Source
from ...io.toml.tables import Name, OneOf
from ...model import Spacecraft, nearest
from ...outcomes import Kept, Outcome
from ...outcomes.outcome import Signal
from ...outcomes.tables import REDUCTIONS, SIGNAL_NAMES
from ...simulation import Trajectory
from ...tracing import compile
from ..parts.requirements import Arguments, Require, RequireTable, limits_of, outcome_of
from ..parts.signals import LOADS, arguments_given
from ..parts.user_code import user_function

if TYPE_CHECKING:
    from ...formation import FormationTrajectory

STATION = "station_error"  # a signal that only members with a [[station]] have
WHOLE = ("angular_momentum", "kinetic_energy", "control_effort")  # signals of all members together


class MemberRequireTable(RequireTable):
    """A number of the whole run, and its limits: of a member, in its own names; or of all, as "member/frame"."""

    of: Annotated[str, OneOf({**SIGNAL_NAMES, STATION: STATION})] | None = Field(
        default=None, description="Which signal; station_error: distance of a member from its [[station]]."
    )
    member: Name | None = Field(default=None, description="Whose; without it, frames of all members: near/grip.")


@dataclass(frozen=True, eq=False)
class MemberRequire:
    """A requirement in SI; member: whose names it speaks in, None for those of all. level: of a station's error."""

    asked: Require
    member: str | None
    station: bool = False
    level: float = 0.0


def member_requirements(
    source: Source,
    crafts: Mapping[str, Spacecraft],
    tree: Spacecraft,
    tables: Sequence[MemberRequireTable],
    stations: Sequence[str],
    states: Mapping[str | None, tuple[Array, Array]],
) -> tuple[MemberRequire, ...]:
    """Of a file's [[require]]. states: q and v of each member and, under None, of the tree. What is wrong goes to the
    source's report.
    """
    found: list[MemberRequire] = []
    for k, table in enumerate(tables):
        place = ("require", k)
        if table.name in [one.asked.outcome.name for one in found]:
            source.error("twice", place, f"two requirements are named '{table.name}'.", "Name each its own.", "name")
        if table.member is not None and table.member not in crafts:
            message = f"there is no member '{table.member}'."
            source.error("no-such-member", place, message, nearest(table.member, crafts), "member")
            continue
        try:
            own = None if table.python is None else user_function(source, place, table.python)
            if table.python is not None and own is None:
                continue
            craft = tree if table.member is None else crafts[table.member]
            found.append(_made(craft, table, states[table.member], stations, own))
        except (ValueError, TypeError) as error:
            source.error("require", place, f"{error}".rstrip(".") + ".")
    return tuple(found)


def _made(
    craft: Spacecraft, table: MemberRequireTable, state: tuple[Array, Array], stations: Sequence[str], own: Any
) -> MemberRequire:
    if table.of == STATION:
        if table.member not in stations:
            raise ValueError(
                f"{STATION} is of a member that keeps a [[station]]: member = {' or '.join(stations) or '?'}"
            )
        given = arguments_given(table, Arguments)
        error = Signal(lambda craft, t, q, v: 0.0 * t, STATION, "m")
        outcome = REDUCTIONS[table.outcome](error, name=table.name, **given)
        level = float(next((given[key] for key in ("level", "below", "above") if key in given), 0.0))
        return MemberRequire(Require(outcome, *limits_of(table, outcome)), table.member, True, level)
    if table.of is not None and table.member is None and table.of not in WHOLE:
        keys = inspect.signature(SIGNAL_NAMES[table.of]).parameters
        if not any(getattr(table, key) is not None for key in keys if key in ("frame", "first", "joint", "wheel")):
            raise ValueError(f"{table.of}: here are several spacecraft; say whose: member =")
    outcome = outcome_of(craft, table, *state, own)
    asks = [name for name in LOADS if name in inspect.signature(outcome.function).parameters]
    if set(asks) - {"command"}:
        raise ValueError(f"{table.python or table.of} asks for {asks[0]}; in a formation, signals see command alone")
    return MemberRequire(Require(outcome, *limits_of(table, outcome)), table.member)


def judge_members(
    run: FormationTrajectory,
    tree: Trajectory,
    requirements: Sequence[MemberRequire],
    station_errors: Mapping[str, Array],
) -> list[dict[str, Any]]:
    """Rows as the summary of a run tells them. A run that failed has met nothing."""
    rows = []
    for one in requirements:
        value = math.nan
        if not tree.failures:
            if one.station:
                values = station_errors[str(one.member)] - one.level
            elif one.member is None:
                values = _along(tree, one.asked.outcome.function)
            else:
                values = _along(run.groups[one.member], one.asked.outcome.function)[0]
            value = reduced(one.asked.outcome, run.time, values)
        rows.append(one.asked.judged(value))
    return rows


def _along(trajectory: Trajectory, function: Callable[..., Any]) -> Array:
    """At every saved state."""
    if "command" not in inspect.signature(function).parameters:
        return trajectory.signal(function)

    def at_state(craft: Spacecraft, q: Array, v: Array, t: Any, command: Array) -> Any:
        return call(function, (craft, t, q, v), {"command": command})

    kernel = compile(at_state, trajectory.craft, inputs={"command": (trajectory.craft.nv,)})
    t = np.broadcast_to(trajectory.time, trajectory.q.shape[:-1])
    return np.asarray(kernel(trajectory.q, trajectory.v, t, trajectory.signals["command"].values))


def reduced(outcome: Outcome, time: Array, values: Array) -> float:
    """What is kept of values at times, with straight lines between them. Those about levels: of the signal minus it."""
    kept, span = outcome.kept, float(time[-1] - time[0])
    if not np.isfinite(values).all():
        return math.nan
    if kept in (Kept.last, Kept.largest, Kept.smallest):
        return float({Kept.last: values[-1], Kept.largest: values.max(), Kept.smallest: values.min()}[kept])
    a, b, step = values[:-1], values[1:], np.diff(time)
    if kept in (Kept.integral, Kept.mean):
        whole = float((0.5 * (a + b) * step).sum())
        return whole if kept is Kept.integral else whole / span
    with np.errstate(divide="ignore", invalid="ignore"):
        part = a / (a - b)  # of each step that passes the level, up to it
    if kept is Kept.time_in:
        above = np.where(a * b < 0, np.where(a > 0, part, 1 - part), (np.maximum(a, b) > 0).astype(float))
        return float((above * step).sum())
    passes = (a * b < 0) | ((b == 0) & (a != 0))
    if kept is Kept.settling_time:
        if values[-1] > 0:
            return math.inf
        falls = np.flatnonzero(passes & (a > 0))
        return float(time[falls[-1]] + part[falls[-1]] * step[falls[-1]]) if len(falls) else float(time[0])
    passes &= (outcome.direction == 0) | (np.sign(b - a) == outcome.direction)
    first = np.flatnonzero(passes)
    return float(time[first[0]] + part[first[0]] * step[first[0]]) if len(first) else math.inf
