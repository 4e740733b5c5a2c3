"""Several spacecraft on one stage, seen in the Hill frame of their orbit:
who is where, trails, and the frame's axes.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..algebra import Array, quat_from_rotation
from ..environment.hill import hill_frame
from ..environment.orbit import Orbit
from ..formation.trajectory import rotations
from ..io.writing import write_text
from .scene import draw_static, film, playback_speed, recorded, with_legend
from .stage import Stage, quiet, start_server

if TYPE_CHECKING:
    from ..formation import FormationTrajectory
    from ..simulation import Trajectory


def formation_to_html(
    run: FormationTrajectory, path: str | Path, *, leader: str | None = None, title: str | None = None
) -> Path:
    """One self-contained page with all members, in the Hill frame if the formation has an orbit,
    else in inertial axes.
    """
    return tree_to_html(run.tree(leader), run.formation.orbit, path, title=title)


def tree_to_html(
    tree: Trajectory, orbit: Orbit | None, path: str | Path, *, title: str | None = None, speed: float | None = None
) -> Path:
    """The same from the trajectory of a virtual tree."""
    shown_in = tree if orbit is None else in_hill_axes(tree, orbit)
    server, _ = start_server()
    try:
        stage = Stage(server, shown_in.craft)
        shown = film(shown_in, stage.size)
        speed = playback_speed(shown.time, speed)
        draw_static(stage, shown)
        if orbit is not None:
            length = 0.25 * max(stage.size, float(np.ptp(shown.p_NB.reshape(-1, 3), axis=0).max()))
            server.scene.add_frame("/Hill frame", axes_length=length, axes_radius=0.004 * length)
            for text, at in (("radial", (1, 0, 0)), ("along track", (0, 1, 0)), ("normal", (0, 0, 1))):
                server.scene.add_label(f"/Hill frame/{text}", text, position=1.05 * length * np.array(at))
        page = recorded(stage, shown, speed, momentum=False)
    finally:
        with quiet():
            server.stop()
    heading = title or shown_in.craft.name
    heading = heading if orbit is None else f"{heading} (Hill frame)"
    return write_text(path, with_legend(page, shown_in.craft, shown, stage.size, speed, heading, False, False))


def in_hill_axes(tree: Trajectory, orbit: Orbit) -> Trajectory:
    """The tree's base in the orbit's Hill frame: positions and attitudes turn with it.

    For pictures; its audit means nothing.
    """
    q = tree.q.copy()
    for k, t in enumerate(tree.time):
        R_NH = hill_frame(*orbit.state(float(t))).R_NH
        R: Array = R_NH.T @ rotations(q[k, :4])
        q[k, :4], q[k, 4:7] = quat_from_rotation(R), R_NH.T @ q[k, 4:7]
    return replace(tree, data=tree.data.assign(q=(("time", "q_name"), q)))
