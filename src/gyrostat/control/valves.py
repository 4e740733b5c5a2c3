"""How thrust comes and goes: valves that open and shut, with a first-order rise and fall."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..algebra import exp, where
from ..model import Thruster


def lags(thrusters: Sequence[Thruster]) -> bool:
    """Whether thrust of any of them takes time to come or to go."""
    return any(not isinstance(x, float) or x > 0.0 for t in thrusters for x in (t.rise_time, t.fall_time))


def through_a_valve(thruster: Thruster, before: Any, on: Any, length: Any) -> tuple[Any, Any]:
    """Mean thrust over `length` s, of which the valve is open for the first `on`, and thrust at its end; before: thrust
    at its beginning. With rise time r, fall time d and the largest thrust F:

        f' = (F - f) / r while it is open,   f' = -f / d while it is shut                                         (1)
    """
    F, r, d = thruster.max_thrust, thruster.rise_time, thruster.fall_time
    if _zero(r):
        impulse, top = F * on, where(on > 0.0, F, before)
    else:
        left = (F - before) * exp(-on / r)
        impulse, top = F * on - r * ((F - before) - left), F - left
    shut = length - on
    if _zero(d):
        return impulse / length, where(shut > 0.0, 0.0, top)
    end = top * exp(-shut / d)
    return (impulse + d * (top - end)) / length, end


def impulse_of(thruster: Thruster, on: Any) -> Any:
    """N s of one pulse alone, its tail included: F (on - (r - d) (1 - exp(-on/r)))."""
    F, r, d = thruster.max_thrust, thruster.rise_time, thruster.fall_time
    opened = where(on > 0.0, 1.0, 0.0) if _zero(r) else 1.0 - exp(-on / r)
    return F * (on - (r - d) * opened)


def _zero(x: Any) -> bool:
    return isinstance(x, (int, float)) and x == 0.0
