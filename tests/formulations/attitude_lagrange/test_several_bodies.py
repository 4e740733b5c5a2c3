"""Several bodies with constraints: KKT, null space, explicit N and articulated bodies agree; nonholonomic systems in
closed form.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import gyrostat as gs
from forbes_bodies import cloud
from gyrostat.algebra import cross, skew
from gyrostat.attitude import PARAMETERISATIONS
from gyrostat.formulations.attitude_lagrange import (
    explicit_null_space,
    kkt_solution,
    null_space_solution,
    rigid_body,
)
from gyrostat.formulations.attitude_lagrange.one_body import mass_matrix, nonlinear_force
from gyrostat.formulations.attitude_lagrange.paper.building_blocks import (
    coincidence,
    perpendicular,
    revolute,
    rolling,
    stacked,
)
from gyrostat.kinematics import inertial_poses
from random_trees import random_rotation

X, Y, Z = np.eye(3)


def chain(seed, kind):
    """Two bodies and a joint as a spacecraft, with a moving state and the joint's points and axes on both."""
    rng = np.random.default_rng(seed)
    parts = [cloud(seed), cloud(seed + 100)]
    bodies = []
    joint = gs.Joint("joint", kind, "one", rng.normal(size=3), random_rotation(rng), axis=Z)
    for name, part, on in (("one", parts[0], gs.Joint("base", "free")), ("two", parts[1], joint)):
        m, c, J = part.body
        com = c / m
        bodies.append(gs.Body(name, m, com, J + m * skew(com) @ skew(com), on))
    craft = gs.Spacecraft.build("pair", bodies)
    q = gs.step_configuration(craft, gs.neutral(craft), rng.normal(size=craft.nv))
    return craft, q, rng.normal(size=craft.nv), rng


def maximal(craft, q, v):
    """C, nu and RigidBody of each body."""
    X_NB = inertial_poses(craft, q)
    result = []
    for body in craft.bodies:
        J = gs.jacobian(craft, q, body.name) @ v
        C = X_NB[body.name].R.T
        result.append((C, np.concatenate([J[3:], C @ J[:3]]), rigid_body(body.mass, body.com, body.inertia)))
    return result


def system(craft, q, v, loads):
    """M, F, and per body C and w; loads (2, 6): force in N, moment in B."""
    parts = maximal(craft, q, v)
    M = np.zeros((12, 12))
    for i, (C, _, body) in enumerate(parts):
        M[6 * i : 6 * i + 6, 6 * i : 6 * i + 6] = mass_matrix(body, C)
    F = np.concatenate([nonlinear_force(body, C, nu[3:]) + loads[i] for i, (C, nu, body) in enumerate(parts)])
    return M, F, parts


def rows_of(kind, craft, parts):
    (C1, nu1, _), (C2, nu2, _) = parts
    joint = craft.joint("two")
    s1, R = joint.position, joint.rotation
    point = (C1, nu1[3:], s1, C2, nu2[3:], np.zeros(3))
    square = lambda t, a: perpendicular(C1, nu1[3:], R @ t, C2, nu2[3:], a)
    if kind == "spherical":
        return coincidence(*point)
    if kind == "revolute":
        return revolute(*point, Z, R @ X, R @ Y)
    if kind == "fixed":
        return stacked(revolute(*point, Z, R @ X, R @ Y), square(X, Y))
    raise AssertionError(kind)


@pytest.mark.parametrize("kind, seed", list(product(("spherical", "revolute", "fixed"), range(3))))
def test_built_from_blocks_as_from_joints(kind, seed):
    """Accelerations of KKT, null space and articulated bodies; constraint wrench = reaction wrench."""
    craft, q, v, rng = chain(seed, kind)
    loads = rng.normal(size=(2, 6))
    M, F, parts = system(craft, q, v, loads)
    rows = rows_of(kind, craft, parts)
    Pi, nu = np.hstack(rows.Pi), np.concatenate([p[1] for p in parts])
    assert np.abs(Pi @ nu).max() < 1e-12 * (1.0 + np.abs(nu).max())
    kkt, null = kkt_solution(M, F, Pi, rows.gamma), null_space_solution(M, F, Pi, rows.gamma)

    wrenches = np.array(
        [np.concatenate([load[3:], C @ load[:3]]) for load, (C, _, _) in zip(loads, parts, strict=True)]
    )
    vdot = gs.forward_dynamics(craft, q, v, np.zeros(craft.nv), wrenches=wrenches)
    expected = []
    for body, (C, _, _) in zip(craft.bodies, parts, strict=True):
        a = gs.jacobian(craft, q, body.name) @ vdot + gs.jacobian_rate(craft, q, v, body.name) @ v
        expected.append(np.concatenate([a[3:], C @ a[:3]]))
    expected = np.concatenate(expected)
    size = np.abs(expected).max()
    assert np.abs(kkt.nudot - expected).max() < 1e-10 * size
    assert np.abs(null.nudot - expected).max() < 1e-10 * size
    assert np.abs(kkt.multipliers - null.multipliers).max() < 1e-9 * np.abs(kkt.multipliers).max()

    reaction = gs.reaction_wrenches(craft, q, v, vdot, wrenches=wrenches)[1]  # on body two, at its origin, in its axes
    on_two = rows.Pi[1].T @ kkt.multipliers
    C2 = parts[1][0]
    assert np.abs(np.concatenate([on_two[3:], C2 @ on_two[:3]]) - reaction).max() < 1e-10 * np.abs(reaction).max()


