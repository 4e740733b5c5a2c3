"""Several runs of a formation at a time: each is, bit for bit, what it is alone."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from formation_crafts import armed, box
from gyrostat.formation import Coupling, Formation, Group, ring, simulate
from gyrostat.simulation.engine import gathered

RUNS = 5
NAMES = ["a", "b", "c"]


def noisy_spring(craft, t, q, v, q_near, weight_near, gain, run, sample, seed):
    """Towards the neighbours, with noise of its own."""
    force = sum((weight_near[k] * (q_near[k][4:7] - q[4:7]) for k in range(len(weight_near))), np.zeros(3))
    return np.concatenate([[0.01 * gs.tracing.normal(seed, run, sample, 0), 0.0, 0.0], gain * force])


def case() -> tuple[Formation, dict, dict]:
    """Three boxes that see each other, two craft with arms that see nobody; everything differs from run to run."""
    formation = Formation({"swarm": Group(box(), NAMES, {"hull.mass": [8.0, 9.0, 10.0]}), "tugs": Group(armed(), "de")})
    rng = np.random.default_rng(5)
    state = formation.neutral()
    many = {g: tuple(np.repeat(x[None], RUNS, axis=0) for x in pair) for g, pair in state.items()}
    for q, v in many.values():
        q[..., 4:7] += rng.normal(size=(*q.shape[:2], 3))
        v += 0.3 * rng.normal(size=v.shape)
    law = gs.Controller(noisy_spring, period=0.1)
    hit = gs.When(lambda craft, t, q, v: t - 1.55 - 0.01 * q[4], "brake", effect=lambda craft, t, q, v: (q, 0.9 * v))
    options = {
        "control": {"swarm": Coupling(law, {"near": ring(NAMES)})},
        "events": {"swarm": hit},
        "inputs": {"swarm": {"gain": rng.uniform(1, 2, size=(RUNS, 3))}},
        "parameters": {
            "swarm": {"hull.mass": rng.uniform(5, 20, size=(RUNS, 3))},
            "tugs": {"lower.mass": np.full((RUNS, 2), 3.0)},
        },
        "seed": 3,
        "save_at": np.linspace(1.0, 2.0, 5),
    }
    return formation, many, options


def of_run(options, k):
    own = {
        name: {g: {n: x[k] for n, x in values.items()} for g, values in options[name].items()}
        for name in ("inputs", "parameters")
    }
    return options | own


def same(a, b):
    assert a.events and len(a.events) == len(b.events)
    for one, other in zip(a.events, b.events, strict=True):
        assert one[:3] == other[:3]
    for g in a.groups:
        one, other = a.groups[g], b.groups[g]
        for name in one.data.data_vars:
            np.testing.assert_array_equal(one.data[name].values, other.data[name].values, err_msg=f"{g} {name}")
        for name, value in vars(one.state).items():
            np.testing.assert_array_equal(value, getattr(other.state, name), err_msg=f"{g} {name}")
        np.testing.assert_array_equal(one.tau, other.tau)
        assert one.audit.worst == other.audit.worst < 1e-9


@pytest.mark.parametrize(
    "method",
    [{"rtol": 1e-9}, {"integrator": "rk4", "step": 0.02}, {"integrator": "gauss16"}],
    ids=["dop853", "rk4", "gauss16"],
)
def test_every_run_of_a_batch_is_what_it_is_alone(method):
    formation, state, options = case()
    batch = simulate(formation, state, (1, 2), **options, **method)
    assert len(batch) == RUNS and batch.ok
    for k, run in enumerate(batch):
        start = {g: (q[k], v[k]) for g, (q, v) in state.items()}
        same(run, simulate(formation, start, (1, 2), **of_run(options, k), **method, runs=k))
        np.testing.assert_array_equal(batch.final["swarm"][0][k], run.final["swarm"][0])
        assert run.formation.craft("b").bodies[0].mass == options["parameters"]["swarm"]["hull.mass"][k, 1]
    apart = [batch[k].groups["swarm"].data["held"].values[:, 2, 0] for k in range(RUNS)]
    assert len(np.unique(apart)) == 3 * RUNS  # noise of its own for every member of every run


def test_threads_and_interruptions_change_no_bit():
    formation, state, options = case()
    whole = simulate(formation, state, (1, 2), **options, threads=1)
    with pytest.warns(gs.SimulationWarning, match="took 6 steps"):
        cut = simulate(formation, state, (1, 2), **options, threads=2, max_steps=6)
    assert cut.interrupted
    rest = simulate(formation, resume=cut)
    for k in range(RUNS):
        same(rest[k], whole[k])
    one = simulate(cut[2].formation, resume=cut[2])  # a run of a batch goes on alone, too
    same(one, whole[2])
    assert one.formation.craft("c").bodies[0].mass == options["parameters"]["swarm"]["hull.mass"][2, 2]


def test_a_run_that_fails_leaves_the_others_alone():
    def explode(craft, t, q, v, q_near, weight_near):
        return np.concatenate([np.zeros(3), q_near[0][4:7] ** 9 * 1e12 + 0.0 * weight_near[0]])

    formation = Formation({"swarm": Group(box(), "ab")})
    q, v = (np.repeat(x[None], 2, axis=0) for x in formation.neutral()["swarm"])
    q[1, 0, 4:7] = 1.0
    law = {"swarm": Coupling(explode, {"near": ring("ab")})}
    with pytest.warns(gs.SimulationWarning, match="stopped at t.* 1 more failed: see .failures") as told:
        batch = simulate(formation, {"swarm": (q, v)}, (0, 10), control=law)
    assert len(told) == 1  # not one for each member of the clock
    assert not batch.ok and batch[0].ok and not batch[1].ok
    assert batch[1].groups["swarm"].failures and not batch[0].groups["swarm"].failures
    assert batch.t_end[0].min() == 10.0 > batch.t_end[1].max()


def test_wrong_shapes_are_refused():
    formation, state, options = case()
    q, v = state["swarm"]
    for changes, words in (
        ({"inputs": {"swarm": {"gain": np.ones((RUNS, 2))}}}, r"expected \(5, 3, ...\), or 1 on an axis"),
        ({"parameters": {"swarm": {"hull.mass": np.ones(2)}}}, r"shape \(2,\); expected \(3,\), one value per member"),
        ({"parameters": {"swarm": {"hull.mass": np.ones((4, 3))}}}, r"different numbers of runs: \[4, 5\]"),
        ({"parameters": {"swarm": {"hull.mass": -np.ones(3)}}}, "mass is -1.0 kg"),
        ({"parameters": {"swarms": {}}}, "no group 'swarms'"),
        ({"runs": [1, 2]}, "expected the numbers of 5 runs"),
        ({"state": {**state, "swarm": (q[None], v)}}, r"q of group 'swarm' has shape \(1, 5, 3, 7\)"),
    ):
        with pytest.raises(ValueError, match=words):
            simulate(formation, **{"state": state, "t_span": (1, 2), **options, **changes})
    with pytest.raises(IndexError, match="run 5 of a batch of 5"):
        _ = simulate(formation, state, (1, 1.1), **{**options, "save_at": None})[5]


def test_code_that_two_threads_load_at_once_stays_in_memory():
    """Each block keeps the library that its addresses are of, whoever else loads it meanwhile."""
    formation, state, options = case()
    for _ in range(20):
        gathered._library.cache_clear()
        assert simulate(formation, state, (1, 1.1), **{**options, "save_at": None, "events": None}, threads=2).ok
