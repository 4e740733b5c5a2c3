"""A spacecraft as a Pinocchio model: built from ours, or Pinocchio's own reading of a file with
our joints found in it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin  # type: ignore[import-untyped]

from ...algebra import Array
from ...model import InternalError, Joint, Spacecraft
from .shared import depth_first, own_inertia, plane_axes


class PinocchioModel(NamedTuple):
    """The model, without gravity, and where our bodies, joints and rates are in it."""

    model: pin.Model
    joint: dict[str, int]  # Pinocchio joint that moves each body (the last one, where there are several)
    first: dict[str, int]  # the first one; bodies whose fixed joint was merged have none
    X_AB: dict[str, pin.SE3]  # from the moving joint's frame A to our body frame B
    to: Array  # (nv,): v_pin[to] = v


def build(craft: Spacecraft, *, hold_fixed: bool) -> PinocchioModel:
    """Body by body. hold_fixed: fixed joints become revolutes that stand still, else their bodies are merged."""
    model = pin.Model()
    model.gravity.setZero()
    result = PinocchioModel(model, {}, {}, {}, np.zeros(craft.nv, dtype=int))
    rotors = []
    for name in depth_first(craft):
        joint, parent = craft.joint(name), craft.body(name).parent
        X_PJ = pin.SE3(np.array(joint.rotation), np.array(joint.position))
        X = X_PJ if parent is None else result.X_AB[parent] * X_PJ
        below = 0 if parent is None else result.joint[parent]
        chain, X_JA, order = _chain(joint, hold_fixed)
        X = X * X_JA
        for k, motion in enumerate(chain):
            below = model.addJoint(below, motion, X, f"{joint.name}/{k}")
            if k == 0:
                result.first[name] = below
            X = pin.SE3.Identity()
        result.joint[name], result.X_AB[name] = below, X_JA.inverse() if chain else X
        mass, com, inertia = own_inertia(craft, name)
        model.appendBodyToJoint(below, pin.Inertia(mass, com, inertia), result.X_AB[name])
        if joint.nv:
            at = model.joints[result.first[name]].idx_v + np.array(order)
            result.to[joint.v_at] = at
            rotors.append((at, joint.armature))
    for at, armature in rotors:
        model.armature[at] = armature
    return result


def _chain(joint: Joint, hold_fixed: bool) -> tuple[list[Any], pin.SE3, list[int]]:
    """Pinocchio joints, the turn R_JA before them, and the place of each of our rates among theirs."""
    a, b, same = np.array(joint.axis), np.array(joint.axis2), pin.SE3.Identity()
    if joint.kind in ("revolute", "wheel"):
        return [_revolute(a)], same, [0]
    if joint.kind == "prismatic":
        return [_prismatic(a)], same, [0]
    if joint.kind == "cylindrical":
        return [_revolute(a), _prismatic(a)], same, [0, 1]
    if joint.kind == "universal":
        return [_revolute(a), _revolute(b)], same, [0, 1]
    if joint.kind == "spherical":
        return [pin.JointModelSpherical()], same, [0, 1, 2]
    if joint.kind == "cartesian":
        return [pin.JointModelTranslation()], same, [0, 1, 2]
    if joint.kind == "planar":
        return [pin.JointModelPlanar()], pin.SE3(plane_axes(a), np.zeros(3)), [2, 0, 1]
    if joint.kind == "free":
        return [pin.JointModelFreeFlyer()], same, [3, 4, 5, 0, 1, 2]
    if joint.kind != "fixed":
        raise InternalError(f"joint kind '{joint.kind}' has no counterpart in Pinocchio yet.")
    return ([pin.JointModelRZ()] if hold_fixed else []), same, []


def _revolute(axis: Array) -> pin.JointModel:
    """Along x, y or z by the joint made for it, as Pinocchio's own reader does: those are faster."""
    aligned = {(1.0, 0.0, 0.0): pin.JointModelRX, (0.0, 1.0, 0.0): pin.JointModelRY, (0.0, 0.0, 1.0): pin.JointModelRZ}
    return aligned[tuple(axis)]() if tuple(axis) in aligned else pin.JointModelRevoluteUnaligned(axis)


def _prismatic(axis: Array) -> pin.JointModel:
    aligned = {(1.0, 0.0, 0.0): pin.JointModelPX, (0.0, 1.0, 0.0): pin.JointModelPY, (0.0, 0.0, 1.0): pin.JointModelPZ}
    return aligned[tuple(axis)]() if tuple(axis) in aligned else pin.JointModelPrismaticUnaligned(axis)


def match(craft: Spacecraft, model: pin.Model) -> PinocchioModel:
    """Pinocchio's own reading of the craft's file: the base's joint is its first, others are found by name."""
    model.gravity.setZero()
    result = PinocchioModel(model, {}, {}, {}, np.zeros(craft.nv, dtype=int))
    for body in craft.bodies:
        name, joint = body.name, body.joint
        k = 1 if body.parent is None else model.getJointId(joint.name)
        chain, X_JA, order = _chain(joint, hold_fixed=True)
        if k == model.njoints or model.joints[k].nv != joint.nv or len(chain) != 1 or not X_JA.isIdentity(0.0):
            raise ValueError(
                f"Pinocchio's model has no joint like '{joint.name}' ({joint.kind}). Build it from the craft."
            )
        result.joint[name], result.first[name], result.X_AB[name] = k, k, X_JA
        result.to[joint.v_at] = model.joints[k].idx_v + np.array(order)
    if model.nv != craft.nv:
        raise ValueError(f"Pinocchio's model has {model.nv} rates; expected the {craft.nv} of {craft.name}.")
    return result
