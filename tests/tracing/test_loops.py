"""The language of compiled loops: what is written with Python's operators does what Python would, lane by lane."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from gyrostat.tracing import machine
from gyrostat.tracing.loops import Block, Function, Module

LANES = machine.host_lanes("double")


def run(body, *arrays: np.ndarray, count: int = 0) -> int:
    """Compile body(function, blocks...) and call it on arrays of (vectors, lanes)."""
    module, names = Module(), [f"a{k}" for k in range(len(arrays))]
    f = Function(module, "test", LANES, [*names, "n_count"], returns_integer=True)
    result = body(f, *(Block(f, f.argument(name).name) for name in names))
    f.end(f.integer(0) if result is None else result)
    library = machine.Library(machine.machine_code(module.text()), ["test"])
    kinds = [ctypes.c_void_p] * len(arrays) + [ctypes.c_int64]
    call = ctypes.CFUNCTYPE(ctypes.c_int64, *kinds)(library.address("test"))
    return call(*(a.ctypes.data for a in arrays), count)


@pytest.fixture
def x():
    return np.random.default_rng(5).normal(size=(6, LANES))


def test_arithmetic_and_choices_are_those_of_each_lane(x):
    y = np.zeros_like(x)

    def body(f, a, out):
        with f.loop(f.integer_argument("n_count")) as i:
            v = a[i]
            both = (v > -0.5) & ~(v >= 0.8)
            out[i] = (both | v.equals(2.0)).where(1.0 / v - 3.0 * v, f.sqrt(f.abs(v)) + f.max(v, 0.1) - f.min(v, 0.2))

    run(body, x, y, count=len(x))
    expected = np.where(
        (x > -0.5) & (x < 0.8), 1.0 / x - 3.0 * x, np.sqrt(abs(x)) + np.maximum(x, 0.1) - np.minimum(x, 0.2)
    )
    np.testing.assert_allclose(y, expected, rtol=1e-15, atol=1e-15)


def test_loops_begin_where_they_are_told_and_may_be_empty(x):
    y = np.zeros_like(x)

    def body(f, a, out):
        with f.loop(5, 2) as i, f.loop(i) as _:
            out[i] = out[i] + a[i]
        with f.loop(3, 3) as i:
            out[i] = out[i] + 1e9

    run(body, x, y)
    np.testing.assert_allclose(y, x * np.array([0, 0, 2, 3, 4, 0])[:, None], rtol=1e-14)


@pytest.mark.parametrize("count", [0, 1, 7, 100])
def test_a_repeated_block_is_left_when_its_condition_holds(count):
    """The sum of the odd numbers below `count`, by a counter that is left at the first number that is not below."""

    def body(f):
        number, total = f.counter(0), f.counter(0)
        with f.repeat() as leave_if:
            leave_if(number.get() >= f.integer_argument("n_count"))
            with f.when((number.get() % 2).equals(1)):
                total.set(total.get() + number.get())
            number.set(number.get() + 1)
        return total.get()

    assert run(body, count=count) == sum(range(1, count, 2))


def test_masks_are_counted_and_asked_lane_by_lane(x):
    def body(f, a):
        positive, total = a[0] > 0.0, f.counter(0)
        total.set(positive.count() * 100)
        for k in range(LANES):
            with f.when(positive.lane(k)):
                total.set(total.get() + 1)
        with f.when(positive.any() & ~(a[0] > 1e9).any()):
            total.set(total.get() + 10_000)
        return total.get()

    positive = int((x[0] > 0).sum())
    assert 0 < positive < LANES
    assert run(body, x) == 101 * positive + 10_000


def test_words_in_memory_are_numbers_integers_and_addresses(x):
    table = np.array([x.ctypes.data, 3, 0], dtype=np.int64)
    y = np.zeros_like(x)

    def body(f, words, out):
        table = words.address(0)
        number = table.pointer(0).number(table.integer(1))  # the fourth number of x
        out[0] = f.broadcast(number)
        out.address(1).store(1, number)
        table.store(2, (table.integer(1) * 7 - 1) // 2)
        out[2] = f.lane_by_lane(range(LANES))
        out[3] = f.shuffle(out[2], [k ^ 1 for k in range(LANES)])
        out[4] = f.only(1).where(f.broadcast(f.integer(9).number()), 4.0)
        out[5] = f.root(f.vector(32.0), 5)

    run(body, table, y)
    fourth = x.ravel()[3]
    assert (y[0] == fourth).all() and y[1, 1] == fourth and np.count_nonzero(y[1]) == 1
    assert table[2] == 10
    np.testing.assert_array_equal(y[2], range(LANES))
    np.testing.assert_array_equal(y[3], [k ^ 1 for k in range(LANES)])
    np.testing.assert_array_equal(y[4], [9.0 if k == 1 else 4.0 for k in range(LANES)])
    np.testing.assert_allclose(y[5], 2.0, rtol=1e-15)
