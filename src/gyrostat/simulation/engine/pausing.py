"""Runs that wait for the caller between two calls, in compiled code: what they hold from now on, how far they go, where
they stand.

    hold(ctx)     in lanes that wait: loads, samples that are due, the next pause; K_1 and event values from now on
    step(record)  `hold` in every block of a table, then steps until each run has come to its pause; what they show
    show(ctx)     where the runs stand, in rows that belong to the host

Pauses of one pace are counted, `pause_from + pauses * pace`, as samples of a controller are: n steps of dt end where n
samples do, bit for bit. A sample that falls on a pause is taken when the run goes on, with what the caller has changed.
"""

from __future__ import annotations

from enum import IntEnum

from ...tracing.loops import Block, Function, Integer, Mask, Module, Pointer
from .context import Context, Lane, StepFunction
from .status import Status, Stop
from .steps import steps

SHOWN = (Lane.t, Lane.status)  # before y and held, in a row of what is shown
NOT_FINITE = -1  # `step` returns it, having done nothing


class Word(IntEnum):
    """Places in the record that `step` is called with."""

    table = 0  # addresses of contexts
    first = 1
    last = 2
    loads = 3  # of all blocks
    n_loads = 4  # vectors of them that are to be looked at: whether they are finite
    size = 5


def write_pausing(module: Module, lanes: int) -> None:
    write_going_on(module, lanes)
    _step(module, lanes)


def write_going_on(module: Module, lanes: int) -> None:
    """`step_block(ctx)`, the step of one block, and what it calls: on any target."""
    _hold(module, lanes)
    _show(module, lanes)
    _step_block(module, lanes)


def _hold(module: Module, lanes: int) -> None:
    f = StepFunction(module, "hold", lanes)
    lane, go = f.lane, f.is_(Lane.status, Status.paused)
    _next_pause(f, go)
    f.mark(go, Status.running)
    lane[Lane.h_before] = go.where(0.0, lane[Lane.h_before])
    _take_loads(f, go)
    f.put_state_in_x()
    due = go & f.is_(Lane.due, 1.0)
    with f.when(due.any()):
        lane[Lane.sampled] = due.where(float(Stop.sample), -1.0)
        f.evaluate(Context.update, f.held_new)
        f.copy(f.held_new, f.stage.after(f.n), f.n_held, due)
        lane[Lane.due] = 0.0
    with f.when((go & f.is_(Lane.begun, 0.0)).any()):
        f.call_named("start", f.argument("ctx"))
    f.evaluate(Context.rhs, f.at)
    f.copy(f.at, f.K0, f.n, go)
    with f.when(f.n_events > 0):
        f.evaluate(Context.events, f.g_new)
        f.copy(f.g_new, f.g_old, f.n_events, go)
    f.end()


def _next_pause(f: StepFunction, go: Mask) -> None:
    """With a pace: so long after the pause before, if that was reached at the same pace, or after the present time."""
    lane, pace = f.lane, f.broadcast(f.pointer_at_context().number(Context.pace))
    paced, again = go & (pace > 0.0), lane[Lane.pace].equals(pace)
    lane[Lane.pauses] = paced.where(again.where(lane[Lane.pauses] + 1.0, 1.0), lane[Lane.pauses])
    lane[Lane.pause_from] = paced.where(again.where(lane[Lane.pause_from], lane[Lane.t]), lane[Lane.pause_from])
    lane[Lane.pace] = go.where(pace, lane[Lane.pace])
    counted = lane[Lane.pause_from] + lane[Lane.pauses] * pace
    lane[Lane.pause] = paced.where(counted, lane[Lane.pause])
    f.aim(go)


def _take_loads(f: StepFunction, go: Mask) -> None:
    """Held from now on, in the lanes that go on; it is their next sample."""
    count, row, held = f.integer_at(Context.n_loads), f.integer_at(Context.n_row), f.stage.after(f.n)

    def take(k: int) -> None:
        own = f.pointer_at(Context.loads).at(row * k)
        with f.loop(count) as i:
            held.address(i).store(k, own.number(i))

    with f.when(count > 0):
        f.each_lane(go, take)
        sample = f.n_held - 1
        held[sample] = held[sample] + go.where(1.0, 0.0)


def _show(module: Module, lanes: int) -> None:
    f = StepFunction(module, "show", lanes)
    held, first = f.stage.after(f.n), len(SHOWN)
    for k in range(lanes):
        with f.when(f.integer_at(Context.n_seats) > k):
            own = f.pointer_at(Context.shown).at((f.n + f.n_held + first) * k)
            for i, entry in enumerate(SHOWN):
                own.store(i, f.lane.address(int(entry)).number(k))
            _write(f, k, f.y, own.at(first), f.n)
            _write(f, k, held, own.at(f.n + first), f.n_held)
    f.end()


def _write(f: StepFunction, k: int, source: Block, row: Pointer, count: Integer) -> None:
    """Lane k of vectors, one after the other."""
    with f.loop(count) as i:
        row.store(i, source.address(i).number(k))


def _show_begun(f: StepFunction) -> None:
    """What runs hold from now on, if somebody asks."""
    with f.when(~f.integer_at(Context.begun).equals(0)):
        for k in range(f.lanes):
            with f.when(f.integer_at(Context.n_seats) > k):
                _write(f, k, f.stage.after(f.n), f.pointer_at(Context.begun).at(f.n_held * k), f.n_held)


def _step_block(module: Module, lanes: int) -> None:
    """`asked` becomes 1 if an event waits for the host, 2 if a run that went on stands at no pause, else 0."""
    f = StepFunction(module, "step_block", lanes)
    went = f.variable(f.is_(Lane.status, Status.paused).where(1.0, 0.0))
    f.call_named("hold", f.argument("ctx"))
    _show_begun(f)
    event = steps(f, f.integer_at(Context.n_most))
    astray = (went[0].equals(1.0) & ~f.is_(Lane.status, Status.paused)).any().integer()
    f.pointer_at_context().store(Context.asked, (event > 0).where(1, astray * 2))
    f.call_named("show", f.argument("ctx"))
    f.end()


def _step(module: Module, lanes: int) -> None:
    """How many blocks ask for the host; NOT_FINITE if a load is no number, and nothing was done."""
    f = Function(module, "step", lanes, ["record"], returns_integer=True)
    record = f.argument("record")
    asking = f.counter(NOT_FINITE)
    with f.when(~_not_finite(f).any()):
        asking.set(0)
        table = record.pointer(Word.table)
        with f.loop(record.integer(Word.last), record.integer(Word.first)) as b:
            ctx = table.pointer(b)
            f.call_named("step_block", ctx)
            asking.set(asking.get() + (ctx.integer(Context.asked) > 0).integer())
    f.end(asking.get())


def _not_finite(f: Function) -> Mask:
    """Lanes of the loads in which one of them is no number, or infinite."""
    record, total = f.argument("record"), f.variable(0.0)
    loads = Block(f, record.pointer(Word.loads).name)
    with f.loop(record.integer(Word.n_loads)) as i:
        total[0] = total[0] + (loads[i] - loads[i])
    return ~total[0].equals(0.0)
