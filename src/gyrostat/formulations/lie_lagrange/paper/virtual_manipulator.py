"""The virtual manipulator: a point of the craft, seen from its centre of mass, as the tip of a chain of constant
links.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ....algebra import Array, transform_point
from ....kinematics import inertial_poses, path_from_base
from ....kinematics.arguments import configuration, vector3
from ....model import Spacecraft


class VirtualManipulator(NamedTuple):
    """`p_tip - p_cm = sum over bodies of R_NB link + R_NJ stroke p_JB(q)`; rows and items in the order of
    `craft.bodies`.

    R_NJ is the joint's frame on the parent and p_JB(q) its displacement, which is zero for joints that only turn.
    """

    links: Array  # (nbodies, 3), constant, in the body's axes
    strokes: Array  # (nbodies,), what part of each joint's displacement the tip sees


def virtual_manipulator(craft: Spacecraft, frame: str, point: Any = (0.0, 0.0, 0.0)) -> VirtualManipulator:
    """Links of the virtual manipulator whose tip is `point` of `frame` (a frame or a body), for any tree.

    A joint moves the tip if it is on the way to it, and moves the centre of mass by the part of the mass that it
    carries:

        stroke_A = [A on the way] - m_carried(A) / m_total
        link_B   = sum over children A of stroke_A p_BA - (m_B / m_total) c_B + [B holds the tip] p_tip

    Free-floating, the centre of mass (the virtual ground) stays where it is: this is then a manipulator on a fixed
    base. Vafa & Dubowsky, Int. J. Robotics Research 9 (1990), there for one chain of turning joints.
    """
    name, X_BF = craft.locate(frame)
    way = path_from_base(craft, name)
    carried = {B.name: B.mass for B in craft.bodies}
    for B, P in reversed(craft.base_to_tip):
        if P is not None:
            carried[P] = carried[P] + carried[B]
    total = carried[craft.bodies[0].name]
    strokes = {B: (1.0 if B in way else 0.0) - carried[B] / total for B, _ in craft.base_to_tip}
    links = {B.name: -(B.mass / total) * B.com for B in craft.bodies}
    links[name] = links[name] + transform_point(X_BF, vector3(point, "point"))
    for B, P in craft.base_to_tip:
        if P is not None:
            links[P] = links[P] + strokes[B] * craft.joint(B).position
    return VirtualManipulator(
        np.array([links[B] for B, _ in craft.base_to_tip]), np.array([strokes[B] for B, _ in craft.base_to_tip])
    )


def virtual_tip(craft: Spacecraft, q: Array, manipulator: VirtualManipulator) -> Array:
    """Position of the tip from the centre of mass, in N, (3,)."""
    q = configuration(craft, q)
    X_NB = inertial_poses(craft, q)
    tip = np.zeros(3)
    for body, link, stroke in zip(craft.bodies, *manipulator, strict=True):
        tip = tip + X_NB[body.name].R @ link
        if body.parent is not None:
            joint = body.joint
            tip = tip + stroke * (X_NB[body.parent].R @ joint.rotation @ joint.motion.pose(q[joint.q_at]).p)
    return tip
