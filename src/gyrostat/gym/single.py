"""One environment: the same episodes as `TaskVectorEnv`, of one run."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from ..algebra import Array
from .episodes import Episodes, Seen
from .task import AbstractTask


class TaskEnv(gymnasium.Env[Array, Array]):
    """`TaskEnv(Reach(), horizon=20.0)`; options are those of `Episodes`. Same seed, same bits."""

    def __init__(self, task: AbstractTask, *, render_mode: str | None = None, **options: Any) -> None:
        refuse_rendering(render_mode)
        self.metadata, self.render_mode = {"render_modes": []}, None
        self._episodes = Episodes(task, 1, **options)
        self.task = task
        self.action_space = action_space(self._episodes)
        self.observation_space = observation_space(self._episodes)
        self._steps = -1  # of the episode; before the first none

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        super().reset(seed=seed)
        refuse_options(options)
        self._episodes.begin(np.arange(1), [self.np_random])
        self._steps = 0
        seen = self._episodes.look()
        return seen.observation[0].copy(), info(seen)

    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        if self._steps < 0:
            raise gymnasium.error.ResetNeeded("the environment has no start, or its episode is over: call reset first.")
        seen = self._episodes.go_on(self._episodes.actions(np.asarray(action)[None]), np.zeros(1, dtype=bool))
        self._steps += 1
        terminated, truncated = bool(seen.terminated[0]), self._steps >= self._episodes.steps
        if terminated or truncated:
            self._steps = -1
        return seen.observation[0].copy(), float(seen.reward[0]), terminated, truncated, info(seen)


def info(seen: Seen) -> dict[str, Any]:
    return {name: values[0].item() for name, values in seen.figures.items()}


def action_space(episodes: Episodes) -> gymnasium.spaces.Box:
    return gymnasium.spaces.Box(-1.0, 1.0, (len(episodes.task.motors),), np.float32)


def observation_space(episodes: Episodes) -> gymnasium.spaces.Box:
    """Rates and ways know no bound; what is seen is never cut."""
    return gymnasium.spaces.Box(-np.inf, np.inf, (episodes.observation_size,), np.float64)


def refuse_rendering(mode: str | None) -> None:
    if mode is not None:
        raise ValueError(f"render_mode is {mode!r}; environments of gyrostat draw nothing. Use Trajectory.to_html.")


def refuse_options(options: dict[str, Any] | None) -> None:
    if options:
        raise ValueError(
            f"reset options {', '.join(map(repr, options))} are not known; options are given when it is made."
        )
