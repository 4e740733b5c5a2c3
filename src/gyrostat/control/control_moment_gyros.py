"""Single-gimbal control-moment gyros: a wheel of constant momentum on a gimballed body."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..algebra import Array, cross
from ..kinematics import body_twists, forward_kinematics, joint_poses
from ..model import Body, Joint, Limits, Spacecraft, Wheel
from .demands import base_pose, demand_one, driven_joints, driven_wheels

INFINITY = float("inf")


class Gyro(NamedTuple):
    """Names of a gyro's parts."""

    gimbal: str  # joint that turns the gimbal
    body: str  # the gimbal
    wheel: str


def gyro(
    name: str,
    parent: str,
    gimbal_axis: Any,
    spin_axis: Any,
    spin_inertia: float,
    *,
    mass: float = 5.0,
    position: Any = (0.0, 0.0, 0.0),
    max_rate: float = INFINITY,
    max_torque: float = INFINITY,
) -> tuple[Body, Body]:
    """A gimbal on the body `parent` that turns about `gimbal_axis`, and its wheel, which spins about `spin_axis` at
    gimbal angle zero.

    mass, in kg, is that of both; the gimbal has the wheel's inertia once more. max_rate, max_torque: of the gimbal.
    """
    limits = Limits(velocity=max_rate, effort=max_torque)
    wheel = Wheel(f"{name} wheel", name, spin_axis, spin_inertia)
    a = wheel.joint.axis
    inertia = spin_inertia * (np.eye(3) + np.outer(a, a))  # wheel: J and J/2; structure: as much again, evenly
    gimbal = Joint(f"{name} gimbal", "revolute", parent, position, axis=gimbal_axis, limits=limits)
    return Body(name, mass, inertia=inertia, joint=gimbal), wheel


def gyro_pyramid(
    parent: str,
    spin_inertia: float,
    *,
    skew_angle: float = float(np.arctan(2**0.5)),
    name: str = "gyro",
    **options: Any,
) -> tuple[Body, ...]:
    """Four gyros whose gimbal axes stand on the faces of a pyramid: g = (sin b cos k90, sin b sin k90, cos b), b =
    54.74 deg.

    At zero gimbal angles the momenta lie in the x-y plane and add up to zero, and torque about every axis is available.
    """
    bodies: list[Body] = []
    for k in range(4):
        azimuth = k * np.pi / 2
        c, s = np.cos(azimuth), np.sin(azimuth)
        g = (np.sin(skew_angle) * c, np.sin(skew_angle) * s, np.cos(skew_angle))
        bodies += gyro(f"{name}_{k + 1}", parent, g, (-s, c, 0.0), spin_inertia, **options)
    return tuple(bodies)


def gyros(craft: Spacecraft) -> tuple[Gyro, ...]:
    """Every driven wheel that sits on a body which a motor turns on the base about one axis."""
    demand_one(craft, "gyros")
    found = []
    driven = {joint.name for joint in driven_joints(craft)}
    for wheel in driven_wheels(craft):
        assert wheel.parent is not None
        carrier = craft.body(wheel.parent)
        if carrier.parent == craft.base and carrier.joint.motion.hinge and carrier.joint.name in driven:
            found.append(Gyro(carrier.joint.name, carrier.name, wheel.name))
    return tuple(found)


class GyroState(NamedTuple):
    """Momenta and axes in base axes, a column for each gyro."""

    h: Array  # (3, n) momentum of each wheel about its axis
    A: Array  # (3, n) g x h: rate of change of h by the gimbal's angle


def gyro_state(craft: Spacecraft, q: Array, v: Array) -> GyroState:
    """h = J (W + a.w) a of each wheel, and A = dh/d(gimbal angle)."""
    R_NB, V = forward_kinematics(craft, q).R_NB, body_twists(craft, q, v, joint_poses(craft, q))
    R_0N = base_pose(craft, q).R.T
    h, A = [], []
    for g in gyros(craft):
        wheel, R_0G = craft.body(g.wheel), R_0N @ R_NB[craft.index(g.body)]
        a = wheel.joint.axis
        own = (a @ wheel.inertia @ a) * (a @ V[g.wheel][:3]) * (R_0G @ a)
        h.append(own)
        A.append(cross(R_0G @ craft.joint_named(g.gimbal).axis, own))
    return GyroState(np.stack(h, axis=1), np.stack(A, axis=1))


def gimbal_places(craft: Spacecraft) -> list[int]:
    """Where the gimbals' rates stand in v."""
    return [craft.joint_named(g.gimbal).v_at.start for g in gyros(craft)]


class GyroReport(NamedTuple):
    """How far gyros were from what they cannot do, over a run."""

    measure: Array  # (times,) sqrt det(A A^T) in units of one wheel's momentum cubed
    closest: float  # the smallest of them
    closest_at: float  # s
    used: Array  # (times,) |sum of momenta| over the sum of their magnitudes: one when all are aligned (saturated)
    fastest: tuple[tuple[str, float, float], ...]  # gimbal, largest rate, its limit

    def __str__(self) -> str:
        saturated = "; saturated: the gyros are aligned" if self.used.max() > 0.95 else ""
        rates = [
            f"'{name}' reached its rate limit {limit:g} rad/s"
            for name, rate, limit in self.fastest
            if rate > 0.999 * limit
        ]
        closest = f"singularity measure at least {self.closest:.3g} (at {self.closest_at:.4g} s)"
        head = f"gyros: {closest}, momentum used {self.used.max():.0%}"
        return "; ".join([head + saturated, *rates])


def gyro_report(craft: Spacecraft, time: Sequence[float], q: Array, v: Array) -> GyroReport:
    """From the states of a run: `gyro_report(craft, trajectory.time, trajectory.q, trajectory.v)`."""
    from ..tracing import compile

    states: GyroState = compile(gyro_state, craft)(np.asarray(q), np.asarray(v))
    size = np.linalg.norm(states.h, axis=-2)  # (times, n)
    G = np.einsum("tik,tjk->tij", states.A, states.A)
    measure = np.sqrt(np.maximum(np.linalg.det(G), 0.0)) / size.mean(axis=-1) ** 3
    used = np.linalg.norm(states.h.sum(axis=-1), axis=-1) / size.sum(axis=-1)
    fastest = []
    for g in gyros(craft):
        joint = craft.joint_named(g.gimbal)
        fastest.append((joint.name, float(np.abs(v[:, joint.v_at]).max()), float(joint.limits.velocity)))
    k = int(measure.argmin())
    return GyroReport(measure, float(measure[k]), float(np.asarray(time)[k]), used, tuple(fastest))
