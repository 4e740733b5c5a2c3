"""What acts on one model and what its joints do: the tables that say it,
and the options of `gs.simulate` that they become.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from ...algebra import Array
from ...control.laws_in_files import About
from ...control.modes import MODES, demand_mode, refuse
from ...control.references import JointPath
from ...control.sensors_in_files import Around
from ...environment import Environment
from ...io.toml.source import Source
from ...io.toml.tables import OneOf
from ...model import Spacecraft, nearest
from .environment import EnvironmentTable, environment_of, orbit_of, sky_of
from .law import (
    AnyControl,
    Control,
    follows,
    law_of,
    name_of,
    named_law,
    open_loop,
    prescribed_accelerations,
    torquers_of,
    with_loads,
)
from .limits import Limited
from .manoeuvre import Manoeuvre, controlled_joints, load_profile, motions
from .motors import Motors, driven_by_motors, motor_options
from .sensing import EstimatorTable, SensorsTable, estimated, sensed

Mode = Annotated[str, OneOf(MODES)]


class Acts(Manoeuvre):
    """The tables about what one spacecraft does."""

    control: AnyControl | None = None
    sensors: SensorsTable | None = Field(
        default=None, description="What the law sees in place of the state, sample by sample."
    )
    estimator: EstimatorTable | None = Field(
        default=None, description="What makes of readings the state that the law sees."
    )

    @property
    def law(self) -> Any:
        """Waypoints and rates are followed, whether or not the file says how."""
        return Control() if self.control is None and (self.waypoint or self.rate) else self.control


class Moved(Acts, Motors):
    """The tables about all that moves one model, at the top of a file or in a phase."""

    environment: EnvironmentTable = Field(default_factory=lambda: EnvironmentTable())


class Acting(Moved, Limited):
    """Those at the top of a file."""

    mode: Mode | None = Field(
        default=None, description="Manoeuvring mode: what may act besides the joints. The rest is refused."
    )


@dataclass(frozen=True)
class Own:
    """What one spacecraft does. options: of `gs.simulate`. loads(t): those of the file itself; they jump at `jumps`."""

    options: dict[str, Any]
    loads: Any = None
    jumps: tuple[float, ...] = ()


def acting_options(
    source: Source, craft: Spacecraft, table: Acting, q: Array, v: Array, duration: float
) -> dict[str, Any]:
    """As options of `gs.simulate`; those that the file leaves out are not there.

    What is wrong goes to the source's report.
    """
    options = motor_options(source, table)
    environment = environment_of(source, table.environment, at=(craft, q))
    if environment is not None:
        options["environment"] = environment
    own = own_options(source, craft, table, q, v, (0.0, duration), environment, table.environment)
    options |= own.options
    options |= driven_by_motors(source, craft, table, options)
    if table.mode is not None:
        options["mode"] = table.mode
        check_mode(source, craft, table.mode, [*table.locked, *options.get("prescribed", ())], own)
    return options


def own_options(
    source: Source,
    craft: Spacecraft,
    table: Acts,
    q: Array,
    v: Array,
    span: tuple[float, float],
    environment: Environment | None,
    around: EnvironmentTable | None = None,
) -> Own:
    """What the craft does from q and v on, within a span of time, as its law, locks and breakpoints; without
    motors.
    """
    _check_locked(source, craft, table.locked)
    options: dict[str, Any] = {"locked": list(table.locked)} if table.locked else {}
    begin, end = span
    loads, jumps = load_profile(source, craft, table, begin)
    law = table.law
    paths: dict[str, JointPath] = {}
    torquers = None
    if isinstance(law, Control):
        paths = motions(source, craft, table, q, controlled_joints(source, craft, table, law), begin)
    elif law is not None and (table.waypoint or table.rate):
        if not follows(law):
            found = f"{name_of(law)} does not follow waypoints or rates."
            key = "law" if hasattr(law, "law") else "python"
            source.error("law", ("control",), found, "Leave them out, or choose another law.", key)
        paths = motions(source, craft, table, q, controlled_joints(source, craft, table, Control()), begin)
    breaks = {t for path in paths.values() for t in getattr(path, "breakpoints", ())} | set(jumps)
    options["breakpoints"] = sorted(t for t in breaks if begin < t < end)
    source.report.raise_errors()
    if isinstance(law, Control) and law.law == "prescribed":
        if table.rate:
            source.error(
                "prescribed", ("rate",), "rates that jump cannot be prescribed.", "Use waypoints, or another law."
            )
        options["prescribed"] = prescribed_accelerations(paths)
    elif isinstance(law, Control):
        options["control"] = law_of(source, craft, law, q, paths, environment, loads)
    elif law is not None:
        about = About(craft, q, v, begin, paths, environment, *_orbit_and_sky(source, around))
        options["control"] = with_loads(named_law(source, law, about), loads)
        torquers = torquers_of(source, law, about, loads)
    if loads is not None and "control" not in options:
        options["control"] = open_loop(loads)
    options |= estimated(source, craft, table.estimator, q, table.sensors, options)
    if table.estimator is None:
        here = Around(*_orbit_and_sky(source, around), environment)
        options |= sensed(source, craft, table.sensors, options, here)
    if torquers is not None and options.get("control") is not None:
        options["control"] = torquers.driving(options["control"])
    return Own(options, loads, jumps)


def _orbit_and_sky(source: Source, around: EnvironmentTable | None) -> tuple[Any, Any]:
    """Of the file, for laws that ask; None where it has none."""
    if around is None or around.orbit is None:
        return None, None
    given = around.orbit
    return orbit_of(source, around), None if given.epoch is None else sky_of(given.epoch, given.known)


def _check_locked(source: Source, craft: Spacecraft, locked: Sequence[str]) -> None:
    names = [joint.name for joint in craft.joints]
    for k, name in enumerate(locked):
        if name not in names:
            found = f"{craft.name} has no joint '{name}'."
            source.error("no-such-joint", (), found, nearest(name, names), "locked")
        elif name in locked[:k]:
            source.error("twice", (), f"joint '{name}' is locked twice.", "Name it once.", "locked")


def check_mode(source: Source, craft: Spacecraft, name: str, moved: list[str], own: Own) -> None:
    """What the mode does not allow, said before the run."""
    known = [joint for joint in moved if joint in {j.name for j in craft.joints}]
    try:
        mode = demand_mode(craft, name, known)
        for t in own.jumps:
            refuse(craft, mode, own.loads(t))
    except ValueError as error:
        source.error("mode", (), str(error), "", "mode")
