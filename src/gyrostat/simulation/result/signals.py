"""Loads and accelerations at the saved states of a run, computed anew from the equations it was run with."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...algebra import Array
from ...constraints import Residuals
from ..engine.compiling import for_many, kernel, traced
from ..engine.system_cache import made

if TYPE_CHECKING:
    import xarray

    from ..problem.equations import Equations
    from .trajectory import Trajectory


UNITS = {
    "command": ("N m, N", "commanded loads"),
    "tau": ("N m, N", "loads in the joints"),
    "wrenches": ("N m, N", "external wrenches, and those of constraints"),
    "vdot": ("rad/s^2, m/s^2", "accelerations"),
    "multipliers": ("N m, N", "multipliers of the constraints"),
    "constraint_wrenches": ("N m, N", "wrenches of the constraints on each body, about its origin in its frame"),
    "on_second": ("N m, N", "wrench of each constraint on its second frame, about that frame's origin in N"),
    "violation": ("rad, m", "by how much constraints are open"),
    "violation_rate": ("rad/s, m/s", "how fast constraints open"),
}


def signals_of(trajectory: Trajectory) -> xarray.Dataset:
    """Loads, accelerations and what constraints do, over time."""
    import xarray

    equations = trajectory.equations
    if equations is None:
        raise ValueError(
            "this trajectory does not hold loads: it was saved without them. Run it again, or save it whole."
        )
    found = signals_at(equations, arguments(trajectory, equations), trajectory.data["v"].dims)
    return xarray.Dataset(found, coords={**trajectory.data.coords, **constraint_coordinates(equations)})


def signals_at(equations: Equations, x: Array, dims: tuple[Hashable, ...]) -> dict[str, Any]:
    """Variables for a Dataset, (dimensions, values, attributes) by name, at x ([runs,] times, size).

    dims: those of v.
    """
    size = equations.layout.size
    values = dict(for_many(partial(loads_at, equations), size)(x))
    if equations.constraints:
        position, rate = residuals_at(equations, x)
        values |= {"violation": position, "violation_rate": rate}
    axes = {
        "wrenches": ("body", "wrench"),
        "multipliers": ("constraint_row",),
        "constraint_wrenches": ("body", "wrench"),
        "on_second": ("constraint", "wrench"),
        "violation": ("constraint_row",),
        "violation_rate": ("constraint_row",),
    }
    found: dict[str, Any] = {}
    for name, value in values.items():
        unit, title = UNITS[name]
        found[name] = ((*dims[:-1], *axes.get(name, dims[-1:])), value, {"units": unit, "long_name": title})
    if equations.environment is not None and equations.environment.potential is not None:
        graph = traced(equations.potential, size)
        changes = any(node.op == "input" and node.data == (0, 0) for node in graph.nodes)
        attributes = {"units": "J", "long_name": "potential energy", "depends_on_time": int(changes)}
        found["potential"] = (dims[:-1], kernel(graph)(x), attributes)
    return found


def loads_at(equations: Equations, x: Array) -> dict[str, Array]:
    """What acts at x (size,), by name."""
    s = equations.signals(x)[0]
    found = {"command": s.command, "tau": s.tau, "wrenches": s.wrenches, "vdot": s.vdot}
    if s.held is not None:
        held = s.held
        found |= {
            "multipliers": held.multipliers,
            "constraint_wrenches": held.wrenches,
            "on_second": held.on_second,
        }
    return found


def residuals_at(equations: Equations, x: Array) -> Residuals:
    """Of the constraints, at x (..., size)."""
    rows = made(
        equations, "residuals", lambda: for_many(lambda x: equations.residuals(x)._asdict(), equations.layout.size)
    )
    return Residuals(**rows(x))


def constraint_coordinates(equations: Equations) -> dict[str, Any]:
    """Titles of the constraints, and the constraint of each row."""
    if not equations.constraints:
        return {}
    rows = [c.title for c in equations.constraints for _ in range(c.size)]
    return {"constraint": [c.title for c in equations.constraints], "row_of": ("constraint_row", rows)}


def arguments(trajectory: Trajectory, equations: Equations, fill: Callable[[Array], None] | None = None) -> Array:
    """x at every saved state, ([runs,] times, size). fill: writes into it what is known from elsewhere."""
    data, at = trajectory.data, equations.layout
    x = np.zeros((*trajectory.q.shape[:-1], at.size))
    x[..., at["q"]] = trajectory.q
    x[..., at["v"]] = trajectory.v[..., 6:] if equations.conserve else trajectory.v
    for name in ("z", "load", "held", "held_z", "sample"):
        if at.width(name):
            x[..., at[name]] = data[name].values.reshape(*x.shape[:-1], -1)
    constants = trajectory.constants
    x[..., at["run"].start :][..., : constants.shape[1]] = constants[:, None] if trajectory.batched else constants[0]
    x[..., 0] = trajectory.time - x[..., at["epoch"].start]
    if fill is not None:
        fill(x)
    for row in x.reshape(-1, at.size):
        if not np.isnan(row[at["q"]]).any():
            equations.fill(row)
    return x
