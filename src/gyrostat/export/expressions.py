"""Functions of a spacecraft as SymPy expressions: common subexpressions named, numbers exact."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..algebra import Array
from ..model import Spacecraft
from ..tracing.graph import Graph, Port
from ..tracing.recording import trace
from ..tracing.walk import ARITHMETIC, require_short, walk
from .extras import demand

MOST_ENTRIES = 64  # of a table: each is a case
_CHEAP = {"neg", "lt", "le", "and", "or", "not"}  # not worth a name


@dataclass(frozen=True, eq=False)
class Symbolic:
    """Expressions in named symbols.

    inputs: symbols by the argument's name, nested lists of its shape. meanings: what each symbol is, by its name, with
    its unit.
    subexpressions: (symbol, expression) in the order in which they can be computed. outputs: expressions by name, as
    the function returns them: a SymPy expression, Matrix or Array. Numbers are exact: the float that was given, not its
    decimals.
    """

    name: str
    inputs: dict[str, Any]
    meanings: dict[str, tuple[str, str]]
    subexpressions: list[tuple[Any, Any]]
    outputs: dict[str, Any]

    def expanded(self, name: str = "") -> Any:
        """An output without named subexpressions. It may be very long."""
        sympy = demand("sympy", "sympy", "SymPy")
        known: dict[Any, Any] = {}
        for symbol, expression in self.subexpressions:
            known[symbol] = expression.xreplace(known)
        value = self.outputs[name or next(iter(self.outputs))]
        return (
            value.applyfunc(lambda e: sympy.sympify(e).xreplace(known))
            if hasattr(value, "applyfunc")
            else value.xreplace(known)
        )

    def evaluate(self, digits: int = 50, **values: Any) -> dict[str, Any]:
        """The outputs for numbers, to so many digits: mpmath numbers in nested lists. values: by argument name."""
        sympy = demand("sympy", "sympy", "SymPy")
        mpmath = demand("mpmath", "sympy", "mpmath")
        symbols: list[Any] = []
        numbers: list[Any] = []
        for argument, names in self.inputs.items():
            symbols += list(_flat(names))
            numbers += list(_flat(values[argument]))
        with mpmath.workdps(digits + 10):
            known = dict(zip(symbols, map(mpmath.mpmathify, numbers), strict=True))
            for symbol, expression in self.subexpressions:
                known[symbol] = _number(sympy, expression, known)
            return {
                name: _nested([_number(sympy, e, known) for e in _entries(value)], _shape_of(value))
                for name, value in self.outputs.items()
            }

    def latex(self, digits: int = 6) -> str:
        """All of it as LaTeX: the subexpressions, then the outputs, one equation each. Numbers are rounded to so
        many digits."""
        sympy = demand("sympy", "sympy", "SymPy")
        lines = [
            f"{sympy.latex(symbol)} &= {sympy.latex(rounded(e, digits))} \\\\" for symbol, e in self.subexpressions
        ]
        lines += [f"{_latex_name(name)} &= {sympy.latex(rounded(e, digits))} \\\\" for name, e in self.outputs.items()]
        return "\\begin{align*}\n" + "\n".join(lines) + "\n\\end{align*}\n"


def symbolic(
    function: Callable[..., Any],
    craft: Spacecraft | None,
    *,
    inputs: Mapping[str, Any] | None = None,
    static: Mapping[str, Any] | None = None,
    parameters: Sequence[str] = (),
) -> Symbolic:
    """The expressions that `function(craft, ...)` computes; arguments as for `gs.compile`.

    Symbols: theta_k and d_k for the coordinates of hinges and sliders, q for other coordinates, omega and v for rates,
    tau for loads, m, c and I for parameters. Values used more than once are named x_1, x_2, ... once; sines and cosines
    of hinges s_k and c_k.
    """
    return of_graph(trace(function, craft, inputs=inputs, static=static, parameters=parameters), craft)


def of_graph(graph: Graph, craft: Spacecraft | None = None) -> Symbolic:
    sympy = demand("sympy", "sympy", "SymPy")
    meanings: dict[str, tuple[str, str]] = {}
    symbols = [_symbols(sympy, port, craft, meanings) for port in graph.inputs]
    first = next(x for x in "xyuwabgkn" if not any(name.startswith(f"{x}_") for name in meanings))
    naming = _Naming(sympy, graph, first)
    results = walk(graph, symbols, naming.operations, naming.constant, "SymPy", loops=False)
    outputs = {
        port.name or graph.name: _assembled(sympy, result, port)
        for result, port in zip(results, graph.outputs, strict=True)
    }
    arguments = {port.name: _nested(own, port.shape) for port, own in zip(graph.inputs, symbols, strict=True)}
    return Symbolic(graph.name, arguments, meanings, naming.named, outputs)


class _Naming:
    """Operations on expressions that give a name to whatever is used more than once."""

    def __init__(self, sympy: Any, graph: Graph, letter: str) -> None:
        self._sympy, self._letter = sympy, letter
        uses = Counter(a for node in graph.nodes for a in node.args)
        uses.update(k for result in graph.results for k in set(result))
        self._often = [uses[k] > 1 for k, node in enumerate(graph.nodes) if node.op not in ("input", "const")]
        self._place = -1
        self._count = 0
        self.named: list[tuple[Any, Any]] = []
        self._taken: set[str] = set()
        self.operations = {op: self._noting(op, f) for op, f in _operations(sympy).items()}

    def constant(self, x: float) -> Any:
        """The float itself, exactly; small fractions as such."""
        if not np.isfinite(x):
            return self._sympy.nan if np.isnan(x) else self._sympy.oo * int(np.sign(x))
        top, bottom = float(x).as_integer_ratio()
        return self._sympy.Rational(top, bottom) if bottom <= 64 else self._sympy.Float(x, 60)

    def _noting(self, op: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*args: Any) -> Any:
            self._place += 1
            value = function(*args)
            if not self._often[self._place] or op in _CHEAP or value.is_Atom or (-value).is_Atom:
                return value
            symbol = self._sympy.Symbol(self._name(op, args), real=True)
            self.named.append((symbol, value))
            return symbol

        return noted

    def _name(self, op: str, args: tuple[Any, ...]) -> str:
        angle = str(args[0])
        if op in ("sin", "cos") and angle.startswith("theta_") and angle.count("_") == 1:
            name = f"{op[0]}_{angle.removeprefix('theta_')}"
            if name not in self._taken:
                self._taken.add(name)
                return name
        self._count += 1
        return f"{self._letter}_{self._count}"


def _operations(sympy: Any) -> dict[str, Callable[..., Any]]:
    def search(x: Any, table: Array) -> Any:
        require_short(table, MOST_ENTRIES, "SymPy")
        cases = [(sympy.Integer(k), x >= sympy.Float(float(table[k]), 60)) for k in range(len(table) - 1, 0, -1)]
        return sympy.Piecewise(*cases, (sympy.Integer(0), True))

    def lookup(i: Any, table: Array) -> Any:
        require_short(table, MOST_ENTRIES, "SymPy")
        cases = [(sympy.Float(float(entry), 60), sympy.Eq(i, k)) for k, entry in enumerate(table[:-1])]
        return sympy.Piecewise(*cases, (sympy.Float(float(table[-1]), 60), True))

    return ARITHMETIC | {
        "sqrt": sympy.sqrt,
        "sin": sympy.sin,
        "cos": sympy.cos,
        "atan2": sympy.atan2,
        "exp": sympy.exp,
        "log": sympy.log,
        "abs": sympy.Abs,
        "min": sympy.Min,
        "max": sympy.Max,
        "sign": sympy.sign,
        "floor": sympy.floor,
        "mod": lambda a, b: a - sympy.floor(a / b) * b,
        "where": lambda c, a, b: sympy.Piecewise((a, c), (b, True)),
        "and": sympy.And,
        "or": sympy.Or,
        "not": sympy.Not,
        "search": search,
        "lookup": lookup,
    }


def _symbols(sympy: Any, port: Port, craft: Spacecraft | None, meanings: dict[str, tuple[str, str]]) -> list[Any]:
    names = _coordinates(port, craft) if craft is not None else None
    if names is None:
        plain = "_".join(part.replace(".", " ").replace(" ", "") for part in port.path) or "x"
        indices = list(np.ndindex(*port.shape)) if port.shape else [()]
        names = [(plain + "".join(f"_{i + 1}" for i in index), port.name, "") for index in indices]
    for name, meaning, unit in names:
        meanings[name] = (meaning, unit)
    return [sympy.Symbol(name, real=True) for name, _, _ in names]


_LOADS = {"rad/s": "N m", "m/s": "N"}


def _coordinates(port: Port, craft: Spacecraft) -> list[tuple[str, str, str]] | None:
    """(symbol, meaning, unit) of each component of q, v, vdot, tau and of parameters; None for what the craft does
    not name."""
    which = port.path[0] if port.path else ""
    if which == "parameters":
        return _parameter(port)
    if which not in ("q", "v", "vdot", "dv", "tau") or port.shape != ((craft.nq,) if which == "q" else (craft.nv,)):
        return None
    found = []
    count = 0
    for joint in craft.joints:
        kind = joint.motion
        count += kind.single
        labels, units = (kind.q_labels, kind.q_units) if which == "q" else (kind.v_labels, kind.v_units)
        for label, unit in zip(labels, units, strict=True):
            letter, index = _letter(label or ("angle" if kind.hinge else "displacement"), which)
            index = str(count) if kind.single else index
            found.append((letter, index, joint.name.replace("_", ""), *_meaning(which, joint.name, label, unit)))
    often = Counter((letter, index) for letter, index, *_ in found)
    return [
        ("_".join(filter(None, (letter, index, joint if often[letter, index] > 1 or not index else ""))), meaning, unit)
        for letter, index, joint, meaning, unit in found
    ]


# (letters for q, v, vdot, dv, tau) by what a coordinate is
_LETTERS = {
    "angle": ("theta", "thetadot", "thetaddot", "deltatheta", "tau"),
    "displacement": ("d", "ddot", "dddot", "deltad", "f"),
    "rotation": ("q", "omega", "alpha", "deltaphi", "tau"),
    "position": ("r", "v", "a", "deltar", "f"),
}


def _letter(label: str, which: str) -> tuple[str, str]:
    """The letter of a coordinate, by its label, and its index: an axis or a number, if any."""
    word, _, number = label.partition(" ")
    what = {"rate": "angle", "speed": "displacement"}.get(word, word)
    index = number
    if what not in _LETTERS:  # qw, qx, wx: of a rotation; x, vx: of a position
        what, index = ("rotation" if word[0] in "qw" else "position"), word[-1]
    return _LETTERS[what][("q", "v", "vdot", "dv", "tau").index(which)], index


def _meaning(which: str, joint: str, label: str, unit: str) -> tuple[str, str]:
    of = f"{joint} {label}".strip()
    if which == "tau":
        return f"load along {of}", _LOADS.get(unit, unit)
    if which == "vdot":
        return f"acceleration of {of}", f"{unit}^2"
    return (f"change along {of}", "") if which == "dv" else (of if which == "q" or label else f"rate of {of}", unit)


def _parameter(port: Port) -> list[tuple[str, str, str]]:
    body, _, value = port.path[1].rpartition(".")
    letter, unit = {"mass": ("m", "kg"), "com": ("c", "m"), "inertia": ("I", "kg m^2")}.get(value, (value, ""))
    indices = list(np.ndindex(*port.shape)) if port.shape else [()]
    plain = body.replace("_", "").replace(".", "")
    return [(f"{letter}_{plain}" + "".join(str(i + 1) for i in index), f"{value} of {body}", unit) for index in indices]


def _assembled(sympy: Any, values: list[Any], port: Port) -> Any:
    if port.shape == ():
        return sympy.sympify(values[0])
    if len(port.shape) <= 2:
        return sympy.Matrix(*(port.shape if len(port.shape) == 2 else (port.shape[0], 1)), values)
    return sympy.Array(values, port.shape)


def _entries(value: Any) -> list[Any]:
    return (
        list(value)
        if hasattr(value, "shape") and not hasattr(value, "is_Atom") or hasattr(value, "tolist")
        else [value]
    )


def _shape_of(value: Any) -> tuple[int, ...]:
    shape = tuple(getattr(value, "shape", ()))
    return shape[:1] if len(shape) == 2 and shape[1] == 1 else shape


def _number(sympy: Any, expression: Any, known: Mapping[Any, Any]) -> Any:
    expression = sympy.sympify(expression)
    free = [s for s in known if s in expression.free_symbols]
    return sympy.lambdify(free, expression, modules="mpmath")(*(known[s] for s in free))


def _flat(values: Any) -> Any:
    if isinstance(values, (list, tuple, np.ndarray)):
        for value in values:
            yield from _flat(value)
    else:
        yield values


def _nested(values: Sequence[Any], shape: tuple[int, ...]) -> Any:
    if shape == ():
        return values[0]
    step = len(values) // shape[0] if shape[0] else 0
    return [_nested(values[k * step : (k + 1) * step], shape[1:]) for k in range(shape[0])]


def rounded(expression: Any, digits: int) -> Any:
    """With numbers to so many digits, for people."""
    sympy = demand("sympy", "sympy", "SymPy")

    def shorter(e: Any) -> Any:
        e = sympy.sympify(e)
        return e.xreplace({f: sympy.Float(f, digits) for f in e.atoms(sympy.Float)})

    return expression.applyfunc(shorter) if hasattr(expression, "applyfunc") else shorter(expression)


def _latex_name(name: str) -> str:
    return "\\mathrm{" + name.replace("_", "\\_").replace("/", ".") + "}"
