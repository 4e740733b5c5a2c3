"""Input shaping: a command in a few parts, timed so that what each leaves ringing cancels.

Impulses A_i at t_i, sum A_i = 1, leave of a mode (w = 2 pi f, zeta) the share

    V = e^(-zeta w t_n) |sum_i A_i e^(zeta w t_i) e^(j w_d t_i)|,   w_d = w sqrt(1 - zeta^2)                  (1)

of what one impulse at the last time would. With K = e^(-zeta pi / sqrt(1 - zeta^2)) and half a damped period between
impulses: (1, K) / (1 + K) leaves nothing (ZV), (1, 2 K, K^2) / (1 + K)^2 nothing to first order in w, too (ZVD), and

    (1 + U, 2 K (1 - U), K^2 (1 + U)) / (4 S),  S = s_0 + s_1 U,  s_0 = (1 + K)^2 / 4, s_1 = (1 - K)^2 / 4,
    U = V s_0 / (K^2 - V s_1)                                                                               (2)

leaves V at w, so as to leave less than that farther away on both sides (EI, extra insensitive). For a range of
frequencies that is given, the shortest impulses, none below zero, that leave no more than V anywhere in it are a linear
programme over a grid of times, the circle |.| <= V a polygon inside it (SI, specified insensitivity). Singer & Seering,
Preshaping command inputs (1990); Singhose, Seering & Singer, Residual vibration reduction using vector diagrams (1994).
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, pi, sqrt
from typing import Any, NamedTuple

import numpy as np

from ..algebra import Array
from .references import JointPath, JointReference

GRID, SIDES = 61, 24  # times at which impulses may be; sides of the polygon


class Shaper(NamedTuple):
    """Impulses: times in s, the first at zero, and amplitudes, of sum one."""

    times: Array
    amplitudes: Array

    @property
    def duration(self) -> float:
        """By how much a shaped command is longer, in s."""
        return float(self.times[-1])


def zv_shaper(frequency: float, damping_ratio: float = 0.0) -> Shaper:
    """Zero vibration at that frequency (Hz): two impulses."""
    half, K = _mode("zv_shaper", frequency, damping_ratio)
    return Shaper(half * np.arange(2), np.array([1.0, K]) / (1.0 + K))


def zvd_shaper(frequency: float, damping_ratio: float = 0.0) -> Shaper:
    """Zero vibration at that frequency (Hz), and zero slope by it: three impulses."""
    half, K = _mode("zvd_shaper", frequency, damping_ratio)
    return Shaper(half * np.arange(3), np.array([1.0, 2.0 * K, K * K]) / (1.0 + K) ** 2)


def ei_shaper(frequency: float, damping_ratio: float = 0.0, *, tolerance: float = 0.05) -> Shaper:
    """Extra insensitive, (2): `tolerance` of the vibration at that frequency (Hz), less over a range around it.

    Raises ValueError for a tolerance that cannot be had at that damping.
    """
    half, K = _mode("ei_shaper", frequency, damping_ratio)
    s_0, s_1 = (1.0 + K) ** 2 / 4.0, (1.0 - K) ** 2 / 4.0
    most = K * K / (s_0 + s_1)  # U = 1: the impulse in the middle is gone
    if not 0.0 <= tolerance <= most:
        raise ValueError(f"ei_shaper: tolerance is {tolerance}; expected 0 to {most:.4g} at this damping ratio.")
    U = tolerance * s_0 / (K * K - tolerance * s_1)
    amplitudes = np.array([1.0 + U, 2.0 * K * (1.0 - U), K * K * (1.0 + U)])
    return Shaper(half * np.arange(3), amplitudes / amplitudes.sum())


def si_shaper(lowest: float, highest: float, damping_ratio: float = 0.0, *, tolerance: float = 0.05) -> Shaper:
    """Specified insensitivity: the shortest that leaves no more than `tolerance` of the vibration at any frequency from
    lowest to highest (Hz), to a hundredth of the slowest period. Raises a ValueError where the range, the damping ratio
    (0 to below 1) or the tolerance (above 0, below 1) is none, or no shaper of a hundred periods is good enough.
    """
    _mode("si_shaper", lowest, damping_ratio)
    if not (np.isfinite(highest) and highest >= lowest) or not 0.0 < tolerance < 1.0:
        raise ValueError(
            f"si_shaper: frequencies from {lowest} to {highest} Hz, tolerance {tolerance}; expected the lowest first, "
            "and a tolerance above 0 and below 1."
        )
    looked = np.linspace(lowest, highest, 500)

    def tried(duration: float) -> Shaper | None:
        found = _least_vibration(duration, np.linspace(lowest, highest, 40), damping_ratio)
        left = max(residual_vibration(found, f, damping_ratio) for f in looked)
        return found if left <= tolerance else None

    step = 0.01 / lowest
    longest = step
    while tried(longest) is None:
        longest *= 2.0
        if longest > 100.0 / lowest:
            raise ValueError(
                f"si_shaper: no shaper of {longest:.3g} s leaves {tolerance} from {lowest} to {highest} Hz."
            )
    shortest, best = 0.5 * longest, tried(longest)
    while longest - shortest > step:
        middle = 0.5 * (shortest + longest)
        found = tried(middle)
        shortest, longest, best = (middle, longest, best) if found is None else (shortest, middle, found)
    assert best is not None
    return best


def _least_vibration(duration: float, frequencies: Array, damping_ratio: float) -> Shaper:
    """Of all impulses on a grid of times up to duration, those whose largest (1) at the frequencies is least."""
    from scipy.optimize import linprog

    times = np.linspace(0.0, duration, GRID)
    w = 2.0 * np.pi * frequencies[:, None]
    left = np.exp(damping_ratio * w * (times - duration) + 1j * w * sqrt(1.0 - damping_ratio**2) * times)
    turns = np.exp(2j * np.pi * np.arange(SIDES) / SIDES)
    rows = (turns[:, None, None] * left).real.reshape(-1, GRID)  # of all sides, at all frequencies
    bound = -np.cos(np.pi / SIDES) * np.ones((len(rows), 1))
    found = linprog(
        np.append(np.zeros(GRID), 1.0),
        np.hstack([rows, bound]),
        np.zeros(len(rows)),
        np.append(np.ones(GRID), 0.0)[None],
        [1.0],
        bounds=(0.0, None),
    )
    kept = found.x[:-1] > 1e-7
    kept[[0, -1]] = True
    amplitudes = np.where(kept, found.x[:-1], 0.0)[kept]
    return Shaper(times[kept], amplitudes / amplitudes.sum())


def combined_shapers(*shapers: Shaper) -> Shaper:
    """One for the modes of all of them: their convolution, as many impulses as the product of theirs.

    Raises ValueError without a shaper.
    """
    if not shapers:
        raise ValueError("combined_shapers: no shaper is given; expected one or more.")
    times, amplitudes = np.zeros(1), np.ones(1)
    for shaper in shapers:
        times = np.add.outer(times, shaper.times).ravel()
        amplitudes = np.multiply.outer(amplitudes, shaper.amplitudes).ravel()
    order = np.argsort(times, kind="stable")
    return Shaper(times[order], amplitudes[order])


def residual_vibration(shaper: Shaper, frequency: float, damping_ratio: float = 0.0) -> float:
    """V of (1) for a mode of that frequency (Hz): zero where nothing rings on, one for a plain impulse."""
    _mode("residual_vibration", frequency, damping_ratio)
    w, last = 2.0 * pi * frequency, shaper.times[-1]
    phase = 1j * w * sqrt(1.0 - damping_ratio**2) * shaper.times
    return float(abs(np.sum(shaper.amplitudes * np.exp(damping_ratio * w * (shaper.times - last) + phase))))


def shaped(path: JointPath, shaper: Shaper) -> Callable[[Any], JointReference]:
    """The joint path as the sum of its delayed parts, A_i path(t - t_i): it ends `shaper.duration` later.

    The path must stand still before its start and after its end. Poses do not add: shape the angle about an axis.
    """

    def reference(t: Any) -> JointReference:
        parts = [path(t - delay) for delay in shaper.times]
        if not isinstance(parts[0], JointReference):
            raise TypeError(
                f"shaped: the path gives a {type(parts[0]).__name__}; expected a JointReference. Rotations do not add: "
                "shape the path of a joint, or of the angle about an axis."
            )
        q, qdot, qddot = (sum(A * part[k] for A, part in zip(shaper.amplitudes, parts, strict=True)) for k in range(3))
        return JointReference(q, qdot, qddot)

    return reference


def _mode(who: str, frequency: float, damping_ratio: float) -> tuple[float, float]:
    """Half a damped period, and K."""
    if not (np.isfinite(frequency) and frequency > 0 and 0.0 <= damping_ratio < 1.0):
        raise ValueError(
            f"{who}: frequency is {frequency} Hz, damping_ratio {damping_ratio}; expected a frequency above zero and a "
            "ratio from 0 to below 1."
        )
    root = sqrt(1.0 - damping_ratio**2)
    return 0.5 / (frequency * root), exp(-damping_ratio * pi / root)
