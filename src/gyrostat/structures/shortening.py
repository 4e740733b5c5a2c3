"""Second-order displacement of nodes that slender members join: bending pulls in what hangs on a member.

A member from a to b, d = (r_b - r_a) / l, keeps its length while it bends. Its end comes nearer by half the square of
its slope w' = sum_k w_k' e_k across d:

    G_b = G_a - d int w_k' . w_l' ds                                                                        (1)

With slopes at both ends (from the nodes' rotations, w' = psi x d) and the chord's, c = (Phi_b - Phi_a) / l across d,
the member is a cubic, whose integral is

    l [6/5 c_k c_l - (c_k s_l + s_k c_l) / 10 + 2/15 (a_k a_l + b_k b_l) - (a_k b_l + b_k a_l) / 30],  s = a + b  (2)

and without rotations it is straight: l c_k c_l. For a uniform beam that is -1/2 int (y'^2 + z'^2) dx, as in
`stiffening.py`. Where members close a loop, their stretching decides, which nodes and lines alone do not tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..algebra import Array
from ..model import FlexibleBody

Links = Sequence[tuple[int, int]]


def stiffened(body: FlexibleBody) -> FlexibleBody:
    """The body with second-order shapes from its lines, which are slender members that keep their length.

    Refused where lines do not lead from the body's own frame to every lump, one way to each. Of each set of nodes that
    lines join, the one nearest to the frame starts it: it stands still, or a member leads to it from the frame.
    """
    number = {node.name: k for k, node in enumerate(body.nodes)}
    links = [(number[a], number[b]) for a, b in body.lines]
    positions = np.array([node.position for node in body.nodes])
    roots = _starts(positions, links)
    phi, psi = np.asarray(body.translations, dtype=float), np.asarray(body.rotations, dtype=float)
    origin = len(positions)  # the body's own frame, where nothing moves
    places = np.append(positions, np.zeros((1, 3)), axis=0)
    still = np.zeros((1, 3, body.n))
    held = [k for k in roots if not (phi[k].any() or psi[k].any())]
    links += [(origin, k) for k in roots if k not in held]
    Phi, Psi = np.append(phi, still, axis=0), np.append(psi, still, axis=0)
    G, missed = shortened(places, Phi, Psi, links, [origin, *held])
    if G is None:
        raise ValueError(f"flexible body '{body.name}': its lines {missed}, so that they do not say how far bending "
                         "pulls nodes in. Give lines of a tree that starts at its frame, or second_order.")  # fmt: skip
    unreached = [node.name for k, node in enumerate(body.nodes) if node.mass and np.isnan(G[k]).any()]
    if unreached:
        raise ValueError(f"flexible body '{body.name}': no line leads to node '{unreached[0]}', which has mass.")
    return replace(body, second_order=np.nan_to_num(G[:origin]))


def shortened(
    positions: Array, Phi: Array, Psi: Array, links: Links, roots: Sequence[int]
) -> tuple[Array | None, str | None]:
    """(1) for each place, (places, 3, n, n), from the roots on, where it is zero; not a number where no link leads.

    None and the reason where links close a loop.
    """
    count, n = len(positions), Phi.shape[2]
    neighbours: list[list[int]] = [[] for _ in range(count)]
    for a, b in {(min(pair), max(pair)) for pair in links}:
        neighbours[a].append(b)
        neighbours[b].append(a)
    G = np.full((count, 3, n, n), np.nan)
    G[list(roots)] = 0.0
    held, before = set(roots), dict.fromkeys(roots, -1)
    waiting = list(dict.fromkeys(roots))
    while waiting:
        a = waiting.pop()
        for b in neighbours[a]:
            if b == before[a] or (a in held and b in held):
                continue
            if b in before:
                return None, f"close a loop at place {b + 1}"
            before[b] = a
            G[b] = G[a] - _pulled(positions[b] - positions[a], Phi[b] - Phi[a], Psi[a], Psi[b])
            waiting.append(b)
    return G, None


def _pulled(arm: Array, moved: Array, Psi_a: Array, Psi_b: Array) -> Array:
    """d times (2), (3, n, n)."""
    length = float(np.linalg.norm(arm))
    n = moved.shape[1]
    if length == 0.0:
        return np.zeros((3, n, n))
    d = arm / length
    c = (moved - np.outer(d, d @ moved)) / length
    if not (Psi_a.any() or Psi_b.any()):
        whole = length * (c.T @ c)
    else:
        a, b = np.cross(Psi_a.T, d).T, np.cross(Psi_b.T, d).T
        cs, ab = c.T @ (a + b), a.T @ b
        whole = length * (1.2 * (c.T @ c) - 0.1 * (cs + cs.T) + (2.0 / 15.0) * (a.T @ a + b.T @ b) - (ab + ab.T) / 30.0)
    return np.asarray(d[:, None, None] * whole)


def _starts(positions: Array, links: Links) -> list[int]:
    """Of each connected set of nodes, the one that lies nearest to the body's frame."""
    group = list(range(len(positions)))

    def top(k: int) -> int:
        while group[k] != k:
            k = group[k]
        return k

    for a, b in links:
        group[top(a)] = top(b)
    nearest: dict[int, int] = {}
    away = np.linalg.norm(positions, axis=1)
    for k in {k for pair in links for k in pair}:
        root = top(k)
        if root not in nearest or away[k] < away[nearest[root]]:
            nearest[root] = k
    return sorted(nearest.values())
