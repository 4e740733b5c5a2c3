"""`gs.simulate`: from a spacecraft, its state and what acts on it, to a Trajectory."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..algebra import Array
from ..control.controller import Controller
from ..control.passive import Actuators, Stops
from ..environment import Environment
from ..formulations import recursive
from ..model import Spacecraft, nearest
from ..tracing import Kernel, TraceError, trace
from .dataset import dataset
from .engine import EventSpec, Outcome, Plan, Record, State, System, initial_samples, integrate
from .equations import Equations
from .progress import progress_bar
from .stepper import Status
from .tableaus import METHODS
from .trajectory import Event, Trajectory

DEFAULT_TIMES = 401


@dataclass(frozen=True, eq=False)
class When:
    """An event: `function(craft, t, q, v)` changes sign. direction: +1 rising, -1 falling, 0 both.

    terminal: the run stops there. effect(craft, t, q, v) -> (q, v): the state jumps there, and the run goes on.
    """

    function: Callable[..., Any]
    name: str = ""
    terminal: bool = False
    direction: int = 0
    effect: Callable[..., tuple[Any, Any]] | None = None


class SimulationWarning(UserWarning):
    """A run did not reach its end, or is slower than it could be."""


def simulate(
    craft: Spacecraft,
    q0: Any = None,
    v0: Any = None,
    t_span: Any = None,
    *,
    control: Callable[..., Any] | Controller | None = None,
    environment: Callable[..., Any] | Environment | None = None,
    formulation: str = "recursive",
    integrator: str = "dop853",
    rtol: Any = 1e-10,
    atol: Any = 1e-12,
    step: float | None = None,
    max_step: float | None = None,
    save_at: Any = None,
    events: Sequence[Any] = (),
    breakpoints: Any = (),
    prescribed: Mapping[str, Any] | None = None,
    locked: Sequence[str] = (),
    actuators: Actuators | None = None,
    stops: Stops | None = None,
    conserve: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    inputs: Mapping[str, Any] | None = None,
    seed: int = 0,
    runs: Any = None,
    threads: int | None = None,
    max_steps: int = 2_000_000,
    resume: Trajectory | None = None,
    progress: bool | None = None,
) -> Trajectory:
    """How the spacecraft moves from `q0, v0` over `t_span`, compiled. Leading batch axes of q0 and v0 are runs.

    control(craft, t, q, v) -> tau, or a `Controller` with memory. environment(craft, t, q, v) -> wrenches, or an `Environment`.
    integrator: "dop853" (order 8) or "rk45", which choose their steps by rtol and atol (numbers, or one per component of q and v);
        "rk4" or "gauss6" (implicit, symplectic, order 6) with a fixed `step`. A `step` makes the others fixed too.
    save_at: times to keep; by default 401 from start to end. events: functions of (craft, t, q, v), or `When(...)`.
    breakpoints: times at which loads jump; the integrator stops and starts there.
    prescribed: {joint: acceleration, or function of t}: it follows, whatever the load. locked: joints that stay as they are.
    actuators: saturation, lag and rate limit of all motors. stops: smooth end stops at the joints' limits.
    conserve="momentum": where nothing acts from outside, the base follows from the conserved momentum, which then holds to
        round-off at any tolerance.
    parameters: {"link_3.mass": (runs,)}: each run's own values. inputs: {"gain": (runs, ...)}: what control laws, environments and
        events may ask for by argument name, besides `run`, `sample` and `seed`. runs: the runs' numbers, 0, 1, ... by default.
    max_steps: attempted steps after which a run is interrupted, as by Ctrl-C.
    resume: continue an interrupted run, or one that shall go on to a later end of t_span.
    """
    method = _choice(integrator, METHODS, "integrator")
    fixed = step is not None
    if not fixed and method in ("rk4", "gauss6"):
        raise ValueError(
            f"integrator '{method}' takes fixed steps: give step= in seconds, or choose 'dop853' or 'rk45'."
        )
    span, save = _times(t_span, save_at, step, resume)
    q, v, single = _initial_state(craft, q0, v0, resume)
    count = _run_count(craft, q, parameters)
    single = (
        single and count == 1 and all(np.shape(x) == np.shape(craft.value(n)) for n, x in (parameters or {}).items())
    )
    q, v = np.broadcast_to(q, (count, craft.nq)), np.broadcast_to(v, (count, craft.nv))
    values, value_shapes = _per_run(parameters, count, lambda name, _: np.shape(craft.value(name)), "parameters")
    given, given_shapes = _per_run(inputs, count, lambda _, value: _own_shape(value, count, single), "inputs")

    equations = Equations(
        craft,
        _controller(control),
        environment if isinstance(environment, Environment) or environment is None else Environment(environment),
        _dynamics(craft, formulation),
        float(span[0]) if resume is None else float(resume.data.attrs["t0"]),
        _prescribed(craft, prescribed, locked, v),
        actuators,
        stops,
        _conserves(craft, conserve, environment),
        True,
        seed,
        given_shapes,
        value_shapes,
    )
    equations = _settled(equations)
    kernels = _compile(equations, events)
    momentum = _momenta(craft, q, v, values) if equations.conserve else np.zeros((count, 0))
    numbers = np.arange(count, dtype=float) if runs is None else np.broadcast_to(np.asarray(runs, float), (count,))
    constants = np.hstack([numbers[:, None], momentum, *given.values(), *values.values()])
    if equations.python_control:
        width = equations.layout.width("python tau") + equations.layout.width("python zdot")
        constants = np.hstack([constants, np.zeros((count, width))])

    state = _start(equations, q, v, count, step, span) if resume is None else _restart(resume, step)
    stop_times, samples = _stops(equations, span, breakpoints, save if fixed else ())
    tolerances = _tolerances(equations, rtol, atol)
    plan = Plan(
        method,
        stop_times,
        samples,
        save,
        *tolerances,
        fixed,
        float(max_step or max(span[1] - span[0], 1e-300)) if not fixed else float(step or 0.0),
        threads,
        max_steps,
    )
    if resume is None:
        initial_samples(kernels, state, constants, range(count))
    first = np.hstack([state.y, state.held])
    with progress_bar(progress, f"{craft.name}: simulating") as tell:
        outcome = integrate(kernels, plan, state, constants, tell)
    if resume is None:
        outcome.saved[:, plan.saves == span[0]] = first[:, None, :]
    settings = {"formulation": formulation, "rtol": rtol, "atol": atol, "step": step, "seed": seed}
    own = {name: value.reshape(count, *value_shapes[name]) for name, value in values.items()}
    return _trajectory(equations, outcome, plan, constants, own, single, settings, span, resume)


# ---- reading the arguments


def _choice(name: str, known: Mapping[str, Any], what: str) -> str:
    if name not in known:
        raise ValueError(f"{what} '{name}' is not known. {nearest(str(name), known)}")
    return name


def _times(t_span: Any, save_at: Any, step: float | None, resume: Trajectory | None) -> tuple[Array, Array]:
    """(start, end), and the times to keep."""
    if t_span is None:
        if resume is None:
            raise TypeError("simulate needs t_span=(start, end) in seconds.")
        t_span = resume.data.attrs["t_span"]
    span = np.asarray(t_span, dtype=float)
    if span.shape != (2,) or not np.isfinite(span).all() or not span[0] <= span[1]:
        raise ValueError(f"t_span is {t_span!r}; expected (start, end) in seconds, the end not before the start.")
    if step is not None and not step > 0:
        raise ValueError(f"step is {step}; expected a positive number of seconds.")
    if save_at is None:
        if resume is not None and tuple(span) == tuple(resume.data.attrs["t_span"]):
            return span, resume.time
        if resume is not None:
            later = np.linspace(resume.time[-1], span[1], DEFAULT_TIMES)
            return span, np.concatenate([resume.time, later[later > resume.time[-1]]])
        if step is None:
            return span, np.linspace(span[0], span[1], DEFAULT_TIMES)
        steps = max(1, round((span[1] - span[0]) / step))
        every = max(1, -(-steps // (DEFAULT_TIMES - 1)))
        save = span[0] + step * np.arange(0, steps + 1, every)
        return span, np.append(save[save < span[1] - 1e-9 * step], span[1])
    save = np.atleast_1d(np.asarray(save_at, dtype=float))
    if save.ndim != 1 or not np.isfinite(save).all() or (np.diff(save) <= 0).any():
        raise ValueError("save_at must be increasing times in seconds.")
    if save[0] < span[0] or save[-1] > span[1]:
        raise ValueError(f"save_at runs from {save[0]} to {save[-1]} s, beyond t_span ({span[0]}, {span[1]}).")
    return span, save


def _initial_state(craft: Spacecraft, q0: Any, v0: Any, resume: Trajectory | None) -> tuple[Array, Array, bool]:
    if resume is not None:
        if (craft.nq, craft.nv) != (resume.craft.nq, resume.craft.nv):
            raise ValueError(f"resume: the trajectory belongs to {resume.craft!r}, not to {craft!r}.")
        at = len(resume.state.t)
        q, v = resume.q.reshape(at, -1, craft.nq)[:, 0], resume.v.reshape(at, -1, craft.nv)[:, 0]
        return q, v, not resume.batched
    q = recursive.neutral(craft) if q0 is None else np.asarray(q0, dtype=float)
    v = np.zeros(craft.nv) if v0 is None else np.asarray(v0, dtype=float)
    for name, x, size in (("q0", q, craft.nq), ("v0", v, craft.nv)):
        if x.ndim == 0 or x.shape[-1] != size:
            raise ValueError(f"{name} has shape {x.shape}; expected ({size},), or (runs, {size}), for {craft.name}.")
        if not np.isfinite(x).all():
            raise ValueError(f"{name} holds numbers that are not finite: {x[~np.isfinite(x)][:3]}.")
    for joint in craft.joints:
        if joint.kind in ("free", "spherical"):
            norms = np.linalg.norm(q[..., joint.q_at][..., :4], axis=-1)
            if (np.abs(norms - 1.0) > 1e-6).any():
                raise ValueError(
                    f"q0: the quaternion of joint '{joint.name}' has norm {float(np.ravel(norms)[0]):.6g}; expected 1. "
                    f"It is scalar first; scale it, or start from gs.neutral(craft)."
                )
    single = q.ndim == 1 and v.ndim == 1
    batch = np.broadcast_shapes(q.shape[:-1], v.shape[:-1])
    q = np.broadcast_to(q, (*batch, craft.nq)).reshape(-1, craft.nq)
    return q, np.broadcast_to(v, (*batch, craft.nv)).reshape(-1, craft.nv), single


def _own_shape(value: Any, count: int, single: bool) -> tuple[int, ...]:
    """What one run sees of an input: without the axis of runs, if it has one."""
    shape = np.shape(value)
    return shape[1:] if not single and shape[:1] == (count,) else shape


def _run_count(craft: Spacecraft, q: Array, parameters: Mapping[str, Any] | None) -> int:
    counts = {len(q)} | {np.shape(x)[0] for n, x in (parameters or {}).items() if np.ndim(x) > np.ndim(craft.value(n))}
    counts.discard(1)
    if len(counts) > 1:
        raise ValueError(f"initial states and parameters have different numbers of runs: {sorted(counts)}.")
    return counts.pop() if counts else 1


def _per_run(
    given: Mapping[str, Any] | None, count: int, shape_of: Callable[[str, Any], tuple[int, ...]], what: str
) -> tuple[dict[str, Array], dict[str, tuple[int, ...]]]:
    """Values as (runs, size), and the shape that one run sees."""
    values, shapes = {}, {}
    for name, value in (given or {}).items():
        shape, array = shape_of(name, value), np.asarray(value, dtype=float)
        try:
            array = np.broadcast_to(array, (count, *shape))
        except ValueError:
            raise ValueError(
                f"{what}['{name}'] has shape {array.shape}; expected {shape}, or ({count}, ...) of them."
            ) from None
        values[name], shapes[name] = array.reshape(count, -1), shape
    return values, shapes


def _controller(control: Any) -> Controller | None:
    if control is None or isinstance(control, Controller):
        return control
    if not callable(control):
        raise TypeError(f"control is {control!r}; expected a function (craft, t, q, v) -> tau, or a Controller.")
    return Controller(control)


def _dynamics(craft: Spacecraft, formulation: str) -> Callable[..., Array]:
    try:
        module = importlib.import_module(f"..formulations.{formulation}", __package__)
    except ModuleNotFoundError:
        names = [
            "recursive",
            "dual_quaternion",
            "decoupled",
            "lie_lagrange",
            "generalized_jacobian",
            "attitude_lagrange",
        ]
        raise ValueError(f"formulation '{formulation}' is not known. {nearest(formulation, names)}") from None
    reason = module.supports(craft)
    if reason is not None:
        raise ValueError(f"formulation '{formulation}' does not support {craft.name}: {reason}")
    return module.forward_dynamics


def _prescribed(
    craft: Spacecraft, prescribed: Mapping[str, Any] | None, locked: Sequence[str], v: Array
) -> dict[str, Any]:
    if isinstance(locked, str):
        locked = [locked]
    motions = dict(prescribed or {})
    for name in motions:
        craft.joint_named(name)
    for name in locked:
        joint = craft.joint_named(name)
        if np.abs(v[..., joint.v_at]).max(initial=0.0) > 0:
            raise ValueError(f"joint '{name}' is locked, but v0 moves it at {v[0, joint.v_at]}. Set its rate to zero.")
        motions[name] = np.zeros(joint.nv)
    return motions


def _conserves(craft: Spacecraft, conserve: str | None, environment: Any) -> bool:
    if conserve is None:
        return False
    _choice(conserve, {"momentum": None}, "conserve")
    if craft.joint(craft.base).kind != "free":
        raise ValueError(f"conserve='momentum' needs a free base; {craft.name}'s is {craft.joint(craft.base).kind}.")
    if environment is not None:
        raise ValueError("conserve='momentum' holds where nothing acts from outside: leave out the environment.")
    return True


def _settled(equations: Equations) -> Equations:
    """Find out by tracing whether the control law can be compiled, and whether it loads the base from outside."""
    outside = equations.environment is not None or equations.craft.joint(equations.craft.base).kind != "free"
    if equations.control is None:
        return replace(equations, external_loads=outside)
    try:
        graph = trace(equations.controller, None, inputs={"x": (equations.layout.size,)})
    except TraceError as error:
        warnings.warn(
            f"the control law cannot be compiled and is called from Python at each step, which is slower.\n{error}",
            SimulationWarning,
            stacklevel=3,
        )
        equations = replace(equations, python_control=True)
    else:
        base = equations.craft.joint(equations.craft.base).v_at
        nodes = [graph.nodes[k] for k in graph.results[0][base]]
        outside = outside or any(node.op != "const" or node.data != 0.0 for node in nodes)
        if equations.conserve and outside:
            raise ValueError(
                "conserve='momentum' holds where nothing acts from outside, but the control law loads the base (the first six "
                "entries of tau). Return zeros there, or use wheels."
            )
        equations = replace(equations, external_loads=outside)
    if equations.conserve:
        equations = replace(equations, external_loads=False)
    return equations


# ---- compiling


def _compile(equations: Equations, events: Sequence[Any]) -> System:
    size, at = equations.layout.size, equations.layout
    specs, functions = _event_specs(equations, events)

    def compiled(function: Callable[[Array], Array]) -> Kernel:
        return Kernel(trace(function, None, inputs={"x": (size,)}))

    rhs: Any = compiled(equations.rhs)
    if equations.python_control:
        rhs = _with_python_control(equations, rhs)
    update: Any = None
    if equations.control is not None and equations.control.sampled:
        update = _python_update(equations) if equations.python_control else compiled(equations.update)
    watch: Any = None
    if functions:
        values = equations.event_values(functions)
        try:
            watch = compiled(values)
        except TraceError as error:
            warnings.warn(
                f"an event cannot be compiled and is called from Python.\n{error}", SimulationWarning, stacklevel=4
            )
            watch = _row_by_row(values)
    n = equations.state_at.stop - equations.state_at.start
    held = equations.held_at.stop - equations.held_at.start
    return System(rhs, n, update, held, watch, specs, size - at["run"].start)


def _row_by_row(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    return lambda x: np.array([np.asarray(function(row), dtype=float) for row in x])


def _python_update(equations: Equations) -> Callable[[Array], Array]:
    return _row_by_row(equations.update)


def _with_python_control(equations: Equations, rhs: Kernel) -> Callable[[Array], Array]:
    """Compiled dynamics, with the controller's result filled in from Python."""
    at = equations.layout
    sampled = equations.control is not None and equations.control.sampled

    def rows(x: Array) -> Array:
        for row in x:
            if sampled:
                row[at["python tau"]] = row[at["held"]]
            else:
                row[at["python tau"]], row[at["python zdot"]] = equations.controller(row)
        return rhs(x)

    return rows


