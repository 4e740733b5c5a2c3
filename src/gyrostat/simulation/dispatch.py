"""`gs.simulate`: one name for spacecraft and formations, given first or by keyword."""

from __future__ import annotations

from functools import singledispatch, wraps
from typing import TYPE_CHECKING, Any, overload

from ..model import Spacecraft
from .simulate_craft import simulate as simulate_craft

if TYPE_CHECKING:
    from ..formation import Formation, FormationTrajectory
    from .result.trajectory import Trajectory

KEYWORDS = ("craft", "formation")


@singledispatch  # formations register theirs
def of_kind(system: Any, *rest: Any, **options: Any) -> Any:
    """The simulation that suits what is simulated."""
    raise TypeError(
        f"cannot simulate {system!r:.80}; expected a Spacecraft or a Formation. Load one with gs.load(...), or build "
        "gs.Formation(...)."
    )


of_kind.register(Spacecraft, simulate_craft)


@overload
def simulate(craft: Spacecraft, *rest: Any, **options: Any) -> Trajectory: ...
@overload
def simulate(formation: Formation, *rest: Any, **options: Any) -> FormationTrajectory: ...
@wraps(simulate_craft)
def simulate(*given: Any, **options: Any) -> Any:
    named = [name for name in KEYWORDS if name in options]
    if len(named) + bool(given) != 1:
        found = ["the first argument"] * bool(given) + [f"{name}=" for name in named]
        raise TypeError(
            f"simulate got {' and '.join(found) or 'nothing to simulate'}; expected one spacecraft or formation: as "
            "the first argument, as craft= or as formation=."
        )
    system, *rest = given or (options.pop(named[0]),)
    return of_kind(system, *rest, **options)
