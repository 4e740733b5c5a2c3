"""One state of an orbit, and what goes with it, as the space data committee's OPM (CCSDS 502.0-B, key = value)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..files import save_text
from .kvn import Line, entry, lines_of, required, scaled
from .orbit_files import KEYS, Ephemeris

STATE = ("X", "Y", "Z", "X_DOT", "Y_DOT", "Z_DOT")
CRAFT = {
    "MASS": ("mass", "kg"),
    "SOLAR_RAD_AREA": ("light_area", "m**2"),
    "SOLAR_RAD_COEFF": ("light_coefficient", ""),
    "DRAG_AREA": ("drag_area", "m**2"),
    "DRAG_COEFF": ("drag_coefficient", ""),
}
BURN = ("MAN_EPOCH_IGNITION", "MAN_DURATION", "MAN_DELTA_MASS", "MAN_REF_FRAME", "MAN_DV_1", "MAN_DV_2", "MAN_DV_3")
ELEMENTS = (
    "SEMI_MAJOR_AXIS", "ECCENTRICITY", "INCLINATION", "RA_OF_ASC_NODE", "ARG_OF_PERICENTER", "TRUE_ANOMALY",
    "MEAN_ANOMALY", "GM",
)  # fmt: skip
LOWER = [(i, j) for i in range(6) for j in range(i + 1)]
COVARIANCE = {f"C{STATE[i]}_{STATE[j]}": (i, j) for i, j in LOWER}


@dataclass(frozen=True)
class Burn:
    """A change of velocity (3,), m/s in `frame`, from an instant on; duration in s, mass_change in kg (below zero)."""

    ignition: Any
    dv: tuple[float, float, float]
    duration: float = 0.0
    mass_change: float = 0.0
    frame: str = "RTN"


@dataclass(frozen=True, eq=False)
class OrbitParameters:
    """time: datetime64[ns] of the time system `scale`. state (6,): m and m/s in `frame`. covariance (6, 6) of it: m^2,
    m^2/s, m^2/s^2, in the same frame. mass in kg, areas in m^2; None: not told.
    """

    time: Any
    state: Any
    name: str = "UNKNOWN"
    id: str = "UNKNOWN"
    center: str = "EARTH"
    frame: str = "GCRF"
    scale: str = "UTC"
    mass: float | None = None
    light_area: float | None = None
    light_coefficient: float | None = None
    drag_area: float | None = None
    drag_coefficient: float | None = None
    covariance: Any = None
    burns: tuple[Burn, ...] = ()

    def __post_init__(self) -> None:
        state = np.asarray(self.state, dtype=float)
        if state.shape != (6,) or not np.isfinite(state).all():
            raise ValueError(f"orbit parameters: the state has shape {state.shape}; expected six finite numbers.")
        object.__setattr__(self, "time", np.datetime64(self.time, "ns"))
        object.__setattr__(self, "state", state)
        object.__setattr__(self, "burns", tuple(self.burns))
        if self.covariance is not None:
            P = np.asarray(self.covariance, dtype=float)
            if P.shape != (6, 6) or not np.allclose(P, P.T, rtol=1e-12, atol=0.0):
                raise ValueError(f"orbit parameters: covariance has shape {P.shape}; expected a symmetric (6, 6).")
            object.__setattr__(self, "covariance", P)

    @property
    def ephemeris(self) -> Ephemeris:
        """Of this one state, such as `in_gcrf` takes."""
        about = {name: getattr(self, name) for name in KEYS.values()}
        return Ephemeris(np.array([self.time]), self.state[None], **about)


def write_opm(path: str | Path, parameters: OrbitParameters, *, originator: str = "GYROSTAT") -> None:
    """In km, each number with as many digits as tell it from its neighbours."""
    p = parameters
    lines = ["CCSDS_OPM_VERS = 2.0", f"CREATION_DATE = {p.time}", entry("ORIGINATOR", originator), ""]
    lines += [entry(key, getattr(p, name)) for key, name in KEYS.items()]
    lines += ["", f"EPOCH = {p.time}"]
    lines += [f"{key} = {scaled(x, -3)} [{_unit(k)}]" for k, (key, x) in enumerate(zip(STATE, p.state, strict=True))]
    told = {key: getattr(p, name) for key, (name, _) in CRAFT.items()}
    lines += [f"{key} = {scaled(x, 0)}{_bracket(CRAFT[key][1])}" for key, x in told.items() if x is not None]
    if p.covariance is not None:
        lines += [entry("COV_REF_FRAME", p.frame)]
        lines += [f"{key} = {scaled(p.covariance[at], -6)}" for key, at in COVARIANCE.items()]
    for burn in p.burns:
        values = [str(np.datetime64(burn.ignition, "ns")), scaled(burn.duration, 0), scaled(burn.mass_change, 0)]
        values += [burn.frame, *(scaled(x, -3) for x in burn.dv)]
        lines += [entry(key, value) for key, value in zip(BURN, values, strict=True)]
    save_text(path, "\n".join(lines) + "\n")


def read_opm(path: str | Path) -> OrbitParameters:
    """Kepler's elements, which say the state again, are left out; a covariance in another frame is refused."""
    head: dict[str, str] = {}
    found: dict[str, Any] = {}
    parts: dict[str, float] = {}
    burns: list[dict[str, Any]] = []
    for line in lines_of(path, "OPM"):
        if line.key in STATE:
            parts[line.key] = line.quantity(_unit(STATE.index(line.key)), 3)
        elif line.key == "EPOCH":
            head["EPOCH"], found["time"] = "", line.date()
        elif line.key in CRAFT:
            name, unit = CRAFT[line.key]
            found[name] = line.quantity(unit)
        elif line.key in COVARIANCE:
            P = found.setdefault("covariance", np.full((6, 6), np.nan))
            i, j = COVARIANCE[line.key]
            P[i, j] = P[j, i] = line.quantity(line.unit, 6)
        elif line.key in BURN:
            _burnt(burns, line)
        elif not line.key or line.key.startswith("MAN_"):
            raise line.error(f"'{(line.key or line.text)[:60]}' has no place in an OPM.")
        elif line.key not in ELEMENTS:
            head[line.key] = line.text
    required(head | parts, ("CCSDS_OPM_VERS", *KEYS, "EPOCH", *STATE), path, "OPM")
    if not np.isfinite(found.get("covariance", 0.0)).all():
        raise ValueError(f"{path}: some of the 21 elements of the covariance are missing.")
    if head.get("COV_REF_FRAME", head["REF_FRAME"]) != head["REF_FRAME"]:
        raise ValueError(f"{path}: the covariance is in {head['COV_REF_FRAME']}; expected {head['REF_FRAME']}.")
    about: dict[str, Any] = {name: head[key] for key, name in KEYS.items()}
    made = tuple(_burn(given, path) for given in burns)
    return OrbitParameters(state=np.array([parts[key] for key in STATE]), burns=made, **about, **found)


def _burnt(burns: list[dict[str, Any]], line: Line) -> None:
    """One more line about the last burn; each begins with its ignition."""
    if line.key == BURN[0]:
        burns.append({})
    if not burns:
        raise line.error(f"{line.key} stands before any MAN_EPOCH_IGNITION.")
    if line.key in ("MAN_EPOCH_IGNITION", "MAN_REF_FRAME"):
        burns[-1][line.key] = line.date() if line.key == BURN[0] else line.text
    else:
        unit, power = {"MAN_DURATION": ("s", 0), "MAN_DELTA_MASS": ("kg", 0)}.get(line.key, ("km/s", 3))
        burns[-1][line.key] = line.quantity(unit, power)


def _burn(given: dict[str, Any], path: str | Path) -> Burn:
    required(given, BURN, path, "whole manoeuvre")
    return Burn(given[BURN[0]], tuple(given[key] for key in BURN[4:]), *(given[key] for key in BURN[1:4]))


def _unit(k: int) -> str:
    """Of the k-th part of a state."""
    return "km" if k < 3 else "km/s"


def _bracket(unit: str) -> str:
    return f" [{unit}]" if unit else ""
