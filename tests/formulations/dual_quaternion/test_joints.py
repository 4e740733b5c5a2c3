"""Mapping matrices against tables 3 to 6, and their defining properties for every kind."""

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algebra import DQ_SWAP, frame_along, rotation_about
from gyrostat.formulations.common.joint_maps import all_held, joint_map
from gyrostat.formulations.dual_quaternion.paper.state import euler_rate_matrix
from random_trees import ALL_KINDS, random_axis


def E(*deleted):
    """I8 with rows deleted, counted from one as in the paper."""
    return np.delete(np.eye(8), [d - 1 for d in deleted], axis=0)


def row(k):
    return np.eye(8)[k - 1]


def mapping(kind, **options):
    joint = gs.Joint("j", kind, q_at=slice(0, 7), **options)
    return joint_map(joint, np.concatenate([joint.motion.neutral(), np.zeros(7)])[: joint.nq])


def joint_of(kind, seed):
    rng = np.random.default_rng(seed)
    axis, axis2 = random_axis(rng), random_axis(rng)
    if abs(axis @ axis2) > 0.95:
        axis, axis2 = np.array([1.0, 0, 0]), np.array([0, 0.6, 0.8])
    joint = gs.Joint("j", kind, axis=axis, axis2=axis2)
    q = joint.motion.step(joint.motion.neutral(), rng.normal(size=joint.nv))
    return gs.Joint("j", kind, axis=axis, axis2=axis2, q_at=slice(0, joint.nq), v_at=slice(0, joint.nv)), q, rng


@pytest.mark.parametrize(
    ("kind", "V", "Lambda"),
    [
        ("revolute", E(1, 5, 8), E(1, 4, 5)),
        ("prismatic", E(1, 4, 5), E(1, 5, 8)),
        ("spherical", E(1, 5, 6, 7, 8), E(1, 2, 3, 4, 5)),
        ("cylindrical", E(1, 4, 5, 8), E(1, 4, 5, 8)),
        ("cartesian", E(1, 2, 3, 4, 5), E(1, 5, 6, 7, 8)),
    ],
)
def test_table_4_reactions_and_constraints(kind, V, Lambda):
    maps = mapping(kind)
    np.testing.assert_array_equal(maps.V, V.T)
    np.testing.assert_array_equal(maps.Lambda, Lambda)


@pytest.mark.parametrize(
    ("kind", "V_act"),
    [
        ("revolute", E(1, 2, 3, 4, 5, 6, 7)),
        ("prismatic", E(1, 2, 3, 5, 6, 7, 8)),
        ("spherical", E(1, 2, 3, 4, 5)),
        ("cylindrical", E(1, 2, 3, 5, 6, 7)[::-1]),  # printed [fz, tau_z]; ours goes with the rates [theta', z']
        ("cartesian", E(1, 5, 6, 7, 8)),
    ],
)
def test_table_5_actuation(kind, V_act):
    np.testing.assert_array_equal(mapping(kind).V_act, V_act.T)


@pytest.mark.parametrize(
    ("kind", "L"),
    [
        ("revolute", [row(4)]),
        ("prismatic", [row(8)]),
        ("spherical", [row(2), row(3), row(4)]),
        ("cylindrical", [row(4), row(8)]),
        ("cartesian", [row(6), row(7), row(8)]),
    ],
)
def test_table_6_rates(kind, L):
    """The spherical joint's is ours: angular velocity in place of Euler rates."""
    np.testing.assert_array_equal(mapping(kind).L, L)


@pytest.mark.parametrize("seed", range(6))
def test_table_6_euler_rates_of_a_spherical_joint(seed):
    """L of the printed table against the derivative of q_z(psi) q_y(theta) q_x(phi), whose columns are the turned
    axes.
    """
    phi, theta, psi = np.random.default_rng(seed).uniform(-1.4, 1.4, size=3)
    x, y, z = np.eye(3)
    Rx, Ry = rotation_about(x, phi), rotation_about(y, theta)
    rates_to_w = np.column_stack([x, Rx.T @ y, Rx.T @ Ry.T @ z])
    np.testing.assert_allclose(euler_rate_matrix(np.array([phi, theta, psi])) @ rates_to_w, np.eye(3), atol=1e-14)


@pytest.mark.parametrize("pitch", [np.pi / 2, -np.pi / 2, np.pi / 2 + 9e-7])
def test_table_6_euler_rates_are_refused_near_their_singularity(pitch):
    with pytest.raises(ValueError, match=r"joint 'shoulder' has a pitch of .* degrees, .*Use quaternions"):
        euler_rate_matrix(np.array([0.1, pitch, 0.2]), "shoulder")
    euler_rate_matrix(np.array([0.1, pitch + 3e-6, 0.2]), "shoulder")


@pytest.mark.parametrize("kind", [k for k in ALL_KINDS if k != "wheel"])
@pytest.mark.parametrize("seed", range(6))
def test_every_kind_has_maps_that_complete_each_other(kind, seed):
    """Rates and reactions are dual: what a joint allows it cannot resist, and six of both in all."""
    joint, q, rng = joint_of(kind, seed)
    maps, d = joint_map(joint, q), joint.nv
    assert maps.H.shape == (8, d)
    assert maps.V.shape == (8, 6 - d)
    np.testing.assert_allclose(maps.L @ maps.H, np.eye(d), atol=1e-14)
    np.testing.assert_allclose(maps.Lambda @ maps.H, np.zeros((6 - d, d)), atol=1e-15)
    np.testing.assert_allclose(maps.V.T @ DQ_SWAP @ maps.H, np.zeros((6 - d, d)), atol=1e-15)  # reactions do no work
    np.testing.assert_allclose(maps.H.T @ DQ_SWAP @ maps.V_act, np.eye(d), atol=1e-14)  # tau . v is power
    np.testing.assert_allclose(maps.V.T @ maps.V_act, np.zeros((6 - d, d)), atol=1e-15)
    np.testing.assert_allclose(maps.V.T @ maps.V, np.eye(6 - d), atol=1e-14)
    np.testing.assert_allclose(maps.Lambda, maps.Pi @ maps.V.T @ DQ_SWAP, atol=0)
    assert not maps.V[[0, 4]].any()
    assert not maps.Lambda[:, [0, 4]].any()
    v = rng.normal(size=d)
    twist = maps.H @ v
    np.testing.assert_allclose(
        np.concatenate([maps.R_Bi @ twist[1:4], maps.R_Bi @ twist[5:]]), joint.H(q) @ v, atol=1e-14
    )
    held = all_held(maps)
    np.testing.assert_array_equal(held.Lambda, held.Pi @ held.V.T @ DQ_SWAP)


@pytest.mark.parametrize("z", [*np.eye(3), *-np.eye(3), (0.6, 0, -0.8), (1e-9, 0, -1), (0.48, 0.6, 0.64)])
def test_frame_along_an_axis_is_a_rotation(z):
    z = np.array(z, dtype=float) / np.linalg.norm(z)
    R = frame_along(z)
    np.testing.assert_allclose(R @ R.T, np.eye(3), atol=4e-16)
    np.testing.assert_allclose(np.linalg.det(R), 1, atol=1e-15)
    np.testing.assert_allclose(R[:, 2], z, atol=1e-15)
    if np.count_nonzero(z) == 1:
        assert np.count_nonzero(R) == 3  # coordinate axes cost nothing when traced
