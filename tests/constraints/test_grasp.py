"""A grasp holds the frames where they are, along axes of the first of them."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import constraints as gc
from gyrostat.algebra import Pose, rotation_from_rpy

AXIS = np.array([2.0, -1.0, 2.0]) / 3.0
ELSEWHERE = Pose(rotation_from_rpy(np.array([1.3, 0.4, -0.2])), np.array([0.3, 0.2, -0.7]))
HERE = Pose(np.eye(3), np.zeros(3))
FOUND = Pose(rotation_from_rpy(np.array([0.4, -1.1, 0.8])), np.array([0.2, -0.5, 0.6]))


def held(kind, *args, **options):
    return gc.as_it_is(getattr(gc, kind)("a", "b", *args, **options), FOUND)


def freedom(c, X_12=FOUND):
    """An orthonormal basis (6, n) of the motions V_12 that the constraint lets pass."""
    _, s, Vt = np.linalg.svd(c.G(X_12))
    return Vt[len(s) :].T


def spans(found, expected):
    return (
        found.shape[1] == np.linalg.matrix_rank(expected)
        and np.abs(expected - found @ (found.T @ expected)).max() < 1e-14
    )


def turn(axis):
    return np.concatenate([axis, np.zeros(3)])[:, None]


def slide(axis):
    return np.concatenate([np.zeros(3), axis])[:, None]


@pytest.mark.parametrize("given", [{}, {"pose": ELSEWHERE}])
def test_axes_stay_those_of_the_first_frame(given):
    """V_12 is in the axes of the first frame, so the freedom is what was asked for, whatever the pose found."""
    assert spans(freedom(held("revolute", AXIS, **given)), turn(AXIS))
    assert spans(freedom(held("prismatic", AXIS, **given)), slide(AXIS))
    assert spans(freedom(held("cylindrical", AXIS, **given)), np.hstack([turn(AXIS), slide(AXIS)]))
    x, y = np.linalg.svd(AXIS[None])[2][1:]
    assert spans(freedom(held("planar", AXIS, **given)), np.hstack([turn(AXIS), slide(x), slide(y)]))
    assert freedom(held("weld", **given)).size == 0
    assert spans(freedom(held("line", AXIS, **given)), np.hstack([*map(turn, np.eye(3)), slide(AXIS)]))


@pytest.mark.parametrize("pose", [Pose(np.eye(3), np.zeros(3)), ELSEWHERE])
def test_a_given_pose_leaves_the_axes_with_the_first_frame(pose):
    assert spans(freedom(gc.revolute("a", "b", AXIS, pose=pose), pose), turn(AXIS))
    assert spans(freedom(gc.prismatic("a", "b", AXIS, pose=pose), pose), slide(AXIS))


def test_axes_that_are_left_out_are_z():
    z = np.eye(3)[2]
    assert spans(freedom(gc.revolute("a", "b"), HERE), turn(z)) and spans(
        freedom(gc.prismatic("a", "b"), HERE), slide(z)
    )
    assert gc.plane("a", "b").psi(Pose(np.eye(3), np.array([0.3, 0.4, 0.5])), 0.0).tolist() == [0.5]


EVERY = {
    "point": (),
    "weld": (),
    "aligned": (),
    "parallel": (AXIS,),
    "revolute": (AXIS,),
    "prismatic": (AXIS,),
    "cylindrical": (AXIS,),
    "planar": (AXIS,),
    "plane": (AXIS,),
    "line": (AXIS,),
    "angle": (AXIS,),
    "perpendicular": (AXIS, (0.0, 0.6, 0.8)),
    "universal": (AXIS, (0.0, 0.6, 0.8)),
    "distance": (7.0,),
    "rolling": (0.4,),
    "knife_edge": (AXIS,),
    "holonomic": (lambda R, p: p[0] * R[0, 1],),
}


@pytest.mark.parametrize("kind", EVERY)
def test_every_kind_holds_where_it_grasped(kind):
    assert np.abs(held(kind, *EVERY[kind]).psi(FOUND, 0.0)).max() < 1e-14


@pytest.mark.parametrize("kind", [k for k in EVERY if k not in ("weld", "aligned", "prismatic")])
def test_a_driven_grasp_begins_where_it_is(kind):
    """The function's value at that time is where it starts from; the drive goes on from there."""
    rows = getattr(gc, kind)("a", "b", *EVERY[kind]).size
    driven = gc.driven(getattr(gc, kind)("a", "b", *EVERY[kind]), lambda t: np.full(rows, 0.2) * t)
    c = gc.as_it_is(driven, FOUND, t=1.5)
    assert np.abs(c.psi(FOUND, 1.5)).max() < 1e-13
    moves = np.array(c.holonomic)
    assert (np.abs(c.psi(FOUND, 1.6))[moves] > 1e-3).all()


