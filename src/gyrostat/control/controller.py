"""Controllers with memory, and how functions of a run receive what they ask for."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra import Array
from ..algebra.frozen import frozen
from ..algebra.reals import reals

if TYPE_CHECKING:
    from .propellant import Propellant

STATE = ("craft", "t", "q", "v")  # what a control law is given by place


@dataclass(frozen=True, eq=False)
class Controller:
    """A control law with memory z.

    Continuous: `tau = output(craft, t, q, v, z)`, `zdot = derivative(craft, t, q, v, z)`; z joins the ODE (adaptive
    laws, integral terms).

    Sampled: at t0, t0 + period, ... `tau = output(craft, t, q, v, z)` is computed and held, then `z = update(craft, t,
    q, v, z)`. Without `update` the law has no memory beyond what it holds.

    propellant: what of the craft's mass its memory says; set by `gyrostat.control.burning`.
    tells: (craft, q, v, z) of runs at their ends -> chi-squared numbers (`estimator.Judged`) that the report shows.
    pushes: in its loads on joints something from outside is counted (thrust on an arm), which no motor makes.

    Functions may also ask, by argument name, for `run` (number of the run in its batch), `sample` (number of the
    sample), `seed`, and for any of the run's `inputs`: noise is then a function of its place, the same in any batch.
    """

    output: Callable[..., Any]
    state0: Any = ()
    derivative: Callable[..., Any] | None = None
    update: Callable[..., Any] | None = None
    period: float | None = None
    propellant: Propellant | None = None
    pushes: bool = False
    tells: Callable[..., Any] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "state0", np.atleast_1d(reals(self.state0, "a Controller's state0")))
        if self.derivative is not None and (self.update is not None or self.period is not None):
            raise ValueError("a Controller is either continuous (derivative=) or sampled (period=, update=), not both.")
        if self.update is not None and self.period is None:
            raise ValueError("a Controller with update= is sampled: give its period= in seconds.")
        if self.period is not None and not reals(self.period, "a Controller's period") > 0:
            raise ValueError(f"a Controller's period is {self.period} s; expected a positive number.")
        if self.derivative is None and self.period is None and self.state0.size:
            raise ValueError(
                "a Controller with state0 needs derivative= (continuous) or update= and period= (sampled)."
            )

    @property
    def remembers(self) -> bool:
        """Its functions are given a memory z (which may be empty)."""
        return bool(self.state0.size) or self.derivative is not None or self.update is not None

    @property
    def given(self) -> tuple[str, ...]:
        """What its functions are given by place."""
        return (*STATE, "z") if self.remembers else STATE

    @property
    def sampled(self) -> bool:
        return self.period is not None


def call(function: Callable[..., Any], positional: tuple[Any, ...], available: Mapping[str, Any]) -> Any:
    """`function(*positional)`, plus what it asks for by name out of `available`; arrays are its own and cannot be
    written to.

    Raises a TypeError that says what a function of a run may ask for.
    """
    parameters = list(inspect.signature(function).parameters.values())
    by_place = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    title = getattr(function, "__name__", "the function")
    if len(by_place) < len(positional) and not any(p.kind is p.VAR_POSITIONAL for p in parameters):
        raise TypeError(
            f"{title} takes {len(by_place)} arguments ({', '.join(p.name for p in by_place)}); it is given "
            f"{len(positional)}: craft, t, q, v{', z (the memory)' if len(positional) > 4 else ''}."
        )
    extra = {}
    for p in [*by_place[len(positional) :], *(p for p in parameters if p.kind is p.KEYWORD_ONLY)]:
        if p.name in available:
            extra[p.name] = available[p.name]
        elif p.default is p.empty:
            known = ", ".join(sorted(available)) or "nothing"
            raise TypeError(
                f"{title} asks for '{p.name}', which this run does not have. It may ask for: {known}. "
                f"Give other values as inputs={{'{p.name}': ...}}."
            )
    return function(*map(frozen, positional), **{name: frozen(value) for name, value in extra.items()})


def signature_of(names: tuple[str, ...], *functions: tuple[Callable[..., Any], int]) -> inspect.Signature:
    """Of a function that is given `names` by place and stands for others: it asks by name for all that they ask for.

    functions: each with how many arguments it is given by place. Required is what one of them requires.
    """
    asked: dict[str, inspect.Parameter] = {}
    for function, count in functions:
        parameters = list(inspect.signature(function).parameters.values())
        by_place = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        for p in [*by_place[count:], *(p for p in parameters if p.kind is p.KEYWORD_ONLY)]:
            known = asked.get(p.name)
            if p.name not in names and (known is None or known.default is not known.empty):
                asked[p.name] = p.replace(kind=p.KEYWORD_ONLY)
    first = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names]
    return inspect.Signature([*first, *asked.values()])


def standing_for(wrapper: Any, names: tuple[str, ...], *functions: tuple[Callable[..., Any], int]) -> Any:
    """`wrapper` with the signature of `signature_of`, and the name of the first."""
    wrapper.__name__ = getattr(functions[0][0], "__name__", wrapper.__name__)
    wrapper.__signature__ = signature_of(names, *functions)
    return wrapper


def joint_torques(craft: Any, torques: Mapping[str, Any]) -> Array:
    """tau (nv,) from torques or forces by joint name; zero elsewhere."""
    return craft.v(torques, "tau")
