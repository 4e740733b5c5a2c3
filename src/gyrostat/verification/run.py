"""`verify`: one craft, many states, every computation that can be made of it in more than one way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from ..algebra import Array
from ..formulations import recursive
from ..formulations.registry import supporting
from ..kinematics import neutral, step_configuration
from ..model import Spacecraft
from ..model.demands import demand_spacecraft
from ..tracing import Kernel, trace
from .comparison import Comparison, VerifyReport

ALLOWED = {
    "accelerations": 1e-11,  # as backward errors: residual of M vdot + bias = tau, relative to its terms
    "reaction wrenches": 1e-9,  # relative to the largest entry, as all below
    "mass matrix": 1e-12,
    "bias force": 1e-10,
    "momentum": 1e-11,
    "kinetic energy": 1e-11,
}
MOST_OPERATIONS = 30_000  # beyond, compiling takes longer than ten seconds


class Case(NamedTuple):
    """A random state with random loads, and the scale of each row of the equations of motion there."""

    q: Array
    v: Array
    tau: Array
    wrenches: Array
    vdot: Array  # of `recursive`
    M: Array
    scale: Array  # (nv,)


def verify(
    craft: Spacecraft,
    *,
    states: int = 20,
    seed: int = 0,
    peers: bool = False,
    compiled: bool = True,
    progress: Callable[[str], None] | None = None,
) -> VerifyReport:
    """Compare every formulation that supports the craft with every other, at random states under random loads.

    peers: also with Pinocchio and MuJoCo, where installed. compiled: also each formulation's machine code with its
    plain NumPy.
    progress(text): called before each part.

    Raises ValueError for fewer than one state.
    """
    demand_spacecraft(craft, "verify", "formulations are")
    if states < 1:
        raise ValueError(f"states is {states}; expected at least one.")
    tell = progress or (lambda text: None)
    tell("drawing states")
    cases = [random_case(craft, seed, k) for k in range(states)]
    modules, absent = supporting(craft)
    results: dict[str, dict[str, list[Any]]] = {quantity: {} for quantity in ALLOWED}
    for name, module in modules.items():
        tell(f"{name}: {states} states")
        for quantity, values in _evaluated(craft, module, cases).items():
            results[quantity][name] = values
    found = [
        Comparison(
            quantity, a, b, _worst(quantity, cases, results[quantity][a], results[quantity][b]), ALLOWED[quantity]
        )
        for quantity in ALLOWED
        for a, b in combinations(results[quantity], 2)
    ]
    if compiled:
        for name, module in modules.items():
            tell(f"{name}: compiling")
            graph = trace(module.forward_dynamics, craft, inputs={"wrenches": None})
            if len(graph) > MOST_OPERATIONS:
                absent[f"{name}, compiled"] = (
                    f"{len(graph)} operations; only graphs of up to {MOST_OPERATIONS} are compiled here."
                )
                continue
            kernel = Kernel(graph)
            values = [kernel(c.q, c.v, c.tau, wrenches=c.wrenches) for c in cases]
            worst = _worst("accelerations", cases, results["accelerations"][name], values)
            found.append(Comparison("accelerations", name, f"{name}, compiled", worst, ALLOWED["accelerations"]))
    if peers:
        found += _against_peers(craft, cases, results, absent, tell)
    return VerifyReport(craft.name, states, seed, tuple(found), absent)


def random_case(craft: Spacecraft, seed: int, k: int) -> Case:
    """State k of a seed: configurations up to a few radians and metres from neutral,
    rates and loads of the order of one.
    """
    rng = np.random.default_rng((seed, k))
    q = step_configuration(craft, neutral(craft), rng.normal(size=craft.nv))
    v, tau, wrenches = rng.normal(size=craft.nv), rng.normal(size=craft.nv), rng.normal(size=(craft.nbodies, 6))
    vdot = recursive.forward_dynamics(craft, q, v, tau, wrenches=wrenches)
    M, bias = recursive.mass_matrix(craft, q), recursive.bias_force(craft, q, v, wrenches=wrenches)
    return Case(q, v, tau, wrenches, vdot, M, np.abs(M) @ np.abs(vdot) + np.abs(bias) + np.abs(tau))


def _evaluated(craft: Spacecraft, module: Any, cases: list[Case]) -> dict[str, list[Any]]:
    """Each quantity that the formulation offers under the common name, at every state."""
    offers: dict[str, Callable[[Case], Any]] = {}
    if hasattr(module, "solve"):
        solved = [module.solve(craft, c.q, c.v, c.tau, wrenches=c.wrenches) for c in cases]
        found: dict[str, list[Any]] = {
            "accelerations": [s.vdot for s in solved],
            "reaction wrenches": [s.reaction_wrenches for s in solved],
        }
    else:
        found = {"accelerations": [module.forward_dynamics(craft, c.q, c.v, c.tau, wrenches=c.wrenches) for c in cases]}
    if hasattr(module, "reaction_wrenches"):
        offers["reaction wrenches"] = lambda c: module.reaction_wrenches(craft, c.q, c.v, c.vdot, wrenches=c.wrenches)
    if hasattr(module, "mass_matrix"):
        offers["mass matrix"] = lambda c: module.mass_matrix(craft, c.q)
    if hasattr(module, "bias_force"):
        offers["bias force"] = lambda c: module.bias_force(craft, c.q, c.v)
    if hasattr(module, "momentum"):
        offers["momentum"] = lambda c: module.momentum(craft, c.q, c.v)
    if hasattr(module, "kinetic_energy"):
        offers["kinetic energy"] = lambda c: module.kinetic_energy(craft, c.q, c.v)
    return found | {quantity: [compute(c) for c in cases] for quantity, compute in offers.items()}


def _worst(quantity: str, cases: list[Case], first: list[Any], second: list[Any]) -> float:
    """The largest disagreement; infinite where one of the two is no number."""
    measure = _backward if quantity == "accelerations" else _relative
    return max((measure(case, a, b) for case, a, b in zip(cases, first, second, strict=True)), default=0.0)


def _backward(case: Case, a: Array, b: Array) -> float:
    """|M (a - b)| against |M| |vdot| + |bias| + |tau|: how far the two are from solving the same equation."""
    if not len(case.v):
        return 0.0
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        return float("inf")
    return float(np.max(np.abs(case.M @ (a - b)) / case.scale))


def _relative(case: Case, a: Any, b: Any) -> float:
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        return float("inf")
    size = np.abs(a).max(initial=0.0)
    return float(np.abs(a - b).max(initial=0.0) / size) if size > 0.0 else float(np.abs(b).max(initial=0.0))


def _against_peers(
    craft: Spacecraft,
    cases: list[Case],
    results: Mapping[str, Mapping[str, list[Any]]],
    absent: dict[str, str],
    tell: Callable[[str], None],
) -> list[Comparison]:
    """Each peer against every formulation."""
    from .peers import PEERS

    found = []
    for title, make in PEERS.items():
        tell(title)
        peer = make(craft)
        if isinstance(peer, str):
            absent[title] = peer
            continue
        values: dict[str, list[Any]] = {
            "accelerations": [peer.forward_dynamics(c.q, c.v, c.tau, c.wrenches) for c in cases],
            "momentum": [peer.momentum(c.q, c.v) for c in cases],
            "kinetic energy": [peer.kinetic_energy(c.q, c.v) for c in cases],
        }
        wrenches = [peer.reaction_wrenches(c.q, c.v, c.vdot, c.wrenches) for c in cases]
        for quantity, theirs in values.items():
            for name, ours in results[quantity].items():
                found.append(
                    Comparison(quantity, name, title, _worst(quantity, cases, ours, theirs), ALLOWED[quantity])
                )
        known = ~np.isnan(wrenches[0])
        for name, ours in results["reaction wrenches"].items():
            pairs = ([w[known] for w in ours], [w[known] for w in wrenches])
            found.append(
                Comparison(
                    "reaction wrenches",
                    name,
                    title,
                    _worst("reaction wrenches", cases, *pairs),
                    ALLOWED["reaction wrenches"],
                )
            )
    return found
