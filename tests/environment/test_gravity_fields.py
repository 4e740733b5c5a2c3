"""Normalised harmonics to high degree: 40 digits, the compiled loop, files."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from exact import mp
from formation_crafts import box
from gyrostat.environment import EARTH, Orbit, PlanetCentered, combined, field_gravity, read_gfc, two_body_gravity
from gyrostat.environment.normalized_harmonics import Harmonics


def coefficients(degree):
    """Random ones that fall as Kaula's rule says."""
    rng = np.random.default_rng(7)
    size = np.array([1e-5 / max(n, 1) ** 2 for n in range(degree + 1)])[:, None]
    return np.tril(rng.normal(size=(degree + 1,) * 2)) * size, np.tril(rng.normal(size=(degree + 1,) * 2), -1) * size


def write(path, C, S, mu=EARTH.mu):
    lines = ["a field of chance", "modelname chance", "earth_gravity_constant " + f"{mu:.16e}".replace("e", "D")]
    lines += [f"radius {EARTH.radius!r}", f"max_degree {len(C) - 1}", "norm fully_normalized", "end_of_head ====="]
    lines += [f"gfc {n} {m} {float(C[n, m])!r} {float(S[n, m])!r} 0 0" for n in range(len(C)) for m in range(n + 1)]
    path.write_text("\n".join(lines))
    return path


