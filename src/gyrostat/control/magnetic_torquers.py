"""Magnetic torquers: dipoles that turn the craft in the planet's field."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..algebra import Array, clip, cross, where
from ..model import Spacecraft
from .controller import STATE, Controller, standing_for
from .demands import base_pose, demand_free_base, placed, places
from .imperfection import Imperfection, Place
from .wheels import share_torque, spin_inertias, wheel_axes, wheel_speeds

Field = Callable[[Any, Array], Array]


def b_dot(
    orbit: Any, field: Field, gain: float, limit: Any, period: float, *, magnetometer: Imperfection | None = None
) -> Controller:
    """Detumbling by torquers along the base's axes, from a magnetometer alone, sampled every `period` s:

        m = clip(-gain (B_k - B_(k-1)) / period, limit),  torque = m x B                                            (1)

    field(t, r_N) -> (3,) T in N, r from the planet's centre: `Sky.magnetic_field`. gain in A m^2 s/T; limit in A m^2,
    one or per axis. The dipole is held in between, and so is its torque. Stickler and Alfriend (1976).

    Raises ValueError unless gain, limit and period are above zero.
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


@dataclass(frozen=True, eq=False)
class MagneticTorquers:
    """Three along the base's axes; limit in A m^2, one or per axis. field(t, r_N): `Sky.magnetic_field`.

    driving(law): of a law, a function or a Controller, that gives loads and dipoles, (nv + 3,), the loads with m x B on
    top, where B is the field that is there, whatever the law believes.
    """

    orbit: Any
    field: Field
    limit: Any

    def __post_init__(self) -> None:
        if not np.all(np.asarray(self.limit) > 0):
            raise ValueError(f"magnetic torquers: limit is {self.limit}; expected A m^2, above zero.")

    def field_in_body(self, craft: Spacecraft, t: Any, q: Array) -> Array:
        X = base_pose(craft, q)
        return np.asarray(X.R.T @ self.field(t, self.orbit.state(t).r + X.p))

    def driving(self, law: Any) -> Any:
        output, given = (law.output, law.given) if isinstance(law, Controller) else (law, STATE)

        def control(craft: Spacecraft, t: Any, q: Array, v: Array, *memory: Array, **asked: Any) -> Array:
            demand_free_base(craft, "magnetic torquers")
            out = np.asarray(output(craft, t, q, v, *memory, **asked))
            if out.shape != (craft.nv + 3,):
                raise ValueError(
                    f"magnetic torquers: the law gives {out.shape}; expected loads and three dipoles, "
                    f"({craft.nv + 3},)."
                )
            m = clip(out[craft.nv :], -np.asarray(self.limit), np.asarray(self.limit))
            return out[: craft.nv] + placed(craft, np.arange(3), cross(m, self.field_in_body(craft, t, q)))

        standing_for(control, given, (output, len(given)))
        return replace(law, output=control) if isinstance(law, Controller) else control

    def dumping(self, law: Any, rate: float, speeds: Any = 0.0) -> Any:
        """The law with dipoles that take momentum out of the wheels, for `driving`: at most as h' = -rate h,

            m = -rate (B x h) / |B|^2,   h = sum of J (W - speeds) a over the wheels                              (1)

        of which the part along B stays until the field has turned; the wheels are told, so that nothing turns. What it
        believes of attitude and wheels is what the law sees. rate in 1/s. Camillo and Markley (1980).
        """
        if not 0.0 < rate < np.inf:
            raise ValueError(f"magnetic torquers: rate is {rate}; expected 1/s, above zero.")

        def control(craft: Spacecraft, t: Any, q: Array, v: Array, **asked: Any) -> Array:
            B = self.field_in_body(craft, t, q)
            axes = wheel_axes(craft, q)
            h = axes @ (spin_inertias(craft) * (wheel_speeds(craft, v) - np.asarray(speeds)))
            m = clip(-rate / (B @ B) * cross(B, h), -np.asarray(self.limit), np.asarray(self.limit))  # (1)
            taken = placed(craft, places(craft).wheels, share_torque(axes, -cross(m, B)))
            return np.concatenate([law(craft, t, q, v, **asked) + taken, m])

        return standing_for(control, STATE, (law, len(STATE)))
