"""A result of any kind, as reports, scenes and films take it."""

from __future__ import annotations

from pathlib import Path

from ..simulation.result.trajectory import Trajectory
from .results import load_trajectory
from .results_formation import load_formation
from .results_phased import load_phased
from .results_read import FORMATION, PHASES, format_in, read_trajectory


def load_result(path: Path) -> Trajectory:
    """A trajectory; that of a formation as its virtual tree, that of phases end to end."""
    if path.suffix == ".mat":
        return load_trajectory(path)
    found = format_in(path)
    if found == PHASES:
        return load_phased(path).whole
    return load_formation(path).tree() if found == FORMATION else read_trajectory(path)
