"""A run is the same wherever its time starts: at zero, in 1970 seconds, before zero; laws see the user's time."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.simulation.engine.status import Stop
from gyrostat.simulation.phase import Phase
from gyrostat.simulation.phases import simulate_phases
from gyrostat.simulation.problem.times import Times
from manoeuvre import start

CRAFT, Q, V = start()
V = V + 0.02
LATE = 1.7e9  # s: numbers are 2.4e-7 apart there
STARTS = [LATE, -LATE, 3.7, -12.3]


def pd(craft, t, q, v):
    return np.concatenate([np.zeros(6), -2.0 * v[6:] - 3.0 * q[7:]])


def sampled():
    output = lambda craft, t, q, v, z: np.concatenate([np.zeros(6), -0.05 * v[6:] - z])
    return gs.Controller(output, np.full(6, 0.02), update=lambda craft, t, q, v, z: z + 0.01 * q[7:], period=0.0625)


@pytest.mark.parametrize("t0", STARTS)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"control": pd},
        {"control": sampled()},
        {"control": pd, "integrator": "rk4", "step": 0.01},
        {"control": pd, "integrator": "gauss16"},
        {"control": pd, "integrator": "gauss6", "step": 0.01},
        {"events": gs.When(lambda craft, t, q, v: q[7] - 0.31, "level", effect=lambda craft, t, q, v: (q, 0.5 * v))},
    ],
    ids=["free", "law", "sampled law", "rk4", "gauss16", "gauss6", "event"],
)
def test_where_time_starts_changes_nothing(t0, options):
    """Bit for bit, where nothing asks for the time and the saves are whole in both."""
    save = np.arange(0.0, 1.01, 0.125)
    early = gs.simulate(CRAFT, Q, V, (0.0, 1.0), save_at=save, **options)
    late = gs.simulate(CRAFT, Q, V, (t0, t0 + 1.0), save_at=t0 + save, **options)
    assert late.ok and late.time[0] == t0 and late.time[-1] == t0 + 1.0
    if abs(t0) == LATE:  # what is added to it, above, is whole there
        np.testing.assert_array_equal(late.q, early.q)
        np.testing.assert_array_equal(late.v, early.v)
        np.testing.assert_array_equal(late.state.steps, early.state.steps)
    else:
        np.testing.assert_allclose(late.q, early.q, atol=1e-10)
    np.testing.assert_allclose([e.t - t0 for e in late.events], [e.t for e in early.events], atol=np.spacing(abs(t0)))
    assert late.t_end == t0 + 1.0 and late.audit.worst == pytest.approx(early.audit.worst, rel=1e-2, abs=1e-11)


def test_a_millisecond_in_1970_seconds():
    """Before: ok, no step, 400 of 401 rows NaN."""
    run = gs.simulate(CRAFT, Q, V, (LATE, LATE + 1e-3))
    assert run.ok and run.state.steps[0] > 0 and np.isfinite(run.q).all()
    expected = gs.simulate(CRAFT, Q, V, (0.0, (LATE + 1e-3) - LATE))
    np.testing.assert_array_equal(run.final[0], expected.final[0])


def test_fixed_steps_are_whole_however_coarse_the_clock():
    run = gs.simulate(CRAFT, Q, V, (LATE, LATE + 0.01), integrator="rk4", step=1e-5, control=pd)
    assert run.ok and run.state.steps[0] == 1000
    expected = gs.simulate(CRAFT, Q, V, (0.0, 0.01), integrator="rk4", step=1e-5, control=pd)
    np.testing.assert_allclose(run.final[0], expected.final[0], atol=1e-12)


def test_laws_environments_events_and_motions_see_the_users_time():
    seen = {"law": [], "environment": [], "event": [], "motion": []}

    def note(what, t):
        seen[what].append(float(t))
        return 0.0

    late = LATE + 0.25
    options = {
        "control": lambda craft, t, q, v: np.zeros(craft.nv) + note("law", t),
        "environment": lambda craft, t, q, v: np.zeros((craft.nbodies, 6)) + note("environment", t),
        "events": gs.When(lambda craft, t, q, v: float(t) - late + note("event", t), "then"),
        "prescribed": {"joint_2": lambda t: np.zeros(1) + note("motion", t)},
    }
    with pytest.warns(gs.SimulationWarning):
        run = gs.simulate(CRAFT, Q, V, (LATE, LATE + 0.5), rtol=1e-6, **options)
    for times in seen.values():
        assert min(times) >= LATE and max(times) <= LATE + 0.5
    assert [e.t for e in run.events] == pytest.approx([late], abs=5e-7)


def test_a_traced_law_sees_it_too():
    pulse = lambda craft, t, q, v: np.eye(craft.nv)[8] * gs.algebra.where(t >= LATE + 0.5, 1.0, 0.0)
    run = gs.simulate(CRAFT, Q, 0 * V, (LATE, LATE + 1.0), control=pulse, breakpoints=[LATE + 0.5])
    before = run.time < LATE + 0.5
    assert np.abs(run.v[before]).max() == 0.0 and np.abs(run.v[-1, 6:]).max() > 1e-3
    assert np.abs(run.tau[~before][:, 8] - 1.0).max() == 0.0 and run.audit.worst < 1e-9


def test_breakpoints_and_samples_at_one_instant_are_one():
    times = Times(LATE, np.array([LATE, LATE + 1.0]), np.array([LATE, LATE + 1.0]))
    stops, kinds = times.stops([LATE + 0.1, LATE + 0.7], [0.1], False)
    both, sample = Stop.of({Stop.sample, Stop.breakpoint}), Stop.sample
    assert len(stops) == 10 and list(kinds[:-1]) == [both if k in (0, 6) else sample for k in range(9)]


@pytest.mark.parametrize("t0", [0.0, LATE])
def test_it_goes_on_bit_for_bit(t0, tmp_path):
    options = {"control": sampled()}
    whole = gs.simulate(CRAFT, Q, V, (t0, t0 + 2.0), **options)
    with pytest.warns(gs.SimulationWarning, match="took 9 steps and reached only t = "):
        part = gs.simulate(CRAFT, Q, V, (t0, t0 + 2.0), max_steps=9, **options)
    assert t0 < part.t_end < t0 + 2.0
    read = gs.Trajectory.load(part.save(tmp_path / "part.nc"))
    for earlier in (part, read):
        again = gs.simulate(CRAFT, resume=earlier, max_steps=10**6, **options)
        np.testing.assert_array_equal(again.q, whole.q)
    longer = gs.simulate(CRAFT, t_span=(t0, t0 + 3.0), resume=whole)
    assert longer.t_end == t0 + 3.0 and longer.time[-1] == t0 + 3.0


def test_phases_go_on_from_a_late_start():
    law = sampled()
    run = simulate_phases(CRAFT, Q, V, [Phase(0.53), Phase(0.47)], t0=LATE, control=law, rtol=1e-11)
    whole = gs.simulate(CRAFT, Q, V, (LATE, LATE + 1.0), control=law, rtol=1e-11)
    assert run.phases[1].trajectory.time[0] == LATE + 0.53
    np.testing.assert_allclose(run.trajectory.final[0], whole.final[0], atol=1e-9)


@pytest.mark.parametrize("options", [{"integrator": "gauss16"}, {"integrator": "rk4", "step": 0.02}, {}])
@pytest.mark.parametrize("t0", [0.0, 2.5, 3.7])
def test_every_row_is_saved_where_a_save_is_a_sample_but_for_round_off(t0, options):
    """2.6 - 2.5 is not 0.1: the step ends at the sample, and the row is written there, whatever its last digit."""
    law = gs.Controller(lambda craft, t, q, v: np.concatenate([np.zeros(6), -0.05 * v[6:]]), period=0.1)
    run = gs.simulate(CRAFT, Q, V, (t0, t0 + 0.6), control=law, save_at=np.linspace(t0, t0 + 0.6, 7), **options)
    assert run.ok and np.isfinite(run.q).all()
    np.testing.assert_array_equal(run.time, np.linspace(t0, t0 + 0.6, 7))


@pytest.mark.parametrize("options", [{}, {"integrator": "gauss16"}, {"integrator": "rk4", "step": 0.125}])
@pytest.mark.parametrize("t0, near", [(0.0, 3e-13), (LATE, 2.0**-22), (-3.7, 1e-15)])
def test_rows_at_times_that_are_all_but_one_are_all_saved(t0, near, options):
    """One row was written where the step ended, and the other held NaN: of a run that was ok."""
    end = t0 + 0.5
    save = np.unique([t0 + near, t0 + 0.25, t0 + 0.25 + near, end - near, end])
    run = gs.simulate(CRAFT, Q, V, (t0, end), save_at=save, breakpoints=[t0 + 0.25], **options)
    assert run.ok and len(run.time) == len(save) and np.isfinite(run.v).all()
    np.testing.assert_allclose(run.q[-1], run.q[-2], atol=1e-6)
    np.testing.assert_allclose(run.q[0], Q, atol=1e-6)


def test_neighbouring_numbers_of_a_coarse_clock_are_two_times():
    """The row between was that of the end, two seconds later."""
    run = gs.simulate(CRAFT, Q, V, (1e16, 1e16 + 4.0))
    expected = gs.simulate(CRAFT, Q, V, (0.0, 4.0), save_at=[0.0, 2.0, 4.0])
    np.testing.assert_allclose(run.q, expected.q, atol=1e-9)
