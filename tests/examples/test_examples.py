"""Every example runs as it stands, in an empty folder, and what its page claims is true."""

from __future__ import annotations

import ast
import runpy
import shutil
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import gyrostat as gs

FOLDER = Path(__file__).resolve().parents[2] / "examples"


def run(name, folder, monkeypatch):
    monkeypatch.chdir(folder)
    return runpy.run_path(str(FOLDER / name))


def without_a_test_of_their_own():
    tests = "".join(path.read_text() for path in FOLDER.parent.glob("tests/**/test_*.py"))
    return [path.name for path in sorted(FOLDER.glob("*.py")) if path.stem not in tests]


def test_examples_are_numbered_and_each_has_a_page():
    names = sorted(path.name for path in FOLDER.glob("*.py"))
    numbers = [name[:2] for name in names]
    assert all(number.isdecimal() for number in numbers) and len(set(numbers)) == len(numbers)
    for name in names:
        assert ast.get_docstring(ast.parse((FOLDER / name).read_text())), f"{name}: its docstring is a page of the docs"


@pytest.mark.parametrize("name", without_a_test_of_their_own())
def test_the_others_run(tmp_path, monkeypatch, name):
    run(name, tmp_path, monkeypatch)


def test_first_arm(tmp_path, monkeypatch):
    found = run("00_first_arm.py", tmp_path, monkeypatch)
    assert found["run"].ok and found["run"].audit.worst < 1e-9
    assert {"first_arm.png", "first_arm.nc", "first_arm.html"} == {path.name for path in tmp_path.iterdir()}


def test_your_own_urdf(tmp_path, monkeypatch):
    found = run("01_your_own_urdf.py", tmp_path, monkeypatch)
    assert np.linalg.norm(found["held"][3:]) == pytest.approx(0.2)
    assert np.linalg.norm(found["floating"][3:]) < 0.19
    for name, value in found["craft"].parameters().items():
        np.testing.assert_array_equal(found["again"].value(name), value)


def test_free_floating_surprise(tmp_path, monkeypatch):
    found = run("02_free_floating_surprise.py", tmp_path, monkeypatch)
    assert found["turned"](found["there_and_back"].q) < 1e-9
    assert found["turned"](found["loop"].q) > 5.0 and found["com_moved"] < 1e-14


def test_tumbling_target(tmp_path, monkeypatch):
    found = run("03_tumbling_target.py", tmp_path, monkeypatch)
    np.testing.assert_allclose(found["flips"], found["period"] / 2, rtol=1e-8)
    np.testing.assert_allclose(found["run"].v[-1], found["v"], atol=1e-9)


def test_flexible_panel(tmp_path, monkeypatch):
    found = run("04_flexible_panel.py", tmp_path, monkeypatch)
    errors = [found["slowest"](pieces) / found["beam"] - 1 for pieces in (4, 8, 16)]
    assert errors[-1] < 1e-3
    for coarse, fine in pairwise(errors):
        assert coarse / fine == pytest.approx(4.0, rel=0.03)  # second order in the length of a piece
    assert found["run"].audit.worst < 1e-8


def test_fuel_slosh(tmp_path, monkeypatch):
    found = run("05_fuel_slosh.py", tmp_path, monkeypatch)
    assert found["measured"] == pytest.approx(found["period"], rel=1e-6)  # 0.1 deg: finite amplitude adds 2e-7


def test_dispersed_batch(tmp_path, monkeypatch):
    found = run("06_dispersed_batch.py", tmp_path, monkeypatch)
    assert found["run"].ok and found["turned"].shape == (1000,)
    assert 0.5 < found["high"] - found["low"] < 2.0 and (tmp_path / "dispersed.png").exists()


def test_slewing_two_arrays(tmp_path, monkeypatch):
    found = run("15_slewing_two_arrays.py", tmp_path, monkeypatch)
    assert found["plain"] > 20 * found["quiet"] and found["off"] > 20
    assert 0.02 < found["plain"] < 0.4  # m: as far as shapes are honest


def test_capture_and_detumble(tmp_path, monkeypatch):
    found = run("08_capture_and_detumble.py", tmp_path, monkeypatch)
    taken = found["run"]
    assert taken.ok and [phase.phase.name for phase in taken.phases] == ["wait", "take, and stop"]
    audit = taken.trajectory.audit
    assert max(audit.linear, audit.angular) < 1e-9 and taken["take, and stop"].capture.energy_lost > 0.0
    assert float(taken.trajectory.outcomes["left"]) < 1e-3 * np.linalg.norm(found["spin"])
    assert abs(taken.trajectory.v[-1]).max() > 1.0  # rad/s: wheels, where the momentum has gone


def test_closed_loop(tmp_path, monkeypatch):
    found = run("09_closed_loop.py", tmp_path, monkeypatch)
    assert found["off"] < 1e-9 and found["run"].audit.worst < 1e-9
    assert found["motor"].max() > 0.05


def test_campaign(tmp_path, monkeypatch):
    found = run("16_campaign.py", tmp_path, monkeypatch)
    campaign = found["found"]
    assert campaign.complete and not campaign.failures
    assert found["alone"].outcomes["miss"][0] == found["value"] == campaign.outcomes["miss"].max()
    assert campaign.drivers("miss", 1)[0].name == "input:gain"


def test_identification(tmp_path, monkeypatch):
    found = run("17_identification.py", tmp_path, monkeypatch)
    assert found["step"] < 6 and (abs(found["error"]) < 4 * found["sigma"]).all()
    assert found["sigma"][0] < 1e-3 * found["true_mass"]
    assert np.sqrt(np.mean(found["left"] ** 2)) == pytest.approx(found["NOISE"], rel=0.05)


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_flight_code(tmp_path, monkeypatch):
    found = run("18_flight_code.py", tmp_path, monkeypatch)
    assert found["apart"] < 1e-12 and np.linalg.norm(found["run"].q[-1, 7:] - found["target"]) < 0.2


def test_your_own_law(tmp_path, monkeypatch):
    found = run("19_your_own_law.py", tmp_path, monkeypatch)
    assert found["moved"](found["held"]) < 1e-2 * found["moved"](found["free"])
    assert (np.diff(found["left_over"][[0, 200, 999]]) < 0).all()

    def hand(stiffness):
        given = {"control": found["hold_the_hand"], "inputs": {"stiffness": stiffness}}
        end = gs.simulate(found["craft"], found["start"], found["nudge"], (0.0, 20.0), **given, rtol=1e-12).q[-1]
        return gs.frame_pose(found["craft"], end, "tool").p

    np.testing.assert_allclose(found["slope"], (hand(4.01) - hand(3.99)) / 0.02, rtol=1e-4)
