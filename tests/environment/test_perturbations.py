"""Zonal and tesseral harmonics, third bodies, drag, sunlight: gradients of potentials, closed forms, known drifts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import gyrostat as gs
from exact import exact, mp
from formation_crafts import armed, box
from gyrostat.algebra import quat_from_rotation, rotation
from gyrostat.environment import (
    EARTH,
    Exponential,
    HarrisPriester,
    Orbit,
    PlanetCentered,
    Plate,
    Sphere,
    air_drag,
    box_plates,
    combined,
    harmonic_gravity,
    moon,
    solar_pressure,
    sun,
    third_body_gravity,
    two_body_gravity,
    zonal_gravity,
)
from gyrostat.environment.drag import ballistic_coefficient, dynamic_pressure
from gyrostat.environment.ephemeris import ASTRONOMICAL_UNIT, Celestial, centuries
from gyrostat.environment.solar_pressure import PRESSURE, sunlit_fraction
from gyrostat.environment.spherical_harmonics import harmonic_acceleration
from gyrostat.environment.zonal import zonal_acceleration
from gyrostat.tracing import compile

R_0 = np.array([5.1e6, -3.2e6, 3.9e6])


def gradient(potential, r):
    """Of a potential of mpmath numbers, to thirty digits."""
    h = mp.mpf(10) ** -15
    out = []
    for axis in np.eye(3):
        step = exact(axis) * h
        out.append((potential(exact(r) + step) - potential(exact(r) - step)) / (2 * h))
    return np.array(out).astype(float)


# ---- zonal


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
    """Five orbits at 60 degrees: the node regresses by -3/2 J2 (R_e/p)^2 n cos(i), to one part in a hundred (first order in J2)."""
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


# ---- spherical harmonics


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


# ---- third bodies


def test_third_body_is_a_tide():
    """The difference of two pulls, to fifty digits, though the Sun's is a million times larger."""
    far = Celestial("Sun", 1.3e20, 7e8, lambda t: np.array([1.4e11, 3e10, 2e10]))
    craft = box()
    q = gs.neutral(craft)
    q[4:7] = [3.0, -4.0, 5.0]
    orbit = Orbit.circular(500e3, 0.9)
    found = third_body_gravity(orbit, far).wrenches(craft, 100.0, q, np.zeros(6))[0, 3:] / 10.0
    d, r = exact(far.position(0)), exact(orbit.state(100.0).r + q[4:7])

    def g(x):
        return mp.mpf(1.3e20) * x / mp.sqrt(x @ x) ** 3

    np.testing.assert_allclose(found, (g(d - r) - g(d)).astype(float), rtol=1e-12)


@pytest.mark.parametrize(
    ("epoch", "longitude", "latitude", "distance"),
    [("1992-10-13T00:00", 199.907, 0.0, 0.99766), ("2000-03-20T07:35", 0.0, 0.0, 0.99599)],
)
def test_sun(epoch, longitude, latitude, distance):
    """Meeus, Astronomical Algorithms, example 25.a, and an equinox: within 0.15 degrees (precession since J2000 is left in)."""
    p = sun(epoch).position(0.0)
    eps = np.radians(23.4393)
    x, y, z = p / np.linalg.norm(p)
    lam = np.degrees(np.arctan2(np.cos(eps) * y + np.sin(eps) * z, x))
    assert abs((lam - longitude + 180) % 360 - 180) < 0.15
    assert abs(np.degrees(np.arcsin(np.cos(eps) * z - np.sin(eps) * y)) - latitude) < 0.01
    assert np.linalg.norm(p) / ASTRONOMICAL_UNIT == pytest.approx(distance, abs=5e-4)


def test_moon():
    """Meeus, example 47.a, 1992 April 12.0: 133.16 degrees, -3.23 degrees, 368410 km."""
    p = moon("1992-04-12").position(0.0)
    eps = np.radians(23.4393)
    x, y, z = p / np.linalg.norm(p)
    assert np.degrees(np.arctan2(np.cos(eps) * y + np.sin(eps) * z, x)) == pytest.approx(133.16, abs=0.3)
    assert np.degrees(np.arcsin(np.cos(eps) * z - np.sin(eps) * y)) == pytest.approx(-3.23, abs=0.1)
    assert np.linalg.norm(p) == pytest.approx(368410e3, rel=1e-3)
    month = np.linalg.norm(moon("1992-04-12").position(27.32 * 86400.0) - p) / np.linalg.norm(p)
    assert month < 0.15


