"""Runs in phases: approach, capture, hold, release. Constraints switch on with a velocity jump that conserves momentum, and off without."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..algebra import Array
from ..constraints import USUAL, AbstractConstraint, Capture, Stabilisation, capture, grasped
from ..model import Spacecraft
from .engine.compiling import SimulationWarning, When
from .result.trajectory import Trajectory
from .simulate_craft import simulate

LOOKS = 500  # times at least that a phase looks for its event


@dataclass(frozen=True, eq=False)
class Phase:
    """What holds and acts from the end of the phase before until `duration` has passed or the event `until` happens.

    constraints: hold from the start. grasp: constraints that begin here, about the relative pose that their frames have then; they stay
    on in later phases until one of them says release=(name or title, ...). restitution: of the jump. options: of `simulate`; where there is
    an event, max_step is a five-hundredth of the duration unless given.
    """

    duration: float
    name: str = ""
    constraints: Sequence[AbstractConstraint] = ()
    grasp: Sequence[AbstractConstraint] = ()
    release: Sequence[str] = ()
    until: Callable[..., Any] | When | None = None
    control: Callable[..., Any] | None = None
    environment: Any = None
    restitution: float = 0.0
    stabilisation: Stabilisation = USUAL
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class PhaseResult:
    """One phase: its run, the constraints that held, and the jump at its start, if constraints began there."""

    phase: Phase
    trajectory: Trajectory
    constraints: tuple[AbstractConstraint, ...]
    capture: Capture | None

    @property
    def happened(self) -> bool:
        """True if the phase ended by its event."""
        return self.trajectory.status[0] == "stopped"

    @property
    def end(self) -> tuple[float, Array, Array]:
        """Time and state at which the phase ended: at the event, if it happened."""
        traj = self.trajectory
        if self.happened:
            event = traj.events[-1]
            return event.t, event.q, event.v
        return (float(traj.time[-1]), *traj.final)


@dataclass(frozen=True, eq=False)
class PhasedRun:
    """All phases, and their states end to end."""

    craft: Spacecraft
    phases: tuple[PhaseResult, ...]

    def __getitem__(self, name: str) -> PhaseResult:
        for result in self.phases:
            if result.phase.name == name:
                return result
        raise ValueError(f"no phase '{name}'; there are {', '.join(repr(r.phase.name) for r in self.phases)}.")

    @cached_property
    def trajectory(self) -> Trajectory:
        """All phases as one trajectory: for plots, reports, scenes and the audit, to which a grasp's loss of energy is work."""
        import xarray

        parts, work, impulse = [], 0.0, np.zeros(6)
        for k, result in enumerate(self.phases):
            loads = result.trajectory.signals[["command", "tau", "wrenches", "vdot"]]
            data = result.trajectory.data[["q", "v", "work", "impulse"]].merge(loads, combine_attrs="override")
            work -= 0.0 if result.capture is None else float(result.capture.energy_lost)
            data = data.assign(work=data["work"] + work, impulse=data["impulse"] + impulse)
            done = _integrals(result.trajectory)
            work, impulse = work + done[0], impulse + done[1]
            rows = np.isfinite(data["q"].values).all(axis=-1)
            if k < len(self.phases) - 1:
                rows &= data["time"].values < result.end[0]  # the next phase starts there
            parts.append(data.isel(time=rows))
        last = self.phases[-1].trajectory
        joined = xarray.concat(parts, "time", data_vars="all", combine_attrs="override")
        joined.attrs = {**last.data.attrs, "t_span": (float(joined["time"][0]), float(joined["time"][-1]))}
        events = tuple(event for result in self.phases for event in result.trajectory.events)
        states = [result.trajectory.state for result in self.phases]
        steps, rejections = (np.sum([getattr(s, name) for s in states], axis=0) for name in ("steps", "rejections"))
        state = replace(last.state, steps=steps, rejections=rejections)
        return Trajectory(self.craft, joined, state, last.constants, events=events)

    def __str__(self) -> str:
        return "\n".join(_line(r) for r in self.phases)


