"""End-effector control of a craft whose base moves: resolved rate, resolved acceleration, transposed Jacobian.

Everything follows from how the craft answers its driven joints in the chosen mode (`craft_response`): v' = G q'' + g,
so the point moves by

    V = J v,   Vdot = J_q q'' + a,   J_q = J G,   a = Jdot v + J g                                            (1)

In floating mode J_q is the generalised Jacobian J*, at any momentum; in flying mode, with the base commanded, it is
J_m. Springs, dampers and friction are in g, and joints without motors go along as they must: what is claimed below
holds with them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..algebra import Array, Pose, transform_point
from ..kinematics import frame_pose, jacobian, jacobian_rate
from ..model import Role, Spacecraft
from .commanded import commanded_loads, craft_response
from .damping import USUAL, Damping, damped_inverse
from .demands import demand_one, placed
from .errors import pose_error
from .references import PosePath, PoseReference

TWIST = (0, 1, 2, 3, 4, 5)
POSITION = (3, 4, 5)
Law = Callable[[Spacecraft, Any, Array, Array], Array]


class Task(NamedTuple):
    """A point of a body or frame, and the rows of its twist [w; v] that matter."""

    frame: str
    point: Any = (0.0, 0.0, 0.0)
    rows: tuple[int, ...] = TWIST


class TaskState(NamedTuple):
    """Where the point is and how it moves; (1)."""

    R: Array  # R_NF
    p: Array  # of the point, in N
    twist: Array  # (6,) in N
    J: Array  # (6, joints)
    bias: Array  # (6,) a


def task_state(
    craft: Spacecraft,
    q: Array,
    v: Array,
    task: Task,
    mode: str = "floating",
    *,
    turn: Array | None = None,
    push: Array | None = None,
    wrenches: Array | None = None,
) -> TaskState:
    """Pose, twist, and the linear map from joint accelerations to the point's acceleration. (1)"""
    pose = frame_pose(craft, q, task.frame)
    J = jacobian(craft, q, task.frame, task.point)
    Jdot = jacobian_rate(craft, q, v, task.frame, task.point)
    G, g = craft_response(craft, q, v, mode, turn=turn, push=push, wrenches=wrenches)
    p = transform_point(pose, np.asarray(task.point))
    return TaskState(pose.R, p, J @ v, J @ G, Jdot @ v + J @ g)


def error_in_N(at: TaskState, wanted: PoseReference) -> Array:
    """`pose_error` of the point, its components in N, in which twists of points are, (6,)."""
    e = pose_error(Pose(at.R, at.p), wanted.X)
    return np.concatenate([at.R @ e[:3], at.R @ e[3:]])


def resolved_rate(
    path: PosePath,
    task: Task,
    *,
    servo: float = 20.0,
    feedback: float = 0.0,
    damping: Damping = USUAL,
    base_moves: bool = True,
    null_motion: Callable[[Spacecraft, Any, Array, Array], Array] | None = None,
) -> Law:
    """The law tau(craft, t, q, v) on a floating base: joint rates that give the point its wanted twist.

        qdot_d = J_q^# (V_d + feedback e - V_h),  V_h: the part of the twist that the craft's momentum makes     (2)
        qddot  = J_q^# (Vdot_d - a) + servo (qdot_d - qdot)                                                     (3)

    servo: of the joints' rate loops, in 1/s. feedback: of the pose error e, in 1/s; 0: open loop, no sensor at the end
    effector. base_moves=False: the fixed-base Jacobian in place of J_q, as if the base would not give way: how the
    point then misses. null_motion(craft, t, q, v): a wish for joint rates, of which what the point does not see is done
    (redundant arms).
    """
    rows = list(task.rows)

    def control(craft: Spacecraft, t: Any, q: Array, v: Array) -> Array:
        demand_one(craft, "resolved_rate")
        at_joints = craft.at(Role.driven)
        wanted, qdot = path(t), v[at_joints]
        at = task_state(craft, q, v, task)
        twist, bias = at.twist - at.J @ qdot, at.bias
        J = at.J
        if not base_moves:
            still = placed(craft, at_joints, qdot)
            J = jacobian(craft, q, task.frame, task.point)[:, at_joints]
            twist, bias = np.zeros(6), jacobian_rate(craft, q, still, task.frame, task.point) @ still
        target = wanted.twist - twist
        if feedback:
            target = target + feedback * error_in_N(at, wanted)
        wish = None if null_motion is None else null_motion(craft, t, q, v)
        rates = damped_inverse(J[rows], target[rows], damping, null_motion=wish).rates  # (2)
        steady = damped_inverse(J[rows], (wanted.rate - bias)[rows], damping).rates
        return commanded_loads(craft, q, v, "floating", joints=steady + servo * (rates - qdot)).tau  # (3)

    return control


