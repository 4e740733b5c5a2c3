"""Derivatives of a run: of its coordinates, its frames, any function of its state, of when its events happen and where
it ends.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...algebra import Array
from ...kinematics import frame_pose, jacobian
from ...model import Spacecraft, nearest
from ...tracing import compile, jacobian_of
from ..engine.compiling import compiled
from ..engine.status import Status
from ..engine.system import Record, State
from ..problem.equations import Equations
from ..problem.events import event_moves, events_given
from ..problem.variations import velocities
from ..problem.varied import INPUT, Varied, count, labels, tangent_map, varied_of

if TYPE_CHECKING:
    from .trajectory import Trajectory


class FrameSensitivity(NamedTuple):
    """How a frame F answers to what was varied, ([runs,] times, 3 or 6, *shape of what was varied); all in N."""

    position: Array  # of its origin
    orientation: Array  # rotation vector of the small turn: dR_NF = (orientation)^ R_NF
    twist: Array  # of [w; velocity of its origin]


# ---- what a Dataset holds


def variables(equations: Equations, times: Array, rows: Array, constants: Array) -> dict[str, Any]:
    """q_by and v_by at rows (runs, times, y and held), as `dataset` takes them: dimensions, values, unit, meaning."""
    x = _arguments(equations, times, rows, constants)
    q_by, v_by = _state(equations, x)
    return {
        "q_by": (("q_name", "by"), q_by, "", "derivatives of the configuration, component by component"),
        "v_by": (("v_name", "by"), v_by, "", "derivatives of the velocity"),
    }


def by_labels(equations: Equations, v_names: Sequence[str]) -> list[str]:
    return labels(equations.craft, equations.varied, v_names)


def at_events(equations: Equations, events: Any, records: Sequence[Record], constants: Array) -> Array:
    """What the time of each event changes by, (records, columns)."""
    found = np.zeros((len(records), count(equations.varied)))
    for event in events_given(events or ()) if equations.varied else ():
        own = [k for k, record in enumerate(records) if record.event == event.name]
        if own:
            rows = np.array([np.concatenate([records[k].y, records[k].held]) for k in own])[:, None]
            times = np.array([[records[k].t] for k in own])
            x = _arguments(equations, times, rows, constants[[records[k].run for k in own]])[:, 0]
            moved = compiled(partial(event_moves, equations, event), equations.layout.size)
            found[own] = moved(x)
    return found


def at_ends(
    equations: Equations, state: State, records: Sequence[Record], moved: Array, constants: Array, single: bool
) -> dict[str, Any]:
    """Where each run ended, and when: an event that stopped it moves with what is varied, and the end with it."""
    x = _arguments(equations, state.t[:, None], np.hstack([state.y, state.held])[:, None], constants)
    q_by, v_by = (part[:, 0] for part in _state(equations, x))
    t_by = np.zeros((len(state.t), count(equations.varied)))
    stopped = np.flatnonzero(state.status == Status.stopped)
    if len(stopped):
        last = {record.run: k for k, record in enumerate(records)}
        rates = compiled(partial(_motion, equations), equations.layout.size)(x[stopped, 0])
        for run, qdot, vdot in zip(stopped.tolist(), *rates, strict=True):
            t_by[run] = moved[last[run]]
            q_by[run] += np.outer(qdot, t_by[run])
            v_by[run] += np.outer(vdot, t_by[run])
    lead = () if single else ("run",)
    values = {"t_end_by": ((), t_by), "q_end_by": (("q_name",), q_by), "v_end_by": (("v_name",), v_by)}
    about = {"long_name": "derivatives at the end of the run, which an event that stops it moves"}
    return {name: ((*lead, *dims, "by"), x[0] if single else x, about) for name, (dims, x) in values.items()}


def _state(equations: Equations, x: Array) -> tuple[Array, Array]:
    """Derivatives of q and v at x (runs, times, size)."""
    at, columns = equations.layout, count(equations.varied)
    S = x[..., at["S"]].reshape(*x.shape[:-1], -1, columns)
    nq = equations.craft.nq
    if equations.conserve:
        return S[..., :nq, :], compiled(partial(velocities, equations), at.size)(x)
    return S[..., :nq, :], S[..., nq : nq + equations.craft.nv, :]


def _motion(equations: Equations, x: Array) -> tuple[Array, Array]:
    """Rates of q and v."""
    signals, _, _ = equations.signals(x)
    return equations.state_rates(x)[: equations.craft.nq], signals.vdot


def _arguments(equations: Equations, times: Array, rows: Array, constants: Array) -> Array:
    at = equations.layout
    x = np.zeros((*rows.shape[:2], at.size))
    x[..., 0], x[..., 1 : 1 + rows.shape[-1]] = times, rows
    x[..., at["run"].start :][..., : constants.shape[1]] = constants[:, None]
    return x


# ---- what is asked of a trajectory


def sensitivity(trajectory: Trajectory, what: Any, by: str, at_end: bool) -> Any:
    """See `Trajectory.sensitivity`."""
    one = _varied(trajectory, by)
    place = "_end" if at_end else ""
    q, v = trajectory.data[f"q{place}"].values, trajectory.data[f"v{place}"].values
    S_q, S_v = (trajectory.data[f"{name}{place}_by"].values[..., one.columns] for name in ("q", "v"))
    craft = trajectory.craft

    def shaped(found: Array) -> Array:
        return found.reshape(found.shape[:-1] + one.shape)

    if isinstance(what, str) and what == "q":
        T = tangent_map(craft, q)
        length = (T * T).sum(axis=-2)
        return shaped(np.swapaxes(T, -1, -2) @ S_q / np.where(length == 0.0, 1.0, length)[..., None])
    if isinstance(what, str) and what == "v":
        return shaped(S_v)
    if isinstance(what, str) and what == "t_end":
        return trajectory.data["t_end_by"].values[..., one.columns].reshape(np.shape(trajectory.t_end) + one.shape)
    if callable(what):
        change, axes = _along(trajectory, what, one, q, v, S_q, S_v, at_end)
        return change.reshape(change.shape[: change.ndim - 2] + axes + one.shape)
    if not isinstance(what, str):
        raise TypeError(
            f"sensitivity of {what!r}; expected 'q', 'v', 't_end', a frame, or a function of (craft, t, q, v)."
        )
    change, _ = _along(trajectory, partial(_of_frame, what), one, q, v, S_q, S_v, at_end)
    return _frame(trajectory, what, q, change, shaped, at_end)


def event_times(trajectory: Trajectory, by: str) -> Array:
    """What the time of each of `trajectory.events` changes by, (events, *shape of what was varied)."""
    one = _varied(trajectory, by)
    if "t_event_by" not in trajectory.data:
        return np.zeros((0, *one.shape))
    return trajectory.data["t_event_by"].values[:, one.columns].reshape(-1, *one.shape)


def _varied(trajectory: Trajectory, by: str) -> Varied:
    names = trajectory.data.attrs.get("sensitivities", ())
    if by not in names:
        hint = nearest(str(by), list(names)) if names else "It was run without sensitivities=."
        raise ValueError(f"this run of {trajectory.craft.name} was not differentiated by '{by}'. {hint}")
    shapes = {name: tuple(shape) for name, shape in trajectory.data.attrs["inputs"].items()}
    return next(one for one in varied_of(trajectory.craft, names, shapes) if one.name == by)


def _of_frame(name: str, craft: Spacecraft, q: Array, v: Array) -> Array:
    R, p = frame_pose(craft, q, name)
    return np.concatenate([p, np.ravel(R), jacobian(craft, q, name) @ v])


def _orientation(craft: Spacecraft, q: Array, name: str) -> Array:
    return frame_pose(craft, q, name).R


def _named(given: Mapping[str, Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of a kernel."""
    return {**given, "parameters": parameters} if parameters else dict(given)


