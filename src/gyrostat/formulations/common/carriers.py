"""Wheels eliminated: each carrier with its wheels as one body, for formulations that invert every body's inertia.

An included wheel has no mass of its own, so its inertia matrix has no inverse. With J its spin inertia, a its axis, h =
J (W + a.w) its spin momentum at speed W on a carrier turning at w, and t the motor torque plus the external torque
along a:

    free:        I -> I - J a a^T,  torque on the carrier  -w x (a h) - a t,          Wdot = t / J - a.wdot     (1)
    prescribed:  I stays,           torque on the carrier  -w x (a J W) - a J Wdot,   t = J (Wdot + a.wdot)     (2)

where I is the inertia of carrier and wheels together, about their common centre of mass.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ...algebra import (
    Array,
    Pose,
    cross,
    cross_force,
    is_symbolic,
    mirror,
    rigid_inertia,
    transform_point,
    twist_to_child,
    wrench_to_parent,
)
from ...kinematics.arguments import Acting
from ...model import Spacecraft
from .solution import JointMotion


class SpinningWheel(NamedTuple):
    """A wheel as its carrier P feels it."""

    name: str
    a: Array  # axis, in P, (3,)
    J: Any
    X_PB: Pose


class Carrier(NamedTuple):
    """A body together with its wheels: mass, centre of mass in B, and inertia about it by (1) or (2)."""

    mass: Any
    com: Array
    inertia: Array
    wheels: tuple[SpinningWheel, ...]


def carrier_bodies(craft: Spacecraft) -> list[tuple[str, str | None]]:
    """(body, parent) names base to tip, wheels left out."""
    wheels = {wheel.name for wheel in craft.wheels}
    return [(B, P) for B, P in craft.base_to_tip if B not in wheels]


def carriers(craft: Spacecraft, follows: Mapping[str, Array]) -> dict[str, Carrier]:
    """Every body but the wheels, with its wheels on it; `follows` names the bodies whose joints are prescribed."""
    on: dict[str, list[SpinningWheel]] = {}
    nowhere = np.zeros(craft.nq)  # a wheel has no coordinates
    for wheel in craft.wheels:
        X_PB, axis = wheel.joint.pose(nowhere), wheel.joint.H(nowhere)[:3, 0]
        on.setdefault(str(wheel.parent), []).append(
            SpinningWheel(wheel.name, X_PB.R @ axis, axis @ wheel.inertia @ axis, X_PB)
        )
    return {B: _carrier(craft, B, tuple(on.get(B, ())), follows) for B, _ in carrier_bodies(craft)}


def _carrier(craft: Spacecraft, B: str, wheels: tuple[SpinningWheel, ...], follows: Mapping[str, Array]) -> Carrier:
    body = craft.body(B)
    if not wheels:
        return Carrier(body.mass, body.com, body.inertia, ())
    own = body.inertia
    parts = []
    for wheel in wheels:
        W = craft.body(wheel.name)
        own = own - W.inertia if W.included else own
        parts.append((W.mass, transform_point(wheel.X_PB, W.com), wheel.X_PB.R @ W.inertia @ wheel.X_PB.R.T))
    parts.append((body.mass, body.com, own))
    mass = sum(m for m, _, _ in parts)
    com = sum(m * c for m, c, _ in parts) / mass
    inertia = sum(I + m * ((c - com) @ (c - com) * np.eye(3) - np.outer(c - com, c - com)) for m, c, I in parts)
    for wheel in wheels:
        if wheel.name not in follows:
            inertia = inertia - wheel.J * np.outer(wheel.a, wheel.a)  # (1)
    return Carrier(mass, com, mirror(inertia), wheels)


def load_on_carrier(craft: Spacecraft, B: str, carrier: Carrier, w_NB_B: Array, v: Array, acting: Acting) -> Array:
    """External wrench on the body and its wheels, and what the wheels' spin adds, about Bo in B, (6,)."""
    tau, F_ext, follows = acting
    total = F_ext.get(B, np.zeros(6))
    for wheel in carrier.wheels:
        joint = craft.joint(wheel.name)
        speed, felt = joint.rate(v)[0], F_ext.get(wheel.name)
        if wheel.name in follows:
            h, t = wheel.J * speed, wheel.J * follows[wheel.name][0]  # (2)
        else:
            h, t = wheel.J * (speed + wheel.a @ w_NB_B), joint.rate(tau)[0] + _along(craft, wheel, felt)  # (1)
        if felt is not None:
            total = total + wrench_to_parent(wheel.X_PB, felt)
        total = total - np.concatenate([cross(w_NB_B, wheel.a * h) + wheel.a * t, np.zeros(3)])
    return total


