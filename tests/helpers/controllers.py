"""Control laws of every sort for the servicer's six joints: plain, sampled, adaptive, noisy."""

from __future__ import annotations

import numpy as np

import gyrostat as gs
import manoeuvre
from gyrostat.algebra import sin

SOFT = np.array([0.2, 0.2, 0.2, 0.1, 0.03, 0.03])  # of the manoeuvre's gains: what samples so far apart can bear


def _joints(tau):
    return np.concatenate([np.zeros(6), tau])


def sampled():
    """PD every 0.7 s, with a filtered rate as its memory."""

    def output(craft, t, q, v, z):
        target, rate, _ = manoeuvre.reference(t)
        return _joints(SOFT * (manoeuvre.KP * (target - q[7:]) + manoeuvre.KD * (rate - z)))

    def update(craft, t, q, v, z):
        return 0.2 * z + 0.8 * v[6:]

    return gs.Controller(output, np.zeros(6), update=update, period=0.7)


def adaptive():
    """An integral term and a slowly learned feed-forward: twelve numbers of continuous memory."""

    def output(craft, t, q, v, z):
        target, rate, _ = manoeuvre.reference(t)
        return _joints(manoeuvre.KP * (target - q[7:] + 0.05 * z[:6]) + manoeuvre.KD * (rate - v[6:]) + z[6:] * rate)

    def derivative(craft, t, q, v, z):
        target, rate, _ = manoeuvre.reference(t)
        error = target - q[7:]
        return np.concatenate([error, 0.1 * error * sin(t) * rate])

    return gs.Controller(output, np.zeros(12), derivative)


def noisy():
    """Sampled PD on measured angles, each with its own noise for every run and sample."""

    def output(craft, t, q, v, run, sample, seed, gain):
        noise = np.array([gs.tracing.normal(seed, run, sample, channel) for channel in range(6)])
        target, rate, _ = manoeuvre.reference(t)
        error = target - q[7:] - 1e-3 * noise
        return _joints(gain * SOFT * (manoeuvre.KP * error + manoeuvre.KD * (rate - v[6:])))

    return gs.Controller(output, period=0.5)


LAWS = {"plain": lambda: manoeuvre.pd, "sampled": sampled, "adaptive": adaptive, "noisy": noisy}
