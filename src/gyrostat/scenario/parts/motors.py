"""[actuators], [stops]: what motors make of commands, and where joints end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from ...control.motors import Motors as JointMotors
from ...control.motors_in_files import MotorEntry
from ...control.passive import Actuators, Stops
from ...io.toml.source import Source
from ...io.toml.tables import Positive, Real, Table
from ...io.toml.units import Time
from ...model import Spacecraft, nearest
from ..entry_tables import made, table_of

MotorTable = table_of(MotorEntry)


class ActuatorTable(Table):
    """What every motor makes of its command."""

    saturate: bool = Actuators.saturate
    lag: Time = Actuators.lag
    rate: Positive | None = Field(default=None, description="Largest change of load, N m/s or N/s.")
    motor: list[MotorTable] = Field(  # type: ignore[valid-type]
        default_factory=list, description="Motors behind gears, whose torque falls with their speed."
    )


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
    if table.actuators is not None and table.actuators.model_fields_set != {"motor"}:
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


def driven_by_motors(source: Source, craft: Spacecraft, table: Motors, options: Mapping[str, Any]) -> dict[str, Any]:
    """The control of `options` as the motors of [[actuators.motor]] make it."""
    given = [] if table.actuators is None else table.actuators.motor
    law = options.get("control")
    if given and law is None:
        message = "motors act on what a control law asks for, and there is none."
        source.error("no-law", ("actuators", "motor", 0), message, "Add [control] or a [[torque]], or leave them out.")
    if not given or law is None:
        return {}
    names = [joint.name for joint in craft.joints]
    found: dict[str, Any] = {}
    for k, one in enumerate(given):
        entry = made(MotorEntry, one)
        if entry.joint not in names:
            hint = nearest(entry.joint, names)
            message = f"{craft.name} has no joint '{entry.joint}'."
            source.error("no-such-joint", ("actuators", "motor", k), message, hint, "joint")
        found[entry.joint] = entry.build()
    source.report.raise_errors()
    return {"control": JointMotors(found).driving(law)}
