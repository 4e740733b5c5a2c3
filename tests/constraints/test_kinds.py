"""Kinds of constraints: G is the derivative of psi, Gdot that of G, and the joints made of them are those of the
model.
"""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import algebra
from gyrostat import constraints as gc
from gyrostat.algebra import Pose, cross, exp_so3
from gyrostat.model import KINDS
from random_trees import random_rotation

X, Y, Z = np.eye(3)
MOTION = np.array([0.4, -0.8, 0.5, 0.3, 0.9, -0.6])


def moved(X_12, V_12, s):
    """The relative pose after s seconds at constant V_12."""
    return Pose(exp_so3(s * V_12[:3]) @ X_12.R, X_12.p + s * V_12[3:])


CASES = {
    "point": gc.point("a", "b"),
    "perpendicular": gc.perpendicular("a", "b", (1, 2, 0), (0, 1, -1)),
    "parallel": gc.parallel("a", "b", (1, 2, 2)),
    "plane": gc.plane("a", "b", (0, 1, 1)),
    "line": gc.line("a", "b", (2, 1, 0)),
    "revolute": gc.revolute("a", "b", (1, 0, 1)),
    "cylindrical": gc.cylindrical("a", "b"),
    "planar": gc.planar("a", "b"),
    "universal": gc.universal("a", "b", X, Y),
    "distance": gc.distance("a", "b", 1.7),
    "rolling ball": gc.rolling("a", "b", 0.4),
    "rolling disc": gc.rolling("a", "b", 0.4, axis=X),
    "angle": gc.angle("a", "b", (1, 2, 2)),
    "angle elsewhere": gc.angle("a", "b", (1, 2, 2), pose=Pose(algebra.rotation_about(Y, 0.4), X)),
    "revolute elsewhere": gc.revolute("a", "b", (1, 0, 1), pose=Pose(algebra.rotation_about(Y, 0.4), X)),
    "knife edge": gc.knife_edge("a", "b", Y),
    "holonomic": gc.holonomic("a", "b", lambda R, p: np.array([p @ p - R[0, 1], algebra.sin(p[0]) * R[2, 2]]), 2),
}


@pytest.mark.parametrize("name", CASES)
def test_G_is_the_derivative_of_psi_and_Gdot_that_of_G(name):
    """In holonomic rows, anywhere; the height of a rolling disc's contact included."""
    c, rng, h = CASES[name], np.random.default_rng(1), 1e-6
    for _ in range(3):
        X_12 = Pose(random_rotation(rng), rng.normal(size=3))
        ahead, behind = moved(X_12, MOTION, h), moved(X_12, MOTION, -h)
        rate = (c.psi(ahead, 0.0) - c.psi(behind, 0.0)) / (2 * h)
        rows = np.array(c.holonomic)
        assert np.abs((c.G(X_12) @ MOTION - rate)[rows]).max(initial=0.0) < 1e-8
        assert not c.psi(X_12, 0.0)[~rows].any()
        assert np.abs(c.G_rate(X_12, MOTION) - (c.G(ahead) - c.G(behind)) / (2 * h)).max() < 1e-8
        assert c.G(X_12).shape == (c.size, 6)


@pytest.mark.parametrize("kind", ["weld", "prismatic", "aligned"])
def test_held_rotation_where_it_holds(kind):
    """psi is the rotation vector; G its rate only where the frames are aligned, which is where the constraint holds."""
    c, h = getattr(gc, kind)("a", "b"), 1e-6
    X_12 = Pose(np.eye(3), np.array([0.2, 0.1, 0.5]))
    rate = (c.psi(moved(X_12, MOTION, h), 0.0) - c.psi(moved(X_12, MOTION, -h), 0.0)) / (2 * h)
    assert np.abs(c.G(X_12) @ MOTION - rate).max() < 1e-8


@pytest.mark.parametrize(
    "kind, arguments",
    [
        ("revolute", (Z,)),
        ("prismatic", (Z,)),
        ("cylindrical", (Z,)),
        ("spherical", ()),
        ("planar", (Z,)),
        ("universal", (Z, X)),
        ("weld", ()),
    ],
)
def test_constraints_leave_the_freedom_of_the_joint_of_that_name(kind, arguments):
    """G H = 0 at every joint configuration, rows and freedoms make six, and psi = 0."""
    model = {"weld": "fixed"}.get(kind, kind)
    motion = KINDS[model](Z, X)
    c = getattr(gc, kind)("a", "b", *arguments)
    rng = np.random.default_rng(2)
    for _ in range(3):
        q = motion.step(motion.neutral(), rng.normal(size=len(motion.v_units)))
        X_12, H = motion.pose(q), motion.H(q)
        in_1 = np.vstack([X_12.R @ H[:3], X_12.R @ H[3:]])
        G = c.G(X_12)
        assert np.abs(c.psi(X_12, 0.0)).max() < 1e-14
        assert np.abs(G @ in_1).max(initial=0.0) < 1e-14
        assert np.linalg.matrix_rank(G) + np.linalg.matrix_rank(H) == 6 if H.size else np.linalg.matrix_rank(G) == 6


