"""What a spacecraft looks like: the shapes in its file, or, where there are none,
shapes that follow from its mass properties.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ..algebra import Array, Pose
from ..kinematics import forward_kinematics, neutral
from ..model import Body, Shape, Spacecraft
from .meshes import read_meshes

HULL, LINK, JOINT, WHEEL = (0.85, 0.70, 0.35), (0.74, 0.77, 0.82), (0.28, 0.31, 0.37), (0.55, 0.36, 0.70)
_SIGNS = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])


@dataclass(frozen=True, eq=False)
class Primitive:
    """One shape of a body. size: box edges; cylinder radius and length (along z); sphere radius.

    X_BS: its pose on the body.
    """

    kind: str  # "box", "cylinder", "sphere", "mesh"
    size: tuple[float, ...]
    X_BS: Pose
    color: tuple[float, float, float]
    opacity: float = 1.0
    vertices: Array | None = None
    faces: Array | None = None

    @property
    def corners(self) -> Array:
        """Of its bounding box, in B, (8, 3)."""
        if self.kind == "mesh" and self.vertices is not None:
            low, high = self.vertices.min(axis=0), self.vertices.max(axis=0)
            local = (low + high) / 2 + _SIGNS * (high - low)
        else:
            edges = {
                "box": self.size,
                "cylinder": (2 * self.size[0], 2 * self.size[0], self.size[-1]),
                "sphere": (2 * self.size[0],) * 3,
            }[self.kind]
            local = _SIGNS * np.asarray(edges)
        return local @ self.X_BS.R.T + self.X_BS.p


def primitives(craft: Spacecraft) -> tuple[dict[str, list[Primitive]], list[str]]:
    """Every body's shapes, and what could not be drawn as its file says."""
    drawn: dict[str, list[Primitive]] = {}
    notes: list[str] = []
    size = craft_size(craft)
    meshes = read_meshes(shape.file for body in craft.bodies for shape in body.shapes if shape.kind == "mesh")
    for body in craft.bodies:
        given = [_given(body, shape, meshes, notes) for shape in body.shapes]
        shapes = [shape for shape in given if shape is not None]
        drawn[body.name] = shapes or _derived(craft, body, size)
    return drawn, notes


def craft_size(craft: Spacecraft) -> float:
    """A length that fits the craft, m: the reach of its joints, frames and bodies at the neutral configuration."""
    poses = forward_kinematics(craft, neutral(craft))
    points = [np.zeros(3)]
    for body, R, p in zip(craft.bodies, poses.R_NB, poses.p_NB, strict=True):
        points += list(_reach(craft, body) @ R.T + p)
        for shape in body.shapes:
            if shape.kind != "mesh":
                corners = _placed(shape).corners
                points += list(corners @ R.T + p)
        for frame in craft.frames:
            if frame.body == body.name:
                points.append(R @ frame.position + p)
    spread = np.ptp(np.array(points, dtype=float), axis=0)
    return float(np.linalg.norm(spread)) or 1.0


def _reach(craft: Spacecraft, body: Body) -> Array:
    """Points in B that say how large a body is, (k, 3)."""
    flexible = craft.flexible(body.name)
    if flexible is not None:
        return np.array([np.zeros(3), *(node.position for node in flexible.nodes)])
    box = _equivalent_box(body)
    ends = [body.com] if box is None else [body.com + sign * np.max(box[0]) / 2 for sign in (-1, 1)]
    return np.array([np.zeros(3), *ends])


# ---- shapes of the file


def _placed(shape: Shape, *, root: bool = False) -> Primitive:
    color = tuple(shape.color[:3]) if shape.color is not None else HULL if root else LINK
    opacity = float(shape.color[3]) if shape.color is not None and len(shape.color) > 3 else 1.0
    pose = Pose(np.asarray(shape.rotation, dtype=float), np.asarray(shape.position, dtype=float))
    return Primitive(shape.kind, tuple(float(x) for x in shape.size), pose, color, opacity)  # type: ignore[arg-type]


