"""Orbits of a file by other than Kepler's elements: two-line and equinoctial ones, CCSDS files, states."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...environment import (
    Orbit,
    OrbitParameters,
    from_equinoctial,
    in_gcrf,
    read_oem,
    read_opm,
    tle_ephemeris,
)
from ...environment.sky.instants import instant
from ...environment.sky.state_at import seconds_after, state_at
from ...io.toml.tables import Real, Table
from ...io.toml.units import Angle, Length

DATED = ("tle", "oem", "opm")  # those that need an epoch
WAYS = (*DATED, "position", "equinoctial")


class EquinoctialTable(Table):
    """Equinoctial elements at t = 0 (Walker): f, g = e (cos, sin)(node + pericenter); h, k = tan(inclination / 2)
    (cos, sin)(node).
    """

    p: Length
    f: Real = 0.0
    g: Real = 0.0
    h: Real = 0.0
    k: Real = 0.0
    L: Angle = 0.0


def way_of(given: Any) -> str | None:
    """The key by which the orbit is given; None: by Kepler's elements."""
    return next((way for way in WAYS if getattr(given, way) is not None), None)


def demand_one_way(given: Any, beside: set[str]) -> None:
    """beside: keys that go with any way. Raises ValueError where what is given does not go together."""
    way = way_of(given)
    goes = beside | {way, "velocity"} if way == "position" else beside | {way}
    others = sorted(given.model_fields_set - goes)
    if way == "tle" and (others or given.epoch is None or len(given.tle) != 2):
        raise ValueError("tle is two lines, and goes with an epoch, without other elements")
    if others:
        raise ValueError(f"{way} says the whole orbit, and {others[0]} is given beside it; leave one of them out")
    if way in DATED and given.epoch is None:
        raise ValueError(f'{way} goes with an epoch, the date of t = 0, such as epoch = "2026-06-01T12:00:00"')
    if way == "position" and given.velocity is None:
        raise ValueError("position goes with a velocity")


def orbit_given(folder: Path, given: Any, planet: Any) -> Orbit:
    """Raises ValueError, OSError or ImportError, which say what is wrong."""
    way = way_of(given)
    if way == "equinoctial":
        e = given.equinoctial
        return from_equinoctial(e.p, e.f, e.g, e.h, e.k, e.L, planet=planet)
    if way == "position":
        return Orbit.from_state(given.position, given.velocity, planet=planet)
    if way == "opm":
        told = read_opm(folder / given.opm)
        demand_earth(told)
        if told.burns:
            raise ValueError(f"{given.opm} holds {len(told.burns)} burns, which do not fly here. Take them out of it.")
        there = in_gcrf(told.ephemeris)
        state, t = there.states[0], float(seconds_after(instant(given.epoch), there)[0])
        return Orbit.from_state(state[:3], state[3:], t, planet=planet)
    if way == "oem":
        path = read_oem(folder / given.oem)
        demand_earth(path)
        state = state_at(path, given.epoch, planet=planet)
    else:
        first, second = given.tle
        state = in_gcrf(tle_ephemeris(first, second, [instant(given.epoch).utc.to_datetime()])).states[0]
    return Orbit.from_state(state[:3], state[3:], planet=planet)


def demand_earth(told: Any) -> None:
    if told.center.upper() != "EARTH":
        kind = "OPM" if isinstance(told, OrbitParameters) else "OEM"
        raise ValueError(f"the {kind} of '{told.name}' is about {told.center}; expected EARTH.")
