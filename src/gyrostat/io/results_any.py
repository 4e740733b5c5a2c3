"""A result of either kind, as reports, scenes and films take it."""

from __future__ import annotations

from pathlib import Path

from ..simulation.result.trajectory import Trajectory
from .results import load_trajectory
from .results_formation import load_formation
from .results_read import FORMATION, format_in, read_trajectory


def load_result(path: Path) -> Trajectory:
    """A trajectory; that of a formation as its virtual tree."""
    if path.suffix == ".mat":
        return load_trajectory(path)
    return load_formation(path).tree() if format_in(path) == FORMATION else read_trajectory(path)
