"""Where something in a URDF file stands, and how it is turned."""

from __future__ import annotations

import numpy as np

from ..algebra import rotation, rotation_from_rpy
from .report import Report
from .values import vector
from .xml_reader import Element


def origin(report: Report, element: Element, place: str) -> tuple[np.ndarray, np.ndarray]:
    """Position and rotation of the element's <origin>."""
    given = element.first("origin")
    if given is None:
        return np.zeros(3), np.eye(3)
    position = vector(report, given, "xyz", (0.0, 0.0, 0.0), place)
    if "quat_xyzw" in given.attributes:
        if "rpy" in given.attributes:
            report.error("two-rotations", place, "<origin> has both rpy and quat_xyzw.", "Keep one.", given.line)
        x, y, z, w = vector(report, given, "quat_xyzw", (0.0, 0.0, 0.0, 1.0), place)
        norm = float(np.sqrt(x * x + y * y + z * z + w * w))
        if abs(norm - 1.0) > 1e-3:
            message = f"quat_xyzw has norm {norm:.6g}; expected 1."
            report.error("quaternion-norm", place, message, "Write x, y, z, w.", given.line)
            return position, np.eye(3)
        return position, rotation(np.array([w, x, y, z]) / norm)
    rpy = vector(report, given, "rpy", (0.0, 0.0, 0.0), place)
    return position, rotation_from_rpy(rpy) if rpy.any() else np.eye(3)
