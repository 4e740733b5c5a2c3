"""The end of an accepted step: what is saved within it, the new state, and what happens at breakpoints and samples."""

from __future__ import annotations

from typing import Any

from ...tracing.loops import Mask, Module
from ..integrators.method import AbstractMethod
from .context import Context, Lane, StepFunction
from .measures import look_at_step
from .status import Status, Stop


def end_step(module: Module, method: AbstractMethod, lanes: int) -> None:
    """The function `end_step(ctx)`."""
    f = StepFunction(module, "end_step", lanes)
    lane = f.lane
    accepted = f.is_(Lane.accepted, 1.0)
    stopped = accepted & lane[Lane.t_new].equals(lane[Lane.stop])
    if method.saves_within:
        with f.when(f.integer_at(Context.n_tracked) > 0):
            f.call_named("track", f.argument("ctx"))
        _save_within(f, accepted, stopped)
    method.keep(f, accepted)
    f.copy(f.y_new, f.y, f.n, accepted)
    f.copy(f.g_new, f.g_old, f.n_events, accepted)
    lane[Lane.t] = accepted.where(lane[Lane.t_new], lane[Lane.t])
    lane[Lane.h] = f.is_(Lane.status, Status.running).where(lane[Lane.h_next], lane[Lane.h])
    lane[Lane.steps] = lane[Lane.steps] + accepted.where(1.0, 0.0)
    lane[Lane.accepted] = 0.0
    with f.when(stopped.any()):
        _at_stop(f, stopped)
    look_at_step(f, accepted, stopped)
    f.end()


def _save_within(f: StepFunction, accepted: Mask, stopped: Mask) -> None:
    """Rows at the times within the steps; at a stop the row is written later, with what holds from there on."""
    lane = f.lane

    def due() -> Mask:
        save, end = lane[Lane.save], lane[Lane.t_new]
        return accepted & (save <= end) & ~(stopped & save.equals(end))

    with f.when(due().any()):
        f.call_named("extra_stages", f.argument("ctx"))
        with f.repeat() as leave_if:
            now = due()
            leave_if(~now.any())
            theta = (lane[Lane.save] - lane[Lane.t]) / lane[Lane.h_tried]
            lane[Lane.theta] = now.where(f.min(theta, 1.0), 0.0)
            f.call_named("dense", f.argument("ctx"))
            exact = lane[Lane.save].equals(lane[Lane.t_new])
            f.copy(f.y_new, f.at, f.n, exact)
            f.each_lane(now, lambda k: _save_lane(f, k))


def _at_stop(f: StepFunction, stopped: Mask) -> None:
    """The next stop; held values where the stop is a sample; K_1 and events anew, beyond the jump; the row to save."""
    lane = f.lane
    breaks, samples = f.pointer_at(Context.breaks), f.pointer_at(Context.samples)
    lane[Lane.sampled] = -1.0

    def next_stop(k: int) -> None:
        place = _element(f, Lane.stop_index, k).integer()
        _set_element(f, Lane.sampled, k, samples.number(place))
        place = place + 1
        _set_element(f, Lane.stop_index, k, place.number())
        _set_element(f, Lane.ahead, k, breaks.number(place))

    f.each_lane(stopped & lane[Lane.ahead].equals(lane[Lane.t]), next_stop)
    f.aim(stopped)
    taken = f.is_(Lane.sampled, Stop.sample) | f.is_(Lane.sampled, Stop.sampled_breakpoint)
    jumps = taken | f.is_(Lane.sampled, Stop.breakpoint)
    lane[Lane.h_before] = jumps.where(0.0, lane[Lane.h_before])
    pauses = stopped & lane[Lane.pause].equals(lane[Lane.t])
    lane[Lane.due] = (pauses & taken).where(1.0, lane[Lane.due])
    f.mark(pauses & f.is_(Lane.status, Status.running), Status.paused)
    with f.when((stopped & ~pauses).any()):  # what holds after a pause, the caller says
        _beyond_stop(f, stopped & ~pauses, taken & ~pauses)


def _beyond_stop(f: StepFunction, stopped: Mask, taken: Mask) -> None:
    """What holds from there on."""
    lane = f.lane
    f.put_state_in_x()
    with f.when(taken.any()):
        f.evaluate(Context.update, f.held_new)
        f.copy(f.held_new, f.stage.after(f.n), f.n_held, taken)
    f.evaluate(Context.rhs, f.at)
    f.copy(f.at, f.K0, f.n, stopped)
    with f.when(f.n_events > 0):
        f.evaluate(Context.events, f.g_new)
        f.copy(f.g_new, f.g_old, f.n_events, stopped)
    f.mark(stopped & ~(lane[Lane.stop] < float("inf")) & f.is_(Lane.status, Status.running), Status.done)
    f.copy(f.y, f.at, f.n)
    f.each_lane(stopped & lane[Lane.save].equals(lane[Lane.t]), lambda k: _save_lane(f, k))


def _save_lane(f: StepFunction, k: int) -> None:
    """Write `at` and the held values of lane k to its row, and move on to the next time."""
    index = _element(f, Lane.save_index, k).integer()
    out = f.pointer_at(Context.out).pointer(k)
    row = out.at(index * (f.n + f.n_held))
    held, rest = f.stage.after(f.n), row.at(f.n)
    for source, target, count in ((f.at, row, f.n), (held, rest, f.n_held)):
        with f.loop(count) as i:
            target.store(i, source.address(i).number(k))
    following = index + 1
    _set_element(f, Lane.save_index, k, following.number())
    _set_element(f, Lane.save, k, f.pointer_at(Context.saves).number(following))


def _element(f: StepFunction, lane: Lane, k: int) -> Any:
    return f.lane.address(int(lane)).number(k)


def _set_element(f: StepFunction, lane: Lane, k: int, value: Any) -> None:
    f.lane.address(int(lane)).store(k, value)
