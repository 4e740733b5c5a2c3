"""Histories are made anew bit for bit; pages show bands over time, limits, and the worst runs side by side."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import xarray

import gyrostat as gs
from browser import Browser, needs_browser
from flap_campaign import ASKED, CRAFT, law, run
from gyrostat import campaigns as c


@pytest.fixture(scope="module")
def found():
    return run(runs=60, requirements=["top < 0.15 in 90 % of runs", "angle < 40 in 90 % of runs"])


def test_histories_of_several_runs_are_those_of_each_alone(found):
    numbers = [41, 3, 17]
    times = np.linspace(0.0, 5.0, 30)
    several = found.histories(numbers, save_at=times)
    assert several.data["run"].values.tolist() == numbers and several.q.shape[:2] == (3, 30)
    for row, k in enumerate(numbers):
        alone = found.case(k, save_at=times)
        assert (alone.q[0] == several.q[row]).all() and (alone.v[0] == several.v[row]).all()
        assert several.outcomes["top"][row] == found.outcomes["top"][k] == alone.outcomes["top"][0]
    with pytest.raises(ValueError, match="no run 60"):
        found.histories([60])
    with pytest.raises(ValueError, match="of no run"):
        found.histories([])


def test_a_signal_of_a_trajectory_is_the_function_at_every_state_with_each_runs_own_values(found):
    several = found.histories([5, 6], save_at=np.linspace(0.0, 5.0, 7))

    def moment(craft, t, q, v):
        return craft.body("flap").inertia[2, 2] * v[0] + t

    inertia = [several.parameters["flap.inertia"][k][5] for k in (0, 1)]
    expected = np.array(inertia)[:, None] * several.v[..., 0] + several.time
    assert several.signal(moment) == pytest.approx(expected, rel=1e-14) and inertia[0] != inertia[1]


def test_the_page_shows_bands_and_tells_of_limits_far_away(found, tmp_path):
    page = found.report(tmp_path / "page.html", command="gyrostat sweep x.toml --case {k}", bands=20).read_text()
    assert page.count("Over time: 20 runs and the worst of all") == 3 and "limit 40" in page
    assert "uniform low 0, high 0.2" in page and "inertia sd 0.1" in page and "Normal(" not in page
    without = found.report(tmp_path / "without.html", bands=0).read_text()
    assert "Over time" not in without


@needs_browser
def test_the_answer_is_on_the_first_screen_and_nothing_is_clipped(found, tmp_path):
    path = found.report(tmp_path / "page.html", command="gyrostat sweep a_file_of_a_long_name.toml --case {k} " * 2)
    for dark in (False, True):
        with Browser(tmp_path, width=1100, height=700, dark=dark) as browser:
            browser.open(path.as_uri())
            bottom = "Math.max(...[...document.querySelectorAll('.answer')].map(e => e.getBoundingClientRect().bottom))"
            assert browser.run(bottom) < 700
            assert browser.run("document.documentElement.scrollWidth") <= 1100
            wide = "[...document.querySelectorAll('.card')].filter(e => e.scrollWidth > e.clientWidth + 1).length"
            assert browser.run(wide) == 0
            assert browser.errors == []
            corner = browser.picture()[2, 2].mean()
            assert (corner < 60) == dark and (corner > 200) == (not dark)


def test_the_worst_runs_stand_side_by_side_in_one_scene(found, tmp_path):
    page = found.scene("top", tmp_path / "scene.html", 3).read_text()
    worst = [k for k, _ in found.worst("top", 3)]
    assert f"faint: run {worst[1]}, {worst[2]}" in page
    runs = found.histories(worst)
    with pytest.raises(ValueError, match="no run 3 in this batch of 3"):
        runs.to_html(tmp_path / "x.html", ghosts=[3])


def test_a_zarr_store_holds_the_histories_of_all_runs_a_block_in_a_chunk(found, tmp_path):
    pytest.importorskip("zarr")
    times = np.linspace(0.0, 5.0, 9)
    place = found.save_histories(tmp_path / "all.zarr", block=16, save_at=times)
    data = xarray.open_zarr(place, chunks=None)
    several = found.histories(range(60), save_at=times).data
    for name in ("q", "v", "work", "impulse", "q_end", "outcome"):
        assert data[name].dims == several[name].dims and data[name].values.tobytes() == several[name].values.tobytes()
    assert data["run"].values.tolist() == list(range(60)) and data["time"].values.tolist() == times.tolist()
    assert data["q"].encoding["chunks"][0] == 16 and data["made"].values.all() and set(data["failure"].values) == {""}
    some = xarray.open_zarr(found.save_histories(tmp_path / "some.zarr", [41, 3], save_at=times), chunks=None)
    assert some["run"].values.tolist() == [41, 3] and (some["q"].values == several["q"].values[[41, 3]]).all()


def test_a_store_of_histories_goes_on_where_it_was_and_another_is_refused(found, tmp_path, monkeypatch):
    pytest.importorskip("zarr")
    times, plan = np.linspace(0.0, 5.0, 4), type(found.plan)
    whole = found.save_histories(tmp_path / "whole.zarr", block=16, save_at=times)
    simulated, calls = plan.simulated, []

    def stops(self, numbers, values, changes):
        calls.append(numbers[0])
        if len(calls) == 3:
            raise KeyboardInterrupt
        return simulated(self, numbers, values, changes)

    place = tmp_path / "store.zarr"
    monkeypatch.setattr(plan, "simulated", stops)
    with pytest.raises(KeyboardInterrupt):
        found.save_histories(place, block=16, save_at=times)
    assert xarray.open_zarr(place, chunks=None, consolidated=False)["made"].values.sum() == 32
    with pytest.raises(ValueError, match="is there already"):
        found.save_histories(place, block=16, save_at=times)
    with pytest.raises(ValueError, match="save_at was .*is"):
        found.save_histories(place, block=16, save_at=times + 1e-3, resume=True)
    found.save_histories(place, block=16, save_at=times, resume=True)
    assert calls[3:] == [32, 48]  # what was whole is not made again
    files = {path.relative_to(place): path.read_bytes() for path in place.rglob("*") if path.is_file()}
    assert files == {path.relative_to(whole): path.read_bytes() for path in whole.rglob("*") if path.is_file()}
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").write_text("mine")
    with pytest.raises(ValueError, match="no store of histories"):
        found.save_histories(tmp_path / "full")
    with pytest.raises(ValueError, match="no run 60"):
        found.save_histories(tmp_path / "x.zarr", [60])


def test_histories_of_runs_that_fail_say_why_and_of_another_law_are_refused(tmp_path):
    pytest.importorskip("zarr")
    spread = {"input:gain": c.discrete([0.1, -400.0]), "flap.mass": c.rows([-1.0] * 4 + [2.0] * 12)}
    options = {"t_span": (0.0, 5.0), "q0": [0.5], "control": law, "outcomes": ASKED, "seed": 1}
    found = gs.campaign(CRAFT, spread, 16, **options)
    data = xarray.open_zarr(found.save_histories(tmp_path / "a.zarr", block=4), chunks=None)
    failed = np.isin(np.arange(16), list(found.failures))
    assert failed[:4].all() and 5 < failed.sum() < 16
    assert (data["failure"].values != "").tolist() == failed.tolist() and data["made"].values.all()
    assert np.isnan(data["q"].values[:4]).all() and np.isfinite(data["q"].values[~failed]).all()
    burst = np.flatnonzero(failed)[-1]
    assert np.isfinite(data["q"].values[burst, 0]).all() and np.isnan(data["q"].values[burst, -1]).all()
    with pytest.raises(ValueError, match="none of these runs can be flown"):
        found.save_histories(tmp_path / "b.zarr", [0, 1])
    other = gs.campaign(CRAFT, spread, 16, **{**options, "control": lambda craft, t, q, v, gain: gain * q[:1] ** 5})
    mixed = replace(found, plan=other.plan)
    with pytest.raises(ValueError, match=r"a law, an environment, an event or the machine is not what it was"):
        mixed.save_histories(tmp_path / "c.zarr")
