"""What a scenario file may hold; docs/scenarios.md describes it key by key. Unknown keys and wrong types are refused."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    WithJsonSchema,
    model_validator,
)

from ..formulations.registry import FORMULATIONS
from .quantities import (
    Acceleration,
    Angle,
    AngularRate,
    Frequency,
    Length,
    Measures,
    Speed,
    Time,
    three,
)

JointValues = dict[str, Measures]
Output = Literal["reaction_wrenches", "momentum", "kinetic_energy", "center_of_mass", "poses", "frames"]


def _real(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ValueError("expected a finite number, without quotes or unit")
    return float(value)


def _positive(value: Any) -> float:
    number = _real(value)
    if not number > 0:
        raise ValueError("expected a number above zero")
    return number


Real = Annotated[float, BeforeValidator(_real)]
Positive = Annotated[float, BeforeValidator(_positive)]


class Table(BaseModel):
    """A table of the file: strict types, no unknown keys."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Start(Table):
    """Where the spacecraft is and how it moves at t = 0; at rest at the origin unless said otherwise."""

    position: three(Length) | None = Field(default=None, description="Of the base, in inertial axes.")  # type: ignore[valid-type]
    quaternion: Annotated[list[Real], Field(min_length=4, max_length=4)] | None = Field(
        default=None, description="Of the base, scalar first."
    )
    rpy: three(Angle) | None = Field(default=None, description="Roll, pitch, yaw of the base, instead of a quaternion.")  # type: ignore[valid-type]
    angular_velocity: three(AngularRate) | None = Field(default=None, description="Of the base, in base axes.")  # type: ignore[valid-type]
    velocity: three(Speed) | None = Field(default=None, description="Of the base, in base axes.")  # type: ignore[valid-type]
    joints: JointValues = Field(default_factory=dict, description='Positions by joint: { joint_1 = "30 deg" }.')
    rates: JointValues = Field(default_factory=dict, description='Rates by joint or wheel: { wheel_1 = "3000 rpm" }.')

    @model_validator(mode="after")
    def _one_attitude(self) -> Start:
        if self.quaternion is not None and self.rpy is not None:
            raise ValueError("quaternion and rpy are both given; keep one")
        if self.quaternion is not None and abs(math.hypot(*self.quaternion) - 1.0) > 1e-6:
            raise ValueError(f"quaternion has norm {math.hypot(*self.quaternion):.9g}; expected 1 within 1e-6")
        return self


def _formulation(name: str) -> str:
    if name not in FORMULATIONS:
        raise ValueError(f"expected one of {', '.join(FORMULATIONS)}")
    return name


Formulation = Annotated[str, AfterValidator(_formulation), WithJsonSchema({"enum": list(FORMULATIONS)})]


class Run(Table):
    """How long, and how it is integrated."""

    duration: Time = Field(description='How long, such as "2 min".')
    save_every: Time | None = Field(
        default=None, description="Time between saved states; a four-hundredth of the run by default."
    )
    integrator: Literal["dop853", "rk45", "gauss16", "rk4", "gauss6"] = "dop853"
    rtol: Positive = Field(default=1e-10, description="Relative tolerance of dop853, rk45 and gauss16.")
    atol: Positive = 1e-12
    step: Time | None = Field(default=None, description="Fixed step; needed by rk4 and gauss6.")
    max_step: Time | None = None
    max_steps: Annotated[int, Field(gt=0)] = 2_000_000
    formulation: Formulation = Field(default="recursive", description="Which equations of motion.")
    conserve: Literal["momentum"] | None = Field(
        default=None, description="Hold the momentum to round-off where nothing acts from outside."
    )
    seed: Annotated[int, Field(ge=0)] = 0

    @model_validator(mode="after")
    def _lengths(self) -> Run:
        for name in ("duration", "save_every", "step", "max_step"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ValueError(f"{name} is {value:g} s; expected more than zero")
        if self.integrator in ("rk4", "gauss6") and self.step is None:
            raise ValueError(f'integrator "{self.integrator}" takes fixed steps: add step = "0.01 s"')
        if self.save_every is not None and self.duration / self.save_every > 2e6:
            raise ValueError("save_every asks for more than two million states; save less often")
        return self


def _gain(value: Any) -> float | dict[str, float]:
    return {str(name): _real(x) for name, x in value.items()} if isinstance(value, dict) else _real(value)


Gain = Annotated[
    float | dict[str, float],
    PlainValidator(_gain),
    WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "object", "additionalProperties": {"type": "number"}}]}),
]


