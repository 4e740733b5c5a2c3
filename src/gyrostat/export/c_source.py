"""C99 for flight software: one .c and one .h of any traced functions, without allocation, and with no library but
math.h.

Every function reads all its inputs before it writes an output. Arrays are in C order; what stands where, in which unit,
is said in the header. With a test, a second .c holds reference vectors and a main that compares.
"""

from __future__ import annotations

import os
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ..algebra import Array
from ..io.writing import check_writable, write_text
from ..model import Spacecraft
from ..simulation.result.dataset import coordinate_names
from ..tracing.c99 import CFunction, c_function, identifier, number, worded
from ..tracing.graph import Graph, Port

WIDTH = 110
_COMPARED = """
static int compared(const char *what, const REAL found[], const REAL expected[], const unsigned length)
{
    int wrong = 0;
    REAL size = ONE;
    for (unsigned k = 0U; k < length; ++k) {
        size = (FABS(expected[k]) > size) ? FABS(expected[k]) : size;
    }
    for (unsigned k = 0U; k < length; ++k) {
        const int near = FABS(found[k] - expected[k]) <= (TOLERANCE * size);
        const int none = isnan(found[k]) && isnan(expected[k]);
        if ((near == 0) && (none == 0)) {
            (void)printf("%s[%u] is %.17g, expected %.17g\\n", what, k, (double)found[k], (double)expected[k]);
            wrong = 1;
        }
    }
    return wrong;
}
"""
_RATES = {"q": "configuration", "v": "rates", "vdot": "accelerations", "tau": "loads", "dv": "change of the rates"}
_LOADS = {"rad/s": "N m", "m/s": "N"}


@dataclass(frozen=True)
class CFiles:
    """The text of the files, by name, and what is known of the functions.

    stack_bytes: of the local variables of each function: what it takes of the stack at most, where nothing is optimised
    away, beside its arguments and what the C library takes.
    """

    texts: dict[str, str]
    stack_bytes: dict[str, int] = field(default_factory=dict)
    operations: dict[str, int] = field(default_factory=dict)

    def write(self, folder: str | os.PathLike[str] = ".") -> list[Path]:
        """All files, into a folder; what stands there under their names is replaced."""
        paths = [Path(folder) / name for name in self.texts]
        Path(folder).mkdir(parents=True, exist_ok=True)
        check_writable(*paths)
        return [write_text(path, text) for path, text in zip(paths, self.texts.values(), strict=True)]


def c_files(
    functions: Mapping[str, Graph],
    name: str,
    *,
    craft: Spacecraft | None = None,
    dtype: str = "double",
    test: bool = False,
    before: str = "",
    after: Sequence[tuple[str, str]] = (),
) -> CFiles:
    """`name.h` and `name.c` of the functions, by the names that they get in C.

    craft: whose coordinates the header names. dtype: "double" or "float". test: also `name_test.c`, with reference
    vectors and a main that returns 0 where all agree. before: declarations that go before those of the functions;
    after: (declaration, definition) of more functions.
    """
    name = _checked(name)
    written = {own: c_function(graph, _checked(own), dtype) for own, graph in functions.items()}
    texts = {
        f"{name}.h": _header(name, functions, written, craft, dtype, before, after),
        f"{name}.c": _source(name, written, dtype, after),
    }
    if test:
        texts[f"{name}_test.c"] = _test(name, functions, written, dtype)
    return CFiles(
        texts,
        {own: f.locals_bytes for own, f in written.items()},
        {own: f.operations for own, f in written.items()},
    )


def _checked(name: str) -> str:
    if identifier(name) != name:
        raise ValueError(f"'{name}' is no name of a C function. Write '{identifier(name)}', say.")
    return name


def _header(
    name: str,
    graphs: Mapping[str, Graph],
    written: Mapping[str, CFunction],
    craft: Spacecraft | None,
    dtype: str,
    before: str,
    after: Sequence[tuple[str, str]],
) -> str:
    guard = f"{name.upper()}_H"
    whose = f" of {craft.name}" if craft is not None else ""
    lines = [
        _comment([f"{', '.join(written)}{whose}.", *_made(graphs), "", *_what_it_is(dtype)]),
        f"#ifndef {guard}\n#define {guard}\n",
        '#ifdef __cplusplus\nextern "C" {\n#endif\n',
    ]
    if craft is not None:
        lines.append(_comment(_coordinates(craft, graphs)))
    lines += [before] if before else []
    for own, function in written.items():
        lines.append(_comment(_described(own, graphs[own], function)))
        lines.append(f"{function.declaration};\n")
    lines += [f"{declaration};\n" for declaration, _ in after]
    return "\n".join([*lines, "#ifdef __cplusplus\n}\n#endif\n", f"#endif /* {guard} */\n"])


def _made(graphs: Mapping[str, Graph]) -> list[str]:
    from .. import __version__

    keys = "; ".join(f"{own} {graph.key[:16]}" for own, graph in graphs.items())
    return [f"Made by gyrostat {__version__} from the graph {keys}. Not to be edited: make it anew."]


def _what_it_is(dtype: str) -> list[str]:
    return [
        f"C99, {dtype}; no allocation, no recursion, no state of its own; math.h alone.",
        "Arrays are in C order (the last index runs fastest).",
        "All inputs are read before the first output is written: they may be the same arrays.",
    ]


