"""The JSON schema that editors use: it takes every bundled file,
and sees what the reader would refuse, kind by kind.
"""

from __future__ import annotations

import tomllib

import pytest

from gyrostat import scenario
from gyrostat.scenario.kinds import KINDS
from json_schema import problems

SCHEMA = scenario.json_schema()


@pytest.mark.parametrize("name", ["template", *scenario.EXAMPLES])
def test_bundled_files_are_valid(name):
    text = scenario.template() if name == "template" else scenario.example(name)
    assert problems(SCHEMA, tomllib.loads(text)) == []


@pytest.mark.parametrize(
    ("name", "old", "new", "found"),
    [
        ("servicer", "[run]", "[rnu]", ["/: no run", "/: unknown key rnu"]),
        ("servicer", 'spacecraft = "servicer"', "", ["/: no spacecraft"]),
        ("servicer", "[run]", '[run]\nformulation = "newton"', ["/run/formulation: not one of"]),
        ("capture", "[target]", "[taget]", ["/target: no spacecraft", "/: unknown key taget"]),
        ("capture", 'kind = "weld"', 'kind = "glue"', ["/phase/1/grasp/0/kind: not one of"]),
        ("servicer", '"computed_torque"', '"wheel_attitude"\natitude = [0, 0, 1]', ["/control: unknown key atitude"]),
        ("servicer", '"computed_torque"', '"gyro_attitude"', ["/control: no momentum"]),
        ("servicer", "[run]", '[sensors.gyro]\nnoise = "1 kg"\n[run]', ["/sensors/gyro/noise: none of"]),
        ("station", 'name = "servicer"', "", ["/member/1: no name"]),
        ("station", "rpy =", "rpi =", ["/member/0: unknown key rpi"]),
        ("station", '"-40 m"', '"-40 deg"', ["/member/1/position/1: none of the alternatives"]),
        ("station", '["8 m", "-40 m", "5 m"]', '["8 m", "-40 m"]', ["/member/1/position: minItems 3"]),
        ("station", "[[station]]", "[[statoin]]", ["/: unknown key statoin"]),
        ("station", "[environment.orbit]", "[environment.orbt]", ["/environment: unknown key orbt"]),
        ("station", 'altitude = "500 km"', "altitude = true", ["/environment/orbit/altitude: none of"]),
        ("station", "[run]", '[start]\nposition = [0, 0, 0]\n[run]', ["/: unknown key start"]),
        ("station", 'position = ["0 m", "-2 m", "0 m"]', "", ["/station/0: no position"]),
    ],
)  # fmt: skip
def test_what_is_wrong_is_seen(name, old, new, found):
    text = scenario.example(name)
    assert old in text
    seen = set(problems(SCHEMA, tomllib.loads(text.replace(old, new, 1))))
    for words in found:
        assert any(problem.startswith(words) for problem in seen), seen


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_every_key_at_the_top_is_offered(kind):
    """Editors complete from `properties`: not all of them follow `if` and `then`."""
    assert set(kind.table.model_fields) <= set(SCHEMA["properties"])
    for table in kind.tables.values():
        assert set(SCHEMA["$defs"][table.__name__]["properties"]) == set(table.model_fields)
