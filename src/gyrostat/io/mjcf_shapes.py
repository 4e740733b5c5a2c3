"""What the geoms of an MJCF file look like."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra import Pose, compose, inverse, rotation
from ..model import Shape
from .mjcf_text import Prepared


def shape_of_geom(m: Any, g: int, prepared: Prepared) -> Shape | None:
    """Geom g of MuJoCo's model m; None where it cannot be drawn."""
    import mujoco

    geom = mujoco.mjtGeom
    name, kind, size = m.geom(g).name, int(m.geom_type[g]), [float(x) for x in m.geom_size[g]]
    dimensions: tuple[float, ...]
    X = Pose(rotation(m.geom_quat[g]), np.array(m.geom_pos[g]))
    color = prepared.colors.get(name, tuple(float(x) for x in m.geom_rgba[g]))
    if name in prepared.meshes:
        file, scale = prepared.meshes[name]
        if kind == geom.mjGEOM_MESH:  # MuJoCo moved the mesh to its own principal axes
            mesh = int(m.geom_dataid[g])
            X = compose(X, inverse(Pose(rotation(m.mesh_quat[mesh]), np.array(m.mesh_pos[mesh]))))
        return Shape("mesh", scale, tuple(X.p.tolist()), X.R, color, file)
    if kind == geom.mjGEOM_BOX:
        what, dimensions = "box", (2 * size[0], 2 * size[1], 2 * size[2])
    elif kind in (geom.mjGEOM_CYLINDER, geom.mjGEOM_CAPSULE):
        what, dimensions = "cylinder", (size[0], 2 * size[1])
    elif kind == geom.mjGEOM_SPHERE:
        what, dimensions = "sphere", (size[0],)
    elif kind == geom.mjGEOM_ELLIPSOID:
        what, dimensions = "sphere", (float(np.cbrt(size[0] * size[1] * size[2])),)
    else:
        return None
    return Shape(what, dimensions, tuple(X.p.tolist()), X.R, color)
