"""From a graph to the functions that compute it, for any target: one instruction per node, in the words of `Code`.

block(inputs..., outputs..., scratch)        the graph, for one lane block of each input and output
part0(...), part1(...)                       pieces of a long graph, in turn
loop7(memory)                                a loop inside it (loop_functions.py)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .functions import FUNCTIONS, Spelt, define, sincos
from .graph import Graph
from .ir import Code, block_names
from .loop_functions import loop_function, result_place
from .scan import MULTIPLE
from .schedule import Part, parts
from .shared import Call, as_kept, as_number, shared

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


def completed(bodies: Sequence[Spelt]) -> tuple[list[str], list[Spelt]]:
    """What they need: declarations of what is elsewhere, and library functions."""
    declared: dict[str, None] = {}
    defined: dict[str, Spelt] = {}
    needs = [need for code in bodies for need in code.needs]
    for need in needs:  # grows while it is walked
        if need not in FUNCTIONS:
            declared[need] = None
        elif need not in defined:
            defined[need] = define(need, bodies[0])
            needs.extend(defined[need].needs)
    return list(declared), list(defined.values())


def block_functions(
    graph: Graph, like: Spelt, prefix: str = "", *, long: int | None = None
) -> tuple[list[Spelt], list[str], int]:
    """The functions of a graph, `{prefix}block` among them, its tables, and the vectors of scratch that they need.

    Loops have memory and functions of their own. like: a Code of the target. long: nodes beyond which equal stretches
    share a function; None: none do.
    """
    pieces, scratch = parts(graph, like.whole, like.part, long)
    bodies: list[Spelt] = []
    tables = _tables(graph, like, prefix)
    places: dict[int, int] = {}
    for k, (op, _, data) in enumerate(graph.nodes):
        if op in MULTIPLE:
            own = loop_function(data, f"{prefix}loop{k}", like, block_functions)
            places[k], scratch = scratch, scratch + own.memory
            bodies += own.functions
            tables += own.tables
    often = shared(graph, pieces, like, prefix, _emit, _sine_and_cosine)
    bodies += often.functions  # type: ignore[arg-type]  # they are of the target of `like`
    tables += often.tables
    calls = [often.calls.get(k, Call(f"{prefix}part{k}", ())) for k in range(len(pieces))]
    alone = [(k, part) for k, part in enumerate(pieces) if k not in often.calls]
    bodies += [_part(graph, part, k, like, prefix, places) for k, part in alone]
    bodies.append(_block(graph, calls, like, prefix))
    return bodies, tables, scratch


def _tables(graph: Graph, like: Code, prefix: str) -> list[str]:
    """Constant tables, padded with infinity to a power of two (search halves them)."""
    lines = []
    for k, table in enumerate(graph.tables):
        values = list(table) + [float("inf")] * (_padded(len(table)) - len(table))
        lines.append(like.constant_table(f"{prefix}table{k}", values))
    return lines


def _padded(n: int) -> int:
    return 1 << (n - 1).bit_length()


def _part(graph: Graph, part: Part, number: int, like: Spelt, prefix: str, loops: dict[int, int]) -> Spelt:
    """The function `part{number}`: some of the graph's nodes, in order."""
    code = like.fresh()
    ports = block_names(len(graph.inputs), len(graph.outputs))
    inputs, outputs = ([code.argument(name) for name in names] for names in ports)
    memory = code.argument("scratch")
    values: dict[int, str] = {}
    trigonometry: dict[int, tuple[str, ...]] = {}

    def value(k: int) -> str:
        if k not in values:
            op, _, data = graph.nodes[k]
            if op == "const":
                return code.const(data)
            if op == "input":
                values[k] = code.load(inputs[data[0]], data[1])
            else:
                values[k] = _reload(code, graph, k, part.loads[k])
        return values[k]

    for k in part.nodes:
        op, args, data = graph.nodes[k]
        if op in ("sin", "cos"):
            angle = args[0]
            if angle not in trigonometry:
                trigonometry[angle] = _sine_and_cosine(code, value(angle))
            values[k] = trigonometry[angle][op == "cos"]
        elif op in MULTIPLE:
            for i, a in enumerate(args):
                code.store(value(a), memory, loops[k] + i)
            code.call_named(f"{prefix}loop{k}", code.place(memory, loops[k]))
            continue
        elif op == "lookup" and _counts(graph, args[0]):
            values[k] = code.common_entry(f"{prefix}table{data}", value(args[0]))
        elif op == "result":
            values[k] = code.load(memory, loops[args[0]] + result_place(graph.nodes[args[0]].data, data))
        else:
            values[k] = _emit(code, op, [value(a) for a in args], data, graph, prefix)
        for output, place in part.outputs.get(k, ()):
            code.store(values[k], outputs[output], place)
        if k in part.stores:
            _spill(code, graph, k, values[k], part.stores[k])
    for output, place, k in part.copies:
        code.store(value(k), outputs[output], place)
    code.procedure(f"{prefix}part{number}", ports[0], [*ports[1], "scratch"], own=True, long=True)
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
    raise NotImplementedError(f"operation '{op}' has no code")


def _in_double(code: Code, function: Callable[..., tuple[str, ...]], *args: str) -> tuple[str, ...]:
    """Elementary functions are computed in double precision, in kernels of single precision too."""
    if code.scalar == "double":
        return tuple(function(code, *args))
    wide = code.in_double()
    results = function(wide, *map(code.widen, args))
    code.label = wide.label
    return tuple(map(code.narrow, results))


def _sine_and_cosine(code: Code, angle: str) -> tuple[str, ...]:
    return _in_double(code, sincos, angle)


def _search(code: Code, x: str, table: str, length: int) -> str:
    """Halve the table until one entry is left."""
    place, step = code.integer(0), _padded(length) // 2
    while step:
        further = code.int_op("add", place, step)
        reached = code.compare("ole", code.entries(table, further), x)
        place = code.choose_integers(reached, further, place)
        step //= 2
    return code.from_integers(place)


def _lookup(code: Code, x: str, table: str, length: int) -> str:
    return code.entries(table, code.to_integers(x))


def _counts(graph: Graph, k: int) -> bool:
    """Whether a value is the same in all lanes: a loop's counter, or a constant more."""
    op, args, data = graph.nodes[k]
    if op == "input":
        return graph.inputs[data[0]].path == ("k",) and graph.name == "body"
    return op == "const" or (op == "add" and all(_counts(graph, a) for a in args))


def _spill(code: Code, graph: Graph, k: int, value: str, slot: int) -> None:
    """Keep a value for later parts; a condition as 1 or 0."""
    code.store(as_number(code, graph, k, value), code.argument("scratch"), slot)


def _reload(code: Code, graph: Graph, k: int, slot: int) -> str:
    return as_kept(code, graph, k, code.load(code.argument("scratch"), slot))


def _block(graph: Graph, calls: list[Call], like: Spelt, prefix: str) -> Spelt:
    """The function `block`: all parts in turn."""
    code = like.fresh()
    inputs, outputs = block_names(len(graph.inputs), len(graph.outputs))
    arguments = [code.argument(name) for name in (*inputs, *outputs, "scratch")]
    for call in calls:
        code.call_named(call.function, *arguments, *call.more)
    code.procedure(f"{prefix}block", inputs, [*outputs, "scratch"], own=bool(prefix))
    return code
