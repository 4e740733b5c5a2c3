"""Air density: an exponential atmosphere, and that of Harris and Priester with its daily bulge."""

from __future__ import annotations

from dataclasses import dataclass
from math import radians
from typing import Any

import numpy as np

from ..algebra import Array, cos, exp, log, maximum, norm, sin
from ..tracing.tables import interp
from .ephemeris import Celestial
from .planets import Planet


@dataclass(frozen=True)
class Exponential:
    """rho = density exp(-(h - height) / scale): kg/m^3 at `height` m, falling by e every `scale` m.

    The defaults are those of 500 km over Earth at mean solar activity (Vallado's table).
    """

    density: float = 6.967e-13
    height: float = 500e3
    scale: float = 63.822e3

    def __call__(self, planet: Planet, t: Any, r_N: Array) -> Any:
        return self.density * exp(-(planet.height(r_N, t) - self.height) / self.scale)


# height in km; least and greatest density over a day in g/km^3, mean solar activity. Harris & Priester as modified by
# Long et al., in Montenbruck & Gill, Satellite Orbits (2000), table 3.8
_TABLE = np.array([
    (100, 497400.0, 497400.0), (120, 24900.0, 24900.0), (130, 8377.0, 8710.0), (140, 3899.0, 4059.0),
    (150, 2122.0, 2215.0), (160, 1263.0, 1344.0), (170, 800.8, 875.8), (180, 528.3, 601.0), (190, 361.7, 429.7),
    (200, 255.7, 316.2), (210, 183.9, 239.6), (220, 134.1, 185.3), (230, 99.49, 145.5), (240, 74.88, 115.7),
    (250, 57.09, 93.08), (260, 44.03, 75.55), (270, 34.30, 61.82), (280, 26.97, 50.95), (290, 21.39, 42.26),
    (300, 17.08, 35.26), (320, 10.99, 25.11), (340, 7.214, 18.19), (360, 4.824, 13.37), (380, 3.274, 9.955),
    (400, 2.249, 7.492), (420, 1.558, 5.684), (440, 1.091, 4.355), (460, 0.7701, 3.362), (480, 0.5474, 2.612),
    (500, 0.3916, 2.042), (520, 0.2819, 1.605), (540, 0.2042, 1.267), (560, 0.1488, 1.005), (580, 0.1092, 0.7997),
    (600, 0.08070, 0.6390), (620, 0.06012, 0.5123), (640, 0.04519, 0.4121), (660, 0.03430, 0.3325),
    (680, 0.02632, 0.2691), (700, 0.02043, 0.2185), (720, 0.01607, 0.1779), (740, 0.01281, 0.1452),
    (760, 0.01036, 0.1190), (780, 0.008496, 0.09776), (800, 0.007069, 0.08059), (840, 0.004680, 0.05741),
    (880, 0.003200, 0.04210), (920, 0.002210, 0.03130), (960, 0.001560, 0.02360), (1000, 0.001150, 0.01810),
])  # fmt: skip
_HEIGHTS = 1e3 * _TABLE[:, 0]
_LOG_DENSITIES = np.log(1e-12 * _TABLE[:, 1:])  # kg/m^3
LAG = radians(30.0)  # of the bulge behind the Sun


@dataclass(frozen=True, eq=False)
class HarrisPriester:
    """rho = least + (greatest - least) cos^n(psi/2), psi from the bulge that lags 30 degrees behind the Sun.

    Between the table's heights log rho is linear; below 100 km and above 1000 km it is held.
    n: 2 for low inclinations, 6 for polar.
    """

    sun: Celestial
    n: float = 4.0

    @property
    def span(self) -> tuple[float, float] | None:
        return self.sun.span

    def __call__(self, planet: Planet, t: Any, r_N: Array) -> Any:
        least, greatest = exp(interp(planet.height(r_N, t), _HEIGHTS, _LOG_DENSITIES))
        s = self.sun.position(t)
        s = s / norm(s)
        c, k = cos(LAG), sin(LAG)
        bulge = np.array([c * s[0] - k * s[1], k * s[0] + c * s[1], s[2]])
        half = maximum(0.5 + 0.5 * (r_N @ bulge) / norm(r_N), 1e-12)  # cos^2(psi/2)
        return least + (greatest - least) * exp(0.5 * self.n * log(half))
