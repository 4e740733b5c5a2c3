"""Other libraries, each as a function that makes something to time. One thread each.

`make(quantity, craft, states, graph)` returns (call, number of states that a call computes), or None if it does not
apply. `states` are q, v, tau with a batch axis, or without one for a single state.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import gyrostat as gs

Made = tuple[Callable[[], Any], int] | None
_SAMPLE = 200  # states for libraries that take one at a time
# longer takes minutes to compile
_JAX_LINKS = {
    "forward_dynamics": 30,
    "inverse_dynamics": 30,
    "mass_matrix": 12,
    "linearize": 6,
}
_HEYOKA_OPERATIONS = 20_000


def pinocchio(quantity: str, craft: gs.Spacecraft, states: tuple, graph: Any) -> Made:
    """Called from Python, state by state: it has no batches."""
    import pinocchio as pin

    from gyrostat.verification.peers.pinocchio import Pinocchio

    peer = Pinocchio(craft)
    model, data = peer.model, peer.data
    rows = [(peer.q(q), peer.v(v), peer.v(tau)) for q, v, tau in _sample(states)]
    if quantity == "mass_matrix":
        return _each(lambda q, v, tau: pin.crba(model, data, q), rows)
    function = {"forward_dynamics": pin.aba, "inverse_dynamics": pin.rnea, "linearize": pin.computeABADerivatives}[
        quantity
    ]
    return _each(lambda q, v, tau: function(model, data, q, v, tau), rows)


def mujoco(quantity: str, craft: gs.Spacecraft, states: tuple, graph: Any) -> Made:
    """mj_forward or mj_inverse, from Python, state by state."""
    import mujoco

    from gyrostat.verification.peers.mujoco import MuJoCo

    if quantity not in ("forward_dynamics", "inverse_dynamics"):
        return None
    peer = MuJoCo(craft)
    model, data = peer.model, peer.data
    function = mujoco.mj_forward if quantity == "forward_dynamics" else mujoco.mj_inverse
    given = data.qfrc_applied if quantity == "forward_dynamics" else data.qacc

    def call(qpos: Any, qvel: Any, load: Any) -> None:
        data.qpos[:], data.qvel[:], given[:] = qpos, qvel, load
        function(model, data)

    # as time alone counts, tau is taken for MuJoCo's own force or acceleration
    return _each(call, [(peer.qpos(q), peer.T(q) @ v, tau) for q, v, tau in _sample(states)])


def _sample(states: tuple) -> Iterator[tuple[Any, ...]]:
    """(q, v, tau) of the first states."""
    return zip(*(np.atleast_2d(x)[:_SAMPLE] for x in states), strict=True)


def _each(function: Callable[..., Any], rows: list[tuple[Any, ...]]) -> Made:
    """All given states in turn."""

    def call() -> None:
        for a, b, c in rows:
            function(a, b, c)

    return call, len(rows)


def jax(quantity: str, craft: gs.Spacecraft, states: tuple, graph: Any) -> Made:
    """Jitted, and vmapped over the batch."""
    os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
    import jax
    from jax_arm import functions

    links = craft.nbodies - 1
    wide = quantity == "linearize" or (quantity == "mass_matrix" and links > 6)
    if links > _JAX_LINKS[quantity] or (wide and states[0].ndim == 2 and len(states[0]) > 1000):  # runs out of memory
        return None
    jax.config.update("jax_enable_x64", True)
    function = functions(craft)[quantity]
    arguments = [jax.numpy.asarray(x) for x in (states[:1] if quantity == "mass_matrix" else states)]
    if states[0].ndim == 2:
        function = jax.vmap(function)
    compiled = jax.jit(function)
    return (lambda: jax.block_until_ready(compiled(*arguments))), 1 if states[0].ndim == 1 else len(states[0])


def heyoka(quantity: str, craft: gs.Spacecraft, states: tuple, graph: Any) -> Made:
    """`cfunc` of the same equations: our graph, operation by operation. Batches laid out by lane, as it wants them."""
    import heyoka as hy

    if len(graph) > _HEYOKA_OPERATIONS:
        return None
    hy.set_nthreads(1)
    symbols = [[hy.expression(f"{port.name}_{k}") for k in range(port.size)] for port in graph.inputs]
    outputs = heyoka_expressions(graph, symbols)
    function = hy.cfunc(outputs, vars=[x for row in symbols for x in row])
    x = np.ascontiguousarray(np.concatenate(states[: len(symbols)], axis=-1).T)
    out = np.empty((len(outputs), *x.shape[1:]))
    return (lambda: function(x, outputs=out)), 1 if x.ndim == 1 else x.shape[1]


def heyoka_expressions(graph: Any, symbols: list[list[Any]]) -> list[Any]:
    """The results of a graph as heyoka's expressions; symbols: those of each input."""
    import heyoka as hy

    operations = {
        "add": lambda a, b: a + b,
        "sub": lambda a, b: a - b,
        "mul": lambda a, b: a * b,
        "neg": lambda a: -a,
        "recip": lambda a: 1.0 / a,
        "sin": hy.sin,
        "cos": hy.cos,
    }
    values: list[Any] = []
    for op, args, data in graph:
        if op == "input":
            values.append(symbols[data[0]][data[1]])
        elif op == "const":
            values.append(hy.expression(data))
        else:
            values.append(operations[op](*(values[a] for a in args)))
    return [values[k] for result in graph.results for k in result]


PEERS = {"Pinocchio": pinocchio, "MuJoCo": mujoco, "JAX": jax, "heyoka": heyoka}
