"""An engine on a two-axis gimbal: thrust that turns, within an angle and a rate, and what that does to a craft."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..algebra import Array, asin, clip, cos, cross, sin, sqrt, where
from ..kinematics import center_of_mass, forward_kinematics, inertial_poses, jacobian, neutral
from ..model import Spacecraft
from .controller import STATE, Controller, call, standing_for
from .propellant import Tank, burning

Law = Callable[..., Any]


@dataclass(frozen=True, eq=False)
class GimballedEngine:
    """The thruster of that name, its thrust turned by the angles (a, b) about two axes through its nozzle.

    With d0 its direction, x the first axis and y = d0 x x the second, which the first carries along:

        d = exp(x a) exp(y b) d0 = cos a cos b d0 - sin a cos b y + sin b x                                       (1)
        load = J_p^T R_NB f d,   p its position on body B                                                         (2)
        adot = bandwidth (a_wanted - a), held within +-max_rate; a_wanted within +-max_angle                      (3)

    max_angle (rad, below pi/2) and max_rate (rad/s): one number, or one for each axis. first_axis: x, in B; at right
    angles to d0; any by default. The nozzle has no mass here: one that has is a body on two joints, with a Thruster.
    """

    craft: Spacecraft
    thruster: str
    max_angle: Any = 0.1
    max_rate: Any = np.inf
    bandwidth: float = 20.0
    first_axis: Any = None

    def __post_init__(self) -> None:
        angle, rate = (np.asarray(x, dtype=float) for x in (self.max_angle, self.max_rate))
        who = f"gimballed engine '{self.thruster}'"
        if angle.shape not in ((), (2,)) or not ((angle > 0) & (angle < np.pi / 2)).all():
            raise ValueError(f"{who}: max_angle is {self.max_angle}; expected rad, above 0 and below pi/2.")
        if rate.shape not in ((), (2,)) or not (rate > 0).all():
            raise ValueError(f"{who}: max_rate is {self.max_rate}; expected rad/s, above zero.")
        if not 0.0 < self.bandwidth < np.inf:
            raise ValueError(f"{who}: bandwidth is {self.bandwidth}; expected 1/s, above zero.")
        engine = self.craft.thruster(self.thruster)
        if engine.rise_time or engine.fall_time:
            raise ValueError(
                f"{who}: it has a rise_time or fall_time, and thrust is given as it is here. Leave them out."
            )
        if self.first_axis is not None:
            given = np.asarray(self.first_axis, dtype=float)
            if given.shape != (3,) or abs(np.linalg.norm(given) - 1) > 1e-9 or abs(given @ engine.direction) > 1e-9:
                raise ValueError(
                    f"{who}: first_axis is {self.first_axis}; expected a unit vector at right angles to its direction, "
                    f"{np.asarray(engine.direction)}."
                )

    @property
    def axes(self) -> tuple[Array, Array]:
        """x and y, each (3,), in B."""
        d0 = np.asarray(self.craft.thruster(self.thruster).direction, dtype=float)
        if self.first_axis is None:
            x = np.cross(d0, np.eye(3)[np.argmin(np.abs(d0))])
            x = x / np.linalg.norm(x)
        else:
            x = np.asarray(self.first_axis, dtype=float)
        return x, np.cross(d0, x)

    def direction(self, angles: Any) -> Array:
        """d of (1), in B, (3,)."""
        (a, b), (x, y) = angles, self.axes
        d0 = np.asarray(self.craft.thruster(self.thruster).direction)
        return cos(a) * cos(b) * d0 - sin(a) * cos(b) * y + sin(b) * x

    def load(self, craft: Spacecraft, q: Array, thrust: Any, angles: Any) -> Array:
        """(2), (nv,)."""
        engine = craft.thruster(self.thruster)
        R_NB = forward_kinematics(craft, q).R_NB[craft.index(engine.body)]
        turned: Array = jacobian(craft, q, engine.body, engine.position)[3:].T @ (
            R_NB @ (thrust * self.direction(angles))
        )
        return turned

    def angles_for(self, craft: Spacecraft, q: Array, torque: Array, thrust: Any) -> Array:
        """Angles (2,), within their limits, whose torque about the craft's centre of mass comes nearest to `torque`
        (3,), in B; what lies along the arm no deflection gives. Without thrust: 0.

        With r the nozzle from the centre of mass, u = sin b, w = sin a cos b, c = cos a cos b, least squares in u, w:

            f r x (u x - w y) = torque - f c r x d0,   c of the last of three rounds                              (4)
        """
        engine = craft.thruster(self.thruster)
        X = inertial_poses(craft, q)[engine.body]
        r = engine.position - X.R.T @ (center_of_mass(craft, q) - X.p)
        x, y = self.axes
        burns = where(thrust > 0.0, 1.0, 0.0)
        f = where(thrust > 0.0, thrust, 1.0)
        A, B, C = f * cross(r, x), -f * cross(r, y), f * cross(r, np.asarray(engine.direction))
        aa, ab, bb = A @ A, A @ B, B @ B
        most, c = np.sin(np.broadcast_to(np.asarray(self.max_angle, dtype=float), 2)), 1.0
        sin_a = u = 0.0 * f
        for _ in range(3):
            left = torque - c * C
            u = (bb * (A @ left) - ab * (B @ left)) / (aa * bb - ab * ab)
            w = (aa * (B @ left) - ab * (A @ left)) / (aa * bb - ab * ab)
            u = clip(u, -most[1], most[1])
            cos_b = sqrt(1.0 - u * u)
            sin_a = clip(w / cos_b, -most[0], most[0])
            c = cos_b * sqrt(1.0 - sin_a * sin_a)
        return burns * np.array([asin(sin_a), asin(u)])

    def controller(self, torque: Law, thrust: float | Law, *, beside: Law | None = None) -> Controller:
        """torque(craft, t, q, v) -> (3,) N m wanted about the centre of mass, in B; thrust in N, a number or a function
        of the same. The memory is the angles. beside: another law, whose loads are added.
        """
        self._check(thrust)

        def output(craft: Spacecraft, t: Any, q: Array, v: Array, z: Array, **asked: Any) -> Array:
            tau = self.load(craft, q, self._thrust(thrust, (craft, t, q, v), asked), z)
            return tau if beside is None else tau + np.asarray(craft.v(call(beside, (craft, t, q, v), asked), "tau"))

        parts = [(law, 4) for law in (thrust, beside) if callable(law)]
        made = standing_for(output, (*STATE, "z"), *parts) if parts else output
        engine = self.craft.thruster(self.thruster)
        return Controller(made, np.zeros(2), self._servo(torque, thrust), pushes=engine.body != self.craft.base)

    def burning(
        self, torque: Law, thrust: float | Law, tanks: Tank | Sequence[Tank], *, beside: Law | None = None
    ) -> Controller:
        """The same, and the engine burns propellant (`control.burning`): mass and centre of mass follow, and the
        deflection with them. Its memory: the masses used, then the angles.
        """
        self._check(thrust)

        def thrusts(craft: Spacecraft, t: Any, q: Array, v: Array, *, memory: Array, **asked: Any) -> dict[str, Any]:
            f = self._thrust(thrust, (craft, t, q, v), asked)
            return {self.thruster: (f, self.direction(memory))}

        def output(craft: Spacecraft, t: Any, q: Array, v: Array, z: Array, **asked: Any) -> Array:
            return np.zeros(craft.nv) if beside is None else np.asarray(call(beside, (craft, t, q, v), asked))

        made = output if beside is None else standing_for(output, (*STATE, "z"), (beside, 4))
        inner = Controller(made, np.zeros(2), self._servo(torque, thrust))
        asked_of = [(thrust, 4)] if callable(thrust) else []
        return burning(self.craft, standing_for(thrusts, STATE, *asked_of, (with_memory, 0)), tanks, control=inner)

    def _servo(self, torque: Law, thrust: float | Law) -> Law:
        """(3)."""
        rate = np.broadcast_to(np.asarray(self.max_rate, dtype=float), 2)

        def derivative(craft: Spacecraft, t: Any, q: Array, v: Array, z: Array, **asked: Any) -> Array:
            wanted = np.asarray(call(torque, (craft, t, q, v), asked))
            angles = self.angles_for(craft, q, wanted, self._thrust(thrust, (craft, t, q, v), asked))
            return clip(self.bandwidth * (angles - z), -rate, rate)

        parts = [(law, 4) for law in (torque, thrust) if callable(law)]
        return standing_for(derivative, (*STATE, "z"), *parts)

    def _thrust(self, thrust: float | Law, state: tuple[Any, ...], asked: dict[str, Any]) -> Any:
        return call(thrust, state, asked) if callable(thrust) else thrust

    def _check(self, thrust: float | Law) -> None:
        engine = self.craft.thruster(self.thruster)
        who = f"gimballed engine '{self.thruster}'"
        if not callable(thrust) and not 0.0 <= thrust <= engine.max_thrust:
            raise ValueError(f"{who}: thrust is {thrust} N; expected 0 to its max_thrust, {engine.max_thrust} N.")
        X = inertial_poses(self.craft, neutral(self.craft))[engine.body]
        r = engine.position - X.R.T @ (center_of_mass(self.craft, neutral(self.craft)) - X.p)
        x, y = self.axes
        turns = np.stack([np.cross(r, x), np.cross(r, y)]).astype(float)
        if np.linalg.svd(turns)[1][-1] < 1e-6:  # m
            raise ValueError(f"{who}: its arm from the craft's centre of mass, {r}, is such that deflection "
                             "about one of its axes turns nothing. Put it elsewhere.")  # fmt: skip


def with_memory(*, memory: Any) -> None:
    """What thrusts ask for by name under `burning`: the memory of the law that acts beside."""
