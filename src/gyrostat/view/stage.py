"""A spacecraft on viser's stage: its bodies, frames, centre of mass, trails and arrows as nodes that can be moved."""

from __future__ import annotations

import contextlib
import io
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra import Array, quat_from_rotation
from ..kinematics import neutral
from ..model import Spacecraft
from .bent import MOST_NODES, bent_lines
from .guard import Guard, reachable
from .overlays import trail_points
from .shapes import Primitive, along, arrow_mesh, craft_size, primitives

if TYPE_CHECKING:
    import viser

COM, LINEAR_MOMENTUM = (1.0, 0.8, 0.1), (0.95, 0.35, 0.72)
BASE_MOMENTUM, CARRIED_MOMENTUM, TOTAL_MOMENTUM = (0.15, 0.45, 1.0), (1.0, 0.42, 0.05), (0.95, 0.95, 0.95)
BENDS = (0.35, 0.62, 0.85)
FORCE, TORQUE = (0.10, 0.70, 0.35), (0.70, 0.25, 0.90)
TRAILS = ((0.30, 0.60, 1.0), (1.0, 0.45, 0.45), (0.35, 0.85, 0.65), (0.95, 0.75, 0.3), (0.8, 0.55, 0.95))
FIELD_OF_VIEW = np.radians(40.0)
VIEW_FROM = np.array([0.62, -1.0, 0.55])
ASPECT, FILLED = 1.3, 0.9  # width over height of a picture, and how much of it is filled
NARROW = (0.35, 0.45, 0.55, 0.7, 0.85, 1.0)  # aspects of phones and narrow windows


@contextmanager
def quiet() -> Iterator[None]:
    """Without what viser prints when a server starts or stops; in a notebook rich writes past the standard output."""
    import rich

    console = rich.get_console()
    before, console.quiet = console.quiet, True
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            yield
    finally:
        console.quiet = before


def free_port(host: str, port: int, tries: int = 50) -> int:
    """`port`, or the first one after it that is free; 0 asks for any.

    Raises a ValueError where the host cannot be bound.
    """
    if not 0 <= port <= 65535:
        raise ValueError(f"port is {port}; expected 1 to 65535, or 0 for any that is free.")
    for candidate in range(port, min(port + tries, 65536)):
        try:
            family, kind, proto, _, address = socket.getaddrinfo(host, candidate, type=socket.SOCK_STREAM)[0]
            with socket.socket(family, kind, proto) as probe:
                probe.bind(address)
                return int(probe.getsockname()[1])
        except socket.gaierror:
            raise ValueError(
                f"host '{host}' is not known here. Use 127.0.0.1, or an address of this machine."
            ) from None
        except OSError as error:
            import errno

            if error.errno == errno.EADDRINUSE:
                continue
            raise ValueError(f"cannot listen at {host}, port {candidate}: {error.strerror}.") from None
    raise ValueError(f"ports {port} to {port + tries - 1} are all in use. Choose another one with --port.")


def start_server(host: str = "127.0.0.1", port: int = 0, *, label: str = "gyrostat") -> tuple[viser.ViserServer, str]:
    """A viser server, on this machine only unless told otherwise, and its address with the token that it asks for."""
    import viser

    guard = Guard(host)
    port = free_port(host, port)
    with quiet(), guard.on_duty():
        server = viser.ViserServer(host=host, port=port, label=label, verbose=False)
    try:
        guard.prove(server.get_port())
    except BaseException:
        with quiet():
            server.stop()
        raise
    server.gui.configure_theme(
        dark_mode=True,
        show_logo=False,
        show_share_button=False,
        brand_color=(46, 110, 220),
    )
    name = reachable(host)
    return server, f"http://{f'[{name}]' if ':' in name else name}:{server.get_port()}/?token={guard.token}"


