"""Reaction wheels: their axes and momenta, sharing of a torque among them, and what they can give.

Everything here is about the wheels that a motor drives, in the order of v; one with `driven=False` is no actuator.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra import Array, clip, mirror, solve_spd
from ..kinematics import body_twists, forward_kinematics, joint_poses
from ..model import Body, Joint, Limits, Spacecraft, Wheel
from .demands import base_pose, demand_one, driven_wheels

TAPER = 0.01  # of the speed limit: over this range the torque that would speed a wheel up further falls to zero


def wheel_pyramid(
    parent: str,
    spin_inertia: float,
    *,
    elevation: float = float(np.arctan(0.5**0.5)),
    name: str = "wheel",
    **limits: Any,
) -> tuple[Body, ...]:
    """Four wheels on the body `parent`, their axes evenly about z and raised by `elevation` towards it (default: equal
    in x, y and z).

    limits: `max_torque`, `max_speed`, `position` of each, as of `gs.Wheel`. Any three of the four turn the body about
    all axes.
    """
    wheels = []
    for k in range(4):
        azimuth = np.pi / 4 + k * np.pi / 2
        level, up = np.cos(elevation), np.sin(elevation)
        axis = (level * np.cos(azimuth), level * np.sin(azimuth), up)
        wheels.append(Wheel(f"{name}_{k + 1}", parent, axis, spin_inertia, **limits))
    return tuple(wheels)


def wheel_axes(craft: Spacecraft, q: Array) -> Array:
    """Unit axes of the wheels in base axes, (3, wheels); on a base of any kind."""
    demand_one(craft, "wheel_axes")
    R_NB = forward_kinematics(craft, q).R_NB
    R_0N = base_pose(craft, q).R.T
    axes = [R_0N @ (R_NB[craft.index(w.name)] @ w.joint.axis) for w in driven_wheels(craft)]
    return np.stack(axes, axis=1) if axes else np.zeros((3, 0))


def spin_inertias(craft: Spacecraft) -> Array:
    """J of each wheel about its axis, (wheels,)."""
    return np.array([_spin_inertia(w) for w in driven_wheels(craft)])


def _spin_inertia(wheel: Body) -> Any:
    a = wheel.joint.axis
    off = wheel.com - (a @ wheel.com) * a  # of one that is out of balance
    return a @ wheel.inertia @ a + wheel.mass * (off @ off)


def unbalanced_wheel(
    name: str,
    parent: str,
    axis: Any,
    spin_inertia: float,
    *,
    mass: float,
    static: float = 0.0,
    dynamic: float = 0.0,
    phase: float = 0.0,
    transverse_inertia: float | None = None,
    position: Any = (0.0, 0.0, 0.0),
    **limits: Any,
) -> Body:
    """A wheel out of balance, as it is: a body whose angle counts, which shakes its carrier at W with

        static W^2  (N, across the axis)   and   dynamic W^2  (N m, across the axis)                              (1)

    static: mass times the distance of its centre from the axis, kg m. dynamic: product of inertia of the axis with a
    direction across it, kg m^2. phase: angle from one to the other, rad. The carrier's mass properties do not include
    it. parent: a body, or a node of a flexible one. limits: max_torque, max_speed, damping, friction, as of `gs.Wheel`.
    Laws drive it as any wheel; a run needs some ten steps to a turn.
    """
    a = np.asarray(axis, dtype=float) / np.linalg.norm(axis)
    x = np.cross(np.eye(3)[int(np.argmin(np.abs(a)))], a)
    x = x / np.linalg.norm(x)
    y = np.cross(a, x)
    across = 0.6 * spin_inertia if transverse_inertia is None else transverse_inertia
    e = static / mass if static else 0.0
    skewed = np.cos(phase) * x + np.sin(phase) * y
    turning = spin_inertia - mass * e * e  # about the centre of mass
    inertia = across * (np.eye(3) - np.outer(a, a)) + turning * np.outer(a, a)
    inertia = inertia - dynamic * (np.outer(skewed, a) + np.outer(a, skewed))
    bounds = Limits(velocity=limits.pop("max_speed", np.inf), effort=limits.pop("max_torque", np.inf))
    joint = Joint(name, "revolute", parent, position, axis=a, limits=bounds, driven="wheel", **limits)
    return Body(name, mass, e * x, inertia, joint)


def wheel_speeds(craft: Spacecraft, v: Array) -> Array:
    """Relative to their carriers, (wheels,)."""
    return np.array([v[w.joint.v_at][0] for w in driven_wheels(craft)])


def wheel_momenta(craft: Spacecraft, q: Array, v: Array) -> Array:
    """J (W + a.w) of each wheel: along its axis, the carrier's turning included, (wheels,)."""
    V = body_twists(craft, q, v, joint_poses(craft, q))
    spins = [w.joint.axis @ V[w.name][:3] for w in driven_wheels(craft)]
    return spin_inertias(craft) * np.array(spins)


def share_torque(axes: Array, torque: Array, null_motion: Array | None = None) -> Array:
    """Motor torques (wheels,) whose reactions turn the carrier by `torque` (3,): axes @ tau = -torque.

    tau = -axes^T (axes axes^T)^-1 torque            the least sum of squares        (1)
          + (1 - axes^# axes) null_motion            unseen by the carrier           (2)
    """
    gram = mirror(axes @ axes.T)
    tau = -(axes.T @ solve_spd(gram, torque))  # (1)
    if null_motion is None:
        return tau
    return tau + null_motion - axes.T @ solve_spd(gram, axes @ null_motion)  # (2)


def towards_speeds(craft: Spacecraft, v: Array, speeds: Any, rate: float) -> Array:
    """Motor torques (wheels,), to be used as null motion, that let speeds approach the given ones at `rate` in 1/s."""
    return rate * spin_inertias(craft) * (np.asarray(speeds) - wheel_speeds(craft, v))


def wheel_limits(craft: Spacecraft) -> tuple[Array, Array]:
    """Largest torque and largest speed of each wheel, (wheels,) each; infinite where the model gives none."""
    limits = [w.joint.limits for w in driven_wheels(craft)]
    return np.array([x.effort for x in limits]), np.array([x.velocity for x in limits])


def momentum_capacity(craft: Spacecraft) -> Array:
    """J times the largest speed, (wheels,)."""
    return spin_inertias(craft) * wheel_limits(craft)[1]


def torque_range(limits: Any, speed: Any) -> tuple[Any, Any]:
    """Smallest and largest torque of a wheel at that speed: the limit, less what would push it past its top speed."""
    top, most = limits.effort, limits.velocity
    if not np.isfinite(most):
        return -top, top
    if not np.isfinite(top):
        raise ValueError(
            "a wheel has max_speed but no max_torque: give max_torque= too; its drive lets the torque fall to zero at "
            "the limit."
        )
    room = TAPER * most
    return -top * clip((most + speed) / room, 0.0, 1.0), top * clip((most - speed) / room, 0.0, 1.0)
