"""Random formations of two or three members under random combinations of what `gs.simulate` can be told.

Every group has options of its own, made as for one craft (random_missions.py); some see others: by a tether (an
environment), by a law, by a law that takes samples, by an event.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import gyrostat as gs
import random_missions as missions
from gyrostat.algebra import rotation
from random_missions import END, MOVES, START, STAYS, Mission, Option
from random_trees import random_spacecraft, random_state

KINDS = ("revolute", "prismatic", "spherical", "universal", "planar", "cylindrical", "wheel")
OF_ALL = ("integrator", "breakpoints", "seed")  # options of the clock
EACH = ("inputs", "parameters")  # one number for a craft, one for each member of a group
OWN_START = {"_rod", "_stops", "_locked"}  # they place one craft


@dataclass(frozen=True)
class FormationMission:
    """options: (group, option); external: groups on which something acts from outside the formation."""

    seed: int
    formation: gs.Formation
    state: dict[str, tuple[np.ndarray, np.ndarray]]
    options: tuple[tuple[str, Option], ...]
    external: frozenset[str] = frozenset()

    def keywords(self, changed: tuple[str, str] = ("", "")) -> dict[str, Any]:
        given: dict[str, Any] = {"rtol": 1e-11, "atol": 1e-13, "save_at": np.linspace(START, START + END, 7)}
        for g, option in self.options:
            words = (option.keywords if (g, option.name) != changed else option.changed) or {}
            for name, value in words.items():
                if name in OF_ALL:
                    given[name] = value
                elif name in EACH:
                    count = len(self.formation.groups[g])
                    given.setdefault(name, {})[g] = {n: np.full(count, x) for n, x in value.items()}
                else:
                    given.setdefault(name, {})[g] = value
        return given

    def run(self, changed: tuple[str, str] = ("", ""), **more: Any) -> gs.FormationTrajectory:
        return self.fly(self.state, **{**self.keywords(changed), **more})

    def fly(self, state: Any, **options: Any) -> Any:
        return gs.simulate(self.formation, state, (START, START + END), progress=False, **options)

    def mission(self, g: str) -> Mission:
        """What one group was told, as a mission of its first member."""
        q, v = self.state[g]
        own = tuple(option for group, option in self.options if group == g)
        return Mission(self.seed, self.formation.groups[g].craft, q[0], v[0], own)

    def __str__(self) -> str:
        told = "; ".join(f"{g}: {', '.join(o.name for h, o in self.options if h == g)}" for g in self.formation.groups)
        return f"seed {self.seed}: {self.formation!r}; {told}"


def random_formation(seed: int) -> FormationMission:
    rng = np.random.default_rng([seed, 1889])
    formation = _members(seed, rng)
    starts = {name: random_state(formation.craft(name), seed + 10 * k, 0.4) for k, name in enumerate(formation)}
    for k, (q, _) in enumerate(starts.values()):
        q[4:7] += 3.0 * np.array([k, 0.5 * k, -k])
    mission = FormationMission(seed, formation, formation.state(starts), ())
    for maker in rng.permutation(np.array(SEEING, dtype=object))[: int(rng.integers(1, 3))]:
        mission = maker(rng, mission)
    for g in formation.groups:
        mission = _with_own(rng, mission, g)
    return mission


def _members(seed: int, rng: np.random.Generator) -> gs.Formation:
    """Two craft of their own, or twins of different masses and a third one."""
    first, second = (
        missions._dressed(random_spacecraft(seed + k, links=int(rng.integers(1, 4)), kinds=KINDS, base="free"), rng)
        for k in (7000, 8000)
    )
    if rng.random() < 0.5:
        return gs.Formation({"one": gs.Group(first, ["one"]), "two": gs.Group(second, ["two"])})
    mass = first.bodies[0].mass
    twins = gs.Group(first, ["one", "other"], {"base.mass": np.array([mass, 1.3 * mass])})
    return gs.Formation({"twins": twins, "two": gs.Group(second, ["two"])})


def _with_own(rng: np.random.Generator, mission: FormationMission, g: str) -> FormationMission:
    """Some options of one group."""
    makers = [m for m in missions.MAKERS if m.__name__ != "_conserve"]
    if len(mission.formation.groups[g]) > 1:
        makers = [m for m in makers if m.__name__ not in OWN_START]
    chosen = [makers[k] for k in rng.permutation(len(makers))[: int(rng.integers(1, 5))]]
    for maker in sorted(chosen, key=lambda m: m.__name__ in missions.LATE):
        own = mission.mission(g)
        taken = {name for o in own.options for name in o.keywords}
        taken |= {name for _, o in mission.options for name in o.keywords if name in OF_ALL}
        option = maker(rng, own)
        if option is None or taken & set(option.keywords):
            continue
        state = dict(mission.state)
        if "q" in option.keywords or "v" in option.keywords:
            q, v = option.keywords.pop("q", own.q), option.keywords.pop("v", own.v)
            state[g] = (q[None], v[None])
        outside = {g} if maker in missions.EXTERNAL else set()
        mission = replace(
            mission,
            state=state,
            options=(*mission.options, (g, option)),
            external=mission.external | outside,
        )
    return mission


# ---- who sees whom


def _mates(formation: gs.Formation) -> dict[str, Any]:
    """Of each group: whom its members see as their mate."""
    if "twins" in formation.groups:
        return {"twins": {"one": "other", "other": "one"}, "two": "one"}
    return {"one": "two", "two": "one"}


def _tether(rng: np.random.Generator, mission: FormationMission) -> FormationMission:
    """A spring and a damper between the bases of two members, equal and opposite."""
    stiff, damp = rng.uniform(1, 5), rng.uniform(0, 1)

    def pull(size: float) -> Callable[..., Any]:
        def wrenches(craft, t, q, v, q_mate, v_mate):
            R, R_mate = rotation(q[:4]), rotation(q_mate[:4])
            force = size * stiff * (q_mate[4:7] - q[4:7]) + damp * (R_mate @ v_mate[3:6] - R @ v[3:6])
            rows = np.zeros((craft.nbodies, 6), dtype=np.asarray(force).dtype)
            rows[0, 3:] = R.T @ force
            return rows

        return wrenches

    mates = _mates(mission.formation)
    groups = ["twins"] if "twins" in mates else ["one", "two"]
    added = []
    for g in groups:
        usual, other = (gs.Coupling(pull(size), {"mate": mates[g]}) for size in (1.0, 1.2))
        added.append((g, Option("tether", {"environment": usual}, {"environment": other})))
    return replace(mission, options=(*mission.options, *added))


def _seeing_law(rng: np.random.Generator, mission: FormationMission) -> FormationMission:
    def law(size: float) -> gs.Coupling:
        def output(craft, t, q, v, q_mate, v_mate):
            return missions._wave(craft, t, v, size * (0.2 * (q_mate[4] - q[4]) + v_mate[0]))

        return gs.Coupling(output, mates)

    g, mates = _driven_group(rng, mission)
    return mission if g is None else _with_law(mission, g, "seeing law", law(1.0), law(1.3))


def _seeing_memory(rng: np.random.Generator, mission: FormationMission) -> FormationMission:
    def law(size: float) -> gs.Coupling:
        controller = gs.Controller(
            lambda craft, t, q, v, z: missions._wave(craft, t, v, 0.5 + z[0]),
            np.zeros(1),
            lambda craft, t, q, v, z, q_mate: size * (q_mate[5] - q[5]) - z,
        )
        return gs.Coupling(controller, mates)

    g, mates = _driven_group(rng, mission)
    return mission if g is None else _with_law(mission, g, "seeing memory", law(1.0), law(1.3))


def _seeing_samples(rng: np.random.Generator, mission: FormationMission) -> FormationMission:
    def law(period: float) -> gs.Coupling:
        controller = gs.Controller(
            lambda craft, t, q, v, z, q_mate: missions._wave(craft, t, v, 0.3 * (q_mate[4] - q[4]) + 0.1 * z[0]),
            np.zeros(1),
            update=lambda craft, t, q, v, z, v_mate: z + 1.0 + v_mate[1],
            period=period,
        )
        return gs.Coupling(controller, mates)

    g, mates = _driven_group(rng, mission)
    return mission if g is None else _with_law(mission, g, "seeing samples", law(0.11), law(0.07))


def _seeing_event(rng: np.random.Generator, mission: FormationMission) -> FormationMission:
    """Which happens or not, and changes nothing."""

    def distance(craft, t, q, v, q_mate):
        gap = q_mate[4:7] - q[4:7]
        return gap @ gap - 12.0

    g = "two"
    event = gs.Coupling(gs.When(distance, "near"), {"mate": _mates(mission.formation)[g]})
    return replace(mission, options=(*mission.options, (g, Option("seeing event", {"events": event}, {}, STAYS))))


def _driven_group(rng: np.random.Generator, mission: FormationMission) -> tuple[str | None, dict[str, Any]]:
    """One that has motors and no law yet, and whom its members see."""
    ruled = {g for g, o in mission.options if "control" in o.keywords}
    groups = [
        g for g, group in mission.formation.groups.items() if len(missions._driven(group.craft)) and g not in ruled
    ]
    if not groups:
        return None, {}
    g = groups[int(rng.integers(len(groups)))]
    return g, {"mate": _mates(mission.formation)[g]}


def _with_law(mission: FormationMission, g: str, name: str, usual: Any, other: Any) -> FormationMission:
    option = Option(name, {"control": usual}, {"control": other}, MOVES)
    return replace(mission, options=(*mission.options, (g, option)))


SEEING = (_tether, _seeing_law, _seeing_memory, _seeing_samples, _seeing_event)
