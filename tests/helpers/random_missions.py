"""Random spacecraft under random combinations of what `gs.simulate` can be told, each option with a change that must
show.

A `Mission` is a craft (every base and joint kind, passive joints, wheels, limits, bodies that bend, one or two craft
together), a start, and options. Every option knows how to be changed a little, and what the change must do: move the
motion, or leave it alone.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

import gyrostat as gs
from gyrostat import constraints, environment
from gyrostat.algebra import cos, sin
from gyrostat.control.passive import passive_forces
from gyrostat.model import Role
from random_flexible import bending
from random_trees import random_spacecraft, random_state

END = 0.6  # s: long enough for everything to act
START = 2.5  # s: not zero, so that forgotten offsets of time show
MOVES, STAYS = "moves", "stays"
BENDS = 0.25  # share of the craft that do


@dataclass(frozen=True)
class Option:
    """keywords of `simulate`; changed: the same ones after a change,
    None where leaving them out is the change; does: MOVES or STAYS.
    """

    name: str
    keywords: dict[str, Any]
    changed: dict[str, Any] | None
    does: str = MOVES


@dataclass(frozen=True)
class Mission:
    seed: int
    craft: gs.Spacecraft
    q: np.ndarray
    v: np.ndarray
    options: tuple[Option, ...] = ()
    external: bool = False  # something outside acts, or the base is held
    notes: list[str] = field(default_factory=list)

    def keywords(self, changed: str = "") -> dict[str, Any]:
        """Of `simulate`, with one option changed."""
        given: dict[str, Any] = {"rtol": 1e-11, "atol": 1e-13, "save_at": np.linspace(START, START + END, 7)}
        for option in self.options:
            given |= (option.keywords if option.name != changed else option.changed) or {}
        return given

    def run(self, changed: str = "") -> gs.Trajectory:
        return gs.simulate(self.craft, self.q, self.v, (START, START + END), progress=False, **self.keywords(changed))

    @property
    def following(self) -> set[str]:
        """Joints that move as they are told."""
        given = self.keywords()
        return {*given.get("prescribed", {}), *given.get("locked", ())}

    def idle(self, option: Option) -> bool:
        """A law, or its motors, of which every one is on a joint that moves as it is told."""
        own = {place for name in self.following for place in range(*self.craft.joint_named(name).v_at.indices(99))}
        return bool({"control", "actuators"} & {*option.keywords}) and set(_driven(self.craft)) <= own

    def run_in_phases(self, cut: float) -> gs.Trajectory:
        """The same in two phases, with all options for both."""
        phases = [gs.Phase(cut, "first"), gs.Phase(END - cut, "second")]
        options = {"progress": False, **self.keywords()}
        return gs.simulate_phases(self.craft, self.q, self.v, phases, t0=START, **options).trajectory

    def __str__(self) -> str:
        joints = ", ".join(f"{j.name}:{j.kind}{'~' if j.stiffness else ''}" for j in self.craft.joints)
        return f"seed {self.seed}: {joints}; options {', '.join(o.name for o in self.options)}"


def refused(run: Callable[[], Any]) -> tuple[Any, str]:
    """The trajectory, or the words in which it was refused."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", gs.SimulationWarning)
            return run(), ""
    except ValueError as error:
        assert len(str(error)) > 30 and "internal" not in str(error).lower(), str(error)
        return None, str(error)


def random_mission(seed: int) -> Mission:
    rng = np.random.default_rng([seed, 77])
    craft = _one_or_two(seed, rng)
    q, v = random_state(craft, seed + 1, speed=0.4)
    mission = Mission(seed, craft, q, v, external=_held_base(craft))
    return told(mission, rng, MAKERS, 6)


