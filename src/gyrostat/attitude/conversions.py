"""Attitudes from one parameterisation to another, in any batch shape."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra.elementary import Array
from ..algebra.lanes import over_lanes
from .abstract import AbstractParameterisation
from .catalogue import parameterisation


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
    """(..., nq) of R_NB (..., 3, 3).

    Raises ValueError unless R_NB is (..., 3, 3).
    """
    R, b = np.asarray(R_NB), parameterisation(target)
    if R.shape[-2:] != (3, 3):
        raise ValueError(f"R_NB has shape {R.shape}; expected (..., 3, 3).")
    return over_lanes(lambda q: b.from_C(q.reshape(3, 3).T), R.reshape(*R.shape[:-2], 9))


def _checked(values: Any, p: AbstractParameterisation) -> Array:
    q = np.asarray(values)
    if q.ndim == 0 or q.shape[-1] != p.nq:
        raise ValueError(f"{p.name} has shape {q.shape}; expected (..., {p.nq}): {', '.join(p.labels)}.")
    return q if q.dtype == object else q.astype(float)
