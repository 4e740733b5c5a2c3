"""The compiled loops of rollouts: forward by the classical method of order four, and backward through its steps.

With K_i the rates at the stages, K_1 at s, and a that of the state after the step:

    K_2 = f(s + h/2 K_1),  K_3 = f(s + h/2 K_2),  K_4 = f(s + h K_3),  s <- s + h/6 (K_1 + 2 K_2 + 2 K_3 + K_4)    (1)

    k_4 = h/6 a,             g_4 = f_s^T k_4 at stage 4
    k_3 = h/3 a + h g_4,     g_3 = ...              k_2 = h/3 a + h/2 g_3        k_1 = h/6 a + h/2 g_2
    a <- a + g_1 + g_2 + g_3 + g_4                                                                                (2)

and likewise f_c^T k_i for what is differentiated by. Every state is kept, it is the result; the stages of a step are
computed again when the sweep comes to it. Vectors hold as many runs as the machine has lanes.
"""

from __future__ import annotations

import functools
import hashlib
from enum import IntEnum

from ...tracing import cache, machine
from ...tracing.loops import Block, Function, Integer, Module, Vector

ENTRIES = ("forward", "backward")


class Word(IntEnum):
    """Places in the table of 64-bit words that both functions are given."""

    rates = 0  # void(w, K, scratch)
    adjoints = 1  # void(w, K, a, g, scratch)
    running = 2  # void(w, g, scratch), the gradient of the running cost; 0: none
    w = 3
    K = 4  # (4, n)
    a = 5  # (n) of a stage
    g = 6  # (n + n_c)
    sum = 7  # (n + n_c)
    adjoint = 8  # (n) of the state
    total = 9  # (n_c) of what all steps share
    states = 10  # (steps + 1, n)
    own = 11  # (steps, n_own)
    own_adjoints = 12  # (steps, n_own)
    times = 13  # doubles (steps)
    scratch = 14
    n = 15
    n_c = 16
    n_own = 17
    steps = 18
    step = 19  # a double
    size = 20


@functools.cache
def library() -> machine.Library:
    """Of the two functions: the same for every craft and any number of steps."""
    lanes = machine.host_lanes("double")
    module = Module()
    _forward(module, lanes)
    _backward(module, lanes)
    text = module.text()
    key = hashlib.sha256(f"rollout\n{machine.identity()}\n{text}".encode()).hexdigest()
    code = cache.load(key)
    if code is None:
        code = machine.machine_code(text)
        cache.store(key, code)
    return machine.Library(code, ENTRIES)


class _Sweep(Function):
    """A function of the table, with its blocks by name."""

    def __init__(self, module: Module, name: str, lanes: int) -> None:
        super().__init__(module, name, lanes, ["ctx"])
        self.table = self.argument("ctx")
        self.n, self.n_c, self.n_own, self.steps = (
            self.table.integer(word) for word in (Word.n, Word.n_c, Word.n_own, Word.steps)
        )
        self.w, self.scratch, self.states = (self.block(word) for word in (Word.w, Word.scratch, Word.states))
        self.h = self.broadcast(self.table.number(Word.step))

    def block(self, word: Word) -> Block:
        return Block(self, self.table.pointer(word).name)

    def K(self, i: int) -> Block:
        return self.block(Word.K).after(self.n * i)

    def state(self, k: Integer) -> Block:
        return self.states.after(k * self.n)

    def take(self, k: Integer) -> Vector:
        """What step k has of its own, into w; its time."""
        own, place = self.block(Word.own).after(k * self.n_own), self.w.after(self.n + 1)
        with self.loop(self.n_own) as i:
            place[i] = own[i]
        return self.broadcast(self.table.pointer(Word.times).number(k))

    def stage(self, k: Integer, t: Vector, i: int) -> None:
        """Stage i of step k, counted from zero, into w."""
        part = (0.0, 0.5, 0.5, 1.0)[i]
        y, place = self.state(k), self.w.after(1)
        self.w[0] = t + part * self.h
        with self.loop(self.n) as j:
            place[j] = y[j] + (part * self.h) * self.K(i - 1)[j] if i else y[j]

    def evaluate(self, i: int) -> None:
        self.call(self.table.pointer(Word.rates), self.w, self.K(i), self.scratch)


def _forward(module: Module, lanes: int) -> None:
    f = _Sweep(module, "forward", lanes)
    with f.loop(f.steps) as k:
        t = f.take(k)
        for i in range(4):
            f.stage(k, t, i)
            f.evaluate(i)
        y, after, sixth = f.state(k), f.state(k + 1), (1.0 / 6.0) * f.h
        with f.loop(f.n) as j:
            after[j] = y[j] + sixth * f.sum((1.0, 2.0, 2.0, 1.0), [f.K(i) for i in range(4)], j)
    f.end()


def _backward(module: Module, lanes: int) -> None:
    f = _Sweep(module, "backward", lanes)
    a, g, total, adjoint = (f.block(word) for word in (Word.a, Word.g, Word.sum, Word.adjoint))
    both = f.n + f.n_c
    with f.loop(f.steps) as back:
        k = f.steps - 1 - back
        t = f.take(k)
        for i in range(4):
            f.stage(k, t, i)
            f.evaluate(i)
        with f.loop(both) as j:
            total[j] = 0.0
        for i in (3, 2, 1, 0):
            if i < 3:
                f.stage(k, t, i)
            share, onward = (1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0)[i], (0.5, 0.5, 1.0, 0.0)[i]
            with f.loop(f.n) as j:
                a[j] = (share * f.h) * adjoint[j] + ((onward * f.h) * g[j] if onward else 0.0)
            f.call(f.table.pointer(Word.adjoints), f.w, f.K(i), a, g, f.scratch)
            _add(f, g, total, both, None)
        with f.when(~f.table.integer(Word.running).equals(0)):  # w holds the first stage: the state itself
            f.call(f.table.pointer(Word.running), f.w, g, f.scratch)
            _add(f, g, total, both, f.h)
        _add(f, total, adjoint, f.n, None)
        own, shared = f.block(Word.own_adjoints).after(k * f.n_own), total.after(f.n)
        with f.loop(f.n_own) as j:
            own[j] = shared[j]
        _add(f, shared, f.block(Word.total), f.n_c, None)
    f.end()


def _add(f: _Sweep, source: Block, target: Block, count: Integer, factor: Vector | None) -> None:
    with f.loop(count) as j:
        target[j] = target[j] + (source[j] if factor is None else factor * source[j])
