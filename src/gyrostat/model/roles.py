"""What moves each coordinate. Laws, linearisation, reports and audits ask the model, never a place in v."""

from __future__ import annotations

from enum import StrEnum

from .parts import Joint


class Role(StrEnum):
    """Of one entry of v.

    base: a root joint's; nothing inside the craft acts there. driven: a motor does. passive: spring, damper and
    friction alone.
    wheel: a wheel's motor. modal: the shape of a flexible body. held: kept by constraint forces.
    """

    base = "base"
    driven = "driven"
    passive = "passive"
    wheel = "wheel"
    modal = "modal"
    held = "held"


def role_of(joint: Joint, root: bool) -> Role:
    """root: the joint connects its spacecraft to inertial space. Given `driven` decides; else what is sprung, or has no
    axes, is passive.
    """
    if joint.kind == "modal":
        return Role.modal
    if root:
        return Role.base
    driven = joint.driven
    if driven is None:
        # A symbol may be any number, so it is a spring; `with_values` settles `driven` before it writes one
        driven = joint.motion.motorised and isinstance(joint.stiffness, (int, float)) and joint.stiffness == 0
    if not driven:
        return Role.passive
    return Role.wheel if joint.spins else Role.driven
