"""Breakpoints, tolerances, step sizes, and the ends of runs that cannot go on."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algebra import where
from gyrostat.simulation.engine.block import lane_count
from manoeuvre import start
from rigid_body import FreeBody

LANES = lane_count()


def block(mass=2.0, **joint):
    base = gs.Body("base", 1.0, inertia=(1, 1, 1), joint=gs.Joint("base", "fixed"))
    axis = {"axis": (1.0, 0.0, 0.0), **joint}
    body = gs.Body("body", mass, inertia=(1, 1, 1), joint=gs.Joint("slider", "prismatic", "base", **axis))
    return gs.Spacecraft.build("slider", [base, body])


def bang(craft, t, q, v):
    """2 N forward until 1 s, 2 N back until 3 s, then nothing."""
    return np.array([where(t < 1.0, 2.0, where(t < 3.0, -2.0, 0.0))])


EXACT = 0.5 + 2 * 1 - 0.5 * 4 - 1.0 * 1.0  # position at 4 s: speed 1 at 1 s, -1 at 3 s


@pytest.mark.parametrize(
    "options",
    [{"step": 0.16}, {"integrator": "gauss6", "step": 0.16}, {"rtol": 1e-6}, {"integrator": "gauss16", "step": 0.16}],
)
def test_a_switch_is_exact_with_its_breakpoint_and_only_with_it(options):
    craft = block()
    at = {"save_at": [4.0], **options}
    with_them = gs.simulate(craft, [0.0], [0.0], (0, 4), control=bang, breakpoints=[1.0, 3.0], **at)
    without = gs.simulate(craft, [0.0], [0.0], (0, 4), control=bang, **at)
    assert abs(with_them.final[0][0] - EXACT) < 1e-14 and abs(with_them.final[1][0] + 1) < 1e-14
    assert abs(without.final[0][0] - EXACT) > 1e-9


def test_saved_rows_at_a_breakpoint_show_what_acts_from_there_on():
    traj = gs.simulate(block(), [0.0], [0.0], (0, 4), control=bang, breakpoints=[1.0, 3.0], save_at=[0.5, 1.0, 3.0])
    np.testing.assert_array_equal(traj.tau[:, 0], [2.0, -2.0, 0.0])


def test_a_pulse_is_stepped_over_unless_max_step_or_breakpoints_forbid_it():
    def pulse(craft, t, q, v):
        return np.array([where((t >= 50.0) & (t < 50.5), 2.0, 0.0)])

    craft = block()
    assert gs.simulate(craft, [0.0], [0.0], (0, 100), control=pulse).final[1][0] == 0.0
    seen = gs.simulate(craft, [0.0], [0.0], (0, 100), control=pulse, max_step=0.4)
    assert abs(seen.final[1][0] - 0.5) < 1e-6
    exact = gs.simulate(craft, [0.0], [0.0], (0, 100), control=pulse, breakpoints=[50.0, 50.5])
    assert abs(exact.final[1][0] - 0.5) < 1e-14


def test_tolerances_per_component():
    """A base that flies at 7.5 km/s must not drown a joint that turns slowly: its own tolerance keeps its digits."""
    craft, q, v = start()
    v[:], v[3:6] = 0.0, [7500.0, 0.0, 0.0]
    v[6:] = 1e-3 * np.array([1.0, -2.0, 1.5, 1.0, -1.0, 2.0])

    def sway(craft, t, q, v):
        return np.concatenate([np.zeros(6), -np.array([2.0, 2.0, 1.0, 0.1, 0.01, 0.01]) * (q[7:] - 0.3)])

    exact = gs.simulate(craft, q, v, (0, 20), control=sway, rtol=1e-13, atol=1e-16).final
    atol = np.concatenate(
        [np.full(4, 1e-10), np.full(3, 1.0), np.full(6, 1e-10), np.full(3, 1e-9), np.full(3, 1.0), np.full(6, 1e-9)]
    )
    drowned = gs.simulate(craft, q, v, (0, 20), control=sway, rtol=1e-12, atol=1.0)
    kept = gs.simulate(craft, q, v, (0, 20), control=sway, rtol=1e-12, atol=atol)
    assert np.abs(drowned.final[0][7:] - exact[0][7:]).max() > 1e-6
    assert np.abs(kept.final[0][7:] - exact[0][7:]).max() < 1e-7
    tight = gs.simulate(craft, q, v, (0, 20), control=sway, rtol=np.append(np.full(13, 1e-6), np.full(12, 1e-11)))
    assert tight.state.steps[0] > gs.simulate(craft, q, v, (0, 20), control=sway, rtol=1e-6).state.steps[0]


def test_dense_output_is_as_good_as_the_steps():
    """Saved times between steps, against the closed form of the free rigid body."""
    body = FreeBody()
    craft = gs.Spacecraft.build("body", [gs.Body("body", 5.0, inertia=(body.A, body.B, body.C))])
    v0 = np.concatenate([body.rates(0.0), np.zeros(3)])
    times = np.linspace(0, 20, 777)
    exact = np.array([body.rates(t) for t in times])
    for method, rtol, bound in (("dop853", 1e-10, 5e-9), ("rk45", 1e-9, 1e-7)):
        traj = gs.simulate(craft, None, v0, (0, 20), save_at=times, integrator=method, rtol=rtol, atol=rtol / 100)
        assert traj.state.steps[0] < 777 if method == "dop853" else True
        assert np.abs(traj.v[:, :3] - exact).max() < bound


# ---- runs that cannot go on


def runaway(craft, t, q, v):
    """v' = v^2: infinite at t = 1 / v0."""
    return np.array([2.0 * v[0] * v[0]])


