"""Control laws that a scenario file can name: an entry each, whose fields are the keys of its [control] table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from ..algebra import Array, Pose, quat_from_rotation, rotation_from_rpy
from ..environment import Environment
from ..kinematics import frame_pose
from ..model import Spacecraft
from ..model.entries import (
    Angle,
    Angles,
    AngularRate,
    Frequency,
    JointPositions,
    Lengths,
    Positive,
    Registry,
    Three,
    Time,
    Torque,
    key,
)
from .attitude_laws import quaternion_feedback, sliding_mode
from .base_attitude import coordinated, joint_acceleration, wheel_attitude
from .demands import driven_joints, driven_wheels
from .detumble import detumble_by_couple, detumble_by_wheels
from .end_effector import Task, resolved_rate
from .end_effector_impedance import impedance
from .gyro_steering import gyro_attitude
from .imperfection import Imperfection
from .magnetic_torquers import MagneticTorquers, b_dot
from .passivity import passivity_tracking
from .pose_paths import arc, line, screw_path
from .reaction_null_space import reactionless, towards
from .references import JointPath, JointReference, PosePath, PoseReference, pose_reference
from .thrusters import Pulses
from .timing import MinimumJerk

LAWS = Registry("control laws", "law")


@dataclass(frozen=True)
class About:
    """What a law of a file is made for: the craft that it sees, its state when it begins, and the joints' paths."""

    craft: Spacecraft
    q: Array
    v: Array
    t: float = 0.0
    paths: Mapping[str, JointPath] = field(default_factory=dict)
    environment: Environment | None = None
    orbit: Any = None
    sky: Any = None

    def attitude(self, rpy: Three | None, duration: float, by: Three = (0.0, 0.0, 0.0)) -> PosePath:
        """From the attitude at the start to roll, pitch, yaw in N within `duration`; held where none is given. by: how
        far the base moves meanwhile, in N.
        """
        X = frame_pose(self.craft, self.q, self.craft.base)
        end = X.p + np.array(by)
        if rpy is None and not any(by):
            still = pose_reference(quat_from_rotation(X.R), X.p)
            return lambda t: still
        R = X.R if rpy is None else rotation_from_rpy(np.array(rpy))
        if duration <= 0.0:
            there = pose_reference(quat_from_rotation(R), end)
            return lambda t: there
        return line(X, end, MinimumJerk(duration, self.t), R=R)

    @property
    def joints(self) -> Callable[[Any], JointReference]:
        """What the driven joints are to do, in their order; those without a path stay."""
        moved = [joint for joint in driven_joints(self.craft) if not joint.motion.spins]
        for joint in moved:
            if not joint.motion.single:
                raise ValueError(f"joint '{joint.name}' is {joint.kind}; this law moves joints with one coordinate.")
        start = {joint.name: float(self.q[joint.q_at.start]) for joint in moved}

        def reference(t: Any) -> JointReference:
            at = [self.paths[n](t) if n in self.paths else JointReference(q, 0.0, 0.0) for n, q in start.items()]
            return JointReference(*(np.array([getattr(r, name) for r in at]) for name in ("q", "qdot", "qddot")))

        return reference

    def gains(self, bandwidth: float, damping: float = 1.0) -> dict[str, Any]:
        w = 2 * np.pi * bandwidth
        return {"kp": w**2, "kd": 2 * damping * w}


def _arm(about: About, bandwidth: float) -> Any:
    return joint_acceleration(about.joints, **about.gains(bandwidth))


@LAWS.add("wheel_attitude", "wheels hold or turn the base while the joints follow their waypoints, fed forward",
          'attitude = ["0 deg", "0 deg", "30 deg"]')  # fmt: skip
@dataclass(frozen=True, kw_only=True)
class WheelAttitude:
    attitude: Angles | None = key("Roll, pitch, yaw of the base in inertial axes; as it starts by default.", None)
    duration: Time = key("How long the turn takes, from rest to rest; 0: it is a step.", 0.0)
    bandwidth: Frequency = key("Of the base's attitude.", 0.05)
    joint_bandwidth: Frequency = key("Of the joints.", 0.5)
    follows = True

    def build(self, about: About) -> Any:
        path = about.attitude(self.attitude, self.duration)
        return wheel_attitude(path, _arm(about, self.joint_bandwidth), **about.gains(self.bandwidth))


