"""Propellant that leaves while thrusters burn: mass, centre of mass and inertia follow, inside the equations of motion.

A body with the spatial inertia M - u S, u the propellant used (kg), S that of one kilogram in its tank at p_t, burns
mdot = f / (g0 Isp) from a nozzle at p_n. In its axes, about Bo, with L = p_n - p_t and w its angular velocity:

    thrust f d at p_n;   -2 mdot w x L at (p_t + p_n) / 2                                                    (1)

The second is the Coriolis force of what flows to the nozzle (jet damping), taken to flow straight and steadily. Forces
act on the mass that is there: (M - u S) A + V x* (M - u S) V = F. What leaves takes its momentum and energy along:

    d/dt (M V) = ... - mdot S V,   d/dt (V^T M V / 2) = ... - mdot V^T S V / 2                               (2)

so that the audit's sums close. F. O. Eke, Dynamics of variable mass systems (1999).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..algebra import Array, RigidInertia, cross, rigid_inertia, where
from ..kinematics import forward_kinematics, jacobian
from ..model import Spacecraft, Thruster
from .controller import STATE, Controller, call, standing_for
from .passive import Actuators
from .thrusters import G0, without_propellant
from .valves import lags


@dataclass(frozen=True, eq=False)
class Tank:
    """Propellant on a body. mass: kg at the start, part of the body's own. position: of its centre in B, which stays.

    gyration: the inertia of a kilogram about there along B's axes, (3,) m^2. thrusters: those that it feeds, by name;
    all by default.
    """

    body: str
    mass: float
    position: Any = (0.0, 0.0, 0.0)
    gyration: Any = (0.0, 0.0, 0.0)
    thrusters: Sequence[str] | None = None

    @property
    def one(self) -> RigidInertia:
        """S: of one kilogram, about Bo."""
        return rigid_inertia(
            1.0, np.asarray(self.position, dtype=float), np.diag(np.asarray(self.gyration, dtype=float))
        )


@dataclass(frozen=True, eq=False)
class Propellant:
    """What a law's memory says of the craft: its first entries are the masses used from each tank.

    member: whose bodies the tanks name, of several craft; those of the model if empty.
    """

    tanks: tuple[Tank, ...]
    member: str = ""

    def of(self, craft: Spacecraft) -> Propellant:
        """With the model's names of its bodies."""
        if not self.member:
            return self
        here = craft.member(self.member).here
        return Propellant(tuple(replace(tank, body=here(tank.body)) for tank in self.tanks))

    def used(self, z: Array) -> Array:
        return z[: len(self.tanks)]

    def refuse_motors(self, craft: Spacecraft, actuators: Actuators) -> None:
        """A motor's lag and limit act on its whole row of tau, of which thrust behind the joint is a part."""
        if actuators.remembers:
            raise ValueError(
                "burning: Actuators(lag=...) would delay the thrust, and not what flows. Leave the lag out, or give "
                "motors theirs in the law."
            )
        parents = dict(craft.base_to_tip)
        for tank in self.tanks:
            B: str | None = tank.body
            while actuators.saturate and B is not None:
                joint = craft.joint(B)
                if np.isfinite(joint.limits.effort) or (joint.motion.spins and np.isfinite(joint.limits.velocity)):
                    raise ValueError(
                        f"burning: Actuators() would hold thrust on '{tank.body}' within the effort of joint "
                        f"'{joint.name}', whose motor does not give it. Use Actuators(saturate=False)."
                    )
                B = parents[B]

    def left(self, craft: Spacecraft, z: Array) -> Spacecraft:
        """The craft without what is used."""
        for tank, used in zip(self.tanks, self.used(z), strict=True):
            craft = without_propellant(craft, used, body=tank.body, tank=tank.position, gyration=tank.gyration)
        return craft


