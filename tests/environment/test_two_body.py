"""Differential gravity and the gravity gradient, against point masses and fifty digits."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from exact import exact, mp
from gyrostat.algebra import cross, rotation
from gyrostat.environment import EARTH, Orbit, PlanetCentered, combined, two_body_gravity
from gyrostat.environment.two_body import differential_gravity, gradient_force, gradient_torque
from random_trees import random_spacecraft, random_state

MU = EARTH.mu


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3, 1e6, 2e7])
@pytest.mark.parametrize("seed", range(3))
def test_differential_gravity_does_not_cancel(size, seed):
    """Relative error 1e-14 at a millimetre as at 20 000 km; the plain difference loses nine digits at a metre."""
    rng = np.random.default_rng(seed)
    r1 = rng.normal(size=3)
    r1 *= 7e6 / np.linalg.norm(r1)
    rho = size * rng.normal(size=3)
    R1, rho_ = exact(r1), exact(rho)

    def g(r):
        return -mp.mpf(MU) * r / mp.sqrt(r @ r) ** 3

    true = (g(R1 + rho_) - g(R1)).astype(float)
    error = np.linalg.norm(differential_gravity(MU, r1, rho) - true) / np.linalg.norm(true)
    assert error < 1e-14
    if size == 1.0:
        r2 = r1 + rho
        plain = -MU * r2 / np.linalg.norm(r2) ** 3 + MU * r1 / np.linalg.norm(r1) ** 3
        assert np.linalg.norm(plain - true) > 1e-10 * np.linalg.norm(true)


def cloud(rng, size):
    """Point masses about their centre of mass: masses, points, inertia."""
    masses, points = rng.uniform(0.5, 2, size=12), size * rng.normal(size=(12, 3))
    points -= masses @ points / masses.sum()
    J = sum(m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in zip(masses, points, strict=True))
    return masses, points, J


def point_masses(masses, points, r):
    """Force and torque about the centre of mass, to fifty digits,
    less the weight of the whole at its centre of mass.
    """
    F, T, R = exact(np.zeros(3)), exact(np.zeros(3)), exact(r)
    weight = -mp.mpf(MU) * R / mp.sqrt(R @ R) ** 3
    for m, p in zip(masses, points, strict=True):
        x = R + exact(p)
        f = mp.mpf(float(m)) * (-mp.mpf(MU) * x / mp.sqrt(x @ x) ** 3 - weight)
        F, T = F + f, T + cross(exact(p), f)
    first = exact(masses) @ exact(points)  # the points are centred to round-off only
    tidal = [
        [mp.mpf(MU) / mp.sqrt(R @ R) ** 3 * (3 * R[i] * R[j] / (R @ R) - (i == j)) for j in range(3)] for i in range(3)
    ]
    return (F - np.array(tidal) @ first).astype(float), (T - cross(first, weight)).astype(float)


def test_gradient_torque_and_force_against_point_masses():
    """What is left out is of third order in size over distance:
    it falls a thousandfold when the craft shrinks tenfold.
    """
    errors = []
    r = 7e6 * np.array([0.6, -0.64, 0.48])
    for size in (1e5, 1e4):
        masses, points, J = cloud(np.random.default_rng(1), size)
        F, T = point_masses(masses, points, r)
        force, torque = gradient_force(MU, r, J), gradient_torque(MU, r, J)
        np.testing.assert_allclose(torque, T, rtol=0.2 * size / 1e5, atol=0.2 * size / 1e5 * np.abs(T).max())
        np.testing.assert_allclose(force, F, atol=0.3 * size / 1e5 * np.abs(F).max())
        errors.append((np.linalg.norm(torque - T), np.linalg.norm(force - F)))
    for coarse, fine in zip(*errors, strict=True):
        assert coarse / fine == pytest.approx(1000, rel=0.3)


def test_every_body_of_every_arm_feels_the_gradient():
    """The wrenches on a tree add up to those on all of its points: force and torque about the centre of mass."""
    craft = random_spacecraft(3, links=5, base="free", kinds=("revolute", "spherical", "wheel", "prismatic"))
    q, _ = random_state(craft, 3)
    orbit = Orbit.circular(500e3, 0.9)
    r1 = orbit.state(120.0).r
    wrenches = two_body_gravity(orbit).wrenches(craft, 120.0, q, np.zeros(craft.nv))
    total = np.zeros(6)
    reference = np.zeros(6)
    poses = gs.forward_kinematics(craft, q)
    for k, body in enumerate(craft.bodies):
        R, p = poses.R_NB[k], poses.p_NB[k]
        f, tau = R @ wrenches[k, 3:], R @ wrenches[k, :3]
        total += np.concatenate([tau + cross(p, f), f])
        if body.included:
            assert not wrenches[k].any()
            continue
        c = p + R @ body.com
        # six points with the body's mass, centre of mass and second moments
        second = 0.5 * np.trace(body.inertia) * np.eye(3) - body.inertia
        values, axes = np.linalg.eigh(second)
        for value, axis in zip(values, axes.T, strict=True):
            for side in (-1.0, 1.0):
                x = c + side * R @ axis * np.sqrt(max(value, 0.0) * 3 / body.mass)
                pull = body.mass / 6 * differential_gravity(MU, r1, x)
                reference += np.concatenate([cross(x, pull), pull])
    scale = MU / 7e6**3 * sum(b.mass for b in craft.bodies)
    np.testing.assert_allclose(total, reference, atol=3e-7 * scale)


def test_gradient_can_be_left_out():
    craft = random_spacecraft(3, links=0, base="free")
    q = gs.neutral(craft)
    orbit = Orbit.circular(500e3, 0.9)
    on, off = (
        two_body_gravity(orbit, gradient_torque=flag, gradient_force=flag).wrenches(craft, 0.0, q, np.zeros(6))[0]
        for flag in (True, False)
    )
    com = craft.bodies[0].com
    np.testing.assert_allclose(off[:3], cross(com, off[3:]), atol=1e-18)
    r_B = rotation(q[:4]).T @ (orbit.state(0.0).r + com)
    force = gradient_force(MU, r_B, craft.bodies[0].inertia)
    np.testing.assert_allclose(on[3:] - off[3:], force, atol=1e-15)
    np.testing.assert_allclose(
        on[:3] - off[:3], gradient_torque(MU, r_B, craft.bodies[0].inertia) + cross(com, force), atol=1e-15
    )


def test_planet_centred_frame_gives_the_same_motion():
    """The same craft measured from the planet's centre: half an orbit later it is where the reference orbit
    says, to its round-off.
    """
    craft = random_spacecraft(3, links=0, base="free")
    orbit = Orbit.from_elements(7.2e6, 0.02, 0.9)
    q, v = gs.neutral(craft), np.concatenate([[0.01, -0.02, 0.005], [0.3, 0.1, -0.2]])
    q[4:7] = [400.0, -900.0, 300.0]
    t = 3000.0
    near = gs.simulate(craft, q, v, (0, t), environment=two_body_gravity(orbit), rtol=1e-12, save_at=[t])
    r, w = orbit.state(0.0)
    far_q, far_v = q.copy(), v.copy()
    far_q[4:7] += r
    far_v[3:] += rotation(q[:4]).T @ w
    far = gs.simulate(
        craft, far_q, far_v, (0, t), environment=two_body_gravity(PlanetCentered()), rtol=1e-13, save_at=[t]
    )
    later = orbit.state(t)
    np.testing.assert_allclose(near.q[0, 4:7] + later.r, far.q[0, 4:7], atol=1e-4)
    # m g and m w x v on a lever round off there, not here
    np.testing.assert_allclose(near.q[0, :4], far.q[0, :4], atol=1e-6)
    assert near.audit.worst < 1e-10


def test_errors_say_what_is_needed():
    with pytest.raises(ValueError, match="two-body gravity needs to know where N is: got None .* gs.Orbit.circular"):
        two_body_gravity(None)
    craft = random_spacecraft(3, links=0, base="free")
    q = gs.neutral(craft)
    orbit = Orbit.circular(500e3)
    q[4] = -2e6
    with pytest.raises(ValueError, match="body 'base' starts 4.8.* m from the centre of Earth, inside it"):
        two_body_gravity(orbit).check(craft, 0.0, q)
    with pytest.raises(ValueError, match="inside it"):
        combined(two_body_gravity(orbit)).check(craft, 0.0, q)