def test_epochs():
    assert centuries("2000-01-01T12:00") == 0.0
    assert centuries(2451545.0 + 36525) == 1.0
    with pytest.raises(ValueError, match="expected a date, or a Julian date"):
        centuries(59000.0)


# ---- air


def still(craft, orbit, **changes):
    """A craft at the origin of N with inertial attitude."""
    q, v = gs.neutral(craft), np.zeros(craft.nv)
    q[:4] = quat_from_rotation(changes.get("R", np.eye(3)))
    return q, v


def test_drag_of_a_sphere():
    """-1/2 rho C_d A |v| v in the air that turns with the planet."""
    orbit = Orbit.circular(400e3, 0.9)
    craft = box()
    q, v = still(craft, orbit)
    air = Exponential(3e-12, 400e3, 60e3)
    wrench = air_drag(orbit, [Sphere("hull", 2.0, (0.1, 0, 0))], air).wrenches(craft, 50.0, q, v)[0]
    r, w = orbit.state(50.0)
    r = r + [0.1, 0, 0]
    relative = w - np.cross([0, 0, EARTH.spin], r)
    rho = air(EARTH, 50.0, r)
    expected = -0.5 * rho * 2.2 * 2.0 * np.linalg.norm(relative) * relative
    np.testing.assert_allclose(wrench[3:], expected, rtol=1e-12)
    np.testing.assert_allclose(wrench[:3], np.cross([0.1, 0, 0], expected), atol=1e-20)
    assert dynamic_pressure(rho, relative) == pytest.approx(0.5 * rho * relative @ relative)


def test_drag_of_plates():
    """A box in the stream has the drag of its projected area; a panel edge-on none; the far side of a plate none."""
    orbit = Orbit.circular(400e3)
    craft = box()
    air = Exponential()
    for seed in range(4):
        R = rotation(np.random.default_rng(seed).normal(size=4))
        q, v = still(craft, orbit, R=R)
        size = np.array([1.0, 2.0, 3.0])
        force = R @ air_drag(orbit, box_plates("hull", size), air).wrenches(craft, 0.0, q, v)[0, 3:]
        sphere = air_drag(orbit, [Sphere("hull", 1.0)], air).wrenches(craft, 0.0, q, v)[0, 3:]
        u = -R @ sphere / np.linalg.norm(sphere)
        area = np.abs(R.T @ u) @ (np.prod(size) / size)
        # faces sit up to 2 m from the centre: air density and speed differ by parts in 1e5 there
        np.testing.assert_allclose(force, area * (R @ sphere), rtol=1e-4, atol=1e-4 * np.abs(sphere).max() * area)
    q, v = still(craft, orbit)
    u = -sphere_direction(orbit, craft, q, v)
    across = np.cross(u, [0.0, 0.0, 1.0])
    for normal, both, share in ((u, False, 1.0), (-u, False, 0.0), (-u, True, 1.0), (across, True, 0.0)):
        plate = air_drag(orbit, [Plate("hull", 1.0, normal, both_sides=both)], air).wrenches(craft, 0.0, q, v)[0, 3:]
        whole = air_drag(orbit, [Sphere("hull", 1.0)], air).wrenches(craft, 0.0, q, v)[0, 3:]
        np.testing.assert_allclose(plate, share * whole, atol=1e-12 * np.abs(whole).max())


def sphere_direction(orbit, craft, q, v):
    force = air_drag(orbit, [Sphere("hull", 1.0)]).wrenches(craft, 0.0, q, v)[0, 3:]
    return force / np.linalg.norm(force)


def test_drag_lowers_the_orbit():
    """da/dt = -rho v a / (ballistic coefficient) on a circular orbit over a planet that does not turn."""
    planet = replace(EARTH, spin=None, flattening=0.0)
    orbit = Orbit.circular(300e3, planet=planet)
    craft = box(mass=50.0)
    air = Exponential(2e-11, 300e3, 50e3)
    surface = Sphere("hull", 1.0)
    environment = combined(two_body_gravity(orbit), air_drag(orbit, [surface], air))
    run = gs.simulate(craft, None, None, (0, orbit.period), environment=environment, rtol=1e-12)
    s, q, v = orbit.state(run.time[-1]), run.q[-1], run.v[-1]
    r, w = s.r + q[4:7], s.v + rotation(q[:4]) @ v[3:]
    a = 1 / (2 / np.linalg.norm(r) - w @ w / planet.mu)
    speed = np.sqrt(planet.mu / orbit.a)
    expected = -2e-11 * speed * orbit.a / ballistic_coefficient(50.0, surface) * orbit.period
    assert a - orbit.a == pytest.approx(expected, rel=0.02)
    assert expected < -50


