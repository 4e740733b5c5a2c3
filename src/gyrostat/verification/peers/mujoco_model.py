"""A spacecraft as a MuJoCo specification, without gravity, contacts and constraints."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from ...algebra import Array
from ...io.mjcf_inertia import separate_inertia, unfit
from ...model import Joint, Spacecraft
from .shared import depth_first, plane_axes


def lacks(craft: Spacecraft) -> str | None:
    """Why MuJoCo cannot hold this craft, or None."""
    return next((why for body in craft.bodies if (why := unfit(craft, body.name)) is not None), None)


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
        mass, com, inertia = separate_inertia(craft, name)
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
