"""Missions that come with gyrostat: each is one file and one command, and ends as it says."""

from __future__ import annotations

import tomllib

import numpy as np
import pytest
from typer.testing import CliRunner

import gyrostat as gs
from browser import PROGRAM, Browser, keeps_in_its_cards, plays
from gyrostat import scenario
from gyrostat.cli.main import app
from gyrostat.scenario.templates import MISSIONS

UNJUDGED = ("dispersed-campaign",)  # by the run itself


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """None where there is no Chromium: pages are written all the same."""
    if PROGRAM is None:
        yield None
        return
    with Browser(tmp_path_factory.mktemp("browser"), width=900, height=700) as page:
        yield page


@pytest.mark.parametrize("name", MISSIONS)
def test_one_command_each_with_report_and_scene(tmp_path, monkeypatch, browser, name):
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(app, ["init", "mission.toml", "--example", name]).exit_code == 0
    assert len((tmp_path / "mission.toml").read_text(encoding="utf-8").splitlines()) < 120
    done = CliRunner().invoke(app, ["run", "mission.toml", "--report", "report.html", "--scene", "scene.html"])
    assert done.exit_code == 0, done.output
    second = done.output.splitlines()[1]
    assert second.startswith("Reached its end") and ("requirement" in second) == (name not in UNJUDGED)
    for file in ("report.html", "scene.html"):
        assert (tmp_path / file).stat().st_size > 10_000
    title = tomllib.loads((tmp_path / "mission.toml").read_text(encoding="utf-8"))["name"]
    if browser is not None:
        keeps_in_its_cards(browser, tmp_path / "report.html")
        plays(browser, tmp_path / "scene.html", title)
    run = gs.Trajectory.load(tmp_path / "mission.nc")
    assert run.ok and run.summary.met and run.audit.worst < 1e-10


def test_the_derelict_is_taken_by_both_grips_and_comes_to_rest_with_all_books_closed(tmp_path):
    path = tmp_path / "capture.toml"
    path.write_text(scenario.example("capture-and-detumble"), encoding="utf-8")
    run = scenario.load(path).run()
    craft, (first, second, third) = run.craft, run.phases
    assert [m.name for m in craft.memberships] == ["tug", "derelict"]
    assert craft.member("derelict").craft.bodies[0].mass == 1000.0 and len(craft.at("wheel")) == 4
    for result in run.phases:  # each for itself, and all as one
        assert result.trajectory.audit.worst < 1e-10
    assert run.trajectory.audit.worst < 1e-10
    jump = second.capture
    h = gs.momentum(craft, first.end[1], first.end[2])
    assert np.abs(gs.momentum(craft, first.end[1], jump.v) - h).max() <= 1e-12 * np.abs(h).max()
    assert jump.energy_lost > 0 and np.linalg.norm(first.end[2][craft.joint("derelict").v_at][:3]) > np.radians(0.9)
    assert second.trajectory.craft.nv == craft.nv - 6 == third.trajectory.craft.nv
    assert np.abs(third.trajectory.constraint_residuals().position).max() < 1e-7


def test_the_campaign_answers_with_how_sure_it_is(tmp_path, monkeypatch, browser):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "many.toml").write_text(scenario.example("dispersed-campaign"), encoding="utf-8")
    done = CliRunner().invoke(app, ["sweep", "many.toml", "--report", "page.html"])
    assert done.exit_code == 0, done.output
    first, *rest = done.output.splitlines()
    assert "500 of 500 runs, 0 failed" in first and sum(line.strip().startswith("met: ") for line in rest) == 2
    (worst,) = (line for line in rest if line.startswith("worst turned"))
    assert " deg)" in worst and 10.0 < float(worst.split("(")[1].split(" deg")[0]) < 30.0
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "turned [deg]" in page and "turned [rad]" not in page and "arrival [rad]" in page
    if browser is not None:
        keeps_in_its_cards(browser, tmp_path / "page.html")


def test_every_example_is_written_by_its_name_and_said_by_list(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = CliRunner().invoke(app, ["init", "--example", "list"]).output
    assert not list(tmp_path.iterdir())
    for name in scenario.EXAMPLES:
        assert f"{name}: " in said
    done = CliRunner().invoke(app, ["init", "--example", "dokcing"])
    assert done.exit_code == 2 and "not known" in done.output
