"""Findings that need the whole tree: joints that move nothing, mass properties that do not fit a body's size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..algebra import (
    Array,
    Pose,
    RigidInertia,
    compose,
    inertia_to_parent,
    rigid_inertia,
    rigid_inertia_to_parent,
)
from .findings import Finding
from .flexible import FlexibleBody
from .parts import Body, Shape

ROUND_OFF = 1e-13


def immovable(bodies: Sequence[Body]) -> list[Finding]:
    """Joints without inertia along some direction of theirs: their acceleration would be undefined.

    A joint may carry nothing at all (its composite inertia, all joints beyond it locked, is zero along it), or the
    inertia beyond it may be free to yield (its articulated inertia is zero: a massless body between two joints with the
    same freedom).
    """
    inertias = _own_inertias(bodies)
    neutral = {body.name: body.joint.motion.neutral() for body in bodies}
    found, felt = _composite(bodies, inertias, neutral)
    if found or all(_definite(M) for M in inertias.values()):
        return found
    at_zero = _yielding(bodies, inertias, neutral, felt)
    if not at_zero:
        return []
    rng = np.random.default_rng(0)
    turned = {b.name: b.joint.motion.step(neutral[b.name], rng.normal(size=b.joint.nv)) for b in bodies}
    everywhere = at_zero & _yielding(bodies, inertias, turned, felt)
    return [
        Finding(
            "error" if name in everywhere else "warning",
            "moves nothing of its own: other joints can undo its motion without moving any mass"
            + ("." if name in everywhere else ", at zero coordinates."),
            "Give the bodies between these joints mass and inertia, make one of the joints fixed, or, if it is the "
            "base that has no mass, hold the base (base='fixed').",
            f"joint '{name}'",
            code="moves-nothing" if name in everywhere else "singular-at-zero",
        )
        for name in sorted(at_zero)
    ]


def _own_inertias(bodies: Sequence[Body]) -> dict[str, RigidInertia]:
    """Of each body about its origin; wheels that its mass properties include are taken out."""
    own = {body.name: _rigid(body) for body in bodies}
    for wheel in bodies:
        if wheel.included and wheel.parent is not None:
            R, carrier = wheel.joint.rotation, own[wheel.parent]
            own[wheel.parent] = carrier._replace(I_o=carrier.I_o - R @ wheel.inertia @ R.T)
    return own


def _rigid(body: Any) -> RigidInertia:
    """About its origin; of a flexible body where it is straight."""
    if isinstance(body, FlexibleBody):
        return body.undeformed
    return rigid_inertia(body.mass, body.com, body.inertia)


def _pose(bodies: Sequence[Body], body: Body, q: Array) -> Pose:
    """X_PB where nothing is bent; q: the joint's own."""
    joint, own = body.joint, compose(Pose(body.joint.rotation, body.joint.position), body.joint.motion.pose(q))
    if not joint.node:
        return own
    parent: Any = next(other for other in bodies if other.name == body.parent)
    return Pose(own.R, parent.nodes[parent.node(joint.node)].position + own.p)


def _definite(M: RigidInertia) -> bool:
    moments = np.linalg.eigvalsh(M.matrix)
    return bool(moments[0] > ROUND_OFF * moments[-1])


def _composite(
    bodies: Sequence[Body], inertias: Mapping[str, RigidInertia], q: Mapping[str, Array]
) -> tuple[list[Finding], dict[str, Array]]:
    """Findings, and for each joint the inertia felt along its directions with all joints beyond it locked."""
    total = dict(inertias)
    found: list[Finding] = []
    felt: dict[str, Array] = {}
    for body in reversed(bodies):
        joint, M = body.joint, total[body.name]
        H = joint.motion.H(q[body.name])
        felt[body.name] = H.T @ (M @ H) + joint.armature * np.eye(joint.nv)
        if joint.nv:
            moments = np.linalg.eigvalsh(felt[body.name])
            turns = bool(np.abs(H[:3]).any())
            scale = max(moments[-1], np.trace(M.I_o) if turns else M.m)
            if moments[0] <= ROUND_OFF * scale:
                found.append(
                    Finding(
                        "error",
                        f"moves nothing with inertia along one of its directions (smallest inertia {moments[0]:.3g}): "
                        f"body '{body.name}' and what it carries have mass {M.m:.6g} kg.",
                        "Give the body mass and inertia, or make the joint fixed.",
                        f"joint '{joint.name}'",
                        code="moves-nothing",
                    )
                )
        if body.parent is not None:
            X_PB = _pose(bodies, body, q[body.name])
            total[body.parent] = total[body.parent] + rigid_inertia_to_parent(X_PB, M)
    return found[::-1], felt


