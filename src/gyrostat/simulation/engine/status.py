"""Numbers that the host, the compiled loop and result files share: how a run stands, and why a step ends at a given time."""

from __future__ import annotations

from enum import IntEnum


class Status(IntEnum):
    """How a run stands."""

    running = 0
    done = 1
    underflow = 2  # the step became too small
    not_finite = 3
    no_convergence = 4  # of the implicit stages
    stopped = 5  # by a terminal event


class Stop(IntEnum):
    """What a time is at which steps must end."""

    breakpoint = 0  # loads may jump
    sample = 1  # of the controller
    save = 2  # nothing jumps
