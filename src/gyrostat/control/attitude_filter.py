"""Attitude and gyro bias from a gyro and a star tracker: the multiplicative extended Kalman filter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..algebra import (
    Array,
    exp_so3,
    left_jacobian,
    mirror,
    quat_conjugate,
    quat_exp,
    quat_log,
    quat_multiply,
    quat_normalize,
    solve_spd,
    where,
)
from ..model import Spacecraft
from .controller import STATE, Controller, call, standing_for
from .demands import base_quaternion, demand_free_base
from .estimator import Judged
from .imperfection import Place
from .instruments import at_a_place
from .integrating_gyro import IntegratingGyro
from .sensor import chosen
from .sensors import StarTracker

_UPPER = np.triu_indices(6)
_SIZES = {"quat": 4, "bias": 3, "rate": 3, "quat_est": 4, "bias_est": 3, "P": 21, "nis": 1}
_ENDS = np.cumsum([0, *_SIZES.values()])
_AT = {name: slice(a, b) for name, a, b in zip(_SIZES, _ENDS[:-1], _ENDS[1:], strict=True)}


class FilterReport(NamedTuple):
    """At the last sample, with any leading axes. Expected of a consistent filter: nees 6 and nis 3 on average."""

    attitude_error: Array  # (..., 3) rad, from the estimate to the truth, in estimated base axes
    bias_error: Array  # (..., 3) rad/s
    sigma: Array  # (..., 6) what the filter believes of both
    nees: Array  # (...) e^T P^-1 e: chi-squared, 6 degrees of freedom
    nis: Array  # (...) y^T S^-1 y of the last tracker reading: 3 degrees of freedom
    rate: Array  # (..., 3) the gyro's reading, rad/s


@dataclass(frozen=True, eq=False)
class AttitudeFilter:
    """Sampled with the gyro every `period` s; the tracker is read at every `every`-th sample (0: never).

    quat_true = quat_est exp(d), b_true = b_est + e,  x = (d, e) ~ (0, P). With f = (w_m - b_est) T, Jr(f) the right
    Jacobian, from sample to sample

        quat_est <- quat_est exp(f),  P <- F P F^T + Q,  F = [[exp(-f), -Jr T], [0, 1]]                           (1)

    and at a reading y = log(quat_est^-1 quat_m) = d + n, H = (1 0):

        K = P H^T (H P H^T + R)^-1,  P <- (1 - K H) P (1 - K H)^T + K R K^T                       (Joseph)        (2)
        quat_est <- quat_est exp(d_est),  P <- G P G^T,  G = diag(Jr(d_est), 1)                   (reset)         (3)

    start: quat_NB that is believed at first; sigma, in rad: how well. The first bias is believed to be zero, as well as
    gyro.bias says. Lefferts, Markley, Shuster (1982); Farrenkopf's noise; reset as of Mueller, Hehn, D'Andrea (2017).
    """

    gyro: IntegratingGyro
    tracker: StarTracker
    period: float
    every: int = 1
    start: Any = (1.0, 0.0, 0.0, 0.0)
    sigma: float = 1.0

    def __post_init__(self) -> None:
        if not 0.0 < self.period < np.inf or self.every != int(self.every) or self.every < 0:
            raise ValueError(
                f"attitude filter: period is {self.period} s, every {self.every}; expected seconds above zero, and "
                "how many samples of the gyro go by to one of the tracker (0: never)."
            )
        noise = np.asarray(self.tracker.imperfection.noise)
        if self.every and (noise.shape not in ((), (3,)) or not (noise > 0).all()):
            raise ValueError(
                f"attitude filter: the tracker's noise is {self.tracker.imperfection.noise!r}; the filter weighs its "
                "readings by it. Give one or three numbers above zero, in rad."
            )
        errors = self.tracker.imperfection
        other = [
            name for name in ("walk", "first_bias", "delay", "quantum") if np.any(np.asarray(getattr(errors, name)))
        ]
        if other or errors.every != 1 or np.any(np.isfinite(errors.limit)):
            raise ValueError(
                f"attitude filter: its tracker has {', '.join(other) or 'every= or limit='} in its imperfection; it "
                "knows bias, noise and lost. Say every= of the filter, or use Instruments(estimator=...)."
            )
        if not 0.0 < self.sigma < np.inf:
            raise ValueError(f"attitude filter: sigma is {self.sigma}; expected rad, above zero.")

    @property
    def memory(self) -> Array:
        """At the start, (39,)."""
        z = np.zeros(_ENDS[-1])
        z[_AT["quat_est"]] = quat_normalize(np.asarray(self.start, dtype=float))
        z[_AT["P"]] = np.diag([self.sigma**2] * 3 + [self.gyro.bias**2] * 3)[_UPPER]
        return z

    def controller(self, law: Callable[..., Any]) -> Controller:
        """law(craft, t, q, v) -> tau, given the estimated attitude and rate of the base in place of the true ones."""
        if isinstance(law, Controller):
            raise TypeError(
                "AttitudeFilter.controller: the law is a Controller; the filter has a memory of its own. Give a "
                "function (craft, t, q, v) -> tau."
            )

        def output(
            craft: Spacecraft, t: Any, q: Array, v: Array, z: Array, *, run: Any, sample: Any, seed: Any, **asked: Any
        ) -> Any:
            base = demand_free_base(craft, "AttitudeFilter")
            new = self.step(craft, q, v, z, Place(seed, run, sample), t)
            seen_q, seen_v = list(q), list(v)
            at, turns = base.q_at.start, base.v_at.start
            seen_q[at : at + 4] = list(new[_AT["quat_est"]])
            seen_v[turns : turns + 3] = list(new[_AT["rate"]] - new[_AT["bias_est"]])
            available = {"run": run, "sample": sample, "seed": seed} | asked
            return call(law, (craft, t, np.array(seen_q), np.array(seen_v)), available)

        def update(
            craft: Spacecraft, t: Any, q: Array, v: Array, z: Array, *, run: Any, sample: Any, seed: Any, **asked: Any
        ) -> Array:
            return self.step(craft, q, v, z, Place(seed, run, sample), t)

        for function in (output, update):
            standing_for(function, (*STATE, "z"), (law, len(STATE)), (at_a_place, 0))
        return Controller(output, self.memory, update=update, period=self.period, tells=self._told)

    def step(self, craft: Spacecraft, q: Array, v: Array, z: Array, place: Place, t: Any = 0.0) -> Array:
        """The memory after a sample."""
        demand_free_base(craft, "AttitudeFilter")
        T, first = self.period, place.sample < 0.5
        goes = where(first, 0.0, 1.0)
        quat = quat_normalize(base_quaternion(craft, q))
        bias = chosen(first, self.gyro.first_bias(place), z[_AT["bias"]])
        rate, walked = self.gyro.read(chosen(first, quat, z[_AT["quat"]]), quat, bias, T, place)
        bias = chosen(first, bias, walked)
        rate = chosen(first, rate + v[craft.joints[0].v_at][:3], rate)  # it has no sample before: the rate of now
        quat_est, bias_est, P = z[_AT["quat_est"]], z[_AT["bias_est"]], _matrix(z[_AT["P"]])

        f = goes * T * (rate - bias_est)
        J = left_jacobian(-f)
        F = _blocks(exp_so3(-f), -goes * T * J, np.zeros((3, 3)), np.eye(3))
        K_T, white = self.gyro.rate_walk * np.sqrt(T), self.gyro.white(T)
        noise = goes * _blocks(-0.5 * T * K_T * J, -T * white * J, K_T * np.eye(3), np.zeros((3, 3)))
        quat_est, P = quat_multiply(quat_est, quat_exp(f)), F @ P @ F.T + noise @ noise.T  # (1)

        nis: Any = z[_AT["nis"]][0]
        if self.every:
            seen = where((place.sample + 0.5) % self.every < 1.0, 1.0, 0.0)
            seen = seen * self.tracker.imperfection.taken(place, self.tracker.use(craft))
            clear = self.tracker.sees(craft, t, q, v)
            seen = seen if clear is None else seen * clear
            read = quat_multiply(quat, self.tracker.turn(craft, place))
            y = quat_log(quat_multiply(quat_conjugate(quat_est), read))
            R = np.diag(np.broadcast_to(np.asarray(self.tracker.imperfection.noise) ** 2, 3))
            S = mirror(P[:3, :3] + R)
            nis = where(seen > 0.5, y @ solve_spd(S, y), nis)
            K = seen * solve_spd(S, P[:3]).T
            L = np.eye(6) - np.concatenate([K, np.zeros((6, 3))], axis=1)
            P = L @ P @ L.T + K @ R @ K.T  # (2)
            x = K @ y
            G = _blocks(left_jacobian(-x[:3]), np.zeros((3, 3)), np.zeros((3, 3)), np.eye(3))
            quat_est, bias_est, P = quat_multiply(quat_est, quat_exp(x[:3])), bias_est + x[3:], G @ P @ G.T  # (3)
        return np.concatenate([quat, bias, rate, quat_normalize(quat_est), bias_est, P[_UPPER], [nis]])

    def report(self, memory: Any) -> FilterReport:
        """What the memory (..., 39) says: `trajectory.data["held_z"].values` at each saved time of a run."""
        z = np.asarray(memory, dtype=float)
        rows = [self._judged(row) for row in z.reshape(-1, z.shape[-1])]
        return FilterReport(
            *(np.array(part).reshape((*z.shape[:-1], *np.shape(part[0]))) for part in zip(*rows, strict=True))
        )

    def _told(self, craft: Spacecraft, q: Array, v: Array, z: Array) -> list[Judged]:
        found = self.report(z)
        known = 6 if self.gyro.bias > 0 or self.gyro.rate_walk > 0 else 3
        rows = [Judged("NEES of attitude and gyro bias", found.nees, known)]
        return rows + ([Judged("NIS of the star tracker", found.nis, 3)] if self.every else [])

    def _judged(self, z: Array) -> FilterReport:
        P = _matrix(z[_AT["P"]])
        d = quat_log(quat_multiply(quat_conjugate(z[_AT["quat_est"]]), z[_AT["quat"]]))
        e = z[_AT["bias"]] - z[_AT["bias_est"]]
        x = np.concatenate([d, e])
        known = np.diag(P) > 0
        nees = x[known] @ np.linalg.solve(P[np.ix_(known, known)], x[known])
        return FilterReport(d, e, np.sqrt(np.diag(P)), nees, z[_AT["nis"]][0], z[_AT["rate"]])


def _matrix(upper: Array) -> Array:
    P: Any = np.zeros((6, 6), dtype=upper.dtype)
    P[_UPPER] = upper
    return mirror(P)


def _blocks(a: Array, b: Array, c: Array, d: Array) -> Array:
    return np.concatenate([np.concatenate([a, b], axis=1), np.concatenate([c, d], axis=1)])
