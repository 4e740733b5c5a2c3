"""Flexible bodies: a two-link arm on a free base, rigid and with four modes a link; a manoeuvre against a chain.

    python benchmarks/flexible.py [--quick]

1. Forward dynamics in a batch, time per state of one core, rigid and flexible (with second-order shapes, and without).
2. A manoeuvre of the flexible arm against hinged pieces with springs, which are rigid bodies of the same library. Both
   are compared with five modes a link: the chain's pieces are as many as make it no more exact than the modes. Wall
   time of a run, compiled before.

Processor time, the least of the repeats. Prints a table; writes it to benchmarks/results/flexible.json.
"""

from __future__ import annotations

import argparse
import datetime
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from timing import machine

import gyrostat as gs
from gyrostat.algebra import sin
from gyrostat.structures import Section

LENGTH, MASS, EI = 2.0, 1.5, 400.0  # of a link: m, kg/m, N m^2
PIECES = 20  # of a link of the chain
SECTION = Section(1e6, EI, EI, 200.0, MASS)
HUB = gs.Body("hub", 50.0, (0.02, 0.01, -0.03), (8.0, 9.0, 10.0))
SHOULDER = (0.4, 0.1, 0.2)


def flexible(
    modes: int, *, motions: tuple[str, ...] = ("y",), stiffening: bool = True, terms: str = "all"
) -> gs.Spacecraft:
    """Links bend in the plane of their hinges; in both planes with motions y and z."""
    own: dict[str, Any] = {"modes": modes, "motions": motions, "stiffening": stiffening, "terms": terms}
    upper = gs.beam("upper", LENGTH, SECTION, joint=gs.Joint("shoulder", "revolute", "hub", SHOULDER), **own)
    lower = gs.beam("lower", LENGTH, SECTION, joint=gs.Joint("elbow", "revolute", "upper.tip"), **own)
    return gs.Spacecraft.build("flexible arm", [HUB, upper, lower], frames=[gs.Frame("tool", "lower.tip")])


def chain(pieces: int) -> gs.Spacecraft:
    """Each link as rigid pieces, sprung hinges between them; pieces = 1: the rigid arm."""
    length, bodies, parent, at = LENGTH / pieces, [HUB], "hub", np.array(SHOULDER)
    across = MASS * length**3 / 12.0
    for link, motor in (("upper", "shoulder"), ("lower", "elbow")):
        for k in range(pieces):
            name = f"{link}_{k}"
            spring = {"stiffness": EI / length} if k else {}
            joint = gs.Joint(f"bend {name}" if k else motor, "revolute", parent, at, **spring)
            bodies.append(gs.Body(name, MASS * length, (length / 2, 0, 0), (1e-6, across, across), joint))
            parent, at = name, np.array([length, 0.0, 0.0])
    tool = gs.Frame("tool", parent, (length, 0.0, 0.0))
    return gs.Spacecraft.build(f"arm of {pieces} pieces a link", bodies, frames=[tool])


def per_state(craft: gs.Spacecraft, states: int) -> float:
    """Nanoseconds of processor time."""
    rng = np.random.default_rng(0)
    q = np.tile(gs.neutral(craft), (states, 1))
    q[:, 7:] += 0.1 * rng.normal(size=(states, craft.nq - 7))
    v, tau = 0.3 * rng.normal(size=(2, states, craft.nv))
    kernel = gs.compile(gs.forward_dynamics, craft, threads=1)
    kernel(q, v, tau)
    return least(lambda: kernel(q, v, tau), 7) / states * 1e9


def least(call: Any, repeats: int) -> float:
    times = []
    for _ in range(repeats):
        begin = time.process_time()
        call()
        times.append(time.process_time() - begin)
    return min(times)


def manoeuvre(craft: gs.Spacecraft, duration: float) -> tuple[np.ndarray, float]:
    """Where the tip goes, in N, and the seconds that a run takes."""

    def law(craft: gs.Spacecraft, t: Any, q: Any, v: Any) -> Any:
        w = 2.0 * np.pi / 20.0
        return gs.joint_torques(craft, {"shoulder": 1.2 * sin(w * t), "elbow": -0.5 * sin(2.0 * w * t)})

    options: dict[str, Any] = {"control": law, "rtol": 1e-8, "save_at": np.linspace(0.0, duration, 201), "threads": 1}
    still = gs.neutral(craft), np.zeros(craft.nv)
    gs.simulate(craft, *still, t_span=(0.0, 0.1), **options | {"save_at": None})  # compiled now
    found: list[Any] = []
    seconds = least(lambda: found.append(gs.simulate(craft, *still, t_span=(0.0, duration), **options)), 1)
    return found[0].frame("tool")[1], seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer states, a tenth of the manoeuvre")
    quick = parser.parse_args().quick
    states, duration = (2000, 2.0) if quick else (20000, 20.0)
    rigid = per_state(chain(1), states)
    arms = {
        "4 modes in a plane": flexible(4),
        "4 modes in a plane, leading terms": flexible(4, terms="leading"),
        "4 modes in a plane, without second order": flexible(4, stiffening=False),
        "2 + 2 modes in both planes": flexible(4, motions=("y", "z")),
        "2 + 2 modes, leading terms": flexible(4, motions=("y", "z"), terms="leading"),
        "2 + 2 modes, without second order": flexible(4, motions=("y", "z"), stiffening=False),
        "2 modes in a plane": flexible(2),
    }
    rows = [{"arm": "rigid", "ns": rigid, "ratio": 1.0}]
    rows += [
        {"arm": name, "ns": ns, "ratio": ns / rigid} for name, arm in arms.items() for ns in [per_state(arm, states)]
    ]
    exact, _ = manoeuvre(flexible(5), duration)
    few, own = manoeuvre(flexible(4), duration)
    hinged, theirs = manoeuvre(chain(PIECES), duration)
    moved = np.abs(exact - exact[0]).max()
    errors = [float(np.abs(x - exact).max() / moved) for x in (few, hinged)]
    table = Table("arm", "ns a state", "times the rigid arm")
    for row in rows:
        table.add_row(str(row["arm"]), f"{row['ns']:.1f}", f"{row['ratio']:.2f}")
    console = Console()
    console.print(table)
    console.print(
        f"manoeuvre of {duration:g} s: 2 x 4 modes {own:.3g} s (error {errors[0]:.2g}), 2 x {PIECES} pieces "
        f"{theirs:.3g} s (error {errors[1]:.2g}): {theirs / own:.3g} times as fast"
    )
    if quick:
        return
    result = {"date": datetime.date.today().isoformat(), "machine": machine(), "states": rows}
    result["manoeuvre"] = {"seconds": duration, "modes": own, "pieces": theirs, "ratio": theirs / own, "errors": errors}
    path = Path(__file__).parent / "results" / "flexible.json"
    path.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
