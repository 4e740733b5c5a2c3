"""How a formation moved: a Trajectory for each group, and what only several members have, as relative motion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..algebra import Array
from ..environment.hill import HillFrame
from ..model import Spacecraft
from ..simulation.result.audit import Audit
from ..simulation.result.trajectory import Trajectory
from .approaches import closest
from .budget import Budget, MemberImpulse, budgets
from .members import Formation, State

if TYPE_CHECKING:
    from ..simulation.result.summary import Summary


class Member(NamedTuple):
    """One member's motion."""

    craft: Spacecraft
    q: Array  # (times, nq)
    v: Array  # (times, nv)
    p_N: Array  # (times, 3) of its base, from N's origin
    v_N: Array  # (times, 3) of its base, in N
    R_NB: Array  # (times, 3, 3)
    w_N: Array  # (times, 3)


class Relative(NamedTuple):
    """Of a follower j as seen by a leader L, over time: X_Lj, and the rates of a free joint between them."""

    position: Array  # (times, 3) of j from L, in L
    R_Lj: Array  # (times, 3, 3)
    w_Lj: Array  # (times, 3) angular velocity of j relative to L, in j
    velocity: Array  # (times, 3) of j as seen from L (rate of `position`), in j
    angle: Array  # (times,) between the two attitudes


class Approach(NamedTuple):
    """The closest that two members came. uncertainty: of the distance in m, where it lies between saved times."""

    distance: float
    members: tuple[str, str]
    time: float
    uncertainty: float = 0.0


class MemberEvent(NamedTuple):
    """An event that happened: to whom, which, when, and the member's state there, before any effect."""

    member: str
    name: str
    t: float
    q: Array
    v: Array


class ByGroup:
    """What a flight and a batch of flights have in common: a Trajectory for each group, all of the same times."""

    groups: Mapping[str, Trajectory]

    @property
    def time(self) -> Array:
        return next(iter(self.groups.values())).time

    @property
    def ok(self) -> bool:
        return all(trajectory.ok for trajectory in self.groups.values())

    @property
    def interrupted(self) -> bool:
        return any(trajectory.interrupted for trajectory in self.groups.values())


