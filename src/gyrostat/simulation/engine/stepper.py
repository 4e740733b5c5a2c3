"""The compiled time loop: written once for every spacecraft, it calls the right-hand side by its address.

Each lane has its own time, step and status; a lane's numbers never depend on the other lanes. Functions of the module:

    start(ctx)             in lanes whose run has not begun: K_1 and event values at the present state;
                           a first step size if it has none
    advance(ctx, n, idle)  at most n attempted steps, or until lanes have stood still for `idle` of them, added up;
                           returns 0, or 1 when an event has changed sign: the accepted steps then wait unended,
                           so that the host can find where
    trial(ctx)             y_new and K_new of steps of the sizes h_tried, whatever their errors
    end_step(ctx)          saves, new state, breakpoints and samples of the accepted steps
    step(record)           let paused runs go on to their next pauses (pausing.py)
    look(ctx, group)       evaluate what was put aside for a group of measures, and reduce it (measures.py)
    dense(ctx)             the state at fraction theta of each lane's attempted step, into `at`;
                           `extra_stages(ctx)` goes before it. Collocation has none: its steps end at the times to save

`ctx` is a table of 64-bit words (`Context`). All blocks hold vectors of lanes.
"""

from __future__ import annotations

from ...tracing.loops import Module
from ..integrators.method import AbstractMethod
from .context import Context, Lane, StepFunction
from .crossings import watch
from .end_of_step import end_step
from .measures import look, look_at_start
from .pausing import write_pausing
from .status import Status
from .steps import steps
from .tracking import write_tracking

ENTRIES = ("start", "advance", "trial", "end_step", "look", "step", "show")


def stepper(method: AbstractMethod, lanes: int) -> str:
    """LLVM assembly of the module for one method."""
    module = Module()
    write_loop(module, method, lanes)
    _trial(module, method, lanes)
    write_pausing(module, lanes)
    return module.text()


def write_loop(module: Module, method: AbstractMethod, lanes: int, *, tracked: bool = True) -> None:
    """From `start` to `advance`: what makes the steps of a run, on any target."""
    if method.saves_within:
        method.write_dense(module, lanes)
    if method.saves_within and tracked:
        write_tracking(module, lanes)
    look(module, lanes)
    _attempt(module, method, lanes)
    end_step(module, method, lanes)
    _start(module, lanes)
    _advance(module, lanes)


def _trial(module: Module, method: AbstractMethod, lanes: int) -> None:
    """A step of the size h_tried to the time t_new, in every lane: the same bits wherever the size is the same."""
    f = StepFunction(module, "trial", lanes)
    method.trial(f)
    f.end()


def _attempt(module: Module, method: AbstractMethod, lanes: int) -> None:
    """Try one step in every running lane: y_new, K_new, accepted, h_next; g_new and event for the accepted."""
    f = StepFunction(module, "attempt", lanes)
    lane = f.lane
    running = f.is_(Lane.status, Status.running)
    t, h, rest = lane[Lane.t], lane[Lane.h], lane[Lane.stop] - lane[Lane.t]
    last = rest <= h * (1.0 + 1e-6)  # rather a slightly longer step than a sliver
    h = running.where(last.where(rest, h), 0.0)
    lane[Lane.h_tried] = h
    lane[Lane.t_new] = last.where(lane[Lane.stop], t + h)

    accepted, h_next = method.step(f, running, last)
    lane[Lane.accepted] = accepted.where(1.0, 0.0)
    lane[Lane.h_next] = h_next
    lane[Lane.rejections] = lane[Lane.rejections] + (running & ~accepted).where(1.0, 0.0)
    lane[Lane.event] = 0.0
    with f.when(accepted.any()):
        goes_on = (accepted & ~lane[Lane.t_new].equals(lane[Lane.pause])).any()
        nobody_asks = f.n_events.equals(0) & f.integer_at(Context.n_tracked).equals(0)
        with f.when(~(~goes_on & nobody_asks)):  # after a pause it is computed anew: loads jump there
            method.finish(f)
        with f.when(f.n_events > 0):
            watch(f, method, accepted)
    f.end()


def _start(module: Module, lanes: int) -> None:
    """K_1, event values; a first step where h is 0: 0.01 |y| / |f| in the norm of the tolerances (Hairer, II.4).

    Lanes that are under way keep theirs, bit for bit.
    """
    f = StepFunction(module, "start", lanes)
    lane = f.lane
    fresh = f.is_(Lane.begun, 0.0)
    f.set_before_stop()
    f.put_state_in_x()
    f.evaluate(Context.rhs, f.at)
    f.copy(f.at, f.K0, f.n, fresh)
    with f.when(f.n_events > 0):
        f.evaluate(Context.events, f.g_new)
        f.copy(f.g_new, f.g_old, f.n_events, fresh)
    atol, rtol = f.pointer_at(Context.atol), f.pointer_at(Context.rtol)
    d0, d1 = f.variable(0.0), f.variable(0.0)
    with f.loop(f.n) as i:
        scale = f.broadcast(atol.number(i)) + f.broadcast(rtol.number(i)) * f.abs(f.y[i])
        a, b = f.y[i] / scale, f.K0[i] / scale
        d0[0], d1[0] = d0[0] + a * a, d1[0] + b * b
    tiny = (d0[0] < 1e-10) | (d1[0] < 1e-10) | ~(d1[0] < float("inf"))
    guess = tiny.where(1e-6, 0.01 * f.sqrt(d0[0] / tiny.where(1.0, d1[0])))
    guess = f.max(f.min(guess, lane[Lane.h_max]), 10.0 * f.smallest_step())
    lane[Lane.h] = (fresh & ~(lane[Lane.h] > 0.0)).where(guess, lane[Lane.h])
    look_at_start(f, fresh)
    lane[Lane.begun] = 1.0
    f.end()


def _advance(module: Module, lanes: int) -> None:
    """Attempt and end steps, until all lanes have ended, n attempts are made, enough lanes have stood still for long
    enough, or an event asks for the host.
    """
    f = StepFunction(module, "advance", lanes, "n_most", "n_idle", returns_integer=True)
    f.end(steps(f, f.integer_argument("n_most"), f.integer_argument("n_idle")))
