"""`Modes.to_html`: a natural mode that swings, in one file for any browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra import Array
from ..io.writing import write_text
from ..kinematics import center_of_mass, forward_kinematics, frame_pose
from ..model import Spacecraft
from ..tracing import compile
from .bent import bent_lines
from .legend import legend_rows, with_legend
from .scene import Film, draw_static, recorded
from .stage import Stage, quiet, start_server, trails

if TYPE_CHECKING:
    from ..linear import Mode, Modes

SECONDS = 3.0  # of playback for each swing


def mode_to_html(modes: Modes, mode: Mode | int, path: str | Path, *, size: float, cycles: int, frames: bool) -> Path:
    """See `Modes.to_html`."""
    chosen: Any = modes[mode] if isinstance(mode, int) else mode
    times, q = modes.motion(chosen, size=size, cycles=cycles)
    craft = modes.craft
    poses, com = compile(forward_kinematics, craft)(q), compile(center_of_mass, craft)(q)
    still, none = np.zeros_like(com), np.zeros((len(times), craft.nbodies - 1, 3))
    shown = Film(
        times,
        poses.R_NB,
        poses.p_NB,
        com,
        {"base": still, "carried": still, "total": still},
        1.0,
        still,
        1.0,
        none,
        1.0,
        none,
        1.0,
        {name: _points(craft, q, name) for name, _ in trails(craft)},
        bent_lines(craft, q),
    )
    speed = float(times[-1]) / (SECONDS * cycles)
    server, _ = start_server()
    try:
        stage = Stage(server, craft, frames=frames)
        draw_static(stage, shown)
        page = recorded(stage, shown, speed, momentum=False)
    finally:
        with quiet():
            server.stop()
    title = f"{craft.name}: {chosen.kind} mode, {chosen.frequency:.4g} Hz, damping {chosen.damping:.2g}"
    rows = legend_rows(craft, shown, stage.size, False, False, {})
    return write_text(path, with_legend(page, title, rows, shown.time, speed))


def _points(craft: Spacecraft, q: Array, name: str) -> Any:
    return compile(frame_pose, craft, static={"frame": name})(q).p
