"""The environments under their names: `gymnasium.make("gyrostat/Reach-v0")` and `gymnasium.make_vec(...)`."""

from __future__ import annotations

from typing import Any

import gymnasium

from .capture import Capture
from .detumble import Detumble
from .reach import Reach, ReactionlessReach
from .single import TaskEnv
from .task import AbstractTask
from .vector import TaskVectorEnv

# names of the environments, and the task of each
TASKS: dict[str, type[AbstractTask]] = {
    "gyrostat/Reach-v0": Reach,
    "gyrostat/ReactionlessReach-v0": ReactionlessReach,
    "gyrostat/Detumble-v0": Detumble,
    "gyrostat/Capture-v0": Capture,
}
# options of an environment; whatever else is given goes to the task
OF_ENVIRONMENT = ("horizon", "mass_dispersion", "substeps", "threads", "render_mode")
OF_VECTOR = ("max_episode_steps", "autoreset_mode")


def single(task: str, **options: Any) -> TaskEnv:
    """One environment with the task of that name."""
    own = {name: options.pop(name) for name in OF_ENVIRONMENT if name in options}
    return TaskEnv(TASKS[task](**options), **own)


def vector(task: str, num_envs: int = 1, **options: Any) -> TaskVectorEnv:
    """Environments side by side with the task of that name."""
    own = {name: options.pop(name) for name in OF_ENVIRONMENT + OF_VECTOR if name in options}
    return TaskVectorEnv(TASKS[task](**options), num_envs, **own)


def register_all() -> None:
    """Once: names that are known stay as they are."""
    for name in TASKS:
        if name not in gymnasium.registry:
            gymnasium.register(
                name,
                entry_point="gyrostat.gym.registration:single",
                vector_entry_point="gyrostat.gym.registration:vector",
                kwargs={"task": name},
            )
