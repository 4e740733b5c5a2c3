"""What a file says reaches the run, and what it does not say is said in the schema."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

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
    assert (file.path, file.text, file.name) == (path, path.read_text(), scenario.load(path).name)
    run = file.run(save_at=[file.duration], rtol=1e-8)
    R_NH = hill_reference(file.orbit, file.duration, np.zeros(3)).X.R
    held = R_NH.T @ rotation(run.member("servicer").q[-1, :4])
    np.testing.assert_allclose(held, rotation_from_rpy(np.radians([20.0, -30.0, 40.0])), atol=0.05)


def test_a_run_that_is_stopped_from_outside_is_left_at_its_first_checkpoint(tmp_path):
    """Whoever stops it saves it: no second part, no file."""
    parts = []

    def part(earlier, most):
        parts.append(most)
        ask = question()
        while not ask():
            pass
        ask()
        return SimpleNamespace(interrupted=True, state=SimpleNamespace(steps=np.ones(1), rejections=np.zeros(1)))

    with stop_when(lambda: True):
        in_parts(part, None, 5, tmp_path / "x.nc", 1e-9)
    assert parts == [5] and not list(tmp_path.iterdir())


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
