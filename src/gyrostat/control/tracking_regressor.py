"""The regressor of adaptive tracking: M vdot_r + C(q, v) v_r, linear in the inertial parameters, for any craft."""

from __future__ import annotations

from ..algebra import Array, cross_motion, twist_to_child
from ..formulations.recursive.regressors import at_the_joints, body_regressor
from ..kinematics import ZERO6, body_twists, joint_poses
from ..model import Spacecraft


def tracking_regressor(craft: Spacecraft, q: Array, v: Array, v_r: Array, vdot_r: Array) -> Array:
    """Y (nv, 10 nbodies) with `Y @ inertial_parameters(craft) = M vdot_r + C v_r`, C the Christoffel matrix, rotors apart.

    With U and A the body twists and accelerations that v_r and vdot_r make (the joints' maps changing at v), and
    Q(V) = V x* M V, the wrench on one body is

        F = M (A - 1/2 V x U) + 1/2 (Q(V + U) - Q(V) - Q(U)),                                                 (1)
        A = Ad A_P + H vdot_r + (Hdot + V x H) v_r                                                           (2)

    which is M A + B U of `christoffel_matrix`. For v_r = v, vdot_r = vdot it is `gs.formulations.recursive.regressor`. Slotine & Li (1987).
    """
    X_PB = joint_poses(craft, q)
    V, U = body_twists(craft, q, v, X_PB), body_twists(craft, q, v_r, X_PB)
    A: dict[str, Array] = {}
    W: dict[str, Array] = {}
    for B, P in craft.base_to_tip:
        joint = craft.joint(B)
        A[B] = ZERO6 if P is None else twist_to_child(X_PB[B], A[P])
        if joint.nv:
            own = joint.rate(v_r)
            H = joint.H(q)
            A[B] = A[B] + H @ joint.rate(vdot_r) + joint.map_rate(q, v) @ own + cross_motion(V[B], H @ own)  # (2)
        both, one, other = (body_regressor(x, ZERO6) for x in (V[B] + U[B], V[B], U[B]))
        W[B] = body_regressor(ZERO6, A[B] - 0.5 * cross_motion(V[B], U[B])) + 0.5 * (both - one - other)  # (1)
    return at_the_joints(craft, q, X_PB, W)
