"""Numbers that the host, the compiled loop and result files share:
how a run stands, and why a step ends at a given time.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum


class Status(IntEnum):
    """How a run stands."""

    running = 0
    done = 1
    underflow = 2  # the step became too small
    not_finite = 3
    no_convergence = 4  # of the implicit stages
    stopped = 5  # by a terminal event
    paused = 6  # until the caller says how far to go on (pausing.py)


class Stop(IntEnum):
    """What a time is at which steps must end."""

    breakpoint = 0  # loads may jump
    sample = 1  # of the controller
    save = 2  # nothing jumps
    sampled_breakpoint = 3  # both, as at an end that is a sample

    @classmethod
    def of(cls, kinds: Iterable[Stop]) -> Stop:
        """All of these at one time."""
        found = set(kinds) - {cls.save}
        if not found:
            return cls.save
        return found.pop() if len(found) == 1 else cls.sampled_breakpoint
