"""Gears that yield and have play, and motors whose current is limited."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import control
from gyrostat.control import Motor, Motors

GROUND = gs.Body("ground", joint=gs.Joint("ground", "fixed"))


def geared(backlash=0.0, damping=0.0, stiffness=400.0):
    """A motor whose rotor, 2e-5 kg m^2 behind 1:100, drives a link of 2 kg m^2 through a gear that yields."""
    shaft = gs.Body(
        "shaft", joint=gs.Joint("motor", "revolute", "ground", axis=(0, 0, 1), rotor_inertia=2e-5, gear_ratio=100.0)
    )
    flank = gs.Joint(
        "gear", "revolute", "shaft", axis=(0, 0, 1), stiffness=stiffness, backlash=backlash, damping=damping
    )
    return gs.Spacecraft.build("arm", [GROUND, shaft, gs.Body("link", 3.0, inertia=[1, 1, 2.0], joint=flank)])


def test_a_gear_without_play_rings_at_the_frequency_of_two_inertias():
    craft = geared()
    frequency = max(mode.frequency for mode in gs.modes(craft))
    assert 2 * np.pi * frequency == pytest.approx(np.sqrt(400.0 * (1 / 0.2 + 1 / 2.0)), rel=1e-9)


def test_within_its_play_the_link_flies_free_and_bounces_between_the_flanks():
    """Relative speed w across the play b, and half a swing of the spring in each flank: period 2 (b/w + pi/W)."""
    b, w = 0.02, 0.05
    craft = geared(backlash=b)
    W = np.sqrt(400.0 * (1 / 0.2 + 1 / 2.0))
    period = 2 * (b / w + np.pi / W)
    run = gs.simulate(
        craft, None, {"motor": -w * 2.0 / 2.2, "gear": w}, (0, 3 * period), rtol=1e-11, atol=1e-13,
        save_at=np.linspace(0, 3 * period, 601), max_step=0.01,
    )  # fmt: skip
    gear = run.q[:, craft.joint_named("gear").q_at][:, 0]
    np.testing.assert_allclose(gear[200:401], gear[:201], atol=1e-8)
    assert np.abs(gear).max() == pytest.approx(b / 2 + w / W, rel=1e-4)
    inside = run.time < 0.45 * b / w
    np.testing.assert_allclose(gear[inside], w * run.time[inside], rtol=1e-9)
    assert run.audit.energy < 1e-9
    energy = control.passive.spring_energy(craft, run.q[np.argmax(gear)])
    assert energy == pytest.approx(0.5 * (0.2 * 2.0 / 2.2) * w**2, rel=1e-3)  # of the reduced inertia


def test_a_motor_that_turns_over_moves_the_link_only_after_its_play():
    craft = geared(backlash=0.01, damping=0.02)
    run = gs.simulate(
        craft,
        None,
        {"gear": 0.0},
        (0, 1.0),
        control=lambda craft, t, q, v: np.array([0.02, 0.0]),
        save_at=[0.2, 1.0],
        max_step=0.01,
    )
    assert abs(run.q[0, 0] + run.q[0, 1]) < 2e-3 * abs(run.q[0, 0])  # 0.5 0.1 0.2^2: within the play
    assert run.q[1, 0] + run.q[1, 1] > 1e-3


def test_play_of_flexible_and_batched_craft_is_dispersed():
    craft = geared(backlash=0.01)
    runs = gs.simulate(
        craft,
        None,
        {"motor": -0.05, "gear": 0.05},
        (0, 2.0),
        parameters={"gear.backlash": [0.01, 0.02, 0.0]},
        rtol=1e-9,
        max_step=0.01,
    )
    alone = gs.simulate(geared(backlash=0.02), None, {"motor": -0.05, "gear": 0.05}, (0, 2.0), rtol=1e-9, max_step=0.01)
    np.testing.assert_allclose(runs.q[1, -1], alone.q[-1], rtol=1e-6, atol=1e-9)
    assert np.abs(runs.q[0, -1] - runs.q[2, -1]).max() > 1e-3


def test_files_keep_play_and_formats_without_it_refuse_it(tmp_path):
    craft = geared(backlash=0.01)
    gs.save(craft, tmp_path / "a.toml")
    assert gs.load(tmp_path / "a.toml").joint_named("gear").backlash == 0.01
    with pytest.raises(gs.ModelError, match="the play of a gear"):
        gs.save(craft, tmp_path / "a.xml")


def test_play_needs_flanks():
    joint = gs.Joint("gear", "revolute", "ground", backlash=0.01)
    with pytest.raises(gs.ModelError, match="Give the gear's stiffness"):
        gs.Spacecraft.build("arm", [GROUND, gs.Body("link", 1.0, inertia=[1, 1, 1], joint=joint)])
    ball = gs.Joint("ball", "spherical", "ground", backlash=0.01, stiffness=1.0)
    with pytest.raises(gs.ModelError, match="of a joint of one coordinate"):
        gs.Spacecraft.build("arm", [GROUND, gs.Body("link", 1.0, inertia=[1, 1, 1], joint=ball)])


def test_a_current_limit_cuts_the_torque_speed_line():
    """k = 0.05 N m/A, 2 ohm, 28 V: 0.7 N m at rest, 560 rad/s; 5 A hold it to 0.25 N m up to 360 rad/s."""
    motor = Motor.of_windings(0.05, 2.0, 28.0, max_current=5.0, efficiency=0.8)
    joint = gs.Joint("j", gear_ratio=50.0)
    assert motor.range_at(joint, 0.0) == (pytest.approx(-10.0), pytest.approx(10.0))
    assert motor.range_at(joint, 7.0)[1] == pytest.approx(10.0)  # 350 rad/s
    assert motor.range_at(joint, 9.0)[1] == pytest.approx(40 * 0.7 * (1 - 450 / 560))
    assert motor.range_at(joint, 9.0)[0] == pytest.approx(-50 * 0.25 / 0.8)
    assert motor.current(joint, 10.0, 7.0) == pytest.approx(5.0)
    assert motor.current(joint, -12.5 / 0.8, 7.0) == pytest.approx(-5.0)
    craft = geared()
    free = Motors({"motor": Motor(0.7, 560.0)}).delivered(craft, np.array([100.0, 0.0]), np.zeros(2))
    held = Motors({"motor": Motor(0.7, 560.0, 1.0, 0.05, 5.0)}).delivered(craft, np.array([100.0, 0.0]), np.zeros(2))
    assert (free[0], held[0]) == (pytest.approx(70.0), pytest.approx(25.0))


def test_motors_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="give it, too"):
        Motor(1.0, max_current=3.0)
    with pytest.raises(ValueError, match="must be positive"):
        Motor(1.0, torque_constant=0.1, max_current=0.0)
    with pytest.raises(ValueError, match="must be positive"):
        Motor.of_windings(0.1, 0.0, 28.0)
    with pytest.raises(ValueError, match="its current follows from torque_constant"):
        Motor(1.0).current(gs.Joint("j"), 1.0, 0.0)
