"""Trajectories on disk: what is reloaded equals what was saved, and runs go on from it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import xarray
from scipy.io import loadmat

import gyrostat as gs
import manoeuvre
from controllers import LAWS
from gyrostat.algebra import sin
from same_trajectory import same


def passing(craft, t, q, v):
    return sin(1.7 * t) - q[8]


def limited(craft):
    """The same, with an elbow that meets its stop."""
    bodies = [
        replace(b, joint=replace(b.joint, limits=gs.Limits(-0.5, 0.7))) if b.name == "link_3" else b
        for b in craft.bodies
    ]
    return gs.Spacecraft.build(craft.name, bodies, frames=craft.frames)


def run(law, **options):
    craft, q, v = manoeuvre.start()
    craft = limited(craft) if "stops" in options else craft
    rng = np.random.default_rng(2)
    q = q + np.concatenate([np.zeros((3, 7)), 0.2 * rng.normal(size=(3, 6))], axis=1)
    more = {"inputs": {"gain": np.array([0.9, 1.0, 1.1])}} if law == "noisy" else {}
    parameters = {"link_3.mass": np.array([40.0, 50.0, 60.0]), "base.inertia": np.array([1400.0, 1, 2, 1500, 3, 1700])}
    options = {"control": LAWS[law](), "events": passing, "parameters": parameters, "seed": 4, **more, **options}
    return gs.simulate(craft, q, v, (0, 6), save_at=np.linspace(0, 6, 13), **options)


@pytest.mark.parametrize("law", LAWS)
def test_a_reloaded_trajectory_equals_the_saved_one(law, tmp_path):
    traj = run(law, actuators=gs.Actuators(lag=0.1), stops=gs.Stops(stiffness=10.0))
    assert traj.events and traj.save(tmp_path / "run.nc") == tmp_path / "run.nc"
    back = gs.Trajectory.load(tmp_path / "run.nc")
    assert set(traj.data.data_vars) <= set(back.data.data_vars)
    same(_without_loads(traj), _without_loads(back))
    for name in traj.data.coords:
        np.testing.assert_array_equal(traj.data[name].values, back.data[name].values)
    for name in traj.signals:
        np.testing.assert_array_equal(traj.signals[name].values, back.signals[name].values)
        assert back.signals[name].attrs == traj.signals[name].attrs
    for name in traj.data.data_vars:
        assert back.data[name].attrs == traj.data[name].attrs and back.data[name].dims == traj.data[name].dims
    for name, value in traj.craft.parameters().items():
        np.testing.assert_array_equal(value, back.craft.value(name))
    assert back.audit == traj.audit and str(back) == str(traj) and back.status == traj.status
    np.testing.assert_array_equal(back.final[0], traj.final[0])
    np.testing.assert_array_equal(back.momentum(), traj.momentum())


def _without_loads(traj):
    """The states alone: a file holds the loads as well."""
    names = [n for n in ("command", "tau", "wrenches", "vdot", "potential") if n in traj.data]
    return gs.Trajectory(traj.craft, traj.data.drop_vars(names), traj.state, traj.constants, events=traj.events)


@pytest.mark.parametrize("law", LAWS)
def test_a_run_goes_on_from_a_file_bit_for_bit(law, tmp_path):
    whole = run(law, actuators=gs.Actuators(lag=0.1))
    with pytest.warns(gs.SimulationWarning, match="Go on with"):
        part = run(law, actuators=gs.Actuators(lag=0.1), max_steps=9)
    part.save(tmp_path / "part.nc")
    back = gs.Trajectory.load(tmp_path / "part.nc")
    assert back.interrupted
    with pytest.raises(ValueError, match="the run had control=, a function, which its file does not hold"):
        gs.simulate(back.craft, resume=back)
    functions = {"control": LAWS[law](), "events": passing}
    same(gs.simulate(back.craft, resume=back, **functions), whole)


def test_one_run_with_conserved_momentum_and_a_potential(tmp_path):
    craft, q, v = manoeuvre.start()
    traj = gs.simulate(craft, q, v, (0, 5), conserve="momentum", save_at=[0, 2.5, 5.0])
    traj.save(tmp_path / "a.nc")
    back = gs.Trajectory.load(tmp_path / "a.nc")
    assert not back.batched and back.audit == traj.audit
    same(gs.simulate(back.craft, resume=back, t_span=(0, 7)), gs.simulate(craft, resume=traj, t_span=(0, 7)))
    falling = gs.simulate(
        craft, q, v, (0, 2), environment=gs.environment.uniform_gravity([0, 0, -1.0]), save_at=[0, 1.0, 2.0]
    )
    falling.save(tmp_path / "b.nc")
    back = gs.Trajectory.load(tmp_path / "b.nc")
    np.testing.assert_array_equal(back.potential_energy(), falling.potential_energy())
    assert back.audit == falling.audit and back.audit.potential is not None


def test_the_file_says_what_it_is(tmp_path):
    traj = run("plain")
    with xarray.open_dataset(traj.save(tmp_path / "run.nc"), engine="h5netcdf") as file:
        assert file["q"].dims == ("run", "time", "q_name") and file["time"].attrs["units"] == "s"
        assert str(file["q_name"].values[7]) == "joint_1" and str(file["v_units"].values[7]) == "rad/s"
        assert file.attrs["source"] == f"gyrostat {gs.__version__}" and "audit: linear momentum" in file.attrs["audit"]
        assert "servicer" in file.attrs["title"] and '"rtol": 1e-10' in file.attrs["notes"]
        assert '"seed": 4' in file.attrs["notes"]


def test_matlab_gets_arrays_names_and_units(tmp_path):
    traj = run("sampled")
    found = loadmat(traj.save(tmp_path / "run.mat"), squeeze_me=True)
    for name in ("time", "q", "v", "work", "impulse"):
        np.testing.assert_array_equal(found[name], traj.data[name].values)
    np.testing.assert_array_equal(found["tau"], traj.tau)
    assert found["q_name"][7] == "joint_1" and found["v_units"][0] == "rad/s" and found["model"] == "servicer"
    assert found["audit"] == str(traj.audit)


def test_what_cannot_be_written_or_read(tmp_path):
    traj = run("plain")
    with pytest.raises(ValueError, match=r"saved as \.nc \(NetCDF\) or \.mat \(MATLAB\), not as '\.csv'"):
        traj.save(tmp_path / "a.csv")
    with pytest.raises(ValueError, match="folder .* does not exist"):
        traj.save(tmp_path / "missing" / "a.nc")
    with pytest.raises(ValueError, match="does not exist; expected a trajectory saved by gyrostat"):
        gs.Trajectory.load(tmp_path / "none.nc")
    (tmp_path / "text.nc").write_text("no NetCDF")
    with pytest.raises(ValueError, match="cannot be read as NetCDF"):
        gs.Trajectory.load(tmp_path / "text.nc")
    xarray.Dataset({"x": 1.0}).to_netcdf(tmp_path / "other.nc", engine="h5netcdf")
    with pytest.raises(ValueError, match="was not written by gyrostat"):
        gs.Trajectory.load(tmp_path / "other.nc")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["other.nc", "text.nc"]  # nothing half-written is left


def test_words_that_other_tools_cannot_hold_do_not_stop_a_result_from_being_saved(tmp_path):
    """NUL in the name of an event or of a scenario, half of a character: the file was lost at the end of the run."""
    traj = run("plain", events=gs.When(passing, "a\0b\ud800\x1b[31m"))
    traj.data.attrs["scenario"] = "name = \0"
    traj.data.attrs["odd"] = {"value": np.float64(2.0), "what": object}
    traj.data["q"].attrs["comment"] = "\0\ud800"
    back = gs.Trajectory.load(traj.save(tmp_path / "run.nc"))
    assert [e.name for e in back.events] == [e.name for e in traj.events] and back.events[
        0
    ].name == "a\0b\ud800\x1b[31m"
    assert back.data.attrs["scenario"] == "name = \0" and back.data["q"].attrs["comment"] == "\0\ud800"