def wheel_motions(
    craft: Spacecraft, carrier: Carrier, V_NP: Array, A_NP: Array, v: Array, acting: Acting
) -> dict[str, JointMotion]:
    """Of each wheel of a carrier by name, from the carrier's twist and its derivative about Po in P."""
    return {wheel.name: _wheel_motion(craft, wheel, V_NP, A_NP, v, acting) for wheel in carrier.wheels}


def _wheel_motion(
    craft: Spacecraft, wheel: SpinningWheel, V_NP: Array, A_NP: Array, v: Array, acting: Acting
) -> JointMotion:
    tau, F_ext, follows = acting
    joint, felt = craft.joint(wheel.name), F_ext.get(wheel.name)
    turning = wheel.a @ A_NP[:3]
    if wheel.name in follows:
        vdot = follows[wheel.name][0]
        load = wheel.J * (vdot + turning) - _along(craft, wheel, felt)  # (2)
    else:
        load = joint.rate(tau)[0]
        vdot = (load + _along(craft, wheel, felt)) / wheel.J - turning  # (1)
    body = craft.body(wheel.name)
    M = rigid_inertia(body.mass, body.com, body.inertia)
    V_P, spin = twist_to_child(wheel.X_PB, V_NP), np.concatenate([joint.motion.axis, np.zeros(3)])
    V = V_P + spin * joint.rate(v)[0]
    # the wheel's frame stays with its carrier, but its momentum turns with it: d/dt V in the carrier's axes
    A = twist_to_child(wheel.X_PB, A_NP) + spin * vdot
    wrench = M @ A + cross_force(V_P, M @ V) - (0.0 if felt is None else felt)
    return JointMotion(np.array([vdot]), np.array([load]), wrench)


def _along(craft: Spacecraft, wheel: SpinningWheel, felt: Array | None) -> Any:
    return 0.0 if felt is None else craft.joint(wheel.name).motion.axis @ felt[:3]


def why_not(craft: Spacecraft) -> str | None:
    """Why wheels cannot be eliminated, by name; None if they can. Symbols are trusted."""
    for wheel in craft.wheels:
        reason = _not_axisymmetric(craft, wheel.name)
        if reason:
            return reason
        mass = craft.body(str(wheel.parent)).mass + (0.0 if wheel.included else wheel.mass)
        if not is_symbolic(mass) and not mass > 0.0:
            return (
                f"body '{wheel.parent}' and its wheel '{wheel.name}' have no mass, so they have no centre of mass "
                "about which the wheel could be taken out. Give one of them mass, or use the recursive formulation."
            )
    return None


def without_inverse(bodies: Mapping[str, Carrier]) -> list[str]:
    """Names of the bodies whose mass or inertia is zero in some direction, once wheels are eliminated. Symbols are
    trusted.
    """
    found = []
    for B, carrier in bodies.items():
        if is_symbolic(carrier.mass) or is_symbolic(carrier.inertia):
            continue
        moments = np.linalg.eigvalsh(carrier.inertia)
        if not carrier.mass > 0.0 or not moments[0] > 1e-12 * moments[-1]:
            found.append(B)
    return found


def _not_axisymmetric(craft: Spacecraft, name: str) -> str | None:
    wheel = craft.body(name)
    a, I = wheel.joint.axis, wheel.inertia
    if any(is_symbolic(x) for x in (a, I, wheel.com)):
        return None
    J = a @ I @ a
    across = I - J * np.outer(a, a)
    transverse = 0.5 * np.trace(across) * (np.eye(3) - np.outer(a, a))
    if not J > 0.0:
        return f"wheel '{name}' has spin inertia {J:.6g} kg m^2; it must be above zero. Give its spin inertia."
    if np.abs(across - transverse).max() > 1e-9 * np.abs(I).max() or np.abs(np.cross(a, wheel.com)).max() > 1e-12:
        return f"wheel '{name}' is not symmetric about its axis; a wheel must be. Use a revolute joint instead."
    return None
