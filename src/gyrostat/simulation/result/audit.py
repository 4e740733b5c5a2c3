"""What a run owes its user: momentum against impulses, energy against work, and by whom.

Looked at inside the compiled loop (audited.py), whatever was saved; where a trajectory was put together of others,
at its saved times.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...algebra import Array
from ...kinematics import inertial_poses, mass_at
from ...model import Spacecraft
from ..problem.balance import held_by
from .audited import ACTING, BALANCED, RANGE, kinetic_name, load_name

if TYPE_CHECKING:
    from .trajectory import Trajectory

NOT_AUDITED = "not audited"
GOOD, FAIR = 1e-9, 1e-5  # relative drift: below the first all is well, above the second something is wrong


class CauseAudit(NamedTuple):
    """What one cause did in a run; of several runs, where it did most."""

    who: str
    # [angular about the centre of mass; linear], N m s and N s; None if it is internal
    impulse: tuple[float, ...] | None
    work: float  # J
    loads: dict[str, float] | None = (
        None  # largest, by unit, where nothing of the craft could make it; NaN if not known
    )

    def __str__(self) -> str:
        parts = [self.who]
        if self.impulse is not None:
            angular, linear = np.linalg.norm(self.impulse[:3]), np.linalg.norm(self.impulse[3:])
            parts.append(f"impulse {linear:.3g} N s, {angular:.3g} N m s")
        return ", ".join([*parts, f"work {self.work:.3g} J"])


@dataclass(frozen=True)
class Audit:
    """Largest relative deviation, over all looks and runs, of a quantity from what its causes account for; None:
    not audited.

    linear, angular: of the momentum (about the centre of mass), by the norm of the largest deviations of its
    components, relative to the sum over the bodies of what their mass could carry at the speed it had, and of the
    impulses. (A body's mass times the root mean square speed of its points; for the angular momentum times its distance
    from the centre of mass, and its own size.) energy: kinetic and in springs, relative to its largest value plus the
    work of all causes. potential: of the environment's potential energy from the work it did, at the saved times; None
    also if it has no potential, or one that changes with time.

    looks: at how many states each run was looked at, at least. causes: who did what; impulse, work: of all of them, the
    largest.
    warnings: loads of control where nothing of the craft could make them.
    """

    linear: float | None
    angular: float | None
    energy: float | None
    potential: float | None = None
    looks: int = 0
    impulse: tuple[float, ...] = (0.0,) * 6
    work: float = 0.0
    causes: tuple[CauseAudit, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def worst(self) -> float | None:
        """None if nothing was audited."""
        return max((drift for _, drift in self.rows() if drift is not None), default=None)

    def rows(self) -> list[tuple[str, float | None]]:
        """Name and relative drift, for tables."""
        rows = [
            ("linear momentum", self.linear),
            ("angular momentum about the centre of mass", self.angular),
            ("energy", self.energy),
        ]
        return rows if self.potential is None else [*rows, ("potential energy", self.potential)]

    def __str__(self) -> str:
        words = ", ".join(f"{name} {drift_words(drift)}" for name, drift in self.rows())
        return "\n".join([f"audit: {words}", *(f"audit: {line}" for line in self.warnings)])


def drift_words(drift: float | None) -> str:
    return NOT_AUDITED if drift is None else f"{drift:.1e}"


class _Looked(NamedTuple):
    """Of each run (runs, ...): how often it was looked at, deviations from the start, what moved and what acted."""

    looks: Array
    deviation: Array  # (runs, 7) as BALANCED
    kinetic: Array  # (runs, nbodies)
    acting: Array  # (runs, 3) as ACTING


class Deviations(NamedTuple):
    """Of each run: angular and linear momentum and energy from what accounts for them,
    and what they are measured by, (runs, 3) each.
    """

    far: Array
    size: Array
    looks: Array  # (runs,)

    def relative(self, k: int, more: Any = 0.0) -> float | None:
        """The largest of all runs, of quantity k; None if some run was looked at but once.

        more: (runs,) added to the deviation.
        """
        return relative(self.far[:, k] + more, self.size[:, k]) if (self.looks > 1).all() else None


def deviations(trajectory: Trajectory) -> Deviations:
    looked = _in_the_loop(trajectory) if "audited" in trajectory.data else _at_saved_times(trajectory)
    moved = _what_moved(trajectory, looked.kinetic)
    parts = (slice(0, 3), slice(3, 6), slice(6, 7))
    far = np.column_stack([np.linalg.norm(looked.deviation[:, part], axis=-1) for part in parts])
    return Deviations(far, np.column_stack([moved, np.zeros(len(moved))]) + looked.acting, looked.looks)


def audit(trajectory: Trajectory) -> Audit:
    found, causes = deviations(trajectory), _causes(trajectory)
    angular, linear, energy = (found.relative(k) for k in range(3))
    impulse, work = trajectory.data["impulse"].values, trajectory.data["work"].values
    return Audit(
        linear,
        angular,
        energy,
        _potential(trajectory),
        int(found.looks.min()),
        tuple(float(x) for x in _largest(np.abs(impulse.reshape(-1, 6)))),
        float(_largest(np.abs(work).reshape(-1, 1))[0]),
        causes,
        tuple(_warnings(trajectory.craft, causes)),
    )


def _in_the_loop(trajectory: Trajectory) -> _Looked:
    rows = np.atleast_2d(trajectory.data["audited"].values)
    place = {str(name): k for k, name in enumerate(trajectory.data["audited_name"].values)}

    def seen(names: Iterable[str]) -> Array:
        return rows[:, [place[name] for name in names]]

    first, largest, smallest = (seen(f"{how.name} {name}" for name in BALANCED) for how in RANGE)
    kinetic = seen(kinetic_name(body.name) for body in trajectory.craft.bodies)
    # a run that has made no step was looked at where it stands
    looks = np.where(np.atleast_1d(trajectory.state.steps) > 0, rows[:, place["looks"]], 1.0)
    return _Looked(looks, np.maximum(largest - first, first - smallest), kinetic, seen(ACTING))


def _at_saved_times(trajectory: Trajectory) -> _Looked:
    """Rows that a run did not reach are left out."""
    data = trajectory.data
    momentum, kinetic, stored = trajectory._compiled(held_by, ["q", "v"])
    runs, times = len(trajectory.state.t), len(trajectory.time)
    impulse, work = data["impulse"].values.reshape(runs, times, 6), data["work"].values.reshape(runs, times)
    energy = (kinetic.sum(axis=-1) + stored).reshape(runs, times)
    balanced = np.concatenate([momentum.reshape(runs, times, 6) - impulse, (energy - work)[..., None]], axis=-1)
    reached = np.isfinite(energy)
    far = np.where(reached[..., None], np.abs(balanced - balanced[:, :1]), 0.0).max(axis=1, initial=0.0)
    norms = [np.linalg.norm(impulse[..., part], axis=-1) for part in (slice(0, 3), slice(3, 6))]
    acting = np.stack([*norms, energy + np.abs(work)], axis=-1)
    acting, kinetic = (
        np.where(reached[..., None], x.reshape(runs, times, -1), 0.0).max(axis=1, initial=0.0)
        for x in (np.nan_to_num(acting), kinetic)
    )
    return _Looked(reached.sum(axis=1), far, kinetic, acting)


def _what_moved(trajectory: Trajectory, kinetic: Array) -> Array:
    """Sizes of angular and linear momentum, (runs, 2): what the bodies' kinetic energies could be at most."""

    def bodies(craft: Spacecraft, q: Array) -> Array:
        """Mass, and inertia about the centre of mass of the whole, at most, (nbodies, 2)."""
        poses = inertial_poses(craft, q)
        own = {B.name: mass_at(craft, q, B.name) for B in craft.bodies}
        at = {B: poses[B].p + poses[B].R @ com for B, (_, com, _) in own.items()}
        c = sum(own[B][0] * p for B, p in at.items()) / sum(mass for mass, _, _ in own.values())
        return np.array(
            [[m * ((at[B] - c) @ (at[B] - c)) + np.trace(inertia), m] for B, (m, _, inertia) in own.items()]
        )

    inertia = trajectory._compiled(bodies, ["q"]).reshape(len(kinetic), -1, trajectory.craft.nbodies, 2)
    if "q_end" in trajectory.data:
        end = trajectory._compiled(bodies, ["q_end"]).reshape(len(kinetic), 1, -1, 2)
        inertia = np.concatenate([inertia, end], axis=1)
    largest = np.nan_to_num(inertia).max(axis=1, initial=0.0)
    return np.sqrt(2.0 * np.maximum(kinetic, 0.0)[..., None] * largest).sum(axis=1)


