"""Joint values of a scenario, judged against its spacecraft: which joints, how many numbers, which units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..algebra import Array, quat_normalize
from ..control.demands import driven_joints, passive_joints
from ..control.joint_motion import JointMotion, Rates, Waypoints, steps
from ..kinematics import neutral
from ..model import Joint, Spacecraft, nearest
from .quantities import Measure
from .reading import Place, Source
from .schema import ScenarioTable, Start, Step

DIMENSION = {"rad": "angle", "m": "length", "rad/s": "angular rate", "m/s": "speed"}
LOAD = {"rad/s": "torque", "m/s": "force"}


def joint_values(
    source: Source, craft: Spacecraft, place: Place, given: Mapping[str, Sequence[Measure]], what: str
) -> dict[str, Array]:
    """{joint: numbers in SI} for what = "position", "rate" or "load"; what is wrong goes to the source's report."""
    values: dict[str, Array] = {}
    names = {joint.name: joint for joint in craft.joints}
    for name, measures in given.items():
        here = (*place, name)
        if name not in names:
            source.error("no-such-joint", place, f"{craft.name} has no joint '{name}'.", nearest(name, names), name)
            continue
        units = _units(names[name], what)
        if len(measures) != len(units):
            source.error(
                "wrong-length",
                place,
                f"{what} of {names[name].kind} joint '{name}' holds {_count(len(measures))}; expected {_count(len(units))}"
                + (f": {_order(names[name], what)}." if len(units) > 1 else "."),
                "A wheel has a rate, but no position." if names[name].kind == "wheel" and not units else "",
                name,
            )
            continue
        numbers = []
        for one, dimension in zip(measures, units, strict=True):
            try:
                numbers.append(one.of(dimension) if dimension else _plain(one))
            except ValueError as error:
                source.error("wrong-unit", here, f"{what} of {names[name].kind} joint '{name}' {error}.")
        if len(numbers) == len(units):
            values[name] = np.array(numbers)
    return values


def _units(joint: Joint, what: str) -> list[str]:
    if what == "position":
        return [DIMENSION.get(unit, "") for unit in joint.motion.q_units]
    return [(DIMENSION if what == "rate" else LOAD)[unit] for unit in joint.motion.v_units]


def _plain(one: Measure) -> float:
    if one.dimension is not None:
        raise ValueError(f'is "{one.text}"; expected plain numbers: a quaternion, scalar first')
    return one.value


def _count(n: int) -> str:
    return "one number" if n == 1 else f"{n or 'no'} numbers"


def _order(joint: Joint, what: str) -> str:
    units = joint.motion.q_units if what == "position" else joint.motion.v_units
    return ", ".join(unit or "quaternion" for unit in units)


def initial_state(source: Source, craft: Spacecraft, start: Start) -> tuple[Array, Array]:
    """q and v at the start."""
    from ..algebra import quat_from_rotation, rotation_from_rpy

    q, v = neutral(craft), np.zeros(craft.nv)
    base = craft.joints[0]
    given = {n: getattr(start, n) for n in ("position", "quaternion", "rpy", "angular_velocity", "velocity")}
    if base.kind == "free":
        if start.quaternion is not None:
            q[:4] = quat_normalize(np.array(start.quaternion))
        if start.rpy is not None:
            q[:4] = quat_from_rotation(rotation_from_rpy(np.array(start.rpy)))
        q[4:7] = start.position or q[4:7]
        v[:3] = start.angular_velocity or v[:3]
        v[3:6] = start.velocity or v[3:6]
    else:
        for name in (name for name, value in given.items() if value is not None):
            source.error(
                "wrong-base",
                ("start",),
                f"{name} is that of a free base; {craft.name}'s base is {base.kind}.",
                f"Leave it out{'' if not base.nq else f', or set joint {base.name!r} under start.joints'}.",
                name,
            )
    for name, value in joint_values(source, craft, ("start", "joints"), start.joints, "position").items():
        q[craft.joint_named(name).q_at] = value
    for name, value in joint_values(source, craft, ("start", "rates"), start.rates, "rate").items():
        v[craft.joint_named(name).v_at] = value
    return q, v


def controlled_joints(source: Source, craft: Spacecraft, table: ScenarioTable) -> list[str]:
    """Those the control law moves or holds: by default every joint with one coordinate, a motor and no lock."""
    named = {name for step in (*table.waypoint, *table.rate) for name in step.joints}
    able = _able(craft)
    chosen = table.control.joints if table.control is not None else None
    if chosen is None:
        return [name for name in able if name in named or name not in table.locked]
    for k, name in enumerate(chosen):
        if name not in able:
            source.error("no-such-joint", ("control", "joints"), _cannot(craft, name, able), "")
        elif name in chosen[:k]:
            source.error("twice", ("control", "joints"), f"joint '{name}' is named twice.", "Name it once.")
    for name in sorted(named - set(chosen)):
        source.error(
            "not-controlled",
            ("control", "joints"),
            f"joint '{name}' has a manoeuvre, but is not among them.",
            "Add it.",
        )
    return [name for name in chosen if name in able]