class Stage:
    """Nodes for one spacecraft. `place` moves its bodies; `arrows` and `com` move the rest."""

    def __init__(self, server: viser.ViserServer, craft: Spacecraft, *, frames: bool = False) -> None:
        self.server, self.craft = server, craft
        self.size = craft_size(craft)
        self.narrow: dict[float, Array] = {}
        self.shapes, self.notes = primitives(craft)
        self.straight = bent_lines(craft, neutral(craft))
        self._bodies: list[Any] = []
        self._bent: dict[str, Any] = {}
        self.axes: list[Any] = []
        self.arrow_handles: dict[str, Any] = {}
        scene = server.scene
        scene.set_up_direction("+z")
        root = node(craft.name)
        for body in craft.bodies:
            name = f"/{root}/{node(body.name)}"
            self._bodies.append(scene.add_frame(name, show_axes=False))
            for k, shape in enumerate(self.shapes[body.name]):
                add_shape(scene, f"{name}/shape {k + 1}", shape)
            if body.name in self.straight:
                web = len(self.straight[body.name]) > MOST_NODES  # of a plate
                thick: dict[str, Any] = {"thickness": (0.003 if web else 0.008) * self.size, "thickness_units": "world"}
                color = np.array([int(255 * x) for x in BENDS], dtype=np.uint8)
                self._bent[body.name] = scene.add_line_segments(
                    f"{name}/bent", self.straight[body.name], color, **thick
                )
            axes = scene.add_frame(
                f"{name}/axes", axes_length=0.06 * self.size, axes_radius=0.0025 * self.size, visible=frames
            )
            self.axes.append(axes)
        for frame in craft.frames:
            at = f"/{root}/{node(frame.body)}/{node(frame.name)}"
            axes = scene.add_frame(
                at,
                axes_length=0.05 * self.size,
                axes_radius=0.0025 * self.size,
                position=frame.position,
                wxyz=quat_from_rotation(frame.rotation),
                visible=frames,
            )
            self.axes.append(axes)
        self._com = scene.add_icosphere(
            "/centre of mass", radius=0.012 * self.size, color=COM, cast_shadow=False, receive_shadow=False
        )
        self.com_handle = self._com

    def place(self, R_NB: Array, p_NB: Array) -> None:
        """Move every body: (nbodies, 3, 3) and (nbodies, 3)."""
        for handle, R, p in zip(self._bodies, R_NB, p_NB, strict=True):
            handle.wxyz = quat_from_rotation(R)
            handle.position = p

    def bend(self, lines: dict[str, Array]) -> None:
        """Lines of flexible bodies, (edges, 2, 3) in B each, as `bent_lines` has them."""
        for name, points in lines.items():
            self._bent[name].points = points.astype(np.float32)

    def com(self, position: Array) -> None:
        self._com.position = np.asarray(position, dtype=float)

    def arrows(self, name: str, starts: Array, vectors: Array, colors: Any, *, visible: bool = True) -> Any:
        """Arrows (k, 3) from starts (k, 3), in metres; made at the first call, moved afterwards.

        Short ones are thin.
        """
        length = np.linalg.norm(vectors, axis=-1)
        directions = np.where(
            length[:, None] > 0, vectors / np.where(length > 0, length, 1.0)[:, None], (0.0, 0.0, 1.0)
        )
        wxyzs = np.array([quat_from_rotation(along(direction)) for direction in directions])
        width = np.minimum(0.004 * self.size, 0.04 * length)
        scales = np.maximum(np.stack([width, width, length], axis=-1), 1e-6 * self.size)
        if name not in self.arrow_handles:
            vertices, faces = arrow_mesh()
            colors = np.broadcast_to(np.asarray(colors, dtype=float), (len(starts), 3))
            self.arrow_handles[name] = self.server.scene.add_batched_meshes_simple(
                f"/{name}",
                vertices,
                faces,
                wxyzs,
                starts,
                batched_scales=scales,
                batched_colors=(255 * colors).astype(np.uint8),
                lod="off",
                cast_shadow=False,
                receive_shadow=False,
                visible=visible,
            )
        else:
            handle = self.arrow_handles[name]
            handle.batched_wxyzs = wxyzs.astype(np.float32)
            handle.batched_positions = starts.astype(np.float32)
            handle.batched_scales = scales.astype(np.float32)
        return self.arrow_handles[name]

    def trail(self, name: str, points: Array, color: Any) -> Any:
        """A line through points (k, 3)."""
        segments = np.stack([points[:-1], points[1:]], axis=1)
        return self.server.scene.add_line_segments(
            f"/trails/{node(name)}",
            segments,
            np.array([int(255 * x) for x in color], dtype=np.uint8),
            thickness=2.0,
            thickness_units="screen",
        )

    def surroundings(self, points: Array, far: float = 0.0) -> None:
        """A faint square grid below everything, and stars around it: something that stands still.

        far: how far away the stars are at least.
        """
        low, high = points.min(axis=0), points.max(axis=0)
        self._stars((low + high) / 2, max(far, 6 * float(np.linalg.norm(high - low))))
        cell = _round_length(float(np.max(high - low)) / 12)
        width = cell * (2 * round(float(np.max((high - low)[:2])) / cell / 2 + 3))
        centre = np.round((low + high)[:2] / 2 / cell) * cell
        self.server.scene.add_grid(
            "/grid",
            width,
            width,
            cell_size=cell,
            section_size=5 * cell,
            cell_color=(52, 58, 70),
            section_color=(72, 80, 96),
            fade_distance=8 * width,
            shadow_opacity=0.0,
            position=(centre[0], centre[1], low[2] - 0.04 * float(np.max(high - low))),
        )

    def _stars(self, centre: Array, radius: float) -> None:
        """Far points that stand still, whose parallax shows how the camera turns."""
        random = np.random.default_rng(2018)
        directions = random.normal(size=(400, 3))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        shade = (255 * random.uniform(0.25, 0.9, size=(400, 1)) * np.ones(3)).astype(np.uint8)
        self.server.scene.add_point_cloud(
            "/stars",
            centre + radius * directions,
            shade,
            point_size=0.002 * radius,
            point_shape="circle",
            precision="float32",
        )

    def look(self, points: Array, *, beside_panel: bool = False, far: float = 0.0) -> None:
        """Put the camera where the points (k, 3) fill the picture. far: how far it sees at least."""
        position, centre = camera(points, beside_panel=beside_panel)
        self.narrow = {width: camera(points, aspect=width)[0] for width in NARROW}
        view, distance = self.server.initial_camera, float(np.linalg.norm(position - centre))
        view.fov, view.far = float(FIELD_OF_VIEW), max(far, 40 * distance)
        view.near = min(40 * distance / 1e5, 0.05 * self.size) if far else view.far / 1e5
        view.position, view.look_at = position, centre

    def corners(self, R_NB: Array, p_NB: Array) -> Array:
        """Corners (k, 3), in N, of the boxes around everything drawn,
        at poses (..., nbodies, 3, 3) and (..., nbodies, 3).
        """
        points = []
        for k, body in enumerate(self.craft.bodies):
            corners = [shape.corners for shape in self.shapes[body.name]]
            corners += [self.straight[body.name].reshape(-1, 3)] if body.name in self.straight else []
            corners = corners or [np.zeros((1, 3))]
            local = np.concatenate(corners)
            world = np.einsum("...ij,kj->...ki", R_NB[..., k, :, :], local) + p_NB[..., k, None, :]
            points.append(world.reshape(-1, 3))
        everything = np.concatenate(points)
        return everything[np.isfinite(everything).all(axis=1)]


