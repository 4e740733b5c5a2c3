"""Momentum and energy of an arm on a base straight from a paper's table: no Spacecraft, no formulation,
one loop over the links.

Each body has a frame C in its centre of mass. From the previous body's C to the joint, then turned about z of the joint
by its angle, then to its own C:

    w += rate z_J,   v_C = v_J + w x (p_C - p_J)                                                        (1)
    h += R I R^T w + m p_C x v_C,   p += m v_C,   2 T += w . R I R^T w + m v_C . v_C                    (2)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..algebra import Array, Pose, rotation, rotation_about

Z = np.array([0.0, 0.0, 1.0])


class Link(NamedTuple):
    """A body of the chain; the base is the first one, and its poses are not used."""

    mass: float
    inertia: Array  # (3, 3) or its diagonal, about C in its axes
    to_joint: Pose = Pose(np.eye(3), np.zeros(3))  # from C of the previous body
    to_com: Pose = Pose(np.eye(3), np.zeros(3))  # from the joint, turned by its angle


class Totals(NamedTuple):
    """Over times: momentum (times, 6) [angular about the origin; linear] in N, and kinetic energy (times,)."""

    momentum: Array
    energy: Array


def totals(links: Sequence[Link], q: Array, v: Array) -> Totals:
    """At rows of q and v in gyrostat's order, the base's frame in its centre of mass."""
    rows = [_totals(links, *row) for row in zip(q, v, strict=True)]
    return Totals(np.array([h for h, _ in rows]), np.array([energy for _, energy in rows]))


def _totals(links: Sequence[Link], q: Array, v: Array) -> tuple[Array, float]:
    R, p = rotation(q[:4]), q[4:7]
    w, velocity = R @ v[:3], R @ v[3:6]
    h, energy = _share(links[0], R, p, w, velocity)
    for link, angle, rate in zip(links[1:], q[7:], v[6:], strict=True):
        R_J, p_J = R @ link.to_joint.R, p + R @ link.to_joint.p
        velocity = velocity + np.cross(w, p_J - p)
        w = w + rate * R_J[:, 2]  # (1)
        turned = R_J @ rotation_about(Z, angle)
        R, p = turned @ link.to_com.R, p_J + turned @ link.to_com.p
        velocity = velocity + np.cross(w, p - p_J)
        share, more = _share(link, R, p, w, velocity)
        h, energy = h + share, energy + more
    return h, energy


def _share(link: Link, R: Array, p: Array, w: Array, velocity: Array) -> tuple[Array, float]:
    """(2) of one body."""
    inertia = np.diag(link.inertia) if np.ndim(link.inertia) == 1 else np.asarray(link.inertia)
    spin, linear = R @ inertia @ R.T @ w, link.mass * velocity
    h = np.concatenate([spin + np.cross(p, linear), linear])
    return h, float(0.5 * (w @ spin + velocity @ linear))
