"""The compiled time loop: written once for every spacecraft, it calls the right-hand side by its address.

Each lane has its own time, step and status; a lane's numbers never depend on the other lanes. Functions of the module:

    start(ctx)            K_1 and event values at the present state; a first step size for lanes that have none
    advance(ctx, n)       at most n attempted steps; returns 0, or 1 when an event has changed sign: the accepted steps then wait
                          uncommitted, so that the host can find the root on the dense output
    commit(ctx)           saves, new state, breakpoints and samples of the accepted steps
    dense(ctx)            the state at fraction THETA of each lane's attempted step, into `at`

`ctx` is a table of 64-bit words: addresses and sizes, by the places of `Context`. All blocks hold vectors of lanes.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from llvmlite import ir

from .loops import DOUBLE, INT, Block, Function, Mask, Vector
from .tableaus import Gauss, Tableau


class Context(IntEnum):
    """Places in the table of words."""

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
    scratch = 12
    atol = 13  # doubles (n); infinite for components without error control
    rtol = 14  # doubles (n)
    breaks = 15  # doubles: times to stop at, the last is the end
    samples = 16  # doubles: 1 where the stop is a sample
    saves = 17  # doubles: times to save at, then infinity
    out = 18  # pointers (lanes): where a lane's saved rows go
    directions = 19  # doubles (n_events): +1 rising, -1 falling, 0 both
    n = 20
    n_held = 21
    n_events = 22
    n_control = 23  # components with error control
    fixed = 24  # 1: steps of the given size
    size = 25


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
    size = 17


class Status(IntEnum):
    running = 0
    done = 1
    underflow = 2  # the step became too small
    not_finite = 3
    no_convergence = 4  # of the implicit stages
    stopped = 5  # by a terminal event


SAFETY, SHRINK, GROW = 0.9, 0.2, 10.0
ITERATIONS = 60  # of implicit stages


def stepper(method: Tableau | Gauss, lanes: int) -> str:
    """LLVM assembly of the module for one method."""
    module = ir.Module(name=method.name)
    _dense(module, method, lanes)
    _attempt(module, method, lanes)
    _commit(module, method, lanes)
    _start(module, method, lanes)
    _advance(module, lanes)
    lines = str(module).splitlines()
    return "\n".join(line for line in lines if not line.startswith(("target triple", "target datalayout")))


class _Step(Function):
    """A function on the context, with its blocks by name."""

    def __init__(self, module: ir.Module, name: str, lanes: int, *extra: str, returns: Any = None) -> None:
        super().__init__(module, name, lanes, ["ctx", *extra], returns=returns)
        for place in ("x", "y", "y_new", "at", "g_old", "g_new", "held_new", "scratch"):
            setattr(self, place, Block(self, self.pointer_at("ctx", Context[place])))
        self.lane = Block(self, self.pointer_at("ctx", Context.lanes))
        self.K0 = Block(self, self.pointer_at("ctx", Context.K))
        self.n = self.integer_at("ctx", Context.n)
        self.n_events = self.integer_at("ctx", Context.n_events)
        self.n_held = self.integer_at("ctx", Context.n_held)
        self.stage = self.x.after(1)  # the state, in the argument of the right-hand side

    x: Block
    y: Block
    y_new: Block
    at: Block
    g_old: Block
    g_new: Block
    held_new: Block
    scratch: Block

    def K(self, j: int) -> Block:
        """K_(j+1), counted from zero."""
        return self.K0 if j == 0 else self.K0.after(self.b.mul(self.n, INT(j)))

    def evaluate(self, what: Context, into: Block) -> None:
        """Call a traced function on x."""
        self.call(self.pointer_at("ctx", what), self.x.pointer, into.pointer, self.scratch.pointer)

    def is_(self, lane: Lane, value: float) -> Mask:
        return self.lane[lane].equals(float(value))

    def copy(self, source: Block, target: Block, count: Any, mask: Mask | None = None) -> None:
        with self.loop(count) as i:
            target[i] = source[i] if mask is None else mask.where(source[i], target[i])


def _places(method: Tableau | Gauss) -> tuple[int, int]:
    """Place of K_new among the stages, and number of places in all."""
    if isinstance(method, Gauss):
        return 4, 5
    return method.stages, method.stages + 1 + len(method.extra)


def stage_count(method: Tableau | Gauss) -> int:
    """How many K blocks the method needs."""
    return _places(method)[1]


def _dense(module: ir.Module, method: Tableau | Gauss, lanes: int) -> None:
    """y(t + theta h) = y + h sum_j w_j(theta) K_j, at = that. Extra stages are computed anew each time: saves are rare."""
    f = _Step(module, "dense", lanes)
    h, theta = f.lane[Lane.h_tried], f.lane[Lane.theta]
    weights = method.weights(theta)
    blocks = [f.K(j) for j in range(len(weights))]
    with f.loop(f.n) as i:
        f.at[i] = f.y[i] + h * f.sum(weights, blocks, i)
    f.end()
    extra = _Step(module, "extra_stages", lanes)
    if isinstance(method, Tableau):
        h, t = extra.lane[Lane.h_tried], extra.lane[Lane.t]
        for k, (c, row) in enumerate(method.extra):
            _evaluate_stage(extra, t, h, c, row, method.stages + 1 + k)
    extra.end()


def _evaluate_stage(f: _Step, t: Vector, h: Vector, c: float, row: tuple[float, ...], place: int) -> None:
    """K_place = f(t + c h, y + h sum_j row_j K_j)."""
    blocks = [f.K(j) for j in range(len(row))]
    with f.loop(f.n) as i:
        f.stage[i] = f.y[i] + h * f.sum(row, blocks, i)
    f.x[0] = f.min(t + c * h, f.lane[Lane.before_stop])
    f.evaluate(Context.rhs, f.K(place))


def _attempt(module: ir.Module, method: Tableau | Gauss, lanes: int) -> None:
    """Try one step in every running lane: y_new, K_new, accepted, h_next; g_new and event for the accepted."""
    f = _Step(module, "attempt", lanes)
    lane = f.lane
    running = f.is_(Lane.status, Status.running)
    t, h, rest = lane[Lane.t], lane[Lane.h], lane[Lane.stop] - lane[Lane.t]
    last = rest <= h * (1.0 + 1e-6)  # rather a slightly longer step than a sliver
    h = running.where(last.where(rest, h), 0.0)
    t_new = last.where(lane[Lane.stop], t + h)
    lane[Lane.h_tried], lane[Lane.t_new] = h, t_new

    if isinstance(method, Gauss):
        accepted, h_next = _gauss_step(f, method, running, t, h)
    else:
        for s in range(1, method.stages):
            _evaluate_stage(f, t, h, method.c[s], method.a[s - 1], s)
        accepted, h_next = _explicit_step(f, method, running, last, h)
    lane[Lane.accepted] = accepted.where(1.0, 0.0)
    lane[Lane.h_next] = h_next
    lane[Lane.rejections] = lane[Lane.rejections] + (running & ~accepted).where(1.0, 0.0)
    lane[Lane.event] = 0.0
    with f.when(accepted.any()):
        f.copy(f.y_new, f.stage, f.n)
        f.x[0] = f.min(t_new, lane[Lane.before_stop])
        f.evaluate(Context.rhs, f.K(_places(method)[0]))
        with f.when(f.b.icmp_signed(">", f.n_events, INT(0))):
            f.evaluate(Context.events, f.g_new)
            directions = f.pointer_at("ctx", Context.directions)
            with f.loop(f.n_events) as i:
                old, new, way = f.g_old[i], f.g_new[i], f.broadcast(f.number_at(directions, i))
                rising, falling = (old < 0.0) & (new >= 0.0), (old > 0.0) & (new <= 0.0)
                crossed = (rising & (way >= 0.0)) | (falling & (way <= 0.0))
                lane[Lane.event] = (accepted & crossed).where(1.0, lane[Lane.event])
    f.end()


def _explicit_step(f: _Step, method: Tableau, running: Mask, last: Mask, h: Vector) -> tuple[Mask, Vector]:
    """y_new, whether each lane accepts it, and the next step."""
    lane = f.lane
    atol, rtol = f.pointer_at("ctx", Context.atol), f.pointer_at("ctx", Context.rtol)
    blocks = [f.K(j) for j in range(method.stages)]
    sums = [f.variable(0.0) for _ in method.errors]
    size = f.variable(0.0)
    if len(method.errors) == 1:  # a pair whose estimate needs K_new: it is the first stage of the next step anyway
        _new_state(f, method, blocks, h, size)
        f.copy(f.y_new, f.stage, f.n)
        f.x[0] = f.min(lane[Lane.t_new], lane[Lane.before_stop])
        f.evaluate(Context.rhs, f.K(method.stages))
    with f.loop(f.n) as i:
        if len(method.errors) != 1:
            f.y_new[i] = f.y[i] + h * f.sum(method.b, blocks, i)
            size[0] = size[0] + f.abs(f.y_new[i])
        if method.errors:
            larger = f.max(f.abs(f.y[i]), f.abs(f.y_new[i]))
            scale = f.broadcast(f.number_at(atol, i)) + f.broadcast(f.number_at(rtol, i)) * larger
            for total, row in zip(sums, method.errors, strict=True):
                e = f.sum(row, [f.K(j) for j in range(len(row))], i) / scale
                total[0] = total[0] + e * e
    count = f.broadcast(f.b.sitofp(f.integer_at("ctx", Context.n_control), DOUBLE))
    finite = size[0] < float("inf")
    fixed = f.broadcast(f.b.sitofp(f.integer_at("ctx", Context.fixed), DOUBLE)).equals(1.0)
    if not method.errors:
        _mark(f, running & ~finite, Status.not_finite)
        return running & finite, lane[Lane.h]
    if len(sums) == 1:
        error = h * f.sqrt(sums[0][0] / count)
    else:  # Hairer's blend of the estimates of orders 5 and 3
        blend = sums[0][0] + 0.01 * sums[1][0]
        error = (blend > 0.0).where(h * sums[0][0] / f.sqrt(blend * count), blend)
    accepted = running & finite & ((error <= 1.0) | fixed)
    factor = SAFETY / f.root(f.max(error, 1e-30), method.root)
    factor = f.min(f.max((error < float("inf")).where(factor, SHRINK), SHRINK), GROW)
    grown = last.where(f.max(lane[Lane.h], h * factor), h * factor)  # a step cut short says nothing against the old one
    h_next = accepted.where(grown, h * f.min(factor, SAFETY))
    h_next = f.min(fixed.where(lane[Lane.h], h_next), lane[Lane.h_max])
    _mark(f, running & ~finite & fixed, Status.not_finite)
    smallest = 1e-15 * f.max(f.abs(lane[Lane.t]), 1e-3 * lane[Lane.h_max])
    too_small = running & ~accepted & ~fixed & (h_next < smallest)
    _mark(f, too_small & finite, Status.underflow)
    _mark(f, too_small & ~finite, Status.not_finite)
    return accepted, h_next


def _new_state(f: _Step, method: Tableau, blocks: list[Block], h: Vector, size: Any) -> None:
    with f.loop(f.n) as i:
        f.y_new[i] = f.y[i] + h * f.sum(method.b, blocks, i)
        size[0] = size[0] + f.abs(f.y_new[i])


def _mark(f: _Step, mask: Mask, status: Status) -> None:
    f.lane[Lane.status] = mask.where(float(status), f.lane[Lane.status])


def _gauss_step(f: _Step, method: Gauss, running: Mask, t: Vector, h: Vector) -> tuple[Mask, Vector]:
    """Fixed-point iteration of the stages; a lane that has converged is left alone. K_1 of the last step starts it."""
    lane = f.lane
    stages = [f.K(1 + s) for s in range(3)]
    for stage in stages:
        f.copy(f.K0, stage, f.n)
    open_ = f.variable(running.where(1.0, 0.0))
    count = f.counter(0)
    with f.repeat() as leave_if:
        working = open_[0] > 0.0
        leave_if(f.b.not_(working.any()))
        leave_if(f.b.icmp_signed(">=", f.get(count), INT(ITERATIONS)))
        change, size = f.variable(0.0), f.variable(0.0)
        for s in range(3):
            with f.loop(f.n) as i:
                f.stage[i] = f.y[i] + h * f.sum(method.a[s], stages, i)
            f.x[0] = f.min(t + method.c[s] * h, lane[Lane.before_stop])
            f.evaluate(Context.rhs, f.at)
            with f.loop(f.n) as i:
                difference = f.abs(h * (f.at[i] - stages[s][i]))
                scale = f.abs(f.y[i]) + f.abs(h * f.at[i]) + 1e-12
                change[0] = f.max(change[0], difference / scale)
                size[0] = size[0] + f.abs(f.at[i])
                stages[s][i] = working.where(f.at[i], stages[s][i])
        settled = change[0] <= 1e-15
        lost = ~(size[0] < float("inf"))
        _mark(f, working & lost, Status.not_finite)
        open_[0] = (working & ~settled & ~lost).where(1.0, 0.0)
        lane[Lane.theta] = working.where(change[0], lane[Lane.theta])
        f.set(count, f.b.add(f.get(count), INT(1)))
    _mark(f, (open_[0] > 0.0) & (lane[Lane.theta] > 1e-12), Status.no_convergence)  # else: at round-off already
    with f.loop(f.n) as i:
        f.y_new[i] = f.y[i] + h * f.sum(method.b, stages, i)
    return running & f.is_(Lane.status, Status.running), lane[Lane.h]


def _commit(module: ir.Module, method: Tableau | Gauss, lanes: int) -> None:
    """Save what lies within the accepted steps, take their new states, and handle stops."""
    f = _Step(module, "commit", lanes)
    lane = f.lane
    accepted = f.is_(Lane.accepted, 1.0)
    saves = f.pointer_at("ctx", Context.saves)
    due = accepted & (lane[Lane.save] <= lane[Lane.t_new])
    with f.when(due.any()):
        f.call_named("extra_stages", f.arguments["ctx"])
        with f.repeat() as leave_if:
            due = accepted & (lane[Lane.save] <= lane[Lane.t_new])
            leave_if(f.b.not_(due.any()))
            theta = (lane[Lane.save] - lane[Lane.t]) / lane[Lane.h_tried]
            lane[Lane.theta] = due.where(f.min(theta, 1.0), 0.0)
            f.call_named("dense", f.arguments["ctx"])
            exact = lane[Lane.save].equals(lane[Lane.t_new])
            with f.loop(f.n) as i:
                f.at[i] = exact.where(f.y_new[i], f.at[i])
            _each_lane(f, due, lambda k: _save_lane(f, saves, k))
    f.copy(f.y_new, f.y, f.n, accepted)
    f.copy(f.K(_places(method)[0]), f.K0, f.n, accepted)
    f.copy(f.g_new, f.g_old, f.n_events, accepted)
    lane[Lane.t] = accepted.where(lane[Lane.t_new], lane[Lane.t])
    lane[Lane.h] = f.is_(Lane.status, Status.running).where(lane[Lane.h_next], lane[Lane.h])
    lane[Lane.steps] = lane[Lane.steps] + accepted.where(1.0, 0.0)
    lane[Lane.accepted] = 0.0
    stopped = accepted & lane[Lane.t].equals(lane[Lane.stop])
    with f.when(stopped.any()):
        _at_stop(f, stopped)
    f.end()


def _at_stop(f: _Step, stopped: Mask) -> None:
    """The next stop; held values where the stop is a sample; K_1 and events anew, beyond the jump."""
    lane = f.lane
    breaks, samples = f.pointer_at("ctx", Context.breaks), f.pointer_at("ctx", Context.samples)
    sampled = f.variable(0.0)

    def advance_lane(k: int) -> None:
        place = f.b.add(f.b.fptosi(_element(f, Lane.stop_index, k), INT), INT(1))
        before = f.b.sub(place, INT(1))
        _set_element(f, Lane.stop_index, k, f.b.sitofp(place, DOUBLE))
        stop = f.number_at(breaks, place)
        _set_element(f, Lane.stop, k, stop)
        address = f.b.gep(sampled.pointer, [INT(k)], source_etype=DOUBLE)
        f.b.store(f.number_at(samples, before), address)

    _each_lane(f, stopped, advance_lane)
    _set_before_stop(f)
    ended = stopped & ~(lane[Lane.stop] < float("inf"))
    _mark(f, ended & f.is_(Lane.status, Status.running), Status.done)
    f.copy(f.y, f.stage, f.n)
    f.x[0] = lane[Lane.t]
    taken = sampled[0] > 0.0
    with f.when(taken.any()):
        f.evaluate(Context.update, f.held_new)
        f.copy(f.held_new, f.stage.after(f.n), f.n_held, taken)
    f.evaluate(Context.rhs, f.at)
    f.copy(f.at, f.K0, f.n, stopped)
    with f.when(f.b.icmp_signed(">", f.n_events, INT(0))):
        f.evaluate(Context.events, f.g_new)
        f.copy(f.g_new, f.g_old, f.n_events, stopped)


def _set_before_stop(f: _Step) -> None:
    """The largest number below `stop`, for positive, negative and infinite stops alike."""
    stop = f.lane[Lane.stop]
    f.lane[Lane.before_stop] = stop - f.abs(stop) * 2.0**-53 - 2.0**-1074


def _element(f: _Step, lane: Lane, k: int) -> Any:
    return f.number_at(f.lane.address(int(lane)), k)


def _set_element(f: _Step, lane: Lane, k: int, value: Any) -> None:
    f.b.store(value, f.b.gep(f.lane.address(int(lane)), [INT(k)], source_etype=DOUBLE))


def _each_lane(f: _Step, mask: Mask, action: Any) -> None:
    """Do something in each lane where the mask holds, one after the other."""
    for k in range(f.lanes):
        with f.when(f.b.extract_element(mask.value, INT(k))):
            action(k)


def _save_lane(f: _Step, saves: Any, k: int) -> None:
    """Write `at` and the held values of lane k to its row, and move on to the next time."""
    index = f.b.fptosi(_element(f, Lane.save_index, k), INT)
    out = f.b.load(f.b.gep(f.pointer_at("ctx", Context.out), [INT(k)], source_etype=INT), typ=ir.PointerType())
    row = f.b.gep(out, [f.b.mul(index, f.b.add(f.n, f.n_held))], source_etype=DOUBLE)
    held, rest = f.stage.after(f.n), f.b.gep(row, [f.n], source_etype=DOUBLE)
    for source, target, count in ((f.at, row, f.n), (held, rest, f.n_held)):
        with f.loop(count) as i:
            f.b.store(f.number_at(source.address(i), k), f.b.gep(target, [i], source_etype=DOUBLE))
    following = f.b.add(index, INT(1))
    _set_element(f, Lane.save_index, k, f.b.sitofp(following, DOUBLE))
    _set_element(f, Lane.save, k, f.number_at(saves, following))


def _start(module: ir.Module, method: Tableau | Gauss, lanes: int) -> None:
    """K_1, event values; a first step where h is 0: 0.01 |y| / |f| in the norm of the tolerances (Hairer, II.4)."""
    f = _Step(module, "start", lanes)
    lane = f.lane
    _set_before_stop(f)
    f.copy(f.y, f.stage, f.n)
    f.x[0] = lane[Lane.t]
    f.evaluate(Context.rhs, f.K0)
    with f.when(f.b.icmp_signed(">", f.n_events, INT(0))):
        f.evaluate(Context.events, f.g_old)
    atol, rtol = f.pointer_at("ctx", Context.atol), f.pointer_at("ctx", Context.rtol)
    d0, d1 = f.variable(0.0), f.variable(0.0)
    with f.loop(f.n) as i:
        scale = f.broadcast(f.number_at(atol, i)) + f.broadcast(f.number_at(rtol, i)) * f.abs(f.y[i])
        a, b = f.y[i] / scale, f.K0[i] / scale
        d0[0], d1[0] = d0[0] + a * a, d1[0] + b * b
    tiny = (d0[0] < 1e-10) | (d1[0] < 1e-10) | ~(d1[0] < float("inf"))
    guess = tiny.where(1e-6, 0.01 * f.sqrt(d0[0] / tiny.where(1.0, d1[0])))
    lane[Lane.h] = (lane[Lane.h] > 0.0).where(lane[Lane.h], f.min(guess, lane[Lane.h_max]))
    f.end()


def _advance(module: ir.Module, lanes: int) -> None:
    """Attempt and commit, until all lanes have ended, n attempts are made, or an event asks for the host."""
    f = _Step(module, "advance", lanes, "n_most", returns=INT)
    count, asked = f.counter(0), f.counter(0)
    with f.repeat() as leave_if:
        running = f.is_(Lane.status, Status.running)
        leave_if(f.b.not_(running.any()))
        leave_if(f.b.icmp_signed(">=", f.get(count), f.arguments["n_most"]))
        f.call_named("attempt", f.arguments["ctx"])
        f.set(asked, f.b.zext(f.is_(Lane.event, 1.0).any(), INT))
        leave_if(f.b.icmp_signed("!=", f.get(asked), INT(0)))
        f.call_named("commit", f.arguments["ctx"])
        f.set(count, f.b.add(f.get(count), INT(1)))
    f.end(f.get(asked))
