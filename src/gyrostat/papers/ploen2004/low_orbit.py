"""A formation in low Earth orbit: free relative orbits, the linear models beside them,
and a reconfiguration by two impulses.
"""

from __future__ import annotations

import numpy as np

from ...algebra import Array
from ...control.transfers import two_impulses
from ...environment import (
    Orbit,
    bounded_velocity,
    clohessy_wiltshire,
    combined,
    two_body_gravity,
    yamanaka_ankersen,
    zonal_gravity,
)
from ...formation import Formation, FormationTrajectory, Group, simulate, simulate_impulses
from .crafts import craft

ORBIT = Orbit.from_elements(6.878e6, 0.005, np.radians(97.4), 0.4, 0.3, 0.2)
NAMES = ("chief", "deputy 1", "deputy 2", "deputy 3", "deputy 4")
RADIUS = 500.0  # m: the deputies start on a circle as projected on the horizontal plane
TURNS = 3


def formation(orbit: Orbit = ORBIT) -> Formation:
    return Formation({"fleet": Group(craft("minisatellite"), NAMES)}, orbit=orbit)


def relative_states(orbit: Orbit = ORBIT, radius: float = RADIUS) -> dict[str, tuple[Array, Array]]:
    """Projected circular orbits: y and z on a circle, x half of z a quarter turn away; equal periods to all orders."""
    n, found = orbit.n, {"chief": (np.zeros(3), np.zeros(3))}
    for k, name in enumerate(NAMES[1:]):
        a = 2 * np.pi * k / (len(NAMES) - 1)
        rho = radius * np.array([0.5 * np.sin(a), np.cos(a), np.sin(a)])
        rhodot = radius * n * np.array([0.5 * np.cos(a), -np.sin(a), np.cos(a)])
        found[name] = (rho, bounded_velocity(orbit, 0.0, rho, rhodot))
    return found


def drift(orbit: Orbit = ORBIT, *, oblate: bool = False, radius: float = RADIUS) -> FormationTrajectory:
    """Free flight for some orbits, over a sphere or over an oblate Earth."""
    fleet = formation(orbit)
    environment = two_body_gravity(orbit)
    if oblate:
        environment = combined(environment, zonal_gravity(orbit))
    return simulate(
        fleet,
        fleet.hill_state(relative_states(orbit, radius)),
        (0.0, TURNS * orbit.period),
        environment=environment,
        rtol=1e-12,
        atol=1e-12,
    )


def linear_error(orbit: Orbit, radius: float) -> float:
    """How far the linear model is from the simulated motion after one orbit,
    relative to the separation, the worst deputy.
    """
    fleet = formation(orbit)
    states = relative_states(orbit, radius)
    t1 = orbit.period
    run = simulate(
        fleet,
        fleet.hill_state(states),
        (0.0, t1),
        environment=two_body_gravity(orbit),
        save_at=[t1],
        rtol=1e-12,
        atol=1e-13,
    )
    Phi = clohessy_wiltshire(orbit.n, t1) if orbit.e == 0.0 else yamanaka_ankersen(orbit, 0.0, t1)
    errors = [
        np.linalg.norm(run.hill(name)[0][-1] - (Phi @ np.concatenate(states[name]))[:3]) / radius for name in NAMES[1:]
    ]
    return float(max(errors))


def reconfigure() -> tuple[FormationTrajectory, float, float]:
    """From a circle of 500 m to one of 200 m by two impulses per deputy, 2000 s apart;
    the error at the end, and the cost in m/s.
    """
    fleet, t0, t1 = formation(), 600.0, 2600.0
    first = relative_states()
    coast = simulate(
        fleet,
        fleet.hill_state(first),
        (0.0, t0),
        environment=two_body_gravity(ORBIT),
        save_at=[t0],
        rtol=1e-12,
        atol=1e-12,
    )
    burns, goals, cost = {}, {}, 0.0
    for name in NAMES[1:]:
        here = coast.hill(name)
        before = (here[0][-1], here[1][-1])
        goal = 0.4 * before[0]
        goals[name] = (goal, bounded_velocity(ORBIT, t1, goal, 0.4 * before[1]))
        burns[name] = two_impulses(ORBIT, t0, t1, before, goals[name])
        cost += sum(float(np.linalg.norm(burn.dv_H)) for burn in burns[name])
    run = simulate_impulses(
        fleet,
        fleet.hill_state(first),
        (0.0, t1 + 2 * ORBIT.period),
        burns,
        environment=two_body_gravity(ORBIT),
        save_at=np.unique([*np.linspace(0.0, t1 + 2 * ORBIT.period, 601), t1]),
        rtol=1e-12,
        atol=1e-12,
    )
    at = int(np.searchsorted(run.time, t1))
    error = max(float(np.linalg.norm(run.hill(name)[0][at] - goals[name][0])) for name in NAMES[1:])
    return run, error, cost
