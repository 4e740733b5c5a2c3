"""From a mesh to the few shapes of a flexible body: lumps with their displacements, stations, stiffness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse

from ..algebra import Array
from ..model.findings import nearest
from .eigenmodes import craig_bampton, orthogonal, vibrations
from .interpolation import Matrix
from .mesh import Mesh, Station
from .stiffening import second_order, turning

MOTIONS = ("x", "y", "z", "rx", "ry", "rz")


class Reduced(NamedTuple):
    """Of n shapes. points first, then stations (without mass): Phi, Psi (places, 3, n), G (places, 3, n, n) or None.

    squares: w^2 of each shape with the root clamped, rad^2/s^2; modal_masses: kg, or kg m^2 where a shape is a turn.
    """

    positions: Array
    masses: Array
    Phi: Array
    Psi: Array
    G: Array | None
    squares: Array
    modal_masses: Array
    stations: dict[str, int]

    @property
    def frequencies(self) -> Array:
        """Hz"""
        return np.sqrt(self.squares) / (2 * np.pi)


def reduced(
    mesh: Mesh,
    modes: int,
    interfaces: Mapping[str, Sequence[str]] | None = None,
    motions: Sequence[str] | None = None,
    stiffening: bool = True,
) -> Reduced:
    """The mesh in `modes` vibrations, and the motions of `interfaces` where Craig-Bampton's shapes are asked for.

    motions: families of the mesh that may move; all by default. Each shape is as large as one metre of the station or
    mass point that moves most; where they hardly do, one radian.
    """
    K, M = mesh.K, mesh.M
    kept = _of_families(mesh, motions)
    rows, held = _interfaces(mesh, interfaces or {}, kept)
    own = np.flatnonzero(kept)
    K_own, M_own = K.tocsr()[own][:, own].tocsc(), M.tocsr()[own][:, own].tocsc()
    if len(own) < modes + rows.shape[0]:
        raise ValueError(
            f"{modes} modes and {rows.shape[0]} interface motions are asked for; the mesh has {len(own)} unknowns. Ask "
            "for fewer, or give more elements."
        )
    if rows.shape[0]:
        places = np.full(len(kept), -1)
        places[own] = np.arange(len(own))
        grip = places[held]
        few = craig_bampton(K_own, M_own, rows.tocsc()[:, own].tocsr(), grip[grip >= 0], modes)
    else:
        few = vibrations(K_own, M_own, modes)[1]
    shapes = np.zeros((mesh.unknowns, few.shape[1]))
    squares, shapes[own] = orthogonal(few, K_own, M_own, [D.tocsr()[own][:, own] for D in _directions(mesh)])
    return _sampled(mesh, squares, shapes, stiffening)


def _of_families(mesh: Mesh, motions: Sequence[str] | None) -> Array:
    if motions is None:
        return np.ones(mesh.unknowns, dtype=bool)
    kept = np.zeros(mesh.unknowns, dtype=bool)
    for name in motions:
        if name not in mesh.families:
            raise ValueError(f"motions: there is no '{name}'. {nearest(name, mesh.families)}")
        kept[mesh.families[name]] = True
    return kept


def _interfaces(mesh: Mesh, interfaces: Mapping[str, Sequence[str]], kept: Array) -> tuple[Matrix, Array]:
    """Rows of the motions that interfaces have among those that may move, and what stands still with them."""
    rows: list[Matrix] = [sparse.csr_array((0, mesh.unknowns))]
    held: list[Array] = [np.zeros(0, dtype=int)]
    for name, wanted in interfaces.items():
        if name not in mesh.stations:
            raise ValueError(f"interfaces: there is no station '{name}'. {nearest(name, mesh.stations)}")
        station = mesh.stations[name]
        both = sparse.vstack([station.displacement, station.rotation]).tocsr()
        for motion in wanted:
            if motion not in MOTIONS:
                raise ValueError(f"interfaces['{name}']: '{motion}' is no motion. {nearest(motion, MOTIONS)}")
            row = both[[MOTIONS.index(motion)]]
            if kept[row.tocoo().col].any():
                rows.append(row)
        held.append(station.grip)
    return sparse.vstack(rows).tocsr(), np.concatenate(held)


def _directions(mesh: Mesh) -> list[Matrix]:
    found = []
    for axis in range(3):
        T = mesh.translation[axis::3]
        found.append(T.T @ T.multiply(mesh.masses[:, None]).tocsr())
    return found


def _sampled(mesh: Mesh, squares: Array, shapes: Array, stiffening: bool) -> Reduced:
    stations = list(mesh.stations.values())
    points, n = len(mesh.points), shapes.shape[1]
    Phi = _at(mesh.translation, stations, [s.displacement for s in stations]) @ shapes
    Phi = Phi.reshape(-1, 3, n)
    turned = sparse.csr_array((3 * points, mesh.unknowns)) if mesh.rotation is None else mesh.rotation
    Psi = (_at(turned, stations, [s.rotation for s in stations]) @ shapes).reshape(-1, 3, n)

    far, turn = np.abs(Phi).max(axis=(0, 1)), np.abs(Psi).max(axis=(0, 1))
    scale = np.where(far > 0.02 * mesh.size * turn, far, turn)
    where = np.abs(Phi / far).reshape(-1, n).argmax(axis=0)
    scale = scale * np.sign(np.take_along_axis(Phi.reshape(-1, n), where[None], axis=0)[0])  # that place moves forward
    Phi, Psi, shapes = Phi / scale, Psi / scale, shapes / scale

    G = None
    if stiffening:
        u = second_order(mesh, shapes).reshape(mesh.unknowns, -1)
        G = (_at(mesh.translation, stations, [s.displacement for s in stations]) @ u).reshape(-1, 3, n, n)
        if mesh.arms is not None:
            G[:points] += turning(Psi[:points], mesh.arms)
    positions = np.concatenate([mesh.points, *(s.position[None] for s in stations)])
    masses = np.append(mesh.masses, np.zeros(len(stations)))
    names = {name: points + k for k, name in enumerate(mesh.stations)}
    return Reduced(positions, masses, Phi, Psi, G, squares, 1 / scale**2, names)


def _at(points: Matrix, stations: Sequence[Station], rows: Sequence[Matrix]) -> Matrix:
    return sparse.vstack([points, *rows]).tocsr() if stations else points
