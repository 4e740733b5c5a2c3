"""End-effector control on a floating base: exact kinematics at any momentum, lines, poses, singularities."""

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algebra import Pose, exp_so3, log_so3
from gyrostat.control import MinimumJerk, PoseReference, commanded_loads, line, pose_reference, screw_path
from gyrostat.control.base_attitude import base_commands
from gyrostat.control.damping import Damping, damped_inverse
from gyrostat.control.end_effector import (
    POSITION,
    Task,
    resolved_acceleration,
    resolved_rate,
    singularity_report,
    task_state,
    transposed_jacobian,
)
from gyrostat.models import elbow_up, servicer, servicer7
from manoeuvring_crafts import small_servicer, state

CRAFT = servicer7()
START = elbow_up(CRAFT)
REST = np.zeros(CRAFT.nv)
TASK = Task("tool")
X0 = gs.frame_pose(CRAFT, START, "tool")
ALONG = np.array([-0.6, 0.8, 0.0])  # one metre
LINE = line(X0, X0.p + ALONG, MinimumJerk(20.0))


def misses(run, path, frame="tool"):
    """Distances of the frame's origin from its reference, and angles, over time."""
    R, p = run.frame(frame)
    wanted = [path(t).X for t in run.time]
    angles = [np.linalg.norm(log_so3(W.R @ r.T)) for W, r in zip(wanted, R, strict=True)]
    return np.linalg.norm(p - [W.p for W in wanted], axis=1), np.array(angles)


@pytest.mark.parametrize("mode", ["floating", "rotation-floating", "translation-flying", "flying"])
def test_the_points_acceleration_is_linear_in_the_joints(mode):
    """Second opinion: forward dynamics and the Jacobian's rate, at any momentum, with spinning wheels."""
    craft = small_servicer()
    q, v = state(craft, 3, 1.0, wheel_speed=30.0)
    turn = np.array([0.1, -0.2, 0.3]) if mode in ("rotation-floating", "flying") else None
    push = np.array([0.2, 0.1, -0.4]) if mode in ("translation-flying", "flying") else None
    task = Task("tool", (0.1, 0.2, 0.0))
    at = task_state(craft, q, v, task, mode, turn=turn, push=push)
    joints = np.array([0.7, -0.4])
    vdot = gs.forward_dynamics(craft, q, v, commanded_loads(craft, q, v, mode, joints=joints, turn=turn, push=push).tau)
    J, Jdot = gs.jacobian(craft, q, "tool", (0.1, 0.2, 0)), gs.jacobian_rate(craft, q, v, "tool", (0.1, 0.2, 0))
    np.testing.assert_allclose(at.J @ joints + at.bias, J @ vdot + Jdot @ v, atol=1e-11)


def test_without_wheels_it_is_the_generalised_jacobian():
    craft = small_servicer(wheels=False)
    q, v = state(craft, 4, 1.0)
    np.testing.assert_allclose(
        task_state(craft, q, v, Task("tool")).J, gs.generalized_jacobian(craft, q, "tool"), atol=1e-13
    )


@pytest.fixture(scope="module")
def lines():
    """The same open-loop law with the craft's own Jacobian and with that of a fixed base, in one place for both."""
    return {
        moves: gs.simulate(
            CRAFT, START, REST, (0, 20), control=resolved_rate(LINE, TASK, base_moves=moves), mode="floating"
        )
        for moves in (True, False)
    }


def test_an_open_loop_line_is_tracked_within_a_millimetre_on_a_floating_base(lines):
    far, angle = misses(lines[True], LINE)
    assert far.max() < 1e-3 and angle.max() < 1e-3  # in fact 1e-10
    end = lines[True].frame("tool")[1][-1]
    np.testing.assert_allclose(np.linalg.norm(end - X0.p), 1.0, atol=1e-3)
    assert np.linalg.norm(lines[True].q[-1, 4:7]) > 0.02  # the base did give way


def test_the_fixed_base_jacobian_misses_by_more_than_five_centimetres(lines):
    assert misses(lines[False], LINE)[0][-1] > 0.05