def _coordinates(craft: Spacecraft, graphs: Mapping[str, Graph]) -> list[str]:
    """What stands where in the arrays that belong to the craft."""
    used = {port.path[0] for graph in graphs.values() for port in (*graph.inputs, *graph.outputs) if port.path}
    q, v, q_units, v_units = coordinate_names(craft)
    lines = []
    if "q" in used:
        lines += ["q, configuration:", *_entries(q, q_units)]
    if used & {"v", "vdot", "tau", "dv"} or not lines:
        lines += ["v, rates (and tau, loads; vdot, accelerations, in the same order):"]
        lines += _entries(v, [f"{unit}; load in {_LOADS.get(unit, 'N m')}" for unit in v_units])
    if "wrenches" in used:
        bodies = [body.name for body in craft.bodies]
        lines += ["wrenches, six for each body: torque and force about its origin in its axes, N m and N:"]
        lines += _entries(bodies, [""] * len(bodies))
    return lines


def _entries(names: Sequence[str], units: Sequence[str]) -> list[str]:
    return [
        f"  [{k}] {n}" + (f", {unit}" if unit else "") for k, (n, unit) in enumerate(zip(names, units, strict=True))
    ]


def _described(own: str, graph: Graph, function: CFunction) -> list[str]:
    lines = [
        f"{own}: {graph.name}, {function.operations} operations; at most {function.locals_bytes} bytes of locals.",
    ]
    for what, ports, names in (("in", graph.inputs, function.inputs), ("out", graph.outputs, function.outputs)):
        lines += [f"  {what}  {name}: {_shape(port)}" for port, name in zip(ports, names, strict=True)]
    return lines


def _shape(port: Port) -> str:
    shape = (
        "a number"
        if port.shape == ()
        else " x ".join(map(str, port.shape)) + (" numbers" if len(port.shape) == 1 else " matrix")
    )
    if port.path and port.path[0] == "parameters":
        return f"{shape}, {port.path[1]}"
    return f"{shape}, {_RATES[port.path[0]]}" if port.path and port.path[0] in _RATES else shape


def _source(name: str, written: Mapping[str, CFunction], dtype: str, after: Sequence[tuple[str, str]]) -> str:
    helpers = dict.fromkeys(helper for function in written.values() for helper in function.helpers)
    whole = "\n".join([*helpers, *(text for f in written.values() for text in (*f.inner, f.definition))])
    headers = [
        f"#include <{header}.h>"
        for header, marks in {
            "math": ("",),
            "stdbool": ("bool ",),
            "stddef": ("size_t",),
            "stdint": ("uint64_t",),
        }.items()
        if any(mark in whole for mark in marks)
    ]
    pieces = [f'#include "{name}.h"', "", *headers, ""]
    for helper in helpers:
        pieces += [helper, ""]
    for function in written.values():
        for piece in (*function.inner, *function.tables):
            pieces += [piece, ""]
        pieces += [function.definition, ""]
    for _, definition in after:
        pieces += [definition, ""]
    return "\n".join(pieces)


def _test(name: str, graphs: Mapping[str, Graph], written: Mapping[str, CFunction], dtype: str, count: int = 5) -> str:
    """A main that compares each function with what NumPy makes of its graph, on random numbers."""
    words = {"REAL": dtype, "FABS": "fabs" if dtype == "double" else "fabsf"}
    words |= {"ONE": number(1.0, dtype), "TOLERANCE": "1e-11" if dtype == "double" else "1e-3f"}
    lines = [f'#include "{name}.h"\n', "#include <math.h>\n#include <stdio.h>", worded(_COMPARED, words)]
    lines += ["int main(void)", "{", "    int wrong = 0;"]
    rng = np.random.default_rng(0)
    for own, graph in graphs.items():
        function = written[own]
        for _ in range(count):
            values = [_sample(port, rng, dtype) for port in graph.inputs]
            results = graph.evaluate(*values)
            lines.append("    {")
            arguments = []
            for port, argument, value in zip(graph.inputs, function.inputs, values, strict=True):
                if port.shape == ():
                    arguments.append(number(float(value), dtype))
                else:
                    lines.append(_array(f"const {dtype} {argument}", value, dtype))
                    arguments.append(argument)
            for port, argument, result in zip(graph.outputs, function.outputs, results, strict=True):
                lines.append(f"        {dtype} {argument}[{max(1, port.size)}];")
                lines.append(_array(f"const {dtype} expected_{argument}", result, dtype))
                arguments.append(argument)
            lines.append(f"        {own}({', '.join(arguments)});")
            for port, argument in zip(graph.outputs, function.outputs, strict=True):
                lines.append(
                    f'        wrong |= compared("{own} {argument}", {argument}, expected_{argument}, {port.size}U);'
                )
            lines.append("    }")
    lines += [
        f'    (void)printf("{name}: {count} vectors of each function%s as expected\\n", wrong ? " NOT" : "");',
        "    return wrong;",
        "}",
        "",
    ]
    return "\n".join(lines)


def _sample(port: Port, rng: np.random.Generator, dtype: str) -> Array:
    """Random numbers, as the type holds them; quaternions need not have norm one for the arithmetic to be compared."""
    value = rng.uniform(0.2, 1.0, size=port.shape)
    return np.asarray(value if dtype == "double" else value.astype(np.float32).astype(float))


def _array(what: str, value: Array, dtype: str) -> str:
    numbers = [number(float(x), dtype) for x in np.ravel(value)] or [number(0.0, dtype)]
    return (
        f"        {what}[{len(numbers)}] = {{\n"
        + textwrap.fill(", ".join(numbers), WIDTH, initial_indent=" " * 12, subsequent_indent=" " * 12)
        + "};"
    )


def _comment(lines: Sequence[str]) -> str:
    wrapped = [
        piece
        for line in lines
        for piece in (textwrap.wrap(line, WIDTH, subsequent_indent=" " * (len(line) - len(line.lstrip()))) or [""])
    ]
    text = "\n".join(f" * {line}".rstrip() for line in wrapped)
    for mark in ("*/", "/*"):  # in a name: nothing but these lines ends the comment
        text = text.replace(mark, " ".join(mark))
    return f"/*\n{text}\n */\n"
