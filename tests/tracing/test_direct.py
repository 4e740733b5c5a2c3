"""Single states, which machine code reads from NumPy's arrays by itself: the same bits as in a batch, and whatever it
cannot read goes the usual way.
"""

from __future__ import annotations

import gc
import sys
import threading

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import tracing
from gyrostat.algebra import sin
from gyrostat.tracing import direct
from random_trees import random_spacecraft, random_state


def kernel(dtype=np.float64):
    return tracing.Kernel(
        tracing.trace(lambda t, x, A: A @ (t * x), None, inputs={"t": (), "x": (3,), "A": (2, 3)}), dtype=dtype
    )


@pytest.fixture
def given():
    rng = np.random.default_rng(0)
    return rng.normal(), rng.normal(size=3), rng.normal(size=(2, 3))


def test_this_python_and_numpy_are_read():
    """Where this fails, kernels still work, but single states take five times as long."""
    assert direct.available()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_state_alone_has_the_bits_that_it_has_in_a_batch(seed, dtype):
    craft = random_spacecraft(seed)
    for function in (gs.forward_dynamics, gs.mass_matrix, gs.kinetic_energy, tracing.linear_motion):
        compiled = tracing.compile(function, craft, dtype=dtype)
        (q, v), tau = random_state(craft, seed), np.random.default_rng(seed).normal(size=craft.nv)
        state = [x.astype(dtype) for x in (q, v, tau)][: len(compiled.graph.inputs)]
        alone, batch = compiled(*state), compiled(*(np.stack([x, x]) for x in state))
        alone, batch = (list(x) if isinstance(x, tuple) else [x] for x in (alone, batch))
        for one, many in zip(alone, batch, strict=True):
            assert one.dtype == dtype
            assert np.array_equal(one, many[1])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_whatever_is_given_means_what_it_does_in_numpy(given, dtype):
    t, x, A = given
    compiled, expected = kernel(dtype), (A @ (t * x)).astype(dtype)
    frozen, wide, turned = x.astype(dtype), np.repeat(x.astype(dtype), 2)[::2], np.asfortranarray(A.astype(dtype))
    frozen.flags.writeable = False
    for time in (t, np.float64(t), np.float32(t), np.array(t), np.array(t, dtype)):
        for vector in (x, list(x), x.astype(dtype), frozen, wide, x.astype(">f8"), x.astype(dtype).view(Marked)):
            for matrix in (A, A.astype(dtype), turned, A.tolist()):
                assert compiled(time, vector, matrix) == pytest.approx(
                    expected, rel=1e-6 if dtype == np.float32 else 1e-7
                )
    assert compiled(2, [1, 2, 3], [[1, 0, 0], [0, 1, 0]]).tolist() == [2.0, 4.0]


class Marked(np.ndarray):
    """A subclass may mean anything: it goes the usual way."""


def test_shapes_that_are_wrong_are_refused_and_batches_are_batches(given):
    t, x, A = given
    compiled = kernel()
    assert compiled(np.array([t, t]), x, A).shape == (2, 2)
    assert compiled(t, x[None], A).shape == (1, 2)
    for wrong in [(t, x[:2], A), (t, x, A.T), (t, x), (t, x, A, A), (t, x[None, None, :2], A)]:
        with pytest.raises((TypeError, ValueError)):
            compiled(*wrong)


def test_results_are_written_where_asked(given):
    t, x, A = given
    compiled, out = kernel(), np.empty(2)
    assert compiled(t, x, A, out=out) is out
    assert np.array_equal(out, compiled(t, x, A))
    apart = np.zeros(4)
    assert np.array_equal(compiled(t, x, A, out=apart[::2][:2].copy()), out)
    frozen = np.empty(2)
    frozen.flags.writeable = False
    for wrong in (frozen, np.empty(3), np.empty(2, np.float32), apart[::2]):
        with pytest.raises((TypeError, ValueError)):
            compiled(t, x, A, out=wrong)
    square = tracing.compile(lambda x: np.array([x[1], x[2], x[0]]), None, inputs={"x": (3,)})
    y = np.array([1.0, 2.0, 3.0])
    assert square(y, out=y).tolist() == [2.0, 3.0, 1.0]  # what is read is read first


def test_results_are_new_each_time_and_nothing_leaks(given):
    compiled = kernel()
    t, x, A = given
    first = compiled(t, x, A)
    kept = first.copy()
    compiled(2 * t, x, A)
    assert np.array_equal(first, kept)
    assert sys.getrefcount(first) == 2
    call = compiled.bind(np.array(t), x, A)
    counted = (None, x, A, compiled, call.out)
    before = [sys.getrefcount(thing) for thing in counted]
    for _ in range(2000):
        compiled(t, x, A)
        compiled(t, x[::1], A[:, ::-1])
        call()
    after = [sys.getrefcount(thing) for thing in counted]
    assert max(abs(b - a) for a, b in zip(before, after, strict=True)) < 50


def test_values_that_are_no_arrays_come_back_as_before():
    number = tracing.compile(lambda x: sin(x[0]), None, inputs={"x": (2,)})
    assert isinstance(number(np.zeros(2)), np.float64)
    pair = tracing.compile(lambda x: {"a": x[0], "b": (x, 2.0 * x)}, None, inputs={"x": (2,)})
    found = pair(np.array([1.0, 2.0]))
    assert found["a"] == 1.0
    assert found["b"][1].tolist() == [2.0, 4.0]
    none = tracing.compile(lambda x: x[:0], None, inputs={"x": (2,)})
    assert none(np.zeros(2)).shape == (0,)


def test_threads_share_a_kernel():
    craft = random_spacecraft(1)
    compiled, states = tracing.compile(gs.forward_dynamics, craft), [random_state(craft, k) for k in range(4)]
    expected, wrong = [compiled(q, v, v) for q, v in states], []

    def work(k):
        q, v = states[k]
        for _ in range(500):
            if not np.array_equal(compiled(q, v, v), expected[k]):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_bound_call_outlives_its_kernel(given):
    t, x, A = given
    call = kernel().bind(np.array(t), x, A)
    gc.collect()
    junk = [np.empty(64) for _ in range(200)]
    assert call() == pytest.approx(A @ (t * x))
    assert len(junk) == 200


def test_elsewhere_kernels_do_without(given, monkeypatch):
    expected = kernel()(*given)
    monkeypatch.setattr(direct, "available", lambda: False)
    monkeypatch.setattr("gyrostat.tracing.bound.available", lambda: False)
    t, x, A = given
    compiled = kernel()
    assert compiled._direct is None
    assert np.array_equal(compiled(t, x, A), expected)
    assert compiled.bind(np.array(t), x, A)() == pytest.approx(expected, rel=1e-14)
