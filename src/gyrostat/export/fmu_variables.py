"""The variables of an FMU: names, units, start values, in the order of their value references."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, get_args

import numpy as np

from ..algebra import Array, quat_from_rotation
from ..formulations import recursive
from ..kinematics import center_of_mass, frame_pose
from ..model import Joint, Spacecraft, nearest
from ..scenario.parts.outputs import Output
from ..simulation.problem.equations import Equations
from ..simulation.problem.loads import Signals

XYZ = ("x", "y", "z")
OUTPUTS = (*get_args(Output), "tau")  # those of scenario files, and the loads in the joints
LOAD_UNITS = {"rad/s": "N.m", "m/s": "N"}
PARAMETER_UNITS = {"mass": "kg", "com": "m", "inertia": "kg.m2", "spin_inertia": "kg.m2", "position": "m"}
NOT_NEGATIVE = ("mass", "spin_inertia", "stiffness", "damping", "friction", "backlash", "rotor_inertia", "max_thrust")


class Variable(NamedTuple):
    """causality: as the standard has it; derivative_of: a value reference."""

    name: str
    reference: int
    causality: str
    variability: str
    unit: str = ""
    description: str = ""
    start: float | None = None
    least: float | None = None
    derivative_of: int | None = None

    @property
    def initial(self) -> str | None:
        if self.causality == "independent":
            return None
        return "calculated" if self.start is None else "exact"


@dataclass(frozen=True)
class Variables:
    """By value reference: time, states, their derivatives, inputs, parameters, the step, computed outputs."""

    time: Variable
    states: tuple[Variable, ...]
    derivatives: tuple[Variable, ...]
    inputs: tuple[Variable, ...]
    parameters: tuple[Variable, ...]
    step: Variable
    computed: tuple[Variable, ...]
    held: tuple[float, ...]  # what a sampled law holds before its first sample
    quaternions: tuple[int, ...]  # places in the states where one begins

    def __iter__(self) -> Iterator[Variable]:
        yield self.time
        for group in (self.states, self.derivatives, self.inputs, self.parameters, (self.step,), self.computed):
            yield from group

    @property
    def outputs(self) -> tuple[Variable, ...]:
        return tuple(variable for variable in self if variable.causality == "output")


class Computed(NamedTuple):
    """An output: what stands in it, as (name, unit, description), and its value."""

    entries: tuple[tuple[str, str, str], ...]
    value: Callable[[Spacecraft, Signals], Array]


def component(text: str) -> str:
    """Part of a structured name: what C takes for a name, as near to `text` as can be."""
    name = re.sub(r"\W", "_", text, flags=re.ASCII)
    return f"_{name}" if not name or name[0].isdigit() else name


# ---- outputs that are computed


def wanted_outputs(
    craft: Spacecraft, outputs: Sequence[str], frames: Sequence[str], has_law: bool
) -> tuple[Computed, ...]:
    """Those of `OUTPUTS` by name, and frames or bodies; the joints' loads, too, where a law makes them."""
    if isinstance(outputs, str) or isinstance(frames, str):
        raise TypeError("outputs= and frames= are lists of names: write ['momentum'], ['tool'].")
    for name in outputs:
        if name not in OUTPUTS:
            raise ValueError(f"outputs: '{name}' is not known. {nearest(name, OUTPUTS)}")
    named = [*(body.name for body in craft.bodies), *(frame.name for frame in craft.frames)]
    for name in frames:
        if name not in named:
            raise ValueError(f"frames: {craft.name} has no body or frame '{name}'. {nearest(name, named)}")
    posed = list(frames)
    posed += [frame.name for frame in craft.frames] if "frames" in outputs else []
    posed += [body.name for body in craft.bodies] if "poses" in outputs else []
    wanted = dict.fromkeys([*(["tau"] if has_law else []), *outputs])
    found = [_SIMPLE[name](craft) for name in wanted if name in _SIMPLE]
    return (*found, *(_pose(name) for name in dict.fromkeys(posed)))


