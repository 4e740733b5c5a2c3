"""`simulate` with constraints, and what they did: their loads and violations over time, computed anew from the law that acted."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..algebra import Array
from ..constraints import (
    USUAL,
    AbstractConstraint,
    ConstraintLoads,
    Residuals,
    Stabilisation,
    constraint_loads,
    residuals,
)
from ..control.controller import Controller
from ..control.passive import has_passive_forces, passive_forces
from ..environment import Environment
from ..model import Spacecraft
from .result.trajectory import Trajectory
from .simulate_craft import simulate


@dataclass(frozen=True, eq=False)
class Acting:
    """Everything that acts in a constrained run, as functions of the state."""

    constraints: Sequence[AbstractConstraint]
    control: Callable[..., Any] | None = None
    environment: Environment | None = None
    prescribed: Mapping[str, Any] = field(default_factory=dict)
    stabilisation: Stabilisation = USUAL

    def loads(self, craft: Spacecraft, t: Any, q: Array, v: Array) -> ConstraintLoads:
        """Of the constraints."""
        tau = np.zeros(craft.nv) if self.control is None else np.asarray(self.control(craft, t, q, v))
        if has_passive_forces(craft, None):
            tau = tau + passive_forces(craft, q, v, None)
        wrenches = None if self.environment is None else self.environment.wrenches(craft, t, q, v)
        follows = {name: np.reshape(f(t) if callable(f) else f, -1) for name, f in self.prescribed.items()}
        return constraint_loads(
            craft,
            t,
            q,
            v,
            tau,
            self.constraints,
            wrenches=wrenches,
            prescribed=follows,
            stabilisation=self.stabilisation,
        )


@dataclass(frozen=True, eq=False)
class ConstrainedRun:
    """A trajectory, and what its constraints did."""

    trajectory: Trajectory
    acting: Acting

    def loads(self) -> ConstraintLoads:
        """Multipliers, wrenches on bodies and on each constraint's second frame at the saved times, ([runs,] times, ...)."""
        return self._over_time(self.acting.loads)

    def residuals(self) -> Residuals:
        """psi and its rate at the saved times, ([runs,] times, rows)."""
        constraints = self.acting.constraints

        def violations(craft: Spacecraft, t: Any, q: Array, v: Array) -> Residuals:
            return residuals(craft, t, q, v, constraints)

        return self._over_time(violations)

    def _over_time(self, function: Callable[..., Any]) -> Any:
        from ..tracing import compile

        traj = self.trajectory
        names = list(traj.parameters)
        kernel = compile(lambda craft, t, q, v: function(craft, t, q, v), traj.craft, parameters=names)
        t = np.broadcast_to(traj.time, traj.q.shape[:-1])
        if not names:
            return kernel(t, traj.q, traj.v)
        own = {name: x[:, None] if traj.batched else x[0] for name, x in traj.parameters.items()}
        return kernel(t, traj.q, traj.v, parameters=own)


def simulate_constrained(
    craft: Spacecraft,
    q0: Any = None,
    v0: Any = None,
    t_span: Any = None,
    *,
    constraints: Sequence[AbstractConstraint],
    control: Callable[..., Any] | None = None,
    environment: Any = None,
    prescribed: Mapping[str, Any] | None = None,
    stabilisation: Stabilisation = USUAL,
    **options: Any,
) -> ConstrainedRun:
    """`simulate(constraints=...)` with the constraints' loads and violations at hand. control: a law of (craft, t, q, v), without
    memory, since it is evaluated again for them; options are those of `simulate`.

    The state must satisfy the constraints at the start: `gs.constraints.project` finds one that does.
    """
    _refuse(control, options)
    own = environment if environment is None or isinstance(environment, Environment) else Environment(environment)
    acting = Acting(tuple(constraints), control, own, dict(prescribed or {}), stabilisation)
    traj = simulate(
        craft,
        q0,
        v0,
        t_span,
        control=control,
        environment=own,
        prescribed=prescribed,
        constraints=acting.constraints,
        stabilisation=stabilisation,
        **options,
    )
    return ConstrainedRun(traj, acting)


def _refuse(control: Any, options: Mapping[str, Any]) -> None:
    if isinstance(control, Controller):
        raise TypeError(
            "simulate_constrained takes a control law of (craft, t, q, v); a Controller with memory is not supported: "
            "use gs.simulate(constraints=...)."
        )
    if control is not None and len(inspect.signature(control).parameters) > 4:
        raise TypeError(
            "simulate_constrained takes a control law of (craft, t, q, v); inputs of the run cannot be passed to it: "
            "use gs.simulate(constraints=...)."
        )
    for name in ("actuators", "stops", "conserve", "locked"):
        if options.get(name):
            raise ValueError(f"simulate_constrained does not take {name}=: use gs.simulate(constraints=...).")
