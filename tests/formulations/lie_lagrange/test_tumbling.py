"""Tumbling through every Euler singularity: nothing happens here, while Euler angles' steps collapse."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.integrate import DOP853
from scipy.spatial.transform import Rotation

import gyrostat as gs
from gyrostat.algebra import quat_from_rotation, rotation, rotation_about, rotation_from_rpy
from gyrostat.formulations import lie_lagrange as lie
from gyrostat.formulations.lie_lagrange.paper.ground_test_bed import rpy_rate
from gyrostat.tracing import compile
from lie_crafts import chain
from random_trees import random_state

SEQUENCES = [(i, j, k) for i, j, k in product(range(3), repeat=3) if i != j and j != k]
COLLAPSED = 1e-6  # s, where some 0.04 s is usual
MISS = 1e-6  # rad


@pytest.fixture(scope="module")
def craft():
    return chain(1, ["revolute"] * 3, rotors=False)


@pytest.fixture(scope="module")
def kernels(craft):
    return compile(lie.forward_dynamics, craft), compile(gs.configuration_rate, craft)


@pytest.fixture(scope="module")
def group_rates(craft, kernels):
    forward, rate = kernels

    def rhs(t, y):
        q, v = y[: craft.nq], y[craft.nq :]
        return np.concatenate([rate(q, v), forward(q, v, np.zeros(craft.nv))])

    return rhs


def integrated(rhs, start, end, y, patience=COLLAPSED):
    """Final state and step sizes, at rtol 1e-10; None in place of the state if the steps collapse."""
    solver, steps = DOP853(rhs, start, y, end, rtol=1e-10, atol=1e-12), []
    while solver.status == "running":
        solver.step()
        steps.append(abs(solver.step_size))
        if steps[-1] < patience and abs(end - solver.t) > 2 * patience:
            return None, np.array(steps)
    return (solver.y if solver.status == "finished" else None), np.array(steps)


def middle_angles(sequence):
    """Where the first and the third axis are parallel."""
    return (0.0, np.pi) if sequence[0] == sequence[2] else (np.pi / 2, -np.pi / 2)


def turned(sequence, angles):
    i, j, k = (rotation_about(np.eye(3)[axis], angle) for axis, angle in zip(sequence, angles, strict=True))
    return i @ j @ k


def euler_rates(sequence, angles, w):
    """From w = R_k^T R_j^T e_i a' + R_k^T e_j b' + e_k c'."""
    i, j, k = np.eye(3)[list(sequence)]
    R_k = rotation_about(k, angles[2])
    R_jk = rotation_about(j, angles[1]) @ R_k
    return np.linalg.solve(np.column_stack([R_jk.T @ i, R_k.T @ j, k]), w)


@pytest.mark.parametrize("sequence", SEQUENCES, ids=lambda s: "".join("xyz"[i] for i in s))
def test_through_both_singularities_of_each_sequence(craft, kernels, group_rates, sequence):
    """The craft passes each singular attitude by a millionth of a radian, at 2 s. The group's steps do not notice;
    those of the Euler angles collapse by four orders.
    """
    forward, _ = kernels

    def with_euler_angles(t, y):
        q, v = np.concatenate([[1.0], np.zeros(6), y[6:9]]), y[9:]  # the base's pose does not matter
        R = turned(sequence, y[:3])
        return np.concatenate(
            [euler_rates(sequence, y[:3], v[:3]), R @ v[3:6], v[6:], forward(q, v, np.zeros(craft.nv))]
        )

    for middle in middle_angles(sequence):
        near = turned(sequence, (0.3, middle + MISS, -0.7))
        q, v = random_state(craft, 3, speed=0.5)
        q[:4] = quat_from_rotation(near)
        start, _ = integrated(group_rates, 2.0, 0.0, np.concatenate([q, v]))
        there, _ = integrated(group_rates, 0.0, 2.0, start)
        assert np.abs(rotation(there[:4]) - near).max() < 1e-8
        end, steps = integrated(group_rates, 0.0, 4.0, start)
        assert end is not None and steps[:-1].min() > 0.3 * np.median(steps)
        letters = "".join("XYZ"[axis] for axis in sequence)
        angles = Rotation.from_quat(np.roll(start[:4], -1)).as_euler(letters)
        other, collapsing = integrated(with_euler_angles, 0.0, 4.0, np.concatenate([angles, start[4:]]))
        assert other is None and collapsing.min() < COLLAPSED
        assert abs(collapsing.sum() - 2.0) < 1e-3  # at the singularity


def test_eqs16_17_printed_rates_want_the_body_rate(craft):
    """T maps the *body* rate; with the spatial one, as labelled, the attitude goes elsewhere."""
    rng = np.random.default_rng(0)
    rpy, w = rng.normal(size=3), rng.normal(size=3)
    R, h = rotation_from_rpy(rpy), 1e-6
    moved = (rotation_from_rpy(rpy + h * rpy_rate(rpy, w)) - rotation_from_rpy(rpy - h * rpy_rate(rpy, w))) / (2 * h)
    np.testing.assert_allclose((R.T @ moved)[[2, 0, 1], [1, 2, 0]], w, atol=1e-8)
    labelled = rpy_rate(rpy, R @ w)
    moved = (rotation_from_rpy(rpy + h * labelled) - rotation_from_rpy(rpy - h * labelled)) / (2 * h)
    assert np.abs((R.T @ moved)[[2, 0, 1], [1, 2, 0]] - w).max() > 0.1


def test_eqs12_13_hold_for_the_body_rate_only():
    """(12): e' = 1/2 (eta 1 + e^) w and (13): I w' + w^ I w = tau, with w in body axes; the label says inertial
    ones.
    """
    body = gs.Spacecraft.build("body", [gs.Body("b", 5.0, inertia=(1.0, 2.0, 3.0), joint=gs.Joint("j", "spherical"))])
    q, w = random_state(body, 1)
    eta, e, I = q[0], q[1:], np.diag([1.0, 2.0, 3.0])
    rate = gs.configuration_rate(body, q, w)

    def printed(w):
        return np.concatenate([[-0.5 * e @ w], 0.5 * (eta * w + np.cross(e, w))])

    R = rotation(q)
    np.testing.assert_allclose(rate, printed(w), atol=1e-15)
    assert np.abs(rate - printed(R @ w)).max() > 1e-2
    tau = np.array([0.3, -0.2, 0.5])
    wdot = lie.forward_dynamics(body, q, w, tau)
    np.testing.assert_allclose(I @ wdot + np.cross(w, I @ w), tau, atol=1e-14)
    w_N, wdot_N = R @ w, R @ wdot
    assert np.abs(I @ wdot_N + np.cross(w_N, I @ w_N) - R @ tau).max() > 1e-2


def test_energy_and_inertial_momentum_are_conserved(craft, group_rates):
    """A minute of free tumbling: all seven conserved numbers to 1e-9 of their size."""
    q, v = random_state(craft, 5, speed=0.4)
    end, _ = integrated(group_rates, 0.0, 60.0, np.concatenate([q, v]))
    assert end is not None
    before = np.append(gs.momentum(craft, q, v), gs.kinetic_energy(craft, q, v))
    after = np.append(
        gs.momentum(craft, end[: craft.nq], end[craft.nq :]), gs.kinetic_energy(craft, end[: craft.nq], end[craft.nq :])
    )
    np.testing.assert_allclose(after, before, atol=1e-9 * np.abs(before).max())
