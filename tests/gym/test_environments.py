"""Environments of gyrostat.gym: Gymnasium's own checks, seeds, episodes and their ends, alone and side by side."""

from __future__ import annotations

import subprocess
import sys
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import gyrostat as gs
from gyrostat import gym

NAMES = list(gym.TASKS)


class Reckless(gym.Detumble):
    """Starts that no arithmetic can go on from, where the first number drawn is above a half."""

    def draw(self, generator):
        wild = generator.uniform() > 0.5
        start = super().draw(generator)
        return gym.Start(start.q, start.v * (1e200 if wild else 1.0), start.goal)


def single(name, seed, **options):
    env = gymnasium.make(name, disable_env_checker=True, **options)
    env.reset(seed=seed)
    return env


@pytest.mark.parametrize("name", NAMES)
def test_gymnasium_finds_no_fault(name):
    with warnings.catch_warnings():  # rates know no bound, and Gymnasium warns of spaces without
        warnings.filterwarnings("ignore", ".*Box observation space m.*infinity.*")
        check_env(gymnasium.make(name).unwrapped)
    vector = gymnasium.make_vec(name, num_envs=3, vectorization_mode="vector_entry_point")
    assert vector.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP and vector.num_envs == 3
    seen, _ = vector.reset(seed=1)
    assert vector.observation_space.contains(seen) and vector.single_observation_space.contains(seen[0])
    seen, reward, terminated, truncated, _ = vector.step(vector.action_space.sample())
    assert vector.observation_space.contains(seen) and reward.dtype == np.float64
    assert terminated.dtype == truncated.dtype == bool and reward.shape == (3,)


def same(mine, theirs):
    assert mine.keys() == theirs.keys()
    for key, value in mine.items():
        if isinstance(value, dict):
            same(value, theirs[key])
        elif value.dtype == object:
            assert all(np.array_equal(a, b) for a, b in zip(value, theirs[key], strict=True))
        else:
            np.testing.assert_array_equal(value, theirs[key])


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("gyrostat/Reach-v0", {"horizon": 1.0, "mass_dispersion": 0.2}),
        ("gyrostat/ReactionlessReach-v0", {"horizon": 0.6}),
        ("gyrostat/Detumble-v0", {"horizon": 4.0, "start_dispersion": 0.04, "mass_dispersion": 0.1}),
        ("gyrostat/Capture-v0", {"horizon": 0.8}),
    ],
)
def test_side_by_side_is_one_by_one_bit_for_bit(name, options, mode):
    """Observations, rewards, ends and infos over several episodes, some of which end by success, as in Gymnasium's own
    vector of single environments."""
    n = 5
    ours = gymnasium.make_vec(name, num_envs=n, autoreset_mode=mode, **options)
    theirs = SyncVectorEnv([lambda: gymnasium.make(name, **options)] * n, autoreset_mode=mode)
    actions = np.random.default_rng(5).uniform(-1.2, 1.2, (12, n, ours.single_action_space.shape[0])).astype("f4")
    for one, two in zip(ours.reset(seed=7), theirs.reset(seed=7), strict=True):
        same({"": one}, {"": two})
    ends = np.zeros(3, dtype=int)
    for action in actions:
        one, two = ours.step(action), theirs.step(action)
        for mine, their in zip(one, two, strict=True):
            same({"": mine}, {"": their})
        ends += [one[2].sum(), one[3].sum(), (one[2] & one[3]).sum()]
    assert ends[1] >= n
    assert name != "gyrostat/Detumble-v0" or ends[0] > 0


@pytest.mark.parametrize("name", NAMES)
def test_same_seed_same_bits_and_another_seed_another_start(name):
    runs = []
    for seed in (11, 11, 12):
        env = gymnasium.make_vec(name, num_envs=2, mass_dispersion=0.1)
        first, _ = env.reset(seed=seed)
        second = env.step(np.full(env.action_space.shape, 0.5, dtype="f4"))[0]
        again, _ = env.reset()  # without a seed: the next draw
        runs.append((first, second, again))
    for one, two, other in zip(*runs, strict=True):
        np.testing.assert_array_equal(one, two)
        assert np.abs(one - other).max() > 1e-6
    assert np.abs(runs[0][0] - runs[0][2]).max() > 1e-6
    np.testing.assert_array_equal(runs[0][0][1], runs[2][0][0])  # environment i has seed + i


def test_time_limits_truncate_and_success_terminates():
    env = single("gyrostat/Reach-v0", 0, horizon=0.6)
    ends = [env.step(np.zeros(7, dtype="f4"))[2:4] for _ in range(3)]
    assert ends == [(False, False), (False, False), (False, True)]
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(np.zeros(7, dtype="f4"))
    short = gymnasium.make_vec("gyrostat/Reach-v0", num_envs=2, max_episode_steps=2)
    short.reset(seed=0)
    zero = np.zeros((2, 7), dtype="f4")
    found = [short.step(zero) for _ in range(4)]
    assert [step[3].tolist() for step in found] == [[False] * 2, [True] * 2, [False] * 2, [False] * 2]
    assert found[2][1].tolist() == [0.0, 0.0]  # the reset step: no reward
    calm = single("gyrostat/Detumble-v0", 0, start_dispersion=0.0)
    _, reward, terminated, truncated, info = calm.step(np.zeros(4, dtype="f4"))
    assert terminated and not truncated and info["is_success"] and reward == pytest.approx(gym.Detumble.bonus)