def _event_specs(
    equations: Equations, events: Sequence[Any]
) -> tuple[tuple[EventSpec, ...], tuple[Callable[..., Any], ...]]:
    if callable(events) or isinstance(events, When):
        events = [events]
    specs, functions = [], []
    for k, event in enumerate(events):
        event = event if isinstance(event, When) else When(event)
        name = event.name or getattr(event.function, "__name__", "") or f"event {k}"
        effect = None if event.effect is None else _effect(equations, event.effect)
        specs.append(EventSpec(name, event.terminal, event.direction, effect))
        functions.append(event.function)
    return tuple(specs), tuple(functions)


def _effect(equations: Equations, effect: Callable[..., tuple[Any, Any]]) -> Callable[[Array, Array], Array]:
    """The jump of (q, v) as a jump of y."""
    if equations.conserve:
        raise ValueError("an event's effect cannot be combined with conserve='momentum'.")
    at, offset = equations.layout, equations.state_at.start

    def jump(x: Array, y: Array) -> Array:
        craft = equations._craft(x)
        q, v = effect(craft, x[0], x[at["q"]], equations.velocity(x))
        y = y.copy()
        y[at["q"].start - offset : at["q"].stop - offset] = q
        y[at["v"].start - offset : at["v"].stop - offset] = v
        return y

    return jump


