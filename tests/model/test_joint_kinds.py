"""Each joint kind: its pose, motion map, map rate, coordinate rates, step and difference belong together."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from exact import TINY, exact, exact_axis, mp, size
from gyrostat.algebra import compose, inverse, log_se3, skew
from gyrostat.model import KINDS

NAMES = list(KINDS)
MOVING = [name for name in NAMES if name != "wheel"]  # a wheel's frame stays with its carrier
AXES = [
    ((0, 0, 1), (0, 1, 0)),
    ((1, 0, 0), (0, 0, 1)),
    ((0, -1, 0), (1, 0, 0)),
    ((2, -1, 3), (1, 1, 0)),
    ((30, 1, 2), (0, 3, 4)),
]


def kind(name: str, axes) -> gs.model.AbstractKind:
    return gs.Joint("joint", name, axis=axes[0], axis2=axes[1]).motion


def exact_kind(name: str, axes) -> gs.model.AbstractKind:
    return KINDS[name](exact_axis(np.array(axes[0], dtype=float)), exact_axis(np.array(axes[1], dtype=float)))


def state(motion, seed: int = 1):
    """A configuration away from zero, and rates."""
    rng = np.random.default_rng(seed)
    return motion.step(motion.neutral(), 0.8 * rng.normal(size=len(motion.v_units))), rng.normal(
        size=len(motion.v_units)
    )


every_kind = pytest.mark.parametrize("name", NAMES)
every_axis = pytest.mark.parametrize("axes", AXES)


@every_kind
@every_axis
def test_shapes_and_zero(name, axes):
    motion = kind(name, axes)
    q, v = state(motion)
    nq, nv = len(motion.q_units), len(motion.v_units)
    assert motion.name == name and len(q) == nq and motion.neutral().shape == (nq,)
    assert motion.H(q).shape == motion.map_rate(q, v).shape == (6, nv)
    assert motion.qdot(q, v).shape == (nq,) and motion.difference(q, q).shape == (nv,)
    zero = motion.pose(motion.neutral())
    assert (np.eye(3) == zero.R).all() and (zero.p == 0).all()
    assert nv == 0 or np.linalg.matrix_rank(motion.H(q)) == nv


@every_axis
@pytest.mark.parametrize("name", MOVING)
def test_the_motion_map_is_the_rate_of_the_pose(name, axes):
    """R^T Rdot = (H v)_w^, R^T pdot = (H v)_v, along q' = qdot(q, v)."""
    motion = exact_kind(name, axes)
    q, v = (exact(x) for x in state(kind(name, axes)))
    X, V = motion.pose(q), motion.H(q) @ v if len(v) else exact(np.zeros(6))
    qdot = motion.qdot(q, v)
    later, before = motion.pose(q + TINY * qdot), motion.pose(q - TINY * qdot)
    assert size(X.R.T @ (later.R - before.R) / (2 * TINY) - skew(V[:3])) < 1e-30
    assert size(X.R.T @ (later.p - before.p) / (2 * TINY) - V[3:]) < 1e-30


@every_axis
@every_kind
def test_the_map_rate_is_the_rate_of_the_map(name, axes):
    motion = exact_kind(name, axes)
    q, v = (exact(x) for x in state(kind(name, axes)))
    qdot = motion.qdot(q, v)
    rate = (motion.H(q + TINY * qdot) - motion.H(q - TINY * qdot)) / (2 * TINY)
    assert size(rate - motion.map_rate(q, v)) < 1e-30
    moves = motion.map_rate(q, v).astype(float).any()
    assert moves == (name == "universal")


@every_axis
@every_kind
def test_a_step_starts_along_the_rates(name, axes):
    """d/dt step(q, t v) at t = 0 moves the pose by H v."""
    motion = exact_kind(name, axes)
    q, v = (exact(x) for x in state(kind(name, axes)))
    X = motion.pose(q)
    later, before = motion.pose(motion.step(q, TINY * v)), motion.pose(motion.step(q, -TINY * v))
    V = motion.H(q) @ v if len(v) and name != "wheel" else exact(np.zeros(6))
    assert size(X.R.T @ (later.R - before.R) / (2 * TINY) - skew(V[:3])) < 1e-30
    assert size(X.R.T @ (later.p - before.p) / (2 * TINY) - V[3:]) < 1e-30