class Control(Table):
    """What makes the joints follow the manoeuvre. Joints that no waypoint and no rate names hold where they start."""

    law: Literal["computed_torque", "pd", "pid", "prescribed"] = Field(
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


class Step(Table):
    """From a time on."""

    at: Time
    joints: Annotated[JointValues, Field(min_length=1)]


class OrbitTable(Table):
    """The reference orbit, which the origin of N follows; Kepler's elements at t = 0."""

    altitude: Length | None = Field(default=None, description="Of a circular orbit, above the planet's equator.")
    semi_major_axis: Length | None = Field(default=None, description="Instead of an altitude.")
    eccentricity: Real = 0.0
    inclination: Angle = 0.0
    node: Angle = Field(default=0.0, description="Right ascension of the ascending node.")
    pericenter: Angle = Field(default=0.0, description="Argument of the pericentre.")
    true_anomaly: Angle = 0.0
    planet: Literal["earth", "moon", "mars"] = "earth"

    @model_validator(mode="after")
    def _one_size(self) -> OrbitTable:
        if (self.altitude is None) == (self.semi_major_axis is None):
            raise ValueError("give either altitude or semi_major_axis")
        if self.altitude is not None and self.eccentricity != 0.0:
            raise ValueError("an orbit with an eccentricity needs a semi_major_axis instead of an altitude")
        return self


class Environment(Table):
    """What acts from outside."""

    orbit: OrbitTable | None = Field(
        default=None, description="Gravity of a planet, differential and with its gradient torque, on every body."
    )

    gravity: three(Acceleration) | None = Field(default=None, description="The same everywhere, in inertial axes.")  # type: ignore[valid-type]


class ActuatorTable(Table):
    """What every motor makes of its command."""

    saturate: bool = True
    lag: Time = 0.0
    rate: Positive | None = Field(default=None, description="Largest change of load, N m/s or N/s.")


class StopTable(Table):
    """Smooth end stops at the joints' limits."""

    stiffness: Positive = 1e4
    damping: Real = 1e2
    width: Positive = 1e-3


class ScenarioTable(Table):
    """A gyrostat scenario: a spacecraft, where it starts, what it does, and how it is integrated."""

    scenario: Literal[1] = Field(default=1, description="Version of the format.")
    name: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    spacecraft: Annotated[str, Field(min_length=1)] = Field(
        description="A file (.urdf, .xml, .toml, .xacro) beside this one, or the name of a bundled spacecraft."
    )
    base: str | None = Field(default=None, description="Kind of the base's joint, in place of the file's.")
    outputs: list[Output] = Field(
        default_factory=list, description="What to keep in the result file besides states and loads."
    )
    locked: list[str] = Field(default_factory=list, description="Joints that stay as they are, whatever the load.")
    mode: Literal["floating", "rotation-floating", "rotation-flying", "translation-flying", "flying"] | None = Field(
        default=None, description="Manoeuvring mode: what may act besides the joints. The rest is refused."
    )
    start: Start = Field(default_factory=lambda: Start())
    run: Run
    control: Control | None = None
    waypoint: list[Step] = Field(default_factory=list, description="Joint positions to be reached at a time, at rest.")
    rate: list[Step] = Field(default_factory=list, description="Joint rates from a time on.")
    torque: list[Step] = Field(
        default_factory=list, description="Joint loads from a time on, added to the control law's."
    )
    environment: Environment = Field(default_factory=lambda: Environment())
    actuators: ActuatorTable | None = None
    stops: StopTable | None = None


TABLES: dict[tuple[str, ...], type[Table]] = {
    (): ScenarioTable,
    ("start",): Start,
    ("run",): Run,
    ("control",): Control,
    ("waypoint",): Step,
    ("rate",): Step,
    ("torque",): Step,
    ("environment",): Environment,
    ("environment", "orbit"): OrbitTable,
    ("actuators",): ActuatorTable,
    ("stops",): StopTable,
}
