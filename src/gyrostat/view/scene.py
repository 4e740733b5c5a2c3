"""`Trajectory.to_html`: one file with the moving spacecraft in it, for any browser, without a network."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra import Array
from ..formation.told import EPOCH
from ..io.writing import write_text
from ..kinematics import forward_kinematics
from ..tracing import compile
from .bases import HILL
from .bent import bent_lines, magnified
from .fitting import fitted
from .ghosts import COLOR as GHOSTS
from .ghosts import Ghosts
from .legend import SKY, legend_rows, sky_words, with_legend
from .names import Names, members_of, visible_trails
from .overlays import momenta
from .planet_scene import heavens
from .stage import (
    BASE_MOMENTUM,
    CARRIED_MOMENTUM,
    FORCE,
    LINEAR_MOMENTUM,
    TORQUE,
    TOTAL_MOMENTUM,
    Stage,
    quiet,
    start_server,
    trails,
)
from .viewpoint import seen_from, viewpoint

if TYPE_CHECKING:
    from ..simulation import Trajectory

LONGEST = 60.0  # seconds of playback, unless a speed is given
SPEEDS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000)
MOST_FRAMES = 600
HILL_COLORS = ((230, 80, 80), (90, 200, 110), (90, 130, 255))


@dataclass(frozen=True, eq=False)
class Film:
    """What is drawn, frame by frame; vectors are scaled to metres of the picture."""

    time: Array
    R_NB: Array
    p_NB: Array
    com: Array
    momenta: dict[str, Array]
    momentum_unit: float  # N m s per metre of arrow
    linear: Array
    linear_unit: float
    forces: Array
    force_unit: float
    torques: Array
    torque_unit: float
    trails: dict[str, Array]
    bent: dict[str, Array] = field(default_factory=dict)  # lines of flexible bodies in B, by name
    rows: Array = field(default_factory=lambda: np.zeros(0, dtype=int))  # of the run's saved times


def film(
    trajectory: Trajectory, size: float, *, run: int = 0, most: int = MOST_FRAMES, deformation: float = 1.0
) -> Film:
    """The frames of one run: where everything is, and arrows whose longest is a third of the craft or more.

    deformation: how many times as large bending is drawn.
    """
    craft = trajectory.craft

    def own(values: Any) -> Array:
        values = np.asarray(values)
        return values[run] if trajectory.batched else values

    q = own(trajectory.q)
    reached = np.flatnonzero(np.isfinite(q).all(axis=-1))
    if not len(reached):
        raise ValueError(f"run {run} of {craft.name} holds no state to draw.")
    keep = reached[:: max(1, -(-len(reached) // most))]
    if keep[-1] != reached[-1]:
        keep = np.append(keep, reached[-1])
    split, com = trajectory._compiled(momenta, ["q", "v"]), own(trajectory.center_of_mass())[keep]
    drawn = magnified(craft, q[keep], deformation)
    if deformation == 1.0 or not craft.bends:
        poses = trajectory.poses()
        R, p = own(poses.R_NB)[keep], own(poses.p_NB)[keep]
    else:
        R, p = compile(forward_kinematics, craft)(drawn)
    base, carried = own(split.base)[keep], own(split.carried)[keep]
    wrenches = own(trajectory.reaction_wrenches().values)[keep][:, 1:]
    turned = np.einsum("tbij,tbsj->tbsi", R[:, 1:], wrenches.reshape(*wrenches.shape[:-1], 2, 3))
    linear = own(split.linear)[keep]
    long = 0.36 if craft.nbodies > 1 else 0.75  # a single body would hide a shorter one
    unit = _unit(np.stack([base, carried, base + carried]), long * size)
    linear_unit, torque_unit, force_unit = (
        _unit(linear, size / 2),
        _unit(turned[:, :, 0], size / 3),
        _unit(turned[:, :, 1], size / 3),
    )
    return Film(
        trajectory.time[keep],
        R,
        p,
        com,
        {"base": base / unit, "carried": carried / unit, "total": (base + carried) / unit},
        unit,
        linear / linear_unit,
        linear_unit,
        turned[:, :, 1] / force_unit,
        force_unit,
        turned[:, :, 0] / torque_unit,
        torque_unit,
        {name: own(trajectory.frame(name)[1])[keep] for name, _ in trails(craft)},
        bent_lines(craft, drawn),
        keep,
    )


def _unit(vectors: Array, long: float) -> float:
    """So that the longest vector is drawn this long, in metres."""
    longest = float(np.nanmax(np.linalg.norm(vectors, axis=-1), initial=0.0))
    return longest / long if longest > 1e-9 else 1.0


def draw_static(
    stage: Stage, shown: Film, *, beside_panel: bool = False, members: dict[str, str] | None = None, far: float = 0.0
) -> None:
    """Camera, grid and trails for the whole film. members: bases that leave trails of their own; far: of the sky."""
    every = max(1, len(shown.time) // 60)
    points = stage.corners(shown.R_NB[::every], shown.p_NB[::every])
    stage.look(points, beside_panel=beside_panel, far=3 * far)
    stage.surroundings(points, far)
    for name, color, places in visible_trails(stage.craft, shown, stage.size, members):
        stage.trail(name, places, color)


def draw_frame(stage: Stage, shown: Film, k: int, *, momentum: bool = True, reactions: bool = False) -> None:
    """Everything that moves, at frame k."""
    stage.place(shown.R_NB[k], shown.p_NB[k])
    stage.bend({name: lines[k] for name, lines in shown.bent.items()})
    stage.com(shown.com[k])
    com = shown.com[k]
    three = np.stack([shown.momenta[name][k] for name in ("base", "carried", "total")])
    stage.arrows(
        "angular momentum",
        np.broadcast_to(com, (3, 3)),
        three,
        (BASE_MOMENTUM, CARRIED_MOMENTUM, TOTAL_MOMENTUM),
        visible=momentum,
    )
    stage.arrows("linear momentum", com[None], shown.linear[k][None], LINEAR_MOMENTUM, visible=momentum)
    if shown.p_NB.shape[1] > 1:
        stage.arrows("joint torques", shown.p_NB[k, 1:], shown.torques[k], TORQUE, visible=reactions)
        stage.arrows("joint forces", shown.p_NB[k, 1:], shown.forces[k], FORCE, visible=reactions)


def trajectory_to_html(trajectory: Trajectory, path: str | Path, **options: Any) -> Path:
    """Write the scene as one self-contained page; options as `scene_html` takes them."""
    return write_text(path, scene_html(trajectory, **options))


def scene_html(
    trajectory: Trajectory,
    *,
    run: int = 0,
    speed: float | None = None,
    momentum: bool = True,
    reactions: bool = False,
    frames: bool = False,
    title: str | None = None,
    deformation: float = 1.0,
    about: str | None = None,
    axes: str | None = None,
    sun: Any = None,
    most: int = MOST_FRAMES,
    ghosts: Sequence[int] = (),
) -> str:
    """One self-contained page: play, pause, scrub, turn, zoom.

    run: which run of a batch. speed: seconds of the run per second of playback; by default 1, or more where the run is
    longer than a minute. momentum, reactions, frames: which arrows and axes are on at first; the page's scene tree
    turns each on and off. deformation: how many times as large the bending of flexible bodies is drawn.

    about: the body, frame or member that stays in the middle, or "orbit", the point that N follows; by default the
    chief of a formation, else nothing does. axes: "inertial", "hill" or "body" (its own); by default Hill axes where
    there is an orbit. sun: the date of t = 0, a `Celestial` body or a direction in N, for day and night on the planet.
    most: frames at most, out of the saved times. ghosts: other runs of the batch, by place, faint beside it.
    """
    if not float(deformation) >= 0:
        raise ValueError(f"deformation is {deformation}; expected a factor, zero or more.")
    server, _ = start_server()
    try:
        stage, members = Stage(server, trajectory.craft, frames=frames), members_of(trajectory)
        shown = film(trajectory, stage.size, run=run, most=most, deformation=deformation)
        view = viewpoint(trajectory, shown.rows, run, about, axes)
        shown = seen_from(shown, view)
        speed = playback_speed(shown.time, speed)
        far = 0.0 if view.r_N is None else 3 * float(np.linalg.norm(view.r_N, axis=1).max())
        draw_static(stage, shown, members=members, far=far)
        spread = float(np.ptp(shown.p_NB.reshape(-1, 3), axis=0).max())
        length = 0.25 * max(stage.size, spread)
        if view.hill:
            _hill_axes(stage, length)
        sky = heavens(stage, view, shown.time, trajectory.data.attrs.get(EPOCH) if sun is None else sun, 1.4 * length)
        named = Names(stage, members)
        others = Ghosts(stage, trajectory, ghosts, shown.rows, view) if len(ghosts) else None

        def also(k: int) -> None:
            named.place(shown.p_NB[k])
            if sky is not None:
                sky.place(k)
            if others is not None:
                others.place(k)

        momentum = momentum and view.orbit is None
        page = recorded(stage, shown, speed, momentum=momentum, reactions=reactions, also=also)
    finally:
        with quiet():
            server.stop()
    heading = title or trajectory.craft.name
    rows = legend_rows(trajectory.craft, shown, stage.size, momentum, reactions, members)
    if sky is not None:
        rows.append((SKY, sky_words(view.orbit, sky.sun_N is not None)))
    if others is not None:
        rows.append((GHOSTS, others.words))
    return with_legend(page, heading, rows, shown.time, speed, view.words)


def _hill_axes(stage: Stage, length: float) -> None:
    """Lines of one width at any zoom, with their names."""
    for text, end, color in zip(HILL, length * np.eye(3), HILL_COLORS, strict=True):
        line = np.stack([np.zeros(3), end])[None]
        shade = np.array(color, dtype=np.uint8)
        scene = stage.server.scene
        scene.add_line_segments(f"/Hill frame/{text} axis", line, shade, thickness=2.0, thickness_units="screen")
        scene.add_label(f"/Hill frame/{text}", text, position=1.05 * end)


def recorded(
    stage: Stage,
    shown: Film,
    speed: float,
    *,
    momentum: bool = True,
    reactions: bool = False,
    also: Callable[[int], None] = lambda k: None,
) -> str:
    """The page on which the film plays, over what stands on the stage already. also: what else moves, at frame k."""
    draw_frame(stage, shown, 0, momentum=momentum, reactions=reactions)
    also(0)
    serializer = stage.server.get_scene_serializer()
    for k in range(1, len(shown.time)):
        serializer.insert_sleep(float(shown.time[k] - shown.time[k - 1]) / speed)
        draw_frame(stage, shown, k)
        also(k)
    return fitted(str(serializer.as_html(dark_mode=True)), stage.narrow)


def playback_speed(time: Array, asked: float | None = None) -> float:
    """What was asked for, or 1 for runs up to a minute, else the first round number that brings them below."""
    if asked is not None:
        if not float(asked) > 0:
            raise ValueError(f"speed is {asked}; expected a positive number.")
        return float(asked)
    duration = float(time[-1] - time[0])
    return float(next((s for s in SPEEDS if duration / s <= LONGEST), SPEEDS[-1]))
