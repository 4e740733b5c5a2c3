"""`gs.Simulation`: what `gs.simulate` prepares, prepared once and held in the hand: reset, step, look, go back, go
on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._warned import warn_user
from ..algebra import Array
from ..algebra.reals import reals, seconds
from ..constraints import AbstractConstraint, Stabilisation
from ..control.controller import Controller
from ..control.modes import mode_named, refuse
from ..control.passive import Actuators, Stops
from ..environment import Environment
from ..model import Role, Spacecraft
from ..tracing import pool
from .engine.compiling import SimulationWarning
from .engine.pausing import NOT_FINITE
from .engine.resident import Memory, TooManySteps
from .engine.resident_on_card import resident
from .engine.status import Status
from .prepare import conserving, equations_of, plan_of, require_device, require_start, system_of
from .problem.idle_options import refuse_unfelt
from .problem.loads_from_outside import GIVEN
from .problem.own_values import Own, Values
from .problem.request import MAX_STEPS, Request, functions_of, prescribed_motions
from .problem.runs import arguments, constants, start
from .problem.times import Times
from .result.assembly import failed
from .result.between_steps import Present
from .result.dataset import coordinate_names
from .result.recording import Recording
from .result.trajectory import Event, Trajectory
from .standing import Standing

AHEAD = 64  # samples of a control law that the table of stops is longer than needed


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Everything that the next step depends on. It can be pickled, and restored in a simulation of the same making on
    the same kind of machine.
    """

    making: tuple[Any, ...]
    memory: Memory
    own: Values
    started: Array
    common: bool
    recording: Recording | None


