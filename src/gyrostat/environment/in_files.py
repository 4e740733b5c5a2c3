"""Environments that a scenario file can name: [environment.drag] and so on, besides the orbit itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ..model.entries import Length, Lengths, Positive, Registry, Three, key
from .atmosphere import Exponential, HarrisPriester
from .contact import ContactLaw, contact_with_plane, contact_with_sphere
from .drag import air_drag
from .ephemeris import moon, sun
from .gravity import Environment, combined
from .spherical_harmonics import harmonic_gravity
from .sunlight import solar_pressure
from .surfaces import Plate, Sphere
from .third_body import third_body_gravity
from .zonal import zonal_gravity

ENVIRONMENTS = Registry("environments")
EPOCH = "2030-01-01T00:00"


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

    def build(self) -> Plate | Sphere:
        if self.normal is None:
            return Sphere(self.body, self.area, self.center, self.drag)
        more = (self.drag, self.specular, self.diffuse, self.both_sides)
        return Plate(self.body, self.area, self.normal, self.center, *more)


@ENVIRONMENTS.add("harmonics", "the planet's field beyond a sphere: its zonal harmonics, or coefficients given")
@dataclass(frozen=True, kw_only=True)
class Harmonics:
    degree: int = key("Highest zonal degree of the planet's own that acts.", 6)
    C: list[list[float]] | None = key("Unnormalised coefficients C[n][m] in place of the planet's zonals.", None)
    S: list[list[float]] | None = key("Likewise S[n][m].", None)

    def build(self, orbit: Any) -> Environment:
        if self.C is not None:
            return harmonic_gravity(orbit, np.array(self.C), None if self.S is None else np.array(self.S))
        if self.S is not None:
            raise ValueError("harmonics: S is given without C")
        return zonal_gravity(orbit, self.degree)


@ENVIRONMENTS.add("drag", "air drag on surfaces", 'surface = [{ body = "base", area = 4.0 }]')
@dataclass(frozen=True, kw_only=True)
class Drag:
    surface: list[Surface] = key("What the air pushes on.")
    atmosphere: Literal["exponential", "harris_priester"] = key("Which air.", "exponential")
    density: Positive = key("Of the exponential one at its height, in kg/m^3.", Exponential.density)
    height: Length = key("Where it has that density.", Exponential.height)
    scale: Length = key("Over which it falls by e.", Exponential.scale)
    epoch: str = key("Of t = 0, for the daily bulge.", EPOCH)

    def build(self, orbit: Any) -> Environment:
        air = (
            HarrisPriester(sun(self.epoch))
            if self.atmosphere == "harris_priester"
            else Exponential(self.density, self.height, self.scale)
        )
        return air_drag(orbit, [surface.build() for surface in self.surface], air)


@ENVIRONMENTS.add("sunlight", "pressure of sunlight on surfaces, with the planet's shadow",
                  'surface = [{ body = "base", area = 4.0 }]')  # fmt: skip
@dataclass(frozen=True, kw_only=True)
class Sunlight:
    surface: list[Surface] = key("What the light pushes on.")
    epoch: str = key("Of t = 0.", EPOCH)
    eclipse: bool = key("The planet casts a shadow.", True)

    def build(self, orbit: Any) -> Environment:
        return solar_pressure(orbit, [s.build() for s in self.surface], sun(self.epoch), eclipse=self.eclipse)


@ENVIRONMENTS.add("third_bodies", "tides of Sun and Moon")
@dataclass(frozen=True, kw_only=True)
class ThirdBodies:
    bodies: list[Literal["sun", "moon"]] = key("Which.", ["sun", "moon"])
    epoch: str = key("Of t = 0.", EPOCH)

    def build(self, orbit: Any) -> Environment:
        where = {"sun": sun, "moon": moon}
        return combined(*(third_body_gravity(orbit, where[name](self.epoch)) for name in self.bodies))


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

    def build(self, orbit: Any) -> Environment:
        law = ContactLaw(self.stiffness, self.damping, self.friction)
        if self.sphere_radius > 0:
            return contact_with_sphere(
                self.probe, self.surface, law, sphere_radius=self.sphere_radius, radius=self.radius
            )
        return contact_with_plane(self.probe, self.surface, law, radius=self.radius)
