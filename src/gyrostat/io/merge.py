"""Bodies joined rigidly become one: composite inertia, shapes carried along, the merged links kept as frames."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from ..algebra import Array, Pose, compose, skew
from ..model import Body, Frame, Shape

IDENTITY = Pose(np.eye(3), np.zeros(3))


def merge_fixed(bodies: Sequence[Body], frames: Iterable[Frame] = ()) -> tuple[list[Body], list[Frame]]:
    """The bodies without those on fixed joints, and the frames. Parents come before children; the base is never merged.

    For link L at X_BL on its carrier B, with masses m, centres of mass c and inertias I_c about them:

        m_B = sum m,   c_B = sum m c / m_B,   I_B = sum (R_BL I_c R_BL^T - m d^ d^),   d = c - c_B        (1)
    """
    held: dict[str, tuple[str, Pose]] = {}  # link -> the body it ends up on, and where
    members: dict[str, list[Body]] = {}
    kept: list[Body] = []
    merged_frames: list[Frame] = []
    for body in bodies:
        joint = body.joint
        parent, X_BP = held.get(joint.parent, (None, IDENTITY)) if joint.parent is not None else (None, IDENTITY)
        X_BJ = compose(X_BP, Pose(joint.rotation, joint.position))
        if joint.kind == "fixed" and parent is not None:
            held[body.name] = (parent, X_BJ)
            members[parent].append(body)
            merged_frames.append(Frame(body.name, parent, X_BJ.p, X_BJ.R))
            continue
        held[body.name] = (body.name, IDENTITY)
        members[body.name] = [body]
        if parent is not None:
            joint = replace(joint, parent=parent, position=X_BJ.p, rotation=X_BJ.R)
        kept.append(replace(body, joint=joint))
    result = [
        _composite(body, [(member, held[member.name][1]) for member in members[body.name]])
        if len(members[body.name]) > 1
        else body
        for body in kept
    ]
    for frame in frames:
        carrier, X_BL = held[frame.body]
        X_BF = compose(X_BL, frame.pose)
        merged_frames.append(Frame(frame.name, carrier, X_BF.p, X_BF.R))
    return result, merged_frames


def _composite(body: Body, members: list[tuple[Body, Pose]]) -> Body:
    heavy = [(link, X) for link, X in members if link.mass != 0 or link.inertia.any()]
    shapes = tuple(_moved(shape, X) for link, X in members for shape in link.shapes)
    if len(heavy) == 1 and heavy[0][0] is members[0][0]:
        return replace(body, shapes=shapes)  # its own mass properties, untouched by arithmetic
    mass = sum(link.mass for link, _ in heavy)
    centres: list[Array] = [X.p + X.R @ link.com for link, X in heavy]
    com = sum((link.mass * c for (link, _), c in zip(heavy, centres, strict=True)), np.zeros(3))
    com = com / mass if mass else com
    inertia = np.zeros((3, 3))
    for (link, X), c in zip(heavy, centres, strict=True):
        D = skew(c - com)
        inertia = inertia + X.R @ link.inertia @ X.R.T - link.mass * (D @ D)  # (1)
    return replace(body, mass=mass, com=com, inertia=0.5 * (inertia + inertia.T), shapes=shapes)


def _moved(shape: Shape, X_BL: Pose) -> Shape:
    X = compose(X_BL, Pose(np.asarray(shape.rotation), np.asarray(shape.position)))
    return replace(shape, position=tuple(X.p.tolist()), rotation=X.R)
