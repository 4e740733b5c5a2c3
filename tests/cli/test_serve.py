"""`gyrostat serve`: a scenario against the clock, with the clients of the examples."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import gyrostat as gs

SOURCE = Path(gs.__file__).parents[1]
CLIENTS = Path(__file__).resolve().parents[2] / "examples" / "serve"
CODE = "from gyrostat.cli.main import run; run()"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(SOURCE), "COLUMNS": "120"}
SCENARIO = (
    'spacecraft = "servicer"\n[run]\nduration = "0.5 s"\nintegrator = "rk4"\nstep = "0.01 s"\n'
    '[start.rates]\njoint_2 = "0.1 rad/s"\n'
)


def serve(folder, *arguments, text=SCENARIO):
    (folder / "case.toml").write_text(text)
    command = [sys.executable, "-c", CODE, "serve", "case.toml", *arguments]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT, cwd=folder
    )


def port_of(process):
    line = process.stdout.readline()
    assert "listening at 127.0.0.1:" in line, line + process.stderr.read()
    return line.split("127.0.0.1:")[1].split(",")[0]


def python_client(folder):
    return [sys.executable, str(CLIENTS / "client.py"), "127.0.0.1"]


def c_client(folder):
    if shutil.which("cc") is None:
        pytest.skip("no C compiler here")
    subprocess.run(
        ["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", str(CLIENTS / "client.c"), "-o", "client"],
        check=True,
        cwd=folder,
    )
    return ["./client"]


@pytest.mark.parametrize("client", [python_client, c_client])
def test_the_clients_of_the_examples_brake_the_joints_of_a_served_scenario(tmp_path, client):
    command = client(tmp_path)
    server = serve(tmp_path, "--rate", "200Hz", "--port", "0", "--out", "kept.nc")
    told = subprocess.run(
        [*command, port_of(server)], capture_output=True, text=True, cwd=tmp_path, timeout=60, check=True
    )
    out, err = server.communicate(timeout=60)
    assert server.returncode == 0, err
    assert "t = 0.5 s" in told.stdout and "100 ticks in" in out and "deadlines missed" in out
    kept = gs.Trajectory.load(tmp_path / "kept.nc")
    assert len(kept.time) == 101 and kept.time[-1] == pytest.approx(0.5)
    assert np.abs(kept.data["held"].values[:, 7]).max() > 0.5  # the brake of joint 2
    assert abs(kept.v[-1, 7]) < abs(kept.v[0, 7])


def test_ctrl_c_ends_it_without_a_client(tmp_path):
    server = serve(tmp_path, "--port", "0")
    port_of(server)
    server.send_signal(signal.SIGINT)
    out, err = server.communicate(timeout=60)
    assert server.returncode == 130 and "0 ticks" in out and "Traceback" not in err


def test_real_time_is_given_or_refused_with_words(tmp_path):
    server = serve(tmp_path, "--port", "0", "--realtime")
    line = server.stdout.readline()
    if "listening" not in line:
        _, err = server.communicate(timeout=60)
        assert server.returncode == 2 and "--realtime" in err and "does not allow it" in " ".join(err.split())
        return
    assert os.sched_getscheduler(server.pid) == os.SCHED_FIFO
    server.send_signal(signal.SIGTERM)
    server.communicate(timeout=60)
    assert server.returncode == 128 + signal.SIGTERM


WRONG = {
    "a rate": (("--rate", "fast"), SCENARIO, 2, "expected a rate up to 100 kHz"),
    "a kind of scenario": ((), (SOURCE / "gyrostat/scenario/capture_demo.toml").read_text(), 1, "run as a whole"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_served_is_refused(tmp_path, case):
    arguments, text, code, words = WRONG[case]
    _out, err = (server := serve(tmp_path, *arguments, text=text)).communicate(timeout=60)
    assert server.returncode == code and words in " ".join(err.split()), err
