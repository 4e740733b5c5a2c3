"""Compliant contact: elastic bounces, friction, momentum, and the limits of the law."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algebra import quat_from_rotation, rotation
from gyrostat.environment import ContactLaw, contact_with_plane, contact_with_sphere
from gyrostat.model.assembly import together


def ball(name, mass, frame=False):
    frames = [gs.Frame(f"{name}_tip", name, (0.0, 0.0, -0.2))] if frame else []
    return gs.Spacecraft.build(name, [gs.Body(name, mass, inertia=(0.1, 0.1, 0.1))], frames=frames)


def test_elastic_bounce_on_a_plane():
    """A point mass on a spring: leaves with the speed it came with, after half a period."""
    craft, k, m = ball("probe", 3.0), 400.0, 3.0
    q = gs.neutral(craft)
    q[6] = 0.1
    v = np.array([0.0, 0.0, 0.0, 0.0, 0.0, -0.5])
    ground = contact_with_plane("probe", "N", ContactLaw(k))
    times = [0.0, 0.2, 0.2 + 0.5 * np.pi * np.sqrt(m / k), 0.2 + np.pi * np.sqrt(m / k), 1.0]
    traj = gs.simulate(
        craft, q, v, (0.0, 1.0), environment=ground, save_at=times, rtol=1e-11, atol=1e-12, max_step=0.01
    )
    assert traj.q[2, 6] == pytest.approx(-0.5 * np.sqrt(m / k), rel=1e-6)
    assert traj.v[3, 5] == pytest.approx(0.5, rel=1e-6) and traj.v[4, 5] == pytest.approx(0.5, rel=1e-6)
    energies = [
        gs.kinetic_energy(craft, a, b) + ground.potential(craft, 0.0, a) for a, b in zip(traj.q, traj.v, strict=True)
    ]
    assert np.ptp(energies) < 1e-7 * energies[0]


def test_two_spheres_keep_their_momentum_and_energy():
    craft = together("balls", [ball("a", 2.0), ball("b", 5.0)])
    q, v = gs.neutral(craft), np.zeros(12)
    q[11], q[12] = 0.7, 0.05  # beside each other, off centre
    v[3], v[0:3], v[9:12] = 0.4, (0.3, -0.2, 0.1), (-0.1, 0.02, 0.0)
    touch = contact_with_sphere("a", "b", ContactLaw(300.0, friction=0.4), sphere_radius=0.3, radius=0.2)
    traj = gs.simulate(craft, q, v, (0.0, 2.0), environment=touch, rtol=1e-10, atol=1e-12, max_step=0.02)
    h = traj.momentum()
    assert np.abs(h - h[0]).max() < 1e-9 * np.abs(h[0]).max()
    assert np.abs(traj.v[-1] - traj.v[0]).max() > 0.05  # they did touch
    assert traj.kinetic_energy()[-1] < traj.kinetic_energy()[0]  # friction took some


def test_sliding_friction_is_mu_times_the_normal_force():
    craft = ball("probe", 2.0)
    q = gs.neutral(craft)
    q[6] = -0.01
    law = ContactLaw(1000.0, friction=0.3, slip_speed=1e-6)
    v = np.array([0.0, 0.0, 0.0, 0.6, 0.8, 0.0])
    wrench = contact_with_plane("probe", "N", law).wrenches(craft, 0.0, q, v)[0]
    assert np.abs(wrench[3:] - np.array([-0.3 * 10 * 0.6, -0.3 * 10 * 0.8, 10.0])).max() < 1e-9


@pytest.mark.parametrize("round_ground", [False, True])
def test_the_force_acts_in_the_middle_of_the_overlap(round_ground):
    """Slip and torque are those of that point: with depth d it is d/2 inside the probe's surface,
    on the line of the centres.
    """
    craft, radius, depth, sphere = ball("probe", 2.0, frame=True), 0.2, 0.06, 0.5
    law = ContactLaw(1000.0, friction=0.3, slip_speed=1e-9)
    q, v = gs.neutral(craft), np.array([0.0, 2.0, 0.7, 0.4, 0.0, 0.0])
    tip = np.array([0.0, 0.0, -0.2])  # of the ball's centre, in B
    q[6] = 0.2 + radius - depth + (sphere if round_ground else 0.0)
    if round_ground:
        touch = contact_with_sphere("probe_tip", "N", law, sphere_radius=sphere, radius=radius)
    else:
        touch = contact_with_plane("probe_tip", "N", law, radius=radius)
    wrench = touch.wrenches(craft, 0.0, q, v)[0]
    point = tip - [0.0, 0.0, radius - depth / 2]
    slip = v[3:] + np.cross(v[:3], point)
    normal = 1000.0 * depth
    force = np.array([0.0, 0.0, normal]) - 0.3 * normal * np.array([*slip[:2], 0.0]) / np.linalg.norm(slip[:2])
    np.testing.assert_allclose(wrench[3:], force, rtol=1e-9)
    np.testing.assert_allclose(wrench[:3], np.cross(point, force), rtol=1e-9, atol=1e-12)
    assert np.linalg.norm(slip[:2]) > 0.1


@pytest.mark.parametrize("round_ground", [False, True])
def test_the_ground_may_be_anywhere_and_move(round_ground):
    """A plane, or a sphere, on a second craft that is off the origin, turned and moving:
    forces in its own axes are those at the origin.
    """
    probe, rock = ball("probe", 2.0), ball("rock", 7.0)
    both = together("both", [probe, rock])
    law = ContactLaw(1000.0, damping=0.3, friction=0.3)
    here, there = both.joint("probe"), both.joint("rock")
    R, p = rotation(np.array([0.7, 0.3, -0.5, 0.4])), np.array([4.0, -3.0, 2.0])
    touch = (
        contact_with_sphere("probe", "rock", law, sphere_radius=0.5, radius=0.1)
        if round_ground
        else contact_with_plane("probe", "rock", law, radius=0.1)
    )

    def wrenches(R, p, w_N, v_N):
        """The rock at p, turned by R, with that velocity; the probe 2 cm deep beside its pole and sliding,
        as seen from the rock.
        """
        q, v = gs.neutral(both), np.zeros(both.nv)
        r, u, w = (
            np.array([0.0, 0.0, 0.58 if round_ground else 0.08]),
            np.array([0.3, 0.1, -0.2]),
            np.array([0.2, -0.5, 0.4]),
        )
        q[there.q_at] = [*quat_from_rotation(R), *p]
        v[there.v_at] = [*(R.T @ w_N), *(R.T @ v_N)]
        q[here.q_at] = [*quat_from_rotation(R), *(p + R @ r)]
        v[here.v_at] = [*(w + R.T @ w_N), *(u + R.T @ (v_N + np.cross(w_N, R @ r)))]
        return touch.wrenches(both, 0.0, q, v)

    still = wrenches(np.eye(3), np.zeros(3), np.zeros(3), np.zeros(3))
    moving = wrenches(R, p, np.array([0.4, 0.9, -0.3]), np.array([1.0, 2.0, -3.0]))
    np.testing.assert_allclose(moving, still, atol=1e-10)
    assert np.abs(still[both.index("probe"), 3:]).max() > 10.0


def test_damping_never_pulls():
    craft = ball("probe", 2.0)
    q = gs.neutral(craft)
    q[6] = -0.01
    law = ContactLaw(1000.0, damping=5.0)
    fast_out = contact_with_plane("probe", "N", law).wrenches(craft, 0.0, q, np.array([0, 0, 0, 0, 0, 2.0]))[0]
    fast_in = contact_with_plane("probe", "N", law).wrenches(craft, 0.0, q, np.array([0, 0, 0, 0, 0, -2.0]))[0]
    assert fast_out[5] == 0.0 and fast_in[5] == pytest.approx(10.0 * 11.0)


def test_no_contact_no_force():
    craft = ball("probe", 2.0, frame=True)
    q = gs.neutral(craft)
    q[6] = 0.21
    none = contact_with_plane("probe_tip", "N", ContactLaw(1000.0)).wrenches(craft, 0.0, q, np.ones(6))
    touching = contact_with_plane("probe_tip", "N", ContactLaw(1000.0), radius=0.02).wrenches(
        craft, 0.0, q, np.zeros(6)
    )
    assert not none.any() and touching[0, 5] == pytest.approx(1000.0 * 0.01)


def test_senseless_laws_are_refused():
    with pytest.raises(ValueError, match="stiffness 0.0 and slip speed .* must be above zero"):
        ContactLaw(0.0)
