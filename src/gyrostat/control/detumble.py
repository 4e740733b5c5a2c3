"""After a capture: the joint velocities that a rigid grasp leaves, and taking the tumble out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..algebra import Array, maximum, norm, solve_spd
from ..formulations.recursive import mass_matrix, momentum
from ..kinematics import center_of_mass
from ..model import Role, Spacecraft
from .commanded import commanded_loads
from .demands import base_pose, demand_free_base, demand_one, placed

Law = Callable[[Spacecraft, Any, Array, Array], Array]


def captured_velocity(craft: Spacecraft, q: Array, v: Array, grasp: str | Sequence[str]) -> Array:
    """v (nv,) just after the joints named `grasp` have locked at once: their rates are zero, the impulse in them is
    internal.

    Model the target as a body on a free joint of the end effector; locking that joint is the capture. Of the other
    rates, each keeps its own momentum:  M_ff v_f = (M v)_f.  Momentum is conserved; the kinetic energy falls (a plastic
    impact).
    """
    names = [grasp] if isinstance(grasp, str) else list(grasp)
    locked = {i for name in names for i in range(*craft.joint_named(name).v_at.indices(craft.nv))}
    free = [i for i in range(craft.nv) if i not in locked]
    M = mass_matrix(craft, q)
    rates = solve_spd(M[np.ix_(free, free)], (M @ v)[free])
    after = dict(zip(free, rates, strict=True))
    return np.array([after.get(i, 0.0) for i in range(craft.nv)])


def angular_momentum_in_base(craft: Spacecraft, q: Array, v: Array) -> Array:
    """Of the whole craft about its centre of mass, in base axes, (3,)."""
    demand_one(craft, "angular_momentum_in_base")
    return base_pose(craft, q).R.T @ momentum(craft, q, v, center_of_mass(craft, q))[:3]


def braking_torque(h: Array, limit: float, *, settle: float = 1.0) -> Array:
    """Against the angular momentum h (3,), of constant size until |h| < limit * settle, then fading: h falls along a
    straight line.

    With |torque| <= limit this is the quickest way to rest: |h(t)| = |h_0| - limit t, whatever the craft's inertia.
    Aghili (2009).
    """
    return -limit * h / maximum(norm(h), limit * settle)


def detumble_by_couple(limit: float, *, joint_damping: float = 1.0, settle: float = 1.0) -> Law:
    """Mode "rotation-flying": thrusters brake the whole craft, while the joints come to rest, q'' = -joint_damping
    qdot.

    limit: largest couple in N m.
    """

    def control(craft: Spacecraft, t: Any, q: Array, v: Array) -> Array:
        base = demand_free_base(craft, "detumble_by_couple")
        joints = -joint_damping * v[craft.at(Role.driven)]
        torque = braking_torque(angular_momentum_in_base(craft, q, v), limit, settle=settle)
        on_base = np.concatenate([torque, np.zeros(3)])
        acting = np.array([on_base if body.name == craft.base else np.zeros(6) for body in craft.bodies])
        tau = commanded_loads(craft, q, v, "floating", joints=joints, wrenches=acting).tau
        return tau + placed(craft, np.arange(base.nv), on_base)

    return control


def detumble_by_wheels(*, rate: float = 0.1, joint_damping: float = 1.0) -> Law:
    """Mode "rotation-floating": the wheels take the tumble, w' = -rate w, while the joints come to rest.

    Angular momentum is not lost but stored: the wheels end with J W = what the craft had. See `momentum_capacity`.
    """

    def control(craft: Spacecraft, t: Any, q: Array, v: Array) -> Array:
        base = demand_free_base(craft, "detumble_by_wheels")
        joints = -joint_damping * v[craft.at(Role.driven)]
        return commanded_loads(craft, q, v, "rotation-floating", joints=joints, turn=-rate * base.rate(v)[:3]).tau

    return control
