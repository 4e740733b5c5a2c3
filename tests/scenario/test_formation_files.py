"""Formation files that are wrong: what was found, what to do, and on which line."""

from __future__ import annotations

import pytest

from gyrostat import scenario
from gyrostat.model import ModelError

DEMO = scenario.example("station")
HELD = """<robot name="gantry"><link name="world"/><link name="a"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="revolute"><parent link="world"/><child link="a"/><axis xyz="0 0 1"/></joint></robot>"""
SERVICER = 'spacecraft = "servicer"'
PLACE = 'position = ["8 m", "-40 m", "5 m"]'


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('of = "client"', 'of = "cleint"', ("station 1", "no member 'cleint'", "Did you mean 'client'")),
        ('of = "client"', 'of = "servicer"', ("cannot stay beside itself", "Name another one")),
        ('member = "servicer"', 'member = "x"', ("no member 'x'",)),
        ('frame = "tool"', 'frame = "tol"', ("no body or frame 'tol'", "Did you mean 'tool'")),
        ('name = "servicer"', 'name = "client"', ("member 'client'", "two members are named 'client'")),
        ('name = "servicer"', 'name = ""', ("member 2", "expected text that is not empty")),
        ('name = "servicer"', "name = 3", ("member 2", "name is 3: expected text in quotes")),
        ('"500 km"', '"-500 km"', ("lies inside the planet",)),
        (
            'bandwidth = "3 mHz"',
            "bandwidth = 0",
            (
                "station 1",
                "bandwidth is 0: expected more than zero",
            ),
        ),
        ("joint_3 =", "joint_33 =", ("no joint 'joint_33'", "Did you mean")),
        (
            'joint_3 = "-100 deg"',
            'joint_3 = "1 m"',
            ("member 'servicer', joints", '"1 m", a length; expected'),
        ),
        (
            SERVICER,
            'spacecraft = "clint"',
            ("member 'servicer', spacecraft", "no spacecraft 'clint' is bundled", "client, derelict", "servicer"),
        ),
        (
            SERVICER,
            'spacecraft = "arm.urdf"',
            ("member 'servicer', spacecraft", "'arm.urdf' does not exist beside"),
        ),
        (
            SERVICER,
            'spacecraft = "held.urdf"',
            ("member 'servicer'", "gantry stands on a fixed base joint", "Make its base joint free"),
        ),
        (SERVICER, f'{SERVICER}\nturning = "yes"', ("turning is 'yes': expected true or false",)),
        ("rpy = [", "rpi = [", ("member 'client'", "unknown key 'rpi'", "Did you mean 'rpy'")),
        (PLACE, PLACE.replace(', "5 m"', ""), ("member 'servicer'", "expected at least 3 items, found 2")),
        (PLACE, 'position = "8 m"', ("position is '8 m': expected a list in brackets",)),
        (PLACE, PLACE.replace("-40 m", "-40 deg"), ("an angle; expected a length",)),
        (
            "[[station]]",
            '[[member.actuators.motor]]\njoint = "joint_1"\nstall_torque = 5.0\n[[station]]',
            ("motors are those of a member's own law; a station has none", "Leave them out"),
        ),
        ("[[station]]", "[[statoin]]", ("unknown key 'statoin'", "Did you mean 'station'")),
        (
            "[[station]]",
            "[[waypoint]]\nat = 1\n[[station]]",
            ("unknown key 'waypoint'", "belongs to a scenario of one spacecraft"),
        ),
        (
            'name = "Station',
            f'{SERVICER}\nname = "Station',
            ("unknown key 'spacecraft'", "every [[member]] has its own"),
        ),
        ("[run]", "[run]\nconserve = 'momentum'", ("run: momentum is not conserved in an orbit", "Leave it out")),
        ("[run]", "[run]\nformulation = 'recursve'", ("formulation is 'recursve': expected one of recursive, dual",)),
        (
            "[environment.orbit]",
            "[environment]\ngravity = [0, 0, 1]\n[environment.orbit]",
            ("environment: uniform gravity", "Leave it out"),
        ),
        (
            "[environment.orbit]",
            "[environment]\n[run.x]",
            ("environment: members fly in an orbit", "Add [environment.orbit]"),
        ),
    ],
)
def test_files_that_are_wrong(tmp_path, old, new, words):
    """The message names the line that was changed."""
    assert old in DEMO
    text = DEMO.replace(old, new, 1)
    if "[run.x]" in new:
        text = text.replace('[run.x]\naltitude = "500 km"\ninclination = "51.6 deg"\n', "")
    (tmp_path / "held.urdf").write_text(HELD)
    path = tmp_path / "case.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ModelError) as caught:
        scenario.load(path)
    before = DEMO[: DEMO.index(old)].count("\n") + 1
    (finding,) = [f for f in caught.value.findings if all(word in str(f) for word in words)]
    assert finding.line in range(before, before + new.count("\n") + 1)
    assert finding.file == str(path)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("[[member]]", "[[members]]", ["unknown key 'members'. Did you mean 'member'?"]),
        (
            "[[member]]",
            "[[craft]]",
            ["has no 'member'. Add [[member]] with name and spacecraft", "unknown key 'craft'. Known: "],
        ),
        ("[environment.orbit]", "[environmet.orbit]", ["unknown key 'environmet'. Did you mean 'environment'?"]),
        ("[run]", "[rnu]", ["unknown key 'rnu'. Did you mean 'run'?"]),
        ('name = "client"\n', "", ["member 1: has no 'name'. Add name = "]),
        ('position = ["0 m", "-2 m", "0 m"]\n', "", ["station 1: has no 'position'. Add position = [\"0 m\""]),
    ],
)
def test_keys_that_are_missing_or_misspelt(tmp_path, old, new, words):
    """Nothing else is said of the file, and nothing about a single spacecraft."""
    path = tmp_path / "case.toml"
    path.write_text(DEMO.replace(old, new), encoding="utf-8")
    with pytest.raises(ModelError) as caught:
        scenario.load(path)
    found = [str(f) for f in caught.value.findings]
    assert len(found) == len(words), found
    for word in words:
        assert any(word in text for text in found), found


def test_one_table_in_place_of_several(tmp_path):
    path = tmp_path / "case.toml"
    path.write_text(DEMO.split("[[member]]")[0] + '[member]\nname = "a"\nspacecraft = "client"\n', encoding="utf-8")
    with pytest.raises(ModelError, match=r"member: is one table; expected \[\[member\]\], which may be repeated"):
        scenario.load(path)
