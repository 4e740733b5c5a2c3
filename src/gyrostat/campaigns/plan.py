"""What a campaign runs: a spacecraft and its options, what is dispersed and how, and what is asked of each run."""

from __future__ import annotations

import hashlib
import inspect
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__
from ..algebra import Array
from ..algebra.reals import reals
from ..io.toml.craft_writer import to_toml
from ..kinematics import neutral
from ..model import Spacecraft, nearest
from ..model.dispersion import ValueCheck
from ..outcomes import Outcome, outcomes_given
from ..simulation import SimulationWarning, Trajectory
from ..simulation.prepare import prepare
from ..simulation.problem.request import MAX_STEPS, Request
from ..simulation.simulate_craft import simulate
from .belief import believing, must_be_known
from .distributions import Correlated, Distribution
from .sampling import Column, must_be_sampling, uniforms
from .targets import Target, target

OWN = ("q0", "v0", "t_span", "resume", "sensitivities", "runs", "outcomes", "progress", "seed", "save_at", "craft")
ALIKE = 16  # runs that are all refused at their start: so is the campaign


@dataclass(frozen=True, eq=False)
class Block:
    """Runs start to stop: outcomes (runs, outcomes), dispersed values (runs, columns), why those failed that did."""

    start: int
    stop: int
    outcomes: Array
    values: Array
    failures: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Plan:
    """Picklable where its functions are: any process can make any block of it, to the same bits."""

    craft: Spacecraft
    q0: Array
    v0: Array
    t_span: tuple[float, float]
    options: Mapping[str, Any]
    dispersions: Mapping[tuple[str, ...], Distribution | Correlated]
    outcomes: tuple[Outcome, ...]
    runs: int
    seed: int
    sampling: str
    text: str = ""  # of the scenario file
    law_knows: str = "nominal"
    settings: Mapping[str, str] = field(default_factory=dict)  # keys of the file, by the inputs that stand for them
    alike: Any = None  # tells which values of these keys make the law another way (`others`)

    @cached_property
    def nominal(self) -> Spacecraft:
        """With what `parameters=` says of all runs."""
        given = self.options.get("parameters")
        return self.craft.with_values(given) if given else self.craft

    @cached_property
    def targets(self) -> dict[str, Target]:
        inputs = self.options.get("inputs") or {}
        given = (self.nominal, self.q0, self.v0, inputs, self.settings)
        return {name: target(name, *given) for names in self.dispersions for name in names}

    @cached_property
    def control(self) -> Any:
        """The law, with what it believes."""
        law = self.options.get("control")
        dispersed = any(one.kind == "parameter" for one in self.targets.values())
        return believing(law, self.nominal) if law is not None and dispersed and self.law_knows == "nominal" else law

    @cached_property
    def _physical(self) -> ValueCheck:
        names = [name for name, one in self.targets.items() if one.kind == "parameter"]
        return ValueCheck(self.craft, names)

    @cached_property
    def columns(self) -> list[Column]:
        """Of uniform numbers."""
        found: list[Column] = []
        for names, how in self.dispersions.items():
            if isinstance(how, Correlated):
                found += [(" ".join(names), i) for i in range(len(names))]
            else:
                count = how.columns(self.targets[names[0]].shape_of(how))
                found += [(names[0], i) for i in range(count)]
        return found

    @cached_property
    def value_names(self) -> list[str]:
        """Of the columns of dispersed values: "link_3.mass", "base.com[0]"."""
        found = []
        for name, one in self.targets.items():
            places = [""] if not one.shape else [f"[{','.join(map(str, at))}]" for at in np.ndindex(*one.shape)]
            found += [name + place for place in places]
        return found

    def check(self) -> Plan:
        """Raises what a user has to mend, before anything is run."""
        must_be_sampling(self.sampling)
        for names, how in self.dispersions.items():
            if isinstance(how, Correlated) != (len(names) > 1) or (
                isinstance(how, Correlated) and len(names) != len(how.parts)
            ):
                raise ValueError(f"dispersions: {names} need correlated([...], ...) with one distribution each.")
            parts = how.parts if isinstance(how, Correlated) else (how,)
            for name, part in zip(names, parts, strict=True):
                one = self.targets[name]
                if isinstance(how, Correlated) and (one.shape or part.columns(()) != 1):
                    raise ValueError(f"dispersions: '{name}' in a correlated set: expected one number, drawn from one.")
                one.check(part, self.runs)
        self.values(0, 1)
        return self

    def uniforms(self, start: int, stop: int) -> Array:
        return uniforms(self.sampling, self.seed, self.columns, start, stop, self.runs)

    def values(self, start: int, stop: int, u: Array | None = None) -> dict[str, Array]:
        """What runs start to stop have of their own, by name (n, *shape). u: uniform numbers in place of the plan's."""
        u = self.uniforms(start, stop) if u is None else u
        runs = np.arange(start, stop)
        found, at = {}, 0
        for names, how in self.dispersions.items():
            if isinstance(how, Correlated):
                own = how.mixed(u[:, at : at + len(names)])
                for i, (name, part) in enumerate(zip(names, how.parts, strict=True)):
                    found[name] = self.targets[name].values(part, own[:, i : i + 1], runs)
                at += len(names)
            else:
                one = self.targets[names[0]]
                count = how.columns(one.shape_of(how))
                found[names[0]] = one.values(how, u[:, at : at + count], runs)
                at += count
        return found

    def block(self, start: int, stop: int) -> Block:
        """Runs start to stop, reduced."""
        values = self.values(start, stop)
        found, failures = self.reduced(np.arange(start, stop), values)
        flat = [x.reshape(stop - start, -1) for x in values.values()]
        table = np.hstack(flat) if flat else np.zeros((stop - start, 0))
        return Block(start, stop, found, table, {start + k: why for k, why in failures.items()})

    def reduced(self, numbers: Array, values: Mapping[str, Array]) -> tuple[Array, dict[int, str]]:
        """Outcomes (n, outcomes) of runs with these numbers, and why those failed that did, by row."""
        found = np.full((len(numbers), len(self.outcomes)), np.nan)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            end = {"save_at": [self.t_span[1]], "progress": False}
            trajectory, rows, failures = self.flown(numbers, values, end)
        if trajectory is None:
            return found, failures
        broken = {int(rows[k]): why for k, why in self.failures_of(trajectory).items()}
        for one in caught:
            if not (broken and issubclass(one.category, SimulationWarning)):
                warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
        found[rows] = np.stack([trajectory.outcomes[one.name] for one in self.outcomes], axis=1)
        found[list(broken)] = np.nan
        return found, dict(sorted({**failures, **broken}.items()))

    def flown(
        self, numbers: Array, values: Mapping[str, Array], changes: Mapping[str, Any]
    ) -> tuple[Trajectory | None, Array, dict[int, str]]:
        """The runs that can begin, as one batch; their rows; and why the others cannot, by row."""
        failures = self.impossible(values, len(numbers))
        rows = np.array([k for k in range(len(numbers)) if k not in failures], dtype=int)
        try:
            return self._flown(rows, numbers, values, changes), rows, failures
        except ValueError:
            others = self._without_start(rows, numbers, values)
            if not others:
                raise
        failures |= others
        rows = np.array([k for k in rows if k not in others], dtype=int)
        return self._flown(rows, numbers, values, changes), rows, failures

    def _flown(
        self, rows: Array, numbers: Array, values: Mapping[str, Array], changes: Mapping[str, Any]
    ) -> Trajectory | None:
        if not len(rows):
            return None
        return self.simulated(numbers[rows], {name: x[rows] for name, x in values.items()}, changes)

    def _without_start(self, rows: Array, numbers: Array, values: Mapping[str, Array]) -> dict[int, str]:
        """Runs that are refused where they would begin: below the ground, with a loop that is open. None where all of
        the first are: then it is no matter of what is dispersed, and is raised.
        """
        found: dict[int, str] = {}
        for tried, k in enumerate(rows):
            try:
                prepare(Request(**self.given(numbers[[k]], {name: x[[k]] for name, x in values.items()}, {})))
            except ValueError as error:
                found[int(k)] = str(error)
            if len(found) == tried + 1 == ALIKE:
                return {}
        return {} if len(found) == len(rows) and numbers[0] == 0 else found

    def impossible(self, values: Mapping[str, Array], count: int) -> dict[int, str]:
        """Rows whose masses, inertias or geometry no spacecraft has, or whose numbers no law is made of, and why."""
        return self._of_no_craft(values, count) | ({} if self.alike is None else self.alike.others(values))

    def _of_no_craft(self, values: Mapping[str, Array], count: int) -> dict[int, str]:
        own = {name: values[name] for name in self._physical.names}
        if not own:
            return {}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # said when they are simulated
                self._physical(own)
        except ValueError:
            pass
        else:
            return {}
        return {k: why for k in range(count) if (why := self._why_impossible({n: x[k] for n, x in own.items()}))}

    def _why_impossible(self, own: Mapping[str, Array]) -> str:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._physical(own)
        except ValueError as error:
            return str(error)
        return ""

    def cases(self, numbers: Sequence[int], **changes: Any) -> Trajectory:
        """These runs as one batch: bit for bit as in the campaign, with their histories."""
        values = self.values_of(numbers)
        for k, why in self.impossible(values, len(numbers)).items():
            raise ValueError(f"run {numbers[k]} cannot be flown: {why}")
        return self.simulated(np.array(numbers), values, changes)

    def values_of(self, numbers: Sequence[int]) -> dict[str, Array]:
        """What these runs have of their own, by name (n, *shape)."""
        parts = [self.values(k, k + 1) for k in numbers]
        return {name: np.concatenate([part[name] for part in parts]) for name in self.targets}

    def simulated(self, numbers: Array, values: Mapping[str, Array], changes: Mapping[str, Any]) -> Trajectory:
        """Runs of these numbers and values as one batch. changes: of the options."""
        return simulate(**self.given(numbers, values, changes))

    def given(self, numbers: Array, values: Mapping[str, Array], changes: Mapping[str, Any]) -> dict[str, Any]:
        """What `gs.simulate` is given for them."""
        count = len(numbers)
        q, v = np.tile(self.q0, (count, 1)), np.tile(self.v0, (count, 1))
        inputs = {name: np.asarray(x)[None] for name, x in (self.options.get("inputs") or {}).items()}
        parameters = dict(self.options.get("parameters") or {})
        for name, x in values.items():
            one = self.targets[name]
            if one.kind == "parameter":
                parameters[name] = x
            elif one.kind == "input":
                inputs[one.asked] = x
            else:
                (q if one.kind in ("q0", "attitude", "position") else v)[:, one.at] = x.reshape(count, -1)
        own = {"control": self.control, "inputs": inputs or None, "parameters": parameters or None}
        whole = {"craft": self.craft, "q0": q, "v0": v, "t_span": self.t_span, "outcomes": self.outcomes}
        return {**whole, "runs": numbers, "seed": self.seed, **self.options, **own, **changes}

    def failures_of(self, trajectory: Trajectory) -> dict[int, str]:
        """By row. Raises KeyboardInterrupt where somebody wants it to end."""
        most = int(self.options.get("max_steps", MAX_STEPS))
        found = {}
        for k, status in enumerate(trajectory.status):
            if status in ("done", "stopped"):
                continue
            when = f"at t = {float(np.ravel(trajectory.t_end)[k]):.6g} s"
            if status == "running":
                if int(trajectory.state.steps[k] + trajectory.state.rejections[k]) < most:
                    raise KeyboardInterrupt
                found[k] = f"not at its end after {most} steps, {when}"
            else:
                found[k] = f"{status.replace('_', ' ')} {when}"
        return found

    @cached_property
    def in_double(self) -> Plan:
        """The same runs in double precision."""
        return replace(self, options={name: x for name, x in self.options.items() if name != "precision"})

    @property
    def manifest(self) -> dict[str, Any]:
        """What a store holds of it, to be compared; functions are compared by what they do, see `Store`."""
        plain = {name: repr(x) for name, x in sorted(self.options.items()) if not callable(x) and x is not None}
        craft = hashlib.sha256(to_toml(self.craft, Path()).encode()).hexdigest()
        return {
            "gyrostat": __version__,
            "craft": f"{self.craft.name} {craft[:16]}",
            "state at the start": hashlib.sha256(np.concatenate([self.q0, self.v0]).tobytes()).hexdigest()[:16],
            "time": list(self.t_span),
            "seed": str(self.seed),
            "sampling": self.sampling,
            "runs": self.runs if self.sampling == "latin" else None,  # otherwise a campaign may be made longer
            "dispersions": {", ".join(names): repr(how) for names, how in self.dispersions.items()},
            "the law knows": self.law_knows,
            "outcomes": [f"{one.kept.value}: {one}" for one in self.outcomes],
            "options": {name: text for name, text in plain.items() if "0x" not in text and name != "threads"},
            "scenario": hashlib.sha256(self.text.encode()).hexdigest()[:16] if self.text else None,
        }


