"""The dynamically equivalent manipulator: a fixed-base arm on a ball joint that moves as the free-floating craft
does.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ...algebra import Array, Pose, rigid_inertia, rigid_inertia_to_parent, skew
from ...kinematics import center_of_mass
from ...kinematics.arguments import configuration, rates, vector3
from ...model import Body, Finding, Joint, Limits, ModelError, Spacecraft
from ..common.rigid_only import why_flexible
from .reduction import base_velocity, reduced_force


def equivalent_manipulator(craft: Spacecraft) -> Spacecraft:
    """The craft's dynamically equivalent manipulator: same joints, spherical base joint at the craft's centre of mass.

    Bodies 1 (spacecraft) to n + 1 in one chain; S_i = m_1 + .. + m_i, Mt = S_{n+1}; in body axes, p_i is where joint i
    + 1 sits and c_i the centre of mass, both from joint i:

        m'_i = m_i Mt^2 / (S_{i-1} S_i),  m'_1 arbitrary                                           (35)
        I'_i = I_i about the centre of mass                                                        (36)
        W_i  = (p_i - c_i) S_i / Mt + c_i S_{i-1} / Mt       where joint i + 1 sits                (37)
        c'_i = c_i S_{i-1} / Mt,  c'_1 = 0                                                         (38)
        q'   = q S_{i-1} / Mt                                for coordinates of joint i in metres

    Given the same attitude, base rate, joint coordinates and rates, and the same joint torques and base couple,
    attitude and joints move alike, at any linear and angular momentum, as long as no external *force* acts.
    `equivalent_state` and `equivalent_force` convert, a base force included. Frames on the last body come along, and
    stand from the ball joint where the craft's stand from its centre of mass; others would not, and are left out, as
    are thrusters and shapes.

    Liang, Papadopoulos & Dubowsky (1998); From, Pettersen & Gravdahl (2011), section 5, which omits the metres.
    """
    reason = supports(craft)
    if reason is not None:
        raise ModelError(
            [Finding("error", reason, element=f"spacecraft '{craft.name}'", code="no-equivalent-manipulator")]
        )
    links = [_with_wheels(craft, body) for body in _chain(craft)]
    total = sum(link.mass for link in links)
    inner = links[0].mass  # S_{i-1}
    base = links[0]
    bodies = [
        replace(base, com=np.zeros(3), joint=replace(base.joint, kind="spherical", position=np.zeros(3)))
    ]  # (36), (38)
    for inside, link in pairwise(links):
        outer = inner + link.mass
        W = (link.joint.position - inside.com) * inner / total + inside.com * (inner - inside.mass) / total  # (37)
        bodies.append(
            replace(
                link,
                mass=link.mass * total * total / (inner * outer),  # (35)
                com=link.com * inner / total,  # (38)
                joint=replace(_scaled(link.joint, inner / total), position=W),
            )
        )
        inner = outer
    for wheel in craft.wheels:
        a = wheel.joint.axis
        bodies.append(replace(wheel, mass=0.0, inertia=(a @ wheel.inertia @ a) * np.outer(a, a), included=True))
    last = links[-1]
    shift = last.com * last.mass / total
    frames = [replace(frame, position=frame.position - shift) for frame in craft.frames if frame.body == last.name]
    return Spacecraft.build(f"{craft.name}_equivalent", bodies, frames=frames, source=craft.source)


class State(NamedTuple):
    """Configuration and rates."""

    q: Array
    v: Array


def equivalent_state(craft: Spacecraft, q: Array, v: Array) -> State:
    """State of the equivalent manipulator that goes with the craft's, (nq - 3,) and (nv - 3,): base translation left
    out, metres scaled.
    """
    q, v = configuration(craft, q), rates(craft, v)
    scale_q, scale_v = _scales(craft)
    kept_q, kept_v = np.delete(np.arange(craft.nq), [4, 5, 6]), np.delete(np.arange(craft.nv), [3, 4, 5])
    return State(q[kept_q] * scale_q, v[kept_v] * scale_v)


def equivalent_force(craft: Spacecraft, q: Array, tau: Array) -> Array:
    """Generalised force on the equivalent manipulator that goes with the craft's tau, base force included, (nv -
    3,).
    """
    return reduced_force(craft, q, tau) / _scales(craft)[1]


def space_state(craft: Spacecraft, state: State, p_cm_N: Any = (0.0, 0.0, 0.0), v_cm_N: Any = (0.0, 0.0, 0.0)) -> State:
    """The craft's (q, v) that goes with the equivalent manipulator's, its centre of mass being at p_cm_N and moving at
    v_cm_N.
    """
    scale_q, scale_v = _scales(craft)
    joints, f = np.asarray(state.q) / scale_q, np.asarray(state.v) / scale_v
    at_origin = np.concatenate([joints[:4], np.zeros(3), joints[4:]])
    p_NB = vector3(p_cm_N, "p_cm_N") - center_of_mass(craft, at_origin)
    q = np.concatenate([joints[:4], p_NB, joints[4:]])
    return State(q, np.concatenate([f[:3], base_velocity(craft, q, f, v_cm_N), f[3:]]))


def supports(craft: Spacecraft) -> str | None:
    """None, or why the craft has no equivalent manipulator."""
    base = craft.bodies[0]
    if reason := why_flexible(craft):
        return reason
    if not base.joint.motion.unbound:
        return (
            f"its base is on a {base.joint.kind} joint; only a craft that floats freely has an equivalent manipulator."
        )
    for body in craft.bodies:
        carried = [child.name for child in craft.bodies if child.parent == body.name and not child.joint.motion.spins]
        if len(carried) > 1:
            return (
                f"body '{body.name}' carries {' and '.join(map(repr, carried))}; expected one open chain. Joints of "
                "different branches of a free-floating craft feel each other through its centre of mass (block -M_va^T "
                "M_vb / m of the reduced mass matrix), which those of a fixed-base tree do not. Lock all branches but "
                "one, or use lie_lagrange.reduced_mass_matrix, which is exact for any tree."
            )
    if not _with_wheels(craft, base).mass > 0.0:
        return (
            f"its base '{base.name}' has no mass, so the links' equivalent masses would be infinite. Give it its mass."
        )
    for joint in craft.joints[1:]:
        loads = {name: getattr(joint, name) for name in ("rotor_inertia", "stiffness", "damping", "friction")}
        mixed = len({unit.startswith("m") for unit in joint.motion.v_units}) > 1
        if mixed and any(loads.values()):
            given = ", ".join(name for name, value in loads.items() if value)
            return (
                f"joint '{joint.name}' is {joint.kind} with {given}: metres are scaled and radians are not, so one "
                "number cannot serve both. Split it into a turning and a sliding joint."
            )
    return None


def _chain(craft: Spacecraft) -> list[Body]:
    return [body for body in craft.bodies if not body.joint.motion.spins]


def _with_wheels(craft: Spacecraft, body: Body) -> Body:
    """The body without its shapes, its mass properties with all its wheels: where a wheel's mass is never changes."""
    M = rigid_inertia(body.mass, body.com, body.inertia)
    for wheel in craft.wheels:
        if wheel.parent == body.name and not wheel.included:
            X_BW = Pose(wheel.joint.rotation, wheel.joint.position)
            M = M + rigid_inertia_to_parent(X_BW, rigid_inertia(wheel.mass, wheel.com, wheel.inertia))
    com = M.h / M.m if M.m else np.zeros(3)
    return replace(body, mass=M.m, com=com, inertia=M.I_o + M.m * (skew(com) @ skew(com)), shapes=())


