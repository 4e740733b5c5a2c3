"""Relative motion of a formation: a virtual multibody tree whose base is the leader, each follower on a free joint of
six degrees.

A free joint's coordinates are the follower's pose X_Lj in the leader's frame, its rates the relative twist Theta_j in
the follower's:

    V_j = Ad_jL V_L + Theta_j,     d/dt Ad_jL = -ad_Theta Ad_jL                                               (a)
    Theta_j' = V_j' - Ad_jL V_L' + ad_Theta Ad_jL V_L                                                        (b)

So the tree is an ordinary `Spacecraft`: every formulation gives its mass and Coriolis matrices, M_rel = A^T 𝓜 A, with
(a) as A. Members may have arms and wheels. (b) gives relative accelerations member by member, at a cost linear in their
number.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ...algebra import Array, Pose, compose, cross_motion, inverse, quat_from_rotation, rotation, twist_to_child
from ...model import Body, Joint, Spacecraft

States = Mapping[str, tuple[Array, Array]]  # member -> (q, v)


def virtual_tree(members: Mapping[str, Spacecraft], leader: str, *, virtual_leader: bool = False) -> Spacecraft:
    """The formation as one spacecraft; bodies and joints are named "member/body". The leader's base is the base.

    virtual_leader: the leader is a mere frame. It gets a body of 1 kg, whose joint is meant to be prescribed: `leader`
    then names no member, and the others are measured from the frame.
    """
    for name, craft in members.items():
        if not craft.joint(craft.base).motion.unbound:
            raise ValueError(
                f"member '{name}' ({craft.name}) stands on a {craft.joint(craft.base).kind} base joint; a member of a "
                "formation must float. Load it with base='free'."
            )
    if virtual_leader:
        if leader in members:
            raise ValueError(f"the virtual leader '{leader}' has the name of a member. Give it a name of its own.")
        root = f"{leader}/frame"
        bodies = [Body(root, 1.0, inertia=np.ones(3), joint=Joint(root, "free"))]
        followers = list(members)
    else:
        if leader not in members:
            raise ValueError(f"leader '{leader}' is no member; the members are {', '.join(members)}.")
        bodies = _bodies(leader, members[leader], None)
        root = bodies[0].name
        followers = [name for name in members if name != leader]
    for name in followers:
        bodies += _bodies(name, members[name], root)
    frames = [
        replace(frame, name=f"{name}/{frame.name}", body=f"{name}/{frame.body}")
        for name, craft in members.items()
        for frame in craft.frames
    ]
    return Spacecraft.build(f"formation led by {leader}", bodies, frames=frames)


def _bodies(member: str, craft: Spacecraft, root: str | None) -> list[Body]:
    renamed = []
    for body in craft.bodies:
        parent = root if body.parent is None else f"{member}/{body.parent}"
        joint = replace(body.joint, name=f"{member}/{body.joint.name}", parent=parent)
        renamed.append(replace(body, name=f"{member}/{body.name}", joint=joint))
    return renamed


def tree_state(members: Mapping[str, Spacecraft], leader: str, states: States, root: Any = None) -> tuple[Array, Array]:
    """q and v of `virtual_tree` from the members' own (q, v). root: (q (7,), v (6,)) of a virtual leader's frame."""
    tree = virtual_tree(members, leader, virtual_leader=root is not None)
    q_L, v_L = states[leader] if root is None else root
    X_NL, V_L = _pose(q_L), np.asarray(v_L)[:6]
    own: dict[str, tuple[Array, Array]] = {} if root is None else {f"{leader}/frame": (q_L, v_L)}
    for name, craft in members.items():
        q, v = states[name]
        for joint in craft.joints:
            own[f"{name}/{joint.name}"] = (q[joint.q_at], v[joint.v_at])
        if name != leader:
            relative = relative_pose(X_NL, _pose(q)), relative_twist(X_NL, _pose(q), V_L, v[:6])
            X, Theta = relative
            own[f"{name}/{craft.joints[0].name}"] = (np.concatenate([quat_from_rotation(X.R), X.p]), Theta)
    parts = [own[joint.name] for joint in tree.joints]
    return np.concatenate([q for q, _ in parts]), np.concatenate([v for _, v in parts])


def member_states(
    members: Mapping[str, Spacecraft], leader: str, tree: Spacecraft, q: Array, v: Array
) -> dict[str, tuple[Array, Array]]:
    """The members' own (q, v) from those of the tree: the inverse of `tree_state`."""
    root = tree.joints[0]
    X_NL, V_L = _pose(q[root.q_at]), v[root.v_at]
    states = {}
    for name, craft in members.items():
        qs, vs = [], []
        for joint in craft.joints:
            here = tree.joint_named(f"{name}/{joint.name}")
            qs.append(q[here.q_at])
            vs.append(v[here.v_at])
        if name != leader:
            X_Lj = _pose(qs[0])
            X_Nj = compose(X_NL, X_Lj)
            qs[0] = np.concatenate([quat_from_rotation(X_Nj.R), X_Nj.p])
            vs[0] = twist_to_child(X_Lj, V_L) + vs[0]  # (a)
        states[name] = (np.concatenate(qs), np.concatenate(vs))
    return states


def relative_pose(X_NL: Pose, X_Nj: Pose) -> Pose:
    """X_Lj: attitude of the follower, and its position from the leader in the leader's axes."""
    return compose(inverse(X_NL), X_Nj)


def relative_twist(X_NL: Pose, X_Nj: Pose, V_L: Array, V_j: Array) -> Array:
    """Theta_j = V_j - Ad_jL V_L, in the follower's axes, (6,)                                                 (a)"""
    return V_j - twist_to_child(relative_pose(X_NL, X_Nj), V_L)


def relative_acceleration(X_Lj: Pose, V_L: Array, Theta: Array, Vdot_L: Array, Vdot_j: Array) -> Array:
    """Theta_j' from both members' own accelerations (body rates), (6,)                                        (b)"""
    carried = twist_to_child(X_Lj, V_L)
    return Vdot_j - twist_to_child(X_Lj, Vdot_L) + cross_motion(Theta, carried)


def _pose(q: Array) -> Pose:
    return Pose(rotation(q[:4]), np.asarray(q[4:7]))
