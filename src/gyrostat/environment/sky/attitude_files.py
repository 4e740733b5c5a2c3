"""Attitudes as the space data committee's AEM (CCSDS 504.0-B, key = value): written and read without losing a bit."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...algebra import Array
from ..files import save_text
from .kvn import Line, date_of, demand_whole, entry, lines_of, number, required
from .orbit_files import demand_order

KEYS = {
    "OBJECT_NAME": "name", "OBJECT_ID": "id", "CENTER_NAME": "center", "REF_FRAME_A": "frame", "REF_FRAME_B": "axes",
    "TIME_SYSTEM": "scale",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class AttitudeEphemeris:
    """times (n,): datetime64[ns], in order, of the time system `scale`. quats (n, 4): quat_AB from `axes`, those of the
    body (SC_BODY_1), to `frame`, scalar first.
    """

    times: Any
    quats: Any
    name: str = "UNKNOWN"
    id: str = "UNKNOWN"
    center: str = "EARTH"
    frame: str = "GCRF"
    axes: str = "SC_BODY_1"
    scale: str = "UTC"

    def __post_init__(self) -> None:
        times = np.asarray(self.times, dtype="datetime64[ns]")
        quats = np.asarray(self.quats, dtype=float)
        if times.ndim != 1 or quats.shape != (len(times), 4):
            raise ValueError(
                f"attitude ephemeris: times {times.shape} and quats {quats.shape}; expected (n,) and (n, 4)."
            )
        off = np.abs(np.linalg.norm(quats, axis=1) - 1.0)
        if not (off < 1e-6).all():
            raise ValueError(f"attitude ephemeris: quaternions are off norm one by {off.max():.2g}; expected 1e-6.")
        demand_order(times, "attitude ephemeris")
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "quats", quats)


def write_aem(path: str | Path, attitude: AttitudeEphemeris, *, originator: str = "GYROSTAT") -> None:
    """Quaternions from frame to body (A2B), scalar last."""
    first, last = attitude.times[0], attitude.times[-1]
    lines = ["CCSDS_AEM_VERS = 1.0", f"CREATION_DATE = {first}", entry("ORIGINATOR", originator), "", "META_START"]
    lines += [entry(key, getattr(attitude, name)) for key, name in KEYS.items() if name != "scale"]
    lines += [
        "ATTITUDE_DIR = A2B",
        entry("TIME_SYSTEM", attitude.scale),
        f"START_TIME = {first}",
        f"STOP_TIME = {last}",
    ]
    lines += ["ATTITUDE_TYPE = QUATERNION", "QUATERNION_TYPE = LAST", "META_STOP", "", "DATA_START"]
    for time, quat in zip(attitude.times, attitude.quats, strict=True):
        lines.append(" ".join([str(time), *(repr(float(x)) for x in np.roll(quat, -1))]))
    save_text(path, "\n".join([*lines, "DATA_STOP"]) + "\n")


def read_aem(path: str | Path) -> AttitudeEphemeris:
    """The one segment of quaternions of an AEM of version 1 or 2; Euler angles, rates and spins are refused."""
    head: dict[str, str] = {}
    times: list[Any] = []
    quats: list[Array] = []
    for line in lines_of(path, "AEM"):
        if line.key:
            head[line.key] = line.text
        elif line.text == "META_START" and times:
            raise line.error("a second segment; expected one.")
        elif line.text not in ("META_START", "META_STOP", "DATA_START", "DATA_STOP"):
            time, numbers = _row(line)
            times.append(time)
            quats.append(numbers)
    head.setdefault("CENTER_NAME", "EARTH")
    needed = ("CCSDS_AEM_VERS", *KEYS, "ATTITUDE_TYPE")
    required(head | ({"a quaternion": ""} if times else {}), (*needed, "a quaternion"), path, "AEM")
    demand_whole(path, head, times[-1])
    if head["ATTITUDE_TYPE"] != "QUATERNION":
        raise ValueError(f"{path}: ATTITUDE_TYPE is {head['ATTITUDE_TYPE']}; expected QUATERNION.")
    found = np.array(quats)
    if head.get("QUATERNION_TYPE", "LAST") == "LAST":  # where the scalar stands
        found = np.roll(found, 1, axis=1)
    if head.get("ATTITUDE_DIR", "A2B") == "B2A":
        found = found * np.array([1.0, -1.0, -1.0, -1.0])
    return AttitudeEphemeris(np.array(times), found, **{name: head[key] for key, name in KEYS.items()})


def _row(line: Line) -> tuple[Any, Array]:
    date, *numbers = line.text.split()
    try:
        if len(numbers) != 4:
            raise ValueError
        return date_of(date), np.array([number(word) for word in numbers])
    except ValueError:
        raise line.error(f"'{line.text[:60]}' is no attitude; expected a date and four numbers.") from None