def resolved_acceleration(
    path: PosePath,
    task: Task,
    *,
    kp: Any = 4.0,
    kd: Any = 4.0,
    joint_damping: float = 0.0,
    damping: Damping = USUAL,
    mode: str = "floating",
    base: Callable[[Spacecraft, Any, Array, Array], dict[str, Array]] | None = None,
) -> Law:
    """The law tau(craft, t, q, v): the point's error obeys e'' + kd e' + kp e = 0, whatever the base does.

        q'' = J_q^# (Vdot_d + kd (V_d - V) + kp e - a)                                                       (4)

    mode: what else may act; base(craft, t, q, v) gives the base's commanded accelerations, {"turn": (3,), "push": (3,)}
    as the mode takes them: with "flying", base and arm are coordinated. joint_damping, in 1/s: slows what a redundant
    arm does besides.
    """
    rows = list(task.rows)

    def control(craft: Spacecraft, t: Any, q: Array, v: Array) -> Array:
        demand_one(craft, "resolved_acceleration")
        wanted = path(t)
        commands = {} if base is None else base(craft, t, q, v)
        at = task_state(craft, q, v, task, mode, **commands)
        wish = wanted.rate + kd * (wanted.twist - at.twist) + kp * error_in_N(at, wanted) - at.bias
        slow = -joint_damping * v[craft.at(Role.driven)] if joint_damping else None
        joints = damped_inverse(at.J[rows], wish[rows], damping, null_motion=slow).rates  # (4)
        return commanded_loads(craft, q, v, mode, joints=joints, **commands).tau

    return control


def transposed_jacobian(
    path: PosePath, task: Task, *, stiffness: Any, damping: Any, joint_damping: float = 0.0, compensate: bool = True
) -> Law:
    """The law tau(craft, t, q, v) on a floating base: a spring and a damper at the point, by the transpose of J*.

        tau = J*^T (K e + D (V_d - V)) - joint_damping qdot  [+ what holds q'' = 0]                            (5)

    stiffness K and damping D: one number, or six for [w; v]. No inverse: singularities slow it down and do no harm.
    Masutani, Miyazaki & Arimoto (1989). compensate: with the model's velocity terms, springs, dampers and friction;
    without, damping alone copes with them.
    """
    rows = list(task.rows)

    def control(craft: Spacecraft, t: Any, q: Array, v: Array) -> Array:
        demand_one(craft, "transposed_jacobian")
        wanted, at_joints = path(t), craft.at(Role.driven)
        at = task_state(craft, q, v, task)
        load = stiffness * error_in_N(at, wanted) + damping * (wanted.twist - at.twist)
        tau = at.J[rows].T @ load[rows] - joint_damping * v[at_joints]
        if compensate:
            tau = tau + commanded_loads(craft, q, v, "floating", joints=np.zeros(len(at_joints))).tau[at_joints]
        return placed(craft, at_joints, tau)

    return control


class SingularityReport(NamedTuple):
    """Over a run: how near the task came to a dynamic singularity."""

    smallest: Array  # (times,) smallest singular value of J_q's rows, rotations scaled
    manipulability: Array  # (times,)
    closest_at: float  # s
    damped: float  # fraction of the times at which damping acted

    def __str__(self) -> str:
        return (
            f"dynamic singularity: smallest singular value {self.smallest.min():.3g} at {self.closest_at:.4g} s; "
            f"damped at {100 * self.damped:.1f} % of the times"
        )


def singularity_report(
    craft: Spacecraft, time: Any, q: Array, v: Array, task: Task, damping: Damping = USUAL
) -> SingularityReport:
    """From the states of a run on a floating base: `singularity_report(craft, run.time, run.q, run.v, task)`."""
    from ..tracing import compile

    def jacobian_of_task(craft: Spacecraft, q: Array, v: Array) -> Array:
        return task_state(craft, q, v, task).J

    J = compile(jacobian_of_task, craft)(np.asarray(q), np.asarray(v))
    scale = np.array([damping.length] * 3 + [1.0] * 3) if len(task.rows) == 6 else np.ones(6)
    values = np.linalg.svd((scale[:, None] * J)[..., list(task.rows), :], compute_uv=False)
    mu = values.prod(axis=-1)
    closest = int(values[..., -1].argmin())
    return SingularityReport(values[..., -1], mu, float(np.asarray(time)[closest]), float((mu < damping.onset).mean()))
