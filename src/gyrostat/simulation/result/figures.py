"""Peak and final figures of a run: how far the base turned, how near motors and wheels came to their limits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...algebra import Array
from ...model import Body, Joint

if TYPE_CHECKING:
    from .trajectory import Trajectory


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


def figures_of(trajectory: Trajectory) -> list[Figure]:
    """Of every base that is free, of the joint and the wheel nearest to their limits."""
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
    return Figure(name, float(runs.max()), final, bound, unit, worst if batched else None)


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


def base_name(trajectory: Trajectory, body: Body) -> str:
    """As a person calls it: "base" of the only craft, else the name of the member it carries."""
    for member in trajectory.craft.memberships:
        if member.base == body.name:
            return member.name
    if len(free_bases(trajectory)) == 1:
        return "base"
    return body.name.rpartition("/")[0] or body.name


def _bases(trajectory: Trajectory) -> Iterator[Figure]:
    for body in free_bases(trajectory):
        name, joint = base_name(trajectory, body), body.joint
        first = joint.v_at.start
        rate = np.degrees(np.linalg.norm(trajectory.v[..., first : first + 3], axis=-1))
        yield figure(f"{name}, turned from its start", turned(trajectory, joint), "deg", batched=trajectory.batched)
        yield figure(f"{name}, angular rate", rate, "deg/s", batched=trajectory.batched)


def _loads(trajectory: Trajectory) -> Iterator[Figure]:
    """For each unit, the joint that came nearest to its limit; without limits, the one with the largest load."""
    found: dict[str, list[Figure]] = {}
    for body in trajectory.craft.bodies:
        joint = body.joint
        if joint.motion.unbound or joint.motion.spins or not joint.nv:
            continue
        tau = trajectory.tau[..., joint.v_at]
        for k, unit in enumerate(joint.motion.v_units):
            load = ("N m", "torque") if unit.startswith("rad") else ("N", "force")
            made = figure(
                f"joint {load[1]}, {joint.name}",
                np.abs(tau[..., k]),
                load[0],
                joint.limits.effort,
                batched=trajectory.batched,
            )
            found.setdefault(load[0], []).append(made)
    for rows in found.values():
        yield max(rows, key=_nearness)


def _wheels(trajectory: Trajectory) -> Iterator[Figure]:
    speeds, momenta = [], []
    for body in trajectory.craft.wheels:
        joint = body.joint
        rate, axis = np.abs(trajectory.v[..., joint.v_at.start]), np.asarray(joint.axis, dtype=float)
        J = _about(trajectory, body, axis)
        most = joint.limits.velocity
        rpm = 30 / np.pi
        batched = trajectory.batched
        speeds.append(figure(f"wheel speed, {joint.name}", rpm * rate, "rpm", rpm * most, batched=batched))
        h, largest = J * rate, float(np.max(J)) * most
        momenta.append(figure(f"wheel momentum, {joint.name}", h, "N m s", largest, batched=batched))
    for rows in (speeds, momenta):
        if rows:
            yield max(rows, key=_nearness)


def _about(trajectory: Trajectory, body: Body, axis: Array) -> Any:
    """Its moment of inertia about an axis; where it is dispersed, of each run, (runs, 1)."""
    own = trajectory.parameters.get(f"{body.name}.inertia")
    if own is None:
        return float(axis @ np.asarray(body.inertia, dtype=float) @ axis)
    (x, y, z), (xx, xy, xz, yy, yz, zz) = axis, np.moveaxis(own, -1, 0)
    moments = x * x * xx + y * y * yy + z * z * zz + 2 * (x * y * xy + x * z * xz + y * z * yz)
    return moments[:, None] if trajectory.batched else moments[0]


def _nearness(row: Figure) -> tuple[float, float]:
    return (row.share or 0.0, row.peak or 0.0)
