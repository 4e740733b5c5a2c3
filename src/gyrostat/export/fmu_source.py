"""The C of an FMU: the functions of its model, its numbers, and the standard's functions around them (fmi/)."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from importlib.resources import files

from ..tracing.c99 import number
from .c_source import WIDTH, c_files
from .fmu_description import CO_SIMULATION, MODEL_EXCHANGE
from .fmu_model import FmuModel

_ROWS = ", ".join(f"const double {name}[]" for name in ("y", "held", "u", "p"))
_ARGUMENTS = f"const double t, const double epoch, {_ROWS}"
# Without a sampled law nothing is ever held
_NO_UPDATE = f"""
static void gs_update({_ARGUMENTS}, double next[])
{{
    (void)t;
    (void)epoch;
    (void)y;
    (void)held;
    (void)u;
    (void)p;
    (void)next;
}}
"""


def sources(
    model: FmuModel, version: str, identifier: str, kinds: Sequence[str], step: float, token: str
) -> tuple[dict[str, str], list[str]]:
    """Texts by file name, and which of them are to be compiled."""
    prefix = f"{identifier}_model"
    graphs = {f"{prefix}_rates": model.rates, f"{prefix}_outputs": model.outputs}
    if model.update is not None:
        graphs[f"{prefix}_update"] = model.update
    wrapper = f"fmi{version[0]}.c"
    texts = c_files(graphs, prefix).texts
    texts["model_data.h"] = _data(model, prefix, kinds, step, token)
    for name in ("core.h", wrapper):
        texts[name] = (files("gyrostat.export") / "fmi" / name).read_text(encoding="utf-8")
    return texts, [wrapper, f"{prefix}.c"]


def _data(model: FmuModel, prefix: str, kinds: Sequence[str], step: float, token: str) -> str:
    """Sizes, start values, and the names of the model's functions."""
    variables = model.variables
    sizes = {
        "NY": len(variables.states),
        "NH": len(variables.held),
        "NU": len(variables.inputs),
        "NP": len(variables.parameters),
        "NO": len(variables.computed),
        "NJ": len(model.jumps),
        "NQUATERNIONS": len(variables.quaternions),
    }
    lines = [
        "/* The numbers of the model, for core.h. Not to be edited: make it anew. */",
        f'#include "{prefix}.h"',
        "",
    ]
    lines += [f"#define GS_{name} {size}U" for name, size in sizes.items()]
    lines += [f"#define GS_HAS_CO_SIMULATION {int(CO_SIMULATION in kinds)}"]
    lines += [f"#define GS_HAS_MODEL_EXCHANGE {int(MODEL_EXCHANGE in kinds)}"]
    lines += [f"#define GS_SAMPLED {int(model.update is not None)}", f"#define GS_PERIOD {number(model.period or 0.0)}"]
    lines += [f"#define GS_STEP {number(step)}", f'#define GS_TOKEN "{token}"']
    named = ("rates", "outputs", "update") if model.update is not None else ("rates", "outputs")
    lines += [f"#define gs_{name} {prefix}_{name}" for name in named]
    lines += [] if model.update is not None else [_NO_UPDATE]
    starts = {
        "start_y": [v.start for v in variables.states],
        "start_held": variables.held,
        "start_u": [v.start for v in variables.inputs],
        "start_p": [v.start for v in variables.parameters],
        "least_p": [float("-inf") if v.least is None else v.least for v in variables.parameters],
        "jumps": model.jumps,
        "span": model.span,
    }
    lines += [
        _array("double", f"gs_{name}", [number(float(x or 0.0)) for x in values]) for name, values in starts.items()
    ]
    lines.append(_array("unsigned", "gs_quaternions", [f"{k}U" for k in variables.quaternions]))
    return "\n".join(lines) + "\n"


def _array(kind: str, name: str, values: Sequence[str]) -> str:
    """Of one entry at least, as C wants it."""
    entries = list(values) or ["0.0" if kind == "double" else "0U"]
    text = textwrap.fill(", ".join(entries), WIDTH, initial_indent="    ", subsequent_indent="    ")
    return f"static const {kind} {name}[{len(entries)}] = {{\n{text}\n}};"
