"""Outcomes of a whole run in phases, from those of its phases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...outcomes import Kept, Outcome
from .trajectory import Trajectory


def refuse_unseen(outcomes: Sequence[Outcome], jumps: Sequence[str]) -> None:
    """A ValueError where a signal may pass a level by a jump, at which nobody looks. jumps: names of phases that begin
    with one.
    """
    asked = [one.name for one in outcomes if one.kept is Kept.time_of]
    if asked and jumps:
        raise ValueError(
            f"outcome '{asked[0]}' asks when a level is passed, and phase '{jumps[0]}' begins with a jump of the rates "
            "that may pass it unseen. Ask for settling_time, or give events= at that level."
        )


def joined_outcomes(outcomes: Sequence[Outcome], parts: Sequence[Trajectory]) -> dict[str, Any]:
    """Variables of the joined run: each outcome that all phases know."""
    known = [one for one in outcomes if all(one.name in part.outcomes for part in parts)]
    if not known:
        return {}
    begun = np.array([float(part.data.attrs["t_span"][0]) for part in parts])
    spans = np.array([float(part.data["t_end"]) for part in parts]) - begun
    values = [_joined(one.kept, np.array([float(p.outcomes[one.name]) for p in parts]), begun, spans) for one in known]
    attributes = parts[-1].data["outcome"].attrs
    return {"outcome": ("outcome_name", values, attributes), "outcome_name": [one.name for one in known]}


def _joined(kept: Kept, values: np.ndarray, begun: np.ndarray, spans: np.ndarray) -> float:
    """One number from those of the phases, which begin at these times and last so long."""
    if np.isnan(values).any():
        return np.nan
    if kept is Kept.last:
        return float(values[-1])
    if kept is Kept.largest:
        return float(values.max())
    if kept in (Kept.smallest, Kept.time_of):  # the first time
        return float(values.min())
    if kept is Kept.mean:
        return float((spans * values).sum() / spans.sum())
    if kept is Kept.settling_time:
        return _settled(values, begun)
    return float(values.sum())


def _settled(values: np.ndarray, begun: np.ndarray) -> float:
    """From the last phase back, as long as the signal is below its level all through."""
    since = float(values[-1])
    for k in range(len(values) - 1, 0, -1):
        if since > begun[k] or np.isinf(values[k - 1]):
            break
        since = float(values[k - 1])
    return since
