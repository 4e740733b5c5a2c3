"""Loads that joints make by themselves: springs, dampers, friction, stops; and what motors make of a command."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..algebra import Array, clip, exp, maximum, where
from ..model import Joint, Spacecraft
from .wheels import torque_range


@dataclass(frozen=True)
class Stops:
    """Smooth end stops at the joints' limits: a spring that stiffens over `width`, with damping while pressed."""

    stiffness: float = 1e4
    damping: float = 1e2
    width: float = 1e-3


@dataclass(frozen=True)
class Actuators:
    """What every motor makes of its command: saturation at the joint's effort limit, first-order lag, rate limit.

    lag: time constant in s; 0 for none. rate: largest change of load in N m/s (or N/s).
    """

    saturate: bool = True
    lag: float = 0.0
    rate: float = float("inf")

    def __post_init__(self) -> None:
        if self.lag < 0 or self.rate <= 0:
            raise ValueError(
                f"actuators: lag {self.lag} s and rate {self.rate} must not be negative, the rate not zero."
            )
        if np.isfinite(self.rate) and self.lag == 0.0:
            raise ValueError("actuators: a rate limit needs a lag: give the motor's time constant in seconds.")

    @property
    def remembers(self) -> bool:
        return self.lag > 0.0


def saturated(craft: Spacecraft, tau: Array, v: Array) -> Array:
    """tau held within the joints' effort limits; a wheel near its largest speed is driven no faster."""
    parts = []
    for joint in craft.joints:
        own, effort = joint.rate(tau), joint.limits.effort
        if joint.kind == "wheel" and np.isfinite(joint.limits.velocity):
            parts.append(clip(own, *torque_range(joint.limits, joint.rate(v))))
        else:
            parts.append(clip(own, -effort, effort) if np.isfinite(effort) else own)
    return np.concatenate(parts) if parts else tau


def actuator_rate(actuators: Actuators, command: Array, load: Array) -> Array:
    """d/dt of the load that follows the command: (command - load) / lag, within the rate limit."""
    rate = (command - load) / actuators.lag
    return clip(rate, -actuators.rate, actuators.rate) if np.isfinite(actuators.rate) else rate


def passive_forces(craft: Spacecraft, q: Array, v: Array, stops: Stops | None = None) -> Array:
    """Generalised force (nv,) of springs, dampers, friction and, if given, stops; joints with one coordinate or more.

    -stiffness (q - rest) - damping v - friction tanh(v / 1e-3)
    """
    parts = [_passive(joint, q[joint.q_at], v[joint.v_at], stops) for joint in craft.joints]
    return np.concatenate(parts) if parts else np.zeros(0)


def has_passive_forces(craft: Spacecraft, stops: Stops | None) -> bool:
    """False if `passive_forces` is zero whatever the state."""
    springy = any(not _is_zero(x) for j in craft.joints for x in (j.stiffness, j.damping, j.friction))
    return springy or (stops is not None and any(_stoppable(j) for j in craft.joints))


def _is_zero(x: Any) -> bool:
    return isinstance(x, float) and x == 0.0


def _stoppable(joint: Joint) -> bool:
    return joint.nq == joint.nv == 1 and (np.isfinite(joint.limits.lower) or np.isfinite(joint.limits.upper))


def _passive(joint: Joint, q: Array, v: Array, stops: Stops | None) -> Array:
    load = np.zeros(joint.nv)
    if not joint.nv:
        return load
    if not _is_zero(joint.stiffness):
        stretch = joint.motion.difference(joint.motion.neutral(), q) - joint.rest * np.eye(joint.nv)[0]
        load = load - joint.stiffness * stretch
    if not _is_zero(joint.damping):
        load = load - joint.damping * v
    if not _is_zero(joint.friction):
        load = load - joint.friction * np.array([_tanh(rate * 1e3) for rate in v])
    if stops is not None and _stoppable(joint):
        load = load + np.array([_stop(stops, joint, q[0], v[0])])
    return load


def _tanh(x: Any) -> Any:
    e = exp(-2.0 * maximum(x, -x))
    t = (1.0 - e) / (1.0 + e)
    return where(x < 0.0, -t, t)


def _stop(stops: Stops, joint: Joint, q: Any, v: Any) -> Any:
    """Zero inside the range; beyond it a force that rises smoothly, and a damper that only ever pushes back."""
    total: Any = 0.0
    for limit, way in ((joint.limits.lower, 1.0), (joint.limits.upper, -1.0)):
        if np.isfinite(limit):
            depth = maximum(way * (limit - q), 0.0)
            engaged = depth / (depth + stops.width)
            push = (stops.stiffness * depth - stops.damping * way * v) * engaged
            total = total + way * maximum(push, 0.0)
    return total
