"""The runs of a batch: initial states, and what each run has of its own."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...algebra import Array
from ...algebra.reals import reals
from ...kinematics import neutral
from ...model import Spacecraft, ValueCheck, difference
from ...tracing.random import whole
from ..engine.system import State
from ..result.trajectory import Trajectory
from .balance import held_by
from .equations import Equations
from .free_memory import require_memory
from .layout import Layout
from .varied import Varied, initial, of_momentum, values_needed, varied_of
from .varied import count as columns_of

Shapes = dict[str, tuple[int, ...]]


@dataclass(frozen=True)
class Runs:
    """constants: (runs, k), as the equations take them: number, epoch, momentum (if conserved), inputs, parameters."""

    q: Array  # (runs, nq)
    v: Array  # (runs, nv)
    single: bool  # no batch axis was given
    constants: Array
    inputs: Shapes  # what one run sees
    parameters: Mapping[str, Array]  # (runs, *shape)
    numbers: Array  # (runs,)
    varied: tuple[Varied, ...] = ()

    @property
    def count(self) -> int:
        return len(self.q)

    @property
    def parameter_shapes(self) -> Shapes:
        return {name: value.shape[1:] for name, value in self.parameters.items()}


def begin(
    craft: Spacecraft,
    q0: Any,
    v0: Any,
    parameters: Mapping[str, Any] | None,
    inputs: Mapping[str, Any] | None,
    runs: Any,
    conserve: bool,
    epoch: float = 0.0,
    sensitivities: Sequence[str] = (),
) -> Runs:
    q, v, single = _initial_state(craft, q0, v0)
    given = values_needed(craft, sensitivities, parameters)
    own_axis = [np.shape(x)[0] for name, x in given.items() if np.ndim(x) > np.ndim(craft.value(name))]
    counts = {n for n in (len(q), *own_axis) if n != 1}
    if len(counts) > 1:
        raise ValueError(f"initial states and parameters have different numbers of runs: {sorted(counts)}.")
    count = counts.pop() if counts else 1
    single = single and not own_axis
    q, v = np.broadcast_to(q, (count, craft.nq)), np.broadcast_to(v, (count, craft.nv))
    values = _per_run(given, count, lambda name, _: np.shape(craft.value(name)), "parameters")
    if values:
        ValueCheck(craft, list(values))(values if own_axis else {name: x[0] for name, x in values.items()})
    shown = _per_run(inputs or {}, count, lambda _, x: np.shape(x) if single else np.shape(x)[1:], "inputs")
    numbers = _numbers(runs, count)
    parts = [whole(numbers)[:, None], np.full((count, 1), epoch)]
    if conserve:
        parts.append(_momenta(craft, q, v, values))
    parts += [x.reshape(count, -1) for x in (*shown.values(), *values.values())]
    shapes = {name: x.shape[1:] for name, x in shown.items()}
    varied = varied_of(craft, sensitivities, shapes)
    if conserve and varied:
        parts.append(of_momentum(craft, varied, q, v, values).reshape(count, -1))
    return Runs(q, v, single, np.hstack(parts), shapes, values, numbers, varied)


def continued(craft: Spacecraft, resume: Trajectory, sensitivities: Sequence[str], *left_out: Any) -> Runs:
    """The runs of a trajectory; left_out: what must not be given anew."""
    if any(x is not None for x in left_out):
        raise ValueError(
            "resume: q0, v0, parameters, inputs and runs are those of the run that is continued. Leave them out."
        )
    if [(b.name, b.joint.kind) for b in craft.bodies] != [(b.name, b.joint.kind) for b in resume.craft.bodies]:
        raise ValueError(f"resume: the trajectory belongs to {resume.craft!r}, not to {craft!r}.")
    other = difference(craft, resume.craft)
    if other:
        raise ValueError(
            f"resume: {craft.name} is not as it was in the run that is continued: {other}. Go on with "
            "trajectory.craft, or run it anew."
        )
    count = len(resume.state.t)
    q, v = (x.reshape(count, -1) for x in resume.final)
    inputs = {name: tuple(shape) for name, shape in resume.data.attrs.get("inputs", {}).items()}
    numbers = resume.data["run"].values if resume.batched else np.zeros(count, dtype=np.int64)
    varied = varied_of(craft, sensitivities, inputs)
    return Runs(q, v, not resume.batched, resume.constants, inputs, resume.parameters, numbers, varied)


def _numbers(runs: Any, count: int) -> Array:
    """Of the runs, as integers."""
    if runs is None:
        return np.arange(count, dtype=np.int64)
    given = np.asarray(runs)
    if (
        given.dtype.kind not in "iuf"
        or (given != np.floor(given)).any()
        or (np.abs(given.astype(float)) >= 2.0**63).any()
    ):
        raise ValueError(f"runs are {runs!r:.80}; expected whole numbers below 2^63.")
    if given.shape not in ((), (count,)):
        raise ValueError(f"runs has shape {given.shape}; expected the numbers of {count} runs.")
    return np.broadcast_to(given.astype(np.int64), (count,))


def _initial_state(craft: Spacecraft, q0: Any, v0: Any) -> tuple[Array, Array, bool]:
    q, v = neutral(craft) if q0 is None else craft.q(q0), np.zeros(craft.nv) if v0 is None else craft.v(v0)
    runs = max(math.prod(np.shape(x)[:-1]) for x in (q, v))
    require_memory(runs, 0, craft.nq + craft.nv)  # before anything is written out: one row may stand for all
    q, v = reals(q, "q0"), reals(v, "v0")
    for name, x, size in (("q0", q, craft.nq), ("v0", v, craft.nv)):
        if x.ndim == 0 or x.shape[-1] != size:
            raise ValueError(f"{name} has shape {x.shape}; expected ({size},), or (runs, {size}), for {craft.name}.")
        if not np.isfinite(x).all():
            raise ValueError(f"{name} holds numbers that are not finite: {x[~np.isfinite(x)][:3]}.")
    for joint in craft.joints:
        if joint.motion.quaternion is not None:
            norms = np.linalg.norm(q[..., joint.q_at][..., joint.motion.quaternion], axis=-1)
            wrong = np.abs(norms - 1.0) > 1e-6
            if wrong.any():
                raise ValueError(
                    f"q0: the quaternion of joint '{joint.name}' has norm {float(np.ravel(norms[wrong])[0]):.6g}; "
                    "expected 1. It is scalar first; scale it, or start from gs.neutral(craft)."
                )
    single = q.ndim == 1 and v.ndim == 1
    try:
        batch = np.broadcast_shapes(q.shape[:-1], v.shape[:-1])
    except ValueError:
        raise ValueError(f"q0 {q.shape} and v0 {v.shape} have different numbers of runs.") from None
    q = np.broadcast_to(q, (*batch, craft.nq)).reshape(-1, craft.nq)
    if not len(q):
        raise ValueError(f"q0 {q.shape} and v0 {v.shape} hold no run at all.")
    return q, np.broadcast_to(v, (*batch, craft.nv)).reshape(-1, craft.nv), single


def _per_run(
    given: Mapping[str, Any], count: int, shape_of: Callable[[str, Any], tuple[int, ...]], what: str
) -> dict[str, Array]:
    """Values as (runs, *shape), with the shape that one run sees."""
    values = {}
    for name, value in given.items():
        shape, array = shape_of(name, value), reals(value, f"{what}['{name}']")
        try:
            values[name] = np.broadcast_to(array, (count, *shape))
        except ValueError:
            raise ValueError(
                f"{what}['{name}'] has shape {array.shape}; expected one value for all runs, or {count} of them on a "
                "first axis (1 on it where all runs share an array)."
            ) from None
    return values


def _momenta(craft: Spacecraft, q: Array, v: Array, values: Mapping[str, Array]) -> Array:
    rows = []
    for k in range(len(q)):
        own = {name: value[k] for name, value in values.items()}
        rows.append(held_by(craft.with_values(own) if own else craft, q[k], v[k]).momentum)
    return np.array(rows, dtype=float)


def start(equations: Equations, runs: Runs, t: float, step: float | None) -> State:
    """The state of runs that have made no step yet; held values of a sampled controller are still to be computed."""
    at, count = equations.layout, runs.count
    y, held = np.zeros((count, at.n)), np.zeros((count, at.n_held))
    y[:, at.row("q")] = runs.q
    y[:, at.row("v")] = runs.v[:, 6:] if equations.conserve else runs.v
    if equations.control is not None:
        if equations.sampled:
            held[:, at["held_z"].start - at.held.start : at["held_z"].stop - at.held.start] = equations.control.state0
            held[:, at["sample"].start - at.held.start] = -1.0  # no sample yet
        else:
            y[:, at.row("z")] = equations.control.state0
    if equations.varied:
        S = np.zeros((count, at.varied.stop - at.varied.start, columns_of(equations.varied)))
        begun = initial(equations.craft, equations.varied, runs.q, runs.v)
        begun = (
            np.delete(begun, np.arange(runs.q.shape[1], runs.q.shape[1] + 6), axis=1) if equations.conserve else begun
        )
        S[:, : begun.shape[1]] = begun
        y[:, at.row("S")] = S.reshape(count, -1)
    return State.begin(np.full(count, t), y, held, np.full(count, step or 0.0))


def carry_on(equations: Equations, state: State, after: Trajectory, same_law: bool) -> bool:
    """What goes on from the run before: loads of motors that lag; memory and samples, where the same law acts.

    True if held values do.
    """
    before = after.equations
    assert before is not None
    at, old = equations.layout, before.layout
    here, there = same_places(equations.craft, before.craft)
    if at.width("load") and old.width("load"):
        state.y[:, at.row("load")][:, here] = after.state.y[:, old.row("load")][:, there]
    if not same_law:
        return False
    state.y[:, at.row("z")] = after.state.y[:, old.row("z")]
    if at.n_held == old.n_held:
        state.held[:] = after.state.held
    else:  # another model: torques are held joint by joint
        for name in ("held_z", "sample"):
            state.held[:, _in_held(at, name)] = after.state.held[:, _in_held(old, name)]
        state.held[:, _in_held(at, "held")][:, here] = after.state.held[:, _in_held(old, "held")][:, there]
    return bool(at.n_held)


def _in_held(at: Layout, name: str) -> slice:
    return slice(at[name].start - at.held.start, at[name].stop - at.held.start)


def same_places(craft: Spacecraft, other: Spacecraft) -> tuple[Array, Array]:
    """Places in v of the joints that both have, by name: of the one and of the other."""
    known = {joint.name: joint for joint in other.joints}
    pairs = [(j, known[j.name]) for j in craft.joints if j.name in known and known[j.name].nv == j.nv]
    mine = [k for joint, _ in pairs for k in range(joint.v_at.start, joint.v_at.stop)]
    theirs = [k for _, joint in pairs for k in range(joint.v_at.start, joint.v_at.stop)]
    return np.array(mine, dtype=int), np.array(theirs, dtype=int)


def arguments(equations: Equations, runs: Runs, state: State) -> Array:
    """x of every run, (runs, size)."""
    return np.hstack([state.t[:, None], state.y, state.held, constants(equations, runs)])


def constants(equations: Equations, runs: Runs) -> Array:
    """With room for what Python computes."""
    at = equations.layout
    room = at.size - at["run"].start - runs.constants.shape[1]
    return np.hstack([runs.constants, np.zeros((runs.count, room))])
