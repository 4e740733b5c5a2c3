"""Kalman filters of anything: functions of motion and of measurement, in any space of vectors and rotations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..algebra import Array, ldl, mirror, solve_spd, sqrt, where
from ..model import Spacecraft
from ..tracing import jacobian_of
from .estimator import AbstractEstimator, Estimate, Judged, Layout, Space, nees

Dynamics = Callable[[Any, Array], Array]


class Measurement(NamedTuple):
    """h(craft, t, q, v, x) -> what the sensor would read at the estimate x. q, v: what other sensors show of the state.

    sigma: standard deviation of the reading's errors, one or per component of their differences. space: of the reading;
    that of a vector by default.
    """

    h: Callable[..., Array]
    sigma: Any
    space: Space | None = None


@dataclass(frozen=True, eq=False)
class KalmanFilter(AbstractEstimator):
    """x on `space`, its error d in its own axes: truth = plus(x, d), d ~ (0, P). xdot = dynamics(t, x) is integrated by
    `steps` steps of the classical method of order 4 from sample to sample: x <- f(x). Made by `ekf` or `ukf`.

    Extended, with F = d minus(f(plus(x, d)), f(x))/dd and H = d minus(h(plus(x, d)), h(x))/dd at d = 0, both exact:

        P <- F P F^T + Q T,  y = minus(reading, h(x)),  S = H P H^T + R,  K = P H^T S^-1                          (1)
        P <- (1 - K H) P (1 - K H)^T + K R K^T  (Joseph),  x <- plus(x, K y),  P <- G P G^T                       (2)

    with G = d minus(plus(x, K y + d), plus(x, K y))/dd. Unscented, with the 2 n points d_i = +-sqrt(n) columns of a
    root of P, all weights 1/(2 n): means and covariances of the points after f and h take the place of (1), and

        P <- sum (d_i - K y_i)(d_i - K y_i)^T / (2 n) + K R K^T                                                   (3)

    that of (2). measurements: by the name of the sensor; those that are not fresh change nothing. shows: what laws see,
    (craft, q, v, x) -> (q, v). truth: x of states (..., nq), (..., nv), (craft, q, v) -> (..., components), for NEES
    in the report.
    """

    dynamics: Dynamics
    measurements: Mapping[str, Measurement]
    x0: Any
    P0: Any
    space: Space
    noise: Any = 0.0
    steps: int = 1
    unscented: bool = False
    shows: Callable[..., tuple[Array, Array]] | None = None
    truth: Callable[..., Array] | None = None

    def __post_init__(self) -> None:
        n = self.space.size
        x0, P0, Q = (np.asarray(x, dtype=float) for x in (self.x0, self.P0, self.noise))
        P0, Q = (np.diag(np.broadcast_to(x, n)) if x.ndim < 2 else x for x in (P0, Q))
        if x0.shape != (self.space.components,) or P0.shape != (n, n) or Q.shape != (n, n):
            raise ValueError(
                f"filter: x0 has shape {x0.shape}, P0 {P0.shape}, noise {Q.shape}; expected ({self.space.components},) "
                f"and ({n}, {n}) of its space, or their diagonals."
            )
        if not np.all(np.linalg.eigvalsh(P0) > 0) or not np.all(np.linalg.eigvalsh(Q) >= 0):
            raise ValueError("filter: P0 must be positive definite, noise not negative.")
        if not self.measurements:
            raise ValueError("filter: it has no measurements. Give {sensor's name: Measurement(h, sigma)}.")
        for name, value in (("x0", self.space.tidy(x0)), ("P0", P0), ("noise", Q)):
            object.__setattr__(self, name, value)

    @property
    def layout(self) -> Layout:
        return Layout(self.space, len(self.measurements))

    def start(self, craft: Spacecraft, period: float) -> Array:
        return self.layout.packed(self.x0, self.P0, np.zeros(len(self.measurements)))

    def read(self, memory: Any) -> Estimate:
        """What the memory (..., n) says: `trajectory.data["held_z"].values`."""
        return self.layout.read(memory)

    def seen(self, craft: Spacecraft, q: Array, v: Array, z: Array) -> tuple[Array, Array]:
        return (q, v) if self.shows is None else self.shows(craft, q, v, z[self.layout.x])

    def judged(self, craft: Spacecraft, q: Array, v: Array, z: Array) -> list[Judged]:
        found = self.read(z)
        rows = []
        if self.truth is not None:
            true = np.asarray(self.truth(craft, q, v), dtype=float)
            off = np.array([self.space.minus(a, b) for a, b in zip(true, found.x, strict=True)])
            rows.append(Judged("NEES of the filter", nees(off, found.P), self.space.size))
        sizes = [m.space.size if m.space else len(np.atleast_1d(m.sigma)) for m in self.measurements.values()]
        for k, (name, size) in enumerate(zip(self.measurements, sizes, strict=True)):
            if size > 1 or self.measurements[name].space is not None:  # else how many components it has is not told
                rows.append(Judged(f"NIS of '{name}'", found.nis[..., k], size))
        return rows

    def step(
        self, craft: Spacecraft, t: Any, q: Array, v: Array, z: Array, readings: Any, sample: Any, period: float
    ) -> Array:
        goes = where(sample < 0.5, 0.0, 1.0)  # the first sample has none before it
        x, P = z[self.layout.x], self.layout.covariance(z)
        x, P = (self._points_on if self.unscented else self._on)(x, P, t, goes * period)
        found = []
        for k, (name, measurement) in enumerate(self.measurements.items()):
            if name not in readings:
                raise ValueError(
                    f"filter: it measures by '{name}', and there is no such instrument; there are "
                    f"{', '.join(readings) or 'none'}."
                )
            h, space = measurement.h, measurement.space or Space(len(readings[name].value))
            R = np.diag(np.broadcast_to(np.asarray(measurement.sigma, dtype=float) ** 2, space.size))
            told = _Told(partial(h, craft, t, q, v), readings[name], space, R)
            x, P, nis = (self._points_corrected if self.unscented else self._corrected)(x, P, told)
            found.append(where(told.reading.fresh > 0.5, nis, z[self.layout.nis][k]))
        return self.layout.packed(self.space.tidy(x), P, np.array(found))

    def flow(self, x: Array, t: Any, T: Any) -> Array:
        """x at t, from that at t - T."""
        h, f = T / self.steps, self.dynamics
        for k in range(self.steps):
            now = t - T + k * h
            k1 = f(now, x)
            k2 = f(now + 0.5 * h, x + 0.5 * h * k1)
            k3 = f(now + 0.5 * h, x + 0.5 * h * k2)
            k4 = f(now + h, x + h * k3)
            x = x + (h / 6.0) * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        return self.space.tidy(x)

    # ---- extended

    def _on(self, x: Array, P: Array, t: Any, T: Any) -> tuple[Array, Array]:
        def off(x: Array, d: Array) -> Array:
            return self.space.minus(self.flow(self.space.plus(x, d), t, T), self.flow(x, t, T))

        F = _slope(off, x, self.space.size)
        return self.flow(x, t, T), mirror(F @ P @ F.T + T * self.noise)  # (1)

    def _corrected(self, x: Array, P: Array, told: _Told) -> tuple[Array, Array, Any]:
        n, space = self.space.size, told.space
        H = _slope(lambda x, d: space.minus(told.h(self.space.plus(x, d)), told.h(x)), x, n)
        S = mirror(H @ P @ H.T + told.R)
        y = space.minus(told.reading.value, told.h(x))
        K = told.reading.fresh * solve_spd(S, H @ P).T
        L = np.eye(n) - K @ H
        P = L @ P @ L.T + K @ told.R @ K.T  # (2)
        e = K @ y
        G = _slope(lambda e, d: self.space.minus(self.space.plus(x, e + d), self.space.plus(x, e)), e, n)
        return self.space.plus(x, e), mirror(G @ P @ G.T), y @ solve_spd(S, y)

    # ---- unscented

    def _points(self, P: Array) -> list[Array]:
        L, d = ldl(P)
        root = (L * np.array([sqrt(e) for e in d])) * np.sqrt(self.space.size)
        return [sign * column for column in root.T for sign in (1.0, -1.0)]

    def _points_on(self, x: Array, P: Array, t: Any, T: Any) -> tuple[Array, Array]:
        there = [self.flow(self.space.plus(x, d), t, T) for d in self._points(P)]
        middle = self.flow(x, t, T)
        x = self.space.plus(middle, np.array([self.space.minus(p, middle) for p in there]).sum(axis=0) / len(there))
        off = np.array([self.space.minus(p, x) for p in there])
        return x, mirror(off.T @ off / len(there) + T * self.noise)

    def _points_corrected(self, x: Array, P: Array, told: _Told) -> tuple[Array, Array, Any]:
        points, here = np.array(self._points(P)), told.h(x)
        off = np.array([told.space.minus(told.h(self.space.plus(x, d)), here) for d in points])
        mean = sum(off) / len(off)
        off = off - mean
        S = mirror(off.T @ off / len(off) + told.R)
        y = told.space.minus(told.reading.value, here) - mean
        K = told.reading.fresh * solve_spd(S, off.T @ points / len(off)).T
        left = points - off @ K.T
        P = mirror(left.T @ left / len(left) + K @ told.R @ K.T)  # (3)
        return self.space.plus(x, K @ y), P, y @ solve_spd(S, y)


class _Told(NamedTuple):
    """One measurement at one sample."""

    h: Callable[[Array], Array]
    reading: Any
    space: Space
    R: Array


def _slope(f: Callable[[Array, Array], Array], x: Array, n: int) -> Array:
    """df(x, d)/dd at d = 0, which has n components."""
    return np.asarray(jacobian_of(f, "d")(x, np.zeros(n)))


def ekf(
    dynamics: Callable[[Any, Array], Array], measurements: Mapping[str, Measurement], **options: Any
) -> KalmanFilter:
    """The extended Kalman filter of xdot = dynamics(t, x); options: x0, P0, space, noise, steps, shows."""
    return KalmanFilter(dynamics, measurements, unscented=False, **options)


def ukf(
    dynamics: Callable[[Any, Array], Array], measurements: Mapping[str, Measurement], **options: Any
) -> KalmanFilter:
    """The unscented one; the same options."""
    return KalmanFilter(dynamics, measurements, unscented=True, **options)