@LAWS.add("quaternion_feedback", "wheels turn the base and hold it; magnetic torquers take momentum out of them",
          'attitude = ["0 deg", "0 deg", "30 deg"]')  # fmt: skip
@dataclass(frozen=True, kw_only=True)
class QuaternionFeedback:
    attitude: Angles | None = key("Roll, pitch, yaw of the base in inertial axes; as it starts by default.", None)
    duration: Time = key("How long the turn takes, from rest to rest; 0: it is a step.", 0.0)
    bandwidth: Frequency = key("Of the base's attitude.", 0.01)
    wheel_speed: AngularRate = key("That wheels keep in turn, + and -, as far as nothing turns; 0: any.", 0.0)
    dump: float = key("How fast torquers empty the wheels, in 1/s; 0: they do not.", 0.0)
    dipole: Positive = key("Largest of each torquer, in A m^2.", 10.0)
    follows = False

    def __post_init__(self) -> None:
        if self.dump < 0:
            raise ValueError(f"dump is {self.dump:g} 1/s; expected none below zero")

    def _speeds(self, about: About) -> Array | None:
        if self.wheel_speed == 0.0:
            return None
        wheels = driven_wheels(about.craft)
        return self.wheel_speed * np.array([1.0 - 2.0 * (k % 2) for k in range(len(wheels))])

    def torquers(self, about: About) -> MagneticTorquers | None:
        if self.dump == 0.0 or about.sky is None:
            return None
        return MagneticTorquers(about.orbit, about.sky.magnetic_field, self.dipole)

    def build(self, about: About) -> Any:
        speeds = self._speeds(about)
        path = about.attitude(self.attitude, self.duration)
        law = quaternion_feedback(path, **about.gains(self.bandwidth), speeds=speeds)
        torquers = self.torquers(about)
        if self.dump and torquers is None:
            raise ValueError(
                'dump needs the magnetic field: add [environment.orbit] with epoch = "2025-03-07" at the top of a '
                "file about one spacecraft"
            )
        return law if torquers is None else torquers.dumping(law, self.dump, 0.0 if speeds is None else speeds)


@LAWS.add("sliding_mode", "wheels turn the base and hold it, whatever loads act up to a reach",
          'attitude = ["0 deg", "0 deg", "30 deg"]\nslope = 0.05\nreach = 1e-3\nlayer = 1e-4')  # fmt: skip
@dataclass(frozen=True, kw_only=True)
class SlidingMode:
    attitude: Angles | None = key("Roll, pitch, yaw of the base in inertial axes; as it starts by default.", None)
    duration: Time = key("How long the turn takes, from rest to rest; 0: it is a step.", 0.0)
    slope: Positive = key("On the surface the error dies out as exp(-slope t), in 1/s.")
    reach: Positive = key("Largest load that it withstands, over the inertia, in rad/s^2.")
    layer: Positive = key("Within which the load fades in place of switching, in rad/s.")
    follows = False

    def build(self, about: About) -> Any:
        path = about.attitude(self.attitude, self.duration)
        return sliding_mode(path, slope=self.slope, reach=self.reach, layer=self.layer)


@LAWS.add("b_dot", "magnetic torquers take a tumble out, from a magnetometer alone",
          'gain = 1e6\ndipole = 1.0\nperiod = "1 s"')  # fmt: skip
@dataclass(frozen=True, kw_only=True)
class BDot:
    gain: Positive = key("In A m^2 s/T.")
    dipole: Positive = key("Largest of each torquer, in A m^2.")
    period: Time = key("Of the magnetometer's samples.", 1.0)
    noise: float = key("Of the magnetometer, in T.", 0.0)
    follows = False

    def build(self, about: About) -> Any:
        if about.sky is None:
            raise ValueError(
                'the magnetic field is needed: add [environment.orbit] with epoch = "2025-03-07" at the top of a file '
                "about one spacecraft"
            )
        meter, field = Imperfection(noise=self.noise), about.sky.magnetic_field
        return b_dot(about.orbit, field, self.gain, self.dipole, self.period, magnetometer=meter)


