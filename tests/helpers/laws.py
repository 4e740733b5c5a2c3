"""Craft with springs, dampers, friction and joints without motors, and every law of the library on them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import gyrostat as gs
from gyrostat import control
from gyrostat.algebra import Pose
from gyrostat.control.passive import passive_forces
from gyrostat.model import Role
from random_flexible import random_flexible
from random_trees import random_axis, random_inertia, random_rotation


def sprung(craft: gs.Spacecraft, seed: int) -> gs.Spacecraft:
    """Dampers and friction anywhere; springs on joints with one coordinate,
    some of which keep their motors; some joints without.
    """
    rng = np.random.default_rng(seed)
    bodies = [craft.bodies[0]]
    for body in craft.bodies[1:]:
        joint = body.joint
        changes = {"damping": rng.uniform(0, 2), "friction": rng.uniform(0, 0.5)}
        if joint.motion.single and rng.random() < 0.6:
            changes |= {"stiffness": rng.uniform(1, 5), "rest": rng.uniform(-0.3, 0.3)}
            changes |= {"driven": True} if rng.random() < 0.5 else {}
        elif joint.nv and rng.random() < 0.25:
            changes |= {"driven": False}
        bodies.append(replace(body, joint=replace(joint, **changes)))
    return gs.Spacecraft.build(craft.name, bodies, frames=craft.frames, thrusters=craft.thrusters)


def servicer_like(
    seed: int,
    *,
    base: str = "free",
    wheels: int = 4,
    arm: int = 7,
    panels: int = 1,
    gyros: bool = False,
    bends: bool = False,
) -> gs.Spacecraft:
    """An arm of driven revolute joints (damped, some sprung), wheels about independent axes,
    panels on springs; all placed at random. bends: with a flexible boom on the hull that carries a load, and an arm
    that starts on another.
    """
    rng = np.random.default_rng(seed)
    mass = rng.uniform(50, 100)
    turned = random_rotation(rng)  # the base's own joint frame, too
    root = gs.Joint("root", base, None, rng.normal(size=3), turned, random_axis(rng))
    bodies = [gs.Body("hull", mass, rng.normal(scale=0.1, size=3), 3 * random_inertia(rng, mass), root)]
    parent = "hull"
    if bends:
        own = np.random.default_rng([seed, 11])
        for name in ("boom", "mast"):
            bodies.append(random_flexible(name, gs.Joint(f"{name}_root", "fixed", "hull", own.normal(size=3)), own))
        load = gs.Joint("boom_load", "fixed", "boom.n2", (0.1, 0.2, 0))
        bodies.append(gs.Body("load", 1.5, (0.1, 0, 0.2), (0.1, 0.2, 0.25), load))
        parent = "mast.n2"
    for k in range(arm):
        loads = {"damping": rng.uniform(0, 1), "friction": rng.uniform(0, 0.2)}
        if k % 3 == 1:
            loads |= {"stiffness": rng.uniform(1, 4), "rest": 0.1, "driven": True}
        place = {"position": rng.normal(scale=0.5, size=3), "rotation": random_rotation(rng), "axis": random_axis(rng)}
        joint = gs.Joint(f"j{k}", "revolute", parent, **place, **loads)
        bodies.append(
            gs.Body(f"link_{k}", rng.uniform(1, 5), rng.normal(scale=0.2, size=3), random_inertia(rng, 3.0), joint)
        )
        parent = f"link_{k}"
    for k in range(panels):
        joint = gs.Joint(
            f"hinge_{k}",
            "revolute",
            "hull",
            (0, 1.0, 0.2 * k),
            random_rotation(rng),
            (0, 0, 1),
            stiffness=8.0,
            damping=0.3,
        )
        bodies.append(gs.Body(f"panel_{k}", 4.0, (0.1, 0.8, 0), (1.0, 0.2, 1.1), joint))
    bodies += control.gyro_pyramid("hull", 0.02, mass=2.0) if gyros else ()
    for k in range(wheels):
        bodies.append(gs.Wheel(f"wheel_{k}", "hull", (np.eye(3)[k] if k < 3 else (1, 1, 1)), 0.02))
    tool = gs.Frame("tool", parent, rng.normal(scale=0.3, size=3), random_rotation(rng))
    return gs.Spacecraft.build(f"craft_{seed}", bodies, frames=[tool])


def state(craft: gs.Spacecraft, seed: int, speed: float = 0.3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    q = gs.step_configuration(craft, gs.neutral(craft), 0.7 * rng.normal(size=craft.nv))
    return q, speed * rng.normal(size=craft.nv)


def somewhere(t):
    """A pose to be reached, moving."""
    X = Pose(np.array([[0, -1.0, 0], [1, 0, 0], [0, 0, 1]]), np.array([1.0, 0.5, -0.3]))
    return control.line(X, X.p + [0.2, 0.1, 0.0], control.MinimumJerk(10.0))(t)


def acceleration(craft: gs.Spacecraft, q, v, tau) -> np.ndarray:
    """What the craft does under a law's loads: its own springs, dampers and friction act, too."""
    return gs.forward_dynamics(craft, q, v, tau + passive_forces(craft, q, v))


