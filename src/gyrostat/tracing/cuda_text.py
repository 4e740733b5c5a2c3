"""From a graph to the text of a CUDA module: two kernels, a thread a state.

    rows(count, in0, stride, ..., out0, ...)     arrays as users hold them; a stride of zero repeats one state
    lanes(count, in0, stride, ..., out0, ...)    arrays (blocks, *shape, LANES), which a warp reads in one piece

Text that is compiled elsewhere (another card, another day) is the same for the same graph.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .cuda import CudaCode, with_preamble
from .drivers import used_components
from .emission import block_functions, completed
from .graph import Graph
from .ir import block_names

LANES = 32  # of a warp
THREADS = 128  # of a block
AHEAD = 64  # numbers that a thread reads before it computes: none of them is waited for alone
ENTRIES = ("rows", "lanes")


def module_text(graph: Graph, scalar: str = "double") -> str:
    """The two kernels, for arrays of `scalar`."""
    text, scratch = functions_text({"": graph}, scalar)
    return with_preamble("\n".join([text, *(_kernel(graph, scalar, scratch, entry) for entry in ENTRIES)]))


def functions_text(graphs: Mapping[str, Graph], scalar: str = "double") -> tuple[str, int]:
    """Functions `{prefix}block` of graphs by prefix, with all that they call; the numbers of scratch that one needs."""
    bodies: list[CudaCode] = []
    lines: list[str] = []
    most = 0
    for prefix, graph in graphs.items():
        own, tables, scratch = block_functions(graph, CudaCode(scalar=scalar), prefix)
        pieces = [code for code in own if f" {prefix}part" in code.head]
        for code in pieces if len(pieces) > 1 else ():
            code.set_apart()
        bodies, lines, most = [*bodies, *own], [*lines, *tables], max(most, scratch)
    _, library = completed(bodies)
    every = [*library, *bodies]
    return "\n".join([*lines, *(code.head for code in every), *("\n".join(code.lines) for code in every)]), most


def _kernel(graph: Graph, scalar: str, scratch: int, entry: str) -> str:
    inputs, outputs = block_names(len(graph.inputs), len(graph.outputs))
    arguments = ["const i64 count"]
    for name in inputs:
        arguments += [f"const {scalar}* __restrict__ {name}", f"const i64 step_{name}"]
    arguments += [f"{scalar}* __restrict__ {name}" for name in outputs]
    steps = [f"step_{name}" for name in inputs]
    sizes = [str(port.size) for port in graph.outputs]
    if entry == "rows":
        places = [f"{name} + k * {step}" for name, step in zip([*inputs, *outputs], [*steps, *sizes], strict=True)]
    else:
        kinds = [f"const {scalar}"] * len(inputs) + [scalar] * len(outputs)
        blocks = [*(f"{step}" for step in steps), *(f"{size} * {LANES}" for size in sizes)]
        places = [
            f"Strided<{kind}, {LANES}>{{{name} + k / {LANES} * ({step}) + k % {LANES}}}"
            for kind, name, step in zip(kinds, [*inputs, *outputs], blocks, strict=True)
        ]
    loads = _loads(graph, inputs, places, scalar)
    if loads:
        places[: len(inputs)] = [f"own_{name}" for name in inputs]
    return "\n".join(
        [
            f'extern "C" __global__ void __launch_bounds__({THREADS}) {entry}({", ".join(arguments)}) {{',
            "  const i64 k = (i64)blockIdx.x * blockDim.x + threadIdx.x;",
            "  if (k >= count) return;",
            *loads,
            f"  {scalar} scratch[{max(scratch, 1)}];",
            f"  block({', '.join([*places, 'scratch'])});",
            "}\n",
        ]
    )


def _loads(graph: Graph, inputs: Sequence[str], places: Sequence[str], scalar: str) -> list[str]:
    """Lines that copy what the graph reads into arrays `own_...` of the thread; none where that would not fit into its
    registers. Read where it is used, each number is waited for: half the speed.
    """
    used = used_components(graph)
    if sum(map(len, used)) > AHEAD or len(graph) > CudaCode.part:
        return []
    lines = []
    for name, place, port, components in zip(inputs, places, graph.inputs, used, strict=False):
        lines.append(f"  {scalar} own_{name}[{max(port.size, 1)}];")
        lines += [f"  own_{name}[{i}] = ({place})[{i}];" for i in sorted(components)]
    return lines
