"""Thirty days of a real satellite's orbit under all that pulls and pushes, and an attitude loop, compiled whole.

    python benchmarks/sky.py

Claims: a day of orbit with a gravity field of degree 70, Sun, Moon, drag and pressure of sunlight takes about a second
on one core; another integrator, with the motion taken as a difference from an ellipse, ends at the same place; a loop
of gyro, star tracker, filter, law, wheels with friction and torquers in IGRF's field runs more than a thousand times
faster than it happens. The orbit begins where SGP4 has the space station at the epoch of its elements; the field's
coefficients are random ones of the real size (no file of real ones is here; their number is what costs). Prints a
table; writes it to benchmarks/results/sky.json.
"""

from __future__ import annotations

import datetime
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from timing import machine

import gyrostat as gs
from gyrostat import control as laws
from gyrostat.environment import (
    EARTH,
    GravityField,
    HarrisPriester,
    Orbit,
    PlanetCentered,
    Sky,
    Sphere,
    air_drag,
    combined,
    field_gravity,
    in_gcrf,
    solar_pressure,
    third_body_gravity,
    tle_ephemeris,
    two_body_gravity,
    zonal_gravity,
)

TLE = (
    "1 25544U 98067A   19343.69339541  .00001764  00000-0  38792-4 0  9991",
    "2 25544  51.6439 211.2001 0007417  17.6667  85.6398 15.50103472202482",
)
EPOCH = np.datetime64("2019-12-09T16:38:29.363")
DAYS, DAY = 30.0, 86400.0
GOAL = np.array([0.5, -0.5, 0.5, 0.5])


def field_of(degree: int) -> GravityField:
    """As large as Kaula's rule says, with the real J2."""
    rng = np.random.default_rng(3)
    size = np.array([1e-5 / max(n, 1) ** 2 for n in range(degree + 1)])[:, None]
    C, S = (np.tril(rng.normal(size=(degree + 1,) * 2), k) * size for k in (0, -1))
    C[2, 0] = -EARTH.zonals[2] / np.sqrt(5.0)
    return GravityField("of chance", EARTH.mu, EARTH.radius, C, S)


def satellite() -> gs.Spacecraft:
    return gs.Spacecraft.build("satellite", [gs.Body("hull", 1000.0, inertia=[700.0, 800.0, 900.0])])


def start() -> tuple[Any, Any]:
    """Position and velocity in GCRF at t = 0."""
    state = in_gcrf(tle_ephemeris(*TLE, [EPOCH])).states[0]
    return state[:3], state[3:]


def everything(place: Any, sky: Sky, degree: int) -> Any:
    surfaces = [Sphere("hull", 10.0)]
    return combined(
        two_body_gravity(place),
        field_gravity(place, field_of(degree)),
        third_body_gravity(place, sky.sun),
        third_body_gravity(place, sky.moon),
        air_drag(place, surfaces, HarrisPriester(sky.sun)),
        solar_pressure(place, surfaces, sky.sun),
    )


def flown(days: float, degree: int, formulation: str, **options: Any) -> tuple[Any, float]:
    """Where it ends in GCRF, and seconds of processor time (the second call: nothing is compiled any more)."""
    sky, craft, (r, v) = Sky(str(EPOCH), days * DAY), satellite(), start()
    place: Any = PlanetCentered(sky.earth)
    if formulation == "relative":
        place = Orbit.from_state(r, v, planet=sky.earth)
    now = place.state(0.0)
    q0, v0 = gs.neutral(craft), np.zeros(6)
    q0[4:7], v0[3:] = r - now.r, v - now.v
    environment = everything(place, sky, degree)
    for end in (0.01 * days, days):
        began = time.process_time()
        traj = gs.simulate(
            craft, q0, v0, (0.0, end * DAY), environment=environment, save_at=[0.0, end * DAY], progress=False,
            threads=1, max_steps=10_000_000, **options,
        )  # fmt: skip
        spent = time.process_time() - began
    return place.state(days * DAY).r + traj.q[-1, 4:7], spent


def loop_speed(seconds: float = 7200.0) -> float:
    """How much faster than it happens the whole attitude loop runs, on one core."""
    sky = Sky("2025-03-07", 2 * seconds)
    orbit = Orbit.circular(550e3, 1.7, planet=sky.earth)
    hull = gs.Body("hull", 60.0, (0.02, -0.01, 0.03), np.array([[9.0, 0.4, -0.3], [0.4, 11.0, 0.6], [-0.3, 0.6, 7.0]]))
    wheels = laws.wheel_pyramid("hull", 0.01, max_torque=0.2, max_speed=600.0, friction=2e-4, damping=1e-6)
    craft = gs.Spacecraft.build("sat", [hull, *wheels])
    speeds = 120.0 * np.array([1.0, -1.0, 1.0, -1.0])
    torquers = laws.MagneticTorquers(orbit, sky.magnetic_field, 20.0)
    law = laws.quaternion_feedback(lambda t: laws.pose_reference(GOAL), kp=4e-3, kd=0.12, speeds=speeds)
    gyro = laws.IntegratingGyro(angle_walk=2e-5, rate_walk=1e-6, bias=5e-4)
    tracker = laws.StarTracker(laws.Imperfection(noise=(5e-5, 5e-5, 4e-4)))
    filt = laws.AttitudeFilter(gyro, tracker, 0.2, every=5, start=GOAL, sigma=0.5)
    control = torquers.driving(filt.controller(torquers.dumping(law, 1e-3, speeds)))
    environment = combined(two_body_gravity(orbit), zonal_gravity(orbit, 2))
    q, v = gs.neutral(craft), np.r_[0.01, -0.02, 0.015, 0, 0, 0, 200.0, -100.0, 150.0, -60.0]
    spent = np.inf
    for end in (10.0, seconds, seconds):
        began = time.process_time()
        gs.simulate(
            craft, q, v, (0.0, end), control=control, environment=environment, integrator="rk4", step=0.2,
            save_at=[0.0, end], threads=1, progress=False, max_steps=10_000_000,
        )  # fmt: skip
        spent = time.process_time() - began
    return seconds / spent


def main() -> None:
    sharp = {"rtol": 1e-13, "atol": 1e-9, "max_step": 10.0}  # s: none may step over a passage through the penumbra
    cowell, spent = flown(DAYS, 70, "absolute", **sharp)
    encke, other = flown(DAYS, 70, "relative", integrator="gauss16", **sharp)
    quick, least = flown(DAYS, 70, "absolute", rtol=1e-10)
    found = {
        "processor seconds per day of orbit (absolute, dop853)": spent / DAYS,
        "processor seconds per day of orbit (relative, gauss16)": other / DAYS,
        "apart after 30 days, m": float(np.linalg.norm(cowell - encke)),
        "processor seconds per day (absolute, dop853, rtol 1e-10, steps of its own choice)": least / DAYS,
        "by which that is off after 30 days, m": float(np.linalg.norm(quick - cowell)),
        "attitude loop, times faster than it happens": loop_speed(),
    }
    table = Table("what", "found")
    for name, value in found.items():
        table.add_row(name, f"{value:.4g}")
    Console().print(table)
    report = {"date": datetime.date.today().isoformat(), "machine": machine(), "found": found}
    out = Path(__file__).with_name("results") / "sky.json"
    out.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
