"""[run]: how long, and how it is integrated.

What a file leaves out is the simulation's own default, which stands there alone.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from ...formulations.registry import FORMULATIONS
from ...io.toml.source import Source
from ...io.toml.tables import OneOf, Positive, Table
from ...io.toml.units import Time
from ...simulation.integrators.methods import METHODS
from ...simulation.problem.request import MAX_STEPS
from ...simulation.problem.settings import DEFAULTS, FIXED_STEP, PRECISIONS


def _or(name: str, meaning: str) -> str:
    return f"{meaning}; {DEFAULTS[name]} by default."


MOST_STATES = 2_000_000  # that a file may ask for
Integrator = Annotated[str, OneOf(METHODS)]
Formulation = Annotated[str, OneOf(FORMULATIONS)]


class Integration(Table):
    """How it is integrated, and what is kept."""

    save_every: Time | None = Field(
        default=None, description="Time between saved states; a four-hundredth of the run by default."
    )
    integrator: Integrator | None = Field(default=None, description=_or("integrator", "How it is integrated"))
    rtol: Positive | None = Field(
        default=None, description=_or("rtol", "Relative tolerance, where steps are chosen by it")
    )
    atol: Positive | None = Field(default=None, description=_or("atol", "Absolute tolerance, in SI"))
    step: Time | None = Field(default=None, description="Fixed step; needed by rk4 and gauss6.")
    max_step: Time | None = None
    max_steps: Annotated[int, Field(gt=0)] | None = Field(
        default=None, description=f"Attempted steps after which a run is interrupted; {MAX_STEPS} by default."
    )
    formulation: Formulation | None = Field(default=None, description=_or("formulation", "Which equations of motion"))
    precision: Annotated[str, OneOf(PRECISIONS)] | None = Field(
        default=None, description=_or("precision", "Single: accelerations to seven digits, with fixed steps")
    )
    conserve: Literal["momentum"] | None = Field(
        default=None, description="Hold the momentum to round-off where nothing acts from outside."
    )
    seed: Annotated[int, Field(ge=0)] | None = Field(default=None, description=_or("seed", "Of random numbers"))

    @model_validator(mode="after")
    def _lengths(self) -> Self:
        for name in ("duration", "save_every", "step", "max_step"):
            value = getattr(self, name, None)
            if value is not None and not value > 0:
                raise ValueError(f"{name} is {value:g} s; expected more than zero")
        if self.integrator in FIXED_STEP and self.step is None:
            raise ValueError(f'integrator "{self.integrator}" takes fixed steps: add step = "0.01 s"')
        return self

    def options(self, source: Source, duration: float) -> dict[str, Any]:
        """What it says, as options of `gs.simulate`. What is wrong goes to the source's report."""
        names = (
            *("integrator", "rtol", "atol", "step", "max_step", "max_steps"),
            *("formulation", "precision", "conserve", "seed"),
        )
        given = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        if self.save_every is not None and duration / self.save_every > MOST_STATES:
            found = f"save_every asks for {duration / self.save_every:.2g} states; {MOST_STATES} are the most."
            source.error("too-many-states", ("run",), found, "Save less often.", "save_every")
        elif self.save_every is not None:
            times = np.arange(0.0, duration, self.save_every)
            given["save_at"] = np.append(times[times < duration * (1 - 1e-12)], duration)
        return given


class Run(Integration):
    """How long, and how it is integrated."""

    duration: Time = Field(description='How long, such as "2 min".')
