"""Ready-made signals: what is most often asked of a run of a spacecraft."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra import Array, absolute, maximum, norm, quat_from_rotation
from ..control.errors import attitude_error as error_of_attitude
from ..formulations.recursive import kinetic_energy as energy_of
from ..formulations.recursive import momentum as momentum_of
from ..kinematics import center_of_mass, frame_pose
from ..model import Joint, Role, Spacecraft
from .outcome import Signal

UPRIGHT = (1.0, 0.0, 0.0, 0.0)


def attitude_error(target: Any = UPRIGHT, frame: str | None = None) -> Signal:
    """Angle from the attitude of a body or frame (the base) to quat_ND = target, in rad."""
    quat = _unit(target, 4, "target")

    def error(craft: Spacecraft, t: Any, q: Array, v: Array) -> Any:
        pose = frame_pose(craft, q, frame or craft.base)
        return norm(error_of_attitude(quat_from_rotation(pose.R), quat))

    return Signal(error, f"attitude error{_of(frame)}", "rad")


def pointing_error(axis: Any, direction: Any, frame: str | None = None) -> Signal:
    """Angle from an axis of a body or frame (the base), in its own axes, to a direction in N, in rad."""
    own, wanted = _unit(axis, 3, "axis"), _unit(direction, 3, "direction")

    def error(craft: Spacecraft, t: Any, q: Array, v: Array) -> Any:
        from ..algebra import atan2, cross

        there = frame_pose(craft, q, frame or craft.base).R @ own
        return atan2(norm(cross(there, wanted)), there @ wanted)

    return Signal(error, f"pointing error{_of(frame)}", "rad")


def position_error(position: Any, frame: str | None = None) -> Signal:
    """Distance of the origin of a body or frame (the base) from a point of N, in m."""
    wanted = _numbers(position, 3, "position")

    def error(craft: Spacecraft, t: Any, q: Array, v: Array) -> Any:
        return norm(frame_pose(craft, q, frame or craft.base).p - wanted)

    return Signal(error, f"position error{_of(frame)}", "m")


def distance(first: str, second: str) -> Signal:
    """Between the origins of two bodies or frames, in m."""

    def between(craft: Spacecraft, t: Any, q: Array, v: Array) -> Any:
        return norm(frame_pose(craft, q, first).p - frame_pose(craft, q, second).p)

    return Signal(between, f"distance of {first} and {second}", "m")


def clearance(first: str, second: str, radii: float = 0.0) -> Signal:
    """Between spheres about the origins of two bodies or frames; radii: of both together, in m."""
    apart = distance(first, second).function

    def between(craft: Spacecraft, t: Any, q: Array, v: Array) -> Any:
        return apart(craft, t, q, v) - radii

    return Signal(between, f"clearance of {first} and {second}", "m")


def body_rate(frame: str | None = None) -> Signal:
    """Size of the angular velocity of the base, or of a body or frame, in rad/s."""

    def rate(craft: Spacecraft, t: Any, q: Array, v: Array) -> Any:
        from ..kinematics import jacobian

        return norm((jacobian(craft, q, frame or craft.base, np.zeros(3)) @ v)[:3])

    return Signal(rate, f"rate{_of(frame)}", "rad/s")


def joint_error(joint: str, target: float) -> Signal:
    """|coordinate - target| of a joint with one coordinate.

    Raises ValueError for joints with more than one coordinate.
    """

    def error(craft: Spacecraft, t: Any, q: Array, v: Array) -> Any:
        own = craft.joint_named(joint)
        if own.nq != 1:
            raise ValueError(f"joint '{joint}' has {own.nq} coordinates; joint_error is for joints with one.")
        return absolute(q[own.q_at][0] - target)

    return Signal(error, f"error of {joint}")


def joint_rate(joint: str) -> Signal:
    """Size of a joint's velocity."""

    def rate(craft: Spacecraft, t: Any, q: Array, v: Array) -> Any:
        return norm(v[craft.joint_named(joint).v_at])

    return Signal(rate, f"rate of {joint}")


