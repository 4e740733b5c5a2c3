"""Second-order displacement of a bent structure: what keeps its membrane from stretching.

Bending by u = sum_k phi_k e_k stretches the membrane by 1/2 sum_j (A_j u)(C_j u) (mesh.py, 2). The structure yields by

    1/2 sum_kl u_kl e_k e_l,  K u_kl = -B^T W q_kl,  q_kl = 1/2 sum_j (A_j phi_k C_j phi_l + A_j phi_l C_j phi_k)  (1)

which makes the membrane's energy least. For a beam that is u_x = -1/2 int (y'^2 + z'^2) dx, its foreshortening: without
it a spinning beam grows softer where it ought to grow stiffer (Kane, Ryan & Banerjee 1987).

A mass at the arm d off the axis, which turns by theta = sum psi_k e_k, moves by theta x d + 1/2 theta x (theta x d):

    G_kl += 1/2 [psi_k x (psi_l x d) + psi_l x (psi_k x d)]                                                 (2)
"""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import splu

from ..algebra import Array
from .mesh import Mesh


def second_order(mesh: Mesh, shapes: Array) -> Array:
    """(1): u_kl, (unknowns, n, n)."""
    n = shapes.shape[1]
    first = [A @ shapes for A, _ in mesh.slopes]
    second = [C @ shapes for _, C in mesh.slopes]
    pairs = [(k, m) for k in range(n) for m in range(k, n)]
    q = sum(
        0.5 * np.stack([a[:, k] * c[:, m] + a[:, m] * c[:, k] for k, m in pairs], axis=1)
        for a, c in zip(first, second, strict=True)
    )
    u = splu(mesh.K.tocsc()).solve(np.asarray(-(mesh.stretch.T @ (mesh.stretch_weights @ q))))
    full = np.zeros((len(shapes), n, n))
    for (k, m), column in zip(pairs, u.T, strict=True):
        full[:, k, m] = full[:, m, k] = column
    return full


def turning(Psi: Array, arms: Array) -> Array:
    """(2): (points, 3, n, n) from Psi (points, 3, n) and arms (points, 3)."""
    once = np.cross(Psi, arms[:, :, None], axis=1)  # psi_l x d
    twice = np.cross(Psi[:, :, :, None], once[:, :, None, :], axis=1)
    return 0.5 * (twice + twice.transpose(0, 1, 3, 2))
