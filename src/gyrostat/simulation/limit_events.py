"""Events at the limits of joints, for runs that shall not go beyond them."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from ..algebra import Array, absolute, minimum
from ..model import Joint, Spacecraft
from .problem.events import When
from .result.limits import position_limited, rate_limited, slight

PREFIX = "limit of "


def limit_events(craft: Spacecraft) -> list[When]:
    """One for each limited position and rate: the run ends where a joint reaches the end of its range,
    or its largest rate.

    Efforts are not among them: motors are held within theirs by actuators=gs.Actuators().
    """
    found = [When(_room(j), f"{PREFIX}'{j.name}': position", True, -1) for j in craft.joints if position_limited(j)]
    return found + [When(_slack(j), f"{PREFIX}'{j.name}': rate", True, -1) for j in craft.joints if rate_limited(j)]


def already_beyond(craft: Spacecraft, q: Array, v: Array) -> list[str]:
    """The names of those events whose limits the state (q, v) is beyond: they would not be reached any more."""
    return [event.name for event in limit_events(craft) if not event.function(craft, 0.0, q, v) > 0.0]


def _room(joint: Joint) -> Callable[..., Any]:
    lower, upper = joint.limits.lower, joint.limits.upper
    ends = [(way, limit) for way, limit in ((1.0, lower), (-1.0, upper)) if np.isfinite(limit)]

    def room(craft: Spacecraft, t: Any, q: Array, v: Array) -> Any:
        at = craft.joint_named(joint.name).q_at.start  # of the craft as it is: a phase may have attached another
        left = [way * (q[at] - limit) + slight(limit) for way, limit in ends]
        return reduce(minimum, left)

    return room


def _slack(joint: Joint) -> Callable[..., Any]:
    most = joint.limits.velocity

    def slack(craft: Spacecraft, t: Any, q: Array, v: Array) -> Any:
        at = craft.joint_named(joint.name).v_at
        return reduce(minimum, [most - absolute(v[k]) + slight(most) for k in range(at.start, at.stop)])

    return slack
