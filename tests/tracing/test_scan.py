"""Loops inside traced functions: the same numbers as Python's own, compiled once whatever their length, with exact
derivatives forward and backward."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algebra import clip, exp, norm, scan, sin, where
from gyrostat.algebra.directional import derivative_along
from gyrostat.tracing import TraceError, jacobian_of, trace
from gyrostat.tracing.scan import mapped


def pendulums(x, c, steps):
    """Two coupled ones, stepped: a state in two parts, what it sees outside, a step's number, a choice, a table."""
    drive = where(c[1] > 0.1, c[1], 0.3 * c[2])

    def step(state, k):
        angle, rate = state
        pull = gs.interp(0.3 * k, [0.0, 1.0, 5.0], [0.0, 1.0, -0.5])
        force = -sin(angle) * c[0] + drive * angle[::-1] + 0.1 * pull + where(angle[0] > 0.2, 0.5, 0.1) * c[3]
        rate = rate + 0.05 * force
        return angle + 0.05 * rate, rate * exp(-0.01 * c[0])

    angle, rate = scan(step, (x[:2], x[2:]), steps)
    return np.concatenate([angle, rate])


def states(seed, count=7):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(count, 4)), rng.normal(size=(count, 4))


SHAPES = {"x": (4,), "c": (4,)}


@pytest.mark.parametrize("steps", [0, 1, 2, 3, 10, 17, 100])
def test_a_loop_gives_what_python_gives(steps):
    f = lambda x, c: pendulums(x, c, steps)
    kernel, X, C = gs.compile(f, None, inputs=SHAPES), *states(1)
    expected = np.array([f(x, c) for x, c in zip(X, C, strict=True)])
    np.testing.assert_allclose(kernel(X, C), expected, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(kernel.graph.evaluate(X, C)[0], expected, rtol=1e-13, atol=1e-13)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(kernel))(X, C), kernel(X, C))
    single = gs.compile(f, None, inputs=SHAPES, dtype=np.float32)
    np.testing.assert_allclose(single(X, C), expected, rtol=0, atol=2e-5 * np.abs(expected).max())


@pytest.mark.parametrize("steps", [1, 2, 3, 10, 17, 100])
def test_derivatives_forward_and_backward_as_dual_numbers(steps):
    f = lambda x, c: pendulums(x, c, steps)
    X, C = states(2, 3)
    weights = np.array([1.0, -0.5, 0.3, 2.0])
    by_x, by_c = gs.compile(jacobian_of(f, ("x", "c")), None, inputs=SHAPES)(X, C)
    forward = gs.compile(jacobian_of(f, "x"), None, inputs=SHAPES)
    assert "backward" not in forward.graph.counts
    back = gs.compile(jacobian_of(lambda x, c: weights @ f(x, c), ("x", "c")), None, inputs=SHAPES)
    assert "backward" in back.graph.counts
    for k, (x, c) in enumerate(zip(X, C, strict=True)):
        expected = [
            np.stack([np.asarray(derivative_along(g, at, e), dtype=float) for e in np.eye(4)], axis=-1)
            for g, at in ((lambda x, c=c: f(x, c), x), (lambda c, x=x: f(x, c), c))
        ]
        for found, wanted in zip((by_x[k], by_c[k]), expected, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12 * np.abs(wanted).max())
        np.testing.assert_allclose(forward(X, C)[k], expected[0], rtol=1e-12, atol=1e-12 * np.abs(expected[0]).max())
        for found, wanted in zip(back(X, C), expected, strict=True):
            pulled = weights @ wanted
            np.testing.assert_allclose(found[k], pulled, rtol=1e-12, atol=1e-12 * np.abs(pulled).max())
    np.testing.assert_allclose(np.array(back.graph.evaluate(X, C)), np.array(back(X, C)), rtol=1e-12, atol=1e-12)


def test_second_derivatives_forward_are_exact_and_those_of_a_backward_loop_are_refused():
    f = lambda x, c: pendulums(x, c, 6)
    twice = gs.compile(jacobian_of(jacobian_of(f, "x"), "c"), None, inputs=SHAPES)
    X, C = states(3, 2)

    def slope(x, c):
        columns = [np.asarray(derivative_along(lambda y: f(y, c), x, e), dtype=float) for e in np.eye(4)]
        return np.stack(columns, axis=-1)

    step = 1e-5
    for k, (x, c) in enumerate(zip(X, C, strict=True)):
        rows = [(slope(x, c + step * e) - slope(x, c - step * e)) / (2 * step) for e in np.eye(4)]
        np.testing.assert_allclose(twice(X, C)[k], np.stack(rows, axis=-1), atol=1e-8)
    with pytest.raises(TraceError, match="differentiated backward, and then once more"):
        gs.compile(jacobian_of(jacobian_of(lambda x, c: f(x, c)[0], "c"), "x"), None, inputs=SHAPES)


