"""The base eliminated from gyrostat's own mass matrix: 6-vectors [angular; linear] about Bo, in base axes.

With v = [V_0; qdot], M = [[M_0, M_0m], [M_0m^T, M_m]]; nothing here depends on where the base is.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...algebra import Array, cross, mirror, skew, solve_spd
from ...kinematics.arguments import shaped
from ...model import Spacecraft
from ..common.rigid_only import why_flexible
from ..recursive import mass_matrix


class Elimination(NamedTuple):
    """M's blocks, and X = M_0^-1 M_0m: the base answers joint rates with -X qdot."""

    M_0: Array  # (6, 6)
    M_0m: Array  # (6, n)
    M_m: Array  # (n, n)
    X: Array  # (6, n)

    @property
    def inertia(self) -> Array:
        """H* = M_m - M_0m^T X, (n, n)."""
        return mirror(self.M_m - self.M_0m.T @ self.X)

    def reduced(self, f: Array) -> Array:
        """f_m - X^T f_0 of a generalised force f: what it does to the joints once the base is eliminated, (n,)."""
        return f[6:] - self.X.T @ f[:6]


def eliminate(craft: Spacecraft, q: Array) -> Elimination:
    """M in blocks, with X."""
    M = mass_matrix(craft, q)
    M_0, M_0m = M[:6, :6], M[:6, 6:]
    return Elimination(M_0, M_0m, M[6:, 6:], solve_base(M_0, M_0m))


def solve_base(M_0: Array, h: Array) -> Array:
    """The base twist with momentum h = [l; p] about Bo, the joints locked: (6,), or columns (6, k).

    M_0 = [[I_o, m c^], [-m c^, m 1]]:   S_U w = l - c x p,   v = p / m + c x w                      (52)
    S_U = I_o + m c^ c^, the inertia about the system's centre of mass c                             (53)
    """
    m, mc = M_0[3, 3], np.array([M_0[2, 4], M_0[0, 5], M_0[1, 3]])
    c = mc / m
    S_U = mirror(M_0[:3, :3] + skew(mc) @ skew(c))
    w = solve_spd(S_U, h[:3] - cross(c, h[3:]))
    return np.concatenate([w, h[3:] / m + cross(c, w)])


def supports(craft: Spacecraft) -> str | None:
    """None, or why the base cannot be eliminated."""
    base = craft.joints[0]
    if base.nv != 6:
        return (
            f"the base joint '{base.name}' of {craft.name} is {base.kind}: it has {base.nv} rates. "
            "The generalised Jacobian eliminates a base that floats freely; use a free base joint."
        )
    return why_flexible(craft)


def require(craft: Spacecraft) -> None:
    """ValueError with the reason, where there is one."""
    reason = supports(craft)
    if reason is not None:
        raise ValueError(reason)


def joint_vector(craft: Spacecraft, x: Any, name: str) -> Array:
    """`x` as an array of shape (nv - 6,)."""
    require(craft)
    meaning = f"the joints of {craft.name}, then its wheels, as in v[6:] (the base is eliminated)"
    return shaped(x, (craft.nv - 6,), name, meaning)
