"""What a spacecraft must satisfy: one tree, unique names, finite numbers, physical mass properties, joints that move
mass.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .findings import Finding, nearest
from .flexible import FlexibleBody, joints_of
from .flexible_findings import flexible_findings, place_findings
from .members import Membership
from .names import wrong_name
from .parts import Body, Frame, Joint, Thruster
from .plausibility import immovable, unit_slips

LARGEST = 1e60  # of any number in a model, so that products of several stay finite


def error(code: str, element: str, message: str, hint: str = "") -> Finding:
    return Finding("error", message, hint, element, code=code)


def warning(code: str, element: str, message: str, hint: str = "") -> Finding:
    return Finding("warning", message, hint, element, code=code)


# ---- the tree


def order(bodies: Sequence[Body]) -> tuple[list[Body], list[Finding]]:
    """Bodies base to tip, branch by branch in the order given, wheels last as given; or the findings that say why there
    is no tree.
    """
    found = _names_and_roots(bodies)
    if found:
        return [], found
    children: dict[str, list[Body]] = {}
    for body in bodies:
        if body.parent is not None:
            children.setdefault(body.parent, []).append(body)
    ordered, stack = [], [body for body in bodies if body.parent is None]
    while stack:
        body = stack.pop()
        ordered.append(body)
        stack.extend(reversed(children.get(body.name, [])))
    if len(ordered) < len(bodies):
        reached = {body.name for body in ordered}
        lost = [body.name for body in bodies if body.name not in reached]
        return [], [
            error("cycle", "", f"a loop of joints holds {', '.join(map(repr, lost))}.", "Remove one joint of the loop.")
        ]
    # wheels as given, so that ordering once more changes nothing
    wheels = [body for body in bodies if body.joint.motion.spins]
    mounted = [_on_wheel(wheel, children[wheel.name][0]) for wheel in wheels if wheel.name in children]
    return [body for body in ordered if not body.joint.motion.spins] + wheels, mounted


def _names_and_roots(bodies: Sequence[Body]) -> list[Finding]:
    """Names that stand twice, parents that do not exist, and anything but one base."""
    found = [*_duplicates("body", (b.name for b in bodies)), *_duplicates("joint", (b.joint.name for b in bodies))]
    names = {body.name for body in bodies}
    for body in bodies:
        if body.parent is not None and body.parent not in names:
            what = f"its parent body '{body.parent}' does not exist."
            found.append(error("unknown-parent", f"joint '{body.joint.name}'", what, nearest(body.parent, names)))
    roots = [f"'{body.name}'" for body in bodies if body.parent is None]
    if not bodies:
        found.append(error("no-body", "", "the spacecraft has no body; expected at least a base."))
    elif not roots:
        found.append(
            error("cycle", "", "every body has a parent, so none is the base.", "Remove one joint of the loop.")
        )
    elif len(roots) > 1:
        what = f"{len(roots)} bodies have no parent: {', '.join(roots)}."
        found.append(error("several-roots", "", what, "Join them, or load them as separate craft."))
    return found


def _on_wheel(wheel: Body, child: Body) -> Finding:
    return error(
        "on-wheel",
        f"body '{child.name}'",
        f"is mounted on wheel '{wheel.name}', whose angle is not a coordinate.",
        "Use a revolute joint instead of the wheel.",
    )


def _duplicates(what: str, names: Iterable[str]) -> list[Finding]:
    seen: set[str] = set()
    twice: list[str] = []
    for name in names:
        if name in seen and name not in twice:
            twice.append(name)
        seen.add(name)
    return [
        error("duplicate-name", f"{what} '{name}'", "this name is used twice.", "Rename one of them.") for name in twice
    ]


def unnamed(what: str, name: str) -> list[Finding]:
    """That a name is none."""
    reason = wrong_name(name)
    return [error("bad-name", f"{what} '{name}'", reason, "Rename it.")] if reason else []


def _name_findings(bodies: Sequence[Body], frames: Sequence[Frame], thrusters: Sequence[Thruster]) -> list[Finding]:
    found = [f for body in bodies for f in (*unnamed("body", body.name), *unnamed("joint", body.joint.name))]
    found += [f for frame in frames for f in unnamed("frame", frame.name)]
    return found + [f for thruster in thrusters for f in unnamed("thruster", thruster.name)]


# ---- the values


def validate(
    bodies: Sequence[Body],
    frames: Sequence[Frame],
    thrusters: Sequence[Thruster],
    memberships: Sequence[Membership] = (),
) -> list[Finding]:
    """Findings about the values of a spacecraft whose tree is sound; bodies in base-to-tip order."""
    found = _name_findings(bodies, frames, thrusters)
    names = {body.name for body in bodies}
    included: dict[str | None, list[Body]] = {}
    for body in bodies:
        if body.included:
            included.setdefault(body.parent, []).append(body)
            found += _included_findings(body)
    for body in bodies:
        found += _joint_findings(body.joint)
        part: Any = body
        flexible = isinstance(part, FlexibleBody)
        found += flexible_findings(part) if flexible else _body_findings(body, included.get(body.name, []))
    found += place_findings(bodies, frames, thrusters)
    found += _role_findings(bodies, memberships) + _member_findings(bodies, memberships)
    found += _member_name_findings(bodies, frames, thrusters, memberships)
    for what, parts in (("frame", frames), ("thruster", thrusters)):
        found += _duplicates(what, (part.name for part in parts))
        for part in parts:
            if part.body not in names:
                place = f"{what} '{part.name}'"
                found.append(
                    error(
                        "unknown-body",
                        place,
                        f"is on body '{part.body}', which does not exist.",
                        nearest(part.body, names),
                    )
                )
    for frame in frames:
        place = f"frame '{frame.name}'"
        found += _finite(place, position=frame.position, rotation=frame.rotation) or _rotation(place, frame.rotation)
        if frame.name in names:
            found.append(
                error("duplicate-name", f"frame '{frame.name}'", "a body has this name already.", "Rename the frame.")
            )
    for thruster in thrusters:
        place = f"thruster '{thruster.name}'"
        found += _finite(place, position=thruster.position, direction=thruster.direction)
        for name in ("max_thrust", "minimum_on_time", "specific_impulse", "rise_time", "fall_time"):
            if not getattr(thruster, name) >= 0:
                value = getattr(thruster, name)
                found.append(error("negative-value", place, f"{name} is {value}; expected zero or more."))
        if not thruster.direction.any():
            found.append(
                error("zero-axis", place, "direction is (0, 0, 0).", "Give the direction of the force on the body.")
            )
    if not any(f.level == "error" for f in found):
        found += immovable(bodies)
        found += unit_slips(bodies)
    return found


def _finite(place: str, **values: Any) -> list[Finding]:
    return [
        error(
            "not-finite", place, f"{name} is {np.asarray(value).tolist()}; expected finite numbers below {LARGEST:g}."
        )
        for name, value in values.items()
        if not (np.abs(value) < LARGEST).all()
    ]


def _rotation(place: str, R: Any) -> list[Finding]:
    if np.abs(R @ R.T - np.eye(3)).max() <= 1e-6 and np.linalg.det(R) > 0:
        return []
    found = f"rotation {R.tolist()} is not a rotation matrix."
    return [error("not-a-rotation", place, found, "Give R with R R^T = 1, det R = 1.")]


def _joint_findings(joint: Joint) -> list[Finding]:
    place = f"joint '{joint.name}'"
    numbers = (
        "position",
        "rotation",
        "axis",
        "axis2",
        "stiffness",
        "rest",
        "damping",
        "friction",
        "backlash",
        "rotor_inertia",
        "gear_ratio",
    )
    found = _finite(place, **{name: getattr(joint, name) for name in numbers})
    if found:
        return found
    for name in ("axis", "axis2")[: joint.motion.axes]:
        if not getattr(joint, name).any():
            found.append(
                error(
                    "zero-axis",
                    place,
                    f"{name} is (0, 0, 0); a {joint.kind} joint needs a direction.",
                    "Give, say, 0 0 1.",
                )
            )
    if not found and joint.kind == "universal" and np.abs(np.cross(joint.axis, joint.axis2)).max() < 1e-9:
        found.append(error("parallel-axes", place, "axis and axis2 are parallel.", "Give two different directions."))
    found += _rotation(place, joint.rotation)
    for name in ("stiffness", "damping", "friction", "backlash", "rotor_inertia"):
        if getattr(joint, name) < 0:
            found.append(error("negative-value", place, f"{name} is {getattr(joint, name)}; expected zero or more."))
    if joint.stiffness > 0 and joint.motion.spins:
        message = (
            f"stiffness is {joint.stiffness}, but a {joint.kind} has no angle that a spring could be stretched by."
        )
        found.append(error("spring", place, message, "Leave it out, or make it a revolute joint."))
    if joint.backlash > 0 and not (joint.stiffness > 0 and joint.motion.single):
        message = f"backlash is {joint.backlash}; play is between the flanks of a spring, of a joint of one coordinate."
        found.append(error("backlash", place, message, "Give the gear's stiffness, or leave backlash out."))
    limits = joint.limits
    if not limits.lower <= limits.upper:
        found.append(
            error("limits", place, f"lower limit {limits.lower} is above upper limit {limits.upper}.", "Exchange them.")
        )
    if not (limits.velocity >= 0 and limits.effort >= 0):
        found.append(
            error(
                "limits",
                place,
                f"velocity limit {limits.velocity} or effort limit {limits.effort} is no limit; expected zero or more.",
            )
        )
    return found


def _role_findings(bodies: Sequence[Body], memberships: Sequence[Membership]) -> list[Finding]:
    """Motors only where there is something to turn, and somewhere to stand."""
    found = []
    roots = {m.base for m in memberships} or {body.name for body in bodies if body.parent is None}
    for body in bodies:
        joint, place = body.joint, f"joint '{body.joint.name}'"
        if joint.driven and body.name in roots:
            message = "driven is true, but this joint connects the base to inertial space, where no motor can stand."
            found.append(error("driven", place, message, "Leave it out, or mount the body on a fixed base."))
        elif joint.driven and not joint.nv:
            message = f"driven is true, but a {joint.kind} joint does not move."
            found.append(error("driven", place, message, "Leave it out."))
        elif joint.driven == "wheel" and joint.kind not in ("revolute", "wheel"):
            message = f"driven is 'wheel', but a {joint.kind} joint spins nothing about one axis."
            found.append(error("driven", place, message, "Make it revolute, or say true."))
    return found


def _member_findings(bodies: Sequence[Body], memberships: Sequence[Membership]) -> list[Finding]:
    """Members are there, once each, side by side in inertial space, and own everything that moves."""
    names = {body.name: body for body in bodies}
    found = _duplicates("member", (m.name for m in memberships))
    ground: set[str] = set()
    for member in memberships:
        place = f"member '{member.name}'"
        if member.base not in names:
            message = f"its base is body '{member.base}', which does not exist."
            found.append(error("unknown-body", place, message, nearest(member.base, names)))
            continue
        below = names[member.base].parent
        while below is not None:
            ground.add(below)
            if names[below].joint.nv:
                message = f"its base '{member.base}' stands on '{below}', which moves; expected inertial space."
                found.append(error("member-base", place, message, "Put spacecraft side by side with gs.together."))
            below = names[below].parent
    owned = {m.base for m in memberships} - ground
    for body in bodies if memberships and not found else ():  # parents come first, but wheels stand last
        if body.name in owned or body.parent in owned:
            owned.add(body.name)
        elif body.name not in ground:
            message = f"belongs to none of the members {', '.join(repr(m.name) for m in memberships)}."
            found.append(
                error("no-member", f"body '{body.name}'", message, "Put spacecraft side by side with gs.together.")
            )
    lost = [m.name for m in memberships if m.base in ground]
    return found + [
        error("member-base", f"member '{name}'", "another member stands on its base.", "Put them side by side.")
        for name in lost
    ]


def _member_name_findings(
    bodies: Sequence[Body], frames: Sequence[Frame], thrusters: Sequence[Thruster], memberships: Sequence[Membership]
) -> list[Finding]:
    """What a member calls its parts: every name stands for a part of the model, and for one alone."""
    known = {
        "body or frame": {body.name for body in bodies} | {frame.name for frame in frames},
        "joint": {joint.name for body in bodies for joint in joints_of(body)},
        "thruster": {thruster.name for thruster in thrusters},
    }
    found = []
    for member in memberships:
        place = f"member '{member.name}'"
        for kind, renamed in member.renamed.items():
            for own, here in renamed.items():
                if here not in known[kind]:
                    message = f"its {kind} '{own}' is '{here}' here, which does not exist."
                    found.append(error("unknown-name", place, message, nearest(here, known[kind])))
            found += _duplicates(f"{place}: {kind}", renamed.values())
    return found


def _included_findings(body: Body) -> list[Finding]:
    """Only the spin inertia of a wheel can be taken out of its carrier again."""
    a, I = body.joint.axis, body.inertia
    if (
        body.joint.kind == "wheel"
        and body.mass == 0
        and np.abs(I - (a @ I @ a) * np.outer(a, a)).max() <= 1e-12 * np.abs(I).max()
    ):
        return []
    return [
        error(
            "included",
            f"body '{body.name}'",
            f"is marked as included in its carrier's mass properties, but is a {body.joint.kind} body of mass "
            f"{body.mass} kg and inertia {body.inertia.tolist()}; expected a wheel given by its spin inertia alone.",
            "Use gs.Wheel(...), or included=False.",
        )
    ]


def _body_findings(body: Body, wheels: Sequence[Body]) -> list[Finding]:
    """`wheels` are those that the body's mass properties include: their inertia is taken out of it."""
    inertia = body.inertia
    for wheel in wheels:
        inertia = inertia - wheel.joint.rotation @ wheel.inertia @ wheel.joint.rotation.T
    after = " after its wheels are taken out" if wheels else ""
    return mass_findings(f"body '{body.name}'", body.mass, body.com, inertia, after, spins=body.joint.kind == "wheel")


