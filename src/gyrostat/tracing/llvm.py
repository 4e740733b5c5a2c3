"""From a graph to LLVM assembly: one instruction per node on vectors of W lanes, each lane one member of the batch.

The module has three functions. A "lane block" of an array with k components is k vectors, one after the other.

    block(inputs..., outputs..., scratch)                the graph, for one lane block of each input and output
    lanes(record)                                        blocks first, ..., last - 1 of arrays laid out by lane
    rows(record)                                         the same for `count` rows as users hold them

`record` holds 64-bit integers: the address of work memory, first, last, count; then for each input and output its
address and its stride in bytes (from one lane block, or row, to the next; zero to broadcast).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from .drivers import driver, dump_place
from .functions import FUNCTIONS, define, sincos
from .graph import Graph
from .ir import Code, block_names
from .llvm_loops import loop_function, result_place
from .ops import CONDITIONS
from .scan import MULTIPLE
from .schedule import Part, parts

_INSTRUCTIONS = {"add": "fadd", "sub": "fsub", "mul": "fmul"}
_INTRINSICS = {"sqrt": "sqrt", "abs": "fabs", "min": "minimum", "max": "maximum", "floor": "floor"}
_CALLS = {
    "exp": "gs_exp",
    "log": "gs_log",
    "atan2": "gs_atan2",
    "pow": "gs_pow",
    "mod": "gs_mod",
    "uniform": "gs_uniform",
}


class Assembly(NamedTuple):
    """LLVM assembly of a module, and the vectors of scratch memory that its functions need."""

    text: str
    work: int


def assembly(graph: Graph, lanes: int, scalar: str = "double", *, loops: bool = True) -> Assembly:
    """The module of `graph` for vectors of `lanes` numbers; without `loops`, the function `block` alone."""
    bodies, tables, scratch = block_functions(graph, lanes, scalar)
    work = scratch
    if loops:
        bodies += [driver(graph, lanes, scalar, rows=rows, scratch=scratch) for rows in (False, True)]
        work = dump_place(graph, scratch) + max((-(-port.size // lanes) for port in graph.outputs), default=0)
    return Assembly(
        "\n".join([*tables, *_linked(bodies, lanes), '!0 = !{!"branch_weights", i32 1, i32 100000}\n']),
        work,
    )


def _linked(bodies: list[Code], lanes: int) -> list[str]:
    """All functions, with the library functions and declarations that they need."""
    text: dict[str, None] = {}
    needs = [need for code in bodies for need in code.needs]
    defined: set[str] = set()
    for need in needs:  # grows while it is walked
        if need not in FUNCTIONS:
            text[need] = None
        elif need not in defined:
            defined.add(need)
            code = define(need, lanes)
            needs.extend(code.needs)
            text["\n".join(code.lines)] = None
    return [*text, *("\n".join(code.lines) for code in bodies)]


def block_functions(graph: Graph, lanes: int, scalar: str, prefix: str = "") -> tuple[list[Code], list[str], int]:
    """The functions of a graph, `{prefix}block` among them, its tables, and the vectors of scratch that they need.

    Loops have memory and functions of their own.
    """
    pieces, scratch = parts(graph)
    bodies: list[Code] = []
    tables = _tables(graph, prefix)
    places: dict[int, int] = {}
    for k, (op, _, data) in enumerate(graph.nodes):
        if op in MULTIPLE:
            own = loop_function(data, f"{prefix}loop{k}", lanes, scalar, block_functions)
            places[k], scratch = scratch, scratch + own.memory
            bodies += own.functions
            tables += own.tables
    bodies += [_part(graph, part, k, lanes, scalar, prefix, places) for k, part in enumerate(pieces)]
    bodies.append(_block(graph, len(pieces), lanes, scalar, prefix))
    return bodies, tables, scratch


def _tables(graph: Graph, prefix: str) -> list[str]:
    """Constant tables, padded with infinity to a power of two (search halves them)."""
    lines = []
    for k, table in enumerate(graph.tables):
        values = list(table) + [float("inf")] * (_padded(len(table)) - len(table))
        entries = ", ".join("double " + Code(1).const(x)[len("<double ") : -1] for x in values)
        lines.append(f"@{prefix}table{k} = internal constant [{len(values)} x double] [{entries}]")
    return lines


def _padded(n: int) -> int:
    return 1 << (n - 1).bit_length()


def _signature(graph: Graph) -> str:
    inputs, outputs = block_names(len(graph.inputs), len(graph.outputs))
    marks = [f"ptr noalias readonly {p}" for p in inputs] + [f"ptr noalias {p}" for p in (*outputs, "%scratch")]
    return ", ".join(marks)


def _part(graph: Graph, part: Part, number: int, lanes: int, scalar: str, prefix: str, loops: dict[int, int]) -> Code:
    """The function `part{number}`: some of the graph's nodes, in order."""
    code = Code(lanes, scalar)
    values: dict[int, str] = {}
    trigonometry: dict[int, tuple[str, ...]] = {}

    def value(k: int) -> str:
        if k not in values:
            op, _, data = graph.nodes[k]
            if op == "const":
                return code.const(data)
            values[k] = code.load(f"%in{data[0]}", data[1]) if op == "input" else _reload(code, graph, k, part.loads[k])
        return values[k]

    for k in part.nodes:
        op, args, data = graph.nodes[k]
        if op in ("sin", "cos"):
            angle = args[0]
            if angle not in trigonometry:
                trigonometry[angle] = _in_double(code, sincos, value(angle))
            values[k] = trigonometry[angle][op == "cos"]
        elif op in MULTIPLE:
            for i, a in enumerate(args):
                code.store(value(a), "%scratch", loops[k] + i)
            code.do(f"call void @{prefix}loop{k}(ptr {code.place('%scratch', loops[k])})")
            continue
        elif op == "lookup" and _counts(graph, args[0]):
            values[k] = _broadcast(code, f"{prefix}table{data}", value(args[0]))
        elif op == "result":
            values[k] = code.load("%scratch", loops[args[0]] + result_place(graph.nodes[args[0]].data, data))
        else:
            values[k] = _emit(code, op, [value(a) for a in args], data, graph, prefix)
        for output, place in part.outputs.get(k, ()):
            code.store(values[k], f"%out{output}", place)
        if k in part.stores:
            _spill(code, graph, k, values[k], part.stores[k])
    for output, place, k in part.copies:
        code.store(value(k), f"%out{output}", place)
    # realigned: spilled vectors that cross cache lines cost a tenth, and callers' stacks are aligned to 16 bytes only
    head = f'define internal void @{prefix}part{number}({_signature(graph)}) noinline nounwind "stackrealign" {{'
    code.lines = [head, "entry:", *code.lines, "  ret void", "}"]
    return code


