"""A truss boom along x: equal bays of bars that are hinged at their ends, the frame at x = 0 clamped.

A bar of direction t and length l between the displacements u_1, u_2, d = u_2 - u_1, is strained by

    e = t.d / l + |d - t (t.d)|^2 / (2 l^2)                                                                 (1)

Its mass moves linearly along it, exactly held by two Gauss points. Bars do not bend: what is slower than the boom's own
bending of its bars between hinges is not in the mesh.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ..algebra import Array
from .mesh import Mesh, Station


@dataclass(frozen=True)
class Bar:
    """EA in N, mass per length in kg/m."""

    EA: float
    rhoA: float

    def __post_init__(self) -> None:
        if not (self.EA > 0 and self.rhoA > 0):
            raise ValueError(f"Bar(EA={self.EA}, rhoA={self.rhoA}): expected both above zero.")


def truss_mesh(
    length: float,
    bays: int,
    radius: float,
    sides: int,
    longeron: Bar,
    batten: Bar,
    diagonal: Bar,
    joint_mass: float,
    stations: Mapping[str, int],
) -> Mesh:
    """Frames are regular polygons of that circumradius. One diagonal a face and bay, turned about from bay to bay;
    frames of more than three sides are braced across. stations: names with the number of their frame.
    """
    corners = _corners(length, bays, radius, sides)
    ends, bars = _bars(bays, sides, longeron, batten, diagonal)
    count = 3 * len(corners)
    delta = corners[ends[:, 1]] - corners[ends[:, 0]]
    lengths = np.sqrt((delta * delta).sum(axis=1))
    t = delta / lengths[:, None]
    difference = _pick(ends[:, 1], count) - _pick(ends[:, 0], count)  # (3 bars, unknowns)
    along = sparse.block_diag([sparse.coo_array(row[None]) for row in t], format="csr")
    B = sparse.diags_array(1 / lengths) @ along @ difference
    across = difference - along.T @ along @ difference
    across = sparse.diags_array(np.repeat(1 / lengths, 3)) @ across
    W = sparse.diags_array(lengths * np.array([bar.EA for bar in bars]))

    s = (1 - 1 / np.sqrt(3)) / 2
    places = np.concatenate([ends, ends])
    parts = np.repeat([s, 1 - s], len(ends))
    first, second = _pick(places[:, 0], count), _pick(places[:, 1], count)
    weight = np.repeat(parts, 3)[:, None]
    moved = first.multiply(1 - weight) + second.multiply(weight)
    points = corners[places[:, 0]] * (1 - parts[:, None]) + corners[places[:, 1]] * parts[:, None]
    masses = np.tile(lengths * np.array([bar.rhoA for bar in bars]) / 2, 2)
    if joint_mass:
        points, masses = np.concatenate([points, corners]), np.append(masses, np.full(len(corners), joint_mass))
        moved = sparse.vstack([moved, sparse.eye_array(count)])

    free = np.arange(3 * sides, count)
    B, across, moved = (A.tocsc()[:, free].tocsr() for A in (B, across, moved))
    slopes = [(across[k::3], across[k::3]) for k in range(3)]
    held = {name: _station(corners, frame, sides, free) for name, frame in stations.items()}
    return Mesh((B.T @ W @ B).tocsc(), points, masses, moved, held, B, W, slopes, length)


def _corners(length: float, bays: int, radius: float, sides: int) -> Array:
    angles = 2 * np.pi * np.arange(sides) / sides
    ring = radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    x = np.linspace(0.0, length, bays + 1)
    return np.concatenate([np.column_stack([np.full(sides, at), ring]) for at in x])


def _bars(bays: int, sides: int, longeron: Bar, batten: Bar, diagonal: Bar) -> tuple[Array, list[Bar]]:
    ends: list[tuple[int, int]] = []
    bars: list[Bar] = []

    def add(a: int, b: int, bar: Bar) -> None:
        ends.append((a, b))
        bars.append(bar)

    for bay in range(bays + 1):
        here = [bay * sides + k for k in range(sides)]
        for k in range(sides):
            add(here[k], here[(k + 1) % sides], batten)
        for k in range(2, sides - 1):
            add(here[0], here[k], diagonal)
        for k in range(sides) if bay < bays else ():
            add(here[k], here[k] + sides, longeron)
            a, b = (k, (k + 1) % sides) if bay % 2 == 0 else ((k + 1) % sides, k)
            add(here[a], here[b] + sides, diagonal)
    return np.array(ends), bars


def _pick(corners: Array, count: int) -> sparse.csr_array:
    """(3 n, unknowns): displacement of those corners."""
    columns = (3 * corners[:, None] + np.arange(3)).ravel()
    return sparse.csr_array((np.ones(len(columns)), (np.arange(len(columns)), columns)), shape=(len(columns), count))


def _station(corners: Array, frame: int, sides: int, free: Array) -> Station:
    """The frame as a whole: the mean of its corners, and the turn that fits their displacements best."""
    chosen = np.arange(frame * sides, (frame + 1) * sides)
    middle = corners[chosen].mean(axis=0)
    rigid = np.zeros((3 * sides, 6))  # displacement of the corners by [turn; shift]
    for k, arm in enumerate(corners[chosen] - middle):
        rows = slice(3 * k, 3 * k + 3)
        rigid[rows, :3] = np.array([[0.0, arm[2], -arm[1]], [-arm[2], 0.0, arm[0]], [arm[1], -arm[0], 0.0]])
        rigid[rows, 3:] = np.eye(3)
    fit = np.linalg.pinv(rigid)
    picked = _pick(chosen, 3 * len(corners)).tocsc()[:, free]
    grip = (3 * chosen[:, None] + np.arange(3)).ravel() - free[0]
    turned, moved = (sparse.csr_array(fit[part] @ picked) for part in (slice(0, 3), slice(3, 6)))
    return Station(middle, moved, turned, grip)
