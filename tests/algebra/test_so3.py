"""Rotations: group axioms near the identity, near pi and anywhere; series against sixty digits; round trips."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from exact import exact, mp, size
from gyrostat import algebra as g
from gyrostat.model.kinds import quat_rate

ANGLES = (
    0.0,
    1e-300,
    1e-160,
    1e-12,
    1e-8,
    1e-5,
    0.0199,
    0.02,
    0.0201,
    0.3,
    0.999999999,
    1.0,
    1.000000001,
    2.0,
    3.0,
    np.pi - 1e-3,
    np.pi - 1e-9,
)
ONE = np.eye(3)


def axes(count: int = 4) -> np.ndarray:
    a = np.random.default_rng(1).normal(size=(count, 3))
    return np.concatenate([ONE, a / np.linalg.norm(a, axis=1)[:, None]])


def vectors(largest: float):
    """Rotation vectors of any direction, angle drawn evenly, near zero, or near pi."""
    angle = st.one_of(
        st.floats(0, largest),
        st.floats(-12, -1).map(lambda e: 10.0**e),
        st.floats(-12, -1).map(lambda e: np.pi - 10.0**e),
    )
    direction = arrays(float, 3, elements=st.floats(-1, 1)).filter(lambda a: np.linalg.norm(a) > 1e-3)
    return st.tuples(angle, direction).map(lambda t: min(t[0], largest) * t[1] / np.linalg.norm(t[1]))


FAST = settings(max_examples=60, deadline=None, derandomize=True)

# ---- the series


def stumpff_reference(k: int, x) -> mp.mpf:
    x = mp.mpf(float(x))
    return sum((-x) ** j / mp.factorial(2 * j + k) for j in range(120))


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_stumpff_functions_to_sixty_digits_across_the_switch(k):
    """The series to round-off of 1/k!, its size; the closed forms to the round-off of their
    largest term, which is one.
    """
    below, above = np.nextafter(1.0, 0.0), np.nextafter(1.0, 2.0)
    for x in (
        0.0,
        1e-300,
        1e-30,
        1e-16,
        1e-8,
        1e-3,
        0.1,
        0.5,
        0.99,
        below,
        1.0,
        above,
        1.01,
        2.0,
        4.0,
        np.pi**2,
        20.0,
        4 * np.pi**2,
        100.0,
    ):
        error = abs(mp.mpf(float(g.stumpff(k, x))) - stumpff_reference(k, x))
        assert error < (3e-16 / mp.factorial(k) if x < 1.0 else 2.3e-16), (x, float(error))


@pytest.mark.parametrize("angle", [a for a in ANGLES if a > 0])
def test_quaternion_of_a_rotation_vector_to_sixty_digits(angle):
    for a in axes():
        phi = angle * a
        n = mp.sqrt(sum(mp.mpf(float(x)) ** 2 for x in phi))
        expected = np.array([mp.cos(n / 2), *(mp.sin(n / 2) / n * mp.mpf(float(x)) for x in phi)])
        found = exact(g.quat_exp(phi))
        assert abs(found[0] - expected[0]) < 3e-16
        assert size(found[1:] - expected[1:]) < 6e-16 * size(expected[1:])
        back = exact(g.quat_log(g.quat_exp(phi)))
        assert size(back - exact(phi)) < 1e-15 * size(phi) + 3e-16 * (angle > 3)


def test_logarithm_to_sixty_digits_across_the_switch():
    """|vector part| / scalar part = 1e-2 is where the series ends."""
    for ratio in (1e-170, 1e-20, 1e-9, 1e-3, 0.0099999, 0.01, 0.0100001, 0.1, 1.0, 1e3, 1e9):
        u = ratio * np.array([0.6, 0.0, 0.8])
        n = mp.sqrt(sum(mp.mpf(float(x)) ** 2 for x in u))
        expected = np.array([2 * mp.atan2(n, 1) / n * mp.mpf(float(x)) for x in u])
        assert size(exact(g.quat_log(np.concatenate([[1.0], u]))) - expected) < 1e-15 * size(expected)


@pytest.mark.parametrize("angle", [*ANGLES, 4.0, 6.0])
def test_left_jacobian_and_its_inverse(angle):
    """d/dt exp(phi) = (J phidot)^ exp(phi), by differences in sixty digits; J^-1 J = 1."""
    for a in axes(2):
        phi = angle * a
        J, inverse = g.left_jacobian(phi), g.left_jacobian_inverse(phi)
        assert size(inverse @ J - ONE) < 3e-15 * size(inverse)
        h, rate = mp.mpf(10) ** -20, exact([0.3, -0.8, 0.5])
        p = exact(phi)
        W = (taylor_exp(p + h * rate) - taylor_exp(p - h * rate)) / (2 * h) @ taylor_exp(p).T
        spin = np.array([W[2, 1], W[0, 2], W[1, 0]])
        assert size(spin - exact(J) @ rate) < 1e-14


def taylor_exp(phi: np.ndarray) -> np.ndarray:
    """The plain series, all digits: no part of the code under test."""
    S, term, total = g.skew(phi), exact(ONE), exact(ONE)
    for j in range(1, 100):
        term = term @ S / mp.mpf(j)
        total = total + term
    return total


# ---- the group


@FAST
@given(vectors(10.0), vectors(np.pi))
def test_rotation_matrices_are_a_group(a, b):
    A, B = g.exp_so3(a), g.exp_so3(b)
    for R in (A, B, A @ B, A.T):
        assert size(R @ R.T - ONE) < 2e-15 and abs(np.linalg.det(R) - 1) < 2e-15
    assert size(g.exp_so3(-a) - A.T) < 1e-15
    assert size(A @ a - a) < 3e-15 * max(1.0, size(a))  # the axis stays
    assert size(g.exp_so3(0.3 * a) @ g.exp_so3(0.7 * a) - A) < 5e-15  # one-parameter subgroup
    assert size(A @ g.exp_so3(b) @ A.T - g.exp_so3(A @ b)) < 5e-15  # conjugation


@FAST
@given(vectors(np.pi))
def test_exponential_and_logarithm_are_inverse(phi):
    R = g.exp_so3(phi)
    found = g.log_so3(R)
    assert size(g.exp_so3(found) - R) < 4e-15
    if np.linalg.norm(phi) < np.pi - 1e-7:
        assert size(found - phi) < 1e-14 * max(np.linalg.norm(phi), 1e-300) + 4e-16 * (np.linalg.norm(phi) > 1e-3)
    assert np.linalg.norm(found) <= np.pi * (1 + 1e-15)


@pytest.mark.parametrize("a", axes())
def test_half_turns(a):
    """At exactly pi either sign is right; the rotation comes back."""
    R = 2 * np.outer(a, a) - ONE
    phi = g.log_so3(R)
    assert abs(np.linalg.norm(phi) - np.pi) < 1e-15 * 4 and size(g.exp_so3(phi) - R) < 2e-15
    assert size(g.rotation(g.quat_from_rotation(R)) - R) < 2e-15


@FAST
@given(vectors(np.pi))
def test_quaternion_of_a_rotation_matrix(phi):
    quat = g.quat_exp(phi)
    R = g.rotation(quat)
    found = g.quat_from_rotation(R)
    assert size(R - g.exp_so3(phi)) < 2e-15
    assert found[0] >= 0 and abs(found @ found - 1) < 1e-15
    assert min(size(found - quat), size(found + quat)) < 2e-15
    assert size(g.rotation(-7.3 * quat) - R) < 2e-15  # norm and sign do not matter
    assert size(g.quat_log(-7.3 * quat) - g.quat_log(quat)) < 2e-15 or abs(np.linalg.norm(phi) - np.pi) < 1e-7


@FAST
@given(*(arrays(float, 4, elements=st.floats(-2, 2)).filter(lambda a: np.linalg.norm(a) > 0.1) for _ in range(3)))
def test_quaternion_algebra(a, b, c):
    ab = g.quat_multiply(a, b)
    assert size(g.quat_multiply(ab, c) - g.quat_multiply(a, g.quat_multiply(b, c))) < 2e-14
    assert np.linalg.norm(ab) == pytest.approx(np.linalg.norm(a) * np.linalg.norm(b), rel=1e-14)
    assert size(g.rotation(ab) - g.rotation(a) @ g.rotation(b)) < 4e-15
    n = g.quat_normalize(a)
    assert abs(n @ n - 1) < 1e-15
    assert size(g.quat_multiply(n, g.quat_conjugate(n)) - np.array([1.0, 0, 0, 0])) < 1e-15
    assert size(g.quat_conjugate(ab) - g.quat_multiply(g.quat_conjugate(b), g.quat_conjugate(a))) < 1e-14
    assert size(g.rotation(g.quat_conjugate(n)) - g.rotation(n).T) < 1e-15


def test_quaternions_are_hamiltons():
    one, i, j, k = np.eye(4)
    assert (
        (g.quat_multiply(i, j) == k).all() and (g.quat_multiply(j, k) == i).all() and (g.quat_multiply(k, i) == j).all()
    )
    assert (g.quat_multiply(i, i) == -one).all() and (g.quat_multiply(j, i) == -k).all()
    quarter = np.array([np.cos(np.pi / 4), 0, 0, np.sin(np.pi / 4)])  # about z: x goes to y
    assert g.rotation(quarter) @ ONE[0] == pytest.approx(ONE[1], abs=1e-15)


def test_quaternion_rate():
    """d/dt quat_NB = 1/2 quat_NB (0, w_NB_B), so that Rdot = R w^."""
    rng = np.random.default_rng(2)
    quat, w = exact(g.quat_normalize(rng.normal(size=4))), exact(rng.normal(size=3))
    h, qdot = mp.mpf(10) ** -20, quat_rate(quat, w)
    Rdot = (g.rotation(quat + h * qdot) - g.rotation(quat - h * qdot)) / (2 * h)
    assert size(Rdot - g.rotation(quat) @ g.skew(w)) < 1e-30
    assert size(qdot - g.quat_multiply(quat, np.concatenate([[0], w])) / 2) < 1e-60


def test_cross_and_skew():
    rng = np.random.default_rng(4)
    a, b = rng.normal(size=(2, 3))
    assert g.cross(a, b) == pytest.approx(np.cross(a, b), abs=1e-15) and g.skew(a) @ b == pytest.approx(
        np.cross(a, b), abs=1e-15
    )
    columns = rng.normal(size=(3, 4))
    assert g.cross(a, columns) == pytest.approx(np.cross(a, columns, axisb=0).T, abs=1e-15)
    assert g.norm(a) == pytest.approx(np.linalg.norm(a), rel=1e-15)


@pytest.mark.parametrize("a", [*axes(), -ONE[1]])
def test_rotation_about_an_axis(a):
    for angle in (0.0, 1e-9, 0.7, -2.0, 3.1, 100.0):
        R = g.rotation_about(a, angle)
        assert size(R - g.exp_so3(np.remainder(angle + np.pi, 2 * np.pi) * a - np.pi * a)) < 3e-14
        if np.count_nonzero(a) == 1:
            assert np.count_nonzero(R == 0.0) >= 4  # structural zeros


# ---- roll, pitch, yaw


@FAST
@given(st.floats(-3.1, 3.1), st.floats(-1.57, 1.57), st.floats(-3.1, 3.1))
def test_rpy_round_trip(roll, pitch, yaw):
    rpy = np.array([roll, pitch, yaw])
    R = g.rotation_from_rpy(rpy)
    assert size(g.rotation_from_rpy(g.rpy_from_rotation(R)) - R) < 2e-15
    if abs(pitch) < 1.4:
        assert size(g.rpy_from_rotation(R) - rpy) < 1e-14


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("distance", [0.0, 1e-16, 1e-13, 1e-12, 1e-11, 1e-9, 1e-6, 1e-3])
def test_rpy_near_its_singularity_gives_the_rotation_back(sign, distance):
    for roll, yaw in np.random.default_rng(5).uniform(-3, 3, size=(20, 2)):
        R = g.rotation_from_rpy(np.array([roll, sign * (np.pi / 2 - distance), yaw]))
        found = g.rpy_from_rotation(R)
        assert (
            size(g.rotation_from_rpy(found) - R) < 2e-12
            if distance < 1e-11
            else size(g.rotation_from_rpy(found) - R) < 2e-15
        )


def test_rpy_turns_about_fixed_axes_in_turn():
    x, y, z = (g.exp_so3(angle * axis) for angle, axis in zip((0.1, 0.2, 0.3), ONE, strict=True))
    assert size(g.rotation_from_rpy([0.1, 0.2, 0.3]) - z @ y @ x) < 1e-15


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-6, 0.5, 3.0, np.pi])
def test_angle_between_rotations(angle):
    rng = np.random.default_rng(6)
    A = g.rotation(rng.normal(size=4))
    for a in axes():
        found = g.angle_between(A, A @ g.exp_so3(angle * a))
        ill = np.tan(min(angle, np.pi - 1e-8) / 2)  # near pi the arcsine is ill conditioned
        assert abs(found - angle) < 1e-15 * (1 + ill)
