"""Thrusters: what they do to the craft, and pulses: on-time in place of thrust, none shorter than the valve can do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..algebra import Array, clip, maximum, minimum, skew, where
from ..kinematics import forward_kinematics, jacobian, neutral
from ..model import Spacecraft
from .allocation import allocate, row_scale
from .controller import STATE, Controller, call, standing_for
from .demands import demand_one, placed
from .imperfection import Place
from .instruments import Instruments, at_a_place
from .plumes import Plumes
from .valves import impulse_of, lags, through_a_valve

G0 = 9.80665  # m/s^2


def thruster_matrix(craft: Spacecraft, q: Array | None = None, *, plumes: Plumes | None = None) -> Array:
    """Generalised force per unit of thrust, (nv, thrusters): tau = thruster_matrix @ thrusts.

    A thruster on a base (of any kind, of any member) makes the wrench F = [p x d; d], H^T F by the base's joint; one on
    another body, J^T d, which needs q. plumes: with what they do to plates; needs q.
    """
    if plumes is not None:
        if q is None:
            raise ValueError("thruster_matrix: what plumes hit depends on q; give it.")
        hits = [plumes.load(craft, q, thruster) for thruster in craft.thrusters]
        return thruster_matrix(craft, q) + np.stack(hits, axis=1)
    columns = []
    roots = {body.name: body.joint for body in craft.roots}
    for thruster in craft.thrusters:
        p, d = thruster.position, thruster.direction
        base = roots.get(thruster.body)
        if base is not None and base.motion.constant_map:
            load = base.motion.H(base.motion.neutral()).T @ np.concatenate([skew(p) @ d, d])
            columns.append(placed(craft, np.arange(craft.nv)[base.v_at], load))
            continue
        if q is None:
            where_it_is = "not on the base" if base is None else f"whose joint is {base.kind}"
            raise ValueError(
                f"thruster '{thruster.name}' sits on '{thruster.body}', {where_it_is}: its effect depends on q; give "
                "it."
            )
        d_N = forward_kinematics(craft, q).R_NB[craft.index(thruster.body)] @ d
        columns.append(jacobian(craft, q, thruster.body, p)[3:].T @ d_N)
    if not columns:
        raise ValueError(
            f"{craft.name} has no thrusters. Give it some: Spacecraft.build(..., thrusters=[gs.Thruster(...)])."
        )
    return np.stack(columns, axis=1)


def thrust_limits(craft: Spacecraft) -> Array:
    """Largest thrusts in N, (thrusters,)."""
    return np.array([t.max_thrust for t in craft.thrusters])


def propellant_rate(craft: Spacecraft, thrusts: Array) -> Any:
    """Propellant used in kg/s: thrust over specific impulse times g0."""
    return sum(f / (t.specific_impulse * G0) for f, t in zip(thrusts, craft.thrusters, strict=True))


def without_propellant(
    craft: Spacecraft, used: Any, *, body: str | None = None, tank: Any = None, gyration: Any = (0.0, 0.0, 0.0)
) -> Spacecraft:
    """The craft with that much less mass, in kg: a point mass taken out of `body` (the base) at `tank` (its centre of
    mass). gyration: the inertia of a kilogram about there, (3,) m^2, where it is no point.

    `burning` does this inside the equations of motion. What leaves takes its own momentum with it.
    """
    B = craft.body(craft.base if body is None else body)
    p = B.com if tank is None else np.asarray(tank)
    mass = B.mass - used
    com = (B.mass * B.com - used * p) / mass

    def about_com(m: Any, r: Array) -> Array:
        return -m * (skew(r) @ skew(r))  # of a point mass

    inertia = B.inertia + about_com(B.mass, B.com - com) - about_com(used, p - com) - used * np.diag(gyration)
    i = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]
    values = {f"{B.name}.mass": mass, f"{B.name}.com": com, f"{B.name}.inertia": np.array([inertia[k] for k in i])}
    return craft.with_values(values)


class PulseReport(NamedTuple):
    """Of a run with pulses, at its end (or each saved time); a row for each thruster where there is one."""

    pulses: Array  # (..., thrusters) how many
    on_time: Array  # (..., thrusters) s
    carried: Array  # (..., thrusters) N s asked for and not made yet: less than the shortest pulse
    unmet: Array  # (..., thrusters) N s asked for beyond continuous thrust, and lost
    missing: Array  # (..., base) load of the base times time that no allocation could make: N m s, N s
    propellant: Array  # (...) kg


@dataclass(frozen=True)
class Pulses:
    """A law's load on the base (its wrench, for a free one), made by the craft's thrusters, which must sit there, in
    pulses.

    Every `period` the wanted wrench is shared among the thrusters (`allocate`). A thruster that shall give f on average
    is on for

        on = (f period + carried) / max_thrust,  if that is at least its minimum on-time; else not at all           (1)

    and what it did not give is carried to the next period. Pulses start with the period and are resolved in `ticks`
    equal parts of it: a part that a pulse covers partly gets the mean thrust, so that impulses are exact. Joints and
    wheels get the law's load, held over each part.

    A thruster with a rise_time and a fall_time gives what its valve lets through; what a pulse gives more or less for
    it counts as carried. Thrusters may sit on any body, where the law sees them to be: loads on the joints that carry
    them come on top of the law's. plumes: plates that are hit, of which the sharing of thrust knows nothing.
    """

    craft: Spacecraft
    period: float
    ticks: int = 10
    plumes: Plumes | None = None

    def __post_init__(self) -> None:
        demand_one(self.craft, "Pulses")
        self._matrix(self.craft, neutral(self.craft))  # refuses what it cannot map
        if self.plumes is not None:
            self.plumes.check(self.craft)
        limits = thrust_limits(self.craft)
        if not np.isfinite(limits.astype(float)).all():
            name = self.craft.thrusters[int(np.flatnonzero(~np.isfinite(limits))[0])].name
            raise ValueError(f"thruster '{name}' has no max_thrust: a pulse's length follows from it. Give it in N.")
        longest = max(t.minimum_on_time for t in self.craft.thrusters)
        if longest > self.period:
            raise ValueError(
                f"period is {self.period} s, shorter than the shortest pulse, {longest} s. Use a longer period."
            )

    @property
    def _n(self) -> int:
        return len(self.craft.thrusters)

    @property
    def _base(self) -> int:
        return self.craft.joints[0].nv

    @property
    def _size(self) -> int:
        """Of the memory: with the thrust that there is, where it takes time to come and go."""
        return 5 * self._n + self._base + 1 + (self._n if lags(self.craft.thrusters) else 0)

    @property
    def _moved(self) -> bool:
        """Thrust loads joints, too."""
        beside = [t.body for t in self.craft.thrusters] + [p.body for p in (self.plumes.plates if self.plumes else ())]
        return any(name != self.craft.base for name in beside)

    def _matrix(self, craft: Spacecraft, q: Array) -> Array:
        """Without plumes."""
        return thruster_matrix(craft, q if self._moved else None)

    def controller(
        self, law: Callable[[Spacecraft, Any, Array, Array], Array], instruments: Instruments | None = None
    ) -> Controller:
        """The sampled controller that makes the base's part of `law` by pulses. instruments: what the law sees in place
        of the state.
        """
        tick = self.period / self.ticks
        if isinstance(law, Controller):
            raise TypeError(
                "Pulses.controller: the law is a Controller; pulses have a memory of their own. Give a function "
                "(craft, t, q, v) -> tau."
            )

        def step(
            craft: Spacecraft, t: Any, q: Array, v: Array, z: Array, *, run: Any, sample: Any, seed: Any, **asked: Any
        ) -> tuple[Array, Array]:
            place = Place(seed, run, sample)
            seen = (q, v) if instruments is None else instruments.read(craft, q, v, place)
            tau = call(law, (craft, t, *seen), {"run": run, "sample": sample, "seed": seed} | asked)
            return self._step(craft, q, seen[0], np.asarray(craft.v(tau, "tau")), z, sample, tick)

        def output(*state: Any, **asked: Any) -> Array:
            return step(*state, **asked)[0]

        def update(*state: Any, **asked: Any) -> Array:
            return step(*state, **asked)[1]

        for function in (output, update):
            standing_for(function, (*STATE, "z"), (law, len(STATE)), (at_a_place, 0))
        return Controller(output, np.zeros(self._size), update=update, period=tick, pushes=self._moved)

    def _step(
        self, craft: Spacecraft, q: Array, seen_q: Array, tau: Array, z: Array, sample: Any, tick: float
    ) -> tuple[Array, Array]:
        """The load of this part of the period, and the memory after it."""
        n, nb = self._n, self._base
        left, carried, pulses, on_time, unmet = (z[k * n : (k + 1) * n] for k in range(5))
        missing, propellant = z[5 * n : 5 * n + nb], z[5 * n + nb]
        limits = thrust_limits(craft)
        shortest = np.array([x.minimum_on_time for x in craft.thrusters])
        scale = row_scale(self._matrix(self.craft, neutral(self.craft))[:nb]) if self._moved else None
        shared = allocate(self._matrix(craft, seen_q)[:nb], tau[:nb], limits, scale=scale)
        wanted = shared.efforts * self.period + carried
        on = np.array([_pulse(x, least, self.period) for x, least in zip(wanted / limits, shortest, strict=True)])
        slow = lags(craft.thrusters)
        given = [impulse_of(t, x) for t, x in zip(craft.thrusters, on, strict=True)] if slow else on * limits
        rest = wanted - np.array(given)
        held_back = maximum(on * limits - np.array(given), 0.0) if slow else 0.0  # by a valve that opens slowly
        keep = minimum(rest, shortest * limits + held_back)
        first = where((sample + 0.5) % self.ticks < 1.0, 1.0, 0.0)  # of the period; else the pulses go on
        left = first * on + (1.0 - first) * left
        carried = first * keep + (1.0 - first) * carried
        unmet = unmet + first * (rest - keep)
        pulses = pulses + first * np.array([where(x > 0.0, 1.0, 0.0) for x in on])
        missing = missing + first * self.period * shared.missing
        now = clip(left, 0.0, tick)
        thrusts, rising = limits * now / tick, np.zeros(0)
        if slow:
            through = [
                through_a_valve(t, before, open_for, tick)
                for t, before, open_for in zip(craft.thrusters, z[-n:], now, strict=True)
            ]
            thrusts, rising = (np.array(part) for part in zip(*through, strict=True))
        used = propellant + propellant_rate(craft, thrusts) * tick
        memory = np.concatenate([left - now, carried, pulses, on_time + now, unmet, missing, [used], rising])
        plumes = self.plumes
        B = self._matrix(craft, q) if plumes is None else thruster_matrix(craft, q, plumes=plumes)
        return B @ thrusts + np.concatenate([np.zeros(nb), tau[nb:]]), memory

    def report(self, run: Any) -> PulseReport:
        """Of a run, at its end; or of the memory (..., 5 n + base + 1) itself, such as that of each saved time,
        `trajectory.data["held_z"].values`.

        A part of the period counts as done when it begins.
        """
        n, nb = self._n, self._base
        memory = self._at_the_end(run) if hasattr(run, "data") and hasattr(run, "craft") else np.asarray(run)
        if memory.shape[-1:] != (self._size,):
            raise ValueError(
                f"Pulses.report: found a memory of shape {memory.shape}; expected (..., {self._size}), that of "
                f"these {n} thrusters. Give it the run of their controller, or that controller's part of a memory."
            )
        _, carried, pulses, on_time, unmet = (memory[..., k * n : (k + 1) * n] for k in range(5))
        return PulseReport(pulses, on_time, carried, unmet, memory[..., 5 * n : 5 * n + nb], memory[..., 5 * n + nb])

    @staticmethod
    def _at_the_end(run: Any) -> Array:
        """The last saved memory of each run of a trajectory."""
        if "held_z" not in run.data:
            raise ValueError("Pulses.report: the run has no sampled law with a memory; was it flown by pulses?")
        memory = np.asarray(run.data["held_z"].values)  # (..., times, memory)
        last = np.isfinite(memory).all(axis=-1).sum(axis=-1) - 1  # after an early end, rows are empty
        found: Array = np.take_along_axis(memory, last[..., None, None], axis=-2)[..., 0, :]
        return found


def _pulse(on: Any, shortest: float, longest: float) -> Any:
    """On-time: none, or at least the shortest. (1)"""
    return where(on >= shortest, where(on > 1e-12, minimum(on, longest), 0.0), 0.0)
