"""Energy, momentum and Newton-Euler, to thirty digits, with derivatives taken along the motion of the poses alone."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from exact import TINY, exact, rate, size
from exact_cases import SEEDS, State, state
from gyrostat.algebra import Pose, cross, wrench_to_parent


def acceleration(s: State) -> np.ndarray:
    return gs.forward_dynamics(s.craft, s.q, s.v, s.tau, wrenches=s.wrenches)


def body_twist(s: State, body: str) -> np.ndarray:
    """V_NB_B from the derivative of the body's pose; of a wheel, whose frame does not spin,
    with its own speed added.
    """
    k = s.craft.index(body)
    R = gs.forward_kinematics(s.craft, s.q).R_NB[k]
    pdot = rate(lambda q, v: gs.forward_kinematics(s.craft, q).p_NB[k], s.craft, s.q, s.v)
    return np.concatenate([_spin(s.craft, s.q, s.v, k), R.T @ pdot])


def _spin(craft: gs.Spacecraft, q: np.ndarray, v: np.ndarray, k: int) -> np.ndarray:
    """w_NB_B from R^T Rdot."""
    body = craft.bodies[k]
    qdot = gs.configuration_rate(craft, q, v)
    R = gs.forward_kinematics(craft, q).R_NB[k]
    later, before = (gs.forward_kinematics(craft, q + sign * TINY * qdot).R_NB[k] for sign in (1, -1))
    W = R.T @ (later - before) / (2 * TINY)
    w = np.array([W[2, 1], W[0, 2], W[1, 0]])
    return w + body.joint.axis * v[body.joint.v_at][0] if body.joint.kind == "wheel" else w


def in_N(s: State, body: str, F: np.ndarray) -> np.ndarray:
    """A wrench about Bo in B, taken about N's origin in N."""
    X = gs.forward_kinematics(s.craft, s.q)
    k = s.craft.index(body)
    return wrench_to_parent(Pose(X.R_NB[k], X.p_NB[k]), F)


@pytest.mark.parametrize("seed", SEEDS)
def test_power_balance(seed):
    """dT/dt = tau . v + the power of external wrenches."""
    s = state(seed)
    vdot = acceleration(s)
    growth = rate(lambda q, v: gs.kinetic_energy(s.craft, q, v), s.craft, s.q, s.v, vdot)
    power = s.tau @ s.v
    for body, F in zip(s.craft.bodies, s.wrenches, strict=True):
        power = power + F @ body_twist(s, body.name)
    assert abs(growth - power) < 1e-30 * max(1.0, float(abs(power)))


@pytest.mark.parametrize("seed", SEEDS)
def test_kinetic_energy_is_half_v_M_v(seed):
    s = state(seed)
    T = gs.kinetic_energy(s.craft, s.q, s.v)
    assert abs(T - s.v @ gs.mass_matrix(s.craft, s.q) @ s.v / 2) < 1e-60 * T


@pytest.mark.parametrize("seed", SEEDS)
def test_momentum_rate_is_the_external_wrench(seed):
    """What holds the base (row 0 of the reactions) and external wrenches, about N's origin;
    then about another point.
    """
    s = state(seed)
    vdot = acceleration(s)
    F = in_N(s, s.craft.base, gs.reaction_wrenches(s.craft, s.q, s.v, vdot, wrenches=s.wrenches)[0])
    for body, row in zip(s.craft.bodies, s.wrenches, strict=True):
        F = F + in_N(s, body.name, row)
    found = rate(lambda q, v: gs.momentum(s.craft, q, v), s.craft, s.q, s.v, vdot)
    assert size(found - F) < 1e-30 * size(F)
    point = exact([0.3, -1.2, 2.5])
    found = rate(lambda q, v: gs.momentum(s.craft, q, v, about=point), s.craft, s.q, s.v, vdot)
    assert size(found - np.concatenate([F[:3] - cross(point, F[3:]), F[3:]])) < 1e-30 * size(F)


@pytest.mark.parametrize("seed", [s for s in SEEDS if state(s).rough.joints[0].kind == "free"])
def test_internal_loads_change_no_momentum(seed):
    """A free base: joint loads and wheel torques, however large, leave both momenta as they are."""
    s = state(seed)
    tau = s.tau.copy()
    tau[:6] = 0 * tau[:6]
    vdot = gs.forward_dynamics(s.craft, s.q, s.v, 100 * tau)
    found = rate(lambda q, v: gs.momentum(s.craft, q, v), s.craft, s.q, s.v, vdot)
    assert size(found) < 1e-30 * size(vdot)