@pytest.mark.parametrize("kind", ["spherical", "revolute"])
def test_explicit_null_space_with_its_rate(kind):
    """N = the bodies' Jacobians on the rates v, as nu = N v; Ndot from their rates."""
    craft, q, v, rng = chain(5, kind)
    M, F, parts = system(craft, q, v, rng.normal(size=(2, 6)))
    N, Ndot_v = [], []
    for body, (C, _, _) in zip(craft.bodies, parts, strict=True):
        J, Jdot_v = gs.jacobian(craft, q, body.name), gs.jacobian_rate(craft, q, v, body.name) @ v
        N += [J[3:], C @ J[:3]]
        Ndot_v += [Jdot_v[3:], C @ Jdot_v[:3]]
    N, Ndot_v = np.vstack(N), np.concatenate(Ndot_v)
    rows = rows_of(kind, craft, parts)
    Pi = np.hstack(rows.Pi)
    assert np.abs(Pi @ N).max() < 1e-12
    assert np.abs(Pi @ Ndot_v + rows.gamma).max() < 1e-10 * (1.0 + np.abs(rows.gamma).max())
    udot = explicit_null_space(M, F, N, Ndot_v)
    assert np.abs(N @ udot + Ndot_v - kkt_solution(M, F, Pi, rows.gamma).nudot).max() < 1e-10 * np.abs(udot).max()


@pytest.mark.parametrize("block", ["coincidence", "perpendicular"])
def test_gamma_is_the_rate_of_Pi(block):
    """gamma = Pidot nu, by differences along the motion of two free bodies."""
    rng = np.random.default_rng(1)
    C1, C2 = random_rotation(rng), random_rotation(rng)
    nu, s1, s2 = rng.normal(size=12), rng.normal(size=3), rng.normal(size=3)
    build = {"coincidence": coincidence, "perpendicular": perpendicular}[block]

    def rows(s):
        turned = [gs.algebra.exp_so3(-s * nu[at : at + 3]) @ C for at, C in ((3, C1), (9, C2))]
        return build(turned[0], nu[3:6], s1, turned[1], nu[9:], s2)

    h = 1e-6
    rate = (np.hstack(rows(h).Pi) - np.hstack(rows(-h).Pi)) @ nu / (2 * h)
    assert np.abs(rows(0.0).gamma - rate).max() < 1e-8


def test_redundant_rows_leave_accelerations_and_take_the_least_multipliers():
    craft, q, v, rng = chain(9, "revolute")
    M, F, parts = system(craft, q, v, rng.normal(size=(2, 6)))
    rows = rows_of("revolute", craft, parts)
    Pi = np.hstack(rows.Pi)
    once = kkt_solution(M, F, Pi, rows.gamma)
    twice = kkt_solution(M, F, np.vstack([Pi, 2.0 * Pi]), np.concatenate([rows.gamma, 2.0 * rows.gamma]))
    assert np.abs(once.nudot - twice.nudot).max() < 1e-9 * np.abs(once.nudot).max()
    shares = twice.multipliers.reshape(2, -1)
    assert np.abs(shares[0] + 2.0 * shares[1] - once.multipliers).max() < 1e-8 * np.abs(once.multipliers).max()
    # least norm: in proportion to the rows
    assert np.abs(shares[1] - 2.0 * shares[0]).max() < 1e-8 * np.abs(once.multipliers).max()


