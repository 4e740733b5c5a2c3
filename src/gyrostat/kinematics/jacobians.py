"""How the rates move a point of a body, and how that changes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra import Array, cross, transform_point
from ..model import Spacecraft
from .arguments import configuration, rates, vector3
from .flexible import carried, carried_rate
from .poses import inertial_poses, joint_poses, located
from .twists import body_twists


def jacobian(craft: Spacecraft, q: Array, frame: str, point: Any = (0.0, 0.0, 0.0)) -> Array:
    """J (6, nv) with `[w; velocity of the point] = J v`, in N. `frame` names a frame or body, `point` is given in its
    axes.

    Column of joint A on the way to the body: `[R_NA H_w; R_NA H_v + R_NA H_w x (p_Q - p_A)]`; where A sits on a node,
    the modes of what carries it have such columns, too.
    """
    q = configuration(craft, q)
    columns, joints = _zero_columns(craft), craft.joints
    craft, B, X_BF = located(craft, frame, q)
    X_NB = inertial_poses(craft, q)
    p_NQ = transform_point(X_NB[B], transform_point(X_BF, vector3(point, "point")))
    for A in path_from_base(craft, B):
        R, r = X_NB[A].R, p_NQ - X_NB[A].p
        for moving, H in _maps(craft, q, A):
            w = R @ H[:3]
            columns[moving] = np.concatenate([w, R @ H[3:] - cross(r, w)])
    return np.hstack([columns[joint.name] for joint in joints])


def jacobian_rate(craft: Spacecraft, q: Array, v: Array, frame: str, point: Any = (0.0, 0.0, 0.0)) -> Array:
    """dJ/dt (6, nv) of `jacobian`, at velocity v.

    With h the joint's column as a twist about the moving joint origin, in N: its rate is R_NA (Hdot + w_NA x H) and the
    arm from joint to point changes at their relative velocity. On a wheel, whose frame does not spin, the point spins
    with it: J vdot + Jdot v is the acceleration of the material point.
    """
    q, v = configuration(craft, q), rates(craft, v)
    columns, joints = _zero_columns(craft), craft.joints
    craft, B, X_BF = located(craft, frame, q, v)
    X_NB = inertial_poses(craft, q)
    V = body_twists(craft, q, v, joint_poses(craft, q))
    p_NQ = transform_point(X_NB[B], transform_point(X_BF, vector3(point, "point")))
    R_NB = X_NB[B].R
    v_Q = R_NB @ V[B][3:] + cross(R_NB @ V[B][:3], p_NQ - X_NB[B].p)
    for A in path_from_base(craft, B):
        R, r = X_NB[A].R, p_NQ - X_NB[A].p
        rdot = v_Q - R @ V[A][3:]
        for (moving, H), own in zip(_maps(craft, q, A), _map_rates(craft, q, v, A), strict=True):
            Hdot = own + np.concatenate([cross(V[A][:3], H[:3]), cross(V[A][:3], H[3:])])
            w, wdot = R @ H[:3], R @ Hdot[:3]
            columns[moving] = np.concatenate([wdot, R @ Hdot[3:] - cross(r, wdot) - cross(rdot, w)])
    return np.hstack([columns[joint.name] for joint in joints])


def _maps(craft: Spacecraft, q: Array, A: str) -> list[tuple[str, Array]]:
    """What moves A on its parent, by the name of the joint, or of the modes of the parent: maps (6, k) to A's twist."""
    joint = craft.joint(A)
    found = [(joint.name, joint.H(q))] if joint.nv else []
    return found if joint.mount is None else [*found, (f"{joint.parent}.modes", carried(joint, q))]


def _map_rates(craft: Spacecraft, q: Array, v: Array, A: str) -> list[Array]:
    """Their rates, in A's components."""
    joint = craft.joint(A)
    found = [joint.map_rate(q, v)] if joint.nv else []
    return found if joint.mount is None else [*found, carried_rate(joint, q, v)]


def path_from_base(craft: Spacecraft, body: str) -> list[str]:
    """The bodies from the base to `body`, both included."""
    path: list[str] = []
    at: str | None = body
    while at is not None:
        path.append(at)
        at = craft.body(at).parent
    return path[::-1]


def _zero_columns(craft: Spacecraft) -> dict[str, Array]:
    return {joint.name: np.zeros((6, joint.nv)) for joint in craft.joints}
