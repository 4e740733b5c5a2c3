"""One rigid body: every step of the derivation of Forbes (2019), for all nineteen parameterisations."""

from __future__ import annotations

import numpy as np
import pytest

from forbes_bodies import NAMES, cloud, motion
from gyrostat.algebra import cross, skew
from gyrostat.algebra.directional import derivative_along
from gyrostat.attitude import PARAMETERISATIONS
from gyrostat.formulations.attitude_lagrange import raw_accelerations, rigid_body
from gyrostat.formulations.attitude_lagrange.one_body import (
    accelerations,
    body_accelerations,
    body_mass_matrix,
    kinetic_energy,
    mass_matrix,
    mass_matrix_rate,
    nonlinear_force,
)
from gyrostat.formulations.attitude_lagrange.paper.unprojected import (
    constraint_matrix,
    couple,
    generalised_force,
    rate_map,
    velocity_map,
    velocity_terms,
)

ALL = pytest.mark.parametrize("p", PARAMETERISATIONS.values(), ids=NAMES)
QUATERNION = PARAMETERISATIONS["quaternion"]


def test_kinetic_energy_is_that_of_the_points():
    for seed in range(4):
        parts, at = cloud(seed), motion(QUATERNION, seed)
        velocities = at.v + cross(at.w, parts.points.T).T @ at.C  # v + C^T w^ r
        points = 0.5 * parts.masses @ (velocities**2).sum(axis=1)
        M = mass_matrix(parts.body, at.C)
        assert np.abs(M - M.T).max() < 1e-14
        assert kinetic_energy(parts.body, at.C, at.nu) == pytest.approx(points, rel=1e-13)
        assert 0.5 * at.nu @ M @ at.nu == pytest.approx(points, rel=1e-13)


def test_first_moment_is_no_position():
    """c = m com and J is about z: pitfall of the notation."""
    I = np.diag([2.0, 3.0, 4.0])
    body = rigid_body(5.0, [0.2, 0.0, -0.1], I)
    assert body.c.tolist() == [1.0, 0.0, -0.5]
    r = np.array([0.2, 0.0, -0.1])
    assert np.abs(body.J - (I - 5.0 * skew(r) @ skew(r))).max() < 1e-15


@ALL
def test_mass_matrix_rate(p):
    body, at = cloud(1).body, motion(p, 1)
    numerical = derivative_along(lambda q: mass_matrix(body, p.C(q)), at.q, at.qdot)
    assert np.abs(mass_matrix_rate(body, at.C, at.w) - numerical).max() < 1e-11


def test_nonlinear_force_collects_three_terms():
    """Mdot nu + [0; w^ (M nu)_2] - [0; (C v)^ c^ w] = -f_non, by the Jacobi identity."""
    for seed in range(4):
        body, at = cloud(seed).body, motion(QUATERNION, seed)
        momentum = mass_matrix(body, at.C) @ at.nu
        terms = mass_matrix_rate(body, at.C, at.w) @ at.nu
        terms[3:] += cross(at.w, momentum[3:]) - cross(at.C @ at.v, cross(body.c, at.w))
        assert np.abs(terms + nonlinear_force(body, at.C, at.w)).max() < 1e-13 * np.abs(momentum).max()


@ALL
def test_raw_mass_matrix_has_rank_six_and_the_system_is_regular(p):
    body, at = cloud(2).body, motion(p, 2)
    S, Xi = velocity_map(p, at.q), constraint_matrix(p, at.q)
    raw = S.T @ mass_matrix(body, at.C) @ S
    assert np.linalg.matrix_rank(raw, tol=1e-10 * np.abs(raw).max()) == 6
    kkt = np.block([[raw, -Xi.T], [Xi, np.zeros((p.nc, p.nc))]])
    assert np.linalg.matrix_rank(kkt) == 3 + p.nq + p.nc


@ALL
def test_projection_of_the_raw_equation(p):
    """Gamma^T S^T = 1, Gamma^T Xi^T = 0, Gamma^T h' = -f_non, Gamma^T f = (sum f; sum r x C f)."""
    rng = np.random.default_rng(3)
    body, at = cloud(3).body, motion(p, 3)
    S, Gamma, Xi = velocity_map(p, at.q), rate_map(p, at.q), constraint_matrix(p, at.q)
    size = 1.0 + np.abs(Gamma).max() ** 2
    forces, points = rng.normal(size=(3, 3)), rng.normal(size=(3, 3))
    load = np.concatenate([forces.sum(axis=0), sum(np.cross(r, at.C @ f) for f, r in zip(forces, points, strict=True))])
    assert np.abs(Gamma.T @ S.T - np.eye(6)).max() < 1e-14 * size
    assert np.abs(Gamma.T @ Xi.T).max(initial=0.0) < 1e-14 * size
    assert np.abs(Gamma.T @ generalised_force(p, at.q, forces, points) - load).max() < 1e-14 * size
    assert np.abs(Gamma.T @ couple(p, at.q, at.w)[:] - np.concatenate([np.zeros(3), at.w])).max() < 1e-14 * size
    h = velocity_terms(body, p, at.q, at.qdot, at.v)
    f_non = nonlinear_force(body, at.C, at.w)
    assert np.abs(Gamma.T @ h + f_non).max() < 1e-13 * size * np.abs(f_non).max()


