"""Accelerations that act on each body, as an environment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..algebra import Array, Pose, cross, transform_point
from ..kinematics import inertial_poses, mass_at
from ..model import Body, Spacecraft
from .gravity import Environment, common_span, gravity_wrenches, modal_loads
from .orbit import Reference
from .two_body import outside

APART = 100.0  # m, to either side: between round-off and the field's curvature, 1e-8 of its gradient to degree 20


def at_centers_of_mass(
    place: Reference, acceleration: Callable[[Any, Array], Array], *known: Any, torque: bool = False
) -> Environment:
    """acceleration(t, r) (3,) in N, r from the planet's centre: it pulls every body at its centre of mass.

    known: what it reads besides place and planet, each with the `span` of its tables. torque: of its gradient G over
    each body, too: sum_k (J e_k) x (G e_k), J = tr(I)/2 - I the second moments of mass about the centre of mass,
    and G e_k by a difference over 200 m.
    """

    def wrenches(craft: Spacecraft, t: Any, q: Array, v: Array) -> Array:
        r1, X_NB = place.state(t).r, inertial_poses(craft, q)
        rows = [acceleration(t, r1 + _center(craft, q, X_NB, body.name)) for body in craft.bodies]
        found = gravity_wrenches(craft, q, np.array(rows))
        if torque:
            turns = [_gradient_torque(craft, q, body, X_NB[body.name], t, r1) for body in craft.bodies]
            found = found + np.concatenate([np.array(turns), np.zeros((craft.nbodies, 3))], axis=1)
        return found

    def _gradient_torque(craft: Spacecraft, q: Array, body: Body, X_NB: Pose, t: Any, r1: Array) -> Array:
        if body.included:  # part of its carrier's mass properties
            return np.zeros(3)
        _, com, inertia = mass_at(craft, q, body.name)
        r_N, inertia = r1 + transform_point(X_NB, com), np.asarray(inertia)
        J = 0.5 * np.trace(inertia) * np.eye(3) - inertia
        total: Any = np.zeros(3)
        for k in range(3):
            step = APART * X_NB.R[:, k]
            slope_N = (acceleration(t, r_N + step) - acceleration(t, r_N - step)) / (2.0 * APART)
            total = total + cross(J[:, k], X_NB.R.T @ slope_N)
        return total

    def modal(craft: Spacecraft, t: Any, q: Array, v: Array) -> Array:
        r1, X_NB = place.state(t).r, inertial_poses(craft, q)

        def field(body: str) -> tuple[Array, Array | None]:
            r_N = r1 + _center(craft, q, X_NB, body)
            if not torque:
                return acceleration(t, r_N), None
            steps = APART * np.eye(3)
            slopes = [(acceleration(t, r_N + d) - acceleration(t, r_N - d)) / (2.0 * APART) for d in steps]
            return acceleration(t, r_N), np.stack(slopes, axis=1)

        return modal_loads(craft, field, q)

    return Environment(wrenches, check=outside(place), span=common_span(place, place.planet, *known), modal=modal)


def _center(craft: Spacecraft, q: Array, X_NB: Mapping[str, Pose], body: str) -> Array:
    return transform_point(X_NB[body], mass_at(craft, q, body)[1])
