"""Scenarios with several spacecraft in one orbit: who drifts, and who comes near and stays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...algebra import Array, quat_from_rotation, rotation, rotation_from_rpy
from ...control.demands import driven_coordinates
from ...control.moving_references import hill_reference
from ...control.passivity import passivity_tracking
from ...control.references import CraftReference, JointReference, PosePath
from ...environment import Orbit
from ...formation import Coupling, Formation, FormationTrajectory, Group, simulate
from ...formation.told import EPOCH
from ...formation.tree import MOST
from ...formulations.spatial_forms import tree_state, virtual_tree
from ...io.report import fail
from ...io.results_formation import load_formation
from ...io.toml.source import Source
from ...kinematics import frame_pose, neutral
from ...model import Spacecraft, nearest
from ...model.names import name_of
from ...simulation.result.summary import FIGURES, REQUIREMENTS
from ..checkpoints import attempts
from ..parts.craft import spacecraft_of
from ..parts.environment import epoch_of, orbit_of
from ..parts.start import joint_values
from ..scenario import Scenario
from .formation_environment import environments_of
from .formation_members import members_doing
from .formation_requirements import MemberRequire, judge_members, member_requirements
from .formation_tables import FormationTable, MemberTable, StationTable
from .kind import Kind

if TYPE_CHECKING:
    from ...simulation import Trajectory

MOST_MEMBERS = 1000  # of a file


@dataclass(frozen=True, eq=False, kw_only=True)
class FormationScenario(Scenario):
    """Several members; `craft`, q0 and v0 are those of their virtual tree, led by the first one."""

    formation: Formation
    state: Mapping[str, tuple[Array, Array]]
    stations: tuple[StationTable, ...]
    needs: tuple[MemberRequire, ...] = ()
    epoch: str = ""  # the date of t = 0, if its environment needs one
    goes_on_from: ClassVar[tuple[type, ...]] = (FormationTrajectory,)

    @property
    def orbit(self) -> Orbit:
        return self.formation.needs_orbit("a formation scenario")

    def require_told(self) -> None:
        if len(self.formation) > MOST:
            raise ValueError(
                f"'{self.name}' has {len(self.formation)} members; {MOST} are the most that one trajectory, a report "
                'and a scene can hold. Run it in Python: scenario.load("...").run(), whose groups hold each member '
                "and whose save keeps all."
            )

    def told(self, run: FormationTrajectory) -> Trajectory:
        """All members as the trajectory of one virtual tree. How stations were kept is among its figures."""
        trajectory = run.tree()
        trajectory.data.attrs["scenario"] = self.text
        if self.epoch:
            trajectory.data.attrs[EPOCH] = self.epoch
        errors = {station.member: station_error(run, station)[1] for station in self.stations}
        trajectory.data.attrs[FIGURES] = [*trajectory.data.attrs[FIGURES], *self.stations_kept(run, errors)]
        if self.needs and not trajectory.interrupted:
            trajectory.data.attrs[REQUIREMENTS] = judge_members(run, trajectory, self.needs, errors)
        return trajectory

    def _part(self, earlier: Any, progress: bool | None, changes: Mapping[str, Any]) -> FormationTrajectory:
        """All members, each with its own trajectory."""
        if earlier is None:
            options, state = {**self.options, **changes}, dict(self.state)
            run = simulate(self.formation, state, (0.0, self.duration), progress=progress, **options)
        else:
            run = simulate(self.formation, resume=earlier, progress=progress, **self._given_again(changes))
        self._notes(run)["scenario"] = self.text
        return run

    def _attempts(self, run: Any) -> int:
        return 0 if run is None else attempts(*run.groups.values())

    def _load(self, path: str | Path) -> FormationTrajectory:
        return load_formation(path)

    def _notes(self, run: FormationTrajectory) -> dict[str, Any]:
        notes: dict[str, Any] = next(iter(run.groups.values())).data.attrs
        return notes

    def stations_kept(self, run: FormationTrajectory, errors: Mapping[str, Array]) -> list[dict[str, Any]]:
        """Figures: how far each station keeper was from its station."""
        found = []
        for station in self.stations:
            error = errors[station.member]
            who = f"{station.member}/{station.frame or run.formation.craft(station.member).base}"
            of = station.of or "the reference orbit"
            name = f"{who}, from its station at {of}"
            reached = error[np.isfinite(error)]
            found.append({"name": name, "peak": float(reached.max()), "final": float(reached[-1]), "unit": "m"})
        return found


def station_error(run: FormationTrajectory, station: StationTable) -> tuple[Array, Array]:
    """Where the station keeper's frame is from what it stays beside (times, 3), in Hill axes;
    and its distance from its station.
    """
    group, k = run.formation.place(station.member)
    frame = station.frame or run.formation.craft(station.member).base
    p = run.groups[group].frame(frame)[1][k]
    if station.of is not None:
        p = p - run.member(station.of).p_N
    R_NH = np.array([hill_reference(run.formation.needs_orbit("station"), float(t), np.zeros(3)).X.R for t in run.time])
    place = np.einsum("tji,tj->ti", R_NH, p)
    return place, np.linalg.norm(place - np.array(station.position), axis=1)


def formation_scenario(source: Source, table: FormationTable, path: Path) -> FormationScenario:
    """The scenario of a file with [[member]]. What is wrong goes to the source's report."""
    if len(table.member) > MOST_MEMBERS:
        message = f"the file has {len(table.member)} members; {MOST_MEMBERS} are the most."
        raise fail("too-many-members", source.file, message, "Make larger formations in Python: gs.Formation.")
    orbit = _orbit(source, table)
    names = [member.name for member in table.member]
    crafts: dict[str, Spacecraft] = {}
    read: dict[str, Spacecraft] = {}  # each file once
    for k, member in enumerate(table.member):
        if member.name in names[:k]:
            source.error(
                "twice", ("member", k), f"two members are named '{member.name}'.", "Give each its own name.", "name"
            )
        if member.spacecraft not in read:
            read[member.spacecraft] = spacecraft_of(source, member.spacecraft, path, ("member", k))
        craft = crafts[member.name] = read[member.spacecraft]
        if not craft.joint(craft.base).motion.unbound:
            kind = craft.joint(craft.base).kind
            found = f"{craft.name} stands on a {kind} base joint; a member of a formation must float."
            source.error("member", ("member", k), found, "Make its base joint free, in its file.", "spacecraft")
    source.report.raise_errors()
    formation = Formation({name: Group(craft, (name,)) for name, craft in crafts.items()}, orbit=orbit)
    state = _state(source, formation, table.member)
    felt = environments_of(source, table.environment, crafts)
    control = _stations(source, table, crafts)
    source.report.raise_errors()
    laws = {name: _law(formation, state, station, felt[name], table.member) for name, station in control.items()}
    duration = table.run.duration
    doing = members_doing(source, crafts, state, table.member, control, felt, duration, table.environment)
    doing["control"] = {**doing.get("control", {}), **laws}
    source.report.raise_errors()
    options = table.run.options(source, duration) | doing | {"environment": _common(felt)}
    tree = virtual_tree(crafts, names[0])
    q, v = tree_state(crafts, names[0], {name: (state[name][0][0], state[name][1][0]) for name in names})
    states: dict[str | None, tuple[Array, Array]] = {None: (q, v)}
    states |= {name: (state[name][0][0], state[name][1][0]) for name in names}
    keepers = [station.member for station in table.station]
    needs = member_requirements(source, crafts, tree, table.require, keepers, states)
    return FormationScenario(
        name=table.name or name_of(path),
        craft=tree,
        q0=q,
        v0=v,
        duration=table.run.duration,
        options=options,
        text=source.text,
        path=path,
        formation=formation,
        state=state,
        stations=tuple(table.station),
        needs=needs,
        epoch=epoch_of(table.environment),
    )


