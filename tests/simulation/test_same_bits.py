"""The same bits: in any batch, on any number of threads, interrupted and resumed, extended, saved and loaded."""

from __future__ import annotations

import signal
import threading
from contextlib import nullcontext

import numpy as np
import pytest

import gyrostat as gs
import manoeuvre
from controllers import LAWS
from gyrostat.simulation.engine.block import lane_count
from same_trajectory import same

LANES = lane_count()

RUNS = 19  # more than two blocks of the widest lanes; the same runs on every machine
SAVE = np.linspace(0, 12, 25)
OPTIONS = {
    "dop853": {"integrator": "dop853", "rtol": 1e-9},
    "rk45": {"integrator": "rk45", "rtol": 1e-7},
    "rk4": {"integrator": "rk4", "step": 0.11},
    "gauss6": {"integrator": "gauss6", "step": 0.07},
    "gauss16": {"integrator": "gauss16", "rtol": 1e-9},
    "gauss16, fixed": {"integrator": "gauss16", "step": 0.1},
}


def starts(count=RUNS):
    craft, q, v = manoeuvre.start()
    rng = np.random.default_rng(5)
    q = q + np.concatenate([np.zeros((count, 7)), 0.3 * rng.normal(size=(count, 6))], axis=1)
    v = v + 0.02 * rng.normal(size=(count, 12))
    return craft, q, v


def happened(craft, t, q, v):
    return q[7] - 0.31


def arguments(law):
    gains = np.linspace(0.8, 1.2, RUNS)
    return {"inputs": {"gain": gains}, "seed": 7} if law == "noisy" else {}


@pytest.mark.parametrize("method", OPTIONS)
@pytest.mark.parametrize("law", LAWS)
def test_members_of_a_batch_equal_runs_alone_on_any_number_of_threads(law, method):
    craft, q, v = starts()
    more = {"control": LAWS[law](), "save_at": SAVE, "events": happened, **OPTIONS[method], **arguments(law)}
    batch = gs.simulate(craft, q, v, (0, 12), threads=1, **more)
    same(batch, gs.simulate(craft, q, v, (0, 12), threads=3, **more))
    for k in (0, LANES - 1, LANES + 1, RUNS - 1):
        alone = dict(more)
        if law == "noisy":
            alone["inputs"] = {"gain": arguments(law)["inputs"]["gain"][k]}
        one = gs.simulate(craft, q[k], v[k], (0, 12), runs=k, **alone)
        for name in ("q", "v", "work"):
            np.testing.assert_array_equal(batch.data[name].values[k], one.data[name].values, err_msg=name)
        assert [e.t for e in batch.events if e.run == k] == [e.t for e in one.events]
    assert batch.events and len({len([e for e in batch.events if e.run == k]) for k in range(RUNS)}) > 1


def test_noise_differs_between_runs_and_seeds_alone():
    craft, q, v = starts(3)
    more = {"control": LAWS["noisy"](), "save_at": [4.0], "inputs": {"gain": 1.0}}
    q, v = np.broadcast_to(q[0], q.shape), np.broadcast_to(v[0], v.shape)
    first = gs.simulate(craft, q, v, (0, 4), seed=1, **more)
    assert len({row.tobytes() for row in first.q[:, 0]}) == 3
    same_run = gs.simulate(craft, q, v, (0, 4), seed=1, runs=2, **more)
    np.testing.assert_array_equal(same_run.q, np.broadcast_to(first.q[2], first.q.shape))
    assert np.abs(gs.simulate(craft, q, v, (0, 4), seed=2, **more).q - first.q).max() > 1e-9


@pytest.mark.parametrize("method", OPTIONS)
@pytest.mark.parametrize("law", LAWS)
def test_a_run_interrupted_and_resumed_equals_the_uninterrupted_one(law, method):
    craft, q, v = starts(10)
    inputs = {"inputs": {"gain": 1.0}, "seed": 3} if law == "noisy" else {}
    more = {"control": LAWS[law](), "save_at": SAVE, "events": happened, **OPTIONS[method], **inputs}
    whole = gs.simulate(craft, q, v, (0, 12), **more)
    with pytest.warns(gs.SimulationWarning, match="Go on with"):
        part = gs.simulate(craft, q, v, (0, 12), max_steps=7, **more)
    assert part.interrupted and not part.ok and np.isnan(part.q).any()
    legs = 1
    while part.interrupted:
        legs += 1
        with pytest.warns() if legs < 4 else nullcontext():
            part = gs.simulate(craft, resume=part, save_at=SAVE, max_steps=13 if legs < 4 else 100_000)
    assert legs == 4
    same(part, whole)


@pytest.mark.parametrize("method", OPTIONS)
@pytest.mark.parametrize("law", LAWS)
def test_a_finished_run_extended_equals_one_with_a_breakpoint_there(law, method):
    """5.6 s is a sample of the sampled law, too."""
    craft, q, v = starts(2)
    inputs = {"inputs": {"gain": 1.0}, "seed": 3} if law == "noisy" else {}
    more = {"control": LAWS[law](), "events": happened, **OPTIONS[method], **inputs}
    early, late = [0.0, 2.0, 5.6], [0.0, 2.0, 5.6, 9.0, 12.0]
    whole = gs.simulate(craft, q, v, (0, 12), breakpoints=[5.6], save_at=late, **more)
    first = gs.simulate(craft, q, v, (0, 5.6), save_at=early, **more)
    same(gs.simulate(craft, resume=first, t_span=(0, 12), save_at=late), whole)


