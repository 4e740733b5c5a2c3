"""One picture per question: what joints, wheels, bases, momenta, energy, actuators and reactions did over time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra import Array
from ..control.passive import has_springs
from ..model import Joint
from ..simulation.result.figures import free_bases, inertia_about, turned
from .bases import base_panels, quaternion_panels, together_panels
from .flexing import flexible_panels
from .overlays import momenta
from .panels import AnyPanel, Panel

if TYPE_CHECKING:
    from ..simulation import Trajectory

DEGREES = {"rad": ("deg", 180 / np.pi), "rad/s": ("deg/s", 180 / np.pi)}
RPM = 30 / np.pi
LOADS = {"N m": "torques", "N": "forces"}


def panels(trajectory: Trajectory, group: str) -> list[AnyPanel]:
    """The panels of a group, one of `GROUPS`."""
    return [panel for panel in GROUPS[group](trajectory) if panel.values.size]


def _gathered(lines: Sequence[tuple[str, str, str, Array]]) -> list[Panel]:
    """One panel for each title and unit among lines (title, unit, label, values)."""
    found: dict[tuple[str, str], list[tuple[str, Array]]] = {}
    for title, unit, label, values in lines:
        found.setdefault((title, unit), []).append((label, values))
    return [
        Panel(title, unit, np.stack([x for _, x in own], axis=-1), tuple(label for label, _ in own))
        for (title, unit), own in found.items()
    ]


def _parts(joint: Joint, units: Sequence[str]) -> list[tuple[int, str, str]]:
    """Place, unit and label of each coordinate."""
    return [(k, unit, joint.name + (f" {k + 1}" if len(units) > 1 else "")) for k, unit in enumerate(units)]


def _jointed(trajectory: Trajectory) -> list[Joint]:
    """Joints between bodies of a craft: no bases, no wheels."""
    bases = {body.name for body in trajectory.craft.roots}
    joints = [body.joint for body in trajectory.craft.bodies if body.name not in bases]
    return [joint for joint in joints if not joint.motion.unbound and not joint.motion.spins]


def _joints(trajectory: Trajectory) -> list[Panel]:
    lines = []
    for joint in _jointed(trajectory):
        values = trajectory.q[..., joint.q_at]
        quat = joint.motion.quaternion
        turning = set() if quat is None else set(np.arange(values.shape[-1])[quat].tolist())
        if quat is not None:
            lines.append(("Joint positions", "deg", f"{joint.name}, angle since the start", turned(trajectory, joint)))
        for k, unit, label in _parts(joint, joint.motion.q_units):
            if k not in turning:
                unit, factor = DEGREES.get(unit, (unit, 1.0))
                lines.append(("Joint positions", unit, label, factor * values[..., k]))
    for joint in _jointed(trajectory):
        for k, unit, label in _parts(joint, joint.motion.v_units):
            unit, factor = DEGREES.get(unit, (unit, 1.0))
            lines.append(("Joint rates", unit, label, factor * trajectory.v[..., joint.v_at][..., k]))
    return _gathered(lines)


def _wheels(trajectory: Trajectory) -> list[Panel]:
    """Speeds, momenta and torques, with their limits where all wheels share them."""
    wheels = trajectory.craft.wheels
    if not wheels:
        return []
    names = tuple(body.joint.name for body in wheels)
    at = [body.joint.v_at.start for body in wheels]
    speed, torque = trajectory.v[..., at], trajectory.tau[..., at]
    momentum = np.stack([inertia_about(trajectory, body) * speed[..., k] for k, body in enumerate(wheels)], axis=-1)
    most, effort = (
        _shared(getattr(body.joint.limits, what) for body in wheels) for what in ("velocity", "effort")
    )  # fmt: skip
    return [
        Panel("Wheel speeds", "rpm", RPM * speed, names, limits=tuple(RPM * x for x in most)),
        Panel("Wheel momenta", "N m s", momentum, names),
        Panel("Wheel torques", "N m", torque, names, limits=effort),
    ]


def _shared(limits: Any) -> tuple[float, ...]:
    """Both signs of a limit that all have; nothing otherwise."""
    values = {float(x) for x in limits}
    (value,) = values if len(values) == 1 else (np.inf,)
    return (-value, value) if np.isfinite(value) else ()


def _thrust(trajectory: Trajectory) -> list[Panel]:
    """What pushes bases from outside, of craft that have thrusters or are pushed."""
    found = []
    for body in trajectory.craft.bodies:
        load = trajectory.tau[..., body.joint.v_at]
        if body.joint.motion.unbound and np.nanmax(np.abs(load), initial=0.0) > 0:
            units = body.joint.motion.v_units
            for title, unit, rows in (("torque", "N m", _turning(units)), ("force", "N", ~_turning(units))):
                if rows.any():
                    labels = ("x", "y", "z") if rows.sum() == 3 else tuple(map(str, range(1, rows.sum() + 1)))
                    found.append(Panel(f"Control {title} on {body.name}", unit, load[..., rows], labels))
    return found


def _turning(units: Sequence[str]) -> Any:
    return np.array([unit.startswith("rad") for unit in units])


def _momentum(trajectory: Trajectory) -> list[Panel]:
    h = trajectory.momentum("com")
    xyz = ("x", "y", "z")
    shared = []
    if trajectory.craft.nbodies > 1 and len(free_bases(trajectory)) < 2:
        split = trajectory._compiled(momenta, ["q", "v"])
        carried = tuple(f"carried {axis}" for axis in xyz)
        both = np.concatenate([split.base, split.carried], axis=-1)
        labels = (*(f"base {axis}" for axis in xyz), *carried)
        shared = [
            Panel("Angular momentum of the base and of what it carries", "N m s", both, labels, carried, (0, 1, 2) * 2)
        ]
    return [
        *shared,
        Panel("Angular momentum about the centre of mass", "N m s", h[..., :3], xyz),
        Panel("Linear momentum", "N s", h[..., 3:], xyz),
    ]


def _energy(trajectory: Trajectory) -> list[Panel]:
    energy, work, name = trajectory.kinetic_energy(), trajectory.data["work"].values, "kinetic energy"
    if has_springs(trajectory.craft):
        energy, name = energy + trajectory.spring_energy(), "kinetic and spring energy"
    gained = energy[..., :1] + work - work[..., :1]
    lines = np.stack([energy, gained], axis=-1)
    return [Panel("Energy", "J", lines, (name, "at the start, plus work"), ("at the start, plus work",))]


def _actuators(trajectory: Trajectory) -> list[Panel]:
    lines = []
    for joint in _jointed(trajectory):
        for k, unit, label in _parts(joint, joint.motion.v_units):
            load = "N m" if unit.startswith("rad") else "N"
            lines.append((f"Joint {LOADS[load]}", load, label, trajectory.tau[..., joint.v_at][..., k]))
    return _gathered(lines)


def _reactions(trajectory: Trajectory) -> list[Panel]:
    """Sizes of the wrenches through the joints, motors included."""
    craft = trajectory.craft
    names = {joint.name for joint in _jointed(trajectory)}
    rows = [k for k, body in enumerate(craft.bodies) if body.joint.name in names]
    if not rows:
        return []
    wrenches = trajectory.reaction_wrenches().values[..., rows, :]
    labels = tuple(craft.bodies[k].joint.name for k in rows)
    return [
        Panel("Reaction torque through each joint, size", "N m", np.linalg.norm(wrenches[..., :3], axis=-1), labels),
        Panel("Reaction force through each joint, size", "N", np.linalg.norm(wrenches[..., 3:], axis=-1), labels),
    ]


GROUPS: dict[str, Callable[[Any], Sequence[AnyPanel]]] = {
    "relative": together_panels,
    "joints": _joints,
    "flexible": flexible_panels,
    "wheels": _wheels,
    "thrust": _thrust,
    "base": base_panels,
    "momentum": _momentum,
    "energy": _energy,
    "actuators": _actuators,
    "reactions": _reactions,
    "quaternions": quaternion_panels,
}
