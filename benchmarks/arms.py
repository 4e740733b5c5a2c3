"""Arms on a free base, of any length: for gyrostat, and the same ones for Pinocchio and MuJoCo."""

from __future__ import annotations

from typing import Any

import numpy as np

import gyrostat as gs

# Wilde et al. (2018), tables 5 and 6: mass, principal inertia, centre of mass; then placement on the parent (axis, angle, offset)
BASE = (1700.0, (1434.0, 1434.0, 1735.0), (0.0, 0.0, 0.0))
LINKS = (
    (5.0, (0.0292, 0.0292, 0.0063), (0.0, 0.0, 0.125), "y", 0.5, (1.75, 0.0, 0.0)),
    (50.0, (0.0625, 26.1, 26.1), (1.25, 0.0, 0.0), "x", 0.5, (0.0, 0.0, 0.25)),
    (50.0, (0.0625, 26.1, 26.1), (1.25, 0.0, 0.0), "x", 0.0, (2.5, 0.0, 0.0)),
    (10.0, (0.0125, 0.215, 0.215), (0.25, 0.0, 0.0), "x", 0.0, (2.5, 0.0, 0.0)),
    (5.0, (0.0063, 0.0292, 0.0292), (0.125, 0.0, 0.0), "x", -0.5, (0.5, 0.0, 0.0)),
    (5.0, (0.0063, 0.0292, 0.0292), (0.125, 0.0, 0.0), "x", 0.0, (0.25, 0.0, 0.0)),
)


def _turn(axis: str, half_turns: float) -> np.ndarray:
    c, s = np.cos(np.pi * half_turns), np.sin(np.pi * half_turns)
    return np.array({"x": [[1, 0, 0], [0, c, -s], [0, s, c]], "y": [[c, 0, s], [0, 1, 0], [-s, 0, c]]}[axis])


def arm(links: int) -> gs.Spacecraft:
    """The six-link arm of Wilde et al. (2018); longer ones repeat its links."""
    bodies = [gs.Body("base", BASE[0], BASE[2], np.diag(BASE[1]), gs.Joint("base_joint", "free"))]
    for k in range(links):
        mass, inertia, com, axis, angle, offset = LINKS[k % len(LINKS)]
        joint = gs.Joint(f"joint_{k + 1}", "revolute", bodies[-1].name, offset, _turn(axis, angle))
        bodies.append(gs.Body(f"link_{k + 1}", mass, com, np.diag(inertia), joint))
    return gs.Spacecraft.build(f"arm_{links}", bodies)


def states(craft: gs.Spacecraft, count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q (count, nq), v and tau (count, nv), random."""
    rng = np.random.default_rng(seed)
    q = rng.normal(size=(count, craft.nq))
    q[:, :4] /= np.linalg.norm(q[:, :4], axis=1, keepdims=True)
    return q, rng.normal(size=(count, craft.nv)), rng.normal(size=(count, craft.nv))


def pinocchio_model(craft: gs.Spacecraft) -> Any:
    """The same arm; gravity zero."""
    import pinocchio as pin

    model = pin.Model()
    model.gravity.setZero()
    parent = 0
    for body in craft.bodies:
        joint = body.joint
        kind = pin.JointModelFreeFlyer() if joint.kind == "free" else pin.JointModelRZ()
        parent = model.addJoint(parent, kind, pin.SE3(np.array(joint.rotation), np.array(joint.position)), joint.name)
        model.appendBodyToJoint(
            parent, pin.Inertia(body.mass, np.array(body.com), np.array(body.inertia)), pin.SE3.Identity()
        )
    return model


def to_pinocchio(q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Position first and scalar last in q, linear velocity first in v (and tau)."""
    return np.concatenate([q[..., 4:7], q[..., 1:4], q[..., :1], q[..., 7:]], -1), linear_first(v)


def linear_first(v: np.ndarray) -> np.ndarray:
    return np.concatenate([v[..., 3:6], v[..., :3], v[..., 6:]], -1)


def mujoco_model(craft: gs.Spacecraft) -> Any:
    """The same arm; no gravity, no contacts."""
    import mujoco

    spec = mujoco.MjSpec()
    spec.option.gravity = [0, 0, 0]
    spec.option.disableflags = mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    at = spec.worldbody
    for body in craft.bodies:
        quat = np.zeros(4)
        mujoco.mju_mat2Quat(quat, np.array(body.joint.rotation).ravel())
        at = at.add_body(name=body.name, pos=np.array(body.joint.position), quat=quat)
        at.mass, at.ipos, at.inertia, at.explicitinertial = body.mass, np.array(body.com), np.diag(body.inertia), True
        if body.joint.kind == "free":
            at.add_freejoint()
        else:
            at.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0, 0, 1])
    return spec.compile()
