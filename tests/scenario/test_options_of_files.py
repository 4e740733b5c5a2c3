"""What a file says reaches the run, and what it does not say is said in the schema."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from gyrostat import scenario
from gyrostat.algebra import rotation, rotation_from_rpy
from gyrostat.control.moving_references import hill_reference
from gyrostat.scenario.checkpoints import in_parts
from gyrostat.simulation.engine.interruption import question, stop_when

DEMO = scenario.example("station")


def test_a_station_keeper_keeps_its_own_attitude_unless_told_another(tmp_path):
    path = tmp_path / "two.toml"
    before, _, after = DEMO.rpartition('rpy = ["0 deg", "0 deg", "90 deg"]')
    path.write_text(before + 'rpy = ["20 deg", "-30 deg", "40 deg"]' + after)
    file = scenario.load(path)
    assert (file.path, file.text) == (path, path.read_text())
    run = file.run(save_at=[file.duration], rtol=1e-8)
    R_NH = hill_reference(file.orbit, file.duration, np.zeros(3)).X.R
    held = R_NH.T @ rotation(run.member("servicer").q[-1, :4])
    np.testing.assert_allclose(held, rotation_from_rpy(np.radians([20.0, -30.0, 40.0])), atol=0.05)


def test_a_run_that_is_stopped_from_outside_is_left_at_its_first_checkpoint(tmp_path):
    """Whoever stops it saves it: no second part, no file."""
    parts = []

    def part(earlier):
        parts.append(earlier)
        ask = question()
        while not ask():
            pass
        ask()
        return SimpleNamespace(interrupted=True)

    with stop_when(lambda: True):
        in_parts(part, None, tmp_path / "x.nc", 1e-9)
    assert parts == [None] and not list(tmp_path.iterdir())


def test_schemas_tell_defaults_that_are_values():
    def defaults(node):
        if isinstance(node, dict):
            yield from ([node["default"]] if "default" in node and not isinstance(node["default"], dict) else [])
            for value in node.values():
                yield from defaults(value)
        elif isinstance(node, list):
            for value in node:
                yield from defaults(value)

    found = list(defaults(scenario.json_schema()))
    assert len(found) > 5 and None not in found


PUSHED = """
spacecraft = "servicer"
run = {{ duration = "3 s" }}
[control]
law = "pid"
{gains}
[[waypoint]]
at = "2 s"
joints = {{ joint_1 = "5 deg" }}
"""


def test_an_integral_gain_beside_a_bandwidth_is_refused(tmp_path):
    path = tmp_path / "pid.toml"
    path.write_text(PUSHED.format(gains='bandwidth = "0.3 Hz"\nki = 1.0'))
    with pytest.raises(ValueError, match="bandwidth and ki are both given"):
        scenario.load(path)


def test_a_joint_that_is_locked_and_has_a_waypoint_is_refused(tmp_path):
    path = tmp_path / "locked.toml"
    path.write_text('locked = ["joint_1"]\n' + PUSHED.format(gains='bandwidth = "0.3 Hz"'))
    with pytest.raises(ValueError, match="joint_1"):
        scenario.load(path)


def test_motors_of_a_file_without_a_law_are_refused(tmp_path):
    path = tmp_path / "motors.toml"
    motor = '[[actuators.motor]]\njoint = "joint_1"\nstall_torque = 5.0\n'
    path.write_text('spacecraft = "servicer"\nrun = { duration = "1 s" }\n' + motor)
    with pytest.raises(ValueError, match="there is none"):
        scenario.load(path)


def test_every_environment_of_a_formation_file_acts(tmp_path):
    """Gravity's gradient that is turned off, a planet that is not round: the members end elsewhere."""
    path = tmp_path / "orbiting.toml"

    def end(text):
        path.write_text(text)
        file = scenario.load(path)
        run = file.run(save_at=[file.duration], rtol=1e-12)
        return np.concatenate([run.member(name).q[-1] for name in run.formation])

    usual = end(DEMO)
    orbit = DEMO.index("[environment.orbit]") + len("[environment.orbit]")
    still = end(DEMO[:orbit] + "\ngradient = false" + DEMO[orbit:])
    pulled = end(DEMO + "\n[environment.harmonics]\n")
    assert np.abs(still - usual).max() > 1e-9
    assert np.abs(pulled - usual).max() > 1e-9
