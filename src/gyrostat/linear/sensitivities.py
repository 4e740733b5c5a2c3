"""How the rates of a run answer small changes of its state, exactly, by differentiating the equations of motion where
they are short.

With d the changes (dq in tangent coordinates, dv, dz, dload, du), a the accelerations and l the multipliers of
constraints, the simulation's own right-hand side satisfies

    R(d, a, l) = [ID(q, v, a, wrenches) - tau;  G V_12dot + gamma] = 0         da = -(R_a R_l)^+ R_d dd          (1)

No equation is solved in R, so its derivatives are short; ID is inverse dynamics, the second row is that of the
constraints. A prescribed joint has the row a - given instead of its balance of loads.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..algebra import Array
from ..algebra.reals import reals
from ..constraints import NO_STABILISATION, residuals
from ..control.controller import Controller, call
from ..kinematics import arguments, step_configuration
from ..model import Spacecraft
from ..model.demands import demand_spacecraft
from ..simulation.prepare import equations_at
from ..simulation.problem.equations import Equations
from ..simulation.problem.request import Request
from ..simulation.problem.residual import residual
from ..tracing import TraceError, jacobian_of


@dataclass(frozen=True, eq=False)
class Point:
    """Equations of a run, a state x of it, and the load u that is added to the command of its law."""

    equations: Equations
    x: Array
    u: Array

    @property
    def craft(self) -> Spacecraft:
        """With the run's own values."""
        return self.equations.own_craft(self.x)

    @property
    def t(self) -> float:
        return float(self.x[0])

    def part(self, name: str) -> Array:
        """q, v, z or load."""
        return self.x[self.equations.layout[name]]

    @cached_property
    def parts(self) -> dict[str, slice]:
        """Where dq, dv, dz, dload and du stand in d."""
        nv, at = self.equations.craft.nv, self.equations.layout
        sizes = {"q": nv, "v": nv, "z": at.width("z"), "load": at.width("load"), "u": nv}
        ends = np.cumsum(list(sizes.values()))
        return {name: slice(int(end) - size, int(end)) for (name, size), end in zip(sizes.items(), ends, strict=True)}

    @property
    def size(self) -> int:
        return self.parts["u"].stop

    def moved(self, d: Array) -> Point:
        """The point with d added, on the manifold."""
        at, parts = self.equations.layout, self.parts
        x = np.array(self.x, dtype=object if d.dtype == object else float)
        x[at["q"]] = step_configuration(self.craft, self.part("q"), d[parts["q"]])
        for name in ("v", "z", "load"):
            x[at[name]] = x[at[name]] + d[parts[name]]
        return replace(self, x=x, u=self.u + d[parts["u"]])

    @cached_property
    def loaded(self) -> Equations:
        """The equations with u added to the command."""
        known = () if self.equations.control is None else self.equations.loads  # x has no room for the work of u
        return replace(self.equations, control=_with_load(self.equations.control, self.u), loads=known)


ASKED = (  # arguments of `gs.linearize` and `gs.equilibrium` that mean what they mean in `gs.simulate`
    "craft",
    "control",
    "environment",
    "constraints",
    "prescribed",
    "locked",
    "actuators",
    "stops",
    "formulation",
    "parameters",
    "inputs",
    "seed",
)


def point_at(given: Mapping[str, Any]) -> Point:
    """From the arguments of `linearize` or `equilibrium`, by name."""
    demand_spacecraft(given["craft"], "linearize, equilibrium", "matrices are")
    start = {"q0": given["q"], "v0": given["v"], "t_span": (given["t"], given["t"])}
    point = point_of(Request(**start, **{name: given[name] for name in ASKED}), given["tau"])
    if given["memory"] is None:
        return point
    at = point.equations.layout
    value = np.atleast_1d(reals(given["memory"], "memory"))
    if value.shape != (at.width("z"),):
        raise ValueError(f"memory has shape {value.shape}; expected ({at.width('z')},), as the law's state0.")
    x = point.x.copy()
    x[at["z"]] = value
    return replace(point, x=x)


