"""Orbits and attitudes as CZML, which Cesium shows over the Earth."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...algebra import Array, quat_from_rotation, rotation
from ..files import save_text
from .attitude_files import AttitudeEphemeris
from .of_runs import unrolled
from .orbit_files import Ephemeris
from .sky import Sky

COLORS = ((80, 180, 255), (255, 170, 60), (120, 220, 120), (240, 110, 180), (200, 200, 80), (160, 140, 255))
DEGREE = 7  # of the polynomial between positions


def write_czml(
    path: str | Path,
    ephemerides: Ephemeris | Sequence[Ephemeris],
    sky: Sky,
    *,
    attitudes: Mapping[str, AttitudeEphemeris] | None = None,
    speed: float = 60.0,
) -> None:
    """Paths of objects in GCRF within the span of `sky`, whose Earth turns them into Earth-fixed axes.

    attitudes: by the name of the object. speed: of the clock, over that of time itself.

    Raises ValueError unless each object has a name of its own, and each attitude an object.
    """
    things = [ephemerides] if isinstance(ephemerides, Ephemeris) else list(ephemerides)
    attitudes = dict(attitudes or {})
    names = [thing.name for thing in things]
    if not things or len(set(names)) != len(names):
        raise ValueError(f"CZML: the objects are called {', '.join(names) or 'nothing'}; give each a name of its own.")
    unknown = sorted(set(attitudes) - set(names))
    if unknown:
        raise ValueError(f"CZML: an attitude is of '{unknown[0]}', and the objects are {', '.join(names)}.")
    start, stop = min(t.times[0] for t in things), max(t.times[-1] for t in things)
    clock = {"interval": f"{_z(start)}/{_z(stop)}", "currentTime": _z(start), "multiplier": speed, "range": "LOOP_STOP"}
    packets: list[dict[str, Any]] = [{"id": "document", "name": "gyrostat", "version": "1.0", "clock": clock}]
    for k, thing in enumerate(things):
        packets.append(_packet(thing, attitudes.get(thing.name), sky, COLORS[k % len(COLORS)]))
    save_text(path, json.dumps(packets))


def _packet(thing: Ephemeris, attitude: AttitudeEphemeris | None, sky: Sky, color: tuple[int, int, int]) -> Any:
    r_F = np.array([R @ r for R, r in zip(_fixed(thing, sky), thing.states[:, :3], strict=True)])
    rgba = {"solidColor": {"color": {"rgba": [*color, 255]}}}
    period = float(thing.seconds()[-1])
    found = {
        "id": thing.name,
        "name": thing.name,
        "availability": f"{_z(thing.times[0])}/{_z(thing.times[-1])}",
        "position": {"interpolationAlgorithm": "LAGRANGE", "interpolationDegree": DEGREE, "referenceFrame": "FIXED",
                     "epoch": _z(thing.times[0]), "cartesian": _rows(thing.times, r_F)},
        "point": {"pixelSize": 8, "color": {"rgba": [*color, 255]}},
        "label": {"text": thing.name, "pixelOffset": {"cartesian2": [12, 0]}, "horizontalOrigin": "LEFT"},
        "path": {"width": 1.5, "material": rgba, "leadTime": 0.0, "trailTime": min(period, 6000.0)},
    }  # fmt: skip
    if attitude is not None:
        R_FB = [R @ rotation(quat) for R, quat in zip(_fixed(attitude, sky), attitude.quats, strict=True)]
        quats = unrolled(np.array([quat_from_rotation(R) for R in R_FB]))
        found["orientation"] = {
            "interpolationAlgorithm": "LINEAR", "interpolationDegree": 1, "epoch": _z(attitude.times[0]),
            "unitQuaternion": _rows(attitude.times, np.roll(quats, -1, axis=1)),
        }  # fmt: skip
    return found


def _fixed(thing: Any, sky: Sky) -> list[Array]:
    """R_FN at each of its times."""
    if thing.frame != "GCRF" or thing.scale != "UTC":
        raise ValueError(f"CZML: '{thing.name}' is in {thing.frame}, {thing.scale}; expected GCRF and UTC (`in_gcrf`).")
    t = sky.seconds(thing.times)
    if t[0] < sky.span[0] - 1e-6 or t[-1] > sky.span[1] + 1e-6:
        raise ValueError(
            f"CZML: '{thing.name}' is known from {t[0]:.9g} s to {t[-1]:.9g} s, the sky from {sky.span[0]:.9g} s to "
            f"{sky.span[1]:.9g} s. Make it longer: Sky(epoch, duration, before=...)."
        )
    return [sky.earth.fixed_axes(float(x)) for x in np.clip(t, *sky.span)]


def _rows(times: Any, values: Array) -> list[float]:
    """t, x, y, z, t, x ... with t in seconds after the first."""
    t = (times - times[0]) / np.timedelta64(1, "ns") * 1e-9
    return [float(x) for x in np.column_stack([t, values]).ravel()]


def _z(time: Any) -> str:
    return f"{np.datetime64(time, 'ns')}Z"
