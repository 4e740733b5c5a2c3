"""A notch by its transfer function, in a loop that it saves; damping where motors stand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import gyrostat as gs
from gyrostat.control import collocated_damping, notched
from simple_flexible import boom_craft


@pytest.mark.parametrize("ratio", [0.5, 1.0, 1.7])
def test_a_notch_has_its_transfer_function(ratio):
    craft, f, width, depth = boom_craft(), 0.4, 0.3, 0.1
    w, a = 2 * np.pi * f, 2 * np.pi * f * ratio
    q, v = gs.neutral(craft), np.zeros(craft.nv)
    law = notched(craft, lambda c, t, q, v: gs.joint_torques(c, {"root": np.sin(a * t)}), f, width=width, depth=depth)
    rhs = lambda t, z: law.derivative(craft, t, q, v, z)
    times = np.linspace(60.0, 80.0, 400)
    z = solve_ivp(rhs, (0, 80), law.state0, rtol=1e-9, atol=1e-12, t_eval=times, max_step=0.05).y.T
    at = craft.joint_named("root").v_at.start
    found = [law.output(craft, t, q, v, row)[at] for t, row in zip(times, z, strict=True)]
    s = 1j * a
    H = (s * s + 2 * depth * width * w * s + w * w) / (s * s + 2 * width * w * s + w * w)
    assert found == pytest.approx(np.imag(H * np.exp(s * times)), abs=1e-6)
    others = np.delete(law.output(craft, 1.0, q, v, z[0]), at)
    assert not others.any()


def test_two_notches_and_a_law_with_memory_stand_one_around_another():
    """At both frequencies at once nothing is left of a law that rings there; its own memory goes on as it was."""
    craft = boom_craft()
    at = craft.joint_named("wrist").v_at.start
    ring = gs.Controller(
        lambda c, t, q, v, z: gs.joint_torques(c, {"wrist": z[0] + np.sin(9.0 * t)}), [1.0, 0.0],
        lambda c, t, q, v, z: np.array([z[1], -4.0 * z[0]]),
    )  # fmt: skip
    q, v = gs.neutral(craft), np.zeros(craft.nv)
    both = notched(
        craft, notched(craft, ring, 2.0 / (2 * np.pi), joints=["wrist"]), 9.0 / (2 * np.pi), joints=["wrist"]
    )
    assert both.state0.size == 2 + 2 + 2
    times = np.linspace(40.0, 50.0, 100)
    z = solve_ivp(lambda t, z: both.derivative(craft, t, q, v, z), (0, 50), both.state0, rtol=1e-9, atol=1e-12,
                  t_eval=times, max_step=0.02).y.T  # fmt: skip
    found = [both.output(craft, t, q, v, row)[at] for t, row in zip(times, z, strict=True)]
    assert np.abs(found).max() < 1e-6 and np.abs(z[:, 4]).max() == pytest.approx(1.0, rel=1e-2)


def test_collocated_damping_takes_energy_from_every_mode_that_moves_the_motor():
    craft = boom_craft()
    law = collocated_damping(craft, {"root": 3.0, "wrist": 1.0})
    v = craft.v({"boom.modes": [0.4, 0.3], "base": [0.1, 0.2, 0.1, 0, 0, 0]})
    run = gs.simulate(craft, gs.neutral(craft), v, t_span=(0.0, 30.0), control=law, rtol=1e-11)
    energy = run.kinetic_energy() + run.spring_energy()
    assert (np.diff(energy) < 1e-12).all() and energy[-1] < 0.9 * energy[0] and run.audit.energy < 1e-10
    found = gs.modes(craft, gs.neutral(craft), np.zeros(craft.nv), control=law).of("oscillating")
    motors = [craft.joint_named(name).v_at.start for name in ("root", "wrist")]
    moved = [mode for mode in found if np.abs(mode.shape[motors]).max() > 1e-9 * np.abs(mode.shape).max()]
    assert len(moved) == 1 and moved[0].damping > 1e-3  # the other bends out of the plane of the hinges


def test_what_cannot_be_is_refused_by_name():
    craft = boom_craft()
    with pytest.raises(ValueError, match="no motor turns 'boom.modes'"):
        collocated_damping(craft, {"boom.modes": 1.0})
    with pytest.raises(ValueError, match="Did you mean 'root'"):
        collocated_damping(craft, {"rot": 1.0})
    with pytest.raises(ValueError, match="gain of 'root' is -1"):
        collocated_damping(craft, {"root": -1.0})
    still = lambda craft, t, q, v: np.zeros(craft.nv)
    with pytest.raises(ValueError, match="frequency is -1"):
        notched(craft, still, -1.0)
    with pytest.raises(ValueError, match=r"sampled every 0\.1 s"):
        notched(craft, gs.Controller(still, period=0.1), 1.0)