def simulate_phases(
    craft: Spacecraft, q0: Array, v0: Array, phases: Sequence[Phase], *, t0: float = 0.0, **options: Any
) -> PhasedRun:
    """One phase after the other, each from where the one before ended. Options are those of `simulate`, for all phases."""
    t, q, v = t0, np.asarray(q0, dtype=float), np.asarray(v0, dtype=float)
    holding: list[AbstractConstraint] = []
    results: list[PhaseResult] = []
    for phase in phases:
        holding = _released(holding, phase)
        before = len(holding)
        holding = [*holding, *(grasped(craft, t, q, c) for c in phase.grasp)]
        held = (*holding, *phase.constraints)
        jump = None
        if len(holding) > before or _begins(phase, results):
            jump = capture(craft, q, v, held, t=t, restitution=phase.restitution)
            v = jump.v
            if phase.restitution > 0.0:  # they bounced off: nothing holds
                holding, held = holding[:before], tuple(holding[:before])
        result = _run(craft, t, q, v, phase, held, jump, options)
        results.append(result)
        t, q, v = result.end
        if phase.until is not None and not result.happened:
            warnings.warn(
                f"phase '{phase.name}' ended at t = {t:g} s without its event; the phases after it are not run. Give it longer, or look at "
                f"how near the event came.",
                SimulationWarning,
                stacklevel=2,
            )
            break
    return PhasedRun(craft, tuple(results))


def _run(
    craft: Spacecraft,
    t: float,
    q: Array,
    v: Array,
    phase: Phase,
    held: tuple[AbstractConstraint, ...],
    jump: Capture | None,
    options: Mapping[str, Any],
) -> PhaseResult:
    events = []
    if phase.until is not None:
        until = phase.until if isinstance(phase.until, When) else When(phase.until, phase.name)
        events = [When(until.function, until.name, True, until.direction)]
    given = {**options, **phase.options, "events": events, "control": phase.control, "environment": phase.environment}
    if events and given.get("max_step") is None:
        given["max_step"] = phase.duration / LOOKS  # a step must not pass through what it shall see
    span = (t, t + phase.duration)
    given |= {"constraints": held, "stabilisation": phase.stabilisation}
    return PhaseResult(phase, simulate(craft, q, v, span, **given), held, jump)


def _released(holding: list[AbstractConstraint], phase: Phase) -> list[AbstractConstraint]:
    names = {c.title for c in holding}
    for name in phase.release:
        if name not in names:
            raise ValueError(
                f"phase '{phase.name}' releases '{name}', which does not hold; what holds: {', '.join(sorted(names)) or 'nothing'}."
            )
    return [c for c in holding if c.title not in phase.release]


def _begins(phase: Phase, results: Sequence[PhaseResult]) -> bool:
    """True if some constraint of the phase did not hold in the phase before."""
    before = results[-1].constraints if results else phase.constraints
    return any(all(c is not b for b in before) for c in phase.constraints)


def _integrals(traj: Trajectory) -> tuple[float, Array]:
    """Work and impulse up to the very end of a phase, which need not be a saved time."""
    assert traj.equations is not None
    at, y = traj.equations.layout, traj.state.y[0]
    work = sum(float(y[at.row(name)][0]) for name in ("work", "work_environment") if at.width(name))
    return work, y[at.row("impulse")] if at.width("impulse") else np.zeros(6)


def _line(result: PhaseResult) -> str:
    t, _, _ = result.end
    text = f"{result.phase.name or 'phase'}: {result.trajectory.time[0]:.6g} to {t:.6g} s"
    if result.constraints:
        text += "; held by " + ", ".join(c.title for c in result.constraints)
    if result.capture is not None:
        forces = np.linalg.norm(result.capture.on_second[:, 3:], axis=1)
        text += f"; impulses {', '.join(f'{f:.3g}' for f in forces)} N s, {result.capture.energy_lost:.4g} J lost"
    return text
