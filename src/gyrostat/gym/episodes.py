"""Runs of one task side by side: starts are drawn, actions become loads, what came of them is measured."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..algebra import Array
from ..simulation import Simulation, SimulationWarning
from ..tracing import compile
from .task import OBSERVATION, AbstractTask, positive, share, whole


class Seen(NamedTuple):
    """Of all runs, (runs, ...). figures: those of the task, and is_success, failed."""

    observation: Array
    reward: Array
    terminated: Array
    figures: dict[str, Array]


class Episodes:
    """`runs` of them, each at its own time of its own episode.

    horizon: s, after which an episode is truncated. mass_dispersion: mass and inertia of each body are scaled, both
    alike, by a factor drawn from 1 +- this for each episode. substeps: RK4 steps within an action.
    """

    def __init__(
        self,
        task: AbstractTask,
        runs: int,
        *,
        horizon: float | None = None,
        mass_dispersion: float = 0.0,
        substeps: int = 4,
        threads: int | None = None,
    ) -> None:
        if not isinstance(task, AbstractTask):
            raise TypeError(f"task is {task!r:.60}; expected one of gyrostat.gym: Reach(), Detumble() ...")
        whole(substeps, "substeps")
        self.task, self.runs = task, runs
        self.dispersion = share(mass_dispersion, "mass_dispersion", 1.0)
        horizon = task.horizon if horizon is None else positive(horizon, "horizon")
        self.steps = round(horizon / task.step)
        if self.steps < 1 or abs(self.steps * task.step - horizon) > 1e-9 * horizon:
            raise ValueError(f"horizon is {horizon} s; expected a multiple of step, {task.step} s.")
        craft = task.craft
        heavy = [body.name for body in craft.bodies if body.mass > 0 and not body.joint.motion.spins]
        self._bodies = heavy if self.dispersion else []
        names = [f"{body}.{what}" for body in self._bodies for what in ("mass", "inertia")]
        self._masses = {name: np.asarray(craft.value(name), dtype=float) for name in names}
        self._sim = Simulation(
            craft,
            integrator="rk4",
            step=task.step / substeps,
            locked=task.locked or None,
            parameters={name: x[None] for name, x in self._masses.items()} or None,
            runs=runs,
            threads=threads,
        )
        inputs = {"goal": (task.goal,), "action": (len(task.motors),)}
        self._measure = compile(task.measure, craft, inputs=inputs, threads=threads)
        self._limits = task.rate_limits
        self._loads = np.zeros((runs, craft.nv))
        self._goals = np.zeros((runs, task.goal))
        self._starts = (np.zeros((runs, craft.nq)), np.zeros((runs, craft.nv)))
        self.observation_size = int(self._measure(*self._neutral())[OBSERVATION].shape[-1])

    def _neutral(self) -> tuple[Array, ...]:
        start = self.task.draw(np.random.default_rng(0))
        return start.q, start.v, start.goal, np.zeros(len(self.task.motors))

    # ---- starts

    def begin(self, chosen: Array, generators: Sequence[np.random.Generator]) -> None:
        """New episodes for these runs (numbers), each drawn from the generator of its own."""
        drawn = [self._draw(generators[k]) for k in chosen]
        for k, (start, _) in zip(chosen, drawn, strict=True):
            self._starts[0][k], self._starts[1][k], self._goals[k] = start.q, start.v, start.goal
        names = self._masses
        self._put(chosen, {name: np.array([masses[name] for _, masses in drawn]) for name in names})

    def _draw(self, generator: np.random.Generator) -> tuple[Any, dict[str, Array]]:
        start, masses = self.task.draw(generator), {}
        for body in self._bodies:
            factor = 1.0 + self.dispersion * generator.uniform(-1.0, 1.0)
            for name in (f"{body}.mass", f"{body}.inertia"):
                masses[name] = factor * self._masses[name]
        return start, masses

    def _put(self, chosen: Array, masses: dict[str, Array]) -> None:
        every = len(chosen) == self.runs
        q, v = (rows[chosen] for rows in self._starts)
        self._sim.reset(q, v, parameters=masses or None, runs=None if every else chosen)

    # ---- going on

    def actions(self, given: Any) -> Array:
        """As numbers (runs, motors) within [-1, 1]; refused where they are not numbers."""
        found, shape = np.asarray(given), (self.runs, len(self.task.motors))
        if found.shape != shape or found.dtype.kind not in "fiu":
            raise ValueError(f"actions have shape {found.shape} ({found.dtype}); expected numbers of shape {shape}.")
        found = found.astype(float)
        if not np.isfinite(found).all():
            run, place = np.argwhere(~np.isfinite(found))[0]
            raise ValueError(
                f"action {place} of environment {run} is {found[run, place]}; expected finite numbers. "
                "Nothing has moved."
            )
        return np.clip(found, -1.0, 1.0)

    def go_on(self, actions: Array, idle: Array) -> Seen:
        """By one step, with actions from `actions()`; runs that are idle (truth values) wait for their next episode,
        and what is said of them means nothing.
        """
        rates, motors = self._sim.v[:, self.task.motors], self.task.motors
        loads = actions * self.task.full
        spent = (np.abs(rates) >= self._limits) & (loads * rates > 0.0)  # at its rate limit a motor pushes no further
        self._loads[:, motors] = np.where(spent | idle[:, None], 0.0, loads)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SimulationWarning)  # told by `failed` instead
            self._sim.step(self._loads, self.task.step)
        now = self._sim.state
        failed = np.array([status != "running" for status in now.status])
        seen = self._look(now.q, now.v, actions, failed)
        if failed.any():  # their episodes are over; the others go on
            self._put(np.flatnonzero(failed), {})
        return seen

    def look(self) -> Seen:
        """Where the runs stand, before any action."""
        nobody = np.zeros(self.runs, dtype=bool)
        return self._look(self._sim.q, self._sim.v, np.zeros((self.runs, len(self.task.motors))), nobody)

    def _look(self, q: Array, v: Array, actions: Array, failed: Array) -> Seen:
        figures = dict(self._measure(q, v, self._goals, actions))
        observation = figures.pop(OBSERVATION)
        success = self.task.success(figures) & ~failed
        reward = self.task.reward(figures) + self.task.bonus * success
        reward = np.where(failed, self.task.failure, reward)
        return Seen(observation, reward, success | failed, {**figures, "is_success": success, "failed": failed})
