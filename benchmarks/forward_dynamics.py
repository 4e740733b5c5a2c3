"""Forward and inverse dynamics, mass matrix and derivatives of arms on a free base,
against other libraries in the same run.

    python benchmarks/forward_dynamics.py [--quick]

Prints tables of processor time per state and ratios; writes them to benchmarks/results/forward_dynamics.json.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from arms import arm, states
from peers import PEERS
from rich.console import Console
from rich.table import Table
from timing import machine, seconds

import gyrostat as gs
from gyrostat import tracing

FUNCTIONS = {
    "forward_dynamics": gs.forward_dynamics,
    "inverse_dynamics": gs.inverse_dynamics,
    "mass_matrix": gs.mass_matrix,
    "linearize": tracing.linear_motion,
}
FULL = {
    "forward_dynamics": (6, 12, 30, 100),
    "inverse_dynamics": (6, 12, 30, 100),
    "mass_matrix": (6, 12, 30),
    "linearize": (6, 12),
}
QUICK = {"forward_dynamics": (6, 12, 100), "inverse_dynamics": (6,), "mass_matrix": (6,), "linearize": (6,)}
LARGEST_OUTPUT = 4e9  # bytes
console = Console(width=140)


def rows_of(quick: bool, missing: dict[str, str]) -> list[dict[str, Any]]:
    """Microseconds per state, for each quantity, length and batch; peers in turn with gyrostat."""
    found = []
    for quantity, lengths in (QUICK if quick else FULL).items():
        for links in lengths:
            craft = arm(links)
            kernel = tracing.compile(FUNCTIONS[quantity], craft, threads=1)
            for batch in (1, 1000) if quick and links > 6 else (1, 1000, 100_000):
                if 8 * batch * sum(port.size for port in kernel.graph.outputs) > LARGEST_OUTPUT:
                    continue
                row: dict[str, Any] = {"quantity": quantity, "links": links, "batch": batch}
                row |= one_row(quantity, craft, kernel, batch, missing)
                found.append(row)
                console.print(" ".join(f"{k} {v:.4g}" if isinstance(v, float) else str(v) for k, v in row.items()))
    return found


def one_row(
    quantity: str, craft: gs.Spacecraft, kernel: tracing.Kernel, batch: int, missing: dict[str, str]
) -> dict[str, float]:
    given = states(craft, batch)
    if batch == 1:
        given = tuple(x[0].copy() for x in given)
    arguments = given[: len(kernel.graph.inputs)]
    out = kernel(*arguments)
    made: dict[str, Any] = {
        "rows": (lambda: kernel(*arguments), batch),
        "rows, out=": (lambda: kernel(*arguments, out=out), batch),
    }
    if batch > 1:
        by_lane = [kernel.to_lanes(x, x.shape[1:]) for x in arguments]
        lane_out = kernel(*by_lane, layout="lanes")
        made["lanes"] = (lambda: kernel(*by_lane, layout="lanes", out=lane_out), batch)
    for name, make in PEERS.items():
        if name not in missing:
            try:
                made[name] = make(quantity, craft, given, kernel.graph)
            except ImportError as error:
                missing[name] = str(error)
    made = {name: entry for name, entry in made.items() if entry is not None}
    times = seconds({name: call for name, (call, _) in made.items()})
    return {name: 1e6 * times[name] / made[name][1] for name in made}


def claims(rows: list[dict[str, Any]]) -> list[tuple[str, float, str]]:
    """What the README promises: (claim, measured, promised)."""

    def ratio(quantity: str, links: int, batch: int, ours: str, peer: str) -> float:
        for row in rows:
            if (row["quantity"], row["links"], row["batch"]) == (quantity, links, batch):
                return row.get(peer, float("nan")) / row[ours]
        return float("nan")

    def cost(links: int) -> float:
        return next(
            r["rows"] for r in rows if (r["quantity"], r["links"], r["batch"]) == ("forward_dynamics", links, 1000)
        )

    per_link = (cost(100) / 100) / (cost(12) / 12)
    return [
        (
            "forward dynamics, 1e5 states as rows, against pin.aba",
            ratio("forward_dynamics", 6, 100_000, "rows", "Pinocchio"),
            ">= 30",
        ),
        (
            "forward dynamics, 1e5 states as rows, against JAX",
            ratio("forward_dynamics", 6, 100_000, "rows", "JAX"),
            ">= 80",
        ),
        (
            "forward dynamics, 1e5 states by lane, against heyoka",
            ratio("forward_dynamics", 6, 100_000, "lanes", "heyoka"),
            ">= 1",
        ),
        ("forward dynamics, one state, against pin.aba", ratio("forward_dynamics", 6, 1, "rows", "Pinocchio"), ">= 1"),
        (
            "forward dynamics, one state with out=, against pin.aba",
            ratio("forward_dynamics", 6, 1, "rows, out=", "Pinocchio"),
            "> 1",
        ),
        (
            "derivatives, 1000 states, against pin.computeABADerivatives",
            ratio("linearize", 6, 1000, "rows", "Pinocchio"),
            ">= 5",
        ),
        (
            "derivatives, 1e5 states, against pin.computeABADerivatives",
            ratio("linearize", 6, 100_000, "rows", "Pinocchio"),
            ">= 5",
        ),
        ("cost per link at 100 links over that at 12", per_link, "<= 1.5"),
        *start_up(),
    ]


def start_up() -> list[tuple[str, float, str]]:
    """Seconds to import and to compile, in fresh processes; the median of five."""
    program = (
        "import time; a = time.perf_counter(); import gyrostat as gs; b = time.perf_counter(); from gyrostat import "
        "tracing; from arms import arm; craft = arm(6); tracing.compile(lambda x: x + 1, None, inputs={'x': ()}); "
        "c = time.perf_counter(); tracing.compile(gs.forward_dynamics, craft); d = time.perf_counter(); print(b - a, d "
        "- c)"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}

    def run(cache: str) -> list[float]:
        result = subprocess.run(
            [sys.executable, "-c", program],
            env=environment | {"GYROSTAT_CACHE": cache},
            capture_output=True,
            text=True,
            check=True,
        )
        return [float(x) for x in result.stdout.split()]

    with tempfile.TemporaryDirectory() as cache:
        run(cache)
        cold = np.median([run("off") for _ in range(5)], axis=0)
        warm = np.median([run(cache) for _ in range(5)], axis=0)
    return [
        ("import gyrostat, s", float(warm[0]), "<= 0.3"),
        ("first compile of the six-link arm, s", float(cold[1]), "<= 0.5"),
        ("the same from the cache, s", float(warm[1]), "<= 0.05"),
    ]


def holds(value: float, promised: str) -> bool:
    sign, bound = promised.split()
    return {">=": value >= float(bound), ">": value > float(bound), "<=": value <= float(bound)}[sign]


def show(rows: list[dict[str, Any]], promised: list[tuple[str, float, str]]) -> None:
    peers = [name for name in PEERS if any(name in row for row in rows)]
    table = Table(
        "quantity",
        "links",
        "batch",
        "rows",
        "out=",
        "lanes",
        *peers,
        title="processor µs per state, one thread (x: times gyrostat's rows; heyoka: lanes)",
    )
    for row in rows:
        cells = [row["quantity"], str(row["links"]), str(row["batch"])]
        cells += [f"{row[k]:.3g}" if k in row else "" for k in ("rows", "rows, out=", "lanes")]
        for name in peers:
            ours = row.get("lanes", row["rows"]) if name == "heyoka" else row["rows"]
            cells.append(f"{row[name]:.3g} ({row[name] / ours:.3g}x)" if name in row else "")
        table.add_row(*cells)
    console.print(table)
    table = Table("claim", "measured", "promised", "")
    for claim, value, bound in promised:
        table.add_row(claim, f"{value:.3g}", bound, "" if holds(value, bound) else "not met")
    console.print(table)


def versions() -> dict[str, str]:
    found = {}
    for name in ("numpy", "llvmlite", "pin", "mujoco", "jax", "heyoka"):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer lengths and batches")
    quick = parser.parse_args().quick
    missing: dict[str, str] = {}
    start = time.perf_counter()
    rows = rows_of(quick, missing)
    promised = claims(rows)
    show(rows, promised)
    for name, reason in missing.items():
        console.print(f"{name} was left out: {reason}")
    result = {
        "machine": machine(),
        "date": datetime.date.today().isoformat(),
        "versions": versions(),
        "seconds": time.perf_counter() - start,
        "microseconds_per_state": rows,
        "claims": [{"claim": c, "measured": v, "promised": b, "holds": holds(v, b)} for c, v, b in promised],
    }
    place = Path(__file__).parent / "results" / f"forward_dynamics{'_quick' if quick else ''}.json"
    place.parent.mkdir(exist_ok=True)
    place.write_text(json.dumps(result, indent=1) + "\n")
    console.print(f"written to {place}")


if __name__ == "__main__":
    main()
