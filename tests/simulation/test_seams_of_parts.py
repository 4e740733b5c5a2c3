"""Small seams: constraints that want different speeds, stops at the very start, loads on a base that is held, a failed
run that is restored, names asked for by one of two functions.
"""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest

import gyrostat as gs
from formation_crafts import armed, box
from gyrostat.algebra import sqrt
from gyrostat.constraints import capture, distance, driven
from gyrostat.control.controller import signature_of
from gyrostat.control.modes import through_center_of_mass
from gyrostat.simulation.problem.times import times_of


def test_two_rods_that_are_driven_apart_slowly_are_refused_too():
    craft = box()
    q = np.array([1.0, 0, 0, 0, 0.0, 0.0, -1.0])
    rod = distance("N", "hull", 1.0)
    slow, slower = driven(rod, lambda t: 2e-5 * t), driven(rod, lambda t: 1e-5 * t)
    with pytest.raises(ValueError, match="no impulse gives"):
        capture(craft, q, np.zeros(6), [slow, slower])


def test_what_one_function_requires_is_required_though_another_has_a_default():
    def needs(t, *, gain): ...
    def knows(t, *, gain=2.0): ...

    for pair in ((needs, knows), (knows, needs)):
        found = signature_of(("t",), *((f, 1) for f in pair))
        assert found.parameters["gain"].default is inspect.Parameter.empty


def test_a_breakpoint_at_the_start_but_for_round_off_ends_no_step():
    times = times_of((1.0, 2.0), None, None)
    stops, _ = times.stops([1.0 + 1e-14, 1.5], (), False)
    np.testing.assert_allclose(times.epoch + stops, [1.5, 2.0])


@pytest.mark.parametrize("kind", ["revolute", "cylindrical", "planar"])
def test_motors_of_a_base_that_is_held_and_its_support_give_all_momentum(kind):
    """The impulses of all causes from outside add up to the change of momentum; the motor's own is no support's."""
    joint = gs.Joint("base", kind, axis=(0.6, 0.0, 0.8)) if kind != "planar" else gs.Joint("base", kind)
    tip = gs.Body(
        "tip", 2.0, (0.3, 0.1, 0), np.array([0.1, 0.2, 0.25]), joint=gs.Joint("tip", "revolute", "hull", (0.4, 0, 0))
    )
    hull = gs.Body("hull", 10.0, (0.1, 0.2, -0.1), np.array([0.9, 1.1, 0.7]), joint=joint)
    craft = gs.Spacecraft.build("held", [hull, tip])

    def law(craft, t, q, v):
        return 0.3 * np.arange(1, craft.nv + 1) * (1.0 + t)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gs.SimulationWarning)
        run = gs.simulate(craft, None, np.full(craft.nv, 0.2), (0.0, 1.0), control=law, rtol=1e-11, atol=1e-12)
    h = run.momentum("com")
    total = np.nansum(run.data["cause_impulse"].values, axis=0)
    np.testing.assert_allclose(h[-1] - h[0], total, atol=1e-8)
    named = dict(zip(run.data["cause"].values.tolist(), run.data["cause_impulse"].values, strict=True))
    assert len(named) > 1 and run.audit.worst < 1e-9, (named, str(run.audit))


def test_a_failed_run_is_restored_without_a_second_warning():
    def fails(craft, t, q, v):
        return np.array([0, 0, 0, 0, 0, 1.0]) * sqrt(0.25 - t)

    sim = gs.Simulation(box(), control=fails, step=0.1, integrator="rk4")
    sim.reset(None, np.zeros(6))
    sim.step()
    sim.step()
    with pytest.warns(gs.SimulationWarning):
        sim.step()
    left = sim.snapshot()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim.restore(left)


def test_thrust_beside_the_centre_of_mass_of_a_craft_with_an_arm_shows_its_distance():
    """A force F along y, moved along x by d: its line passes d beside the centre of mass."""
    craft, d = armed(), 0.03

    def law(craft, t, q, v):
        wrench = through_center_of_mass(craft, q, np.array([0.0, 2.0, 0.0]))
        return np.concatenate([wrench + np.array([0.0, 0, 2.0 * d, 0, 0, 0]), np.zeros(craft.nv - 6)])

    with pytest.warns(gs.SimulationWarning, match="centre of mass"):
        run = gs.simulate(craft, None, np.full(craft.nv, 0.01), (0.0, 0.5), control=law, mode="translation-flying")
    assert run.mode_audit.thrust_offset == pytest.approx(d, rel=1e-9)
