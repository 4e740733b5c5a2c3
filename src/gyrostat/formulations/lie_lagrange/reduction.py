"""Floating base without its linear velocity: the true reduction to SO(3) x R^n, for any momentum and any base force."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...algebra import Array, mirror, skew, solve_spd
from ...model import Spacecraft
from ..arguments import configuration, rates, shaped, vector3
from .mass_matrix import mass_matrix, mass_matrix_derivatives
from .subgroups import gyroscopic

LINEAR = slice(3, 6)  # of the base, in v


class AttitudeReduction(NamedTuple):
    """Mass matrix over f = (w_NB_B, joint rates), its derivatives, and the map that gives the base's velocity back."""

    M: Array  # M~, (nv - 3, nv - 3)
    dM: Array  # dM~/dphi_k, k first; zero for the three of the attitude
    G: Array  # (3, nv - 3): velocity of the centre of mass in B = v_NB_B + G f


def attitude_reduction(craft: Spacecraft, q: Array) -> AttitudeReduction:
    """Eliminates the base's linear velocity v_b from the mass matrix of a craft on a free base.

        M~ = M_ff - M_fv G,   G = M_vv^-1 M_vf,   M_vv = m_total 1
        dM~ = dM_ff - dM_fv G - G^T dM_vf                    (dM_vv = 0)                     (15), (28'), (39'), (40')

    The printed (28) keeps M_ff alone, which is the craft with its base's origin pinned to N.
    """
    f, v = _kept(craft), LINEAR
    G, dM = velocity_coupling(craft, q), mass_matrix_derivatives(craft, q)
    reduced = [dM[k][np.ix_(f, f)] - dM[k][f, v] @ G - G.T @ dM[k][v][:, f] for k in f]
    return AttitudeReduction(reduced_mass_matrix(craft, q), np.array(reduced), G)


def velocity_coupling(craft: Spacecraft, q: Array) -> Array:
    """G (3, nv - 3): the centre of mass moves at `v_NB_B + G f`, in B, with f = (w_NB_B, joint rates)."""
    refuse_other_bases(craft)
    M = mass_matrix(craft, q)
    return M[LINEAR][:, _kept(craft)] / M[3, 3]


def reduced_mass_matrix(craft: Spacecraft, q: Array) -> Array:
    """M~ (nv - 3, nv - 3) over (w_NB_B, joint rates): that of the dynamically equivalent manipulator."""
    refuse_other_bases(craft)
    M, f = mass_matrix(craft, q), _kept(craft)
    return mirror(M[np.ix_(f, f)] - M[f, LINEAR] @ M[LINEAR][:, f] / M[3, 3])


def reduced_coriolis_matrix(craft: Spacecraft, q: Array, f: Array) -> Array:
    """C~ (nv - 3, nv - 3) with M~ fdot + C~ f = tau~, f = (w_NB_B, joint rates).

    C~ = M~dot - 1/2 A~ + K~,   K~ = -h^ for the attitude, h = (M~ f)_w                        (30'), (43')
    """
    f = reduced_rates(craft, f)
    return _coriolis(craft, q, f, attitude_reduction(craft, q))


def reduced_forward_dynamics(craft: Spacecraft, q: Array, f: Array, tau: Array) -> Array:
    """fdot (nv - 3,) of f = (w_NB_B, joint rates) under the craft's whole tau (nv,), base force included.

        M~ fdot + C~ f = tau~,   tau~ = tau_f - M_fv M_vv^-1 f_b                                   (11) on SO(3) x R^n, (44)

    The centre of mass apart: m_total d/dt v_cm = R_NB f_b.
    """
    f = reduced_rates(craft, f)
    reduction = attitude_reduction(craft, q)
    load = _load(craft, tau, reduction.G) - _coriolis(craft, q, f, reduction) @ f
    return solve_spd(reduction.M, load)


def reduced_force(craft: Spacecraft, q: Array, tau: Array) -> Array:
    """tau~ (nv - 3,): the craft's tau as felt by (w_NB_B, joint rates)."""
    return _load(craft, tau, velocity_coupling(craft, q))


def base_velocity(craft: Spacecraft, q: Array, f: Array, v_cm_N: Any = (0.0, 0.0, 0.0)) -> Array:
    """v_NB_B (3,): `R_NB^T v_cm - G f`, the velocity of the base's origin when the centre of mass moves at `v_cm_N`."""
    f = reduced_rates(craft, f)
    R_NB = craft.bodies[0].joint.pose(configuration(craft, q)).R
    return R_NB.T @ vector3(v_cm_N, "v_cm_N") - velocity_coupling(craft, q) @ f


def refuse_other_bases(craft: Spacecraft) -> None:
    """Raise unless the base is free."""
    base = craft.bodies[0].joint
    if not np.array_equal(base.H(np.zeros(craft.nq)), np.eye(6)):
        raise ValueError(
            f"the base of {craft.name} is on a {base.kind} joint; this reduction eliminates the linear velocity of a free base. "
            f"Make the base free; a craft on another base needs no reduction."
        )


def reduced_rates(craft: Spacecraft, f: Any) -> Array:
    """`f` as an array of shape (nv - 3,)."""
    return shaped(f, (craft.nv - 3,), "f", f"base rate w_NB_B and joint rates of {craft.name}")


def joint_gyroscopic(craft: Spacecraft, q: Array, p: Array) -> Array:
    """K (nv - 6, nv - 6) of the joints that are groups, from their momenta p (nv - 6,), rotors left out."""
    K = np.zeros((craft.nv - 6, craft.nv - 6), dtype=object)
    for body in craft.bodies[1:]:
        at = slice(body.joint.v_at.start - 6, body.joint.v_at.stop - 6)
        if body.joint.nv:
            K[at, at] = gyroscopic(body.joint.H(q), p[at])
    return K


def armatures(craft: Spacecraft) -> Array:
    """Rotor inertia on each joint rate, (nv - 6,)."""
    return np.array([body.joint.armature for body in craft.bodies[1:] for _ in range(body.joint.nv)])


def _kept(craft: Spacecraft) -> Array:
    return np.array([k for k in range(craft.nv) if k not in (3, 4, 5)])


def _load(craft: Spacecraft, tau: Array, G: Array) -> Array:
    tau = rates(craft, tau, "tau")
    return tau[_kept(craft)] - G.T @ tau[3:6]


def _coriolis(craft: Spacecraft, q: Array, f: Array, reduction: AttitudeReduction) -> Array:
    M, dM, _ = reduction
    p, n = M @ f, len(f)
    Mdot = sum((dM[k] * f[k] for k in range(n)), np.zeros((n, n)))
    A = np.array([dM[k] @ f for k in range(n)])
    K = np.zeros((n, n), dtype=object)
    K[:3, :3] = -skew(p[:3])
    K[3:, 3:] = joint_gyroscopic(craft, configuration(craft, q), p[3:] - armatures(craft) * f[3:])
    C = Mdot - 0.5 * A + K
    return C if M.dtype == object or f.dtype == object else C.astype(float)