def told(mission: Mission, rng: np.random.Generator, makers: Sequence[Any], most: int) -> Mission:
    """With two to `most` options by these makers."""
    chosen = [makers[k] for k in rng.permutation(len(makers))[: int(rng.integers(2, most + 1))]]
    if mission.craft.bends:  # other formulations and gravity refuse them
        chosen = [m for m in chosen if m not in (_formulation, _gravity) or rng.random() < 0.1]
        chosen.insert(0, OF_SHAPES[int(rng.integers(2))])
    taken: set[str] = set()
    for maker in sorted(chosen, key=lambda maker: maker.__name__ in LATE):
        option = maker(rng, mission)
        if option is None or taken & set(option.keywords):
            continue
        taken |= set(option.keywords)
        mission = replace(
            mission,
            options=(*mission.options, option),
            external=mission.external or maker in EXTERNAL,
            q=option.keywords.pop("q", mission.q),
            v=option.keywords.pop("v", mission.v),
        )
    return mission


def _one_or_two(seed: int, rng: np.random.Generator) -> gs.Spacecraft:
    kinds = ("revolute", "prismatic", "spherical", "cylindrical", "cartesian", "universal", "planar", "free", "wheel")
    first, own = random_spacecraft(seed, links=int(rng.integers(2, 5)), kinds=kinds), np.random.default_rng([seed, 78])
    first = _dressed(bending(first, own) if own.random() < BENDS else first, rng)
    if rng.random() < 0.7:
        return first
    second = _dressed(random_spacecraft(seed + 5000, links=int(rng.integers(1, 3)), kinds=kinds), rng)
    return gs.together("pair", [replace(first, name="one"), replace(second, name="two")])


def _dressed(craft: gs.Spacecraft, rng: np.random.Generator) -> gs.Spacecraft:
    """Some joints with springs and dampers, some with dampers alone, single ones with limits."""
    bodies = []
    for k, body in enumerate(craft.bodies):
        joint = body.joint
        if k and joint.kind != "wheel":
            if rng.random() < 0.4:
                rest = float(rng.normal(scale=0.3)) if joint.motion.single else 0.0
                joint = replace(joint, stiffness=float(rng.uniform(1, 8)), rest=rest, damping=float(rng.uniform(0, 1)))
            elif rng.random() < 0.3:
                joint = replace(joint, damping=float(rng.uniform(0.1, 1)))
            if joint.motion.single:
                joint = replace(joint, limits=gs.Limits(lower=-5.0, upper=5.0, effort=4.0, velocity=9.0))
        bodies.append(replace(body, joint=joint))
    return gs.Spacecraft.build(craft.name, bodies, frames=craft.frames)


def _held_base(craft: gs.Spacecraft) -> bool:
    return (
        any(m.craft.joint(m.craft.base).kind != "free" for m in craft.members)
        if craft.members
        else (craft.joint(craft.base).kind != "free")
    )


# ---- laws


def _driven(craft: gs.Spacecraft) -> np.ndarray:
    return craft.at(Role.driven, Role.wheel)


def _wave(craft: gs.Spacecraft, t: Any, v: Any, size: Any) -> Any:
    """Loads on what has a motor, nothing else; the same ones where the joints stand in another order."""
    at = set(_driven(craft).tolist())
    names = {k: (joint.name, k) for joint in craft.joints for k in range(joint.v_at.start, joint.v_at.stop)}
    tau = np.zeros(craft.nv, dtype=np.asarray(v).dtype)
    for n, k in enumerate(sorted(at, key=names.__getitem__)):
        tau[k] = size * sin(3.0 * t + n) - 0.1 * v[k]
    return tau


def _law(rng: np.random.Generator, mission: Mission) -> Option | None:
    if not len(_driven(mission.craft)):
        return None

    def law(size: float) -> Callable[..., Any]:
        return lambda craft, t, q, v: _wave(craft, t, v, size)

    return Option("law", {"control": law(1.0)}, {"control": law(1.3)})


