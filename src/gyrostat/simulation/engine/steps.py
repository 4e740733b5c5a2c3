"""Attempt and end steps, one after the other."""

from __future__ import annotations

from ...tracing.loops import Integer
from .context import Lane, StepFunction
from .status import Status


def steps(f: StepFunction, most: Integer, most_idle: Integer | None = None) -> Integer:
    """1 if an event asks for the host."""
    count, idle, asked = f.counter(0), f.counter(0), f.counter(0)
    with f.repeat() as leave_if:
        running = f.is_(Lane.status, Status.running)
        leave_if(~running.any())
        leave_if(count.get() >= most)
        if most_idle is not None:
            idle.set(idle.get() + (~running).count())
            leave_if(idle.get() >= most_idle)
        f.call_named("attempt", f.argument("ctx"))
        asked.set(f.is_(Lane.event, 1.0).any().integer())
        leave_if(~asked.get().equals(0))
        f.call_named("end_step", f.argument("ctx"))
        count.set(count.get() + 1)
    return asked.get()
