"""Places on flexible bodies by name: "boom.tip" is the node "tip" of the flexible body "boom".

A joint sits on the node itself. Frames and thrusters sit on a body without mass that is fixed to the node and has that
name: what acts there acts on the node, and everything that takes a body or a frame takes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from .flexible import FlexibleBody
from .parts import Body, Frame, Joint, Thruster


def on_nodes(
    bodies: Sequence[Any], frames: Sequence[Frame], thrusters: Sequence[Thruster]
) -> tuple[tuple[Body, ...], tuple[Frame, ...], tuple[Thruster, ...]]:
    """Bodies whose joints name parent and node apart, and a body for each node that carries a frame or thruster."""
    names = {body.name for body in bodies}
    nodes = {
        f"{body.name}.{node.name}": (body.name, node.name)
        for body in bodies
        if isinstance(body, FlexibleBody)
        for node in body.nodes
    }
    nodes = {name: place for name, place in nodes.items() if name not in names}
    if not nodes:
        return tuple(bodies), tuple(frames), tuple(thrusters)
    placed = []
    for body in bodies:
        joint = body.joint
        if joint.parent in nodes and not joint.node:
            parent, node = nodes[joint.parent]
            body = replace(body, joint=replace(joint, parent=parent, node=node))
        placed.append(body)
    used = [*(frame.body for frame in frames), *(thruster.body for thruster in thrusters)]
    carrying = dict.fromkeys(name for name in used if name in nodes)
    placed += [Body(name, joint=Joint(name, "fixed", nodes[name][0], node=nodes[name][1])) for name in carrying]
    return tuple(placed), tuple(frames), tuple(thrusters)
