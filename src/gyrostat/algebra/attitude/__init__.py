"""Attitude in nineteen parameterisations, each with its kinematics S, Gamma, constraints Phi, Xi, and singularities."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..elementary import Array
from ..lanes import over_lanes
from .direction_cosines import DirectionCosines as DirectionCosines
from .direction_cosines import TwoVectors as TwoVectors
from .euler import SEQUENCES, Euler
from .parameterisation import AbstractParameterisation as AbstractParameterisation
from .rotations import AxisAngle as AxisAngle
from .rotations import ModifiedRodrigues as ModifiedRodrigues
from .rotations import Quaternion as Quaternion
from .rotations import Rodrigues as Rodrigues
from .rotations import RotationVector as RotationVector

PARAMETERISATIONS: dict[str, AbstractParameterisation] = {
    p.name: p
    for p in (
        DirectionCosines(),
        TwoVectors(),
        Quaternion(),
        AxisAngle(),
        RotationVector(),
        Rodrigues(),
        ModifiedRodrigues(),
        *(Euler(sequence) for sequence in SEQUENCES),
    )
}


def parameterisation(name: str | AbstractParameterisation) -> AbstractParameterisation:
    """By name: "direction_cosines", "two_vectors", "quaternion", "axis_angle", "rotation_vector", "rodrigues",
    "modified_rodrigues", or "euler_321" and the other eleven sequences."""
    if isinstance(name, AbstractParameterisation):
        return name
    if name not in PARAMETERISATIONS:
        raise ValueError(
            f"attitude parameterisation '{name}' is not known; expected one of {', '.join(PARAMETERISATIONS)}."
        )
    return PARAMETERISATIONS[name]


def convert(values: Any, source: str, target: str) -> Array:
    """The same attitudes in another parameterisation, (..., nq of target): floats in any batch shape, or symbols (nq,).

    Redundant numbers are brought onto their manifold first: a quaternion of any length will do.
    """
    a, b = parameterisation(source), parameterisation(target)
    q = _checked(values, a)
    return over_lanes(lambda q: b.from_C(a.C(a.project(q))), q)


def rotation_matrix(values: Any, source: str) -> Array:
    """R_NB (..., 3, 3)."""
    a = parameterisation(source)
    return over_lanes(lambda q: a.rotation(a.project(q)), _checked(values, a))


def from_rotation_matrix(R_NB: Any, target: str) -> Array:
    """(..., nq) of R_NB (..., 3, 3)."""
    R, b = np.asarray(R_NB), parameterisation(target)
    if R.shape[-2:] != (3, 3):
        raise ValueError(f"R_NB has shape {R.shape}; expected (..., 3, 3).")
    return over_lanes(lambda q: b.from_C(q.reshape(3, 3).T), R.reshape(*R.shape[:-2], 9))


def _checked(values: Any, p: AbstractParameterisation) -> Array:
    q = np.asarray(values)
    if q.ndim == 0 or q.shape[-1] != p.nq:
        raise ValueError(f"{p.name} has shape {q.shape}; expected (..., {p.nq}): {', '.join(p.labels)}.")
    return q if q.dtype == object else q.astype(float)
