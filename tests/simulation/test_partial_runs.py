"""What there is is kept: an error in a user's function does not cost the run,
and what cannot fit is refused before it is begun.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import warnings
from dataclasses import replace

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.simulation.engine.interruption import all_or_nothing, stop_when
from manoeuvre import start

CRAFT, Q, V = start()
V = V + 0.02


class Broken(Exception):
    pass


def failing(when, right=None):
    """Raises once t has passed `when`, as a bug in a table of a law does."""

    def law(craft, t, q, v):
        if float(t) > when:
            raise Broken(f"no entry at {float(t):.3f}")
        return np.concatenate([np.zeros(6), -0.1 * v[6:]])

    return law


def mended(craft, t, q, v):
    float(t)
    return np.concatenate([np.zeros(6), -0.1 * v[6:]])


def quietly(function, *arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*arguments, **options)


@pytest.mark.parametrize("method", ["dop853", "gauss16"])
def test_an_error_in_a_law_keeps_the_run_up_to_it(method):
    options = {"rtol": 1e-7, "integrator": method}
    with pytest.raises(Broken, match="no entry") as caught:
        quietly(gs.simulate, CRAFT, Q, V, (0, 2.0), control=failing(0.7), **options)
    part = caught.value.trajectory
    assert part.interrupted and not part.ok and part.status == ("running",) and 0.0 < part.t_end <= 0.7
    assert "'trajectory'" in caught.value.__notes__[0] and f"t = {float(part.t_end):.9g} s" in caught.value.__notes__[0]
    reached = part.time <= part.t_end
    assert np.isfinite(part.q[reached]).all() and np.isnan(part.q[~reached]).all()
    whole = quietly(gs.simulate, CRAFT, Q, V, (0, 2.0), control=mended, **options)
    np.testing.assert_array_equal(part.q[reached], whole.q[reached])
    again = quietly(gs.simulate, CRAFT, resume=part, control=mended)
    np.testing.assert_array_equal(again.q, whole.q)


def test_an_error_in_an_effect_keeps_the_run_up_to_before_it():
    def effect(craft, t, q, v):
        if t > 0.5:
            raise Broken("no effect")
        return q, 0.9 * v

    tick = lambda craft, t, q, v: gs.algebra.sin(np.pi * 5.0 * t)
    event = gs.When(tick, "tick", effect=effect)
    right = replace(event, effect=lambda craft, t, q, v: (q, 0.9 * v))
    with pytest.raises(Broken) as caught:
        gs.simulate(CRAFT, Q, V, (0, 1.0), events=event, max_step=0.05)
    part = caught.value.trajectory
    assert part.t_end <= 0.6 + 1e-9 and [e.t for e in part.events] == pytest.approx([0.2, 0.4])
    whole = gs.simulate(CRAFT, Q, V, (0, 1.0), events=right, max_step=0.05)
    again = gs.simulate(CRAFT, resume=part, events=right)
    np.testing.assert_array_equal(again.q, whole.q)
    assert [e.t for e in again.events] == [e.t for e in whole.events]


@pytest.mark.parametrize("runs", [1, 20])
@pytest.mark.parametrize(
    "method",
    [
        {"max_step": 0.05},
        {"integrator": "gauss16", "max_step": 0.05},
        {"integrator": "rk4", "step": 0.05},
        {"integrator": "gauss6", "step": 0.05},
    ],
    ids=lambda method: method.get("integrator", "dop853"),
)
def test_an_error_in_an_effect_costs_one_step(method, runs):
    """It cost up to 128, all of a short run: the compiled loop makes so many before it asks whether it is to stop."""

    def broken(craft, t, q, v):
        raise Broken("no effect")

    event = gs.When(lambda craft, t, q, v: t - 0.62, "late", effect=broken)
    right = replace(event, effect=lambda craft, t, q, v: (q, 0.9 * v))
    q0 = Q if runs == 1 else np.tile(Q, (runs, 1))
    v0 = V if runs == 1 else V * np.linspace(0.5, 1.5, runs)[:, None]
    with pytest.raises(Broken) as caught:
        gs.simulate(CRAFT, q0, v0, (0, 1.0), events=event, **method)
    part = caught.value.trajectory
    assert 0.569 < np.max(part.t_end) < 0.62  # of a batch, runs that had not been begun are still to be
    whole = gs.simulate(CRAFT, q0, v0, (0, 1.0), events=right, **method)
    again = gs.simulate(CRAFT, resume=part, events=right)
    np.testing.assert_array_equal(again.q, whole.q)
    assert str(again.audit) == str(whole.audit)


def test_of_a_batch_each_run_is_kept_where_it_was():
    qs = np.tile(Q, (20, 1))
    qs[:, 7] += np.linspace(0.0, 0.4, 20)
    with pytest.raises(Broken) as caught:
        quietly(gs.simulate, CRAFT, qs, V, (0, 1.0), control=failing(0.6), rtol=1e-7)
    part = caught.value.trajectory
    assert part.status.count("running") > 0
    again = quietly(gs.simulate, CRAFT, resume=part, control=mended)
    whole = quietly(gs.simulate, CRAFT, qs, V, (0, 1.0), control=mended, rtol=1e-7)
    np.testing.assert_array_equal(again.q, whole.q)


def test_the_limit_on_the_process_counts():
    """In a process with a real limit: refused by our own words, not by a failed allocation."""
    code = """
        import resource, numpy as np, gyrostat as gs
        craft = gs.load("servicer")
        q = np.tile(gs.neutral(craft), (4000, 1))
        gs.simulate(craft, q[:1], None, (0, 0.1))
        used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + 200_000_000, used + 200_000_000))
        try:
            gs.simulate(craft, q, None, (0, 0.1))
        except MemoryError as error:
            print(error)
        gs.simulate(craft, q, None, (0, 0.1), save_at=[0.1])
        print("fits")
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], check=False, capture_output=True, text=True, timeout=120
    )
    assert "4,000 runs, each kept at 401 times, need " in done.stdout and "fits" in done.stdout, done.stderr


