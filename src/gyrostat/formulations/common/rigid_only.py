"""What is written for rigid bodies alone says so."""

from __future__ import annotations

from ...model import Spacecraft


def why_flexible(craft: Spacecraft) -> str | None:
    """Why a formulation of rigid bodies does not treat the craft, by the body's name; None if all are rigid."""
    for body in craft.bodies:
        if craft.flexible(body.name):
            return f"body '{body.name}' is flexible; flexible bodies have the recursive formulation."
    return None


def require_rigid(craft: Spacecraft, who: str, instead: str) -> None:
    """Refuse a craft with flexible bodies by name."""
    reason = why_flexible(craft)
    if reason:
        raise ValueError(f"{who} is for rigid bodies: {reason} {instead}")
