"""An outcome from a table of a file: what is kept, of which signal, with the signal's own arguments.

{outcome = "largest", of = "attitude_error", target = [1, 0, 0, 0]}
{outcome = "settling_time", of = "body_rate", below = 0.001}
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from typing import Any

from ..model import nearest
from . import outcome as kinds
from .outcome import Outcome
from .signals import SIGNALS

REDUCTIONS: dict[str, Callable[..., Outcome]] = {
    f.__name__: f
    for f in (
        kinds.last,
        kinds.largest,
        kinds.smallest,
        kinds.integral,
        kinds.mean,
        kinds.time_of,
        kinds.settling_time,
        kinds.time_in,
    )
}
SIGNAL_NAMES: dict[str, Callable[..., Any]] = {f.__name__: f for f in SIGNALS}


def outcome_from_table(table: Mapping[str, Any]) -> Outcome:
    """Raises a ValueError that says which key is wrong, and what was expected."""
    rest = dict(table)
    reduction = _chosen(rest.pop("outcome", None), REDUCTIONS, "outcome")
    signal = _chosen(rest.pop("of", None), SIGNAL_NAMES, "of")
    name = rest.pop("name", "")
    own = list(inspect.signature(signal).parameters)
    further = [p for p in inspect.signature(reduction).parameters if p not in ("signal", "name")]
    for key in rest:
        if key not in own and key not in further:
            known = [*own, *further, "name"]
            raise ValueError(
                f"outcome '{reduction.__name__}' of '{signal.__name__}' has no key '{key}'. {nearest(key, known)}"
            )
    for function, keys in ((signal, own), (reduction, further)):
        for key in keys:
            if key not in rest and inspect.signature(function).parameters[key].default is inspect.Parameter.empty:
                raise ValueError(f"outcome '{reduction.__name__}' of '{signal.__name__}' needs the key '{key}'.")
    given, how = ({key: rest[key] for key in keys if key in rest} for keys in (own, further))
    demand_kinds(signal, given)
    demand_kinds(reduction, how)
    return reduction(signal(**given), name=name, **how)


def demand_kinds(function: Callable[..., Any], given: Mapping[str, Any]) -> None:
    """Arguments from a file are numbers and names where the function says so; what may be anything it asks itself."""
    for key, value in given.items():
        kind = str(inspect.signature(function).parameters[key].annotation).removesuffix(" | None")
        number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        right = {"float": number, "int": number and value == int(value), "str": isinstance(value, str)}
        if not right.get(kind, True):
            words = {"float": "a finite number, in SI", "int": "a whole number", "str": "a name"}[kind]
            raise ValueError(f"{key} of '{function.__name__}' is {value!r:.60}; expected {words}.")


def _chosen(given: Any, known: Mapping[str, Any], key: str) -> Any:
    if given not in known:
        found = "is missing" if given is None else f"is {given!r}"
        raise ValueError(f"{key} {found}; expected one of {', '.join(known)}. {nearest(str(given), list(known))}")
    return known[given]
