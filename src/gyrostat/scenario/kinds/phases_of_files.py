"""[[phase]] tables as phases of a run: what begins and ends in each, and what acts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ... import constraints as gc
from ...algebra import Array
from ...io.toml.source import Source
from ...model import Role, Spacecraft, nearest
from ...simulation.phase import Phase
from ...simulation.problem.events import When
from ..parts.acting import Acts, Moved
from ..parts.environment import EnvironmentTable
from ..parts.events import event_of, events_of
from ..parts.motors import driven_by_motors
from .phase_motions import SHARED, Course, Doing
from .phased_tables import MOVES, GraspTable, PhaseTable

KINDS: Mapping[str, Callable[..., gc.AbstractConstraint]] = {
    "weld": gc.weld,
    "point": gc.point,
    "revolute": gc.revolute,
}


@dataclass(frozen=True)
class Held:
    """By name: what is held, and which of them are one tree."""

    grasps: Mapping[str, GraspTable]
    attached: tuple[str, ...] = ()


def phases_of(course: Course, tables: Sequence[PhaseTable], always: Sequence[When]) -> tuple[Phase, ...]:
    """always: events of all phases. What is wrong goes to the source's report."""
    held, found, driven = Held({}), [], False
    for k, table in enumerate(tables):
        source = course.source.inside("phase", k)
        held = _held(source, course.craft, table, held)
        doing = _doing(course, source, table)
        driven_here = any(one.table.law is not None or one.table.torque for one in doing.values())
        if not driven_here:  # motors would be idle
            driven_by_motors(source, course.craft, table, {})
        driven = driven or driven_here
        found.append(_phase(course, source, table, held, doing, always))
    if not driven:
        driven_by_motors(course.source, course.craft, course.table, {})
    course.source.report.raise_errors()
    return tuple(found)


def _held(source: Source, craft: Spacecraft, table: PhaseTable, before: Held) -> Held:
    """What is held in the phase; its frames and names are looked at."""
    for j, grasp in enumerate(table.grasp):
        for name in grasp.frames:
            _known_frame(source, craft, name, "grasp", j)
    for name in table.release:
        if name not in before.grasps:
            known = (
                f"What is held by then: {', '.join(sorted(before.grasps))}." if before.grasps else "Nothing is held."
            )
            source.error("not-held", (), f"releases '{name}', which is not held.", known, "release")
    grasps = {name: grasp for name, grasp in before.grasps.items() if name not in table.release}
    if not table.restitution:
        grasps |= {grasp.name: grasp for grasp in table.grasp}
    elif not table.grasp:
        message = "'restitution' is that of a grasp, and nothing is grasped."
        source.error("no-grasp", (), message, "Leave it out, or add [[phase.grasp]].", "restitution")
    wanted = list(table.attach) or (_welds(grasps, table) if table.kind == "attach" else [])
    if table.kind == "attach" and not wanted:
        source.error("not-held", (), "attaches nothing: no weld is held.", 'Add [[phase.grasp]] with kind = "weld".')
    for name in wanted:
        if name not in grasps or grasps[name].kind != "weld":
            found = f"attaches '{name}', which is {'no weld' if name in grasps else 'not held'}."
            source.error("not-held", (), found, nearest(name, grasps) if name not in grasps else "", "attach")
        elif name not in before.attached:
            _floats(source, craft, grasps[name])
    attached = tuple(dict.fromkeys(name for name in (*before.attached, *wanted) if name in grasps))
    return Held(grasps, attached)


def _welds(grasps: Mapping[str, GraspTable], table: PhaseTable) -> list[str]:
    """Those that begin here; all that are held where none does."""
    begun, held = ([one.name for one in some if one.kind == "weld"] for some in (table.grasp, grasps.values()))
    return begun or held


def _known_frame(source: Source, craft: Spacecraft, name: str, key: str, j: int) -> None:
    try:
        craft.locate(name)
    except ValueError as error:
        source.error("no-such-frame", (key, j), str(error), "", "frames")


def _floats(source: Source, craft: Spacecraft, grasp: GraspTable) -> None:
    """One of the two that become one tree must give up its base."""
    for name in grasp.frames:
        try:
            body = craft.locate(name)[0]
        except ValueError:
            return  # said already
        if any(root.name == body and root.joint.motion.unbound for root in craft.roots):
            return
    found = f"attaches '{grasp.name}', neither of whose frames is on a base that floats."
    hint = "Hold it by the grasp alone, without attach: a constraint holds bodies of any kind."
    source.error("not-attachable", (), found, hint, "kind")


