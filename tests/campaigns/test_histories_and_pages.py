"""Histories are made anew bit for bit; pages show bands over time, limits, and the worst runs side by side."""

from __future__ import annotations

import numpy as np
import pytest

from browser import Browser, needs_browser
from flap_campaign import run


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
