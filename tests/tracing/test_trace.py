"""Recording: what becomes of expressions, what is refused, and how graphs read."""

import math

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import algebra, tracing
from gyrostat.tracing import TraceError
from gyrostat.tracing.expr import Trace
from random_trees import random_spacecraft


@pytest.fixture
def symbols():
    return Trace().inputs("x", (4,))


def test_simplifications(symbols):
    a, b, c, d = symbols
    assert a + b is b + a and a * b is b * a and a - a == 0.0
    assert a + 0 is a and a * 1 is a and a * 0 == 0.0 and a / 1 is a and a - 0 is a
    negative = -a
    assert -negative is a
    assert (a + b) - b is a and (a - b) + b is a and a - (a - b) is b
    assert a + (-b) is a - b and (-a) * (-b) is a * b and a * (-b) is -(a * b) and -(b * 2) is b * -2
    assert b - a is -(a - b)
    assert (a * 2) * 3 is a * 6 and (a + 2) + 3 is a + 5
    assert a / b is a * (1 / b) and (1 / b) * b == 1.0 and a * (b / a) is b and (a * b) / b is a and 1 / (1 / a) is a
    assert algebra.sqrt(a) * algebra.sqrt(a) is a and a**2 is a * a and a**-1 is 1 / a and a**0.5 is algebra.sqrt(a)
    assert algebra.sin(-a) is -algebra.sin(a) and algebra.cos(-a) is algebra.cos(a)
    assert algebra.where(a < b, c, c) is c and ~~(a < b) is (a < b) and ((a < b) & (a < b)) is (a < b)
    assert (a > b) is (b < a) and (a >= b) is (b <= a)
    assert np.float64(2.0) * a is a * 2 and 2 * a is a * np.int64(2)
    assert (np.float64(2.0) >= a) is (a <= 2) and (np.float32(2.0) < a) is (a > 2)
    assert abs(-d) is abs(d) and +a is a and np.vdot([a], [b]) is a * b
    assert (
        np.abs(np.array([a]))[0] is abs(a) and np.sqrt(np.array([a]))[0] is a.sqrt() and np.sin(symbols)[0] is a.sin()
    )


def test_eliminated_rows_vanish(symbols):
    """What articulated inertias rely on: I - U U^T / D has a zero row, structurally."""
    U = symbols
    assert list((np.outer(U, U / U[2]) - np.outer(U, U[:1]) * 0)[2] - U) == [0.0] * 4


def test_constants_fold_as_ieee_has_it(symbols):
    from gyrostat.tracing import rules

    assert rules.recip(0.0) == math.inf and math.isnan(rules.log(-1.0)) and rules.exp(1000.0) == math.inf
    assert rules.atan2(1.0, 1.0) == math.pi / 4 and rules.pow(2.0, 0.5) == math.sqrt(2)


def test_structural_zeros_save_operations():
    """A body-fixed free base: its pose never enters; inputs that no output needs are not read."""
    craft = random_spacecraft(1, links=2, kinds=("revolute",), base="free")
    graph = tracing.trace(gs.forward_dynamics, craft)
    read = {node.data for node in graph if node.op == "input" and graph.inputs[node.data[0]].name == "q"}
    assert read <= {(0, k) for k in range(7, craft.nq)}


def test_graphs_are_lists_of_operations():
    graph = tracing.trace(lambda q, x: {"sum": x[0] + 2 * x[1], "flag": x[0] < q}, None, inputs={"q": (), "x": 2})
    assert [port.name for port in graph.inputs] == ["q", "x"] and [port.name for port in graph.outputs] == [
        "sum",
        "flag",
    ]
    assert graph.counts == {"mul": 1, "add": 1, "lt": 1, "where": 1} and len(graph) == 4
    for k, node in enumerate(graph):
        assert all(a < k for a in node.args)
    text = str(graph)
    assert "x[1] * 2" in text and "x[0] < q" in text and "sum = " in text
    total, flag = graph.evaluate(1.0, [[0.0, 1.0], [2.0, 3.0]])
    assert total.tolist() == [2.0, 8.0] and flag.tolist() == [1.0, 0.0]
    with pytest.raises(TypeError, match="expected"):
        graph.evaluate(1.0)


def test_equal_graphs_have_equal_keys():
    craft = random_spacecraft(3)
    first, second = (tracing.trace(gs.mass_matrix, craft) for _ in range(2))
    other = tracing.trace(gs.mass_matrix, craft.with_values({"base.mass": 1e-3 + craft.value("base.mass")}))
    assert first.key == second.key != other.key


def branches(x):
    return x[0] if x[1] > 0 else x[1]


@pytest.mark.parametrize(
    ("function", "line", "hint"),
    [
        (branches, "if x[1] > 0", "where"),
        (lambda x: math.sin(x[0]), "math.sin(x[0])", "gyrostat.algebra"),
        (lambda x: max(x[0], x[1]), "max(x[0], x[1])", "where"),
        (lambda x: np.arange(3)[x[0]], "np.arange(3)[x[0]]", "gyrostat.algebra"),
        (lambda x: range(int(x[0])), "range(int(x[0]))", "gyrostat.algebra"),
        (lambda x: np.linalg.inv(np.outer(x, x)), "np.linalg.inv(np.outer(x, x))", "solve_spd"),
        (lambda x: np.sin(np.append(x, 1.0)), "np.sin(np.append(x, 1.0))", "gyrostat.algebra"),
        (lambda x: np.isnan(x), "np.isnan(x)", "gyrostat.algebra"),
        (lambda x: (x[0] > 1) * 2, "(x[0] > 1) * 2", ""),
        (lambda x: x[0] + (x[0] > 1), "x[0] + (x[0] > 1)", "where"),
        (lambda x: np.where(x > 0, x, 0), "np.where(x > 0, x, 0)", "where"),
    ],
)
def test_what_cannot_be_recorded_is_refused_by_line(function, line, hint):
    with pytest.raises(TraceError) as caught:
        tracing.trace(function, None, inputs={"x": (2,)})
    assert "test_trace.py, line" in str(caught.value)
    assert line in str(caught.value)
    assert hint in str(caught.value)


def test_errors_of_the_function_itself_pass_through():
    def wrong(x):
        return len(3)

    with pytest.raises(TypeError, match="has no len") as caught:
        tracing.trace(wrong, None, inputs={"x": (2,)})
    assert not isinstance(caught.value, TraceError)


def test_values_of_two_traces_do_not_mix():
    kept = []
    tracing.trace(lambda x: kept.append(x[0]) or x, None, inputs={"x": (2,)})
    with pytest.raises(TraceError, match="two different traces"):
        tracing.trace(lambda x: x + kept[0], None, inputs={"x": (2,)})


def test_arguments_without_a_shape_are_named():
    craft = random_spacecraft(3)

    def law(craft, q, gain, *, limit=1.0):
        return gain * q

    with pytest.raises(TypeError, match=r"argument 'gain' is not known.*inputs=\{'gain': \(n,\)\}"):
        tracing.trace(law, craft)
    with pytest.raises(TypeError, match="no argument gian"):
        tracing.trace(law, craft, inputs={"gian": (1,)})
    assert [p.name for p in tracing.trace(law, craft, inputs={"gain": ()}).inputs] == ["q", "gain"]
    assert [p.name for p in tracing.trace(law, craft, inputs={"gain": (), "limit": ()}).inputs] == [
        "q",
        "gain",
        "limit",
    ]
    assert [p.name for p in tracing.trace(law, craft, static={"gain": 2.0}).inputs] == ["q"]
