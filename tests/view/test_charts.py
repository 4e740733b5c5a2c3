"""Charts of a report: what is drawn is what was computed; in a browser they zoom, tell values, stay in their cards."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import gyrostat as gs
from browser import Browser, keeps_in_its_cards, needs_browser
from formation_crafts import armed, box
from gyrostat.control.transfers import Impulse
from gyrostat.environment import (
    Exponential,
    Sphere,
    air_drag,
    combined,
    two_body_gravity,
    zonal_gravity,
)
from gyrostat.formation import Formation, simulate_impulses
from gyrostat.view.charts import Mark, card, seen_aslant, ticks
from gyrostat.view.decimated import kept
from gyrostat.view.panels import Panel, Plane
from gyrostat.view.style import PALETTE

ORBIT = gs.Orbit.circular(500e3, 0.9)


def points(svg: str, which: int) -> np.ndarray:
    """Of the line with this number, in the picture's coordinates."""
    d = re.findall(r'class="line"[^>]* d="([^"]*)"', svg)[which]
    return np.array([[float(x) for x in pair.split()] for pair in re.split("[ML]", d)[1:]])


def test_lines_stand_where_ticks_say():
    time = np.linspace(10.0, 30.0, 41)
    values = np.stack([3.0 * time - 7.0, -time], axis=-1)
    made = card(time, Panel("two", "m", values, ("a", "b")), [Mark(20.0, "half"), Mark(50.0, "never")])
    labels = re.findall(r'<text x="([-\d.]+)" y="([-\d.]+)" text-anchor="(end|middle)">([^<]*)</text>', made.svg)
    across = np.array([(float(x), float(text)) for x, _, anchor, text in labels if anchor == "middle"])
    up = np.array([(float(y) - 3.5, float(text)) for _, y, anchor, text in labels if anchor == "end"])
    to_t, to_y = np.polyfit(*across.T, 1), np.polyfit(*up.T, 1)
    for k in (0, 1):
        drawn = points(made.svg, k)
        np.testing.assert_allclose(np.polyval(to_t, drawn[:, 0]), time, atol=0.02)
        np.testing.assert_allclose(np.polyval(to_y, drawn[:, 1]), values[:, k], atol=0.5)
    assert "half" in made.svg and "never" not in made.svg
    assert made.data["lines"][0]["y"] == pytest.approx(values[:, 0].tolist())
    json.dumps(made.data, allow_nan=False)


@pytest.mark.parametrize("low, high", [(0.0, 1.0), (-3.7e-9, 8.1e-9), (99.9, 100.1), (-4e6, 1.0)])
def test_ticks_are_round_and_inside(low, high):
    found = np.array(ticks(low, high))
    assert 3 <= len(found) <= 11 and found.min() >= low - 1e-12 * (high - low) and found.max() <= high * (1 + 1e-9)
    step = np.diff(found).mean()
    lead = step / 10.0 ** np.floor(np.log10(step))
    assert np.abs(lead - np.array([1, 2, 2.5, 5, 10])).min() < 1e-6


def test_no_peak_is_lost_where_times_are_left_out():
    rng = np.random.default_rng(5)
    one, two = rng.normal(size=50_000), np.zeros(50_000)
    one[12_345], two[40_001], two[7:9] = 40.0, -9.0, np.nan
    at = kept([one, two])
    assert len(at) < 1500 and {0, 12_345, 40_001, 7, 49_999} <= set(at.tolist())
    np.testing.assert_array_equal(kept([one[:100]]), np.arange(100))


def test_a_line_breaks_where_a_run_ended():
    values = np.array([[1.0], [2.0], [np.nan], [np.nan], [3.0], [4.0]])
    made = card(np.arange(6.0), Panel("broken", "", values, ("a",)))
    (d,) = re.findall(r'class="line"[^>]* d="([^"]*)"', made.svg)
    assert d.count("M") == 2 and d.count("L") == 2
    assert made.data["lines"][0]["y"][2] is None


def test_both_axes_of_a_plane_have_one_scale():
    angle = np.linspace(0.0, 2 * np.pi, 100)
    ring = 30.0 * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    made = card(angle, Plane("ring", "m", ring[None], ("a",), ("x", "y")))
    drawn = points(made.svg, 0)
    np.testing.assert_allclose(np.linalg.norm(drawn - drawn.mean(axis=0), axis=1), np.ptp(drawn[:, 0]) / 2, rtol=0.02)
    np.testing.assert_allclose(seen_aslant(np.ones(3)), 0.0, atol=1e-15)  # seen along the diagonal


def test_twenty_series_have_twenty_colours():
    made = card(np.arange(3.0), Panel("many", "", np.zeros((3, 20)), tuple(map(str, range(20)))))
    assert len({color for _, color, _ in made.legend}) == 20 == len(set(PALETTE))


# ---- pages in a browser


def formation_page(folder):
    formation = Formation({"chief": box(), "left": armed(), "right, the longer name of the two": armed()}, orbit=ORBIT)
    last = formation.names[-1]
    state = formation.hill_state({"chief": np.zeros(3), "left": [10.0, -200.0, 5.0], last: [0.0, 150.0, 40.0]})
    kicks = {last: [Impulse(300.0, np.array([0.02, 0.01, 0.0]))]}
    end, drag = 10 * ORBIT.period, air_drag(ORBIT, [Sphere("hull", 0.3)], Exponential())
    environment = combined(two_body_gravity(ORBIT), zonal_gravity(ORBIT, 2), drag)
    run = simulate_impulses(
        formation, state, (0.0, end), kicks, environment=environment, save_at=np.linspace(0, end, 201), rtol=1e-8
    )
    assert np.linalg.norm(run.member("chief").p_N[-1]) > 1e4, "far from the reference orbit, which nothing perturbs"
    return run.report(folder / "formation.html")