@pytest.mark.parametrize(
    "names", [("quaternion", "quaternion"), ("euler_321", "modified_rodrigues"), ("two_vectors", "rodrigues")]
)
def test_trajectory_does_not_depend_on_the_parameters(names):
    """Two bodies on a hinge for 2 s in maximal coordinates, against the recursive formulation; the constraint stays
    closed.
    """
    craft, q0, v0, _ = chain(2, "revolute")
    v0 = 0.3 * v0
    p = [PARAMETERISATIONS[name] for name in names]
    at = [0, 3 + p[0].nq, 6 + p[0].nq + p[1].nq]

    def rate(t, z):
        nu = z[at[2] :].reshape(2, 6)
        C = [p[i].C(z[at[i] + 3 : at[i + 1]]) for i in (0, 1)]
        bodies = [rigid_body(b.mass, b.com, b.inertia) for b in craft.bodies]
        M = np.zeros((12, 12))
        for i in (0, 1):
            M[6 * i : 6 * i + 6, 6 * i : 6 * i + 6] = mass_matrix(bodies[i], C[i])
        F = np.concatenate([nonlinear_force(bodies[i], C[i], nu[i, 3:]) for i in (0, 1)])
        rows = rows_of("revolute", craft, [(C[i], nu[i], bodies[i]) for i in (0, 1)])
        nudot = kkt_solution(M, F, np.hstack(rows.Pi), rows.gamma).nudot
        poses = [np.concatenate([nu[i, :3], p[i].Gamma(z[at[i] + 3 : at[i + 1]]) @ nu[i, 3:]]) for i in (0, 1)]
        return np.concatenate([*poses, nudot])

    parts, X_NB = maximal(craft, q0, v0), inertial_poses(craft, q0)
    poses = [np.concatenate([X_NB[b].p, p[i].from_C(parts[i][0])]) for i, b in enumerate(("one", "two"))]
    z = solve_ivp(
        rate, (0, 2.0), np.concatenate([*poses, parts[0][1], parts[1][1]]), "DOP853", rtol=1e-11, atol=1e-12
    ).y[:, -1]
    traj = gs.simulate(craft, q0, v0, (0, 2.0), rtol=1e-12, atol=1e-13)
    R, r = traj.poses()
    for i in (0, 1):
        assert np.abs(p[i].C(z[at[i] + 3 : at[i + 1]]).T - R[-1, i]).max() < 1e-8
        assert np.abs(z[at[i] : at[i] + 3] - r[-1, i]).max() < 1e-8


# ---- nonholonomic systems


def sleigh(V, w, a, m, J):
    """Accelerations of a sleigh at the origin, heading along x: blade at z, centre of mass a ahead. Planar motion held
    by constraints.
    """
    body = rigid_body(m, a * X, np.diag([0.7, 0.9, J]))
    C, rate = np.eye(3), w * Z
    nu = np.concatenate([V * X, rate])
    # blade: velocity along y of the body vanishes; d/dt (C^T y).v = (W x y).v
    Pi = [np.concatenate([Y, np.zeros(3)]), np.concatenate([Z, np.zeros(3)])]
    gamma = [cross(rate, Y) @ nu[:3], 0.0]
    for axis in (X, Y):  # no tilt
        Pi.append(np.concatenate([np.zeros(3), axis]))
        gamma.append(0.0)
    return kkt_solution(mass_matrix(body, C), nonlinear_force(body, C, rate), np.array(Pi), np.array(gamma))


def test_chaplygin_sleigh():
    """Vdot = a w^2, wdot = -m a V w / (J + m a^2)."""
    V, w, a, m, J = 0.8, 1.3, 0.4, 2.5, 0.6
    found = sleigh(V, w, a, m, J)
    # acceleration in N of the blade: (Vdot, V w, 0)
    assert found.nudot[0] == pytest.approx(a * w**2, rel=1e-13)
    assert found.nudot[1] == pytest.approx(V * w, rel=1e-13)
    assert found.nudot[5] == pytest.approx(-m * a * V * w / (J + m * a**2), rel=1e-13)


def test_rolling_disc_against_newton_euler_and_energy():
    """A thin disc rolling on a plane: multipliers eliminated by hand give the same; the contact does no work."""
    rng = np.random.default_rng(3)
    m, radius = 2.0, 0.5
    I = np.diag([0.5, 0.25, 0.25]) * m * radius**2  # about its own x axis
    g = np.array([0.0, 0.0, -9.81])
    for _ in range(5):
        C = random_rotation(rng)
        w = rng.normal(size=3)
        axis, W = C.T @ X, C.T @ w
        down = -Z + (Z @ axis) * axis
        r = radius * down / np.linalg.norm(down)
        axis_dot = np.cross(W, axis)
        down_dot = (Z @ axis_dot) * axis + (Z @ axis) * axis_dot
        unit = down / np.linalg.norm(down)
        rdot = radius * (down_dot - unit * (unit @ down_dot)) / np.linalg.norm(down)
        v = -np.cross(W, r)
        rows = rolling(C, w, r, rdot)
        assert np.abs(rows.Pi[0] @ np.concatenate([v, w])).max() < 1e-14
        body = rigid_body(m, np.zeros(3), I)
        M, F = mass_matrix(body, C), nonlinear_force(body, C, w) + np.concatenate([m * g, np.zeros(3)])
        found = kkt_solution(M, F, rows.Pi[0], rows.gamma)
        # Newton-Euler: f = m (a - g), d/dt(h) = r x f, a = -(alpha x r + W x rdot)
        I_N = C.T @ I @ C
        K = I_N + m * ((r @ r) * np.eye(3) - np.outer(r, r))
        alpha = np.linalg.solve(K, -np.cross(W, I_N @ W) - m * np.cross(r, np.cross(W, rdot) + g))
        a = -(np.cross(alpha, r) + np.cross(W, rdot))
        assert np.abs(found.nudot - np.concatenate([a, C @ alpha])).max() < 1e-11 * np.abs(found.nudot).max()
        power = m * v @ found.nudot[:3] + w @ I @ found.nudot[3:] - m * g @ v
        assert abs(power) < 1e-11 * m * 9.81
