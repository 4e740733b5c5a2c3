"""Scenarios of one spacecraft."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from ...io.toml.source import Source
from ...model.names import name_of
from ..parts.acting import acting_options
from ..parts.campaign import CampaignTable, sweep_of
from ..parts.craft import spacecraft_of
from ..parts.flight import Flight, happening
from ..parts.requirements import requirements_of
from ..parts.run import Run
from ..parts.settings import Made
from ..parts.start import initial_state
from ..scenario import Scenario
from .kind import Kind


class ScenarioTable(Flight):
    """A gyrostat scenario: a spacecraft, where it starts, what it does, and how it is integrated."""

    run: Run
    campaign: CampaignTable | None = Field(default=None, description="Many dispersed runs: `gyrostat sweep`.")


def one_scenario(source: Source, table: ScenarioTable, path: Path) -> Scenario:
    """The scenario of a file. What is wrong goes to the source's report."""
    craft = spacecraft_of(source, table.spacecraft, path, base=table.base)
    q, v = initial_state(source, craft, table.start)
    duration = table.run.duration
    options = table.run.options(source, duration) | acting_options(source, craft, table, q, v, duration)
    options |= happening(source, craft, table, q, v)
    needs = requirements_of(source, craft, table.require, q, v)
    name, outputs = table.name or name_of(path), tuple(table.outputs)
    made_by = Made(source.text, ScenarioTable, craft, q, v, duration)
    sweep = sweep_of(source, made_by, table.campaign, path, needs, options)
    return Scenario(name, craft, q, v, duration, options, outputs, source.text, path, table.limits, needs, sweep)


ONE = Kind("a scenario of one spacecraft", ScenarioTable, one_scenario)
