"""TOML text: lines of keys and tables, and what cannot be read at all, for spacecraft and scenario files alike."""

from __future__ import annotations

import pytest

import gyrostat as gs
from gyrostat import scenario
from gyrostat.io.toml.text import key_lines, line_of

TEXT = """name = "x"
[[body]]
name = "a"
[body.joint]
kind = "free"
[[body.shape]]
size = [1]
[[body]]
name = "b"
[[body.shape]]
[[body.shape]]
size = [2]
"""


def test_lines_of_keys_and_tables():
    lines = key_lines(TEXT)
    assert lines["name",] == 1
    assert lines["body", 0] == 2
    assert lines["body", 0, "joint", "kind"] == 5
    assert lines["body", 0, "shape", 0, "size"] == 7
    assert lines["body", 1, "name"] == 9
    assert lines["body", 1, "shape", 1] == 11  # counted anew in every body
    assert lines["body", 1, "shape", 1, "size"] == 12


def test_a_key_that_is_not_there_has_the_line_of_its_table():
    lines = key_lines(TEXT)
    assert line_of(lines, ("body", 0, "joint", "axis", 2)) == 4
    assert line_of(lines, ("body", 1, "mass")) == 8
    assert line_of(lines, ("wheel", 0)) is None


@pytest.mark.parametrize("read", [gs.load, scenario.load])
@pytest.mark.parametrize(
    ("data", "code", "line"),
    [
        (b"name = 'x'\nbody = = 1\n", "toml", 2),
        (b"name = '\xff'\n", "toml", None),
        (b"a" + b".a" * 20_000 + b" = 1\n", "too-deep", None),
        (b"a = " + b"[" * 200_000, "too-deep", None),
    ],
)
def test_what_cannot_be_read(tmp_path, read, data, code, line):
    file = tmp_path / "file.toml"
    file.write_bytes(data)
    with pytest.raises(gs.ModelError) as error:
        read(file)
    assert [(f.code, f.line, f.file) for f in error.value.findings] == [(code, line, str(file))]
