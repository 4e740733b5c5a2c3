"""From a graph to C99: one function without branches or allocation, one line per operation; loops are loops.

The text is the graph, operation by operation and in its order: a compiler that neither fuses nor reorders
(`-ffp-contract=off`, no `-ffast-math`) gives the same bits as any other. All inputs are read before the first output is
written, so that arrays may be the same.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from .graph import Graph, Port
from .ops import CONDITIONS
from .scan import Loop

KEYWORDS = (
    " auto break case char const continue default do double else enum extern float for goto if inline int long "
    "register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while bool "
    "true false "
    "sin cos sqrt pow atan2 exp log fabs floor fmod main y0 y1 yn j0 j1 jn gamma "
)
_INFIX = {"add": "{} + {}", "sub": "{} - {}", "mul": "{} * {}", "neg": "-{}", "lt": "{} < {}", "le": "{} <= {}"}
_LOGIC = {"and": "{} && {}", "or": "{} || {}", "not": "!{}", "where": "{} ? {} : {}"}
_LIBRARY = {"sqrt": "sqrt", "pow": "pow", "sin": "sin", "cos": "cos", "atan2": "atan2", "exp": "exp", "log": "log"}
_LIBRARY |= {"abs": "fabs", "floor": "floor"}
# Functions of the file, where an operation needs one; ZERO, ONE, REAL and FMOD are written for the type
HELPERS = {
    "min": """
static REAL gs_min(const REAL a, const REAL b)
{
    return ((a < b) || isnan(a)) ? a : b;
}
""",
    "max": """
static REAL gs_max(const REAL a, const REAL b)
{
    return ((a > b) || isnan(a)) ? a : b;
}
""",
    "sign": """
static REAL gs_sign(const REAL a)
{
    return (a > ZERO) ? ONE : ((a < ZERO) ? -ONE : a);
}
""",
    "mod": """
static REAL gs_mod(const REAL a, const REAL b)
{
    const REAL r = FMOD(a, b);
    return (((r < ZERO) && (b > ZERO)) || ((r > ZERO) && (b < ZERO))) ? (r + b) : r;
}
""",
    "search": """
