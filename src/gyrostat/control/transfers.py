"""From one relative orbit to another: two impulses, or a thrust that never stops but costs least."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..algebra import Array, cross
from ..environment.hill import from_hill, hill_frame, to_hill
from ..environment.linear_orbits import clohessy_wiltshire, yamanaka_ankersen
from ..environment.orbit import Orbit
from ..model import Spacecraft
from .demands import base_pose, demand_free_base, placed


class Impulse(NamedTuple):
    """A change of velocity at one instant, in the Hill frame of the reference orbit."""

    time: float
    dv_H: Array  # (3,) m/s


def kepler_motion(orbit: Orbit, t0: float, t1: float, rho: Any, rhodot: Any) -> tuple[Array, Array]:
    """Exact two-body relative motion in the Hill frame, from t0 to t1.

    By Kepler's equation of both orbits, so good to the round-off of absolute positions: some nanometres.

    Returns position (3,) in m and velocity (3,) in m/s.
    """
    p, u = from_hill(orbit, t0, np.asarray(rho, dtype=float), np.asarray(rhodot, dtype=float))
    r, v = orbit.state(t0)
    own = Orbit.from_state(r + p, v + u, t0, planet=orbit.planet)
    there, here = own.state(t1), orbit.state(t1)
    return to_hill(orbit, t1, there.r - here.r, there.v - here.v)


def two_impulses(
    orbit: Orbit, t0: float, t1: float, start: tuple[Any, Any], end: tuple[Any, Any], *, exact: bool = True
) -> tuple[Impulse, Impulse]:
    """The impulses at t0 and t1 that lead from (rho, rhodot) to another, in the Hill frame.

    With the transition matrix Phi: dv_0 = Phi_rv^-1 (rho_1 - Phi_rr rho_0) - rhodot_0. exact: corrected until the true
    two-body motion arrives, to the round-off of absolute positions; the linear one misses by separation^2/radius. A
    ValueError if it does not.
    """
    (rho0, u0), (rho1, u1) = _ends("two impulses", t0, t1, start, end)
    Phi = yamanaka_ankersen(orbit, t0, t1)
    if np.linalg.cond(Phi[:3, 3:]) > 1e8:
        half = "" if orbit.e > 1.0 else f", a multiple of half the period ({orbit.period:.6g} s)"
        raise ValueError(
            f"two impulses {t1 - t0:.6g} s apart{half}: not every point can be reached then. Choose another duration."
        )
    u = np.linalg.solve(Phi[:3, 3:], rho1 - Phi[:3, :3] @ rho0)
    arrived = Phi[3:, :3] @ rho0 + Phi[3:, 3:] @ u
    if exact:
        u = _aimed(orbit, t0, t1, rho0, u, rho1)
        _, arrived = kepler_motion(orbit, t0, t1, rho0, u)
    return Impulse(t0, u - u0), Impulse(t1, u1 - arrived)


def _ends(who: str, t0: float, t1: float, start: Any, end: Any) -> list[list[Array]]:
    """(rho, rhodot) at both ends, checked."""
    if not t1 > t0:
        raise ValueError(f"{who}: from {t0} to {t1} s; expected the end after the start.")
    found = []
    for what, pair in (("start", start), ("end", end)):
        arrays = [np.asarray(x, dtype=float) for x in pair]
        if [x.shape for x in arrays] != [(3,), (3,)] or not np.isfinite(arrays).all():
            raise ValueError(f"{who}: {what} is {pair!r}; expected (rho, rhodot), three finite numbers each.")
        found.append(arrays)
    return found


def _aimed(orbit: Orbit, t0: float, t1: float, rho0: Array, u: Array, rho1: Array) -> Array:
    """The rate at t0 with which the true motion passes rho1 at t1: Newton's method, steps halved where they lead away.

    What a change of the rate does at t1 is the transition matrix of the member's own orbit, seen in the frames of the
    reference.
    """
    turns = (t1 - t0) * orbit.n / (2.0 * np.pi)
    # round-off of Kepler's equation grows with the turns
    allowed = np.finfo(float).eps * abs(orbit.a) * (50.0 + 50.0 * turns)
    miss = _miss(orbit, t0, t1, rho0, u, rho1)
    for _ in range(50):
        if np.linalg.norm(miss) <= allowed:
            return u
        if not np.isfinite(miss).all():
            break
        step = np.linalg.solve(_sensitivity(orbit, t0, t1, rho0, u), miss)
        for halvings in range(14):
            ahead = u + step / 2**halvings
            there = _miss(orbit, t0, t1, rho0, ahead, rho1)
            if np.linalg.norm(there) < np.linalg.norm(miss):
                u, miss = ahead, there
                break
        else:
            break
    left = np.linalg.norm(miss)
    how = f"misses by {left:.3g} m (allowed {allowed:.1g} m)" if np.isfinite(left) else "leaves the planet, or meets it"
    raise ValueError(
        f"two impulses: {np.linalg.norm(rho1 - rho0):.6g} m in {t1 - t0:.6g} s; the true motion {how}, however it is "
        "corrected. Choose another duration, a nearer goal, or exact=False for the linear model alone."
    )


def _miss(orbit: Orbit, t0: float, t1: float, rho0: Array, u: Array, rho1: Array) -> Array:
    """rho1 less where the true motion is at t1; infinite where that is no orbit outside the planet."""
    try:
        return rho1 - kepler_motion(orbit, t0, t1, rho0, u)[0]
    except ValueError:
        return np.full(3, np.inf)


def _sensitivity(orbit: Orbit, t0: float, t1: float, rho0: Array, u: Array) -> Array:
    """d rho(t1) / d rhodot(t0) (3, 3) of the true motion."""
    p, w = from_hill(orbit, t0, rho0, u)
    r, v = orbit.state(t0)
    own = Orbit.from_state(r + p, v + w, t0, planet=orbit.planet)
    Phi_rv = yamanaka_ankersen(own, t0, t1)[:3, 3:]  # in the Hill frames of its own orbit
    own_0, own_1 = (hill_frame(*own.state(t)).R_NH for t in (t0, t1))
    ours_0, ours_1 = (hill_frame(*orbit.state(t)).R_NH for t in (t0, t1))
    return ours_1.T @ own_1 @ Phi_rv @ own_0.T @ ours_0


def least_energy_transfer(
    orbit: Orbit, t0: float, t1: float, start: tuple[Any, Any], end: tuple[Any, Any]
) -> Callable[[Any], Array]:
    """Acceleration u(t) (3,) in the Hill frame that leads from (rho, rhodot) to another in t0..t1 with least integral
    of u^2.

        u = B^T Phi(t1, t)^T W^-1 (x_1 - Phi(t1, t0) x_0),   W = integral of Phi B B^T Phi^T

    On circular orbits, where Phi is Clohessy and Wiltshire's in closed form; zero before t0 and after t1. `t` may be a
    symbol.

    Raises ValueError unless the orbit is circular.
    """
    from ..algebra import where

    if orbit.e > 1e-3:
        raise ValueError(f"least_energy_transfer: eccentricity {orbit.e:.3g}; expected a circular orbit (below 1e-3).")
    n = orbit.n
    x0, x1 = (np.concatenate(pair) for pair in _ends("least_energy_transfer", t0, t1, start, end))
    nodes, weights = np.polynomial.legendre.leggauss(64)
    W = np.zeros((6, 6))
    for x, w in zip(nodes, weights, strict=True):
        B = clohessy_wiltshire(n, (t1 - t0) * (1 - x) / 2)[:, 3:]
        W += w * (t1 - t0) / 2 * (B @ B.T)
    scale = np.array([1, 1, 1, n, n, n])  # W holds metres and metres per second
    costate = np.linalg.solve(W / np.outer(scale, scale), (x1 - clohessy_wiltshire(n, t1 - t0) @ x0) / scale) / scale

    def acceleration(t: Any) -> Array:
        u = clohessy_wiltshire(n, t1 - t)[:, 3:].T @ costate
        return where(t < t0, 0.0, where(t > t1, 0.0, 1.0)) * u

    return acceleration


def hill_thrust(orbit: Orbit, acceleration: Callable[[Any], Array], mass: float) -> Callable[..., Array]:
    """A control law (craft, t, q, v) -> tau that pushes a free base at its centre of mass with an acceleration given in
    the Hill frame.

    mass: of what shall be accelerated so, in kg.
    """

    def law(craft: Spacecraft, t: Any, q: Array, v: Array) -> Array:
        base = demand_free_base(craft, "hill_thrust")
        R_NH, _ = hill_frame(*orbit.state(t))
        force = mass * (base_pose(craft, q).R.T @ (R_NH @ acceleration(t)))
        wrench = np.concatenate([cross(craft.body(craft.base).com, force), force])
        return placed(craft, np.arange(base.v_at.start, base.v_at.stop), wrench)

    return law