def _scales(craft: Spacecraft) -> tuple[Array, Array]:
    """Factors from the craft's (q, v), base translation left out, to the equivalent manipulator's: not one for
    metres.
    """
    links = [_with_wheels(craft, body) for body in _chain(craft)]
    total = sum(link.mass for link in links)
    inner = dict(zip((link.name for link in links[1:]), np.cumsum([link.mass for link in links]), strict=False))
    of_q, of_v = [np.ones(4)], [np.ones(3)]
    for body in craft.bodies[1:]:
        factor = inner.get(body.name, total) / total
        of_q.append(_where_metres(body.joint.motion.q_units, factor))
        of_v.append(_where_metres(body.joint.motion.v_units, factor))
    return np.concatenate(of_q), np.concatenate(of_v)


def _where_metres(units: tuple[str, ...], factor: Any) -> Array:
    return np.array([factor if unit.startswith("m") else 1.0 for unit in units])


def _scaled(joint: Joint, factor: float) -> Joint:
    """The joint with its passive loads, rotor and limits for displacements that are `factor` of the craft's."""
    if not all(unit.startswith("m") for unit in joint.motion.v_units) or not joint.nv:
        return joint
    limits = joint.limits
    return replace(
        joint,
        limits=Limits(limits.lower * factor, limits.upper * factor, limits.velocity * factor, limits.effort / factor),
        stiffness=joint.stiffness / factor**2,
        rest=joint.rest * factor,
        damping=joint.damping / factor**2,
        friction=joint.friction / factor,
        backlash=joint.backlash * factor,
        rotor_inertia=joint.rotor_inertia / factor**2,
    )
