"""The paper's own state (43) and its rate (algorithm 1): x = [dq_Nb of the base (8); Gamma; y (8 per body); wheel
speeds].

Gamma holds the joint coordinates as in q; with `euler=True` those of spherical joints are the paper's roll, pitch, yaw
(3-2-1), singular at a pitch of +-90 degrees. y stacks the dual velocities w^b_{b/N} of the bodies: redundant, so that
(46) holds them together to integration error only. The base must be free, as the paper's is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ....algebra import (
    Array,
    Pose,
    cos,
    dq_from_parts,
    dq_multiply,
    dq_normalize,
    dual_twist,
    is_symbolic,
    pose_from_dq,
    quat_from_rotation,
    quat_normalize,
    rotation,
    rotation_from_rpy,
    rpy_from_rotation,
    sin,
    transform_point,
    wrench_from_dual,
)
from ....kinematics.arguments import acting, configuration, prescribed_rates, rates
from ....model import Joint, Spacecraft
from ...common.carriers import carrier_bodies, carriers
from ...common.support import require
from ..elimination import eliminate
from ..kinematics import frames, motion_of_bodies, motion_of_rates
from ..momenta import total_momentum


def paper_state(craft: Spacecraft, q: Array, v: Array, *, euler: bool = False) -> Array:
    """x of (43) at the state (q, v)."""
    q, v = configuration(craft, q), rates(craft, v)
    _require_free_base(craft)
    f = frames(craft, q, {})
    m = motion_of_rates(craft, f, v)
    base = craft.joint(craft.base)
    quat_NB, com = quat_normalize(q[base.q_at][:4]), f.carrier[craft.base].com
    p_Nb = transform_point(Pose(rotation(quat_NB), q[base.q_at][4:]), com)
    gamma = [_gamma(joint, q, euler) for joint in _joints(craft)]
    speeds = [wheel.joint.rate(v) for wheel in craft.wheels]
    return np.concatenate([dq_from_parts(quat_NB, p_Nb), *gamma, *(m.w[B] for B, _ in f.bodies), *speeds])


def state_from_paper(craft: Spacecraft, x: Array, *, euler: bool = False) -> tuple[Array, Array]:
    """(q, v) at the state x; rates of the joints by (46), (47)."""
    q, w, speeds = _unpacked(craft, np.asarray(x), euler)
    return q, motion_of_bodies(craft, frames(craft, q, {}), w, speeds).v


def paper_state_rate(
    craft: Spacecraft,
    x: Array,
    tau: Array,
    *,
    wrenches: Any = None,
    prescribed: Mapping[str, Any] | None = None,
    prescribed_rate: Mapping[str, Any] | None = None,
    euler: bool = False,
) -> Array:
    """d/dt x (algorithm 1): (45) for the base, (47) for Gamma, the solution of (50) for y.

    `prescribed = {joint: acceleration}` as in `solve`; with `prescribed_rate = {joint: rate}` the velocities of its
    distal bodies are rebuilt from that rate, whatever y says of them (63).
    """
    given = acting(craft, tau, wrenches, prescribed)
    q, w, speeds = _unpacked(craft, np.asarray(x), euler)
    require(craft)
    f = frames(craft, q, given.follows)
    m = motion_of_bodies(craft, f, w, speeds)
    if prescribed_rate:
        known = prescribed_rates(craft, prescribed_rate)
        v = np.concatenate([known.get(B, craft.joint(B).rate(m.v)) for B, _ in craft.base_to_tip])
        m = motion_of_rates(craft, f, v)
    solved, wdot = eliminate(craft, q, f, m, given)
    qdot = 0.5 * dq_multiply(x[:8], m.w[craft.base])  # (45)
    gamma = [_gamma_rate(joint, x[at], m.v, euler) for joint, at in _gammas(craft, euler)]  # (47)
    ydot = [dual_twist(wdot[B]) for B, _ in f.bodies]
    spins = [wheel.joint.rate(solved.vdot) for wheel in craft.wheels]
    return np.concatenate([qdot, *gamma, *ydot, *spins])


def projected(craft: Spacecraft, x: Array, *, euler: bool = False) -> Array:
    """The state on its constraints: the base's pose of unit norm, y rebuilt outward from the base and the joint rates
    (63).
    """
    x = np.concatenate([dq_normalize(x[:8]), x[8:]])
    q, v = state_from_paper(craft, x, euler=euler)
    y = paper_state(craft, q, v, euler=euler)[_y_at(craft, euler)]
    at = _y_at(craft, euler)
    return np.concatenate([x[: at.start], y, x[at.stop :]])


def momentum_of_paper_state(craft: Spacecraft, x: Array, *, euler: bool = False) -> Array:
    """[angular about the inertial origin; linear] in N from the dual velocities in x themselves, constraint errors
    included (30), (6,).
    """
    q, w, speeds = _unpacked(craft, np.asarray(x), euler)
    f = frames(craft, q, {})
    return wrench_from_dual(total_momentum(craft, f, motion_of_bodies(craft, f, w, speeds)))


def joint_constraints(craft: Spacecraft, x: Array, *, euler: bool = False) -> Array:
    """Lambda w^i_{i/k} of every joint at the state x: zero, but for integration error."""
    q, w, speeds = _unpacked(craft, np.asarray(x), euler)
    f = frames(craft, q, {})
    m = motion_of_bodies(craft, f, w, speeds)
    return np.concatenate([f.map[B].Lambda @ m.w_joint[B] for B, _ in f.bodies])


def _unpacked(craft: Spacecraft, x: Array, euler: bool) -> tuple[Array, dict[str, Array], Array]:
    """q, the dual velocities of the bodies, and the wheel speeds."""
    _require_free_base(craft)
    at = _y_at(craft, euler)
    size = at.stop + len(craft.wheels)
    if x.shape != (size,):
        raise ValueError(
            f"x has shape {x.shape}; expected ({size},): pose of the base, Gamma, dual velocities, wheel speeds."
        )
    X_Nb = pose_from_dq(x[:8])
    com = carriers(craft, {})[craft.base].com
    joints = [_coordinates(joint, x[its], euler) for joint, its in _gammas(craft, euler)]
    y = x[at]
    w = {B: y[8 * b : 8 * b + 8] for b, (B, _) in enumerate(carrier_bodies(craft))}
    return np.concatenate([x[:4], transform_point(X_Nb, -com), *joints]), w, x[at.stop :]


def _y_at(craft: Spacecraft, euler: bool) -> slice:
    start = 8 + sum(3 if _by_angles(joint, euler) else joint.nq for joint in _joints(craft))
    return slice(start, start + 8 * len(carrier_bodies(craft)))


def _gammas(craft: Spacecraft, euler: bool) -> Iterator[tuple[Joint, slice]]:
    """Each joint with the place of its coordinates in x."""
    start = 8
    for joint in _joints(craft):
        stop = start + (3 if _by_angles(joint, euler) else joint.nq)
        yield joint, slice(start, stop)
        start = stop


def _joints(craft: Spacecraft) -> Iterator[Joint]:
    return (craft.joint(B) for B, P in carrier_bodies(craft) if P is not None)


# ---- spherical joints by Euler angles: the one place where the paper's coordinates are not ours


def _by_angles(joint: Joint, euler: bool) -> bool:
    return euler and joint.kind == "spherical"


def _gamma(joint: Joint, q: Array, euler: bool) -> Array:
    return rpy_from_rotation(rotation(q[joint.q_at])) if _by_angles(joint, euler) else q[joint.q_at]


def _coordinates(joint: Joint, gamma: Array, euler: bool) -> Array:
    return quat_from_rotation(rotation_from_rpy(gamma)) if _by_angles(joint, euler) else gamma


def _gamma_rate(joint: Joint, gamma: Array, v: Array, euler: bool) -> Array:
    if not _by_angles(joint, euler):
        return joint.motion.qdot(gamma, joint.rate(v))
    return euler_rate_matrix(gamma, joint.name) @ joint.rate(v)


def euler_rate_matrix(gamma: Array, name: str = "") -> Array:
    """L of a spherical joint (table 6): rates of roll, pitch, yaw from the angular velocity in frame i, (3, 3)."""
    c, s, ct, st = cos(gamma[0]), sin(gamma[0]), cos(gamma[1]), sin(gamma[1])
    if not is_symbolic(ct) and abs(ct) < 1e-6:
        raise ValueError(
            f"joint '{name}' has a pitch of {np.degrees(gamma[1]):.7g} degrees, where its roll and yaw are not "
            "defined; expected to stay more than 1e-6 rad away from +-90 degrees. Use quaternions (euler=False)."
        )
    t = st / ct
    return np.array([[1.0, t * s, t * c], [0.0, c, -s], [0.0, s / ct, c / ct]])


def _require_free_base(craft: Spacecraft) -> None:
    kind = craft.joint(craft.base).kind
    if kind != "free":
        raise ValueError(
            f"the base of {craft.name} is {kind}; the paper's state (43) is that of a free base. Use q and v with "
            "`solve` instead."
        )
