"""The functions of the page "Functions for laws": NumPy's numbers on floats and in compiled batches of any shape; the
same derivatives forward and backward."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import algebra
from gyrostat.algebra import clip, eigh3, lstsq, pinv, solve, solve_spd

PAGE = Path(__file__).resolve().parents[2] / "docs" / "functions-for-laws.md"


def numpys_eigh(A):
    values, vectors = np.linalg.eigh(A)
    largest = np.take_along_axis(vectors, np.abs(vectors).argmax(axis=0)[None], axis=0)
    return np.vstack([values, vectors * np.sign(largest)])


def symmetric(A):
    return A + A.T


def spd(A):
    return A @ A.T + np.eye(len(A))


def with_spd(function):
    return lambda A, b: function(spd(A), b)


def own_eigh(A):
    return np.vstack(eigh3(symmetric(A)))


def least_squares(A, b):
    return np.linalg.lstsq(A, b, rcond=None)[0]


# function, NumPy's, shapes of the arguments for any n and m
CASES = {
    "solve": (solve, np.linalg.solve, lambda n, m: [(n, n), (n,)]),
    "solve of several": (solve, np.linalg.solve, lambda n, m: [(n, n), (n, m)]),
    "solve_spd": (with_spd(solve_spd), with_spd(np.linalg.solve), lambda n, m: [(n, n), (n,)]),
    "lstsq": (lstsq, least_squares, lambda n, m: [(n, m), (n,)]),
    "pinv": (pinv, np.linalg.pinv, lambda n, m: [(n, m)]),
    "clip": (clip, np.clip, lambda n, m: [(n, m), (n, m), (n, m)]),
    "eigh3": (own_eigh, lambda A: numpys_eigh(symmetric(A)), lambda n, m: [(3, 3)]),
}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", CASES)
def test_as_numpy_in_any_shape_and_batch(name, seed):
    own, numpys, shapes = CASES[name]
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 5)), int(rng.integers(1, 5))
    drawn = shapes(n, m)
    batch = tuple(int(k) for k in rng.integers(1, 4, size=int(rng.integers(0, 3))))
    given = [rng.normal(size=(*batch, *shape)) for shape in drawn]
    if name == "clip":
        given[1:] = [np.minimum(*given[1:]), np.maximum(*given[1:])]
    names = "abc"[: len(drawn)]
    function = {1: lambda a: own(a), 2: lambda a, b: own(a, b), 3: lambda a, b, c: own(a, b, c)}[len(drawn)]
    kernel = gs.compile(function, None, inputs=dict(zip(names, drawn, strict=True)))
    found = kernel(*given)
    for at in np.ndindex(batch):
        one = [x[at] for x in given]
        expected = numpys(*one)
        close = {"rtol": 1e-8, "atol": 1e-9 * max(1.0, np.abs(expected).max())}
        np.testing.assert_allclose(own(*one), expected, **close)
        np.testing.assert_allclose(found[at], expected, **close)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", CASES)
def test_derivatives_forward_and_backward_are_those_of_differences(name, seed):
    own, _, shapes = CASES[name]
    rng = np.random.default_rng(10 + seed)
    drawn = shapes(3, 2)
    given = [rng.normal(size=shape) for shape in drawn]
    if name == "clip":
        given[1:] = [np.minimum(*given[1:]), np.maximum(*given[1:])]
    sizes = [int(np.prod(shape)) for shape in drawn]
    cuts = np.cumsum(sizes)[:-1]
    direction, x = rng.normal(size=sum(sizes)), np.concatenate([a.ravel() for a in given])

    def whole(x):
        return np.ravel(own(*(p.reshape(s) for p, s in zip(np.split(x, cuts), drawn, strict=True))))

    weights = rng.normal(size=len(whole(x)))
    along = gs.jacobian_of(lambda s, x: whole(x + s * direction), "s")  # one input: forward
    down = gs.jacobian_of(lambda x: weights @ whole(x), "x")  # one output: backward
    forward = gs.compile(along, None, inputs={"s": (), "x": (len(x),)})(0.0, x)
    backward = gs.compile(down, None, inputs={"x": (len(x),)})(x)
    step = 1e-5
    differences = (whole(x + step * direction) - whole(x - step * direction)) / (2 * step)
    np.testing.assert_allclose(forward, differences, rtol=1e-6, atol=1e-6 * max(1.0, np.abs(differences).max()))
    np.testing.assert_allclose(backward @ direction, weights @ forward, rtol=1e-9, atol=1e-9)


def test_every_function_that_the_page_names_is_there():
    named = set()
    for row in re.findall(r"^\| (`[^|]*`)[^|]*\|", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE):
        named |= {word.split("(")[0] for part in re.findall(r"`([^`]*)`", row) for word in part.split()}
    names = {word for word in named if word.isidentifier()}
    assert {"scan", "clip", "solve", "lstsq", "pinv", "eigh3"} <= names
    assert [name for name in sorted(names) if not hasattr(algebra, name)] == []