def torque_share(joint: str | None = None) -> Signal:
    """Largest |command| / effort limit of the motors of a joint, or of all joints and wheels that have a limit."""

    def share(craft: Spacecraft, t: Any, q: Array, v: Array, command: Array) -> Any:
        joints = _limited(craft, joint, "effort")
        return _largest([absolute(command[k]) / j.limits.effort for j in joints for k in _places(j)])

    return Signal(share, f"torque of {joint or 'motors'} against limit")


def wheel_speed(wheel: str | None = None) -> Signal:
    """|speed| of a wheel relative to its carrier, or the largest of all, in rad/s."""

    def speed(craft: Spacecraft, t: Any, q: Array, v: Array) -> Any:
        return _largest([absolute(v[k]) for j in _wheels(craft, wheel) for k in _places(j)])

    return Signal(speed, f"speed of {wheel or 'wheels'}", "rad/s")


def wheel_speed_share(wheel: str | None = None) -> Signal:
    """|speed| / speed limit of a wheel, or the largest of all that have a limit.

    Raises ValueError where no wheel has a limit of speed.
    """

    def share(craft: Spacecraft, t: Any, q: Array, v: Array) -> Any:
        joints = [j for j in _wheels(craft, wheel) if np.isfinite(j.limits.velocity)]
        if not joints:
            raise ValueError(f"no wheel of {craft.name} has a limit of speed: give some gs.Limits(velocity=...).")
        return _largest([absolute(v[k]) / j.limits.velocity for j in joints for k in _places(j)])

    return Signal(share, f"speed of {wheel or 'wheels'} against limit")


def angular_momentum() -> Signal:
    """Size of the angular momentum about the centre of mass, in N m s."""

    def size(craft: Spacecraft, t: Any, q: Array, v: Array) -> Any:
        return norm(momentum_of(craft, q, v, about=center_of_mass(craft, q))[:3])

    return Signal(size, "angular momentum", "N m s")


def kinetic_energy() -> Signal:
    """In J."""
    return Signal(lambda craft, t, q, v: energy_of(craft, q, v), "kinetic energy", "J")


def control_effort() -> Signal:
    """Sum of |command|, in N m of what turns and N of what slides; its integral is what actuators gave."""

    def effort(craft: Spacecraft, t: Any, q: Array, v: Array, command: Array) -> Any:
        return sum((absolute(x) for x in command), start=0.0)

    return Signal(effort, "control effort", "N m + N")


SIGNALS = (
    attitude_error,
    pointing_error,
    position_error,
    distance,
    clearance,
    body_rate,
    joint_error,
    joint_rate,
    torque_share,
    wheel_speed,
    wheel_speed_share,
    angular_momentum,
    kinetic_energy,
    control_effort,
)


def _of(frame: str | None) -> str:
    return "" if frame is None else f" of {frame}"


def _numbers(given: Any, count: int, what: str) -> Array:
    found = np.asarray(given, dtype=float)
    if found.shape != (count,) or not np.isfinite(found).all():
        raise ValueError(f"{what} is {given!r:.60}; expected {count} finite numbers.")
    return found


def _unit(given: Any, count: int, what: str) -> Array:
    found = _numbers(given, count, what)
    size = float(np.linalg.norm(found))
    if size < 1e-12:
        raise ValueError(f"{what} is {given!r:.60}; expected {count} numbers that are not all zero.")
    return found / size


def _largest(values: list[Any]) -> Any:
    found = values[0]
    for value in values[1:]:
        found = maximum(found, value)
    return found


def _places(joint: Joint) -> range:
    at = joint.v_at
    return range(at.start, at.stop)


def _limited(craft: Spacecraft, name: str | None, limit: str) -> list[Any]:
    joints = [craft.joint_named(name)] if name else [j for j in craft.joints if j.nv]
    found = [j for j in joints if np.isfinite(getattr(j.limits, limit))]
    if not found:
        raise ValueError(f"{name or craft.name} has no limit of {limit}: give gs.Limits({limit}=...).")
    return found


def _wheels(craft: Spacecraft, name: str | None) -> list[Any]:
    joints = [craft.joint_named(name)] if name else list(craft.joints)
    found = [j for j in joints if j.nv and craft.roles[j.v_at.start] is Role.wheel]
    if not found:
        raise ValueError(f"{name or craft.name} {'is no wheel' if name else 'has no wheels'}.")
    return found