def _tau(craft: Spacecraft) -> Computed:
    entries = [
        (f"tau{name}", LOAD_UNITS.get(unit, ""), f"load in {words}: law, motor, spring, damper, friction, stop")
        for name, unit, words in coordinates(craft, "v")
    ]
    return Computed(tuple(entries), lambda craft, now: now.tau)


def _momentum(craft: Spacecraft) -> Computed:
    entries = [(f"momentum.angular.{k}", "N.m.s", "about the inertial origin, in inertial axes") for k in XYZ]
    entries += [(f"momentum.linear.{k}", "N.s", "in inertial axes") for k in XYZ]
    return Computed(tuple(entries), lambda craft, now: recursive.momentum(craft, now.q, now.v))


def _kinetic_energy(craft: Spacecraft) -> Computed:
    return Computed((("kinetic_energy", "J", ""),), lambda craft, now: recursive.kinetic_energy(craft, now.q, now.v))


def _center_of_mass(craft: Spacecraft) -> Computed:
    entries = tuple((f"center_of_mass.{k}", "m", "of the whole craft, in inertial axes") for k in XYZ)
    return Computed(entries, lambda craft, now: center_of_mass(craft, now.q))


def _reactions(craft: Spacecraft) -> Computed:
    entries = tuple(
        (
            f"reaction.{component(body.name)}.{what}.{k}",
            unit,
            f"through the joint of {body.name} on it, about its origin in its axes",
        )
        for body in craft.bodies
        for what, unit in (("torque", "N.m"), ("force", "N"))
        for k in XYZ
    )
    return Computed(
        entries,
        lambda craft, now: recursive.reaction_wrenches(craft, now.q, now.v, now.vdot, wrenches=now.wrenches),
    )


def _pose(frame: str) -> Computed:
    where = f"frame.{component(frame)}"
    entries = [(f"{where}.position.{k}", "m", f"of {frame}, in inertial axes") for k in XYZ]
    entries += [
        (f"{where}.quaternion.{k}", "", f"attitude of {frame} in inertial axes, scalar part not negative")
        for k in ("w", *XYZ)
    ]

    def value(craft: Spacecraft, now: Signals) -> Array:
        pose = frame_pose(craft, now.q, frame)
        return np.concatenate([pose.p, quat_from_rotation(pose.R)])

    return Computed(tuple(entries), value)


_SIMPLE: dict[str, Callable[[Spacecraft], Computed]] = {
    "tau": _tau,
    "momentum": _momentum,
    "kinetic_energy": _kinetic_energy,
    "center_of_mass": _center_of_mass,
    "reaction_wrenches": _reactions,
}


# ---- all of them


def coordinates(craft: Spacecraft, which: str) -> list[tuple[str, str, str]]:
    """(.joint.label, unit, words) of each entry of q or v."""

    def of(joint: Joint) -> Iterator[tuple[str, str, str]]:
        motion = joint.motion
        labels, units = (motion.q_labels, motion.q_units) if which == "q" else (motion.v_labels, motion.v_units)
        for label, unit in zip(labels, units, strict=True):
            end = f".{component(label)}" if label else ""
            yield f".{component(joint.name)}{end}", unit, f"{joint.name} {label}".strip()

    return [entry for joint in craft.joints for entry in of(joint)]


class _Numbering:
    """Value references in order, and names that differ."""

    def __init__(self) -> None:
        self.count = 0
        self._taken: set[str] = set()

    def __call__(self, name: str, causality: str, variability: str, **more: Any) -> Variable:
        plain, suffix = name, 2
        while name in self._taken:
            name, suffix = f"{plain}_{suffix}", suffix + 1
        self._taken.add(name)
        self.count += 1
        return Variable(name, self.count - 1, causality, variability, **more)


