"""Drift in maximal coordinates: coarse steps open a hinge, Baumgarte holds it, projection closes it."""

from __future__ import annotations

import numpy as np
import pytest

from forbes_bodies import cloud
from gyrostat.algebra import exp_so3, rotation
from gyrostat.formulations.attitude_lagrange import kkt_solution
from gyrostat.formulations.attitude_lagrange.one_body import mass_matrix, nonlinear_force
from gyrostat.formulations.attitude_lagrange.paper.building_blocks import coincidence, perpendicular, stacked
from gyrostat.formulations.attitude_lagrange.paper.drift import BodyPose, project_poses, project_velocities, stabilised

X, Y, Z = np.eye(3)
BODIES = (cloud(0).body, cloud(1).body)
S1, S2 = np.array([0.4, -0.2, 0.1]), np.array([-0.3, 0.1, 0.5])


def rows(poses, nu):
    (_, C1), (_, C2) = poses
    return stacked(
        coincidence(C1, nu[3:6], S1, C2, nu[9:], S2),
        perpendicular(C1, nu[3:6], X, C2, nu[9:], Z),
        perpendicular(C1, nu[3:6], Y, C2, nu[9:], Z),
    )


def psi(poses):
    (r1, C1), (r2, C2) = poses
    axis = C2.T @ Z
    return np.concatenate([r1 + C1.T @ S1 - r2 - C2.T @ S2, [(C1.T @ X) @ axis, (C1.T @ Y) @ axis]])


def mass(poses):
    M = np.zeros((12, 12))
    for i, (body, (_, C)) in enumerate(zip(BODIES, poses, strict=True)):
        M[6 * i : 6 * i + 6, 6 * i : 6 * i + 6] = mass_matrix(body, C)
    return M


def system(poses):
    return mass(poses), np.hstack(rows(poses, np.zeros(12)).Pi), psi(poses)


def start():
    rng = np.random.default_rng(3)
    C = rotation(rng.normal(size=4))
    two = exp_so3(-0.7 * Z) @ C  # turned about the common axis
    poses = [BodyPose(np.zeros(3), C), BodyPose(C.T @ S1 - two.T @ S2, two)]
    Pi = np.hstack(rows(poses, np.zeros(12)).Pi)
    return poses, project_velocities(mass(poses), rng.normal(size=12), Pi)


def run(frequency, steps=300, h=0.01):
    """Semi-implicit steps, coarse on purpose."""
    poses, nu = start()
    for _ in range(steps):
        found = rows(poses, nu)
        Pi = np.hstack(found.Pi)
        gamma = stabilised(found.gamma, Pi @ nu, psi(poses), frequency)
        F = np.concatenate(
            [
                nonlinear_force(b, C, nu[6 * i + 3 : 6 * i + 6])
                for i, (b, (_, C)) in enumerate(zip(BODIES, poses, strict=True))
            ]
        )
        nu = nu + h * kkt_solution(mass(poses), F, Pi, gamma).nudot
        poses = [
            BodyPose(r + h * nu[6 * i : 6 * i + 3], exp_so3(-h * nu[6 * i + 3 : 6 * i + 6]) @ C)
            for i, (r, C) in enumerate(poses)
        ]
    return poses, nu


def momentum(poses, nu):
    """Linear, in N."""
    h = mass(poses) @ nu
    return h[:3] + h[6:9]


def test_start_is_consistent():
    poses, nu = start()
    assert np.abs(psi(poses)).max() < 1e-14
    assert np.abs(np.hstack(rows(poses, nu).Pi) @ nu).max() < 1e-13


def test_baumgarte_holds_what_drifts_otherwise():
    free, held = np.abs(psi(run(0.0)[0])).max(), np.abs(psi(run(10.0)[0])).max()
    assert free > 1e-2 and held < 0.1 * free


def test_projection_closes_and_keeps_the_momentum():
    poses, nu = run(0.0)
    closed = project_poses(poses, system)
    assert np.abs(psi(closed)).max() <= 1e-13
    for _, C in closed:
        assert np.abs(C @ C.T - np.eye(3)).max() < 1e-12
    Pi = np.hstack(rows(closed, nu).Pi)
    still = project_velocities(mass(closed), nu, Pi)
    assert np.abs(Pi @ still).max() < 1e-13 * np.abs(nu).max() * 10
    assert (
        np.abs(momentum(closed, still) - momentum(closed, nu)).max() < 1e-12 * np.abs(momentum(closed, nu)).max() * 10
    )


def test_driven_velocities():
    poses, nu = start()
    Pi, beta = np.hstack(rows(poses, nu).Pi), np.array([0.1, 0.0, -0.2, 0.0, 0.3])
    assert np.abs(Pi @ project_velocities(mass(poses), nu, Pi, beta) + beta).max() < 1e-13


def test_what_cannot_be_closed_is_said():
    poses, _ = start()
    impossible = lambda p: (mass(p), np.hstack(rows(p, np.zeros(12)).Pi)[:1], np.ones(1))
    with pytest.raises(ValueError, match="after 30 corrections the constraints are still open by 1"):
        project_poses(poses, impossible)