def batch_page(folder):
    craft = armed()
    v = np.zeros((40, craft.nv))
    v[:, 6:] = np.random.default_rng(2).normal(size=(40, 3)) * (0.05, 0.1, 30.0)
    run = gs.simulate(craft, np.tile(gs.neutral(craft), (40, 1)), v, (0.0, 5.0), save_at=np.linspace(0, 5, 21))
    return run.report(folder / "batch.html")


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with Browser(tmp_path_factory.mktemp("browser"), width=900, height=700) as page:
        yield page


@needs_browser
@pytest.mark.parametrize("make", [formation_page, batch_page, "one"], ids=["formation", "batch", "one"])
def test_pages_keep_in_their_cards_at_any_width(browser, make, short_run, tmp_path):
    path = short_run.report(tmp_path / "one.html") if make == "one" else make(tmp_path)
    keeps_in_its_cards(browser, path)
    assert browser.errors == [] and browser.run("document.documentElement.className") == "live"
    headings = browser.run("[...document.querySelectorAll('h2')].map((h) => h.textContent)")
    assert ("Relative motion" in headings) == (make is formation_page)
    assert ("Runs" in headings) == ("Wheels" in headings and make is batch_page)


def chart(title: str) -> str:
    """The card with this title, as JavaScript finds it."""
    cards = "[...document.querySelectorAll('[data-chart]')]"
    return f"{cards}.find((c) => c.querySelector('h3').textContent === '{title}')"


def place(browser: Browser, title: str) -> tuple[float, float, float, float]:
    """Of a chart's axes on the screen: left, right, top, bottom."""
    return tuple(
        browser.run(f"""(() => {{
          const card = {chart(title)};
          card.scrollIntoView({{ block: 'center' }});
          const r = card.querySelector('svg').getBoundingClientRect(), s = r.width / 460;
          return [r.left + 56 * s, r.left + 448 * s, r.top + 20 * s, r.top + 196 * s]; }})()""")
    )


def told(browser: Browser, title: str) -> list[str]:
    """The values in a chart's legend."""
    return browser.run(f"[...{chart(title)}.querySelectorAll('output')].map((o) => o.textContent)")


@needs_browser
def test_the_cursor_tells_values_in_all_charts_and_a_stroke_zooms(browser, short_run, tmp_path):
    browser.errors.clear()
    browser.open(short_run.report(tmp_path / "report.html").as_uri())
    left, right, top, bottom = place(browser, "Joint positions")
    browser.mouse("mouseMoved", left + 0.5 * (right - left), (top + bottom) / 2)
    k = int(np.argmin(np.abs(short_run.time - 3.0)))
    assert [float(x) for x in told(browser, "Joint positions")] == pytest.approx(
        np.degrees(short_run.q[k, 7:]), abs=0.3
    )
    energy = short_run.kinetic_energy()[k]
    assert float(told(browser, "Energy")[0]) == pytest.approx(energy, rel=0.02)
    assert browser.run("document.querySelectorAll('path.cursor').length") == 13
    browser.drag((left + 0.5 * (right - left), top + 20), (left + 0.75 * (right - left), top + 20))
    browser.until("!document.getElementById('whole').hidden")
    texts = browser.run(
        "[...document.querySelectorAll('svg')]"
        ".map((s) => [...s.querySelectorAll('.axes text[text-anchor=middle]')].map((t) => t.textContent))"
    )
    assert len(texts) == 13
    for labels in texts:  # the same window in all: 3 to 4.5 s, that is
        across = [float(x) for x in labels]
        assert len(across) >= 3 and min(across) >= 2.9 and max(across) <= 4.6
    before = browser.run("document.querySelector('[data-chart] .lines').innerHTML")
    browser.run("document.querySelector('.legend button').click()")
    after = browser.run("document.querySelector('[data-chart] .lines').innerHTML")
    assert before.count("<path") == after.count("<path") + 1
    browser.run("document.getElementById('whole').click()")
    browser.run("document.querySelector('.legend button').click()")
    assert browser.run("document.getElementById('whole').hidden")
    assert browser.errors == []


@needs_browser
def test_the_picture_in_space_turns(browser, tmp_path):
    browser.open(formation_page(tmp_path).as_uri())
    left, right, top, bottom = place(browser, "Seen from chief: in space")
    lines = "document.querySelector('[data-kind=space] .lines').innerHTML"
    before = browser.run(lines)
    browser.drag(((left + right) / 2, (top + bottom) / 2), ((left + right) / 2 + 80, (top + bottom) / 2 - 30))
    assert browser.run(lines) != before
    browser.run("document.querySelector('[data-kind=space] svg').dispatchEvent(new MouseEvent('dblclick'))")
    # as at first, to the rounding of the numbers on the page
    numbers = [
        np.array([float(x) for x in re.findall(r"-?\\d+\\.?\\d*", re.sub("#\\w+", "", html))])
        for html in (before, browser.run(lines))
    ]
    np.testing.assert_allclose(numbers[0], numbers[1], atol=0.2)
