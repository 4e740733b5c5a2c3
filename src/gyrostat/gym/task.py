"""What an environment asks for: the craft, what its motors can do, how episodes start, what is seen and what it is
worth."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..algebra import Array
from ..algebra.reals import reals
from ..kinematics import configuration_difference, neutral
from ..model import Role, Spacecraft

OBSERVATION = "observation"  # among what `measure` returns; everything else there is a figure


@dataclass(frozen=True, eq=False)
class Start:
    """Of one episode: state, and what the task keeps in mind (a goal), all drawn from one generator."""

    q: Array
    v: Array
    goal: Array


class AbstractTask(ABC):
    """A task of a craft whose motors are told by actions in [-1, 1].

    craft: everything that moves. motors: places in v that actions act on. full: the load of action 1 on each, N m or N.
    locked: joints that are held. step: seconds that an action is held.
    """

    horizon: ClassVar[float]  # s, unless told otherwise
    goal: ClassVar[int]  # numbers that `Start.goal` holds
    bonus: ClassVar[float] = 10.0  # reward of success, which ends the episode
    failure: ClassVar[float] = -100.0  # reward of a run that the integrator could not go on with, which ends it too
    craft: Spacecraft
    motors: Array
    full: Array
    locked: tuple[str, ...] = ()
    step: float

    @abstractmethod
    def draw(self, generator: np.random.Generator) -> Start:
        """How an episode starts."""

    @abstractmethod
    def measure(self, craft: Spacecraft, q: Array, v: Array, goal: Array, action: Array) -> dict[str, Any]:
        """What is seen, and figures by name; traced and compiled, so that it does not depend on who stands beside."""

    @abstractmethod
    def reward(self, figures: Mapping[str, Array]) -> Array:
        """(runs,), without what success and failure add."""

    @abstractmethod
    def success(self, figures: Mapping[str, Array]) -> Array:
        """(runs,) truth values."""

    @property
    def rate_limits(self) -> Array:
        """Beyond which a motor gives no load that would speed it up further."""
        return np.array([_joint_at(self.craft, k).limits.velocity for k in self.motors])


def positive(value: Any, what: str, unit: str = "s") -> float:
    """The number, or a ValueError."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not 0.0 < value < np.inf:
        raise ValueError(f"{what} is {value!r:.60}; expected a positive number of {unit}.")
    return float(value)


def whole(value: Any, what: str) -> None:
    """A ValueError unless it is a number of things, one at least."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise ValueError(f"{what} is {value!r:.60}; expected a whole number, one at least.")


def share(value: Any, what: str, most: float = np.inf) -> float:
    """A number from 0 to below `most`, or a ValueError."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not 0.0 <= value < most:
        below = "" if most == np.inf else f" and below {most:g}"
        raise ValueError(f"{what} is {value!r:.60}; expected a number not below 0{below}.")
    return float(value)


def spacecraft(craft: Any, what: str = "craft") -> Spacecraft:
    """The craft, free in space, or an error that says what is wrong with it."""
    if not isinstance(craft, Spacecraft):
        raise TypeError(f"{what} is {craft!r:.60}; expected a Spacecraft: gs.load(file), or one of gs.models.")
    if len(craft.roots) != 1 or craft.memberships:
        raise ValueError(f"{what}: {craft.name} holds several spacecraft; expected one.")
    if craft.joint(craft.base).nv != 6:
        raise ValueError(f"{what}: the base of {craft.name} is not free; expected a free base, which recoils.")
    return craft


def configuration(craft: Spacecraft, q: Any, what: str = "pose") -> Array:
    """As given, by name or as numbers; neutral where nothing is."""
    if q is None:
        return np.asarray(neutral(craft), dtype=float)
    found = reals(craft.q(q), what)
    if found.shape != (craft.nq,) or not np.isfinite(found).all():
        raise ValueError(f"{what} has shape {found.shape}; expected {craft.nq} finite numbers, a q of {craft.name}.")
    return found


def displacements(craft: Spacecraft, q: Array, at: Sequence[int] | Array) -> Array:
    """Of joints from neutral, in the places `at` of v: angles of hinges, lengths of slides."""
    return configuration_difference(craft, neutral(craft), q)[list(at)]


def motors_of(craft: Spacecraft, role: Role, what: str) -> Array:
    """Where motors of that role stand in v."""
    found = np.asarray(craft.at(role), dtype=int)
    if not len(found):
        raise ValueError(f"{what}: {craft.name} has no coordinate that is '{role}'; the task has nothing to act with.")
    return found


def joints_at(craft: Spacecraft, places: Array) -> tuple[str, ...]:
    """Names of the joints there, each once."""
    return tuple(dict.fromkeys(_joint_at(craft, k).name for k in places))


def effort_limits(craft: Spacecraft, places: Array) -> Array:
    return np.array([_joint_at(craft, k).limits.effort for k in places])


def _joint_at(craft: Spacecraft, place: int) -> Any:
    return next(joint for joint in craft.joints if place in range(craft.nv)[joint.v_at])
