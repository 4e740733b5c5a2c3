"""The pictures in README and docs, made anew: `python docs/make_pictures.py`. Needs Chromium."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests" / "helpers"))

import numpy as np
from PIL import Image

import gyrostat as gs
from browser import Browser
from gyrostat.environment import (
    Exponential,
    Sphere,
    air_drag,
    bounded_velocity,
    combined,
    two_body_gravity,
    zonal_gravity,
)
from gyrostat.export import equations
from gyrostat.formation import FormationTrajectory
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


def three_craft() -> FormationTrajectory:
    """Some 200 m apart for ten orbits, with J2 and drag."""
    orbit, hull = gs.Orbit.circular(altitude=400e3, inclination=0.9), gs.Body("hull", 10.0, inertia=(0.1, 0.12, 0.15))
    cube = gs.Spacecraft.build("cube", [hull])
    formation = gs.Formation({"chief": cube, "alpha": cube, "beta": cube}, orbit=orbit)
    places = {"chief": np.zeros(3), "alpha": np.array([0.0, -200.0, 0.0]), "beta": np.array([60.0, 140.0, 90.0])}
    state = formation.hill_state({name: (rho, bounded_velocity(orbit, 0.0, rho)) for name, rho in places.items()})
    air = air_drag(orbit, [Sphere("hull", 0.03)], Exponential())
    environment, end = combined(two_body_gravity(orbit), zonal_gravity(orbit, 2), air), 10 * orbit.period
    return gs.simulate(formation, state, (0.0, end), environment=environment, save_at=np.linspace(0.0, end, 601))


def formation_pages(folder: Path) -> None:
    """Its report, at the relative motion, and its scene."""
    run = three_craft()
    run.report(folder / "formation.html", title="Three craft, ten orbits, J2 and drag", scene="scene.html")
    run.to_html(folder / "formation-scene.html", title="Three craft, ten orbits, J2 and drag", sun="2030-03-01")
    with Browser(folder / "formation", width=1000, height=860, dark=False) as browser:
        browser.open((folder / "formation.html").as_uri())
        browser.run("document.getElementById('relative').scrollIntoView()")
        take(browser, "formation-report")
    with Browser(folder / "formation scene", width=1000, height=640) as browser:
        browser.open((folder / "formation-scene.html").as_uri())
        still(browser)
        seek(browser, 18.4 / 55.6)
        take(browser, "formation-scene")


def seek(browser: Browser, share: float) -> None:
    """To this share of the playback, and pause."""
    left, right, y = browser.run(
        "(() => { const r = document.querySelector('.mantine-Slider-trackContainer').getBoundingClientRect();"
        " return [r.left, r.right, r.top + r.height / 2]; })()"
    )
    browser.click(left + (right - left) * share, y)
    time.sleep(2)


def main() -> None:
    folder = Path(tempfile.mkdtemp())
    formation_pages(folder)
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
        seek(browser, 8.0 / work.duration)
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
