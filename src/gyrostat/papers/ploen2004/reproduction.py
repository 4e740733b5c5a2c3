"""All of Ploen, Hadaegh & Scharf (2004): its equations, checked; and two formations of the kinds it names, flown."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ...environment import Orbit
from ..checks import Reproduction
from ..panels import write
from . import interferometer, low_orbit
from .checks import equation_checks, interferometer_checks, linear_checks, orbit_checks, reconfiguration_checks
from .figures import hill_figure, interferometer_figure, linear_figure
from .tables import form_checks

RADII = np.array([30.0, 300.0, 3000.0])
CIRCULAR = Orbit.from_elements(low_orbit.ORBIT.a, 0.0, np.radians(97.4), 0.4, 0.3)
ELLIPTIC = Orbit.from_elements(9e6, 0.2, np.radians(97.4), 0.4, 0.3)


ASSUMPTIONS = [
    (
        "The paper has no numerical example: the interferometer and the low-orbit formation are ours, of the kinds "
        "that it names."
    ),
    (
        "Thrusters and wheels of the interferometer are ideal; each craft knows the acceleration of the combiner "
        "from its model."
    ),
]
REMARKS = [
    (
        "Agrees: the four forms, the Lie-group form with its sign put right, the Kirchhoff form (58), the structure of "
        "the formation's equations (64), footnote 6."
    ),
    (
        "Differs: Propositions 2 and 4 are false as stated, and (52), (54), (55) as printed do not make M' - 2C skew; "
        "the products C V cannot show it. docs/errata/ploen2004.md says which choices do."
    ),
    (
        "Added, as the paper announces it for later: relative equations as a virtual tree, members that are multibody "
        "systems, gravity and other disturbances, linear models."
    ),
]


def reproduce(out_dir: str | Path) -> Reproduction:
    """Run everything, write the figures as PNG into `out_dir`, and say what holds and what does not."""
    array = interferometer.fly()
    sphere, oblate = low_orbit.drift(), low_orbit.drift(oblate=True)
    moved, missed, cost = low_orbit.reconfigure()
    errors = {
        "Clohessy-Wiltshire, circular": [low_orbit.linear_error(CIRCULAR, r) for r in RADII],
        "Yamanaka-Ankersen, e = 0.2": [low_orbit.linear_error(ELLIPTIC, r) for r in RADII],
    }
    found = [
        *form_checks(),
        *equation_checks(),
        *interferometer_checks(array),
        *orbit_checks(sphere),
        *reconfiguration_checks(moved, missed, cost),
        *linear_checks(RADII, errors),
    ]
    drawn = {
        "interferometer": interferometer_figure(array),
        "hill_frame": hill_figure(sphere, oblate, moved),
        "linear_models": linear_figure(RADII, errors),
    }
    return Reproduction(found, write(drawn, Path(out_dir), "ploen2004"), ASSUMPTIONS, REMARKS)