# ---- running


def _momenta(craft: Spacecraft, q: Array, v: Array, values: Mapping[str, Array]) -> Array:
    rows = []
    for k in range(len(q)):
        own = {name: value[k].reshape(np.shape(craft.value(name))) for name, value in values.items()}
        rows.append(recursive.momentum(craft.with_values(own) if own else craft, q[k], v[k]))
    return np.array(rows, dtype=float)


def _start(equations: Equations, q: Array, v: Array, count: int, step: float | None, span: Array) -> State:
    at, offset = equations.layout, equations.state_at.start
    y = np.zeros((count, equations.state_at.stop - offset))
    y[:, at["q"].start - offset : at["q"].stop - offset] = q
    y[:, at["v"].start - offset : at["v"].stop - offset] = v[:, 6:] if equations.conserve else v
    held = np.zeros((count, equations.held_at.stop - equations.held_at.start))
    if equations.control is not None and equations.control.state0.size:
        memory = equations.control.state0
        if equations.control.sampled:
            held[:, -memory.size :] = memory
        else:
            y[:, at["z"].start - offset : at["z"].stop - offset] = memory
    zeros = np.zeros(count)
    return State(
        np.full(count, span[0]), y, held, np.full(count, step or 0.0), zeros.copy(), zeros.copy(), zeros.copy()
    )


