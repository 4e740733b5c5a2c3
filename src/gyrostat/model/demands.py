"""What functions of one craft say to those who give them something else."""

from __future__ import annotations

from .spacecraft import Spacecraft


def demand_spacecraft(given: object, function: str, what: str) -> None:
    """Raises a TypeError unless it is a spacecraft. what: "phases are", "matrices are" of one craft."""
    if not isinstance(given, Spacecraft):
        raise TypeError(
            f"{function}: expected a Spacecraft, got {type(given).__name__}: {what} of one craft. Take one member's "
            "craft, or make one of several: gs.together."
        )
