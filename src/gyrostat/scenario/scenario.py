"""`gyrostat.scenario.load`: from a file to a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import models
from ..algebra import Array
from ..control.controller import Controller
from ..control.joint_motion import JointMotion
from ..control.joint_tracking import effective_inertias, joint_computed_torque, joint_pd, joint_pid
from ..control.modes import demand_mode, refuse
from ..control.passive import Actuators, Stops
from ..environment import EARTH, MARS, MOON, Environment, Orbit, combined, two_body_gravity, uniform_gravity
from ..io import load as load_craft
from ..io.report import fail
from ..io.toml_text import Place
from ..model import ModelError, Spacecraft
from .capture_schema import CaptureTable
from .formation_schema import FormationTable
from .manoeuvre import controlled_joints, initial_state, load_profile, motions
from .reading import Source, read_scenario, words
from .schema import Control, OrbitTable, Run, ScenarioTable
from .schema import Environment as EnvironmentTable

if TYPE_CHECKING:
    from ..simulation import Trajectory

SUFFIXES = (".urdf", ".xml", ".mjcf", ".toml", ".xacro")
DEFAULT_BANDWIDTH = 0.5  # Hz


@dataclass(frozen=True, eq=False)
class Scenario:
    """A spacecraft, its state at the start, and everything else that `gs.simulate` needs, as `options`."""

    name: str
    craft: Spacecraft
    q0: Array
    v0: Array
    duration: float
    options: Mapping[str, Any]
    outputs: tuple[str, ...] = ()
    text: str = field(default="", repr=False)
    path: Path | None = None

    def simulate(
        self,
        *,
        progress: bool | None = None,
        resume: Trajectory | str | Path | None = None,
        checkpoint: str | Path | None = None,
        checkpoint_every: float = 600.0,
        **changes: Any,
    ) -> Trajectory:
        """Run it. changes: other values for `gs.simulate`'s options, such as rtol=1e-12.

        resume: an interrupted run of this scenario, or its file: it goes on with its own settings, bit for bit as if never stopped.
        checkpoint: a file (.nc) that holds what there is, every so many seconds of the clock on the wall, to resume from.
        """
        if checkpoint is None:
            return self._part(self._earlier(resume), progress, changes)
        from .checkpoints import in_parts

        def part(earlier: Trajectory | None, most: int) -> Trajectory:
            return self._part(earlier, progress, {**changes, "max_steps": most})

        most = int(changes.get("max_steps", self.options.get("max_steps", 2_000_000)))
        return in_parts(part, self._earlier(resume), most, checkpoint, checkpoint_every)

    def _part(self, earlier: Trajectory | None, progress: bool | None, changes: Mapping[str, Any]) -> Trajectory:
        from ..simulation import simulate
        from ..simulation.problem.request import FUNCTIONS

        if earlier is None:
            options = {**self.options, **changes}
            trajectory = simulate(self.craft, self.q0, self.v0, (0.0, self.duration), progress=progress, **options)
        else:  # settings and times are those of the run; functions are not in its file
            kept = {name: x for name, x in self.options.items() if name in (*FUNCTIONS, "max_steps")}
            trajectory = simulate(self.craft, resume=earlier, progress=progress, **{**kept, **changes})
        add_outputs(trajectory, self.outputs)
        trajectory.data.attrs["scenario"] = self.text
        return trajectory

    def _earlier(self, resume: Trajectory | str | Path | None) -> Trajectory | None:
        """The run to go on from, if it is one of this scenario."""
        from ..simulation import Trajectory
        from .checkpoints import must_be_same

        if isinstance(resume, str | Path):
            resume = Trajectory.load(resume)
        if resume is not None:
            must_be_same(self.text, resume.data.attrs.get("scenario"))
        return resume


def load(path: str | Path, *, trust: bool = False) -> Scenario:
    """The scenario in a TOML file. Raises a `ModelError` with everything that is wrong, and where.

    trust: read xacro files that it names, whose expressions are run as Python.
    """
    path = Path(path)
    table, source = read_scenario(path, trust=trust)
    if isinstance(table, FormationTable):
        from .formation import formation_scenario

        return formation_scenario(source, table, path)
    if isinstance(table, CaptureTable):
        from .capture import capture_scenario

        return capture_scenario(source, table, path)
    craft = spacecraft_of(source, table.spacecraft, path, base=table.base)
    q, v = initial_state(source, craft, table.start)
    check_locked(source, craft, table.locked)
    if (table.waypoint or table.rate) and table.control is None:
        table = table.model_copy(update={"control": Control()})
    options = _options(source, craft, table, q)
    source.report.raise_errors()
    return Scenario(
        table.name or path.stem, craft, q, v, table.run.duration, options, tuple(table.outputs), source.text, path
    )


def check_locked(source: Source, craft: Spacecraft, names: Sequence[str]) -> None:
    """Joints that are there, each named once."""
    for k, name in enumerate(names):
        if name not in {j.name for j in craft.joints}:
            from ..model import nearest

            source.error(
                "no-such-joint",
                (),
                f"{craft.name} has no joint '{name}'.",
                nearest(name, [j.name for j in craft.joints]),
                "locked",
            )
        elif name in names[:k]:
            source.error("twice", (), f"joint '{name}' is locked twice.", "Name it once.", "locked")


def spacecraft_of(source: Source, name: str, path: Path, place: Place = (), base: str | None = None) -> Spacecraft:
    """A file beside the scenario, or a bundled spacecraft; `place` is the table that names it."""
    line, where = source.line((*place, "spacecraft")), words((*place, "spacecraft"))
    if Path(name).suffix.lower() not in SUFFIXES:
        try:
            return load_craft(models.file(name), base=base)
        except ModelError:
            raise
        except ValueError as error:
            hint = f"Or name a file: {', '.join(SUFFIXES)}."
            raise fail("no-such-spacecraft", source.file, str(error), hint, line, where) from None
    file = path.parent / name
    if not file.is_file():
        message = f"the file '{name}' does not exist beside the scenario."
        raise fail("no-such-spacecraft", source.file, message, "Check the name.", line, where)
    try:
        return load_craft(file, base=base, trust=source.trust)
    except ModelError as error:
        found = error.findings[0]
        if found.code != "untrusted":
            raise
        raise fail(found.code, source.file, f"'{name}' {found.message}", found.hint, line, where) from None


def run_options(run: Run) -> dict[str, Any]:
    """What [run] says, as options of `gs.simulate`."""
    names = ("integrator", "rtol", "atol", "step", "max_step", "max_steps", "formulation", "conserve", "seed")
    options: dict[str, Any] = {name: getattr(run, name) for name in names}
    if run.save_every is not None:
        times = np.arange(0.0, run.duration, run.save_every)
        options["save_at"] = np.append(times[times < run.duration * (1 - 1e-12)], run.duration)
    return options


def _options(source: Source, craft: Spacecraft, table: ScenarioTable, q: Array) -> dict[str, Any]:
    run = table.run
    environment = _environment(source, table.environment)
    options = run_options(run) | {"environment": environment}
    if table.locked:
        options["locked"] = list(table.locked)
    if table.actuators is not None:
        rate = float("inf") if table.actuators.rate is None else table.actuators.rate
        try:
            options["actuators"] = Actuators(table.actuators.saturate, table.actuators.lag, rate)
        except ValueError as error:
            source.error("actuators", ("actuators",), str(error))
    if table.stops is not None:
        options["stops"] = Stops(table.stops.stiffness, table.stops.damping, table.stops.width)
    loads, jumps = load_profile(source, craft, table)
    paths: dict[str, JointMotion] = {}
    if table.control is not None:
        joints = controlled_joints(source, craft, table)
        paths = motions(source, craft, table, q, joints)
    breaks = {t for path in paths.values() for t in getattr(path, "breakpoints", ())} | set(jumps)
    options["breakpoints"] = sorted(t for t in breaks if 0.0 < t < run.duration)
    source.report.raise_errors()
    if table.control is not None and table.control.law == "prescribed":
        if table.rate:
            source.error(
                "prescribed", ("rate",), "rates that jump cannot be prescribed.", "Use waypoints, or another law."
            )
        options["prescribed"] = {name: _acceleration(path) for name, path in paths.items()}
        options["control"] = None if loads is None else _open_loop(loads)
    elif table.control is not None:
        options["control"] = _law(source, craft, table.control, q, paths, environment, loads)
    elif loads is not None:
        options["control"] = _open_loop(loads)
    if table.mode is not None:
        options["mode"] = table.mode
        _check_mode(source, craft, table, [*table.locked, *options.get("prescribed", ())], loads, jumps)
    return options


def _check_mode(
    source: Source, craft: Spacecraft, table: ScenarioTable, moved: list[str], loads: Any, times: Sequence[float]
) -> None:
    """What the mode does not allow, said before the run."""
    known = [name for name in moved if name in {j.name for j in craft.joints}]
    try:
        mode = demand_mode(craft, str(table.mode), known)
        for t in times:
            refuse(craft, mode, loads(t))
    except ValueError as error:
        source.error("mode", (), str(error), "", "mode")


def _environment(source: Source, table: EnvironmentTable) -> Environment | None:
    parts = []
    if table.gravity is not None:
        parts.append(uniform_gravity(table.gravity))
    orbit = orbit_of(source, table)
    if orbit is not None:
        parts.append(two_body_gravity(orbit))
    return combined(*parts) if len(parts) > 1 else parts[0] if parts else None


def orbit_of(source: Source, table: EnvironmentTable) -> Orbit | None:
    """The orbit of a file; what is wrong with it goes to the source's report."""
    given = table.orbit
    if given is None:
        return None
    planet = {"earth": EARTH, "moon": MOON, "mars": MARS}[given.planet]
    size = float(given.semi_major_axis or 0.0) if given.altitude is None else planet.radius + given.altitude
    angles = (given.inclination, given.node, given.pericenter, given.true_anomaly)
    try:
        return Orbit.from_elements(size, given.eccentricity, *angles, planet=planet)
    except ValueError as error:
        blamed = next((name for name in OrbitTable.model_fields if f": {name} is " in str(error)), "altitude")
        source.error("orbit", ("environment", "orbit"), str(error), "", blamed if getattr(given, blamed) else "")
        return None


