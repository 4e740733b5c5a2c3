"""What a phase is, and what cannot follow what."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from ..algebra import Array
from ..algebra.reals import seconds
from ..constraints import AbstractConstraint, Stabilisation
from ..constraints.consistency import restitutions
from ..constraints.kinds import given_constraints
from ..model import Spacecraft, nearest
from .one_tree import OneTree
from .problem.events import When, event_name
from .simulate_craft import simulate

# options of `simulate`, by its own signature: each is handed on to every phase, or is said here to be somewhere else
OPTIONS = [p.name for p in inspect.signature(simulate).parameters.values() if p.kind is p.KEYWORD_ONLY]
ELSEWHERE = {
    "t_span": "The phases say how long they last; t0= is when the first starts.",
    "q0": "It is the second argument of simulate_phases.",
    "v0": "It is the third argument of simulate_phases.",
    "sensitivities": "Derivatives are not carried over from phase to phase: give them to gs.simulate, with effects of "
    "events.",
}
OF_THE_PHASE = {
    "control": "Give Phase(control=...).",
    "environment": "Give Phase(environment=...).",
    "constraints": "Give Phase(constraints=...).",
    "stabilisation": "Give Phase(stabilisation=...).",
    "resume": "Give simulate_phases(resume=...).",
    **dict.fromkeys(("parameters", "inputs", "runs"), "They belong to the whole run: give them to simulate_phases."),
}
OF_THE_RUN = ("parameters", "inputs", "runs")  # a run that goes on has them


class Common(Enum):
    """In place of a phase's own."""

    COMMON = "as for all phases"

    def __repr__(self) -> str:
        return self.value


COMMON = Common.COMMON


@dataclass(frozen=True, eq=False)
class Phase:
    """What holds and acts from the end of the phase before until `duration` has passed or the event `until` happens.

    control, environment, stabilisation: of this phase, in place of those for all; None is none at all.
    constraints: hold from the start, in this phase. grasp: constraints that begin here, about the relative pose that
    their frames have then; they stay on in later phases until one of them says release=(name or title, ...).
    attach: names of welds, grasped here or before, whose craft are one tree from here on until they are released: no
    constraint holds them, and laws of the craft that carries see all of it as their own.
    restitution: of the grasp; above zero, it bounces off and does not hold. options: of `simulate`, in place of those
    for all; where there is an event, max_step is a five-hundredth of the duration unless given. made(craft, t, q, v):
    options, control and environment too, made when the phase begins, of the craft as it then is, its time and state.

    A law with memory that acts in the phase before, too (the same object), goes on with its memory and its samples;
    another starts with its own. Loads of motors that lag go on.
    """

    duration: float
    name: str = ""
    constraints: Sequence[AbstractConstraint] = ()
    grasp: Sequence[AbstractConstraint] = ()
    release: Sequence[str] = ()
    until: Callable[..., Any] | When | None = None
    control: Any = COMMON
    environment: Any = COMMON
    restitution: float = 0.0
    stabilisation: Stabilisation | Common = COMMON
    options: Mapping[str, Any] = field(default_factory=dict)
    attach: Sequence[str] = ()
    made: Callable[[Spacecraft, float, Array, Array], Mapping[str, Any]] | None = None

    def __post_init__(self) -> None:
        if seconds(self.duration, f"phase '{self.name}': duration") <= 0.0:
            raise ValueError(f"phase '{self.name}' has a duration of {self.duration} s; expected a positive number.")
        for what in ("constraints", "grasp"):
            given_constraints(getattr(self, what), f"phase '{self.name}': {what}")
        for what in ("release", "attach"):
            if isinstance(given := getattr(self, what), str):
                raise TypeError(f"phase '{self.name}': {what} is '{given}'; expected a list, ['{given}'].")
        restitutions(self.restitution, len(self.grasp))
        if self.restitution and not self.grasp:
            raise ValueError(f"phase '{self.name}': restitution= belongs to grasp=, and nothing is grasped.")
        if self.restitution and self.attach:
            raise ValueError(f"phase '{self.name}': what is attached does not bounce off; leave restitution= out.")
        for name in self.options:
            if name in OF_THE_PHASE or name in ELSEWHERE:
                where = OF_THE_PHASE.get(name) or ELSEWHERE[name]
                raise TypeError(f"phase '{self.name}': {name}= is no option of a phase. {where}")
        known(self.options, f"phase '{self.name}'")

    @property
    def event(self) -> When | None:
        """What the phase waits for."""
        if self.until is None:
            return None
        given = self.until if isinstance(self.until, When) else When(self.until, self.name)
        return replace(given, name=event_name(given, "until"), terminal=True)

    @property
    def until_name(self) -> str | None:
        return None if self.event is None else self.event.name


def known(options: Mapping[str, Any], who: str) -> None:
    for name in options:
        if name in ELSEWHERE:
            raise TypeError(f"{name}= is no option of {who}. {ELSEWHERE[name]}")
        if name not in OPTIONS:
            raise TypeError(f"{who}: simulate has no option '{name}'. {nearest(name, OPTIONS)}")


def listed(phases: Any) -> Sequence[Phase]:
    found = list(phases) if isinstance(phases, Iterable) else [phases]
    if not found or isinstance(phases, Phase) or not all(isinstance(phase, Phase) for phase in found):
        raise TypeError(f"phases is {phases!r:.80}; expected a list, [gs.Phase(duration, name), ...], of one or more.")
    return found


def released(grasps: Sequence[AbstractConstraint], phase: Phase) -> tuple[AbstractConstraint, ...]:
    _demand_held(phase, "releases", phase.release, grasps)
    return tuple(c for c in grasps if c.title not in phase.release)


def attached(holds: Sequence[AbstractConstraint], phase: Phase, before: Sequence[str]) -> tuple[str, ...]:
    """Titles of the grasps that are one tree in this phase."""
    _demand_held(phase, "attaches", phase.attach, holds, " Grasp it here or before: grasp=[gs.constraints.weld(...)].")
    names = {c.title for c in holds}
    return tuple(dict.fromkeys(name for name in (*before, *phase.attach) if name in names))


def _demand_held(
    phase: Phase, does: str, wanted: Sequence[str], holds: Sequence[AbstractConstraint], hint: str = ""
) -> None:
    names = {c.title for c in holds}
    for name in wanted:
        if name not in names:
            held = ", ".join(sorted(names)) or "nothing"
            raise ValueError(f"phase '{phase.name}' {does} '{name}', which does not hold; what holds: {held}.{hint}")


def demand_order(craft: Spacecraft, own: Mapping[str, Array], q: Array, phases: Sequence[Phase]) -> None:
    """Raises a ValueError for frames, releases and attachments that cannot be, before the first step and not when a
    phase comes to them. own: values of the craft that the run has in place of its.
    """
    holds: tuple[AbstractConstraint, ...] = ()
    tree: tuple[str, ...] = ()
    for phase in phases:
        for name in (name for c in (*phase.constraints, *phase.grasp) for name in (c.first, c.second) if name != "N"):
            craft.locate(name)
        kept = released(holds, phase)
        holds = kept if phase.restitution else (*kept, *phase.grasp)  # what bounces off does not hold
        before, tree = tree, attached(holds, phase, tree)
        if tree and tree != before:
            OneTree.of(craft, own, q, [c for c in holds if c.title in tree])
