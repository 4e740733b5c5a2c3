"""Loads and accelerations at the saved states of a run, computed anew from the equations it was run with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...algebra import Array
from ..engine.compiling import compiled, kernel, traced

if TYPE_CHECKING:
    from ..problem.equations import Equations
    from .trajectory import Trajectory


class _Shown(NamedTuple):
    command: Array
    tau: Array
    wrenches: Array
    vdot: Array


def signals_of(trajectory: Trajectory) -> dict[str, Any]:
    """Variables for the Dataset: (dimensions, values, attributes) by name."""
    equations = trajectory.equations
    if equations is None:
        raise ValueError(
            "this trajectory does not hold loads: it was saved without them. Run it again, or save it whole."
        )

    def shown(x: Array) -> _Shown:
        s = equations.signals(x)[0]
        return _Shown(s.command, s.tau, s.wrenches, s.vdot)

    x = arguments(trajectory, equations)
    values = compiled(shown, equations.layout.size)(x)
    dims = trajectory.data["v"].dims
    found: dict[str, Any] = {
        "command": (dims, values.command, {"units": "N m, N", "long_name": "commanded loads"}),
        "tau": (dims, values.tau, {"units": "N m, N", "long_name": "loads in the joints"}),
        "wrenches": (
            (*dims[:-1], "body", "wrench"),
            values.wrenches,
            {"units": "N m, N", "long_name": "external wrenches"},
        ),
        "vdot": (dims, values.vdot, {"units": "rad/s^2, m/s^2", "long_name": "accelerations"}),
    }
    if equations.environment is not None and equations.environment.potential is not None:
        graph = traced(equations.potential, equations.layout.size)
        changes = any(node.op == "input" and node.data == (0, 0) for node in graph.nodes)
        attributes = {"units": "J", "long_name": "potential energy", "depends_on_time": int(changes)}
        found["potential"] = (dims[:-1], kernel(graph)(x), attributes)
    return found


def arguments(trajectory: Trajectory, equations: Equations) -> Array:
    """x at every saved state, ([runs,] times, size)."""
    data, at = trajectory.data, equations.layout
    x = np.zeros((*trajectory.q.shape[:-1], at.size))
    x[..., 0] = trajectory.time
    x[..., at["q"]] = trajectory.q
    x[..., at["v"]] = trajectory.v[..., 6:] if equations.conserve else trajectory.v
    for name in ("z", "load", "impulse", "held", "held_z", "sample"):
        if at.width(name):
            x[..., at[name]] = data[name].values.reshape(*x.shape[:-1], -1)
    constants = trajectory.constants
    x[..., at["run"].start :][..., : constants.shape[1]] = constants[:, None] if trajectory.batched else constants[0]
    for row in x.reshape(-1, at.size):
        if not np.isnan(row[at["q"]]).any():
            equations.fill(row)
    return x
