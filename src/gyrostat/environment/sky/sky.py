"""What is above and below a run: Earth as it turns, Sun, Moon and planets, the magnetic field."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from ...algebra import Array
from ..ephemeris import Celestial
from ..planets import EARTH, Planet
from .bodies import celestial
from .earth import EarthOrientation, earth_orientation
from .instants import after, instant
from .libraries import library
from .magnetism import MagneticField, igrf


class Sky:
    """From an epoch (t = 0) over `duration` seconds, in GCRF axes. Each part is tabulated when it is first asked for.

    epoch: ISO string, datetime, Julian date, astropy Time; scale: utc, tai, tt or tdb. ephemeris: "builtin", or the
    path of a .bsp of JPL. ut1: "iers", "utc", or UT1 - UTC in s (see `earth_orientation`). before: seconds before the
    epoch that are known too.
    """

    def __init__(
        self,
        epoch: Any,
        duration: float,
        *,
        scale: str = "utc",
        ephemeris: Any = "builtin",
        ut1: Any = "iers",
        before: float = 0.0,
        planet: Planet = EARTH,
    ) -> None:
        if not (np.isfinite(duration) and duration > 0 and before >= 0):
            raise ValueError(
                f"sky: duration is {duration} s, before {before} s; expected seconds, above zero and not below it."
            )
        if planet.name != "Earth":
            raise ValueError(f"sky: planet is '{planet.name}'; the sky is Earth's. Give Earth with another mu, say.")
        self.epoch, self.span = instant(epoch, scale), (0.0 - float(before), float(duration))
        self.ephemeris, self.ut1, self._planet = ephemeris, ut1, planet

    @cached_property
    def orientation(self) -> EarthOrientation:
        return earth_orientation(self.epoch, *self.span, self.ut1)

    @cached_property
    def earth(self) -> Planet:
        """Earth that turns as it does: for orbits, harmonics, air."""
        return replace(self._planet, orientation=self.orientation)

    @cached_property
    def sun(self) -> Celestial:
        return self.body("sun")

    @cached_property
    def moon(self) -> Celestial:
        return self.body("moon")

    def body(self, name: str) -> Celestial:
        """sun, moon, mercury ... neptune."""
        return celestial(name, self.epoch, *self.span, self.ephemeris)

    @cached_property
    def magnetic_field(self) -> MagneticField:
        return igrf(self.earth, self.epoch, *self.span)

    def time(self, t: Any) -> Any:
        """t seconds after the epoch as an astropy Time."""
        return after(self.epoch, t)

    def seconds(self, times: Any, scale: str = "utc") -> Array:
        """Of dates, datetime64, after the epoch: what t is there."""
        at = library("astropy.time", "a date").Time(np.asarray(times, dtype="datetime64[ns]"), scale=scale.lower()).tai
        epoch = self.epoch.tai
        return np.asarray(((at.jd1 - epoch.jd1) + (at.jd2 - epoch.jd2)) * 86400.0, dtype=float)
