"""What of a flexible body's mass enters its equations, summed over its lumps once: their cost does not depend on how
many there are.

The lumps are points p_i = S_i z(e), S_i = [r_i, Phi_i, (G_i)_kl], z = [1, e_k, e_k e_l (half of it if k = l)]:

    m,   C = sum m_i S_i (3, N),   W_ab = sum m_i s_a s_b^T (N, N, 3, 3)                                     (8)

A lump with inertia J about itself is six points of mass m / 6 at d = +-sqrt(3 E_k / m) u_k, (E_k, u_k) eigenpairs of
E = tr(J) / 2 - J, with Phi = Phi_i - d^ Psi_i and G_kl = G_i,kl + 1/2 (psi_k x (psi_l x d) + psi_l x (psi_k x d)):
its rotation to second order ("points"); or it is kept aside, as it is ("exact").
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..algebra import Array
from .nodes import Mount, Node


class Point(NamedTuple):
    """A mass point with its shapes."""

    mass: float
    r: Array  # (3,)
    Phi: Array  # (3, n)
    G: Array  # (3, n, n)


class Rotary(NamedTuple):
    """Inertia J of a lump about itself, and how the lump turns."""

    J: Array
    mount: Mount


class Invariants(NamedTuple):
    """(8), with the vectors ax(W_ab) (ax(a b^T) = a x b) and the traces of W_ab; which products e_k e_l are in z."""

    m: float
    pairs: tuple[tuple[int, int], ...]
    C: Array  # (3, N)
    W: Array  # (N, N, 3, 3)
    axial: Array  # (N, N, 3)
    trace: Array  # (N, N)
    rotary: tuple[Rotary, ...]


def invariants(nodes: tuple[Node, ...], mounts: tuple[Mount, ...], rotary: str, terms: str = "all") -> Invariants:
    """Of the lumps; mounts: their shapes. Pairs k, l whose G vanishes everywhere are left out of z.

    terms: "leading" leaves products of G with Phi and with G out of W, of third and fourth order in the kinetic energy.
    Momentum and energy hold to round-off all the same: the equations follow from that energy, whatever W is.
    """
    n = mounts[0].translation.shape[1]
    points: list[Point] = []
    kept: list[Rotary] = []
    for node, mount in zip(nodes, mounts, strict=True):
        G = np.zeros((3, n, n)) if mount.second_order is None else mount.second_order
        point = Point(node.mass, mount.position, mount.translation, G)
        if not np.any(node.inertia):
            points += [point] if node.mass else []
        elif rotary == "exact":
            points += [point] if node.mass else []
            kept.append(Rotary(node.inertia, mount))
        else:
            points += _six_points(node, mount, point)
    if not points:
        return Invariants(0.0, (), np.zeros((3, 1 + n)), *_products(np.zeros((0, 3, 1 + n)), np.zeros(0)), tuple(kept))
    m, r = np.array([p.mass for p in points]), np.array([p.r for p in points])
    Phi, G = np.array([p.Phi for p in points]), np.array([p.G for p in points])
    pairs = tuple((k, l) for k in range(n) for l in range(k, n) if G[:, :, k, l].any())
    S = np.concatenate([r[:, :, None], Phi, *(G[:, :, k, l][:, :, None] for k, l in pairs)], axis=2)
    return Invariants(float(m.sum()), pairs, np.einsum("i,ixa->xa", m, S), *_products(S, m, n, terms), tuple(kept))


def _products(S: Array, m: Array, n: int = 0, terms: str = "all") -> tuple[Array, Array, Array]:
    """W, ax(W) and tr(W)."""
    W = np.einsum("i,ixa,iyb->abxy", m, S, S)
    if terms == "leading":
        W[1 + n :, 1:] = 0.0
        W[1:, 1 + n :] = 0.0
    axial = np.stack([W[..., 1, 2] - W[..., 2, 1], W[..., 2, 0] - W[..., 0, 2], W[..., 0, 1] - W[..., 1, 0]], axis=-1)
    return W, axial, np.einsum("abxx->ab", W)


def spread(node: Node) -> tuple[Array, Array]:
    """Eigenvalues (kg m^2, negative ones show that no six points have this inertia) and vectors of E."""
    values, vectors = np.linalg.eigh(0.5 * np.trace(node.inertia) * np.eye(3) - node.inertia)
    size = np.abs(values).max()
    return np.where(np.abs(values) < 1e-12 * size, 0.0, values), np.where(np.abs(vectors) < 1e-15, 0.0, vectors)


def _six_points(node: Node, mount: Mount, point: Point) -> list[Point]:
    values, vectors = spread(node)
    Psi, found = mount.rotation, []
    for E, u in zip(values, vectors.T, strict=True):
        for side in (1.0, -1.0):
            d = side * np.sqrt(3.0 * max(E, 0.0) / node.mass) * u
            turned = np.cross(Psi.T, d)  # psi_l x d, (n, 3)
            twice = np.cross(Psi.T[:, None, :], turned[None, :, :])  # psi_k x (psi_l x d), (n, n, 3)
            G = point.G + 0.5 * np.moveaxis(twice + np.swapaxes(twice, 0, 1), -1, 0)
            found.append(Point(node.mass / 6.0, point.r + d, point.Phi + turned.T, G))
    return found
