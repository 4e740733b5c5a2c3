"""Exact derivatives of recorded values, forward or reverse, as recorded values again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..algebra.elementary import Array
from . import rules
from .rules import add, cos, div, log, lt, mul, neg, recip, sin, sub, where
from .scan import MULTIPLE, again, backward, refuse_twice, tangent_loop
from .tables import Table, table_rule

# op -> the partial derivatives of x = op(a, b, ...) by its numeric arguments; 0.0 where it does not depend on one
# not here: sign, floor, search, lookup, uniform and conditions, constant wherever they have a derivative
_PARTIALS: dict[str, Callable[..., tuple[Any, ...]]] = {
    "add": lambda x, a, b: (1.0, 1.0),
    "sub": lambda x, a, b: (1.0, -1.0),
    "mul": lambda x, a, b: (b, a),
    "neg": lambda x, a: (-1.0,),
    "recip": lambda x, a: (neg(mul(x, x)),),
    "sqrt": lambda x, a: (mul(0.5, recip(x)),),
    "pow": lambda x, a, b: (mul(b, rules.pow(a, sub(b, 1.0))), mul(log(a), x) if type(b) is not float else 0.0),
    "sin": lambda x, a: (cos(a),),
    "cos": lambda x, a: (neg(sin(a)),),
    "atan2": lambda x, a, b: _of_angle(a, b),
    "exp": lambda x, a: (x,),
    "log": lambda x, a: (recip(a),),
    "abs": lambda x, a: (rules.sign(a),),
    "min": lambda x, a, b: (where(lt(b, a), 0.0, 1.0), where(lt(b, a), 1.0, 0.0)),
    "max": lambda x, a, b: (where(lt(a, b), 0.0, 1.0), where(lt(a, b), 1.0, 0.0)),
    "mod": lambda x, a, b: (1.0, neg(rules.floor(div(a, b)))),
    "where": lambda x, c, a, b: (0.0, where(c, 1.0, 0.0), where(c, 0.0, 1.0)),
}


def _of_angle(y: Any, x: Any) -> tuple[Any, Any]:
    inverse = recip(add(mul(x, x), mul(y, y)))
    return mul(x, inverse), neg(mul(y, inverse))


def pullback(outputs: Sequence[Any], inputs: Sequence[Any], adjoints: Sequence[Any]) -> list[Any]:
    """d (adjoints . outputs) / d inputs."""
    found = _pulled(_weighted(outputs, adjoints), needed(outputs, inputs))
    return [found.get(x.index, 0.0) for x in inputs]


def _weighted(outputs: Sequence[Any], adjoints: Sequence[Any]) -> dict[int, Any]:
    total: dict[int, Any] = {}
    for y, a in zip(outputs, adjoints, strict=True):
        if type(y) is not float:
            total[y.index] = add(total.get(y.index, 0.0), a)
    return total


def _partials(node: Any) -> tuple[Any, ...]:
    return _PARTIALS[node.op](node, *node.args) if node.op in _PARTIALS else (0.0,) * len(node.args)


def needed(outputs: Sequence[Any], inputs: Sequence[Any]) -> list[Any]:
    """The nodes on the way from `inputs` to `outputs`, in the order in which they were made."""
    reached: dict[int, Any] = {}
    stack = [y for y in outputs if type(y) is not float]
    while stack:
        node = stack.pop()
        if node.index not in reached:
            reached[node.index] = node
            stack.extend(a for a in node.args if type(a) is not float)
    depends = {x.index for x in inputs}
    way = []
    for index in sorted(reached):
        node = reached[index]
        if index in depends or any(type(a) is not float and a.index in depends for a in node.args):
            depends.add(index)
            way.append(node)
    return way


def jacobian(outputs: Sequence[Any], inputs: Sequence[Any]) -> Array:
    """d outputs / d inputs: object array (len(outputs), len(inputs)) of Exprs and floats, zeros kept.

    outputs: Exprs and floats; inputs: distinct input symbols of their trace.
    Forward if there are no more inputs than outputs.
    """
    columns = _forward if len(inputs) <= len(outputs) else _reverse
    J = np.full((len(outputs), len(inputs)), 0.0, dtype=object)
    columns(J, outputs, inputs, needed(outputs, inputs))
    return J


def pushforward(outputs: Sequence[Any], inputs: Sequence[Any], directions: Array) -> Array:
    """What outputs change by when inputs change by each column of `directions` (len(inputs), k): (len(outputs), k).

    Tangents are carried along where that is shorter; for many columns the Jacobian is formed once, and multiplied.
    """
    moved = [i for i in range(len(inputs)) if any(not _is_zero(e) for e in directions[i])]
    columns, symbols = directions.shape[1], [inputs[i] for i in moved]
    if columns > min(len(outputs), len(moved)):
        return multiplied(jacobian(outputs, symbols), directions[moved])
    seeds = [{k: e for k, e in enumerate(directions[i]) if not _is_zero(e)} for i in moved]
    J = np.full((len(outputs), columns), 0.0, dtype=object)
    _carry(J, outputs, dict(zip([x.index for x in symbols], seeds, strict=True)), needed(outputs, symbols))
    return J


def multiplied(A: Array, B: Array) -> Array:
    """A B of numbers and Exprs, where most of A may be zero."""
    A, B = (np.asarray(part, dtype=object) for part in (A, B))  # Python's floats, which the rules know
    C = np.full((A.shape[0], B.shape[1]), 0.0, dtype=object)
    for i, row in enumerate(A):
        for j, a in enumerate(row):
            if not _is_zero(a):
                C[i] = [add(c, mul(a, b)) for c, b in zip(C[i], B[j], strict=True)]
    return C


def _is_zero(e: Any) -> bool:
    return type(e) is float and e == 0.0


def _forward(J: Array, outputs: Sequence[Any], inputs: Sequence[Any], way: list[Any]) -> None:
    _carry(J, outputs, {x.index: {k: 1.0} for k, x in enumerate(inputs)}, way)


def _carry(J: Array, outputs: Sequence[Any], seeds: dict[int, dict[int, Any]], way: list[Any]) -> None:
    """Each node's tangents, a sparse row {column: derivative}, from those of its arguments."""
    tangents = dict(seeds)
    for node in way:
        if node.index in tangents:
            continue
        if node.op in ("loop", "result"):
            tangents[node.index] = _of_loop(node, tangents)
            continue
        if node.op in MULTIPLE:
            raise refuse_twice()
        if node.op == "where":  # selects between tangents: infinite ones that are not selected do no harm
            tangents[node.index] = _selected(node, tangents)
            continue
        row: dict[int, Any] = {}
        for arg, partial in zip(node.args, _partials(node), strict=True):
            if type(arg) is not float:
                for k, tangent in tangents.get(arg.index, {}).items():
                    row[k] = add(row.get(k, 0.0), mul(partial, tangent))
        tangents[node.index] = row
    for i, y in enumerate(outputs):
        if type(y) is not float:
            for k, tangent in tangents.get(y.index, {}).items():
                J[i, k] = tangent