def plan_of(
    system: Any,
    dispersions: Mapping[Any, Any],
    runs: Any,
    *,
    seed: Any,
    sampling: str,
    outcomes: Any,
    t_span: Any = None,
    q0: Any = None,
    v0: Any = None,
    options: Mapping[str, Any] | None = None,
    law_knows: str = "nominal",
    settings: Mapping[str, str] | None = None,
    alike: Any = None,
    text: str = "",
) -> Plan:
    """system: a Spacecraft with options of `gs.simulate`, or a scenario, which has them."""
    given = dict(options or {})
    _must_be_options(given)
    must_be_known(law_knows)
    if isinstance(system, Spacecraft):
        craft, end = system, t_span
        if end is None:
            raise ValueError("t_span is missing: for how long does each run go? t_span=(0, 60).")
    elif hasattr(system, "craft") and hasattr(system, "duration"):
        craft, end, text = _of_scenario(system), t_span or (0.0, system.duration), text or system.text
        q0, v0 = system.q0 if q0 is None else q0, system.v0 if v0 is None else v0
        given = {name: x for name, x in system.options.items() if name not in ("save_at", "seed")} | given
        seed = system.options.get("seed", 0) if seed is None else seed
    else:
        raise TypeError(
            f"a campaign is of a Spacecraft or a scenario; found {system!r:.80}. gs.scenario.load(file) reads one; "
            "what a gs.Simulation was made with is given beside its craft: gs.campaign(craft, ..., control=law)."
        )
    if isinstance(runs, bool) or not isinstance(runs, int | np.integer) or runs < 1:
        raise ValueError(f"runs is {runs!r}; expected a whole number of at least one.")
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer | None) or (seed is not None and seed < 0):
        raise ValueError(f"seed is {seed!r}; expected a whole number, not negative.")
    asked = outcomes_given(outcomes)
    if not asked:
        raise ValueError("outcomes: nothing is asked of the runs. Give {name: gs.outcomes.largest(...)} or the like.")
    ends = tuple(float(x) for x in np.atleast_1d(reals(end, "t_span")))
    if len(ends) != 2:
        raise ValueError(f"t_span is {end!r}; expected (start, end).")
    q = neutral(craft) if q0 is None else reals(craft.q(q0), "q0")
    v = np.zeros(craft.nv) if v0 is None else reals(craft.v(v0), "v0")
    if q.ndim != 1 or v.ndim != 1:
        raise ValueError("q0 and v0 are those of one run, the nominal one; dispersions make the others.")
    made = {(names,) if isinstance(names, str) else tuple(names): how for names, how in dispersions.items()}
    flat = [name for names in dispersions for name in ([names] if isinstance(names, str) else names)]
    for name in flat:
        if flat.count(name) > 1:
            raise ValueError(f"dispersions: '{name}' is dispersed twice.")
    for names, how in made.items():
        if not isinstance(how, Distribution | Correlated):
            raise TypeError(
                f"dispersions: {', '.join(names)}: found {how!r:.60}; expected gs.campaigns.normal(...) or the like."
            )
    rest = (int(runs), int(seed or 0), sampling, text, law_knows, dict(settings or {}), alike)
    return Plan(craft, q, v, ends, given, made, asked, *rest).check()


def _of_scenario(system: Any) -> Any:
    for what in ("phases", "formation"):
        if hasattr(system, what):
            raise ValueError(f"'{system.name}' has {what}; campaigns are of one spacecraft in one phase.")
    if getattr(system, "limits", "note") != "note":
        raise ValueError(f"'{system.name}': limits = \"stop\" is not for campaigns; require an outcome in its place.")
    return system.craft


def _must_be_options(given: Mapping[str, Any]) -> None:
    known = [name for name in inspect.signature(simulate).parameters if name not in OWN]
    for name in given:
        if name in OWN:
            raise ValueError(
                f"{name} is not an option of a campaign: it is made of what is dispersed, or by Campaign.case."
            )
        if name not in known:
            raise TypeError(f"there is no option '{name}'. {nearest(name, known)}")
