"""Magnetic torquers: dipoles that turn the craft in the planet's field."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..algebra import Array, clip, cross, where
from ..model import Spacecraft
from .controller import Controller
from .demands import base_pose, demand_free_base, placed
from .imperfection import Imperfection, Place

Field = Callable[[Any, Array], Array]


def b_dot(
    orbit: Any, field: Field, gain: float, limit: Any, period: float, *, magnetometer: Imperfection | None = None
) -> Controller:
    """Detumbling by torquers along the base's axes, from a magnetometer alone, sampled every `period` s:

        m = clip(-gain (B_k - B_(k-1)) / period, limit),  torque = m x B                                            (1)

    field(t, r_N) -> (3,) T in N, r from the planet's centre: `Sky.magnetic_field`. gain in A m^2 s/T; limit in A m^2,
    one or per axis. The dipole is held in between, and so is its torque. Stickler and Alfriend (1976).
    """
    if not (gain > 0 and period > 0 and np.all(np.asarray(limit) > 0)):
        raise ValueError(f"b_dot: gain {gain}, limit {limit} and period {period} must be above zero.")
    meter = magnetometer or Imperfection()

    def measured(craft: Spacecraft, t: Any, q: Array, place: Place) -> tuple[Array, Array]:
        demand_free_base(craft, "b_dot")
        X = base_pose(craft, q)
        B = X.R.T @ field(t, orbit.state(t).r + X.p)
        return B, meter(B, place, f"{craft.name}: magnetometer")

    def output(craft: Spacecraft, t: Any, q: Array, v: Array, z: Array, *, run: Any, sample: Any, seed: Any) -> Array:
        B, read = measured(craft, t, q, Place(seed, run, sample))
        goes = where(sample < 0.5, 0.0, 1.0)  # the first reading has none before it
        m = clip(-gain * goes * (read - z) / period, -np.asarray(limit), np.asarray(limit))  # (1)
        return placed(craft, np.arange(3), cross(m, B))

    def update(craft: Spacecraft, t: Any, q: Array, v: Array, z: Array, *, run: Any, sample: Any, seed: Any) -> Array:
        return measured(craft, t, q, Place(seed, run, sample))[1]

    return Controller(output, np.zeros(3), update=update, period=period)