def _acceleration(path: JointMotion) -> Any:
    return lambda t: np.array([path(t).acceleration])


def _open_loop(loads: Any) -> Any:
    return lambda craft, t, q, v: loads(t)


def _law(
    source: Source,
    craft: Spacecraft,
    control: Control,
    q: Array,
    paths: dict[str, JointMotion],
    environment: Environment | None,
    loads: Any,
) -> Any:
    """The control law with its gains, plus the open-loop loads."""
    kp, kd, ki = _gains(source, craft, control, q, list(paths))
    if control.law == "pid":
        pid = joint_pid(paths, kp, kd, ki)
        if loads is None:
            return pid
        return Controller(lambda c, t, q, v, z: pid.output(c, t, q, v, z) + loads(t), pid.state0, pid.derivative)
    law = (
        joint_pd(paths, kp, kd)
        if control.law == "pd"
        else joint_computed_torque(paths, kp, kd, environment=environment)
    )
    if control.period is not None:
        if loads is None:
            return Controller(law, period=control.period)
        return Controller(lambda c, t, q, v: law(c, t, q, v) + loads(t), period=control.period)
    return law if loads is None else (lambda c, t, q, v: law(c, t, q, v) + loads(t))


def _gains(
    source: Source, craft: Spacecraft, control: Control, q: Array, joints: list[str]
) -> tuple[dict[str, float], dict[str, float], dict[str, float]]:
    """By joint. From a bandwidth w: kp = I w^2, kd = 2 damping I w, ki = kp w / 5, with I = 1 for computed torque."""
    if control.kp is None:
        w = 2 * np.pi * (DEFAULT_BANDWIDTH if control.bandwidth is None else control.bandwidth)
        inertia = dict.fromkeys(joints, 1.0) if control.law == "computed_torque" else effective_inertias(craft, q)
        kp = {name: inertia[name] * w**2 for name in joints}
        ki = (
            {name: kp[name] * w / 5 for name in joints}
            if control.ki is None
            else _by_joint(source, control.ki, joints, "ki")
        )
        return kp, {name: 2 * control.damping * inertia[name] * w for name in joints}, ki
    return (
        _by_joint(source, control.kp, joints, "kp"),
        _by_joint(source, control.kd or 0.0, joints, "kd"),
        _by_joint(source, control.ki or 0.0, joints, "ki"),
    )