def _yielding(
    bodies: Sequence[Body], inertias: Mapping[str, RigidInertia], q: Mapping[str, Array], felt: Mapping[str, Array]
) -> set[str]:
    """Names of joints whose articulated inertia vanishes along some direction: D of Featherstone's algorithm, tip to
    base.
    """
    total = {name: M.matrix for name, M in inertias.items()}
    found: set[str] = set()
    for body in reversed(bodies):
        joint, I_A = body.joint, total[body.name]
        H = joint.motion.H(q[body.name])
        if joint.nv:
            U = I_A @ H
            D = H.T @ U + joint.armature * np.eye(joint.nv)
            scale = np.trace(felt[body.name])
            if np.linalg.eigvalsh(D)[0] <= 100 * ROUND_OFF * scale:
                found.add(joint.name)
            I_A = I_A - U @ np.linalg.pinv(D, rcond=100 * ROUND_OFF, hermitian=True) @ U.T
        if body.parent is not None:
            X_PB = _pose(bodies, body, q[body.name])
            total[body.parent] = total[body.parent] + inertia_to_parent(X_PB, I_A)
    return found


def unit_slips(bodies: Sequence[Body]) -> list[Finding]:
    """Bodies whose radius of gyration is far from their size, as where millimetres or grams were taken for metres or
    kilograms.

    The size comes from a body's shapes, and otherwise, more loosely, from where its joints are.
    """
    bodies = [body for body in bodies if not isinstance(body, FlexibleBody)]
    reach: dict[str, float] = {body.name: _length(body.com) for body in bodies}
    by_name = {body.name: body for body in bodies}
    for body in bodies:
        if body.parent in by_name:
            reach[body.parent] = max(reach[body.parent], _length(body.joint.position - by_name[body.parent].com))
    found = []
    for body in bodies:
        if body.mass <= 0 or body.joint.kind == "wheel":
            continue
        radius = float(np.sqrt(max(np.linalg.eigvalsh(body.inertia)[-1], 0.0) / body.mass))
        drawn = max((_extent(shape, body.com) for shape in body.shapes if shape.kind != "mesh"), default=0.0)
        size, too_large, too_small = (
            (max(drawn, reach[body.name]), 5.0, 0.02) if drawn else (reach[body.name], 30.0, 1e-3)
        )
        if size > 0 and radius > 0 and not too_small * size <= radius <= too_large * size:
            found.append(
                Finding(
                    "warning",
                    f"its radius of gyration is {radius:.3g} m, but the body reaches {size:.3g} m from its centre of "
                    f"mass (mass {body.mass:.6g} kg, largest moment {radius**2 * body.mass:.3g} kg m^2).",
                    "Check the units: kg, m, kg m^2; and that the inertia is about the centre of mass.",
                    f"body '{body.name}'",
                    code="unit-slip",
                )
            )
    return found


def _length(a: Array) -> float:
    return float(np.sqrt(a @ a))


def _extent(shape: Shape, com: Array) -> float:
    """How far a shape reaches from the centre of mass, in m."""
    size = np.abs(np.asarray(shape.size, dtype=float))
    half = {"box": size / 2, "cylinder": np.array([size[0], size[-1] / 2]), "sphere": size[:1]}[shape.kind]
    return _length(np.asarray(shape.position) - com) + _length(half)