def _causes(trajectory: Trajectory) -> tuple[CauseAudit, ...]:
    data, found = trajectory.data, []
    if "cause_work" not in data:
        return ()
    works = np.atleast_2d(data["cause_work"].values)
    impulses = data["cause_impulse"].values.reshape(*works.shape, 6)
    looked = (
        {}
        if "audited" not in data
        else dict(zip(data["audited_name"].values, np.atleast_2d(data["audited"].values).T, strict=True))
    )
    for k, who in enumerate(map(str, data["cause"].values)):
        size = np.abs(works[:, k]) + np.nan_to_num(np.linalg.norm(impulses[:, k], axis=-1))
        run = int(np.argmax(np.nan_to_num(size)))
        own = impulses[run, k]
        names = {unit: load_name(who, unit) for unit in ("N m", "N")}
        loads = {unit: float(looked[name].max()) for unit, name in names.items() if name in looked}
        found.append(
            CauseAudit(
                who, None if np.isnan(own).all() else tuple(map(float, own)), float(works[run, k]), loads or None
            )
        )
    return tuple(found)


def _warnings(craft: Spacecraft, causes: tuple[CauseAudit, ...]) -> list[str]:
    lines = []
    for cause in causes:
        did_nothing = not cause.work and not np.any(cause.impulse or 0.0)
        if cause.loads is None or not any(x > 0 for x in cause.loads.values()) and did_nothing:
            continue
        where = cause.who.removeprefix("control on ")
        loads = " and ".join(f"{x:.3g} {unit}" for unit, x in cause.loads.items() if x > 0)
        able = _able(craft, where)
        did = str(cause).removeprefix(f"{cause.who}, ")
        lines.append(f"control pushes {where}{' with ' * bool(loads)}{loads} ({did}); {able}")
    return lines