def exact_gradient(C, S, radius, r):
    """At 40 digits, of solid harmonics by explicit sums: polynomials for P_n^(m), and differences for the gradient."""
    with mp.workdps(60):
        polynomials = []
        for n in range(len(C)):  # Rodrigues: coefficients of P_n
            row = [mp.mpf(0)] * (n + 1)
            for k in range(n // 2 + 1):
                row[n - 2 * k] = (-1) ** k * mp.binomial(n, k) * mp.binomial(2 * n - 2 * k, n) / mp.mpf(2) ** n
            polynomials.append(row)

        def potential(x, y, z):
            R = mp.sqrt(x * x + y * y + z * z)
            total = mp.mpf(0)
            for n in range(2, len(C)):
                for m in range(n + 1):
                    derived = sum(
                        c * mp.ff(k, m) * (z / R) ** (k - m) for k, c in enumerate(polynomials[n]) if k >= m and c
                    )
                    norm = mp.sqrt((2 - (m == 0)) * (2 * n + 1) * mp.factorial(n - m) / mp.factorial(n + m))
                    turn = mp.mpc(x / R, y / R) ** m
                    wave = mp.mpf(float(C[n, m])) * turn.real + mp.mpf(float(S[n, m])) * turn.imag
                    total += (mp.mpf(radius) / R) ** n / R * norm * derived * wave
            return total

        h, at = mp.mpf(10) ** -12, [mp.mpf(float(e)) for e in r]
        found = []
        for axis in range(3):
            values = []
            for side in (1, -1):
                there = list(at)
                there[axis] += side * h
                values.append(potential(*there))
            found.append(float((values[0] - values[1]) / (2 * h)))
        return np.array(found)


@pytest.mark.parametrize("r", [(5.1e6, -3.2e6, 3.9e6), (2e2, -1e2, -6.9e6)], ids=["midway", "over a pole"])
def test_degree_20_at_forty_digits(r):
    C, S = coefficients(20)
    found = Harmonics(C, S, EARTH.radius, lowest=2).gradient(np.array(r))
    expected = exact_gradient(C, S, EARTH.radius, r)
    assert np.abs(found - expected).max() < 1e-13 * np.abs(expected).max()


def test_degree_70_is_one_loop_and_the_same_when_compiled(tmp_path):
    C, S = coefficients(70)
    field = read_gfc(write(tmp_path / "chance.gfc", C, S))
    assert field.name == "chance" and field.degree == 70
    np.testing.assert_array_equal(field.C, C)
    craft, place = box(), PlanetCentered(EARTH)
    q, v = gs.neutral(craft), np.zeros(6)
    q[4:7] = [5.1e6, -3.2e6, 3.9e6]
    environment = field_gravity(place, field)
    kernel = gs.compile(environment.wrenches, craft)
    assert kernel.graph.nodes and len(kernel.graph.nodes) < 5000
    np.testing.assert_allclose(kernel(77.0, q, v), environment.wrenches(craft, 77.0, q, v), rtol=1e-12, atol=1e-18)
    np.testing.assert_allclose(
        field_gravity(place, field, 20).wrenches(craft, 0.0, q, v),
        field_gravity(place, read_gfc(tmp_path / "chance.gfc", 20)).wrenches(craft, 0.0, q, v),
        rtol=0,
    )


def test_bad_fields_are_asked_about(tmp_path):
    C, S = coefficients(5)
    field = read_gfc(write(tmp_path / "f.gfc", C, S, mu=3.9e14))
    with pytest.raises(ValueError, match="its mu is 3.9e\\+14"):
        field_gravity(Orbit.circular(500e3), field)
    with pytest.raises(ValueError, match="degrees 2 to 5"):
        read_gfc(tmp_path / "f.gfc", 6)
    with pytest.raises(ValueError, match="none is fetched"):
        read_gfc(tmp_path / "missing.gfc")
    (tmp_path / "bad.gfc").write_text("earth_gravity_constant 1\nradius 1\ngfc 2 x 1 1\n")
    with pytest.raises(ValueError, match="bad.gfc:3"):
        read_gfc(tmp_path / "bad.gfc")


def test_runs_beyond_the_tables_are_refused_before_they_start():
    from gyrostat.environment import Sky, third_body_gravity

    sky = Sky("2025-03-07", 3600.0)
    orbit = Orbit.circular(500e3, 0.9, planet=sky.earth)
    environment = combined(two_body_gravity(orbit), third_body_gravity(orbit, sky.moon))
    with pytest.raises(ValueError, match="known from 0 s to 3600 s"):
        gs.simulate(box(), None, None, (0, 7200.0), environment=environment)
    formation = gs.Formation({"a": box(), "b": box()}, orbit=orbit)
    state = formation.hill_state({"a": np.zeros(3), "b": np.array([0.0, 50.0, 0.0])})
    with pytest.raises(ValueError, match="known from 0 s to 3600 s"):
        gs.simulate(formation, state, (0, 7200.0), environment=environment)
    sim = gs.Simulation(box(), environment=environment, step=600.0, integrator="rk4")
    sim.reset()
    for _ in range(6):
        sim.step(np.zeros(6))
    q = sim.q.copy()
    with pytest.raises(ValueError, match="known from 0 s to 3600 s"):
        sim.step(np.zeros(6))
    with pytest.raises(ValueError, match="known from 0 s to 3600 s"):
        sim.advance(3601.0)
    assert (sim.q == q).all() and sim.t == 3600.0
    with pytest.raises(ValueError, match="known from 0 s to 3600 s"):
        sim.reset(t0=3601.0)
    phases = [gs.Phase(1800.0, "one"), gs.Phase(1801.0, "two")]
    with pytest.raises(ValueError, match="known from 0 s to 3600 s"):
        gs.simulate_phases(box(), None, None, phases, environment=environment)
    with pytest.raises(ValueError, match="known from 0 s to 3600 s"):
        gs.linearize(box(), gs.neutral(box()), np.zeros(6), t=4000.0, environment=environment)
    with pytest.raises(ValueError, match="known from 0 s to 3600 s"):
        gs.rollout(box(), lambda craft, t, q, v: np.zeros(6), steps=8, step=600.0, environment=environment)


def test_the_torque_of_a_field_is_that_of_a_cloud_of_points():
    """J2 to J6 and tesserals: eight masses 20 m from their centre pull about it as the body's inertia says."""
    import gyrostat as gs
    from gyrostat.algebra import quat_from_rotation, rotation
    from gyrostat.environment import EARTH, Orbit, harmonic_gravity, zonal_gravity
    from gyrostat.environment.zonal import zonal_acceleration

    rng = np.random.default_rng(8)
    x = rng.normal(size=(4, 3)) * [20.0, 8.0, 3.0]
    x = np.concatenate([x, -x])  # odd moments vanish
    mass, com = 5.0, np.array([0.3, -0.2, 0.7])
    inertia = mass * sum((p @ p) * np.eye(3) - np.outer(p, p) for p in x)
    craft = gs.Spacecraft.build("cloud", [gs.Body("hull", 8 * mass, com, inertia)])
    orbit = Orbit.from_elements(7.2e6, 0.02, 1.1, 0.4, 2.0, 1.0)
    R = rotation(np.array([0.5, 0.4, -0.3, 0.2]))
    q, v, t = gs.neutral(craft), np.zeros(6), 100.0
    q[:4] = quat_from_rotation(R)
    q[4:7] = [100.0, 200.0, -300.0]
    centre = orbit.state(t).r + q[4:7] + R @ com
    pulls = [R.T @ zonal_acceleration(EARTH, EARTH.zonals, centre + R @ p) for p in x]
    expected = mass * sum(np.cross(p, g) for p, g in zip(x, pulls, strict=True))
    bare, whole = (zonal_gravity(orbit, 6, gradient_torque=on).wrenches(craft, t, q, v)[0] for on in (False, True))
    np.testing.assert_allclose((whole - bare)[:3], expected, atol=2e-7 * np.abs(expected).max())
    assert not (whole - bare)[3:].any() and np.abs(expected).max() > 1e-7
    C = np.zeros((7, 7))
    C[2:, 0] = [-EARTH.zonals[n] for n in range(2, 7)]
    same = harmonic_gravity(orbit, C, gradient_torque=True).wrenches(craft, t, q, v)[0]
    np.testing.assert_allclose(same, whole, rtol=1e-7, atol=1e-12)