def test_a_tumbling_craft_follows_its_line_too():
    """Momentum that is not zero, wheels that spin: (2) takes off what the momentum does by itself."""
    v = REST.copy()
    v[:6] = [0.01, -0.02, 0.015, 0.02, 0.0, -0.01]
    v[-4:] = [50.0, -20.0, 10.0, 30.0]
    J = gs.jacobian(CRAFT, START, "tool")
    v[6:13] = np.linalg.pinv(J[:, 6:13]) @ -(J @ v)  # the tool starts at rest
    run = gs.simulate(CRAFT, START, v, (0, 20), control=resolved_rate(LINE, TASK), mode="floating")
    assert misses(run, LINE)[0].max() < 1e-3


def test_feedback_takes_out_an_initial_error():
    """e' = -feedback e: after 5 s at 1/s, e^-5 of it is left, in position and attitude."""
    shifted = Pose(exp_so3(np.array([0.05, -0.04, 0.03])) @ X0.R, X0.p + [0.02, -0.03, 0.01])
    path = line(shifted, shifted.p + 0.3 * ALONG, MinimumJerk(10.0))
    run = gs.simulate(
        CRAFT, START, REST, (0, 10), control=resolved_rate(path, TASK, feedback=1.0, servo=40.0), mode="floating"
    )
    far, angle = misses(run, path)
    k = np.searchsorted(run.time, 5.0)
    assert far[k] < 1.1 * np.exp(-5) * far[0] * 1.1 and angle[k] < 1.1 * np.exp(-5) * angle[0] * 1.1
    assert far[-1] < 1e-4


def test_resolved_acceleration_obeys_its_error_equation():
    """Closed form, critically damped: e = e0 (1 + 2t) exp(-2t), for kp = kd = 4, while the pose follows a screw."""
    to = Pose(exp_so3(np.array([0.3, 0.2, -0.4])) @ X0.R, X0.p + 0.4 * ALONG)
    moving = screw_path(X0, to, MinimumJerk(8.0))
    offset = np.array([0.03, -0.02, 0.04])

    def path(t):
        at = moving(t)
        return PoseReference(Pose(at.X.R, at.X.p + offset), at.twist, at.rate)

    run = gs.simulate(CRAFT, START, REST, (0, 8), control=resolved_acceleration(path, TASK), mode="floating")
    far, angle = misses(run, path)
    expected = np.linalg.norm(offset) * (1 + 2 * run.time) * np.exp(-2 * run.time)
    np.testing.assert_allclose(far, expected, atol=1e-7)
    assert angle.max() < 1e-7


def test_base_and_arm_are_coordinated_when_flying():
    """The base keeps its pose, the tool follows its screw, both at once; nothing is left to the other."""
    to = Pose(exp_so3(np.array([0.3, 0.2, -0.4])) @ X0.R, X0.p + 0.4 * ALONG)
    path = screw_path(X0, to, MinimumJerk(8.0))
    hold = base_commands(lambda t: pose_reference(np.array([1.0, 0, 0, 0])))
    law = resolved_acceleration(path, TASK, mode="flying", base=hold)
    run = gs.simulate(CRAFT, START, REST, (0, 8), control=law, mode="flying")
    assert misses(run, path)[0].max() < 1e-8
    assert np.abs(run.q[:, 1:7]).max() < 1e-8
    assert np.abs(run.tau[:, :6]).max() > 0.5


def test_the_transposed_jacobian_settles_without_an_inverse():
    """Passive: spring and damper at the tool; it reaches the pose though no matrix is inverted."""
    to = Pose(exp_so3(np.array([0.1, -0.1, 0.1])) @ X0.R, X0.p + 0.2 * ALONG)
    rest = PoseReference(to, np.zeros(6), np.zeros(6))
    stiff = np.array([20.0, 20.0, 20.0, 60.0, 60.0, 60.0])
    law = transposed_jacobian(lambda t: rest, TASK, stiffness=stiff, damping=2.0 * stiff, joint_damping=4.0)
    run = gs.simulate(CRAFT, START, REST, (0, 60), control=law, mode="floating", rtol=1e-8)
    far, angle = misses(run, lambda t: rest)
    assert far[-1] < 1e-3 * far[0] and angle[-1] < 1e-3 * angle[0]


