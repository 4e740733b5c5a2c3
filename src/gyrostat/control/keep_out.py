"""Turns that keep an instrument's axis out of cones: about the Sun for a camera or a star tracker."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ..algebra import Array, Pose, quat_conjugate, quat_log, quat_multiply, rotation, where
from .pose_paths import line
from .references import PosePath
from .timing import MinimumJerk

NEAR = 12  # neighbours of an attitude that turns are tried to


@dataclass(frozen=True)
class KeepOut:
    """boresight, in base axes, stays `angle` (rad) and more from `direction`, in N."""

    boresight: Any
    direction: Any
    angle: float

    def __post_init__(self) -> None:
        for name in ("boresight", "direction"):
            given = np.asarray(getattr(self, name), dtype=float)
            if given.shape != (3,) or not given.any():
                raise ValueError(f"keep-out: {name} is {getattr(self, name)}; expected a direction.")
            object.__setattr__(self, name, given / np.linalg.norm(given))
        if not 0.0 < self.angle < np.pi:
            raise ValueError(f"keep-out: angle is {self.angle} rad; expected one above 0 and below pi.")

    def clearance(self, start: Array, turn: Array) -> float:
        """Least angle to the direction, less `angle`, while the base turns by the rotation vector `turn`, in base axes,
        from the attitude quat_NB `start`: exactly, for about a fixed axis a

            cos(angle) = (a.b)(a.s) + cos(x) [b.s - (a.b)(a.s)] + sin(x) (a x b).s,   x from 0 to |turn|          (1)
        """
        s, b = rotation(start).T @ self.direction, self.boresight
        size = float(np.linalg.norm(turn))
        a = turn / size if size > 0.0 else np.array([1.0, 0.0, 0.0])
        along = float((a @ b) * (a @ s))
        c, d = float(b @ s) - along, float(np.cross(a, b) @ s)
        peak = float(np.arctan2(d, c)) % (2.0 * np.pi)
        nearest = max(c, c * np.cos(size) + d * np.sin(size))
        nearest = float(np.hypot(c, d)) if peak <= size else nearest
        return float(np.arccos(np.clip(along + nearest, -1.0, 1.0))) - self.angle


def turns_clear_of(
    start: Any, goal: Any, cones: Sequence[KeepOut], *, samples: int = 400, seed: int = 0
) -> list[Array]:
    """Attitudes quat_NB from start to goal, each of which the base reaches from the one before by one turn about a
    fixed axis that no cone is entered on: the straight one where it is clear, else the shortest on a net of attitudes,
    with what is between left out where the turn past it is clear.

    Raises ValueError where start or goal lies within a cone, and where no way was found.
    """
    start, goal = (np.asarray(q, dtype=float) / np.linalg.norm(q) for q in (start, goal))
    for name, quat in (("start", start), ("goal", goal)):
        for cone in cones:
            within = -cone.clearance(quat, np.zeros(3))
            if within > 0.0:
                raise ValueError(
                    f"keep-out: at the {name} the boresight {cone.boresight} is {np.degrees(within):.2f} degrees "
                    "within its cone. Choose another attitude, or a smaller angle."
                )
    if _clear(start, goal, cones):
        return [start, goal]
    rng = np.random.default_rng(seed)
    net = rng.normal(size=(samples, 4))
    net = net / np.linalg.norm(net, axis=1)[:, None]
    net = np.array([start, goal, *(q for q in net if all(c.clearance(q, np.zeros(3)) > 0.0 for c in cones))])
    path = _shortest(net, cones)
    if path is None:
        raise ValueError(
            f"keep-out: no way was found from start to goal on {samples} attitudes. Give more samples=, or wider gaps "
            "between the cones."
        )
    found, k = [0], 0
    while k < len(path) - 1:  # leave out what the turn past it need not touch
        k = next(j for j in range(len(path) - 1, k, -1) if j == k + 1 or _clear(net[path[k]], net[path[j]], cones))
        found.append(k)
    return [net[path[k]] for k in found]


def slew_clear_of(
    start: Any, goal: Any, cones: Sequence[KeepOut], *, rate: float, t0: float = 0.0, position: Any = (0.0, 0.0, 0.0),
    samples: int = 400, seed: int = 0,
) -> PosePath:  # fmt: skip
    """The reference from start to goal by `turns_clear_of`, each turn from rest to rest, none faster than `rate`
    (rad/s). It holds the goal from `path.end` (s) on.

    Raises ValueError for a rate that is not above zero, and as `turns_clear_of` does.
    """
    if not 0.0 < rate < np.inf:
        raise ValueError(f"slew_clear_of: rate is {rate}; expected rad/s, above zero.")
    quats = turns_clear_of(start, goal, cones, samples=samples, seed=seed)
    p = np.asarray(position, dtype=float)
    legs: list[tuple[float, PosePath]] = []
    at = t0
    for a, b in pairwise(quats):
        duration = max(1.875 * float(np.linalg.norm(_between(a, b))) / rate, 1e-3)  # MinimumJerk's top speed: 15/8
        legs.append((at, line(Pose(rotation(a), p), p, MinimumJerk(duration, at), R=rotation(b))))
        at += duration
    return _Legs(legs, at)


@dataclass(frozen=True, eq=False)
class _Legs:
    """Turns one after the other."""

    legs: list[tuple[float, PosePath]]
    end: float

    @property
    def breakpoints(self) -> tuple[float, ...]:
        """Between turns, where the jerk jumps."""
        return (*(begin for begin, _ in self.legs), self.end)

    def __call__(self, t: Any) -> Any:
        found = self.legs[0][1](t)
        for begin, leg in self.legs[1:]:
            found = _either(t < begin, found, leg(t))
        return found


def _either(before: Any, a: Any, b: Any) -> Any:
    def pick(x: Any, y: Any) -> Any:
        x, y = np.asarray(x), np.asarray(y)
        flat = [where(before, p, q) for p, q in zip(x.ravel(), y.ravel(), strict=True)]
        return np.array(flat).reshape(x.shape)

    return type(a)(Pose(pick(a.X.R, b.X.R), pick(a.X.p, b.X.p)), pick(a.twist, b.twist), pick(a.rate, b.rate))


def _between(a: Array, b: Array) -> Array:
    """Rotation vector from one attitude to another, in the axes of the first."""
    return np.asarray(quat_log(quat_multiply(quat_conjugate(a), b)), dtype=float)


def _clear(a: Array, b: Array, cones: Sequence[KeepOut]) -> bool:
    turn = _between(a, b)
    return all(cone.clearance(a, turn) > 0.0 for cone in cones)


def _shortest(net: Array, cones: Sequence[KeepOut]) -> list[int] | None:
    """Places in the net of the shortest way from its first to its second, by turns to near neighbours (Dijkstra)."""
    angles = 2.0 * np.arccos(np.clip(np.abs(net @ net.T), 0.0, 1.0))
    near = np.argsort(angles, axis=1)[:, 1 : NEAR + 1]
    links: dict[int, set[int]] = {k: set() for k in range(len(net))}
    for k, row in enumerate(near):
        for j in row.tolist():
            links[k].add(j)
            links[j].add(k)
    best = {0: 0.0}
    before: dict[int, int] = {}
    queue = [(0.0, 0)]
    while queue:
        length, k = heapq.heappop(queue)
        if k == 1:
            path = [1]
            while path[-1] != 0:
                path.append(before[path[-1]])
            return path[::-1]
        if length > best[k]:
            continue
        for j in links[k]:
            further = length + float(angles[k, j])
            if further < best.get(j, np.inf) and _clear(net[k], net[j], cones):
                best[j], before[j] = further, k
                heapq.heappush(queue, (further, j))
    return None
