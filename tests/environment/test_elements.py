"""One orbit in several kinds of numbers."""

from __future__ import annotations

import numpy as np
import pytest

from gyrostat.environment import (
    EARTH,
    Orbit,
    Planet,
    RelativeElements,
    clohessy_wiltshire,
    elements_of,
    equinoctial_of,
    from_equinoctial,
    relative_elements,
    to_hill,
    with_relative_elements,
)

ORBITS = {
    "low": Orbit.from_elements(7.1e6, 0.02, 0.9, 0.4, 5.0, 2.5),
    "retrograde": Orbit.from_elements(7.3e6, 0.05, 2.9, 4.0, 1.0, 5.5),
    "equatorial": Orbit.from_elements(4.2e7, 0.3, 0.0, 0.0, 1.2, 0.4),
    "circular": Orbit.circular(700e3, 1.7, node=2.0, argument=0.7),
    "circular and equatorial": Orbit.circular(700e3, argument=4.0),
    "hyperbola": Orbit.from_elements(-1.7e7, 1.6, 2.2, 1.1, 4.0, -1.9),
}


@pytest.mark.parametrize("name", ORBITS)
def test_elements_make_the_orbit_again(name):
    orbit, t = ORBITS[name], 1234.0
    at = orbit.state(t)
    again = Orbit.from_elements(*elements_of(orbit, t)).state(0.0)
    np.testing.assert_allclose(again.r, at.r, atol=1e-12 * np.linalg.norm(at.r))
    np.testing.assert_allclose(again.v, at.v, atol=1e-12 * np.linalg.norm(at.v))
    again = from_equinoctial(*equinoctial_of(orbit, t), t=t).state(t)
    np.testing.assert_allclose(again.r, at.r, atol=1e-12 * np.linalg.norm(at.r))
    np.testing.assert_allclose(again.v, at.v, atol=1e-12 * np.linalg.norm(at.v))


def test_equinoctial_elements_are_what_their_formulas_say():
    a, e, i, node, w, nu = elements_of(ORBITS["low"], 0.0)
    assert (a, e) == (7.1e6, 0.02) and (i, node, w, nu) == pytest.approx((0.9, 0.4, 5.0, 2.5), abs=1e-12)
    p, f, g, h, k, L = equinoctial_of(ORBITS["low"])
    assert p == pytest.approx(a * (1 - e * e))
    assert (f, g) == pytest.approx((e * np.cos(node + w), e * np.sin(node + w)), abs=1e-15)
    assert (h, k) == pytest.approx((np.tan(i / 2) * np.cos(node), np.tan(i / 2) * np.sin(node)))
    assert pytest.approx((node + w + nu) % (2 * np.pi)) == L
    with pytest.raises(ValueError, match="180 degrees"):
        equinoctial_of(Orbit.circular(700e3, np.pi))
    with pytest.raises(ValueError, match="beyond the asymptote"):
        from_equinoctial(2.6e7, 1.6, 0.0, 0.1, 0.2, 3.1)


@pytest.mark.parametrize("name", ["low", "retrograde", "circular"])
def test_relative_elements_make_the_deputy_again(name):
    chief, t = ORBITS[name], 800.0
    wanted = RelativeElements(2e-5, -3e-4, 4e-5, 7e-5, -2e-5, 5e-5)
    deputy = with_relative_elements(chief, wanted, t)
    np.testing.assert_allclose(relative_elements(chief, deputy, t), wanted, atol=2e-14)
    still = with_relative_elements(chief, RelativeElements(0, 0, 0, 0, 0, 0), t)
    np.testing.assert_allclose(still.state(5e3).r, chief.state(5e3).r, atol=1e-5)


def test_relative_elements_move_as_clohessy_and_wiltshire_say():
    """x = a (da - dex cos u - dey sin u), z = a (dix sin u - diy cos u) about a circle (D'Amico)."""
    chief = ORBITS["circular"]
    one = RelativeElements(0.0, 3e-7, 2e-7, -5e-7, 4e-7, 1e-7)
    deputy, u = with_relative_elements(chief, one), 0.7
    at, there = chief.state(0.0), deputy.state(0.0)
    rho, rhodot = to_hill(chief, 0.0, there.r - at.r, there.v - at.v)
    x = chief.a * (-one.dex * np.cos(u) - one.dey * np.sin(u))
    z = chief.a * (one.dix * np.sin(u) - one.diy * np.cos(u))
    y = chief.a * (one.dlambda + 2 * one.dex * np.sin(u) - 2 * one.dey * np.cos(u))
    np.testing.assert_allclose(rho, [x, y, z], atol=1e-5)
    later = clohessy_wiltshire(chief.n, 3000.0) @ np.concatenate([rho, rhodot])
    at, there = chief.state(3000.0), deputy.state(3000.0)
    np.testing.assert_allclose(to_hill(chief, 3000.0, there.r - at.r, there.v - at.v)[0], later[:3], atol=2e-4)


def test_what_has_no_relative_elements_is_said():
    for chief, words in ((ORBITS["hyperbola"], "hyperbola"), (ORBITS["equatorial"], "node is not defined")):
        with pytest.raises(ValueError, match=words):
            relative_elements(chief, ORBITS["low"])
    with pytest.raises(ValueError, match="the deputy has a"):
        with_relative_elements(ORBITS["low"], RelativeElements(-2.0, 0, 0, 0, 0, 0))


def test_equinoctial_elements_in_units_in_which_mu_is_one():
    """Lengths of 0.8, as a planet of that radius has: the same orbit as in metres, scaled."""
    given = {"f": 0.1, "g": -0.05, "h": 0.2, "k": 0.1, "L": 1.3}
    small = Planet("unit", 1.0, 0.3, {})
    r, v = (np.asarray(x) for x in from_equinoctial(0.8, **given, planet=small).state(0.0))
    R, V = (np.asarray(x) for x in from_equinoctial(0.8e7, **given).state(0.0))
    np.testing.assert_allclose(r, 1e-7 * R, rtol=1e-12)
    np.testing.assert_allclose(v * np.sqrt(0.8), V * np.sqrt(0.8e7 / EARTH.mu), rtol=1e-12)
