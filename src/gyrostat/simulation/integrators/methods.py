"""All integrators by name."""

from __future__ import annotations

from .dop853 import DOP853
from .gauss import GAUSS6, GAUSS16, Collocation, Gauss
from .runge_kutta import RK4, RK45, Tableau

Method = Tableau | Gauss | Collocation
METHODS: dict[str, Method] = {method.name: method for method in (DOP853, RK45, RK4, GAUSS6, GAUSS16)}


def place_of_new(method: Tableau | Gauss) -> int:
    """Place of K_new among the stages."""
    return 4 if isinstance(method, Gauss) else method.stages


def solver_vectors(method: Method, n: int, lanes: int) -> int:
    """How many vectors of memory the method needs to solve its stages: the weights of a norm, and what else `Stages` says."""
    if isinstance(method, Tableau):
        return 0
    if isinstance(method, Gauss):
        return n
    blocks = len(method.c) // lanes
    return n * (1 + 3 * blocks) + n * n * blocks + n * (n // lanes + 1)


def stage_count(method: Method, lanes: int) -> int:
    """How many K blocks the method needs."""
    if isinstance(method, Collocation):
        return 1 + 2 * (len(method.c) // lanes)
    return 5 if isinstance(method, Gauss) else method.stages + 1 + len(method.extra)


def evaluations_of(name: str) -> int:
    """Of the right-hand side in a step, about; those of all lanes at a time count once."""
    method = METHODS[name]
    return method.stages if isinstance(method, Tableau) else 30 if isinstance(method, Gauss) else 8
