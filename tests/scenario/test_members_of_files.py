"""Members of a formation file have laws, sensors, motors and events of their own: each flies as it would alone."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import scenario
from gyrostat.model import ModelError

HEAD = '[environment.orbit]\naltitude = "500 km"\n[run]\nduration = "6 s"\nrtol = 1e-10\n'
TUG = """
[[member]]
name = "tug"
spacecraft = "tug"
position = ["5 m", "0 m", "0 m"]
joints = { left_elbow = "40 deg" }
control = { law = "wheel_attitude", joint_bandwidth = "0.3 Hz" }
sensors = { period = "0.5 s", gyro = { noise = "0.01 deg/s" } }
actuators = { saturate = true }
[[member.waypoint]]
at = "4 s"
joints = { left_elbow = "44 deg" }
[[member.event]]
name = "bent"
of = "joint_error"
joint = "left_elbow"
target = 0.7679449
below = 0.01
"""
ARM = """
[[member]]
name = "servicer"
spacecraft = "servicer"
position = ["0 m", "-30 m", "0 m"]
locked = ["joint_3"]
[[member.torque]]
at = "2 s"
joints = { joint_2 = "3 N m" }
"""


def load(folder, text):
    path = folder / "case.toml"
    path.write_text(text)
    return scenario.load(path)


def test_each_member_flies_as_it_would_alone(tmp_path):
    work = load(tmp_path, HEAD + TUG + ARM)
    run = work.run(progress=False)
    for number, name in enumerate(("tug", "servicer")):
        craft, (q, v) = work.formation.craft(name), (x[0] for x in work.state[name])
        own = {key: x[name] for key, x in work.options.items() if isinstance(x, dict) and name in x}
        assert {"control", *(("actuators", "events") if name == "tug" else ("locked",))} <= own.keys()
        same = {key: work.options[key] for key in ("environment", "rtol", "breakpoints")}
        alone = gs.simulate(craft, q, v, (0.0, 6.0), **same, **own, runs=number)
        member = run.member(name)
        np.testing.assert_allclose(member.q[-1], alone.final[0], rtol=0, atol=1e-12)
        np.testing.assert_allclose(member.v[-1], alone.final[1], rtol=0, atol=1e-12)
        assert np.abs(alone.signals["tau"].values).max() > 0.1
    assert [event.name for event in run.events] == ["bent"]
    trajectory = work.simulate(progress=False)
    assert trajectory.ok and trajectory.audit.worst < 1e-8


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("left_elbow = \"44 deg\"", "left_elbw = \"44 deg\"", "no joint 'left_elbw'. Did you mean 'left_elbow'"),
        ('law = "wheel_attitude"', 'law = "wheel_atitude"', "Did you mean 'wheel_attitude'"),
        ("saturate = true", "saturat = true", "Did you mean 'saturate'"),
        ('of = "joint_error"', 'of = "joint_eror"', "Did you mean 'joint_error'"),
        ("[[member.waypoint]]", "[[member.waypont]]", "Did you mean 'waypoint'"),
        ('locked = ["joint_3"]', 'locked = ["joint_33"]', "no joint 'joint_33'"),
        (
            '[[member]]\nname = "servicer"',
            '[[station]]\nmember = "tug"\nposition = [0, 0, 0]\n[[member]]\nname = "servicer"',
            "'tug' keeps a station, and has a law or loads of its own",
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_line(tmp_path, old, new, words):
    text = HEAD + TUG + ARM
    assert old in text
    with pytest.raises(ModelError) as caught:
        load(tmp_path, text.replace(old, new, 1))
    assert words in str(caught.value) and all(finding.line for finding in caught.value.findings)
