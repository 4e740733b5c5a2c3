"""Commands beyond what motors and wheels can give: which, when, and how far."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...control.wheels import torque_range
from ...model import Joint

if TYPE_CHECKING:
    from .trajectory import Trajectory


class Saturation(NamedTuple):
    """One motor or wheel that was asked for more than it can give, at the saved times."""

    joint: str
    first: float  # s
    fraction: float  # of the saved times (of all runs)
    asked: float  # largest command, N m or N
    limit: float  # its effort limit
    reason: str  # "effort", or "speed" for a wheel at its largest speed
    held: bool  # the run held the load within the limit; else the command acted as it was, beyond what the motor can do
    unit: str = "N m"

    def __str__(self) -> str:
        asked = f"asked for {self.asked:.4g} {self.unit}, limit {self.limit:.4g} {self.unit}"
        what = "largest speed reached" if self.reason == "speed" else asked
        end = "held there" if self.held else "NOT held there: pass actuators=gs.Actuators() to simulate"
        share = f"{100 * self.fraction:.1f} % of the saved times"
        return f"saturation: '{self.joint}' from {self.first:.4g} s, at {share}: {what}; {end}"


def saturation(trajectory: Trajectory) -> tuple[Saturation, ...]:
    """Every joint whose command went beyond its limits."""
    craft, settings = trajectory.craft, trajectory.data.attrs
    followed = settings.get("prescribed_joints", ())
    limited = [j for j in craft.joints if np.isfinite([j.limits.effort, j.limits.velocity]).any()]
    limited = [j for j in limited if _controlled(trajectory) or j.name in followed]
    if not limited:
        return ()
    held = bool((settings.get("actuators") or {}).get("saturate", False))
    found = []
    for joint in limited:
        signal = "tau" if joint.name in followed else "command"  # what it takes to follow is no command
        asked, rate = trajectory.signals[signal].values[..., joint.v_at], trajectory.v[..., joint.v_at]
        effort, speed = joint.limits.effort, joint.limits.velocity
        over, reason = (np.abs(asked) > effort * (1 + 1e-12)).any(axis=-1), "effort"
        if joint.spins and np.isfinite(speed):
            low, high = torque_range(joint.limits, rate)
            cut = ((asked < low - 1e-12 * effort) | (asked > high + 1e-12 * effort)).any(axis=-1)
            reason = "speed" if (cut & ~over).any() else reason
            over = over | cut
        if over.any():
            times = np.broadcast_to(trajectory.time, over.shape)[over]
            largest = float(np.nanmax(np.abs(asked)))
            kept = held and joint.name not in followed
            first, share = float(times.min()), float(over.mean())
            found.append(Saturation(joint.name, first, share, largest, effort, reason, kept, _unit(joint)))
    return tuple(found)


def _unit(joint: Joint) -> str:
    return "N m" if all(unit.startswith("rad") for unit in joint.motion.v_units) else "N"


def _controlled(trajectory: Trajectory) -> bool:
    equations = trajectory.equations
    return "control" in trajectory.data.attrs.get("functions", ()) or (
        equations is not None and equations.control is not None
    )
