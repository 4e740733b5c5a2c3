"""From a graph to the text of a CUDA module: two kernels, a thread a state.

    rows(count, in0, stride, ..., out0, ...)     arrays as users hold them; a stride of zero repeats one state
    lanes(count, in0, stride, ..., out0, ...)    arrays (blocks, *shape, LANES), which a warp reads in one piece

Text that is compiled elsewhere (another card, another day) is the same for the same graph.
"""

from __future__ import annotations

from collections.abc import Mapping

from .cuda import PREAMBLE, CudaCode
from .emission import block_functions, completed
from .graph import Graph
from .ir import block_names

LANES = 32  # of a warp
THREADS = 128  # of a block
ENTRIES = ("rows", "lanes")


def module_text(graph: Graph, scalar: str = "double") -> str:
    """The two kernels, for arrays of `scalar`."""
    text, scratch = functions_text({"": graph}, scalar)
    return "\n".join([PREAMBLE, text, *(_kernel(graph, scalar, scratch, entry) for entry in ENTRIES)])


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
        ahead = [*(f"{step}" for step in steps), *(f"{size} * {LANES}" for size in sizes)]
        places = [
            f"Strided<{kind}, {LANES}>{{{name} + k / {LANES} * ({step}) + k % {LANES}}}"
            for kind, name, step in zip(kinds, [*inputs, *outputs], ahead, strict=True)
        ]
    return "\n".join(
        [
            f'extern "C" __global__ void __launch_bounds__({THREADS}) {entry}({", ".join(arguments)}) {{',
            "  const i64 k = (i64)blockIdx.x * blockDim.x + threadIdx.x;",
            "  if (k >= count) return;",
            f"  {scalar} scratch[{max(scratch, 1)}];",
            f"  block({', '.join([*places, 'scratch'])});",
            "}\n",
        ]
    )
