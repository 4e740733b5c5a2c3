"""Wheels out of balance: they shake what carries them as the square of their speed, and nothing else is different."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import control
from gyrostat.algebra import quat_exp

STATIC, DYNAMIC, SPEED = 2e-4, 5e-5, 60.0
HULL = gs.Body("hull", 500.0, inertia=[60.0, 70.0, 50.0])


def spun(seconds=1.0, **imbalance):
    wheel = control.unbalanced_wheel("wheel", "hull", (0, 0, 1), 0.01, mass=3.0, **imbalance)
    craft = gs.Spacecraft.build("shaken", [HULL, wheel])
    v = craft.v({"wheel": SPEED})
    return gs.simulate(
        craft, None, v, (0, seconds), rtol=1e-11, atol=1e-14, save_at=np.linspace(0, seconds, 401), max_step=0.005
    )


def test_the_force_is_static_times_the_square_of_the_speed():
    """The hull's centre goes round in a circle of static/(mass of both); from rest it also drifts."""
    run = spun(static=STATIC)
    t = run.time
    basis = np.column_stack([np.cos(SPEED * t), np.sin(SPEED * t), np.ones_like(t), t])
    found = np.linalg.lstsq(basis, run.v[:, 3:5], rcond=None)[0][:2]
    np.testing.assert_allclose(np.linalg.norm(found, axis=0), STATIC * SPEED / 503.0, rtol=1e-3)
    assert run.audit.linear < 1e-12 and run.audit.angular < 1e-10 and run.audit.energy < 1e-9


def test_the_torque_is_dynamic_times_the_square_of_the_speed():
    """The hull nods by dynamic/inertia, a little less where the wheel's momentum makes it precess."""
    run = spun(dynamic=DYNAMIC)
    t = run.time
    basis = np.column_stack([np.cos(SPEED * t), np.sin(SPEED * t), np.ones_like(t), t, t * t])
    found = np.linalg.norm(np.linalg.lstsq(basis, run.v[:, :2], rcond=None)[0][:2], axis=0)
    np.testing.assert_allclose(found, DYNAMIC * SPEED / np.array([60.0, 70.0]), rtol=2e-3)
    assert np.abs(run.v[:, 3:6]).max() < 1e-12


def test_balanced_it_is_the_wheel_that_it_is():
    """Against gs.Wheel with the same mass, under a law that drives both."""
    law = control.quaternion_feedback(
        lambda t: control.pose_reference(quat_exp(np.array([0, 0, 0.3]))), kp=0.04, kd=0.4
    )
    ends = []
    for make in ("unbalanced", "plain"):
        more = {"mass": 3.0, "transverse_inertia": 0.006}
        wheels = [
            control.unbalanced_wheel(f"w{k}", "hull", axis, 0.01, max_torque=0.5, **more)
            if make == "unbalanced"
            else gs.Wheel(f"w{k}", "hull", axis, 0.01, max_torque=0.5, included=False, **more)
            for k, axis in enumerate(np.eye(3))
        ]
        craft = gs.Spacecraft.build("sat", [HULL, *wheels])
        run = gs.simulate(craft, None, None, (0, 20), control=law, actuators=gs.Actuators(), mode="rotation-floating")
        ends.append(np.concatenate([run.q[-1, :4], run.v[-1]]))
        assert any("w2" in str(s) for s in run.saturation)
    np.testing.assert_allclose(*ends, atol=1e-7)


def test_jitter_reaches_the_structure():
    """A wheel at the tip of a boom bends it by U W^2 phi / (w^2 - W^2), at its speed W, w the mode's frequency."""
    from gyrostat.structures import ALUMINIUM, tube

    ground = gs.Body("ground", joint=gs.Joint("ground", "fixed"))
    root = gs.Joint("root", "fixed", "ground")
    boom = gs.beam("boom", 3.0, tube(0.02, 0.001, ALUMINIUM), modes=1, motions=["z"], stiffening=False, joint=root)
    wheel = control.unbalanced_wheel("wheel", "boom.tip", (1, 0, 0), 0.001, mass=0.5, static=1e-6)
    craft = gs.Spacecraft.build("boom", [ground, boom, wheel])
    w = 2 * np.pi * max(m.frequency for m in gs.modes(craft))
    bent = []
    for share in (0.4, 0.8, 1.3):
        W, end = share * w, 40.0 / w
        run = gs.simulate(
            craft,
            None,
            craft.v({"wheel": W}),
            (0, end),
            rtol=1e-11,
            atol=1e-16,
            max_step=0.1 / w,
            save_at=np.linspace(0, end, 300),
        )
        t, e = run.time, run.q[:, craft.flexible("boom").q_at][:, 0]
        basis = np.column_stack([f(x * t) for x in (w, W) for f in (np.cos, np.sin)])
        bent.append(np.linalg.norm(np.linalg.lstsq(basis, e, rcond=None)[0][2:]) / W**2 * abs(w * w - W * W))
    np.testing.assert_allclose(bent, bent[0], rtol=1e-3)


def test_files_keep_it(tmp_path):
    wheel = control.unbalanced_wheel("wheel", "hull", (0, 0, 1), 0.01, mass=3.0, static=STATIC, max_torque=0.1)
    craft = gs.Spacecraft.build("shaken", [HULL, wheel])
    gs.save(craft, tmp_path / "a.toml")
    again = gs.load(tmp_path / "a.toml")
    assert again.roles == craft.roles and again.roles[-1] is gs.Role.wheel
    np.testing.assert_allclose(control.wheels.spin_inertias(again), 0.01, rtol=1e-14)


def test_only_what_turns_about_one_axis_is_a_wheel():
    slide = gs.Body("slide", 1.0, inertia=[1, 1, 1], joint=gs.Joint("slide", "prismatic", "hull", driven="wheel"))
    with pytest.raises(gs.ModelError, match="spins nothing about one axis"):
        gs.Spacecraft.build("bad", [HULL, slide])
