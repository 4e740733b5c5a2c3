"""[control]: the law that makes joints follow the manoeuvre, and its gains."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Union, get_args, get_type_hints

import numpy as np
from pydantic import Discriminator, Field, PlainValidator, Tag, WithJsonSchema, model_validator

from ...algebra import Array
from ...control.controller import Controller, call, standing_for
from ...control.joint_tracking import effective_inertias, joint_computed_torque, joint_pd, joint_pid
from ...control.laws_in_files import LAWS, About
from ...control.references import JointPath
from ...environment import Environment
from ...io.toml.source import Source
from ...io.toml.tables import Name, OneOf, Positive, Table
from ...io.toml.units import Frequency, Time, plain_number
from ...model import Spacecraft, nearest
from ...model.entries import OfJoints
from ..entry_tables import entry_table, made
from .start import joint_values
from .user_code import user_function

DEFAULT_BANDWIDTH = 0.5  # Hz
JOINT_LAWS = {name: name for name in ("computed_torque", "pd", "pid", "prescribed", *LAWS)}


def _gain(value: Any) -> float | dict[str, float]:
    return {str(name): plain_number(x) for name, x in value.items()} if isinstance(value, dict) else plain_number(value)


Gain = Annotated[
    float | dict[str, float],
    PlainValidator(_gain),
    WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "object", "additionalProperties": {"type": "number"}}]}),
]


class Control(Table):
    """What makes the joints follow the manoeuvre. Joints that no waypoint and no rate names hold where they start."""

    law: Annotated[str, OneOf(JOINT_LAWS)] = Field(
        default="computed_torque", description="prescribed: the joints follow exactly, whatever the load."
    )
    bandwidth: Frequency | None = Field(
        default=None, description='How fast errors vanish, such as "0.5 Hz"; chooses the gains.'
    )
    damping: Positive = Field(default=0.8, description="Damping ratio that goes with the bandwidth.")
    kp: Gain | None = Field(
        default=None, description="Gain, one for all joints or by joint: 1/s^2 (computed_torque), N m/rad (pd, pid)."
    )
    kd: Gain | None = None
    ki: Gain | None = None
    period: Time | None = Field(default=None, description="Of a sampled law: its torque is held between samples.")
    joints: list[str] | None = Field(
        default=None, description="Which joints it controls; by default all that have a motor."
    )

    @model_validator(mode="after")
    def _gains(self) -> Control:
        given = [name for name in ("kp", "kd", "ki") if getattr(self, name) is not None]
        if given and self.bandwidth is not None:
            raise ValueError(f"bandwidth and {given[0]} are both given; keep one: a bandwidth chooses the gains")
        if (self.kp is None) != (self.kd is None):
            raise ValueError(f"{'kd' if self.kd is None else 'kp'} is missing beside {given[0]}")
        if self.ki is not None and self.law != "pid":
            raise ValueError(f'ki belongs to law = "pid"; the law is "{self.law}"')
        if self.law == "prescribed" and (given or self.bandwidth is not None or self.period is not None):
            raise ValueError('law = "prescribed" has no gains and no period: leave them out')
        if self.law == "pid" and self.period is not None:
            raise ValueError('period belongs to the laws "pd" and "computed_torque"')
        for name in ("bandwidth", "period"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ValueError(f"{name} is {value:g}; expected more than zero")
        return self


class PythonLaw(Table):
    """A law of one's own: a function (craft, t, q, v) -> tau, or a `Controller`."""

    python: Name = Field(description='A function beside this file: "my_laws.py:law". It is code: --trust runs it.')


def _chosen(given: Any) -> str:
    """Which table a file's [control] is: that of joints where it says nothing, or nothing known."""
    if isinstance(given, PythonLaw) or (isinstance(given, dict) and "python" in given):
        return PythonLaw.__name__
    name = given.get("law") if isinstance(given, dict) else getattr(given, "law", None)
    return entry_table(LAWS, LAWS[name]).__name__ if isinstance(name, str) and name in LAWS else Control.__name__


_TABLES: tuple[type[Table], ...] = (Control, PythonLaw, *(entry_table(LAWS, entry) for entry in LAWS.values()))
AnyControl: Any = Annotated[
    Union[tuple(Annotated[table, Tag(table.__name__)] for table in _TABLES)],  # noqa: UP007
    Discriminator(_chosen),
]


def follows(control: Any) -> bool:
    """Whether joints follow waypoints and rates with it."""
    if isinstance(control, PythonLaw):
        return False
    return isinstance(control, Control) or bool(LAWS[control.law].kind.follows)  # type: ignore[attr-defined]


def named_law(source: Source, control: Any, about: About, place: Any = ("control",)) -> Any:
    """The law of an entry; None where it cannot be made, which goes to the source's report."""
    if isinstance(control, PythonLaw):
        return _own_law(source, control, place)
    kind = LAWS[control.law].kind
    entry = made(kind, control)
    joints = [name for name, hint in get_type_hints(kind, include_extras=True).items() if _of_joints(hint)]
    for name in joints:
        values = joint_values(source, about.craft, (*place, name), getattr(entry, name), "position")
        entry = replace(entry, **{name: values})
    try:
        law = entry.build(about)
        _tried(law, about)
        return law
    except ValueError as error:
        source.error("law", place, f"{control.law}: {error}".rstrip(".") + ".")
        return None


