"""A run's equations near a state, as matrices: everything that `gs.simulate` takes into account is in them.

    d/dt x = A x + B u,   y = C x + D u

x: dq in tangent coordinates (as `step_configuration` takes them), dv, the law's memory and lagging loads, each less its
value at the point; u: loads added to the command. With Jr the derivative of what constraints hold and of its rate,
states that keep it are

    x = N x_f,  Jr N = 0,      d/dt x_f = (A N x)_f                                                                  (1)

x_f: as many of the coordinates as are free, N (with rows N_f = 1) the rest by them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..algebra import Array
from ..constraints import AbstractConstraint, Residuals
from ..control.controller import Controller
from ..control.passive import Actuators, Stops
from ..environment import Environment
from ..model import Role, Spacecraft, nearest
from ..simulation.problem.closure import require_closed
from ..simulation.result.dataset import coordinate_names
from ..tracing.linearization import tangent_rates
from .sensitivities import (
    Point,
    constraint_derivatives,
    output_derivatives,
    point_at,
    rate_derivatives,
    rates,
)

DEPENDENT = 1e-9  # a constraint whose own part is smaller than this share is implied by the others


@dataclass(frozen=True, eq=False)
class Linearization:
    """d/dt x = A x + B u, y = C x + D u near a state; see `gs.linearize`.

    states, inputs, outputs: names with units. basis (nv + nv + memory + loads, n): x in all tangent coordinates [dq;
    dv; dz; dload]. vdot: accelerations at the point, zero in an equilibrium.
    """

    craft: Spacecraft
    t: float
    q: Array
    v: Array
    A: Array
    B: Array
    C: Array
    D: Array
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    basis: Array
    vdot: Array

    def inputs_of(self, *joints: str) -> Array:
        """Columns of B that belong to these joints."""
        return np.concatenate([np.arange(self.craft.nv)[self.craft.joint_named(name).v_at] for name in joints])

    def state(self, name: str) -> int:
        """Where a state of that name stands in x."""
        if name not in self.states:
            raise ValueError(f"no state '{name}'. {nearest(name, self.states)}")
        return self.states.index(name)

    def to_control(self, joints: Sequence[str] | None = None) -> Any:
        """A `StateSpace` of python-control (`pip install "gyrostat[control]"`), with names; inputs of these joints
        only, if given.
        """
        try:
            import control
        except ImportError:
            raise ImportError('to_control() needs python-control: pip install "gyrostat[control]".') from None
        at = np.arange(len(self.inputs)) if joints is None else self.inputs_of(*joints)
        return control.StateSpace(
            self.A,
            self.B[:, at],
            self.C,
            self.D[:, at],
            states=[_plain(name) for name in self.states],
            inputs=[_plain(self.inputs[k]) for k in at],
            outputs=[_plain(name) for name in self.outputs],
            name=_plain(self.craft.name),
        )


def linearize(
    craft: Spacecraft,
    q: Any = None,
    v: Any = None,
    tau: Any = None,
    *,
    t: float = 0.0,
    control: Callable[..., Any] | Controller | None = None,
    environment: Callable[..., Any] | Environment | None = None,
    constraints: Sequence[AbstractConstraint] | None = None,
    prescribed: Mapping[str, Any] | None = None,
    locked: Sequence[str] | None = None,
    actuators: Actuators | None = None,
    stops: Stops | None = None,
    formulation: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    inputs: Mapping[str, Any] | None = None,
    seed: Any = None,
    memory: Any = None,
    outputs: Callable[..., Any] | None = None,
) -> Linearization:
    """A, B, C, D of the motion near (q, v) at time t: springs, dampers, environment, control law, motors, stops and
    constraints included.

    Options are those of `gs.simulate`, with the same meaning. tau: a load added to the law's command; inputs u are
    changes of it, one for each rate. memory: of a `Controller` with one (its `state0` by default); it is part of the
    state. A sampled law is refused. Coordinates of prescribed and locked joints are no states, nor are angles of
    wheels. Constraints must hold at (q, v); the states are then as many coordinates as they leave free. outputs(craft,
    t, q, v) gives C and D; without it y is x. Away from an equilibrium (`gs.equilibrium`), x is the distance from the
    motion that starts in (q, v).
    """
    point = point_at(locals())
    if constraints:
        found = point.equations.residuals(point.x)
        require_closed(point.equations, Residuals(*(np.asarray(part, dtype=float)[None] for part in found)))
    return linearization(point, outputs)


def linearization(point: Point, outputs: Callable[..., Any] | None = None) -> Linearization:
    """Of a point whose constraints hold."""
    craft, parts = point.craft, point.parts
    carried, moving = tangent_rates(craft, point.part("q"), point.part("v"))
    found = rate_derivatives(point)
    all_rates = np.zeros((parts["u"].start, point.size))
    all_rates[parts["q"], parts["q"]], all_rates[parts["q"], parts["v"]] = carried, np.diag(moving)
    for name in ("v", "z", "load"):
        all_rates[parts[name]] = found[name]
    A, B = all_rates[:, : parts["u"].start], all_rates[:, parts["u"]]
    kept = _kept(point, moving, found["load"])
    N, free = _free_coordinates(point, kept)
    names = np.array(_state_names(point))
    inputs = tuple(f"tau {name} ({unit})" for name, unit in zip(*_rate_names(craft, "N"), strict=True))
    C, D, measured = np.eye(len(free)), np.zeros((len(free), craft.nv)), tuple(names[free])
    if outputs is not None:
        by_d = output_derivatives(point, outputs)
        C, D = by_d[:, : parts["u"].start] @ N, by_d[:, parts["u"]]
        measured = tuple(f"y {k}" for k in range(len(C)))
    return Linearization(
        craft,
        point.t,
        np.asarray(point.part("q"), dtype=float),
        np.asarray(point.part("v"), dtype=float),
        A[free] @ N,
        B[free],
        C,
        D,
        tuple(str(name) for name in names[free]),
        inputs,
        tuple(str(name) for name in measured),
        N,
        rates(point).vdot,
    )


def _kept(point: Point, moving: Array, by_load: Array) -> Array:
    """Places of the states: no angles of wheels, nothing of joints whose motion is given, no loads where no motor ever
    acts.
    """
    craft, parts = point.craft, point.parts
    given = np.zeros(craft.nv, dtype=bool)
    for name in point.equations.prescribed:
        given[craft.joint_named(name).v_at] = True
    keep = np.ones(parts["u"].start, dtype=bool)
    keep[parts["q"]] = (moving > 0) & ~given
    keep[parts["v"]] = ~given
    if parts["load"].stop > parts["load"].start:
        motor = np.zeros(craft.nv, dtype=bool)
        motor[craft.at(Role.driven, Role.wheel)] = True
        others = by_load[:, : parts["load"].start]
        keep[parts["load"]] = (motor | others.any(axis=1)) & ~given
    return np.flatnonzero(keep)


def _free_coordinates(point: Point, kept: Array) -> tuple[Array, Array]:
    """N (all, n) and the places of x_f among all coordinates (1)."""
    parts = point.parts
    everything = parts["u"].start
    if not point.equations.constraints:
        return np.eye(everything)[:, kept], kept
    position, velocity = constraint_derivatives(point)
    by_q, by_v = (kept[(kept >= parts[name].start) & (kept < parts[name].stop)] for name in ("q", "v"))
    rest = kept[kept >= parts["v"].stop]
    bound_q, by_free_q = _eliminated(position[:, by_q])
    bound_v, by_free_v = _eliminated(velocity[:, by_v])
    free_q, free_v = np.delete(by_q, bound_q), np.delete(by_v, bound_v)
    free = np.concatenate([free_q, free_v, rest])
    N = np.zeros((everything, len(free)))
    N[free, np.arange(len(free))] = 1.0
    q_columns, v_columns = np.arange(len(free_q)), len(free_q) + np.arange(len(free_v))
    N[np.ix_(by_q[bound_q], q_columns)] = by_free_q
    N[np.ix_(by_v[bound_v], v_columns)] = by_free_v
    # velocities also follow positions: Jv dv + Jq N_q dq = 0, with the free velocities as they are
    needed = np.linalg.lstsq(velocity[:, by_v[bound_v]], -velocity[:, by_q] @ N[np.ix_(by_q, q_columns)], rcond=None)[0]
    N[np.ix_(by_v[bound_v], q_columns)] = needed
    return N, free


def _eliminated(J: Array) -> tuple[Array, Array]:
    """Which columns of J are bound by J x = 0, and x there by the others: pivoted elimination, implied rows left
    out.
    """
    from scipy.linalg import qr

    if not J.size:
        return np.zeros(0, dtype=int), np.zeros((0, J.shape[1]))
    R, order = qr(J, mode="r", pivoting=True)
    size = np.abs(np.diag(R))
    rank = int((size > DEPENDENT * size[0]).sum()) if size[0] > 0 else 0
    bound, others = np.sort(order[:rank]), np.sort(order[rank:])
    return bound, -np.linalg.lstsq(J[:, bound], J[:, others], rcond=None)[0]


def _rate_names(craft: Spacecraft, unit: str) -> tuple[list[str], list[str]]:
    """Names of the rates, and units of their integrals ("m"), of themselves ("m/s") or of their loads ("N")."""
    _, names, _, units = coordinate_names(craft)
    integral = [u.removesuffix("/s") for u in units]
    loads = [{"rad": "N m", "m": "N"}.get(u, f"J per {u}" if u else "") for u in integral]
    return names, {"m": integral, "m/s": units, "N": loads}[unit]


def _state_names(point: Point) -> list[str]:
    craft, at = point.craft, point.equations.layout
    found = [f"{n} ({u})" for unit in ("m", "m/s") for n, u in zip(*_rate_names(craft, unit), strict=True)]
    found += [f"memory {k}" for k in range(at.width("z"))]
    return found + [f"load {n} ({u})" for n, u in zip(*_rate_names(craft, "N"), strict=True)][: at.width("load")]


def _plain(name: str) -> str:
    """As python-control takes it: it gives dots a meaning of its own."""
    return name.replace(".", "_")
