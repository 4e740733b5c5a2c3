"""Units as people write them."""

from __future__ import annotations

import math

import pytest

from gyrostat.scenario.quantities import UNITS, measure


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
    ],
)
def test_what_is_no_quantity_is_refused(value, words):
    with pytest.raises(ValueError, match=words.replace("?", r"\?")):
        measure(value)


def test_a_length_is_no_angle():
    with pytest.raises(ValueError, match='is "5 mm", a length; expected an angle, such as "5 deg"'):
        measure("5 mm").of("angle")