def _restart(resume: Trajectory, step: float | None) -> State:
    s = resume.state
    state = State(*(np.array(a) for a in (s.t, s.y, s.held, s.h, s.status, s.steps, s.rejections)))
    state.status[state.status == Status.done] = Status.running
    if step is not None:
        state.h[:] = step
    return state


def _stops(equations: Equations, span: Array, breakpoints: Any, saves: Any) -> tuple[Array, Array]:
    """Times at which steps must end, and whether each is a sample of the controller."""
    times = np.concatenate(
        [np.atleast_1d(np.asarray(breakpoints, dtype=float)), np.asarray(saves, dtype=float), span[1:]]
    )
    samples: Array = np.zeros(0)
    if equations.control is not None and equations.control.sampled:
        period = equations.control.period
        assert period is not None
        last = int(np.floor((span[1] - equations.t0) / period + 1e-9))
        samples = equations.t0 + period * np.arange(1, last + 1)
        samples = samples[(samples > span[0]) & (samples < span[1])]
    times = np.unique(np.concatenate([times[(times > span[0]) & (times <= span[1])], samples]))
    near = np.append(np.diff(times) > 1e-12 * max(1.0, abs(span[1])), True)
    times = times[near]
    return times, np.isin(times, samples).astype(float)


def _tolerances(equations: Equations, rtol: Any, atol: Any) -> tuple[Array, Array, int]:
    """Per component of y; infinite where the error is not controlled (audit integrals)."""
    at, offset = equations.layout, equations.state_at.start
    craft, n = equations.craft, equations.state_at.stop - offset
    result = []
    for name, value in (("rtol", rtol), ("atol", atol)):
        given = np.asarray(value, dtype=float)
        if given.shape == (craft.nq + craft.nv,) and equations.conserve:
            given = np.delete(given, np.arange(craft.nq, craft.nq + 6))
        controlled = at["v"].stop - offset
        full = np.full(n, float(given.max()) if given.size else 0.0)
        if given.shape not in ((), (controlled,)):
            raise ValueError(
                f"{name} has shape {given.shape}; expected one number, or one for each of q and v ({craft.nq + craft.nv})."
            )
        full[:controlled] = given
        if not (full > 0).all() or not np.isfinite(full).all():
            raise ValueError(f"{name} is {value}; expected positive numbers.")
        result.append(full)
    smallest = 2.3e-14
    if (result[0] < smallest).any():
        raise ValueError(f"rtol is {np.min(result[0]):.3g}; float64 allows {smallest} at least.")
    free = slice(at["impulse"].start - offset, n)
    result[1][free] = np.inf
    return result[0], result[1], n - (free.stop - free.start)


