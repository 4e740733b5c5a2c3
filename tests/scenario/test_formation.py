"""One file and one command: a servicer with an arm comes near a client in low orbit and stays;
and files that are wrong.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import gyrostat as gs
from gyrostat import scenario
from gyrostat.cli.main import app
from gyrostat.environment import differential_gravity
from gyrostat.scenario.kinds.formation import FormationScenario, station_error

DEMO = Path(scenario.__file__).parent / "station_demo.toml"


def changed(folder, *changes):
    text = DEMO.read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = folder / "station.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def demo():
    return scenario.load(DEMO)


@pytest.fixture(scope="module")
def run(demo):
    return demo.run()


def test_the_tool_comes_to_two_metres_and_stays(demo, run):
    """Two metres behind the client within half a millimetre for the last four minutes, the arm as it started,
    the client never touched.
    """
    assert isinstance(demo, FormationScenario)
    assert run.ok
    place, error = station_error(run, demo.stations[0])
    assert np.linalg.norm(place[0]) > 30
    late = run.time > 660
    assert late.sum() > 70
    assert error[late].max() < 5e-4
    np.testing.assert_allclose(np.linalg.norm(place[late], axis=1), 2.0, atol=5e-4)
    servicer = run.member("servicer")
    assert np.abs(servicer.q[:, 7:] - servicer.q[0, 7:]).max() < 1e-9
    assert run.closest_approach().distance > 4.0
    assert not run.groups["client"].tau.any()


def test_gravity_gradient_acts_on_every_link(demo, run):
    """The environment's wrenches at the end are those of differential gravity at each link's centre of mass."""
    group = run.groups["servicer"]
    wrenches = group.signals["wrenches"].values[0, -1]
    poses = group.poses()
    r = demo.orbit.state(float(run.time[-1])).r
    for k, body in enumerate(group.craft.bodies):
        R, p = poses.R_NB[0, -1, k], poses.p_NB[0, -1, k]
        pull = body.mass * differential_gravity(demo.orbit.planet.mu, r, p + R @ body.com)
        np.testing.assert_allclose(R @ wrenches[k, 3:], pull, rtol=1e-6, atol=1e-9)
        assert wrenches[k].any()


def test_one_trajectory_of_all_members(demo):
    short = demo.simulate(max_step=5.0, save_at=[0.0, 1.0])
    assert isinstance(short, gs.Trajectory)
    assert short.audit.worst < 1e-9
    near = next(h for h in short.summary.happened if h.what == "closest approach")
    assert near.words.endswith("client and servicer")
    kept = next(f for f in short.summary.figures if "from its station" in f.name)
    assert kept.unit == "m" and kept.peak >= kept.final > 0
    np.testing.assert_allclose(short.q[0], demo.q0, atol=1e-12)
    np.testing.assert_allclose(short.v[0], demo.v0, atol=1e-12)


def test_one_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = changed(tmp_path, ('duration = "15 min"', 'duration = "30 s"'))
    done = CliRunner().invoke(app, ["run", str(path), "--report", "r.html", "--scene", "s.html"])
    assert done.exit_code == 0, done.output
    assert "closest approach of two bases" in done.output
    assert "servicer/tool, from its station at client" in done.output
    scene = (tmp_path / "s.html").read_text(encoding="utf-8")
    assert "<title>Station keeping in low orbit</title>" in scene and "seen from client, Hill axes" in scene
    report = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "servicer/joint_2" in report
    assert gs.Trajectory.load(tmp_path / "station.nc").craft.nbodies == 8


def test_members_without_stations_drift(tmp_path):
    """No control at all: two spacecraft, a hundred seconds."""
    text = DEMO.read_text(encoding="utf-8").split("[[station]]")[0].replace('"15 min"', '"100 s"')
    path = tmp_path / "drift.toml"
    path.write_text(text, encoding="utf-8")
    run = scenario.load(path).run()
    assert run.ok
    assert not run.groups["servicer"].tau.any()


def test_a_member_starts_on_the_orbit_at_rest_in_the_hill_frame_unless_it_says_otherwise(tmp_path):
    """Nothing but a name: position, velocity and attitude are zero there, and it turns with the frame."""
    (tmp_path / "pair.toml").write_text(
        """[environment.orbit]
altitude = "500 km"
[[member]]
name = "plain"
spacecraft = "servicer"
[[member]]
name = "other"
spacecraft = "servicer"
position = ["10 m", 0, 0]
velocity = [0, "1 cm/s", 0]
rpy = [0, 0, "90 deg"]
turning = false
[run]
duration = "1 s"
""",
        encoding="utf-8",
    )
    run = scenario.load(tmp_path / "pair.toml").run()
    rho, rhodot = run.hill("plain")
    np.testing.assert_allclose([rho[0], rhodot[0]], np.zeros((2, 3)), atol=1e-9)
    rho, rhodot = run.hill("other")
    np.testing.assert_allclose(rho[0], [10.0, 0.0, 0.0], atol=1e-9)
    np.testing.assert_allclose(rhodot[0], [0.0, 0.01, 0.0], atol=1e-9)
    plain, other = run.member("plain"), run.member("other")
    assert np.linalg.norm(plain.w_N[0]) == pytest.approx(run.formation.orbit.n) and not other.w_N[0].any()
    np.testing.assert_allclose(plain.R_NB[0].T @ other.R_NB[0], [[0, -1, 0], [1, 0, 0], [0, 0, 1]], atol=1e-12)


def test_a_file_may_choose_any_integrator_for_members_that_see_each_other(tmp_path):
    """An implicit one flies what the usual one flies."""
    short = ('duration = "15 min"', 'duration = "60 s"')
    usual = scenario.load(changed(tmp_path, short)).run()
    implicit = scenario.load(changed(tmp_path, (short[0], short[1] + '\nintegrator = "gauss16"'))).run()
    assert implicit.ok and implicit.groups["servicer"].data.attrs["integrator"] == "gauss16"
    for g in usual.groups:
        np.testing.assert_allclose(implicit.groups[g].q, usual.groups[g].q, atol=1e-6)


def test_more_members_than_one_trajectory_can_hold_are_refused_before_they_fly(tmp_path, monkeypatch):
    """They flew to their end, and the result was lost."""
    rows = (f'[[member]]\nname = "m{k}"\nspacecraft = "client"\nposition = [0, {10 * k}, 0]\n' for k in range(51))
    text = '[environment.orbit]\naltitude = "500 km"\n[run]\nduration = "1 s"\nsave_every = "1 s"\n'
    (tmp_path / "many.toml").write_text(text + "".join(rows))
    work = scenario.load(tmp_path / "many.toml")
    with pytest.raises(ValueError, match=r"'many' has 51 members; 50 are the most that one trajectory"):
        work.simulate()
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["run", "many.toml"])
    assert done.exit_code == 1 and not (tmp_path / "many.nc").exists()
    assert len(work.run().groups) == 51