def test_a_driven_axis_that_leans_is_grasped_as_it_leans():
    """Parallel, driven by 0.3 and -0.2 rad at the grasp: where it stands the axis of `second` has those sines, and it
    can lean on.
    """
    lean = np.array([0.3, -0.2])
    c = gc.as_it_is(gc.driven(gc.parallel("a", "b", AXIS), lambda t: lean * t), FOUND, t=1.0)
    x, y, z = gs.algebra.frame_along(AXIS).T
    leaning = lambda f: np.sin(f[0]) * x + np.sin(f[1]) * y + np.sqrt(1 - np.sin(f[0]) ** 2 - np.sin(f[1]) ** 2) * z
    a = FOUND.R.T @ leaning(lean)  # the axis of `second` that it holds
    for t in (0.0, 0.5, 2.0):
        goal = leaning(t * lean)
        turn = np.cross(FOUND.R @ a, goal)
        angle = np.arcsin(np.linalg.norm(turn))
        there = Pose(gs.algebra.rotation_about(turn / np.linalg.norm(turn), angle) @ FOUND.R, FOUND.p)
        assert np.abs(c.psi(there, t)).max() < 1e-14


def craft_and_state():
    """A hand off its body's axes, a grip that stands askew in it, 10 cm away; the client tumbles."""
    one = gs.Spacecraft.build(
        "one",
        [gs.Body("sb", 300.0, (0.1, 0, 0), (80, 90, 100))],
        frames=[gs.Frame("hand", "sb", (1.0, 0.2, 0), rotation_from_rpy(np.array([0.2, 0.5, -0.3])))],
    )
    two = gs.Spacecraft.build(
        "two", [gs.Body("kb", 200.0, (0, 0.1, 0), (30, 40, 50))], frames=[gs.Frame("grip", "kb", (-1.0, 0, 0.1))]
    )
    both = gs.together("both", [one, two])
    tilted = np.r_[np.cos(0.45), np.sin(0.45), 0, 0, 2.1, 0.2, 0]
    return both, *gs.joined_state(
        both, [(one, gs.neutral(one), np.zeros(6)), (two, tilted, np.r_[0.1, 0.2, 0.3, 0, 0, 0])]
    )


def relative_twist(craft, q, v):
    one, two = gs.frame_pose(craft, q, "hand"), gs.frame_pose(craft, q, "grip")
    V1, V2 = gs.jacobian(craft, q, "hand") @ v, gs.jacobian(craft, q, "grip") @ v
    slip = V2[3:] - V1[3:] - np.cross(V1[:3], two.p - one.p)
    return np.concatenate([one.R.T @ (V2[:3] - V1[:3]), one.R.T @ slip])


@pytest.mark.parametrize("kind, free", [("revolute", turn(AXIS)), ("prismatic", slide(AXIS))])
def test_a_grasp_moves_along_the_axis_of_the_hand(kind, free):
    craft, q, v = craft_and_state()
    grip = getattr(gc, kind)("hand", "grip", AXIS, name="grip")
    run = gs.simulate_phases(craft, q, v, [gs.Phase(3.0, "hold", grasp=[grip])], rtol=1e-11).trajectory
    for q, v in zip(run.q, run.v, strict=True):
        V = relative_twist(craft, q, v)
        assert np.linalg.norm(V) > 1e-3
        assert np.abs(V - free[:, 0] * (free[:, 0] @ V)).max() < 1e-10


def test_a_weld_with_a_pose_and_a_rod_grasp_where_the_frames_are():
    craft, q, v = craft_and_state()
    grasp = gs.Phase(2.0, "hold", grasp=[gc.weld("hand", "grip", pose=ELSEWHERE)])
    run = gs.simulate_phases(craft, q, v, [grasp], rtol=1e-11).trajectory
    there = gc.relative_pose(craft, q, "hand", "grip")
    now = gc.relative_pose(craft, run.q[-1], "hand", "grip")
    assert np.abs(now.R - there.R).max() < 1e-9 and np.abs(now.p - there.p).max() < 1e-9
    rod = gs.Phase(2.0, "hold", grasp=[gc.distance("hand", "grip", 1.0)])
    run = gs.simulate_phases(craft, q, v, [rod], rtol=1e-11).trajectory
    lengths = [np.linalg.norm(gc.relative_pose(craft, q, "hand", "grip").p) for q in run.q]
    assert np.abs(np.array(lengths) - np.linalg.norm(there.p)).max() < 1e-9


def test_a_rod_of_no_length_is_refused():
    with pytest.raises(ValueError, match="distance of a and b: the origins coincide"):
        gc.as_it_is(gc.distance("a", "b", 1.0), Pose(FOUND.R, np.zeros(3)))


def test_relative_pose_to_inertial_space():
    craft, q, _ = craft_and_state()
    X = gc.relative_pose(craft, q, "N", "grip")
    assert np.abs(X.p - gs.frame_pose(craft, q, "grip").p).max() == 0.0
