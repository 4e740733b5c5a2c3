"""The right-hand side of a run: dynamics, controller, actuators, environment and audit as functions of one vector x.

    x = (t, y, held, parameters),   y = (q, v, z, load, impulse, work)

z: memory of a continuous controller; load: what lagging actuators deliver; impulse and work: integrals for the audit. held: what a
sampled controller holds, its torque and memory. With `conserve`, v holds the joint rates alone and the base follows from the
momentum, which is a parameter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..algebra import Array, Pose, floor, inverse, solve_spd, wrench_to_parent
from ..control.controller import Controller, call
from ..control.passive import Actuators, Stops, actuator_rate, has_passive_forces, passive_forces, saturated
from ..environment import Environment
from ..formulations.recursive import configuration_rate, inverse_dynamics, mass_matrix
from ..formulations.recursive.inverse_dynamics import joint_wrenches
from ..formulations.recursive.kinematics import body_twists, inertial_poses, joint_poses
from ..model import Spacecraft


class Signals(NamedTuple):
    """Everything that acts at one instant, in gyrostat's conventions."""

    q: Array
    v: Array
    command: Array  # (nv,) what the controller asks for
    tau: Array  # (nv,) what acts in the joints: actuators, springs, friction, holding loads
    wrenches: Array  # (nbodies, 6) from the environment
    vdot: Array  # (nv,)


class Layout:
    """Slices of x by name, in order."""

    def __init__(self, sizes: Mapping[str, int]) -> None:
        self.at: dict[str, slice] = {}
        place = 0
        for name, size in sizes.items():
            self.at[name] = slice(place, place + size)
            place += size
        self.size = place

    def __getitem__(self, name: str) -> slice:
        return self.at[name]

    def width(self, name: str) -> int:
        return self.at[name].stop - self.at[name].start


@dataclass(frozen=True, eq=False)
class Equations:
    """What is simulated. `python_control`: the control law cannot be traced, its result comes in through x."""

    craft: Spacecraft
    control: Controller | None
    environment: Environment | None
    dynamics: Callable[..., Array]
    t0: float
    prescribed: Mapping[str, Any] = field(default_factory=dict)
    actuators: Actuators | None = None
    stops: Stops | None = None
    conserve: bool = False
    external_loads: bool = True
    seed: int = 0
    inputs: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    parameters: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    python_control: bool = False

    @property
    def layout(self) -> Layout:
        craft, control = self.craft, self.control
        continuous = control is not None and not control.sampled
        sampled = control is not None and control.sampled
        memory = 0 if control is None else control.state0.size
        sizes = {
            "t": 1,
            "q": craft.nq,
            "v": craft.nv - 6 if self.conserve else craft.nv,
            "z": memory if continuous else 0,
            "load": craft.nv if self.actuators is not None and self.actuators.remembers else 0,
            "impulse": 6 if self.external_loads else 0,
            "work": 1,
            "held": craft.nv if sampled else 0,
            "held_z": memory if sampled else 0,
            "run": 1,
            "momentum": 6 if self.conserve else 0,
        }
        sizes |= {f"input {name}": int(np.prod(shape, dtype=int)) for name, shape in self.inputs.items()}
        sizes |= {f"value {name}": int(np.prod(shape, dtype=int)) for name, shape in self.parameters.items()}
        if self.python_control:
            sizes |= {"python tau": craft.nv, "python zdot": sizes["z"]}
        return Layout(sizes)

    @property
    def state_at(self) -> slice:
        """Where y stands in x."""
        at = self.layout
        return slice(at["q"].start, at["work"].stop)

    @property
    def held_at(self) -> slice:
        at = self.layout
        return slice(at["held"].start, at["held_z"].stop)

    # ---- what x means

    def _craft(self, x: Array) -> Spacecraft:
        """The spacecraft with the run's own values."""
        at = self.layout
        values = {name: x[at[f"value {name}"]].reshape(shape) for name, shape in self.parameters.items()}
        return self.craft.with_values(values) if values else self.craft

    def _available(self, x: Array) -> dict[str, Any]:
        """What control laws, environments and events may ask for by name."""
        at = self.layout
        values: dict[str, Any] = {n: x[at[f"input {n}"]].reshape(shape)[()] for n, shape in self.inputs.items()}
        values |= {"run": x[at["run"]][0], "seed": self.seed}
        if self.control is not None and self.control.sampled:
            values["sample"] = floor((x[0] - self.t0) / self.control.period + 0.5)
        return values

    def velocity(self, x: Array) -> Array:
        """v (nv,), the base from the conserved momentum where that is asked for."""
        at = self.layout
        if not self.conserve:
            return x[at["v"]]
        return base_from_momentum(self._craft(x), x[at["q"]], x[at["v"]], x[at["momentum"]])

    def controller(self, x: Array) -> tuple[Array, Array]:
        """Torque, and the rate (continuous) or next value (sampled) of the memory."""
        at, control, craft = self.layout, self.control, self._craft(x)
        assert control is not None
        z = x[at["held_z"]] if control.sampled else x[at["z"]]
        memory = (z,) if control.state0.size or control.derivative or control.update else ()
        state = (craft, x[0], x[at["q"]], self.velocity(x), *memory)
        available = self._available(x)
        tau = _shaped(call(control.output, state, available), craft.nv, "the control law", "tau")
        advance = control.update if control.sampled else control.derivative
        following = z if advance is None else np.asarray(call(advance, state, available))
        return tau, _shaped(following, control.state0.size, "the controller's memory", "z")

    def signals(self, x: Array) -> tuple[Signals, Array, Array]:
        """What acts now; the rate of the controller's memory; the rate of the lagging loads."""
        at, craft = self.layout, self._craft(x)
        t, q, v = x[0], x[at["q"]], self.velocity(x)
        zdot: Array = np.zeros(at.width("z"))
        if self.control is None:
            command: Array = np.zeros(craft.nv)
        elif self.python_control:
            command, zdot = x[at["python tau"]], x[at["python zdot"]]
        elif self.control.sampled:
            command = x[at["held"]]
        else:
            command, zdot = self.controller(x)
        applied, load_rate = command, np.zeros(0)
        if self.actuators is not None:
            wanted = saturated(craft, command, v) if self.actuators.saturate else command
            applied = wanted
            if self.actuators.remembers:
                applied = x[at["load"]]
                load_rate = actuator_rate(self.actuators, wanted, applied)
        tau = applied + passive_forces(craft, q, v, self.stops) if has_passive_forces(craft, self.stops) else applied
        wrenches = self._wrenches(craft, x, t, q, v)
        follows = {name: np.reshape(self._motion(f, t), -1) for name, f in self.prescribed.items()}
        vdot = self.dynamics(craft, q, v, tau, wrenches=wrenches, prescribed=follows or None)
        if follows:
            tau = inverse_dynamics(craft, q, v, vdot, wrenches=wrenches)
        shown = np.zeros((craft.nbodies, 6)) if wrenches is None else wrenches
        return Signals(q, v, command, tau, shown, vdot), zdot, load_rate

    def _wrenches(self, craft: Spacecraft, x: Array, t: Any, q: Array, v: Array) -> Array | None:
        if self.environment is None:
            return None
        wrenches = np.asarray(call(self.environment.wrenches, (craft, t, q, v), self._available(x)))
        if wrenches.shape != (craft.nbodies, 6):
            raise ValueError(
                f"the environment returned shape {wrenches.shape}; expected wrenches ({craft.nbodies}, 6)."
            )
        return wrenches

    @staticmethod
    def _motion(f: Any, t: Any) -> Any:
        return f(t) if callable(f) else f

    # ---- functions to trace

    def rhs(self, x: Array) -> Array:
        """d/dt y."""
        signals, zdot, load_rate = self.signals(x)
        craft, q, v = self._craft(x), signals.q, signals.v
        parts = [configuration_rate(craft, q, v), signals.vdot[6:] if self.conserve else signals.vdot, zdot, load_rate]
        if self.external_loads:
            parts.append(external_wrench(craft, signals))
        return np.concatenate([*parts, [power(craft, signals)]])

    def update(self, x: Array) -> Array:
        """What a sampled controller holds from now on: torque and memory."""
        return np.concatenate(self.controller(x))

    def event_values(self, functions: tuple[Callable[..., Any], ...]) -> Callable[[Array], Array]:
        """The event functions of (craft, t, q, v), as one function of x."""

        def events(x: Array) -> Array:
            state = (self._craft(x), x[0], x[self.layout["q"]], self.velocity(x))
            return np.array([call(f, state, self._available(x)) for f in functions])

        return events


