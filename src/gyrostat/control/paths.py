"""References over time: timings from 0 to 1, joint paths, lines, arcs and screws of a pose, and how long they must take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..algebra import (
    Array,
    Pose,
    clip,
    cross,
    exp_so3,
    log_se3,
    log_so3,
    maximum,
    minimum,
    rotation_about,
    where,
)
from ..algebra import compose as compose_poses
from ..algebra import exp_se3 as screw
from ..algebra import inverse as inverse_pose
from .rate_profile import Reference


class Timing(NamedTuple):
    """How far along a path, from 0 to 1, with its first and second derivative by time."""

    s: Any
    rate: Any
    acceleration: Any


@dataclass(frozen=True)
class MinimumJerk:
    """From rest to rest in `duration`, from `start` on: s = 10 u^3 - 15 u^4 + 6 u^5, the path of least squared jerk.

    Flash & Hogan (1985). Largest rate 15/8 / T, largest acceleration 10/sqrt(3) / T^2.
    """

    duration: float
    start: float = 0.0

    PEAK_RATE = 15 / 8
    PEAK_ACCELERATION = 10 / 3**0.5

    def __call__(self, t: Any) -> Timing:
        T = self.duration
        u = clip((t - self.start) / T, 0.0, 1.0)
        s = u * u * u * (10.0 + u * (6.0 * u - 15.0))
        rate = 30.0 * u * u * (1.0 - u) * (1.0 - u) / T
        return Timing(s, rate, 60.0 * u * (1.0 - u) * (1.0 - 2.0 * u) / (T * T))

    @property
    def breakpoints(self) -> tuple[float, ...]:
        return (self.start, self.start + self.duration)


@dataclass(frozen=True)
class Trapezoidal:
    """Constant acceleration for `ramp` seconds, constant rate, constant deceleration; from rest to rest in `duration`.

    Peak rate 1 / (T - ramp), peak acceleration 1 / (ramp (T - ramp)).
    """

    duration: float
    ramp: float
    start: float = 0.0

    def __post_init__(self) -> None:
        if not 0 < self.ramp <= self.duration / 2:
            raise ValueError(f"ramp is {self.ramp} s; expected more than 0 and at most half of {self.duration} s.")

    def __call__(self, t: Any) -> Timing:
        T, r = self.duration, self.ramp
        a = 1.0 / (r * (T - r))
        u = clip(t - self.start, 0.0, T)
        up, down = minimum(u, r), maximum(u - (T - r), 0.0)
        cruise = maximum(minimum(u, T - r) - r, 0.0)
        rate = a * (up - down)
        s = a * (0.5 * up * up + r * cruise + r * down - 0.5 * down * down)
        inside = where(t >= self.start, where(t < self.start + T, 1.0, 0.0), 0.0)
        return Timing(s, rate, a * inside * (where(u < r, 1.0, 0.0) - where(u >= T - r, 1.0, 0.0)))

    @property
    def breakpoints(self) -> tuple[float, ...]:
        t, T, r = self.start, self.duration, self.ramp
        return (t, t + r, t + T - r, t + T)


@dataclass(frozen=True, eq=False)
class Quintic:
    """Joints from (q, qdot, qddot) at `start` to (q, qdot, qddot) at the end: polynomials of fifth degree; after it, on at constant rate.

    begin, end: `Reference`s, or triples of them.
    """

    begin: tuple[Any, Any, Any]
    end: tuple[Any, Any, Any]
    duration: float
    start: float = 0.0

    def coefficients(self) -> Array:
        """c (6, n) of q = sum c_k u^k, u = (t - start) / T."""
        T = self.duration
        (q0, v0, a0), (q1, v1, a1) = (tuple(map(np.asarray, x)) for x in (self.begin, self.end))
        v0, v1, a0, a1 = v0 * T, v1 * T, a0 * T * T, a1 * T * T
        d, dv = q1 - q0 - v0 - 0.5 * a0, v1 - v0 - a0
        da = a1 - a0
        return np.array(
            [q0, v0, 0.5 * a0, 10 * d - 4 * dv + 0.5 * da, -15 * d + 7 * dv - da, 6 * d - 3 * dv + 0.5 * da]
        )

    def __call__(self, t: Any) -> Reference:
        T, c = self.duration, self.coefficients()
        u = clip((t - self.start) / T, 0.0, 1.0)
        beyond = (t - self.start) - u * T
        q: Array = c[5]
        for k in reversed(range(5)):
            q = q * u + c[k]
        rate: Array = 5.0 * c[5]
        for k in reversed(range(1, 5)):
            rate = rate * u + k * c[k]
        acceleration: Array = 20.0 * c[5]
        for k in reversed(range(2, 5)):
            acceleration = acceleration * u + k * (k - 1) * c[k]
        moving = where(t > self.start + T, 0.0, where(t < self.start, 0.0, 1.0))
        return Reference(q + beyond * rate / T, rate / T, moving * acceleration / (T * T))

    @property
    def breakpoints(self) -> tuple[float, ...]:
        return (self.start, self.start + self.duration)


def joint_path(begin: Any, end: Any, timing: Callable[[Any], Timing]) -> Callable[[Any], Reference]:
    """A straight line in joint space, for joints whose rates are derivatives of their coordinates."""
    q0 = np.asarray(begin, dtype=float)
    step = np.asarray(end, dtype=float) - q0

    def reference(t: Any) -> Reference:
        s = timing(t)
        return Reference(q0 + step * s.s, step * s.rate, step * s.acceleration)

    return reference


# ---- poses


class PoseReference(NamedTuple):
    """What a frame is to do: pose X_ND, twist [w; v] and its rate [wdot; vdot], both in N, of the frame's origin."""

    X: Pose
    twist: Array  # (6,)
    rate: Array  # (6,)


