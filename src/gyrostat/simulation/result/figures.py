"""Peak and final figures of a run: how far the base turned, how near motors and wheels came to their limits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...algebra import Array
from ...model import Body, Joint

if TYPE_CHECKING:
    from .trajectory import Trajectory


CHIEF = "chief"  # attribute of a formation's virtual tree: its leader


class Figure(NamedTuple):
    """The largest value of something over the run (of a batch: of all runs), its last one, and its limit."""

    name: str
    peak: float | None
    final: float | None
    limit: float | None = None
    unit: str = ""
    run: int | None = None  # where the peak was, of a batch

    @property
    def share(self) -> float | None:
        """Of the limit that the peak took."""
        if self.peak is None or self.limit is None or not np.isfinite(self.limit) or not self.limit:
            return None
        return self.peak / self.limit

    def __str__(self) -> str:
        parts = [] if self.peak is None else [f"peak {self.peak:.4g} {self.unit}".rstrip()]
        if self.share is not None:
            parts.append(f"{100 * self.share:.0f} % of {self.limit:.4g}")
        if self.final is not None:
            parts.append(f"{self.final:.4g} {self.unit} at the end".replace("  ", " "))
        if self.run is not None:
            parts.append(f"in run {self.run}")
        return f"{self.name}: {', '.join(parts)}"


class Sized(NamedTuple):
    """What a figure is made of: sizes ([runs,] times), and what they must stay below."""

    name: str
    values: Array
    unit: str
    limit: float = np.inf

    def figure(self, batched: bool) -> Figure:
        return figure(self.name, self.values, self.unit, self.limit, batched=batched)

    def peaks(self) -> Array:
        """Of each run, (runs,); NaN of one that reached nothing."""
        rows = np.atleast_2d(self.values)
        largest = np.where(np.isfinite(rows), rows, -np.inf).max(axis=1)
        return np.where(np.isfinite(largest), largest, np.nan)


def figures_of(trajectory: Trajectory) -> list[Figure]:
    """Of every base that is free, of the joint and the wheel nearest to their limits."""
    return [one.figure(trajectory.batched) for one in sizes_of(trajectory)]


def sizes_of(trajectory: Trajectory) -> list[Sized]:
    """What figures are made of, run by run."""
    return [*_bases(trajectory), *_loads(trajectory), *_wheels(trajectory)]


def figure(name: str, values: Array, unit: str, limit: float = np.inf, *, batched: bool = False) -> Figure:
    """From sizes ([runs,] times)."""
    sizes = np.where(np.isfinite(values), values, -np.inf)
    if not np.isfinite(sizes).any():
        return Figure(name, None, None, None, unit)
    runs = np.atleast_2d(sizes)
    last = runs[np.arange(len(runs)), runs.shape[1] - 1 - np.argmax(np.isfinite(runs)[:, ::-1], axis=1)]
    worst = int(np.argmax(runs.max(axis=1)))
    final = float(np.max(last[np.isfinite(last)], initial=-np.inf))
    bound = float(limit) if np.isfinite(limit) else None
    return Figure(name, float(runs.max()), final, bound, unit, worst if batched and len(runs) > 1 else None)


def turned(trajectory: Trajectory, joint: Joint) -> Array:
    """Angle between a free body's attitude and the one it started with, deg, ([runs,] times)."""
    at = np.arange(trajectory.craft.nq)[joint.q_at][joint.motion.quaternion]
    quat = trajectory.q[..., at]
    start = quat[..., :1, :]
    scalar = np.abs(np.sum(start * quat, axis=-1))
    vector = start[..., :1] * quat[..., 1:] - quat[..., :1] * start[..., 1:] - np.cross(start[..., 1:], quat[..., 1:])
    return np.degrees(2 * np.arctan2(np.linalg.norm(vector, axis=-1), scalar))


def free_bases(trajectory: Trajectory) -> list[Body]:
    """Bodies that float: bases, of one craft or of several."""
    return [body for body in trajectory.craft.bodies if body.joint.motion.unbound]


def bound_bases(trajectory: Trajectory) -> list[Body]:
    """Bases that move on a joint of another kind: on a table, on a bearing."""
    return [body for body in trajectory.craft.roots if body.joint.nv and not body.joint.motion.unbound]


def base_name(trajectory: Trajectory, body: Body) -> str:
    """As a person calls it: "base" of the only craft, else the name of the member it carries."""
    for member in trajectory.craft.memberships:
        if member.base == body.name:
            return member.name
    if len(free_bases(trajectory)) + len(bound_bases(trajectory)) == 1:
        return "base"
    return body.name.rpartition("/")[0] or body.name


