"""What a craft's flexible bodies do to it: frequencies clamped and coupled, effective masses, which modes matter.

A mode of modal mass one that moves the root by p = M_rf u takes the share p_a^2 / M_aa of the body's mass (a: along
x, y, z) or inertia about its frame (a: about x, y, z); shares of all modes of a continuum add up to one         (1)

Coupled: with driven joints and wheels held, springs and bodies bend on the base as it is mounted,

    M u w^2 = K u  at zero coordinates                                                                       (2)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..algebra import Array
from ..formulations.recursive import mass_matrix
from ..kinematics import neutral
from ..model import Finding, FlexibleBody, Role, Spacecraft

MATTERS = 0.01  # of the body's mass or inertia: a mode that takes less hardly moves the rest
SETTLED = 5e-3  # relative: coupled frequencies that move by more as modes are left out have not converged


@dataclass(frozen=True)
class ModeShare:
    """A mode of a body that is clamped at its frame. frequency: Hz. mass, inertia: the shares of (1), (3,) each."""

    name: str
    frequency: float
    damping_ratio: float
    mass: tuple[float, ...]
    inertia: tuple[float, ...]

    @property
    def matters(self) -> bool:
        """It takes a hundredth or more of the mass along some axis, or of the inertia about one."""
        return bool(max(*self.mass, *self.inertia) >= MATTERS)


@dataclass(frozen=True)
class CoupledMode:
    """frequency: Hz. shares: of the elastic energy, {coordinate of v: share}, largest first."""

    frequency: float
    shares: dict[str, float]


@dataclass(frozen=True)
class Flexibility:
    """clamped: by body; coupled: of the whole, by rising frequency; findings: what does not fit."""

    clamped: dict[str, tuple[ModeShare, ...]]
    coupled: tuple[CoupledMode, ...]
    findings: tuple[Finding, ...]


def flexibility(craft: Spacecraft) -> Flexibility:
    """Of all flexible bodies of the craft, where nothing is bent and all joints are at zero."""
    bodies = [body for part in craft.bodies if (body := craft.flexible(part.name))]
    M = np.asarray(mass_matrix(craft, neutral(craft)), dtype=float)
    K, moving = _stiffness(craft), _moving(craft)
    squares, shapes = _coupled(M, K, moving)
    names = [name for joint in craft.joints for name in joint.v_names]
    coupled = []
    for square, u in zip(squares, shapes.T, strict=True):
        energy = np.abs(u * (K[np.ix_(moving, moving)] @ u)) / square
        order = [k for k in np.argsort(-energy) if energy[k] > 0.01]
        coupled.append(CoupledMode(_hertz(square), {names[moving[k]]: float(energy[k]) for k in order}))
    clamped = {body.name: _shares(body) for body in bodies}
    found = [finding for body in bodies if (finding := _unsettled(craft, body, M, K, squares)) is not None]
    return Flexibility(clamped, tuple(coupled), tuple(found))


def _hertz(square: float) -> float:
    return float(np.sqrt(square) / (2.0 * np.pi))


def _stiffness(craft: Spacecraft) -> Array:
    K = np.zeros((craft.nv, craft.nv))
    for joint in craft.joints:
        body = craft.flexible(joint.body) if hasattr(joint, "body") else None
        if body is not None:
            K[joint.v_at, joint.v_at] = body.stiffness
        elif joint.nq:
            K[joint.v_at, joint.v_at] = joint.stiffness * np.eye(joint.nv)
    return K


def _moving(craft: Spacecraft) -> Array:
    return craft.at(Role.base, Role.passive, Role.modal)


def _coupled(M: Array, K: Array, moving: Array) -> tuple[Array, Array]:
    """w^2 above zero, ascending, with shapes u of u^T M u = 1, (2)."""
    from scipy.linalg import eigh

    M, K = M[np.ix_(moving, moving)], K[np.ix_(moving, moving)]
    if not len(moving):
        return np.zeros(0), np.zeros((0, 0))
    squares, shapes = eigh(K, M)
    rings = squares > 1e-12 * max(squares[-1], 1e-300)
    return squares[rings], shapes[:, rings]


def _shares(body: FlexibleBody) -> tuple[ModeShare, ...]:
    frequencies, u = body.clamped
    p = body.coupling @ u
    damping = np.einsum("ik,ij,jk->k", u, body.damping, u)
    whole = np.concatenate([np.diag(body.undeformed.I_o), np.full(3, body.mass)])
    share = np.divide(p**2, whole[:, None], out=np.zeros_like(p), where=whole[:, None] > 0)
    found = []
    for k, f in enumerate(frequencies):
        w = 2.0 * np.pi * f
        zeta = float(damping[k] / (2.0 * w)) if w > 0 else 0.0
        found.append(ModeShare(f"{body.name} {k + 1}", float(f), zeta, tuple(share[3:, k]), tuple(share[:3, k])))
    return tuple(found)


def _unsettled(craft: Spacecraft, body: FlexibleBody, M: Array, K: Array, squares: Array) -> Finding | None:
    """Slow coupled frequencies that still move as a third of the body's modes is left out, because of what its nodes
    carry. A node with shapes of its own (Craig and Bampton) needs no more of them.
    """
    carrying = [joint.node for part in craft.bodies if (joint := part.joint).parent == body.name and joint.node]
    bare = [node for node in dict.fromkeys(carrying) if node not in body.interfaces]
    fewer = body.n - max(1, body.n // 3)
    if not bare or body.n < 2:
        return None
    keep = np.eye(craft.nv)[:, np.delete(_moving(craft), np.isin(_moving(craft), np.arange(craft.nv)[body.v_at]))]
    bent = np.zeros((craft.nv, fewer))
    bent[body.v_at] = body.clamped.vectors[:, :fewer]
    T = np.hstack([keep, bent])
    less, _ = _coupled(T.T @ M @ T, T.T @ K @ T, np.arange(T.shape[1]))
    looked = min(body.n // 2, len(less))
    moved = np.sqrt(less[:looked] / squares[:looked]) - 1.0
    worst = int(np.argmax(np.abs(moved)))
    if abs(moved[worst]) < SETTLED:
        return None
    message = (
        f"coupled frequency {worst + 1} ({_hertz(squares[worst]):.4g} Hz) still moves by {abs(moved[worst]):.2g} of "
        f"itself from {fewer} to {body.n} modes: node '{bare[0]}' carries something, and its modes were made without."
    )
    hint = f"Give the node shapes of its own: interfaces={{'{bare[0]}': ('x', 'y', 'z', 'rx', 'ry', 'rz')}}."
    return Finding("warning", message, hint, f"flexible body '{body.name}'", code="unsettled-modes")
