"""A run whose right-hand side is computed in single precision, everything that is added up in double.

Accelerations are rounded to seven digits wherever they are evaluated; the sums over steps are not, so that errors do
not grow with the number of steps, as they would where the state itself were single.
"""

from __future__ import annotations

from dataclasses import replace

from ...tracing import Graph, Kernel
from ...tracing.scan import MULTIPLE
from ..integrators.explicit import Explicit
from ..integrators.methods import METHODS
from .system import Plan, System


def in_single(system: System, plan: Plan, varied: bool) -> System:
    """Raises a ValueError that names what cannot be. varied: the run has sensitivities."""
    able = [name for name, method in METHODS.items() if isinstance(method, Explicit)]
    if plan.method not in able:
        raise _refused(f"integrator '{plan.method}' solves equations to round-off. Use {' or '.join(able)}")
    if not plan.fixed:
        raise _refused("steps cannot be chosen, for rounding would be taken for their error. Give a fixed step=")
    if varied:
        raise _refused("sensitivities are exact derivatives. Leave one of them out")
    if not isinstance(system.rhs, Kernel) or not system.compiled:
        raise _refused("a function that is called from Python stays in double. Write it so that it compiles")
    if _draws(system.rhs.graph):
        raise _refused(
            "a law or an environment without samples draws random numbers, whose keys need all their digits. Give it a "
            "period="
        )
    return replace(system, single=True)


def _draws(graph: Graph) -> bool:
    """Random numbers, in loops, too."""
    inner = [getattr(data, "loop", data).body for op, _, data in graph.nodes if op in MULTIPLE]
    return any(op == "uniform" for op, _, _ in graph.nodes) or any(map(_draws, inner))


def _refused(why: str) -> ValueError:
    return ValueError(f'precision="single": {why}.')