def seen_from(trajectory: Trajectory, name: str) -> str:
    """Coordinates of a formation's followers are relative to its chief."""
    chief = trajectory.data.attrs.get(CHIEF)
    return "" if chief is None or name == chief else f", seen from {chief}"


def _bases(trajectory: Trajectory) -> Iterator[Sized]:
    for body in free_bases(trajectory):
        name, joint = base_name(trajectory, body), body.joint
        first = joint.v_at.start
        rate = np.degrees(np.linalg.norm(trajectory.v[..., first : first + 3], axis=-1))
        seen = seen_from(trajectory, name)
        yield Sized(f"{name}, turned from its start{seen}", turned(trajectory, joint), "deg")
        yield Sized(f"{name}, angular rate{seen}", rate, "deg/s")
    for body in bound_bases(trajectory):
        yield from _bound(trajectory, body)


def _bound(trajectory: Trajectory, body: Body) -> Iterator[Sized]:
    """How far it turned and moved on its joint, and how fast: one size for each sort of coordinate that it has."""
    name, joint = base_name(trajectory, body), body.joint
    if joint.motion.quaternion is not None:
        yield Sized(f"{name}, turned from its start", turned(trajectory, joint), "deg")
    parts = (("turned from its start", "rad", "deg"), ("moved from its start", "m", "m"))
    rates = (("angular rate", "rad/s", "deg/s"), ("speed", "m/s", "m/s"))
    q = trajectory.q[..., joint.q_at]
    for (words, unit, shown), values, units in (
        *((part, q - q[..., :1, :], joint.motion.q_units) for part in parts),
        *((rate, trajectory.v[..., joint.v_at], joint.motion.v_units) for rate in rates),
    ):
        own = values[..., [k for k, one in enumerate(units) if one == unit]]
        if own.shape[-1]:
            size = np.linalg.norm(own, axis=-1)
            yield Sized(f"{name}, {words}", np.degrees(size) if shown.startswith("deg") else size, shown)


def _loads(trajectory: Trajectory) -> Iterator[Sized]:
    """For each unit, the joint that came nearest to its limit; without limits, the one with the largest load."""
    found: dict[str, list[Sized]] = {}
    bases = {body.name for body in trajectory.craft.roots}
    for body in trajectory.craft.bodies:
        joint = body.joint
        if body.name in bases or joint.motion.unbound or joint.motion.spins or not joint.nv:
            continue
        tau = trajectory.tau[..., joint.v_at]
        for k, unit in enumerate(joint.motion.v_units):
            load = ("N m", "torque") if unit.startswith("rad") else ("N", "force")
            name, limit = f"joint {load[1]}, {joint.name}", float(joint.limits.effort)
            found.setdefault(load[0], []).append(Sized(name, np.abs(tau[..., k]), load[0], limit))
    for rows in found.values():
        yield max(rows, key=_nearness)


def _wheels(trajectory: Trajectory) -> Iterator[Sized]:
    speeds, momenta = [], []
    for body in trajectory.craft.wheels:
        joint = body.joint
        rate, J = np.abs(trajectory.v[..., joint.v_at.start]), inertia_about(trajectory, body)
        most, rpm = float(joint.limits.velocity), 30 / np.pi
        speeds.append(Sized(f"wheel speed, {joint.name}", rpm * rate, "rpm", rpm * most))
        momenta.append(Sized(f"wheel momentum, {joint.name}", J * rate, "N m s", float(np.max(J)) * most))
    for rows in (speeds, momenta):
        if rows:
            yield max(rows, key=_nearness)


def inertia_about(trajectory: Trajectory, body: Body) -> Any:
    """A wheel's moment of inertia about its axis; where it is dispersed, of each run, (runs, 1)."""
    axis = np.asarray(body.joint.axis, dtype=float)
    own = trajectory.parameters.get(f"{body.name}.inertia")
    if own is None:
        return float(axis @ np.asarray(body.inertia, dtype=float) @ axis)
    (x, y, z), (xx, xy, xz, yy, yz, zz) = axis, np.moveaxis(own, -1, 0)
    moments = x * x * xx + y * y * yy + z * z * zz + 2 * (x * y * xy + x * z * xz + y * z * yz)
    return moments[:, None] if trajectory.batched else moments[0]


def _nearness(row: Sized) -> tuple[float, float]:
    made = row.figure(batched=False)
    return (made.share or 0.0, made.peak or 0.0)
