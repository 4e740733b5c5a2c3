"""The memory of one block of lanes, and the runs that stand in them:
each leaves when it has ended, and makes room for one that waits.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
from typing import Any

import numpy as np

from ...algebra import Array
from ...tracing import Kernel, cache, machine, pool
from ...tracing.build import Built
from ..integrators.methods import METHODS
from .context import SCRATCH, Context, Lane
from .crossings import near_count
from .gathered import Gathered
from .measures import DUE, PENDING, WORDS, Word
from .queue_of_runs import QueueOfRuns
from .status import Status, Stop
from .stepper import ENTRIES, stepper
from .system import Plan, Rows, State, System
from .tracking import Tracked
from .tracking import Word as TrackingWord

# attempts that lanes stand still, added up, before runs that wait are seated: that costs as much, or more
PATIENCE = 32
FOREVER = 2**62
_ON_CONTEXT = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_ADVANCE = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
_LOOK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
_TRACED = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
_WORDS = [word.name for word in Context if word is not Context.size]  # by place; names are quicker to look up
_OWN_WORDS = [word.name for word in Word if word is not Word.counts]  # of a group of measures, before its counts
_COUNTED = [Context.until_look, Context.pending]  # by the loop, for all lanes
_LANES = int(Lane.size)
Snapshot = tuple[Array, Array, Array]  # memory, rows, what is counted


@functools.cache
def lane_count() -> int:
    """Of a block: as many as fill a vector of the machine, which only LLVM knows."""
    return machine.host_lanes("double")


@functools.cache
def _library(method: str, lanes: int) -> machine.Library:
    """The compiled time loop of a method: one for all spacecraft, kept on disk."""
    text = stepper(METHODS[method], lanes)
    key = hashlib.sha256(f"stepper\n{machine.identity()}\n{text}".encode()).hexdigest()
    code = cache.load(key)
    if code is None:
        code = machine.machine_code(text)
        cache.store(key, code)
    return machine.Library(code, ENTRIES)


def lanes_of_block(system: System, method: str) -> int:
    """One where the system's own functions fill the vectors of the machine,
    unless the method needs lanes for its stages.
    """
    if system.single:
        return machine.host_lanes("float")
    return 1 if system.gathered and not METHODS[method].fills_block else lane_count()


def runs_per_block(system: System, method: str) -> int:
    """One in each lane; or one in all, where the lanes are its stages."""
    return 1 if METHODS[method].fills_block else lanes_of_block(system, method)


def queue_of(system: System, plan: Plan, state: State, parameters: Array) -> QueueOfRuns:
    """What blocks take runs from."""
    lanes = lanes_of_block(system, plan.method)
    remembered = METHODS[plan.method].remembered(lanes)
    numbers = remembered.numbers(system.n, lanes // runs_per_block(system, plan.method))
    return QueueOfRuns(system, plan, state, parameters, numbers)


class Block:
    """Work memory for as many runs at a time as there are lanes: `take` some that wait, let them `advance`, `settle`
    those that have ended.

    A run has a seat: a lane, or all of them where one run fills the block.
    rows: the run in each seat, -1 in an empty one.
    """

    def __init__(self, system: System, plan: Plan, queue: QueueOfRuns) -> None:
        self.system, self.plan, self.queue, self.outcome = system, plan, queue, queue.outcome
        self.method, self.lanes = METHODS[plan.method], lanes_of_block(system, plan.method)
        self._functions = [*(f for f, _ in system.functions.values()), *(m.function for m in system.followed)]
        self._build()
        self.library = _library(plan.method, self.lanes)
        self._start, self._trial, self._end_step, self._show = (
            _ON_CONTEXT(self.library.address(name)) for name in ("start", "trial", "end_step", "show")
        )
        self._look = _LOOK(self.library.address("look"))
        self._advance = _ADVANCE(self.library.address("advance"))
        self._keep: list[Any] = []
        self._error: BaseException | None = None
        self.seats = runs_per_block(system, plan.method)
        self.rows = np.full(self.seats, -1)
        self.undecided: dict[int, Any] = {}  # by seat: (run, time of an effect, what its event functions hold as zero)
        self.settled = 0
        self._together = self.seats == 1
        self._attempts_before = np.zeros(self.seats)
        self._entries, self._places, self._lasting = (list(part) for part in self.method.remembered(self.lanes))
        self._allocate()

    def _build(self) -> None:
        """The time loop and what it calls, side by side; at once if all is there."""
        kernels = [f for f in self._functions if isinstance(f, Kernel) and not f.has_block(*self._form_of(f))]
        if kernels:
            loop = functools.partial(_library, self.plan.method, self.lanes)
            pool.together([loop, *(functools.partial(self._code_of, f) for f in dict.fromkeys(kernels))])

    # ---- memory

    def _allocate(self) -> None:
        system, plan = self.system, self.plan
        n, held, events = system.n, system.n_held, len(system.specs)
        work = max([0, *(self._code_of(f).work for f in self._functions if isinstance(f, Kernel))])
        sizes = {
            "x": system.x_size,
            "y": n,
            "y_new": n,
            "at": n,
            "K": n * self.method.K_blocks(self.lanes),
            "g_old": events,
            "g_new": events,
            "g_near": near_count(self.method, self.lanes) * events,
            "held_new": held,
            "lanes": _LANES + len(system.fresh),
            "scratch": -(-work // self.lanes),
            "solver": self.method.solver_vectors(n, self.lanes),
        }
        sizes |= {f"measures {k}": group.count + system.x_size for k, group in enumerate(system.measures)}
        sizes["tracked work"] = 0 if system.tracked is None else system.tracked.work_vectors
        self.memory = _aligned(sum(sizes.values()) * self.lanes)
        self.blocks: dict[str, Array] = {}
        self._begins: dict[str, int] = {}
        begin, at = _place_of(self.memory), 0
        for name, size in sizes.items():
            self.blocks[name] = self.memory[at : at + size * self.lanes].reshape(size, self.lanes)
            self._begins[name] = begin + at * self.memory.itemsize
            at += size * self.lanes
        self.x, self.lane = self.blocks["x"], self.blocks["lanes"]
        self.lane[Lane.status] = Status.done
        self._K = self.blocks["K"].reshape(-1, n * self.lanes // self.seats, self.seats)  # by seat
        self._out = np.zeros(self.lanes, dtype=np.int64)
        arrays = {
            "atol": np.ascontiguousarray(plan.atol),
            "rtol": np.ascontiguousarray(plan.rtol),
            "breaks": plan.stop_times,
            "samples": np.append(plan.samples, 0.0),
            "saves": plan.save_times,
            "out": self._out,
            "directions": np.array([spec.direction for spec in system.specs], dtype=float),
        }
        self._keep.append(arrays)
        words = self._begins | {name: _place_of(array) for name, array in arrays.items()}
        for name, (function, size) in system.functions.items():
            words[name] = self._address(name, function, size)
            words[f"{name}_scratch"] = self._scratch(function)
        words |= {"n": n, "n_held": held, "n_events": events, "n_x": system.x_size}
        words |= {"n_control": plan.n_control, "fixed": int(plan.fixed)}
        end = self._allocate_measures()
        words |= {"measures": self._table, "n_measures": len(self._groups)}
        if system.tracked is not None:
            table = self._tracking(system.tracked, self.lane[end:])
            words |= {"tracked": _place_of(table), "n_tracked": system.tracked.count}
        self.context = np.array([words.get(name, 0) for name in _WORDS], dtype=np.int64)
        self._ctx = _place_of(self.context)

    def _allocate_measures(self) -> int:
        """The table of groups of measures. Returns where what they know ends among the vectors of the lanes."""
        self._measures: list[tuple[Array, Array]] = []
        end, rows, vector = _LANES, [], self.lanes * self.memory.itemsize
        for k, group in enumerate(self.system.measures):
            name, begin, end = f"measures {k}", end, end + group.numbers
            self._measures.append((self.lane[begin:end], self.blocks[name]))
            words = {
                "function": self._address(name, group.function, group.count),
                "every": group.every,
                "known": self._begins["lanes"] + begin * vector,
                "work": self._begins[name],
                "scratch": self._scratch(group.function),
            }
            rows.append([*(words[word] for word in _OWN_WORDS), *group.counts])
        table = np.array(rows, dtype=np.int64)
        self._keep.append(table)
        self._table = _place_of(table)
        self._groups = [self._table + k * WORDS * table.itemsize for k in range(len(rows))]
        return end

    def _tracking(self, tracked: Tracked, known: Array) -> Array:
        """The table of words of the signals that are followed."""
        words, directions = tracked.words(), np.array(tracked.directions, dtype=float)
        words[TrackingWord.function] = self._address("tracked", tracked.function, tracked.count)
        words[TrackingWord.scratch] = self._scratch(tracked.function)
        words[TrackingWord.known], words[TrackingWord.work], words[TrackingWord.directions] = (
            memory.ctypes.data for memory in (known, self.blocks["tracked work"], directions)
        )
        self._keep += [words, directions]
        return words

    def _address(self, name: str, function: Rows | None, size: int) -> int:
        """Of compiled code, or of a callback to Python.

        An exception there becomes NaN here, and is raised when back.
        """
        if function is None:
            return 0
        if isinstance(function, Kernel):
            self._keep.append(function)
            return self._code_of(function).library.address("block")
        if isinstance(function, Gathered) and function.compiled:
            library = function.library(self.lanes)
            self._keep += [function, library]
            return library.address("gather")

        def call(x: int, result: int, scratch: int) -> None:
            given, out = (
                _lanes_at(at, numbers, self.lanes) for at, numbers in ((x, self.system.x_size), (result, size))
            )
            out[:] = np.nan
            wanted = np.flatnonzero(self._wanted(name))
            once = self._together and name != "rhs"
            if self._error is None:
                try:
                    out[:, wanted] = function(given[:, wanted[:1] if once else wanted].T.copy()).T
                except BaseException as error:  # noqa: BLE001  (Ctrl-C too: nothing may cross compiled code)
                    self._error = error

        callback = _TRACED(call)
        self._keep.append(callback)
        address = ctypes.cast(callback, ctypes.c_void_p).value
        assert address is not None
        return address

    def _form_of(self, kernel: Kernel) -> tuple[()] | tuple[int, str]:
        """Lanes and scalars, where they are not those of the machine."""
        return (self.lanes, "mixed" if kernel is self.system.rhs else "double") if self.system.single else ()

    def _code_of(self, kernel: Kernel) -> Built:
        """Its machine code for these lanes."""
        form = self._form_of(kernel)
        return kernel.block_of(*form) if form else kernel.for_loops()

    def _scratch(self, function: Rows | None) -> int:
        """Memory of a compiled function's own; kernels share it."""
        if isinstance(function, Gathered) and function.compiled:
            self._keep.append(function.work())
            return self._keep[-1].ctypes.data
        return self._begins["scratch"]

    def _wanted(self, name: str) -> Array:
        """Lanes that need the value of a function."""
        if name in self.blocks:
            return self._measures[int(name.split()[1])][0][PENDING] == 1.0
        taken = (Stop.sample, Stop.sampled_breakpoint)
        return np.isin(self.lane[Lane.sampled], taken) if name == "update" else self._asking()

    def _running(self) -> Array:
        return self.lane[Lane.status] == Status.running

    def _asking(self) -> Array:
        """Lanes that need the values of functions: while some begin, those alone."""
        running = self._running()
        fresh = running & (self.lane[Lane.begun] == 0.0)
        return fresh if fresh.any() else running

    # ---- runs in and out

    def take(self) -> None:
        """Seat runs that wait. The lanes of the others are left alone."""
        free = np.flatnonzero(self.rows < 0)
        rows = self.queue.take(len(free))
        if not len(rows):
            return
        seats, rows = _span(free[: len(rows)]), _span(rows)
        lanes, state = self.lanes_of_seats(seats), self.queue.state
        self.seat(seats, rows, self.queue)
        self._out[lanes] = self.queue.out[rows]
        self._attempts_before[seats] = state.steps[rows] + state.rejections[rows]
        self._call(self._start)
        if state.g.shape == (self.queue.runs, len(self.system.specs)):
            known = state.g[rows].T
            self.blocks["g_old"][:, lanes] = np.where(np.isnan(known), self.blocks["g_old"][:, lanes], known)
        if (self._entries or self._lasting) and self.queue.resumes_method:
            self._recall(seats, state.of_method[rows])
        self.rows[seats] = np.arange(rows.start, rows.stop) if isinstance(rows, slice) else rows

    def seat(self, seats: Any, rows: Any, queue: QueueOfRuns) -> None:
        """What these rows of a queue bring to their lanes; nothing is computed yet."""
        lanes, n, held = self.lanes_of_seats(seats), self.system.n, self.system.n_held
        self.blocks["y"][:, lanes] = queue.state.y[rows].T
        if held:
            self.x[1 + n : 1 + n + held, lanes] = queue.state.held[rows].T
        self.x[1 + n + held :, lanes] = queue.parameters[rows].T
        self.lane[:, lanes] = queue.lanes[rows].T

    def settle(self, seats: Array) -> None:
        """Write the runs in these seats back to their rows of the outcome, and leave the seats empty."""
        if not len(seats):
            return
        self.settled += len(seats)
        self.write_back(seats)
        seats = _span(seats)
        self.rows[seats] = -1
        self.lane[Lane.status, self.lanes_of_seats(seats)] = Status.done

    def write_back(self, seats: Array) -> None:
        """Where the runs in these seats stand, to their rows of the outcome."""
        state, n, held = self.outcome.state, self.system.n, self.system.n_held
        seats, rows = _span(seats), self.rows[seats]
        self.look_at_pending()
        self.queue.lanes[rows] = self.lane[:, seats].T
        state.y[rows] = self.blocks["y"][:, seats].T
        if held:
            state.held[rows] = self.x[1 + n : 1 + n + held, seats].T
        if len(self.system.specs):
            state.g[rows] = self.blocks["g_old"][:, seats].T
        if self._entries or self._lasting:
            state.of_method[rows] = self._of_method(seats)

    def look_after_step(self, k: int) -> None:
        """Measures of the run in seat k are due at the end of its next accepted step."""
        for known, _ in self._measures:
            known[DUE, self.lanes_of(k)] = 0.0
        self.context[Context.until_look] = 0

    def look_now(self) -> None:
        """At all runs that wait, as they stand; one that was put aside as it stands now is looked at once."""
        n = self.system.n
        self.x[0], self.x[1 : 1 + n] = self.lane[Lane.t], self.blocks["y"]
        waiting = (self.lane[Lane.status] == Status.paused) & (self.lane[Lane.begun] == 1.0)
        for (known, work), row, group in zip(self._measures, self._groups, self.system.measures, strict=True):
            aside = work[group.count :]
            new = waiting & (aside[0] != self.lane[Lane.t])
            if (new & (known[PENDING] == 1.0)).any():
                self._call(self._look, row)
            aside[:, new], known[PENDING, new] = self.x[:, new], 1.0
            self.context[Context.pending] = 1

    def look_at_pending(self) -> None:
        """States that were put aside, of runs that leave their seats, or this memory."""
        for row in self._groups if self.context[Context.pending] else ():
            self._call(self._look, row)
        self.context[Context.pending] = 0

    def _of_method(self, seats: Array) -> Array:
        """Rows of `State.of_method`."""
        stages = self._K[self._places][:, :, seats]
        entries, lasting = (self.lane[places][:, seats] for places in (self._entries, self._lasting))
        rows = np.concatenate([entries, stages.reshape(-1, stages.shape[-1]), lasting]).T
        rows[rows[:, 0] <= 0.0, : rows.shape[1] - len(lasting)] = 0.0
        return rows

    def _recall(self, seats: Any, kept: Array) -> None:
        """What `_of_method` has kept, where there is something."""
        for k, row in zip(np.arange(self.seats)[seats], kept, strict=True):
            entries, stages, lasting = np.split(row, [len(self._entries), len(row) - len(self._lasting)])
            self.lane[self._lasting, self.lanes_of(k)] = lasting[:, None] if self._together else lasting
            if self._entries and row[0] > 0.0:
                self.lane[self._entries, self.lanes_of(k)] = entries[:, None] if self._together else entries
                self._K[self._places, :, k] = stages.reshape(len(self._places), -1)

    def snapshot(self) -> Snapshot:
        """To come back to by `restore`, as if nothing had been taken or tried since."""
        return self.memory.copy(), self.rows.copy(), self.context[_COUNTED]

    def restore(self, snapshot: Snapshot) -> None:
        self.memory[:], self.rows[:], self.context[_COUNTED] = snapshot

    def look_anew(self) -> None:
        """Nothing is put aside to be looked at, and nothing is known of when a look is due."""
        self.context[_COUNTED] = 0

    def lanes_of(self, k: int) -> Any:
        """Of seat k: one, or all."""
        return slice(None) if self._together else k

    def lanes_of_seats(self, seats: Any) -> Any:
        """One run is broadcast over all lanes."""
        return slice(None) if self._together else seats

    # ---- compiled functions

    def _call(self, function: Any, *arguments: int) -> Any:
        result = function(self._ctx, *arguments)
        self.raise_error()
        return result

    def raise_error(self) -> None:
        """What a function called from Python has raised, if one has."""
        if self._error is not None:
            error, self._error = self._error, None
            raise error

    def advance(self, steps: int) -> bool:
        """At most so many attempted steps; True if an event waits to be handled.

        Seats are not left empty for long while runs wait.
        """
        if self.plan.most_steps is not None:
            steps = max(0, min(steps, self.plan.most_steps - int(self._attempts().max())))
        return bool(self._call(self._advance, steps, PATIENCE if self.queue.waiting else FOREVER))

    def trial(self) -> None:
        self._call(self._trial)

    def show(self) -> None:
        """Where the runs stand, to the rows that `Context.shown` points at."""
        self._call(self._show)

    def end_step(self) -> None:
        self._call(self._end_step)

    def evaluate(self, what: Context, size: int, k: int, t: float, y: Array) -> Array:
        """A function of the system for seat k at time t and state y, (size,)."""
        self.place(k, t, y)
        result = np.empty((size, self.lanes))
        traced = _TRACED(int(self.context[what]))
        traced(self.x.ctypes.data, result.ctypes.data, int(self.context[SCRATCH[what]]))
        self.raise_error()
        return result[:, k]

    def place(self, k: int, t: float, y: Array) -> None:
        """Time and state of the run in seat k as the argument of the functions."""
        at = self.lanes_of(k)
        self.x[0, at] = t
        self.x[1 : 1 + self.system.n, at] = y[:, None] if self._together else y

    # ---- how far the runs are

    def seated(self) -> Array:
        """Seats that are not empty."""
        return np.flatnonzero(self.rows >= 0)

    def ended(self) -> Array:
        """Seats whose run has ended, or has made all the steps that it may."""
        over = self.lane[Lane.status, : self.seats] != Status.running
        if self.plan.most_steps is not None:
            over |= self._attempts() >= self.plan.most_steps
        return np.flatnonzero(over & (self.rows >= 0))

    def _attempts(self) -> Array:
        """That the running have made since they were taken, by seat; 0 for the others."""
        lane, k = self.lane, slice(0, self.seats)
        made = lane[Lane.steps, k] + lane[Lane.rejections, k] - self._attempts_before
        return np.where(self._running()[k], made, 0.0)

    def progress(self) -> float:
        """How many runs are behind us, those under way in part."""
        end = self.plan.stops[-1] if len(self.plan.stops) else 0.0
        begin = self.plan.saves[0] if len(self.plan.saves) else 0.0
        done = (self.lane[Lane.t, self.seated()] - begin) / max(end - begin, 1e-300)
        return self.settled + float(np.clip(done, 0.0, 1.0).sum())


def _span(places: Array) -> Any:
    """Places in ascending order as a slice where they follow one another, which is quicker."""
    first, count = int(places[0]), len(places)
    return slice(first, first + count) if int(places[-1]) - first == count - 1 else places


def _place_of(array: Array) -> int:
    """Its address; `array.ctypes.data` takes three times as long."""
    place: int = array.__array_interface__["data"][0]
    return place


def _aligned(count: int) -> Array:
    """Zeros that begin at a multiple of 64 bytes."""
    memory = np.zeros(count + 8)
    skip = (-_place_of(memory) // 8) % 8
    return memory[skip : skip + count]


def _lanes_at(address: int, size: int, lanes: int) -> Array:
    """Vectors of lanes in the memory that compiled code works on, (size, lanes)."""
    return np.ctypeslib.as_array((ctypes.c_double * (size * lanes)).from_address(address)).reshape(size, lanes)
