"""[environment]: what acts from outside."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, model_validator

from ...algebra import Array
from ...environment import (
    EARTH,
    MARS,
    MOON,
    Environment,
    Orbit,
    Sky,
    combined,
    two_body_gravity,
    uniform_gravity,
)
from ...environment.in_files import ENVIRONMENTS, EPOCH
from ...io.toml.source import Source
from ...io.toml.tables import OneOf, Real, Table
from ...io.toml.units import Acceleration, Angle, Length, Speed, Time, three
from ...model import Spacecraft
from ...model.members import Member
from ..entry_tables import entries_given, tables_by_name
from .given_orbits import EquinoctialTable, demand_one_way, orbit_given, way_of
from .user_code import Python, user_function

PLANETS = {"earth": EARTH, "moon": MOON, "mars": MARS}


class OrbitTable(Table):
    """The reference orbit, which the origin of N follows; Kepler's elements at t = 0."""

    altitude: Length | None = Field(default=None, description="Of a circular orbit, above the planet's equator.")
    semi_major_axis: Length | None = Field(default=None, description="Instead of an altitude; below 0 of a hyperbola.")
    tle: list[str] | None = Field(
        default=None,
        description="Instead of both: two-line elements; the ellipse goes through their state at the epoch.",
    )
    oem: str | None = Field(
        default=None,
        description="Instead: a CCSDS OEM beside this file; the ellipse goes through its state at the epoch.",
    )
    opm: str | None = Field(
        default=None, description="Instead: a CCSDS OPM; the ellipse goes through its state at its own date."
    )
    position: three(Length) | None = Field(  # type: ignore[valid-type]
        default=None, description="Instead: at t = 0, from the planet's centre, in inertial axes; with a velocity."
    )
    velocity: three(Speed) | None = Field(default=None, description="Beside position.")  # type: ignore[valid-type]
    equinoctial: EquinoctialTable | None = Field(default=None, description="Instead: equinoctial elements.")
    eccentricity: Real = 0.0
    inclination: Angle = 0.0
    node: Angle = Field(default=0.0, description="Right ascension of the ascending node.")
    pericenter: Angle = Field(default=0.0, description="Argument of the pericentre.")
    true_anomaly: Angle = 0.0
    planet: Annotated[str, OneOf(PLANETS)] = "earth"
    gradient: bool = Field(default=True, description="Gravity-gradient torque and force on every body.")
    epoch: str | None = Field(
        default=None, description="Date of t = 0, UTC: Earth then turns as it does, and has its magnetic field."
    )
    known: Time = Field(default=2 * 86400.0, description="How long from the epoch on the sky is tabulated.")

    @model_validator(mode="after")
    def _one_size(self) -> OrbitTable:
        if way_of(self) is not None:
            demand_one_way(self, {"epoch", "known", "gradient", "planet"})
        elif self.velocity is not None:
            raise ValueError("velocity goes with a position")
        elif (self.altitude is None) == (self.semi_major_axis is None):
            raise ValueError("give either altitude or semi_major_axis")
        if self.altitude is not None and self.eccentricity != 0.0:
            raise ValueError("an orbit with an eccentricity needs a semi_major_axis instead of an altitude")
        if self.epoch is not None and self.planet != "earth":
            raise ValueError(f'epoch is for planet = "earth"; the planet is "{self.planet}"')
        return self


Named: Any = tables_by_name(ENVIRONMENTS, "NamedEnvironments", "Environments by name.")


class EnvironmentTable(Named):
    """What acts from outside."""

    orbit: OrbitTable | None = Field(
        default=None, description="Gravity of a planet, differential and with its gradient torque, on every body."
    )

    python: Python = None
    gravity: three(Acceleration) | None = Field(default=None, description="The same everywhere, in inertial axes.")  # type: ignore[valid-type]