@LAWS.add("gyro_attitude", "control-moment gyros hold or turn the base", 'momentum = 10.0')  # fmt: skip
@dataclass(frozen=True, kw_only=True)
class GyroAttitude:
    momentum: Positive = key("Of one gyro's wheel, in N m s.")
    attitude: Angles | None = key("Roll, pitch, yaw of the base in inertial axes; as it starts by default.", None)
    duration: Time = key("How long the turn takes, from rest to rest; 0: it is a step.", 0.0)
    bandwidth: Frequency = key("Of the base's attitude.", 0.03)
    servo: Positive = key("Of the gimbals' rate loops, in 1/s.", 10.0)
    follows = False

    def build(self, about: About) -> Any:
        path = about.attitude(self.attitude, self.duration)
        return gyro_attitude(path, size=self.momentum, servo=self.servo, **about.gains(self.bandwidth))


@LAWS.add("thruster_pulses", "thrusters hold, turn or move the base by pulses, while the joints follow their waypoints",
          'period = "1 s"')  # fmt: skip
@dataclass(frozen=True, kw_only=True)
class ThrusterPulses:
    period: Time = key("Thrust is shared and pulses begin once in each.", 1.0)
    ticks: int = key("Parts of a period in which pulses are resolved.", 10)
    attitude: Angles | None = key("Roll, pitch, yaw of the base in inertial axes; as it starts by default.", None)
    by: Lengths = key("How far the base moves, in inertial axes.", (0.0, 0.0, 0.0))
    duration: Time = key("How long the motion takes, from rest to rest; 0: it is a step.", 0.0)
    bandwidth: Frequency = key("Of the base's attitude and position.", 0.02)
    joint_bandwidth: Frequency = key("Of the joints.", 0.05)
    follows = True

    def build(self, about: About) -> Any:
        path = about.attitude(self.attitude, self.duration, self.by)
        law = coordinated(path, _arm(about, self.joint_bandwidth), **about.gains(self.bandwidth))
        return Pulses(about.craft, self.period, self.ticks).controller(law)


@LAWS.add("end_effector", "a frame follows a line, an arc or a screw, by resolved rates; the base floats",
          'frame = "tool"\npath = "line"\nby = ["0.2 m", "0 m", "0.1 m"]\nduration = "10 s"')  # fmt: skip
@dataclass(frozen=True, kw_only=True)
class EndEffector:
    frame: str = key("Which frame.")
    path: Literal["line", "arc", "screw"] = key("A line, an arc about an axis, or one screw to the end.", "line")
    by: Lengths = key("How far the frame's origin moves, in inertial axes (line, screw).", (0.0, 0.0, 0.0))
    turn: Angles = key("Roll, pitch, yaw by which the frame turns, in inertial axes (line, screw).", (0.0, 0.0, 0.0))
    center: Lengths | None = key("Of the arc, from where the frame's origin is at the start.", None)
    axis: Three = key("Of the arc.", (0.0, 0.0, 1.0))
    angle: Angle = key("Of the arc.", 0.0)
    duration: Time = key("From rest to rest.")
    feedback: float = key("Of the pose error, in 1/s.", 1.0)
    servo: Positive = key("Of the joints' rate loops, in 1/s.", 20.0)
    follows = False

    def __post_init__(self) -> None:
        if (self.center is None) == (self.path == "arc"):
            raise ValueError("an arc has a center and an angle; lines and screws have none")
        if self.path == "arc" and (any(self.by) or any(self.turn)):
            raise ValueError('"by" and "turn" belong to lines and screws; an arc has center, axis and angle')
        if not self.duration > 0:
            raise ValueError(f"duration is {self.duration:g} s; expected more than zero")

    def build(self, about: About) -> Any:
        X = frame_pose(about.craft, about.q, self.frame)
        timing = MinimumJerk(self.duration, about.t)
        if self.path == "arc":
            path = arc(X, X.p + np.array(self.center), np.array(self.axis), self.angle, timing)
        else:
            R = rotation_from_rpy(np.array(self.turn)) @ X.R
            end = X.p + np.array(self.by)
            path = line(X, end, timing, R=R) if self.path == "line" else screw_path(X, Pose(R, end), timing)
        return resolved_rate(path, Task(self.frame), servo=self.servo, feedback=self.feedback)