@pytest.mark.parametrize("seed", SEEDS)
def test_momentum_is_the_sum_over_bodies(seed):
    """Mass times the velocity of each centre of mass, and each body's own angular momentum;
    centroidal matrix, centre of mass.
    """
    s = state(seed)
    total, moment, mass = 0 * exact(np.zeros(6)), 0, 0
    for k, body in enumerate(s.craft.bodies):
        c, cdot, own = _center(s, s.q, s.v, k), _center_velocity(s, s.q, s.v, k), _own_angular_momentum(s, s.q, s.v, k)
        total = total + np.concatenate([own + cross(c, body.mass * cdot), body.mass * cdot])
        moment, mass = moment + body.mass * c, mass + body.mass
    assert size(gs.momentum(s.craft, s.q, s.v) - total) < 1e-30 * size(total)
    com = gs.center_of_mass(s.craft, s.q)
    assert size(com - moment / mass) < 1e-60 and abs(gs.total_mass(s.craft) - mass) < 1e-60
    A = gs.formulations.recursive.centroidal_momentum_matrix(s.craft, s.q)
    assert size(A @ s.v - np.concatenate([total[:3] - cross(com, total[3:]), total[3:]])) < 1e-30 * size(total)
    comdot = rate(lambda q, v: gs.center_of_mass(s.craft, q), s.craft, s.q, s.v)
    assert size(mass * comdot - (A @ s.v)[3:]) < 1e-30 * size(total)


@pytest.mark.parametrize("seed", SEEDS)
def test_composite_inertia_is_that_of_the_locked_craft(seed):
    s = state(seed)
    M = gs.kinematics.composite_inertia(s.craft, s.q)
    com, mass = gs.center_of_mass(s.craft, s.q), gs.total_mass(s.craft)
    I_o = 0
    X = gs.forward_kinematics(s.craft, s.q)
    for k, body in enumerate(s.craft.bodies):
        R, c = X.R_NB[k], _center(s, s.q, s.v, k)
        I_o = I_o + R @ _own_inertia(s.craft, k) @ R.T + body.mass * ((c @ c) * np.eye(3) - np.outer(c, c))
    assert abs(M.m - mass) < 1e-60 and size(M.h - mass * com) < 1e-60 and size(M.I_o - I_o) < 1e-60


@pytest.mark.parametrize("seed", SEEDS)
def test_reaction_wrenches_balance_every_body(seed):
    """Newton and Euler in N for each body alone: what its joint and the world give it,
    less what it gives its children.
    """
    s = state(seed)
    F = gs.reaction_wrenches(s.craft, s.q, s.v, s.vdot, wrenches=s.wrenches)
    for k, body in enumerate(s.craft.bodies):
        total = in_N(s, body.name, F[k] + s.wrenches[k])
        for i, child in enumerate(s.craft.bodies):
            if child.parent == body.name:
                total = total - in_N(s, child.name, F[i])
        c = _center(s, s.q, s.v, k)
        force = body.mass * rate(lambda q, v, k=k: _center_velocity(s, q, v, k), s.craft, s.q, s.v, s.vdot)
        turning = rate(lambda q, v, k=k: _own_angular_momentum(s, q, v, k), s.craft, s.q, s.v, s.vdot)
        assert size(total[3:] - force) < 1e-27 * size(F), body.name
        assert size(total[:3] - cross(c, total[3:]) - turning) < 1e-27 * size(F), body.name


@pytest.mark.parametrize("seed", SEEDS)
def test_generalised_forces_are_the_reactions_along_each_joint(seed):
    s = state(seed)
    F = gs.reaction_wrenches(s.craft, s.q, s.v, s.vdot, wrenches=s.wrenches)
    tau = gs.inverse_dynamics(s.craft, s.q, s.v, s.vdot, wrenches=s.wrenches)
    for k, joint in enumerate(s.craft.joints):
        along = joint.H(s.q).T @ F[k] + joint.rotor_inertia * joint.gear_ratio**2 * s.vdot[joint.v_at]
        assert size(along - tau[joint.v_at]) < 1e-60


@pytest.mark.parametrize("seed", SEEDS)
def test_regressor_times_parameters_is_inverse_dynamics(seed):
    s = state(seed)
    Y, pi = (
        gs.formulations.recursive.regressor(s.craft, s.q, s.v, s.vdot),
        gs.formulations.recursive.inertial_parameters(s.craft),
    )
    rotors = np.concatenate([np.full(j.nv, j.rotor_inertia * j.gear_ratio**2, dtype=object) for j in s.craft.joints])
    tau = gs.inverse_dynamics(s.craft, s.q, s.v, s.vdot)
    assert Y.shape == (s.craft.nv, 10 * s.craft.nbodies)
    assert size(Y @ pi + rotors * s.vdot - tau) < 1e-60 * size(tau)


# ---- one body at a time, from its pose alone


def _own_inertia(craft: gs.Spacecraft, k: int) -> np.ndarray:
    """About the centre of mass in B, wheels that it includes taken out."""
    inertia = craft.bodies[k].inertia
    for wheel in craft.wheels:
        if wheel.included and wheel.parent == craft.bodies[k].name:
            inertia = inertia - wheel.inertia
    return inertia


def _center(s: State, q: np.ndarray, v: np.ndarray, k: int) -> np.ndarray:
    X = gs.forward_kinematics(s.craft, q)
    return X.p_NB[k] + X.R_NB[k] @ s.craft.bodies[k].com


def _center_velocity(s: State, q: np.ndarray, v: np.ndarray, k: int) -> np.ndarray:
    return rate(lambda q, v: _center(s, q, v, k), s.craft, q, v)


def _own_angular_momentum(s: State, q: np.ndarray, v: np.ndarray, k: int) -> np.ndarray:
    """About the body's centre of mass, in N."""
    R = gs.forward_kinematics(s.craft, q).R_NB[k]
    return R @ (_own_inertia(s.craft, k) @ _spin(s.craft, q, v, k))
