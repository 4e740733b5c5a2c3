"""# Learning to reach

A policy that knows nothing of mechanics learns to bring the tool of a floating seven-joint arm to a point in space and
to let it rest there: proximal policy optimisation (PPO) of Stable-Baselines3 on 256 environments `gyrostat/Reach-v0`
side by side. The base is free, so every torque of the arm turns and moves it, and the goal stays where it is in space.

Needs `pip install 'gyrostat[rl]' stable-baselines3` (which brings PyTorch). `STEPS=...` in the environment trains for
fewer or more steps than four million.
"""

import os
import time

import gymnasium
import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecEnv, VecNormalize

import gyrostat.gym  # noqa: F401  registers them
from gyrostat.view.style import figure_style

STEPS = int(os.environ.get("STEPS", "4000000"))
ENVIRONMENTS, SEED = 256, 1
torch.manual_seed(SEED)
torch.set_num_threads(2)


class SideBySide(VecEnv):
    """A vector environment of Gymnasium as Stable-Baselines3 wants it: reset in the same step, one info for each."""

    def __init__(self, name, count, seed):
        mode = gymnasium.vector.AutoresetMode.SAME_STEP
        self.many = gymnasium.make_vec(name, num_envs=count, autoreset_mode=mode)
        self.first_seed = seed  # for the first reset; later ones draw on
        super().__init__(count, self.many.single_observation_space, self.many.single_action_space)

    def reset(self):
        seen, _ = self.many.reset(seed=self.first_seed)
        self.first_seed = None
        return seen

    def step_async(self, actions):
        self.actions = actions

    def step_wait(self):
        seen, reward, terminated, truncated, said = self.many.step(self.actions)
        infos = [{} for _ in reward]
        for k in np.flatnonzero(terminated | truncated):
            final = {name: values[k] for name, values in said["final_info"].items()}
            cut = bool(truncated[k] and not terminated[k])
            infos[k] = {**final, "terminal_observation": said["final_obs"][k], "TimeLimit.truncated": cut}
        return seen, reward, terminated | truncated, infos

    def close(self):
        self.many.close()

    def get_attr(self, name, indices=None):
        return [getattr(self.many, name)] * len(self._get_indices(indices))

    def set_attr(self, name, value, indices=None):
        raise NotImplementedError("options are given when the environments are made.")

    def env_method(self, name, *arguments, indices=None, **options):
        raise NotImplementedError("there is one object for all environments.")

    def env_is_wrapped(self, wrapper, indices=None):
        return [False] * len(self._get_indices(indices))


class Curve(BaseCallback):
    """Mean of the distance at the end of episodes, and share of successes, over so many episodes as there are
    environments: fewer would be those that ended early."""

    def __init__(self):
        super().__init__()
        self.rows, self.ended = [], []

    def _on_step(self):
        infos = self.locals["infos"]
        self.ended += [(info["distance"], info["is_success"]) for info in infos if "distance" in info]
        return True

    def _on_rollout_end(self):
        if len(self.ended) >= ENVIRONMENTS:
            self.rows.append((self.num_timesteps, *np.mean(self.ended, axis=0)))
            self.ended = []


def tried(policy, episodes=256):
    """Mean distance at the end and share of successes on episodes that training does not see."""
    env = gymnasium.make_vec("gyrostat/Reach-v0", num_envs=episodes)
    seen, _ = env.reset(seed=10_000)
    last, reached, over = np.zeros(episodes), np.zeros(episodes, dtype=bool), np.zeros(episodes, dtype=bool)
    while not over.all():
        seen, _, terminated, truncated, infos = env.step(policy(seen))
        now = (terminated | truncated) & ~over
        last[now], reached[now] = infos["distance"][now], infos["is_success"][now]
        over |= now
    return last.mean(), reached.mean()


training = VecNormalize(SideBySide("gyrostat/Reach-v0", ENVIRONMENTS, SEED), gamma=0.98)
model = PPO(
    "MlpPolicy",
    training,
    n_steps=50,
    batch_size=1600,
    n_epochs=5,
    gamma=0.98,
    learning_rate=lambda left: 1e-3 * left + 1e-4,
    policy_kwargs={"log_std_init": -0.5},
    seed=SEED,
    device="cpu",
)


def learnt(seen):
    return model.predict(training.normalize_obs(seen), deterministic=True)[0]


before = tried(learnt)
curve, begun = Curve(), time.perf_counter()
model.learn(STEPS, callback=curve)
minutes = (time.perf_counter() - begun) / 60
training.training = False
after = tried(learnt)
for when, (distance, share) in (("before", before), ("after", after)):
    print(f"{when} training: {distance:.2f} m from the goal at the end on average, {100 * share:.0f} % of 256 reached")
print(f"{model.num_timesteps} steps in {minutes:.1f} min, {model.num_timesteps / minutes / 60:.0f} steps/s")

with figure_style():
    import matplotlib.pyplot as plt

    steps, distance, share = np.array(curve.rows).T if curve.rows else np.zeros((3, 1))
    figure, (above, below) = plt.subplots(2, 1, sharex=True, figsize=(8, 5), layout="constrained")
    above.plot(steps / 1e6, distance)
    above.set(ylabel="distance at the end, m", ylim=(0, None), title="Learning to reach on a floating base")
    below.plot(steps / 1e6, 100 * share)
    below.set(ylabel="reached, %", xlabel="steps of 0.2 s, millions", ylim=(0, 100))
    figure.savefig("learning_to_reach.png", dpi=120)
