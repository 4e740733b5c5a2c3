"""Environments side by side, in one compiled simulation. Environment i is `TaskEnv` with the i-th seed, bit for bit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.utils.seeding import np_random
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from ..algebra import Array
from .episodes import Episodes, Seen
from .single import action_space, observation_space, refuse_options, refuse_rendering
from .task import AbstractTask, whole


class TaskVectorEnv(VectorEnv[Array, Array, Array]):
    """`TaskVectorEnv(Reach(), 1024)`; options are those of `Episodes`.

    max_episode_steps: truncates earlier than `horizon`, if less. autoreset_mode: as Gymnasium defines it. NEXT_STEP:
    the step after the last of an episode resets that environment, whose action is ignored, with reward 0; SAME_STEP:
    the last step does, `infos["final_obs"]` and `infos["final_info"]` hold what it showed; DISABLED: reset it with
    `reset(options={"reset_mask": truth values})`.
    """

    def __init__(
        self,
        task: AbstractTask,
        num_envs: int = 1,
        *,
        max_episode_steps: int | None = None,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        refuse_rendering(render_mode)
        whole(num_envs, "num_envs")
        if max_episode_steps is not None:
            whole(max_episode_steps, "max_episode_steps")
        self.num_envs, self.task, self.render_mode = int(num_envs), task, None
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {"render_modes": [], "autoreset_mode": self.autoreset_mode}
        self._episodes = Episodes(task, self.num_envs, **options)
        self._most = min(self._episodes.steps, max_episode_steps or self._episodes.steps)
        self.single_action_space = action_space(self._episodes)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.single_observation_space = observation_space(self._episodes)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self._generators = [np_random(None) for _ in range(self.num_envs)]  # (generator, its seed)
        self._steps = np.zeros(self.num_envs, dtype=int)
        self._over = np.ones(self.num_envs, dtype=bool)
        self._started = False

    @property  # type: ignore[misc]
    def np_random(self) -> tuple[np.random.Generator, ...]:  # type: ignore[override]
        return tuple(generator for generator, _ in self._generators)

    @property
    def np_random_seed(self) -> tuple[int, ...]:  # type: ignore[override]
        return tuple(seed for _, seed in self._generators)

    # ---- starts

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """seed: s gives environment i the seed s + i; or one for each. options["reset_mask"]: which, (n,) bools."""
        rest = dict(options or {})
        chosen = self._masked(rest.pop("reset_mask", None))
        refuse_options(rest)
        for k, own in enumerate(self._seeds(seed)):
            if own is not None and chosen[k]:
                self._generators[k] = np_random(own)
        if not chosen.all() and not self._started:
            raise ValueError("the first reset gives all environments a start: leave out reset_mask.")
        self._begin(chosen)
        self._started = True
        seen = self._episodes.look()
        return seen.observation.copy(), infos(seen, chosen)

    def _begin(self, chosen: Array) -> None:
        self._episodes.begin(np.flatnonzero(chosen), self.np_random)
        self._steps[chosen], self._over[chosen] = 0, False

    def _masked(self, mask: Any) -> Array:
        if mask is None:
            return np.ones(self.num_envs, dtype=bool)
        found = np.asarray(mask)
        if found.dtype != bool or found.shape != (self.num_envs,) or not found.any():
            raise ValueError(f"reset_mask is {mask!r:.60}; expected {self.num_envs} truth values, one of them true.")
        return found

    def _seeds(self, seed: Any) -> list[int | None]:
        if seed is None or isinstance(seed, (int, np.integer)):
            return [None if seed is None else int(seed) + k for k in range(self.num_envs)]
        if len(seed) != self.num_envs:
            raise ValueError(f"there are {len(seed)} seeds; expected one, or {self.num_envs}.")
        return list(seed)

    # ---- going on

    def step(self, actions: Array) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        if not self._started:
            raise RuntimeError("the environments have no start: call reset first.")
        idle = self._over.copy()
        if idle.any() and self.autoreset_mode is AutoresetMode.DISABLED:
            which = np.flatnonzero(idle)[:8].tolist()
            raise RuntimeError(
                f"episodes of environments {which} are over: reset(options={{'reset_mask': ...}}) first."
            )
        seen = self._episodes.go_on(self._episodes.actions(actions), idle)
        self._steps += 1
        truncated = (self._steps >= self._most) & ~idle
        if idle.any():  # this step was their reset
            self._begin(idle)
            seen = mixed(seen, self._episodes.look(), idle)
        self._over = seen.terminated | truncated
        said = infos(seen, np.ones(self.num_envs, dtype=bool))
        observation, over = seen.observation.copy(), self._over.copy()
        if over.any() and self.autoreset_mode is AutoresetMode.SAME_STEP:
            said = final_infos(seen, over)
            self._begin(over)
            first = self._episodes.look()
            observation[over] = first.observation[over]
            said |= infos(mixed(seen, first, over), np.ones(self.num_envs, dtype=bool))
        return observation, seen.reward.copy(), seen.terminated.copy(), truncated, said


def mixed(seen: Seen, first: Seen, begun: Array) -> Seen:
    """As seen, but for those that begin: nothing is rewarded, nothing is over."""
    figures = {name: np.where(begun, first.figures[name], values) for name, values in seen.figures.items()}
    return Seen(
        np.where(begun[:, None], first.observation, seen.observation),
        np.where(begun, 0.0, seen.reward),
        seen.terminated & ~begun,
        figures,
    )


def infos(seen: Seen, of: Array) -> dict[str, Any]:
    """As Gymnasium lays them out: an array for each figure, and "_figure" says whose it is."""
    found: dict[str, Any] = {}
    for name, values in seen.figures.items():
        found[name], found[f"_{name}"] = np.where(of, values, np.zeros_like(values)), of.copy()
    return found


def final_infos(seen: Seen, over: Array) -> dict[str, Any]:
    """What the last step of those that are over showed."""
    last = np.full(len(over), None, dtype=object)
    for k in np.flatnonzero(over):
        last[k] = seen.observation[k].copy()
    return {"final_obs": last, "_final_obs": over.copy(), "final_info": infos(seen, over), "_final_info": over.copy()}