@ALL
def test_raw_projected_body_and_newton_euler_accelerations_agree(p):
    rng = np.random.default_rng(4)
    body, at = cloud(4).body, motion(p, 4)
    force, moment = rng.normal(size=3), rng.normal(size=3)  # at z, in N and in B
    load = np.concatenate([force, moment])
    generalised = generalised_force(p, at.q, [force], [np.zeros(3)]) + couple(p, at.q, moment)

    projected = accelerations(body, at.C, at.w, load)
    raw = raw_accelerations(body, p, at.q, at.qdot, at.v, generalised)
    v_B = at.C @ at.v
    in_body = body_accelerations(body, v_B, at.w, np.concatenate([at.C @ force, moment]))
    star = np.concatenate([at.C.T @ (in_body[:3] + cross(at.w, v_B)), in_body[3:]])  # (*)

    com = body.c / body.m  # Newton and Euler about the centre of mass
    I = body.J + body.m * skew(com) @ skew(com)
    wdot = np.linalg.solve(I, moment - np.cross(com, at.C @ force) - np.cross(at.w, I @ at.w))
    a_com = force / body.m
    a_z = a_com - at.C.T @ (np.cross(wdot, com) + np.cross(at.w, np.cross(at.w, com)))
    size = np.abs(projected).max()
    assert np.abs(projected - np.concatenate([a_z, wdot])).max() < 1e-12 * size
    assert np.abs(star - projected).max() < 1e-12 * size
    assert np.abs(raw.nudot - projected).max() < 1e-11 * size
    assert np.abs(p.Xi(at.q) @ raw.qddot[3:] + p.Xi_rate(at.q, at.qdot) @ at.qdot).max(initial=0.0) < 1e-11 * size


def test_star():
    """(*) C vdot_N = vdot_B + w x v_B, along a motion: v_B = C v_N differentiated."""
    at = motion(QUATERNION, 9)
    vdot_N = np.array([0.3, -0.7, 0.2])
    vdot_B = derivative_along(lambda q, v: QUATERNION.C(q) @ v, (at.q, at.v), (at.qdot, vdot_N))
    assert np.abs(at.C @ vdot_N - vdot_B - cross(at.w, at.C @ at.v)).max() < 1e-14


def test_dagger_equations():
    """(+) and (++) one by one."""
    body, at = cloud(5).body, motion(QUATERNION, 5)
    m, c, J = body
    v, w = at.v, at.w
    load = np.array([0.3, -0.2, 0.5, 1.0, 0.1, -0.4])
    nudot = body_accelerations(body, v, w, load)
    a, wdot = nudot[:3], nudot[3:]
    first = m * a + m * cross(w, v) - cross(c, wdot) - cross(w, cross(c, w))
    second = cross(c, a) + cross(c, cross(w, v)) + J @ wdot + cross(w, J @ w)
    assert np.abs(first - load[:3]).max() < 1e-12 and np.abs(second - load[3:]).max() < 1e-12
    assert np.abs(body_mass_matrix(body) - body_mass_matrix(body).T).max() == 0.0


def test_uniform_gravity():
    """f = m g in N, m_B = c^ C g: the centre of mass falls, nothing turns."""
    body, at = cloud(6).body, motion(QUATERNION, 6)
    g = np.array([0.0, 0.0, -9.81])
    still = accelerations(body, at.C, np.zeros(3), np.concatenate([body.m * g, cross(body.c, at.C @ g)]))
    assert np.abs(still - np.concatenate([g, np.zeros(3)])).max() < 1e-12


def test_force_belongs_to_N_and_moment_to_B():
    """Feeding the force in B instead gives another acceleration: pitfall of the mixed frames."""
    body, at = cloud(7).body, motion(QUATERNION, 7)
    f = np.array([1.0, 2.0, -0.5])
    right = accelerations(body, at.C, at.w, np.concatenate([f, np.zeros(3)]))
    wrong = accelerations(body, at.C, at.w, np.concatenate([at.C @ f, np.zeros(3)]))
    assert np.abs(right - wrong).max() > 1e-2


def test_parameter_multipliers_mean_nothing():
    """Another S, equal on the manifold, gives other multipliers and the same accelerations."""
    body, at = cloud(8).body, motion(QUATERNION, 8)

    class Other(type(QUATERNION)):
        def S(self, q):
            return super().S(q) + np.outer([1.0, -2.0, 0.5], self.Xi(q)[0])

    load = np.zeros(7)
    a, b = (raw_accelerations(body, p, at.q, at.qdot, at.v, load) for p in (QUATERNION, Other()))
    assert np.abs(a.nudot - b.nudot).max() < 1e-11
    assert np.abs(a.multipliers - b.multipliers).max() > 1e-2