def point_of(request: Request, tau: Any) -> Point:
    """The start of a run, if its equations can be differentiated there."""
    for name, given in (("q", request.q0), ("v", request.v0)):
        if given is not None and np.ndim(given) > 1:
            raise ValueError(
                f"{name} has shape {np.shape(given)}; expected one state. For a batch, call it for each, or compile "
                "gyrostat.tracing.linear_motion, the bare equations of motion."
            )
    equations, x = equations_at(replace(request, stabilisation=NO_STABILISATION))
    control = equations.control
    if control is not None and control.sampled:
        raise ValueError(
            f"the control law is sampled every {control.period} s and holds in between: it has no derivative in "
            "continuous time. Linearize without control=, then close the loop in discrete time: "
            f"gs.linearize(...).to_control().sample({control.period})."
        )
    nv = equations.craft.nv
    u = np.zeros(nv) if tau is None else arguments.rates(equations.craft, tau, "tau")
    for what, stuck in (("control law", equations.python_control), ("environment", equations.python_environment)):
        if stuck:
            raise ValueError(
                f"the {what} cannot be traced, so it cannot be differentiated: write it with gyrostat.algebra."
            )
    return Point(equations, x, u)


class Rates(NamedTuple):
    """What the state does at a point: accelerations, and rates of the law's memory and of lagging loads."""

    vdot: Array
    zdot: Array
    load_rate: Array
    multipliers: Array


def rates(point: Point) -> Rates:
    signals, zdot, load_rate = point.loaded.signals(point.x)
    multipliers = np.zeros(0) if signals.held is None else signals.held.multipliers
    return Rates(*(np.asarray(part, dtype=float) for part in (signals.vdot, zdot, load_rate, multipliers)))


def rate_derivatives(point: Point) -> dict[str, Array]:
    """d(vdot), d(zdot), d(load_rate) by d, (rows, size) each, by name (1)."""
    now = rates(point)
    nv, rows = len(now.vdot), len(now.multipliers)

    def residual(d: Array, y: Array) -> dict[str, Any]:
        return _residual(point.moved(d), y[:nv], y[nv:])

    zero, y = np.zeros(point.size), np.concatenate([now.vdot, now.multipliers])
    by_d, by_y = _differentiated(jacobian_of(residual, ("d", "y")), zero, y)
    if rows:  # some of them may be implied by others, and their multipliers any
        answer = -np.linalg.lstsq(by_y["balance"], by_d["balance"], rcond=1e-12)[0]
    else:
        answer = -np.linalg.solve(by_y["balance"], by_d["balance"])
    return {"v": answer[:nv], "z": by_d["zdot"], "load": by_d["load_rate"]}


def constraint_derivatives(point: Point) -> tuple[Array, Array]:
    """Of what the constraints hold, and of its rate, by d, (rows, size) each."""
    equations = point.equations

    def held(d: Array) -> Any:
        moved = point.moved(d)
        return residuals(moved.craft, point.t, moved.part("q"), moved.part("v"), equations.constraints)

    if not equations.constraints:
        return np.zeros((0, point.size)), np.zeros((0, point.size))
    found = _differentiated(jacobian_of(held, "d"), np.zeros(point.size))
    return np.asarray(found.position, dtype=float), np.asarray(found.velocity, dtype=float)


def output_derivatives(point: Point, outputs: Callable[..., Any]) -> Array:
    """Of a function of (craft, t, q, v), (rows, size)."""

    def measured(d: Array) -> Array:
        moved = point.moved(d)
        state = (moved.craft, point.t, moved.part("q"), moved.part("v"))
        return np.atleast_1d(np.asarray(call(outputs, state, point.equations.available(moved.x))))

    found = np.asarray(_differentiated(jacobian_of(measured, "d"), np.zeros(point.size)), dtype=float)
    return found.reshape(-1, point.size)


def _residual(point: Point, a: Array, multipliers: Array) -> dict[str, Any]:
    """R of (1), and the rates that are not accelerations."""
    acting = point.loaded.acting(point.x)
    balance, errors = residual(point.loaded, point.x, a, multipliers)
    return {"balance": np.concatenate([balance, errors]), "zdot": acting.zdot, "load_rate": acting.load_rate}


def _differentiated(derivative: Callable[..., Any], *at: Array) -> Any:
    try:
        found = derivative(*at)
    except TraceError as error:
        raise ValueError(f"something in the equations cannot be differentiated: {error}") from error
    return _floats(found)


def _floats(found: Any) -> Any:
    if isinstance(found, dict):
        return {name: np.asarray(value, dtype=float) for name, value in found.items()}
    if type(found) is tuple:
        return tuple(_floats(part) for part in found)
    return found


def _with_load(control: Controller | None, u: Array) -> Controller:
    if control is None:
        return Controller(lambda craft, t, q, v: u)
    law = control.output

    @functools.wraps(law)  # so that it is given what the law asks for by name
    def output(*state: Any, **asked: Any) -> Array:
        return np.asarray(state[0].v(law(*state, **asked), "tau")) + u

    return replace(control, output=output)