def test_loops_within_loops():
    def f(x, c):
        inner = lambda y, j: y + 0.1 * sin(y * c[0] + j)
        return scan(lambda y, k: 0.9 * scan(inner, y, 3) + 0.01 * k * c[1], x, 5)

    X, C = states(4)
    np.testing.assert_allclose(
        gs.compile(f, None, inputs=SHAPES)(X, C), [f(x, c) for x, c in zip(X, C, strict=True)], rtol=1e-13
    )
    by_c = gs.compile(jacobian_of(f, "c"), None, inputs=SHAPES)(X, C)
    back = gs.compile(jacobian_of(lambda x, c: f(x, c)[1], "c"), None, inputs=SHAPES)(X, C)
    expected = np.stack(
        [np.asarray(derivative_along(lambda c: f(X[2], c), C[2], e), dtype=float) for e in np.eye(4)], axis=-1
    )
    np.testing.assert_allclose(by_c[2], expected, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(back[2], expected[1], rtol=1e-12, atol=1e-13)


def test_the_code_does_not_grow_with_the_number_of_steps():
    lengths = {len(trace(lambda x, c, n=n: pendulums(x, c, n), None, inputs=SHAPES).nodes) for n in (3, 30, 3000)}
    assert len(lengths) == 1


def test_what_starts_as_numbers_and_becomes_traced_on_the_way():
    f = lambda x: scan(lambda y, k: y + x[0] * (k + 1.0), 0.0, 4)
    assert gs.compile(f, None, inputs={"x": (1,)})(np.array([2.0])) == 2.0 * 10.0
    assert scan(lambda y, k: y + k, 0.0, 5) == 10.0
    assert isinstance(scan(lambda y, k: y * 2.0, 1.0, 5), float)


def test_a_law_that_iterates_is_compiled_and_its_run_can_be_differentiated():
    """A filter of the rates, swept several times, inside the time loop."""
    craft = gs.load("servicer")

    def law(craft, t, q, v, gain):
        smooth = scan(lambda y, k: y + 0.3 * (v[6:] - y) / (1.0 + norm(y)), 0.0 * v[6:], 8)
        return np.concatenate([np.zeros(6), -gain * clip(smooth, -5.0, 5.0)])

    v0 = np.linspace(-0.3, 0.4, craft.nv)
    run = lambda gain, **more: gs.simulate(
        craft, None, v0, (0.0, 1.0), control=law, inputs={"gain": gain}, save_at=[1.0], rtol=1e-12, **more
    )
    traj = run(2.0, sensitivities=["input:gain"])
    by_hand = (run(2.0 + 1e-4).v[-1] - run(2.0 - 1e-4).v[-1]) / 2e-4
    np.testing.assert_allclose(traj.sensitivity("v", "input:gain")[-1], by_hand, atol=1e-7 * np.abs(by_hand).max())


def test_wrong_loops_are_refused_with_the_users_line():
    with pytest.raises(TypeError, match="steps is 2.5"):
        scan(lambda x, k: x, 0.0, 2.5)
    with pytest.raises(TraceError, match=r"(?s)returns \[\(3,\)\]; it was given \[\(4,\)\].*test_scan.py"):
        trace(lambda x: scan(lambda y, k: y[:3], x, 5), None, inputs={"x": (4,)})
    with pytest.raises(TypeError, match="steps is x"):
        trace(lambda x: scan(lambda y, k: y, x, x[0]), None, inputs={"x": (4,)})


def test_the_same_of_every_column_is_one_piece_of_code_and_has_no_derivative():
    """`mapped`, which the variational equations use: matrices that are computed once, and a choice by the outside."""

    def f(x, c):
        symbols = list(x[0].trace.inputs("column", (4,)))
        weights = [where(c[0] > 0.0, c[i] * c[j], sin(c[i])) for i in range(3) for j in range(4)]
        outputs = [sum(weights[4 * i + j] * symbols[j] for j in range(4)) for i in range(3)]
        columns = np.array([[x[(i + j) % 4] * (j + 1.0) for j in range(5)] for i in range(4)], dtype=object)
        return mapped(outputs, symbols, columns)

    def plain(x, c):
        W = np.array([[c[i] * c[j] if c[0] > 0.0 else np.sin(c[i]) for j in range(4)] for i in range(3)])
        return W @ np.array([[x[(i + j) % 4] * (j + 1.0) for j in range(5)] for i in range(4)])

    X, C = states(6)
    kernel = gs.compile(f, None, inputs=SHAPES)
    assert kernel.graph.counts["map"] == 1
    expected = np.array([plain(x, c) for x, c in zip(X, C, strict=True)])
    np.testing.assert_allclose(kernel(X, C), expected, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(kernel.graph.evaluate(X, C)[0], expected, rtol=1e-13, atol=1e-13)
    for by in ("x", "c"):
        with pytest.raises(TraceError, match="once more"):
            gs.compile(jacobian_of(f, by), None, inputs=SHAPES)
