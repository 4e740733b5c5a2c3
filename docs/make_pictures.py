"""The pictures in README and docs, made anew: `python docs/make_pictures.py`. Needs Chromium."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests" / "helpers"))

from PIL import Image

import gyrostat as gs
from browser import Browser
from gyrostat.export import equations
from gyrostat.scenario import load
from gyrostat.scenario.templates import DEMO
from gyrostat.simulation import Trajectory
from gyrostat.view.live import Viewer
from gyrostat.view.report import write_report

CLOSE = "document.querySelectorAll('.mantine-Notification-closeButton').forEach(b => b.click())"


def planar_arm() -> gs.Spacecraft:
    """Two links on a hull that floats in a plane."""
    bodies = [gs.Body("hull", 200.0, inertia=(30.0, 30.0, 40.0), joint=gs.Joint("hull", "planar"))]
    for k in (1, 2):
        joint = gs.Joint(f"joint_{k}", parent=bodies[-1].name, position=(0.5 * k, 0.0, 0.0))
        bodies.append(gs.Body(f"link_{k}", 10.0, com=(0.5, 0.0, 0.0), inertia=(0.1, 0.9, 0.9), joint=joint))
    return gs.Spacecraft.build("two-link arm", bodies)


def main() -> None:
    folder = Path(tempfile.mkdtemp())
    work = load(DEMO)
    run = work.simulate()
    run.to_html(folder / "scene.html", title=work.name)
    write_report(run, folder / "report.html", title=work.name, scene="scene.html")
    for scheme in ("dark", "light"):
        with Browser(folder / scheme, width=1000, height=940, dark=scheme == "dark") as browser:
            browser.open((folder / "report.html").as_uri())
            take(browser, f"report-{scheme}")
    equations(planar_arm()).save(folder / "equations.html")
    with Browser(folder / "equations", width=1000, height=640, dark=False) as browser:
        browser.open((folder / "equations.html").as_uri())
        take(browser, "equations")
    with Browser(folder / "scene", width=1000, height=640) as browser:
        browser.open((folder / "scene.html").as_uri())
        still(browser)
        left, right, y = browser.run(
            "(() => { const r = document.querySelector('.mantine-Slider-trackContainer').getBoundingClientRect();"
            " return [r.left, r.right, r.top + r.height / 2]; })()"
        )
        browser.click(left + (right - left) * 8.0 / work.duration, y)  # to 8 s, and pause
        time.sleep(2)
        take(browser, "scene")
    with Browser(folder / "live", width=1000, height=640) as browser:
        live_page(browser, run)


def live_page(browser: Browser, run: Trajectory) -> None:
    viewer = Viewer(run.craft, run, port=0)
    browser.open(viewer.address)
    still(browser)
    with viewer._lock:
        viewer._seek(22.0)
        viewer.time_slider.value = 22.0
    time.sleep(2)
    take(browser, "view")
    viewer.stop()


def still(browser: Browser) -> None:
    """Wait for the scene to fade in, and close what the page says about this machine."""
    browser.until("document.querySelector('canvas') !== null")
    time.sleep(4)
    browser.run(CLOSE)


def take(browser: Browser, name: str) -> None:
    path = HERE / "images" / f"{name}.png"
    browser.picture(path)
    Image.open(path).convert("RGB").quantize(256, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(
        path, optimize=True
    )
    print(path.name, path.stat().st_size // 1024, "kB")


if __name__ == "__main__":
    main()