class Simulation:
    """One spacecraft, or many of the same making side by side, whose motion goes on step by step.

    Options are those of `simulate`; what it does once for a call is done here once for all. Times, states and loads are
    of one run, or, with `runs=n`, of n runs along a first axis.

    control=None: `step(tau, dt)` is given the loads, laid out as v or by joint name, and holds them over dt, as
        `Controller(law, period=dt)` does in `simulate`, bit for bit. Loads on a base or on a joint without a motor act
        from outside, and the audit says so.
    control=law: `step(inputs, dt)` changes those of its `inputs=` that are named (set points, gains), then lets it act
        over dt. Inputs of a sampled law count from its next sample on; one that falls on the end of a step is taken at
        the beginning of the next, unless an event has its effect at that very time: the sample comes before it.
    parameters, inputs: their names and first values, with `runs=` along a first axis of that length or of 1; `reset`
        and `step` give others. What else a law reads from outside is a constant from the making on.
    record: keep a row at the beginning of every step, for `trajectory()`; otherwise it has the start and the present
        alone.
    device: "cuda" for runs on a CUDA card, a thread a run; loads go there in each step, q and v come back.
    max_steps: attempted steps that one call of `step` or `advance` may take.
    """

    def __init__(
        self,
        craft: Spacecraft,
        *,
        control: Callable[..., Any] | Controller | None = None,
        environment: Callable[..., Any] | Environment | None = None,
        mode: str | None = None,
        formulation: str | None = None,
        integrator: str | None = None,
        rtol: Any = None,
        atol: Any = None,
        step: float | None = None,
        max_step: float | None = None,
        events: Any = None,
        breakpoints: Any = None,
        constraints: Sequence[AbstractConstraint] | None = None,
        stabilisation: Stabilisation | None = None,
        prescribed: Mapping[str, Any] | None = None,
        locked: Sequence[str] | None = None,
        actuators: Actuators | None = None,
        stops: Stops | None = None,
        conserve: str | None = None,
        parameters: Mapping[str, Any] | None = None,
        inputs: Mapping[str, Any] | None = None,
        outcomes: Any = None,
        seed: Any = 0,
        runs: int | None = None,
        threads: int | None = None,
        device: str | None = None,
        max_steps: int = MAX_STEPS,
        record: bool = False,
        sensitivities: None = None,
    ) -> None:
        given = {name: value for name, value in locals().items() if name not in ("self", "craft", "sensitivities")}
        if sensitivities is not None:
            raise ValueError(
                "sensitivities: a simulation that is stepped carries no derivatives. Use "
                "gs.simulate(sensitivities=...) or gs.rollout for the gradient by a history of loads."
            )
        self._options = given
        if not isinstance(craft, Spacecraft):
            raise TypeError(
                f"cannot simulate {craft!r:.80} step by step; expected a Spacecraft. Formations go by gs.simulate; "
                "a few craft may be one model: gs.together."
            )
        if runs is not None and (np.ndim(runs) or runs != int(runs) or runs < 1):
            raise ValueError(f"runs is {runs!r}; expected how many there are, one at least.")
        pool.require_count("max_steps", max_steps)
        if threads is not None:
            pool.require_count("threads", threads)
        self.craft, self.runs, self._single = craft, int(runs or 1), runs is None
        asked = {name: value for name, value in given.items() if name not in ("runs", "record")}
        self._request = Request(craft=craft, **{**asked, "control": GIVEN if control is None else control})
        require_device(self._request)
        self._settings, self._functions = self._request.settings(), functions_of(self._request)
        refuse_unfelt(self._request, self._settings, self._functions, False)
        self._conserving = conserving(self._request, self._settings, self._functions)
        seed = self._settings.seed
        self._own = Own(craft, self.runs, self._single, self._conserving, parameters, inputs, seed)
        first = self._own.begin(np.arange(self.runs), None, None, 0.0, None, {}, {})
        self._equations = equations_of(self._request, self._settings, self._functions, first, 0.0, own_seed=True)
        state = start(self._equations, first, 0.0, self._settings.step)
        x = arguments(self._equations, first, state)
        self._system = system_of(self._equations, self._functions, self._settings, x[0])
        self._plan = plan_of(self._equations, self._settings, self._times(np.zeros(1)), threads, max_steps)
        self._given = self._equations.given
        loads = craft.nv if self._given else 0
        self._resident = resident(self._system, self._plan, state, constants(self._equations, first), loads, device)
        self._load = self._resident.loads[0] if self._single else self._resident.loads
        self._standing = Standing(self._equations, self._system, self._resident, self._own, self._single)
        self._rows = self._standing.rows
        self._mode = None if self._settings.mode is None else mode_named(self._settings.mode)
        self._checked = self._given and (self._mode is not None or self._conserving)
        self._tables = self._equations.environment is not None and self._equations.environment.span is not None
        law = self._equations.control
        self._period = None if law is None or self._given else law.period
        self._horizon, self._dt = 0.0, np.nan
        self._record: Recording | None = None
        self._begun = self._resident.show_begun() if record else np.zeros((self.runs, 0))
        self._started = self._rows.copy()
        self._common = self._new = True  # common: all runs have the same clock; new: they have no start yet
        self._blocked: str | None = f"the simulation of {craft.name} has no start yet. Give it one: sim.reset(q0, v0)."

    # ---- starts

    def reset(
        self,
        q0: Any = None,
        v0: Any = None,
        *,
        t0: float | None = None,
        seed: Any = None,
        parameters: Mapping[str, Any] | None = None,
        inputs: Mapping[str, Any] | None = None,
        runs: Any = None,
    ) -> None:
        """Put runs to a start: `q0, v0` as in `simulate`, the neutral configuration and rest if left out; the control
        law with its first memory, motors unloaded, the clock at t0.

        runs: which, as truth values (runs,) or numbers; all if left out. States, parameters and inputs are then those
        of the chosen runs, in their order. What is not given stays: parameters, inputs and seed are those that a run
        had, t0 is the one before (0 at first).
        """
        chosen = self._chosen(runs)
        epoch = self._own.values.epoch if t0 is None else seconds(t0, "t0")
        if epoch != self._own.values.epoch and len(chosen) < self.runs:
            raise ValueError(
                f"t0 is {t0} s for some of the runs, {self._own.values.epoch} s for the others. Give one t0 to all."
            )
        if len(chosen) < self.runs and self._options["record"]:
            raise ValueError(
                "record=True keeps rows of all runs at common times; with reset(runs=...) they would no longer be. "
                "Make the simulation without record=, or reset all runs."
            )
        if self._new and len(chosen) < self.runs:
            raise ValueError("the first reset gives all runs a start: leave out runs=.")
        if self._equations.environment is not None:
            self._equations.environment.require_span(epoch, epoch)
        own = self._own.begin(chosen, q0, v0, epoch, seed, parameters or {}, inputs or {})
        prescribed_motions(self.craft, self._functions["prescribed"], self._settings.locked or (), own.v)
        state = start(self._equations, own, 0.0, self._settings.step)
        require_start(self._equations, own, arguments(self._equations, own, state))
        self._own.keep(chosen, own, epoch)
        self._resident.begin(chosen, state, constants(self._equations, own))
        self._set_stops(float(self._resident.shown[:, 0].max()))
        self._started[chosen] = self._rows[chosen]
        self._common, self._new = bool((self._resident.shown[:, 0] == 0.0).all()), False
        self._record = None
        if self._options["record"]:
            self._record = Recording(self.runs, self._system.n, self._system.n_held)
        self._look_for_failures(warn=False)

    def _chosen(self, runs: Any) -> Array:
        every = np.arange(self.runs)
        if runs is None:
            return every
        given = np.atleast_1d(np.asarray(runs))
        if given.dtype == bool:
            if given.shape != (self.runs,):
                raise ValueError(
                    f"runs has shape {given.shape}; expected {self.runs} truth values, or numbers of runs."
                )
            found = every[given]
        else:
            if given.ndim != 1 or given.dtype.kind not in "iu" or not np.isin(given, every).all():
                raise ValueError(f"runs is {runs!r:.80}; expected truth values, or numbers from 0 to {self.runs - 1}.")
            found = given.astype(int)
            if len(np.unique(found)) < len(found):
                raise ValueError(f"runs is {runs!r:.80}; a run is named twice.")
        if not len(found):
            raise ValueError("runs chooses none of the runs.")
        return found

    # ---- times

    def _times(self, save: Array) -> Times:
        """save: inside."""
        span = self._own.values.epoch + np.array([0.0, float(np.max(save, initial=0.0))])
        return Times(self._own.values.epoch, span, self._own.values.epoch + save, self._settings.step)

    def _set_stops(self, horizon: float) -> None:
        """Breakpoints, and samples of the control law up to beyond that time (inside)."""
        breakpoints = self._settings.breakpoints
        end = max([horizon, *(b - self._own.values.epoch for b in breakpoints)]) + 1.0
        if (
            self._period is not None
        ):  # twice as far, that it need not be made anew for each step, and between two samples
            end = (2.0 * np.ceil(end / self._period) + AHEAD + 0.5) * self._period
        self._horizon = np.inf if self._period is None else end
        stops, kinds = self._times(np.array([end])).stops(breakpoints, [self._period] if self._period else [], False)
        self._resident.set_stops(stops[:-1], kinds[:-1])  # without the end itself

    def _see_ahead(self, until: float) -> None:
        """until: inside."""
        if until >= self._horizon:
            self._set_stops(until)

    # ---- going on

    def step(self, load: Any = None, dt: float | None = None) -> None:
        """Go on by dt (`step=`, or the period of the control law, if left out) with the load held, or with changed
        inputs of the control law.

        load: (nv,) for all runs, (runs, nv), or {joint: load}. Whatever is refused leaves the state as it was; so does
        an exception in a function of the user's. A run that fails keeps its last good state and says so by a warning;
        the next step is refused until it is reset, or a snapshot restored.
        """
        if self._blocked is not None:
            raise RuntimeError(self._blocked)
        if dt is not None and dt != self._dt:
            self._set_pace(dt)
        elif dt is None:
            self._set_pace(self._usual())
        if self._given:
            if type(load) is np.ndarray and load.dtype is self._load.dtype and load.shape == self._load.shape:
                self._load[...] = load
            else:
                self._take_load(load)
            if self._checked:
                self._check_load()
        if self._tables:
            self._demand_tables(float(self._resident.shown[:, 0].max()) + self._dt)
        if self._period is not None:
            self._see_ahead(float(self._resident.shown[:, 0].max()) + 2.0 * self._dt)
        self._go_on(None if self._given else load)

    def advance(self, until: float) -> None:
        """Go on to that time, with the load that is held (none after a reset) or under the control law."""
        if self._blocked is not None:
            raise RuntimeError(self._blocked)
        inside = float(self._times(np.zeros(1)).inside(until))
        waiting = self._resident.shown[self._resident.shown[:, 1] == Status.paused, 0]
        if not np.isfinite(inside) or inside < waiting.max():
            raise ValueError(
                f"until is {until} s; expected a time not before {self._own.values.epoch + waiting.max():.9g} s."
            )
        if inside == waiting.min():
            return
        if inside == waiting.max():
            raise ValueError(
                f"some runs stand at {until} s already, others do not: runs have clocks of their own. Use step."
            )
        if self._tables:
            self._demand_tables(inside)
        self._see_ahead(inside)
        resident = self._resident
        resident.set_pause(inside)
        resident.set_pace(0.0)
        resident.take_loads(False)
        self._dt = np.nan
        try:
            self._go_on(None)
        finally:
            resident.take_loads(True)

    def _demand_tables(self, until: float) -> None:
        """until: inside. What the environment reads is known up to there, round-off of the clock apart."""
        environment, epoch = self._equations.environment, self._own.values.epoch
        if environment is not None and environment.span is not None:
            last = environment.span[1]
            if epoch + until > last + 1e-12 * max(1.0, abs(epoch), abs(last)):
                environment.require_span(epoch, epoch + until)

    def _go_on(self, inputs: Any) -> None:
        """To the next pause."""
        if self._record is not None:
            self._record.begin_step(self._standing.now, self._rows)
        asking = self._run() if inputs is None else self._run_with(inputs)
        if asking:
            self._after(asking)
        if self._record is not None:
            self._record.end_step(self._begun)

    def _run(self) -> int:
        try:
            return self._resident.step()
        except TooManySteps:
            t = self._own.values.epoch + float(self._resident.shown[:, 0].min())
            raise RuntimeError(
                f"{self.craft.name}: max_steps={self._plan.most_steps} attempted steps were not enough; the run waits "
                f"at t = {t:.9g} s. Raise max_steps, loosen rtol, or look for an unstable control law."
            ) from None

    def _run_with(self, inputs: Any) -> int:
        """Inputs of the control law, from now on; as they were if a function of the user's raises, for then nothing
        has moved."""
        new = self._own.changed(inputs)
        old = {name: self._own.input(name).reshape(self.runs, -1).copy() for name in new}
        self._set_inputs(new)
        try:
            return self._run()
        except Exception:
            if self._resident.python:
                self._set_inputs(old)
            raise

    def _set_inputs(self, inputs: Mapping[str, Array]) -> None:
        for name, rows in inputs.items():
            self._resident.set_constants(self._own.set_input(name, rows), rows)

    def _after(self, asking: int) -> None:
        """More has happened than that all runs have come to their next pause."""
        if asking == NOT_FINITE:
            run, place = np.argwhere(~np.isfinite(self._resident.loads))[0]
            name = f"'{coordinate_names(self.craft)[1][place]}' (entry {place})"
            which = "" if self._single else f" of run {run}"
            raise ValueError(
                f"the load on {name}{which} is {self._resident.loads[run, place]}; expected finite numbers. Nothing "
                "has moved."
            )
        self._look_for_failures(warn=True)

    def _look_for_failures(self, warn: bool) -> None:
        self._blocked = None
        status = self._resident.shown[:, 1]
        lost = [k for k in range(self.runs) if failed(status[k])] if (status != Status.paused).any() else []
        if lost:
            said = self._standing.failures(lost)
            back = (
                "sim.reset(q0, v0)" if self._single else f"sim.reset(q0, v0, runs={lost if len(lost) < 9 else '...'})"
            )
            more = f" ({len(lost)} runs failed, this is the first.)" if len(lost) > 1 else ""
            self._blocked = f"{said[0]}{more} It cannot go on: {back}, or sim.restore(snapshot)."
            for message in said if warn else ():
                warn_user(message, SimulationWarning)
        elif not (status == Status.paused).any():
            ends = {spec.name for spec in self._system.specs if spec.terminal}
            names = ", ".join(sorted({f"'{e.name}'" for e in self.events if e.name in ends}))
            self._blocked = (
                f"{self.craft.name}: {'the run was' if self.runs == 1 else 'all runs were'} stopped by a terminal "
                f"event ({names}). Put them to a start with sim.reset(q0, v0), or back with sim.restore(snapshot)."
            )

    def _usual(self) -> float:
        found = self._settings.step or self._period
        if found is None:
            raise TypeError(
                "step needs dt=, in seconds: the simulation has neither a fixed step= nor a sampled control law."
            )
        return float(found)

    def _set_pace(self, dt: float) -> None:
        dt = float(dt)
        if dt == self._dt:
            return
        if not 0.0 < dt < np.inf:
            raise ValueError(f"dt is {dt}; expected a positive number of seconds.")
        self._resident.set_pace(dt)
        self._dt = dt

    def _take_load(self, load: Any) -> None:
        if load is None:
            raise TypeError(
                f"step needs the load, {self._load.shape} numbers or {{joint: load}}; advance(until) goes on with the "
                "one that is held."
            )
        given = self.craft.v(load, "tau")
        found = np.asarray(given)
        if found.dtype != float:
            found = reals(given, "the load")
        if found.shape not in {(self.craft.nv,), self._load.shape}:
            shapes = " or ".join(str(s) for s in dict.fromkeys(((self.craft.nv,), self._load.shape)))
            raise ValueError(f"the load has shape {found.shape}; expected {shapes} for {self.craft.name}.")
        self._load[...] = found

    def _check_load(self) -> None:
        """Where some loads are not allowed."""
        base = [k for k in range(self.craft.nv) if self.craft.roles[k] is Role.base]
        if self._conserving and (self._resident.loads[:, base] != 0.0).any():
            raise ValueError("conserve='momentum': the load acts on the base. Give zeros there, or use wheels.")
        if self._mode is not None:
            for row in self._resident.loads:
                refuse(self.craft, self._mode, row)

    # ---- looking

    @property
    def t(self) -> Any:
        """Time in s; (runs,) with runs=."""
        return self._standing.t

    @property
    def q(self) -> Array:
        """([runs,] nq)"""
        return self._standing.q

    @property
    def v(self) -> Array:
        """([runs,] nv)"""
        return self._standing.v

    @property
    def state(self) -> Present:
        """Where the runs stand: t, q, v, status, memory of the control law, loads of lagging motors; arrays of its
        own.
        """
        return self._standing.present

    @property
    def signals(self) -> dict[str, Array]:
        """What acts now: command, tau, wrenches and vdot, and the environment's potential if it has one, ([runs,] ...).
        A law that is sampled, and loads that are given, show what was held last.
        """
        return self._standing.signals

    @property
    def events(self) -> tuple[Event, ...]:
        """That happened since the runs were reset."""
        return self._standing.events(self._times(np.zeros(1)))

    def trajectory(self) -> Trajectory:
        """From the reset until now: with record=True at the beginning of every step, else the start and the present;
        audited.
        """
        if self._new:
            raise RuntimeError(self._blocked)
        if not self._common:
            raise ValueError(
                "runs have clocks of their own since some were reset alone: there is no trajectory at common times. "
                "Reset all runs, or look at state."
            )
        now, rows = self._standing.now, self._standing.rows_now()
        if self._record is not None:
            times, saved = self._record.with_now(now, rows)
        else:
            times, saved = np.array([0.0, now]), np.stack([self._started, rows], axis=1)
        if len(times) > 1 and times[-1] == times[-2]:
            times, saved = times[:-1], saved[:, :-1]
        return self._standing.trajectory(self._times(times), times, saved, self._plan, self._settings, self._functions)

    # ---- going back

    def snapshot(self) -> Snapshot:
        """Everything that the next step depends on, and what was recorded, to come back to by `restore`."""
        if self._new:
            raise RuntimeError(self._blocked)
        return Snapshot(
            self._making(),
            self._resident.memory(),
            self._own.values.copy(),
            self._started.copy(),
            self._common,
            None if self._record is None else self._record.copy(),
        )

    def restore(self, snapshot: Snapshot) -> None:
        """Back to a snapshot of this simulation, or of one of the same making."""
        if not isinstance(snapshot, Snapshot):
            raise TypeError(f"restore got {snapshot!r:.60}; expected what snapshot() returned.")
        if snapshot.making != self._making() or not self._resident.fits(snapshot.memory):
            raise ValueError(
                "the snapshot is of a simulation of another making (craft, options, runs, or a machine of another "
                "kind); it fits the one that it was taken of, and its copies."
            )
        self._own.values, self._common, self._new = snapshot.own.copy(), snapshot.common, False
        self._started[...] = snapshot.started
        self._record = None if snapshot.recording is None else snapshot.recording.copy()
        self._resident.recall(snapshot.memory)
        self._set_stops(float(self._resident.shown[:, 0].max()))
        self._look_for_failures(warn=False)

    def _making(self) -> tuple[Any, ...]:
        """By which simulations that can share snapshots are told."""
        at = self._equations.layout
        names = (*self._own.shapes, *self._own.values.parameters, *(spec.name for spec in self._system.specs))
        return (self.craft.name, self.runs, self._single, self._plan.method, at.size, at.n, at.n_held, names)

    def __reduce__(self) -> Any:
        return _rebuilt, (self.craft, self._options, None if self._new else self.snapshot())

    def __repr__(self) -> str:
        count = "one run" if self._single else f"{self.runs} runs"
        where = "not started" if self._new else f"t = {float(np.max(self.t)):.9g} s"
        return f"<Simulation of {self.craft.name}: {count}, {self._plan.method}, {where}>"


def _rebuilt(craft: Spacecraft, options: Mapping[str, Any], snapshot: Snapshot | None) -> Simulation:
    found = Simulation(craft, **options)
    if snapshot is not None:
        found.restore(snapshot)
    return found
