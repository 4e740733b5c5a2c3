"""Integrate a formulation's own state by the compiled time loop,
and give the result as a Trajectory in gyrostat's order.

`gs.simulate` integrates q and v whatever the formulation. Papers that speak of drift mean that of their own state:
redundant velocities, poses as dual quaternions, inertial velocities. Here that state is what the integrator sees.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra import Array
from ..control.controller import Controller
from ..model import Role, Spacecraft
from ..simulation.engine.integrate import integrate
from ..simulation.engine.status import Status
from ..simulation.engine.system import Outcome, Plan, State, System
from ..simulation.problem.equations import Equations
from ..simulation.result.dataset import dataset
from ..simulation.result.trajectory import Trajectory
from ..tracing import Kernel, trace

if TYPE_CHECKING:
    import xarray


def simulate_own_state(
    craft: Spacecraft,
    x0: Array,
    rate: Callable[[Spacecraft, Array, Array], Array],
    state_of: Callable[[Spacecraft, Array], tuple[Array, Array]],
    control: Callable[..., Array],
    forward_dynamics: Callable[..., Array],
    times: Array,
    *,
    rtol: float,
    atol: float,
    method: str = "dop853",
    formulation: str = "",
) -> Trajectory:
    """From x0 at times[0] to times[-1]; the integrator stops and starts at each of the times.

    rate(craft, x, tau): d/dt of the state. state_of(craft, x): (q, v). control(craft, t, q, v): internal loads alone.
    The Dataset holds the state itself as `own_state`.
    """
    n = len(x0)

    def rhs(x: Array) -> Array:
        q, v = state_of(craft, x[1 : 1 + n])
        tau = control(craft, x[0], q, v)
        return np.concatenate([rate(craft, x[1 : 1 + n], tau), [tau @ v]])

    constants = np.zeros((1, 1))  # the run's number
    system = System(Kernel(trace(rhs, None, inputs={"x": (n + 3,)})), n + 1, n_parameters=1)
    outcome = _integrated(craft, system, np.append(x0, 0.0), constants, times, rtol, atol, method)
    rows = outcome.saved[0]
    states = Kernel(trace(lambda x: state_of(craft, x), None, inputs={"x": (n,)}))(rows[:, :n])
    joints = tuple(k for k in range(craft.nv) if craft.roles[k] is not Role.base)  # the arm's motors alone do work
    equations = Equations(craft, Controller(control), None, forward_dynamics, float(times[0]), loads=joints)
    minimal = np.concatenate([*states, rows[:, n:]], axis=-1)
    data: xarray.Dataset = dataset(equations, times, minimal[None], constants, None)
    data["own_state"] = (("time", "own_name"), rows[:, :n])
    data.attrs.update(_attributes(craft, formulation, method, rtol, atol, times))
    s = outcome.state
    final = State(s.t, minimal[-1:], s.held, s.h, s.status, s.steps, s.rejections)
    return Trajectory(craft, data, final, constants=constants, equations=equations)


def _integrated(
    craft: Spacecraft,
    system: System,
    y0: Array,
    constants: Array,
    times: Array,
    rtol: float,
    atol: float,
    method: str,
) -> Outcome:
    """y at each of the times, from y0 at the first; the last of y is work: bookkeeping, without a tolerance."""
    n = len(y0) - 1
    tolerance = np.full(n + 1, atol)
    tolerance[n] = np.inf
    plan = Plan(
        method,
        times[1:],
        np.zeros(len(times) - 1),
        times,
        np.full(n + 1, rtol),
        tolerance,
        n,
        False,
        float(np.ptp(times)),
    )
    zero = np.zeros(1)
    start = State(
        times[:1].copy(), y0[None].copy(), np.zeros((1, 0)), zero.copy(), zero.copy(), zero.copy(), zero.copy()
    )
    outcome = integrate(system, plan, start, constants)
    outcome.saved[0][0] = y0
    if Status(int(outcome.state.status[0])) != Status.done:
        raise RuntimeError(
            f"the integration of {craft.name} stopped at t = {outcome.state.t[0]:.9g} s: "
            f"{Status(int(outcome.state.status[0])).name}."
        )
    return outcome


def _attributes(
    craft: Spacecraft, formulation: str, method: str, rtol: float, atol: float, times: Array
) -> dict[str, Any]:
    from .. import __version__

    return {
        "model": craft.name,
        "gyrostat": __version__,
        "integrator": method,
        "formulation": formulation,
        "rtol": rtol,
        "atol": atol,
        "t_span": (float(times[0]), float(times[-1])),
        "t0": float(times[0]),
    }
