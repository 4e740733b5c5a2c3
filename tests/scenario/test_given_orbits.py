"""Orbits of files by CCSDS files, states, equinoctial and hyperbolic elements: each is the orbit that Python makes."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import scenario
from gyrostat.environment import (
    MOON,
    Burn,
    Ephemeris,
    OrbitParameters,
    Sky,
    equinoctial_of,
    in_gcrf,
    two_body_gravity,
    write_oem,
    write_opm,
)
from gyrostat.environment.sky.state_at import state_at
from gyrostat.model import ModelError

EPOCH = "2025-03-07T06:00:00"
DATED = f'epoch = "{EPOCH}"\n'
ORBIT = gs.Orbit.from_elements(7.2e6, 0.02, 0.9, 1.0, 0.4, 2.0)
STATE = np.concatenate(ORBIT.state(0.0))


def loaded(folder, text):
    gs.save(gs.Spacecraft.build("c", [gs.Body("hub", 400.0, inertia=[90.0, 110.0, 100.0])]), folder / "craft.toml")
    (folder / "case.toml").write_text(
        'spacecraft = "craft.toml"\n[run]\nduration = "2 s"\n[environment.orbit]\n' + text
    )
    return scenario.load(folder / "case.toml")


def same(work, orbit):
    """What acts is that of the orbit: of a craft beside its origin."""
    q = np.array([0.8, 0.6, 0, 0, 100.0, -200.0, 300.0])
    found, expected = (
        e.wrenches(work.craft, 60.0, q, work.v0) for e in (work.options["environment"], two_body_gravity(orbit))
    )
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-12)


def ephemeris(frame="GCRF", scale="UTC", dates=12, **about):
    """Of the orbit, with a drift that no ellipse has; a date every 100 s, the epoch between two of them."""
    t = 100.0 * np.arange(dates) - 530.0
    times = np.datetime64(EPOCH, "ns") + (1e9 * t).astype("timedelta64[ns]")
    away = np.stack([1e-3 * t**2, -5e-6 * t**3, 0.0 * t], axis=-1)
    rate = np.stack([2e-3 * t, -1.5e-5 * t**2, 0.0 * t], axis=-1)
    states = np.array([np.concatenate(ORBIT.state(float(x))) for x in t]) + np.hstack([away, rate])
    return Ephemeris(times, states, frame=frame, scale=scale, **about)


def vector(x):
    return "[" + ", ".join(repr(float(a)) for a in x) + "]"


def test_states_and_elements_of_any_kind_are_the_orbit_that_python_makes(tmp_path):
    e = equinoctial_of(ORBIT)
    numbers = ", ".join(f"{name} = {value!r}" for name, value in zip(e._fields, map(float, e), strict=True))
    same(loaded(tmp_path, f"position = {vector(STATE[:3])}\nvelocity = {vector(STATE[3:])}\n"), ORBIT)
    same(loaded(tmp_path, f"equinoctial = {{ {numbers} }}\n"), ORBIT)
    hyperbola = gs.Orbit.from_elements(-9e6, 1.8, 0.9, 1.0, 0.4, 0.3)
    keys = 'semi_major_axis = "-9000 km"\neccentricity = 1.8\ninclination = 0.9\nnode = 1.0\npericenter = 0.4\n'
    same(loaded(tmp_path, keys + "true_anomaly = 0.3\n"), hyperbola)
    fast = np.concatenate(gs.Orbit.from_elements(-4e6, 2.1, 0.3, planet=MOON).state(0.0))
    text = f'planet = "moon"\nposition = {vector(fast[:3])}\nvelocity = {vector(fast[3:])}\n'
    same(loaded(tmp_path, text), gs.Orbit.from_state(fast[:3], fast[3:], planet=MOON))


def test_an_oem_is_read_between_its_states(tmp_path):
    """At the epoch the drift is zero, of position and of velocity: the orbit itself, whatever is added elsewhere."""
    write_oem(tmp_path / "path.oem", ephemeris())
    earth = Sky(EPOCH, 1).earth
    same(loaded(tmp_path, DATED + 'oem = "path.oem"\n'), gs.Orbit.from_state(STATE[:3], STATE[3:], planet=earth))
    np.testing.assert_allclose(state_at(ephemeris(), EPOCH), STATE, rtol=1e-11)
    other = state_at(ephemeris(), "2025-03-07T06:00:41.5")
    t = 41.5
    expected = np.concatenate(ORBIT.state(t)) + [1e-3 * t**2, -5e-6 * t**3, 0, 2e-3 * t, -1.5e-5 * t**2, 0]
    np.testing.assert_allclose(other, expected, rtol=1e-10)


def test_frames_and_scales_of_time_are_heeded():
    """TAI is 37 s ahead of UTC in 2025; EME2000 is turned by 23 mas (IAU 2006)."""
    np.testing.assert_allclose(state_at(ephemeris(scale="TAI"), "2025-03-07T05:59:23"), STATE, rtol=1e-11)
    turned = in_gcrf(ephemeris("EME2000")).states[:, :3]
    plain = ephemeris().states[:, :3]
    angle = np.linalg.norm(turned - plain, axis=1) / np.linalg.norm(plain, axis=1)
    assert angle.min() > 0.2e-7 and angle.max() < 1.2e-7  # 23 mas are 1.1e-7 rad
    np.testing.assert_allclose(np.linalg.norm(turned, axis=1), np.linalg.norm(plain, axis=1), rtol=1e-15)
    np.testing.assert_array_equal(in_gcrf(ephemeris("ICRF")).states, ephemeris().states)


def test_an_opm_holds_at_its_own_date(tmp_path):
    late = np.datetime64(EPOCH, "ns") + np.timedelta64(90, "s")
    state = np.concatenate(ORBIT.state(0.0))
    write_opm(tmp_path / "one.opm", OrbitParameters(late, state))
    earth = Sky(EPOCH, 1).earth
    same(loaded(tmp_path, DATED + 'opm = "one.opm"\n'), gs.Orbit.from_state(STATE[:3], STATE[3:], 90.0, planet=earth))


def test_what_does_not_go_together_is_refused_at_its_line(tmp_path):
    write_oem(tmp_path / "path.oem", ephemeris())
    write_oem(tmp_path / "moon.oem", ephemeris(center="MOON"))
    write_oem(tmp_path / "gps.oem", ephemeris(scale="GPS"))
    write_oem(tmp_path / "itrf.oem", ephemeris("ITRF"))
    burn = Burn(np.datetime64(EPOCH), [1.0, 0, 0])
    write_opm(tmp_path / "burns.opm", OrbitParameters(np.datetime64(EPOCH), STATE, burns=(burn,)))
    for text, words in (
        (f"position = {vector(STATE[:3])}\n", "position goes with a velocity"),
        (f"velocity = {vector(STATE[3:])}\n", "velocity goes with a position"),
        (f"position = {vector(STATE[:3])}\nvelocity = {vector(STATE[3:])}\nnode = 0.1\n", "node is given beside"),
        (f"position = [1, 2, 3]\nvelocity = {vector(STATE[3:])}\n", "inside it"),
        ("equinoctial = { p = 7e6, f = 0.0, q = 1.0 }\n", "no key 'q'|'q'"),
        ("equinoctial = { p = -7e6 }\n", "p above zero"),
        ('oem = "path.oem"\n', "oem goes with an epoch"),
        (DATED + 'oem = "missing.oem"\n', "missing.oem"),
        ('epoch = "2025-03-08"\noem = "path.oem"\n', "the epoch, 2025-03-08.* is not between them"),
        (DATED + 'oem = "moon.oem"\n', "about MOON; expected EARTH"),
        (DATED + 'oem = "gps.oem"\n', "counts time in GPS"),
        (DATED + 'oem = "itrf.oem"\n', "states are in ITRF"),
        (DATED + 'opm = "burns.opm"\n', "holds 1 burns, which do not fly here"),
        (DATED + 'oen = "path.oem"\n', "Did you mean 'oem'"),
        (DATED + 'oem = "path.oem"\nopm = "burns.opm"\n', "opm is given beside"),
    ):  # fmt: skip
        with pytest.raises(ModelError, match=words):
            loaded(tmp_path, text)
