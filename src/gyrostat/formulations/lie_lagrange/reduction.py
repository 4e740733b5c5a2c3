"""A floating craft without its base's linear velocity: the true reduction to SO(3) x R^n, at any momentum, under any
load.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...algebra import Array, mirror, solve_spd
from ...kinematics.arguments import configuration, rates, shaped, vector3
from ...model import Spacecraft
from ..recursive.coriolis import Choice, coriolis_matrix
from .coriolis import bias_force
from .mass_matrices import mass_matrix

LINEAR = slice(3, 6)  # the base's linear velocity in v


def linear_elimination(craft: Spacecraft, q: Array) -> Array:
    """N (nv, nv - 3) with v = N f when the centre of mass is at rest; f = (w_NB_B, joint rates).

        N = [1; -G],   G = M_vv^-1 M_vf,   M_vv = m_total 1

    M N has no rows of linear momentum. Hence N^T (.) N reduces M, each dM/dphi_k, and, taken at v = N f, every Coriolis
    matrix.
    """
    refuse_other_bases(craft)
    return _elimination(mass_matrix(craft, q))


def reduced_mass_matrix(craft: Spacecraft, q: Array) -> Array:
    """M~ = N^T M N = M_ff - M_fv M_vv^-1 M_vf, (nv - 3, nv - 3)                                (15), (28'), (39'),
    (40')

    It is also that of the equivalent manipulator. The printed (28) keeps M_ff alone: the craft with its base pinned to
    N.
    """
    refuse_other_bases(craft)
    M = mass_matrix(craft, q)
    return _reduced(M, _elimination(M))


def reduced_coriolis_matrix(craft: Spacecraft, q: Array, f: Array, *, choice: Choice = "lie") -> Array:
    """C~ = N^T C(q, N f) N, (nv - 3, nv - 3): the choices and their guarantees are those of `gs.coriolis_matrix`.

    "lie": C~ = M~dot - 1/2 A~ + K~ with K~ = -h^ for the attitude, h = (M~ f)_w                    (30'), (43')
    """
    f = reduced_rates(craft, f)
    N = linear_elimination(craft, q)
    return N.T @ coriolis_matrix(craft, q, N @ f, choice=choice) @ N


def reduced_forward_dynamics(craft: Spacecraft, q: Array, f: Array, tau: Array) -> Array:
    """fdot (nv - 3,) of f = (w_NB_B, joint rates) under the craft's whole tau (nv,), base force f_b included.

        M~ fdot + C~ f = tau~,   tau~ = N^T tau = tau_f - M_fv M_vv^-1 f_b                         (11), (44)

    The centre of mass moves apart from this: m_total d/dt v_cm = R_NB f_b.
    """
    q, f, tau = configuration(craft, q), reduced_rates(craft, f), rates(craft, tau, "tau")
    refuse_other_bases(craft)
    M = mass_matrix(craft, q)
    N = _elimination(M)
    return solve_spd(_reduced(M, N), N.T @ (tau - bias_force(craft, q, N @ f)))


def reduced_force(craft: Spacecraft, q: Array, tau: Array) -> Array:
    """tau~ = N^T tau, (nv - 3,): the craft's tau as felt by (w_NB_B, joint rates)."""
    return linear_elimination(craft, q).T @ rates(craft, tau, "tau")


def base_velocity(craft: Spacecraft, q: Array, f: Array, v_cm_N: Any = (0.0, 0.0, 0.0)) -> Array:
    """v_NB_B (3,) of the base's origin when the centre of mass moves at v_cm_N: R_NB^T v_cm - G f."""
    f = reduced_rates(craft, f)
    R_NB = craft.bodies[0].joint.pose(configuration(craft, q)).R
    return R_NB.T @ vector3(v_cm_N, "v_cm_N") + (linear_elimination(craft, q) @ f)[LINEAR]


def refuse_other_bases(craft: Spacecraft) -> None:
    """Raise unless the base floats freely."""
    base = craft.bodies[0].joint
    if not np.array_equal(base.H(np.zeros(craft.nq)), np.eye(6)):
        raise ValueError(
            f"the base of {craft.name} is on a {base.kind} joint; this reduction is for a base that floats freely. "
            "Make its joint free, or use forward_dynamics: nothing needs to be eliminated."
        )


def reduced_rates(craft: Spacecraft, f: Any) -> Array:
    """`f` as an array of shape (nv - 3,)."""
    return shaped(f, (craft.nv - 3,), "f", f"base rate w_NB_B and joint rates of {craft.name}")


def _elimination(M: Array) -> Array:
    n = len(M)
    f = [k for k in range(n) if k not in (3, 4, 5)]
    N = np.eye(n)[:, f].astype(M.dtype)
    N[LINEAR] = -M[LINEAR][:, f] / M[3, 3]
    return N


def _reduced(M: Array, N: Array) -> Array:
    f = [k for k in range(len(M)) if k not in (3, 4, 5)]
    return mirror((M @ N)[f])  # the other rows of M N are zero