def _able(craft: Spacecraft, where: str) -> str:
    """Whether anything of the craft could have made the load."""
    if where.startswith("passive joint"):
        return "there is no motor"
    member = next((m for m in craft.members if where.startswith(f"{m.name}.")), None)
    thrusters = craft.thrusters if member is None else member.craft.thrusters
    return f"by {len(thrusters)} thrusters, if anything" if thrusters else "nothing there can"


def _potential(trajectory: Trajectory) -> float | None:
    """Of the potential from the work of the environment."""
    data = trajectory.data
    if "work_environment" not in data or "potential" not in trajectory.signals:
        return None
    potential, work = trajectory.signals["potential"], data["work_environment"].values
    reached = np.isfinite(work)
    if potential.attrs["depends_on_time"] or reached.sum(axis=-1).min() < 2:
        return None
    V = potential.values
    far = np.where(reached, np.abs(V - V[..., :1] + work - work[..., :1]), 0.0).max(axis=-1)
    kinetic = trajectory.kinetic_energy()
    size = np.where(reached, kinetic + np.abs(data["work"].values), 0.0).max(axis=-1)
    size = size + np.where(reached, np.abs(work - work[..., :1]), 0.0).max(axis=-1)
    return relative(np.atleast_1d(far), np.atleast_1d(size))


def _largest(values: Array) -> Array:
    """Along the first axis, NaN left out."""
    return np.where(np.isnan(values), 0.0, values).max(axis=0, initial=0.0)


def relative(deviation: Array, size: Array) -> float | None:
    """Largest over the runs; None if it cannot be told."""
    if np.isnan(deviation).any():
        return None
    share: Any = np.divide(deviation, size, out=np.where(deviation > 0.0, np.inf, 0.0), where=size > 0)
    return float(np.max(share))