@every_axis
@every_kind
def test_steps_at_constant_rate_add_up(name, axes):
    """With the test above: a step is where the joint is after one second at constant rates."""
    motion = kind(name, axes)
    for scale in (0.0, 1e-9, 0.1, 1.0, 2.0):
        q, v = state(motion)
        once = motion.step(q, scale * v)
        twice = motion.step(motion.step(q, 0.3 * scale * v), 0.7 * scale * v)
        assert size(once - twice) < 4e-15
        if name in ("spherical", "free"):
            assert np.linalg.norm(once[:4]) == pytest.approx(1.0, abs=1e-15)


@every_axis
@every_kind
def test_difference_is_the_inverse_of_a_step(name, axes):
    motion = kind(name, axes)
    q, v = state(motion)
    for scale in (0.0, 1e-12, 1e-3, 0.5, 1.2):
        dv = scale * v / max(1.0, np.linalg.norm(v[:3]) / 2.5)  # turns by less than pi
        found = motion.difference(q, motion.step(q, dv))
        assert size(found - (0 * dv if name == "wheel" else dv)) < 4e-15 * max(1.0, size(dv))
    q1, _ = state(motion, seed=9)
    there = motion.pose(motion.step(q, motion.difference(q, q1)))
    assert size(log_se3(compose(inverse(there), motion.pose(q1)))) < 1e-14


@pytest.mark.parametrize("name", ["spherical", "free"])
def test_difference_does_not_depend_on_the_sign_of_quaternions(name):
    motion = kind(name, AXES[0])
    q0, _ = state(motion, 1)
    q1, _ = state(motion, 2)
    other = np.concatenate([-q1[:4], q1[4:]])
    assert size(motion.difference(q0, q1) - motion.difference(q0, other)) < 1e-14


def test_closed_forms():
    """What each kind does in the plainest case."""
    z = ((0, 0, 1), (0, 1, 0))
    half = np.pi / 2
    turn = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1.0]])
    assert size(kind("revolute", z).pose(np.array([half])).R - turn) < 1e-15
    assert kind("prismatic", z).pose(np.array([2.0])).p.tolist() == [0, 0, 2]
    X = kind("cylindrical", z).pose(np.array([half, 3.0]))
    assert size(X.R - turn) < 1e-15 and X.p.tolist() == [0, 0, 3]
    assert kind("cartesian", z).pose(np.array([1.0, 2.0, 3.0])).p.tolist() == [1, 2, 3]
    X = kind("planar", z).pose(np.array([1.0, 2.0, half]))
    assert size(X.R - turn) < 1e-15 and X.p.tolist() == [1, 2, 0]
    X = kind("universal", z).pose(np.array([half, half]))  # about z, then about the turned y
    assert size(X.R @ np.array([0, 0, 1.0]) - np.array([0, 1.0, 0])) < 1e-15
    assert kind("planar", z).qdot(np.array([0, 0, half]), np.array([0.5, 1.0, 0.0])) == pytest.approx(
        [0, 1, 0.5], abs=1e-15
    )


def test_the_first_direction_of_a_plane_is_as_near_to_x_as_can_be():
    for axis in np.random.default_rng(3).normal(size=(20, 3)):
        motion = kind("planar", (axis, (0, 1, 0)))
        H = motion.H(np.zeros(3))
        n, first, second = H[:3, 0], H[3:, 1], H[3:, 2]
        assert size(np.column_stack([first, second, n]).T @ np.column_stack([first, second, n]) - np.eye(3)) < 1e-15
        near = np.eye(3)[1 if abs(n[0]) > 0.9 else 0]
        assert size(np.cross(first, second) - n) < 1e-15
        assert first @ near == pytest.approx(np.sqrt(1 - (near @ n) ** 2), abs=1e-14)


@every_kind
def test_maps_take_mpmath_numbers(name):
    motion = exact_kind(name, AXES[3])
    q, v = (exact(x) for x in state(kind(name, AXES[3])))
    X = motion.pose(q)
    assert name in ("wheel", "fixed") or any(isinstance(x, mp.mpf) for x in (*X.R.ravel(), *X.p))
    assert size(motion.step(q, v).astype(float) - kind(name, AXES[3]).step(q.astype(float), v.astype(float))) < 4e-15
