"""The settings of a run: given, or those of the run that is continued, or the defaults.

Numbers and names that a file can hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from ...algebra.reals import reals
from ...constraints import USUAL, Stabilisation
from ...control.passive import Actuators, Stops
from ...model import nearest
from ...tracing.random import seed_number
from ..integrators.methods import METHODS
from .varied import names_given

PRECISIONS = ("double", "single")
FIXED_STEP = tuple(n for n, method in METHODS.items() if not method.chooses_steps)  # they cannot choose their steps


@dataclass(frozen=True)
class Settings:
    """See `simulate`. Those left out are None until `complete`."""

    formulation: str | None = None
    integrator: str | None = None
    rtol: Any = None
    atol: Any = None
    step: float | None = None
    max_step: float | None = None
    breakpoints: Any = None
    locked: Sequence[str] | None = None
    actuators: Actuators | None = None
    stops: Stops | None = None
    conserve: str | None = None
    mode: str | None = None
    seed: Any = None
    stabilisation: Stabilisation | None = None
    sensitivities: Any = None
    precision: str | None = None

    def complete(self, earlier: Mapping[str, Any] | None) -> Settings:
        """What was left out, from the attributes of the run that is continued or from the defaults; checked."""
        earlier = dict(earlier or {})
        for name, kind in (("actuators", Actuators), ("stops", Stops)):
            if isinstance(earlier.get(name), Mapping):
                earlier[name] = kind(**earlier[name])
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        if self.integrator is not None and self.step is None:
            earlier.pop("step", None)  # another integrator's
        for name, default in DEFAULTS.items():
            if values[name] is None:
                values[name] = earlier[name] if earlier.get(name) is not None else default
        values["breakpoints"] = _times(values["breakpoints"])
        values["sensitivities"] = names_given(values["sensitivities"])
        values["seed"] = seed_number(values["seed"])
        values["stabilisation"] = _stabilisation(values["stabilisation"])
        values["locked"] = [values["locked"]] if isinstance(values["locked"], str) else list(values["locked"])
        settings = Settings(**values)
        settings.check()
        return settings

    def check(self) -> None:
        choice(self.integrator, METHODS, "integrator")
        if self.step is None and self.integrator in FIXED_STEP:
            raise ValueError(
                f"integrator '{self.integrator}' takes fixed steps: give step= in seconds, or choose 'dop853' or "
                "'rk45'."
            )
        for name, value in (("step", self.step), ("max_step", self.max_step)):
            a_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
            if value is not None and not (a_number and 0 < value < np.inf):
                raise ValueError(f"{name} is {value!r:.80}; expected a positive number of seconds.")
        if self.conserve is not None:
            choice(self.conserve, ("momentum",), "conserve")
        choice(self.precision, PRECISIONS, "precision")

    def attributes(self) -> dict[str, Any]:
        """As the Dataset and a file hold them."""
        return {
            name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in asdict(self).items()
        }


# What a run has unless it is told otherwise; files and formations ask for it here
DEFAULTS: dict[str, Any] = {
    "formulation": "recursive",
    "integrator": "dop853",
    "rtol": 1e-10,
    "atol": 1e-12,
    "step": None,
    "max_step": None,
    "breakpoints": (),
    "locked": (),
    "actuators": None,
    "stops": None,
    "conserve": None,
    "mode": None,
    "seed": 0,
    "stabilisation": USUAL,
    "sensitivities": (),
    "precision": "double",
}


def ends_at_saves(settings: Settings) -> bool:
    """True if the integrator has no dense output: its steps end where a row is saved."""
    return not METHODS[str(settings.integrator)].saves_within


def choice(name: Any, known: Any, what: str) -> None:
    if name not in known:
        raise ValueError(f"{what} '{name}' is not known. {nearest(str(name), known)}")


def _stabilisation(given: Any) -> Stabilisation:
    try:
        found = Stabilisation(*(float(x) for x in given))
    except TypeError:
        raise TypeError(
            f"stabilisation is {given!r}; expected gs.constraints.Stabilisation(frequency, damping)."
        ) from None
    if not all(0.0 <= x < float("inf") for x in found):
        raise ValueError(
            f"stabilisation is {given!r}; expected a frequency in rad/s and a damping ratio, zero or more."
        )
    return found


def _times(breakpoints: Any) -> list[float]:
    times = np.atleast_1d(reals(breakpoints, "breakpoints")).ravel()
    if not np.isfinite(times).all():
        raise ValueError(f"breakpoints are {breakpoints!r}; expected times in seconds.")
    return [float(t) for t in times]