def _given(
    body: Body, shape: Shape, meshes: Mapping[str, tuple[Array, Array] | str], notes: list[str]
) -> Primitive | None:
    placed = _placed(shape, root=body.parent is None)
    if shape.kind != "mesh":
        return placed
    mesh = meshes[shape.file]
    if isinstance(mesh, str):
        notes.append(f"body '{body.name}': mesh '{Path(shape.file).name}' is not drawn: {mesh}")
        return None
    return replace(placed, vertices=mesh[0] * np.asarray(placed.size), faces=mesh[1])


# ---- shapes that follow from mass properties


def _derived(craft: Spacecraft, body: Body, size: float) -> list[Primitive]:
    """A box with the body's inertia, tubes from its joint to the next ones and to its frames, and its joint."""
    if body.joint.motion.spins:
        across = along(body.joint.axis)
        return [Primitive("cylinder", (0.06 * size, 0.02 * size), Pose(across, np.zeros(3)), WHEEL)]
    if craft.flexible(body.name):
        return []  # drawn by its lines (bent.py)
    shapes = []
    box = _equivalent_box(body)
    root = body.parent is None
    if box is not None:
        edges, R = box
        edges = np.maximum(edges, 0.008 * size)
        shapes.append(Primitive("box", tuple(edges), Pose(R, body.com), HULL if root else LINK))
    elif body.mass > 0:
        shapes.append(Primitive("sphere", (0.02 * size,), Pose(np.eye(3), body.com), HULL if root else LINK))
    start = body.com if root else np.zeros(3)
    ends = [b.joint.position for b in craft.bodies if b.parent == body.name and not b.joint.motion.spins]
    ends += [frame.position for frame in craft.frames if frame.body == body.name]
    shapes += [tube for end in ends if (tube := _tube(start, end, 0.006 * size)) is not None]
    if not root and body.joint.motion.axes:
        shapes.append(
            Primitive("cylinder", (0.012 * size, 0.03 * size), Pose(along(body.joint.axis), np.zeros(3)), JOINT)
        )
    return shapes


def _equivalent_box(body: Body) -> tuple[Array, Array] | None:
    """Edges and axes of the homogeneous box with the body's mass and inertia: a^2 = 6 (Iyy + Izz - Ixx) / m."""
    if not body.mass > 0 or not np.any(body.inertia):
        return None
    moments, axes = np.linalg.eigh((body.inertia + body.inertia.T) / 2)
    if np.linalg.det(axes) < 0:
        axes = axes * np.array([1.0, 1.0, -1.0])
    squares = 6.0 * (moments.sum() - 2.0 * moments) / body.mass
    return np.sqrt(np.maximum(squares, 0.0)), axes


def along(axis: Array) -> Array:
    """A rotation whose z column is the axis."""
    z = np.asarray(axis, dtype=float)
    z = z / np.linalg.norm(z)
    x = np.cross(np.eye(3)[int(np.argmin(np.abs(z)))], z)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=1)


def arrow_mesh(sides: int = 12) -> tuple[Array, Array]:
    """Vertices and triangles of an arrow of length one along z;
    its shaft has radius one, its head takes the last quarter.
    """
    angle = 2 * np.pi * np.arange(sides) / sides
    rings = [(0.0, 0.0), (1.0, 0.0), (1.0, 0.75), (2.8, 0.75), (0.0, 1.0)]  # radius, height
    vertices = np.concatenate(
        [np.stack([r * np.cos(angle), r * np.sin(angle), np.full(sides, z)], axis=1) for r, z in rings]
    )
    faces = []
    for ring in range(len(rings) - 1):
        for k in range(sides):
            a, b = ring * sides + k, ring * sides + (k + 1) % sides
            faces += [(a, b, b + sides), (a, b + sides, a + sides)]
    return vertices, np.array(faces)


def _tube(start: Array, end: Array, radius: float) -> Primitive | None:
    length = float(np.linalg.norm(end - start))
    if length < radius:
        return None
    return Primitive("cylinder", (radius, length), Pose(along(end - start), (start + end) / 2), LINK)
