"""The spatial Coriolis dyadic C is a choice: every C below has the same product C V, few are fit for passivity-based
control.

With body rates M is constant, so M' - 2 C is skew if and only if C is. With inertial rates M' = Omega M - M Omega, and
it is if and only if C + M Omega is skew: take C = C_B - M Omega for a skew C_B of the body rates (Proposition 2,
corrected). C V alone never shows a wrong choice; s^T (M' - 2 C) s = 0 must hold for every s.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...algebra import Array, cross, cross_motion_matrix, skew
from .transport import spatial_dyadic_rate, turning


def _momentum(M: Array, V: Array) -> Array:
    """[w^ J_c - m r^ w^ r^, m r^ w^; -m w^ r^, m w^]: (39), and Omega M_c of (22). Not skew. Needs mass."""
    w, J_o, mr, m = V[:3], M[:3, :3], M[:3, 3:], M[3, 3]
    W = skew(w)
    return np.block([[W @ (J_o + mr @ mr / m) - mr @ W @ mr / m, mr @ W], [-W @ mr, m * W]])


def _lie(M: Array, V: Array) -> Array:
    """Omega_V M_o = -ad_V^T M_o, of (45)-(47) with its sign put right. Not skew."""
    return -cross_motion_matrix(V).T @ M


def _skew(M: Array, V: Array) -> Array:
    """[w^ J_o + J_o w^, m r^ w^; -m w^ r^, m w^]: (54'), (55'). Skew; depends on w alone, so fit for orbital speeds."""
    w, J_o, mr, m = V[:3], M[:3, :3], M[:3, 3:], M[3, 3]
    W = skew(w)
    return np.block([[gyroscopic(J_o, w), mr @ W], [-W @ mr, m * W]])


def _hat(M: Array, V: Array) -> Array:
    """As "skew" with -(J_o w)^ in the corner. Skew; depends on w alone."""
    w, J_o, mr, m = V[:3], M[:3, :3], M[:3, 3:], M[3, 3]
    W = skew(w)
    return np.block([[-skew(J_o @ w), mr @ W], [-W @ mr, m * W]])


def _kirchhoff(M: Array, V: Array) -> Array:
    """-[h_o^ p^; p^ 0] with (h_o; p) = M_o V: (58). Skew; contains v_o, so large terms cancel at orbital speeds."""
    h = M @ V
    L, P = skew(h[:3]), skew(h[3:])
    return -np.block([[L, P], [P, np.zeros((3, 3))]])


CHOICES: dict[str, Callable[[Array, Array], Array]] = {
    "momentum": _momentum,
    "lie": _lie,
    "skew": _skew,
    "hat": _hat,
    "kirchhoff": _kirchhoff,
}
SKEW = ("skew", "hat", "kirchhoff")  # choices for which M' - 2 C is skew, in every form


def coriolis(M: Array, V: Array, choice: str = "skew", *, inertial_rates: bool = False) -> Array:
    """C (6, 6) of `M V' + C V = F` for a spatial inertia M about the point that V belongs to.

    choice: "skew" (54'), (55'), "hat", "kirchhoff" (58): M' - 2 C is skew. "momentum" (16), (22), (33), (39) and "lie"
    (45): what differentiating the momentum gives as it stands, not skew.
    """
    if choice not in CHOICES:
        raise ValueError(f"Coriolis choice '{choice}' is not known; expected one of {', '.join(CHOICES)}.")
    C = CHOICES[choice](M, V)
    return C - M @ turning(V[:3]) if inertial_rates else C  # (38)


def passivity_matrix(M: Array, C: Array, w: Array, *, inertial_rates: bool = False) -> Array:
    """M' - 2 C (6, 6), M' as the rates of the form see it. Skew if C is fit for passivity-based control."""
    return (spatial_dyadic_rate(M, w) if inertial_rates else 0.0 * M) - 2.0 * C


def dissipation(M: Array, C: Array, V: Array, *, inertial_rates: bool = False) -> Any:
    """V^T (M' - 2 C) V: zero for every admissible C, skew or not (footnote 6)."""
    return V @ passivity_matrix(M, C, V[:3], inertial_rates=inertial_rates) @ V


def gyroscopic(J: Array, w: Array) -> Array:
    """w^ J + J w^ = ((tr(J) 1 - J) w)^: the same skew matrix, with three entries instead of a product, (3, 3)."""
    return skew(np.trace(J) * w - J @ w)


def double_cross(a: Array, b: Array, c: Array) -> Array:
    """a x (b x c) = -(b x a) x c + (c x a) x b (Proposition 3), (3,)."""
    return -cross(cross(b, a), c) + cross(cross(c, a), b)
