"""Checkpoints are for the run: neither how often they are due nor a disk that is full may keep it from its end."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import scenario
from gyrostat.io.results_read import ResultError
from gyrostat.simulation.engine.interruption import stop_when
from same_trajectory import same

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


MISSIONS = ["capture", "inspection-formation"]


@pytest.fixture(params=MISSIONS)
def mission(request, tmp_path):
    path = tmp_path / f"{request.param}.toml"
    path.write_text(scenario.example(request.param))
    return path


def stopped_after(parts):
    """Asked between steps of a run: yes, the so-maniest time."""
    asked = itertools.count()
    return stop_when(lambda: next(asked) >= parts)


def test_missions_go_on_from_files_and_from_what_they_left_bit_for_bit(mission):
    work = scenario.load(mission)
    whole, path = work.simulate(), mission.with_name("part.nc")
    with stopped_after(3):
        part = work.run()
    assert part.interrupted and not work.told(part).ok
    part.save(path)
    for earlier in (part, path, str(path)):
        same(work.simulate(resume=earlier), whole)
    in_parts = work.simulate(checkpoint=mission.with_name("kept.nc"), checkpoint_every=1e-9)
    same(in_parts, whole)
    same(work.simulate(resume=mission.with_name("kept.nc")), whole)


def test_missions_go_on_as_the_same_scenario_alone(mission):
    work, path = scenario.load(mission), mission.with_name("part.nc")
    with stopped_after(3):
        work.run().save(path)
    mission.write_text(mission.read_text() + "# another\n")
    other = scenario.load(mission)
    with pytest.raises(ValueError, match=r"resume: the scenario was changed since: line \d+ is"):
        other.simulate(resume=path)
    with pytest.raises(ResultError, match=r"is in format 'gyrostat-(phases|formation)-1'; expected 'gyrostat-2'"):
        scenario.load(one_craft(mission)).simulate(resume=path)


def test_what_is_looked_at_is_nothing_to_go_on_from(mission):
    work = scenario.load(mission)
    with stopped_after(3):
        part = work.simulate()
    with pytest.raises(TypeError, match=r"expected the (PhasedRun or KeptPhases|FormationTrajectory) that `run` gave"):
        work.simulate(resume=part)


def one_craft(mission):
    path = mission.with_name("one.toml")
    path.write_text(RUN)
    return path


def test_phases_make_as_many_steps_in_parts_as_in_one(tmp_path):
    """Each phase has its own share; a part must not begin it anew."""
    path = tmp_path / "mission.toml"
    path.write_text(scenario.example("capture-and-detumble"))
    work = scenario.load(path)
    with pytest.warns(gs.SimulationWarning, match="took 150 steps"):
        whole = work.simulate(max_steps=150)
    with pytest.warns(gs.SimulationWarning, match="took"):
        parts = work.simulate(max_steps=150, checkpoint=tmp_path / "part.nc", checkpoint_every=1e-9)
    assert whole.interrupted and parts.interrupted
    np.testing.assert_array_equal(parts.state.y, whole.state.y)
    assert parts.t_end == whole.t_end