/* the last entry that is not above x; 0 where there is none */
static REAL gs_search(const REAL x, const REAL table[], const size_t length)
{
    size_t low = 0U;
    size_t high = length;
    while ((high - low) > 1U) {
        const size_t middle = low + ((high - low) / 2U);
        if (table[middle] <= x) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return (REAL)low;
}
""",
    "mix": """
static uint64_t gs_mix(const uint64_t before, const double key)
{
    uint64_t h = before + (UINT64_C(0x9E3779B97F4A7C15) * ((uint64_t)(int64_t)key + UINT64_C(1)));
    h = (h ^ (h >> 27)) * UINT64_C(0x3C79AC492BA7B653);
    h = (h ^ (h >> 33)) * UINT64_C(0x1C69B3F74AC4AE35);
    return h ^ (h >> 27);
}
""",
    "uniform": """
/* a random number in (0, 1) that belongs to four integers */
static REAL gs_uniform(const REAL a, const REAL b, const REAL c, const REAL d)
{
    const uint64_t first = gs_mix(gs_mix(UINT64_C(0), (double)a), (double)b);
    const uint64_t h = gs_mix(gs_mix(first, (double)c), (double)d);
    return (REAL)(((double)(h >> 12) + 0.5) * 2.220446049250313e-16);
}
""",
}
_NEEDS = {"uniform": ("mix", "uniform")}


class CFunction(NamedTuple):
    """A function in C: its declaration (without semicolon), its definition, what it needs before it, and the names of
    its arguments.

    inner: functions and tables of its loops, to stand before it. operations: how many; locals_bytes: of all its local
    variables, which is what a compiler that does not optimise keeps on the stack.
    """

    name: str
    declaration: str
    definition: str
    helpers: tuple[str, ...]
    inner: tuple[str, ...]
    tables: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    operations: int
    locals_bytes: int


def identifier(text: str) -> str:
    """A name that C takes, as near to `text` as can be."""
    name = re.sub(r"\W", "_", text, flags=re.ASCII)
    if not name or name[0].isdigit():
        name = f"_{name}" if name else "result"
    return f"{name}_" if f" {name} " in KEYWORDS else name


def names_of(ports: Sequence[Port], taken: Sequence[str] = ()) -> list[str]:
    """Different names for arguments, in order."""
    found: list[str] = []
    for port in ports:
        plain = name = identifier("_".join(port.path))
        count = 2
        while name in found or name in taken:
            name, count = f"{plain}_{count}", count + 1
        found.append(name)
    return found


def number(x: float, scalar: str = "double") -> str:
    """A constant, exactly."""
    if math.isnan(x):
        return "NAN" if scalar == "float" else "(double)NAN"
    if math.isinf(x):
        sign = "-" if x < 0 else ""
        return f"({sign}INFINITY)" if scalar == "float" else f"({sign}(double)INFINITY)"
    text = repr(float(x))
    if scalar == "float":
        text = f"{np.float32(x)!s}f"
    return f"({text})" if x < 0 else text


def c_function(graph: Graph, name: str, scalar: str = "double") -> CFunction:
    """The function `name(inputs..., outputs...)`: numbers by value, arrays in C order by address."""
    if scalar not in ("double", "float"):
        raise ValueError(f"C code of '{scalar}' is not written. Choose 'double' or 'float'.")
    inputs = names_of(graph.inputs)
    outputs = names_of(graph.outputs, inputs)
    suffix = "f" if scalar == "float" else ""
    words = {"REAL": scalar, "FMOD": f"fmod{suffix}", "ZERO": number(0.0, scalar), "ONE": number(1.0, scalar)}
    helpers: dict[str, None] = {}
    own_helpers: dict[str, None] = {}
    text: list[str] = []
    lines: list[str] = []
    inner: list[str] = []
    extra = 0
    for k, (op, args, data) in enumerate(graph.nodes):
        if op == "const":
            text.append(number(data, scalar))
            continue
        if op == "loop":
            body = c_function(data.body, f"{name}_loop_{k}", scalar)
            inner += [*body.inner, *body.tables, f"static {body.definition}"]
            own_helpers |= dict.fromkeys(body.helpers)
            lines += _loop(body.name, f"x{k}", data, [text[a] for a in args], scalar)
            extra = max(extra, body.locals_bytes)
            text.append(f"x{k}")
            continue
        if op == "result":
            text.append(f"{text[args[0]]}[{data}]")
            continue
        if op == "input":
            which, place = data
            if graph.inputs[which].shape == ():
                text.append(inputs[which])
                continue
            value = f"{inputs[which]}[{place}]"
        else:
            value, needed = _expression(op, [text[a] for a in args], data, name, suffix, graph)
            helpers |= dict.fromkeys(needed)
        kind = "bool" if op in CONDITIONS else scalar
        text.append(f"x{k}")
        lines.append(f"    const {kind} x{k} = {value};")
    size = {"double": 8, "float": 4}[scalar]
    wide = sum(2 * node.data.n + node.data.m for node in graph.nodes if node.op == "loop")
    locals_bytes = size * (len(lines) + wide) + extra
    for which, (port, result) in enumerate(zip(graph.outputs, graph.results, strict=True)):
        lines += [f"    {outputs[which]}[{i}] = {text[k]};" for i, k in enumerate(result)]
        if port.size == 0:
            lines.append(f"    (void){outputs[which]};")
    used = {node.data[0] for node in graph.nodes if node.op == "input"}
    lines = [f"    (void){inputs[k]};" for k in range(len(inputs)) if k not in used] + lines
    declaration = _declaration(name, graph, inputs, outputs, scalar)
    tables = [
        f"static const {scalar} {name}_table_{k}[{len(table)}] = {{\n    "
        + ",\n    ".join(number(float(x), scalar) for x in table)
        + "\n};"
        for k, table in enumerate(graph.tables)
    ]
    return CFunction(
        name,
        declaration,
        "\n".join([declaration, "{", *lines, "}"]),
        tuple(dict.fromkeys([*(worded(HELPERS[helper], words) for helper in helpers), *own_helpers])),
        tuple(inner),
        tuple(tables),
        tuple(inputs),
        tuple(outputs),
        len(graph),
        locals_bytes,
    )


def worded(text: str, words: Mapping[str, str]) -> str:
    """C with other words in place of some."""
    for word, meaning in words.items():
        text = text.replace(word, meaning)
    return text.strip()


def _loop(body: str, carry: str, loop: Loop, args: list[str], scalar: str) -> list[str]:
    """`carry`, after all steps of a loop whose step is the function `body`."""
    captured = args[loop.n :] or [number(0.0, scalar)]
    return [
        f"    {scalar} {carry}[{loop.n}] = {{{', '.join(args[: loop.n])}}};",
        f"    const {scalar} {carry}_seen[{len(captured)}] = {{{', '.join(captured)}}};",
        f"    for (int k = 0; k < {loop.steps}; ++k) {{",
        f"        {scalar} next[{loop.n}];",
        f"        {body}({carry}, ({scalar})k, {carry}_seen, next);",
        f"        for (int i = 0; i < {loop.n}; ++i) {{",
        f"            {carry}[i] = next[i];",
        "        }",
        "    }",
    ]


def _declaration(name: str, graph: Graph, inputs: list[str], outputs: list[str], scalar: str) -> str:
    arguments = [
        f"const {scalar} {argument}" if port.shape == () else f"const {scalar} {argument}[{max(1, port.size)}]"
        for port, argument in zip(graph.inputs, inputs, strict=True)
    ]
    arguments += [
        f"{scalar} {argument}[{max(1, port.size)}]" for port, argument in zip(graph.outputs, outputs, strict=True)
    ]
    return f"void {name}(" + ",\n    ".join(arguments or ["void"]) + ")"


def _expression(
    op: str, args: list[str], data: int | None, name: str, suffix: str, graph: Graph
) -> tuple[str, tuple[str, ...]]:
    """The value of one operation, and the helpers that it needs."""
    scalar = "float" if suffix else "double"
    if op in _INFIX or op in _LOGIC:
        return (_INFIX | _LOGIC)[op].format(*args), ()
    if op == "recip":
        return f"{number(1.0, scalar)} / {args[0]}", ()
    if op in _LIBRARY:
        return f"{_LIBRARY[op]}{suffix}({', '.join(args)})", ()
    if op == "search":
        assert data is not None
        return f"gs_search({args[0]}, {name}_table_{data}, {len(graph.tables[data])}U)", ("search",)
    if op == "lookup":
        return f"{name}_table_{data}[(size_t){args[0]}]", ()
    if op in HELPERS:
        return f"gs_{op}({', '.join(args)})", _NEEDS.get(op, (op,))
    reason = "a gradient through a loop is not written in C" if op == "backward" else f"operation '{op}' has no C code"
    raise NotImplementedError(f"{graph.name}: {reason}.")
