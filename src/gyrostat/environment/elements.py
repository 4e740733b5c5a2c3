"""An orbit in other numbers: Kepler's elements back from it, equinoctial ones, and one orbit relative to another."""

from __future__ import annotations

from math import pi
from typing import NamedTuple

import numpy as np

from ..algebra import Array
from .orbit import Orbit
from .planets import EARTH, Planet


class Elements(NamedTuple):
    """Kepler's, in m and rad; what is not defined (the node over the equator, the pericentre of a circle) is 0."""

    a: float
    e: float
    inclination: float
    node: float
    pericenter: float
    true_anomaly: float


class Equinoctial(NamedTuple):
    """Without singularities but at an inclination of 180 degrees. p: semi-latus rectum in m; L: true longitude in rad.

    f, g = e (cos, sin)(node + pericenter);  h, k = tan(inclination/2) (cos, sin)(node);  Walker, Ireland & Owens (1985)
    """

    p: float
    f: float
    g: float
    h: float
    k: float
    L: float


def elements_of(orbit: Orbit, t: float = 0.0) -> Elements:
    """Kepler's elements at t: what `Orbit.from_elements` takes."""
    R, nu = np.asarray(orbit.R_NP), _turn(float(orbit.true_anomaly(t)))
    level = float(np.hypot(R[0, 2], R[1, 2]))
    inclination = float(np.arctan2(level, R[2, 2]))
    node = float(np.arctan2(R[0, 2], -R[1, 2])) if level > 1e-14 else 0.0
    towards = np.array([np.cos(node), np.sin(node), 0.0])
    across = np.cross(R[:, 2], towards)
    pericenter = float(np.arctan2(R[:, 0] @ across, R[:, 0] @ towards))
    if orbit.e == 0.0:
        pericenter, nu = 0.0, _turn(pericenter + nu)
    return Elements(orbit.a, orbit.e, inclination, _turn(node), _turn(pericenter), nu)


def equinoctial_of(orbit: Orbit, t: float = 0.0) -> Equinoctial:
    """Equinoctial elements at t.

    Raises ValueError at an inclination of 180 degrees.
    """
    R = np.asarray(orbit.R_NP)
    w = R[:, 2]
    if 1.0 + w[2] < 1e-12:
        raise ValueError("equinoctial elements: the inclination is 180 degrees, where they are not defined.")
    h, k = -w[1] / (1.0 + w[2]), w[0] / (1.0 + w[2])
    f_axis, g_axis = _axes(h, k)
    P = R[:, 0]
    turned = float(np.arctan2(P @ g_axis, P @ f_axis))
    nu = float(orbit.true_anomaly(t))
    p = orbit.a * (1.0 - orbit.e**2)
    e = orbit.e
    return Equinoctial(p, e * np.cos(turned), e * np.sin(turned), float(h), float(k), _turn(turned + nu))


def from_equinoctial(
    p: float, f: float, g: float, h: float, k: float, L: float, t: float = 0.0, *, planet: Planet = EARTH
) -> Orbit:
    """The orbit with these equinoctial elements at t.

    Raises ValueError for elements of no orbit.
    """
    given = {"p": p, "f": f, "g": g, "h": h, "k": k, "L": L}
    if not np.isfinite(list(given.values())).all() or not p > 0:
        raise ValueError(f"equinoctial elements: {given}; expected finite numbers, p above zero, in m.")
    x, y = _axes(h, k)
    r = p / (1.0 + f * np.cos(L) + g * np.sin(L))
    if not r > 0:
        raise ValueError(f"equinoctial elements: L = {L:.6g} lies beyond the asymptote of the hyperbola.")
    root = np.sqrt(planet.mu / p)
    position = r * (np.cos(L) * x + np.sin(L) * y)
    velocity = root * (-(g + np.sin(L)) * x + (f + np.cos(L)) * y)
    return Orbit.from_state(position, velocity, t, planet=planet)


