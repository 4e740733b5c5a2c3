"""[campaign]: what is dispersed over many runs of the file, what is asked of each, and what is required of all."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union

from pydantic import Discriminator, Field, Tag

from ...campaigns import Campaign, correlated, requirement_from_text
from ...campaigns.belief import KNOWN
from ...campaigns.in_files import DISTRIBUTIONS
from ...campaigns.plan import Plan, plan_of
from ...campaigns.requirements import Requirement
from ...campaigns.running import BLOCK, run_plan
from ...campaigns.sampling import SAMPLINGS
from ...campaigns.targets import target
from ...io.toml.source import Source
from ...io.toml.tables import Name, OneOf, Real, Table
from ...model import nearest
from ...outcomes import Outcome
from ...outcomes.tables import REDUCTIONS, SIGNAL_NAMES
from ..entry_tables import entry_table, made
from .dispersed_values import in_si
from .requirements import Arguments, Require, outcome_of
from .settings import Alike, Made, asked_as, is_setting

if TYPE_CHECKING:
    from ..scenario import Scenario

OUTSIDE = ("runs", "requirements", "stop_when", "block")  # keys that leave every run as it is


def _chosen(given: Any) -> str:
    """Which table a [[campaign.disperse]] is: the first where it says nothing, or nothing known."""
    name = given.get("distribution") if isinstance(given, dict) else getattr(given, "distribution", None)
    known = DISTRIBUTIONS[name] if isinstance(name, str) and name in DISTRIBUTIONS else _UNKNOWN
    return known.__name__ if isinstance(known, type) else entry_table(DISTRIBUTIONS, known).__name__


class Unknown(Table):
    """A dispersion whose distribution is none of those there are."""

    distribution: Annotated[str, OneOf(DISTRIBUTIONS)] = Field(description="Which distribution.")
    what: Name


_UNKNOWN = Unknown
_TABLES: tuple[type[Table], ...] = (Unknown, *(entry_table(DISTRIBUTIONS, entry) for entry in DISTRIBUTIONS.values()))
AnyDistribution: Any = Annotated[
    Union[tuple(Annotated[table, Tag(table.__name__)] for table in _TABLES)],  # noqa: UP007
    Discriminator(_chosen),
]


class OutcomeTable(Arguments):
    """A number of each run."""

    name: Name
    outcome: Annotated[str, OneOf(REDUCTIONS)] = Field(description="What is kept of the signal over the run.")
    of: Annotated[str, OneOf(SIGNAL_NAMES)] = Field(description="Which signal.")


class CorrelateTable(Table):
    """Dispersions of one number each that go together."""

    what: list[Name] = Field(min_length=2, description="Which, by name; each is dispersed by a table of its own.")
    correlation: list[list[Real]] = Field(description="Of the normal numbers behind them: a row for each.")


class CampaignTable(Table):
    """Many dispersed runs of this file: `gyrostat sweep`."""

    runs: Annotated[int, Field(gt=0)] = Field(description="How many.")
    seed: Annotated[int, Field(ge=0)] = Field(default=0, description="Run k depends on it and on k, on nothing else.")
    sampling: Annotated[str, OneOf(SAMPLINGS)] = Field(default="random", description="How runs are spread.")
    block: Annotated[int, Field(gt=0)] = Field(default=BLOCK, description="Runs that are made and kept together.")
    law_knows: Annotated[str, OneOf(KNOWN)] = Field(
        default="nominal", description="Which craft a control law is given, where the model is dispersed."
    )
    stop_when: Literal["decided"] | None = Field(
        default=None, description="End when every requirement is met, or one is not."
    )
    requirements: list[str] = Field(
        default_factory=list, description='As in "spin < 1 deg/s in 99 % of runs, with 95 % confidence".'
    )
    outcome: list[OutcomeTable] = Field(
        default_factory=list, description="What is kept of each run, besides what [[require]] asks for."
    )
    disperse: list[AnyDistribution] = Field(default_factory=list, description="What differs from run to run.")
    correlate: list[CorrelateTable] = Field(default_factory=list, description="Dispersions that go together.")


@dataclass(frozen=True, eq=False)
class Sweep:
    """The campaign of a file. dispersions, outcomes, options: as in `gs.campaign`."""

    table: CampaignTable
    dispersions: Mapping[Any, Any]
    outcomes: tuple[Outcome, ...]
    requirements: tuple[Requirement, ...]
    options: Mapping[str, Any]
    settings: Mapping[str, str]
    alike: Alike | None = None

    def plan(self, scenario: Scenario, runs: int | None = None, seed: int | None = None) -> Plan:
        return plan_of(
            scenario,
            self.dispersions,
            self.table.runs if runs is None else runs,
            seed=self.table.seed if seed is None else seed,
            sampling=self.table.sampling,
            outcomes=self.outcomes,
            options={name: x for name, x in self.options.items() if name not in ("save_at", "seed")},
            law_knows=self.table.law_knows,
            settings=self.settings,
            alike=self.alike,
            text=_what_runs_are(scenario.text),
        )

    def run(self, scenario: Scenario, *, runs: int | None = None, seed: int | None = None, **how: Any) -> Campaign:
        """how: store, resume, shard, executor, progress, as in `gs.campaign`."""
        given: dict[str, Any] = {"stop_when": self.table.stop_when, "block": self.table.block, **how}
        if how.get("shard") is not None:
            given["stop_when"] = None  # a part decides nothing
        return run_plan(self.plan(scenario, runs, seed), requirements=self.requirements, **given)


def _what_runs_are(text: str) -> str:
    """The file without what leaves every run as it is: comments, how many runs, what is required of them."""
    tables = tomllib.loads(text)
    tables["campaign"] = {key: x for key, x in tables["campaign"].items() if key not in OUTSIDE}
    return json.dumps({key: x for key, x in tables.items() if key not in ("name", "outputs")}, sort_keys=True)


def sweep_of(
    source: Source, made_by: Made, table: CampaignTable | None, path: Path, needs: Sequence[Require],
    options: Mapping[str, Any],
) -> Sweep | None:  # fmt: skip
    """Of a file's [campaign]. What is wrong goes to the source's report."""
    if table is None:
        return None
    outcomes = _outcomes(source, made_by, table, needs)
    names = [one.name for one in outcomes]
    requirements = _requirements(source, table, names)
    settings = [one.what for one in table.disperse if is_setting(one.what)]
    varied: dict[str, Any] = {}
    dispersions: dict[Any, Any] = {}
    for k, one in enumerate(table.disperse):
        place = ("campaign", "disperse", k)
        try:
            if is_setting(one.what):
                made_by.dispersed([one.what])
            entry = made(DISTRIBUTIONS[one.distribution].kind, one)
            si = in_si(made_by, one.what, one.change)
            if one.what in dispersions:
                raise ValueError("is dispersed twice")
            dispersions[one.what] = entry.distribution(si, path.parent)
            _must_suit(made_by, one.what, dispersions[one.what], table.runs)
        except (ValueError, TypeError) as error:
            source.error("disperse", place, f"{one.what}: {error}".rstrip(".") + ".")
    if not outcomes:
        message = "nothing is asked of the runs."
        source.error("no-outcome", ("campaign",), message, "Add a [[campaign.outcome]] or a [[require]].")
    source.report.raise_errors()
    if settings:
        varied = made_by.dispersed(settings)
    sweep = Sweep(
        table,
        _correlated(source, table, dispersions),
        outcomes,
        requirements,
        {**options, **varied},
        {name: asked_as(name) for name in settings},
        Alike(made_by, tuple(settings)) if settings else None,
    )
    source.report.raise_errors()
    return sweep


def _must_suit(made_by: Made, what: str, how: Any, runs: int) -> None:
    """Raises a ValueError if there is no such quantity, or if it is of another shape."""
    if what.startswith("input:"):
        raise ValueError("laws of a file ask for no inputs; a key of it is dispersed by its name, 'control.bandwidth'")
    settings = {what: asked_as(what)} if is_setting(what) else {}
    inputs = {asked_as(what): made_by.nominal(what)} if settings else {}
    target(what, made_by.craft, made_by.q, made_by.v, inputs, settings).check(how, runs)


def _outcomes(source: Source, made_by: Made, table: CampaignTable, needs: Sequence[Require]) -> tuple[Outcome, ...]:
    found = [one.outcome for one in needs]
    for k, one in enumerate(table.outcome):
        place = ("campaign", "outcome", k)
        if one.name in [other.name for other in found]:
            source.error("twice", place, f"two outcomes are named '{one.name}'.", "Name each its own.", "name")
            continue
        try:
            found.append(outcome_of(made_by.craft, one, made_by.q, made_by.v))
        except (ValueError, TypeError) as error:
            source.error("outcome", place, f"{error}".rstrip(".") + ".")
    return tuple(found)


def _requirements(source: Source, table: CampaignTable, names: Sequence[str]) -> tuple[Requirement, ...]:
    found = []
    for text in table.requirements:
        try:
            one = requirement_from_text(text)
        except ValueError as error:
            source.error("requirement", ("campaign",), str(error), "", "requirements")
            continue
        if one.outcome not in names:
            message = f"'{text}': there is no outcome '{one.outcome}'."
            source.error("no-such-outcome", ("campaign",), message, nearest(one.outcome, names), "requirements")
        found.append(one)
    return tuple(found)


def _correlated(source: Source, table: CampaignTable, single: Mapping[str, Any]) -> dict[Any, Any]:
    found: dict[Any, Any] = dict(single)
    for k, one in enumerate(table.correlate):
        missing = [name for name in one.what if name not in found]
        try:
            if missing:
                raise ValueError(f"'{missing[0]}' is not dispersed, or in another set. {nearest(missing[0], single)}")
            found[tuple(one.what)] = correlated([found.pop(name) for name in one.what], one.correlation)
        except ValueError as error:
            source.error("correlate", ("campaign", "correlate", k), f"{error}".rstrip(".") + ".")
    return found
