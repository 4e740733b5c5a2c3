"""Shaped commands leave modes at rest: by the formula, by integration, and on a craft with two arrays."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import gyrostat as gs
from gyrostat.algebra import clip, cos, sin
from gyrostat.control import (
    combined_shapers,
    ei_shaper,
    residual_vibration,
    shaped,
    si_shaper,
    zv_shaper,
    zvd_shaper,
)
from gyrostat.control.references import JointReference, pose_reference
from gyrostat.structures import Section

F, ZETA = 0.7, 0.03


def _slew(angle, T):
    """Smooth, at rest before 0 and after T."""

    def path(t):
        s, w = clip(t, 0.0, T), 2.0 * np.pi / T
        return JointReference(
            angle / T * (s - sin(w * s) / w), angle / T * (1.0 - cos(w * s)), angle / T * w * sin(w * s)
        )

    return path


@pytest.mark.parametrize("zeta", [0.0, ZETA, 0.3])
def test_what_is_left_is_what_each_shaper_promises(zeta):
    for make in (zv_shaper, zvd_shaper, ei_shaper):
        shaper = make(F, zeta)
        assert shaper.amplitudes.sum() == pytest.approx(1.0) and (shaper.amplitudes > 0).all() and shaper.times[0] == 0
    assert residual_vibration(zv_shaper(F, zeta), F, zeta) < 1e-15
    assert residual_vibration(zvd_shaper(F, zeta), F, zeta) < 1e-15
    assert residual_vibration(ei_shaper(F, zeta, tolerance=0.05), F, zeta) == pytest.approx(0.05, rel=1e-12)
    near = [residual_vibration(make(F, zeta), 1.01 * F, zeta) for make in (zv_shaper, zvd_shaper)]
    assert near[1] < 0.03 * near[0]  # second order in the error, not first


def test_the_extra_insensitive_range_is_half_as_wide_again():
    f = np.linspace(0.6, 1.4, 4001) * F
    wide = {}
    for make in (zv_shaper, zvd_shaper, ei_shaper):
        left = np.array([residual_vibration(make(F), x) for x in f])
        wide[make] = np.ptp(f[left <= 0.05 * (1 + 1e-9)]) / F
    assert wide[zv_shaper] == pytest.approx(4 / np.pi * np.arcsin(0.05), abs=1e-3)  # cos(pi f / 2 F) = 0.05
    assert wide[zvd_shaper] == pytest.approx(4 / np.pi * np.arcsin(np.sqrt(0.05)), abs=1e-3)
    assert wide[ei_shaper] == pytest.approx(0.3986, abs=2e-3)  # Singhose (1994): 0.40


@pytest.mark.parametrize(
    ("width", "zeta", "periods"),
    [(0.3986, 0.0, 1.0), (0.7262, 0.0, 1.5), (0.4, 0.05, 1.0)],  # EI has the first, EI of two humps the second
)
def test_a_range_that_is_specified_is_covered_in_the_time_it_takes(width, zeta, periods):
    """Singhose (1994): 0.40 within one period, 0.73 within one and a half, for a twentieth."""
    low, high = F * (1 - width / 2), F * (1 + width / 2)
    shaper = si_shaper(low, high, zeta)
    left = [residual_vibration(shaper, f, zeta) for f in np.linspace(low, high, 777)]
    assert max(left) < 0.05 * (1 + 1e-3) and (shaper.amplitudes >= 0).all()
    assert shaper.amplitudes.sum() == pytest.approx(1.0) and shaper.times[0] == 0.0
    assert shaper.duration * F == pytest.approx(periods, rel=0.06)
    assert si_shaper(low, high, zeta, tolerance=0.2).duration < shaper.duration


def test_a_shaped_force_leaves_an_oscillator_at_rest():
    shaper, w = zvd_shaper(F, ZETA), 2 * np.pi * F
    end = 1.1 + shaper.duration

    def left(path):
        def rhs(t, y):
            return [y[1], path(t).qddot - 2 * ZETA * w * y[1] - w * w * y[0]]

        y = solve_ivp(rhs, (0, end), [0, 0], rtol=1e-11, atol=1e-13, max_step=0.01).y[:, -1]
        return np.hypot(w * y[0], y[1])

    assert left(shaped(_slew(1.0, 1.1), shaper)) < 1e-7 * left(_slew(1.0, 1.1))


def test_shaping_a_slew_leaves_two_arrays_twenty_times_quieter():
    section = Section(1e6, 60.0, 60.0, 30.0, 1.2)
    wall = gs.Body("wall", 1.0, inertia=(1, 1, 1), joint=gs.Joint("wall", "fixed"))
    hub = gs.Body("hub", 300.0, inertia=(90, 80, 100), joint=gs.Joint("turn", "revolute", "wall", axis=(0, 0, 1)))
    half_turn = np.diag([-1.0, -1.0, 1.0])
    arrays = [
        gs.beam(name, 4.0, section, modes=2, motions=["y"], joint=gs.Joint(f"{name}_root", "fixed", "hub", p, R))
        for name, p, R in (("left", (1.0, 0.1, 0), np.eye(3)), ("right", (-1.0, 0.1, 0), half_turn))
    ]
    craft = gs.Spacecraft.build("servicer", [wall, hub, *arrays])
    f = arrays[0].clamped.frequencies
    path, shaper = _slew(np.radians(10.0), 0.8 / f[0]), combined_shapers(zvd_shaper(f[0]), zv_shaper(f[1]))
    end = 0.8 / f[0] + shaper.duration + 1.0

    def ringing(path):
        run = gs.simulate(
            craft, gs.neutral(craft), np.zeros(craft.nv), t_span=(0.0, end), rtol=1e-9,
            prescribed={"turn": lambda t: path(t).qddot},
        )  # fmt: skip
        q, v = run.q[-1], run.v[-1]
        assert q[craft.joint_named("turn").q_at] == pytest.approx(np.radians(10.0), abs=1e-6)
        parts = [craft.flexible(name) for name in ("left", "right")]
        energy = [v[b.v_at] @ b.modal_mass @ v[b.v_at] + q[b.q_at] @ b.stiffness @ q[b.q_at] for b in parts]
        return np.sqrt(sum(energy))

    ratio = ringing(path) / ringing(shaped(path, shaper))
    assert ratio > 20


def test_bad_shapers_and_paths_are_refused():
    with pytest.raises(ValueError, match="frequency is -1"):
        zv_shaper(-1.0)
    with pytest.raises(ValueError, match="damping_ratio 1.0"):
        zvd_shaper(1.0, 1.0)
    with pytest.raises(ValueError, match="tolerance is 2"):
        ei_shaper(1.0, tolerance=2)
    with pytest.raises(TypeError, match="Rotations do not add"):
        shaped(lambda t: pose_reference((1.0, 0, 0, 0)), zv_shaper(1.0))(0.0)
    with pytest.raises(ValueError, match="expected the lowest first"):
        si_shaper(2.0, 1.0)
    with pytest.raises(ValueError, match="no shaper"):
        combined_shapers()