def _frame(trajectory: Trajectory, name: str, q: Array, change: Array, shaped: Any, at_end: bool) -> FrameSensitivity:
    own = _own_values(trajectory, not at_end)
    R = compile(_orientation, trajectory.craft, static={"name": name}, parameters=list(own))(**_named({"q": q}, own))
    turn = change[..., 3:12, :].reshape(*change.shape[:-2], 3, 3, change.shape[-1])
    W = np.einsum("...ijk,...lj->...ilk", turn, R)  # dR R^T = (orientation)^
    orientation = np.stack([W[..., 2, 1, :], W[..., 0, 2, :], W[..., 1, 0, :]], axis=-2)
    return FrameSensitivity(shaped(change[..., :3, :]), shaped(orientation), shaped(change[..., 12:, :]))


def _along(
    trajectory: Trajectory,
    function: Callable[..., Any],
    one: Varied,
    q: Array,
    v: Array,
    S_q: Array,
    S_v: Array,
    at_end: bool,
) -> tuple[Array, tuple[int, ...]]:
    """d function along the columns, (..., size, columns), and the shape of its value."""
    craft, times = trajectory.craft, not at_end
    own = _own_values(trajectory, times)
    shapes = {n: tuple(s) for n, s in trajectory.data.attrs["inputs"].items()}
    asked = list(inspect.signature(function).parameters)[1:]
    inputs = {name: shape for name, shape in shapes.items() if name in asked}
    wrt: list[str] = [name for name in ("q", "v") if name in asked]
    explicit = one.parameter or (one.name[len(INPUT) :] if one.name[len(INPUT) :] in inputs else None)
    if explicit is not None:
        wrt.append(explicit)

    def derivatives(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        return function(*args, **kwargs), jacobian_of(function, wrt)(*args, **kwargs)

    derivatives.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    kernel = compile(derivatives, craft, inputs=inputs or None, parameters=list(own))
    t = trajectory.t_end if at_end else trajectory.time
    given = {"t": t, "q": q, "v": v} | _own_inputs(trajectory, inputs, times)
    value, blocks = kernel(**_named({name: given[name] for name in asked if name in given}, own))
    axes = tuple(np.shape(value)[q.ndim - 1 :])
    size, lead = int(np.prod(axes, dtype=int)), q.shape[:-1]
    total = np.zeros((*lead, size, S_q.shape[-1]))
    for name, block in zip(wrt, blocks, strict=True):
        J = np.broadcast_to(block, (*lead, *np.shape(block)[len(lead) :])).reshape(*lead, size, -1)
        total = total + (J @ S_q if name == "q" else J @ S_v if name == "v" else J)
    return total, axes


def _own_values(trajectory: Trajectory, times: bool) -> dict[str, Array]:
    """Each run's parameters, to go with states (runs, [times,] n) or ([times,] n)."""
    if not trajectory.batched:
        return {name: x[0] for name, x in trajectory.parameters.items()}
    return {name: x[:, None] if times else x for name, x in trajectory.parameters.items()}


def _own_inputs(trajectory: Trajectory, inputs: Mapping[str, Any], times: bool) -> dict[str, Array]:
    """Each run's inputs: they stand after number, epoch and momentum."""
    place = 2 + (6 if trajectory.data.attrs.get("conserve") else 0)
    found = {}
    for name, shape in trajectory.data.attrs["inputs"].items():
        size = int(np.prod(shape, dtype=int))
        rows = trajectory.constants[:, place : place + size].reshape(-1, *shape)
        place += size
        if name in inputs:
            found[name] = rows[0] if not trajectory.batched else rows[:, None] if times else rows
    return found
