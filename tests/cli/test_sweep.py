"""`gyrostat sweep`: from a file to an answer; parts, interruptions, one run alone; what is wrong is said."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import cloudpickle
import numpy as np
import pytest
import xarray

import gyrostat as gs
from gyrostat import scenario

CODE = "from gyrostat.cli.main import run; run()"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(gs.__file__).parents[1]), "COLUMNS": "120"}
FILE = """name = "Arm with errors"
spacecraft = "servicer"
[run]
duration = "2 s"
rtol = 1e-7
[[waypoint]]
at = "1 s"
joints = { joint_2 = "5 deg" }
[control]
bandwidth = "0.5 Hz"
period = "20 ms"
[sensors.tachometers]
noise = 1e-4
[campaign]
runs = 120
block = 16
seed = 2
requirements = ["turned < 5 deg in 80 % of runs"]
[[campaign.outcome]]
name = "turned"
outcome = "largest"
of = "attitude_error"
[[campaign.disperse]]
what = "link_2.mass"
distribution = "normal"
mean = 1.0
sd = 0.2
change = "scaled"
[[campaign.disperse]]
what = "control.bandwidth"
distribution = "uniform"
low = "0.4 Hz"
high = "0.6 Hz"
"""


def gyrostat(folder, *arguments):
    command = [sys.executable, "-c", CODE, *map(str, arguments)]
    return subprocess.run(command, check=False, capture_output=True, text=True, env=ENVIRONMENT, cwd=folder)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The folder of an undisturbed campaign, and what was said."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "case.toml").write_text(FILE)
    return folder, gyrostat(folder, "sweep", "case.toml", "--report", "page.html", "--out", "all.nc")


def blocks(folder):
    return {path.name: path.read_bytes() for path in (folder / "case.campaign").glob("*.block")}


def test_the_answer_comes_first_and_a_requirement_that_is_not_met_ends_with_4(whole, tmp_path):
    folder, done = whole
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "servicer: 120 of 120 runs, 0 failed" and lines[1].startswith("  met: turned < 5 deg in 80 %")
    assert "driven by" in done.stdout and "link_2.mass (-0.9" in done.stdout
    data = xarray.open_dataset(folder / "all.nc", engine="h5netcdf")
    again = scenario.load(folder / "case.toml").sweep(progress=False)
    assert (data["turned"].values == again.outcomes["turned"]).all() and data["turned"].units == "rad"
    assert (data["control.bandwidth"].values == again.values["control.bandwidth"]).all() and len(blocks(folder)) == 8
    page = (folder / "page.html").read_text()
    assert "Arm with errors" in page and "sweep case.toml --case" in page
    shutil.copytree(folder / "case.campaign", tmp_path / "case.campaign")
    (tmp_path / "case.toml").write_text("# a remark\n" + FILE.replace("< 5 deg", "< 0.01 deg"))
    done = gyrostat(tmp_path, "sweep", "case.toml", "--resume")  # another requirement of the same runs
    assert done.returncode == 4 and "not met: turned < 0.01 deg" in done.stdout
    done = gyrostat(tmp_path, "sweep", "case.toml", "--runs", "8", "--store", "other")
    assert done.returncode == 4 and "met: turned" in done.stdout


def test_the_command_that_is_printed_runs_a_case_alone_bit_for_bit(whole):
    folder, done = whole
    line = next(line for line in done.stdout.splitlines() if line.startswith("alone"))
    arguments = line.partition("sweep ")[2].split()
    k = int(re.search(r"--case (\d+)", line)[1])
    alone = gyrostat(folder, "sweep", *arguments)
    assert alone.returncode == 0, alone.stderr
    value = xarray.open_dataset(folder / "all.nc", engine="h5netcdf")["turned"].values[k]
    assert f"turned = {value:.17g}" in alone.stdout and "in run" not in alone.stdout
    assert f"run {k}" in (folder / f"case-{k}.html").read_text() and (folder / f"case-{k}-scene.html").exists()
    result = gs.Trajectory.load(folder / f"case-{k}.nc")
    assert result.outcomes["turned"][0] == value and result.time[-1] == 2.0


def test_parts_and_a_stop_in_between_make_the_same_store(whole, tmp_path):
    (tmp_path / "case.toml").write_text(FILE)
    first = gyrostat(tmp_path, "sweep", "case.toml", "--shard", "2/3")
    assert first.returncode == 0 and "judged when no run is missing" in first.stdout
    folder = tmp_path / "case.campaign"
    have = len(blocks(tmp_path))
    slow = CODE.replace("run()", "import gyrostat.campaigns.plan as p, time\nblock = p.Plan.block\n"
        "p.Plan.block = lambda self, a, b: (time.sleep(0.4), block(self, a, b))[1]\nrun()")  # fmt: skip
    command = [sys.executable, "-c", slow, "sweep", "case.toml", "--resume"]
    process = subprocess.Popen(command, env=ENVIRONMENT, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    limit = time.monotonic() + 60
    while len(list(folder.glob("*.block"))) < have + 2 and time.monotonic() < limit:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130 and "sweep case.toml --resume" in said
    assert have + 2 <= len(blocks(tmp_path)) < 8
    done = gyrostat(tmp_path, "sweep", "case.toml", "--resume")
    assert done.returncode == 0 and blocks(tmp_path) == blocks(whole[0])


def test_histories_of_chosen_runs_go_into_a_zarr_store(whole, tmp_path):
    pytest.importorskip("zarr")
    shutil.copytree(whole[0] / "case.campaign", tmp_path / "case.campaign")
    (tmp_path / "case.toml").write_text(FILE)
    asked = ("--histories", "some.zarr", "--histories-of", "7,30-33")
    done = gyrostat(tmp_path, "sweep", "case.toml", "--resume", *asked)
    assert done.returncode == 0 and "wrote some.zarr" in done.stdout, done.stderr
    data = xarray.open_zarr(tmp_path / "some.zarr", chunks=None)
    assert data["run"].values.tolist() == [7, 30, 31, 32, 33] and data["made"].values.all()
    alone = scenario.load(tmp_path / "case.toml").case(31)
    assert (alone.q[0] == data["q"].values[2]).all()
    again = gyrostat(tmp_path, "sweep", "case.toml", *asked)
    assert again.returncode == 2 and "is there already" in again.stderr


def test_a_file_goes_to_other_processes_and_gives_the_same_bits(whole):
    """As a cluster gets it: tables of the file are made anew there."""
    work = scenario.load(whole[0] / "case.toml")
    plan = work.campaign.plan(work)
    sent = cloudpickle.loads(cloudpickle.dumps(plan))
    here, there = plan.block(16, 24), sent.block(16, 24)
    assert here.outcomes.tobytes() == there.outcomes.tobytes() and here.values.tobytes() == there.values.tobytes()
    assert np.ptp(here.outcomes) > 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--shard", "3/2"], "i-th of n parts"),
        (["--executor", "slurm"], "expected local or dask"),
        (["--scene", "s.pdf"], "a page, .html"),
        (["--case", "3", "--resume"], "needs no store"),
        (["--report", "x.pdf"], "a page, .html"),
        (["--histories", "x.nc"], "a store, .zarr"),
        (["--histories", "x.zarr", "--histories-of", "3,9-7"], "expected runs such as"),
        (["--histories-of", "3"], "of which store"),
        (["--case", "3", "--histories", "x.zarr"], "one run alone goes into"),
        (["--case", "120"], "there is no run 120; they are 0 to 119"),
        ([], "no [campaign]"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path, arguments, words):
    (tmp_path / "case.toml").write_text(FILE if arguments else FILE.partition("[campaign]")[0])
    done = gyrostat(tmp_path, "sweep", "case.toml", *arguments)
    assert done.returncode in (1, 2) and words in " ".join(done.stderr.replace("│", " ").split())
    assert [path.name for path in tmp_path.iterdir()] == ["case.toml"]
