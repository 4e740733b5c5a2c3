"""The equations of an arm on a free base as one writes them for JAX: arrays of 6x6 matrices, a loop over links."""

from __future__ import annotations

from typing import Any

import numpy as np

import gyrostat as gs


def functions(craft: gs.Spacecraft) -> dict[str, Any]:
    """forward_dynamics, inverse_dynamics, mass_matrix and linearize of revolute joints about z on a
    free base, not jitted.
    """
    import jax
    import jax.numpy as jnp

    links = craft.bodies[1:]
    R_PJ = [np.array(b.joint.rotation) for b in links]
    p_PJ = [np.array(b.joint.position) for b in links]
    M = [np.array(craft.inertia(b.name).matrix, dtype=float) for b in craft.bodies]
    axis = np.eye(6)[2]

    def skew(p):
        return jnp.array([[0, -p[2], p[1]], [p[2], 0, -p[0]], [-p[1], p[0], 0]])

    def adjoint(k, angle):
        """Ad_BP of link k."""
        c, s = jnp.cos(angle), jnp.sin(angle)
        E = (R_PJ[k] @ jnp.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])).T
        return jnp.block([[E, jnp.zeros((3, 3))], [-E @ skew(p_PJ[k]), E]])

    def cross_motion(V):
        w, v = skew(V[:3]), skew(V[3:])
        return jnp.block([[w, jnp.zeros((3, 3))], [v, w]])

    def forward_dynamics(q, v, tau):
        X = [adjoint(k, q[7 + k]) for k in range(len(links))]
        V, c, p = [v[:6]], [None], [-cross_motion(v[:6]).T @ (M[0] @ v[:6])]
        for k in range(len(links)):
            V.append(X[k] @ V[-1] + axis * v[6 + k])
            c.append(cross_motion(V[-1]) @ (axis * v[6 + k]))
            p.append(-cross_motion(V[-1]).T @ (M[k + 1] @ V[-1]))
        IA, U, D, u = [jnp.asarray(m) for m in M], {}, {}, {}
        for k in reversed(range(len(links))):
            B = k + 1
            U[B], u[B] = IA[B][:, 2], tau[6 + k] - p[B][2]
            D[B] = U[B][2]
            Ia = IA[B] - jnp.outer(U[B], U[B]) / D[B]
            pa = p[B] + Ia @ c[B] + U[B] * (u[B] / D[B])
            IA[k] = IA[k] + X[k].T @ Ia @ X[k]
            p[k] = p[k] + X[k].T @ pa
        A = [jnp.linalg.solve(IA[0], tau[:6] - p[0])]
        rates = []
        for k in range(len(links)):
            B = k + 1
            a = X[k] @ A[-1] + c[B]
            rates.append((u[B] - U[B] @ a) / D[B])
            A.append(a + axis * rates[-1])
        return jnp.concatenate([A[0], jnp.stack(rates)])

    def inverse_dynamics(q, v, vdot):
        X = [adjoint(k, q[7 + k]) for k in range(len(links))]
        V, A = [v[:6]], [vdot[:6]]
        for k in range(len(links)):
            V.append(X[k] @ V[-1] + axis * v[6 + k])
            A.append(X[k] @ A[-1] + axis * vdot[6 + k] + cross_motion(V[-1]) @ (axis * v[6 + k]))
        F = [m @ a - cross_motion(w).T @ (m @ w) for m, a, w in zip(M, A, V, strict=True)]
        tau = []
        for k in reversed(range(len(links))):
            tau.append(F[k + 1][2])
            F[k] = F[k] + X[k].T @ F[k + 1]
        return jnp.concatenate([F[0], jnp.stack(tau[::-1])])

    def mass_matrix(q):
        zero = jnp.zeros(craft.nv)
        return jax.vmap(lambda a: inverse_dynamics(q, zero, a))(jnp.eye(craft.nv))

    def linearize(q, v, tau):
        return jax.jacfwd(forward_dynamics, argnums=(0, 1, 2))(q, v, tau)

    return {
        "forward_dynamics": forward_dynamics,
        "inverse_dynamics": inverse_dynamics,
        "mass_matrix": mass_matrix,
        "linearize": linearize,
    }
