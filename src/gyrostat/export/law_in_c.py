"""A control law in C: the one that was simulated, its memory as a struct, and a step function for each period."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..control.controller import Controller, call
from ..model import Spacecraft
from ..tracing.c99 import number
from ..tracing.graph import Graph
from ..tracing.random import whole
from ..tracing.recording import trace
from .c_source import CFiles, c_files


def c_law(
    law: Callable[..., Any] | Controller,
    craft: Spacecraft,
    name: str,
    *,
    inputs: Mapping[str, Any] | None = None,
    seed: Any = 0,
    dtype: str = "double",
    test: bool = False,
) -> CFiles:
    """`name.h` and `name.c` of a law: tau from t, q, v and whatever it asks for by name.

    A law without memory is the function `name_output(t, q, v, inputs..., tau)`. A sampled one with memory also has
    `name_memory`, `name_reset(memory)` and `name_step(memory, t, q, v, inputs..., tau)`, which computes tau and then
    what is remembered, as `gs.simulate` does at each sample. A continuous one has `name_output` and `name_derivative`,
    and no step: how its memory is integrated is the caller's choice.

    inputs: shapes of the run's inputs that it asks for. seed: of its noise, if it makes any.

    Raises ValueError for inputs that the law does not ask for.
    """
    controller = law if isinstance(law, Controller) else Controller(law)
    shapes = dict(inputs or {})
    functions = {"output": controller.output, "derivative": controller.derivative, "update": controller.update}
    asked = {name for f in functions.values() if f is not None for name in inspect.signature(f).parameters}
    unfelt = sorted(set(shapes) - asked)
    if unfelt:
        raise ValueError(f"inputs['{unfelt[0]}']: {name} does not ask for it by argument name.")
    graphs: dict[str, Graph] = {}
    for part, function in functions.items():
        if function is not None:
            graphs[f"{name}_{part}"] = _traced(function, part, controller, craft, shapes, asked, seed)
    counted = "sample" in asked
    if not controller.sampled or not (controller.state0.size or counted):
        return c_files(graphs, name, craft=craft, dtype=dtype, test=test)
    memory = _struct(name, controller.state0.size, counted, dtype)
    extra = {own: tuple(np.atleast_1d(np.asarray(shape, dtype=int))) for own, shape in shapes.items()}
    reset, step = _reset(name, controller, counted, dtype), _step(name, craft, controller, counted, extra, dtype)
    return c_files(graphs, name, craft=craft, dtype=dtype, test=test, before=memory, after=(reset, step))


def _traced(
    function: Callable[..., Any],
    part: str,
    controller: Controller,
    craft: Spacecraft,
    shapes: dict[str, Any],
    asked: set[str],
    seed: Any,
) -> Graph:
    """With the same arguments for each part: t, q, v, z, sample, inputs; those that nobody has are left out."""
    size = controller.state0.size
    names: dict[str, Any] = {"z": (size,)} if controller.remembers else {}
    names |= {"sample": ()} if "sample" in asked else {}

    def plain(craft: Any, t: Any, q: Any, v: Any, **more: Any) -> Any:
        available = {"run": 0.0, "seed": whole(seed)} | {name: more[name] for name in shapes}
        if "sample" in more:
            available["sample"] = more["sample"]
        if controller.propellant is not None:  # the craft that it sees grows lighter
            craft = controller.propellant.of(craft).left(craft, more["z"])
        state = (craft, t, q, v, more["z"]) if controller.remembers else (craft, t, q, v)
        value = call(function, state, available)
        value = craft.v(value, "tau") if part == "output" else value
        return {"tau" if part == "output" else "z_new" if part == "update" else "zdot": np.asarray(value)}

    parameters = [inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD) for n in ("craft", "t", "q", "v")]
    parameters += [inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY) for n in (*names, *shapes)]
    plain.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    plain.__name__ = getattr(function, "__name__", part)
    return trace(plain, craft, inputs={**names, **shapes})


def _struct(name: str, size: int, counted: bool, dtype: str) -> str:
    lines = [f"    {dtype} z[{size}];"] if size else []
    lines += [f"    {dtype} sample; /* how many steps there were */"] if counted else []
    return "\n".join(
        ["/* What the law remembers from step to step. */", "typedef struct {", *lines, f"}} {name}_memory;\n"]
    )


def _reset(name: str, controller: Controller, counted: bool, dtype: str) -> tuple[str, str]:
    declaration = f"void {name}_reset({name}_memory *memory)"
    lines = [f"    memory->z[{k}] = {number(float(x), dtype)};" for k, x in enumerate(controller.state0)]
    lines += [f"    memory->sample = {number(0.0, dtype)};"] if counted else []
    return f"/* As at the start of a run. */\n{declaration}", "\n".join([declaration, "{", *lines, "}"])


def _step(
    name: str,
    craft: Spacecraft,
    controller: Controller,
    counted: bool,
    extra: Mapping[str, tuple[int, ...]],
    dtype: str,
) -> tuple[str, str]:
    from ..tracing.c99 import identifier

    size = controller.state0.size
    arguments = [
        f"{name}_memory *memory",
        f"const {dtype} t",
        f"const {dtype} q[{craft.nq}]",
        f"const {dtype} v[{craft.nv}]",
    ]
    for own, shape in extra.items():
        length = int(np.prod(shape, dtype=int))
        arguments.append(f"const {dtype} {identifier(own)}" + (f"[{length}]" if shape else ""))
    arguments.append(f"{dtype} tau[{craft.nv}]")
    declaration = f"void {name}_step(" + ",\n    ".join(arguments) + ")"
    remembered = (["memory->z"] if controller.remembers else []) + (["memory->sample"] if counted else [])
    given = ", ".join(["t", "q", "v", *remembered, *map(identifier, extra)])
    body = []
    if controller.update is not None:
        body += [
            f"    {dtype} z_new[{max(1, size)}];",
            f"    {name}_update({given}, z_new);",
            f"    {name}_output({given}, tau);",
            *(f"    memory->z[{k}] = z_new[{k}];" for k in range(size)),
        ]
    else:
        body.append(f"    {name}_output({given}, tau);")
    body += [f"    memory->sample += {number(1.0, dtype)};"] if counted else []
    period = f"every {controller.period:g} s"
    return f"/* To be called {period}: tau, to be held until the next call. */\n{declaration}", "\n".join(
        [declaration, "{", *body, "}"]
    )
