"""One long vector, many small functions of it: compiled and by NumPy the same, for any lanes and members."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from gyrostat.algebra import sin
from gyrostat.simulation.engine.block import lane_count
from gyrostat.simulation.engine.compiling import compiled
from gyrostat.simulation.engine.gathered import Gathered, Part, Piece, is_compiled
from gyrostat.tracing import memory

SIZE = 200  # of the long vector


def part(rng, members: int, begin: int) -> Part:
    """Of five numbers, seen in pieces of two and three, to four results, given in pieces of three and one."""
    function = compiled(lambda x: np.array([x[0] * x[4], sin(x[1]) + x[2], x[3] - 2.0 * x[0], x[1] * x[2] * x[3]]), 5)
    takes = [Piece(0, 2, rng.integers(0, SIZE - 2, members)), Piece(2, 3, rng.integers(0, SIZE - 3, members))]
    gives = [Piece(1, 3, begin + 4 * np.arange(members)), Piece(0, 1, begin + 3 + 4 * np.arange(members))]
    return Part(function, 5, 4, takes, gives)


def by_machine(gathered: Gathered, x: np.ndarray) -> np.ndarray:
    """x (runs, n), as many runs as lanes."""
    lanes = len(x)
    library, work = gathered.library(lanes), gathered.work()
    given, out = (memory.aligned((n, lanes), np.float64) for n in (x.shape[1], gathered.results))
    given[:], out[:] = x.T, np.nan
    call = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(library.address("gather"))
    call(given.ctypes.data, out.ctypes.data, work.ctypes.data)
    return out.T


@pytest.mark.parametrize("lanes", [1, lane_count()])
@pytest.mark.parametrize("members", [1, 7, 8, 19])
def test_compiled_code_gathers_what_numpy_gathers(lanes, members):
    rng = np.random.default_rng(members)
    gathered = Gathered([part(rng, members, 0), part(rng, 3, 4 * members)], 4 * members + 12)
    assert is_compiled(gathered)
    x = rng.normal(size=(lanes, SIZE))
    np.testing.assert_array_equal(by_machine(gathered, x), gathered(x))


def test_each_member_sees_its_own_pieces():
    rng = np.random.default_rng(0)
    own = part(rng, 3, 0)
    x = rng.normal(size=(1, SIZE))
    found = Gathered([own], 12)(x)[0]
    for k in range(3):
        a, b = (x[0, piece.places[k] :][: piece.size] for piece in own.takes)
        expected = [np.sin(a[1]) + b[0], b[1] - 2.0 * a[0], a[1] * b[0] * b[1], a[0] * b[2]]
        np.testing.assert_allclose(found[4 * k : 4 * k + 4], expected, rtol=1e-14)


def test_what_python_computes_is_asked_of_python():
    own = part(np.random.default_rng(0), 3, 0)
    slow = Part(lambda x: np.asarray(own.function(x)), 5, 4, own.takes, own.gives)
    gathered = Gathered([slow], 12)
    assert not is_compiled(gathered)
    x = np.random.default_rng(1).normal(size=(2, SIZE))
    np.testing.assert_array_equal(gathered(x), Gathered([own], 12)(x))
