"""Events in steps that wait to be committed: where a function changed sign, what was recorded, and where a step is cut.

Roots, and extrema that graze zero, are sought among true steps of the integrator, from the state before to the time in
question: an event is as accurate as a step, whatever the order of the method's dense output.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ...algebra import Array
from .block import Block
from .context import Context, Lane
from .crossings import NEAR, Interval, Point, changes, intervals
from .status import Status
from .system import EventSpec, Record

REACH = 0.25  # of the distance of its neighbours: how far from where the cubic has it an extremum is sought
MOST_LOOKS = 256  # at an event within a step, before it is left as one that swings faster than it can be followed
SHORTEST = 2.0**-36  # of the step: an interval in which a function jumps, or has a corner at zero
AFTERWARDS = 1e-6  # of the step: how far beyond an effect the event function's new sign is looked at, at least
ROUND_OFF = 2.0**-50  # of the state: what an event function changes by it is no sign
SOON = 1e-6  # s: beyond an effect, where steps are shorter than what tells times apart
RESIDUE = 4.0  # times what is left of it at its root, where times are as fine as they get: no sign either
AT_ONCE = 1e-9  # of the step: events so near to each other happen at one instant
BEYOND = 1e-12  # of the step: how far beyond a switch, at least, a step ends, so that the next begins on the new side
ALIKE = 1e-6  # of derivatives: so near to each other they are those of one place


class _Sign(NamedTuple):
    """A change of sign: of which event, and whether from below."""

    event: int
    rises: bool


def handle_events(block: Block) -> None:
    """Find what happened, cut lanes at terminal events and effects, end all waiting steps,
    and write down the events.
    """
    happened: list[Record] = []
    cuts: list[tuple[int, list[_Sign], float]] = []  # seat, events, size of the step before it was cut
    specs = block.system.specs
    for k in map(int, np.flatnonzero(block.lane[Lane.event, : block.seats] == 1.0)):
        full = block.lane[Lane.h_tried, k], block.lane[Lane.t_new, k]
        for t, events in _instants(block, k, _roots(block, k, full), full):
            turns = [j for j, _ in events if specs[j].turn is not None]
            root, t = t, _beyond(block, k, t, turns, full) if turns else t
            y = _step_to(block, k, t, full).copy()
            if len(events) > 1 and specs[events[0].event].moves is not None:
                y = _composed(block, k, (root, t), y, events, full)
            held = block.x[1 + len(y) : 1 + len(y) + block.system.n_held, k].copy()
            names = [specs[j].name for j, _ in events if specs[j].turn is None]
            happened += [Record(int(block.rows[k]), name, t, y, held) for name in names]
            if any(specs[j].cuts for j, _ in events):
                g = block.evaluate(Context.events, len(specs), k, t, y)
                block.blocks["g_new"][:, block.lanes_of(k)] = _columns(block, g)
                cuts.append((k, events, full[0]))
                block.look_after_step(k)
                break
        else:
            _step_to(block, k, full[1], full)
    block.end_step()
    for k, events, h in cuts:
        if any(specs[j].changes for j, _ in events):
            _change(block, k, events, h)
            block.look_after_step(k)
        if any(specs[j].terminal for j, _ in events):
            block.lane[Lane.status, block.lanes_of(k)] = Status.stopped
    block.outcome.records.extend(happened)


def _instants(
    block: Block, k: int, roots: list[tuple[float, _Sign]], full: tuple[float, float]
) -> list[tuple[float, list[_Sign]]]:
    """(time, events) in order, those that the first's state is not told from at one instant; switches first, as loads
    then act from beyond them on.
    """
    found: list[tuple[float, list[_Sign]]] = []
    for t, sign in roots:
        if found and (t - found[-1][0] <= AT_ONCE * full[0] or _is_zero(block, k, sign.event, found[-1][0], t, full)):
            found[-1][1].append(sign)
        else:
            found.append((t, [sign]))
    specs = block.system.specs
    return [(t, sorted(events, key=lambda sign: specs[sign.event].turn is None)) for t, events in found]


def _is_zero(block: Block, k: int, j: int, first: float, last: float, full: tuple[float, float]) -> bool:
    """Whether event j is zero between two times but for round-off."""
    left = RESIDUE * abs(_values(block, k, last, full)[j])
    for t in (first, 0.5 * (first + last)):
        g, noise = _values_and_noise(block, k, t, _step_to(block, k, t, full).copy())
        if abs(g[j]) > max(noise[j], left):
            return False
    return True


def _beyond(block: Block, k: int, root: float, turns: list[int], full: tuple[float, float]) -> float:
    """A time so soon after the root of switches that their signs are no matter of round-off."""
    later, left = BEYOND * full[0], RESIDUE * abs(_values(block, k, root, full))
    while root + later < full[1]:
        g, noise = _values_and_noise(block, k, root + later, _step_to(block, k, root + later, full).copy())
        if (abs(g) > np.maximum(noise, left))[turns].all():
            return root + later
        later *= 10.0
    return full[1]


def _composed(
    block: Block, k: int, times: tuple[float, float], y: Array, events: list[_Sign], full: tuple[float, float]
) -> Array:
    """What several events of one instant, switches among them, leave of y before any effect. Derivatives follow if all
    of them move together, or do not ask for each other's side.
    """
    root, t = times
    specs, before = block.system.specs, _step_to(block, k, max(2.0 * root - t, block.lane[Lane.t, k]), full).copy()

    def argument(y: Array) -> Array:
        block.place(k, t, y)
        return block.x[:, k].copy()

    switched = any(specs[j].turn is not None for j, _ in events)
    moved = []
    for j, rises in events:
        spec = specs[j]
        assert spec.moves is not None
        if switched or spec.cuts:
            moved.append(spec.moves(argument(y), rises))
        if spec.turn is not None:
            jump, earlier = (spec.turn(argument(at), at, rises) - at for at in (y, before))
            y = y + jump
            if not abs(jump - earlier).max() <= ALIKE * abs(jump).max():
                _refuse(specs, events, t)
    largest = np.max(np.abs(moved), initial=0.0)
    several = any(specs[j].turn is None for j, _ in events)  # switches alone may come in any order
    if several and not all(abs(other - moved[0]).max(initial=0.0) <= ALIKE * largest for other in moved):
        _refuse(specs, events, t)
    _step_to(block, k, t, full)
    return y


def _refuse(specs: Sequence[EventSpec], events: list[_Sign], t: float) -> None:
    names = sorted({f"event '{specs[j].name}'" if specs[j].turn is None else "a load that switches" for j, _ in events})
    raise ValueError(
        f"sensitivities: at t = {t:.9g} s of the run several things happen at one instant, by chance or by symmetry: "
        f"{', '.join(names)}. Where one comes before the other with the least change of what is varied, no derivative "
        "follows. Let them depend on the same expression, move one of them, or leave out sensitivities=."
    )


def _step_to(block: Block, k: int, t: float, full: tuple[float, float]) -> Array:
    """The state of lane k after a step that ends at t; the other lanes repeat their steps, bit for bit."""
    lane, at = block.lane, block.lanes_of(k)
    lane[Lane.h_tried, at], lane[Lane.t_new, at] = full if t == full[1] else (t - lane[Lane.t, k], t)
    block.trial()
    return block.blocks["y_new"][:, k]


def _values(block: Block, k: int, t: float, full: tuple[float, float]) -> Array:
    """Of all event functions in lane k after a step that ends at t."""
    y = _step_to(block, k, t, full)
    return block.evaluate(Context.events, len(block.system.specs), k, t, y).copy()


def _roots(block: Block, k: int, full: tuple[float, float]) -> list[tuple[float, _Sign]]:
    """(time, event) of all changes of sign in the waiting step of lane k, between its ends and what seems to lie
    within, in order: of one event those at one time as they alternate.
    """
    begin, end = float(block.lane[Lane.t, k]), float(full[1])
    events, between = len(block.system.specs), block.method.between
    old, new = (block.blocks[name][:, k].copy() for name in ("g_old", "g_new"))
    row, since, zero = block.undecided.get(k, (-1, begin, -1.0))  # after an effect: what is no sign yet
    zero = np.broadcast_to(zero if (row, since) == (block.rows[k], begin) else -1.0, events)
    near = (
        block.blocks["g_near"][:, block.lanes_of(k)].reshape(-1, events, 1 if block.seats > 1 else block.lanes).copy()
    )
    found = []
    for j, spec in enumerate(block.system.specs):
        seen = intervals(between, begin, end, old[j], new[j], near[:, j])
        within = {t: g for t, g in _explored(block, k, j, full, seen).items() if abs(g) > zero[j]}
        known = dict(sorted({begin: old[j], **within, end: new[j] if abs(new[j]) > zero[j] else old[j]}.items()))
        for t0, t1 in pairwise(known):
            if changes(known[t0], known[t1], spec.direction):
                found.append((_root(block, k, j, full, known, t0, t1), _Sign(j, known[t0] < 0.0)))
    return sorted(found, key=lambda root: root[0])


def _explored(block: Block, k: int, j: int, full: tuple[float, float], seen: list[Interval]) -> dict[float, float]:
    """Event j at so many times that between two of them it changes its sign once, or not at all.

    Intervals where something seems to happen are halved until the cubic can be trusted there, or patience is at an end.
    """
    known: dict[float, float] = {}
    ends = (seen[0].left.t, seen[-1].right.t)
    doubtful = [interval for interval in seen if interval.doubtful]
    crossed = sum(changes(interval.left.g, interval.right.g) for interval in seen)
    once = crossed == changes(seen[0].left.g, seen[-1].right.g) and not any(i.extrema() for i in doubtful)
    if not (once and all(interval.resolved for interval in doubtful)):
        # what `watch` saw between the ends may lie beside the motion: such points are looked at by true steps
        inner = sorted({p.t for interval in doubtful for p in interval[:2]} - set(ends))
        true = {t: _look(block, k, j, t, full) for t in inner}
        known |= {p.t: p.g for p in true.values()}
        seen = [i._replace(left=true.get(i.left.t, i.left), right=true.get(i.right.t, i.right)) for i in seen]
    open_, looks = seen[::-1], 0
    shortest = max(SHORTEST * (ends[1] - ends[0]), 8.0 * np.spacing(max(map(abs, ends))))  # time itself is no finer
    while open_:
        interval = open_.pop()
        if not interval.doubtful or interval.right.t - interval.left.t <= shortest:
            continue
        if interval.resolved:
            for x in interval.extrema():
                known |= _extreme(block, k, j, full, interval, x)
            continue
        if looks == MOST_LOOKS:
            _leave_unresolved(block, j, interval)
            continue
        looks += 1
        middle = _look(block, k, j, 0.5 * (interval.left.t + interval.right.t), full)
        known[middle.t] = middle.g
        open_ += reversed(interval.split(middle))
    return known


def _leave_unresolved(block: Block, j: int, interval: Interval) -> None:
    """The shortest interval between two looks at an event that swings faster."""
    name, length = block.system.specs[j].name, interval.right.t - interval.left.t
    known = block.outcome.unresolved
    known[name] = min(known.get(name, np.inf), length)


def _look(block: Block, k: int, j: int, t: float, full: tuple[float, float]) -> Point:
    """Event j and its slope along the motion, after a step that ends at t."""
    y = _step_to(block, k, t, full).copy()
    events, dt = len(block.system.specs), NEAR * (full[1] - float(block.lane[Lane.t, k]))
    g = float(block.evaluate(Context.events, events, k, t, y)[j])
    ydot = block.evaluate(Context.rhs, block.system.n, k, t, y).copy()
    return Point(t, g, (float(block.evaluate(Context.events, events, k, t - dt, y - dt * ydot)[j]) - g) / -dt)


def _extreme(
    block: Block, k: int, j: int, full: tuple[float, float], interval: Interval, x: float
) -> dict[float, float]:
    """Event j there; where it has the sign of both neighbours, at a time near by when it has the other,
    or comes nearest to it.
    """
    from scipy.optimize import minimize_scalar

    begin, end = float(block.lane[Lane.t, k]), float(full[1])
    low, high = interval.left.t, interval.right.t
    t = low + x * (high - low)
    seen = {t: float(_values(block, k, t, full)[j])}
    signs = {float(np.sign(g)) for g in (interval.left.g, interval.right.g, seen[t]) if g != 0.0}
    if len(signs) != 1:
        return seen
    side = signs.pop()

    def height(time: float) -> float:
        """Above zero on the side of the neighbours; once it has been below, nothing more is sought."""
        lowest = min(side * g for g in seen.values())
        if lowest < 0.0:
            return lowest
        seen[time] = float(_values(block, k, time, full)[j])
        return side * seen[time]

    reach = REACH * (high - low)
    limits = {"maxiter": 20, "xatol": 1e-9 * (end - begin)}
    bounds = (max(begin, t - reach), min(end, t + reach))
    minimize_scalar(lambda time: height(float(time)), bounds=bounds, method="bounded", options=limits)
    lowest = min(seen, key=lambda time: side * seen[time])
    return {lowest: seen[lowest]}


def _root(
    block: Block, k: int, j: int, full: tuple[float, float], known: dict[float, float], begin: float, end: float
) -> float:
    """Time between two known ones at which event j changes its sign."""
    from scipy.optimize import brentq

    if known[end] == 0.0:
        return end

    def g(t: float) -> float:
        return float(known[t] if t in known else _values(block, k, t, full)[j])

    smallest = 2 * np.finfo(float).eps * max(abs(begin), abs(end))
    return float(brentq(g, begin, end, xtol=max(smallest, 1e-300), rtol=4 * np.finfo(float).eps))


def _change(block: Block, k: int, happened: list[_Sign], h: float) -> None:
    """The effects of events on lane k, whose step has ended there, one after the other; all of them see in x what was
    before. K_1 and event values as they are from then on.
    """
    n, events, t = block.system.n, len(block.system.specs), block.lane[Lane.t, k]
    y = block.blocks["y"][:, k].copy()
    if block.lane[Lane.due, k] == 1.0:  # a pause: a sample of this instant comes before its effects, as in a run
        held = block.evaluate(Context.update, block.system.n_held, k, t, y).copy()
        block.x[1 + n : 1 + n + len(held), block.lanes_of(k)] = _columns(block, held)
        block.lane[Lane.due, block.lanes_of(k)] = 0.0
    left = RESIDUE * abs(block.evaluate(Context.events, events, k, t, y))
    x = block.x[:, k].copy()
    for j, rises in happened:
        spec = block.system.specs[j]
        if spec.effect is not None:
            y = np.asarray(spec.effect(x.copy(), y), dtype=float)
        if spec.turn is not None:
            y = spec.turn(x, y, rises)
    ydot = block.evaluate(Context.rhs, n, k, t, y).copy()
    g = block.evaluate(Context.events, events, k, t, y).copy()
    changed = [j for j, _ in happened]
    found, noise = _values_afterwards(block, k, y, ydot, h, left)
    g[changed] = found[changed]
    block.undecided[k] = (block.rows[k], float(t), np.where(np.isin(np.arange(events), changed), noise, -1.0))
    for j, rises in happened:
        if block.system.specs[j].turn is not None:  # that of which its effect has told, so that they alternate
            g[j] = max(abs(g[j]), np.finfo(float).tiny) * (1.0 if rises else -1.0)
    at = block.lanes_of(k)
    for name, value in (("y", y), ("K", ydot), ("g_old", g)):
        block.blocks[name][: len(value), at] = _columns(block, value)
    block.lane[Lane.h_before, at] = 0.0
    last = int(block.lane[Lane.save_index, k]) - 1
    if last >= 0 and block.plan.save_times[last] == t:  # a row has what holds from there on
        block.outcome.saved[block.rows[k], last, :n] = y


def _values_afterwards(block: Block, k: int, y: Array, ydot: Array, h: float, left: Array) -> tuple[Array, Array]:
    """Of all event functions, so soon after an effect that their signs are no matter of round-off, as at the root; and
    how large that is. left: what they were there.
    """
    t, later = float(block.lane[Lane.t, k]), AFTERWARDS * h
    found, noise = _values_and_noise(block, k, t + later, y + later * ydot)
    noise = np.maximum(noise, left)
    while later < max(h, SOON) and (abs(found) <= noise).any():  # steps across a switch are as short as round-off
        later *= 10.0
        further, _ = _values_and_noise(block, k, t + later, y + later * ydot)
        found = np.where((abs(found) <= noise) & (abs(further) > noise), further, found)
    return found, noise


def _values_and_noise(block: Block, k: int, t: float, y: Array) -> tuple[Array, Array]:
    """Of all event functions, and what round-off of time and state changes of them."""

    def values(t: float, y: Array) -> Array:
        return block.evaluate(Context.events, len(block.system.specs), k, t, y).copy()

    here, signs = values(t, y), np.where(np.arange(len(y)) % 2, 1.0, -1.0)
    shaken = [values(t * (1.0 - ROUND_OFF), y), *(values(t, y * (1.0 + ROUND_OFF * s)) for s in (1.0, signs))]
    return here, np.max(abs(np.array(shaken) - here), axis=0)


def _columns(block: Block, value: Array) -> Array:
    """A vector as the lanes of one run take it."""
    return value if isinstance(block.lanes_of(0), int) else value[:, None]
