"""One rigid body in Forbes' coordinates: q = (r_N of the point z; attitude parameters), nu = (v_N of z; w_NB_B), LINEAR
FIRST.

    T = 1/2 m v.v - v^T C^T c^ w + 1/2 w^T J w = 1/2 nu^T M nu                                             (T)
    M = [m 1, -C^T c^; c^ C, J],    Mdot = [0, -C^T w^ c^; -c^ w^ C, 0]                                      (M)
    f_non = (C^T w^ c^ w; -w^ J w) = -(Mdot nu + [0; w^ (M nu)_2] - [0; (C v)^ c^ w])                        (f)
    M nudot = f_non + (f_N; m_B)                                                                             (projected)

C = C_BN; z any point of the body; c the FIRST MOMENT of mass about z in B (kg m), J the inertia about z. Forces stand
in N, moments in B. The attitude parameters enter through C alone: whatever they are, the dynamics is the same. Forbes,
Rigid-body equations of motion (2019); equations as corrected in docs/errata/forbes2019.md.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...algebra import Array, cross, rigid_inertia, skew, solve_spd

ZERO = np.zeros((3, 3))
ONE = np.eye(3)


class RigidBody(NamedTuple):
    """Mass, first moment of mass about z (3,), and inertia about z (3, 3), in B."""

    m: Any
    c: Array
    J: Array


def rigid_body(mass: Any, com: Array, inertia: Array) -> RigidBody:
    """From the centre of mass (from z, in B) and the inertia about it: c = m com, J = I - m com^ com^."""
    return RigidBody(*rigid_inertia(mass, np.asarray(com), np.asarray(inertia)))


def mass_matrix(body: RigidBody, C: Array) -> Array:
    """M of (M), (6, 6)."""
    m, c, J = body
    return np.block([[m * ONE, -(C.T @ skew(c))], [skew(c) @ C, J]])


def mass_matrix_rate(body: RigidBody, C: Array, w: Array) -> Array:
    """Mdot of (M), (6, 6)."""
    c, W = skew(body.c), skew(w)
    return np.block([[ZERO, -(C.T @ W @ c)], [-(c @ W @ C), ZERO]])


def kinetic_energy(body: RigidBody, C: Array, nu: Array) -> Any:
    """T of (T), in J."""
    m, c, J = body
    v, w = nu[:3], nu[3:]
    return 0.5 * m * (v @ v) - (C @ v) @ cross(c, w) + 0.5 * (w @ (J @ w))


def nonlinear_force(body: RigidBody, C: Array, w: Array) -> Array:
    """f_non of (f), (6,)."""
    _, c, J = body
    return np.concatenate([C.T @ cross(w, cross(c, w)), -cross(w, J @ w)])


def accelerations(body: RigidBody, C: Array, w: Array, load: Array) -> Array:
    """nudot (6,) of the projected equation; load = (force in N; moment about z in B)."""
    return solve_spd(mass_matrix(body, C), nonlinear_force(body, C, w) + load)


# ---- the body's own axes: what a Newton-Euler approach gives


def body_mass_matrix(body: RigidBody) -> Array:
    """M_B = [m 1, -c^; c^, J], (6, 6)."""
    m, c, J = body
    return np.block([[m * ONE, -skew(c)], [skew(c), J]])


def body_accelerations(body: RigidBody, v_B: Array, w: Array, load_B: Array) -> Array:
    """(vdot_B; wdot) of (+), (++): M_B nudot_B + [w^ 0; v^ w^] M_B nu_B = (f_B; m_B), with vdot_N = C^T (vdot_B + w x
    v_B) (*).
    """
    M = body_mass_matrix(body)
    h = M @ np.concatenate([v_B, w])
    turned = np.concatenate([cross(w, h[:3]), cross(v_B, h[:3]) + cross(w, h[3:])])
    return solve_spd(M, load_B - turned)
