"""All of Ploen, Hadaegh & Scharf (2004): its equations, checked; and two formations of the kinds it names, flown."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ...environment import EARTH, Orbit
from ..checks import Check, Reproduction, at_most, holds
from . import equations, interferometer, low_orbit
from .figures import hill_figure, interferometer_figure, linear_figure

RADII = np.array([30.0, 300.0, 3000.0])
CIRCULAR = Orbit.from_elements(low_orbit.ORBIT.a, 0.0, np.radians(97.4), 0.4, 0.3)
ELLIPTIC = Orbit.from_elements(9e6, 0.2, np.radians(97.4), 0.4, 0.3)


def reproduce(out_dir: str | Path) -> Reproduction:
    """Run everything, write the figures as PNG into `out_dir`, and say what holds and what does not."""
    folder = Path(out_dir)
    found = equations.checks()

    array = interferometer.fly()
    found += _interferometer(array)
    figures = [interferometer_figure(array, folder / "ploen2004_interferometer.png")]

    sphere, oblate = low_orbit.drift(), low_orbit.drift(oblate=True)
    moved, missed, cost = low_orbit.reconfigure()
    found += _orbits(sphere)
    found += [
        at_most("reconfiguration by two impulses: arrival", missed, 1e-4, " m", f"{cost:.2f} m/s for four deputies"),
        holds(
            "reconfiguration: closest approach of two members",
            moved.closest_approach().distance > 50.0,
            f"{moved.closest_approach().distance:.0f} m",
            "> 50 m",
        ),
    ]
    figures.append(hill_figure(sphere, oblate, moved, folder / "ploen2004_hill_frame.png"))

    errors = {
        "Clohessy-Wiltshire, circular": [low_orbit.linear_error(CIRCULAR, r) for r in RADII],
        "Yamanaka-Ankersen, e = 0.2": [low_orbit.linear_error(ELLIPTIC, r) for r in RADII],
    }
    for name, values in errors.items():
        ratios = np.array(values[1:]) / values[:-1]
        found.append(
            holds(
                f"{name}: relative error grows as the separation",
                bool(np.all(np.abs(ratios / 10 - 1) < 0.1)),
                f"x {ratios[0]:.2f}, x {ratios[1]:.2f} for x 10",
                "x 10 within 10 %",
            )
        )
    figures.append(linear_figure(RADII, errors, folder / "ploen2004_linear_models.png"))
    return Reproduction(found, figures, ASSUMPTIONS, REMARKS)


def _interferometer(run: interferometer.FormationTrajectory) -> list[Check]:
    position, angle = interferometer.slot_errors(run)
    audits = run.audits.values()
    return [
        at_most("interferometer: collectors in their places", float(position[:, -1].max()), 1e-6, " m"),
        at_most("interferometer: attitudes agree", float(angle[:, -1].max()), 1e-6, " rad"),
        at_most("interferometer: energy against work, every craft", max(a.energy for a in audits), 1e-7),
        at_most("interferometer: momentum against impulses", max(a.linear for a in audits), 1e-8),
        holds(
            "interferometer: closest approach of two craft",
            run.closest_approach().distance > 5.0,
            f"{run.closest_approach().distance:.1f} m",
            "> 5 m",
        ),
    ]


def _orbits(run: interferometer.FormationTrajectory) -> list[Check]:
    drift, energies = [], []
    for name in low_orbit.NAMES:
        r, v = run.absolute(name)
        energy = (v * v).sum(axis=1) / 2 - EARTH.mu / np.linalg.norm(r, axis=1)
        energies.append(np.abs(energy / energy[0] - 1).max())
        rho, _ = run.hill(name, about="chief")
        drift.append(np.linalg.norm(rho[-1] - rho[0]))
    return [
        at_most("low orbit: energy of every member", float(max(energies)), 1e-11),
        at_most("low orbit: relative orbits close after three turns", float(max(drift)), 1e-2, " m"),
    ]


ASSUMPTIONS = [
    "The paper has no numerical example: the interferometer and the low-orbit formation are ours, of the kinds that it names.",
    "Thrusters and wheels of the interferometer are ideal; each craft knows the acceleration of the combiner from its model.",
]
REMARKS = [
    (
        "Agrees: the four forms, the Lie-group form with its sign put right, the Kirchhoff form (58), the structure of the formation's "
        "equations (64), footnote 6."
    ),
    (
        "Differs: Propositions 2 and 4 are false as stated, and (52), (54), (55) as printed do not make M' - 2C skew; the products C V cannot "
        "show it. docs/errata/ploen2004.md says which choices do."
    ),
    (
        "Added, as the paper announces it for later: relative equations as a virtual tree, members that are multibody systems, gravity and "
        "other disturbances, linear models."
    ),
]
