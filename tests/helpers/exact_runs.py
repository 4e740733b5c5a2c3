"""Short runs in thirty digits, and their derivatives by differences: the NumPy equations of a run on mpmath numbers,
without tracing, without the compiled loop, without derivative rules.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import gyrostat as gs
from exact import exact, floats, mp
from gyrostat.simulation.integrators.methods import METHODS

DIGITS = 30
SMALL = "1e-11"  # step of the differences: their error is its square


class ExactRun:
    """The run of a trajectory from its start again. dt: of the steps; period: of samples, the steps end there."""

    def __init__(self, trajectory: gs.Trajectory, q0: Any, v0: Any, dt: float) -> None:
        self.equations = trajectory.equations
        self.at, self.trajectory, self.dt = self.equations.layout, trajectory, dt
        self.q0, self.v0 = q0, v0

    def start(self, direction: np.ndarray, eps: Any) -> np.ndarray:
        """x at the start, everything that is varied moved by eps times the direction."""
        at, e = self.at, self.equations
        x = exact(np.zeros(at.size))
        x[at["run"].start :][: self.trajectory.constants.shape[1]] = exact(self.trajectory.constants[0])
        q, v = exact(self.q0), exact(self.v0)
        for one in e.varied:
            move = eps * exact(direction[one.columns])
            if one.name == "q0":
                q = q + gs.configuration_rate(e.craft, q, move)  # the second order cancels in central differences
            elif one.name == "v0":
                v = v + move
            else:
                x[at[one.entry]] = x[at[one.entry]] + move
        x[at["q"]], x[at["v"]] = q, v
        if e.control is not None:
            x[at["held_z" if e.sampled else "z"]] = exact(e.control.state0)
        if e.sampled:
            x[at["sample"]] = exact([-1.0])
            self.sample(x)
        return x

    def sample(self, x: np.ndarray) -> None:
        at = self.at
        tau, z = self.equations.controller(x)
        x[at["held"]], x[at["held_z"]] = exact(tau), exact(z)
        x[at["sample"]] = x[at["sample"]] + 1

    def step(self, x: np.ndarray, h: Any) -> np.ndarray:
        """One step of order eight; its coefficients are exact to sixteen digits, which is enough."""
        method, at = METHODS["dop853"], self.at.varied
        K: list[np.ndarray] = []
        y, t = x[at], x[0]
        for c, row in zip(method.c, ((), *method.a), strict=True):
            stage = x.copy()
            stage[at] = y + h * sum((mp.mpf(float(a)) * k for a, k in zip(row, K, strict=False)), start=0 * y)
            stage[0] = t + mp.mpf(float(c)) * h
            K.append(np.asarray(self.equations.state_rates(stage)))
        after = x.copy()
        after[at] = y + h * sum(mp.mpf(float(b)) * k for b, k in zip(method.b, K, strict=False))
        after[0] = t + h
        return after

    def advance(self, x: np.ndarray, t: Any) -> np.ndarray:
        """To the time t, sampling on the way."""
        period = self.equations.control.period if self.equations.sampled else None
        while x[0] < t - mp.mpf(10) ** -20:
            until = t if period is None else min(t, period * (x[self.at["sample"]][0] + 1))
            x = self.step(x, min(mp.mpf(self.dt), until - x[0]))
            if period is not None and abs(x[0] - period * (x[self.at["sample"]][0] + 1)) < mp.mpf(10) ** -20:
                self.sample(x)
        return x

    def to_event(self, x: np.ndarray, g: Callable[[np.ndarray], Any], guess: float) -> np.ndarray:
        """To where g is zero, near the guess."""
        before = self.advance(x, mp.mpf(guess) - mp.mpf(self.dt) / 2)
        h = [mp.mpf(self.dt) * mp.mpf(w) for w in ("0.4", "0.6")]
        values = [g(self.step(before, h[0])), g(self.step(before, h[1]))]
        while abs(h[1] - h[0]) > mp.mpf(10) ** -22:
            new = h[1] - values[1] * (h[1] - h[0]) / (values[1] - values[0])
            h, values = [h[1], new], [values[1], g(self.step(before, new))]
        return self.step(before, h[1])


def differences(run: Callable[[Any], np.ndarray]) -> np.ndarray:
    """d run(eps) / d eps at zero, floats exact to their last digit."""
    before, mp.dps = mp.dps, DIGITS
    try:
        eps = mp.mpf(SMALL)
        return floats((run(eps) - run(-eps)) / (2 * eps))
    finally:
        mp.dps = before
