"""One picture per question: what joints, base, momenta, energy, actuators and reactions did over time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra import Array, quat_conjugate, quat_log, quat_multiply
from ..control.passive import has_springs
from ..model import Joint, Spacecraft
from .overlays import momenta
from .style import PALETTE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..simulation import Trajectory

MOST_LINES = 12
DEGREES = {"rad": ("deg", 180 / np.pi), "rad/s": ("deg/s", 180 / np.pi)}


@dataclass(frozen=True, eq=False)
class Panel:
    """Lines over time: values ([runs,] times, lines), one label each."""

    title: str
    unit: str
    values: Array
    labels: tuple[str, ...]
    dashed: tuple[str, ...] = ()
    colors: tuple[int, ...] = ()  # places in the palette; in order by default


def panels(trajectory: Trajectory, group: str) -> list[Panel]:
    """The panels of a group: "joints", "base", "momentum", "energy", "actuators", "reactions"."""
    return [panel for panel in GROUPS[group](trajectory) if panel.values.shape[-1]]


def must_match(trajectory: Trajectory, other: Trajectory) -> None:
    """Raises a ValueError unless both runs have the same joints."""
    mine, theirs = ([b.joint.name for b in run.craft.bodies] for run in (trajectory, other))
    if mine != theirs:
        raise ValueError(f"compare: {other.craft!r} and {trajectory.craft!r} do not have the same joints.")


def draw(at: Axes, time: Array, panel: Panel, other: tuple[Array, Panel] | None = None) -> None:
    """Lines; of a batch, the median and a band that holds nine runs in ten.

    other: another run's times and panel, dashed.
    """
    _lines(at, time, panel)
    if other is not None:
        _lines(at, *other, dashed=True)
    values = panel.values
    more = f", first {MOST_LINES} of {values.shape[-1]}" if values.shape[-1] > MOST_LINES else ""
    at.set_title(panel.title + more + (", median and 5 to 95 % of the runs" if values.ndim == 3 else ""))
    at.set(xlabel="time [s]", ylabel=f"[{panel.unit}]" if panel.unit else "")
    at.margins(x=0)
    _calm(at, values if other is None else np.concatenate([values.ravel(), other[1].values.ravel()]))
    at.legend(loc="upper left", bbox_to_anchor=(1.0, 1.02), handlelength=1.4, borderaxespad=0.3)


def _lines(at: Axes, time: Array, panel: Panel, *, dashed: bool = False) -> None:
    values, batched = panel.values, panel.values.ndim == 3
    for k in range(min(values.shape[-1], MOST_LINES)):
        own = values[..., k]
        color = PALETTE[(panel.colors[k] if panel.colors else k) % len(PALETTE)]
        if batched:
            low, middle, high = np.nanquantile(own, (0.05, 0.5, 0.95), axis=0)
            at.fill_between(time, low, high, color=color, alpha=0.18, linewidth=0)
            own = middle
        dash = dashed or panel.labels[k] in panel.dashed
        label = None if dashed else _shown(panel.labels[k])
        at.plot(time, own, color=color, linestyle=(0, (4, 2)) if dash else "-", label=label)


def _shown(label: str) -> str:
    """As a legend shows it: names that start with an underscore would be left out, control characters break SVG."""
    label = "".join(c if c.isprintable() else "?" for c in label)
    return f" {label}" if label.startswith("_") else label


def _calm(at: Axes, values: Array) -> None:
    """Round-off around a constant is a straight line, not a mountain range."""
    finite = values[np.isfinite(values)]
    if finite.size:
        low, high = float(finite.min()), float(finite.max())
        size = max(abs(low), abs(high))
        if high - low <= 1e-9 * size or size < 1e-9:
            middle, half = (low + high) / 2, 1.0 if size < 1e-9 else 0.05 * size
            at.set_ylim(middle - half, middle + half)


# ---- what is in each group


def _joints(trajectory: Trajectory) -> list[Panel]:
    return [*_per_unit(trajectory, "q", "Joint positions"), *_per_unit(trajectory, "v", "Joint rates")]


def _per_unit(trajectory: Trajectory, which: str, title: str) -> list[Panel]:
    """One panel for each unit among joints that have plain coordinates; wheels apart: their speeds dwarf the rest."""
    source = trajectory.q if which == "q" else trajectory.v
    found: dict[tuple[str, str], list[tuple[str, Array]]] = {}
    for joint in _moving(trajectory):
        units = joint.motion.q_units if which == "q" else joint.motion.v_units
        at = joint.q_at if which == "q" else joint.v_at
        for k, unit in enumerate(units):
            wheel = "Wheel speeds" if joint.motion.spins else title
            unit, factor = ("rpm", 30 / np.pi) if joint.motion.spins else DEGREES.get(unit, (unit, 1.0))
            part = f" {k + 1}" if len(units) > 1 else ""
            found.setdefault((wheel, unit), []).append((joint.name + part, factor * source[..., at.start + k]))
    return [
        Panel(name, unit, np.stack([x for _, x in lines], axis=-1), tuple(label for label, _ in lines))
        for (name, unit), lines in found.items()
    ]


def _moving(trajectory: Trajectory) -> list[Joint]:
    return [body.joint for body in trajectory.craft.bodies[1:]]


def _base(trajectory: Trajectory) -> list[Panel]:
    if not trajectory.craft.joint(trajectory.craft.base).motion.unbound:
        return _other_base(trajectory)
    q, v = trajectory.q, trajectory.v
    xyz = ("x", "y", "z")
    return [
        _attitude(trajectory),
        Panel("Base position since the start", "m", q[..., 4:7] - q[..., :1, 4:7], xyz),
        Panel("Base angular velocity, base axes", "deg/s", np.degrees(v[..., :3]), xyz),
        Panel("Base velocity, base axes", "m/s", v[..., 3:6], xyz),
    ]


def _attitude(trajectory: Trajectory) -> Panel:
    """As a rotation vector from the start; as a quaternion where the craft tumbles,
    since rotation vectors jump at 180 deg.
    """
    from ..tracing import compile

    def turned(craft: Spacecraft, q: Array, start: Array) -> Array:
        return quat_log(quat_multiply(quat_conjugate(start), q[:4]))

    q = trajectory.q
    vector = np.degrees(compile(turned, trajectory.craft, inputs={"start": (4,)})(q, q[..., :1, :4]))
    if np.nanmax(np.linalg.norm(vector, axis=-1)) < 170.0:
        return Panel("Base rotation since the start, rotation vector", "deg", vector, ("x", "y", "z"))
    quat = np.nan_to_num(q[..., :4], nan=1.0)
    flips = np.sign(np.sum(quat[..., 1:, :] * quat[..., :-1, :], axis=-1, keepdims=True))
    signs = np.concatenate([np.ones_like(quat[..., :1, :1]), np.cumprod(flips, axis=-2)], axis=-2)
    return Panel("Base attitude, quaternion", "", signs * q[..., :4], ("w", "x", "y", "z"))


def _other_base(trajectory: Trajectory) -> list[Panel]:
    joint = trajectory.craft.bodies[0].joint
    if not joint.nv:
        return []
    labels = tuple(str(n).removeprefix(joint.name).strip() for n in trajectory.data["v_name"].values[joint.v_at])
    return [
        Panel("Base velocity", ", ".join(dict.fromkeys(joint.motion.v_units)), trajectory.v[..., joint.v_at], labels)
    ]


def _momentum(trajectory: Trajectory) -> list[Panel]:
    h = trajectory.momentum("com")
    xyz = ("x", "y", "z")
    shared = []
    if trajectory.craft.nbodies > 1:
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
    tau = trajectory.tau
    groups: dict[str, list[tuple[str, Array]]] = {}
    for joint in _moving(trajectory):
        for k, unit in enumerate(joint.motion.v_units):
            load = "N m" if unit.startswith("rad") else "N"
            part = f" {k + 1}" if joint.nv > 1 else ""
            groups.setdefault(load, []).append((joint.name + part, tau[..., joint.v_at.start + k]))
    return [
        Panel(
            "Joint torques" if unit == "N m" else "Joint forces",
            unit,
            np.stack([x for _, x in lines], axis=-1),
            tuple(label for label, _ in lines),
        )
        for unit, lines in groups.items()
    ]


def _reactions(trajectory: Trajectory) -> list[Panel]:
    """Sizes of the wrenches through the joints, motors included."""
    craft = trajectory.craft
    rows = [k for k, body in enumerate(craft.bodies) if k and not body.joint.motion.spins]
    wrenches = trajectory.reaction_wrenches().values[..., rows, :]
    labels = tuple(craft.bodies[k].joint.name for k in rows)
    return [
        Panel("Reaction torque through each joint, size", "N m", np.linalg.norm(wrenches[..., :3], axis=-1), labels),
        Panel("Reaction force through each joint, size", "N", np.linalg.norm(wrenches[..., 3:], axis=-1), labels),
    ]


GROUPS: dict[str, Callable[[Any], Sequence[Panel]]] = {
    "joints": _joints,
    "base": _base,
    "momentum": _momentum,
    "energy": _energy,
    "actuators": _actuators,
    "reactions": _reactions,
}
