"""Which spacecraft formulations with joint loads as unknowns can treat: `dual_quaternion`, `decoupled` and
`attitude_lagrange`.
"""

from __future__ import annotations

from ...kinematics import neutral
from ...model import Spacecraft
from .carriers import carrier_bodies, why_not
from .joint_maps import screw_joint
from .rigid_only import why_flexible


def supports(craft: Spacecraft) -> str | None:
    """None, or the reason why not. Bodies without mass are supported wherever the craft's own mass matrix is
    regular.
    """
    return why_flexible(craft) or _screw_joint(craft) or why_not(craft)


def _screw_joint(craft: Spacecraft) -> str | None:
    """Why the mapping matrices do not exist, by the joint's name; None if they do."""
    q = neutral(craft)
    for B, _ in carrier_bodies(craft):
        if screw_joint(craft.joint(B), q):
            return (
                f"joint '{craft.joint(B).name}' both turns and slides with one rate; the mapping matrices hold for "
                "joints that turn or slide. Use another formulation."
            )
    return None


def require(craft: Spacecraft, who: str = "the dual quaternion formulation") -> None:
    """Refuse an unsupported spacecraft by name."""
    reason = supports(craft)
    if reason:
        raise ValueError(f"{who} does not support {craft.name}: {reason}")
