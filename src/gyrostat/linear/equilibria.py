"""States in which a run stays: accelerations, and the rates of memory and lagging loads, are zero.

Newton's method on the manifold: with r = [vdot; zdot; load_rate; psi] and its exact derivative J by the unknowns d (dq,
dz, dload and loads that are to be found), the smallest correction that would make r zero, halved until r shrinks. Where
it does not, the craft creeps for a while as it would in honey, d' = r in its own coordinates, by steps h that grow as
long as it gets nearer:

    (1 / h - J) dd = r                                                                                               (1)

Springs and gravity alone, it creeps downhill, so that Newton's method starts anew from nearer to a minimum.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..algebra import Array
from ..constraints import AbstractConstraint
from ..control.controller import Controller
from ..control.passive import Actuators, Stops
from ..environment import Environment
from ..model import Role, Spacecraft
from ..simulation.result.dataset import coordinate_names
from ..tracing.linearization import tangent_rates
from .sensitivities import Point, constraint_derivatives, point_at, rate_derivatives, rates

PATIENCE = 10  # steps without getting nearer


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """Where it stays: q and v, the load tau added to the law's command, the law's memory; and how far from zero the
    rates still are.
    """

    q: Array
    v: Array
    tau: Array
    memory: Array
    worst: float


def equilibrium(
    craft: Spacecraft,
    q: Any = None,
    v: Any = None,
    tau: Any = None,
    *,
    t: float = 0.0,
    hold: Sequence[str] = (),
    find_loads: Sequence[str] = (),
    control: Callable[..., Any] | Controller | None = None,
    environment: Callable[..., Any] | Environment | None = None,
    constraints: Sequence[AbstractConstraint] | None = None,
    prescribed: Mapping[str, Any] | None = None,
    locked: Sequence[str] | None = None,
    actuators: Actuators | None = None,
    stops: Stops | None = None,
    formulation: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    inputs: Mapping[str, Any] | None = None,
    seed: Any = None,
    memory: Any = None,
    tolerance: float = 1e-10,
    iterations: int = 60,
) -> Equilibrium:
    """The nearest configuration to q in which nothing accelerates, stable or not, with v and tau as given (zero by
    default).

    v may turn or move the craft as a whole, and wheels: a spinning craft's panels then bend until they follow. hold:
    joints whose coordinates stay as they are. find_loads: joints whose constant load is to be found, which then is part
    of `tau`; give hold=, too, for the load that keeps a joint where it is. Other options are those of `gs.simulate`;
    locked and prescribed joints stay where they are.

    Raises ValueError, with the coordinate that moves most, where there is none nearby.
    """
    point = point_at(locals())
    _demand_steady(point)
    point, r = _settled(point, _unknowns(point, hold, find_loads), tolerance, iterations)
    q, v, memory = (np.asarray(point.part(name), dtype=float) for name in ("q", "v", "z"))
    return Equilibrium(q, v, np.asarray(point.u, dtype=float), memory, float(np.abs(r).max(initial=0.0)))


def _settled(point: Point, unknown: Array, tolerance: float, iterations: int) -> tuple[Point, Array]:
    """The point moved until its residual is nothing, and that."""
    r, h = _residual(point), 0.0
    nearest, waited = np.inf, 0
    for _ in range(iterations):
        size = float(np.linalg.norm(r))
        nearest, waited = (size, 0) if size < 0.99 * nearest else (nearest, waited + 1)
        if np.abs(r).max(initial=0.0) <= tolerance or waited > PATIENCE:
            break
        J = _derivative(point)
        correction = np.zeros(point.size)
        correction[unknown] = -np.linalg.lstsq(J[:, unknown], r, rcond=1e-10)[0]
        ahead = _shortened(point, correction, r)
        if ahead is None:
            h = h or 1.0 / float(np.linalg.norm(J[:, unknown], 2))
            ahead, h = _crept(point, J, r, unknown, h)
        point, r = ahead
    if not np.abs(r).max(initial=0.0) <= tolerance:
        raise ValueError(_stuck(point, r))
    return point, r


def _shortened(point: Point, correction: Array, r: Array) -> tuple[Point, Array] | None:
    """The point corrected, and its residual; None where no part of the correction brings it nearer."""
    for halvings in range(8):
        ahead = _numbers(point.moved(correction / 2**halvings))
        found = _residual(ahead)
        if np.isfinite(found).all() and np.linalg.norm(found) < (1.0 - 0.1 / 2**halvings) * np.linalg.norm(r):
            return ahead, found
    return None


def _crept(point: Point, J: Array, r: Array, unknown: Array, h: float) -> tuple[tuple[Point, Array], float]:
    """A step of (1), in the coordinates that have a rate of their own, and the next one's length."""
    parts = point.parts
    own = unknown[unknown < parts["u"].start]
    # vdot, zdot and load_rate stand where d has dq, dz, dload
    rows = np.where(own < parts["q"].stop, own, own - parts["q"].stop)
    correction = np.zeros(point.size)
    correction[own] = np.linalg.solve(np.eye(len(own)) / h - J[np.ix_(rows, own)], r[rows])
    ahead = _numbers(point.moved(correction))
    found = _residual(ahead)
    if not np.isfinite(found).all():
        return (point, r), h / 8.0
    return (ahead, found), h * float(np.clip(np.linalg.norm(r) / np.linalg.norm(found), 0.5, 2.0))


def _numbers(point: Point) -> Point:
    return Point(point.equations, np.asarray(point.x, dtype=float), np.asarray(point.u, dtype=float))


def _residual(point: Point) -> Array:
    now = rates(point)
    psi = np.zeros(0)
    if point.equations.constraints:
        psi = np.asarray(point.equations.residuals(point.x).position, dtype=float)
    return np.concatenate([now.vdot, now.zdot, now.load_rate, psi])


def _derivative(point: Point) -> Array:
    found = rate_derivatives(point)
    return np.vstack([found["v"], found["z"], found["load"], constraint_derivatives(point)[0]])


def _unknowns(point: Point, hold: Sequence[str], find_loads: Sequence[str]) -> Array:
    craft, parts = point.craft, point.parts
    free = np.zeros(point.size, dtype=bool)
    free[parts["q"]] = tangent_rates(craft, point.part("q"), point.part("v"))[1] > 0
    free[parts["z"]] = free[parts["load"]] = True
    for name in (*hold, *point.equations.prescribed):
        free[parts["q"]][craft.joint_named(name).v_at] = False
    for name in find_loads:
        free[parts["u"]][craft.joint_named(name).v_at] = True
    return np.flatnonzero(free)


def _demand_steady(point: Point) -> None:
    """A joint that turns is no equilibrium, whatever its acceleration; a craft that turns as a whole, or a wheel,
    is.
    """
    craft = point.craft
    steady = craft.at(Role.base, Role.wheel)
    names = coordinate_names(craft)[1]
    for k, rate in enumerate(point.part("v")):
        if k not in steady and rate != 0.0:
            raise ValueError(
                f"v moves '{names[k]}' at {rate:.3g}: no equilibrium. Only the base and wheels may move in one; "
                "set this rate to zero."
            )


def _stuck(point: Point, r: Array) -> str:
    craft = point.craft
    names = coordinate_names(craft)[1]
    worst = int(np.argmax(np.abs(r)))
    what = (
        f"'{names[worst]}' still accelerates by {r[worst]:.3g}"
        if worst < craft.nv
        else f"a rate of {r[worst]:.3g} is left"
    )
    return (
        f"{craft.name} has no equilibrium near here: {what}. Start nearer to one, let go of what is held (hold=), or "
        "let loads be found (find_loads=)."
    )
