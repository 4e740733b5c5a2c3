"""The examples on control run as they stand, in an empty folder, and what their pages claim is true."""

import runpy
from pathlib import Path

import matplotlib
import numpy as np
import pytest

FOLDER = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    matplotlib.use("Agg")

    def run(name, picture=None):
        found = runpy.run_path(str(FOLDER / name))
        matplotlib.pyplot.close("all")
        assert picture is None or (tmp_path / picture).stat().st_size > 10_000
        return found

    return run


def test_wheels_against_the_arm(run):
    found = run("10_wheels_against_the_arm.py", "wheels_against_the_arm.png")
    worst = {name: found["turned"](r).max() for name, r in found["runs"].items()}
    assert worst["wheels that know the arm"] < 1e-9 and 0.1 < worst["wheels that see the error"] < 1.0
    assert worst["no wheels"] > 20.0
    fast = found["runs"]["the same, too fast"]
    assert worst["the same, too fast"] > 1.0 and {row.joint for row in fast.saturation} >= {"wheel_2", "wheel_3"}
    assert all(r.mode_audit.ok for r in found["runs"].values())


def test_moving_the_arm_without_moving_the_base(run):
    found = run("11_moving_the_arm_without_moving_the_base.py", "reaction_null_space.png")
    assert np.abs(found["moved"]).max() > 1.0
    assert found["turned"](found["quiet"]).max() < 1e-6
    assert found["turned"](found["plain"]).max() > 1e-3


def test_following_a_line_while_floating(run):
    found = run("12_following_a_line_while_floating.py", "line_while_floating.png")
    assert found["misses"]["generalised Jacobian"].max() < 1e-3  # m
    assert found["misses"]["fixed-base Jacobian"].max() > 0.05
    np.testing.assert_allclose(np.linalg.norm(found["wanted"][-1] - found["wanted"][0]), 1.0)


def test_linear_design(run):
    found = run("13_linear_design.py")
    assert found["poles"].real.max() < -0.1
    assert np.abs(found["left"][[0, 1, 2, 6, 7]]).max() < 1e-3 * np.abs(found["off"]).max()
    assert found["run"].mode_audit.ok