def ctrl_c_at(when):
    """A law that is under way when somebody presses Ctrl-C: once, at the first time after `when`."""
    pressed = []

    def law(craft, t, q, v):
        if float(t) > when and not pressed:
            pressed.append(float(t))
            signal.raise_signal(signal.SIGINT)
        return np.concatenate([np.zeros(6), -0.1 * v[6:]])

    return law


@pytest.mark.skipif(os.name == "nt", reason="raises signals of POSIX")
def test_a_run_that_is_done_when_ctrl_c_comes_is_complete():
    """It called itself interrupted, and one with checkpoints that were due then went on for ever."""
    options = {"integrator": "rk4", "step": 0.1, "save_at": [1.0]}
    whole = quietly(gs.simulate, CRAFT, Q, V, (0, 1), control=mended, **options)
    late = quietly(gs.simulate, CRAFT, Q, V, (0, 1), control=ctrl_c_at(0.96), **options)
    assert late.ok and not late.interrupted and late.q.tobytes() == whole.q.tobytes()
    early = quietly(gs.simulate, CRAFT, Q, V, (0, 1), control=ctrl_c_at(0.76), **options)
    assert early.interrupted and early.state.t[0] == pytest.approx(0.8)


@pytest.mark.skipif(os.name == "nt", reason="raises signals of POSIX")
def test_ctrl_c_at_the_end_of_a_phase_interrupts_the_next_which_goes_on_bit_for_bit():
    """It was forgotten: the phases that follow were run to their ends."""
    options = {"integrator": "rk4", "step": 0.1}

    def phases(law):
        return [gs.Phase(1.0, "first", control=law), gs.Phase(1.0, "second", control=mended)]

    whole = quietly(gs.simulate_phases, CRAFT, Q, V, phases(mended), **options)
    part = quietly(gs.simulate_phases, CRAFT, Q, V, phases(ctrl_c_at(0.96)), **options)
    assert [result.finished for result in part.phases] == [True, False]
    assert part.trajectory.interrupted and part.phases[-1].end[0] == pytest.approx(1.0)
    resumed = quietly(gs.simulate_phases, CRAFT, phases=phases(mended), resume=part)
    assert resumed.ok and resumed.trajectory.q.tobytes() == whole.trajectory.q.tobytes()


def one(law):
    return quietly(gs.simulate, CRAFT, Q, V, (0, 1.0), control=law, rtol=1e-7)


def batch(law):
    return quietly(gs.simulate, CRAFT, np.tile(Q, (20, 1)), V, (0, 1.0), control=law, rtol=1e-7)


def phases(law):
    return quietly(gs.simulate_phases, CRAFT, Q, V, [gs.Phase(0.3), gs.Phase(0.7)], control=law, rtol=1e-7)


