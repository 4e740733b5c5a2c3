"""Distributions that a scenario file can name: an entry each, whose fields are the keys of [[campaign.disperse]]."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ..io.bounded import read_file
from ..model import nearest
from ..model.entries import Positive, Registry, Values, key
from . import distributions as d

DISTRIBUTIONS = Registry("distributions", "distribution")
MOST_BYTES = 256 * 1024 * 1024  # of a table of values
SI = Callable[[Any], Any]  # what a file says, as numbers in the unit of the quantity


@dataclass(frozen=True, kw_only=True)
class Dispersed:
    """What every entry has."""

    what: str = key("What is dispersed, by name, as in gs.campaign; or a key of control, sensors or environment.")
    change: Literal["scaled", "added"] | None = key("The nominal value times, or plus, what is drawn.", None)

    def distribution(self, si: SI, folder: Path) -> d.Distribution:
        found = self.build(si, folder)
        return found if self.change is None else d.Changed(self.change, found)

    def build(self, si: SI, folder: Path) -> d.Distribution:
        raise NotImplementedError


@DISTRIBUTIONS.add("normal", "normal, with mean and standard deviation", "mean = 1.0\nsd = 0.1")
@dataclass(frozen=True, kw_only=True)
class NormalEntry(Dispersed):
    mean: Values = key("One number, or one per entry.")
    sd: Values = key("Standard deviation, likewise.")

    def build(self, si: SI, folder: Path) -> d.Distribution:
        return d.normal(si(self.mean), si(self.sd))


@DISTRIBUTIONS.add("truncated_normal", "normal, of which only what is between two limits may happen",
                   "mean = 1.0\nsd = 0.1\nlow = 0.8\nhigh = 1.1")  # fmt: skip
@dataclass(frozen=True, kw_only=True)
class TruncatedNormalEntry(Dispersed):
    mean: Values = key("Before it is cut.")
    sd: Values = key("Standard deviation, before it is cut.")
    low: Values = key("Lower limit.")
    high: Values = key("Upper limit.")

    def build(self, si: SI, folder: Path) -> d.Distribution:
        return d.truncated_normal(si(self.mean), si(self.sd), si(self.low), si(self.high))


@DISTRIBUTIONS.add("uniform", "anything between two limits, all equally likely", "low = 0.9\nhigh = 1.1")
@dataclass(frozen=True, kw_only=True)
class UniformEntry(Dispersed):
    low: Values = key("Lower limit.")
    high: Values = key("Upper limit.")

    def build(self, si: SI, folder: Path) -> d.Distribution:
        return d.uniform(si(self.low), si(self.high))


@DISTRIBUTIONS.add("log_normal", "positive: its logarithm is normal", "median = 1.0\nsd = 0.1")
@dataclass(frozen=True, kw_only=True)
class LogNormalEntry(Dispersed):
    median: Values = key("Half of all are below.")
    sd: Positive = key("Of the logarithm: 0.1 is about 10 %.")

    def build(self, si: SI, folder: Path) -> d.Distribution:
        return d.log_normal(si(self.median), self.sd)


@DISTRIBUTIONS.add("discrete", "one of several values", "values = [0.9, 1.0, 1.1]\nweights = [1, 2, 1]")
@dataclass(frozen=True, kw_only=True)
class DiscreteEntry(Dispersed):
    values: Values = key("Which.")
    weights: Values | None = key("How likely each is, relative to the others; all alike by default.", None)

    def build(self, si: SI, folder: Path) -> d.Distribution:
        shares = None if self.weights is None else [one.plain("weights") for one in self.weights]
        return d.discrete(si(self.values), shares)


@DISTRIBUTIONS.add("rows", "values from a table: run k takes row k", "rows = [0.9, 1.0, 1.1, 1.2]")
@dataclass(frozen=True, kw_only=True)
class RowsEntry(Dispersed):
    rows: Values | None = key("The table; or a file, in SI:", None)
    file: str | None = key("A CSV file beside the scenario, whose first line names its columns.", None)
    columns: list[str] = key("Of the file: the column of the value, or of each of its entries.", [])

    def __post_init__(self) -> None:
        if (self.rows is None) == (self.file is None):
            raise ValueError("give rows = [...], or file and columns")
        if (self.file is None) != (not self.columns):
            raise ValueError("file and columns go together")

    def build(self, si: SI, folder: Path) -> d.Distribution:
        return d.rows(si(self.rows) if self.file is None else _columns(folder, self.file, self.columns))


@DISTRIBUTIONS.add("attitude", "any attitude, all equally likely")
@dataclass(frozen=True, kw_only=True)
class AttitudeEntry(Dispersed):
    def build(self, si: SI, folder: Path) -> d.Distribution:
        return d.attitude()


@DISTRIBUTIONS.add("direction", "a vector in any direction, of a length or of any up to another", "length = 0.01")
@dataclass(frozen=True, kw_only=True)
class DirectionEntry(Dispersed):
    length: Values = key("Its length, or the least of it.")
    up_to: Values | None = key("The largest length; all between are equally likely.", None)

    def build(self, si: SI, folder: Path) -> d.Distribution:
        return d.direction(si(self.length) if self.up_to is None else d.uniform(si(self.length), si(self.up_to)))


@DISTRIBUTIONS.add("inertia", "an inertia about the nominal one, always that of a real body", "sd = 0.05")
@dataclass(frozen=True, kw_only=True)
class InertiaEntry(Dispersed):
    sd: Positive = key("By how much moments vary: 0.1 is about 10 %.")

    def build(self, si: SI, folder: Path) -> d.Distribution:
        return d.inertia(self.sd)


def _columns(folder: Path, file: str, columns: list[str]) -> Any:
    """(rows,) of one column, (rows, columns) of several."""
    path = folder / file
    if Path(file).is_absolute() or not path.resolve().is_relative_to(folder.resolve()):
        raise ValueError(f"file is '{file}'; expected a table beside the scenario, or in a folder there")
    if not path.is_file():
        raise ValueError(f"the file '{path.name}' does not exist beside the scenario")
    text = read_file(path, MOST_BYTES, "a table of values").decode("utf-8", errors="replace")
    lines = csv.reader(io.StringIO(text))
    names = [name.strip() for name in _cells(path, lines)]
    for name in columns:
        if name not in names:
            raise ValueError(f"'{path.name}' has no column '{name}'. {nearest(name, names)}".rstrip("."))
    places = [names.index(name) for name in columns]
    found = []
    while line := _cells(path, lines):
        try:
            found.append([float(line[k]) for k in places])
            if not np.isfinite(found[-1]).all():
                raise ValueError
        except (ValueError, IndexError):
            raise ValueError(
                f"'{path.name}', line {lines.line_num}: expected a number in each of {', '.join(columns)}"
            ) from None
    if not found:
        raise ValueError(f"'{path.name}' has no rows below its first line")
    table = np.array(found)
    return table[:, 0] if len(columns) == 1 else table


def _cells(path: Path, lines: Any) -> list[str]:
    """Of the next line that is not empty; none at the end."""
    try:
        return next((line for line in lines if line), [])
    except csv.Error as error:
        raise ValueError(f"'{path.name}', line {lines.line_num}: {error}") from None
