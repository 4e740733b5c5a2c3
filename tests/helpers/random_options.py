"""Random runs: a spacecraft, a state, and some options of `gs.simulate`, each with another value to put there."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np

import gyrostat as gs
from gyrostat import constraints as gc
from gyrostat.model import Role
from random_trees import random_spacecraft, random_state

END = 0.3
# of every base; with springs and dampers; with wheels; with limits; two craft put together
CRAFTS = 12
FIXED = {"rk4": 0.02, "gauss6": 0.02}


@cache
def craft_of(k: int) -> gs.Spacecraft:
    base = ("free", "free", "planar", "fixed", "spherical", "free")[k % 6]
    kinds = ("revolute", "prismatic", "wheel", "spherical", "universal", "cylindrical", "planar", "cartesian")
    craft = random_spacecraft(40 + k, links=2, kinds=kinds[: 3 + k % 6], base=base, rotors=k % 2 == 0)
    if k % 3 == 1:
        craft = softened(craft, k)
    if k == 11:
        other = replace(random_spacecraft(77, links=1, kinds=("revolute",), base="free"), name="other")
        craft = gs.together("both", [craft_of(0), other])
    return craft


def softened(craft: gs.Spacecraft, k: int) -> gs.Spacecraft:
    """With a spring and a damper in one joint, and limits of position and effort in all that can have them."""
    bodies = []
    for body in craft.bodies:
        joint = body.joint
        if joint.nq == joint.nv == 1 and body.parent is not None:
            limits = gs.Limits(lower=-0.05, upper=0.05, effort=0.2)
            soft = {"stiffness": 0.4, "damping": 0.1, "driven": False} if len(bodies) == 1 + k % 2 else {}
            joint = replace(joint, limits=limits, **soft)
        bodies.append(replace(body, joint=joint))
    return gs.Spacecraft.build(craft.name, bodies, frames=craft.frames)


@dataclass
class Case:
    """A run, and for each of its options the value to compare with: whoever gave the first expects another result."""

    craft: gs.Spacecraft
    q: Any
    v: Any
    options: dict[str, Any] = field(default_factory=dict)
    others: dict[str, Any] = field(default_factory=dict)

    def without(self, name: str) -> dict[str, Any]:
        """The same options, but for one."""
        return {**self.options, name: self.others[name]}


def driven(craft: gs.Spacecraft) -> np.ndarray:
    return craft.at(Role.driven, Role.wheel)


def law(craft: gs.Spacecraft, gain: float, kind: str) -> Any:
    """Loads where there are motors: a plain law, one with memory, a sampled one, a noisy one."""
    at = np.zeros(craft.nv)
    at[driven(craft)] = 1.0

    def plain(craft, t, q, v):
        return at * (0.3 * gs.algebra.sin(5.0 * t + 1.0) - gain * v)

    if kind == "plain":
        return plain
    if kind == "asks":
        return lambda craft, t, q, v, strength: strength * plain(craft, t, q, v)
    if kind == "memory":
        output = lambda craft, t, q, v, z: plain(craft, t, q, v) - at * z[0]
        return gs.Controller(output, [0.1], derivative=lambda craft, t, q, v, z: np.array([v @ at - z[0]]))
    if kind == "sampled":
        output = lambda craft, t, q, v, z: 0.1 * plain(craft, t, q, v) - at * z[0]
        return gs.Controller(output, [0.1], update=lambda craft, t, q, v, z: 0.5 * z, period=0.07)

    def noisy(craft, t, q, v, run, sample, seed):
        return 0.1 * at * gs.tracing.normal(seed, run, sample, 3)

    return gs.Controller(noisy, period=0.07)


def draw(seed: int) -> Case:
    """One to six options, in combinations that need not be possible."""
    rng = np.random.default_rng(seed)
    craft = craft_of(int(rng.integers(CRAFTS)))
    q, v = random_state(craft, int(rng.integers(4)), 0.5)
    case = Case(craft, q, v)
    names = sorted(DRAWN)
    for name in rng.choice(names, size=int(rng.integers(1, 7)), replace=False):
        DRAWN[str(name)](case, rng)
    if "constraints" in case.options:
        held = case.options["constraints"]
        case.q, case.v = gc.project(craft, 0.0, case.q, case.v, held)
    for name in case.options.get("locked", ()):
        case.v = np.where(np.isin(np.arange(craft.nv), _range(craft.joint_named(name).v_at)), 0.0, case.v)
    return case


def _range(at: slice) -> np.ndarray:
    return np.arange(at.start, at.stop)


def _set(case: Case, name: str, value: Any, other: Any) -> None:
    case.options[name], case.others[name] = value, other


def _control(case: Case, rng: Any) -> None:
    kind = str(rng.choice(["plain", "memory", "sampled", "noisy", "asks"]))
    _set(case, "control", law(case.craft, 0.2, kind), law(case.craft, 0.4, kind))
    if kind == "noisy":
        case.others["control"] = None
        _set(case, "seed", 7, 8)
        _set(case, "runs", 3, 4)
    if kind == "asks":
        _set(case, "inputs", {"strength": 0.8}, {"strength": 0.9})


def _integrator(case: Case, rng: Any) -> None:
    name = str(rng.choice(["rk45", "gauss16", "rk4", "gauss6"]))
    _set(case, "integrator", name, "gauss6" if name == "rk4" else "rk4" if name == "gauss6" else "dop853")
    if name in FIXED:
        _set(case, "step", FIXED[name], 0.5 * FIXED[name])


def _constraints(case: Case, rng: Any) -> None:
    first = "N" if rng.random() < 0.5 else case.craft.base
    kind = gc.point if rng.random() < 0.5 else gc.plane
    frame = "tool" if any(f.name == "tool" for f in case.craft.frames) else case.craft.bodies[-1].name
    _set(case, "constraints", [gc.grasped(case.craft, 0.0, case.q, kind(first, frame, name="bond"))], None)


def _joint(case: Case, rng: Any) -> Any:
    """One with a motor."""
    motors = set(driven(case.craft).tolist())
    joints = [j for j in case.craft.joints if j.nv and set(_range(j.v_at).tolist()) <= motors]
    return joints[int(rng.integers(len(joints)))] if joints else None


def _locked(case: Case, rng: Any) -> None:
    joint = _joint(case, rng)
    if joint is not None:
        _set(case, "locked", [joint.name], None)
        if "control" not in case.options:
            _set(case, "control", law(case.craft, 0.2, "plain"), law(case.craft, 0.4, "plain"))


def _prescribed(case: Case, rng: Any) -> None:
    joint = _joint(case, rng)
    if joint is not None:
        c = np.full(joint.nv, 0.7)
        _set(case, "prescribed", {joint.name: lambda t: c * gs.algebra.cos(t)}, {joint.name: 0.5 * c})


OFTEN = 0.85  # how often an option comes with what it needs


def _stabilisation(case: Case, rng: Any) -> None:
    if "constraints" not in case.options and rng.random() < OFTEN:
        _constraints(case, rng)
    _set(case, "stabilisation", (8.0, 1.0), (3.0, 1.0))


def _actuators(case: Case, rng: Any) -> None:
    if "control" not in case.options and rng.random() < OFTEN:
        _control(case, rng)
    _set(case, "actuators", gs.Actuators(lag=0.05), gs.Actuators(lag=0.08) if rng.random() < 0.7 else None)


def _inputs(case: Case, rng: Any) -> None:
    if "control" not in case.options and rng.random() < OFTEN:
        _set(case, "control", law(case.craft, 0.2, "asks"), law(case.craft, 0.4, "asks"))
    _set(case, "inputs", {"strength": 0.8}, {"strength": 0.9})


def _stops(case: Case, rng: Any) -> None:
    if any(np.isfinite(j.limits.upper) for j in case.craft.joints) or rng.random() > OFTEN:
        _set(case, "stops", gs.Stops(50.0, 1.0, 0.01), gs.Stops(80.0, 1.0, 0.01))


def _parameters(case: Case, rng: Any) -> None:
    """The mass of a body that moves about, its centre off its joint."""
    body = [b.name for b in case.craft.bodies if not b.joint.motion.spins][-1]
    _set(case, "parameters", {f"{body}.mass": 12.0}, {f"{body}.mass": 14.0})


def _sensitivities(case: Case, rng: Any) -> None:
    body = [b.name for b in case.craft.bodies if not b.joint.motion.spins][-1]
    _set(case, "sensitivities", [f"{body}.mass"], None)


def _events(case: Case, rng: Any) -> None:
    """A record, an end, or a jump of the rates; within a step of one that steps, or at its very end."""
    kind, at = str(rng.choice(["record", "end", "jump"])), float(rng.choice([0.12, 0.2]))

    def slower(craft: gs.Spacecraft, t: Any, q: Any, v: Any) -> Any:
        return q, 0.9 * v

    def event(level: float) -> gs.When:
        return gs.When(lambda craft, t, q, v: t - level, "tick", kind == "end", 0, slower if kind == "jump" else None)

    _set(case, "events", event(at), event(at + 0.03))


DRAWN = {
    "control": _control,
    "environment": lambda case, rng: _set(
        case,
        "environment",
        gs.environment.uniform_gravity((0.2, 0.1, -0.3)),
        gs.environment.uniform_gravity((0.2, 0.1, -0.4)),
    ),
    "mode": lambda case, rng: _set(case, "mode", str(rng.choice(["floating", "flying", "rotation-floating"])), None),
    "formulation": lambda case, rng: _set(case, "formulation", "decoupled", None),
    "integrator": _integrator,
    "rtol": lambda case, rng: _set(case, "rtol", 1e-8, 1e-4),
    "atol": lambda case, rng: _set(case, "atol", 1e-9, 1e-2),
    "max_step": lambda case, rng: _set(case, "max_step", 0.011, 0.007),
    "save_at": lambda case, rng: _set(case, "save_at", [0.0, 0.1, 0.23], [0.0, 0.1, 0.22]),
    "events": _events,
    "breakpoints": lambda case, rng: _set(case, "breakpoints", [0.111], [0.137]),
    "constraints": _constraints,
    "stabilisation": _stabilisation,
    "prescribed": _prescribed,
    "locked": _locked,
    "actuators": _actuators,
    "stops": _stops,
    "conserve": lambda case, rng: _set(case, "conserve", "momentum", None),
    "parameters": _parameters,
    "inputs": _inputs,
    "sensitivities": _sensitivities,
    "threads": lambda case, rng: _set(case, "threads", 1, 2),
}
