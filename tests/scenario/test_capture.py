"""One file and one command: approach, capture, hold, release, with report and scene; and files that are wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import gyrostat as gs
from gyrostat import scenario
from gyrostat.cli.main import app
from gyrostat.model import ModelError
from gyrostat.scenario.kinds.phased import PhasedScenario

DEMO = Path(scenario.__file__).parent / "capture_demo.toml"


@pytest.fixture(scope="module")
def run():
    return scenario.load(DEMO).run()


def changed(tmp_path, *changes):
    text = DEMO.read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = tmp_path / "capture.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_demo_captures_holds_and_lets_go(run):
    assert [r.phase.name for r in run.phases] == ["approach", "hold", "release"]
    assert run["approach"].happened
    jump = run["hold"].capture
    _, q, before = run["approach"].end
    h = gs.momentum(run.craft, q, before)
    assert np.abs(gs.momentum(run.craft, q, jump.v) - h).max() <= 1e-12 * np.abs(h).max()
    assert jump.energy_lost > 0
    assert np.abs(run["hold"].trajectory.constraint_residuals().position).max() < 1e-9
    assert run["release"].constraints == ()
    assert run.trajectory.audit.worst < 1e-9


def test_states_of_both_stand_where_the_file_puts_them():
    work = scenario.load(DEMO)
    assert isinstance(work, PhasedScenario) and work.duration == 200.0
    assert work.q0[work.craft.joint_named("joint_2").q_at][0] == pytest.approx(np.radians(120.0))
    at = work.craft.joint("client")
    assert work.q0[at.q_at][4] == pytest.approx(8.606) and work.v0[at.v_at][2] == pytest.approx(np.radians(1.4701))
    R = gs.frame_pose(work.craft, work.q0, "client").R
    assert np.abs(R @ R.T - np.eye(3)).max() < 1e-12


def test_one_command_writes_result_report_and_scene(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    short = changed(
        tmp_path,
        ('duration = "120 s"', 'duration = "2 s"'),
        ('duration = "20 s"', 'duration = "1 s"'),
        ("1e-11", "1e-9"),
        ("1e-13", "1e-11"),
    )
    done = CliRunner().invoke(app, ["run", str(short), "--report", "report.html", "--scene", "scene.html"])
    assert done.exit_code == 0, done.output
    assert "hold:" in done.output and "grapple" in done.output and "J lost" in done.output
    for name in ("capture.nc", "report.html", "scene.html"):
        assert (tmp_path / name).stat().st_size > 10_000
    again = gs.Trajectory.load(tmp_path / "capture.nc")
    assert again.time[-1] > 20.0 and np.isfinite(again.tau).all()


@pytest.mark.parametrize(
    "change, message",
    [
        (('"tool", "grip"], closer', '"tool", "gripp"], closer'), "no body or frame 'gripp'"),
        (('release = ["grapple"]', 'release = ["claw"]'), "releases 'claw', which is not held"),
        (("rtol = 1e-11", 'duration = "9 s"'), "unknown key 'duration'. The phases say how long."),
        (("rtol = 1e-11", 'conserve = "momentum"'), "'conserve' takes one spacecraft with a free base"),
        (('release = ["grapple"]', "restitution = 0.5"), "'restitution' is that of a grasp"),
        (('closer_than = "5 cm"', 'closer_than = "0 cm"'), "closer_than is 0 m; expected more than zero"),
        (('kind = "weld"', 'kind = "glue"'), "kind is 'glue'"),
        (('name = "release"', 'naem = "release"'), "unknown key 'naem'"),
        (("[start.joints]", 'locked = ["joint_9"]\n[start.joints]'), "no joint 'joint_9'"),
        (('spacecraft = "client"', 'spacecraft = "cleint"'), "no spacecraft 'cleint' is bundled"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path, change, message):
    with pytest.raises(ModelError) as caught:
        scenario.load(changed(tmp_path, change))
    assert message in str(caught.value) and "capture.toml:" in str(caught.value)


SHORT = (
    ('duration = "120 s"', 'duration = "4 s"'),
    ('duration = "20 s"', 'duration = "1 s"'),
    ("rtol = 1e-11", "rtol = 1e-9"),
    ("atol = 1e-13", "atol = 1e-11"),
)


@pytest.mark.parametrize(
    "change",
    [
        ("[control]", "[actuators]\nlag = 0.5\n[control]"),
        ('law = "pd"', 'law = "pid"'),
        ('law = "pd"', 'law = "pd"\nperiod = "0.1 s"'),
        ("[start.joints]", 'locked = ["joint_1"]\n[start.joints]'),
        ("[control]", '[[torque]]\nat = "22.5 s"\njoints = { joint_1 = "3 N m" }\n[control]'),
    ],
    ids=["actuators", "law with memory", "sampled law", "locked joint", "pulse of torque"],
)
def test_what_a_scenario_may_have_a_capture_may_have(tmp_path, change):
    """Refused or dropped before: actuators, stops, memory, samples, locks, pulses after the first second."""
    plain = scenario.load(changed(tmp_path, *SHORT)).run()
    run = scenario.load(changed(tmp_path, *SHORT, change)).run()
    assert run.ok and [r.phase.name for r in run.phases] == ["approach", "hold", "release"]
    assert np.abs(run.phases[-1].end[2] - plain.phases[-1].end[2]).max() > 1e-6
    assert run.trajectory.audit.worst < 1e-8


def test_stops_without_limits_are_refused(tmp_path):
    with pytest.raises(ValueError, match="no joint of .* has any: give some gs.Limits"):
        scenario.load(changed(tmp_path, *SHORT, ("[control]", "[stops]\n[control]"))).run()


def test_rows_are_saved_as_often_as_the_file_says(tmp_path):
    run = scenario.load(changed(tmp_path, *SHORT, ("[run]", '[run]\nsave_every = "0.5 s"'))).run()
    assert np.abs(np.diff(run.trajectory.time) - 0.5).max() < 1e-9 and len(run.trajectory.time) > 40


def test_a_capture_that_never_grasps_does_not_end_well(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = changed(tmp_path, *SHORT, ('duration = "60 s"', 'duration = "3 s"'))
    done = CliRunner().invoke(app, ["run", str(path)])
    assert done.exit_code == 4 and "without its event" in done.output
    verdict, *_ = [line for line in done.output.splitlines() if "its end" in line]
    assert verdict.startswith("Did not reach its end")
    assert not gs.Trajectory.load(tmp_path / "capture.nc").ok


def test_target_without_phases_is_refused(tmp_path):
    text = DEMO.read_text(encoding="utf-8")
    path = tmp_path / "capture.toml"
    path.write_text(text[: text.index("[[phase]]")], encoding="utf-8")
    with pytest.raises(ModelError, match="phase"):
        scenario.load(path)