def formation(law):
    both = gs.Formation({"a": CRAFT, "b": CRAFT})
    state = both.state({"a": (Q, V), "b": (Q, 2.0 * V)})
    return quietly(gs.simulate, both, state, (0, 1.0), control=dict.fromkeys(both.groups, law), rtol=1e-7)


@pytest.mark.skipif(os.name == "nt", reason="raises signals of POSIX")
@pytest.mark.parametrize("fly", [one, batch, phases, formation])
def test_who_would_take_a_part_for_the_whole_gets_none(fly):
    """Ctrl-C in `gyrostat demo`, `view` and `reproduce`: they showed what there was as if it had been flown to its end,
    or called it an error of their own.
    """
    with all_or_nothing():
        with pytest.raises(KeyboardInterrupt):
            fly(ctrl_c_at(0.6))
        with stop_when(lambda: False):  # who asks for it keeps what there is
            assert fly(ctrl_c_at(0.6)).interrupted
    part = fly(ctrl_c_at(0.6))
    assert part.interrupted
    assert not fly(mended).interrupted


@pytest.mark.parametrize("when", [0.3, 0.9, 0.6])
def test_an_error_in_a_phase_keeps_all_phases_up_to_it(when, tmp_path):
    """Only the phase in which it came was kept, and none where its law could not even be traced."""
    phases = [gs.Phase(0.6, "first"), gs.Phase(1.4, "second")]
    options = {"rtol": 1e-7, "save_at": np.linspace(0.0, 2.0, 41)}
    with pytest.raises(Broken, match="no entry") as caught:
        quietly(gs.simulate_phases, CRAFT, Q, V, phases, control=failing(when), **options)
    part = caught.value.trajectory
    assert [r.finished for r in part.phases] == {0.3: [False], 0.6: [True], 0.9: [True, False]}[when]
    whole = quietly(gs.simulate_phases, CRAFT, Q, V, phases, control=mended, **options)
    np.testing.assert_array_equal(part.trajectory.q, whole.trajectory.q[: len(part.trajectory.q)])
    path = part.save(tmp_path / "part.nc")
    for again in (
        quietly(gs.simulate_phases, CRAFT, phases=phases, resume=part, control=mended),
        quietly(gs.simulate_phases, CRAFT, Q, V, phases, resume=path, control=mended, **options),
    ):
        assert again.ok
        np.testing.assert_array_equal(again.trajectory.q, whole.trajectory.q)
        np.testing.assert_array_equal(again.trajectory.time, whole.trajectory.time)


def test_phases_before_one_that_cannot_begin_are_kept():
    def bad(craft, t, q, v):
        raise Broken("never")

    phases = [gs.Phase(0.6, "first"), gs.Phase(1.4, "second", control=bad)]
    with pytest.raises(Broken, match="never") as caught:
        quietly(gs.simulate_phases, CRAFT, Q, V, phases, control=mended)
    part = caught.value.trajectory
    assert [r.phase.name for r in part.phases] == ["first"] and part.phases[0].finished
    right = [phases[0], gs.Phase(1.4, "second", control=mended)]
    again = quietly(gs.simulate_phases, CRAFT, phases=right, resume=part)
    whole = quietly(gs.simulate_phases, CRAFT, Q, V, right, control=mended)
    assert again.ok and again.phases[1].trajectory.q.tobytes() == whole.phases[1].trajectory.q.tobytes()


def test_an_error_before_a_run_of_phases_goes_on_costs_none_of_it(tmp_path):
    """What an exception bears is what there was, or nothing where a file holds it: a command writes it there."""
    phases = [gs.Phase(0.6, "first"), gs.Phase(1.4, "second", options={"max_steps": 2})]
    part = quietly(gs.simulate_phases, CRAFT, Q, V, phases, control=mended)
    assert part.interrupted and len(part.phases) == 2

    def bad(craft, t, q, v):
        raise Broken("never")

    with pytest.raises(Broken) as caught:
        quietly(gs.simulate_phases, CRAFT, phases=phases, resume=part, control=bad)
    assert caught.value.trajectory.trajectory.q.tobytes() == part.trajectory.q.tobytes()
    path = part.save(tmp_path / "part.nc")
    with pytest.raises(Broken) as caught:
        quietly(gs.simulate_phases, CRAFT, Q, V, phases, control=bad, resume=path)
    assert not hasattr(caught.value, "trajectory")