def _keep_earlier_rows(data: Any, resume: Trajectory) -> None:
    """What the run that is continued had saved, bit for bit."""
    earlier = resume.data
    _, old, new = np.intersect1d(earlier["time"].values, data["time"].values, return_indices=True)
    at: Any = (slice(None), new) if resume.batched else (new,)
    for name in data.data_vars:
        known, current = earlier[name].values.take(old, axis=len(at) - 1), data[name].values
        current[at] = np.where(np.isnan(known), current[at], known)


# ---- the result


def _trajectory(
    equations: Equations,
    outcome: Outcome,
    plan: Plan,
    constants: Array,
    parameters: Mapping[str, Array],
    single: bool,
    settings: Mapping[str, Any],
    span: Array,
    resume: Trajectory | None,
) -> Trajectory:
    from .. import __version__

    craft, state = equations.craft, outcome.state
    failures = tuple(_failure(equations, state, k, single) for k in range(len(state.t)) if _failed(state.status[k]))
    for message in failures:
        warnings.warn(message, SimulationWarning, stacklevel=3)
    unfinished = state.status == Status.running
    if unfinished.any() and not outcome.interrupted:
        warnings.warn(
            f"{craft.name}: {int(unfinished.sum())} of {len(state.t)} runs took {plan.most_steps} steps and reached only "
            f"t = {state.t[unfinished].min():.6g} s. Go on with simulate(resume=trajectory), raise max_steps, loosen rtol, or look "
            f"for an unstable control law.",
            SimulationWarning,
            stacklevel=3,
        )
    data = dataset(equations, plan.saves, outcome.saved, constants, single)
    data.attrs = {
        "model": craft.name,
        "gyrostat": __version__,
        "integrator": plan.method,
        **settings,
        "t_span": tuple(float(t) for t in span),
        "t0": equations.t0,
        "failures": failures,
    }
    if resume is not None:
        _keep_earlier_rows(data, resume)
    interrupted = outcome.interrupted or bool(unfinished.any())
    events = tuple(_event(equations, record, constants) for record in outcome.records)
    return Trajectory(craft, data, state, constants, parameters, events, equations, interrupted)