def burning(
    craft: Spacecraft,
    thrusts: Callable[..., Any],
    tanks: Tank | Sequence[Tank],
    *,
    control: Callable[..., Any] | Controller | None = None,
) -> Controller:
    """A law under which the craft's thrusters burn propellant.

    thrusts(craft, t, q, v) -> forces in N by the thrusters' names, as they shall be: no limit is set to them. They
    end where a tank is empty. A force may be a pair, (N, direction): a unit vector in the body's axes, of an engine
    that is turned. control: another law that acts beside, whose memory thrusts may ask for by the name `memory`. The
    memory z begins with the masses used.

    Exact with `gs.simulate`, `gs.Simulation`, events, batches, parameters and formations, and as `control.on(member,
    law)` of one of several craft; phases and FMUs refuse it, as does a motor's lag or limit that would act on thrust,
    too.
    """
    tanks = (tanks,) if isinstance(tanks, Tank) else tuple(tanks)
    feeds = _feeds(craft, tanks)
    inner = control if isinstance(control, Controller) or control is None else Controller(control)
    if inner is not None and (inner.sampled or inner.propellant is not None):
        found = "is sampled" if inner.sampled else "burns propellant itself"
        raise ValueError(f"burning: the other law {found}; expected one that acts at all times, without propellant.")
    slow = next((t.name for t in craft.thrusters if lags([t])), None)
    if slow is not None:
        raise ValueError(
            f"burning: thruster '{slow}' has a rise_time or fall_time, and thrusts are given as they are here. Leave "
            "them out, or fly it by control.Pulses."
        )
    n, known = len(tanks), [thruster.name for thruster in craft.thrusters]

    def forces(craft: Spacecraft, t: Any, q: Array, v: Array, z: Array, asked: Mapping[str, Any]) -> dict[str, Any]:
        wanted = call(thrusts, (craft, t, q, v), {**asked, "memory": z[n:]})
        unknown = sorted(set(wanted) - set(known))
        if unknown:
            raise ValueError(f"burning: thrusts names '{unknown[0]}'; the craft's thrusters are {', '.join(known)}.")
        turned = {
            name: f if isinstance(f, tuple) else (f, craft.thruster(name).direction) for name, f in wanted.items()
        }
        return {
            name: (where(z[feeds[name]] < tanks[feeds[name]].mass, f, 0.0 * f), d) for name, (f, d) in turned.items()
        }

    def output(craft: Spacecraft, t: Any, q: Array, v: Array, z: Array, **asked: Any) -> Array:
        tau: Array = np.zeros(craft.nv)
        if inner is not None:
            own = (z[n:],) if inner.remembers else ()
            tau = np.asarray(craft.v(call(inner.output, (craft, t, q, v, *own), asked), "tau"))
        for name, (f, d) in forces(craft, t, q, v, z, asked).items():
            tau = tau + _load(craft, q, v, craft.thruster(name), tanks[feeds[name]], f, d)
        return tau

    def derivative(craft: Spacecraft, t: Any, q: Array, v: Array, z: Array, **asked: Any) -> Array:
        rates: list[Any] = [0.0 * z[0]] * n
        for name, (f, _) in forces(craft, t, q, v, z, asked).items():
            rates[feeds[name]] = rates[feeds[name]] + f / (craft.thruster(name).specific_impulse * G0)
        if inner is None or inner.derivative is None:
            return np.array(rates)
        return np.concatenate([rates, np.asarray(call(inner.derivative, (craft, t, q, v, z[n:]), asked))])

    laws = [(thrusts, 4)] + ([(inner.output, len(inner.given))] if inner is not None else [])
    moving = [(inner.derivative, 5)] if inner is not None and inner.derivative is not None else []
    names = (*STATE, "z")
    state0 = np.concatenate([np.zeros(n), inner.state0 if inner is not None else np.zeros(0)])
    return Controller(
        _without_memory(standing_for(output, names, *laws)),
        state0,
        _without_memory(standing_for(derivative, names, (thrusts, 4), *moving)),
        propellant=Propellant(tanks),
        pushes=inner is not None and inner.pushes,
    )


def _without_memory(function: Any) -> Any:
    """Its signature without `memory`, which is there already."""
    parameters = function.__signature__.parameters.values()
    function.__signature__ = function.__signature__.replace(parameters=[p for p in parameters if p.name != "memory"])
    return function


def _load(craft: Spacecraft, q: Array, v: Array, thruster: Thruster, tank: Tank, f: Any, d: Any) -> Array:
    """Generalised force (nv,) of (1)."""
    p_t, p_n = np.asarray(tank.position, dtype=float), thruster.position
    L, mdot, B = p_n - p_t, f / (thruster.specific_impulse * G0), thruster.body
    R_NB = forward_kinematics(craft, q).R_NB[craft.index(B)]
    J = jacobian(craft, q, B, p_n)
    middle = jacobian(craft, q, B, 0.5 * (p_t + p_n))[3:]
    damping = -2.0 * mdot * cross(R_NB.T @ (J[:3] @ v), L)
    load: Array = J[3:].T @ (R_NB @ (f * d)) + middle.T @ (R_NB @ damping)
    return load


def _feeds(craft: Spacecraft, tanks: tuple[Tank, ...]) -> dict[str, int]:
    """Which tank feeds each thruster."""
    found: dict[str, int] = {}
    if not tanks or not craft.thrusters:
        raise ValueError(f"burning: {craft.name} needs a tank and a thruster; found {len(tanks)} tanks and "
                         f"{len(craft.thrusters)} thrusters.")  # fmt: skip
    for k, tank in enumerate(tanks):
        body = craft.body(tank.body)
        if craft.flexible(tank.body):
            raise ValueError(f"burning: the tank is on flexible body '{tank.body}', whose mass is in its lumps.")
        if not 0.0 < tank.mass < body.mass:
            raise ValueError(
                f"burning: the tank on '{tank.body}' holds {tank.mass} kg; expected above zero, and less than the "
                f"{float(body.mass):.6g} kg of the body, which include it."
            )
        for name in [t.name for t in craft.thrusters] if tank.thrusters is None else tank.thrusters:
            thruster = craft.thruster(name)
            if name in found:
                raise ValueError(f"burning: thruster '{name}' is fed by two tanks; name each tank's thrusters=.")
            if thruster.body != tank.body:
                raise ValueError(
                    f"burning: thruster '{name}' is on '{thruster.body}', its tank on '{tank.body}'; what flows "
                    "between moving bodies is not treated. Put both on one body, and name the tank's thrusters=."
                )
            if not 0.0 < thruster.specific_impulse < np.inf:
                raise ValueError(f"burning: thruster '{name}' has specific_impulse {thruster.specific_impulse} s; "
                                 "expected a finite one.")  # fmt: skip
            found[name] = k
    without = [t.name for t in craft.thrusters if t.name not in found]
    if without:
        raise ValueError(f"burning: no tank feeds thruster '{without[0]}'.")
    return found
