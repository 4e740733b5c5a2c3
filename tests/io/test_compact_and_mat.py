"""Smaller files that are read back right, and MATLAB files that hold everything and load."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.io import loadmat, savemat

import gyrostat as gs
from formation_crafts import armed
from gyrostat.formation import FormationTrajectory
from gyrostat.io import results_netcdf
from gyrostat.io.results_any import load_result
from gyrostat.io.results_read import ResultError, trailer
from gyrostat.scenario.parts.outputs import add_outputs


@pytest.fixture(scope="module")
def batch():
    craft = armed()
    v = np.random.default_rng(4).normal(size=(60, craft.nv)) * 0.1
    q = np.tile(gs.neutral(craft), (60, 1))
    made = gs.simulate(craft, q, v, (0.0, 20.0), save_at=np.linspace(0.0, 20.0, 101))
    add_outputs(made, ("kinetic_energy", "poses"))
    return made


def same(found, expected, rtol):
    for name, x in expected.data.variables.items():
        if x.dtype.kind == "f":
            over_time = "time" in x.dims and x.ndim > 1
            size = np.nanmax(np.abs(x.values), initial=1.0)
            np.testing.assert_allclose(
                found.data[name].values, x.values, rtol=0, atol=rtol * size if over_time else 0, err_msg=str(name)
            )
    np.testing.assert_array_equal(found.state.y, expected.state.y)
    np.testing.assert_array_equal(found.final[0], expected.final[0])
    assert found.audit.worst == pytest.approx(expected.audit.worst, rel=1e-6, abs=1e-15)


def test_compressed_and_shortened_files_are_read_right(batch, tmp_path):
    plain, packed, short = tmp_path / "a.nc", tmp_path / "b.nc", tmp_path / "c.nc"
    batch.save(plain)
    batch.save(packed, compress=True)
    batch.save(short, compress=True, dtype="float32")
    assert packed.stat().st_size < 0.9 * plain.stat().st_size
    assert short.stat().st_size < 0.45 * plain.stat().st_size
    same(gs.Trajectory.load(packed), batch, 0.0)
    same(gs.Trajectory.load(short), batch, 1e-7)
    assert gs.Trajectory.load(short).q.dtype == np.float64
    with pytest.raises(ValueError, match="expected 'float64' or 'float32'"):
        batch.save(short, dtype="int32")


def test_a_run_goes_on_from_a_short_file_bit_for_bit(tmp_path):
    craft = armed()
    start = gs.neutral(craft), np.linspace(0.1, 0.3, craft.nv)
    whole = gs.simulate(craft, *start, (0.0, 6.0), save_at=[0.0, 6.0])
    half = gs.simulate(craft, *start, (0.0, 3.0), save_at=[0.0, 3.0])
    read = gs.Trajectory.load(half.save(tmp_path / "half.nc", compress=True, dtype="float32"))
    expected = gs.simulate(craft, resume=half, t_span=(0.0, 6.0), save_at=[6.0])
    found = gs.simulate(craft, resume=read, t_span=(0.0, 6.0), save_at=[6.0])
    np.testing.assert_array_equal(found.final[0], expected.final[0])
    np.testing.assert_allclose(found.final[0], whole.final[0], atol=1e-8)


def test_a_file_that_would_inflate_beyond_belief_is_refused(batch, tmp_path, monkeypatch):
    """Zeros deflate a thousandfold: nobody writes them so, and who reads them so is told."""
    path = batch.save(tmp_path / "a.nc", compress=True)
    monkeypatch.setattr("gyrostat.io.results_read.believed", lambda size: size)
    with pytest.raises(ResultError, match="claims"):
        gs.Trajectory.load(path)
    zeros = {"x": results_netcdf.Variable(("n",), np.zeros(10**6))}
    small = len(results_netcdf.netcdf_bytes(zeros, {}, {}, compress=True))
    assert small < 10**5
    monkeypatch.setattr(results_netcdf, "believed", lambda size: size)
    assert len(results_netcdf.netcdf_bytes(zeros, {}, {}, compress=True)) > 8 * 10**6


def test_damage_within_compressed_arrays_ends_in_the_one_error(batch, tmp_path):
    path = batch.save(tmp_path / "a.nc", compress=True)
    content = path.read_bytes()[: -len(trailer(bytes(32)))]
    rng = np.random.default_rng(11)
    import hashlib

    for _ in range(25):
        bent = bytearray(content)
        at = rng.integers(0, len(bent), size=4)
        for k in at:
            bent[k] ^= int(rng.integers(1, 256))
        path.write_bytes(bytes(bent) + trailer(hashlib.sha256(bent).digest()))
        try:
            gs.Trajectory.load(path)
        except ResultError:
            continue


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_matlab_file_holds_all_outputs_and_loads(batch, tmp_path, dtype):
    path = batch.save(tmp_path / "run.mat", compress=True, dtype=dtype)
    raw = loadmat(path)
    for name, x in batch.data.variables.items():
        if x.dtype.kind == "f" and x.ndim > 1:
            np.testing.assert_allclose(raw[name], x.values, rtol=0, atol=1e-6 * np.nanmax(np.abs(x.values), initial=1))
            assert raw[name].dtype == np.dtype(dtype)
    assert {"kinetic_energy", "R_NB", "p_NB", "tau", "q_name"} <= set(raw)
    same(gs.Trajectory.load(path), batch, 0.0 if dtype == "float64" else 1e-7)
    assert load_result(path).craft.name == "armed"


def test_other_matlab_files_say_why_not(batch, tmp_path):
    path = tmp_path / "other.mat"
    savemat(path, {"q": np.zeros(3)})
    with pytest.raises(ResultError, match="other.mat' holds no whole run"):
        gs.Trajectory.load(path)
    path.write_bytes(b"not at all")
    with pytest.raises(ResultError, match="cannot be read as a MATLAB file"):
        gs.Trajectory.load(path)
    with pytest.raises(ResultError, match="does not exist"):
        gs.Trajectory.load(tmp_path / "nowhere.mat")
    raw = loadmat(batch.save(path))
    whole = raw["gyrostat_netcdf"].ravel().copy()
    whole[len(whole) // 2] ^= 1
    savemat(path, {"gyrostat_netcdf": whole})
    with pytest.raises(ResultError, match="other.mat' is damaged"):
        gs.Trajectory.load(path)


def test_names_that_matlab_does_not_take(tmp_path):
    craft = gs.Spacecraft.build(
        "framed",
        [gs.Body("hull", 5.0, inertia=(1, 1, 1))],
        frames=[gs.Frame("a b", "hull", (0.1, 0, 0)), gs.Frame("a-b", "hull", (0.2, 0, 0))],
    )
    run = gs.simulate(craft, gs.neutral(craft), np.ones(6), (0.0, 1.0), save_at=[0.0, 1.0])
    add_outputs(run, ("frames",))
    raw = loadmat(run.save(tmp_path / "run.mat"))
    assert raw["p_N_a_b"].shape == raw["p_N_a_b_2"].shape == (2, 3) and not np.allclose(
        raw["p_N_a_b"], raw["p_N_a_b_2"]
    )
    with pytest.raises(ResultError):
        FormationTrajectory.load(tmp_path / "run.mat")