@pytest.mark.parametrize("options", [{}, {"integrator": "rk45"}, {"integrator": "gauss16"}])
def test_a_singularity_ends_with_an_underflow_at_its_time(options):
    craft = block()
    with pytest.warns(
        gs.SimulationWarning, match=r"slider: stopped at t = 0\.4\d* s: the step became too small"
    ) as caught:
        traj = gs.simulate(craft, [0.0], [2.5], (0, 1), control=runaway, **options)
    message = str(caught[0].message)
    assert "Fastest joint there: 'slider' at" in message and "m/s. The last good state is kept." in message
    assert traj.status == ("underflow",) and not traj.ok and traj.failures == (message,) and message in str(traj)
    assert abs(float(traj.data["t_end"]) - 0.4) < 1e-6
    reached = traj.time < 0.399
    np.testing.assert_allclose(traj.v[reached, 0], 2.5 / (1 - 2.5 * traj.time[reached]), rtol=1e-6)
    assert np.isnan(traj.v[traj.time > 0.41]).all() and np.isfinite(traj.final[1]).all()
    assert np.isfinite(traj.audit.worst)


@pytest.mark.parametrize("method", ["rk4", "gauss6", "dop853", "rk45", "gauss16"])
def test_a_state_that_is_no_number_ends_the_run_with_the_last_good_one(method):
    """The root of a negative number from t = 0.5 s on."""

    def law(craft, t, q, v):
        return np.array([gs.algebra.sqrt(0.5 - t)])

    with pytest.warns(
        gs.SimulationWarning, match=r"stopped at t = 0\.[45]\d* s: the state became infinite or no number"
    ):
        traj = gs.simulate(block(), [0.0], [0.0], (0, 1), control=law, integrator=method, step=0.05)
    assert traj.status == ("not_finite",) and np.isfinite(traj.final[0]).all()
    if method in ("dop853", "rk45", "gauss16"):
        with pytest.warns(gs.SimulationWarning, match=r"stopped at t = 0\.(5|49999)\d* s: the state became infinite"):
            traj = gs.simulate(block(), [0.0], [0.0], (0, 1), control=law, integrator=method)
        assert abs(float(traj.data["t_end"]) - 0.5) < 1e-6


@pytest.mark.parametrize("method", ["gauss6", "gauss16"])
def test_implicit_stages_that_do_not_converge_say_so(method):
    with pytest.warns(gs.SimulationWarning, match="did not converge: use a smaller step"):
        traj = gs.simulate(block(stiffness=1e6), [0.1], [0.0], (0, 1), integrator=method, step=0.1)
    assert traj.status == ("no_convergence",)


def test_in_a_batch_only_the_member_that_fails_stops():
    craft = block()
    v = np.concatenate([np.full(LANES + 2, -1.0), [2.5], np.full(3, -0.5)])[:, None]
    with pytest.warns(gs.SimulationWarning, match=rf"slider, run {LANES + 2}: stopped at t = 0\.4") as caught:
        traj = gs.simulate(craft, [0.0], v, (0, 2), control=runaway)
    assert len(caught) == 1 and [s for s in traj.status if s != "done"] == ["underflow"]
    good = np.delete(np.arange(len(v)), LANES + 2)
    for k in good:
        alone = gs.simulate(craft, [0.0], v[k], (0, 2), control=runaway)
        np.testing.assert_array_equal(traj.v[k], alone.v)
    assert np.isnan(traj.v[LANES + 2, -1]).all() and np.isfinite(traj.v[good]).all()
    np.testing.assert_allclose(traj.v[0, -1, 0], -1 / (1 + 2.0), rtol=1e-9)


def test_max_steps_interrupts_and_says_how_to_go_on():
    craft, q, v = start()
    with pytest.warns(gs.SimulationWarning, match=r"1 of 1 runs took 5 steps and reached only t = .*raise max_steps"):
        traj = gs.simulate(craft, q, v, (0, 100), max_steps=5)
    assert int(traj.state.steps[0] + traj.state.rejections[0]) == 5 and traj.status == ("running",) and not traj.ok


def test_a_span_of_no_length_keeps_the_start():
    craft, q, v = start()
    traj = gs.simulate(craft, q, v, (3.0, 3.0))
    np.testing.assert_array_equal(traj.v, v[None])
    np.testing.assert_array_equal(traj.final[0], q)


def test_time_may_begin_anywhere():
    craft = block()
    late = gs.simulate(
        craft, [0.0], [0.0], (-2, 2), control=lambda craft, t, q, v: np.array([2.0 * t]), save_at=[-2, 0, 2]
    )
    np.testing.assert_allclose(late.v[:, 0], [0.0, -2.0, 0.0], atol=1e-12)


def test_few_steps_are_rejected_where_stability_limits_them():
    """Strong dampers on light links: without a PI controller, two of five steps would be too long by a little."""
    craft = gs.load("servicer")
    v = np.concatenate([np.zeros(6), np.full(6, 0.05)])
    options = {"control": lambda craft, t, q, v: np.concatenate([np.zeros(6), -5.0 * v[6:]]), "save_at": [20.0]}
    run = gs.simulate(craft, None, v, (0, 20), rtol=1e-9, **options)
    assert run.state.steps[0] > 500 and run.state.rejections[0] < 0.15 * run.state.steps[0]