def _common(felt: Mapping[str, Any]) -> Any:
    """One environment where all feel the same."""
    first, *others = felt.values()
    return first if all(other is first for other in others) else dict(felt)


def _orbit(source: Source, table: FormationTable) -> Orbit | None:
    """The orbit that all members fly in, and what cannot be combined with it."""
    if table.environment.orbit is None:
        source.error(
            "no-orbit",
            ("environment",),
            "members fly in an orbit.",
            'Add [environment.orbit] with altitude = "500 km".',
        )
    if table.environment.gravity is not None:
        found = "uniform gravity cannot be combined with an orbit here."
        source.error("gravity", ("environment",), found, "Leave it out.", "gravity")
    if table.run.conserve is not None:
        found = "momentum is not conserved in an orbit."
        source.error("conserve", ("run",), found, "Leave it out.", "conserve")
    if table.run.precision not in (None, "double"):
        found = "members of a formation are computed in double precision."
        source.error("precision", ("run",), found, "Leave it out.", "precision")
    return orbit_of(source, table.environment)


def _stations(source: Source, table: FormationTable, crafts: Mapping[str, Spacecraft]) -> dict[str, StationTable]:
    """By member."""
    found: dict[str, StationTable] = {}
    for k, station in enumerate(table.station):
        known = _known(source, k, "member", station.member, list(crafts))
        if station.of is not None:
            _known(source, k, "of", station.of, list(crafts))
            if station.of == station.member:
                source.error("itself", ("station", k), "a member cannot stay beside itself.", "Name another one.", "of")
        if known and station.frame is not None:
            try:
                crafts[station.member].locate(station.frame)
            except ValueError as error:
                source.error("no-such-frame", ("station", k), str(error), "", "frame")
        if station.member in found:
            source.error("twice", ("station", k), f"member '{station.member}' has two stations.", "Keep one.", "member")
        found[station.member] = station
    return found