def _of_loop(node: Any, tangents: dict[int, dict[int, Any]]) -> dict[int, Any]:
    """The tangents of one of its values; those of a loop itself are rows of them all, by column."""
    if node.op == "result":
        return {k: rows[node.data] for k, rows in tangents[node.args[0].index].items()}
    rows = [{} if type(a) is float else tangents.get(a.index, {}) for a in node.args]
    columns = sorted({k for row in rows for k in row})
    if not columns:
        return {}
    directions = np.array([[row.get(k, 0.0) for k in columns] for row in rows], dtype=object)
    found = tangent_loop(node, directions)
    return {k: [row[j] for row in found] for j, k in enumerate(columns)}


def _selected(node: Any, tangents: dict[int, dict[int, Any]]) -> dict[int, Any]:
    condition, a, b = node.args
    rows = [tangents.get(e.index, {}) if type(e) is not float else {} for e in (a, b)]
    return {k: where(condition, rows[0].get(k, 0.0), rows[1].get(k, 0.0)) for k in {**rows[0], **rows[1]}}


def _reverse(J: Array, outputs: Sequence[Any], inputs: Sequence[Any], way: list[Any]) -> None:
    """Each output's adjoints in turn."""
    for i, y in enumerate(outputs):
        if type(y) is not float:
            adjoints = _pulled({y.index: 1.0}, way)
            for k, x in enumerate(inputs):
                J[i, k] = adjoints.get(x.index, 0.0)


def _pulled(adjoints: dict[int, Any], way: list[Any]) -> dict[int, Any]:
    """Adjoints of all nodes, from the last to the first."""
    of_values: dict[int, dict[int, Any]] = {}  # of loops
    for node in reversed(way):
        if node.op in MULTIPLE:
            if node.index in of_values:
                if node.op != "loop":
                    raise refuse_twice()
                _share(adjoints, zip(node.args, backward(node, of_values[node.index]), strict=True))
            continue
        adjoint = adjoints.get(node.index, 0.0)
        if _is_zero(adjoint):
            continue
        if node.op == "result":
            of_values.setdefault(node.args[0].index, {})[node.data] = adjoint
        elif node.op == "where":
            condition, a, b = node.args
            _share(adjoints, [(a, where(condition, adjoint, 0.0)), (b, where(condition, 0.0, adjoint))])
        else:
            _share(adjoints, [(a, mul(p, adjoint)) for a, p in zip(node.args, _partials(node), strict=True)])
    return adjoints


def _share(adjoints: dict[int, Any], shares: Iterable[tuple[Any, Any]]) -> None:
    for arg, share in shares:
        if type(arg) is not float:
            adjoints[arg.index] = add(adjoints.get(arg.index, 0.0), share)


def substitute(values: Sequence[Any], replacements: dict[Any, Any]) -> list[Any]:
    """The values with symbols replaced by Exprs of the same trace or by floats; everything is simplified anew."""
    done: dict[int, Any] = {symbol.index: value for symbol, value in replacements.items()}

    def new(x: Any) -> Any:
        return x if type(x) is float else done[x.index]

    reached: dict[int, Any] = {}
    stack = [v for v in values if type(v) is not float]
    while stack:
        node = stack.pop()
        if node.index not in reached:
            reached[node.index] = node
            if node.index not in done:
                stack.extend(a for a in node.args if type(a) is not float)
    for index in sorted(reached):
        node = reached[index]
        if index in done:
            continue
        if all(type(a) is float or done[a.index] is a for a in node.args):
            done[index] = node
        elif isinstance(node.data, Table):
            done[index] = table_rule(node.op, new(node.args[0]), node.data)
        else:
            done[index] = again(node.trace, node.op, [new(a) for a in node.args], node.data)
    return [new(v) for v in values]