def _shaped(value: Any, size: int, who: str, name: str) -> Array:
    value = np.asarray(value)
    if value.shape != (size,):
        raise ValueError(f"{who} returned {name} of shape {value.shape}; expected ({size},).")
    return value


def external_wrench(craft: Spacecraft, s: Signals) -> Array:
    """Wrench of everything outside the craft, about the inertial origin, in N: what the momentum changes by, (6,)."""
    X_NB = inertial_poses(craft, s.q)
    base = craft.base
    if craft.joint(base).kind == "free":
        on_base = s.tau[craft.joint(base).v_at]
    else:
        on_base = joint_wrenches(craft, s.q, s.v, s.vdot, s.wrenches)[base]
    total = wrench_to_parent(X_NB[base], on_base)
    for (B, _), wrench in zip(craft.base_to_tip, s.wrenches, strict=True):
        if any(not (isinstance(w, float) and w == 0.0) for w in wrench):
            total = total + wrench_to_parent(X_NB[B], wrench)
    return total


def power(craft: Spacecraft, s: Signals) -> Any:
    """Power of all loads in W: what the kinetic energy changes by."""
    V = body_twists(craft, s.q, s.v, joint_poses(craft, s.q))
    total = s.tau @ s.v
    for (B, _), wrench in zip(craft.base_to_tip, s.wrenches, strict=True):
        total = total + wrench @ V[B]
    return total


def base_from_momentum(craft: Spacecraft, q: Array, joint_rates: Array, momentum_N: Array) -> Array:
    """v (nv,) with those joint rates and the momentum [angular; linear] about the inertial origin, for a free base.

    In the base's frame: h = M_bb v_b + M_bj v_j.
    """
    X_NB = Pose(*craft.joint(craft.base).pose(q))
    M = mass_matrix(craft, q)
    h = wrench_to_parent(inverse(X_NB), momentum_N) - M[:6, 6:] @ joint_rates
    return np.concatenate([solve_spd(M[:6, :6], h), joint_rates])