def _law_with_memory(rng: np.random.Generator, mission: Mission) -> Option | None:
    if not len(_driven(mission.craft)):
        return None

    def law(rate: float) -> gs.Controller:
        return gs.Controller(
            lambda craft, t, q, v, z: _wave(craft, t, v, 0.5 + z[0]),
            np.zeros(1),
            lambda craft, t, q, v, z: rate * cos(t) - z,
        )

    return Option("law with memory", {"control": law(2.0)}, {"control": law(3.0)})


def _sampled_law(rng: np.random.Generator, mission: Mission) -> Option | None:
    if not len(_driven(mission.craft)):
        return None

    def law(period: float) -> gs.Controller:
        return gs.Controller(
            lambda craft, t, q, v, z: _wave(craft, t, v, 1.0 + 0.1 * z[0]),
            np.zeros(1),
            update=lambda craft, t, q, v, z: z + 1.0,
            period=period,
        )

    return Option("sampled law", {"control": law(0.1)}, {"control": law(0.07)})


def _noisy_law(rng: np.random.Generator, mission: Mission) -> Option | None:
    if not len(_driven(mission.craft)):
        return None

    def output(craft, t, q, v, run, sample, seed):
        return _wave(craft, t, v, 1.0 + 0.5 * gs.tracing.normal(seed, run, sample, 0))

    law = gs.Controller(output, period=0.1)
    return Option("noise", {"control": law, "seed": 2**53}, {"control": law, "seed": 2**53 + 1})


def _law_with_input(rng: np.random.Generator, mission: Mission) -> Option | None:
    if not len(_driven(mission.craft)):
        return None

    def law(craft, t, q, v, gain):
        return _wave(craft, t, v, gain)

    return Option("input", {"control": law, "inputs": {"gain": 1.0}}, {"control": law, "inputs": {"gain": 1.4}})


def _actuators(rng: np.random.Generator, mission: Mission) -> Option | None:
    if not any("control" in o.keywords for o in mission.options):
        return None
    return Option("actuators", {"actuators": gs.Actuators(lag=0.2)}, {"actuators": gs.Actuators(lag=0.3)})


# ---- what acts from outside


def _pull(rng: np.random.Generator, mission: Mission) -> Option | None:
    body = int(rng.integers(mission.craft.nbodies))
    if not _moves(mission.craft, body):
        return None
    wrench, name = rng.normal(size=6), mission.craft.bodies[body].name

    def pull(size: float) -> Callable[..., Any]:
        def wrenches(craft, t, q, v):
            rows = np.zeros((craft.nbodies, 6), dtype=np.asarray(v).dtype)
            rows[craft.index(name)] = [w * size * cos(2.0 * t) for w in wrench]
            return rows

        return wrenches

    return Option("pull", {"environment": pull(1.0)}, {"environment": pull(1.2)})


def _gravity(rng: np.random.Generator, mission: Mission) -> Option | None:
    g = rng.normal(size=3)
    if not len(mission.craft.at(Role.base)) and not any(_moves(mission.craft, k) for k in range(mission.craft.nbodies)):
        return None
    return Option(
        "gravity",
        {"environment": environment.uniform_gravity(g)},
        {"environment": environment.uniform_gravity(1.1 * g)},
    )


def _moves(craft: gs.Spacecraft, body: int) -> bool:
    """Whether any coordinate moves that body in every direction of interest: its own base or joint has some."""
    at = craft.bodies[body]
    return at.mass > 0 and any(craft.joint(b).nv >= 3 for b in _path(craft, at.name))


def _path(craft: gs.Spacecraft, body: str) -> list[str]:
    parents, found = dict(craft.base_to_tip), [body]
    while parents[found[-1]] is not None:
        found.append(parents[found[-1]])
    return found


# ---- joints that follow, and constraints


def _single(mission: Mission, rng: np.random.Generator) -> Any:
    joints = [j for j in mission.craft.joints if j.motion.single and not j.motion.spins]
    return joints[int(rng.integers(len(joints)))] if joints else None


