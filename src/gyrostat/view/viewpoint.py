"""From where a scene is seen: centred on any body, in inertial axes, Hill axes, or that body's own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra import Array
from ..environment import Orbit
from ..environment.orbit_notes import orbit_from_notes
from ..formation.told import ORBIT
from ..formation.trajectory import hill_frames
from ..model import Spacecraft, nearest
from ..simulation.result.figures import CHIEF, base_name, bound_bases, free_bases

if TYPE_CHECKING:
    from ..simulation import Trajectory
    from .scene import Film

AXES = ("inertial", "hill", "body")


@dataclass(frozen=True, eq=False)
class Viewpoint:
    """Origin and axes A of a scene over its frames, in N. words: as a title says it; empty for N itself.

    orbit: whose planet is drawn. r_N, v_N: the origin from the planet's centre.
    """

    p_N: Array  # (times, 3)
    R_NA: Array  # (times, 3, 3)
    words: str
    hill: bool
    orbit: Orbit | None = None
    r_N: Array | None = None
    v_N: Array | None = None


def viewpoint(trajectory: Trajectory, rows: Array, run: int, about: str | None, axes: str | None) -> Viewpoint:
    """about: a body, a frame, a member of a formation, or "orbit", the point that N follows. By default the chief of a
    formation, else N's origin. axes: by default Hill axes where there is an orbit, else inertial ones.
    """
    orbit = orbit_of(trajectory)
    axes = axes or ("inertial" if orbit is None else "hill")
    if axes not in AXES:
        raise ValueError(f"axes '{axes}' are not known. {nearest(axes, AXES)}")
    if axes == "hill" and orbit is None:
        raise ValueError(f"axes='hill': this run of {trajectory.craft.name} tells of no orbit. Take 'inertial'.")
    about = trajectory.data.attrs.get(CHIEF) if about is None else about
    frame = None if about is None else _frame(trajectory, about, orbit)
    if axes == "body" and frame is None:
        raise ValueError("axes='body': whose? Name the body, as in about='base'.")
    count = len(rows)
    p, R = np.zeros((count, 3)), np.broadcast_to(np.eye(3), (count, 3, 3))
    if frame is not None:
        R_NF, p = (_own(trajectory, x, run)[rows] for x in trajectory.frame(frame))
        R = R_NF if axes == "body" else R
    r = v = None
    if orbit is not None:
        r, v = _orbital(trajectory, orbit, rows, run, frame)
        if axes == "hill":
            R = hill_frames(r, v).R_NH
        r = np.array([orbit.state(float(t)).r for t in trajectory.time[rows]]) + p
    return Viewpoint(p, R, _words(about, axes), axes == "hill", orbit, r, v)


def _words(about: str | None, axes: str) -> str:
    if about is None and axes == "inertial":
        return ""
    centre = {None: "", "orbit": "the reference orbit"}.get(about, about)
    named = {"inertial": "inertial axes", "hill": "Hill axes", "body": "its own axes"}[axes]
    return f"seen from {centre}, {named}" if centre else named


def orbit_of(trajectory: Trajectory) -> Orbit | None:
    """That a formation's trajectory tells of."""
    told = trajectory.data.attrs.get(ORBIT)
    return None if told is None else orbit_from_notes(told)


def _frame(trajectory: Trajectory, about: str, orbit: Orbit | None) -> str | None:
    """The body or frame of that name, or the base of the member; None for the reference orbit itself."""
    bases = (*free_bases(trajectory), *bound_bases(trajectory))
    members = {base_name(trajectory, body): body.name for body in bases}
    if about in members:
        return members[about]
    craft = trajectory.craft
    known = [body.name for body in craft.bodies] + [frame.name for frame in craft.frames]
    if about in known:
        return about
    if about == "orbit" and orbit is not None:
        return None
    raise ValueError(f"about '{about}' is no body, frame or member here. {nearest(about, [*members, *known])}")


def _orbital(trajectory: Trajectory, orbit: Orbit, rows: Array, run: int, frame: str | None) -> tuple[Array, Array]:
    """From the planet's centre, of the base that the frame belongs to: its axes do not wobble with the attitude."""
    states = [orbit.state(float(t)) for t in trajectory.time[rows]]
    r, v = np.array([s.r for s in states]), np.array([s.v for s in states])
    if frame is None:
        return r, v
    base = base_of(trajectory.craft, frame)
    p = _own(trajectory, trajectory.frame(base)[1], run)[rows]
    return r + p, v + _own(trajectory, trajectory.twist(base), run)[rows][:, 3:]


def base_of(craft: Spacecraft, frame: str) -> str:
    """The free base, or else the root, that a body or frame hangs on."""
    body = craft.locate(frame)[0]
    while (parent := craft.body(body).parent) is not None and not craft.joint(body).motion.unbound:
        body = parent
    return str(body)


def _own(trajectory: Trajectory, values: Any, run: int) -> Array:
    values = np.asarray(values)
    return values[run] if trajectory.batched else values


def seen_from(shown: Film, view: Viewpoint) -> Film:
    """The frames of a film in the axes of a viewpoint."""

    def turned(x: Array) -> Array:
        return np.einsum("tji,t...j->t...i", view.R_NA, x)

    def placed(p: Array) -> Array:
        return turned(p - view.p_N.reshape(len(p), *([1] * (p.ndim - 2)), 3))

    return replace(
        shown,
        R_NB=np.einsum("tji,tbjk->tbik", view.R_NA, shown.R_NB),
        p_NB=placed(shown.p_NB),
        com=placed(shown.com),
        momenta={name: turned(x) for name, x in shown.momenta.items()},
        linear=turned(shown.linear),
        forces=turned(shown.forces),
        torques=turned(shown.torques),
        trails={name: placed(x) for name, x in shown.trails.items()},
    )
