"""The summary of a run: what happened in order, what was required, how near limits came, said alike from a file."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.simulation import Trajectory
from gyrostat.simulation.phase import Phase
from gyrostat.simulation.phases import simulate_phases


def wheeled(speed: float = 50.0, effort: float = 0.4) -> gs.Spacecraft:
    """A bus with a skew wheel and one joint off its axes."""
    arm = gs.Joint("hinge", "revolute", "bus", (0.4, 0.1, -0.2), axis=(0, 1, 0), limits=gs.Limits(effort=2.0))
    wheel = gs.Wheel("wheel", "bus", (0.6, 0.0, 0.8), 0.03, max_torque=effort, max_speed=speed)
    bodies = [gs.Body("bus", 40.0, (0.02, 0, 0.01), (4, 5, 6)), gs.Body("link", 3.0, (0.5, 0, 0), (0.1, 0.4, 0.4), arm)]
    return gs.Spacecraft.build("wheeled", [*bodies, wheel])


def test_figures_are_the_largest_and_the_last_against_the_limits():
    craft = wheeled()

    def law(craft, t, q, v):
        tau = np.zeros(craft.nv, dtype=object)
        tau[6], tau[7] = 1.5 * gs.algebra.sin(2.0 * t), -0.05
        return tau

    v0 = np.zeros(craft.nv)
    v0[7] = 20.0
    run = gs.simulate(craft, gs.neutral(craft), v0, (0, 3), control=law, save_at=np.linspace(0, 3, 301))
    by_name = {f.name: f for f in run.summary.figures}
    torque, speed, momentum = (
        by_name[n] for n in ("joint torque, hinge", "wheel speed, wheel", "wheel momentum, wheel")
    )
    assert torque.peak == pytest.approx(1.5, rel=1e-4) and torque.limit == 2.0 and torque.share == torque.peak / 2.0
    assert torque.final == pytest.approx(abs(1.5 * np.sin(6.0)), rel=1e-9)
    rates = np.abs(run.v[:, 7])
    assert speed.unit == "rpm" and speed.peak == pytest.approx(rates.max() * 30 / np.pi)
    assert speed.limit == pytest.approx(50 * 30 / np.pi) and speed.final == pytest.approx(rates[-1] * 30 / np.pi)
    assert momentum.peak == pytest.approx(0.03 * rates.max()) and momentum.limit == pytest.approx(1.5)
    angle = by_name["base, turned from its start"]
    relative = gs.algebra.rotation(run.q[0, :4]).T @ gs.algebra.rotation(run.q[-1, :4])
    expected = np.degrees(np.arccos((np.trace(relative) - 1) / 2))
    assert angle.final == pytest.approx(expected, rel=1e-6) and angle.final > 0.1


def test_what_was_missed_comes_first_and_a_file_says_the_same(tmp_path):
    craft = wheeled()
    run = gs.simulate(craft, gs.neutral(craft), np.zeros(craft.nv), (0, 1), save_at=[0, 1])
    run.data.attrs["requirements"] = [
        {"name": "rate", "value": 0.1, "limit": 0.5, "margin": 0.4, "met": True, "unit": "deg/s"},
        {"name": "reach", "value": 0.9, "limit": 1.0, "margin": -0.1, "met": False, "unit": "m"},
    ]
    run.data.attrs["figures"] = [{"name": "clearance", "peak": None, "final": 0.25, "unit": "m"}]
    summary = run.summary
    assert not summary.met and summary.level == "poor"
    assert summary.verdict == "reached its end, 1 of 2 requirements met; not met: reach"
    assert [r.name for r in summary.requirements] == ["reach", "rate"]
    assert "clearance: 0.25 m at the end" in str(summary)
    again = Trajectory.load(run.save(tmp_path / "run.nc")).summary
    assert str(again) == str(summary)


def test_phases_events_and_impulses_are_told_in_order():
    """Two bodies drift together, are grasped and let go; the loss is the change of kinetic energy."""
    chaser = gs.Spacecraft.build("chaser", [gs.Body("hull", 30.0, (0.1, 0, 0), (2, 3, 4))])
    target = gs.Spacecraft.build("target", [gs.Body("rock", 20.0, (0, 0.05, 0), (1, 2, 2))])
    both = gs.together("both", [chaser, target])
    q, v = gs.neutral(both), np.zeros(both.nv)
    q[11] = 3.0
    v[9] = -0.5
    v[6:9] = (0.0, 0.02, 0.05)
    gap = lambda craft, t, q, v: q[11] - 2.0
    weld = gs.constraints.weld("hull", "rock", name="grapple")
    phases = [
        Phase(9.0, "approach", until=gap),
        Phase(2.0, "hold", grasp=[weld]),
        Phase(1.0, "go", release=["grapple"]),
    ]
    run = simulate_phases(both, q, v, phases, save_at=np.linspace(0, 12, 25))
    summary = run.trajectory.summary
    assert [(h.what, h.name) for h in summary.happened] == [
        ("phase", "approach"),
        ("event", run["approach"].phase.until_name),
        ("phase", "hold"),
        ("phase", "go"),
        ("release", "grapple"),
    ]
    hold = summary.happened[2]
    before, after = run["approach"].end, run["hold"].trajectory
    lost = gs.kinetic_energy(both, *before[1:]) - gs.kinetic_energy(both, after.q[0], after.v[0])
    assert hold.energy_lost == pytest.approx(lost, rel=1e-9) and lost > 0.1
    moved = 20.0 * np.linalg.norm(
        _velocity(both, "rock", after, 0) - _velocity(both, "rock", run["approach"].trajectory, -1)
    )
    assert hold.impulses == pytest.approx([moved], rel=0.02)
    assert [f.name for f in summary.figures] == [
        f"{who}, {what}" for who in ("chaser", "target") for what in ("turned from its start", "angular rate")
    ]


def _velocity(craft, body, run, row):
    """Of its centre of mass, in N."""
    q, v = run.final if row == -1 else (run.q[row], run.v[row])
    return (gs.jacobian(craft, q, body, craft.body(body).com) @ v)[3:]


def test_an_event_that_never_came_is_told():
    craft = wheeled()
    never = lambda craft, t, q, v: q[7] - 9.0
    with pytest.warns(gs.SimulationWarning, match="without its event"):
        run = simulate_phases(craft, gs.neutral(craft), np.zeros(craft.nv), [Phase(1.0, "wait", until=never)])
    summary = run.trajectory.summary
    assert summary.level == "poor" and summary.verdict == "did not reach its end: wait never happened"
    assert summary.happened[-1].what == "missed" and "never happened" in str(summary.happened[-1])
    gaps = np.abs(run.phases[0].trajectory.q[:, 7] - 9.0)
    assert summary.happened[-1].words == f"never happened; nearest at 0 s, {gaps[0]:.4g} away"
