"""What a run was, as ephemerides of orbit and attitude with dates: for OEM, OPM, AEM and CZML."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...algebra import quat_from_rotation
from ...kinematics import frame_pose, jacobian
from ..orbit import reference_of
from .attitude_files import AttitudeEphemeris
from .orbit_files import Ephemeris
from .sky import Sky


def dates(sky: Sky, times: Any, scale: str = "UTC") -> Any:
    """datetime64[ns] of seconds after the sky's epoch, in UTC, TAI, TT or TDB."""
    found = getattr(sky.time(np.asarray(times, dtype=float)), scale.lower())
    return np.array([np.datetime64(text, "ns") for text in np.atleast_1d(_nine_digits(found).isot)])


def _nine_digits(time: Any) -> Any:
    time.precision = 9
    return time


def ephemeris_of(
    run: Any, orbit: Any, sky: Sky, *, frame: str | None = None, name: str = "", **about: Any
) -> Ephemeris:
    """Positions and velocities in GCRF of a run's saved states: of the origin of `frame`, a body or frame (its base).

    run: of `gs.simulate`, not a batch, whose N is that of `orbit` with the axes of `sky`. about: id, scale.
    """
    place, craft = reference_of(orbit, "an ephemeris"), run.craft
    times, q, v = _saved(run)
    where = craft.base if frame is None else frame
    here = [place.state(float(t)) for t in times]
    states = np.array([
        [*(at.r + frame_pose(craft, x, where).p), *(at.v + jacobian(craft, x, where)[3:] @ y)]
        for at, x, y in zip(here, q, v, strict=True)
    ])  # fmt: skip
    scale = about.pop("scale", "UTC")
    return Ephemeris(dates(sky, times, scale), states, name=name or craft.name, scale=scale, **about)


def attitude_of(run: Any, sky: Sky, *, frame: str | None = None, name: str = "", **about: Any) -> AttitudeEphemeris:
    """Attitudes in GCRF of a body or frame (the base) at a run's saved states; signs go on from state to state."""
    craft = run.craft
    times, q, _ = _saved(run)
    where = craft.base if frame is None else frame
    quats = np.array([quat_from_rotation(frame_pose(craft, x, where).R) for x in q])
    scale = about.pop("scale", "UTC")
    return AttitudeEphemeris(dates(sky, times, scale), unrolled(quats), name=name or craft.name, scale=scale, **about)


def unrolled(quats: Any) -> Any:
    """Of two signs the one that is nearer to the quaternion before."""
    flips = np.einsum("ni,ni->n", quats[1:], quats[:-1]) < 0.0
    signs = np.concatenate([[1.0], np.cumprod(np.where(flips, -1.0, 1.0))])
    return quats * signs[:, None]


def _saved(run: Any) -> tuple[Any, Any, Any]:
    """Times and states up to where the run ended."""
    if run.batched:
        raise ValueError("this is a batch of runs; an ephemeris is of one. Fly it alone.")
    there = np.isfinite(run.q).all(axis=-1) & np.isfinite(run.v).all(axis=-1)
    return np.asarray(run.time)[there], np.asarray(run.q)[there], np.asarray(run.v)[there]
