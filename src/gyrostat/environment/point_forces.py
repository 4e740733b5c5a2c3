"""Accelerations that act at each body's centre of mass, as an environment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..algebra import Array, transform_point
from ..kinematics import inertial_poses
from ..model import Spacecraft
from .gravity import Environment, common_span, gravity_wrenches
from .orbit import Reference
from .two_body import outside


def at_centers_of_mass(place: Reference, acceleration: Callable[[Any, Array], Array], *known: Any) -> Environment:
    """acceleration(t, r) (3,) in N, r from the planet's centre: it pulls every body at its centre of mass.

    known: what it reads besides place and planet, each with the `span` of its tables.
    """

    def wrenches(craft: Spacecraft, t: Any, q: Array, v: Array) -> Array:
        r1, X_NB = place.state(t).r, inertial_poses(craft, q)
        rows = [acceleration(t, r1 + transform_point(X_NB[body.name], body.com)) for body in craft.bodies]
        return gravity_wrenches(craft, q, np.array(rows))

    return Environment(wrenches, check=outside(place), span=common_span(place, place.planet, *known))