def test_perpendicular_gamma_of_the_paper():
    """gamma = (W1 x (W1 x T)).A + 2 (W1 x T).(W2 x A) + T.(W2 x (W2 x A)), in a frame 1 that does not turn."""
    rng = np.random.default_rng(3)
    R, t, a, w = random_rotation(rng), Y, Z, rng.normal(size=3)
    c = gc.perpendicular("a", "b", t, a)
    A = R @ a
    V = np.concatenate([w, np.zeros(3)])
    assert (c.G_rate(Pose(R, X), V) @ V)[0] == pytest.approx(t @ cross(w, cross(w, A)), abs=1e-14)


def test_driven_follows_a_function_of_time():
    c = gc.driven(gc.distance("a", "b", 2.0), lambda t: algebra.sin(0.7 * t) * t)
    t = 1.3
    assert c.speed(t)[0] == pytest.approx(0.7 * t * np.cos(0.7 * t) + np.sin(0.7 * t), rel=1e-14)
    assert c.acceleration(t)[0] == pytest.approx(1.4 * np.cos(0.7 * t) - 0.49 * t * np.sin(0.7 * t), rel=1e-13)
    there = Pose(np.eye(3), np.array([2.0, 0.0, 0.0]))
    assert c.psi(there, t)[0] == pytest.approx(-np.sin(0.7 * t) * t)


def test_angle_of_a_hinge():
    c = gc.angle("a", "b", Z)
    for f in (-2.0, 0.0, 0.4, 3.0):
        X_12 = Pose(algebra.rotation_about(Z, f), np.zeros(3))
        assert c.psi(X_12, 0.0)[0] == pytest.approx(f, abs=1e-15)
        assert np.abs(c.G(X_12) - np.concatenate([Z, np.zeros(3)])).max() < 1e-15


def test_what_cannot_be_built_is_refused():
    with pytest.raises(ValueError, match="distance of a and b is 0 m; expected more than zero. Use `point`"):
        gc.distance("a", "b", 0)
    with pytest.raises(ValueError, match="axis is .*; expected three components, not all zero"):
        gc.revolute("a", "b", (0, 0, 0))
    with pytest.raises(ValueError, match="cannot be driven.*gs.constraints.angle"):
        gc.driven(gc.weld("a", "b"), lambda t: t)


def test_titles_say_what_is_meant():
    assert gc.weld("hand", "grip").title == "weld of hand and grip"
    assert gc.point("hand", "grip", name="left grip").title == "left grip"
    assert gc.distance("hand", "grip", 1.0).title == "distance of hand and grip"


def test_unknown_frames_are_named():
    craft = gs.Spacecraft.build("one", [gs.Body("bus", 1.0, inertia=(1, 1, 1))])
    with pytest.raises(ValueError, match="one has no body or frame 'buss'"):
        gc.residuals(craft, 0.0, gs.neutral(craft), np.zeros(6), [gc.weld("N", "buss")])


@pytest.mark.parametrize(
    "make, arguments",
    [
        (gc.point, ()), (gc.plane, ()), (gc.line, ()), (gc.weld, ()), (gc.revolute, ()), (gc.prismatic, ()),
        (gc.cylindrical, ()), (gc.spherical, ()), (gc.planar, ()), (gc.universal, ((1, 0, 0), (0, 1, 0))),
        (gc.distance, (2.0,)), (gc.perpendicular, ((1, 0, 0), (0, 1, 0))), (gc.parallel, ()), (gc.aligned, ()),
        (gc.angle, ()), (gc.knife_edge, ()),
    ],
)  # fmt: skip
def test_a_constraint_is_called_as_it_was_named_or_by_its_kind_and_frames(make, arguments):
    try:
        named, plain = make("a", "b", *arguments, name="latch"), make("a", "b", *arguments)
    except TypeError:
        named, plain = make("a", "b", (0, 0, 1), name="latch"), make("a", "b", (0, 0, 1))
    assert named.title == "latch"
    assert plain.title.endswith("of a and b") and len(plain.title) > len("of a and b")
