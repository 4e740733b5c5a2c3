"""Runs of very different lengths in one batch: a lane whose run has ended is given the next.

No bit of any run depends on it.
"""

from __future__ import annotations

import signal
from contextlib import nullcontext

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algebra import sqrt, where
from gyrostat.simulation.engine.block import PATIENCE, Block, lane_count, queue_of
from gyrostat.simulation.engine.context import Lane
from gyrostat.simulation.engine.integrate import integrate
from gyrostat.simulation.engine.status import Status
from gyrostat.simulation.engine.system import Plan, State, System
from gyrostat.simulation.integrators.method import Remembered
from gyrostat.tracing import Kernel, trace
from same_trajectory import same

LANES = lane_count()

RUNS = 27
SPAN, SAVE = (0.0, 6.0), np.linspace(0.0, 6.0, 7)
METHODS = {
    "dop853": {"integrator": "dop853", "rtol": 1e-9, "atol": 1e-11},
    "rk45": {"integrator": "rk45", "rtol": 1e-6, "atol": 1e-8},
    "rk4": {"integrator": "rk4", "step": 0.05},
    "gauss6": {"integrator": "gauss6", "step": 0.05},
    "gauss16": {"integrator": "gauss16", "rtol": 1e-9, "atol": 1e-11},
}


def slider():
    base = gs.Body("base", 1.0, inertia=(1, 1, 1), joint=gs.Joint("base", "fixed"))
    joint = gs.Joint("slider", "prismatic", "base", axis=(1.0, 0.0, 0.0))
    return gs.Spacecraft.build("slider", [base, gs.Body("body", 1.0, inertia=(1, 1, 1), joint=joint)])


def spring(craft, t, q, v, omega, blow):
    """A spring; a push from 2 s to 4 s; and, in the runs that shall fail, no number from some time on."""
    return np.array([-(omega**2) * q[0] + where((t >= 2.0) & (t < 4.0), 0.3, 0.0) + 0.1 * sqrt(3.0 - blow * t)])


def sampled():
    """The same, and a brake by the speed of the last sample."""

    def output(craft, t, q, v, z, omega, blow):
        return spring(craft, t, q, v, omega, blow) - 0.2 * z

    return gs.Controller(output, np.zeros(1), update=lambda craft, t, q, v, z: 0.3 * z + 0.7 * v, period=0.45)


def bounce(craft, t, q, v):
    return q, -0.5 * v


EVENTS = [
    gs.When(lambda craft, t, q, v: q[0] - 0.2, "passes"),
    gs.When(lambda craft, t, q, v: q[0] + 0.9, "wall", direction=-1, effect=bounce),
    gs.When(lambda craft, t, q, v, patience: t - patience + 0.01 * q[0], "enough", terminal=True),
]
LAWS = {"plain": lambda: spring, "sampled": sampled}


def dispersed(count=RUNS):
    """Frequencies over a decade and a half, in no order; some run into the wall, some are ended early, some fail."""
    rng = np.random.default_rng(11)
    omega = 10.0 ** rng.uniform(-0.5, 1.0, size=count)
    patience = np.where(rng.random(count) < 0.3, rng.uniform(0.5, 5.5, size=count), 100.0)
    blow = np.zeros(count)
    blow[3::7] = rng.uniform(0.8, 4.0, size=len(blow[3::7]))
    return (
        np.full((count, 1), 1.0),
        rng.uniform(0.5, 2.0, size=(count, 1)),
        {"omega": omega, "patience": patience, "blow": blow},
    )


def run(q, v, inputs, law="plain", method="dop853", **options):
    """All at once, or one."""
    options = {"breakpoints": [2.0, 4.0], "save_at": SAVE, "events": EVENTS, **METHODS[method], **options}
    return gs.simulate(slider(), q, v, SPAN, control=LAWS[law](), inputs=inputs, **options)