def _state(source: Source, formation: Formation, members: list[MemberTable]) -> dict[str, tuple[Array, Array]]:
    """Every member in the Hill frame at t = 0."""
    state = formation.neutral()
    placed: dict[str, tuple[Array, Array]] = {}
    for turning in (True, False):
        given = {m.name: (np.array(m.position), np.array(m.velocity)) for m in members if m.turning == turning}
        together = formation.hill_state(given, turning=turning)
        placed |= {name: together[name] for name in given}
    for k, member in enumerate(members):
        craft = formation.craft(member.name)
        q, v = (x[0] for x in placed[member.name])
        R_HB = rotation_from_rpy(np.array(member.rpy))
        R_NH = rotation(q[:4])
        q[:4] = quat_from_rotation(R_NH @ R_HB)
        v[:3], v[3:6] = R_HB.T @ v[:3], R_HB.T @ v[3:6]
        for name, value in joint_values(source, craft, ("member", k, "joints"), member.joints, "position").items():
            q[craft.joint_named(name).q_at] = value
        state[member.name] = (q[None], v[None])
    return state


def _known(source: Source, k: int, key: str, name: str, names: list[str]) -> bool:
    if name not in names:
        source.error("no-such-member", ("station", k), f"there is no member '{name}'.", nearest(name, names), key)
        return False
    return True


def _law(
    formation: Formation, state: Mapping[str, Any], station: StationTable, environment: Any, members: list[MemberTable]
) -> Any:
    """The tracking law of a station keeper. The arm keeps the configuration it starts with."""
    craft, orbit = formation.craft(station.member), formation.needs_orbit("station")
    member = next(m for m in members if m.name == station.member)
    R_HB = rotation_from_rpy(np.array(member.rpy if station.rpy is None else station.rpy))
    held = state[station.member][0][0].copy()
    held[:7] = neutral(craft)[:7]
    rho = np.array(station.position)
    if station.frame is not None:
        rho = rho - R_HB @ frame_pose(craft, held, station.frame).p
    arm = held[driven_coordinates(craft, f"the station of '{station.member}'")]
    still = JointReference(arm, np.zeros(len(arm)), np.zeros(len(arm)))

    def tracking(at: PosePath) -> Any:
        """Of the base; the arm keeps its configuration."""
        bandwidth = 2 * np.pi * station.bandwidth
        return passivity_tracking(lambda t: CraftReference(at(t), still), bandwidth=bandwidth, environment=environment)

    if station.of is None:
        return tracking(lambda t: hill_reference(orbit, t, rho, R_HB))

    def law(craft: Spacecraft, t: Any, q: Array, v: Array, q_other: Array, v_other: Array) -> Array:
        about = (q_other[4:7], rotation(q_other[:4]) @ v_other[3:6])
        there = hill_reference(orbit, t, rho, R_HB, about=about)
        return tracking(lambda t: there)(craft, t, q, v)

    return Coupling(law, {"other": station.of})


INSTEAD = "Here every [[member]] has its own spacecraft, position, velocity, rpy and joints."
FORMATION = Kind(
    "a scenario of several spacecraft",
    FormationTable,
    formation_scenario,
    marks=("member", "station"),
    hints={"spacecraft": INSTEAD, "start": INSTEAD},
)