def loads(law, craft: gs.Spacecraft, t, q, v) -> np.ndarray:
    """tau of a law, with memory or without."""
    if isinstance(law, gs.Controller):
        return law.output(craft, t, q, v, *([law.state0] if law.remembers else []))
    return law(craft, t, q, v)


def internal_laws(craft: gs.Spacecraft) -> dict:
    """Laws that act by joints and wheels alone; names as in `control`. Those for other craft are left out."""
    n = len(craft.at(Role.driven))
    wheels = len(craft.at(Role.wheel))
    task, point = control.Task("tool"), control.Task("tool", rows=(3, 4, 5))
    laws = {
        "resolved_rate": control.resolved_rate(somewhere, task, feedback=1.0),
        "resolved_rate, base as if fixed": control.resolved_rate(somewhere, point, base_moves=False),
        "resolved_acceleration": control.resolved_acceleration(somewhere, point, joint_damping=0.5),
        "transposed_jacobian": control.transposed_jacobian(somewhere, task, stiffness=3.0, damping=2.0),
        "impedance": control.impedance(somewhere, task, mass=5.0, damping=10.0, stiffness=20.0),
    }
    hold = {f"j{k}": control.Waypoints((5.0,), (0.3,)) for k in range(n) if f"j{k}" in {j.name for j in craft.joints}}
    gains = dict.fromkeys(hold, 2.0)
    laws |= {
        "joint_pd": control.joint_pd(hold, gains, gains),
        "joint_pid": control.joint_pid(hold, gains, gains, gains),
        "joint_computed_torque": control.joint_computed_torque(hold, gains, gains),
    }
    if craft.joints[0].kind == "free":
        if not len(craft.at(Role.passive, Role.modal)):
            still = control.JointReference(*np.zeros((3, n)))
            more = {"bandwidth": 1.0, "mode": "floating"}
            laws |= {
                "passivity_tracking": control.passivity_tracking(lambda t: still, **more),
                "passivity_tracking, learning": control.passivity_tracking(
                    lambda t: still, adaptation=1.0, estimate=craft, **more
                ),
            }
        if any(body.name.startswith("gyro") for body in craft.bodies):
            upright = control.pose_reference(np.array([1.0, 0, 0, 0]))
            laws["gyro_attitude"] = control.gyro_attitude(lambda t: upright, size=1.0)
        rest = control.JointReference(np.zeros(n), np.zeros(n + wheels), np.zeros(n + wheels))
        laws |= {
            "computed_torque": control.computed_torque(lambda t: rest, momentum="measured"),
            "reactionless": control.reactionless(lambda craft, t, q, v: np.ones(n)),
        }
        if wheels >= 3:
            upright = control.pose_reference(np.array([1.0, 0, 0, 0]))
            arm = lambda craft, t, q, v: -v[craft.at(Role.driven)]
            laws |= {
                "detumble_by_wheels": control.detumble_by_wheels(),
                "wheel_attitude": control.wheel_attitude(lambda t: upright, arm),
                "wheel_attitude, chasing": control.wheel_attitude(
                    lambda t: upright, arm, feed_forward=False, inertia=np.eye(3) * 20
                ),
            }
    return laws
