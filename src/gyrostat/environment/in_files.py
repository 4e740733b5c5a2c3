"""Environments that a scenario file can name: [environment.drag] and so on, besides the orbit itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from ..model.entries import Length, Lengths, Positive, Registry, Three, key
from .albedo import planet_light
from .atmosphere import Exponential, HarrisPriester
from .contact import ContactLaw, contact_with_plane, contact_with_sphere
from .drag import air_drag
from .ephemeris import Celestial, moon, sun
from .gravity import Environment, combined
from .gravity_field import field_gravity, read_gfc
from .sky import NRLMSIS
from .spherical_harmonics import harmonic_gravity
from .sunlight import solar_pressure
from .surfaces import Plate, Sphere
from .third_body import third_body_gravity
from .zonal import zonal_gravity

ENVIRONMENTS = Registry("environments")
EPOCH = "2030-01-01T00:00"


def _sun(epoch: str, sky: Any) -> Celestial:
    """Of the sky's tables where the orbit has a date, else by the short series."""
    return sun(epoch) if sky is None else sky.sun


def _moon(epoch: str, sky: Any) -> Celestial:
    return moon(epoch) if sky is None else sky.moon


@dataclass(frozen=True, kw_only=True)
class Surface:
    """A plate, or a sphere where no normal is given."""

    body: str = key("On which body.")
    area: Positive = key("In m^2; of a sphere, its cross-section.")
    normal: Three | None = key("Of a plate, in the body's axes; without it, the surface is a sphere.", None)
    center: Lengths = key("In the body's axes.", (0.0, 0.0, 0.0))
    drag: Positive = key("Coefficient of drag.", 2.2)
    specular: float = key("Part of the light that a plate mirrors.", 0.1)
    diffuse: float = key("Part of the light that a plate scatters.", 0.1)
    both_sides: bool = key("Both sides of a plate feel it.", False)
    accommodation: list[float] | None = key(
        "Of a plate in air, in place of drag: normal and tangential parts of the momentum that it takes up; lift.", None
    )
    leaving: float = key("Speed of molecules that leave such a plate, as part of that at which they came.", 0.05)

    def build(self) -> Plate | Sphere:
        if self.normal is None:
            if self.accommodation is not None:
                raise ValueError(f"surface on '{self.body}': accommodation is of plates; give a normal")
            return Sphere(self.body, self.area, self.center, self.drag)
        given = None if self.accommodation is None else tuple(self.accommodation)
        more = (self.drag, self.specular, self.diffuse, self.both_sides, given, self.leaving)
        return Plate(self.body, self.area, self.normal, self.center, *more)


@ENVIRONMENTS.add("harmonics", "the planet's field beyond a sphere: its zonal harmonics, or coefficients given")
@dataclass(frozen=True, kw_only=True)
class Harmonics:
    degree: int = key("Highest zonal degree of the planet's own that acts.", 6)
    C: list[list[float]] | None = key("Unnormalised coefficients C[n][m] in place of the planet's zonals.", None)
    S: list[list[float]] | None = key("Likewise S[n][m].", None)

    def build(self, orbit: Any, sky: Any = None) -> Environment:
        if self.C is not None:
            return harmonic_gravity(orbit, np.array(self.C), None if self.S is None else np.array(self.S))
        if self.S is not None:
            raise ValueError("harmonics: S is given without C")
        return zonal_gravity(orbit, self.degree)


@ENVIRONMENTS.add("drag", "air drag on surfaces", 'surface = [{ body = "base", area = 4.0 }]')
@dataclass(frozen=True, kw_only=True)
class Drag:
    surface: list[Surface] = key("What the air pushes on.")
    atmosphere: Literal["exponential", "harris_priester", "nrlmsis"] = key(
        "Which air; nrlmsis needs the epoch of the orbit.", "exponential"
    )
    density: Positive = key("Of the exponential one at its height, in kg/m^3.", Exponential.density)
    height: Length = key("Where it has that density.", Exponential.height)
    scale: Length = key("Over which it falls by e.", Exponential.scale)
    epoch: str = key("Of t = 0, for the daily bulge.", EPOCH)
    f107: Positive = key("Solar flux of the day before, of nrlmsis.", 150.0)
    f107a: Positive = key("Its mean over 81 days.", 150.0)
    ap: float = key("Geomagnetic index.", 4.0)
    shade: list[str] = key("Bodies whose shapes keep the stream from surfaces.", [])

    def build(self, orbit: Any, sky: Any = None) -> Environment:
        if self.atmosphere == "nrlmsis" and sky is None:
            raise ValueError("drag: nrlmsis needs a date. Add epoch to [environment.orbit]")
        air: Any = Exponential(self.density, self.height, self.scale)
        if self.atmosphere == "nrlmsis":
            air = NRLMSIS(sky, f107=self.f107, f107a=self.f107a, ap=self.ap)
        elif self.atmosphere == "harris_priester":
            air = HarrisPriester(_sun(self.epoch, sky))
        return air_drag(orbit, [surface.build() for surface in self.surface], air, shade=self.shade or None)