@dataclass(frozen=True, eq=False)
class FormationTrajectory(ByGroup):
    """`groups[g]` is an ordinary Trajectory whose runs are the members of that group, all saved at the same times.

    legs: where velocities jumped, the smooth parts of the flight, with their ends.
    functions: control laws, environments and events as they were given, for `simulate(formation, resume=...)`.
    runs: its number. impulses: jumps of velocities, in the order of time.
    """

    formation: Formation
    groups: Mapping[str, Trajectory]
    legs: tuple[FormationTrajectory, ...] = ()
    impulses: tuple[MemberImpulse, ...] = ()
    functions: Mapping[str, Any] = field(default_factory=dict, repr=False)
    runs: Array = field(default_factory=lambda: np.zeros(1, dtype=np.int64), repr=False)

    @property
    def final(self) -> State:
        """{group: (q, v)} at the end, to start from again."""
        return {g: trajectory.final for g, trajectory in self.groups.items()}

    @property
    def t_end(self) -> Array:
        """When each member ended, in s, in the order of `formation.names`."""
        return np.concatenate([np.atleast_1d(trajectory.t_end) for trajectory in self.groups.values()])

    @property
    def events(self) -> tuple[MemberEvent, ...]:
        """All that happened, in the order of time."""
        found = [
            MemberEvent(self.formation.groups[g].names[event.run], event.name, event.t, event.q, event.v)
            for g, trajectory in self.groups.items()
            for event in trajectory.events
        ]
        return tuple(sorted(found, key=lambda event: event.t))

    @property
    def audits(self) -> dict[str, Audit]:
        """Momentum against impulses and energy against work, the worst member of each group."""
        return {g: trajectory.audit for g, trajectory in self.groups.items()}

    def member(self, name: str) -> Member:
        group, k = self.formation.place(name)
        q, v = self.groups[group].q[k], self.groups[group].v[k]
        R = rotations(q[:, :4])
        return Member(
            self.formation.craft(name),
            q,
            v,
            q[:, 4:7],
            np.einsum("tij,tj->ti", R, v[:, 3:6]),
            R,
            np.einsum("tij,tj->ti", R, v[:, :3]),
        )

    # ---- relative motion

    def relative(self, name: str, to: str) -> Relative:
        """Motion of a member's base as seen from another's."""
        L, j = self.member(to), self.member(name)
        apart = j.p_N - L.p_N
        R_Lj = np.einsum("tki,tkj->tij", L.R_NB, j.R_NB)
        rate = j.v_N - L.v_N - np.cross(L.w_N, apart)
        cosine = (np.trace(R_Lj, axis1=1, axis2=2) - 1) / 2
        skewed = np.stack(
            [R_Lj[:, 2, 1] - R_Lj[:, 1, 2], R_Lj[:, 0, 2] - R_Lj[:, 2, 0], R_Lj[:, 1, 0] - R_Lj[:, 0, 1]], 1
        )
        return Relative(
            np.einsum("tji,tj->ti", L.R_NB, apart),
            R_Lj,
            np.einsum("tji,tj->ti", j.R_NB, j.w_N - L.w_N),
            np.einsum("tji,tj->ti", j.R_NB, rate),
            np.arctan2(np.linalg.norm(skewed, axis=1) / 2, cosine),
        )

    def absolute(self, name: str) -> tuple[Array, Array]:
        """Position and velocity from the planet's centre, in N, (times, 3) each."""
        r, v = self._reference("absolute")
        member = self.member(name)
        return r + member.p_N, v + member.v_N

    def hill(self, name: str, about: str | None = None) -> tuple[Array, Array]:
        """(rho, rhodot) (times, 3) in the Hill frame of the reference orbit, or of the member `about`."""
        r, v = self._reference("hill") if about is None else self.absolute(about)
        member = self.member(name)
        p, u = member.p_N, member.v_N
        if about is not None:
            other = self.member(about)
            p, u = p - other.p_N, u - other.v_N
        R_NH, w = hill_frames(r, v)
        return np.einsum("tji,tj->ti", R_NH, p), np.einsum("tji,tj->ti", R_NH, u - np.cross(w, p))

    def _reference(self, who: str) -> tuple[Array, Array]:
        orbit = self.formation.needs_orbit(who)
        rows = [orbit.state(float(t)) for t in self.time]
        return np.array([s.r for s in rows]), np.array([s.v for s in rows])

    def tree(self, leader: str | None = None) -> Trajectory:
        """All members as one Trajectory of a virtual tree, for reports, files and plots; see `formation.tree`."""
        from .tree import as_tree

        return as_tree(self, leader)

    @property
    def budgets(self) -> tuple[Budget, ...]:
        """What each member spent: impulses, and thrust of its control law, in m/s."""
        return budgets(self)

    @property
    def summary(self) -> Summary:
        """What a person must know of all members: did it work, what happened, peak and final figures."""
        return self.tree().summary

    # ---- files and pictures

    def save(self, path: str | Path) -> Path:
        """Write NetCDF (.nc): formation and orbit, and every group as `Trajectory.save` does."""
        from ..io.results_formation import save_formation

        return save_formation(self, path)

    @staticmethod
    def load(path: str | Path) -> FormationTrajectory:
        """Read what `save` wrote."""
        from ..io.results_formation import load_formation

        return load_formation(path)

    def plot(self, what: Any = None, *, leader: str | None = None) -> Any:
        """Relative motion in the chief's frame (three planes and in space), distances, velocity spent: a matplotlib
        figure. leader: the chief, the first member by default.
        """
        from ..view.plots import plot_trajectory

        tree = self.tree(leader)
        return plot_trajectory(tree) if what is None else plot_trajectory(tree, what)

    def report(self, path: str | Path, *, leader: str | None = None, **options: Any) -> Path:
        """One page: what happened, relative motion in the chief's frame, and what every member did."""
        from ..view.report import write_report

        return write_report(self.tree(leader), path, **options)

    def to_html(self, path: str | Path, *, leader: str | None = None, **options: Any) -> Path:
        """One self-contained page with all members moving, about the chief in its Hill axes where there is an orbit;
        `Trajectory.to_html` says how to see it from elsewhere. leader: the chief, the first member by default.
        """
        return self.tree(leader).to_html(path, **options)

    def show(self, *, leader: str | None = None, **options: Any) -> Any:
        """The same in a notebook's cell; see `Trajectory.show`."""
        return self.tree(leader).show(**options)

    def _repr_html_(self) -> str:
        from ..simulation.result.notebook import summary_html

        return summary_html(self.summary)

    def film(self, path: str | Path, *, leader: str | None = None, **options: Any) -> Path:
        """The same as a video; see `Trajectory.film`."""
        return self.tree(leader).film(path, **options)

    # ---- distances

    def positions(self) -> Array:
        """Of every member's base from N's origin, in N, (members, times, 3), in the order of `formation.names`."""
        return np.concatenate([trajectory.q[..., 4:7] for trajectory in self.groups.values()])

    def closest_approach(self) -> Approach:
        """The smallest distance between two bases, at the saved times and between them; `approaches` says how."""
        if len(self.formation) < 2:
            raise ValueError("a closest approach needs two members at least.")
        if self.legs:
            return min((leg.closest_approach() for leg in self.legs), key=lambda found: found.distance)
        names, trajectories = self.formation.names, self.groups.values()
        velocities = [np.einsum("ktij,ktj->kti", rotations(t.q[..., :4]), t.v[..., 3:6]) for t in trajectories]
        found = closest(self.time, self.positions(), np.concatenate(velocities))
        if found is None:
            return Approach(np.inf, ("", ""), np.nan)
        first, second = found.pair
        return Approach(found.distance, (names[first], names[second]), found.time, found.uncertainty)

    def __str__(self) -> str:
        lines = [f"{self.formation!r}, {self.time[0]:g} to {self.time[-1]:g} s at {len(self.time)} times"]
        lines += [f"  {g}: {trajectory}" for g, trajectory in self.groups.items()]
        if len(self.formation) > 1:
            near = self.closest_approach()
            lines.append(
                f"closest approach {near.distance:.6g} m, {near.members[0]} and {near.members[1]} at {near.time:g} s"
            )
        return "\n".join(lines)


def rotations(quat: Array) -> Array:
    """R (..., 3, 3) of unit quaternions (..., 4)."""
    w, x, y, z = np.moveaxis(quat / np.linalg.norm(quat, axis=-1, keepdims=True), -1, 0)
    rows: Any = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def hill_frames(r: Array, v: Array) -> HillFrame:
    """R_NH (times, 3, 3) and w_NH_N (times, 3) of states (times, 3)."""
    h = np.cross(r, v)
    x, z = r / np.linalg.norm(r, axis=1, keepdims=True), h / np.linalg.norm(h, axis=1, keepdims=True)
    return HillFrame(np.stack([x, np.cross(z, x), z], axis=2), h / (r * r).sum(axis=1, keepdims=True))
