"""From what was asked to what is integrated: everything that a run needs, made once.

    request -> prepare -> integrate -> result

`gs.simulate`, phases and formations all go this way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..algebra import Array
from ..algebra.frozen import frozen
from ..control.modes import demand_mode, guarded
from ..tracing import cards, pool
from .engine.compiling import compile_system, settled, tracked_signals
from .engine.in_single import in_single
from .engine.integrate import initial_samples, integrate
from .engine.on_card import integrate_on_card, require_card_can
from .engine.progress import progress_bar
from .engine.status import Status
from .engine.system import Outcome, Plan, State, System
from .integrators.methods import METHODS
from .integrators.stiffness import stability_share
from .problem.closure import require_closed, require_room
from .problem.equations import Equations
from .problem.events import effects_of
from .problem.free_memory import require_memory
from .problem.idle_options import refuse_unfelt
from .problem.loads_from_outside import GIVEN
from .problem.request import (
    Request,
    conserves,
    controller_of,
    dynamics_of,
    environment_of,
    functions_of,
    prescribed_motions,
    tolerances,
)
from .problem.runs import Runs, arguments, begin, carry_on, constants, continued, start
from .problem.settings import Settings, ends_at_saves
from .problem.times import Times, times_of
from .problem.varied import count, sizes_of
from .result.assembly import trajectory_of, with_trajectory
from .result.audited import audit_measures
from .result.mode_audit import warn_if_broken
from .result.signals import residuals_at
from .result.trajectory import STEPPED, Trajectory


@dataclass(frozen=True, eq=False)
class Prepared:
    """What is integrated, how, and from where.

    state: where the runs stand; constants: what each has of its own, as the system takes it (runs, k). functions: as
    they were given, for whoever continues the run.
    """

    equations: Equations
    system: System
    plan: Plan
    state: State
    constants: Array
    runs: Runs
    settings: Settings
    functions: Mapping[str, Any]
    times: Times
    resume: Trajectory | None = None
    device: str | None = None

    def integrate(self, progress: bool | None = None) -> Outcome:
        """Every run to its end. progress: whether a bar is shown; None to show it on a terminal."""
        title, times = f"{self.equations.craft.name}: simulating", self.times
        with progress_bar(progress, title, times.end - times.begin) as tell:
            run = integrate if self.device is None else integrate_on_card
            outcome = run(self.system, self.plan, self.state, self.constants, tell)
        return self.with_start(outcome)

    def with_start(self, outcome: Outcome) -> Outcome:
        """The row of the very start, where it is to be saved: no step has ended there."""
        if self.resume is None:
            first = self.plan.saves == self.times.begin
            outcome.saved[:, first] = np.hstack([self.state.y, self.state.held])[:, None, :]
        shown = self.times.saves(self.plan.stops)
        if len(shown) > len(self.plan.saves):
            outcome.saved = outcome.saved[:, np.searchsorted(self.plan.saves, shown)]
        return outcome

    @property
    def begun(self) -> float:
        """When the runs began, as the engine counts it, however often they were interrupted since."""
        start = self.times.span[0] if self.resume is None else self.resume.data.attrs["t_span"][0]
        return float(self.times.inside(start))

    def result(self, outcome: Outcome, share: float | None = None) -> Trajectory:
        """What the runs left, with warnings about those that failed. An exception that ended them is raised, with what
        there is. share: of the steps' length that stability allows, if it is known already.
        """
        if share is None:
            share = stability_share(self.system, self.plan, self.begun, outcome.state, self.constants)
        trajectory = trajectory_of(
            self.equations,
            outcome,
            self.plan,
            self.runs,
            self.settings,
            self.functions,
            self.times,
            self.resume,
            share,
        )
        if outcome.error is not None:
            raise with_trajectory(outcome.error, trajectory)
        if self.settings.mode is not None:
            warn_if_broken(trajectory)
        return trajectory


def prepare(request: Request, after: Trajectory | None = None, epoch: float | None = None) -> Prepared:
    """Read, checked, traced and compiled; no step is made.

    after: the run before in time, whose end the request starts from: the memory and the samples of its control law go
    on if the same one acts again, and so do the loads of motors that lag. epoch: where the engine's time is zero, if
    not at the start: runs that share a clock share it.
    """
    resume = request.resume
    require_device(request)
    pool.require_count("max_steps", request.max_steps)
    if request.threads is not None:
        pool.require_count("threads", request.threads)
    if resume is not None and not isinstance(resume, Trajectory):
        raise TypeError(f"resume is {resume!r:.80}; expected a Trajectory that was interrupted, or is to go on.")
    if resume is not None and resume.data.attrs.get(STEPPED):
        raise ValueError(
            "resume: the trajectory was made step by step. Go on with the gs.Simulation that made it, from a snapshot "
            "or its pickle; or start anew from trajectory.final."
        )
    settings, functions = request.settings(), functions_of(request)
    refuse_unfelt(request, settings, functions, after is not None)
    times = times_of(request.t_span, request.save_at, settings.step, resume)
    again = (
        after is not None and functions["control"] is not None and after.functions["control"] is functions["control"]
    )
    if after is None and resume is None and epoch is None:
        times.require_length()
    if after is not None and again and after.equations is not None and after.equations.sampled:
        times = replace(times, epoch=after.equations.t0)  # samples are counted from there
    if epoch is not None:
        times = replace(times, epoch=epoch)
    runs = _runs(request, settings, functions, times.epoch)
    numbers = (request.craft.nq + request.craft.nv) * (1 + count(runs.varied))
    require_memory(runs.count, len(times.save), numbers)
    equations = equations_of(request, settings, functions, runs, times.epoch)
    if equations.environment is not None:
        equations.environment.require_span(*map(float, times.span))
    state = start(equations, runs, times.begin, settings.step)
    x = arguments(equations, runs, state)
    if resume is None:
        require_start(equations, runs, x)
    system = system_of(equations, functions, settings, x[0])
    own = constants(equations, runs)
    if resume is None:
        goes_on = after is not None and carry_on(equations, state, after, again)
        if not goes_on:
            initial_samples(system, state, own)
    else:
        state = _restart(resume, state, settings.step)
    varied = {e: own[:, equations.layout.constant(e)] for v in runs.varied if (e := v.entry)}
    sizes = sizes_of(equations.craft, runs.varied, varied)
    plan = plan_of(equations, settings, times, request.threads, request.max_steps, sizes)
    if request.device is not None:
        require_card_can(system, plan)
    if settings.precision == "single":
        system = in_single(system, plan, bool(runs.varied))
    return Prepared(equations, system, plan, state, own, runs, settings, functions, times, resume, request.device)


def require_device(request: Request) -> None:
    """The device that is asked for is there, and nothing else is asked of it than it can do."""
    if request.device not in (None, "cuda"):
        raise ValueError(f'device is {request.device!r}; expected "cuda", or None for the CPU.')
    if request.device is not None and request.threads is not None:
        raise ValueError('threads= are those of the CPU; device="cuda" has one for each run. Leave it out.')
    if request.device is not None and request.precision == "single":
        raise ValueError('precision="single" is for the CPU; with device="cuda" leave it out.')
    if request.device is not None:
        cards.card()  # where there is none, that is said at once


def equations_at(request: Request) -> tuple[Equations, Array]:
    """What would be integrated, and the argument x of its right-hand side at the start of the first run.

    Nothing is compiled.
    """
    settings, functions = request.settings(), functions_of(request)
    times = times_of(request.t_span, None, None)
    runs = _runs(request, settings, functions, times.epoch)
    equations = equations_of(request, settings, functions, runs, times.epoch)
    if equations.environment is not None:
        equations.environment.require_span(*map(float, times.span))
    return equations, arguments(equations, runs, start(equations, runs, 0.0, None))[0]


def _runs(request: Request, settings: Settings, functions: Mapping[str, Any], epoch: float) -> Runs:
    asked = (request.q0, request.v0, request.parameters, request.inputs, request.runs)
    if request.resume is not None:
        if settings.sensitivities != list(request.resume.data.attrs.get("sensitivities", ())):
            raise ValueError(
                "resume: derivatives begin where a run begins. It had "
                f"sensitivities={list(request.resume.data.attrs.get('sensitivities', ()))}; leave them out, or run it "
                "anew."
            )
        return continued(request.craft, request.resume, settings.sensitivities, *asked)
    return begin(request.craft, *asked, conserving(request, settings, functions), epoch, settings.sensitivities)


def conserving(request: Request, settings: Settings, functions: Mapping[str, Any]) -> bool:
    outer, held = environment_of(functions["environment"]), functions["constraints"] or ()
    return conserves(request.craft, settings.conserve, outer, held)


def equations_of(
    request: Request,
    settings: Settings,
    functions: Mapping[str, Any],
    runs: Runs,
    t0: float,
    own_seed: bool = False,
) -> Equations:
    """own_seed: seeds stand among the constants of the runs, so that one can be given another."""
    craft = request.craft
    motions = prescribed_motions(craft, functions["prescribed"], settings.locked or (), runs.v)
    law = controller_of(functions["control"])
    if settings.mode is not None:
        mode = demand_mode(craft, settings.mode, motions)
        law = law if law is GIVEN else guarded(craft, mode, law)
    assert settings.stabilisation is not None
    outer = environment_of(functions["environment"])
    if law is not None and law is not GIVEN and law.pushes and settings.actuators is not None:
        raise ValueError(
            "actuators: the law's loads on joints hold thrust on what they carry, which no motor makes and none can "
            "hold within its limits. Leave actuators out, or put thrusters and plates on the base."
        )
    if law is not None and law.propellant is not None:
        if conserving(request, settings, functions):
            raise ValueError("conserve='momentum': propellant that leaves takes momentum along. Leave it out.")
        if settings.actuators is not None:
            law.propellant.of(craft).refuse_motors(craft, settings.actuators)
        outer = outer if outer is None else replace(outer, potential=None)  # there is none where mass changes
    equations = Equations(
        craft,
        law,
        outer,
        dynamics_of(craft, str(settings.formulation)),
        t0,
        motions,
        settings.actuators,
        settings.stops,
        conserving(request, settings, functions),
        seed=int(settings.seed or 0),
        inputs=runs.inputs,
        parameters=runs.parameter_shapes,
        constraints=functions["constraints"] or (),
        stabilisation=settings.stabilisation,
        effects=effects_of(functions["events"] or ()),
        varied=runs.varied,
        own_seed=own_seed,
    )
    return settled(equations, lambda e: arguments(e, runs, start(e, runs, 0.0, None))[0])


def require_start(equations: Equations, runs: Runs, x: Array) -> None:
    """Runs may begin there: the environment holds, and constraints are closed. x: of every run, (runs, size)."""
    outer = equations.environment
    if outer is not None and outer.check is not None:
        for q, row in zip(runs.q, x, strict=True):
            outer.check(equations.craft, float(equations.time(row)), frozen(q))
    if equations.constraints:
        require_closed(equations, residuals_at(equations, x))
        if equations.prescribed:
            require_room(equations, runs.q[0], runs.v[0])


def system_of(equations: Equations, functions: Mapping[str, Any], settings: Settings, x: Array) -> System:
    """Compiled, with what the audit looks at. x: a first argument, (size,)."""
    system = compile_system(equations, functions["events"] or (), x)
    looks = audit_measures(equations, system.rhs, METHODS[str(settings.integrator)].evaluations)
    outcomes = functions.get("outcomes")
    tracked = None if outcomes is None else tracked_signals(equations, outcomes, str(settings.integrator))
    return replace(system, measures=(looks,), tracked=tracked)


def plan_of(
    equations: Equations,
    settings: Settings,
    times: Times,
    threads: int | None,
    max_steps: int,
    sizes: Array | None = None,
) -> Plan:
    """Where steps end, what is saved, and how exact they are. sizes: of what is varied."""
    fixed = settings.step is not None
    periods = () if equations.control is None or equations.control.period is None else (equations.control.period,)
    stop_times, samples = times.stops(settings.breakpoints, periods, fixed or ends_at_saves(settings))
    relative, absolute, controlled = tolerances(equations, settings.rtol, settings.atol, sizes)
    largest = settings.step or settings.max_step or float("inf")
    return Plan(
        str(settings.integrator),
        stop_times,
        samples,
        np.unique(times.saves(stop_times)),
        relative,
        absolute,
        controlled,
        fixed,
        largest,
        threads,
        max_steps,
    )


def _restart(resume: Trajectory, fresh: State, step: float | None) -> State:
    """fresh: what the same runs would begin with."""
    state = State(**{name: np.array(value) for name, value in vars(resume.state).items()})
    for name in ("y", "held"):
        found, expected = getattr(state, name).shape, getattr(fresh, name).shape
        if found != expected:
            raise ValueError(
                f"resume: the state of the run that is continued has shape {found}; expected {expected} for the "
                "functions and settings given. Give those that it was run with."
            )
    state.status[state.status == Status.done] = Status.running
    if step is not None:
        state.h[:] = step
    return state