@pytest.mark.filterwarnings("ignore:.*stopped at t:gyrostat.SimulationWarning")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("law", LAWS)
def test_members_equal_runs_alone_whatever_stands_in_the_other_lanes(law, method):
    q, v, inputs = dispersed()
    batch = run(q, v, inputs, law, method, threads=1)
    same(batch, run(q, v, inputs, law, method, threads=2))
    order = np.random.default_rng(2).permutation(RUNS)
    mixed = run(q[order], v[order], {k: x[order] for k, x in inputs.items()}, law, method)
    for name, value in vars(batch.state).items():
        np.testing.assert_array_equal(value[order], getattr(mixed.state, name), err_msg=name)
    np.testing.assert_array_equal(batch.v[order], mixed.v)
    for k in (*range(0, RUNS, 5), 3, RUNS - 1):
        one = run(q[k], v[k], {name: x[k] for name, x in inputs.items()}, law, method, runs=k)
        assert one.status[0] == batch.status[k]
        for name, value in vars(batch.state).items():
            np.testing.assert_array_equal(value[k], getattr(one.state, name)[0], err_msg=name)
        np.testing.assert_array_equal(batch.q[k], one.q)
        found = [(e.name, e.t, *e.q, *e.v) for e in batch.events if e.run == k]
        assert found == [(e.name, e.t, *e.q, *e.v) for e in one.events]
    # all that may happen does
    assert {"done", "stopped"} < set(batch.status) and len(set(batch.status)) > 2
    assert {e.name for e in batch.events} == {"passes", "wall", "enough"}
    if method in ("dop853", "rk45"):
        attempts = batch.state.steps + batch.state.rejections
        assert attempts.max() > 4 * attempts.min()


@pytest.mark.filterwarnings("ignore:.*stopped at t:gyrostat.SimulationWarning")
@pytest.mark.filterwarnings("ignore:.*Go on with:gyrostat.SimulationWarning")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("law", LAWS)
def test_max_steps_stops_each_run_after_as_many_attempts_and_the_rest_follows(law, method):
    q, v, inputs = dispersed()
    whole = run(q, v, inputs, law, method)
    needed = whole.state.steps + whole.state.rejections
    most = int(np.median(needed)) - 1
    part = run(q, v, inputs, law, method, max_steps=most)
    made = part.state.steps + part.state.rejections
    np.testing.assert_array_equal(made, np.minimum(needed, most))
    np.testing.assert_array_equal(np.array(part.status) == "running", needed > most)
    again = gs.simulate(slider(), resume=part, save_at=SAVE, max_steps=17)
    np.testing.assert_array_equal(again.state.steps + again.state.rejections, np.minimum(needed, most + 17))
    same(gs.simulate(slider(), resume=again, save_at=SAVE, max_steps=1_000_000), whole)


@pytest.mark.filterwarnings("ignore:.*stopped at t:gyrostat.SimulationWarning")
@pytest.mark.parametrize("method", ["dop853", "gauss16"])
def test_ctrl_c_among_runs_that_have_ended_run_and_wait(method):
    """Ended runs are whole, those under way keep their last state, the others their start;
    resumed, all is as without it.
    """
    q, v, inputs = dispersed()
    fractions, enough = [], [0.4]

    def progress(fraction):
        fractions.append(fraction)
        if fraction > enough[0]:
            enough[0] = 2.0
            signal.raise_signal(signal.SIGINT)  # handled before this returns; one sent might first reach another thread

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gyrostat.simulation.prepare.progress_bar", lambda *_: nullcontext(progress))
        patch.setattr("gyrostat.simulation.engine.integrate.CHUNK", 5)
        part = run(q, v, inputs, method=method, threads=1)
        assert part.interrupted and fractions == sorted(fractions) and 0.4 < fractions[-1] < 0.6
        del fractions[:]
        whole = run(q, v, inputs, method=method, threads=1)
    assert fractions == sorted(fractions) and fractions[-1] == 1.0 and len(fractions) > RUNS / LANES
    untouched = part.state.steps + part.state.rejections == 0
    running = np.array(part.status) == "running"
    assert untouched.any() and (part.state.t[untouched] == 0.0).all() and running[untouched].all()
    assert (~running).sum() > LANES / 2
    if method == "dop853":
        assert 0 < (running & ~untouched).sum() <= LANES
    for k in np.flatnonzero(~running):
        np.testing.assert_array_equal(part.q[k], whole.q[k])
    same(gs.simulate(slider(), resume=part, save_at=SAVE), whole)


# ---- functions in Python


