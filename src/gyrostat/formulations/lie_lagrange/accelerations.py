"""Equations of motion on SE(3) x R^n, solved for the acceleration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...algebra import Array
from ...kinematics.arguments import configuration, prescribed_rates, rates
from ...model import Spacecraft
from ..common.prescribed import by_place, solve_free
from .coriolis import bias_force
from .mass_matrices import mass_matrix


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

    `prescribed = {joint: vdot}`: those joints follow, whatever tau says of them. No attitude coordinate enters M or C,
    so there is no singularity. Cost O(nv^3); the recursive formulation is O(nbodies).
    """
    q, v, tau = configuration(craft, q), rates(craft, v), rates(craft, tau, "tau")
    follows = prescribed_rates(craft, prescribed)
    M = mass_matrix(craft, q)
    load = tau - bias_force(craft, q, v, wrenches=wrenches)  # (6)
    return solve_free(M, load, by_place(craft, follows))
