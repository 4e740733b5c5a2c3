"""Units as people write them."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from gyrostat.io.toml.units import UNITS, measure


@pytest.mark.parametrize(
    ("text", "value", "dimension"),
    [
        ("5 deg", math.pi / 36, "angle"),
        ("7000 km", 7e6, "length"),
        ("2 min", 120.0, "time"),
        ("-.5e1 mm", -0.005, "length"),
        ("3000 rpm", 100 * math.pi, "angular rate"),
        ("0.5Nm", 0.5, "torque"),
        ("2 N*m", 2.0, "torque"),
        ("1 g", 9.80665, "acceleration"),
        ("90°", math.pi / 2, "angle"),
        ("2 kg*m^2", 2.0, "moment of inertia"),
        ("3 Nm/rad", 3.0, "rotational stiffness"),
        ("12", 12.0, None),
        (12, 12.0, None),
        (1.5, 1.5, None),
    ],
)
def test_a_number_with_its_unit(text, value, dimension):
    found = measure(text)
    assert found.value == pytest.approx(value, rel=1e-15) and found.dimension == dimension


def test_every_unit_is_understood_and_none_means_two_things():
    names = [unit for units in UNITS.values() for unit in units]
    assert len(names) == len(set(names))
    for dimension, units in UNITS.items():
        for unit, factor in units.items():
            assert measure(f"3 {unit}").of(dimension) == pytest.approx(3 * factor)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("360 deg", "1 rev"),
        ("1 deg", "60 arcmin"),
        ("1 arcmin", "60 arcsec"),
        ("1 rad", "1000 mrad"),
        ("57.29577951308232 deg", "1 rad"),
        ("1 deg/s", "60 deg/min"),
        ("1 rpm", "6 deg/s"),
        ("1 rad/s", "1000 mrad/s"),
        ("57.29577951308232 deg/s", "1 rad/s"),
        ("1 km", "1000 m"),
        ("1 m", "100 cm"),
        ("1 cm", "10 mm"),
        ("1 day", "24 h"),
        ("1 h", "60 min"),
        ("1 min", "60 s"),
        ("1 s", "1000 ms"),
        ("1 kN", "1000 N"),
        ("1 N", "1000 mN"),
        ("1 kN m", "1000 N m"),
        ("1 N m", "1000 mN m"),
        ("1 km/s", "1000 m/s"),
        ("1 m/s", "100 cm/s"),
        ("1 cm/s", "10 mm/s"),
        ("1 m/s^2", "1000 mm/s^2"),
        ("1 g", "9.80665 m/s^2"),
        ("1 Hz", "1000 mHz"),
        ("1 kg", "1000 gram"),
        ("1 t", "1000 kg"),
        ("1 kg m^2", "10000 kg cm^2"),
        ("1 kg cm^2", "100 kg mm^2"),
        ("1 N/mm", "1000 N/m"),
        ("1 kN/m", "1 N/mm"),
        ("57.29577951308232 N m/rad", "1 N m/deg"),
        ("57.29577951308232 N m s/rad", "1 N m s/deg"),
        ("1 N s/m", "1000 mN s/m"),
    ],
)
def test_units_stand_in_their_ratios(one, other):
    a, b = measure(one), measure(other)
    assert a.dimension == b.dimension is not None and a.value == pytest.approx(b.value, rel=1e-14)


def test_the_ratios_name_every_unit():
    """So that a unit added without its ratio is noticed; the first of each dimension is SI: its factor is one."""
    named = {text.split(" ", 1)[1] for pair in test_units_stand_in_their_ratios.pytestmark[0].args[1] for text in pair}
    assert named == {unit for units in UNITS.values() for unit in units}
    assert all(next(iter(units.values())) == 1.0 for units in UNITS.values())


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("5 dge", "Did you mean 'deg'?"),
        ("deg 5", "does not start with a number"),
        ("", "does not start with a number"),
        ("1e999 m", "finite"),
        (float("nan"), "finite"),
        (10**400, "too large"),
        (True, "expected a number"),
        ([5], "expected a number"),
        ("5 deg; import os", "unknown unit"),
        ("2,5 m", "write a decimal point"),
        (1e70, "too large"),
        (float("inf"), "finite"),
    ],
)
def test_what_is_no_quantity_is_refused(value, words):
    with pytest.raises(ValueError, match=words.replace("?", r"\?")):
        measure(value)


def test_a_length_is_no_angle():
    with pytest.raises(ValueError, match='is "5 mm", a length; expected an angle, such as "5 deg"'):
        measure("5 mm").of("angle")


def test_no_limit_is_infinite_and_nothing_else_is():
    assert measure(float("inf"), infinite=True).of("torque") == math.inf
    assert measure(float("-inf"), infinite=True).of("angle") == -math.inf
    with pytest.raises(ValueError, match="expected a number, or inf for no limit"):
        measure(float("nan"), infinite=True)


def test_a_plain_number_has_no_unit():
    assert measure(3).plain("a quaternion") == 3.0
    with pytest.raises(ValueError, match='is "3 m"; expected plain numbers: a quaternion'):
        measure("3 m").plain("a quaternion")


def test_every_unit_is_on_its_page():
    page = (Path(__file__).resolve().parents[2] / "docs" / "units.md").read_text(encoding="utf-8")
    for dimension, units in UNITS.items():
        (row,) = [line for line in page.splitlines() if line.startswith(f"| {dimension} |")]
        assert all(f"`{unit}`" in row for unit in units)