def mass_findings(place: str, mass: Any, com: Any, inertia: Any, after: str = "", spins: bool = False) -> list[Finding]:
    """Findings about one body's mass, centre of mass and inertia about it; a wheel that `spins` may be thin."""
    found = _finite(place, mass=mass, com=com, inertia=inertia)
    if found:
        return found
    if mass < 0:
        found.append(error("negative-mass", place, f"mass is {mass} kg; expected zero or more.", "Correct the sign."))
    if np.abs(inertia - inertia.T).max() > 1e-9 * np.abs(inertia).max():
        found.append(
            error(
                "asymmetric-inertia",
                place,
                f"inertia {inertia.tolist()} is not symmetric.",
                "Give xy = yx, xz = zx, yz = zy.",
            )
        )
        return found
    moments = np.linalg.eigvalsh(inertia)
    size = np.abs(moments).max()
    listed = ", ".join(f"{m:.6g}" for m in moments)
    if moments[0] < -1e-9 * size:
        found.append(
            error(
                "negative-moment",
                place,
                f"principal moments of inertia{after} are {listed} kg m^2; none may be negative.",
                "Off-diagonal elements are minus the products of inertia; inertia is about the centre of mass.",
            )
        )
    elif spins:
        pass
    elif moments[0] + moments[1] < moments[2] * (1 - 1e-6):
        found.append(
            warning(
                "triangle",
                place,
                f"principal moments of inertia{after} are {listed} kg m^2: no rigid body has one moment larger than "
                "the sum of the other two.",
                "Check units and signs; results can still be computed.",
            )
        )
    elif mass > 0 and moments[0] <= 1e-12 * size:
        found.append(
            warning(
                "zero-moment",
                place,
                f"principal moments of inertia{after} are {listed} kg m^2: one is zero, as of a point or a thin rod.",
                "Give the body its true inertia; results can still be computed.",
            )
        )
    return found
