"""Any law of the library on any craft, alone or on members of craft put together, in one run or in phases: it moves
what has a motor, nothing else, and everything that happens is accounted for; or it is refused by name.
"""

from __future__ import annotations

import inspect
import os
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import control
from gyrostat.model import Role
from laws import internal_laws, servicer_like, state
from random_trees import BASES

# laws are long to compile: a twelfth of the cases that `make seams` asks for
CASES = max(6, int(os.environ.get("GYROSTAT_SEAMS", "0")) // 12)
FIRST = int(os.environ.get("GYROSTAT_SEAMS_FIRST", "0"))
START, CUT, END = 2.5, 2.65, 2.8  # s; not zero, so that forgotten offsets of time show


@dataclass(frozen=True)
class Case:
    craft: gs.Spacecraft
    q: np.ndarray
    v: np.ndarray
    laws: dict[str, Any]  # by member, or "" for a craft by itself
    names: str
    options: dict[str, Any]

    def law(self, scale: float = 1.0) -> Any:
        scaled = {member: scaled_law(law, scale) for member, law in self.laws.items()}
        return scaled[""] if "" in scaled else control.on(scaled)

    def __str__(self) -> str:
        joints = ", ".join(f"{j.name}:{j.kind}" for j in self.craft.joints)
        return f"{self.names} with {sorted(self.options)} on {joints}"


def scaled_law(law: Any, scale: float) -> Any:
    """The same law whose loads are so much larger."""
    if scale == 1.0:
        return law
    if isinstance(law, gs.Controller):
        return replace(law, output=scaled_law(law.output, scale))

    def larger(*state: Any, **asked: Any) -> Any:
        return scale * np.asarray(law(*state, **asked))

    larger.__signature__ = inspect.signature(law)  # type: ignore[attr-defined]
    return larger


def drawn(seed: int) -> Case:
    rng = np.random.default_rng([seed, 5])
    crafts = []
    for k in range(2 if rng.random() < 0.4 else 1):
        base = "free" if rng.random() < 0.6 else str(rng.choice(BASES))
        options = {"panels": int(rng.integers(3)), "wheels": int(rng.choice([0, 3, 4])), "gyros": rng.random() < 0.2}
        bends = np.random.default_rng([seed, k]).random() < 0.25
        crafts.append(servicer_like(2 * seed + k, base=base, arm=int(rng.integers(2, 5)), bends=bends, **options))
    laws, names = {}, []
    for one in crafts:
        if one is crafts[0] or rng.random() < 0.6:
            every = internal_laws(one)
            name = str(rng.choice(sorted(every)))
            laws["" if len(crafts) == 1 else one.name] = every[name]
            names.append(f"{name} on {one.name}")
    craft = crafts[0] if len(crafts) == 1 else gs.together("pair", crafts)
    q, v = state(craft, seed, speed=0.2)
    chosen = {
        "actuators": gs.Actuators(saturate=False, lag=0.1),
        "environment": gs.environment.uniform_gravity(rng.normal(size=3)),
        "integrator": "gauss16",
        "locked": [f"{crafts[0].name}.j0" if len(crafts) > 1 else "j0"],
        "mode": "floating",
    }
    options = {name: chosen[name] for name in chosen if rng.random() < 0.25}
    if "locked" in options:
        v[craft.joint_named(options["locked"][0]).v_at] = 0.0
    return Case(craft, q, v, laws, " and ".join(names), options)


def run(case: Case, scale: float = 1.0, finer: float = 1.0) -> gs.Trajectory | str:
    """The run, or the words in which it is refused. finer: tolerances divided by it."""
    options = {
        "rtol": 1e-11 / finer,
        "atol": 1e-12 / finer,
        "save_at": [START, CUT, END],
        "progress": False,
        **case.options,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gs.SimulationWarning)
        try:
            return gs.simulate(case.craft, case.q, case.v, (START, END), control=case.law(scale), **options)
        except ValueError as error:
            assert len(str(error)) > 40, str(error)
            return str(error)


@pytest.mark.parametrize("seed", range(FIRST, FIRST + CASES))
def test_a_law_moves_what_has_a_motor_and_everything_balances_in_one_run_and_in_phases(seed):
    case = drawn(seed)
    whole = run(case)
    if isinstance(whole, str):
        return
    assert whole.ok and whole.audit.worst < 1e-9, (str(case), whole.failures, str(whole.audit))
    craft = case.craft
    idle = craft.at(Role.base, Role.passive, Role.modal)
    assert not whole.signals["command"].values[:, idle].any(), str(case)
    if len(case.laws) < len(craft.members):
        (other,) = [m for m in craft.members if m.name not in case.laws]
        assert not whole.signals["command"].values[:, other.v_at].any(), str(case)
    bases = [m.craft.joints[0].kind for m in craft.members] or [craft.joints[0].kind]
    if set(bases) == {"free"} and "environment" not in case.options:
        h = whole.momentum()
        assert np.abs(h - h[0]).max() < 1e-8 * (1.0 + np.abs(h).max()), (str(case), np.abs(h - h[0]).max())
    stronger = run(case, 1.3)
    assert not isinstance(stronger, str) and np.abs(stronger.v[-1] - whole.v[-1]).max() > 1e-7, str(case)
    size = 1.0 + np.abs(whole.v).max()
    near, far = 1e-8 * size, _apart(whole, cut(case))
    if far > near:  # a law near a singular pose multiplies the tolerances: by how much, finer ones tell
        sharper = run(case, finer=10.0)
        near, far = near + 10.0 * _apart(whole, sharper), _apart(sharper, cut(case, finer=10.0))
    assert near < 1e-4 * size and far < near, (str(case), far, near)


def cut(case: Case, finer: float = 1.0) -> gs.Trajectory:
    """The run in two phases."""
    phases = [gs.Phase(CUT - START, "first"), gs.Phase(END - CUT, "second")]
    options = {"save_at": [START, CUT, END], "progress": False, **case.options}
    options |= {"rtol": 1e-11 / finer, "atol": 1e-12 / finer, "control": case.law()}
    return gs.simulate_phases(case.craft, case.q, case.v, phases, t0=START, **options).trajectory


def _apart(one: gs.Trajectory, other: gs.Trajectory) -> float:
    """At the end."""
    return max(np.abs(one.q[-1] - other.q[-1]).max(), np.abs(one.v[-1] - other.v[-1]).max())


def test_most_laws_are_accepted_and_every_one_is_drawn():
    assert sum(not isinstance(run(drawn(seed)), str) for seed in range(4)) >= 2
    names = {part.split(" on ")[0] for seed in range(400) for part in drawn(seed).names.split(" and ")}
    every = set(internal_laws(servicer_like(1, panels=0, gyros=True))) | set(internal_laws(servicer_like(1)))
    assert names == every
