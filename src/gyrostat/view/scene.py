"""`Trajectory.to_html`: one file with the moving spacecraft in it, for any browser, without a network."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra import Array
from ..io.writing import write_text
from ..kinematics import forward_kinematics
from ..model import Spacecraft
from ..tracing import compile
from .bent import bent_lines, magnified
from .overlays import momenta
from .stage import (
    BASE_MOMENTUM,
    CARRIED_MOMENTUM,
    COM,
    FORCE,
    TORQUE,
    TOTAL_MOMENTUM,
    Stage,
    quiet,
    start_server,
    trails,
)

if TYPE_CHECKING:
    from ..simulation import Trajectory

LONGEST = 60.0  # seconds of playback, unless a speed is given
SPEEDS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000)
MOST_FRAMES = 600


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
    )


def _unit(vectors: Array, long: float) -> float:
    """So that the longest vector is drawn this long, in metres."""
    longest = float(np.nanmax(np.linalg.norm(vectors, axis=-1), initial=0.0))
    return longest / long if longest > 1e-9 else 1.0


def draw_static(stage: Stage, shown: Film, *, beside_panel: bool = False) -> None:
    """Camera, grid and trails for the whole film."""
    every = max(1, len(shown.time) // 60)
    points = stage.corners(shown.R_NB[::every], shown.p_NB[::every])
    stage.look(points, beside_panel=beside_panel)
    stage.surroundings(points)
    for name, color in visible_trails(stage.craft, shown, stage.size):
        stage.trail(name, shown.trails[name], color)


def visible_trails(craft: Spacecraft, shown: Film, size: float) -> list[tuple[str, tuple[float, float, float]]]:
    """Those long enough to be seen."""
    return [(name, color) for name, color in trails(craft) if np.ptp(shown.trails[name], axis=0).max() > 0.03 * size]


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
    stage.arrows("linear momentum", com[None], shown.linear[k][None], COM, visible=momentum)
    if shown.p_NB.shape[1] > 1:
        stage.arrows("joint torques", shown.p_NB[k, 1:], shown.torques[k], TORQUE, visible=reactions)
        stage.arrows("joint forces", shown.p_NB[k, 1:], shown.forces[k], FORCE, visible=reactions)


def trajectory_to_html(
    trajectory: Trajectory,
    path: str | Path,
    *,
    run: int = 0,
    speed: float | None = None,
    momentum: bool = True,
    reactions: bool = False,
    frames: bool = False,
    title: str | None = None,
    deformation: float = 1.0,
) -> Path:
    """Write one self-contained page: play, pause, scrub, turn, zoom.

    run: which run of a batch. speed: seconds of the run per second of playback; by default 1, or more where the run is
    longer than a minute. momentum, reactions, frames: which arrows and axes are on at first; the page's scene tree
    turns each on and off. deformation: how many times as large the bending of flexible bodies is drawn.
    """
    if not float(deformation) >= 0:
        raise ValueError(f"deformation is {deformation}; expected a factor, zero or more.")
    server, _ = start_server()
    try:
        stage = Stage(server, trajectory.craft, frames=frames)
        shown = film(trajectory, stage.size, run=run, deformation=deformation)
        speed = playback_speed(shown.time, speed)
        draw_static(stage, shown)
        page = recorded(stage, shown, speed, momentum=momentum, reactions=reactions)
    finally:
        with quiet():
            server.stop()
    return write_text(path, with_legend(page, trajectory.craft, shown, stage.size, speed, title, momentum, reactions))


def recorded(stage: Stage, shown: Film, speed: float, *, momentum: bool = True, reactions: bool = False) -> str:
    """The page on which the film plays, over what stands on the stage already."""
    draw_frame(stage, shown, 0, momentum=momentum, reactions=reactions)
    serializer = stage.server.get_scene_serializer()
    for k in range(1, len(shown.time)):
        serializer.insert_sleep(float(shown.time[k] - shown.time[k - 1]) / speed)
        draw_frame(stage, shown, k)
    return str(serializer.as_html(dark_mode=True))


def playback_speed(time: Array, asked: float | None = None) -> float:
    """What was asked for, or 1 for runs up to a minute, else the first round number that brings them below."""
    if asked is not None:
        if not float(asked) > 0:
            raise ValueError(f"speed is {asked}; expected a positive number.")
        return float(asked)
    duration = float(time[-1] - time[0])
    return float(next((s for s in SPEEDS if duration / s <= LONGEST), SPEEDS[-1]))


def with_legend(
    page: str,
    craft: Spacecraft,
    shown: Film,
    size: float,
    speed: float,
    title: str | None,
    momentum: bool,
    reactions: bool,
) -> str:
    """viser's page, with a title and a legend over it."""
    rows = []
    third = float(np.max(np.linalg.norm(shown.momenta["base"], axis=-1), initial=0.0))
    if momentum and third > 0:
        longest = max(float(np.max(np.linalg.norm(x, axis=-1), initial=0.0)) for x in shown.momenta.values())
        rows.append(
            (BASE_MOMENTUM, f"angular momentum of the base (longest {longest * shown.momentum_unit:.3g} N m s)")
        )
        if len(craft.bodies) > 1:
            rows.append((CARRIED_MOMENTUM, "angular momentum of what it carries"))
    if reactions and len(craft.bodies) > 1:
        for color, what, values, unit, name in (
            (TORQUE, "torque through each joint", shown.torques, shown.torque_unit, "N m"),
            (FORCE, "force through each joint", shown.forces, shown.force_unit, "N"),
        ):
            longest = float(np.max(np.linalg.norm(values, axis=-1), initial=0.0))
            if longest > 0:
                rows.append((color, f"{what} (longest {longest * unit:.3g} {name})"))
    rows.append((COM, "centre of mass"))
    rows += [(color, f"trail of {name}") for name, color in visible_trails(craft, shown, size)]
    dots = "".join(
        f'<div><i style="background:rgb({",".join(str(int(255 * x)) for x in color)})"></i>{escape(text)}</div>'
        for color, text in rows
    )
    heading = escape(title or craft.name)
    legend = _LEGEND.format(heading=heading, rows=dots, speed=f"{speed:g}", start=float(shown.time[0]))
    page = page.replace("<title>Viser</title>", f"<title>{heading}</title>", 1)
    at = page.rindex("</body>")
    return page[:at] + legend + page[at:]


