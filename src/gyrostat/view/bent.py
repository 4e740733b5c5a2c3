"""Flexible bodies as they are drawn: lines between their nodes, wherever bending has them.

Lines are those of the body; otherwise places along it are joined each to the nearest that is closer to the body's own
frame, or, where the nodes lie in a plane, to neighbours there.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..algebra import Array
from ..model import FlexibleBody, Spacecraft

MOST_NODES = 60  # that are drawn, of each body
FLAT, WIDE = 0.02, 0.05  # of its length: thinner is flat, wider is more than a line


class Skeleton(NamedTuple):
    """Places with their shapes, the body's own frame first, and the pairs (edges, 2) of them that are joined."""

    r: Array  # (places, 3)
    Phi: Array  # (places, 3, n)
    G: Array | None  # (places, 3, n, n)
    edges: Array

    def at(self, e: Array) -> Array:
        """Ends of the lines in B, (..., edges, 2, 3), at modal coordinates (..., n)."""
        p = self.r + np.einsum("ixk,...k->...ix", self.Phi, e)
        if self.G is not None:
            p = p + 0.5 * np.einsum("ixkl,...k,...l->...ix", self.G, e, e)
        return p[..., self.edges, :]


def skeletons(craft: Spacecraft) -> dict[str, Skeleton]:
    """Of each flexible body."""
    flexible = {body.name: craft.flexible(body.name) for body in craft.bodies}
    return {name: _skeleton(body) for name, body in flexible.items() if body is not None}


def bent_lines(craft: Spacecraft, q: Array) -> dict[str, Array]:
    """Ends of the lines of each flexible body in B, (..., edges, 2, 3), at configurations q (..., nq)."""
    found = {}
    for name, skeleton in skeletons(craft).items():
        body: Any = craft.flexible(name)
        found[name] = skeleton.at(q[..., body.q_at])
    return found


def magnified(craft: Spacecraft, q: Array, scale: float) -> Array:
    """q (..., nq) with every modal coordinate that many times as large."""
    q = np.array(q, dtype=float)
    for joint in craft.joints:
        if joint.kind == "modal":
            q[..., joint.q_at] *= scale
    return q


def _skeleton(body: FlexibleBody) -> Skeleton:
    places = np.array([node.position for node in body.nodes])
    if body.lines:
        chosen = sorted({body.node(name) for pair in body.lines for name in pair})
        pick = np.eye(len(places))[chosen]
        edges = np.array([[chosen.index(body.node(name)) + 1 for name in pair] for pair in body.lines])
    elif _flat(places):
        pick = np.eye(len(places))[_spread(places)]
        edges = _neighbours(np.vstack([np.zeros(3), pick @ places]))
    else:
        pick, edges = _in_line(places)
    own = np.vstack([np.zeros(len(places)), pick])  # nothing at the body's own frame
    G = None if body.second_order is None else np.tensordot(own, body.second_order, axes=1)
    return Skeleton(own @ places, np.tensordot(own, body.translations, axes=1), G, edges)


def _flat(places: Array) -> bool:
    _, sizes, _ = np.linalg.svd(places - places.mean(axis=0), full_matrices=False)
    sizes = np.append(sizes, np.zeros(3))
    return len(places) > 4 and bool(sizes[2] <= FLAT * sizes[0] and sizes[1] >= WIDE * sizes[0])


def _spread(places: Array) -> list[int]:
    """The farthest node, then always the one farthest from those chosen already."""
    chosen = [int(np.argmax((places**2).sum(axis=1)))]
    size = float(np.linalg.norm(places[chosen[0]])) or 1.0
    away = np.minimum(np.linalg.norm(places - places[chosen[0]], axis=1), np.linalg.norm(places, axis=1))
    while len(chosen) < MOST_NODES and away.max() > FLAT * size:
        chosen.append(int(np.argmax(away)))
        away = np.minimum(away, np.linalg.norm(places - places[chosen[-1]], axis=1))
    return chosen


def _neighbours(points: Array) -> Array:
    """Pairs of points of a plane, by Delaunay's triangles."""
    from scipy.spatial import Delaunay

    spread = points - points.mean(axis=0)
    _, _, axes = np.linalg.svd(spread, full_matrices=False)
    triangles = Delaunay(spread @ axes[:2].T).simplices
    pairs = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    return np.unique(np.sort(pairs, axis=1), axis=0)


def _in_line(places: Array) -> tuple[Array, Array]:
    """Means of nodes that are about as far from the body's own frame (what beams have around their axis), each joined
    to the nearest that is closer.
    """
    reach = np.linalg.norm(places, axis=1)
    groups = np.floor(reach / (reach.max() or 1.0) * MOST_NODES / 2).astype(int)
    near = [np.flatnonzero(groups == g) for g in np.unique(groups[reach > 0.0])]
    wide = [g for g in near if np.ptp(places[g], axis=0).max() > WIDE * 4 * reach.max()]
    if wide:  # branches: one by one
        near = [np.array([k]) for k in np.argsort(reach, kind="stable") if reach[k] > 0.0]
    else:
        near.append(np.array([int(np.argmax(reach))]))  # the tip itself
    pick = np.array([np.isin(np.arange(len(places)), g) / len(g) for g in near]).reshape(-1, len(places))
    points = np.vstack([np.zeros(3), pick @ places])
    edges = [[int(np.argmin(np.linalg.norm(points[:k] - points[k], axis=1))), k] for k in range(1, len(points))]
    return pick, np.array(edges).reshape(-1, 2)
