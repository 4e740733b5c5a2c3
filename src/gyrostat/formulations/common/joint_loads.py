"""Accelerations of the bodies and loads of their joints, body by body, for formulations that hold bodies together by
constraints.

    M nudot = F + Pi^T lambda,   Pi nudot + gamma = -E lambda                                                      (1)

M is block diagonal, one block per body. Each joint has a row block of Pi that touches its body and the parent, and a
compliance E, zero but for rotors (see `held_joints`). Where every body's M can be inverted, the loads come first:

    (Pi M^-1 Pi^T + E) lambda = -gamma - Pi M^-1 F                                                                 (2)

A body without mass, between two joints, has no M^-1, yet (1) is regular as long as its joints move some mass. There
each joint's own rows are added to the equations of motion, weighted by any W > 0: on the solution that adds nothing
where E = 0, and the rotor's inertia 1 / E where it is not,

    [M + Pi^T W Pi   Pi^T] [ nudot ]   [F - Pi^T W gamma]
    [     Pi           0 ] [-lambda] = [     -gamma     ]                                                          (3)

with rotor rows gone (W = 1 / E there). Eliminated leaf to root, a body and then its joint's load, no pivot of (3)
vanishes: the body's is its articulated inertia plus its own joint's rows, definite exactly where the joint moves mass
(D > 0 in Featherstone's recursion).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ...algebra import Array, is_zero, ldl, ldl_solve, mirror, solve_spd, unboxed


class JointRows(NamedTuple):
    """Rows of one joint by the bodies that they touch, its own first; gamma (r,), and E (r, r), diagonal."""

    blocks: Mapping[str, Array]
    gamma: Array
    E: Array


def solve_loads_first(
    M: Mapping[str, Array], F: Mapping[str, Array], rows: Sequence[JointRows]
) -> tuple[dict[str, Array], list[Array]]:
    """(2): nudot by body, and the load of each joint. Only pairs that share a body couple."""
    at, n = [], 0
    for row in rows:
        at.append(slice(n, n + len(row.gamma)))
        n += len(row.gamma)
    through = [{B: solve_spd(M[B], block.T) for B, block in row.blocks.items()} for row in rows]
    free = {B: solve_spd(M[B], F[B]) for B in M}
    A, b = np.zeros((n, n), dtype=object), np.zeros(n, dtype=object)
    for i, row in enumerate(rows):
        b[at[i]] = -row.gamma - sum(block @ free[B] for B, block in row.blocks.items())
        A[at[i], at[i]] = row.E
        for k in range(i, len(rows)):
            for B in (
                B for B in row.blocks if B in rows[k].blocks
            ):  # in this order always: sets of names differ from run to run
                A[at[i], at[k]] = A[at[i], at[k]] + row.blocks[B] @ through[k][B]
    loads = solve_spd(mirror(unboxed(A)), unboxed(b)) if n else np.zeros(0)
    nudot = dict(free)
    for i, row in enumerate(rows):
        for B in row.blocks:
            nudot[B] = nudot[B] + through[i][B] @ loads[at[i]]
    return nudot, [loads[s] for s in at]


def solve_together(
    M: Mapping[str, Array], F: Mapping[str, Array], rows: Sequence[JointRows]
) -> tuple[dict[str, Array], list[Array]]:
    """(3): nudot by body, and the load of each joint. One row block per body, outermost first."""
    usual = sum(M[B][k, k] for B in M for k in range(6)) / (6 * len(M))  # W of what is held: about as large as M
    body_at: dict[str, slice] = {}
    load_at: list[slice] = []
    stiff = [[k for k in range(len(row.gamma)) if is_zero(row.E[k, k])] for row in rows]
    n = 0
    for row, held in zip(rows, stiff, strict=True):
        body_at[next(iter(row.blocks))] = slice(n, n + 6)
        load_at.append(slice(n + 6, n + 6 + len(held)))
        n += 6 + len(held)
    K, b = np.zeros((n, n), dtype=object), np.zeros(n, dtype=object)
    W = [np.array([usual if is_zero(e) else 1.0 / e for e in np.diag(row.E)]) for row in rows]
    for B, at in body_at.items():
        K[at, at], b[at] = M[B], F[B]
    for row, held, weight, i in zip(rows, stiff, W, load_at, strict=True):
        b[i] = -row.gamma[held]
        for B, block in row.blocks.items():
            at, weighted = body_at[B], block.T * weight
            b[at] = b[at] - weighted @ row.gamma
            K[at, i], K[i, at] = block[held].T, block[held]
            for C, other in row.blocks.items():
                K[at, body_at[C]] = K[at, body_at[C]] + weighted @ other
    x = ldl_solve(*ldl(mirror(unboxed(K))), unboxed(b))  # (3)
    nudot = {B: x[body_at[B]] for B in M}
    loads = []
    for row, held, weight, i in zip(rows, stiff, W, load_at, strict=True):
        load = -weight * (row.gamma + sum(block @ nudot[B] for B, block in row.blocks.items()))
        load[held] = -x[i]
        loads.append(load)
    return nudot, loads
