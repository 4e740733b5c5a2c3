"""[[waypoint]], [[rate]], [[torque]]: what the joints are to do, and what is put on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from ...algebra import Array
from ...control.demands import driven_joints, passive_joints
from ...control.joint_motion import Rates, Waypoints, steps
from ...control.references import JointPath
from ...io.toml.source import Source
from ...io.toml.tables import Table
from ...io.toml.text import Place
from ...io.toml.units import Time
from ...model import Spacecraft, nearest
from .law import Control
from .start import JointValues, joint_values


class Step(Table):
    """From a time on."""

    at: Time
    joints: Annotated[JointValues, Field(min_length=1)]


class Manoeuvre(Table):
    """The tables at the top of a file that say what its joints do."""

    waypoint: list[Step] = Field(default_factory=list, description="Joint positions to be reached at a time, at rest.")
    rate: list[Step] = Field(default_factory=list, description="Joint rates from a time on.")
    torque: list[Step] = Field(
        default_factory=list, description="Joint loads from a time on, added to the control law's."
    )
    locked: list[str] = Field(default_factory=list, description="Joints that stay as they are, whatever the load.")


def controlled_joints(source: Source, craft: Spacecraft, table: Manoeuvre, law: Control) -> list[str]:
    """Those the control law moves or holds: by default every joint with one coordinate, a motor and no lock."""
    named = {name for step in (*table.waypoint, *table.rate) for name in step.joints}
    able = _able(craft)
    chosen = law.joints
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
            f"joint '{name}' has no motor (it is passive): nothing can make it follow waypoints or rates. Say driven = "
            "true in the model if it has one."
        )
    return (
        f"joint '{name}' is {craft.joint_named(name).kind}: only joints with one coordinate follow waypoints and rates."
    )


def _able(craft: Spacecraft) -> list[str]:
    """Joints that can be made to follow a path: a motor, and one coordinate."""
    return [joint.name for joint in driven_joints(craft) if joint.motion.single]


def motions(
    source: Source, craft: Spacecraft, table: Manoeuvre, q: Array, joints: list[str], begin: float = 0.0
) -> dict[str, JointPath]:
    """What each controlled joint is to do from q on; those without waypoints or rates hold. Times of the file count
    from `begin`.
    """
    found: dict[str, JointPath] = {}
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
            found[name] = Rates(*_columns(paths["rate"][name], begin), start)
        else:
            found[name] = Waypoints(*_columns(paths["waypoint"].get(name, []), begin), start, begin)
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


def _columns(pairs: Sequence[tuple[float, float]], begin: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
    return tuple(begin + t for t, _ in pairs), tuple(x for _, x in pairs)


def load_profile(
    source: Source, craft: Spacecraft, table: Manoeuvre, begin: float = 0.0
) -> tuple[Any, tuple[float, ...]]:
    """tau(t) (nv,) of the [[torque]] tables, and the times at which it jumps; None without them. A joint keeps its load
    until a later table names it again."""
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
    times = [begin + entry.at for entry in table.torque]
    return steps(times, np.array(rows)), tuple(times)
