"""Gravity as wrenches on bodies, and environments with a potential."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..algebra import Array, cross, transform_point
from ..kinematics import inertial_poses, mass_at, modal_pull
from ..model import Spacecraft


@dataclass(frozen=True, eq=False)
class Environment:
    """wrenches(craft, t, q, v) -> (nbodies, 6), in B about Bo; potential(craft, t, q) -> J, if there is one.

    modal(craft, t, q, v) -> (nv,): what acts on modal coordinates of flexible bodies besides; None: nothing.
    check(craft, t, q): raises a ValueError if a run cannot start there (inside the planet). span: the times between
    which it is known (what it reads from tables); None: all.
    """

    wrenches: Callable[..., Array]
    potential: Callable[..., Any] | None = None
    check: Callable[..., None] | None = None
    span: tuple[float, float] | None = None
    modal: Callable[..., Array] | None = None

    def require_span(self, start: float, end: float) -> None:
        """Raise if a run from start to end leaves what is known."""
        if self.span is None:
            return
        first, last = self.span
        if not (first <= start and end <= last):
            raise ValueError(
                f"environment: the run goes from t = {start:.9g} s to {end:.9g} s, but its tables (Sun, Moon, Earth's "
                f"orientation ...) are known from {first:.9g} s to {last:.9g} s. Make them longer: "
                "Sky(epoch, duration)."
            )


def common_span(*things: Any) -> tuple[float, float] | None:
    """The times that everything with a `span` knows; None: all."""
    spans = [span for thing in things if (span := getattr(thing, "span", None)) is not None]
    return (max(a for a, _ in spans), min(b for _, b in spans)) if spans else None


def gravity_wrenches(craft: Spacecraft, q: Array, g_N: Any) -> Array:
    """Wrench (nbodies, 6) of a gravitational acceleration:
    one for all bodies (3,), or one per body (nbodies, 3), in N.
    """
    g_N = np.asarray(g_N)
    rows = np.broadcast_to(g_N, (craft.nbodies, 3)) if g_N.ndim == 1 else g_N
    X_NB = inertial_poses(craft, q)
    wrenches = []
    for body, g in zip(craft.bodies, rows, strict=True):
        mass, com, _ = mass_at(craft, q, body.name)
        force = mass * (X_NB[body.name].R.T @ g)
        wrenches.append(np.concatenate([cross(com, force), force]))
    return np.array(wrenches)


def modal_loads(craft: Spacecraft, field: Callable[[str], tuple[Array, Array | None]], q: Array) -> Array:
    """What a field does to modal coordinates, (nv,). field(body): acceleration at its centre of mass (3,), and what it
    changes a metre (3, 3) or None, in N.
    """
    loads: list[Any] = [0.0] * craft.nv
    X_NB = inertial_poses(craft, q)
    for body in filter(None, (craft.flexible(one.name) for one in craft.bodies)):
        g_N, G_N = field(body.name)
        R_NB = X_NB[body.name].R
        G_B = None if G_N is None else R_NB.T @ G_N @ R_NB
        loads[body.v_at] = list(modal_pull(body, q, R_NB.T @ g_N, G_B))
    return np.array(loads)


def uniform_gravity(g_N: Any) -> Environment:
    """The same gravitational acceleration g_N (3,), in N, everywhere: an air bearing's tilt, a test on the ground."""
    g = np.asarray(g_N, dtype=float)

    def wrenches(craft: Spacecraft, t: Any, q: Array, v: Array) -> Array:
        return gravity_wrenches(craft, q, g)

    def potential(craft: Spacecraft, t: Any, q: Array) -> Any:
        X_NB = inertial_poses(craft, q)
        own = [(X_NB[body.name], *mass_at(craft, q, body.name)) for body in craft.bodies]
        return -sum(mass * (g @ transform_point(X, com)) for X, mass, com, _ in own)

    def modal(craft: Spacecraft, t: Any, q: Array, v: Array) -> Array:
        return modal_loads(craft, lambda body: (g, None), q)

    return Environment(wrenches, potential, modal=modal)


def combined(*environments: Any) -> Environment:
    """The sum of several environments; it has a potential if all of them have one."""
    parts = [e if isinstance(e, Environment) else Environment(e) for e in environments]

    def wrenches(craft: Spacecraft, t: Any, q: Array, v: Array) -> Array:
        total: Any = np.zeros((craft.nbodies, 6))
        for part in parts:
            total = total + craft.wrenches(part.wrenches(craft, t, q, v))
        return total

    def potential(craft: Spacecraft, t: Any, q: Array) -> Any:
        return sum(part.potential(craft, t, q) for part in parts)  # type: ignore[misc]

    def check(craft: Spacecraft, t: float, q: Array) -> None:
        for part in parts:
            if part.check is not None:
                part.check(craft, t, q)

    def modal(craft: Spacecraft, t: Any, q: Array, v: Array) -> Array:
        total: Any = np.zeros(craft.nv)
        for part in parts:
            if part.modal is not None:
                total = total + part.modal(craft, t, q, v)
        return total

    return Environment(
        wrenches,
        potential if all(part.potential for part in parts) else None,
        check,
        common_span(*parts),
        modal if any(part.modal for part in parts) else None,
    )
