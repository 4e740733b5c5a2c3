"""A spacecraft as a MuJoCo specification, without gravity, contacts and constraints."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from ...algebra import Array
from ...model import Joint, Spacecraft
from .shared import depth_first, plane_axes

SMALLEST = 1e-15  # mass and moments of a moving body: MuJoCo's mjMINVAL


def lacks(craft: Spacecraft) -> str | None:
    """Why MuJoCo cannot hold this craft, or None."""
    for body in craft.bodies:
        if body.mass <= 0 and not (body.included and body.joint.kind == "wheel") and body.joint.kind != "fixed":
            return f"moving body '{body.name}' has no mass"
        if body.joint.kind != "fixed":
            moments = np.linalg.eigvalsh(_inertia(craft, body.name)[2])
            if moments[0] < SMALLEST:
                return f"moving body '{body.name}' has no inertia about some axis, as a point or a thin rod"
            if moments[0] + moments[1] < moments[2] * (1.0 - 1e-12):
                return f"body '{body.name}' has a moment of inertia larger than the sum of the other two"
        if body.joint.armature and body.joint.kind in ("planar", "free"):
            return f"joint '{body.joint.name}' has a rotor on rates that turn with the body"
    return None


def build(craft: Spacecraft) -> mujoco.MjSpec:
    """Body by body; body B is called "body:B" (MuJoCo keeps "world" for itself),
    the joints of joint J "J/0", "J/1", ...
    """
    spec = mujoco.MjSpec()
    spec.option.gravity = np.zeros(3)
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    made: dict[str | None, Any] = {None: spec.worldbody}
    for name in depth_first(craft):
        body = craft.body(name)
        joint = body.joint
        part = made[body.parent].add_body(name=f"body:{name}", pos=joint.position, quat=quat(joint.rotation))
        mass, com, inertia = _inertia(craft, name)
        moments, axes = _principal(inertia)
        part.explicitinertial = True
        part.mass, part.ipos, part.iquat, part.inertia = mass, com, quat(axes), np.maximum(moments, 0.0)
        for k, (kind, axis) in enumerate(_joints(joint)):
            part.add_joint(name=f"{joint.name}/{k}", type=kind, axis=axis, armature=joint.armature)
        made[name] = part
    return spec


def _joints(joint: Joint) -> list[tuple[Any, ...]]:
    hinge, slide, ball = (getattr(mujoco.mjtJoint, f"mjJNT_{k}") for k in ("HINGE", "SLIDE", "BALL"))
    x, y, z = np.eye(3)
    if joint.kind in ("revolute", "wheel"):
        return [(hinge, joint.axis)]
    if joint.kind == "planar":
        axes = plane_axes(joint.axis)
        return [(slide, axes[:, 0]), (slide, axes[:, 1]), (hinge, joint.axis)]
    if joint.kind == "free":
        if joint.parent is None and not joint.position.any() and (joint.rotation == np.eye(3)).all():
            return [(mujoco.mjtJoint.mjJNT_FREE, z)]
        return [(slide, x), (slide, y), (slide, z), (ball, z)]
    return {
        "prismatic": [(slide, joint.axis)],
        "cylindrical": [(hinge, joint.axis), (slide, joint.axis)],
        "universal": [(hinge, joint.axis), (hinge, joint.axis2)],
        "spherical": [(ball, z)],
        "cartesian": [(slide, x), (slide, y), (slide, z)],
        "fixed": [],
    }[joint.kind]


def _inertia(craft: Spacecraft, name: str) -> tuple[float, Array, Array]:
    """As given; but MuJoCo wants a wheel with mass, so a wheel that its carrier includes is cut
    out of it as a thin disc.
    """
    body = craft.body(name)
    mass, com, inertia = body.mass, np.array(body.com), np.array(body.inertia)
    if body.included:
        a, disc_mass = body.joint.axis, 1e-6 * craft.body(str(body.parent)).mass
        return disc_mass, np.zeros(3), inertia + 0.51 * (a @ inertia @ a) * (np.eye(3) - np.outer(a, a))
    for wheel in craft.wheels:
        if wheel.included and wheel.parent == name:
            m, _, disc = _inertia(craft, wheel.name)
            R, p = wheel.joint.rotation, wheel.joint.position
            rest = (mass * com - m * p) / (mass - m)
            inertia = inertia + _point(mass, com) - _point(mass - m, rest) - _point(m, p) - R @ disc @ R.T
            mass, com = mass - m, rest
    return mass, com, inertia


def _point(mass: float, p: Array) -> Array:
    """Inertia about the origin of a point mass at p."""
    return mass * (p @ p * np.eye(3) - np.outer(p, p))


def _principal(inertia: Array) -> tuple[Array, Array]:
    """Moments, and axes as columns of a rotation; the body's own axes where those are principal,
    which MuJoCo is faster with.
    """
    if not (inertia - np.diag(np.diag(inertia))).any():
        return np.diag(inertia), np.eye(3)
    moments, axes = np.linalg.eigh(inertia)
    if np.linalg.det(axes) < 0:
        axes[:, 0] = -axes[:, 0]
    return moments, axes


def quat(R: Array) -> Array:
    """Scalar first, by MuJoCo."""
    out = np.zeros(4)
    mujoco.mju_mat2Quat(out, np.array(R, dtype=float).ravel())
    return out


def rotation(quat_NB: Array) -> Array:
    """R_NB, by MuJoCo."""
    out = np.zeros(9)
    mujoco.mju_quat2Mat(out, quat_NB / np.linalg.norm(quat_NB))
    return out.reshape(3, 3)
