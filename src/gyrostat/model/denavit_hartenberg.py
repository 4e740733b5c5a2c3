"""Serial arms from Denavit-Hartenberg tables, in two conventions.

"wilde": the customised standard (distal) convention of Wilde, Kwok Choon, Grompone, Romano (2018), equations 1, 2,
8-10:

    T_J1 = T_base (R_01, b_0),   T_J{i+1} = T_Ji A(q_i, d_i, alpha_i, a_i + b_i),
    T_Li = T_Ji A(q_i, d_i, alpha_i, a_i)                                                                            (1)
    A(theta, d, alpha, c) = Rz(theta) Tz(d) Tx(c) Rx(alpha)                                                          (2)

    A link is cut by its centre of mass into `a` (joint to centre of mass) and `b` (onwards to the next joint). Its
    inertia is given in the link frame L_i, which sits in the centre of mass, parallel to the next joint's frame.

"modified": Craig's proximal convention. Frame i is fixed on link i, its z along joint i:

    T_i = T_{i-1} Rx(alpha) Tx(a) Rz(theta + q_i) Tz(d)                                                              (3)

    alpha and a belong to the previous link, as printed in such tables. Centre of mass and inertia are given in frame i.

In both, frame 0 (joint 1's, for "wilde") is the mount on the base, and a body's own frame B turns with its joint, at
its joint.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..algebra import Array, Pose, compose, rotation_about
from .parts import Body, Frame, Joint, Limits, Shape

CONVENTIONS = ("wilde", "modified")
X_AXIS, Z_AXIS = np.eye(3)[0], np.eye(3)[2]
UNLIMITED = Limits()


@dataclass(frozen=True, eq=False)
class DHLink:
    """One row of the table and the link it belongs to; angles in radians.

    inertia: about the centre of mass, in L_i ("wilde") or in frame i ("modified").
    shapes: what it looks like, in the body's own frame.
    com: "modified": of the centre of mass, in frame i. "wilde": an extra offset from `a`, in L_i; zero in the paper.
    """

    d: float = 0.0
    alpha: float = 0.0
    a: float = 0.0
    b: float = 0.0
    theta: float = 0.0
    mass: Any = 0.0
    inertia: Any = (0.0, 0.0, 0.0)
    com: Any = (0.0, 0.0, 0.0)
    kind: str = "revolute"
    name: str = ""
    joint: str = ""
    limits: Limits = UNLIMITED
    shapes: tuple[Shape, ...] = ()


def arm_from_dh(
    links: Sequence[DHLink], base: str, convention: str, mount: Pose, tool: str, tool_pose: Pose
) -> tuple[list[Body], Frame]:
    """The bodies of the arm, and the frame of its end effector."""
    if convention not in CONVENTIONS:
        raise ValueError(f"convention is '{convention}'; expected one of {', '.join(map(repr, CONVENTIONS))}.")
    if not links:
        raise ValueError("the Denavit-Hartenberg table is empty; expected at least one link.")
    if convention == "modified" and any(link.b for link in links):
        raise ValueError("b is a parameter of the 'wilde' convention; in the 'modified' one give com instead.")
    bodies: list[Body] = []
    parent, X_P = base, mount  # X_P: the next joint's frame on the parent, before the next row is applied
    for i, link in enumerate(links, start=1):
        if link.kind not in ("revolute", "prismatic"):
            raise ValueError(
                f"link {i}: kind is '{link.kind}'; a Denavit-Hartenberg joint is 'revolute' or 'prismatic'."
            )
        name, joint_name = link.name or f"link_{i}", link.joint or f"joint_{i}"
        twist = rotation_about(X_AXIS, link.alpha)
        inertia = Body("", inertia=link.inertia).inertia
        offset = np.asarray(link.com, dtype=float)
        if convention == "modified":
            X_P = compose(X_P, Pose(twist, link.a * X_AXIS))  # (3)
            X_P = compose(X_P, Pose(rotation_about(Z_AXIS, link.theta), link.d * Z_AXIS))
            com, X_next = offset, Pose(np.eye(3), np.zeros(3))
        else:
            X_P = compose(X_P, Pose(rotation_about(Z_AXIS, link.theta), np.zeros(3)))
            com = np.array([link.a, 0.0, link.d]) + twist @ offset  # (1)
            inertia = _symmetric(twist @ inertia @ twist.T)
            X_next = Pose(twist, np.array([link.a + link.b, 0.0, link.d]))  # (2)
        joint = Joint(joint_name, link.kind, parent, X_P.p, X_P.R, Z_AXIS, limits=link.limits)
        bodies.append(Body(name, link.mass, com, inertia, joint, link.shapes))
        parent, X_P = name, X_next
    X_tool = compose(X_P, tool_pose)
    return bodies, Frame(tool, parent, X_tool.p, X_tool.R)


def _symmetric(A: Array) -> Array:
    """Round-off between the triangles of a turned inertia taken out; entries that are round-off made zero."""
    A = 0.5 * (A + A.T)
    return np.where(np.abs(A) < 1e-15 * np.abs(A).max(), 0.0, A)