def test_the_default_times_of_an_extended_run_go_on():
    craft, q, v = starts(1)
    first = gs.simulate(craft, q[0], v[0], (0, 2))
    longer = gs.simulate(craft, resume=first, t_span=(0, 5))
    assert longer.time[0] == 0 and longer.time[-1] == 5 and np.isfinite(longer.q).all()
    np.testing.assert_array_equal(longer.q[: len(first.time)], first.q)
    with pytest.raises(ValueError, match=r"ends at 1.0 s; the run that is continued was made to 5.0 s"):
        gs.simulate(craft, resume=longer, t_span=(0, 1))


@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_keeps_what_there_is_and_the_run_can_be_resumed(threads):
    """A real SIGINT, raised in the main thread while others run compiled code, which go on when it has been handled."""
    craft, q, v = starts(16)
    more = {"control": manoeuvre.pd, "rtol": 1e-12, "save_at": np.linspace(0, 2000, 5), "threads": threads}
    told = threading.Event()

    def progress(fraction):
        if threading.current_thread() is not threading.main_thread():
            told.wait()
        elif not told.is_set():
            signal.raise_signal(signal.SIGINT)
            told.set()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gyrostat.simulation.prepare.progress_bar", lambda *_: _watched(progress))
        part = gs.simulate(craft, q, v, (0, 2000), **more)
    assert told.is_set() and part.interrupted and (part.state.t < 2000).all()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    same(gs.simulate(craft, resume=part, threads=threads), gs.simulate(craft, q, v, (0, 2000), **more))


class _watched:
    def __init__(self, tell):
        self.tell = tell

    def __enter__(self):
        return self.tell

    def __exit__(self, *_):
        return False


@pytest.mark.parametrize("method", ["dop853", "rk4"])
def test_a_keyboard_interrupt_from_within_a_python_law_is_an_interruption(method):
    craft, q, v = starts(3)
    calls = [0]

    def law(craft, t, q, v):
        calls[0] += 1
        if calls[0] == 400:
            raise KeyboardInterrupt
        return np.array([float(x) for x in manoeuvre.pd(craft, float(t), q, v)])

    more = {"control": law, "save_at": SAVE[:9], **OPTIONS[method]}
    with pytest.warns(gs.SimulationWarning, match="called from Python"):
        part = gs.simulate(craft, q, v, (0, 4), **more)
    assert part.interrupted and np.isnan(part.q).any()
    with pytest.warns(gs.SimulationWarning):
        resumed = gs.simulate(craft, resume=part, save_at=SAVE[:9])
    with pytest.warns(gs.SimulationWarning):
        same(resumed, gs.simulate(craft, q, v, (0, 4), **more))


def noisy(seed=0, **options):
    """A sampled law that is nothing but noise."""
    craft, q, v = manoeuvre.start()

    def output(craft, t, q, v, run, sample, seed):
        from gyrostat.tracing import normal

        return np.concatenate([np.zeros(6), np.array([normal(seed, run, sample, k) for k in range(6)])])

    return gs.simulate(craft, q, v, (0, 0.5), control=gs.Controller(output, period=0.1), seed=seed, **options)


def test_every_bit_of_a_seed_and_of_a_runs_number_counts(tmp_path):
    large = [2**53, 2**53 + 1, 2**63, 2**63 + 1, 2**127 + 1]
    ends = [noisy(seed).final[0] for seed in large]
    ends += [noisy(np.random.SeedSequence(2**127 + 2)).final[0], noisy([1, 2**40]).final[0]]
    ends += [noisy(runs=number).final[0] for number in (2**53 + 1, 2**53 + 2, 2**62 + 1)]
    assert len({tuple(q) for q in ends}) == len(ends)
    np.testing.assert_array_equal(noisy(np.random.SeedSequence(2**127 + 1)).final[0], ends[4])
    whole = noisy(2**127 + 1)
    with pytest.warns(gs.SimulationWarning, match="took 3 steps"):
        part = gs.Trajectory.load(noisy(2**127 + 1, max_steps=3).save(tmp_path / "part.nc"))
    assert part.data.attrs["seed"] == 2**127 + 1
    assert whole.data.attrs["seed"] == 2**127 + 1


def test_runs_of_a_batch_keep_their_numbers(tmp_path):
    craft, q, v = manoeuvre.start()
    numbers = np.array([4, 2**53 + 1, 2**62 + 3])
    run = gs.simulate(craft, np.tile(q, (3, 1)), v, (0, 0.1), runs=numbers)
    np.testing.assert_array_equal(run.data["run"], numbers)
    np.testing.assert_array_equal(gs.Trajectory.load(run.save(tmp_path / "run.nc")).data["run"], numbers)
    np.testing.assert_array_equal(gs.simulate(craft, resume=run, t_span=(0, 0.2)).data["run"], numbers)
    for wrong in (1.5, [0, 1, 2**63], "0"):
        with pytest.raises(ValueError, match="expected whole numbers below 2"):
            gs.simulate(craft, np.tile(q, (3, 1)), v, (0, 0.1), runs=wrong)
