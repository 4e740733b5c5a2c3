"""Loads that joints make by themselves: springs, dampers, friction, stops; and what motors make of a command."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..algebra import Array, clip, exp, is_zero, log, maximum, where
from ..algebra.reals import reals
from ..model import Joint, Modes, Spacecraft
from .wheels import torque_range


@dataclass(frozen=True)
class Stops:
    """Smooth end stops at the joints' limits: a spring that stiffens over `width`, with damping while pressed."""

    stiffness: float = 1e4
    damping: float = 1e2
    width: float = 1e-3

    def __post_init__(self) -> None:
        _demand(self, "stops", "width", "stiffness")
        _demand(self, "stops", "damping", zero=True)


@dataclass(frozen=True)
class Actuators:
    """What every motor makes of its command: saturation at the joint's effort limit, first-order lag, rate limit.

    lag: time constant in s; 0 for none. rate: largest change of load in N m/s (or N/s).
    """

    saturate: bool = True
    lag: float = 0.0
    rate: float = float("inf")

    def __post_init__(self) -> None:
        _demand(self, "actuators", "lag", zero=True)
        _demand(self, "actuators", "rate", infinite=True)
        if np.isfinite(self.rate) and self.lag == 0.0:
            raise ValueError("actuators: a rate limit needs a lag: give the motor's time constant in seconds.")

    @property
    def remembers(self) -> bool:
        return self.lag > 0.0


def _demand(given: Any, who: str, *names: str, zero: bool = False, infinite: bool = False) -> None:
    """Raises a ValueError unless these attributes are positive numbers, or zero, or infinite, where that may be."""
    for name in names:
        value = reals(getattr(given, name), f"{who}: {name}")
        if not (value.shape == () and (value > 0.0 or (zero and value == 0.0)) and (infinite or np.isfinite(value))):
            expected = "not negative" if zero else "positive"
            raise ValueError(f"{who}: {name} is {getattr(given, name)!r:.80}; expected one number, {expected}.")


def saturated(craft: Spacecraft, tau: Array, v: Array) -> Array:
    """tau held within the joints' effort limits; a wheel near its largest speed is driven no faster."""
    parts = []
    for joint in craft.joints:
        own, effort = joint.rate(tau), joint.limits.effort
        if joint.spins and np.isfinite(joint.limits.velocity):
            parts.append(clip(own, *torque_range(joint.limits, joint.rate(v))))
        else:
            parts.append(clip(own, -effort, effort) if np.isfinite(effort) else own)
    return np.concatenate(parts) if parts else tau


def actuator_rate(actuators: Actuators, command: Array, load: Array) -> Array:
    """d/dt of the load that follows the command: (command - load) / lag, within the rate limit."""
    rate = (command - load) / actuators.lag
    return clip(rate, -actuators.rate, actuators.rate) if np.isfinite(actuators.rate) else rate


def passive_forces(craft: Spacecraft, q: Array, v: Array, stops: Stops | None = None) -> Array:
    """Generalised force (nv,) of springs, dampers, friction, bent bodies and, if given, stops.

    -d/dq spring_energy - damping v - friction tanh(v / 1e-3); within a gear's play its spring does not act
    """
    parts = [_passive(joint, q[joint.q_at], v[joint.v_at], stops) for joint in craft.joints]
    return np.concatenate(parts) if parts else np.zeros(0)


def spring_energy(craft: Spacecraft, q: Array, stops: Stops | None = None) -> Any:
    """Potential energy (J) that springs, bent bodies and, if given, pressed stops store at q.

    A spring's is half its stiffness times the squares of how far the joint is from where its first rate would bring it
    in one second at `rest`: angles with all their turns (planar, too), distances, and the angle of rotation of a ball
    or free joint, whose spring is linear to 5e-6 up to a right angle and yields to nothing at half a turn.
    """
    total: Any = 0.0
    for joint in craft.joints:
        own = q[joint.q_at]
        if isinstance(joint, Modes):
            total = total + joint.elastic_energy(own)
        elif joint.nq and not is_zero(joint.stiffness):
            energy = joint.motion.spring_energy(own, _at_ease(joint))
            total = total + joint.stiffness * (energy if is_zero(joint.backlash) else 0.5 * _stretch(joint, own) ** 2)
        if stops is not None and stoppable(joint):
            total = total + _stop_energy(stops, joint, own[0])
    return total


def has_springs(craft: Spacecraft) -> bool:
    """False if `spring_energy` is zero whatever the state, without stops."""
    return craft.bends or any(joint.nq and not is_zero(joint.stiffness) for joint in craft.joints)


def has_passive_forces(craft: Spacecraft, stops: Stops | None) -> bool:
    """False if `passive_forces` is zero whatever the state."""
    springy = any(not is_zero(x) for j in craft.joints for x in (j.stiffness, j.damping, j.friction))
    return springy or craft.bends or (stops is not None and any(stoppable(j) for j in craft.joints))


def _at_ease(joint: Joint) -> Array:
    """The joint's coordinates where its spring is relaxed: `rest` in its first rate, from neutral."""
    return joint.motion.step(joint.motion.neutral(), joint.rest * np.eye(joint.nv)[0])


def _stretch(joint: Joint, q: Array) -> Any:
    """How far the spring of a gear is drawn beyond its play, with its sign."""
    off = -joint.motion.spring_load(q, _at_ease(joint))[0]
    play = 0.5 * joint.backlash
    return maximum(off - play, 0.0) - maximum(-off - play, 0.0)


def stoppable(joint: Joint) -> bool:
    """True if the joint has limits that an end stop can stand at."""
    return joint.nq == joint.nv == 1 and (np.isfinite(joint.limits.lower) or np.isfinite(joint.limits.upper))


def _passive(joint: Joint, q: Array, v: Array, stops: Stops | None) -> Array:
    load = np.zeros(joint.nv)
    if not joint.nv:
        return load
    if isinstance(joint, Modes):
        return joint.elastic_load(q, v)
    if not is_zero(joint.stiffness):
        pull = joint.motion.spring_load(q, _at_ease(joint))
        load = load + joint.stiffness * (pull if is_zero(joint.backlash) else np.array([-_stretch(joint, q)]))
    if not is_zero(joint.damping):
        load = load - joint.damping * v
    if not is_zero(joint.friction):
        load = load - joint.friction * np.array([_tanh(rate * 1e3) for rate in v])
    if stops is not None and stoppable(joint):
        load = load + np.array([_stop(stops, joint, q[0], v[0])])
    return load


def _stop_energy(stops: Stops, joint: Joint, q: Any) -> Any:
    """The integral of what `_stop` pushes with at rest."""
    total: Any = 0.0
    for limit, way in ((joint.limits.lower, 1.0), (joint.limits.upper, -1.0)):
        if np.isfinite(limit):
            depth, w = maximum(way * (limit - q), 0.0), stops.width
            total = total + stops.stiffness * (depth * (0.5 * depth - w) + w * w * log(1.0 + depth / w))
    return total


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