def variables_of(
    equations: Equations, x: Array, chosen: Sequence[Computed], loads: Mapping[str, Sequence[int]]
) -> Variables:
    """x: where the run starts. loads: inputs that are loads of coordinates, with their places in tau."""
    craft, at, new = equations.craft, equations.layout, _Numbering()
    time = new("time", "independent", "continuous", unit="s")
    rows = [(f"q{name}", unit, words, "output") for name, unit, words in coordinates(craft, "q")]
    rows += [(f"v{name}", unit, f"rate of {words}", "output") for name, unit, words in coordinates(craft, "v")]
    rows += [(f"law.z[{k + 1}]", "", "memory of the control law", "local") for k in range(at.width("z"))]
    if at.width("load"):
        rows += [
            (f"motor{name}", LOAD_UNITS.get(unit, ""), f"load of the motor in {words}", "local")
            for name, unit, words in coordinates(craft, "v")
        ]
    start = np.concatenate([x[at[part]] for part in ("q", "v", "z", "load")])
    states = tuple(
        new(name, causality, "continuous", unit=unit, description=words, start=float(value))
        for (name, unit, words, causality), value in zip(rows, start, strict=True)
    )
    derivatives = tuple(
        new(f"der({s.name})", "local", "continuous", unit=_rate_unit(s.unit), derivative_of=s.reference) for s in states
    )
    return Variables(
        time,
        states,
        derivatives,
        tuple(_inputs(equations, x, loads, new)),
        tuple(_parameters(equations, x, new)),
        new(
            "integration.step",
            "parameter",
            "fixed",
            unit="s",
            description="of the Runge-Kutta method of order 4, in co-simulation; steps also end where one of the "
            "importer's does",
            start=1.0,
            least=0.0,
        ),
        tuple(
            new(name, "output", "continuous", unit=unit, description=words)
            for output in chosen
            for name, unit, words in output.entries
        ),
        tuple(float(value) for value in x[at.held]),
        tuple(
            joint.q_at.start + joint.motion.quaternion.start
            for joint in craft.joints
            if joint.motion.quaternion is not None
        ),
    )


def _inputs(equations: Equations, x: Array, loads: Mapping[str, Sequence[int]], new: _Numbering) -> Iterator[Variable]:
    names = coordinates(equations.craft, "v")
    for name, shape in equations.inputs.items():
        start = x[equations.layout[f"input {name}"]]
        if name in loads:
            for place, value in zip(loads[name], start, strict=True):
                own, unit, words = names[place]
                yield new(
                    f"load{own}",
                    "input",
                    "continuous",
                    unit=LOAD_UNITS.get(unit, ""),
                    description=f"load on {words} from outside",
                    start=float(value),
                )
            continue
        for own, value in zip(_elements(component(name), shape), start, strict=True):
            yield new(own, "input", "continuous", description=f"{name} of the control law", start=float(value))


def _parameters(equations: Equations, x: Array, new: _Numbering) -> Iterator[Variable]:
    for name, shape in equations.parameters.items():
        owner, _, key = name.rpartition(".")
        plain = f"{component(owner)}.{component(key)}"
        for own, value in zip(_elements(plain, shape), x[equations.layout[f"value {name}"]], strict=True):
            yield new(
                own,
                "parameter",
                "tunable",
                unit=PARAMETER_UNITS.get(key, ""),
                description=name,
                start=float(value),
                least=0.0 if key in NOT_NEGATIVE else None,
            )


def _elements(name: str, shape: tuple[int, ...]) -> list[str]:
    """Names of an array's entries, counted from one as the standard does."""
    return [f"{name}[{','.join(str(k + 1) for k in place)}]" if place else name for place in np.ndindex(*shape)]


def _rate_unit(unit: str) -> str:
    return {"rad": "rad/s", "m": "m/s", "rad/s": "rad/s2", "m/s": "m/s2", "N": "N/s", "N.m": "N.m/s"}.get(unit, "")
