"""What each spacecraft of a scenario in phases does: its tables as options of a run or of a phase."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ...algebra import Array
from ...control import on
from ...io.toml.source import Source
from ...model import Spacecraft
from ...model.assembly import transfer_state
from ..parts.acting import Acting, Acts, Moved, Own, check_mode, own_options
from ..parts.environment import EnvironmentTable, environment_of
from ..parts.motors import driven_by_motors, motor_options

SHARED = ("actuators", "stops")  # tables that all spacecraft have together


@dataclass(frozen=True, eq=False)
class Doing:
    """What a craft does: its tables, where they stand; `begins`: their times count from the phase's start."""

    source: Source
    table: Acts
    begins: bool = False


@dataclass(frozen=True, eq=False)
class Course:
    """A file's craft, how it starts, and what stands at the top of the file for all phases.

    acts: by the name of the spacecraft, its tables and where they stand. lead: whose tables are at the top.
    """

    source: Source
    craft: Spacecraft
    lead: str
    q0: Array
    v0: Array
    total: float
    table: Acting
    acts: Mapping[str, tuple[Source, Acts]]

    @cached_property
    def always(self) -> dict[str, Doing]:
        return {name: Doing(source, table) for name, (source, table) in self.acts.items()}

    def common(self) -> dict[str, Any]:
        """Options of all phases; those that the file leaves out are not there."""
        options = self.surroundings(self.source, self.table, self.table.environment)
        options |= self.motions(self.always, self.table, self.source, self.craft, self.q0, self.v0, (0.0, self.total))
        if self.table.mode is not None:
            options["mode"] = self.table.mode
            moved = [*options.get("locked", ()), *options.get("prescribed", ())]
            check_mode(self.source, self.craft, self.table.mode, moved, Own({}))
        return options

    def surroundings(self, source: Source, table: Moved, environment: EnvironmentTable) -> dict[str, Any]:
        """What is known before: motors, stops, the environment."""
        options = motor_options(source, table)
        outer = environment_of(source, environment, at=(self.craft, self.q0))
        return options if outer is None else {**options, "environment": outer}

    def motions(
        self,
        doing: Mapping[str, Doing],
        motors: Moved,
        source: Source,
        craft: Spacecraft,
        q: Array,
        v: Array,
        span: tuple[float, float],
        environment: EnvironmentTable | None = None,
    ) -> dict[str, Any]:
        """The laws of all, as one, from q and v on. craft: as it is then; what is attached does not act by itself."""
        outer = self.table.environment if environment is None else environment
        own = transfer_state(self.craft, self.q0, self.v0, craft)
        laws: dict[str, Any] = {}
        options: dict[str, Any] = {}
        for name, one in doing.items():
            if name not in [member.name for member in craft.members or (craft.member(name),)]:
                continue
            member = craft.member(name)
            felt = environment_of(source, outer, member)
            now, begin = ((q, v), span[0]) if one.begins else (own, 0.0)
            start = (member.q(now[0]), member.v(now[1]), (begin, span[1]))
            made = own_options(one.source, member.craft, one.table, *start, felt, outer).options
            if "control" in made:
                laws[name] = made["control"]
            for key in ("locked", "breakpoints"):
                found = made.get(key, [])
                found = found if key == "breakpoints" else [member.here(joint, "joint") for joint in found]
                options[key] = [*options.get(key, []), *found]
            followed = {member.here(joint, "joint"): f for joint, f in made.get("prescribed", {}).items()}
            options["prescribed"] = {**options.get("prescribed", {}), **followed}
        if laws:
            try:
                options["control"] = on(laws)
            except ValueError as error:
                source.error("law", ("control",), str(error))
            options |= driven_by_motors(source, craft, motors, options)
        options["breakpoints"] = sorted(set(options.get("breakpoints", ())))
        return {name: x for name, x in options.items() if name == "breakpoints" or x}