def _emit(code: Code, op: str, args: list[str], data: int | None, graph: Graph, prefix: str) -> str:
    """The instruction of one node."""
    if op in _INSTRUCTIONS:
        return code.op(_INSTRUCTIONS[op], *args)
    if op == "neg":
        return code.neg(*args)
    if op == "recip":
        return code.op("fdiv", code.const(1.0), *args)
    if op == "where":
        return code.select(*args)
    if op in ("lt", "le"):
        return code.compare({"lt": "olt", "le": "ole"}[op], *args)
    if op in ("and", "or"):
        return code.logic(op, *args)
    if op == "not":
        return code.invert(*args)
    if op in _INTRINSICS:
        return code.intrinsic(_INTRINSICS[op], *args)
    if op == "sign":
        (x,) = args
        negative = code.select(code.compare("olt", x, code.const(0.0)), code.const(-1.0), x)
        return code.select(code.compare("ogt", x, code.const(0.0)), code.const(1.0), negative)
    if op in _CALLS:
        return _in_double(code, lambda c, *x: (c.call(_CALLS[op], *x),), *args)[0]
    if op in ("search", "lookup"):
        assert data is not None
        find = _search if op == "search" else _lookup
        table = f"{prefix}table{data}"
        return _in_double(code, lambda c, x: (find(c, x, table, len(graph.tables[data])),), *args)[0]
    raise NotImplementedError(f"operation '{op}' has no LLVM code")


