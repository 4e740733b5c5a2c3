"""An orbit in words and numbers that a file can hold, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .orbit import Orbit
from .planets import Planet

PLANET = ("name", "mu", "radius", "spin", "flattening", "prime_meridian", "dense_air")


def orbit_notes(orbit: Orbit) -> dict[str, Any]:
    """Everything but how the planet really turns (`Planet.orientation`), which is a table of its own."""
    planet: dict[str, Any] = {name: getattr(orbit.planet, name) for name in PLANET}
    planet["zonals"] = [[degree, value] for degree, value in orbit.planet.zonals.items()]
    return {"planet": planet, "a": orbit.a, "e": orbit.e, "R_NP": np.asarray(orbit.R_NP).tolist(), "M0": orbit.M0}


def orbit_from_notes(notes: Mapping[str, Any]) -> Orbit:
    """Raises a ValueError for anything but what `orbit_notes` made."""
    try:
        told = dict(notes["planet"])
        zonals = {int(degree): float(value) for degree, value in told.pop("zonals")}
        R_NP = np.array(notes["R_NP"], dtype=float)
        if R_NP.shape != (3, 3) or not np.allclose(R_NP.T @ R_NP, np.eye(3), atol=1e-9):
            raise ValueError("R_NP is no rotation")
        return Orbit(Planet(zonals=zonals, **told), float(notes["a"]), float(notes["e"]), R_NP, float(notes["M0"]))
    except (KeyError, TypeError) as error:
        raise ValueError(f"an orbit is not told whole: {error}") from None