def environment_of(
    source: Source, table: EnvironmentTable, member: Member | None = None, at: tuple[Spacecraft, Array] | None = None
) -> Environment | None:
    """All of it as one; None if nothing acts. What is wrong goes to the source's report.

    member: as it acts on one craft of several alone, whose law takes it into account: no contact with others, and
    nothing in Python. at: the craft and where it starts, whom each environment has to suit, said at its line.
    """
    parts = []
    if table.gravity is not None:
        parts.append(uniform_gravity(table.gravity))
    orbit = orbit_of(source, table)
    if orbit is not None:
        gradient = table.orbit is None or table.orbit.gradient
        parts.append(two_body_gravity(orbit, gradient_torque=gradient, gradient_force=gradient))
    if table.python is not None and member is None:
        own = _own(source, table.python)
        parts += [] if own is None else [own]
    for name, entry in entries_given(ENVIRONMENTS, table).items():
        if orbit is None and name != "contact":
            found = f"{name} acts in an orbit, and there is none."
            source.error("no-orbit", ("environment", name), found, 'Add [environment.orbit] with altitude = "500 km".')
            continue
        if member is not None:
            entry = _on(member, entry)
            if entry is None:
                continue
        try:
            part = _beside(source, _dated(entry, table)).build(orbit, _sky(table))
            if at is not None and part.check is not None:
                part.check(at[0], 0.0, at[1])
            parts.append(part)
        except (ValueError, ImportError) as error:
            source.error("environment", ("environment", name), f"{error}".rstrip(".") + ".")
    return combined(*parts) if len(parts) > 1 else parts[0] if parts else None


def _sky(table: EnvironmentTable) -> Sky | None:
    given = table.orbit
    return None if given is None or given.epoch is None else sky_of(given.epoch, given.known)


def _beside(source: Source, entry: Any) -> Any:
    """The entry with the path of its file, which stands beside the scenario's."""
    file = getattr(entry, "file", None)
    return entry if file is None else replace(entry, file=str(Path(source.file).parent / file))


def _dated(entry: Any, table: EnvironmentTable) -> Any:
    """The entry with the date of the orbit, where it has one: t = 0 is one instant."""
    date = None if table.orbit is None else table.orbit.epoch
    if date is None or not hasattr(entry, "epoch"):
        return entry
    if entry.epoch not in (EPOCH, date):
        raise ValueError(f'epoch is "{entry.epoch}", that of the orbit "{date}"; leave one of them out')
    return replace(entry, epoch=date)


def _own(source: Source, text: str) -> Environment | None:
    found = user_function(source, ("environment",), text)
    if found is None or isinstance(found, Environment):
        return found
    if callable(found):
        return Environment(found)
    said = f"'{text}' is {found!r:.60}; expected a function (craft, t, q, v) -> wrenches, or an Environment."
    source.error("python", ("environment",), said, "", "python")
    return None


def _on(member: Member, entry: Any) -> Any:
    """The entry with the surfaces that are the member's; None where it is not about one craft."""
    given = getattr(entry, "surface", None)
    if isinstance(given, str):
        return None
    if given is None:
        return entry
    own = [replace(surface, body=member.own(surface.body)) for surface in given if surface.body in member.bodies]
    return replace(entry, surface=own) if own else None


@lru_cache(maxsize=16)
def sky_of(epoch: str, known: float) -> Sky:
    """The same for all that ask; its tables are made when they are first used."""
    return Sky(epoch, known)


def orbit_of(source: Source, table: EnvironmentTable) -> Orbit | None:
    """The orbit of a file; what is wrong with it goes to the source's report."""
    given = table.orbit
    if given is None:
        return None
    try:
        planet = PLANETS[given.planet] if given.epoch is None else sky_of(given.epoch, given.known).earth
    except (ValueError, ImportError) as error:
        source.error("sky", ("environment", "orbit"), str(error), "", "epoch")
        return None
    way = way_of(given)
    if way is not None:
        try:
            return orbit_given(Path(source.file).parent, given, planet)
        except (ValueError, OSError, ImportError) as error:
            source.error("orbit", ("environment", "orbit"), str(error), "", way)
            return None
    size = float(given.semi_major_axis or 0.0) if given.altitude is None else planet.radius + given.altitude
    angles = (given.inclination, given.node, given.pericenter, given.true_anomaly)
    try:
        return Orbit.from_elements(size, given.eccentricity, *angles, planet=planet)
    except ValueError as error:
        blamed = next((name for name in OrbitTable.model_fields if f": {name} is " in str(error)), "altitude")
        source.error("orbit", ("environment", "orbit"), str(error), "", blamed if getattr(given, blamed) else "")
        return None


def epoch_of(table: EnvironmentTable) -> str:
    """The date of t = 0, by the first environment that has one; empty if none has."""
    if table.orbit is not None and table.orbit.epoch is not None:
        return table.orbit.epoch
    return next((entry.epoch for entry in entries_given(ENVIRONMENTS, table).values() if hasattr(entry, "epoch")), "")
