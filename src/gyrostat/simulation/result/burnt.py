"""Functions of a craft as it was at each saved time, where it burnt propellant."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...algebra import Array
from ...control import Propellant, Tank

if TYPE_CHECKING:
    from .trajectory import Trajectory

BURNT = "propellant"  # attribute of the data of such runs: their tanks


def burnt(trajectory: Trajectory) -> Propellant | None:
    """What says how light the craft was. Raises where an older file does not know."""
    told = trajectory.data.attrs.get(BURNT)
    if not told:
        return None
    if trajectory.equations is not None and trajectory.equations.propellant is not None:
        return trajectory.equations.propellant
    tanks = told if isinstance(told, list) else None
    if tanks is None:
        raise ValueError(
            "this run burnt propellant, and its file, of an older version, does not hold how: momentum, energy and "
            "centre of mass are not known. Ask the run that was saved, or make it anew."
        )
    return Propellant(tuple(Tank(**tank) for tank in tanks))


def told_of(propellant: Propellant) -> list[dict[str, Any]]:
    """Its tanks, as attributes of the data hold them."""
    return [
        {
            "body": tank.body,
            "mass": float(tank.mass),
            "position": [float(x) for x in tank.position],
            "gyration": [float(x) for x in tank.gyration],
            "thrusters": None if tank.thrusters is None else list(tank.thrusters),
        }
        for tank in propellant.tanks
    ]


def memory_at(trajectory: Trajectory, *, at_end: bool) -> Array:
    """The law's memory at saved times, ([runs,] times, n), or where each run ended, ([runs,] n)."""
    if not at_end:
        return np.asarray(trajectory.data["z"].values)
    if trajectory.equations is None:  # of a file
        z = np.asarray(trajectory.data["z"].values)
        last = np.isfinite(z).all(axis=-1).sum(axis=-1) - 1
        return np.take_along_axis(z, np.maximum(last, 0)[..., None, None], axis=-2)[..., 0, :]
    rows = trajectory.equations.layout.part(np.hstack([trajectory.state.y, trajectory.state.held])[:, None], "z")[:, 0]
    return rows if trajectory.batched else rows[0]


def without_what_burnt(
    function: Callable[..., Any], propellant: Propellant, count: int, static: Sequence[str]
) -> Callable[..., Any]:
    """`function(craft, ..., **static)`, of `count` arguments, of the craft that is left; the memory z is one more."""

    def now(craft: Any, *given: Any, **more: Any) -> Any:
        values = inspect.signature(now).bind(craft, *given, **more).arguments
        own = {name: value for name, value in values.items() if name not in ("craft", "z")}
        return function(propellant.left(craft, values["z"]), **own)

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    names = ("craft", *list(inspect.signature(function).parameters)[1 : 1 + count], "z", *static)
    now.__signature__ = inspect.Signature([inspect.Parameter(name, kind) for name in names])  # type: ignore[attr-defined]
    return now
