"""[start]: where a spacecraft is at t = 0; and joint values, judged against its joints:
how many numbers, which units.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Annotated

import numpy as np
from pydantic import Field, model_validator

from ...algebra import Array, quat_from_rotation, quat_normalize, rotation_from_rpy
from ...io.toml.source import Source
from ...io.toml.tables import Real, Table
from ...io.toml.text import Place
from ...io.toml.units import Angle, AngularRate, Length, Measure, Measures, Speed, joint_dimension, three
from ...kinematics import neutral
from ...model import Joint, Spacecraft, nearest

JointValues = dict[str, Measures]


class Start(Table):
    """Where the spacecraft is and how it moves at t = 0; at rest at the origin unless said otherwise."""

    position: three(Length) | None = Field(  # type: ignore[valid-type]
        default=None, description="Of the base, in inertial axes."
    )
    quaternion: Annotated[list[Real], Field(min_length=4, max_length=4)] | None = Field(
        default=None, description="Of the base, scalar first."
    )
    rpy: three(Angle) | None = Field(  # type: ignore[valid-type]
        default=None, description="Roll, pitch, yaw of the base, instead of a quaternion."
    )
    angular_velocity: three(AngularRate) | None = Field(  # type: ignore[valid-type]
        default=None, description="Of the base, in base axes."
    )
    velocity: three(Speed) | None = Field(  # type: ignore[valid-type]
        default=None, description="Of the base, in base axes."
    )
    joints: JointValues = Field(default_factory=dict, description='Positions by joint: { joint_1 = "30 deg" }.')
    rates: JointValues = Field(default_factory=dict, description='Rates by joint or wheel: { wheel_1 = "3000 rpm" }.')

    @model_validator(mode="after")
    def _one_attitude(self) -> Start:
        if self.quaternion is not None and self.rpy is not None:
            raise ValueError("quaternion and rpy are both given; keep one")
        if self.quaternion is not None and abs(math.hypot(*self.quaternion) - 1.0) > 1e-6:
            raise ValueError(f"quaternion has norm {math.hypot(*self.quaternion):.9g}; expected 1 within 1e-6")
        return self


def joint_values(
    source: Source, craft: Spacecraft, place: Place, given: Mapping[str, Sequence[Measure]], what: str
) -> dict[str, Array]:
    """{joint: numbers in SI} for what = "position", "rate" or "load"; what is wrong goes to the source's report."""
    values: dict[str, Array] = {}
    names = {joint.name: joint for joint in craft.joints}
    for name, measures in given.items():
        here = (*place, name)
        if name not in names:
            source.error("no-such-joint", place, f"{craft.name} has no joint '{name}'.", nearest(name, names), name)
            continue
        units = _units(names[name], what)
        if len(measures) != len(units):
            source.error(
                "wrong-length",
                place,
                f"{what} of {names[name].kind} joint '{name}' holds {_count(len(measures))}; expected "
                f"{_count(len(units))}" + (f": {_order(names[name], what)}." if len(units) > 1 else "."),
                "A wheel has a rate, but no position." if names[name].motion.spins and not units else "",
                name,
            )
            continue
        numbers = []
        for one, dimension in zip(measures, units, strict=True):
            try:
                numbers.append(one.of(dimension) if dimension else one.plain("a quaternion, scalar first"))
            except ValueError as error:
                source.error("wrong-unit", here, f"{what} of {names[name].kind} joint '{name}' {error}.")
        if len(numbers) == len(units):
            values[name] = np.array(numbers)
    return values


def _units(joint: Joint, what: str) -> list[str]:
    """Dimensions of its numbers; empty for those of a quaternion."""
    units = joint.motion.q_units if what == "position" else joint.motion.v_units
    return [joint_dimension(unit, what) if unit else "" for unit in units]


def _count(n: int) -> str:
    return "one number" if n == 1 else f"{n or 'no'} numbers"


def _order(joint: Joint, what: str) -> str:
    units = joint.motion.q_units if what == "position" else joint.motion.v_units
    return ", ".join(unit or "quaternion" for unit in units)


def _instead(base: Joint, key: str) -> str:
    """How a base that is not free is set."""
    units = base.motion.q_units if key == "joints" else base.motion.v_units
    if not units:
        return "Leave it out."
    order = ", ".join(unit or "quaternion" for unit in units)
    return f"Leave it out, or set its joint by name: {key} = {{ {base.name} = [{order}] }}."


def initial_state(source: Source, craft: Spacecraft, start: Start) -> tuple[Array, Array]:
    """q and v at the start."""
    q, v = neutral(craft), np.zeros(craft.nv)
    base = craft.joints[0]
    given = {n: getattr(start, n) for n in ("position", "quaternion", "rpy", "angular_velocity", "velocity")}
    if base.motion.unbound:
        if start.quaternion is not None:
            q[:4] = quat_normalize(np.array(start.quaternion))
        if start.rpy is not None:
            q[:4] = quat_from_rotation(rotation_from_rpy(np.array(start.rpy)))
        q[4:7] = start.position or q[4:7]
        v[:3] = start.angular_velocity or v[:3]
        v[3:6] = start.velocity or v[3:6]
    else:
        for name in (name for name, value in given.items() if value is not None):
            source.error(
                "wrong-base",
                ("start",),
                f"{name} is that of a free base; {craft.name}'s base is {base.kind}.",
                _instead(base, "rates" if name.endswith("velocity") else "joints"),
                name,
            )
    for name, value in joint_values(source, craft, ("start", "joints"), start.joints, "position").items():
        q[craft.joint_named(name).q_at] = value
    for name, value in joint_values(source, craft, ("start", "rates"), start.rates, "rate").items():
        v[craft.joint_named(name).v_at] = value
    return q, v