def camera(points: Array, *, beside_panel: bool = False, aspect: float = ASPECT) -> tuple[Array, Array]:
    """Where to stand and where to look, so that the points (k, 3) fill the picture and none is cut off.

    beside_panel: fill its left part alone; the right is covered. aspect: width over height of the picture.
    """
    backward = VIEW_FROM / np.linalg.norm(VIEW_FROM)
    right = np.cross((0.0, 0.0, 1.0), backward)
    right /= np.linalg.norm(right)
    axes = np.stack([right, np.cross(backward, right), backward])
    seen = points @ axes.T  # right, up, towards the camera
    middle = (seen.min(axis=0) + seen.max(axis=0)) / 2
    across, along, near = np.abs(seen[:, 0] - middle[0]), np.abs(seen[:, 1] - middle[1]), seen[:, 2] - middle[2]
    tangent = FILLED * np.tan(FIELD_OF_VIEW / 2)
    aspect = 0.7 * aspect if beside_panel else aspect
    distance = float(np.max(near + np.maximum(along, across / aspect) / tangent))
    aside = right * (0.3 * ASPECT * distance * tangent if beside_panel else 0.0)
    centre = middle @ axes + aside
    return centre + backward * distance, centre


def trails(craft: Spacecraft) -> list[tuple[str, tuple[float, float, float]]]:
    """Which points leave a trail, and its colour."""
    return [(name, TRAILS[k % len(TRAILS)]) for k, name in enumerate(trail_points(craft))]


def add_shape(scene: Any, name: str, shape: Primitive) -> None:
    """Under this name in the scene tree."""
    place = {"wxyz": quat_from_rotation(shape.X_BS.R), "position": shape.X_BS.p}
    look: dict[str, Any] = {
        "color": tuple(round(255 * min(max(x, 0.0), 1.0)) for x in shape.color),
        "opacity": shape.opacity if shape.opacity < 1.0 else None,
    }
    if shape.kind == "box":
        scene.add_box(name, dimensions=shape.size, **look, **place)
    elif shape.kind == "cylinder":
        scene.add_cylinder(name, radius=shape.size[0], height=shape.size[1], **look, **place)
    elif shape.kind == "sphere":
        scene.add_icosphere(name, radius=shape.size[0], **look, **place)
    else:
        scene.add_mesh_simple(name, shape.vertices, shape.faces, side="double", **look, **place)


def node(name: str) -> str:
    """A name as one step of a path in the scene."""
    return name.replace("/", "_") or "_"


def _round_length(x: float) -> float:
    """The nearest of 1, 2, 5 times a power of ten below x."""
    power = 10.0 ** np.floor(np.log10(x))
    return float(max(step for step in (1, 2, 5) if step * power <= x * (1 + 1e-9)) * power)
