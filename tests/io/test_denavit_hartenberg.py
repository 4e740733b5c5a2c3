"""Denavit-Hartenberg tables: the homogeneous transforms of the papers, multiplied out."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algebra import rotation, rotation_about
from gyrostat.model import DHLink
from gyrostat.models import servicer
from random_trees import random_inertia, random_rotation

X, Y, Z = np.eye(3)


IDENTITY = np.eye(3)


def transform(R=IDENTITY, p=(0.0, 0.0, 0.0)) -> np.ndarray:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, p
    return T


def A(theta, d, alpha, c) -> np.ndarray:
    """Equations 1 and 2 of Wilde et al., element by element."""
    ct, st, ca, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
    return np.array([[ct, -st * ca, st * sa, c * ct], [st, ct * ca, -ct * sa, c * st], [0, sa, ca, d], [0, 0, 0, 1]])


def craig(theta, d, alpha, a) -> np.ndarray:
    """The modified convention, element by element (Craig, Introduction to Robotics, equation 3.6)."""
    ct, st, ca, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
    return np.array([[ct, -st, 0, a], [st * ca, ct * ca, -sa, -sa * d], [st * sa, ct * sa, ca, ca * d], [0, 0, 0, 1]])


def random_links(rng, n: int, **fixed) -> list[DHLink]:
    links = []
    for _ in range(n):
        mass = rng.uniform(1, 5)
        numbers = {"d": rng.normal(), "alpha": rng.uniform(-3, 3), "a": rng.normal(), "theta": rng.uniform(-3, 3)}
        links.append(DHLink(mass=mass, inertia=random_inertia(rng, mass), com=rng.normal(size=3), **numbers | fixed))
    return links


@pytest.mark.parametrize("seed", range(5))
def test_wilde_equations_8_to_10(seed):
    """Poses of joints, links and end effector, and each link's mass properties in its frame L_i."""
    rng = np.random.default_rng(seed)
    links = random_links(rng, 5, b=0.7)
    base = gs.Body("base", 50.0, inertia=(9.0, 8.0, 7.0))
    b_0, R_01 = rng.normal(size=3), random_rotation(rng)
    craft = gs.Spacecraft.from_dh("arm", base, links, mount_position=b_0, mount_rotation=R_01)
    q = gs.neutral(craft)
    q[:4], q[4:7], q[7:] = rng.normal(size=4), rng.normal(size=3), rng.uniform(-3, 3, size=5)
    T_J = transform(rotation(q[:4]), q[4:7]) @ transform(R_01, b_0)  # (8)
    poses = gs.forward_kinematics(craft, q)
    for i, link in enumerate(links):
        angle = q[7 + i] + link.theta
        T_L = T_J @ A(angle, link.d, link.alpha, link.a) @ transform(p=link.com)  # (10)
        body = craft.body(f"link_{i + 1}")
        R, p = poses.R_NB[i + 1], poses.p_NB[i + 1]
        assert np.allclose(p, T_J[:3, 3], atol=1e-12)
        assert np.allclose(p + R @ body.com, T_L[:3, 3], atol=1e-12)
        assert np.allclose(R @ body.inertia @ R.T, T_L[:3, :3] @ link.inertia @ T_L[:3, :3].T, atol=1e-12)
        T_J = T_J @ A(angle, link.d, link.alpha, link.a + link.b)  # (9)
    tool = gs.frame_pose(craft, q, "tool")
    assert np.allclose(tool.R, T_J[:3, :3], atol=1e-12) and np.allclose(tool.p, T_J[:3, 3], atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_craig_equation_3_6(seed, kind):
    rng = np.random.default_rng(seed)
    links = random_links(rng, 4, kind=kind)
    base = gs.Body("base", 50.0, inertia=(9.0, 8.0, 7.0))
    tool_at = rng.normal(size=3)
    craft = gs.Spacecraft.from_dh("arm", base, links, convention="modified", tool="hand", tool_position=tool_at)
    q = gs.neutral(craft)
    q[7:] = rng.uniform(-2, 2, size=4)
    T = np.eye(4)
    poses = gs.forward_kinematics(craft, q)
    for i, link in enumerate(links):
        turn, slide = (q[7 + i], 0.0) if kind == "revolute" else (0.0, q[7 + i])
        T = T @ craig(link.theta + turn, link.d + slide, link.alpha, link.a)
        assert np.allclose(poses.R_NB[i + 1], T[:3, :3], atol=1e-12) and np.allclose(
            poses.p_NB[i + 1], T[:3, 3], atol=1e-12
        )
        body = craft.body(f"link_{i + 1}")
        assert np.array_equal(body.com, link.com) and np.array_equal(body.inertia, link.inertia)
    assert np.allclose(gs.frame_pose(craft, q, "hand").p, (T @ [*tool_at, 1])[:3], atol=1e-12)


def test_both_conventions_describe_the_same_arm():
    """A planar arm of three links, a = b = half: modified tables move the length to the next row."""
    base = gs.Body("base", 10.0, inertia=(1.0, 1.0, 1.0))
    I = (0.01, 0.3, 0.3)
    standard = [DHLink(a=0.5, b=0.5, mass=2.0, inertia=I) for _ in range(3)]
    modified = [DHLink(a=1.0 * (i > 0), mass=2.0, inertia=I, com=(0.5, 0, 0)) for i in range(3)]
    a = gs.Spacecraft.from_dh("a", base, standard)
    b = gs.Spacecraft.from_dh("b", base, modified, convention="modified", tool_position=(1.0, 0, 0))
    q = gs.neutral(a)
    q[7:] = 0.3, -0.7, 1.1
    assert np.allclose(gs.mass_matrix(a, q), gs.mass_matrix(b, q), atol=1e-14)
    assert np.allclose(gs.frame_pose(a, q, "tool").p, gs.frame_pose(b, q, "tool").p, atol=1e-14)


def test_the_servicer_is_laid_out_as_its_paper_says():
    """Joint 1 along the base's x; 2 x 2.5 m of arm, then the wrist, along -z when all joints are at zero."""
    craft = servicer()
    q = gs.neutral(craft)
    poses = gs.forward_kinematics(craft, q)
    assert np.allclose(poses.R_NB[1] @ Z, X) and np.allclose(poses.p_NB[1], [1.75, 0, 0])
    assert np.allclose(poses.p_NB[2:], [[2, 0, 0], [2, 0, -2.5], [2, 0, -5], [2, 0, -5.5], [2, 0, -5.75]], atol=1e-12)
    assert np.allclose(gs.frame_pose(craft, q, "tool").p, [2, 0, -6])
    along_x = rotation_about(Y, np.pi / 2)
    assert np.allclose(craft.joint("link_1").rotation, along_x)


def test_wrong_tables_are_refused():
    base = gs.Body("base", 1.0, inertia=(1, 1, 1))
    with pytest.raises(ValueError, match="expected one of 'wilde', 'modified'"):
        gs.Spacecraft.from_dh("x", base, [DHLink(mass=1.0, inertia=(1, 1, 1))], convention="craig")
    with pytest.raises(ValueError, match="empty"):
        gs.Spacecraft.from_dh("x", base, [])
    with pytest.raises(ValueError, match="give com instead"):
        gs.Spacecraft.from_dh("x", base, [DHLink(b=1.0)], convention="modified")
    with pytest.raises(ValueError, match="'revolute' or 'prismatic'"):
        gs.Spacecraft.from_dh("x", base, [DHLink(kind="spherical")])
