"""A free-floating six-link manoeuvre of 200 s: what is conserved, and how it follows its reference."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
import manoeuvre


@pytest.mark.parametrize("integrator", ["dop853", "gauss16"])
@pytest.mark.parametrize("law", [manoeuvre.pd, manoeuvre.computed_torque])
def test_momentum_and_energy_are_kept(law, integrator):
    craft, q, v = manoeuvre.start()
    traj = gs.simulate(
        craft,
        q,
        v,
        (0, manoeuvre.T),
        control=law,
        rtol=1e-12,
        atol=1e-14,
        breakpoints=manoeuvre.BREAKPOINTS,
        integrator=integrator,
    )
    assert traj.audit.worst <= 1e-10
    assert traj.ok and traj.status == ("done",)
    h, E = traj.momentum(), traj.kinetic_energy()  # the same, without the audit's own sums
    assert np.abs(h[:, 3:] - h[0, 3:]).max() <= 1e-10 * np.abs(h[0, 3:]).max()
    assert np.abs(h[:, :3] - h[0, :3]).max() <= 1e-10 * np.abs(h[:, :3]).max()
    power = np.einsum("ti,ti->t", traj.tau, traj.v)
    assert np.abs(E - E[0] - traj.data["work"].values).max() <= 1e-10 * E.max()
    assert power.max() > 0 > power.min()


def test_computed_torque_follows_its_reference():
    craft, q, v = manoeuvre.start()
    v[:6] = 0.0
    traj = gs.simulate(craft, q, v, (0, manoeuvre.T), control=manoeuvre.computed_torque, rtol=1e-12)
    wanted = np.array([manoeuvre.reference(t)[0] for t in traj.time])
    np.testing.assert_allclose(traj.q[:, 7:], wanted, atol=1e-9)


@pytest.mark.parametrize("integrator, rtol", [("dop853", 1e-6), ("rk45", 1e-4), ("gauss16", 1e-5)])
def test_conserved_momentum_holds_to_round_off_at_any_tolerance(integrator, rtol):
    craft, q, v = manoeuvre.start()
    options = {"control": manoeuvre.pd, "breakpoints": manoeuvre.BREAKPOINTS}
    traj = gs.simulate(craft, q, v, (0, manoeuvre.T), conserve="momentum", rtol=rtol, integrator=integrator, **options)
    audit = traj.audit
    assert max(audit.linear, audit.angular) <= 1e-13
    free = gs.simulate(craft, q, v, (0, manoeuvre.T), rtol=rtol, integrator=integrator, **options)
    assert max(free.audit.linear, free.audit.angular) > 1e-12  # without it, they drift
    exact = gs.simulate(craft, q, v, (0, manoeuvre.T), rtol=1e-12, **options)
    np.testing.assert_allclose(traj.q, exact.q, atol=1e4 * rtol)
    np.testing.assert_allclose(traj.v, exact.v, atol=1e3 * rtol)


@pytest.mark.parametrize("integrator", ["dop853", "rk45", "gauss16"])
def test_conserved_momentum_holds_at_a_tolerance_of_1e_6(integrator):
    craft, q, v = manoeuvre.start()
    options = {"control": manoeuvre.pd, "breakpoints": manoeuvre.BREAKPOINTS, "integrator": integrator}
    audit = gs.simulate(craft, q, v, (0, manoeuvre.T), conserve="momentum", rtol=1e-6, **options).audit
    assert max(audit.linear, audit.angular) <= 1e-13


def test_conserved_momentum_with_wheels():
    """Wheels turn the base; momentum is that of base, wheels and arm together."""
    bodies = [gs.Body("base", 50.0, (0.02, 0.0, 0.01), (4.0, 5.0, 6.0))]
    bodies.append(
        gs.Body("arm", 5.0, (0.4, 0, 0), (0.05, 0.3, 0.3), gs.Joint("elbow", "revolute", "base", (0.5, 0, 0)))
    )
    bodies += [gs.Wheel(f"wheel_{k}", "base", axis, 0.02) for k, axis in enumerate(np.eye(3))]
    craft = gs.Spacecraft.build("wheels", bodies)

    def control(craft, t, q, v):
        return np.concatenate([np.zeros(6), [-0.3 * q[7] - 0.5 * v[6]], -2.0 * q[1:4] + 4.0 * v[:3]])

    q, v = gs.neutral(craft), np.zeros(craft.nv)
    q[7], v[:3], v[7:] = 0.5, [0.02, -0.01, 0.03], [5.0, -3.0, 2.0]
    run = gs.simulate(craft, q, v, (0, 60), control=control, conserve="momentum", rtol=1e-6)
    exact = gs.simulate(craft, q, v, (0, 60), control=control, rtol=1e-13)
    assert max(run.audit.linear, run.audit.angular) <= 1e-13
    np.testing.assert_allclose(run.v, exact.v, atol=1e-4)
    assert exact.audit.worst < 1e-11
