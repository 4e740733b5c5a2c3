"""Joints that a scenario drives beyond their limits: a note wherever the run is told about, or the run fails."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.scenario import load
from gyrostat.simulation.limit_events import already_beyond
from gyrostat.view.report import report_html

CASE = """spacecraft = "arm.toml"
[run]
duration = 4
[control]
law = "{law}"
[[waypoint]]
at = 2
joints = {{ elbow = 1.5, rail = -0.4 }}
"""


@pytest.fixture
def folder(tmp_path):
    base = gs.Body("base", 100.0, (0.1, 0.0, 0.2), inertia=(30, 20, 25))
    elbow = gs.Joint(
        "elbow", "revolute", "base", (0.5, 0.1, 0), axis=(0.2, 0.1, 1), limits=gs.Limits(-0.5, 1.0, 0.8, 2.0)
    )
    rail = gs.Joint("rail", "prismatic", "arm", (0, 0.3, 0), axis=(1, 0, 0.3), limits=gs.Limits(-0.3, 0.3))
    arm = gs.Body("arm", 8.0, (0.3, 0, 0.05), (1, 2, 2), elbow)
    slide = gs.Body("slide", 2.0, (0.1, 0.05, 0), (0.1, 0.1, 0.1), rail)
    gs.save(gs.Spacecraft.build("arm", [base, arm, slide]), tmp_path / "arm.toml")
    return tmp_path


def run(folder, text, **options):
    (folder / "case.toml").write_text(text)
    return load(folder / "case.toml").simulate(**options)


@pytest.mark.parametrize("law", ["computed_torque", "pd", "prescribed"])
def test_limits_that_were_passed_are_noted_in_the_run_its_file_and_its_report(folder, law):
    """Nothing was said."""
    found = run(folder, CASE.format(law=law))
    assert found.ok
    first = {(row.joint, row.what): row for row in found.limits}
    assert first.keys() == {("elbow", "position"), ("elbow", "rate"), ("rail", "position")}
    over = found.q[:, 7] > 1.0
    assert first["elbow", "position"].first == found.time[over][0]
    assert first["elbow", "position"].fraction == over.mean()
    assert first["elbow", "position"].worst == found.q[:, 7].max() and first["elbow", "position"].limit == 1.0
    assert first["rail", "position"].worst == found.q[:, 8].min() and first["rail", "position"].limit == -0.3
    assert first["elbow", "rate"].worst == found.v[:, 6].max()
    assert [row.joint for row in found.saturation] == ["elbow"] and not found.saturation[0].held
    words = ("'elbow' is beyond its position limit", "'elbow' is beyond its rate limit", "aturation: 'elbow'")
    back = gs.Trajectory.load(found.save(folder / "case.nc"))
    assert back.notes == found.notes and back.limits == found.limits and back.saturation == found.saturation
    page = report_html(back).replace("&#39;", "'")
    assert all(word in str(found) and word in page for word in words)


def test_stop_ends_the_run_where_the_limit_is_reached(folder):
    """The path is q = 1.5 s^3 (10 - 15 s + 6 s^2), s = t / 2: its rate reaches 0.8 before the angle reaches 1."""
    text = 'limits = "stop"\n' + CASE.format(law="prescribed")
    with pytest.warns(gs.SimulationWarning) as told:
        found = run(folder, text)
    assert "limit of 'elbow': rate" in str(told[0].message)
    s = min(r.real for r in np.roots([1.5 * 15, -1.5 * 30, 1.5 * 15, 0, -0.8]) if abs(r.imag) < 1e-12 and r.real > 0)
    assert not found.ok and found.status == ("stopped",)
    assert found.events[0].t == pytest.approx(2 * s, abs=1e-8) and found.v[~np.isnan(found.v[:, 6])][-1, 6] <= 0.8
    assert any("at the limit of 'elbow': rate" in message for message in found.failures)
    slower = text.replace("at = 2", "at = 3.9")
    with pytest.warns(gs.SimulationWarning) as told:
        found = run(folder, slower)
    assert "limit of 'elbow': position" in str(told[0].message)
    assert found.events[0].q[7] == pytest.approx(1.0, abs=1e-8)


def test_stop_lets_a_run_within_its_limits_pass(folder):
    text = 'limits = "stop"\n' + CASE.format(law="pd").replace("1.5, rail = -0.4", "0.4, rail = -0.2")
    text = text.replace("at = 2", "at = 3.9")
    found = run(folder, text + "[actuators]\nsaturate = true\n")
    assert found.ok and found.notes == () and found.limits == ()
    same = run(folder, text.replace('limits = "stop"\n', ""))
    np.testing.assert_allclose(found.q, same.q, atol=1e-12)


def test_stop_counts_efforts_that_no_motor_can_give(folder):
    text = 'limits = "stop"\n' + CASE.format(law="pd").replace("1.5, rail = -0.4", "0.4, rail = -0.2")
    with pytest.warns(gs.SimulationWarning, match="saturation: 'elbow'"):
        found = run(folder, text.replace("at = 2", "at = 1.2"))
    assert not found.ok and "NOT held" in found.failures[0]


def test_a_start_beyond_a_limit_is_refused_with_stop_and_at_it_is_not(folder):
    text = 'limits = "stop"\n' + CASE.format(law="pd") + "[start.joints]\nelbow = {elbow}\n"
    with pytest.raises(gs.ModelError, match=r"case.toml:1: the start is beyond the limit of 'elbow': position"):
        run(folder, text.replace("{elbow}", "1.2"))
    still = text.replace("{elbow}", "-0.5").replace("1.5, rail = -0.4", "-0.4, rail = 0.0")
    with pytest.warns(gs.SimulationWarning, match="saturation"):  # it starts with a jerk
        found = run(folder, still.replace("at = 2", "at = 0.5"))
    assert found.status == ("done",)


def test_what_limits_may_be(folder):
    with pytest.raises(gs.ModelError, match="case.toml:1: .*'note' or 'stop'"):
        run(folder, 'limits = "ignore"\n' + CASE.format(law="pd"))


def test_beyond_a_limit_by_round_off_is_at_it():
    """A billionth of the limit, or of one where the limit is less."""
    limits = gs.Limits(lower=-40.0, upper=0.2, velocity=50.0)
    rail = gs.Joint("rail", "prismatic", "base", (0, 0.3, 0), axis=(1, 0, 0.3), limits=limits)
    bodies = [gs.Body("base", 10.0, inertia=(3, 2, 2.5)), gs.Body("slide", 2.0, inertia=(0.1, 0.1, 0.1), joint=rail)]
    craft = gs.Spacecraft.build("rail", bodies)
    for way, limit, size in (("q", -40.0, 40e-9), ("q", 0.2, 1e-9), ("v", 50.0, 50e-9), ("v", -50.0, 50e-9)):
        for beyond, told in ((0.6, False), (1.4, True)):
            q, v = gs.neutral(craft), np.zeros(7)
            (q if way == "q" else v)[-1] = limit + np.sign(limit) * beyond * size
            assert bool(already_beyond(craft, q, v)) == told, (way, limit, beyond)


def test_a_joint_at_its_largest_rate_is_not_beyond_it(folder):
    craft = gs.load(folder / "arm.toml")
    q, v = gs.neutral(craft), np.zeros(craft.nv)
    at = craft.joint_named("elbow").v_at.start
    for rate, beyond in ((0.8, []), (-0.8, []), (0.8 + 1e-6, ["limit of 'elbow': rate"])):
        v[at] = rate
        assert already_beyond(craft, q, v) == beyond
