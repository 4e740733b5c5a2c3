"""[[require]]: what a run has to reach, judged by its outcomes, met or missed by a margin."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import Field, model_validator

from ...algebra import Array
from ...control.controller import call
from ...io.toml.source import Source
from ...io.toml.tables import Name, OneOf
from ...io.toml.units import AnyMeasure
from ...model import Spacecraft
from ...outcomes import Kept, Outcome, outcomes_given
from ...outcomes.tables import REDUCTIONS, SIGNAL_NAMES, outcome_from_table
from ...simulation.result.summary import REQUIREMENTS
from .signals import LOADS, SHOWN, arguments_given, arguments_of, demand_whose, in_si, in_units, own_signal, unit_of
from .user_code import Python, user_function

if TYPE_CHECKING:
    from ...simulation import Trajectory

JOINED = tuple(kept for kept in Kept if kept is not Kept.time_of)  # through phases


Arguments: Any = arguments_of((*SIGNAL_NAMES.values(), *REDUCTIONS.values()), "OutcomeArguments")


class RequireTable(Arguments):
    """A number of the whole run, and its limits."""

    name: Name
    outcome: Annotated[str, OneOf(REDUCTIONS)] = Field(description="What is kept of the signal over the run.")
    of: Annotated[str, OneOf(SIGNAL_NAMES)] | None = Field(default=None, description="Which signal.")
    python: Python = None
    at_most: AnyMeasure | None = Field(default=None, description='Such as "2 deg".')
    at_least: AnyMeasure | None = None

    @model_validator(mode="after")
    def _limited(self) -> RequireTable:
        if (self.of is None) == (self.python is None):
            raise ValueError('a requirement is of one signal: of = "body_rate", or python = "my.py:signal"')
        if self.at_most is None and self.at_least is None:
            raise ValueError('a requirement has a limit: at_most = "2 deg", at_least, or both')
        return self


@dataclass(frozen=True, eq=False)
class Require:
    """A requirement, in SI."""

    outcome: Outcome
    low: float
    high: float

    def judged(self, value: float) -> dict[str, Any]:
        """As the summary of a run tells it. What is no number was not reached."""
        unit, factor = SHOWN.get(self.outcome.unit, (self.outcome.unit, 1.0))
        margin = min(self.high - value, value - self.low)
        if math.isinf(self.low):
            limit = f"at most {factor * self.high:.4g}"
        elif math.isinf(self.high):
            limit = f"at least {factor * self.low:.4g}"
        else:
            limit = f"{factor * self.low:.4g} to {factor * self.high:.4g}"
        row: dict[str, Any] = {"name": self.outcome.name, "unit": unit, "limit": limit}
        return row | {"value": factor * value, "margin": factor * margin, "met": bool(margin >= 0.0)}


def requirements_of(
    source: Source, craft: Spacecraft, tables: Sequence[Any], q: Array, v: Array, *, phased: bool = False
) -> tuple[Require, ...]:
    """Of a file's [[require]]. What is wrong goes to the source's report."""
    found: list[Require] = []
    for k, table in enumerate(tables):
        place = ("require", k)
        if table.name in [one.outcome.name for one in found]:
            source.error("twice", place, f"two requirements are named '{table.name}'.", "Name each its own.", "name")
        try:
            own = None
            if table.python is not None:
                own = user_function(source, place, table.python)
                if own is None:
                    continue
            outcome = outcome_of(craft, table, q, v, own)
            if phased and outcome.kept not in JOINED:
                names = ", ".join(kept.name for kept in JOINED)
                raise ValueError(f"{table.outcome} is not known through phases; expected one of {names}")
            low, high = limits_of(table, outcome)
        except (ValueError, TypeError) as error:
            source.error("require", place, f"{error}".rstrip(".") + ".")
            continue
        found.append(Require(outcome, low, high))
    return tuple(found)


def limits_of(table: Any, outcome: Outcome) -> tuple[float, float]:
    """Lowest and largest, in SI."""
    low, high = (None if x is None else in_units(x, outcome.unit) for x in (table.at_least, table.at_most))
    return -math.inf if low is None else low, math.inf if high is None else high


def outcome_of(craft: Spacecraft, table: Any, q: Array, v: Array, own: Any = None) -> Outcome:
    """Of a table with its name, what is kept, and of which signal; own: the user's. Raises a ValueError if the craft
    has no such.
    """
    given = arguments_given(table, Arguments)
    if own is None:
        unit = unit_of(craft, table.of, given)
        maker = SIGNAL_NAMES[table.of]
        si = in_si(craft, table.of, given, unit or _plain_unit(maker, given))
        outcome = outcome_from_table({"outcome": table.outcome, "of": table.of, "name": table.name, **si})
        if unit and outcome.unit == "":
            outcome = replace(outcome, unit=unit)
        demand_whose(craft, table.of, maker, given)
    else:
        outcome = REDUCTIONS[table.outcome](own_signal(own, table.python), name=table.name, **given)
    loads = {name: np.zeros(craft.nv) for name in LOADS} | {"wrenches": np.zeros((craft.nbodies, 6))}
    call(outcome.function, (craft, 0.0, q, v), loads)
    return outcome


def _plain_unit(maker: Any, given: Mapping[str, Any]) -> str:
    """Of a signal whose unit is always the same."""
    known = {"attitude_error": "rad", "pointing_error": "rad", "body_rate": "rad/s", "wheel_speed": "rad/s"}
    return known.get(maker.__name__, "m" if maker.__name__ in ("distance", "clearance", "position_error") else "")


def asked(requirements: Sequence[Require], options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of `gs.simulate` with the outcomes that are required, beside others."""
    if not requirements:
        return {}
    others = {one.name: one for one in outcomes_given(options.get("outcomes"))}
    return {"outcomes": {**others, **{one.outcome.name: one.outcome for one in requirements}}}


def judge_run(trajectory: Trajectory, requirements: Sequence[Require], values: Mapping[str, Any]) -> None:
    """Written to the run's attributes, once it is not interrupted. A run that failed has met nothing."""
    if requirements and not trajectory.interrupted:
        whole = not trajectory.failures
        rows = [one.judged(float(values[one.outcome.name]) if whole else math.nan) for one in requirements]
        trajectory.data.attrs[REQUIREMENTS] = rows
