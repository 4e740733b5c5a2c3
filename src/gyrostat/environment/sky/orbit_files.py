"""Orbits as the space data committee's OEM (CCSDS 502.0-B, key = value): written and read without losing a bit."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import numpy as np

from ...algebra import Array

KEYS = {"OBJECT_NAME": "name", "OBJECT_ID": "id", "CENTER_NAME": "center", "REF_FRAME": "frame", "TIME_SYSTEM": "scale"}


@dataclass(frozen=True, eq=False)
class Ephemeris:
    """times (n,): datetime64[ns], in order, of the time system `scale`. states (n, 6): m and m/s in `frame`."""

    times: Any
    states: Any
    name: str = "UNKNOWN"
    id: str = "UNKNOWN"
    center: str = "EARTH"
    frame: str = "GCRF"
    scale: str = "UTC"

    def __post_init__(self) -> None:
        times = np.asarray(self.times, dtype="datetime64[ns]")
        states = np.asarray(self.states, dtype=float)
        if times.ndim != 1 or states.shape != (len(times), 6) or not np.isfinite(states).all():
            raise ValueError(
                f"ephemeris: times {times.shape} and states {states.shape}; expected (n,) and finite numbers (n, 6)."
            )
        if not len(times) or (np.diff(times) <= np.timedelta64(0, "ns")).any():
            raise ValueError("ephemeris: its times do not grow. Sort them, and leave out what is there twice.")
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "states", states)

    def seconds(self) -> Array:
        """Since the first of its times, (n,)."""
        return np.asarray((self.times - self.times[0]) / np.timedelta64(1, "ns") * 1e-9, dtype=float)


def write_oem(path: str | Path, ephemeris: Ephemeris, *, originator: str = "GYROSTAT") -> None:
    """In km, each number with as many digits as tell it from its neighbours."""
    first, last = ephemeris.times[0], ephemeris.times[-1]
    lines = ["CCSDS_OEM_VERS = 2.0", f"CREATION_DATE = {first}", f"ORIGINATOR = {originator}", "", "META_START"]
    lines += [f"{key} = {getattr(ephemeris, name)}" for key, name in KEYS.items()]
    lines += [f"START_TIME = {first}", f"STOP_TIME = {last}", "META_STOP", ""]
    for time, state in zip(ephemeris.times, ephemeris.states, strict=True):
        lines.append(" ".join([str(time), *(str(Decimal(repr(float(x))).scaleb(-3)) for x in state)]))
    Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")


def read_oem(path: str | Path) -> Ephemeris:
    """The one segment of an OEM in key = value notation; accelerations and covariances are refused."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ValueError(f"OEM: cannot read '{path}' ({error.strerror}).") from None
    head: dict[str, str] = {}
    times: list[Any] = []
    states: list[list[float]] = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words or words[0] in ("COMMENT", "META_STOP"):
            continue
        if words[0] == "META_START" and times or words[0].startswith("COVARIANCE"):
            raise ValueError(f"{path}:{number}: {words[0]}; expected one segment of positions and velocities alone.")
        if "=" in line:
            key, _, value = line.partition("=")
            head[key.strip()] = value.strip()
        elif words[0] != "META_START":
            try:
                if len(words) != 7:
                    raise ValueError
                times.append(np.datetime64(words[0].removesuffix("Z"), "ns"))
                states.append([float(Decimal(word).scaleb(3)) for word in words[1:]])
            except (ValueError, InvalidOperation):
                raise ValueError(
                    f"{path}:{number}: '{line.strip()[:60]}' is no state; expected a date, three numbers in km and "
                    "three in km/s."
                ) from None
    missing = [key for key in ("CCSDS_OEM_VERS", *KEYS) if key not in head]
    if missing or not times:
        raise ValueError(
            f"{path}: {missing[0] if missing else 'a state'} is missing; it is no OEM as of CCSDS 502.0-B."
        )
    return Ephemeris(np.array(times), np.array(states), **{name: head[key] for key, name in KEYS.items()})
