"""Checkpoints are for the run: neither how often they are due nor a disk that is full may keep it from its end."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import gyrostat as gs
from gyrostat import scenario

RUN = """spacecraft = "servicer"
[start]
angular_velocity = [1.0, 0.5, 0.2]
[run]
duration = "4 s"
save_every = "0.1 s"
"""


@pytest.fixture
def case(tmp_path):
    path = tmp_path / "case.toml"
    path.write_text(RUN)
    return path


def in_a_process(folder, code):
    """What is printed there; it is ended after two minutes."""
    done = subprocess.run(
        [sys.executable, "-c", code], check=False, cwd=folder, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_a_run_gets_on_between_two_checkpoints_however_soon_the_next_is_due(case):
    """The alarm was set before a run was prepared, and rang before its first step: it made none, again and again."""
    code = """
from gyrostat import scenario
work = scenario.load("case.toml")
parts = work.simulate(checkpoint="part.nc", checkpoint_every=1e-9)
print(parts.ok, parts.q.tobytes() == work.simulate().q.tobytes())
"""
    assert in_a_process(case.parent, code) == ["True", "True"]
    assert gs.Trajectory.load(case.parent / "part.nc").interrupted


@pytest.mark.skipif(os.name == "nt", reason="limits the size of files by POSIX")
def test_a_checkpoint_that_cannot_be_written_is_told_and_does_not_end_the_run(case):
    """It ended in a WriteError, and all that was computed was lost."""
    code = """
import resource, warnings
from gyrostat import scenario
work = scenario.load("case.toml")
whole = work.simulate()
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    parts = work.simulate(checkpoint="part.nc", checkpoint_every=1e-9)
told = {str(w.message).split(":")[0] + str(w.message)[-28:] for w in caught}
print(parts.ok, (parts.q == whole.q).all(), *told)
"""
    assert " ".join(in_a_process(case.parent, code)) == "True True checkpoint The run goes on without it."
    assert [path.name for path in case.parent.iterdir()] == ["case.toml"]


def test_an_alarm_that_makes_no_sense_is_refused(case):
    work = scenario.load(case)
    with pytest.raises(ValueError, match="checkpoint_every is 0"):
        work.simulate(checkpoint=case.parent / "part.nc", checkpoint_every=0.0)
    with pytest.raises(ValueError, match=r"goes on from NetCDF"):
        work.simulate(checkpoint=case.parent / "part.mat")