def _phase(
    course: Course,
    source: Source,
    table: PhaseTable,
    held: Held,
    doing: Mapping[str, Doing],
    always: Sequence[When],
) -> Phase:
    motors, environment, own = _surroundings(course.table, table)
    if "orbit" in own:
        found = "the orbit is that of the whole run: the origin of the inertial axes follows it."
        source.error("orbit", ("environment",), found, "Write it at the top of the file.", "orbit")
    options: dict[str, Any] = {}
    if own or motors is not course.table:
        options = {"actuators": None, "stops": None} | course.surroundings(source, motors, environment)
    outer = options.pop("environment", None)
    now = (course.q0, course.v0, (0.0, table.duration))  # as if it began at once: what is wrong is said before the run
    options |= {"locked": None, "prescribed": None}
    options |= course.motions(doing, motors, source, course.craft, *now, environment)
    for name in ("control", "breakpoints"):
        options.pop(name, None)
    events = events_of(source, course.craft, table.event, course.q0, course.v0)
    _refuse_names(source, always, events)
    if events:
        options["events"] = [*always, *events]
    made = None
    if held.attached or own or doing != course.always or motors is not course.table:

        def made(craft: Spacecraft, t: float, q: Array, v: Array) -> dict[str, Any]:
            span = (t, t + table.duration)
            found = course.motions(doing, motors, source, craft, q, v, span, environment)
            source.report.raise_errors()
            return {"control": None, "prescribed": None, **found}

    return Phase(
        table.duration,
        table.name,
        grasp=[_grasp(grasp) for grasp in table.grasp],
        attach=() if table.restitution else held.attached,
        release=tuple(table.release),
        until=None if table.until is None else event_of(source, course.craft, table.until, ("until",)),
        restitution=table.restitution,  # without a grasp it has been refused
        options=options,
        made=made,
        **({"environment": outer} if own else {}),
    )


def _doing(course: Course, source: Source, table: PhaseTable) -> dict[str, Doing]:
    """What each craft does in the phase, where the phase says so; as in all phases otherwise."""
    found = dict(course.always)
    found[course.lead] = _changed(found[course.lead], source, table, table.kind == "coast")
    for name, acts in table.of.items():
        if name not in found or name == course.lead:
            known = [other for other in found if other != course.lead]
            message = f"there is no other spacecraft '{name}'."
            source.error("no-such-craft", ("of",), message, nearest(name, known) if known else "", name)
            continue
        found[name] = _changed(found[name], source.inside("of", name), acts, False)
    if table.kind == "detumble" and "control" not in table.model_fields_set:
        found[course.lead] = Doing(source, _by_wheels(course, source), True)
    return found


def _by_wheels(course: Course, source: Source) -> Acts:
    member = course.craft.member(course.lead).craft
    if not member.at(Role.wheel).size:
        found = f"{member.name} has no wheels to detumble by."
        source.error("no-wheels", (), found, 'Add [phase.control], such as law = "detumble_by_couple".', "kind")
        return Acts()
    return Acts.model_validate({"control": {"law": "detumble_by_wheels"}})


def _changed(always: Doing, source: Source, own: Acts, coast: bool) -> Doing:
    """With what a phase says in place of the same at the top; of a manoeuvre, all of it."""
    given = own.model_fields_set & Acts.model_fields.keys()
    if not given and not coast:
        return always
    begins = coast or not given.isdisjoint(MOVES)
    keys = {key: getattr(own if key in given or (begins and key in MOVES) else always.table, key)
            for key in Acts.model_fields}  # fmt: skip
    if begins and not coast and "control" not in given:
        keys["control"] = always.table.control
    return Doing(source, Acts.model_construct(**keys), begins)


def _surroundings(common: Moved, own: PhaseTable) -> tuple[Moved, EnvironmentTable, dict[str, Any]]:
    """Motors and stops, and the environment, with what a phase says in place of the same at the top; and what it says
    of the environment.
    """
    shared = {key: getattr(own, key) for key in SHARED if key in own.model_fields_set}
    given = {key: getattr(own.environment, key) for key in own.environment.model_fields_set}
    environment = common.environment.model_copy(update=given) if given else common.environment
    return (common.model_copy(update=shared) if shared else common), environment, given


def _refuse_names(source: Source, always: Sequence[When], own: Sequence[When]) -> None:
    for event in own:
        if event.name in [other.name for other in always]:
            found = f"an event of the whole run is named '{event.name}', too."
            source.error("twice", ("event",), found, "Name each its own.")


def _grasp(grasp: GraspTable) -> gc.AbstractConstraint:
    return KINDS[grasp.kind](*grasp.frames, name=grasp.name)
