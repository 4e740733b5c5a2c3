"""Gravity fields from the usual files of coefficients (.gfc, as the ICGEM keeps them), to any degree."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..algebra import Array
from ..model.names import name_of, printable
from .files import text_of
from .gravity import Environment
from .normalized_harmonics import Harmonics
from .orbit import reference_of
from .point_forces import at_centers_of_mass

MOST = 2**29  # bytes of a file: EGM2008 to degree 2190 has a quarter of a gigabyte
SPARSE = 720  # a degree whose terms fit everywhere, however few of them a file has


@dataclass(frozen=True, eq=False)
class GravityField:
    """Fully normalised coefficients C[n, m], S[n, m], with the mu (m^3/s^2) and radius (m) that they belong to."""

    name: str
    mu: float
    radius: float
    C: Array
    S: Array

    @property
    def degree(self) -> int:
        return len(self.C) - 1


def read_gfc(path: str | Path, degree: int | None = None) -> GravityField:
    """From a .gfc file, up to `degree`; of terms that move with time (gfct) what they are at the file's epoch.

    Raises ValueError with file and line for what is missing or no term, and where the file cannot be read.
    """
    path = Path(path)
    if not path.exists():
        raise ValueError(
            f"gravity field: there is no file '{path}'. Give a .gfc file, such as EGM2008 or GGM05C from "
            "icgem.gfz-potsdam.de; none is fetched."
        )
    lines = text_of(path, "a .gfc file", MOST).splitlines()
    head: dict[str, str] = {}
    terms: dict[tuple[int, int], tuple[float, float]] = {}
    for number, line in enumerate(lines, 1):
        words = line.split()
        if words and words[0] in ("gfc", "gfct"):
            try:
                n, m = int(words[1]), int(words[2])
                pair = _number(words[3]), _number(words[4])
                if not 0 <= m <= n:
                    raise ValueError
            except (ValueError, IndexError):
                raise ValueError(
                    f"{path}:{number}: '{printable(line.strip())[:60]}' is no term; expected 'gfc degree order C S'."
                ) from None
            if (n, m) in terms:
                raise ValueError(
                    f"{path}:{number}: degree {n}, order {m} stands there twice. Of a field in several epochs keep one."
                )
            terms[n, m] = pair
        elif len(words) > 1 and not terms:
            head.setdefault(words[0], words[1])
    missing = [key for key in ("earth_gravity_constant", "radius") if key not in head]
    if missing or not terms:
        raise ValueError(
            f"{path}: {missing[0] if missing else 'gfc'} is missing; expected a header with earth_gravity_constant and "
            "radius, then lines 'gfc degree order C S'."
        )
    if head.get("norm", "fully_normalized") != "fully_normalized":
        raise ValueError(f"{path}: norm is {head['norm']}; expected fully_normalized coefficients.")
    largest = max(n for n, _ in terms)
    if degree is None and head.get("max_degree", "").isdecimal() and int(head["max_degree"]) > largest:
        raise ValueError(
            f"{path}: max_degree is {head['max_degree']}, and its terms end at {largest}: it is cut off. Where that is "
            f"meant, say degree={largest}."
        )
    wanted = largest if degree is None else degree
    if not 2 <= wanted <= largest:
        raise ValueError(f"{path}: degree {wanted} was asked for; the file has degrees 2 to {largest}.")
    if wanted > max(SPARSE, 4 * math.isqrt(len(terms))):
        raise ValueError(
            f"{path}: degree {wanted} takes {wanted**2 // 2:,} terms; the file has {len(terms):,} of them."
        )
    C, S = np.zeros((wanted + 1, wanted + 1)), np.zeros((wanted + 1, wanted + 1))
    for (n, m), (c, s) in terms.items():
        if n <= wanted:
            C[n, m], S[n, m] = c, s
    mu, radius = (_constant(path, key, head[key]) for key in ("earth_gravity_constant", "radius"))
    return GravityField(printable(head.get("modelname", name_of(path))), mu, radius, C, S)


def _number(word: str) -> float:
    """As Fortran writes it, too; finite."""
    found = float(word.lower().replace("d", "e"))
    if not math.isfinite(found):
        raise ValueError(word)
    return found


def _constant(path: Path, key: str, word: str) -> float:
    try:
        found = _number(word)
    except ValueError:
        found = 0.0
    if not found > 0.0:
        raise ValueError(f"{path}: {key} is '{printable(word)[:60]}'; expected a number above zero.")
    return found


def field_gravity(
    orbit: Any, field: GravityField, degree: int | None = None, *, gradient_torque: bool = False
) -> Environment:
    """Degrees 2 and more of a field, at the centre of mass of every body. Add it to `two_body_gravity`.

    The code is one loop over the terms above degree 16: degree 70 compiles as fast as degree 17. gradient_torque: of
    what the field changes over each body, too, at seven times the cost.

    Raises ValueError for a degree that the field has not, and where its mu is not that of the orbit.
    """
    place = reference_of(orbit, f"the gravity field {field.name}")
    planet, N = place.planet, field.degree if degree is None else degree
    if not 2 <= N <= field.degree:
        raise ValueError(f"gravity field {field.name}: degree {N} was asked for; it has degrees 2 to {field.degree}.")
    if abs(planet.mu / field.mu - 1.0) > 1e-9:
        raise ValueError(
            f"gravity field {field.name}: its mu is {field.mu:.10g} m^3/s^2, that of the orbit's planet "
            f"{planet.mu:.10g}. Give the orbit planet=dataclasses.replace(planet, mu={field.mu!r})."
        )
    harmonics = Harmonics(field.C[: N + 1, : N + 1], field.S[: N + 1, : N + 1], field.radius, lowest=2)
    planet.fixed_axes(0.0)  # which says what is missing

    def acceleration(t: Any, r: Array) -> Array:
        R_FN = planet.fixed_axes(t)
        return field.mu * (R_FN.T @ harmonics.gradient(R_FN @ r))

    return at_centers_of_mass(place, acceleration, torque=gradient_torque)
