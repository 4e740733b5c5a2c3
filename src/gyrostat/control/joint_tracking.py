"""Control laws that make single-coordinate joints follow their motions, on any base: PD, PID, computed torque."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..algebra import Array
from ..environment import Environment
from ..formulations.recursive import hybrid_dynamics
from ..model import Role, Spacecraft
from .commanded import followed_inertia
from .controller import Controller, joint_torques
from .passive import passive_forces
from .references import JointPath, JointReference

Law = Callable[[Spacecraft, Any, Array, Array], Array]
Gains = Mapping[str, float]


def joint_pd(motions: Mapping[str, JointPath], kp: Gains, kd: Gains) -> Law:
    """tau = kp (q_D - q) + kd (qdot_D - qdot), joint by joint; kp in N m/rad (N/m), kd in N m s/rad (N s/m)."""

    def control(craft: Spacecraft, t: Any, q: Array, v: Array) -> Array:
        errors = {name: _error(craft, name, motion(t), q, v) for name, motion in motions.items()}
        return joint_torques(craft, {name: kp[name] * e + kd[name] * edot for name, (e, edot) in errors.items()})

    return control


def joint_pid(motions: Mapping[str, JointPath], kp: Gains, kd: Gains, ki: Gains) -> Controller:
    """As `joint_pd`, plus ki times the integral of the error, which joins the ODE as the law's memory."""
    names = list(motions)

    def errors(craft: Spacecraft, t: Any, q: Array, v: Array) -> dict[str, tuple[Any, Any]]:
        return {name: _error(craft, name, motions[name](t), q, v) for name in names}

    def output(craft: Spacecraft, t: Any, q: Array, v: Array, z: Array) -> Array:
        found = errors(craft, t, q, v)
        return joint_torques(
            craft,
            {n: kp[n] * found[n][0] + kd[n] * found[n][1] + ki[n] * z[k] for k, n in enumerate(names)},
        )

    def derivative(craft: Spacecraft, t: Any, q: Array, v: Array, z: Array) -> Array:
        return np.array([e for e, _ in errors(craft, t, q, v).values()])

    return Controller(output, np.zeros(len(names)), derivative)


def joint_computed_torque(
    motions: Mapping[str, JointPath],
    kp: Gains,
    kd: Gains,
    *,
    environment: Environment | None = None,
    estimate: Spacecraft | None = None,
) -> Law:
    """The loads that make each joint accelerate by qddot_D + kp (q_D - q) + kd (qdot_D - qdot); kp in 1/s^2, kd in 1/s.

    They follow from the whole craft's dynamics (hybrid: these joints' accelerations given, the others' loads), so that
    base and free joints may move as they like. environment: loads that the law knows of. estimate: the craft that it
    believes in.
    """

    def control(craft: Spacecraft, t: Any, q: Array, v: Array) -> Array:
        model = craft if estimate is None else estimate
        wanted = {}
        for name, motion in motions.items():
            target = motion(t)
            e, edot = _error(model, name, target, q, v)
            wanted[name] = np.array([target.qddot + kp[name] * e + kd[name] * edot])
        passive = passive_forces(model, q, v)
        wrenches = None if environment is None else environment.wrenches(model, t, q, v)
        known = passive
        if environment is not None and environment.modal is not None:
            known = passive + environment.modal(model, t, q, v)
        tau = hybrid_dynamics(model, q, v, known, wrenches=wrenches, prescribed=wanted).tau
        own = {name: model.joint_named(name).rate(tau - passive) for name in motions}
        return joint_torques(model, own)

    return control


def effective_inertias(craft: Spacecraft, q: Array) -> dict[str, float]:
    """What each single-coordinate joint's motor must accelerate when base and passive joints go along and the other
    motors hold.
    """
    at = craft.at(Role.driven, Role.wheel)
    reduced = np.asarray(followed_inertia(craft, q, at), dtype=float)
    places = {int(k): i for i, k in enumerate(at)}
    driven = [j for j in craft.joints if j.nv == 1 and j.v_at.start in places]
    return {j.name: float(reduced[places[j.v_at.start], places[j.v_at.start]]) for j in driven}


def _error(craft: Spacecraft, name: str, target: JointReference, q: Array, v: Array) -> tuple[Any, Any]:
    joint = craft.joint_named(name)
    if not joint.motion.single or joint.v_at.start not in craft.at(Role.driven):
        found = "has no motor" if joint.motion.single else f"is {joint.kind}"
        raise ValueError(f"joint '{name}' of {craft.name} {found}; expected one with a motor and one coordinate.")
    return target.q - q[joint.q_at.start], target.qdot - v[joint.v_at.start]
