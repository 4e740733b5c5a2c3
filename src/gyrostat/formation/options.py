"""Which options of `gs.simulate` a formation takes, and what to do in place of those it does not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

from ..model import nearest
from ..simulation.problem.settings import Settings

# of members that see nobody: those on one clock have no such option
ALONE = {
    "events": "Look for the time in the result, or let the members see nobody.",
    "prescribed": "Hold joints with locked=, or let the control law move them.",
    "constraints": "Join the members by gs.together and simulate them as one spacecraft.",
    "stabilisation": "It belongs to constraints=.",
    "conserve": "Use a tighter rtol.",
    "mode": "Leave it out, and let the law act on the joints alone.",
}
ELSEWHERE = {
    "q0": "Give state={group: (q, v)}.",
    "v0": "Give state={group: (q, v)}.",
    "parameters": "They belong to a group: gs.Group(craft, names, parameters={...}).",
    "runs": "The members are the runs, numbered in the order of the groups.",
    "resume": "Go on from the end of a run: gs.simulate(formation, run.final, (t, ...)).",
}
SETTINGS = tuple(field.name for field in fields(Settings))


def check_options(given: Iterable[str]) -> None:
    """Raises a TypeError at the first option that no formation has."""
    known = [*SETTINGS, *ALONE, "threads"]
    for name in given:
        if name in ELSEWHERE:
            raise TypeError(f"{name}= is no option of a formation. {ELSEWHERE[name]}")
        if name not in known:
            raise TypeError(f"simulate has no option '{name}'. {nearest(name, known)}")


def together_settings(given: Mapping[str, Any]) -> Settings:
    """The settings of members that see each other."""
    for name, instead in ALONE.items():
        if given.get(name) is not None:
            raise ValueError(f"{name}= is not available for members that see each other. {instead}")
    return Settings(**{name: value for name, value in given.items() if name in SETTINGS}).complete(None)