def _prescribed(rng: np.random.Generator, mission: Mission) -> Option | None:
    joint = _single(mission, rng)
    if joint is None:
        return None

    def motion(size: float) -> Callable[..., Any]:
        return lambda t: np.array([size * cos(2.0 * t)])

    return Option("prescribed", {"prescribed": {joint.name: motion(1.0)}}, {"prescribed": {joint.name: motion(1.1)}})


def _locked(rng: np.random.Generator, mission: Mission) -> Option | None:
    joint = _single(mission, rng)
    if joint is None:
        return None
    v = mission.v.copy()
    v[joint.v_at] = 0.0
    return Option("locked", {"locked": [joint.name], "v": v}, None)


def _stops(rng: np.random.Generator, mission: Mission) -> Option | None:
    joint = _single(mission, rng)
    if joint is None or not np.isfinite(joint.limits.upper) or joint.name in mission.following:
        return None
    q, v = mission.q.copy(), mission.v.copy()
    q[joint.q_at], v[joint.v_at] = joint.limits.upper + 0.02, 0.1
    changed = {"stops": gs.Stops(stiffness=400.0)}
    return Option("stops", {"stops": gs.Stops(stiffness=300.0), "q": q, "v": v}, changed)


def _rod(rng: np.random.Generator, mission: Mission) -> Option | None:
    """Two bodies that are kept at the distance that they have."""
    craft = mission.craft
    movable = [b.name for k, b in enumerate(craft.bodies) if _moves(craft, k) and not b.joint.motion.spins]
    pairs = [
        (a, b) for a in movable for b in movable if a < b and a not in _path(craft, b) and b not in _path(craft, a)
    ]
    if not pairs:
        return None
    first, second = pairs[int(rng.integers(len(pairs)))]
    apart = gs.forward_kinematics(craft, mission.q).p_NB
    length = float(np.linalg.norm(apart[craft.index(first)] - apart[craft.index(second)]))
    elsewhere = gs.forward_kinematics(craft, random_state(craft, mission.seed + 2)[0]).p_NB
    other = float(np.linalg.norm(elsewhere[craft.index(first)] - elsewhere[craft.index(second)]))
    if length < 0.2 or abs(other - length) < 1e-9:  # where no joint changes it, a rod does nothing
        return None
    rod = constraints.distance(first, second, length)
    q, v = constraints.project(craft, START, mission.q, mission.v, [rod])
    return Option("rod", {"constraints": [rod], "q": q, "v": v}, None)


# ---- other masses, jumps


def _mass(rng: np.random.Generator, mission: Mission) -> Option | None:
    # a body that may fly off in any direction does so whatever its mass
    loose = ("cartesian", "free")
    bodies = enumerate(mission.craft.bodies)
    heavy = [k for k, body in bodies if _moves(mission.craft, k) and body.joint.kind not in loose]
    heavy = [k for k in heavy if not mission.craft.flexible(mission.craft.bodies[k].name)]
    if not heavy:
        return None
    body = mission.craft.bodies[heavy[int(rng.integers(len(heavy)))]]
    name = f"{body.name}.mass"
    if not _matters(mission, name, 1.2 * body.mass):
        return None
    return Option("mass", {"parameters": {name: 1.1 * body.mass}}, {"parameters": {name: 1.2 * body.mass}})


def _place(rng: np.random.Generator, mission: Mission) -> Option | None:
    """A joint that stands elsewhere; not in MAKERS, for what places the craft once."""
    craft = mission.craft
    roots = {body.name for body in craft.roots}
    joints = [
        b.joint for b in craft.bodies if b.parent and b.name not in roots and not b.joint.motion.spins and b.joint.nv
    ]
    if not joints or craft.bends:
        return None
    name = f"{joints[int(rng.integers(len(joints)))].name}.position"
    usual, other = (np.asarray(craft.value(name)) + size * rng.normal(size=3) for size in (0.1, 0.2))
    if not _matters(mission, name, other):
        return None
    return Option("place", {"parameters": {name: usual}}, {"parameters": {name: other}})


