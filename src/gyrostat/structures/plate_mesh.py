"""A rectangular plate in the x-y plane, thin (Kirchhoff), by the conforming element of Bogner, Fox and Schmit.

All three displacements are products of Hermite's cubics along x and y, unknowns (f, f_x, f_y, f_xy) at each corner:
frequencies come from above. In its plane the plate is a membrane, which bending pulls in (stiffening.py).

    bending    D [w_xx^2 + w_yy^2 + 2 nu w_xx w_yy + 2 (1 - nu) w_xy^2] / 2                                 (1)
    membrane   C [e_x^2 + e_y^2 + 2 nu e_x e_y + (1 - nu)/2 g^2] / 2,
               e_x = u_x + w_x^2/2,  e_y = v_y + w_y^2/2,  g = u_y + v_x + w_x w_y                          (2)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ..algebra import Array
from .beam_mesh import edges_through, interleaved
from .interpolation import Matrix, gauss_points, hermite
from .mesh import Mesh, Station

SIDES = ("x0", "x1", "y0", "y1")
SUPPORTS = ("clamped", "simple", "free")


@dataclass(frozen=True)
class PlateSection:
    """bending: D = E h^3 / (12 (1 - nu^2)), N m; membrane: C = E h / (1 - nu^2), N/m; poisson: nu; density: kg/m^2."""

    bending: float
    membrane: float
    poisson: float
    density: float

    def __post_init__(self) -> None:
        if not (min(self.bending, self.membrane, self.density) > 0 and -1 < self.poisson <= 0.5):
            raise ValueError(
                f"PlateSection: found bending {self.bending}, membrane {self.membrane}, density {self.density}, "
                f"Poisson's ratio {self.poisson}; expected the first three above zero and the last in (-1, 0.5]."
            )


def plate_mesh(
    length: float,
    width: float,
    section: PlateSection,
    elements: tuple[int, int],
    stations: Mapping[str, tuple[float, float]],
    supports: Mapping[str, str],
    root: float | None = None,
) -> Mesh:
    """0 <= x <= length, -width/2 <= y <= width/2. supports: of the sides x0, x1, y0, y1; "free" where not named.

    root: the side x0 is clamped only within that width about y = 0.
    """
    x_edges = edges_through(np.linspace(0.0, length, elements[0] + 1), [at[0] for at in stations.values()])
    cuts = [at[1] for at in stations.values()] + ([] if root is None else [-root / 2, root / 2])
    y_edges = edges_through(np.linspace(-width / 2, width / 2, elements[1] + 1), cuts)
    grid = _Grid(x_edges, y_edges, supports, root)
    (x, wx), (y, wy) = gauss_points(x_edges), gauss_points(y_edges)
    w = np.kron(wx, wy)
    rows = grid.rows

    wxx, wyy, wxy = rows(2, x, y, 2, 0), rows(2, x, y, 0, 2), rows(2, x, y, 1, 1)
    stiff = sparse.kron(_plane_stress(section.poisson), sparse.diags_array(w))
    bent = sparse.vstack([wxx, wyy, 2 * wxy])
    B = sparse.vstack([rows(0, x, y, 1, 0), rows(1, x, y, 0, 1), rows(0, x, y, 0, 1) + rows(1, x, y, 1, 0)]).tocsr()
    W = (section.membrane * stiff).tocsr()
    K = B.T @ W @ B + section.bending * (bent.T @ stiff @ bent)

    sx, sy, none = rows(2, x, y, 1, 0), rows(2, x, y, 0, 1), sparse.csr_array(wxx.shape)
    slopes = [  # w_x^2 / 2 to the first strain, w_y^2 / 2 to the second, w_x w_y to the third
        (sparse.vstack([sx, sy, none]).tocsr(), sparse.vstack([sx, sy, none]).tocsr()),
        (sparse.vstack([none, none, 2 * sx]).tocsr(), sparse.vstack([none, none, sy]).tocsr()),
    ]
    points = np.stack([np.repeat(x, len(y)), np.tile(y, len(x)), np.zeros(len(w))], axis=1)
    moved = interleaved((rows(0, x, y), rows(1, x, y), rows(2, x, y)))
    held = {name: _station(grid, *at) for name, at in stations.items()}
    size = float(np.hypot(length, width))
    return Mesh(K.tocsc(), points, section.density * w, moved, held, B, W, slopes, size, families=grid.families)


def _plane_stress(nu: float) -> Array:
    return np.array([[1.0, nu, 0.0], [nu, 1.0, 0.0], [0.0, 0.0, (1 - nu) / 2]])


class _Grid:
    """Unknowns of u, v, w at all corners, less those that supports hold."""

    def __init__(self, x_edges: Array, y_edges: Array, supports: Mapping[str, str], root: float | None) -> None:
        self.x_edges, self.y_edges = x_edges, y_edges
        nx, ny = len(x_edges), len(y_edges)
        # [field, corner in x, (f, f_x), corner in y, (f, f_y)], the order of a Kronecker product
        held = np.zeros((3, nx, 2, ny, 2), dtype=bool)
        part = np.ones(ny, dtype=bool) if root is None else np.abs(y_edges) <= root / 2 * (1 + 1e-9)
        for side, kind in supports.items():
            if kind == "free":
                continue
            along_x = side[0] == "y"
            corner = 0 if side[1] == "0" else -1
            chosen = slice(None) if along_x else (part if side == "x0" else np.ones(ny, dtype=bool))
            for slope in (0, 1) if kind == "clamped" else (0,):
                if along_x:  # f = 0 along the side, so f_x too; a clamped one has f_y = 0 of w as well
                    held[2 if slope else slice(None), :, :, corner, slope] = True
                else:
                    fields = (2,) if slope else (0, 1, 2)
                    for field in fields:
                        for k in (0, 1):
                            held[field, corner, slope, chosen, k] = True
        self.kept = np.flatnonzero(~held.ravel())
        self.size = 4 * nx * ny
        place = np.full(held.size, -1)
        place[self.kept] = np.arange(len(self.kept))
        self.place = place.reshape(held.shape)
        of_normal = self.kept >= 2 * self.size
        self.families = {"normal": np.flatnonzero(of_normal), "plane": np.flatnonzero(~of_normal)}

    def rows(self, field: int, x: Array, y: Array, dx: int = 0, dy: int = 0) -> Matrix:
        """(points, unknowns): a derivative of one displacement at all (x_i, y_j), y running fastest."""
        own = sparse.kron(hermite(self.x_edges, x, dx), hermite(self.y_edges, y, dy)).tocoo()
        whole = sparse.csc_array(
            (own.data, (own.row, own.col + field * self.size)), shape=(own.shape[0], 3 * self.size)
        )
        return whole[:, self.kept].tocsr()


def _station(grid: _Grid, x: float, y: float) -> Station:
    at = (np.array([x]), np.array([y]))
    moved = sparse.vstack([grid.rows(field, *at) for field in range(3)]).tocsr()
    turned = sparse.vstack(
        [
            grid.rows(2, *at, 0, 1),
            -grid.rows(2, *at, 1, 0),
            0.5 * (grid.rows(1, *at, 1, 0) - grid.rows(0, *at, 0, 1)),
        ]
    ).tocsr()
    i, j = (int(np.argmin(np.abs(edges - c))) for edges, c in ((grid.x_edges, x), (grid.y_edges, y)))
    grip = grid.place[:, i, :, j, :].ravel()
    return Station(np.array([x, y, 0.0]), moved, turned, grip[grip >= 0])
