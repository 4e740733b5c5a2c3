"""Manoeuvring modes: which actuators may act on a craft with an arm. Wilde et al. (2018), section 6 of the corrected
digest.

| mode               | acts besides the joints           | conserved                                                   |
|--------------------|-----------------------------------|-------------------------------------------------------------|
| floating           | nothing                           | linear and angular momentum                                 |
| rotation-floating  | wheels                            | linear and angular momentum, wheels included                |
| rotation-flying    | an external couple (wheels too)   | linear momentum                                             |
| translation-flying | an external force (wheels too)    | angular momentum about the centre of mass, where the force  |
|                    |                                   | passes through it                                           |
| flying             | force and couple (wheels too)     | nothing                                                     |
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..algebra import Array, cross, is_symbolic
from ..kinematics import center_of_mass
from ..model import Spacecraft, nearest
from .controller import Controller
from .demands import base_pose, demand_free_base, driven_wheels, passive_joints


@dataclass(frozen=True)
class Mode:
    """What may act besides the joints' own motors."""

    name: str
    couple: bool = False  # an external torque on the base, by itself
    force: bool = False  # an external force
    wheels: bool = False  # wheel motors
    turns_by_wheels: bool = False  # attitude is held by wheels: there must be enough of them


# The five of Wilde et al. (2018), by name
MODES = {
    mode.name: mode
    for mode in (
        Mode("floating"),
        Mode("rotation-floating", wheels=True, turns_by_wheels=True),
        Mode("rotation-flying", couple=True, wheels=True),
        Mode("translation-flying", force=True, wheels=True),
        Mode("flying", couple=True, force=True, wheels=True),
    )
}


def mode_named(name: str) -> Mode:
    if name not in MODES:
        raise ValueError(f"mode '{name}' is not known. {nearest(str(name), MODES)}")
    return MODES[name]


def through_center_of_mass(craft: Spacecraft, q: Array, force_B: Array) -> Array:
    """Base wrench [c x F; F] (6,) of a force in base axes whose line passes through the craft's centre of mass."""
    demand_free_base(craft, "through_center_of_mass")
    X_NB = base_pose(craft, q)
    c = X_NB.R.T @ (center_of_mass(craft, q) - X_NB.p)
    return np.concatenate([cross(c, force_B), force_B])


def demand_mode(craft: Spacecraft, name: str, moved: Iterable[str] = ()) -> Mode:
    """The mode of that name, if the craft (every member of it) has what it takes. moved: joints whose motion is
    prescribed.

    Raises a ValueError that says what is missing.
    """
    mode = mode_named(name)
    bases = [root.joint for root in craft.roots]
    for base in bases:
        if not base.motion.unbound:
            whose = f"'{base.name}' of {craft.name}" if craft.members else f"that of {craft.name}"
            raise ValueError(f"mode '{name}' needs a base that is free; {whose} is {base.kind}.")
    if craft.members and (mode.couple or mode.force):
        raise ValueError(
            f"mode '{name}' is for one spacecraft: {craft.name} holds {len(craft.members)}, and what acts from outside "
            "acts on one of them. Leave the mode out; the audit names what acts from outside."
        )
    axes = max(independent_axes(m.craft) for m in craft.members) if craft.members else independent_axes(craft)
    if mode.turns_by_wheels and axes < 3:
        raise ValueError(
            f"mode '{name}' holds the base's attitude by wheels about three independent axes; {craft.name} has {axes}. "
            "Add gs.Wheel or a control-moment gyro, or choose 'floating'."
        )
    for joint in (craft.joint_named(m) for m in moved):
        if joint in bases and name != "flying":
            raise ValueError(
                f"mode '{name}': the motion of the base is prescribed, which takes a force and a couple: mode 'flying'."
            )
        if joint.spins and not mode.wheels:
            raise ValueError(
                f"mode '{name}': the motion of wheel '{joint.name}' is prescribed, but wheels may not act."
            )
    return mode


def independent_axes(craft: Spacecraft) -> int:
    """About how many axes wheels can turn the craft: a wheel's own; for one on a gimbal, all across the gimbal's axis.

    Axes that are symbols are taken as independent.
    """
    directions = [np.zeros(3)]
    for wheel in driven_wheels(craft):
        carrier, a = wheel.parent, wheel.joint.axis
        assert carrier is not None
        joint = craft.joint(carrier)
        if carrier != craft.base and joint.motion.hinge:
            g = joint.axis
            directions += [joint.rotation @ x for x in (a, np.cross(g, a))]
        else:
            directions.append(a)
    if any(is_symbolic(a) for a in directions):
        return min(3, len(directions) - 1)
    return int(np.linalg.matrix_rank(np.array(directions, dtype=float), tol=1e-9))


def guarded(craft: Spacecraft, mode: Mode, control: Controller | None) -> Controller | None:
    """The same controller; it refuses loads that the mode does not allow, when traced as when called with numbers."""
    if control is None:
        return None

    @functools.wraps(control.output)
    def output(*args: Any, **more: Any) -> Any:
        tau = np.asarray(craft.v(control.output(*args, **more), "tau"))
        if tau.shape == (craft.nv,):  # else refused later, by its shape
            refuse(craft, mode, tau, control.pushes)
        return tau

    return replace(control, output=output)


def refuse(craft: Spacecraft, mode: Mode, tau: Array, pushes: bool = False) -> None:
    """A ValueError if tau holds a load that the mode does not allow. A traced entry counts as a load, unless it is
    zero. pushes: loads on joints may be from outside, as `Controller.pushes` says.

    No mode lets control act on a joint that has no motor.
    """
    allowed: Mapping[str, str] = {
        "floating": "nothing acts on the base from outside",
        "rotation-floating": "the base is turned by wheels, not from outside",
        "rotation-flying": "the base is turned by a couple without a net force",
        "translation-flying": "the base is pushed by a force, not turned by a couple",
    }
    for root in craft.roots:
        at, whose = root.joint.v_at.start, f"'{root.name}'" if craft.members else "the base"
        couple, force = (not _zero(tau[at + k : at + k + 3]) for k in (0, 3))
        if force and not mode.force:
            raise ValueError(
                f"mode '{mode.name}': the control law pushes {whose} (tau[{at + 3}:{at + 6}]), but "
                f"{allowed[mode.name]}. Return zeros there, or choose 'translation-flying' or 'flying'."
            )
        if couple and not mode.couple and not force:
            raise ValueError(
                f"mode '{mode.name}': the control law turns {whose} (tau[{at or ''}:{at + 3}]), but "
                f"{allowed[mode.name]}. Return zeros there, or choose 'rotation-flying' or 'flying'."
            )
    for name in passive_joints(craft):
        if not pushes and not _zero(craft.joint_named(name).rate(tau)):
            raise ValueError(
                f"mode '{mode.name}': the control law loads joint '{name}', which has no motor. Return zeros there, or "
                "say driven=True in the model."
            )
    driven = [wheel.name for wheel in driven_wheels(craft) if not _zero(wheel.joint.rate(tau))]
    if driven and not mode.wheels:
        raise ValueError(
            f"mode '{mode.name}': the control law drives wheel '{driven[0]}', but wheels may not act. Return zeros for "
            "wheels, or choose 'rotation-floating'."
        )


def _zero(x: Array) -> bool:
    """True if every entry is the number zero."""
    return all(isinstance(e, (int, float, np.number)) and e == 0 for e in np.ravel(x))