PosePath = Callable[[Any], PoseReference]


def line(X: Pose, to: Any, timing: Callable[[Any], Timing], *, R: Array | None = None) -> PosePath:
    """The origin moves straight to `to` (in N), while the frame turns evenly about one axis to R (default: it does not turn)."""
    start, step = np.asarray(X.p), np.asarray(to, dtype=float) - np.asarray(X.p)
    turn_N = np.zeros(3) if R is None else log_so3(R @ X.R.T)

    def reference(t: Any) -> PoseReference:
        s = timing(t)
        R_t = X.R if R is None else exp_so3(s.s * turn_N) @ X.R
        return PoseReference(Pose(R_t, start + step * s.s), *(np.concatenate([turn_N, step]) * x for x in s[1:]))

    return reference


def arc(
    X: Pose, center: Any, axis: Any, angle: float, timing: Callable[[Any], Timing], *, turn: bool = False
) -> PosePath:
    """The origin moves by `angle` on a circle about `axis` through `center` (in N); with `turn` the frame turns along."""
    c, a = np.asarray(center, dtype=float), np.asarray(axis, dtype=float)
    a = a / np.sqrt(a @ a)
    r0 = np.asarray(X.p) - c

    def reference(t: Any) -> PoseReference:
        s = timing(t)
        about = rotation_about(a, angle * s.s)
        r = about @ r0
        w, wdot = angle * s.rate * a, angle * s.acceleration * a
        v = cross(w, r)
        own_w, own_wdot = (w, wdot) if turn else (np.zeros(3), np.zeros(3))
        return PoseReference(
            Pose(about @ X.R if turn else X.R, c + r),
            np.concatenate([own_w, v]),
            np.concatenate([own_wdot, cross(wdot, r) + cross(w, v)]),
        )

    return reference


def screw_path(X: Pose, to: Pose, timing: Callable[[Any], Timing]) -> PosePath:
    """A screw motion from one pose to the other, the short way round: X exp(s log(X^-1 to)), ScLERP.

    Its body twist xi is constant along s: V_B = s' xi, and in N: w = R w_B, v = R v_B, v' = R (v_B' + w_B x v_B).
    """
    xi = log_se3(compose_poses(inverse_pose(X), to))

    def reference(t: Any) -> PoseReference:
        s = timing(t)
        now = compose_poses(X, screw(s.s * xi))
        V, Vdot = s.rate * xi, s.acceleration * xi
        twist = np.concatenate([now.R @ V[:3], now.R @ V[3:]])
        rate = np.concatenate([now.R @ Vdot[:3], now.R @ (Vdot[3:] + cross(V[:3], V[3:]))])
        return PoseReference(now, twist, rate)

    return reference


# ---- how long


def shortest_duration(
    distance: Any, *, rate: Any = float("inf"), acceleration: Any = float("inf"), timing: Any = MinimumJerk
) -> float:
    """Seconds in which paths of these lengths (one per joint) stay within the largest rates and accelerations.

    Exact for the timing's peaks: T = max(|d| peak_rate / rate, sqrt(|d| peak_acceleration / acceleration)).
    """
    d = np.abs(np.asarray(distance, dtype=float))
    by_rate = d * timing.PEAK_RATE / np.asarray(rate, dtype=float)
    by_acceleration = np.sqrt(d * timing.PEAK_ACCELERATION / np.asarray(acceleration, dtype=float))
    return float(np.maximum(by_rate, by_acceleration).max())


def slowed(path: Callable[[Any], Any], factor: float) -> Callable[[Any], Any]:
    """The same path at `factor` of its speed: rates times factor, accelerations times its square. t = 0 stays."""

    def reference(t: Any) -> Any:
        at = path(factor * t)
        if isinstance(at, PoseReference):
            return PoseReference(at.X, factor * at.twist, factor * factor * at.rate)
        return type(at)(at[0], factor * at[1], factor * factor * at[2])

    return reference


def scale_to_limits(
    path: Callable[[Any], Reference], duration: float, *, rate: Any, acceleration: Any, samples: int = 2001
) -> float:
    """The factor for `slowed` that keeps a joint path within its limits; more than one where there is room.

    rates scale with the factor, accelerations with its square: factor = min(rate / peak rate, sqrt(acceleration / peak acceleration)).
    """
    references = [path(t) for t in np.linspace(0.0, duration, samples)]
    peak_rate = np.abs([r.qdot for r in references]).max(axis=0)
    peak_acceleration = np.abs([r.qddot for r in references]).max(axis=0)
    with np.errstate(divide="ignore"):
        factors = np.concatenate(
            [
                np.atleast_1d(np.asarray(rate) / peak_rate),
                np.atleast_1d(np.sqrt(np.asarray(acceleration) / peak_acceleration)),
            ]
        )
    return float(factors.min())
