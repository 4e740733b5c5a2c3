"""Materials, and what a beam's cross-section is to its motion."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np


@dataclass(frozen=True)
class Material:
    """Isotropic: Young's modulus in Pa, Poisson's ratio, density in kg/m^3."""

    young: float
    poisson: float
    density: float

    def __post_init__(self) -> None:
        if not (self.young > 0 and self.density > 0 and -1 < self.poisson <= 0.5):
            raise ValueError(
                f"Material(young={self.young}, poisson={self.poisson}, density={self.density}): expected a modulus and "
                "a density above zero and a Poisson's ratio in (-1, 0.5]."
            )

    @property
    def shear(self) -> float:
        return self.young / (2 * (1 + self.poisson))


ALUMINIUM = Material(70e9, 0.33, 2700.0)  # E = 70 GPa, nu = 0.33, 2700 kg/m^3
STEEL = Material(200e9, 0.29, 7850.0)  # E = 200 GPa, nu = 0.29, 7850 kg/m^3
TITANIUM = Material(114e9, 0.34, 4430.0)  # E = 114 GPa, nu = 0.34, 4430 kg/m^3


@dataclass(frozen=True)
class Section:
    """Of a beam along x. SI.

    EA: against stretching, N. EIy, EIz: against bending about y (which moves it along z) and about z (along y), N m^2.
    GJ: against twist, N m^2. rhoA: mass per length, kg/m. rhoIy, rhoIz: int z^2 and int y^2 over the mass of a unit of
    length, kg m; their sum is the inertia against twist.
    """

    EA: float
    EIy: float
    EIz: float
    GJ: float
    rhoA: float
    rhoIy: float = 0.0
    rhoIz: float = 0.0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            least = 0.0 if field.name.startswith("rhoI") else np.nextafter(0.0, 1.0)
            if not (np.isfinite(value) and value >= least):
                above = "zero or more" if least == 0.0 else "a number above zero"
                raise ValueError(f"Section: {field.name} is {value}; expected {above}.")


def tube(outer_radius: float, thickness: float, material: Material) -> Section:
    """A round tube; solid where the thickness is the radius.

    Raises ValueError for a thickness of zero, or above the radius.
    """
    inner = outer_radius - thickness
    if not 0 < thickness <= outer_radius:
        raise ValueError(f"tube: thickness {thickness} m; expected above zero, at most the radius {outer_radius} m.")
    area = np.pi * (outer_radius**2 - inner**2)
    second = np.pi / 4 * (outer_radius**4 - inner**4)
    return _of(material, area, second, second, 2 * second)


def box(width: float, height: float, thickness: float, material: Material) -> Section:
    """A rectangular tube of outer width (along y) and height (along z). Twist by Bredt's formula for thin walls,

    J = 4 A_m^2 t / (mean perimeter), A_m the area within the middle of the wall.

    Raises ValueError for a thickness of zero, or of half the height or more.
    """
    if not 0 < 2 * thickness < min(width, height):
        raise ValueError(f"box: thickness {thickness} m; expected above zero, below half of {min(width, height)} m.")
    b, h = width - 2 * thickness, height - 2 * thickness
    middle = (width - thickness, height - thickness)
    torsion = 4 * (middle[0] * middle[1]) ** 2 * thickness / (2 * sum(middle))
    about_y, about_z = (width * height**3 - b * h**3) / 12, (height * width**3 - h * b**3) / 12
    return _of(material, width * height - b * h, about_y, about_z, torsion)


def rectangle(width: float, height: float, material: Material) -> Section:
    """A solid rectangle, width along y and height along z. Twist by Saint-Venant's series.

    Raises ValueError for lengths that are not above zero.
    """
    if not (width > 0 and height > 0):
        raise ValueError(f"rectangle: {width} by {height} m; expected lengths above zero.")
    a, b = max(width, height), min(width, height)
    odd = np.arange(1, 200, 2)
    torsion = a * b**3 * (1 / 3 - 64 / np.pi**5 * (b / a) * np.sum(np.tanh(odd * np.pi * a / (2 * b)) / odd**5))
    return _of(material, width * height, width * height**3 / 12, height * width**3 / 12, float(torsion))


def _of(material: Material, area: float, about_y: float, about_z: float, torsion: float) -> Section:
    E, rho = material.young, material.density
    return Section(
        E * area, E * about_y, E * about_z, material.shear * torsion, rho * area, rho * about_y, rho * about_z
    )
