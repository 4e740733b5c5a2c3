"""`simulate` with constraints: their loads join the environment's wrenches, so that any formulation and integrator can be used.

The loads depend on what the motors do, so the control law is evaluated with them; when traced, that costs nothing.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..algebra import Array
from ..control.controller import Controller
from ..control.passive import has_passive_forces, passive_forces
from ..environment import Environment
from ..formulations.constraints import (
    USUAL,
    AbstractConstraint,
    ConstraintLoads,
    Residuals,
    Stabilisation,
    constraint_loads,
    residuals,
)
from ..formulations.recursive import neutral
from ..model import Spacecraft
from .run import simulate
from .trajectory import Trajectory

CLOSED = 1e-6  # largest violation (m, rad, and their rates) with which a run may start


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

    def wrenches(self, craft: Spacecraft, t: Any, q: Array, v: Array) -> Array:
        """Of the constraints and the environment, (nbodies, 6)."""
        own = self.loads(craft, t, q, v).wrenches
        return own if self.environment is None else own + self.environment.wrenches(craft, t, q, v)


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
    """`simulate` under constraints; options are those of `simulate`. control: a law of (craft, t, q, v), without memory.

    The state must satisfy the constraints at the start: `gs.constraints.project` finds one that does.
    """
    _refuse(control, options)
    own = environment if environment is None or isinstance(environment, Environment) else Environment(environment)
    acting = Acting(tuple(constraints), control, own, dict(prescribed or {}), stabilisation)
    q = neutral(craft) if q0 is None else np.asarray(q0, dtype=float)
    v = np.zeros(craft.nv) if v0 is None else np.asarray(v0, dtype=float)
    _require_closed(craft, float(np.ravel(t_span)[0]), q, v, acting.constraints)
    joined = Environment(acting.wrenches, None if own is None else own.potential)
    traj = simulate(craft, q, v, t_span, control=control, environment=joined, prescribed=prescribed, **options)
    return ConstrainedRun(traj, acting)


def _refuse(control: Any, options: Mapping[str, Any]) -> None:
    if isinstance(control, Controller):
        raise TypeError(
            "simulate_constrained takes a control law of (craft, t, q, v); a Controller with memory is not supported."
        )
    if control is not None and len(inspect.signature(control).parameters) > 4:
        raise TypeError(
            "simulate_constrained takes a control law of (craft, t, q, v); inputs of the run cannot be passed to it."
        )
    for name in ("actuators", "stops", "conserve", "locked"):
        if options.get(name):
            raise ValueError(
                f"simulate_constrained does not take {name}=: put it into the control law, or into `prescribed`."
            )


def _require_closed(craft: Spacecraft, t: float, q: Array, v: Array, constraints: Sequence[AbstractConstraint]) -> None:
    batch = np.broadcast_shapes(q.shape[:-1], v.shape[:-1])
    qs = np.broadcast_to(q, (*batch, craft.nq)).reshape(-1, craft.nq)
    vs = np.broadcast_to(v, (*batch, craft.nv)).reshape(-1, craft.nv)
    for q_run, v_run in zip(qs, vs, strict=True):
        for constraint in constraints:
            found = residuals(craft, t, q_run, v_run, [constraint])
            worst = max(np.abs(found.position).max(initial=0.0), np.abs(found.velocity).max(initial=0.0))
            if worst > CLOSED:
                raise ValueError(
                    f"the {constraint.title} does not hold at the start: it is open by {np.abs(found.position).max(initial=0.0):.3g} (m, rad) "
                    f"and moves by {np.abs(found.velocity).max(initial=0.0):.3g} per second. Start from "
                    f"gs.constraints.project(craft, t, q, v, constraints), or from gs.constraints.capture for the velocities alone."
                )