@LAWS.add("reactionless", "the arm goes towards joint positions without turning the base",
          'joints = { joint_1 = "20 deg" }')  # fmt: skip
@dataclass(frozen=True, kw_only=True)
class Reactionless:
    joints: JointPositions = key("Where to; joints that are not named wish to stay.")
    rate: Positive = key("How fast, in 1/s times the distance.", 0.1)
    limit: Positive = key("Largest wished rate, in rad/s.", 0.1)
    follows = False

    def build(self, about: About) -> Any:
        moved = [joint for joint in driven_joints(about.craft) if not joint.motion.spins]
        goal = np.concatenate([np.atleast_1d(self.joints.get(j.name, about.q[j.q_at])) for j in moved])
        return reactionless(towards(goal, self.rate, self.limit), attitude=about.q[:4])


@LAWS.add("impedance", "a frame behaves as a mass, a damper and a spring about where it starts, or on a line",
          'frame = "tool"\nmass = 50.0\ndamping = 60.0\nstiffness = 20.0')  # fmt: skip
@dataclass(frozen=True, kw_only=True)
class Impedance:
    frame: str = key("Which frame.")
    mass: Positive = key("kg, and kg m^2 about each axis.")
    damping: Positive = key("N s/m, and N m s/rad.")
    stiffness: Positive = key("N/m, and N m/rad.")
    by: Lengths = key("How far it moves, in inertial axes.", (0.0, 0.0, 0.0))
    duration: Time = key("From rest to rest, where it moves.", 10.0)
    follows = False

    def build(self, about: About) -> Any:
        X = frame_pose(about.craft, about.q, self.frame)
        path: PosePath = lambda t: PoseReference(X)
        if any(self.by):
            path = line(X, X.p + np.array(self.by), MinimumJerk(self.duration, about.t))
        task = Task(self.frame)
        return impedance(path, task, mass=self.mass, damping=self.damping, stiffness=self.stiffness)


@LAWS.add("adaptive", "joints follow their waypoints while the law learns the mass properties; the base floats",
          "believed = 0.7")  # fmt: skip
@dataclass(frozen=True, kw_only=True)
class Adaptive:
    bandwidth: Frequency = key("How fast errors vanish.", 0.1)
    adaptation: Positive = key("How fast it learns, in 1/J.", 1.0)
    believed: Positive = key("Masses and inertias to begin with, over the true ones.", 1.0)
    follows = True

    def build(self, about: About) -> Any:
        craft = about.craft
        values = {f"{body.name}.mass": body.mass * self.believed for body in craft.bodies if body.mass > 0}
        values |= {
            f"{body.name}.inertia": np.asarray(craft.value(f"{body.name}.inertia")) * self.believed
            for body in craft.bodies
            if body.mass > 0
        }
        return passivity_tracking(
            about.joints,
            bandwidth=2 * np.pi * self.bandwidth,
            mode="floating",
            adaptation=self.adaptation,
            estimate=craft.with_values(values),
            base_velocity=about.v[:6],
        )


@LAWS.add("detumble_by_wheels", "wheels take the tumble of the whole craft, and its joints come to rest", "rate = 0.1")
@dataclass(frozen=True, kw_only=True)
class DetumbleByWheels:
    rate: Positive = key("The base's rate dies out as exp(-rate t), in 1/s.", 0.1)
    joint_damping: Positive = key("Of the joints' rates, in 1/s.", 1.0)
    follows = False

    def build(self, about: About) -> Any:
        return detumble_by_wheels(rate=self.rate, joint_damping=self.joint_damping)


@LAWS.add("detumble_by_couple", "an external couple brakes the whole craft, and its joints come to rest",
          'limit = "2 N m"')  # fmt: skip
@dataclass(frozen=True, kw_only=True)
class DetumbleByCouple:
    limit: Torque = key("Largest couple.")
    joint_damping: Positive = key("Of the joints' rates, in 1/s.", 1.0)
    settle: Time = key("The couple fades where it would stop the craft within this time.", 1.0)
    follows = False

    def build(self, about: About) -> Any:
        return detumble_by_couple(self.limit, joint_damping=self.joint_damping, settle=self.settle)
