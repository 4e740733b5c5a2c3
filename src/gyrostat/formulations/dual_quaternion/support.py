"""Which spacecraft the formulation can treat."""

from __future__ import annotations

from ...model import Spacecraft
from ..carriers import carrier_bodies, why_not
from ..recursive import neutral
from .joints import screw_joint


def supports(craft: Spacecraft) -> str | None:
    """None, or the reason why not: S11 of (51) is inverted, so every body needs mass and three moments of inertia."""
    return screw_joint_of(craft) or why_not(craft)


def screw_joint_of(craft: Spacecraft) -> str | None:
    """Why the mapping matrices do not exist, by the joint's name; None if they do."""
    q = neutral(craft)
    for B, _ in carrier_bodies(craft):
        if screw_joint(craft.joint(B), q):
            return (
                f"joint '{craft.joint(B).name}' both turns and slides with one rate; the mapping matrices hold for joints that turn "
                f"or slide. Use another formulation."
            )
    return None


def require(craft: Spacecraft) -> None:
    """Refuse an unsupported spacecraft by name."""
    reason = supports(craft)
    if reason:
        raise ValueError(f"the dual quaternion formulation does not support {craft.name}: {reason}")
