"""What a campaign has found: outcomes of all runs, requirements judged, what drives them, the worst cases."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import __version__
from ..algebra import Array
from ..io.results_netcdf import Variable, netcdf_bytes
from ..io.writing import write_bytes
from ..model import nearest
from ..outcomes import Outcome
from .histories import write_histories
from .plan import Plan
from .requirements import Judged, Requirement, Verdict, judge
from .sensitivity import Driver, Index, drivers, indices
from .single import SinglePrecision, compared, is_single
from .statistics import Interval, quantile
from .store import Store
from .units_shown import Shown, shown_in

if TYPE_CHECKING:
    import xarray

    from ..simulation import Trajectory

INDEPENDENT = ("random", "saltelli")


@dataclass(frozen=True, eq=False)
class Campaign:
    """plan: what was run. store: where the blocks are. starts: those that are there. confidence: in place of the
    requirements' own where it was judged several times.
    """

    plan: Plan
    store: Store
    starts: Sequence[int]
    requirements: tuple[Requirement, ...] = ()
    confidences: tuple[float, ...] = field(default=())

    @cached_property
    def _outcomes(self) -> Array:
        """(runs, outcomes), block by block."""
        parts = [self.store.read(start).outcomes for start in self.starts]
        return np.concatenate(parts) if parts else np.zeros((0, len(self.plan.outcomes)))

    @cached_property
    def numbers(self) -> Array:
        """Of the runs that are there."""
        parts = [np.arange(start, self.store.have(start)) for start in self.starts]
        return np.concatenate(parts) if parts else np.zeros(0, dtype=int)

    @property
    def runs(self) -> int:
        return len(self.numbers)

    @property
    def complete(self) -> bool:
        """True if no run is missing."""
        return self.runs == self.plan.runs

    @property
    def outcomes(self) -> dict[str, Array]:
        """By name (runs,). Runs that failed have no numbers, times of what never happened are infinite."""
        return {one.name: self._outcomes[:, k] for k, one in enumerate(self.plan.outcomes)}

    @cached_property
    def values(self) -> dict[str, Array]:
        """Dispersed values, a column each: "link_3.mass", "base.com[0]" (runs,)."""
        parts = [self.store.read(start).values for start in self.starts]
        table = np.concatenate(parts) if parts else np.zeros((0, len(self.plan.value_names)))
        return {name: table[:, k] for k, name in enumerate(self.plan.value_names)}

    @cached_property
    def failures(self) -> dict[int, str]:
        """Why runs did not reach their end, by run."""
        return {k: why for start in self.starts for k, why in self.store.read(start).failures.items()}

    @cached_property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Of the requirements, in their order."""
        asked = self.confidences or tuple(one.confidence for one in self.requirements)
        return tuple(
            judge(one, self._independent(self._outcome(one.outcome)), confidence)
            for one, confidence in zip(self.requirements, asked, strict=True)
        )

    @cached_property
    def single_precision(self) -> tuple[SinglePrecision, ...]:
        """With precision="single": by how much the first block differs from the same in double, by outcome."""
        double = self.store.in_double if is_single(self.plan) else None
        if double is None or 0 not in self.starts:
            return ()
        single = self.store.read(0)
        return compared(self.plan, single, double, self.requirements) if double.stop == single.stop else ()

    @property
    def met(self) -> bool | None:
        """True if every requirement is, False if one is not, None if that is not known yet."""
        judged = {verdict.judged for verdict in self.verdicts}
        return False if Judged.not_met in judged else None if Judged.open in judged else True

    def shown(self, one: Outcome) -> Shown:
        """In which unit reports tell an outcome of the plan: that of its requirement, where it has one."""
        return shown_in(one, self.requirements)

    @property
    def told_precision(self) -> list[SinglePrecision]:
        """`single_precision` in the units that reports use."""
        units = {one.name: self.shown(one) for one in self.plan.outcomes}
        return [units[note.outcome].cost(note) for note in self.single_precision]

    def percentile(self, outcome: str, percent: float, confidence: float = 0.95) -> Interval:
        """With its confidence interval, which assumes no distribution. Runs that failed count as infinite."""
        self._must_be_independent("a confidence interval")
        values = self._independent(self._outcome(outcome))
        return quantile(np.where(np.isnan(values), math.inf, values), percent / 100.0, confidence)

    def worst(self, outcome: str, count: int = 5, *, smallest: bool | None = None) -> list[tuple[int, float]]:
        """Runs that failed, then those with the largest outcome (smallest: where a requirement asks for more than a
        limit): (run, value).
        """
        values = self._outcome(outcome)
        if smallest is None:
            smallest = any(one.outcome == outcome and not one.below for one in self.requirements)
        key = np.where(np.isnan(values), math.inf, -values if smallest else values)
        order = np.argsort(-key, kind="stable")[:count]
        return [(int(self.numbers[k]), float(values[k])) for k in order]

    def case(self, k: int, **changes: Any) -> Trajectory:
        """Run k alone with its histories, bit for bit as it was. changes: such as save_at=..."""
        return self.histories([k], **changes)

    def histories(self, runs: Iterable[int], **changes: Any) -> Trajectory:
        """These runs once more, with their histories, bit for bit as they were. `.data` is an xarray Dataset, `.save`
        writes NetCDF. changes: such as save_at=...
        """
        numbers = [int(k) for k in runs]
        self._must_be_runs(numbers)
        return self.plan.cases(numbers, **changes)

    def save_histories(
        self,
        path: str | Path,
        runs: Iterable[int] | None = None,
        *,
        block: int | None = None,
        resume: bool = False,
        progress: bool | None = None,
        **changes: Any,
    ) -> Path:
        """Histories of these runs (all, where none are named) into a Zarr store, for `xarray.open_zarr`: the runs once
        more, bit for bit, a block at a time. Needs the extra `zarr`.

        block: runs in a chunk, 256; so many are in memory together. resume: go on where it was interrupted. changes:
        such as save_at=... Runs that failed have NaN where they did not get, and the reason in `failure`.
        """
        numbers = [int(k) for k in (self.numbers if runs is None else runs)]
        self._must_be_runs(numbers)
        return write_histories(self, path, numbers, block=block, resume=resume, progress=progress, **changes)

    def drivers(self, outcome: str, count: int | None = None) -> list[Driver]:
        """Which dispersed value drives the outcome: Spearman's rank correlations, strongest first."""
        return drivers(self.values, self._outcome(outcome))[:count]

    def sobol_indices(self, outcome: str, confidence: float = 0.95) -> list[Index]:
        """Which share of the outcome's variance each dispersion has, alone and with others; sampling="saltelli"."""
        if self.plan.sampling != "saltelli" or not self.complete:
            raise ValueError('Sobol indices need a complete campaign with sampling="saltelli".')
        names = list(dict.fromkeys(name for name, _ in self.plan.columns))
        return indices(names, self._outcome(outcome), confidence)

    def dataset(self) -> xarray.Dataset:
        """Outcomes and dispersed values, by run."""
        import xarray

        units = {one.name: one.unit for one in self.plan.outcomes}
        variables = {name: ("run", x, {"units": units[name]}) for name, x in self.outcomes.items()}
        variables |= {name: ("run", x, {}) for name, x in self.values.items()}
        return xarray.Dataset(variables, coords={"run": self.numbers})

    def save(self, path: str | Path) -> Path:
        """Outcomes, dispersed values and reasons of failures, by run, as NetCDF: for `xarray.open_dataset`."""
        units = {one.name: one.unit for one in self.plan.outcomes}
        columns = {**self.outcomes, **self.values}
        variables = {name: Variable(("run",), x, {"units": units.get(name, "")}) for name, x in columns.items()}
        why = np.array([self.failures.get(int(k), "") for k in self.numbers], dtype=object)
        variables |= {"run": Variable(("run",), self.numbers), "failure": Variable(("run",), why)}
        about = {"gyrostat": __version__, "campaign": json.dumps(self.plan.manifest)}
        return write_bytes(path, netcdf_bytes(variables, about, about))

    def report(self, path: str | Path, **options: Any) -> Path:
        """A page: the answer, distributions, what drives them, bands over time, worst cases. options: title; command,
        that reruns case {k}; bands, how many runs are made once more for them; scene, a page to link to.
        """
        from ..view.campaign_report import write_campaign_report

        return write_campaign_report(self, path, **options)

    def scene(self, outcome: str, path: str | Path, count: int = 5, **options: Any) -> Path:
        """The animated 3-D page of the worst run by an outcome, the next ones faint beside it."""
        numbers = [k for k, _ in self.worst(outcome, count + len(self.failures)) if k not in self.failures][:count]
        runs = self.histories(numbers, progress=False)
        return runs.to_html(path, ghosts=range(1, len(numbers)), **options)

    def __str__(self) -> str:
        lines = [f"{self.plan.craft.name}: {self.runs} of {self.plan.runs} runs, {len(self.failures)} failed"]
        lines += [f"  {verdict}" for verdict in self.verdicts]
        lines += [f"  {note}" for note in self.told_precision]
        for one in self.plan.outcomes:
            shown = self.shown(one)
            x = shown.factor * self.outcomes[one.name]
            seen = x[np.isfinite(x)]
            if len(seen):
                low, middle, high = np.quantile(seen, (0.01, 0.5, 0.99))
                lines.append(
                    f"  {shown.title}: median {middle:.5g}, 1 to 99 % {low:.5g} to {high:.5g}, largest {seen.max():.5g}"
                )
        return "\n".join(lines)

    def _outcome(self, name: str) -> Array:
        if name not in self.outcomes:
            raise ValueError(f"there is no outcome '{name}'. {nearest(name, self.outcomes)}")
        return self.outcomes[name]

    def _must_be_runs(self, numbers: Sequence[int]) -> None:
        for k in numbers:
            if not 0 <= k < self.plan.runs:
                raise ValueError(f"there is no run {k}; they are 0 to {self.plan.runs - 1}.")
        if not numbers:
            raise ValueError("histories of no run; expected some of their numbers.")

    def _must_be_independent(self, what: str) -> None:
        if self.plan.sampling not in INDEPENDENT:
            raise ValueError(
                f'{what} needs independent runs, and sampling="{self.plan.sampling}" makes others: use "random".'
            )

    def _independent(self, values: Array) -> Array:
        """Of Saltelli's groups only the first two points are."""
        if self.plan.sampling != "saltelli":
            return values
        size = len(dict.fromkeys(name for name, _ in self.plan.columns)) + 2
        return values[self.numbers % size < 2]
