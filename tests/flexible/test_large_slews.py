"""Slews that bend a boom by a tenth of its length: what stays, stays to round-off, and few modes are enough."""

from __future__ import annotations

import numpy as np

import gyrostat as gs
from gyrostat.structures import Section

SECTION = Section(2e7, 1724.4555, 1724.4555, 100.0, 10.0 / 6.0)


def _craft(modes, motions):
    hub = gs.Body("hub", 50.0, (0.02, -0.01, 0.03), (20.0, 25.0, 28.0))
    root = gs.Joint("root", "fixed", "hub", (0.5, 0.1, 0.2))
    boom = gs.beam("boom", 6.0, SECTION, modes=modes, motions=motions, elements=20, joint=root)
    return gs.Spacecraft.build("c", [hub, boom])


def _tip(craft, q):
    mount = craft.flexible("boom").mount("tip")
    return np.array([mount.place(e)[1:] for e in q[..., craft.flexible("boom").q_at]])


def test_momentum_and_energy_stay_to_1e_12_over_a_thousand_seconds():
    """Bending in both planes on a hub that tumbles, 700 swings; the tip reaches a tenth of the boom's length."""
    craft = _craft(2, ["y", "z"])
    q, v = craft.q({"boom.modes": [0.5, 0.4]}), craft.v({"base": [0.02, -0.1, 0.25, 0.01, 0.0, -0.02]})
    times = np.linspace(0.0, 1000.0, 5001)
    run = gs.simulate(craft, q, v, t_span=(0.0, 1000.0), save_at=times, integrator="gauss16", step=0.05)
    assert np.linalg.norm(_tip(craft, run.q), axis=1).max() > 0.6
    assert max(run.audit.linear, run.audit.angular, run.audit.energy) < 1e-12


def test_a_large_slew_converges_with_the_number_of_modes():
    """A torque of one period turns the hub and bends the boom by 0.6 m; tip against that of four modes."""

    def after(modes):
        craft = _craft(modes, ["y"])

        def torque(craft, t, q, v):
            return gs.joint_torques(craft, {"base": [0.0, 0.0, 120.0 * gs.algebra.sin(np.pi * t / 2.0), 0.0, 0.0, 0.0]})

        times = np.linspace(0.0, 4.0, 81)
        still = gs.neutral(craft), np.zeros(craft.nv)
        run = gs.simulate(craft, *still, t_span=(0.0, 4.0), save_at=times, control=torque, rtol=1e-10)
        return _tip(craft, run.q)[:, 0]

    found = {modes: after(modes) for modes in (1, 2, 4)}
    largest = np.abs(found[4]).max()
    assert largest > 0.6
    off = [np.abs(found[n] - found[4]).max() / largest for n in (1, 2)]
    assert off[0] > 3 * off[1] and off[1] < 1e-2