def test_disabled_autoreset_waits_for_a_mask():
    env = gym.TaskVectorEnv(gym.Reach(), 3, horizon=0.2, autoreset_mode="Disabled")
    with pytest.raises(RuntimeError, match="call reset"):
        env.step(np.zeros((3, 7)))
    first, _ = env.reset(seed=4)
    assert env.step(np.zeros((3, 7)))[3].all()
    with pytest.raises(RuntimeError, match="are over"):
        env.step(np.zeros((3, 7)))
    mask = np.array([True, False, True])
    seen, infos = env.reset(options={"reset_mask": mask})
    assert infos["_distance"].tolist() == mask.tolist()
    assert np.abs(seen[mask] - first[mask]).max() > 1e-3
    np.testing.assert_allclose(seen[1], first[1], atol=1e-12)  # nothing acted
    with pytest.raises(RuntimeError, match=r"\[1\]"):
        env.step(np.zeros((3, 7)))
    with pytest.raises(ValueError, match="reset_mask"):
        env.reset(options={"reset_mask": np.array([1, 0, 1])})


def test_a_run_that_fails_ends_its_own_episode_alone():
    n, options = 6, {"horizon": 5.0}
    vector = gym.TaskVectorEnv(Reckless(), n, **options)
    vector.reset(seed=20)
    wild = np.array([gymnasium.utils.seeding.np_random(20 + k)[0].uniform() > 0.5 for k in range(n)])
    assert 0 < wild.sum() < n
    ones = [gym.TaskEnv(Reckless(), **options) for _ in range(n)]
    for k, env in enumerate(ones):
        env.reset(seed=20 + k)
    action = np.full((n, 4), 0.3, dtype="f4")
    seen, reward, terminated, truncated, infos = vector.step(action)
    np.testing.assert_array_equal(terminated, wild)
    np.testing.assert_array_equal(infos["failed"], wild)
    assert not truncated.any() and (reward[wild] == gym.Detumble.failure).all() and np.isfinite(seen[~wild]).all()
    for k, env in enumerate(ones):
        alone = env.step(action[k])
        np.testing.assert_array_equal(alone[0], seen[k])
        assert alone[1:4] == (reward[k], terminated[k], truncated[k])
    for _ in range(2):  # the others have gone on, the failed ones have begun anew
        seen, reward, terminated, truncated, infos = vector.step(action)
    assert vector.observation_space.contains(seen)


@pytest.mark.parametrize("name", NAMES)
def test_bad_actions_are_refused_and_nothing_moves(name):
    env = gymnasium.make_vec(name, num_envs=2)
    twin = gymnasium.make_vec(name, num_envs=2)
    env.reset(seed=3)
    twin.reset(seed=3)
    good = np.zeros(env.action_space.shape, dtype="f4")
    for value in (np.nan, np.inf):
        bad = good.copy()
        bad[1, 2] = value
        with pytest.raises(ValueError, match="action 2 of environment 1 is"):
            env.step(bad)
    for shape in ((2, 1), (3, good.shape[1]), good.shape[1:]):
        with pytest.raises(ValueError, match="shape"):
            env.step(np.zeros(shape))
    with pytest.raises(ValueError, match="shape"):
        env.step(np.full(good.shape, "a"))
    np.testing.assert_array_equal(env.step(good)[0], twin.step(good)[0])
    alone = single(name, 0)
    with pytest.raises(ValueError, match="shape"):
        alone.unwrapped.step(np.zeros(good.shape[1] + 1))
    with pytest.raises(ValueError, match="finite"):
        alone.unwrapped.step(np.full(good.shape[1], np.nan))


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"step": 0.0}, ValueError, "step is 0.0; expected a positive"),
        ({"horizon": -1.0}, ValueError, "horizon is -1.0"),
        ({"horizon": 0.5}, ValueError, "multiple of step, 0.2 s"),
        ({"mass_dispersion": 1.0}, ValueError, "mass_dispersion is 1.0"),
        ({"start_dispersion": np.nan}, ValueError, "start_dispersion is nan"),
        ({"substeps": 1.5}, ValueError, "substeps is 1.5"),
        ({"acceleration": "a"}, ValueError, "acceleration is 'a'"),
        ({"craft": "servicer"}, TypeError, "expected a Spacecraft"),
        ({"tool": "hand"}, ValueError, "hand"),
        ({"pose": np.zeros(3)}, ValueError, "14|nq"),
        ({"colour": 1}, TypeError, "colour"),
        ({"render_mode": "human"}, ValueError, "render_mode"),
    ],
)
def test_options_are_validated(options, error, words):
    with pytest.raises(error, match=words):
        gym.registration.single("gyrostat/Reach-v0", **options)


def test_craft_that_cannot_do_a_task_are_refused():
    bare = gs.models.servicer()
    with pytest.raises(ValueError, match="has no coordinate that is 'wheel'"):
        gym.Detumble(bare)
    with pytest.raises(ValueError, match="expected one rigid body"):
        gym.Capture(target=bare, grapple="tool")
    with pytest.raises(ValueError, match="several spacecraft"):
        gym.Reach(gym.Capture().craft)
    with pytest.raises(ValueError, match="num_envs is 0"):
        gym.TaskVectorEnv(gym.Reach(), 0)


def test_importing_gyrostat_registers_nothing_and_needs_no_gymnasium():
    code = "import sys, gyrostat; assert 'gymnasium' not in sys.modules; import gymnasium; "
    code += "assert not [n for n in gymnasium.registry if 'gyrostat' in n]; "
    code += "gymnasium.make('gyrostat.gym:gyrostat/Reach-v0'); import gyrostat.gym"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def test_without_gymnasium_the_remedy_is_said():
    code = "import sys; sys.modules['gymnasium'] = None; import gyrostat.gym"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode and "pip install 'gyrostat[rl]'" in done.stderr