def test_arm_in_the_stream():
    """Only the bodies that carry surfaces are loaded, each about its own origin."""
    orbit = Orbit.circular(400e3)
    craft = armed()
    q, v = gs.neutral(craft), np.zeros(craft.nv)
    q[7] = 0.7
    rows = air_drag(orbit, [Plate("lower", 0.5, (0, 1, 0), (0.3, 0, 0), both_sides=True)]).wrenches(craft, 0.0, q, v)
    assert rows[2].any()
    assert not rows[[0, 1, 3]].any()
    with pytest.raises(ValueError, match="no body 'sail'"):
        air_drag(orbit, [Sphere("sail", 1.0)]).wrenches(craft, 0.0, q, v)


def test_harris_priester():
    """Table values under the bulge and opposite to it; the bulge lags two hours behind the Sun."""
    shining = Celestial("Sun", 1.3e20, 7e8, lambda t: np.array([1.5e11, 0.0, 0.0]))
    air = HarrisPriester(shining, n=2.0)
    round_earth = replace(EARTH, flattening=0.0)
    c, s = np.cos(np.radians(30)), np.sin(np.radians(30))
    for height, least, greatest in ((400e3, 2.249e-12, 7.492e-12), (800e3, 7.069e-15, 8.059e-14)):
        R = EARTH.radius + height
        assert air(round_earth, 0.0, R * np.array([c, s, 0.0])) == pytest.approx(greatest, rel=1e-6)
        assert air(round_earth, 0.0, -R * np.array([c, s, 0.0])) == pytest.approx(least, rel=1e-6)
        side = air(round_earth, 0.0, R * np.array([-s, c, 0.0]))
        assert side == pytest.approx((least + greatest) / 2, rel=1e-6)
    between = air(round_earth, 0.0, (EARTH.radius + 410e3) * np.array([c, s, 0.0]))
    assert between == pytest.approx(np.sqrt(7.492e-12 * 5.684e-12), rel=1e-6)


# ---- light


def test_pressure_on_plates_and_spheres():
    """Black: along the light. Mirror: twice, along the normal. Edge-on, and from behind: nothing."""
    orbit = Orbit.circular(500e3)
    craft = box()
    q, v = still(craft, orbit)
    r = orbit.state(0.0).r
    s = np.array([0.6, 0.64, 0.48])
    source = Celestial("Sun", 1.3e20, 7e8, lambda t: r + ASTRONOMICAL_UNIT * s)

    def push(surface):
        return solar_pressure(orbit, [surface], source, eclipse=False).wrenches(craft, 0.0, q, v)[0, 3:]

    n = np.array([0.0, 0.0, 1.0])
    black, mirror = Plate("hull", 2.0, n, specular=0.0, diffuse=0.0), Plate("hull", 2.0, n, specular=1.0, diffuse=0.0)
    np.testing.assert_allclose(push(black), -PRESSURE * 2.0 * 0.48 * s, rtol=1e-9)
    np.testing.assert_allclose(push(mirror), -PRESSURE * 2.0 * 2 * 0.48**2 * n, rtol=1e-9, atol=1e-20)
    white = Plate("hull", 2.0, n, specular=0.0, diffuse=1.0)
    np.testing.assert_allclose(push(white), -PRESSURE * 2.0 * 0.48 * (s + 2 / 3 * n), rtol=1e-9)
    assert not push(Plate("hull", 2.0, -n)).any()
    np.testing.assert_allclose(push(replace(black, normal=-n, both_sides=True)), push(black), rtol=1e-12)
    np.testing.assert_allclose(push(Sphere("hull", 2.0, reflection=1.5)), -PRESSURE * 3.0 * s, rtol=1e-9)


