"""The right-hand side of a run: dynamics, controller, actuators,
environment and audit as functions of one vector x (layout.py).

With `conserve`, v holds the joint rates alone and the base follows from the momentum, which is a constant of the run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ...algebra import Array
from ...algebra.frozen import frozen
from ...algebra.reals import REAL
from ...constraints import USUAL, AbstractConstraint, Residuals, Stabilisation, constraint_loads, residuals
from ...control import Propellant
from ...control.controller import Controller, call
from ...control.passive import Actuators, Stops, actuator_rate, has_passive_forces, passive_forces, saturated
from ...environment import Environment
from ...formulations.recursive import inverse_dynamics
from ...kinematics import configuration_rate
from ...model import Role, Spacecraft
from . import variations
from .causes import Cause, Instant, causes_of, rates_of
from .layout import Layout
from .loads import Signals, base_from_momentum
from .loads_from_outside import GIVEN
from .varied import Varied, count


class Acting(NamedTuple):
    """On the craft at one instant, but for constraints."""

    command: Array  # (nv,) of the control law
    applied: Array  # (nv,) what motors make of it
    passive: Array  # (nv,) of springs, dampers, friction and stops
    wrenches: Array | None  # (nbodies, 6) of the environment
    follows: Mapping[str, Array]  # accelerations of prescribed joints, by name
    zdot: Array  # of the law's memory
    load_rate: Array  # of the lagging loads
    modal: Array | None = None  # (nv,) of the environment on modal coordinates

    @property
    def tau(self) -> Array:
        """(nv,) of motors, springs, dampers, friction and stops, and of the environment on modal coordinates."""
        own = self.applied + self.passive
        return own if self.modal is None else own + self.modal


@dataclass(frozen=True, eq=False)
class Equations:
    """What is simulated. python_control, python_environment: it cannot be traced;
    its result comes in through x (`fill`).

    laws: keys of the graphs of controller and environment, as they were traced last; empty where there is none.
    loads: places in tau that the control law ever loads, as far as is known; None for all. effects: of events, by name.
    varied: by what the run is differentiated (variations.py).
    own_seed: the seed is no constant of the equations: each run has its own.
    """

    craft: Spacecraft
    control: Controller | None
    environment: Environment | None
    dynamics: Callable[..., Array]
    t0: float
    prescribed: Mapping[str, Any] = field(default_factory=dict)
    actuators: Actuators | None = None
    stops: Stops | None = None
    conserve: bool = False
    seed: int = 0
    inputs: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    parameters: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    python_control: bool = False
    python_environment: bool = False
    constraints: Sequence[AbstractConstraint] = ()
    stabilisation: Stabilisation = USUAL
    laws: tuple[str, str] = ("", "")
    loads: tuple[int, ...] | None = None
    effects: tuple[str, ...] = ()
    varied: tuple[Varied, ...] = ()
    own_seed: bool = False

    @property
    def given(self) -> bool:
        """Loads come from outside, and are held."""
        return self.control is GIVEN

    @property
    def sampled(self) -> bool:
        return self.control is not None and self.control.sampled

    @property
    def propellant(self) -> Propellant | None:
        """What makes the craft lighter as it burns."""
        return (
            None if self.control is None or self.control.propellant is None else self.control.propellant.of(self.craft)
        )

    @property
    def wrenches_act(self) -> bool:
        """Those of an environment, or of constraints."""
        return self.environment is not None or bool(self.constraints)

    @property
    def bends(self) -> bool:
        """The environment acts on modal coordinates."""
        return (
            self.environment is not None and self.environment.modal is not None and bool(self.craft.at(Role.modal).size)
        )

    @cached_property
    def causes(self) -> tuple[Cause, ...]:
        """Who changes momentum and energy."""
        return causes_of(self)

    @property
    def loaded(self) -> tuple[int, ...]:
        """Places in tau that the control law may load."""
        return tuple(range(self.craft.nv)) if self.loads is None else self.loads

    @cached_property
    def layout(self) -> Layout:
        craft = self.craft
        memory = 0 if self.control is None else self.control.state0.size
        columns = count(self.varied)
        sizes = {
            "t": 1,
            "q": craft.nq,
            "v": craft.nv - 6 if self.conserve else craft.nv,
            "z": 0 if self.sampled else memory,
            "load": craft.nv if self.actuators is not None and self.actuators.remembers else 0,
            "integrals": sum(cause.width for cause in self.causes),
        }
        sizes["S"] = columns * sum(sizes[name] for name in ("q", "v", "z", "load"))
        sizes |= {
            "held": craft.nv if self.sampled else 0,
            "held_z": memory if self.sampled else 0,
            "sample": 1 if self.sampled else 0,
            "held S": columns * (craft.nv + memory) if self.sampled else 0,
            "run": 1,
            "epoch": 1,
            "momentum": 6 if self.conserve else 0,
        }
        sizes |= {f"input {name}": int(np.prod(shape, dtype=int)) for name, shape in self.inputs.items()}
        sizes |= {f"value {name}": int(np.prod(shape, dtype=int)) for name, shape in self.parameters.items()}
        sizes["momentum S"] = 6 * columns if self.conserve else 0
        sizes["seed"] = 1 if self.own_seed else 0
        called = self.python_control and not self.sampled
        sizes |= {
            "python tau": craft.nv if called else 0,
            "python zdot": memory if called else 0,
            "python wrenches": 6 * craft.nbodies if self.python_environment else 0,
            "python modal": craft.nv if self.python_environment and self.bends else 0,
        }
        return Layout(sizes)

    # ---- what x means

    def time(self, x: Array) -> Any:
        """As users see it."""
        return x[0] + x[self.layout["epoch"]][0]

    def own_craft(self, x: Array) -> Spacecraft:
        """The spacecraft with the run's own values."""
        at = self.layout
        values = {name: frozen(x[at[f"value {name}"]].reshape(shape)) for name, shape in self.parameters.items()}
        craft = self.craft.with_values(values) if values else self.craft
        return craft if self.propellant is None else self.propellant.left(craft, x[at["z"]])

    def available(self, x: Array) -> dict[str, Any]:
        """What control laws, environments and events may ask for by name."""
        at = self.layout
        values: dict[str, Any] = {n: x[at[f"input {n}"]].reshape(shape)[()] for n, shape in self.inputs.items()}
        values |= {"run": x[at["run"]][0], "seed": x[at["seed"]][0] if self.own_seed else self.seed}
        if self.sampled:
            values["sample"] = x[at["sample"]][0]
        return values

    def velocity(self, x: Array) -> Array:
        """v (nv,), the base from the conserved momentum where that is asked for."""
        at = self.layout
        if not self.conserve:
            return x[at["v"]]
        return base_from_momentum(self.own_craft(x), x[at["q"]], x[at["v"]], x[at["momentum"]])

    def controller(self, x: Array) -> tuple[Array, Array]:
        """Torque, and the rate (continuous) or next value (sampled) of the memory."""
        at, control, craft = self.layout, self.control, self.own_craft(x)
        assert control is not None
        z, available = x[at["held_z" if control.sampled else "z"]], self.available(x)
        if control.sampled:
            available["sample"] = available["sample"] + 1.0  # the one that is being taken
        memory = (z,) if control.remembers else ()
        state = (craft, self.time(x), x[at["q"]], self.velocity(x), *memory)
        tau = _shaped(craft.v(call(control.output, state, available), "tau"), (craft.nv,), "the control law", "tau")
        if self.conserve and self.python_control and np.any(tau[craft.joint(craft.base).v_at] != 0.0):
            raise ValueError("conserve='momentum': the control law loads the base. Return zeros there, or use wheels.")
        advance = control.update if control.sampled else control.derivative
        following = z if advance is None else call(advance, state, available)
        return tau, _shaped(following, control.state0.shape, "the controller's memory", "z")

    def acting(self, x: Array) -> Acting:
        """What law, motors, springs and environment do now, whatever the accelerations."""
        craft, v = self.own_craft(x), self.velocity(x)
        command, applied, zdot, load_rate = self._applied(x, craft, v)
        passive = np.zeros(craft.nv)
        if has_passive_forces(craft, self.stops):
            passive = passive_forces(craft, x[self.layout["q"]], v, self.stops)
        wrenches = None if self.environment is None else self._wrenches(x)
        follows = {name: np.reshape(f(self.time(x)) if callable(f) else f, -1) for name, f in self.prescribed.items()}
        return Acting(command, applied, passive, wrenches, follows, zdot, load_rate, self._modal(x))

    def signals(self, x: Array) -> tuple[Signals, Array, Array]:
        """What acts now; the rate of the controller's memory; the rate of the lagging loads."""
        craft = self.own_craft(x)
        t, q, v = self.time(x), x[self.layout["q"]], self.velocity(x)
        command, applied, passive, outer, follows, zdot, load_rate, modal = acting = self.acting(x)
        tau, wrenches = acting.tau, outer
        held = None
        if self.constraints:
            held = constraint_loads(
                craft,
                t,
                q,
                v,
                tau,
                self.constraints,
                wrenches=wrenches,
                prescribed=follows,
                stabilisation=self.stabilisation,
            )
            wrenches = held.wrenches if wrenches is None else wrenches + held.wrenches
        vdot = self.dynamics(craft, q, v, tau, wrenches=wrenches, prescribed=follows or None)
        if follows:
            tau = inverse_dynamics(craft, q, v, vdot, wrenches=wrenches)
        shown = np.zeros((craft.nbodies, 6)) if wrenches is None else wrenches
        return Signals(q, v, command, tau, shown, vdot, applied, passive, outer, held, zdot, modal), zdot, load_rate

    def _applied(self, x: Array, craft: Spacecraft, v: Array) -> tuple[Array, Array, Array, Array]:
        """The command, what actuators make of it; the rates of the controller's memory and of the lagging loads."""
        command, zdot = self._command(x)
        if self.actuators is None:
            return command, command, zdot, np.zeros(0)
        wanted = saturated(craft, command, v) if self.actuators.saturate else command
        if not self.actuators.remembers:
            return command, wanted, zdot, np.zeros(0)
        load = x[self.layout["load"]]
        return command, load, zdot, actuator_rate(self.actuators, wanted, load)

    def applied(self, x: Array) -> Array:
        """What actuators make of the command, (nv,)."""
        return self._applied(x, self.own_craft(x), self.velocity(x))[1]

    def residuals(self, x: Array) -> Residuals:
        """How far the constraints are from being satisfied."""
        return residuals(self.own_craft(x), self.time(x), x[self.layout["q"]], self.velocity(x), self.constraints)

    def _command(self, x: Array) -> tuple[Array, Array]:
        at = self.layout
        if self.control is None:
            return np.zeros(self.craft.nv), np.zeros(0)
        if self.control.sampled:
            return x[at["held"]], np.zeros(0)
        if self.python_control:
            return x[at["python tau"]], x[at["python zdot"]]
        return self.controller(x)

    def _wrenches(self, x: Array) -> Array:
        if self.python_environment:
            return x[self.layout["python wrenches"]].reshape(-1, 6)
        return self.wrenches(x)

    def wrenches(self, x: Array) -> Array:
        """Of the environment, (nbodies, 6)."""
        assert self.environment is not None
        craft = self.own_craft(x)
        state = (craft, self.time(x), x[self.layout["q"]], self.velocity(x))
        found = craft.wrenches(call(self.environment.wrenches, state, self.available(x)))
        return _shaped(found, (craft.nbodies, 6), "the environment", "wrenches")

    def _modal(self, x: Array) -> Array | None:
        if not self.bends:
            return None
        return x[self.layout["python modal"]] if self.python_environment else self.modal(x)

    def modal(self, x: Array) -> Array:
        """Of the environment on modal coordinates, (nv,)."""
        assert self.environment is not None and self.environment.modal is not None
        state = (self.own_craft(x), self.time(x), x[self.layout["q"]], self.velocity(x))
        loads = call(self.environment.modal, state, self.available(x))
        return _shaped(loads, (self.craft.nv,), "the environment", "modal loads")

    def outside(self, x: Array) -> Array:
        """All that the environment does, in one row."""
        wrenches = self.wrenches(x)
        return np.concatenate([wrenches.ravel(), self.modal(x)]) if self.bends else wrenches

    def potential(self, x: Array) -> Any:
        """Of the environment, in J."""
        assert self.environment is not None and self.environment.potential is not None
        return call(
            self.environment.potential, (self.own_craft(x), self.time(x), x[self.layout["q"]]), self.available(x)
        )

    def fill(self, x: Array) -> None:
        """Write into x (of floats) what has to be computed in Python."""
        at = self.layout
        if at.width("python tau"):
            x[at["python tau"]], x[at["python zdot"]] = self.controller(x)
        if self.python_environment:
            x[at["python wrenches"]] = np.ravel(self.wrenches(x))
            if self.bends:
                x[at["python modal"]] = self.modal(x)

    # ---- functions to trace

    def rhs(self, x: Array) -> Array:
        """d/dt y."""
        now = self.signals(x)
        parts = [self._state_rates(x, *now), rates_of(self.causes, Instant(self, self.own_craft(x), now[0]))]
        if self.varied:
            parts.append(variations.rates(self, x).ravel())
        return np.concatenate(parts)

    def state_rates(self, x: Array) -> Array:
        """d/dt (q, v, z, load)."""
        return self._state_rates(x, *self.signals(x))

    def _state_rates(self, x: Array, signals: Signals, zdot: Array, load_rate: Array) -> Array:
        vdot = signals.vdot[6:] if self.conserve else signals.vdot
        return np.concatenate([configuration_rate(self.own_craft(x), signals.q, signals.v), vdot, zdot, load_rate])

    def update(self, x: Array) -> Array:
        """What a sampled controller holds from now on: torque, memory, number of the sample."""
        held = self.controller(x)
        derivatives = [variations.samples(self, x, held).ravel()] if self.varied else []
        return np.concatenate([*held, x[self.layout["sample"]] + 1.0, *derivatives])

    def event_values(self, functions: tuple[Callable[..., Any], ...]) -> Callable[[Array], Array]:
        """The event functions of (craft, t, q, v), as one function of x."""

        def events(x: Array) -> Array:
            state = (self.own_craft(x), self.time(x), x[self.layout["q"]], self.velocity(x))
            found = [call(f, state, self.available(x)) for f in functions]
            return np.array([_shaped(np.squeeze(value), (), "an event", "a value")[()] for value in found])

        return events


def _shaped(value: Any, shape: tuple[int, ...], who: str, name: str) -> Array:
    """What a user's function returned, numbers or symbols. Raises a ValueError for anything else."""
    found = np.asarray(value)
    unreal = found.dtype == object and any(isinstance(x, complex | None) for x in found.flat)
    if unreal or found.dtype.kind not in REAL:
        raise ValueError(f"{who} returned {name} {' '.join(repr(value).split()):.80}; expected real numbers.")
    if found.shape != shape:
        raise ValueError(f"{who} returned {name} of shape {found.shape}; expected {shape or 'one number'}.")
    return found
