"""Flexible bodies: a two-link arm on a free base, rigid and with four modes a link; a manoeuvre against a chain.

    python benchmarks/flexible.py [--quick]

1. Forward dynamics in a batch, time per state of one core, rigid and flexible (with second-order shapes, and without).
2. A manoeuvre of 200 s of the flexible arm (springs and dampers at its motors keep it regular) against hinged pieces
   with springs, which are rigid bodies of the same library, and against Exudyn's beams of absolute nodal coordinates,
   if it is installed. All are compared with six shapes a link at a fine tolerance; the chain is less exact than four
   shapes. Runs compiled before.

Processor time, the least of the repeats. Prints a table; writes it to benchmarks/results/flexible.json.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.util
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
MODES, PIECES, ELEMENTS = 4, 40, 8  # of a link: shapes, pieces of the chain, Exudyn's elements
STEP = 4e-3  # s, of Exudyn's integrator
TOLERANCE = 1e-5  # of the runs
SPRING, DAMPER = (12.0, 6.0), (20.0, 10.0)  # at shoulder and elbow: N m/rad, N m s/rad
SECTION = Section(1e6, EI, EI, 200.0, MASS)
HUB = gs.Body("hub", 50.0, (0.0, 0.0, 0.0), (8.0, 9.0, 10.0))
SHOULDER = (0.4, 0.1, 0.0)


def flexible(
    modes: int,
    *,
    motions: tuple[str, ...] = ("y",),
    stiffening: bool = True,
    terms: str = "all",
    turned: bool = False,
) -> gs.Spacecraft:
    """Links bend in the plane of their hinges; in both planes with motions y and z. turned: one shape of the upper link
    is the turn of its tip, where the elbow's motor pulls.
    """
    own: dict[str, Any] = {"modes": modes, "motions": motions, "stiffening": stiffening, "terms": terms}
    first = own | {"modes": modes - 1, "interfaces": {"tip": ("rz",)}} if turned else own
    shoulder = gs.Joint("shoulder", "revolute", "hub", SHOULDER, stiffness=SPRING[0], damping=DAMPER[0])
    elbow = gs.Joint("elbow", "revolute", "upper.tip", stiffness=SPRING[1], damping=DAMPER[1])
    upper = gs.beam("upper", LENGTH, SECTION, joint=shoulder, **first)
    lower = gs.beam("lower", LENGTH, SECTION, joint=elbow, **own)
    return gs.Spacecraft.build("flexible arm", [HUB, upper, lower], frames=[gs.Frame("tool", "lower.tip")])


def chain(pieces: int) -> gs.Spacecraft:
    """Each link as rigid pieces, sprung hinges between them; pieces = 1: the rigid arm."""
    length, bodies, parent, at = LENGTH / pieces, [HUB], "hub", np.array(SHOULDER)
    across = MASS * length**3 / 12.0
    for link, motor, at_motor in zip(
        ("upper", "lower"), ("shoulder", "elbow"), zip(SPRING, DAMPER, strict=True), strict=True
    ):
        for k in range(pieces):
            name = f"{link}_{k}"
            spring = {"stiffness": EI / length} if k else {"stiffness": at_motor[0], "damping": at_motor[1]}
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


def manoeuvre(craft: gs.Spacecraft, duration: float, tolerance: float) -> tuple[np.ndarray, float]:
    """Where the tip is, in N, every second; and the seconds that a run takes."""

    def law(craft: gs.Spacecraft, t: Any, q: Any, v: Any) -> Any:
        shoulder, elbow = torques(t, sin)
        return gs.joint_torques(craft, {"shoulder": shoulder, "elbow": elbow})

    seconds_of = np.arange(0.0, duration + 0.5)
    options: dict[str, Any] = {
        "control": law,
        "rtol": tolerance,
        "atol": tolerance,
        "save_at": seconds_of,
        "threads": 1,
    }
    still = gs.neutral(craft), np.zeros(craft.nv)
    gs.simulate(craft, *still, t_span=(0.0, 0.1), **options | {"save_at": None})  # compiled now
    found: list[Any] = []
    seconds = least(lambda: found.append(gs.simulate(craft, *still, t_span=(0.0, duration), **options)), 1)
    return found[0].frame("tool")[1], seconds


def torques(t: Any, sin: Any) -> tuple[Any, Any]:
    """At shoulder and elbow, N m."""
    w = 2.0 * np.pi / 20.0
    return 6.0 * sin(w * t), -3.0 * sin(2.0 * w * t)


def compared(duration: float) -> list[dict[str, Any]]:
    """Each way with its seconds and its error, relative to how far the tip moves."""
    own: dict[str, Any] = {"terms": "leading", "turned": True}
    exact, _ = manoeuvre(flexible(6, **own), duration, 1e-9)
    moved = np.abs(exact - exact[0]).max()
    rows = []
    for what, craft in ((f"2 x {MODES} shapes", flexible(MODES, **own)), (f"2 x {PIECES} pieces", chain(PIECES))):
        found, seconds = manoeuvre(craft, duration, TOLERANCE)
        rows.append({"what": what, "seconds": seconds, "error": float(np.abs(found - exact).max() / moved)})
    if importlib.util.find_spec("exudyn"):
        from flexible_in_exudyn import beams

        found, seconds = beams(duration, ELEMENTS, STEP)
        error = float(np.abs(found - exact).max() / moved)
        what = f"Exudyn, 2 x {ELEMENTS} beams, steps of {1e3 * STEP:g} ms"
        rows.append({"what": what, "seconds": seconds, "error": error})
    return [row | {"times": row["seconds"] / rows[0]["seconds"]} for row in rows]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer states, a tenth of the manoeuvre")
    quick = parser.parse_args().quick
    states, duration = (2000, 20.0) if quick else (20000, 200.0)
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
    ways = compared(duration)
    table = Table("arm", "ns a state", "times the rigid arm")
    for row in rows:
        table.add_row(str(row["arm"]), f"{row['ns']:.1f}", f"{row['ratio']:.2f}")
    console = Console()
    console.print(table)
    table = Table(f"manoeuvre of {duration:g} s", "s", "error", "times as long")
    for way in ways:
        table.add_row(way["what"], f"{way['seconds']:.3g}", f"{way['error']:.2g}", f"{way['times']:.3g}")
    console.print(table)
    if quick:
        return
    result = {"date": datetime.date.today().isoformat(), "machine": machine(), "states": rows}
    result["manoeuvre"] = {"duration": duration, "ways": ways}
    path = Path(__file__).parent / "results" / "flexible.json"
    path.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