def in_python(calls, stop_at=None):
    """The law as a function that cannot be traced.

    It is interrupted when it first sees run `stop_at`, or at that call.
    """

    def law(craft, t, q, v, omega, blow, run):
        calls.append(int(run))
        if stop_at is not None and stop_at(calls):
            calls.append(-1)
            raise KeyboardInterrupt
        return np.array([float(x) for x in spring(craft, float(t), q, v, omega, blow)])

    return law


WHEN = {
    "while a run is seated": lambda calls: calls[-1] == LANES + 1 and calls.count(LANES + 1) == 1,
    "in a step": lambda calls: calls[-1] == LANES + 1 and calls.count(LANES + 1) == 5,
}


@pytest.mark.filterwarnings("ignore::gyrostat.SimulationWarning")
@pytest.mark.parametrize("when", WHEN)
@pytest.mark.parametrize("method", ["dop853", "rk45"])
def test_a_keyboard_interrupt_in_a_python_law(method, when):
    """Also when it comes from a run that is just being given its lane:
    the others keep their last state, it keeps its start.
    """
    q, v, inputs = dispersed(LANES + 4)
    inputs["blow"] = np.zeros(LANES + 4)
    more = {"method": method, "save_at": SAVE, "rtol": 1e-4, "atol": 1e-4}
    with pytest.MonkeyPatch.context() as patch:
        calls = []
        patch.setitem(LAWS, "python", lambda: in_python(calls, WHEN[when]))
        part = run(q, v, inputs, "python", **more)
        assert part.interrupted and calls[-1] == -1
        attempts = part.state.steps + part.state.rejections
        running = np.array(part.status) == "running"
        assert (attempts[:LANES] > 0).all() and (~running[:LANES]).any()
        assert (part.state.t[LANES + 2 :] == 0.0).all() and (attempts[LANES + 2 :] == 0).all()
        if LANES > 2:
            assert running[:LANES].any()
        if when == "while a run is seated":
            assert attempts[LANES + 1] == 0 and part.state.t[LANES + 1] == 0.0
        patch.setitem(LAWS, "python", lambda: in_python(calls))
        whole = run(q, v, inputs, "python", **more)
    same(gs.simulate(slider(), resume=part, save_at=SAVE), whole)


# ---- the block


def oscillators(count, function=None):
    """x'' = -omega^2 x with x = (t, y, omega): (system, state, parameters)."""

    def rhs(x):
        return np.array([x[2], -x[3] * x[3] * x[1]])

    kernel = Kernel(trace(rhs, None, inputs={"x": (4,)}))
    omega = 10.0 ** np.random.default_rng(4).uniform(0.0, 1.5, size=count)
    state = State.begin(np.zeros(count), np.tile([1.0, 0.0], (count, 1)), np.zeros((count, 0)), np.zeros(count))
    return System(function or kernel, 2, n_parameters=1), state, omega[:, None]


def plan(method="dop853", **options):
    values = {"method": method, "stops": np.array([5.0]), "samples": np.zeros(1), "saves": np.array([0.0, 5.0])}
    tolerances = {"rtol": np.full(2, 1e-9), "atol": np.full(2, 1e-9), "n_control": 2, "fixed": False, "h_max": np.inf}
    return Plan(**{**values, **tolerances, "threads": 1, **options})


def test_lanes_do_not_stand_empty_while_runs_wait():
    """A function in Python is asked for all lanes at once: it sees how many run."""
    widths, begun = [], []

    def rhs(x):
        widths.append(len(x))
        begun.append(np.count_nonzero(x[:, 0] == 0.0))
        return np.column_stack([x[:, 2], -(x[:, 3] ** 2) * x[:, 1]])

    system, state, omega = oscillators(RUNS, rhs)
    outcome = integrate(system, plan(), state, omega)
    assert (outcome.state.status == Status.done).all()
    exact = np.cos(5.0 * omega[:, 0])
    np.testing.assert_allclose(outcome.saved[:, 1, 0], exact, atol=1e-6)
    starts = [k for k, (w, b) in enumerate(zip(widths, begun, strict=True)) if w == b]
    last = starts[-1]  # the last run takes its lane
    assert len(starts) > RUNS / LANES
    between = [w for k, w in enumerate(widths[:last]) if k not in starts]
    assert min(between) >= LANES - 1 and np.mean(between) > 0.99 * LANES
    attempts = outcome.state.steps + outcome.state.rejections
    in_step = sum(max(attempts[k : k + LANES]) for k in range(0, RUNS, LANES))
    assert len(widths) < 0.85 * 12 * in_step


