"""Who changes the momentum and the energy of a craft in a run: each by name, with its impulse and its work.

Springs are no cause: what they take they hold (balance.py). Stops are: they give back less than they took, and not at
once. The sum over all causes is what the audit compares with the momentum and the energy themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...algebra import Array, Pose, cross, is_zero, transform_point, wrench_to_parent
from ...constraints import AbstractConstraint
from ...constraints.kinds import Combined
from ...constraints.loads import constrained
from ...control.passive import passive_forces
from ...formulations.recursive import momentum
from ...formulations.recursive.newton_euler import joint_wrenches
from ...kinematics import body_twists, center_of_mass, inertial_poses, joint_poses, total_mass
from ...kinematics.arguments import external
from ...kinematics.relative_motion import Kinematics
from ...model import Modes, Role, Spacecraft
from .loads import Signals

if TYPE_CHECKING:
    from ...model import Joint
    from .equations import Equations


class Rate(NamedTuple):
    """Of one cause at one instant. wrench: [torque about the centre of mass; force] in N; power in W."""

    wrench: Array
    power: Any


class Cause(NamedTuple):
    """who: in words. external: it comes from outside, so that it changes the momentum. pushes: the coordinates where
    nothing of the craft could make a load that control makes.
    """

    who: str
    external: bool
    rate: Callable[[Instant], Rate]
    pushes: tuple[int, ...] = ()

    @property
    def width(self) -> int:
        """Integrals: of the wrench, if it is external, and of the power."""
        return 7 if self.external else 1


class Instant:
    """What acts at one instant, and where everything is."""

    def __init__(self, equations: Equations, craft: Spacecraft, signals: Signals) -> None:
        self.equations, self.craft, self.signals = equations, craft, signals
        self.q, self.v = signals.q, signals.v

    @cached_property
    def poses(self) -> dict[str, Pose]:
        """X_NB, positions from the centre of mass of the whole."""
        c = center_of_mass(self.craft, self.q)
        return {B: Pose(X.R, X.p - c) for B, X in inertial_poses(self.craft, self.q).items()}

    @cached_property
    def twists(self) -> dict[str, Array]:
        return body_twists(self.craft, self.q, self.v, joint_poses(self.craft, self.q))

    @cached_property
    def through_joints(self) -> dict[str, Array]:
        """Wrench that reaches each body through its joint, about Bo in B."""
        s = self.signals
        return joint_wrenches(self.craft, s.q, s.v, s.vdot, external(self.craft, s.wrenches))[0]

    @cached_property
    def springs(self) -> Array:
        """Loads of springs alone."""
        return passive_forces(self.craft, self.q, np.zeros(self.craft.nv))

    def on_body(self, B: str, wrench: Array) -> Array:
        """A wrench about Bo in B, as (6,) about the centre of mass in N."""
        return wrench_to_parent(self.poses[B], wrench)


def causes_of(equations: Equations) -> tuple[Cause, ...]:
    """All that may act, in the order in which their integrals stand."""
    # a parameter may be any number: what it scales may act
    anything = {name: np.full(shape, np.nan)[()] for name, shape in equations.parameters.items()}
    craft = equations.craft.with_values(anything) if anything else equations.craft
    found = [*_of_control(equations), *_of_joints(equations, craft), *_of_roots(equations, craft)]
    if equations.environment is not None:
        found.append(Cause("environment", True, _environment))
    found += _of_constraints(equations)
    found += [Cause(effect_of(name), True, _nothing) for name in equations.effects]
    return tuple(found)


def rates_of(causes: Sequence[Cause], now: Instant) -> Array:
    """d/dt of the integrals."""
    parts: list[Any] = []
    for cause in causes:
        wrench, power = cause.rate(now)
        parts += [wrench, [power]] if cause.external else [[power]]
    return np.concatenate(parts) if parts else np.zeros(0)


def effect_of(event: str) -> str:
    return f"effect of event '{event}'"


def _nothing(now: Instant) -> Rate:
    """What happens at an instant is added there."""
    return Rate(np.zeros(6), 0.0)


# ---- control


def _of_control(equations: Equations) -> list[Cause]:
    craft, loaded = equations.craft, equations.loaded
    if equations.control is None or not len(loaded):
        return []
    outside = set(craft.at(Role.base, Role.passive, Role.modal).tolist())
    inside = [k for k in loaded if k not in outside]
    found = [Cause("control", False, lambda now: Rate(np.zeros(6), _power(now.signals.applied, now.v, inside)))]
    for root in craft.roots:
        at = _places(root.joint, loaded)
        if at:
            found.append(Cause(f"control on {base_name(craft, root.name)}", True, _on_root(root.name, at), at))
    for joint in craft.joints:
        at = _places(joint, loaded)
        if at and craft.roles[at[0]] in (Role.passive, Role.modal):
            what = "passive joint" if craft.roles[at[0]] is Role.passive else "the shape:"
            who = f"control on {what} '{joint.name}'"
            found.append(Cause(who, False, _power_at(lambda s: s.applied, at), at))
    found = found if inside else found[1:]
    return found if equations.propellant is None else [*found, Cause("propellant that leaves", True, _leaving)]


def _leaving(now: Instant) -> Rate:
    """(2) of control/propellant.py; the centre of mass of the rest moves away from the tank."""
    propellant, zdot = now.equations.propellant, now.signals.zdot
    assert propellant is not None and zdot is not None
    total, power = np.zeros(6), 0.0
    mass = total_mass(now.craft)
    linear = momentum(now.craft, now.q, now.v)[3:]
    for tank, mdot in zip(propellant.tanks, propellant.used(zdot), strict=True):
        V, X = now.twists[tank.body], now.poses[tank.body]
        h = tank.one @ V
        away = cross(transform_point(X, np.asarray(tank.position, dtype=float)), linear) / mass
        total = total + mdot * (np.concatenate([away, np.zeros(3)]) - now.on_body(tank.body, h))
        power = power - 0.5 * mdot * (V @ h)
    return Rate(total, power)


def base_name(craft: Spacecraft, body: str) -> str:
    """A root as its owner calls it: "client.base" of several spacecraft, "base" of one."""
    for member in craft.members:
        if member.membership.base == body:
            return f"{member.name}.{member.own(body)}"
    return body


def _places(joint: Joint, loaded: Sequence[int]) -> tuple[int, ...]:
    return tuple(k for k in range(joint.v_at.start, joint.v_at.stop) if k in set(loaded))


def _power(load: Array, v: Array, at: Sequence[int]) -> Any:
    return sum((load[k] * v[k] for k in at), start=0.0)


def _power_at(load: Callable[[Signals], Array], at: Sequence[int]) -> Callable[[Instant], Rate]:
    return lambda now: Rate(np.zeros(6), _power(load(now.signals), now.v, at))


def _on_root(B: str, at: Sequence[int]) -> Callable[[Instant], Rate]:
    def rate(now: Instant) -> Rate:
        joint = now.craft.joint(B)
        wrench = joint.H(now.q) @ joint.rate(now.signals.applied)
        return Rate(now.on_body(B, wrench), _power(now.signals.applied, now.v, at))

    return rate


# ---- joints: dampers, friction, prescribed motions


def _of_joints(equations: Equations, craft: Spacecraft) -> list[Cause]:
    stops = equations.stops
    roots = {root.joint.name for root in craft.roots}
    damped = [joint for joint in craft.joints if joint.name not in roots and _loses(joint, stops is not None)]
    found = []
    if damped:
        at = [k for joint in damped for k in range(joint.v_at.start, joint.v_at.stop)]
        who = "dampers, friction and stops" if stops is not None else "dampers and friction"
        found.append(Cause(who, False, lambda now: Rate(np.zeros(6), _lost(now, at))))
    still = [name for name, motion in equations.prescribed.items() if not callable(motion) and not np.any(motion)]
    for name in equations.prescribed:
        joint = craft.joint_named(name)
        if name not in still and joint.parent is not None and joint.name not in {r.joint.name for r in craft.roots}:
            found.append(Cause(f"prescribed joint '{name}'", False, _holding([joint])))
    held = [j for j in map(craft.joint_named, still) if j.name not in {r.joint.name for r in craft.roots}]
    if held:
        names = ", ".join(f"'{joint.name}'" for joint in held)
        found.append(Cause(f"locked or steady {'joints' if len(held) > 1 else 'joint'} {names}", False, _holding(held)))
    return found


def _loses(joint: Joint, stopped: bool) -> bool:
    if isinstance(joint, Modes):
        return any(not is_zero(d) for d in np.ravel(joint.D))
    limited = stopped and joint.nq == joint.nv == 1 and np.isfinite([joint.limits.lower, joint.limits.upper]).any()
    return bool(joint.nv) and (not is_zero(joint.damping) or not is_zero(joint.friction) or bool(limited))


def _lost(now: Instant, at: Sequence[int]) -> Any:
    return _power(now.signals.passive - now.springs, now.v, at)


def _holding(joints: Sequence[Joint]) -> Callable[[Instant], Rate]:
    at = [k for joint in joints for k in range(joint.v_at.start, joint.v_at.stop)]
    return _power_at(_held, at)


def _held(s: Signals) -> Array:
    """What holds prescribed coordinates."""
    own = s.tau - s.applied - s.passive
    return own if s.modal is None else own - s.modal


# ---- where the craft meets the inertial frame


def _of_roots(equations: Equations, craft: Spacecraft) -> list[Cause]:
    found = []
    for root in craft.roots:
        joint, who = root.joint, base_name(equations.craft, root.name)
        if any(not is_zero(x) for x in (joint.stiffness, joint.damping, joint.friction)):
            found.append(Cause(f"spring and damper of {who}", True, _passive_root(root.name)))
        if joint.name in equations.prescribed:
            found.append(Cause(f"prescribed {who}", True, _support(root.name)))
        elif not joint.motion.unbound:
            found.append(Cause(f"support of {who}", True, _support(root.name)))
    return found


def _passive_root(B: str) -> Callable[[Instant], Rate]:
    def rate(now: Instant) -> Rate:
        joint = now.craft.joint(B)
        wrench = joint.H(now.q) @ joint.rate(now.signals.passive)
        at = range(joint.v_at.start, joint.v_at.stop)
        return Rate(now.on_body(B, wrench), _lost(now, at))

    return rate


def _support(B: str) -> Callable[[Instant], Rate]:
    """What comes through the joint beside control and passive loads."""

    def rate(now: Instant) -> Rate:
        joint, s = now.craft.joint(B), now.signals
        own = joint.H(now.q) @ joint.rate(s.applied + s.passive) if joint.nv else np.zeros(6)
        at = range(joint.v_at.start, joint.v_at.stop)
        held = _power(s.tau - s.applied - s.passive, s.v, at) if joint.name in now.equations.prescribed else 0.0
        return Rate(now.on_body(B, now.through_joints[B] - own), held)

    return rate


# ---- environment and constraints


def _environment(now: Instant) -> Rate:
    total, power = np.zeros(6), 0.0
    assert now.signals.outer is not None
    for (B, _), wrench in zip(now.craft.base_to_tip, now.signals.outer, strict=True):
        if any(not is_zero(w) for w in wrench):
            total = total + now.on_body(B, wrench)
            power = power + wrench @ now.twists[B]
    if now.signals.modal is not None:
        power = power + _power(now.signals.modal, now.v, now.craft.at(Role.modal).tolist())
    return Rate(total, power)


def _of_constraints(equations: Equations) -> list[Cause]:
    """Those to the inertial frame and the driven ones each by name;
    the others do nothing but what their violations cost.
    """
    found, ideal = [], []
    for k, c in enumerate(equations.constraints):
        if grounded(equations.craft, c):
            found.append(Cause(f"constraint to N: {c.title}", True, _constraint([k])))
        elif _is_driven(c):
            found.append(Cause(f"driven constraint: {c.title}", False, _constraint([k])))
        else:
            ideal.append(k)
    if ideal:
        found.append(Cause("constraints", False, _constraint(ideal)))
    return found


def _is_driven(c: AbstractConstraint) -> bool:
    if isinstance(c, Combined):
        return any(map(_is_driven, c.parts))
    return type(c).motion is not AbstractConstraint.motion


def grounded(craft: Spacecraft, constraint: AbstractConstraint) -> bool:
    """True if it binds the craft to the inertial frame (or to the world that members stand on)."""
    return any(is_still(craft, frame) for frame in (constraint.first, constraint.second))


def is_still(craft: Spacecraft, frame: str) -> bool:
    """True of frames that are fixed in the inertial frame, beside the craft."""
    return frame == "N" or (bool(craft.memberships) and craft.locate(frame)[0] == craft.base)


def _constraint(numbers: Sequence[int]) -> Callable[[Instant], Rate]:
    def rate(now: Instant) -> Rate:
        held, constraints = now.signals.held, now.equations.constraints
        assert held is not None
        at = Kinematics(inertial_poses(now.craft, now.q), now.twists)
        total, power, place = np.zeros(6), 0.0, 0
        for k, c in enumerate(constraints):
            rows, place = slice(place, place + c.size), place + c.size
            if k not in numbers:
                continue
            here = constrained(now.craft, at, c)
            power = power + held.multipliers[rows] @ (here.G @ here.V_12)
            on_second, at_N = held.on_second[k], here.two.X_NF.p - center_of_mass(now.craft, now.q)
            sign = (0.0 if is_still(now.craft, c.second) else 1.0) - (0.0 if is_still(now.craft, c.first) else 1.0)
            if sign:
                torque = on_second[:3] + cross(at_N, on_second[3:])
                total = total + sign * np.concatenate([torque, on_second[3:]])
        return Rate(total, power)

    return rate
