"""What a flexible body must satisfy, and what sits on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .findings import Finding, nearest
from .flexible import FlexibleBody
from .invariants import spread
from .parts import Body, Frame, Joint, Thruster

TINY = 1e-9


def flexible_findings(body: FlexibleBody) -> list[Finding]:
    """About its lumps, shapes, stiffness and damping."""
    place = f"flexible body '{body.name}'"
    found = _lumps(body)
    named = {"translations": body.translations, "rotations": body.rotations, "second_order": body.second_order}
    named |= {"stiffness": body.stiffness, "damping": body.damping}
    for name, value in named.items():
        if value is not None and not np.isfinite(np.asarray(value, dtype=float)).all():
            found.append(_error("not-finite", place, f"{name} holds a number that is not finite."))
    if found:
        return found
    return [*_own_frame(body), *_masses(body), *_matrices(body), *_stiffening(body)]


def _error(code: str, place: str, message: str, hint: str = "") -> Finding:
    return Finding("error", message, hint, place, code=code)


def _lumps(body: FlexibleBody) -> list[Finding]:
    found = []
    for node in body.nodes:
        place = f"node '{node.name}' of flexible body '{body.name}'"
        if not (np.isfinite(node.position).all() and np.isfinite(node.mass) and np.isfinite(node.inertia).all()):
            found.append(_error("not-finite", place, "its position, mass or inertia is not finite."))
        elif node.mass < 0:
            found.append(_error("negative-mass", place, f"mass is {node.mass} kg; expected zero or more."))
        elif np.abs(node.inertia - node.inertia.T).max() > TINY * np.abs(node.inertia).max(initial=0.0):
            found.append(_error("asymmetric-inertia", place, f"inertia {node.inertia.tolist()} is not symmetric."))
        elif np.linalg.eigvalsh(node.inertia)[0] < -TINY * np.abs(node.inertia).max():
            found.append(_error("negative-moment", place, "a principal moment of its inertia is negative."))
        elif body.rotary == "points" and np.any(node.inertia):
            E = spread(node)[0]
            if not node.mass > 0 or E[0] < -TINY * np.abs(E).max():
                message = (
                    f"mass {node.mass:.6g} kg and inertia {node.inertia.tolist()} are those of no six mass points."
                )
                hint = 'Use rotary="exact", or put a rigid body on a fixed joint at this node.'
                found.append(_error("no-points", place, message, hint))
    return found


def _own_frame(body: FlexibleBody) -> list[Finding]:
    """Shapes vanish at the body's own frame, or its twist would not be the joint's."""
    size = max(float(np.abs([node.position for node in body.nodes]).max()), 1e-300)
    found = []
    for node, Phi, Psi in zip(body.nodes, body.translations, body.rotations, strict=True):
        if np.abs(node.position).max() > TINY * size:
            continue
        moves = np.abs(Phi).max(axis=0) > TINY * max(np.abs(body.translations).max(), 1e-300)
        turns = np.abs(Psi).max(axis=0) > TINY * max(np.abs(body.rotations).max(), 1e-300)
        if (moves | turns).any():
            k = int((moves | turns).argmax())
            found.append(
                _error(
                    "free-shapes",
                    f"flexible body '{body.name}'",
                    f"mode {k + 1} moves its own frame: at node '{node.name}', which is there, it has translation "
                    f"{Phi[:, k].tolist()} and rotation {Psi[:, k].tolist()}; expected zero.",
                    "Give modes of the body clamped at its joint, not free-free ones.",
                )
            )
    L, M = body.coupling, np.diag(body.modal_mass)
    moved = np.abs(L[3:]).max(axis=0) / np.sqrt(max(body.mass, 1e-300) * np.maximum(M, 1e-300))
    turned = np.abs(L[:3]).max(axis=0) / np.sqrt(max(np.trace(body.undeformed.I_o), 1e-300) * np.maximum(M, 1e-300))
    if not found and body.mass > 0 and np.maximum(moved, turned).max() < 1e-6:
        message = "none of its modes moves its centre of mass or turns it, as of free-free modes."
        hint = "Give modes of the body clamped at its joint: where they are, leave this as it is."
        found.append(Finding("warning", message, hint, f"flexible body '{body.name}'", code="free-shapes"))
    return found


def _masses(body: FlexibleBody) -> list[Finding]:
    place, M = f"flexible body '{body.name}'", body.modal_mass
    if not body.mass > 0:
        return [_error("no-mass", place, "its lumps have no mass.", "Give nodes their mass.")]
    if not (np.diag(M) > 0).all():
        k = int(np.argmin(np.diag(M)))
        return [_error("massless-mode", place, f"mode {k + 1} moves no mass.", "Leave it out, or give lumps there.")]
    scaled = M / np.sqrt(np.outer(np.diag(M), np.diag(M)))
    values, vectors = np.linalg.eigh(scaled)
    if values[0] < 1e-10:
        k, l = np.argsort(-np.abs(vectors[:, 0]))[:2] if body.n > 1 else (0, 0)
        message = f"its modes are not independent: the lumps move alike in modes {k + 1} and {l + 1}, say."
        return [_error("dependent-modes", place, message, "Leave one of them out.")]
    return []


def _matrices(body: FlexibleBody) -> list[Finding]:
    found, place = [], f"flexible body '{body.name}'"
    for name, A in (("stiffness", body.stiffness), ("damping", body.damping)):
        A = np.asarray(A, dtype=float)
        size = max(np.abs(A).max(), 1e-300)
        if name == "stiffness" and np.abs(A - A.T).max() > TINY * size:
            found.append(_error("asymmetric", place, "stiffness is not symmetric; expected K = K^T."))
        lowest = float(np.linalg.eigvalsh(0.5 * (A + A.T))[0])
        if lowest < -TINY * size:
            message = f"{name} has the negative eigenvalue {lowest:.6g}; expected none: the body would drive itself."
            found.append(_error("negative-value", place, message, "Correct its sign, or that of a frequency."))
    return found


def _stiffening(body: FlexibleBody) -> list[Finding]:
    if body.second_order is None:
        message = (
            "has no second-order shapes, so that spinning does not stiffen it: bending at rates near its first "
            f"frequency ({body.clamped.frequencies[0]:.4g} Hz) comes out too large."
        )
        hint = (
            "Give second_order, as the meshes of gyrostat.structures do, and its `stiffened` for lines of slender "
            "members; or leave it where the craft turns slowly."
        )
        return [Finding("note", message, hint, f"flexible body '{body.name}'", code="no-stiffening")]
    if np.abs(body.second_order - np.swapaxes(body.second_order, 2, 3)).max() > 1e-9 * np.abs(body.second_order).max():
        message = "second_order is not symmetric in its last two axes."
        return [_error("asymmetric", f"flexible body '{body.name}'", message, "Give (G + G^T) / 2.")]
    return []


def place_findings(bodies: Sequence[Body], frames: Sequence[Frame], thrusters: Sequence[Thruster]) -> list[Finding]:
    """Nodes that are named exist; what is away from a flexible body's frame names its node."""
    parts: dict[str | None, Any] = {body.name: body for body in bodies}
    found = []
    for body in bodies:
        place = f"joint '{body.joint.name}'"
        found += _on_node(body.joint, parts.get(body.parent), place)
        if body.included and isinstance(parts.get(body.parent), FlexibleBody):
            message = f"wheel '{body.name}' is included in flexible body '{body.parent}', whose mass is in its lumps."
            found.append(_error("included", place, message, "Use included=False, and give the wheel's mass."))
    for what, attached in (("frame", frames), ("thruster", thrusters)):
        for part in attached:
            on = parts.get(part.body)
            if isinstance(on, FlexibleBody) and np.any(part.position):
                found.append(_away(f"{what} '{part.name}'", part.position, on))
    return found


def _on_node(joint: Joint, parent: Any, place: str) -> list[Finding]:
    if not joint.node:
        away = isinstance(parent, FlexibleBody) and np.any(joint.position)
        return [_away(place, joint.position, parent)] if away else []
    if not isinstance(parent, FlexibleBody):
        message = f"is on node '{joint.node}' of '{joint.parent}', which is no flexible body."
        return [_error("unknown-node", place, message, "Leave node out, and give the position.")]
    names = [node.name for node in parent.nodes]
    if joint.node in names:
        return []
    message = f"is on node '{joint.node}' of flexible body '{parent.name}', which does not exist."
    return [_error("unknown-node", place, message, nearest(joint.node, names))]


def _away(place: str, position: Any, body: FlexibleBody) -> Finding:
    names = ", ".join(node.name for node in body.nodes[:4]) + (", ..." if len(body.nodes) > 4 else "")
    message = (
        f"is at {np.asarray(position).tolist()} m from the frame of flexible body '{body.name}', where nothing says "
        "how that place moves."
    )
    return _error("no-node", place, message, f"Name a node, as in '{body.name}.{body.nodes[-1].name}' (of {names}).")