# ---- singularities


def test_damping_acts_only_near_singularities():
    rng = np.random.default_rng(0)
    J = rng.normal(size=(6, 7))
    wanted = rng.normal(size=6)
    found = damped_inverse(J, wanted, Damping(onset=1e-3))
    np.testing.assert_allclose(found.rates, np.linalg.pinv(J) @ wanted, atol=1e-9)
    np.testing.assert_allclose(found.manipulability, np.sqrt(np.linalg.det(J @ J.T)), rtol=1e-9)
    assert found.damping == 0.0
    U, s, Vt = np.linalg.svd(J)
    near = U @ np.diag([*s[:5], 1e-9]) @ Vt[:6]
    found = damped_inverse(near, U[:, 5], Damping(onset=1e-3, largest=0.05))
    np.testing.assert_allclose(found.damping, 0.05, rtol=1e-3)
    assert np.abs(found.rates).max() < 1e-9 / 0.05**2 * 1.1  # not 1e9
    np.testing.assert_allclose(damped_inverse(near * 0.0, wanted).rates, 0.0)  # at the very singularity


def test_null_motion_is_unseen_by_the_tool():
    at = task_state(CRAFT, START, REST, TASK)
    unseen = np.linalg.svd(at.J)[2][6]
    wanted, wish = np.array([0.1, 0, 0.2, 0.05, 0.1, -0.1]), 0.3 * unseen + 0.1
    rates = damped_inverse(at.J, wanted, null_motion=wish).rates
    np.testing.assert_allclose(at.J @ rates, wanted, atol=1e-12)
    more = rates - damped_inverse(at.J, wanted).rates
    np.testing.assert_allclose(more, unseen * (wish @ unseen), atol=1e-12)


def test_a_line_through_a_dynamic_singularity_is_survived_and_reported():
    """A stretched arm: joint rates stay bounded where the undamped law's would not, and the report says when."""
    craft = servicer()
    q = gs.neutral(craft)
    q[7:13] = [0.0, 0.6, -1.2, 0.3, 0.4, 0.5]
    X = gs.frame_pose(craft, q, "tool")
    com = gs.center_of_mass(craft, q)
    out = (X.p - com) / np.linalg.norm(X.p - com)
    task = Task("tool", rows=POSITION)
    path = line(X, X.p + 2.5 * out, MinimumJerk(30.0))  # beyond the reach
    law = resolved_rate(path, task, damping=Damping(onset=1.0, largest=0.5))
    run = gs.simulate(craft, q, np.zeros(craft.nv), (0, 30), control=law, mode="floating", rtol=1e-7)
    assert run.ok and np.abs(run.v[:, 6:]).max() < 2.0
    report = singularity_report(craft, run.time, run.q, run.v, task, Damping(onset=1.0, largest=0.5))
    assert report.damped > 0.1 and report.smallest.min() < 0.35 * report.smallest[0]
    assert "dynamic singularity: smallest singular value" in str(report)
    singular = [
        np.linalg.svd(task_state(craft, q, v, task).J[list(POSITION)], compute_uv=False)
        for q, v in zip(run.q[::40], run.v[::40], strict=True)
    ]
    np.testing.assert_allclose(report.smallest[::40], [values[-1] for values in singular], rtol=1e-9)
    np.testing.assert_allclose(report.manipulability[::40], [np.prod(values) for values in singular], rtol=1e-9)
    assert report.closest_at == run.time[np.argmin(report.smallest)] > 0.0
    assert report.damped == np.mean(report.manipulability < 1.0)
    whole = singularity_report(craft, run.time[:2], run.q[:2], run.v[:2], Task("tool"), Damping(length=0.5))
    J = task_state(craft, run.q[0], run.v[0], Task("tool")).J * np.array([0.5] * 3 + [1.0] * 3)[:, None]
    assert whole.smallest[0] == pytest.approx(np.linalg.svd(J, compute_uv=False)[-1], rel=1e-9)


def test_more_rows_than_joints_are_refused():
    with pytest.raises(ValueError, match="6 rows are wanted of 2 joints"):
        damped_inverse(np.zeros((6, 2)), np.zeros(6))
