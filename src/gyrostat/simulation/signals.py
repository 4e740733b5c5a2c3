"""Loads and accelerations at the saved states of a run, computed anew from the equations it was run with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..algebra import Array
from ..tracing import Kernel, trace

if TYPE_CHECKING:
    from .equations import Equations
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
    x = arguments(trajectory, equations)

    def shown(x: Array) -> _Shown:
        s = equations.signals(x)[0]
        return _Shown(s.command, s.tau, s.wrenches, s.vdot)

    kernel = Kernel(trace(shown, None, inputs={"x": (equations.layout.size,)}))
    values = kernel(x)
    dims = trajectory.data["v"].dims
    return {
        "command": (dims, values.command, {"units": "N m, N", "long_name": "commanded loads"}),
        "tau": (dims, values.tau, {"units": "N m, N", "long_name": "loads in the joints"}),
        "wrenches": (
            (*dims[:-1], "body", "wrench"),
            values.wrenches,
            {"units": "N m, N", "long_name": "external wrenches"},
        ),
        "vdot": (dims, values.vdot, {"units": "rad/s^2, m/s^2", "long_name": "accelerations"}),
    }


def arguments(trajectory: Trajectory, equations: Equations) -> Array:
    """x at every saved state, ([runs,] times, size)."""
    data, at = trajectory.data, equations.layout
    batch = trajectory.q.shape[:-1]
    x = np.zeros((*batch, at.size))
    x[..., 0] = trajectory.time
    x[..., at["q"]] = trajectory.q
    x[..., at["v"]] = trajectory.v[..., 6:] if equations.conserve else trajectory.v
    for name in ("z", "load", "impulse", "held", "held_z"):
        if at.width(name):
            x[..., at[name]] = data[name].values
    constants = trajectory.constants
    x[..., at["run"].start :] = constants[:, None, :] if trajectory.batched else constants[0]
    if equations.python_control:
        rows = x.reshape(-1, at.size)
        for row in rows:
            row[at["python tau"]], row[at["python zdot"]] = equations.controller(row)
    return x
