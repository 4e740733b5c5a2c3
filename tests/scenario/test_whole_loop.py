"""The whole loop from a file: gyro, star tracker, filter, law, wheels with friction, torquers in the real field."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import control, scenario
from gyrostat.algebra import quat_log
from gyrostat.model import ModelError

FILE = """
spacecraft = "craft.toml"

[run]
duration = "40 min"
integrator = "rk4"
step = "0.2 s"
seed = 4

[start]
angular_velocity = ["0.3 deg/s", "-0.5 deg/s", "0.4 deg/s"]
rates = { wheel_1 = 200.0, wheel_2 = -100.0, wheel_3 = 150.0, wheel_4 = -60.0 }

[environment.orbit]
altitude = "550 km"
inclination = "97 deg"
epoch = "2025-03-07T09:12:31"

[environment.harmonics]
degree = 2

[control]
law = "quaternion_feedback"
attitude = ["10 deg", "-20 deg", "30 deg"]
bandwidth = "0.01 Hz"
wheel_speed = "120 rad/s"
dump = 1e-3
dipole = 20.0

[estimator.attitude]
period = "0.2 s"
every = 5
tracker_noise = ["10 arcsec", "10 arcsec", "80 arcsec"]
angle_walk = 2e-5
rate_walk = 1e-6
bias = 5e-4
off = ["20 deg", "-40 deg", "30 deg"]
sigma = "60 deg"
"""


def work(folder, text=FILE):
    hull = gs.Body("hull", 60.0, (0.02, -0.01, 0.03), np.array([[9.0, 0.4, -0.3], [0.4, 11.0, 0.6], [-0.3, 0.6, 7.0]]))
    wheels = control.wheel_pyramid("hull", 0.01, max_torque=0.2, max_speed=600.0, friction=2e-4, damping=1e-6)
    gs.save(gs.Spacecraft.build("sat", [hull, *wheels]), folder / "craft.toml")
    (folder / "case.toml").write_text(text)
    return scenario.load(folder / "case.toml")


def test_it_points_and_empties_its_wheels_from_a_belief_that_is_50_degrees_off(tmp_path):
    done = work(tmp_path).simulate(progress=False)
    goal = gs.algebra.rotation_from_rpy(np.radians([10.0, -20.0, 30.0]))
    goal = gs.algebra.quat_from_rotation(goal)
    q = done.q[-40:, :4]
    off = [np.linalg.norm(quat_log(gs.algebra.quat_multiply(goal * [1, -1, -1, -1], row))) for row in q]
    assert max(off) < 2e-3 and done.ok
    speeds = 120.0 * np.array([1.0, -1.0, 1.0, -1.0])
    axes = control.wheel_axes(done.craft, done.q[-1])
    h = [np.linalg.norm(axes @ (0.01 * (done.v[k, 6:] - speeds))) for k in (0, -1)]
    assert h[1] < 0.5 * h[0]
    assert np.abs(done.signals["tau"].values[:, :3]).max() > 1e-5  # the torquers
    assert all(drift is None or drift < 1e-6 for _, drift in done.audit.rows())


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('epoch = "2025-03-07T09:12:31"', "", "dump needs the magnetic field: add .environment.orbit. with epoch"),
        ('epoch = "2025-03-07T09:12:31"', 'epoch = "tomorrow"', "is no date"),
        ('epoch = "2025-03-07T09:12:31"', 'epoch = "2045-01-01"', "Update astropy-iers-data"),
        ("[environment.harmonics]", '[environment.third_bodies]\nepoch = "2026-01-01"\n[environment.harmonics]',
         "leave one of them out"),
        ("[estimator.attitude]", '[sensors]\nperiod = "1 s"\n[estimator.attitude]', "Leave .sensors. out"),
        ("dump = 1e-3", "dump = -1.0", "expected none below zero"),
        ('sigma = "60 deg"', "sigma = 0.0", "sigma is 0.0"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_said_before_the_run(tmp_path, old, new, said):
    with pytest.raises(ModelError, match=said):
        work(tmp_path, FILE.replace(old, new))


def test_a_run_that_leaves_the_sky_is_refused_before_it_starts(tmp_path):
    text = FILE.replace('epoch = "2025-03-07T09:12:31"', 'epoch = "2025-03-07T09:12:31"\nknown = "10 min"')
    with pytest.raises(ValueError, match="its tables .* are known from"):
        work(tmp_path, text).simulate(progress=False)


CAMPAIGN = """
[campaign]
runs = 6
block = 4
seed = 4
[[campaign.outcome]]
name = "off"
outcome = "last"
of = "attitude_error"
target = [0.93, 0.1, -0.2, 0.28]
"""
KEYS = {
    "control.bandwidth": (0.008, 0.012, '"0.01 Hz"'),
    "control.dump": (5e-4, 2e-3, "1e-3"),
    "estimator.attitude.angle_walk": (1e-5, 4e-5, "2e-5"),
    "estimator.attitude.tracker_noise": (1e-5, 1e-4, '["10 arcsec", "10 arcsec", "80 arcsec"]'),
    "estimator.attitude.scale": (-0.01, 0.01, "[0.0, 0.0, 0.0]"),
}


def test_a_campaign_disperses_gains_and_errors_of_the_whole_loop(tmp_path):
    """Run k is the file with its numbers written into it, filter and all."""
    short = FILE.replace('"40 min"', '"1 min"') + "scale = [0.0, 0.0, 0.0]\n"
    text = short + CAMPAIGN
    for name, (low, high, _) in KEYS.items():
        text += f'[[campaign.disperse]]\nwhat = "{name}"\ndistribution = "uniform"\nlow = {low}\nhigh = {high}\n'
    found = work(tmp_path, text).sweep()
    assert not found.failures and len(np.unique(found.outcomes["off"])) == 6
    asked = list(found.plan.outcomes)
    for k in (0, 5):
        alone = short
        for name, (_, _, written) in KEYS.items():
            own = [float(x[k]) for value, x in found.values.items() if value.partition("[")[0] == name]
            key = name.rpartition(".")[2]
            assert f"{key} = {written}" in alone
            alone = alone.replace(f"{key} = {written}", f"{key} = {own[0] if len(own) == 1 else own}")
        one = work(tmp_path, alone)
        options = {n: x for n, x in one.options.items() if n not in ("save_at", "seed")}
        span = (0.0, one.duration)
        run = gs.simulate(
            one.craft, one.q0[None], one.v0[None], span, save_at=span, outcomes=asked, runs=[k], seed=4, **options
        )
        assert run.outcomes["off"][0] == pytest.approx(found.outcomes["off"][k], abs=1e-9)


def test_numbers_that_no_law_is_made_of_fail_by_name_and_stop_nobody(tmp_path):
    text = FILE.replace('"40 min"', '"10 s"') + CAMPAIGN
    text += '[[campaign.disperse]]\nwhat = "control.dump"\ndistribution = "normal"\nmean = 1e-3\nsd = 1e-3\n'
    found = work(tmp_path, text.replace("runs = 6", "runs = 30")).sweep()
    below = np.flatnonzero(found.values["control.dump"] < 0)
    assert 0 < len(below) < 15 and list(found.failures) == list(below)
    assert all("none below zero" in why for why in found.failures.values())
    assert (np.isnan(found.outcomes["off"]) == (found.values["control.dump"] < 0)).all()


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("estimator.attitude.bias", "sets the law's memory at the start"),
        ("estimator.attitude.sigma", "sets the law's memory at the start"),
        ("estimator.attitude.period", "cannot be dispersed"),
        ("estimator.attitude.lost", "decides how the law is made"),
        ("estimator.attitude.every", "only numbers can be dispersed"),
        ("estimator.attitude.noise", "there is no 'estimator.attitude.noise' in the file"),
    ],
)
def test_what_all_runs_of_a_campaign_share_is_refused(tmp_path, what, said):
    text = FILE + CAMPAIGN
    text += f'[[campaign.disperse]]\nwhat = "{what}"\ndistribution = "uniform"\nlow = 0.001\nhigh = 0.002\n'
    with pytest.raises(ModelError, match=said):
        work(tmp_path, text)