def test_shadow():
    """Full light, full shadow, and half of the disc where the Sun's centre sets; smooth and monotonic between."""
    sun_at = np.array([ASTRONOMICAL_UNIT, 0.0, 0.0])
    Re, Rs, R = EARTH.radius, 6.957e8, EARTH.radius + 500e3
    assert sunlit_fraction(np.array([R, 0, 0]), sun_at, Re, Rs) == 1.0
    assert sunlit_fraction(np.array([0, R, 0]), sun_at, Re, Rs) == 1.0
    assert sunlit_fraction(np.array([-R, 0, 0]), sun_at, Re, Rs) == 0.0
    edge = np.pi - np.arcsin(Re / R)
    angles = edge + np.linspace(-0.006, 0.006, 61)
    light = np.array([sunlit_fraction(R * np.array([np.cos(a), np.sin(a), 0.0]), sun_at, Re, Rs) for a in angles])
    assert light[0] == 1.0
    assert light[-1] == 0.0
    assert (np.diff(light) <= 1e-12).all()
    assert light[30] == pytest.approx(0.5, abs=0.03)
    assert np.abs(np.diff(light)).max() < 0.06


def test_share_of_an_orbit_in_shadow():
    """In a plane that holds the Sun: asin(R_e/R)/pi of the orbit, for a Sun so far that its rays are parallel."""
    orbit = Orbit.circular(500e3)
    far = np.array([1e14, 0.0, 0.0])
    times = np.linspace(0, orbit.period, 4001)[:-1]
    lit = np.mean([sunlit_fraction(orbit.state(t).r, far, EARTH.radius, 1.0e8) for t in times])
    assert 1 - lit == pytest.approx(np.arcsin(EARTH.radius / orbit.a) / np.pi, abs=1e-3)


# ---- all of it, compiled


def test_everything_compiles_to_what_numpy_says():
    orbit = Orbit.from_elements(6.9e6, 0.01, 0.9, 0.3)
    craft = armed()
    C, S = np.zeros((3, 3)), np.zeros((3, 3))
    C[2, 2], S[2, 2] = 1.57e-6, -9.0e-7
    light = sun("2030-06-01")
    surfaces = [
        *box_plates("hull", (1, 1, 1)),
        Plate("lower", 0.5, (0, 0, 1), (0.3, 0, 0), both_sides=True),
        Sphere("upper", 0.1),
    ]
    everything = combined(
        two_body_gravity(orbit), zonal_gravity(orbit), harmonic_gravity(orbit, C, S), third_body_gravity(orbit, light),
        third_body_gravity(orbit, moon("2030-06-01")), air_drag(orbit, surfaces, HarrisPriester(light)), solar_pressure(orbit, surfaces, light),
    )  # fmt: skip
    kernel = compile(everything.wrenches, craft)
    rng = np.random.default_rng(0)
    for t in (0.0, 1234.5, 3000.0):
        q = gs.step_configuration(craft, gs.neutral(craft), rng.normal(size=craft.nv))
        v = 0.1 * rng.normal(size=craft.nv)
        slow = everything.wrenches(craft, t, q, v)
        np.testing.assert_allclose(kernel(t, q, v), slow, rtol=1e-9, atol=1e-12 * np.abs(slow).max())


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: zonal_gravity(None), "zonal gravity needs to know where N is"),
        (lambda: air_drag(None, []), "air drag needs to know where N is"),
        (lambda: solar_pressure("low orbit", [], sun("2030-01-01")), "solar pressure needs .* got 'low orbit'"),
        (lambda: third_body_gravity(None, moon("2030-01-01")), "the gravity of Moon needs"),
        (lambda: zonal_gravity(Orbit.circular(5e5), 7), "'Earth' has no J7; it has J2, J3, J4, J5, J6"),
        (lambda: zonal_gravity(Orbit.circular(5e5), 1), "degree is 1; expected 2"),
        (lambda: harmonic_gravity(Orbit.circular(5e5), np.zeros((2, 2))), "degree 2 at least"),
        (lambda: harmonic_gravity(_not_turning(), _c22()), "tesseral terms .* 'Earth' has no rotation. Give"),
        (lambda: Plate("hull", 1.0, (0, 0, 0)), "normal .* is no direction"),
        (lambda: Plate("hull", 1.0, (0, 0, 1), specular=0.8, diffuse=0.4), "do not add up to more"),
    ],
)
def test_bad_input_is_refused(build, words):
    with pytest.raises(ValueError, match=words):
        build()


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
