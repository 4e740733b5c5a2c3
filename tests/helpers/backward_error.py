"""How wrong an acceleration is, in terms of the equation it solves:
accelerations of ill-conditioned craft differ by more than they err.
"""

from __future__ import annotations

import numpy as np

import gyrostat as gs


def backward_error(craft, q, v, tau, vdot, wrenches=None) -> float:
    """|M vdot + bias - tau| relative to |M| |vdot| + |bias| + |tau|, the worst row."""
    if not craft.nv:
        return 0.0
    M, bias = gs.mass_matrix(craft, q), gs.bias_force(craft, q, v, wrenches=wrenches)
    scale = np.abs(M) @ np.abs(vdot) + np.abs(bias) + np.abs(tau)
    return float(np.max(np.abs(gs.inverse_dynamics(craft, q, v, vdot, wrenches=wrenches) - tau) / scale))


def relative(a, b) -> float:
    """Largest difference of two arrays, relative to the largest element."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    return float(np.abs(a - b).max() / max(1.0, np.abs(b).max())) if a.size else 0.0
