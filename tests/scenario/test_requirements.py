"""[[require]]: values are those of the run, margins are differences, what is missed is told first with exit code 4."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import trapezoid
from typer.testing import CliRunner

import gyrostat as gs
from gyrostat import scenario
from gyrostat.cli.main import app
from gyrostat.model import ModelError
from gyrostat.view.report import report_html

REACH = """spacecraft = "servicer"
[run]
duration = "4 s"
[[waypoint]]
at = "3 s"
joints = { joint_2 = "25 deg", joint_3 = "-10 deg" }
"""
TURNED = '[[require]]\nname = "the base stays"\noutcome = "largest"\nof = "attitude_error"\nat_most = "20 deg"\n'
ARRIVED = """[[require]]
name = "arrives"
outcome = "last"
of = "joint_error"
joint = "joint_2"
target = 0.4
at_most = 0.1
"""
NEAR = (
    '[[require]]\nname = "near"\noutcome = "{}"\nof = "distance"\nfirst = "tool"\nsecond = "grip"\nat_most = "6 cm"\n'
)


def load(folder, text):
    path = folder / "case.toml"
    path.write_text(text)
    return scenario.load(path)


@pytest.mark.parametrize(
    "line, why",
    [
        ("target = []", "target of 'joint_error' is .*; expected a finite number, in SI"),
        ('target = "5 kg"', 'is "5 kg", a mass; expected an angle'),
        (
            'target = "5 dog"',
            "target of 'joint_error' is '5 dog'; expected a finite number, in SI, or text with a unit",
        ),
        ("target = true", "expected a finite number"),
        ("target = nan", "expected a finite number"),
        ("target = {}", "expected a finite number"),
        ("joint = 3", "joint of 'joint_error' is 3; expected a name"),
        ('joint = ["joint_2"]', "expected a name"),
    ],
)
def test_arguments_of_signals_are_of_their_kind(tmp_path, line, why):
    """Found when the file is read, with its place; not by an error of the equations when it is run."""
    key = line.partition(" ")[0]
    text = "\n".join(line if one.startswith(f"{key} =") else one for one in ARRIVED.splitlines()) + "\n"
    with pytest.raises(ModelError, match=why):
        load(tmp_path, REACH + text)
    event = text.replace("[[require]]", "[[event]]").replace('outcome = "last"\n', "").replace("at_most", "below")
    with pytest.raises(ModelError, match=why):
        load(tmp_path, REACH + event)


def capture(folder, *more, approach="60 s"):
    text = scenario.example("capture").replace("rtol = 1e-11\natol = 1e-13", "rtol = 1e-8")
    text = text.replace('"60 s"', f'"{approach}"').replace('"120 s"', '"3 s"').replace('"20 s"', '"1 s"')
    return load(folder, text + "".join(more))


def test_values_are_those_of_the_run_and_a_file_says_the_same(tmp_path):
    done = load(tmp_path, REACH + TURNED + ARRIVED).simulate(progress=False)
    turned, arrived = sorted(done.summary.requirements, key=lambda r: r.name, reverse=True)
    start, quat = done.q[0, :4], done.q[:, :4]
    angle = np.degrees(2 * np.arccos(np.clip(np.abs(quat @ start), 0, 1)).max())
    assert turned.met and turned.unit == "deg" and turned.value == pytest.approx(angle, rel=1e-4)
    assert turned.margin == pytest.approx(20 - turned.value)
    q = done.q[-1, done.craft.joint_named("joint_2").q_at][0]
    assert arrived.value == pytest.approx(np.degrees(abs(q - 0.4)), rel=1e-9) and arrived.met
    again = gs.Trajectory.load(done.save(tmp_path / "run.nc"))
    assert again.summary.requirements == done.summary.requirements


def test_what_is_missed_is_told_first_everywhere_with_exit_code_4(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    load(tmp_path, REACH + ARRIVED + TURNED.replace("20 deg", "0.001 deg"))
    done = CliRunner().invoke(app, ["run", "case.toml", "--report", "r.html"])
    assert done.exit_code == 4, done.output
    assert "1 of 2 requirements met; not met: the base stays" in done.output
    page = (tmp_path / "r.html").read_text()
    verdict, table = page.index("not met: the base stays"), page.index("NOT MET")
    assert verdict < table < page.index(">met<") < page.index('id="audit"')


def test_a_run_that_goes_on_has_the_same_requirements(tmp_path):
    work = load(tmp_path, REACH + TURNED)
    whole = work.simulate(progress=False)
    with pytest.warns(gs.SimulationWarning, match="took 5 steps"):
        part = work.simulate(progress=False, max_steps=5)
    assert part.interrupted and part.summary.requirements == ()
    on = work.simulate(progress=False, resume=part, max_steps=100000)
    assert on.summary.requirements == whole.summary.requirements


def test_outcomes_of_phases_are_joined(tmp_path):
    """Largest, smallest, mean and last distance through the jump of a grasp, against the saved states."""
    kinds = ("largest", "smallest", "mean", "last")
    work = capture(tmp_path, *(NEAR.format(kind).replace('"near"', f'"{kind}"') for kind in kinds))
    done = work.simulate(progress=False)
    value = {r.name: r.value for r in done.summary.requirements}
    gap = np.linalg.norm(done.frame("tool")[1] - done.frame("grip")[1], axis=1)
    expected = {"largest": gap.max(), "smallest": gap.min(), "last": gap[-1]}
    expected["mean"] = trapezoid(gap, done.time) / np.ptp(done.time)
    for name, x in expected.items():
        assert value[name] == pytest.approx(x, rel=2e-3), name
    page = report_html(done)
    assert page.index("What happened") < page.index('class="facts"') and "J lost" in page


def test_a_capture_that_never_grasps_meets_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    capture(tmp_path, NEAR.format("last"), approach="2 s")
    done = CliRunner().invoke(app, ["run", "case.toml"])
    assert done.exit_code == 4 and "without its event" in done.output
    assert "0 of 3 requirements met" in done.output and "NOT MET: near: nan m" in done.output


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("at_most", "at_mst", "unknown key 'at_mst'.*Did you mean 'at_most'"),
        ("largest", "larges", "Did you mean 'largest'"),
        ("attitude_error", "atitude_error", "Did you mean 'attitude_error'"),
        ('"20 deg"', '"20 m"', 'is "20 m", a length; expected an angle'),
        ('at_most = "20 deg"\n', "", "a requirement has a limit"),
        ('at_most = "20 deg"', "at_most = 1\njoint = 'joint_1'", "has no key 'joint'"),
        ('at_most = "20 deg"', "at_most = 1\nframe = 'tol'", "no body or frame 'tol'"),
    ],
)
def test_what_is_wrong_is_said_at_its_line(tmp_path, old, new, words):
    with pytest.raises(ModelError, match=words) as caught:
        load(tmp_path, REACH + TURNED.replace(old, new))
    assert all(f.line is not None and f.line > 6 for f in caught.value.findings)


def test_of_two_spacecraft_a_requirement_says_which(tmp_path):
    with pytest.raises(ModelError, match="here are several spacecraft; say of which"):
        capture(tmp_path, TURNED)
    with pytest.raises(ModelError, match="time_of is not known through phases"):
        capture(tmp_path, NEAR.format("time_of"))
