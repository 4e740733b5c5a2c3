"""H* and J* of a six-link servicer, and the two implementations of Wilde et al.'s figure 3, in the same run.

    python benchmarks/generalized_jacobian.py

Prints tables of times per state and ratios; writes them to benchmarks/results/generalized_jacobian.json.
"""

from __future__ import annotations

import datetime
import importlib.metadata
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from arms import states
from rich.console import Console
from rich.table import Table
from timing import machine, seconds

import gyrostat as gs
from gyrostat.formulations import generalized_jacobian as gj
from gyrostat.formulations.generalized_jacobian.paper import implementations as figure_3
from gyrostat.papers.wilde2018 import spatial_table
from gyrostat.tracing import Kernel, compile
from gyrostat.verification.peers.shared import swapped

BATCH = 10_000
SAMPLE = 200  # states for what takes one at a time
TIP = ("link_6", (0.25, 0.0, 0.0))
console = Console(width=140)


def generalized(craft: gs.Spacecraft, q: Any) -> tuple[Any, Any]:
    """H* (6, 6) and J* (6, 6) of the end effector, in N."""
    return gj.generalized_inertia(craft, q), gj.generalized_jacobian(craft, q, *TIP)


def with_velocity_terms(craft: gs.Spacecraft, q: Any, qdot: Any) -> tuple[Any, Any, Any]:
    """H*, C* and J*: what figure 3 computes, from composite bodies and bias forces; no derivative of a matrix."""
    return *generalized(craft, q), gj.reduced_bias_force(craft, q, qdot)


def from_pinocchio(craft: gs.Spacecraft, q: np.ndarray) -> Callable[[], tuple[np.ndarray, np.ndarray]]:
    """The same from Pinocchio's mass matrix and Jacobian, with NumPy, state by state: as its users must.

    Returns the last.
    """
    import pinocchio as pin

    from gyrostat.verification.peers.pinocchio import Pinocchio

    peer = Pinocchio(craft, points=dict([TIP]))
    model, data, tip = peer.model, peer.data, peer.frame[TIP[0]]
    rows = [peer.q(row) for row in q]

    def one(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        M = pin.crba(model, data, q)  # both triangles
        J = pin.computeFrameJacobian(model, data, q, tip, pin.LOCAL_WORLD_ALIGNED)
        X = np.linalg.solve(M[:6, :6], M[:6, 6:])
        return M[6:, 6:] - M[6:, :6] @ X, J[:, 6:] - J[:, :6] @ X

    def call() -> tuple[np.ndarray, np.ndarray]:
        for row in rows:
            result = one(row)
        return result

    return call


def peer_rows(craft: gs.Spacecraft) -> tuple[dict[str, float], Kernel]:
    """Microseconds per state; results compared first."""
    q, _, _ = states(craft, BATCH)
    kernel = compile(generalized, craft, threads=1)
    peer = from_pinocchio(craft, q[:SAMPLE])
    H, J = peer()
    own_H, own_J = kernel(q[SAMPLE - 1])
    J = swapped(J)  # Pinocchio: linear first
    assert np.abs(H - own_H).max() < 1e-10 * np.abs(H).max() and np.abs(J - own_J).max() < 1e-10 * np.abs(J).max()
    single = q[0].copy()
    out = kernel(q)
    times = seconds(
        {
            "Pinocchio and NumPy": peer,
            "gyrostat, one state": lambda: kernel(single),
            "gyrostat, batch": lambda: kernel(q, out=out),
        }
    )
    counts = {"Pinocchio and NumPy": SAMPLE, "gyrostat, one state": 1, "gyrostat, batch": BATCH}
    return {name: 1e6 * time / counts[name] for name, time in times.items()}, kernel


def figure_3_rows() -> list[dict[str, Any]]:
    """H*, C*, J* of the spatial study, each way: operations recorded, microseconds per state in a batch, one thread."""
    table = spatial_table()
    craft, arm, n = table.craft, table.arm, 6
    rng = np.random.default_rng(0)
    q, qdot = rng.uniform(-2, 2, (BATCH, n)), rng.normal(size=(BATCH, n))
    T_J0 = np.tile(np.eye(4), (BATCH, 1, 1))
    ours = np.hstack([np.tile(gs.neutral(craft)[:7], (BATCH, 1)), q])
    shapes = {"T_J0": (4, 4), "q": (n,), "qdot": (n,)}
    part = compile(figure_3.symbolic_part, None, static={"arm": arm}, inputs=shapes, threads=1)
    full = compile(figure_3.fully_symbolic, None, static={"arm": arm}, inputs=shapes, threads=1)
    direct = compile(with_velocity_terms, craft, inputs={"qdot": (n,)}, threads=1)
    ways: dict[str, tuple[Kernel, Callable[[], Any]]] = {
        "partially symbolic, then NumPy": (part, lambda: figure_3.numerical_part(part(T_J0, q, qdot), qdot)),
        "fully symbolic": (full, lambda: full(T_J0, q, qdot)),
        "composite bodies and bias forces": (direct, lambda: direct(ours, qdot)),
    }
    partial, complete, (H, _, C) = (call() for _, call in ways.values())
    for a, b, c in ((partial.H, complete.H, H), (partial.C, complete.C, C)):
        assert np.abs(a - b).max() < 1e-9 * np.abs(a).max() and np.abs(a - c).max() < 1e-9 * np.abs(a).max()
    times = seconds({name: call for name, (_, call) in ways.items()}, repeats=5)
    return [
        {"way": name, "operations": len(kernel.graph), "microseconds_per_state": 1e6 * times[name] / BATCH}
        for name, (kernel, _) in ways.items()
    ]


def main() -> None:
    craft = spatial_table().craft
    rows, kernel = peer_rows(craft)
    ways = figure_3_rows()
    ratio = rows["Pinocchio and NumPy"] / rows["gyrostat, batch"]
    table = Table("H* and J*, six links", "µs per state", "ratio", title=f"{len(kernel.graph)} operations, one thread")
    for name, value in rows.items():
        table.add_row(name, f"{value:.3g}", f"{rows['Pinocchio and NumPy'] / value:.3g}x")
    console.print(table)
    table = Table("H*, C* and J* (figure 3)", "operations", "µs per state", title=f"batch of {BATCH}, one thread")
    for way in ways:
        table.add_row(way["way"], str(way["operations"]), f"{way['microseconds_per_state']:.3g}")
    console.print(table)
    console.print(f"promised: >= 20x Pinocchio with NumPy. Measured: {ratio:.3g}x{'' if ratio >= 20 else ', not met'}")
    result = {
        "machine": machine(),
        "date": datetime.date.today().isoformat(),
        "versions": {name: importlib.metadata.version(name) for name in ("numpy", "llvmlite", "pin")},
        "microseconds_per_state": rows,
        "figure_3": ways,
        "claims": [{"claim": "H* and J*, batch", "measured": ratio, "promised": ">= 20", "holds": bool(ratio >= 20)}],
    }
    place = Path(__file__).parent / "results" / "generalized_jacobian.json"
    place.parent.mkdir(exist_ok=True)
    place.write_text(json.dumps(result, indent=1) + "\n")
    console.print(f"written to {place}")


if __name__ == "__main__":
    main()