def _cannot(craft: Spacecraft, name: str, able: list[str]) -> str:
    if name not in {j.name for j in craft.joints}:
        return f"{craft.name} has no joint '{name}'. {nearest(name, able)}"
    if name in passive_joints(craft):
        return (
            f"joint '{name}' has no motor (it is passive): nothing can make it follow waypoints or rates. Say driven = true in the model "
            f"if it has one."
        )
    return (
        f"joint '{name}' is {craft.joint_named(name).kind}: only joints with one coordinate follow waypoints and rates."
    )


def _able(craft: Spacecraft) -> list[str]:
    """Joints that can be made to follow a path: a motor, and one coordinate."""
    return [joint.name for joint in driven_joints(craft) if joint.motion.single]


def motions(
    source: Source, craft: Spacecraft, table: ScenarioTable, q: Array, joints: list[str]
) -> dict[str, JointMotion]:
    """What each controlled joint is to do; those without waypoints or rates hold."""
    found: dict[str, JointMotion] = {}
    able = set(_able(craft))
    paths = {
        kind: _collect(source, craft, q, kind, entries, what, able)
        for kind, entries, what in (("waypoint", table.waypoint, "position"), ("rate", table.rate, "rate"))
    }
    for name in paths["waypoint"].keys() & paths["rate"].keys():
        source.error("both", ("rate",), f"joint '{name}' has waypoints and rates.", "Keep one of them.")
    for name in {*paths["waypoint"], *paths["rate"]} & set(table.locked):
        source.error("locked", (), f"joint '{name}' is locked, but has a manoeuvre.", "Take it out of one.", "locked")
    source.report.raise_errors()
    for name in joints:
        start = float(q[craft.joint_named(name).q_at.start])
        if name in paths["rate"]:
            found[name] = Rates(*_columns(paths["rate"][name]), start)
        else:
            found[name] = Waypoints(*_columns(paths["waypoint"].get(name, [])), start)
    return found


def _collect(
    source: Source, craft: Spacecraft, q: Array, kind: str, entries: Sequence[Step], what: str, able: set[str]
) -> dict[str, list[tuple[float, float]]]:
    """{joint: [(time, value), ...]}. A joint that a waypoint does not name stays there where the one before left it."""
    found: dict[str, list[tuple[float, float]]] = {}
    late: float = -1.0
    for k, entry in enumerate(entries):
        place: Place = (kind, k)
        if entry.at <= late or (kind == "waypoint" and entry.at <= 0):
            reason = f"after the one before it, at {late:g} s" if entry.at <= late else "after the start"
            source.error("order", place, f"is at {entry.at:g} s; expected a time {reason}.", "Sort them by time.", "at")
        late = max(late, entry.at)
        for name, values in joint_values(source, craft, (*place, "joints"), entry.joints, what).items():
            if name not in able:
                source.error("wrong-joint", (*place, "joints"), _cannot(craft, name, sorted(able)), "", name)
            else:
                found.setdefault(name, []).append((entry.at, float(values[0])))
    if kind == "waypoint":
        return {
            name: _with_holds(pairs, [entry.at for entry in entries], float(q[craft.joint_named(name).q_at.start]))
            for name, pairs in found.items()
        }
    return found


def _with_holds(pairs: list[tuple[float, float]], times: list[float], start: float) -> list[tuple[float, float]]:
    given, now, path = dict(pairs), start, []
    for t in times:
        now = given.get(t, now)
        path.append((t, now))
    return path


def _columns(pairs: Sequence[tuple[float, float]]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    return tuple(t for t, _ in pairs), tuple(x for _, x in pairs)


def load_profile(source: Source, craft: Spacecraft, table: ScenarioTable) -> tuple[Any, tuple[float, ...]]:
    """tau(t) (nv,) of the [[torque]] tables, and the times at which it jumps; None without them. A joint keeps its load until
    a later table names it again."""
    if not table.torque:
        return None, ()
    rows, now, late = [], np.zeros(craft.nv), -np.inf
    for k, entry in enumerate(table.torque):
        place: Place = ("torque", k)
        if entry.at <= late:
            source.error(
                "order",
                place,
                f"is at {entry.at:g} s, not after the one before it, at {late:g} s.",
                "Sort them by time.",
                "at",
            )
        late = max(late, entry.at)
        now = now.copy()
        for name, values in joint_values(source, craft, (*place, "joints"), entry.joints, "load").items():
            now[craft.joint_named(name).v_at] = values
        rows.append(now)
    times = [entry.at for entry in table.torque]
    return steps(times, np.array(rows)), tuple(times)
