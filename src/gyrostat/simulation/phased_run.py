"""What a run in phases leaves: each phase with its constraints and its jump, and all of them end to end."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra import Array
from ..constraints import AbstractConstraint, Capture
from ..model import Spacecraft
from ..outcomes import outcomes_given
from .one_tree import OneTree, without_jumps
from .result.joined_audit import Jump, joined_audit
from .result.joined_outcomes import joined_outcomes
from .result.summary import HAPPENED, told_happenings
from .result.trajectory import Trajectory

MOST_LOOKS = 300  # at an event that never happened
SHOWN = {"rad": (180 / np.pi, "deg"), "rad/s": (180 / np.pi, "deg/s")}

if TYPE_CHECKING:
    from .phase import Phase


@dataclass(frozen=True, eq=False)
class PhaseResult:
    """One phase: its run, the constraints that held, and the jump at its start, if constraints began there.

    grasps: those of the constraints that stay on until they are released. impulse: what the jump changed of the
    momentum [angular; linear] about the centre of mass, where a constraint binds the craft to the inertial frame or a
    base is not free.
    struck: titles of the constraints that made the jump; started: q and v before it. ended_by: the terminal event that
    ended the phase, if one did. attached: titles of the grasps that are one tree in it. tree: that
    tree, whose coordinates the trajectory has; None where nothing is attached. given: the options that it was run with.
    """

    phase: Phase
    trajectory: Trajectory
    constraints: tuple[AbstractConstraint, ...]
    capture: Capture | None
    grasps: tuple[AbstractConstraint, ...] = ()
    impulse: Array | None = None
    struck: str = ""
    started: tuple[Array, Array] = (np.zeros(0), np.zeros(0))
    ended_by: str | None = None
    attached: tuple[str, ...] = ()
    tree: OneTree | None = None
    given: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def happened(self) -> bool:
        """True if the phase ended by its event `until`."""
        return self.ended_by is not None and self.ended_by == self.phase.until_name

    @property
    def finished(self) -> bool:
        """True if it came to the end of its duration, or to a terminal event."""
        return self.trajectory.status[0] in ("done", "stopped")

    @property
    def end(self) -> tuple[float, Array, Array]:
        """Time and state at which the phase ended: at the event, if it happened, after any effect of it. The state of
        the craft side by side, whatever is attached.
        """
        q, v = self.trajectory.final
        return (float(self.trajectory.data["t_end"]), *((q, v) if self.tree is None else self.tree.parted(q, v)))

    @property
    def missed(self) -> str:
        """That the event which the phase waits for did not happen; empty if it did, or if nothing was waited for."""
        if self.phase.until is None or self.happened or self.ended_by is not None or not self.finished:
            return ""
        return (
            f"phase '{self.phase.name}' ended at t = {self.end[0]:g} s without its event; the phases after it are not "
            "run. Give it longer, or look at how near the event came."
        )

    @property
    def over(self) -> bool:
        """True if no phase follows: it is unfinished, waited for its event in vain,
        or was ended by another terminal event.
        """
        return not self.finished or bool(self.missed) or (self.ended_by is not None and not self.happened)


@dataclass(frozen=True, eq=False)
class KeptPhases:
    """What a file keeps of a run in phases: the trajectory of each that has begun, and how it was called and how long
    it was to last; no functions, so that whoever goes on says again what acts.
    """

    phases: tuple[tuple[str, float], ...]
    trajectories: tuple[Trajectory, ...]
    whole: Trajectory

    @staticmethod
    def load(path: str | Path) -> KeptPhases:
        """Read what `PhasedRun.save` wrote."""
        from ..io.results_phased import load_phased

        return load_phased(path)


@dataclass(frozen=True, eq=False)
class PhasedRun:
    """All phases, and their states end to end.

    options: those of `simulate` for all phases, for whoever continues the run.
    """

    craft: Spacecraft
    phases: tuple[PhaseResult, ...]
    options: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def __getitem__(self, name: str) -> PhaseResult:
        for result in self.phases:
            if result.phase.name == name:
                return result
        raise ValueError(f"no phase '{name}'; there are {', '.join(repr(r.phase.name) for r in self.phases)}.")

    @property
    def ok(self) -> bool:
        """True if every phase came to its end, by the event it waited for where it waited for one."""
        return self.trajectory.ok

    @property
    def interrupted(self) -> bool:
        return self.phases[-1].trajectory.interrupted

    def save(self, path: str | Path) -> Path:
        """Write NetCDF (.nc), every phase with what it goes on from, for `simulate_phases(..., resume=path)`.
        `trajectory` has a `save` of its own, of what is to be looked at.
        """
        from ..io.results_phased import save_phased

        return save_phased(self, path)

    @cached_property
    def trajectory(self) -> Trajectory:
        """All phases as one trajectory: for plots, reports, scenes and the audit, to which a grasp's loss of energy is
        work, and what one onto the inertial frame, or against a base's support, changes of the momentum, impulse.
        """
        import xarray

        rows_of, work, impulse = [], 0.0, np.zeros(6)
        loads = [name for name in ("command", "tau", "wrenches", "vdot", "potential") if self._all_have(name)]
        for k, result in enumerate(self.phases):
            signals = result.trajectory.signals[loads]
            data = result.trajectory.data[["q", "v", "work", "impulse"]].merge(signals, combine_attrs="override")
            if result.capture is not None:
                work -= float(result.capture.energy_lost)
                impulse = impulse if result.impulse is None else impulse + result.impulse
            if result.tree is not None:
                data = result.tree.data(result.trajectory, data)
            data = data.assign(work=data["work"] + work, impulse=data["impulse"] + impulse)
            done = _integrals(result.trajectory)
            work, impulse = work + done[0], impulse + done[1]
            rows = np.isfinite(data["q"].values).all(axis=-1)
            if k < len(self.phases) - 1:
                rows &= data["time"].values < result.end[0]  # the next phase starts there
            rows_of.append(data.isel(time=rows))
        joined = xarray.concat(rows_of, "time", data_vars="all", combine_attrs="override")
        last = self.phases[-1].trajectory
        _, q_end, v_end = self.phases[-1].end
        q = np.vstack([joined["q"].values, q_end])
        for joint in {joint.name: joint for r in self.phases if r.tree for joint in r.tree.attached}.values():
            q = without_jumps(q, joint)
        joined = joined.assign(q=(joined["q"].dims, q[:-1], joined["q"].attrs), q_end=("q_name", q[-1]))
        joined = joined.assign(t_end=last.data["t_end"], v_end=("v_name", v_end))
        parts = [result.trajectory for result in self.phases]
        joined = joined.assign(joined_audit(parts, self._jumps()))
        joined = joined.assign(joined_outcomes(outcomes_given(self.options.get("outcomes")), parts))
        begin, end = self.phases[0].trajectory.data.attrs["t_span"][0], last.data.attrs["t_span"][1]
        failures = [message for result in self.phases for message in result.trajectory.failures]
        failures += [result.missed for result in self.phases if result.missed]
        told = [row for result in self.phases for row in _happened(result)]
        joined.attrs = {**last.data.attrs, "t_span": (begin, end), "failures": tuple(failures), HAPPENED: told}
        events = tuple(
            event
            for result in self.phases
            for event in (result.trajectory.events if result.tree is None else result.tree.events(result.trajectory))
        )
        states = [result.trajectory.state for result in self.phases]
        steps, rejections = (np.sum([getattr(s, name) for s in states], axis=0) for name in ("steps", "rejections"))
        state = replace(last.state, steps=steps, rejections=rejections)
        return Trajectory(
            self.craft, joined, state, last.constants, last.parameters, events, interrupted=last.interrupted
        )

    def _jumps(self) -> list[Jump]:
        """Of the velocities, where constraints began."""
        found = []
        for before, result in zip((None, *self.phases), self.phases, strict=False):
            if result.capture is not None:
                own = {name: value[0] for name, value in result.trajectory.parameters.items()}
                craft = self.craft.with_values(own) if own else self.craft
                q, v = result.started if before is None else before.end[1:]
                lost = -float(result.capture.energy_lost)
                found.append(Jump(f"capture: {result.struck}", craft, q, v, result.capture.v, result.impulse, lost))
        return found

    def _all_have(self, name: str) -> bool:
        return all(name in result.trajectory.signals for result in self.phases)

    def __str__(self) -> str:
        return "\n".join(str(row).removeprefix("phase ") for row in told_happenings(map(_phase, self.phases)))


def _integrals(traj: Trajectory) -> tuple[float, Array]:
    """Work and impulse up to the very end of a phase, which need not be a saved time."""
    return float(traj.data["cause_work"].values.sum()), np.nansum(traj.data["cause_impulse"].values, axis=0)


def _happened(result: PhaseResult) -> list[dict[str, Any]]:
    """The phase, and what ended it, as the summary of a run tells them."""
    rows = [_phase(result)]
    if result.phase.release:
        rows.append({"t": rows[0]["t"], "what": "release", "name": ", ".join(result.phase.release)})
    if result.missed:
        rows.append({"t": result.end[0], "what": "missed", "name": result.phase.until_name, "words": _in_vain(result)})
    return rows


def _in_vain(result: PhaseResult) -> str:
    """That the event never happened, and how near it came at the saved times."""
    event, run = result.phase.event, result.trajectory
    if event is None or len(inspect.signature(event.function).parameters) != 4:
        return "never happened"
    seen = np.flatnonzero(np.isfinite(run.q).all(axis=-1))
    seen = seen[:: max(1, len(seen) // MOST_LOOKS)]
    gaps = [abs(float(event.function(run.craft, float(run.time[k]), run.q[k], run.v[k]))) for k in seen]
    if not gaps or not np.isfinite(gaps).any():
        return "never happened"
    k = int(np.nanargmin(gaps))
    factor, unit = SHOWN.get(event.unit, (1.0, event.unit))
    away = f"{factor * gaps[k]:.4g} {unit}".strip()
    return f"never happened; nearest at {run.time[seen[k]]:.6g} s, {away} away"


def _phase(result: PhaseResult) -> dict[str, Any]:
    row: dict[str, Any] = {"t": float(result.trajectory.data.attrs["t_span"][0]), "what": "phase"}
    row |= {"name": result.phase.name or "phase", "until": result.end[0]}
    if result.constraints:
        held = [c.title for c in result.constraints if c.title not in result.attached]
        one = [f"one tree by {', '.join(result.attached)}"] if result.attached else []
        row["words"] = "; ".join([*([f"held by {', '.join(held)}"] if held else []), *one])
    if result.capture is not None:
        row["impulses"] = np.linalg.norm(result.capture.on_second[:, 3:], axis=1).tolist()
        row["energy_lost"] = float(result.capture.energy_lost)
    return row