def _in_double(code: Code, function: Callable[..., tuple[str, ...]], *args: str) -> tuple[str, ...]:
    """Elementary functions are computed in double precision, in kernels of single precision too."""
    if code.scalar == "double":
        return tuple(function(code, *args))
    wide = Code(code.lanes)
    wide.lines, wide.needs, wide.label = code.lines, code.needs, code.label
    wide.name = code.name  # type: ignore[method-assign]
    args = tuple(code.let(f"fpext {code.vector} {a} to {wide.vector}") for a in args)
    results = function(wide, *args)
    code.label = wide.label
    return tuple(code.let(f"fptrunc {wide.vector} {r} to {code.vector}") for r in results)


def _gather(code: Code, table: str, places: str) -> str:
    kind = f"<{code.lanes} x ptr>"
    address = code.let(f"getelementptr double, ptr @{table}, {code.integers} {places}")
    name = f"@llvm.masked.gather.{code.suffix}.v{code.lanes}p0"
    code.needs[f"declare {code.vector} {name}({kind}, i32, {code.mask}, {code.vector})"] = None
    every = "<" + ", ".join(["i1 true"] * code.lanes) + ">"
    return code.let(f"call {code.vector} {name}({kind} {address}, i32 8, {code.mask} {every}, {code.vector} undef)")


def _search(code: Code, x: str, table: str, length: int) -> str:
    """Halve the table until one entry is left."""
    place, step = code.integer(0), _padded(length) // 2
    while step:
        further = code.int_op("add", place, step)
        reached = code.compare("ole", _gather(code, table, further), x)
        place = code.let(f"select {code.mask} {reached}, {code.integers} {further}, {code.integers} {place}")
        step //= 2
    return code.from_integers(place)


def _lookup(code: Code, x: str, table: str, length: int) -> str:
    return _gather(code, table, code.to_integers(x))


def _counts(graph: Graph, k: int) -> bool:
    """Whether a value is the same in all lanes: a loop's counter, or a constant more."""
    op, args, data = graph.nodes[k]
    if op == "input":
        return graph.inputs[data[0]].path == ("k",) and graph.name == "body"
    return op == "const" or (op == "add" and all(_counts(graph, a) for a in args))


def _broadcast(code: Code, table: str, place: str) -> str:
    """A lookup at a place that all lanes have in common: one load."""
    first = code.let(f"extractelement {code.vector} {place}, i64 0")
    at = code.let(f"fptosi {code.scalar} {first} to i64")
    entry = code.let(f"load double, ptr {code.let(f'getelementptr double, ptr @{table}, i64 {at}')}")
    if code.scalar != "double":
        entry = code.let(f"fptrunc double {entry} to {code.scalar}")
    one = code.let(f"insertelement {code.vector} undef, {code.scalar} {entry}, i64 0")
    return code.shuffle(one, [0] * code.lanes)


def _spill(code: Code, graph: Graph, k: int, value: str, slot: int) -> None:
    """Keep a value for later parts; a condition as 1 or 0."""
    if graph.nodes[k].op in CONDITIONS:
        value = code.select(value, code.const(1.0), code.const(0.0))
    code.store(value, "%scratch", slot)


def _reload(code: Code, graph: Graph, k: int, slot: int) -> str:
    value = code.load("%scratch", slot)
    return code.compare("une", value, code.const(0.0)) if graph.nodes[k].op in CONDITIONS else value


def _block(graph: Graph, count: int, lanes: int, scalar: str, prefix: str) -> Code:
    """The function `block`: all parts in turn."""
    code = Code(lanes, scalar)
    inputs, outputs = block_names(len(graph.inputs), len(graph.outputs))
    arguments = ", ".join(f"ptr {p}" for p in (*inputs, *outputs, "%scratch"))
    calls = [f"  call void @{prefix}part{k}({arguments})" for k in range(count)]
    kind = "internal " if prefix else ""
    head = f"define {kind}void @{prefix}block({_signature(graph)}) noinline nounwind {{"
    code.lines = [head, "entry:", *calls, "  ret void", "}"]
    return code
