"""The order of each integrator, measured with step control off:
slope within 0.2 of theory, errors between 1e-11 and 1e-5.
"""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algebra import angle_between, quat_from_rotation, rotation
from rigid_body import FreeBody

ORDERS = {"rk4": 4, "rk45": 5, "gauss6": 6, "dop853": 8}
# steps in four seconds of the free body and of the arm; errors are the largest at the ends of these
BODY_STEPS = {
    "rk4": (160, 226, 320, 452),
    "rk45": (25, 35, 50, 70),
    "gauss6": (13, 19, 26, 37),
    "dop853": (5, 6, 8, 10),
}
ARM_STEPS = {
    "rk4": (280, 396, 560, 792),
    "rk45": (90, 127, 180, 254),
    "gauss6": (40, 56, 80, 112),
    "dop853": (18, 24, 32, 40),
}
WINDOW = 4.0


def slope(steps, errors):
    """Of the error over the step, by least squares."""
    errors = np.array(errors)
    assert ((errors > 1e-11) & (errors < 1e-5)).all(), errors
    return np.polyfit(np.log(steps), np.log(errors), 1)[0]


@pytest.fixture(scope="module")
def free_body():
    body = FreeBody(w1=0.4, w3=1.1)
    craft = gs.Spacecraft.build("body", [gs.Body("body", 5.0, inertia=(body.A, body.B, body.C))])
    R_NL = rotation(np.array([0.3, -0.5, 0.7, 0.2]))  # any inertial frame
    q0 = np.concatenate([quat_from_rotation(R_NL @ body.attitude(0.0)), [0.1, 0.2, 0.3]])
    v0 = np.concatenate([body.rates(0.0), [0.0, 0.0, 0.0]])
    return body, craft, R_NL, q0, v0


@pytest.mark.parametrize("method", ORDERS)
def test_order_on_the_free_rigid_body(method, free_body):
    body, craft, R_NL, q0, v0 = free_body
    times = WINDOW * np.arange(1, 4)
    exact = [(body.rates(t), R_NL @ body.attitude(t)) for t in times]
    steps, rates, attitudes = [], [], []
    for n in BODY_STEPS[method]:
        traj = gs.simulate(craft, q0, v0, (0, times[-1]), integrator=method, step=WINDOW / n, save_at=times)
        steps.append(WINDOW / n)
        rates.append(max(np.abs(v[:3] - w).max() for v, (w, _) in zip(traj.v, exact, strict=True)))
        attitudes.append(max(angle_between(rotation(q[:4]), R) for q, (_, R) in zip(traj.q, exact, strict=True)))
    assert abs(slope(steps, rates) - ORDERS[method]) < 0.2, rates
    assert abs(slope(steps, attitudes) - ORDERS[method]) < 0.2, attitudes


@pytest.fixture(scope="module")
def sprung_arm():
    """Six equal links on a free base, joints with springs, all swinging a little:
    smooth enough for an order of eight to show.
    """
    axes = [(0, 0, 1), (0, 1, 0), (0, 1, 0), (1, 0, 0), (0, 1, 0), (1, 0, 0)]
    bodies = [gs.Body("base", 100.0, inertia=(30.0, 35.0, 40.0))]
    for k, (axis, stiffness) in enumerate(zip(axes, (20.0, 20.0, 12.0, 6.0, 3.0, 1.0), strict=True)):
        place = (0.6 if k else 0.5, 0.0, 0.0)
        joint = gs.Joint(f"joint_{k}", "revolute", bodies[-1].name, position=place, axis=axis, stiffness=stiffness)
        bodies.append(gs.Body(f"link_{k}", 6.0, (0.3, 0.0, 0.0), (0.3, 0.6, 0.6), joint))
    craft = gs.Spacecraft.build("sprung arm", bodies)
    q0, v0 = gs.neutral(craft), np.zeros(craft.nv)
    q0[7:], v0[:3] = 0.02 * np.array([1.0, -1.0, 1.0, 0.6, 0.8, -0.7]), 0.01 * np.array([0.5, -0.2, 0.8])
    times = WINDOW * np.arange(10, 21)
    exact = gs.simulate(craft, q0, v0, (0, times[-1]), rtol=2.3e-14, atol=1e-15, save_at=times, breakpoints=times)
    return craft, q0, v0, exact


@pytest.mark.parametrize("method", ORDERS)
def test_order_on_a_six_link_arm(method, sprung_arm):
    craft, q0, v0, exact = sprung_arm
    times = exact.time
    steps, joints, attitudes = [], [], []
    for n in ARM_STEPS[method]:
        traj = gs.simulate(craft, q0, v0, (0, times[-1]), integrator=method, step=WINDOW / n, save_at=times)
        steps.append(WINDOW / n)
        joints.append(np.abs(np.concatenate([traj.q[:, 7:] - exact.q[:, 7:], traj.v - exact.v], axis=1)).max())
        pairs = zip(traj.q[:, :4], exact.q[:, :4], strict=True)
        attitudes.append(max(angle_between(rotation(a), rotation(b)) for a, b in pairs))
    assert abs(slope(steps, joints) - ORDERS[method]) < 0.2, joints
    assert abs(slope(steps, attitudes) - ORDERS[method]) < 0.2, attitudes


def test_gauss16_on_both(free_body, sprung_arm):
    """So high an order is reached only where errors come near round-off;
    above it shows as steeper than 14 (than 15.5 on the arm).
    """
    body, craft, _, q0, v0 = free_body
    steps, errors = [2.4, 2.0, 12 / 7], []
    for step in steps:
        traj = gs.simulate(craft, q0, v0, (0, 36.0), integrator="gauss16", step=step, save_at=[12.0, 24.0, 36.0])
        errors.append(max(np.abs(v[:3] - body.rates(t)).max() for t, v in zip(traj.time, traj.v, strict=True)))
    assert 14.0 < slope(steps, errors) < 16.2, errors
    craft, q0, v0, exact = sprung_arm
    steps, errors = WINDOW / np.arange(4, 9), []
    for step in steps:
        traj = gs.simulate(craft, q0, v0, (0, exact.time[-1]), integrator="gauss16", step=step, save_at=exact.time)
        errors.append(np.abs(np.concatenate([traj.q[:, 7:] - exact.q[:, 7:], traj.v - exact.v], axis=1)).max())
    assert 15.5 < slope(steps, errors) < 16.5, errors


@pytest.mark.parametrize("method", ["dop853", "rk45", "gauss16"])
def test_adaptive_runs_meet_their_tolerance(method, free_body):
    body, craft, R_NL, q0, v0 = free_body
    for rtol in (1e-6, 1e-9, 1e-12):
        q, v = gs.simulate(craft, q0, v0, (0, 20.0), integrator=method, rtol=rtol, atol=rtol / 100).final
        assert np.abs(v[:3] - body.rates(20.0)).max() < 100 * rtol
        assert angle_between(rotation(q[:4]), R_NL @ body.attitude(20.0)) < 100 * rtol


@pytest.mark.parametrize("method, step", [("gauss6", 0.5), ("gauss16", 2.0)])
def test_gauss_keeps_the_energy_of_a_long_run(free_body, method, step):
    """No drift that grows, at a step that resolves little."""
    _, craft, _, q0, v0 = free_body
    traj = gs.simulate(craft, q0, v0, (0, 2000.0), integrator=method, step=step)
    energy = traj.kinetic_energy()
    first, last = np.ptp(energy[:100]), np.ptp(energy[-100:])
    assert last < 1.5 * first + 1e-13
    assert abs(energy[-100:].mean() / energy[:100].mean() - 1) < 1e-6
