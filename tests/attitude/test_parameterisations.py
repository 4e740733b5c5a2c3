"""Nineteen attitude parameterisations: the key identities of Forbes (2019), conversions, singularities."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import attitude
from gyrostat.algebra import quat_multiply, rotation, rotation_from_rpy, skew
from gyrostat.algebra.directional import derivative_along, gradient

NAMES = tuple(attitude.PARAMETERISATIONS)
ALL = pytest.mark.parametrize("p", attitude.PARAMETERISATIONS.values(), ids=NAMES)
CONSTRAINED = pytest.mark.parametrize(
    "p",
    [p for p in attitude.PARAMETERISATIONS.values() if p.nc],
    ids=[n for n in NAMES if attitude.parameterisation(n).nc],
)


def draws(p, seed=0, count=5):
    """(C, q, w) at random attitudes that are not near a singularity."""
    rng = np.random.default_rng(seed)
    while count:
        C = rotation(rng.normal(size=4))
        q = p.from_C(C)
        if abs(p.margin(q)) > 0.1:
            count -= 1
            yield C, q, rng.normal(size=3)


def close(a, b, q, p):
    """Round-off grows with the size of Gamma squared near singularities."""
    size = 1.0 + np.abs(p.Gamma(q)).max() ** 2
    assert np.abs(np.asarray(a) - b).max(initial=0.0) <= 4e-15 * size


def test_there_are_nineteen():
    assert len(NAMES) == 19 and sum(name.startswith("euler_") for name in NAMES) == 12


@ALL
def test_key_identities(p):
    for C, q, w in draws(p):
        S, Gamma, Xi = p.S(q), p.Gamma(q), p.Xi(q)
        qdot = Gamma @ w
        close(p.C(q), C, q, p)
        close(S @ qdot, w, q, p)
        close(Xi @ qdot, 0.0, q, p)
        close(Xi @ Gamma, 0.0, q, p)
        close(S @ Gamma, np.eye(3), q, p)
        assert np.linalg.matrix_rank(np.vstack([S, Xi])) == p.nq == len(p.labels)
        close((p.S_rate(q, qdot) - p.w_gradient(q, qdot)) @ Gamma, -skew(w), q, p)


@ALL
def test_key_identities_of_vectors(p):
    s = np.array([0.3, -1.2, 0.8])
    for C, q, _ in draws(p, 1):
        Gamma = p.Gamma(q)
        close(gradient(lambda x: p.C(x).T @ s, q) @ Gamma, -C.T @ skew(s), q, p)
        close(gradient(lambda x: p.C(x) @ s, q) @ Gamma, skew(C @ s), q, p)


def test_eq_1_direction_cosines_are_the_rows_of_C():
    """C^T = [c1 c2 c3]: the axes of B in N, as columns of R_NB."""
    p = attitude.parameterisation("direction_cosines")
    for C, q, _ in draws(p, 1):
        R_NB = C.T
        assert (q[:3] == R_NB[:, 0]).all() and (q[3:6] == R_NB[:, 1]).all() and (q[6:] == R_NB[:, 2]).all()


@ALL
def test_eq_2_poisson(p):
    """Cdot = -w^ C."""
    for C, q, w in draws(p, 2):
        close(derivative_along(p.C, q, p.Gamma(q) @ w), -skew(w) @ C, q, p)


@CONSTRAINED
def test_third_identity_needs_a_tangent_rate(p):
    rng = np.random.default_rng(3)
    for _, q, _ in draws(p, 3):
        qdot = rng.normal(size=p.nq)  # leaves the manifold
        w = p.S(q) @ qdot
        assert np.abs((p.S_rate(q, qdot) - p.w_gradient(q, qdot)) @ p.Gamma(q) + skew(w)).max() > 1e-2


@CONSTRAINED
def test_S_is_a_choice_off_the_manifold(p):
    """S + A(q) Xi satisfies all identities as well."""
    rng = np.random.default_rng(4)
    A0, A1 = rng.normal(size=(3, p.nc)), rng.normal(size=(3, p.nc, p.nq))
    other = lambda q: p.S(q) + (A0 + A1 @ q) @ p.Xi(q)
    for _, q, w in draws(p, 4):
        Gamma = p.Gamma(q)
        qdot = Gamma @ w
        turn = derivative_along(other, q, qdot) - gradient(lambda x, r=qdot: other(x) @ r, q)
        assert np.abs(other(q) @ qdot - w).max() < 1e-13
        assert np.abs(other(q) @ Gamma - np.eye(3)).max() < 1e-13
        assert np.abs(turn @ Gamma + skew(w)).max() < 1e-12


def test_S_from_Gamma():
    """Direction cosines: Gamma^T Gamma = 2, so Gamma^T/2 serves as S; quaternion: S = 4 Gamma^T."""
    dcm, quat = attitude.parameterisation("direction_cosines"), attitude.parameterisation("quaternion")
    for _, q, w in draws(dcm, 5):
        Gamma = dcm.Gamma(q)
        assert np.abs(Gamma.T @ Gamma - 2.0 * np.eye(3)).max() < 1e-14
        assert np.abs(0.5 * Gamma.T @ (Gamma @ w) - w).max() < 1e-14
    for _, q, _ in draws(quat, 5):
        assert np.abs(quat.S(q) - 4.0 * quat.Gamma(q).T).max() < 1e-15


@CONSTRAINED
def test_Xi_is_the_derivative_of_Phi(p):
    for _, q, _ in draws(p, 6):
        assert np.abs(p.Phi(q)).max() < 1e-14
        h = 1e-6
        numerical = np.column_stack([(p.Phi(q + h * e) - p.Phi(q - h * e)) / (2 * h) for e in np.eye(p.nq)])
        assert np.abs(p.Xi(q) - numerical).max() < 1e-9
        assert np.abs(p.Xi(q) - gradient(p.Phi, q)).max() < 1e-15


@CONSTRAINED
def test_projection_lands_on_the_manifold_and_stays(p):
    rng = np.random.default_rng(7)
    for C, q, _ in draws(p, 7):
        moved = p.project(q + 1e-3 * rng.normal(size=p.nq))
        assert np.abs(p.Phi(moved)).max() < 1e-14
        R = p.C(moved)
        assert np.abs(R @ R.T - np.eye(3)).max() < 1e-14 and np.linalg.det(R) > 0
        assert np.abs(R - C).max() < 1e-2
        assert np.abs(p.project(moved) - moved).max() < 1e-15


def test_constraint_of_direction_cosines_fixes_handedness():
    """c1 x c2 = c3 excludes reflections, which six scalar products do not."""
    p = attitude.parameterisation("direction_cosines")
    mirrored = np.diag([1.0, 1.0, -1.0]).reshape(9)
    assert np.abs(p.Phi(mirrored)).max() > 1.0
    assert np.abs(p.Phi(np.eye(3).reshape(9))).max() == 0.0


# ---- what the numbers mean


def test_quaternion_is_gyrostats():
    p = attitude.parameterisation("quaternion")
    for C, q, w in draws(p, 8):
        assert np.abs(rotation(q) - C.T).max() < 1e-15
        assert np.abs(p.Gamma(q) @ w - 0.5 * quat_multiply(q, np.concatenate([[0.0], w]))).max() < 1e-15


def test_euler_321_is_yaw_pitch_roll():
    roll, pitch, yaw = 0.3, -0.7, 1.9
    R = attitude.rotation_matrix([yaw, pitch, roll], "euler_321")
    assert np.abs(R - rotation_from_rpy([roll, pitch, yaw])).max() < 1e-15


def test_vectors_by_axis_and_angle():
    a, f = np.array([2.0, -1.0, 2.0]) / 3.0, 1.1
    R = attitude.rotation_matrix([*a, f], "axis_angle")
    for name, value in (
        ("rotation_vector", a * f),
        ("rodrigues", a * np.tan(f / 2)),
        ("modified_rodrigues", a * np.tan(f / 4)),
        ("quaternion", [np.cos(f / 2), *(a * np.sin(f / 2))]),
        ("direction_cosines", R.T.reshape(9)),
        ("two_vectors", R.T[:2].reshape(6)),
    ):
        assert np.abs(attitude.from_rotation_matrix(R, name) - value).max() < 1e-15, name
        assert np.abs(attitude.rotation_matrix(value, name) - R).max() < 1e-15, name


# ---- conversions


def test_conversions_between_all_pairs_batched():
    rng = np.random.default_rng(9)
    quat = rng.normal(size=(4, 5, 4))
    R = attitude.rotation_matrix(quat, "quaternion")
    for source in NAMES:
        q = attitude.convert(quat, "quaternion", source)
        assert q.shape == (4, 5, attitude.parameterisation(source).nq)
        for target in NAMES:
            back = attitude.rotation_matrix(attitude.convert(q, source, target), target)
            assert np.abs(back - R).max() < 1e-12, (source, target)


def test_batched_equals_one_by_one():
    quat = np.random.default_rng(10).normal(size=(7, 4))
    for name in NAMES:
        many = attitude.convert(quat, "quaternion", name)
        one = np.array([attitude.convert(row, "quaternion", name) for row in quat])
        assert np.abs(many - one).max() < 1e-14, name


def test_conversions_are_traced():
    quat = np.random.default_rng(11).normal(size=(16, 4))
    for name in ("direction_cosines", "axis_angle", "modified_rodrigues", "euler_313", "euler_321"):
        kernel = gs.compile(lambda q, name=name: attitude.convert(q, "quaternion", name), None, inputs={"q": (4,)})
        assert np.abs(kernel(quat) - attitude.convert(quat, "quaternion", name)).max() < 1e-13, name


@pytest.mark.parametrize("name", [n for n in NAMES if n.startswith("euler")])
def test_euler_angles_give_the_attitude_back_near_and_at_their_singularity(name):
    p = attitude.parameterisation(name)
    second = 0.0 if p.proper else np.pi / 2
    for off in (0.0, 1e-14, 1e-9, 1e-4):
        C = p.C(np.array([0.4, second + off, -1.3]))
        assert np.abs(p.C(p.from_C(C)) - C).max() < 1e-14


def test_identity_and_half_turns_convert():
    for R in (np.eye(3), np.diag([1.0, -1.0, -1.0]), np.diag([-1.0, 1.0, -1.0])):
        for name in NAMES:
            if name == "rodrigues" and np.trace(R) < 0:
                continue  # singular there, tested below
            assert np.abs(attitude.rotation_matrix(attitude.from_rotation_matrix(R, name), name) - R).max() < 1e-14, (
                name
            )


def test_errors_say_what_was_expected():
    with pytest.raises(ValueError, match="euler_322.*expected one of.*euler_321"):
        attitude.convert(np.zeros(3), "euler_322", "quaternion")
    with pytest.raises(ValueError, match=r"quaternion has shape \(3,\); expected \(\.\.\., 4\): w, x, y, z"):
        attitude.convert(np.zeros(3), "quaternion", "euler_321")
    with pytest.raises(ValueError, match=r"R_NB has shape \(2, 2\)"):
        attitude.from_rotation_matrix(np.eye(2), "quaternion")


# ---- singularities

SINGULAR = {
    "axis_angle": [0.6, 0.0, 0.8, 0.0],
    "rotation_vector": [0.0, 2.0 * np.pi, 0.0],
    **{n: [0.3, 0.0, 0.2] for n in NAMES if n.startswith("euler") and n[6] == n[8]},
    **{n: [0.3, np.pi / 2, 0.2] for n in NAMES if n.startswith("euler") and n[6] != n[8]},
}


@pytest.mark.parametrize("name", SINGULAR)
def test_margin_vanishes_and_Gamma_grows_at_the_singularity(name):
    p, at = attitude.parameterisation(name), np.array(SINGULAR[name])
    assert p.singular
    assert abs(p.margin(at)) < 1e-15
    near = at + 1e-6 * np.eye(p.nq)[1 if p.nq == 3 else 3]
    assert np.abs(p.Gamma(near)).max() > 1e5


def test_margin_of_gibbs_vectors_vanishes_far_out():
    for name in ("rodrigues", "modified_rodrigues"):
        p = attitude.parameterisation(name)
        assert p.margin(np.zeros(3)) == 1.0 and p.margin(np.array([0.0, 1e8, 0.0])) < 1e-15 and p.singular


def test_parameterisations_without_singularity_say_so():
    for name in ("direction_cosines", "two_vectors", "quaternion"):
        p = attitude.parameterisation(name)
        assert not p.singular and p.margin(p.from_C(np.eye(3))) == 1.0


def test_shadow_set_is_the_same_attitude():
    p = attitude.parameterisation("modified_rodrigues")
    q = np.array([0.9, -1.1, 0.7])
    shadow = p.project(q)
    assert np.sqrt(shadow @ shadow) <= 1.0 and np.abs(p.C(shadow) - p.C(q)).max() < 1e-15
    assert np.abs(p.project(0.5 * shadow) - 0.5 * shadow).max() == 0.0
    w = np.array([0.2, 0.5, -0.1])
    step = 1e-7
    moved = p.project(q + step * p.Gamma(q) @ w)
    assert np.abs((moved - shadow) / step - p.Gamma(shadow) @ w).max() < 1e-6  # rates continue on the shadow set


def test_long_rotation_vectors_go_the_shorter_way():
    p = attitude.parameterisation("rotation_vector")
    q = 5.0 * np.array([0.6, 0.0, 0.8])
    assert np.linalg.norm(p.project(q)) < np.pi and np.abs(p.C(p.project(q)) - p.C(q)).max() < 1e-14


def test_rotation_vector_is_smooth_at_zero():
    p = attitude.parameterisation("rotation_vector")
    for size in (0.0, 1e-12, 1e-5):
        q, w = size * np.array([0.6, 0.0, 0.8]), np.array([0.2, 0.5, -0.1])
        qdot = p.Gamma(q) @ w
        assert np.abs((p.S_rate(q, qdot) - p.w_gradient(q, qdot)) @ p.Gamma(q) + skew(w)).max() < 1e-14
