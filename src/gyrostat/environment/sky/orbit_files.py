"""Orbits as the space data committee's OEM (CCSDS 502.0-B, key = value): written and read without losing a bit."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...algebra import Array
from ..files import save_text
from .kvn import Line, date_of, demand_whole, entry, lines_of, number, required, scaled

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
        demand_order(times, "ephemeris")
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "states", states)

    def seconds(self) -> Array:
        """Since the first of its times, (n,)."""
        return np.asarray((self.times - self.times[0]) / np.timedelta64(1, "s"))


def demand_order(times: Any, what: str) -> None:
    if not len(times) or np.isnat(times).any() or (np.diff(times) <= np.timedelta64(0, "ns")).any():
        raise ValueError(f"{what}: its times do not grow. Sort them, and leave out what is there twice.")


def write_oem(path: str | Path, ephemeris: Ephemeris, *, originator: str = "GYROSTAT") -> None:
    """In km, each number with as many digits as tell it from its neighbours."""
    first, last = ephemeris.times[0], ephemeris.times[-1]
    lines = ["CCSDS_OEM_VERS = 2.0", f"CREATION_DATE = {first}", entry("ORIGINATOR", originator), "", "META_START"]
    lines += [entry(key, getattr(ephemeris, name)) for key, name in KEYS.items()]
    lines += [f"START_TIME = {first}", f"STOP_TIME = {last}", "META_STOP", ""]
    for time, state in zip(ephemeris.times, ephemeris.states, strict=True):
        lines.append(" ".join([str(time), *(scaled(x, -3) for x in state)]))
    save_text(path, "\n".join(lines) + "\n")


def read_oem(path: str | Path) -> Ephemeris:
    """The one segment of an OEM in key = value notation; accelerations and covariances are refused."""
    head: dict[str, str] = {}
    times: list[Any] = []
    states: list[list[float]] = []
    for line in lines_of(path, "OEM"):
        if line.key:
            head[line.key] = line.text
        elif (line.text == "META_START" and times) or line.text.startswith("COVARIANCE"):
            raise line.error(f"{line.text}; expected one segment of positions and velocities alone.")
        elif line.text not in ("META_START", "META_STOP"):
            time, state = _state(line)
            times.append(time)
            states.append(state)
    required(head | ({"a state": ""} if times else {}), ("CCSDS_OEM_VERS", *KEYS, "a state"), path, "OEM")
    demand_whole(path, head, times[-1])
    return Ephemeris(np.array(times), np.array(states), **{name: head[key] for key, name in KEYS.items()})


def _state(line: Line) -> tuple[Any, list[float]]:
    date, *numbers = line.text.split()
    try:
        if len(numbers) != 6:
            raise ValueError
        return date_of(date), [number(word, 3) for word in numbers]
    except ValueError:
        raise line.error(
            f"'{line.text[:60]}' is no state; expected a date, three numbers in km and three in km/s."
        ) from None
