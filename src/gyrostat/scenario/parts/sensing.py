"""[sensors]: what the law sees in place of the state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from ...algebra import Array
from ...control.estimators_in_files import ESTIMATORS
from ...control.sensors_in_files import SENSORS, Around, instruments
from ...io.toml.source import Source
from ...io.toml.units import Time
from ...model import Spacecraft
from ..entry_tables import entries_given, tables_by_name

NamedSensors: Any = tables_by_name(SENSORS, "NamedSensors", "Sensors by name.")


class SensorsTable(NamedSensors):
    """What the law sees in place of the state; what has no sensor is seen as it is."""

    period: Time | None = Field(default=None, description="Of the samples; a sampled law has its own.")


NamedEstimators: Any = tables_by_name(ESTIMATORS, "NamedEstimators", "Estimators by name.")


class EstimatorTable(NamedEstimators):
    """What makes of readings the state that the law sees."""


def estimated(
    source: Source, craft: Spacecraft, table: Any, q: Array, sensors: Any, options: Mapping[str, Any]
) -> dict[str, Any]:
    """The control of `options` with estimates in place of the state. What is wrong goes to the source's report."""
    given = {} if table is None else entries_given(ESTIMATORS, table)
    if not given:
        return {}
    law = options.get("control")
    if law is None or sensors is not None:
        found, hint = "it has instruments of its own.", "Leave [sensors] out."
        if law is None:
            found, hint = "no law flies on it.", "Add [control]."
        source.error("estimator", ("estimator",), found, hint)
        return {}
    try:
        (entry,) = given.values()
        return {"control": entry.build(craft, q).controller(law)}
    except (ValueError, TypeError) as error:
        source.error("estimator", ("estimator",), f"{error}".rstrip(".") + ".")
        return {}


def sensed(source: Source, craft: Spacecraft, table: Any, options: Mapping[str, Any], around: Around) -> dict[str, Any]:
    """The control of `options` with readings in place of the state. What is wrong goes to the source's report."""
    if table is None:
        return {}
    law = options.get("control")
    if law is None:
        source.error("sensors", ("sensors",), "nothing is controlled that could see them.", "Add [control].")
        return {}
    try:
        given = list(entries_given(SENSORS, table).values())
        return {"control": instruments(craft, given, around).controller(law, table.period, craft)}
    except (ValueError, TypeError, ImportError) as error:
        source.error("sensors", ("sensors",), f"{error}".rstrip(".") + ".")
        return {}
