"""A structure in finite elements, clamped at its root, before anything is reduced.

All elements come in the same words: matrices from the free unknowns u to what happens at points.

    displacement of the mass points        T u,     M = T^T diag(m) T                                       (1)
    membrane strain and its second order   B u + 1/2 sum_j (A_j u)(C_j u)                                   (2)
    energy                                 1/2 u^T K u,    K = B^T W B + K_bending                          (3)

Every mass is a point: M is that of the elements to the last bit, as the points are those of Gauss.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..algebra import Array
from .interpolation import Matrix


@dataclass(frozen=True, eq=False)
class Station:
    """A place of the structure that may carry something.

    displacement, rotation: (3, unknowns) rows. grip: unknowns that stand still when the station is held.
    """

    position: Array
    displacement: Matrix
    rotation: Matrix
    grip: Array


@dataclass(frozen=True, eq=False)
class Mesh:
    """points (n, 3), masses (n,); translation: T (3 n, unknowns), rows x, y, z of each point in turn.

    arms (n, 3), rotation (3 n, unknowns): where a point stands off its axis, by how much, and how that axis turns; None
    where all points stand on it.
    stretch: B; stretch_weights: W, sparse; slopes: pairs (A_j, C_j) of (2).
    families: which unknowns belong to which kind of motion ("y", "z", "twist", "stretch").
    size: m, its largest extent.
    """

    K: Matrix
    points: Array
    masses: Array
    translation: Matrix
    stations: Mapping[str, Station]
    stretch: Matrix
    stretch_weights: Matrix
    slopes: Sequence[tuple[Matrix, Matrix]]
    size: float
    arms: Array | None = None
    rotation: Matrix | None = None
    families: Mapping[str, Array] = field(default_factory=dict)

    @property
    def M(self) -> Matrix:
        weighted = self.translation.multiply(np.repeat(self.masses, 3)[:, None]).tocsr()
        return (self.translation.T @ weighted).tocsc()

    @property
    def unknowns(self) -> int:
        return int(self.K.shape[0])