@ENVIRONMENTS.add("sunlight", "pressure of sunlight on surfaces, with the planet's shadow",
                  'surface = [{ body = "base", area = 4.0 }]')  # fmt: skip
@dataclass(frozen=True, kw_only=True)
class Sunlight:
    surface: list[Surface] = key("What the light pushes on.")
    epoch: str = key("Of t = 0.", EPOCH)
    eclipse: bool = key("The planet casts a shadow.", True)
    moon: bool = key("And so does the Moon.", False)
    shade: list[str] = key("Bodies whose shapes keep the light from surfaces.", [])

    def build(self, orbit: Any, sky: Any = None) -> Environment:
        between = (_moon(self.epoch, sky) if self.moon else None, self.shade or None)
        options: dict[str, Any] = dict(zip(("moon", "shade"), between, strict=True))
        where = _sun(self.epoch, sky)
        return solar_pressure(orbit, [s.build() for s in self.surface], where, eclipse=self.eclipse, **options)


@ENVIRONMENTS.add("planet_light", "sunlight that the planet scatters, and its heat, on surfaces",
                  'surface = [{ body = "base", area = 4.0 }]')  # fmt: skip
@dataclass(frozen=True, kw_only=True)
class PlanetLight:
    surface: list[Surface] = key("What the light pushes on.")
    epoch: str = key("Of t = 0.", EPOCH)

    def build(self, orbit: Any, sky: Any = None) -> Environment:
        return planet_light(orbit, [s.build() for s in self.surface], _sun(self.epoch, sky))


@ENVIRONMENTS.add("field", "the planet's gravity beyond a sphere, from a file of coefficients",
                  'file = "EGM2008.gfc"\ndegree = 20')  # fmt: skip
@dataclass(frozen=True, kw_only=True)
class Field:
    file: str = key("A .gfc file, beside this one; add it to the orbit without harmonics.")
    degree: int | None = key("Highest degree that acts; all that the file has by default.", None)
    torque: bool = key("Its gradient turns bodies, too, at seven times the cost.", False)

    def build(self, orbit: Any, sky: Any = None) -> Environment:
        field = read_gfc(self.file, self.degree)
        if abs(field.mu / orbit.planet.mu - 1.0) < 1e-6:  # of one planet: the orbit's mu is felt
            field = replace(field, mu=orbit.planet.mu)
        return field_gravity(orbit, field, gradient_torque=self.torque)


@ENVIRONMENTS.add("third_bodies", "tides of Sun and Moon")
@dataclass(frozen=True, kw_only=True)
class ThirdBodies:
    bodies: list[Literal["sun", "moon"]] = key("Which.", ["sun", "moon"])
    epoch: str = key("Of t = 0.", EPOCH)

    def build(self, orbit: Any, sky: Any = None) -> Environment:
        where = {"sun": _sun, "moon": _moon}
        return combined(*(third_body_gravity(orbit, where[name](self.epoch, sky)) for name in self.bodies))


@ENVIRONMENTS.add("contact", "a ball at a frame touches a plane (z = 0 of a frame) or a sphere",
                  'probe = "tool"\nsurface = "N"\nstiffness = 1000.0')  # fmt: skip
@dataclass(frozen=True, kw_only=True)
class Contact:
    probe: str = key("The frame whose origin carries the ball.")
    surface: str = key("The frame whose plane z = 0, or sphere about its origin, is touched.")
    stiffness: Positive = key("In N/m.")
    damping: float = key("In s/m.", 0.0)
    friction: float = key("Coefficient.", 0.0)
    radius: Length = key("Of the ball.", 0.0)
    sphere_radius: Length = key("Of the sphere; 0: the surface is a plane.", 0.0)

    def build(self, orbit: Any, sky: Any = None) -> Environment:
        law = ContactLaw(self.stiffness, self.damping, self.friction)
        if self.sphere_radius > 0:
            return contact_with_sphere(
                self.probe, self.surface, law, sphere_radius=self.sphere_radius, radius=self.radius
            )
        return contact_with_plane(self.probe, self.surface, law, radius=self.radius)