def _event(equations: Equations, record: Record, constants: Array) -> Event:
    at, offset = equations.layout, equations.state_at.start
    held = np.zeros(equations.held_at.stop - equations.held_at.start)
    x = np.concatenate([[record.t], record.y, held, constants[record.run]])
    q = record.y[at["q"].start - offset : at["q"].stop - offset]
    return Event(record.run, record.event, record.t, q, equations.velocity(x))


def _failed(status: float) -> bool:
    return Status(int(status)) in (Status.underflow, Status.not_finite, Status.no_convergence)


_REASONS = {
    Status.underflow: "the step became too small to meet the tolerances (a singular or very stiff system)",
    Status.not_finite: "the state became infinite or no number",
    Status.no_convergence: "the implicit stages did not converge: use a smaller step",
}


def _failure(equations: Equations, state: State, k: int, single: bool) -> str:
    """When and why run k stopped, and the joint that moved fastest in its last good state."""
    at, offset, craft = equations.layout, equations.state_at.start, equations.craft
    rates = state.y[k, at["v"].start - offset : at["v"].stop - offset]
    rates = np.concatenate([np.zeros(6), rates]) if equations.conserve else rates
    fastest = max(craft.joints, key=lambda joint: np.abs(rates[joint.v_at]).max(initial=0.0))
    who = craft.name if single else f"{craft.name}, run {k}"
    rate = np.abs(rates[fastest.v_at]).max(initial=0.0)
    return (
        f"{who}: stopped at t = {state.t[k]:.9g} s: {_REASONS[Status(int(state.status[k]))]}. "
        f"Fastest joint there: '{fastest.name}' at {rate:.4g}. The last good state is kept."
    )
