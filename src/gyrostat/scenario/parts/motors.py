"""[actuators], [stops]: what motors make of commands, and where joints end."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from ...control.passive import Actuators, Stops
from ...io.toml.source import Source
from ...io.toml.tables import Positive, Real, Table
from ...io.toml.units import Time


class ActuatorTable(Table):
    """What every motor makes of its command."""

    saturate: bool = Actuators.saturate
    lag: Time = Actuators.lag
    rate: Positive | None = Field(default=None, description="Largest change of load, N m/s or N/s.")


class StopTable(Table):
    """Smooth end stops at the joints' limits."""

    stiffness: Positive = Stops.stiffness
    damping: Real = Stops.damping
    width: Positive = Stops.width


class Motors(Table):
    """The tables at the top of a file about its motors and stops."""

    actuators: ActuatorTable | None = None
    stops: StopTable | None = None


def motor_options(source: Source, table: Motors) -> dict[str, Any]:
    """As options of `gs.simulate`. What is wrong goes to the source's report."""
    options: dict[str, Any] = {}
    if table.actuators is not None:
        given = table.actuators
        try:
            options["actuators"] = Actuators(
                given.saturate, given.lag, Actuators.rate if given.rate is None else given.rate
            )
        except ValueError as error:
            source.error("actuators", ("actuators",), str(error))
    if table.stops is not None:
        options["stops"] = Stops(table.stops.stiffness, table.stops.damping, table.stops.width)
    return options
