"""Report, exported scene and live page in a real browser: drawn, moving, in order, and asking nobody for anything."""

from __future__ import annotations

import re
import time

import numpy as np
import pytest

import gyrostat as gs
from browser import Browser, needs_browser
from gyrostat.view.live import Viewer
from gyrostat.view.report import write_report

pytestmark = needs_browser


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with Browser(tmp_path_factory.mktemp("browser"), width=1000, height=700) as page:
        yield page


def visit(browser: Browser, address: str) -> None:
    browser.errors.clear()
    browser.requests.clear()
    browser.open(address)


def foreign(browser: Browser, own: str) -> list[str]:
    """Addresses asked for that are neither the page's own nor part of it."""
    return [r for r in browser.requests if not r.startswith((own, "data:", f"blob:{own}", "blob:null"))]


def drawn(picture: np.ndarray) -> bool:
    """More than a background: thousands of pixels that differ from the most frequent colour."""
    middle = picture[60:600, 330:650].reshape(-1, 3)
    colours, counts = np.unique(middle // 8, axis=0, return_counts=True)
    return len(colours) > 20 and counts.max() < 0.97 * len(middle)


def settle(browser: Browser) -> np.ndarray:
    """The picture, once the scene has faded in."""
    browser.until("document.querySelector('canvas') !== null")
    for _ in range(60):
        picture = browser.picture()
        if drawn(picture):
            return picture
        time.sleep(0.25)
    raise AssertionError("nothing was drawn")


def changed(browser: Browser, before: np.ndarray) -> bool:
    """Whether the scene's middle comes to look different within some seconds."""
    for _ in range(60):
        if (np.abs(browser.picture() - before)[60:600, 330:650].max(axis=-1) > 40).sum() > 300:
            return True
        time.sleep(0.25)
    return False


def test_the_report_is_one_page_in_light_and_dark(browser, short_run, tmp_path):
    path = write_report(short_run, tmp_path / "report.html", title="a <run>", scenario="x = '<b>'", scene="scene.html")
    shades = {}
    for scheme in ("light", "dark"):
        browser.colours(scheme)
        visit(browser, path.as_uri())
        assert browser.run("document.title") == "a <run>"
        assert browser.run("document.querySelectorAll('svg').length") == 13
        assert "<b>" in browser.run("document.querySelector('pre').textContent")
        assert browser.errors == [] and foreign(browser, path.as_uri()) == []
        ink, page = (
            [int(x) for x in re.findall(r"\d+", browser.run(code))[:3]]
            for code in (
                "getComputedStyle(document.querySelector('svg text')).fill",
                "getComputedStyle(document.body).backgroundColor",
            )
        )
        shades[scheme] = sum(page)
        assert abs(sum(ink) - sum(page)) > 300, "ink must stand out from the page"
        assert browser.run("document.documentElement.scrollWidth <= window.innerWidth"), "no sideways scrolling"
    assert shades["light"] > 600 and shades["dark"] < 150
    browser.colours("dark")


def test_the_exported_scene_moves(browser, short_run, tmp_path):
    path = short_run.to_html(tmp_path / "scene.html", title="a <scene>")
    assert path.stat().st_size < 4_000_000
    visit(browser, path.as_uri())
    first = settle(browser)
    assert browser.run("document.title") == "a <scene>"
    assert "angular momentum of the base" in browser.run("document.querySelector('#gyrostat').textContent")
    assert changed(browser, first)
    browser.until("document.querySelector('#gyrostat output').textContent.startsWith('t = ')")
    assert browser.errors == [] and foreign(browser, path.as_uri()) == []


def test_the_page_of_a_mode_moves(browser, tmp_path):
    joint = gs.Joint("hinge", "revolute", "bus", (0.5, 0, 0), axis=(0, 1, 0), stiffness=3.0, damping=0.1)
    panel = gs.Body(
        "panel", 4.0, (1.0, 0, 0), (0.1, 1.2, 1.2), joint, shapes=(gs.Shape("box", (2.0, 1.0, 0.05), (1, 0, 0)),)
    )
    craft = gs.Spacecraft.build(
        "flex", [gs.Body("bus", 20.0, inertia=(3, 3, 3), shapes=(gs.Shape("box", (1, 1, 1)),)), panel]
    )
    found = gs.modes(craft)
    path = found.to_html(len(found) - 1, tmp_path / "mode.html", size=0.5)
    visit(browser, path.as_uri())
    first = settle(browser)
    assert browser.run("document.title").startswith("flex: oscillating mode, 0.")
    assert changed(browser, first)
    assert browser.errors == [] and foreign(browser, path.as_uri()) == []


@pytest.fixture(scope="module")
def viewer(short_run):
    live = Viewer(short_run.craft, short_run, port=0)
    yield live
    live.stop()


def slider(browser: Browser, label: str) -> tuple[float, float, float]:
    """x of its left and right end, and y, on the screen."""
    code = f"""(() => {{
      let row = [...document.querySelectorAll('*')].filter(e => e.textContent.trim() === '{label}').pop();
      while (row && !row.querySelector('[role=slider]')) row = row.parentElement;
      const r = row.querySelector('.mantine-Slider-track, [class*=Slider-track]').getBoundingClientRect();
      return [r.left, r.right, r.top + r.height / 2];
    }})()"""
    return tuple(browser.run(code))


def grip(browser: Browser, label: str, fraction: float) -> tuple[float, float]:
    left, right, y = slider(browser, label)
    return left + fraction * (right - left), y


def test_dragging_a_slider_moves_arm_and_floating_base(browser, viewer):
    visit(browser, viewer.address)
    before = settle(browser)
    browser.until("document.body.textContent.includes('joint_1, deg')")
    craft, q = viewer.craft, viewer.q.copy()
    com = gs.center_of_mass(craft, q)
    start = grip(browser, "joint_1, deg", 0.5)
    browser.drag(start, grip(browser, "joint_1, deg", 0.75))
    assert changed(browser, before)
    joint = craft.joint_named("joint_1")
    assert np.degrees(viewer.q[joint.q_at.start]) == pytest.approx(90.0, abs=8.0)
    turned = 2 * np.degrees(np.arccos(min(1.0, abs(viewer.q[:4] @ q[:4]))))
    assert 1.0 < turned < 60.0, "the base turned, as momentum demands"
    np.testing.assert_allclose(gs.center_of_mass(craft, viewer.q), com, atol=1e-12)
    assert browser.errors == []
    own = viewer.address.partition("/?")[0]
    assert foreign(browser, own) == [r for r in browser.requests if r.startswith(own.replace("http", "ws"))]


def test_the_play_button_plays(browser, viewer):
    visit(browser, viewer.address)
    settle(browser)
    browser.until("[...document.querySelectorAll('button')].some(b => b.textContent.includes('Play'))")
    x, y = browser.run(
        "(() => { const r = [...document.querySelectorAll('button')].find(b => b.textContent.trim() === 'Play')"
        ".getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height / 2]; })()"
    )
    before = browser.picture()
    browser.click(x, y)
    assert changed(browser, before)
    # it ends by itself
    browser.until("[...document.querySelectorAll('button')].some(b => b.textContent.includes('Play'))")
    np.testing.assert_allclose(viewer.q, viewer._states[-1])
    assert browser.errors == []
