"""`gyrostat init`, `run`, `view`, `demo`, `schema`: what a person does all day, and what happens when it goes wrong."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.scenario import EXAMPLES, load

SOURCE = Path(gs.__file__).parents[1]
CODE = "from gyrostat.cli.main import run; run()"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(SOURCE), "COLUMNS": "120"}
SHORT = 'spacecraft = "servicer"\n[run]\nduration = "2 s"\n[[waypoint]]\nat = "1 s"\njoints = { joint_2 = "5 deg" }\n'


def gyrostat(folder, *arguments):
    command = [sys.executable, "-c", CODE, *map(str, arguments)]
    return subprocess.run(command, check=False, capture_output=True, text=True, env=ENVIRONMENT, cwd=folder)


def test_from_init_to_a_result_a_report_and_a_scene(tmp_path):
    assert gyrostat(tmp_path, "init").returncode == 0
    again = gyrostat(tmp_path, "init")
    assert again.returncode == 2 and "--overwrite" in again.stderr
    files = ("--report", "r.html", "--scene", "s.html", "--plot")
    done = gyrostat(tmp_path, "run", "scenario.toml", *files)
    assert done.returncode == 0, done.stderr
    assert "linear momentum" in done.stdout and "energy" in done.stdout
    wrote = {"scenario.nc", "r.html", "s.html", "scenario.png"}
    assert {line.removeprefix("wrote ") for line in done.stdout.splitlines() if line.startswith("wrote")} == wrote
    assert {path.name for path in tmp_path.iterdir()} == {*wrote, "scenario.toml"}
    result = gs.Trajectory.load(tmp_path / "scenario.nc")
    assert result.time[-1] == 30.0 and "reaction_wrenches" in result.data
    report = (tmp_path / "r.html").read_text()
    assert "My first scenario" in report and 'href="s.html"' in report and "# A gyrostat scenario." in report
    again = gyrostat(tmp_path, "report", "scenario.nc", "--compare", "scenario.nc", "--out", "two.html")
    assert again.returncode == 0 and "wrote two.html" in again.stdout
    assert "# A gyrostat scenario." in (tmp_path / "two.html").read_text()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (SHORT.replace("joint_2", "joint_22"), ("case.toml:6: waypoint 1, joints:", "Did you mean 'joint_2'?")),
        (SHORT.replace("duration", "durations"), ("case.toml:3: run:", "Did you mean 'duration'?")),
        ("spacecraft = ?\n", ("case.toml:1:", "not valid TOML")),
    ],
)
def test_a_wrong_scenario_is_told_with_its_line(tmp_path, text, words):
    (tmp_path / "case.toml").write_text(text)
    done = gyrostat(tmp_path, "run", "case.toml")
    assert done.returncode == 1 and done.stdout == ""
    assert all(word in done.stderr for word in words) and "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["case.toml"]


def test_a_run_that_blows_up_ends_with_3_and_keeps_its_last_good_state(tmp_path):
    (tmp_path / "case.toml").write_text(SHORT + '[[torque]]\nat = "1.5 s"\njoints = { joint_3 = 1e59 }\n')
    done = gyrostat(tmp_path, "run", "case.toml", "--report", "r.html")
    assert done.returncode == 3, done.stderr
    assert "stopped at t = 1.5" in " ".join(done.stderr.split()) and "case.nc" in done.stderr
    kept = gs.Trajectory.load(tmp_path / "case.nc")
    assert kept.failures and kept.state.t[0] == pytest.approx(1.5, abs=0.01)
    reached = np.isfinite(kept.q).all(axis=1)
    np.testing.assert_array_equal(reached, kept.time <= kept.state.t[0])
    assert "did not reach its end" in (tmp_path / "r.html").read_text()


def test_a_folder_that_is_not_there_is_told_before_the_run(tmp_path):
    (tmp_path / "case.toml").write_text(SHORT.replace("2 s", "2000 h"))
    (tmp_path / "s.html").mkdir()
    for options in (("--out", "none/x.nc"), ("--report", "none/r.html"), ("--scene", "s.html")):
        done = gyrostat(tmp_path, "run", "case.toml", *options)
        assert done.returncode == 1 and "cannot write" in done.stderr and "Traceback" not in done.stderr
    assert gyrostat(tmp_path, "run", "case.toml", "--out", "x.csv").returncode == 2
    assert {path.name for path in tmp_path.iterdir()} == {"case.toml", "s.html"}


def test_ctrl_c_keeps_what_there_is_and_the_bar_says_how_far(tmp_path):
    (tmp_path / "case.toml").write_text(
        'spacecraft = "servicer"\n[start]\nangular_velocity = [1.0, 0.5, 0]\n[run]\nduration = "1000 h"\n'
        'save_every = "1 h"\nmax_steps = 1000000000\n'
    )
    ours, theirs = pytest.importorskip("pty").openpty()
    command = [sys.executable, "-c", CODE, "run", "case.toml"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs, text=True, env=ENVIRONMENT, cwd=tmp_path)
    os.close(theirs)
    seen = b""
    while b"%" not in seen:  # the progress bar is there: the run is under way
        seen += os.read(ours, 4096)
    process.send_signal(signal.SIGINT)
    drain = bytearray(seen)
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        drain += part
    out, _ = process.communicate()
    os.close(ours)
    assert process.returncode == 130, drain.decode()
    assert b"servicer: simulating" in drain and b"s of the run per s" in drain
    assert b"Stopped at t =" in drain and "wrote case.partial.nc" in out
    kept = gs.Trajectory.load(tmp_path / "case.partial.nc")
    assert kept.interrupted and 0.0 < kept.state.t[0] < 3.6e6


def test_view_serves_on_this_machine_and_says_so_when_a_port_is_taken(tmp_path):
    command = [sys.executable, "-u", "-c", CODE, "view", "servicer", "--no-open", "--port"]
    first = subprocess.Popen([*command, "18231"], stdout=subprocess.PIPE, text=True, env=ENVIRONMENT)
    second = None
    try:
        address = _address(first)
        with urllib.request.urlopen(address, timeout=30) as answer:
            assert answer.status == 200 and b"<html" in answer.read()
        port = urlsplit(address).port
        assert address.startswith("http://127.0.0.1:")
        second = subprocess.Popen([*command, str(port)], stdout=subprocess.PIPE, text=True, env=ENVIRONMENT)
        assert second.stdout is not None
        taken = re.fullmatch(rf"Port {port} is in use; taking (\d+)\.", second.stdout.readline().strip())
        assert taken is not None and int(taken[1]) > port  # the next one, unless somebody else has it
        assert _address(second).startswith(f"http://127.0.0.1:{taken[1]}/?token=")
    finally:
        for process in (first, second):
            if process is not None:
                process.send_signal(signal.SIGINT)
                rest, _ = process.communicate()
                assert process.returncode == 0 and rest.strip().endswith("Ended.")


def _address(process):
    for line in process.stdout:
        found = re.search(r"http://\S+", line)
        if found:
            return found[0]
    raise AssertionError("no address was printed")


@pytest.mark.parametrize("name", ["nothing.nc", "servicr", "."])
def test_view_of_nothing_is_told(tmp_path, name):
    done = gyrostat(tmp_path, "view", name)
    assert done.returncode == 2 and "Traceback" not in done.stderr


def test_the_demo_writes_what_it_names_and_keeps_momentum(tmp_path):
    done = gyrostat(tmp_path, "demo")
    assert done.returncode == 0 and done.stderr == ""
    assert all(word in done.stdout for word in ("servicer", "joint_6", "1825 kg", "momentum", "gyrostat view"))
    folder = tmp_path / "gyrostat-demo"
    names = {"scene.html", "report.html", "result.nc", "scenario.toml"}
    assert {path.name for path in folder.iterdir()} == names
    assert all(f"gyrostat-demo/{name}" in done.stdout for name in names)
    audit = gs.Trajectory.load(folder / "result.nc").audit
    assert max(audit.linear, audit.angular) < 1e-13


def test_the_schema_is_printed(tmp_path):
    done = gyrostat(tmp_path, "schema")
    assert json.loads(done.stdout)["title"] == "gyrostat scenario"


@pytest.mark.parametrize("name", EXAMPLES)
def test_init_writes_bundled_examples(tmp_path, name):
    done = gyrostat(tmp_path, "init", "mine.toml", "--example", name)
    assert done.returncode == 0, done.stderr
    assert load(tmp_path / "mine.toml").name
    wrong = gyrostat(tmp_path, "init", "other.toml", "--example", "captur")
    assert wrong.returncode == 2 and "capture: a tumbling client" in wrong.stderr.replace("\n", " ")