_LEGEND = """
<style>
#gyrostat {{ position: fixed; left: 14px; bottom: 56px; z-index: 5; max-width: calc(100vw - 28px);
  overflow: hidden; white-space: nowrap; padding: 10px 14px; border-radius: 8px;
  font: 13px/1.5 system-ui, sans-serif; color: #dfe6f2; background: rgba(16, 20, 28, .72); }}
#gyrostat summary {{ font-weight: 600; font-size: 15px; cursor: pointer; }}
#gyrostat i {{ display: inline-block; width: 9px; height: 9px; border-radius: 50%; margin-right: 8px; }}
#gyrostat output {{ font-variant-numeric: tabular-nums; font-weight: 400; opacity: .8; margin-left: .6em; }}
#gyrostat small {{ opacity: .65; }}
</style>
<details id="gyrostat" open><summary>{heading}<output></output></summary>{rows}
<small>drag: turn &middot; right-drag: move &middot; wheel: zoom &middot; space: pause<br>
loads in the joints, frames: scene tree, bottom right</small></details>
<script>
setInterval(() => {{
  const input = document.querySelector('input[inputmode="decimal"], input.mantine-NumberInput-input');
  const t = input ? parseFloat(input.value) : NaN;
  if (isFinite(t)) document.querySelector('#gyrostat output').textContent =
    't = ' + ({start} + t * {speed}).toFixed(1) + ' s' + ({speed} === 1 ? '' : ' ({speed}x)');
}}, 100);
</script>
"""
