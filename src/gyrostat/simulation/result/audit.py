"""What a run owes its user: momentum against impulses, energy against work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...algebra import Array, cross, norm, wrench_to_parent
from ...formulations.recursive import kinetic_energy
from ...kinematics import body_twists, inertial_poses, joint_poses
from ...model import Spacecraft

if TYPE_CHECKING:
    from .trajectory import Trajectory


@dataclass(frozen=True)
class Audit:
    """Largest relative deviation, over all times and runs, of a quantity from what the loads account for.

    linear, angular: of the momentum, relative to the largest sum over the bodies of |m v| (of the angular momenta about the same
    point, plus |m v| times the point's distance from the origin, about which momentum and impulses are summed). energy: of the kinetic energy, relative to its largest value plus the work. potential: of the environment's potential
    energy from the work it did, relative to the same; None if it has no potential, or one that changes with time.
    """

    linear: float
    angular_origin: float
    angular_com: float
    angular_base: float
    energy: float
    impulse: tuple[float, ...]  # largest [angular; linear] of external loads about the inertial origin, N m s and N s
    work: float  # largest of all loads, J
    potential: float | None = None

    @property
    def worst(self) -> float:
        return max(drift for _, drift in self.rows())

    def rows(self) -> list[tuple[str, float]]:
        """Name and relative drift, for tables."""
        rows = [
            ("linear momentum", self.linear),
            ("angular momentum about the inertial origin", self.angular_origin),
            ("angular momentum about the centre of mass", self.angular_com),
            ("angular momentum about the base", self.angular_base),
            ("energy", self.energy),
        ]
        return rows if self.potential is None else [*rows, ("potential energy", self.potential)]

    def __str__(self) -> str:
        return "audit: " + ", ".join(f"{name} {drift:.1e}" for name, drift in self.rows())


class _Measured(NamedTuple):
    h: Array  # (6,) momentum about the inertial origin
    com: Array  # (3,)
    base: Array  # (3,)
    sizes: Array  # (4,) sum of |p_i|, and of |l_i| about origin, com, base (with the lever from the origin)
    energy: Any


def _measure(craft: Spacecraft, q: Array, v: Array) -> _Measured:
    X_NB, V = inertial_poses(craft, q), body_twists(craft, q, v, joint_poses(craft, q))
    momenta = [wrench_to_parent(X_NB[B], craft.inertia(B) @ V[B]) for B, _ in craft.base_to_tip]
    mass = sum(body.mass for body in craft.bodies)
    moment = sum(body.mass * (X_NB[body.name].p + X_NB[body.name].R @ body.com) for body in craft.bodies)
    com, base = moment / mass, X_NB[craft.base].p
    sizes = [sum(norm(h[3:]) for h in momenta)]
    for point in (np.zeros(3), com, base):
        lever = norm(point) * sizes[0]  # far from the origin, round-off of what is summed about it counts by its lever
        sizes.append(sum(norm(h[:3] - cross(point, h[3:])) for h in momenta) + lever)
    total = np.array(momenta).sum(axis=0)
    return _Measured(total, com, base, np.array(sizes), kinetic_energy(craft, q, v))


def audit(trajectory: Trajectory) -> Audit:
    """Deviations at the saved times; rows that a run did not reach are left out."""
    measured = trajectory._compiled(_measure, ["q", "v"])
    data = trajectory.data
    impulse, work = data["impulse"].values, data["work"].values
    dh = measured.h - measured.h[..., :1, :] - (impulse - impulse[..., :1, :])
    gained = work - work[..., :1]
    dE = measured.energy - measured.energy[..., :1] - gained
    reached = np.isfinite(measured.energy)
    sizes = _largest(measured.sizes, reached)

    def angular(point: Array, k: int) -> float:
        dl = dh[..., :3] - np.cross(point, dh[..., 3:])
        return _relative(np.linalg.norm(dl, axis=-1), sizes[..., k], reached)

    size = _largest(measured.energy[..., None], reached)[..., 0] + _largest(np.abs(gained)[..., None], reached)[..., 0]
    return Audit(
        _relative(np.linalg.norm(dh[..., 3:], axis=-1), sizes[..., 0], reached),
        angular(np.zeros(3), 1),
        angular(measured.com, 2),
        angular(measured.base, 3),
        _relative(np.abs(dE), size, reached),
        tuple(float(x) for x in _most(np.abs(impulse.reshape(-1, 6)))),
        float(_most(np.abs(gained).reshape(-1, 1))[0]),
        _potential(trajectory, reached, size),
    )


def _potential(trajectory: Trajectory, reached: Array, size: Array) -> float | None:
    """Of the potential from the work of the environment."""
    if "work_environment" not in trajectory.data or "potential" not in trajectory.signals:
        return None
    potential, work = trajectory.signals["potential"], trajectory.data["work_environment"].values
    if potential.attrs["depends_on_time"]:
        return None
    V = potential.values
    largest = _largest(np.abs(work - work[..., :1])[..., None], reached)[..., 0]
    return _relative(np.abs(V - V[..., :1] + work - work[..., :1]), size + largest, reached)


def _most(values: Array) -> Array:
    """Largest along the first axis, NaN left out."""
    return np.where(np.isnan(values), 0.0, values).max(axis=0)


def _largest(values: Array, reached: Array) -> Array:
    """Over time, for each run."""
    return np.where(reached[..., None], values, 0.0).max(axis=-2)


def _relative(deviation: Array, size: Array, reached: Array) -> float:
    """Largest deviation over times and runs, each relative to its run's size; zero where nothing moves at all."""
    largest = np.where(reached, deviation, 0.0).max(axis=-1)
    return float(np.max(np.divide(largest, size, out=np.zeros_like(largest), where=size > 0)))
