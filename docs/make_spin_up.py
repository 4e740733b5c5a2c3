"""The picture of docs/flexible.md, made anew: `python docs/make_spin_up.py`.

A beam that is spun up bends back and comes to rest, and diverges falsely where bending does not pull its tip in (Kane,
Ryan & Banerjee 1987).
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import gyrostat as gs
from gyrostat.algebra import cos, where
from gyrostat.structures import Section
from gyrostat.view.style import figure_style

CHAIN = ((5.0, -0.468), (6.76, -0.574), (10.0, -0.363))  # of 120 bars


def tip_of(stiffening: bool, end: float, modes: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """L 10 m, EI 1.4e4 N m^2, 1.2 kg/m, to 6 rad/s in 15 s: times and deflections of the tip."""
    root = gs.Joint("root", "revolute", "wall", axis=(0, 0, 1))
    section = Section(2.8e7, 1.4e4, 1.4e4, 1e4, 1.2)
    beam = gs.beam("beam", 10.0, section, modes=modes, motions=["y"], joint=root, stiffening=stiffening)
    wall = gs.Body("wall", 1.0, inertia=(1, 1, 1), joint=gs.Joint("wall", "fixed"))
    craft = gs.Spacecraft.build("spun up", [wall, beam])
    spin = {"root": lambda t: where(t < 15.0, 0.4 * (1.0 - cos(2.0 * np.pi * t / 15.0)), 0.0 * t)}
    times = np.linspace(0.0, end, 501)
    still = gs.neutral(craft), np.zeros(craft.nv)
    run = gs.simulate(craft, *still, t_span=(0.0, end), save_at=times, prescribed=spin, rtol=1e-9)
    mount = beam.mount("tip")
    return run.time, np.array([mount.place(e)[1] for e in run.q[:, craft.flexible("beam").q_at]])


def main() -> None:
    with figure_style():
        figure, at = plt.subplots(figsize=(7.6, 3.6), layout="constrained")
        at.plot(*tip_of(True, 20.0), label="with second-order shapes")
        at.plot(*tip_of(False, 7.2), linestyle=(0, (4, 2)), label="without: diverges")
        at.plot(*np.transpose(CHAIN), "o", label="chain of 120 bars")
        at.set(xlabel="time [s]", ylabel="tip [m]", ylim=(-1.5, 0.2), xlim=(0, 20), title="A beam spun up to 6 rad/s")
        at.legend(loc="lower right")
        figure.savefig(Path(__file__).parent / "images" / "spin_up.png", dpi=110)


if __name__ == "__main__":
    main()