def test_the_compiled_loop_waits_for_more_lanes_to_end_but_not_for_long():
    system, state, omega = oscillators(RUNS)
    block = Block(system, plan(), queue_of(system, plan(), state, omega))
    block.take()
    assert not block.advance(1_000_000)  # far more than any run needs
    lane = block.lane
    attempts = lane[Lane.steps] + lane[Lane.rejections]
    idle = attempts.max() - attempts
    assert len(block.ended()) and len(block.seated()) == LANES and (lane[Lane.status] == Status.running).any()
    assert PATIENCE - LANES <= idle.sum() < PATIENCE
    while block.queue.waiting:
        block.settle(block.ended())
        block.take()
        block.advance(1_000_000)
    assert not (lane[Lane.status] == Status.running).any()  # with nobody waiting there is no reason to come back


def test_runs_that_are_seated_leave_the_others_alone():
    """Bit for bit: state, first stage, step, time. And a run begins in any lane as in any other."""
    system, state, omega = oscillators(RUNS)
    omega[:] = omega[:1]
    block = Block(system, plan(), queue_of(system, plan(), state, omega))
    block.take()
    block.lane[Lane.status, 1:] = Status.done
    block.advance(20)
    block.settle(np.arange(1, LANES))
    block.blocks["K"][0, 0] += 1e-3  # not what f(t, y) would give
    before = {name: block.blocks[name].copy() for name in ("y", "K", "lanes")}
    block.take()
    assert list(block.rows) == [0, *range(LANES, 2 * LANES - 1)]
    for name in before:
        np.testing.assert_array_equal(block.blocks[name][:, 0], before[name][:, 0], err_msg=name)
    fresh = block.lane[:, 1:]
    np.testing.assert_array_equal(fresh, np.broadcast_to(fresh[:, :1], fresh.shape))
    assert fresh[Lane.h, 0] > 0.0 and fresh[Lane.t, 0] == 0.0 and block.lane[Lane.t, 0] > 0.0


@pytest.mark.parametrize("looks_back", [False, True])
def test_what_a_method_remembers_comes_back_with_its_run(monkeypatch, looks_back):
    """dop853 keeps the error before; made to keep its step count, K_1 and K_3 as well,
    it finds them again, each run its own.
    """
    lasting = (Lane.error_root,)
    kept = Remembered((Lane.steps, Lane.h_tried), (2, 0), lasting) if looks_back else Remembered(lasting=lasting)
    monkeypatch.setattr("gyrostat.simulation.integrators.explicit.Explicit.remembered", lambda *_: kept)
    system, state, omega = oscillators(RUNS)
    whole = integrate(system, plan(), state, omega)
    part = integrate(system, plan(most_steps=40), state, omega).state
    assert part.of_method.shape == (RUNS, 2 + 2 * 2 + 1 if looks_back else 1)
    again = integrate(system, plan(), part, omega)
    for name in ("t", "y", "h", "steps", "rejections"):
        np.testing.assert_array_equal(getattr(again.state, name), getattr(whole.state, name), err_msg=name)
    if not looks_back:
        return
    np.testing.assert_array_equal(again.state.of_method[:, 4:6], whole.state.of_method[:, 4:6])
    np.testing.assert_array_equal(part.of_method[:, 0], part.steps)
    ydot = np.column_stack([part.y[:, 1], -(omega[:, 0] ** 2) * part.y[:, 0]])
    np.testing.assert_allclose(part.of_method[:, 4:6], ydot, rtol=1e-13)
    changed = np.flatnonzero(part.status == Status.running)[::3]
    part.of_method[changed, 4:6] *= 1.0 + 1e-9
    other = integrate(system, plan(), part, omega).state
    differ = (other.y != whole.state.y).any(axis=1)
    np.testing.assert_array_equal(np.flatnonzero(differ), changed)
    part.of_method[:, 0] = 0.0  # nothing to look back at: K_1 is f(t, y) again
    np.testing.assert_array_equal(integrate(system, plan(), part, omega).state.y, whole.state.y)
