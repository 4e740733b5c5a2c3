"""What the host and the compiled time loop share: the table of words `ctx`,
the vectors that describe lanes, and their status.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any

from ...tracing.loops import Block, Function, Integer, Mask, Module, Number, Pointer, Vector
from .status import Status

CLOSE = 1e-12  # relative, and absolute below a second: times nearer than this are one


class Context(IntEnum):
    """Places in the table of 64-bit words: addresses and sizes."""

    rhs = 0  # void(x, ydot, scratch)
    update = 1  # void(x, held, scratch), at samples
    events = 2  # void(x, g, scratch)
    x = 3  # t, y (n), held (n_held), parameters: the argument of all three
    y = 4  # (n)
    y_new = 5  # (n)
    at = 6  # (n) result of `dense`
    K = 7  # (stages, n)
    g_old = 8  # (n_events)
    g_new = 9  # (n_events)
    held_new = 10  # (n_held)
    lanes = 11  # the vectors of `Lane`
    rhs_scratch = 12  # memory of each function's own
    atol = 13  # doubles (n); infinite for components without error control
    rtol = 14  # doubles (n)
    breaks = 15  # doubles: times to stop at, then infinity
    samples = 16  # doubles: what each stop is, as in `Lane.sampled`
    saves = 17  # doubles: times to save at, then infinity
    out = 18  # pointers (lanes): where a lane's saved rows go
    directions = 19  # doubles (n_events): +1 rising, -1 falling, 0 both
    n = 20
    n_held = 21
    n_events = 22
    n_control = 23  # components with error control
    fixed = 24  # 1: steps of the given size
    solver = 25  # memory to solve the stages of collocation in
    g_near = 26  # (near_count, n_events) events within the attempted step (crossings.py)
    measures = 27  # the table of groups of measures (measures.py)
    n_measures = 28
    n_x = 29
    until_look = 30  # steps before which no measure is due; counted down by the loop
    pending = 31  # 1: states were put aside that no measure has looked at yet
    update_scratch = 32
    events_scratch = 33
    pace = 34  # double: how far runs go on at a time; 0: to where `Lane.pause` is
    loads = 35  # doubles, rows (seats, n_loads): what the runs hold from now on
    n_loads = 36  # 0: nothing is given, a control law says
    n_row = 37  # doubles from the loads of one lane to those of the next; 0 where all lanes are one run
    shown = 38  # doubles, rows (seats, n_shown): where the runs stand (pausing.py)
    n_seats = 39
    n_most = 40  # attempted steps at a time
    asked = 41  # 1: an event has changed sign, and the host must find where
    begun = 42  # doubles, rows (seats, n_held): what the runs hold from the beginning of a step on; 0: nobody asks
    tracked = 43  # the table of signals that are followed between the ends of steps (tracking.py)
    n_tracked = 44
    sought = 45  # the signal whose change of sign is sought
    size = 46


SCRATCH = {
    Context.rhs: Context.rhs_scratch,
    Context.update: Context.update_scratch,
    Context.events: Context.events_scratch,
}


class Lane(IntEnum):
    """Vectors that describe the lanes."""

    t = 0
    h = 1  # next step to try; 0: choose one
    status = 2
    stop = 3  # next time to stop at
    before_stop = 4  # the number just below `stop`: stages do not look beyond a jump
    stop_index = 5
    save = 6  # next time to save at
    save_index = 7
    h_tried = 8
    t_new = 9
    accepted = 10  # 1 or 0: the attempted step waits to be committed
    h_next = 11
    event = 12  # 1 or 0: an event changed sign in the attempted step
    theta = 13
    steps = 14
    rejections = 15
    h_max = 16
    sampled = 17  # what the stop is, as in `Stop`
    h_before = 18  # the step before, since the last jump; 0: none
    begun = 19  # 0 until `start` has been to the run in this lane, then 1
    h_fixed_point = 20  # the longest step that fixed-point iteration is good for; 0: not known yet
    wait = 21  # steps before Newton's iteration may be tried again
    h_fixed_point_next = 22
    wait_next = 23
    newton = 24  # 1 or 0: the attempted step is by Newton's iteration
    error_root = 25  # of the last step that an explicit method has accepted; 0: none
    ahead = 26  # the next time in the table of stops; `stop` is that, or `pause`
    pause = 27  # where the run waits for the caller; infinite: nowhere
    pause_from = 28  # pauses are counted from there,
    pauses = 29  # so many,
    pace = 30  # each so long after the one before
    due = 31  # 1 or 0: a sample is to be taken before the run goes on
    size = 32


class StepFunction(Function):
    """A compiled function of `ctx`, with its blocks by name."""

    x: Block
    y: Block
    y_new: Block
    at: Block
    g_old: Block
    g_new: Block
    g_near: Block
    held_new: Block

    def __init__(self, module: Module, name: str, lanes: int, *extra: str, returns_integer: bool = False) -> None:
        super().__init__(module, name, lanes, ["ctx", *extra], returns_integer=returns_integer)
        for place in ("x", "y", "y_new", "at", "g_old", "g_new", "g_near", "held_new"):
            setattr(self, place, self.block(Context[place]))
        self.lane = self.block(Context.lanes)
        self.K0 = self.block(Context.K)
        self.n = self.integer_at(Context.n)
        self.n_events = self.integer_at(Context.n_events)
        self.n_held = self.integer_at(Context.n_held)
        self.stage = self.x.after(1)  # the state, in the argument of the right-hand side

    def pointer_at_context(self) -> Pointer:
        """The table of words itself."""
        return self.argument("ctx")

    def least_of_lanes(self, x: Vector) -> Number:
        """The smallest number of all lanes."""
        width, cell = self.lanes, self.variable(0.0)
        while width > 1:
            width //= 2
            x = self.min(x, self.shuffle(x, [(k + width) % self.lanes for k in range(self.lanes)]))
        cell[0] = x
        return cell.address(0).number()

    def pointer_at(self, place: Context) -> Pointer:
        return self.argument("ctx").pointer(place)

    def integer_at(self, place: Context) -> Integer:
        return self.argument("ctx").integer(place)

    def block(self, place: Context) -> Block:
        return Block(self, self.pointer_at(place).name)

    def K(self, j: int) -> Block:
        """K_(j+1), counted from zero."""
        return self.K0 if j == 0 else self.K0.after(self.n * j)

    def put_state_in_x(self) -> None:
        """Time and state where the lanes are."""
        self.copy(self.y, self.stage, self.n)
        self.x[0] = self.lane[Lane.t]

    def evaluate(self, what: Context, into: Block) -> None:
        """Call a traced function on x."""
        self.call(self.pointer_at(what), self.x, into, self.pointer_at(SCRATCH[what]))

    def evaluate_new(self, into: Block) -> None:
        """The right-hand side at the end of the attempted step."""
        self.copy(self.y_new, self.stage, self.n)
        self.x[0] = self.min(self.lane[Lane.t_new], self.lane[Lane.before_stop])
        self.evaluate(Context.rhs, into)

    def is_(self, lane: Lane, value: float) -> Mask:
        return self.lane[lane].equals(float(value))

    def is_fixed(self) -> Mask:
        """Steps of the given size, in all lanes or in none."""
        return self.broadcast(self.integer_at(Context.fixed).number()).equals(1.0)

    def mark(self, mask: Mask, status: Status) -> None:
        self.lane[Lane.status] = mask.where(float(status), self.lane[Lane.status])

    def copy(self, source: Block, target: Block, count: Any, mask: Mask | None = None) -> None:
        with self.loop(count) as i:
            target[i] = source[i] if mask is None else mask.where(source[i], target[i])

    def smallest_step(self) -> Vector:
        """Below which time no longer advances."""
        return 1e-15 * self.max(self.abs(self.lane[Lane.t]), 1e-3 * self.abs(self.lane[Lane.stop]))

    def each_lane(self, mask: Mask, action: Callable[[int], None]) -> None:
        """Do something in each lane where the mask holds, one after the other."""
        for k in range(self.lanes):
            with self.when(mask.lane(k)):
                action(k)

    def aim(self, lanes: Mask) -> None:
        """The next stop: the next of the table, or the pause before it.

        Two that differ by round-off are one, that of the table.
        """
        lane, pause = self.lane, self.lane[Lane.pause]
        close = CLOSE * self.max(self.abs(pause), 1.0)
        near = lanes & (pause < float("inf")) & (self.abs(lane[Lane.ahead] - pause) <= close)
        lane[Lane.pause] = near.where(lane[Lane.ahead], pause)
        lane[Lane.stop] = lanes.where(self.min(lane[Lane.ahead], lane[Lane.pause]), lane[Lane.stop])
        self.set_before_stop()

    def set_before_stop(self) -> None:
        """The largest number below `stop`, for positive and negative stops alike."""
        stop = self.lane[Lane.stop]
        self.lane[Lane.before_stop] = stop - self.abs(stop) * 2.0**-53 - 2.0**-1074