def _tried(law: Any, about: About) -> None:
    """Once, at the start: what the craft lacks for it is said before the run, at its line."""
    given: tuple[Any, ...] = (about.craft, about.t, about.q, about.v)
    if isinstance(law, Controller):
        given = (*given, law.state0) if law.remembers else given
        call(law.output, given, {"run": 0, "sample": 0, "seed": 0})
    else:
        law(*given)


def torquers_of(source: Source, control: Any, about: About, loads: Any) -> Any:
    """The magnetic torquers that go with a named law; None of one without."""
    if isinstance(control, PythonLaw):
        return None
    entry = made(LAWS[control.law].kind, control)
    torquers = entry.torquers(about) if hasattr(entry, "torquers") else None
    if torquers is not None and loads is not None:
        found = "its torquers do not go with open-loop loads."
        source.error("law", ("control",), found, "Leave [[torque]] out.", "dump")
    return torquers


def _own_law(source: Source, control: PythonLaw, place: Any) -> Any:
    law = user_function(source, place, control.python)
    if law is not None and not isinstance(law, Controller) and not callable(law):
        found = f"'{control.python}' is {law!r:.60}; expected a function (craft, t, q, v) -> tau, or a Controller."
        source.error("python", place, found, "", "python")
        return None
    return law


def name_of(control: Any) -> str:
    """Of a law, in words."""
    return str(control.python if isinstance(control, PythonLaw) else control.law)


def _of_joints(hint: Any) -> bool:
    return any(isinstance(mark, OfJoints) for mark in get_args(hint))


def with_loads(law: Any, loads: Any) -> Any:
    """The law, plus loads(t) on top."""
    if loads is None or law is None:
        return law
    if isinstance(law, Controller):
        return replace(
            law,
            output=standing_for(
                lambda c, t, q, v, *z, **asked: law.output(c, t, q, v, *z, **asked) + loads(t),
                law.given,
                (law.output, len(law.given)),
            ),
        )
    return lambda c, t, q, v: law(c, t, q, v) + loads(t)


def prescribed_accelerations(paths: Mapping[str, JointPath]) -> dict[str, Any]:
    """Of each joint, as a function of time."""

    def of(path: JointPath) -> Any:
        return lambda t: np.array([path(t).qddot])

    return {name: of(path) for name, path in paths.items()}


def open_loop(loads: Any) -> Any:
    """The law that puts `loads(t)` on the joints, whatever they do."""
    return lambda craft, t, q, v: loads(t)


def law_of(
    source: Source,
    craft: Spacecraft,
    control: Control,
    q: Array,
    paths: dict[str, JointPath],
    environment: Environment | None,
    loads: Any,
) -> Any:
    """The control law with its gains, plus the open-loop loads."""
    kp, kd, ki = _gains(source, craft, control, q, list(paths))
    law: Any
    if control.law == "pid":
        law = joint_pid(paths, kp, kd, ki)
    elif control.law == "pd":
        law = joint_pd(paths, kp, kd)
    else:
        law = joint_computed_torque(paths, kp, kd, environment=environment)
    law = with_loads(law, loads)
    return law if control.period is None else Controller(law, period=control.period)


def _gains(
    source: Source, craft: Spacecraft, control: Control, q: Array, joints: list[str]
) -> tuple[dict[str, float], dict[str, float], dict[str, float]]:
    """By joint. From a bandwidth w: kp = I w^2, kd = 2 damping I w, ki = kp w / 5, with I = 1 for computed torque."""
    if control.kp is None:
        w = 2 * np.pi * (DEFAULT_BANDWIDTH if control.bandwidth is None else control.bandwidth)
        inertia = dict.fromkeys(joints, 1.0) if control.law == "computed_torque" else effective_inertias(craft, q)
        kp = {name: inertia[name] * w**2 for name in joints}
        ki = (
            {name: kp[name] * w / 5 for name in joints}
            if control.ki is None
            else _by_joint(source, control.ki, joints, "ki")
        )
        return kp, {name: 2 * control.damping * inertia[name] * w for name in joints}, ki
    return (
        _by_joint(source, control.kp, joints, "kp"),
        _by_joint(source, control.kd or 0.0, joints, "kd"),
        _by_joint(source, control.ki or 0.0, joints, "ki"),
    )


def _by_joint(source: Source, gain: float | dict[str, float], joints: list[str], key: str) -> dict[str, float]:
    if not isinstance(gain, dict):
        return dict.fromkeys(joints, gain)
    for name in sorted(gain.keys() - set(joints)):
        source.error("no-such-joint", ("control", key), f"joint '{name}' is not controlled.", nearest(name, joints))
    without = [name for name in joints if name not in gain]
    if without:
        names = ", ".join(f"'{name}'" for name in without)
        source.error("missing-gain", ("control", key), f"has no gain for joint {names}.", f"Add {without[0]} = ...")
    return {name: gain.get(name, 0.0) for name in joints}
