"""What a caller of `simulate` asked for, read and checked: what was found, what is allowed."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..algebra import Array
from ..control.controller import Controller
from ..formulations import recursive
from ..model import Spacecraft, nearest
from .equations import Equations
from .trajectory import Trajectory

DEFAULT_TIMES = 401


def choice(name: str, known: Mapping[str, Any], what: str) -> str:
    if name not in known:
        raise ValueError(f"{what} '{name}' is not known. {nearest(str(name), known)}")
    return name


def times(t_span: Any, save_at: Any, step: float | None, resume: Trajectory | None) -> tuple[Array, Array]:
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


def initial_state(craft: Spacecraft, q0: Any, v0: Any, resume: Trajectory | None) -> tuple[Array, Array, bool]:
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


def run_count(craft: Spacecraft, q: Array, parameters: Mapping[str, Any] | None) -> int:
    counts = {len(q)} | {np.shape(x)[0] for n, x in (parameters or {}).items() if np.ndim(x) > np.ndim(craft.value(n))}
    counts.discard(1)
    if len(counts) > 1:
        raise ValueError(f"initial states and parameters have different numbers of runs: {sorted(counts)}.")
    return counts.pop() if counts else 1


def own_shape(value: Any, count: int, single: bool) -> tuple[int, ...]:
    """What one run sees of an input: without the axis of runs, if it has one."""
    shape = np.shape(value)
    return shape[1:] if not single and shape[:1] == (count,) else shape


def per_run(
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


def controller_of(control: Any) -> Controller | None:
    if control is None or isinstance(control, Controller):
        return control
    if not callable(control):
        raise TypeError(f"control is {control!r}; expected a function (craft, t, q, v) -> tau, or a Controller.")
    return Controller(control)


def dynamics_of(craft: Spacecraft, formulation: str) -> Callable[..., Array]:
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


def prescribed_motions(
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


def conserves(craft: Spacecraft, conserve: str | None, environment: Any) -> bool:
    if conserve is None:
        return False
    choice(conserve, {"momentum": None}, "conserve")
    if craft.joint(craft.base).kind != "free":
        raise ValueError(f"conserve='momentum' needs a free base; {craft.name}'s is {craft.joint(craft.base).kind}.")
    if environment is not None:
        raise ValueError("conserve='momentum' holds where nothing acts from outside: leave out the environment.")
    return True


def tolerances(equations: Equations, rtol: Any, atol: Any) -> tuple[Array, Array, int]:
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


def stops_of(equations: Equations, span: Array, breakpoints: Any, saves: Any) -> tuple[Array, Array]:
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
