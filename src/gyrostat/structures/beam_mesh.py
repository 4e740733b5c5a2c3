"""A straight beam along x, clamped at x = 0: bending in both planes, twist and stretch.

Unknowns: y and z by Hermite's cubics (Euler-Bernoulli: sections stay normal to the axis), twist and stretch by
quadratics. Where sections have inertia of their own, each Gauss point is four points at (+-a, 0) and (0, +-b),
a^2 = 2 rhoIz / rhoA, b^2 = 2 rhoIy / rhoA, which have just that inertia.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np
from scipy import sparse

from ..algebra import Array
from .interpolation import Matrix, gauss_points, hermite, quadratic
from .mesh import Mesh, Station
from .sections import Section

FAMILIES = ("y", "z", "twist", "stretch")


def beam_mesh(
    length: float, section: Section | Callable[[float], Section], elements: int, stations: Mapping[str, float]
) -> Mesh:
    """stations: names with their places along x, in m; each becomes an edge of elements."""
    edges = edges_through(np.linspace(0.0, length, elements + 1), stations.values())
    x, w = gauss_points(edges)
    sections = [section(float(s)) if callable(section) else section for s in x]

    def along(name: str) -> Array:
        return w * np.array([getattr(s, name) for s in sections])

    fields = _Fields(edges)
    y2, z2 = fields.rows("y", x, 2), fields.rows("z", x, 2)
    t1, u1 = fields.rows("twist", x, 1), fields.rows("stretch", x, 1)
    weights = sparse.diags_array(along("EA"))
    K = u1.T @ weights @ u1
    for rows, name in ((y2, "EIz"), (z2, "EIy"), (t1, "GJ")):
        K = K + rows.T @ sparse.diags_array(along(name)) @ rows
    y1, z1 = fields.rows("y", x, 1), fields.rows("z", x, 1)
    points, masses, translation, arms, rotation = _points(fields, x, along)
    return Mesh(
        K.tocsc(),
        points,
        masses,
        translation,
        {name: _station(fields, at) for name, at in stations.items()},
        u1,
        weights,
        [(y1, y1), (z1, z1)],
        length,
        arms,
        rotation,
        fields.places,
    )


def edges_through(edges: Array, places: Iterable[float]) -> Array:
    """The edges, with more of them where a place is not on one."""
    for at in places:
        near = int(np.argmin(np.abs(edges - at)))
        if abs(edges[near] - at) < 1e-9 * (edges[-1] - edges[0]):
            edges[near] = at
        else:
            edges = np.sort(np.append(edges, at))
    return edges


class _Fields:
    """The four motions of the axis, and where their unknowns stand once the root is clamped."""

    def __init__(self, edges: Array) -> None:
        self.edges, n = edges, len(edges)
        kept = {name: np.arange(2, 2 * n) if name in "yz" else np.arange(1, 2 * n - 1) for name in FAMILIES}
        self.kept, self.places, start = kept, {}, 0
        for name in FAMILIES:
            self.places[name] = np.arange(start, start + len(kept[name]))
            start += len(kept[name])
        self.width = start

    def rows(self, name: str, at: Array, derivative: int = 0) -> Matrix:
        """(points, unknowns) of one motion or its derivative by x."""
        element = hermite if name in "yz" else quadratic
        own = element(self.edges, at, derivative)[:, self.kept[name]].tocoo()
        columns = self.places[name][own.col]
        return sparse.csr_array((own.data, (own.row, columns)), shape=(own.shape[0], self.width))

    def turn(self, at: Array) -> tuple[Matrix, Matrix, Matrix]:
        """Of the section about x, y and z: Psi_y = -z', Psi_z = y'."""
        return self.rows("twist", at), -self.rows("z", at, 1), self.rows("y", at, 1)


def interleaved(rows: tuple[Matrix, Matrix, Matrix]) -> Matrix:
    """(3 n, unknowns) from three (n, unknowns): x, y, z of each point in turn."""
    n = rows[0].shape[0]
    order = np.arange(3 * n).reshape(3, n).T.ravel()
    return sparse.vstack(rows).tocsr()[order]


def _points(
    fields: _Fields, x: Array, along: Callable[[str], Array]
) -> tuple[Array, Array, Matrix, Array | None, Matrix | None]:
    mass, about_y, about_z = along("rhoA"), along("rhoIy"), along("rhoIz")
    axis = np.stack([x, 0 * x, 0 * x], axis=1)
    moved = interleaved((fields.rows("stretch", x), fields.rows("y", x), fields.rows("z", x)))
    if not (about_y.any() or about_z.any()):
        return axis, mass, moved, None, None
    a, b = np.sqrt(2 * about_z / mass), np.sqrt(2 * about_y / mass)
    turned = interleaved(fields.turn(x))
    arms = [(0 * x, a, 0 * x), (0 * x, -a, 0 * x), (0 * x, 0 * x, b), (0 * x, 0 * x, -b)]
    off = [np.stack(arm, axis=1) for arm in arms]
    translation = sparse.vstack([moved + levers(arm) @ turned for arm in off]).tocsr()
    points = np.concatenate([axis + arm for arm in off])
    return points, np.tile(mass / 4, 4), translation, np.concatenate(off), sparse.vstack([turned] * 4).tocsr()


def levers(arms: Array) -> Matrix:
    """Block diagonal of -d^: theta x d = -d^ theta."""
    blocks = np.zeros((len(arms), 3, 3))
    blocks[:, [0, 1, 2], [1, 2, 0]] = arms[:, [2, 0, 1]]
    blocks[:, [1, 2, 0], [0, 1, 2]] = -arms[:, [2, 0, 1]]
    return sparse.block_diag([sparse.coo_array(block) for block in blocks], format="csr")


def _station(fields: _Fields, at: float) -> Station:
    x = np.array([at])
    moved = sparse.vstack([fields.rows("stretch", x), fields.rows("y", x), fields.rows("z", x)]).tocsr()
    turned = sparse.vstack(fields.turn(x)).tocsr()
    grip = np.unique(np.concatenate([moved.tocoo().col, turned.tocoo().col]))
    return Station(np.array([at, 0.0, 0.0]), moved, turned, grip)