def _matters(mission: Mission, name: str, value: Any) -> bool:
    """Whether the craft left to itself moves otherwise then: a base whose arm slides anywhere turns as without it."""
    craft, rng = mission.craft, np.random.default_rng(mission.seed)
    q, v = mission.q, mission.v + rng.normal(size=craft.nv)
    own, other = (
        gs.forward_dynamics(c, q, v, passive_forces(c, q, v)) for c in (craft, craft.with_values({name: value}))
    )
    return bool(np.abs(own - other).max() > 1e-6)


def _frequency(rng: np.random.Generator, mission: Mission) -> Option | None:
    bent = [body.name for body in mission.craft.bodies if mission.craft.flexible(body.name)]
    if not bent:
        return None
    name = f"{bent[0]}.mode_1.{rng.choice(['frequency', 'damping_ratio'])}"
    own = mission.craft.value(name) or 0.01
    return Option("frequency", {"parameters": {name: 1.1 * own}}, {"parameters": {name: 1.3 * own}})


def _told_shape(rng: np.random.Generator, mission: Mission) -> Option | None:
    """Modal coordinates that move as they are told, or that are held."""
    bent = [mission.craft.flexible(body.name) for body in mission.craft.bodies if mission.craft.flexible(body.name)]
    if not bent:
        return None
    modes = bent[0].modes
    if rng.random() < 0.5:
        v = mission.v.copy()
        v[modes.v_at] = 0.0
        return Option("held shape", {"locked": [modes.name], "v": v}, None)

    def motion(size: float) -> Callable[..., Any]:
        return lambda t: np.array([size * cos(2.0 * t + k) for k in range(modes.nv)])

    return Option("told shape", {"prescribed": {modes.name: motion(1.0)}}, {"prescribed": {modes.name: motion(1.2)}})


def _kick(rng: np.random.Generator, mission: Mission) -> Option | None:
    dv = 0.1 * rng.normal(size=mission.craft.nv)

    def event(size: float) -> gs.When:
        return gs.When(
            lambda craft, t, q, v: t - START - 0.25, "kick", effect=lambda craft, t, q, v: (q, v + size * dv)
        )

    return Option("kick", {"events": [event(1.0)]}, {"events": [event(1.5)]})


# ---- what must not change the motion


def _formulation(rng: np.random.Generator, mission: Mission) -> Option | None:
    return Option("formulation", {"formulation": "dual_quaternion"}, {"formulation": "lie_lagrange"}, STAYS)


def _integrator(rng: np.random.Generator, mission: Mission) -> Option | None:
    return Option("integrator", {"integrator": "dop853"}, {"integrator": "gauss16"}, STAYS)


def _breakpoint(rng: np.random.Generator, mission: Mission) -> Option | None:
    return Option("breakpoints", {"breakpoints": [START + 0.31]}, {"breakpoints": [START + 0.17]}, STAYS)


def _conserve(rng: np.random.Generator, mission: Mission) -> Option | None:
    return Option("conserve", {"conserve": "momentum"}, {}, STAYS)


def _mode(rng: np.random.Generator, mission: Mission) -> Option | None:
    return Option("mode", {"mode": str(rng.choice(["floating", "flying"]))}, {}, STAYS)


MAKERS: tuple[Callable[[np.random.Generator, Mission], Option | None], ...] = (
    _law,
    _law_with_memory,
    _sampled_law,
    _noisy_law,
    _law_with_input,
    _actuators,
    _pull,
    _gravity,
    _prescribed,
    _locked,
    _stops,
    _rod,
    _mass,
    _kick,
    _formulation,
    _integrator,
    _breakpoint,
    _conserve,
    _mode,
)
OF_SHAPES = (_frequency, _told_shape)
LATE = ("_actuators", "_stops")  # these depend on what else there is
EXTERNAL = {_pull, _gravity}