def _by_joint(source: Source, gain: float | dict[str, float], joints: list[str], key: str) -> dict[str, float]:
    if not isinstance(gain, dict):
        return dict.fromkeys(joints, float(gain))
    for name in sorted(gain.keys() - set(joints)):
        from ..model import nearest

        source.error("no-such-joint", ("control", key), f"joint '{name}' is not controlled.", nearest(name, joints))
    without = [name for name in joints if name not in gain]
    if without:
        names = ", ".join(f"'{name}'" for name in without)
        source.error("missing-gain", ("control", key), f"has no gain for joint {names}.", f"Add {without[0]} = ...")
    return {name: float(gain.get(name, 0.0)) for name in joints}


def add_outputs(trajectory: Trajectory, outputs: tuple[str, ...]) -> None:
    """Keep derived quantities beside the states."""
    data = trajectory.data
    lead = data["q"].dims[:-1]
    for name in outputs:
        if name == "reaction_wrenches":
            data[name] = trajectory.reaction_wrenches()
        elif name == "momentum":
            data[name] = ((*lead, "wrench"), trajectory.momentum(), {"units": "N m s, N s"})
        elif name == "kinetic_energy":
            data[name] = (lead, trajectory.kinetic_energy(), {"units": "J"})
        elif name == "center_of_mass":
            data[name] = ((*lead, "xyz"), trajectory.center_of_mass(), {"units": "m"})
        elif name == "poses":
            poses = trajectory.poses()
            data["R_NB"] = ((*lead, "body", "row", "column"), poses.R_NB)
            data["p_NB"] = ((*lead, "body", "xyz"), poses.p_NB, {"units": "m"})
        else:
            for frame in trajectory.craft.frames:
                R, p = trajectory.frame(frame.name)
                data[f"R_N {frame.name}"] = ((*lead, "row", "column"), R)
                data[f"p_N {frame.name}"] = ((*lead, "xyz"), p, {"units": "m"})
