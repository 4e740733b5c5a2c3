"""Tides of bodies far away: their pull on the craft, less their pull on the planet."""

from __future__ import annotations

from typing import Any

from ..algebra import Array
from .ephemeris import Celestial
from .gravity import Environment
from .orbit import reference_of
from .point_forces import at_centers_of_mass
from .two_body import differential_gravity


def third_body_gravity(orbit: Any, celestial: Celestial) -> Environment:
    """Sun or Moon, at the centre of mass of every body of the craft.

    The planet falls towards the third body as well, so what remains is g(d - r) - g(d), taken without cancellation by
    the same formula as differential gravity: with d the third body's place, its pull at r is that at -d shifted by r.
    """
    place = reference_of(orbit, f"the gravity of {getattr(celestial, 'name', celestial)}")

    def acceleration(t: Any, r: Array) -> Array:
        return differential_gravity(celestial.mu, -celestial.position(t), r)

    return at_centers_of_mass(place, acceleration, celestial)
