"""Equations of motion on SE(3) x R^n, solved for the acceleration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...algebra import Array, solve_spd
from ...model import Spacecraft
from ..arguments import configuration, prescribed_rates, rates
from .coriolis import bias_force
from .mass_matrix import mass_matrix


def forward_dynamics(
    craft: Spacecraft,
    q: Array,
    v: Array,
    tau: Array,
    *,
    wrenches: Any = None,
    prescribed: Mapping[str, Any] | None = None,
) -> Array:
    """Acceleration vdot (nv,): M(q) vdot + C(q, v) v = tau + sum_i J_i^T F_i,  (6), (11), (20).

    `prescribed = {joint: vdot}`: those joints follow, whatever tau says of them. No attitude coordinate enters M or C, so there
    is no singularity. Cost O(nv^3); the recursive formulation is O(nbodies).
    """
    q, v, tau = configuration(craft, q), rates(craft, v), rates(craft, tau, "tau")
    follows = prescribed_rates(craft, prescribed)
    M = mass_matrix(craft, q)
    load = tau - bias_force(craft, q, v, wrenches=wrenches)  # (6)
    if not follows:
        return solve_spd(M, load)
    held = np.concatenate([np.arange(craft.nv)[craft.joint(B).v_at] for B in follows]).astype(int)
    free = np.array([i for i in range(craft.nv) if i not in held], dtype=int)
    vdot = np.zeros(craft.nv, dtype=object)
    vdot[held] = np.concatenate([follows[B] for B in follows])
    if len(free):
        vdot[free] = solve_spd(M[np.ix_(free, free)], load[free] - M[np.ix_(free, held)] @ vdot[held])
    return vdot if M.dtype == object else vdot.astype(float)
