"""The planet under a scene, to scale: by day and by night where the Sun is known, with the orbit's line."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..algebra import Array, quat_from_rotation, rotation_about
from ..environment import Orbit
from ..environment.ephemeris import Celestial
from ..environment.ephemeris import sun as sun_of
from .shapes import along
from .stage import Stage
from .viewpoint import Viewpoint

SUN, DAY, NIGHT, LINE = (1.0, 0.83, 0.3), (70, 120, 190), (16, 24, 44), (120, 140, 170)
RINGS, SIDES = 24, 48  # of half a sphere
POINTS = 361  # of the orbit's line


@dataclass
class Heavens:
    """Nodes of planet, orbit and Sun. `place` moves them to frame k of the film."""

    view: Viewpoint
    orbit: Orbit
    times: Array
    sun_N: Array | None  # (times, 3) directions
    length: float  # of the arrow to the Sun
    handles: dict[str, Any] = field(default_factory=dict)

    def place(self, k: int) -> None:
        view = self.view
        assert view.r_N is not None and view.v_N is not None
        R_AN = view.R_NA[k].T
        planet = self.handles["planet"]
        planet.wxyz, planet.position = quat_from_rotation(R_AN), -R_AN @ view.r_N[k]
        turned = self.orbit.planet.prime_meridian + (self.orbit.planet.spin or 0.0) * float(self.times[k])
        self.handles["net"].wxyz = quat_from_rotation(rotation_about(np.array([0.0, 0.0, 1.0]), turned))
        path = Orbit.from_state(view.r_N[k], view.v_N[k], planet=self.orbit.planet)
        line = self.handles["orbit"]
        line.visible = path.e < 1.0  # a hyperbola is no ring that is stretched
        if line.visible:
            line.wxyz, line.position = quat_from_rotation(path.R_NP), -path.a * path.e * path.R_NP[:, 0]
            line.scale = (path.a, float(path.a * np.sqrt(1.0 - path.e**2)), 1.0)
        if self.sun_N is not None:
            lit = quat_from_rotation(along(self.sun_N[k]))
            self.handles["day"].wxyz = self.handles["night"].wxyz = lit
            self.handles["sun"].wxyz = quat_from_rotation(along(R_AN @ self.sun_N[k]))
            self.handles["sun name"].position = self.length * (R_AN @ self.sun_N[k])
        self.handles["name"].position = planet.position


def heavens(stage: Stage, view: Viewpoint, times: Array, sun: Any, length: float) -> Heavens | None:
    """Planet, orbit line and the Sun's direction, as nodes; None without an orbit. length: of the arrow to the Sun."""
    if view.orbit is None:
        return None
    scene, planet = stage.server.scene, view.orbit.planet
    sun_N = None if sun is None else sun_directions(sun, times)
    made = Heavens(view, view.orbit, times, sun_N, length)
    made.handles["planet"] = scene.add_frame("/planet", show_axes=False)
    half, faces = hemisphere()
    look: dict[str, Any] = {"cast_shadow": False, "receive_shadow": False}
    for name, side in (("day", 1.0), ("night", -1.0)):
        shade = NIGHT if name == "night" and sun_N is not None else DAY
        made.handles[name] = scene.add_mesh_simple(
            f"/planet/{name}", planet.radius * half * (1, side, side), faces, color=shade, **look
        )
    made.handles["net"] = scene.add_line_segments(
        "/planet/net", 1.002 * planet.radius * _net(), np.array(LINE, dtype=np.uint8) // 2, thickness=1.0,
        thickness_units="screen",
    )  # fmt: skip
    angle = np.linspace(0.0, 2 * np.pi, POINTS)
    ring = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    made.handles["orbit"] = scene.add_line_segments(
        "/planet/orbit", np.stack([ring[:-1], ring[1:]], axis=1), np.array(LINE, dtype=np.uint8), thickness=1.5,
        thickness_units="screen",
    )  # fmt: skip
    made.handles["name"] = scene.add_label("/planet name", planet.name, anchor="center-center")
    if sun_N is not None:
        shaft = np.array([[[0.0, 0.0, 0.0], [0.0, 0.0, length]]])
        color = np.array([int(255 * x) for x in SUN], dtype=np.uint8)
        made.handles["sun"] = scene.add_line_segments("/sun", shaft, color, thickness=2.5, thickness_units="screen")
        made.handles["sun name"] = scene.add_label("/sun name", "to the Sun", anchor="bottom-center")
    return made


def sun_directions(sun: Any, times: Array) -> Array:
    """(times, 3) in N. sun: the date of t = 0, a body of the sky, or a direction that stands still."""
    if isinstance(sun, str):
        sun = sun_of(sun)
    if isinstance(sun, Celestial):
        places = np.array([sun.position(float(t)) for t in times], dtype=float)
    else:
        given = np.asarray(sun, dtype=float)
        if given.shape != (3,) or not np.isfinite(given).all() or not given.any():
            raise ValueError(f"sun is {sun!r}; expected the date of t = 0, a Celestial body, or a direction in N.")
        places = np.broadcast_to(given, (len(times), 3))
    return places / np.linalg.norm(places, axis=1, keepdims=True)


def hemisphere() -> tuple[Array, Array]:
    """Vertices and triangles of half a unit sphere, z >= 0; seen from outside, also with y and z turned."""
    rise, turn = np.linspace(0.0, np.pi / 2, RINGS + 1), 2 * np.pi * np.arange(SIDES) / SIDES
    z, r = np.sin(rise)[:, None], np.cos(rise)[:, None]
    vertices = np.stack(np.broadcast_arrays(r * np.cos(turn), r * np.sin(turn), z + 0 * turn), axis=-1).reshape(-1, 3)
    faces = []
    for ring in range(RINGS):
        for k in range(SIDES):
            a, b = ring * SIDES + k, ring * SIDES + (k + 1) % SIDES
            faces += [(a, b, b + SIDES), (a, b + SIDES, a + SIDES)]
    return vertices, np.array(faces)


def _net() -> Array:
    """Meridians and parallels every 30 degrees, as segments (k, 2, 3)."""
    angle, lines = np.linspace(0.0, 2 * np.pi, 73), []
    for turn in np.radians(np.arange(0, 180, 30)):
        lines.append(np.stack([np.cos(angle) * np.cos(turn), np.cos(angle) * np.sin(turn), np.sin(angle)], axis=1))
    for rise in np.radians([-60, -30, 0, 30, 60]):
        r, z = np.cos(rise), np.sin(rise) + 0 * angle
        lines.append(np.stack([r * np.cos(angle), r * np.sin(angle), z], axis=1))
    return np.concatenate([np.stack([line[:-1], line[1:]], axis=1) for line in lines])