class RelativeElements(NamedTuple):
    """Of a deputy about a chief, without dimension, quasi-nonsingular (D'Amico 2010): times a, they are metres.

    da = (a_d - a)/a;  dlambda = du + cos(i) dnode, u the mean argument of latitude;
    dex, dey = e_d (cos, sin) w_d - e (cos, sin) w;  dix, diy = i_d - i, sin(i) dnode
    """

    da: float
    dlambda: float
    dex: float
    dey: float
    dix: float
    diy: float


def relative_elements(chief: Orbit, deputy: Orbit, t: float = 0.0) -> RelativeElements:
    """Of two elliptic orbits at t; the chief's inclination must not be 0 or 180 degrees."""
    (one, u1), (other, u2) = _near(chief, t, "chief"), _near(deputy, t, "deputy")
    turned = _half_turn(other.node - one.node)
    si = _sine(one.inclination)
    return RelativeElements(
        (other.a - one.a) / one.a,
        _half_turn(u2 - u1) + np.cos(one.inclination) * turned,
        float(other.e * np.cos(other.pericenter) - one.e * np.cos(one.pericenter)),
        float(other.e * np.sin(other.pericenter) - one.e * np.sin(one.pericenter)),
        other.inclination - one.inclination,
        si * turned,
    )


def with_relative_elements(chief: Orbit, relative: RelativeElements, t: float = 0.0) -> Orbit:
    """The deputy's orbit: the inverse of `relative_elements`.

    Raises ValueError where the deputy would have elements of no orbit.
    """
    one, u1 = _near(chief, t, "chief")
    turned = relative.diy / _sine(one.inclination)
    ex, ey = one.e * np.cos(one.pericenter) + relative.dex, one.e * np.sin(one.pericenter) + relative.dey
    e, pericenter = float(np.hypot(ex, ey)), float(np.arctan2(ey, ex))
    u2 = u1 + relative.dlambda - np.cos(one.inclination) * turned
    a = one.a * (1.0 + relative.da)
    inclination = one.inclination + relative.dix
    if not (0.0 <= e < 1.0 and a > 0.0 and 0.0 <= inclination <= pi):
        raise ValueError(f"relative elements: the deputy has a {a:.6g} m, e {e:.6g}, inclination {inclination:.6g}.")
    made = Orbit.from_elements(a, e, inclination, _turn(one.node + turned), _turn(pericenter), planet=chief.planet)
    return Orbit(made.planet, made.a, made.e, made.R_NP, u2 - pericenter - made.n * t)


def _near(orbit: Orbit, t: float, who: str) -> tuple[Elements, float]:
    """Elements, and the mean argument of latitude."""
    if orbit.e >= 1.0:
        raise ValueError(f"relative elements: the {who} is on a hyperbola (e = {orbit.e:.6g}); expected ellipses.")
    found = elements_of(orbit, t)
    if orbit.e == 0.0:
        return found, found.true_anomaly
    return found, found.pericenter + orbit.M0 + orbit.n * t


def _sine(inclination: float) -> float:
    if np.sin(inclination) < 1e-9:
        raise ValueError(
            f"relative elements: the chief's inclination is {inclination:.6g} rad, where its node is not defined."
        )
    return float(np.sin(inclination))


def _axes(h: float, k: float) -> tuple[Array, Array]:
    """f and g of the equinoctial frame, in N."""
    s = 1.0 + h * h + k * k
    x = np.array([1.0 + h * h - k * k, 2.0 * h * k, -2.0 * k]) / s
    y = np.array([2.0 * h * k, 1.0 - h * h + k * k, 2.0 * h]) / s
    return x, y


def _turn(angle: float) -> float:
    """In [0, 2 pi)."""
    return float(angle % (2.0 * pi))


def _half_turn(angle: float) -> float:
    """In [-pi, pi)."""
    return float((angle + pi) % (2.0 * pi) - pi)
