"""Zonal and tesseral harmonics: gradients of potentials, well-known forms, the drift of the node."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import gyrostat as gs
from exact import exact, mp
from formation_crafts import box
from gyrostat.algebra import rotation
from gyrostat.environment import (
    EARTH,
    Orbit,
    PlanetCentered,
    combined,
    harmonic_gravity,
    two_body_gravity,
    zonal_gravity,
)
from gyrostat.environment.spherical_harmonics import harmonic_acceleration
from gyrostat.environment.zonal import zonal_acceleration

R_0 = np.array([5.1e6, -3.2e6, 3.9e6])


def gradient(potential, r):
    """Of a potential of mpmath numbers, to thirty digits."""
    h = mp.mpf(10) ** -15
    out = []
    for axis in np.eye(3):
        step = exact(axis) * h
        out.append((potential(exact(r) + step) - potential(exact(r) - step)) / (2 * h))
    return np.array(out).astype(float)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
def test_zonal_accelerations_are_gradients(n):
    """a = -grad of mu/R J_n (R_e/R)^n P_n(z/R)."""
    J, mu, Re = 1e-3, EARTH.mu, EARTH.radius

    def potential(r):
        R = mp.sqrt(r @ r)
        return mp.mpf(mu) / R * J * (mp.mpf(Re) / R) ** n * mp.legendre(n, r[2] / R)

    found = zonal_acceleration(EARTH, {n: J}, R_0)
    np.testing.assert_allclose(found, -gradient(potential, R_0), rtol=1e-12)


def test_j2_in_its_well_known_form():
    R = np.linalg.norm(R_0)
    s2 = (R_0[2] / R) ** 2
    J2 = EARTH.zonals[2]
    k = -1.5 * J2 * EARTH.mu * EARTH.radius**2 / R**5
    expected = k * R_0 * np.array([1 - 5 * s2, 1 - 5 * s2, 3 - 5 * s2])
    np.testing.assert_allclose(zonal_acceleration(EARTH, {2: J2}, R_0), expected, rtol=1e-13)


def test_j2_turns_the_node():
    """Five orbits at 60 degrees: the node regresses by -3/2 J2 (R_e/p)^2 n cos(i),
    to one part in a hundred (first order in J2).
    """
    orbit = Orbit.from_elements(7.2e6, 0.001, np.radians(60.0), 1.0, 0.0)
    craft = box()
    environment = combined(
        two_body_gravity(orbit, gradient_force=False, gradient_torque=False), zonal_gravity(orbit, 2)
    )
    run = gs.simulate(craft, None, None, (0, 5 * orbit.period), environment=environment, rtol=1e-11)
    nodes = []
    for t, q, v in zip(run.time, run.q, run.v, strict=True):
        s = orbit.state(t)
        h = np.cross(s.r + q[4:7], s.v + rotation(q[:4]) @ v[3:])
        nodes.append(np.arctan2(h[0], -h[1]))
    rate = np.polyfit(run.time, nodes, 1)[0]
    p = orbit.a * (1 - orbit.e**2)
    expected = -1.5 * EARTH.zonals[2] * (EARTH.radius / p) ** 2 * orbit.n * np.cos(np.radians(60.0))
    assert rate == pytest.approx(expected, rel=1e-2)


def test_zonal_terms_of_the_recursion():
    C = np.zeros((7, 7))
    for n, J in EARTH.zonals.items():
        C[n, 0] = -J
    found = harmonic_acceleration(EARTH.mu, EARTH.radius, C, 0 * C, R_0)
    np.testing.assert_allclose(found, zonal_acceleration(EARTH, EARTH.zonals, R_0), rtol=1e-11)


@pytest.mark.parametrize(("n", "m"), [(0, 0), (2, 1), (2, 2), (3, 1), (4, 3), (5, 5)])
def test_tesseral_accelerations_are_gradients(n, m):
    """a = grad of mu/R (R_e/R)^n P_nm(sin phi) (C cos m lambda + S sin m lambda), P_nm unnormalised, without (-1)^m."""
    C, S = np.zeros((n + 1, n + 1)), np.zeros((n + 1, n + 1))
    C[n, m], S[n, m] = 0.7, -0.4 if m else 0.0
    polynomial = np.polynomial.polynomial.polyder(np.polynomial.legendre.leg2poly(np.eye(n + 1)[n]), m)
    coefficients = [mp.mpf(float(c)) for c in polynomial]

    def potential(r):
        R = mp.sqrt(r @ r)
        s, lam = r[2] / R, mp.atan2(r[1], r[0])
        P = (1 - s * s) ** (mp.mpf(m) / 2) * sum(c * s**k for k, c in enumerate(coefficients))
        angle = C[n, m] * mp.cos(m * lam) + S[n, m] * mp.sin(m * lam)
        return mp.mpf(EARTH.mu) / R * (mp.mpf(EARTH.radius) / R) ** n * P * angle

    found = harmonic_acceleration(EARTH.mu, EARTH.radius, C, S, R_0)
    np.testing.assert_allclose(found, gradient(potential, R_0), rtol=1e-11)


def test_tesseral_terms_turn_with_the_planet():
    """C22 with spin: after a quarter of a turn, seen a quarter further on, the pull is the same, turned."""
    C = np.zeros((3, 3))
    C[2, 2] = 1e-4
    place = PlanetCentered(replace(EARTH, spin=1e-3))
    craft = box()
    q = gs.neutral(craft)
    q[4:7] = [7e6, 1e6, 2e6]
    first = harmonic_gravity(place, C).wrenches(craft, 0.0, q, np.zeros(6))[0, 3:]
    turned = q.copy()
    turned[4:7] = [-1e6, 7e6, 2e6]
    later = harmonic_gravity(place, C).wrenches(craft, np.pi / 2 / 1e-3, turned, np.zeros(6))[0, 3:]
    np.testing.assert_allclose(later, [-first[1], first[0], first[2]], atol=1e-12)
    still = harmonic_gravity(place, C).wrenches(craft, np.pi / 2 / 1e-3, q, np.zeros(6))[0, 3:]
    assert np.abs(still - first).max() > 1e-6


def _not_turning():
    return Orbit.circular(5e5, planet=replace(EARTH, spin=None))


def _c22():
    C = np.zeros((3, 3))
    C[2, 2] = 1e-6
    return C


def test_zonal_terms_need_no_rotation():
    C = np.zeros((3, 3))
    C[2, 0] = -1e-3
    craft = box()
    wrench = harmonic_gravity(_not_turning(), C).wrenches(craft, 0.0, gs.neutral(craft), np.zeros(6))
    r = _not_turning().state(0.0).r
    np.testing.assert_allclose(wrench[0, 3:], 10.0 * zonal_acceleration(EARTH, {2: 1e-3}, r), rtol=1e-11)


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: zonal_gravity(None), "zonal gravity needs to know where N is"),
        (lambda: zonal_gravity(Orbit.circular(5e5), 7), "'Earth' has no J7; it has J2, J3, J4, J5, J6"),
        (lambda: zonal_gravity(Orbit.circular(5e5), 1), "degree is 1; expected 2"),
        (lambda: harmonic_gravity(Orbit.circular(5e5), np.zeros((2, 2))), "degree 2 at least"),
        (lambda: harmonic_gravity(_not_turning(), _c22()), "tesseral terms .* 'Earth' has no rotation. Give"),
    ],
)
def test_bad_input_is_refused(build, words):
    with pytest.raises(ValueError, match=words):
        build()
