"""The same tumbling motion from nineteen parameterisations:
each integrates its own attitude numbers, by qdot = Gamma w.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from ...algebra import Array, quat_from_rotation
from ...attitude import PARAMETERISATIONS, AbstractParameterisation
from ...formulations.attitude_lagrange import rigid_body
from ...formulations.attitude_lagrange.accelerations import forward_dynamics
from ...formulations.attitude_lagrange.one_body import accelerations
from ...model import Spacecraft
from ..own_state import simulate_own_state
from .crafts import tumbling_body

if TYPE_CHECKING:
    from ...simulation import Trajectory

END = 8.0
TIMES = np.linspace(0.0, END, 161)
# Chosen so that none of the twelve Euler sequences comes near its singularity
ATTITUDE = np.array([0.719, 0.469, -0.513, 0.017])
RATE = np.array([-0.1276, 0.015, -0.126])
VELOCITY = np.array([0.05, -0.02, 0.03])  # of the body's origin, in N


def tumble(name: str, *, rtol: float = 1e-12) -> Trajectory:
    """Forbes' state z = (r; attitude; v_N; w_B) of the free body, integrated as it is."""
    p, craft = PARAMETERISATIONS[name], tumbling_body()
    C = PARAMETERISATIONS["quaternion"].rotation(ATTITUDE / np.linalg.norm(ATTITUDE)).T
    z0 = np.concatenate([np.zeros(3), p.from_C(C), VELOCITY, RATE])

    def rate(craft: Spacecraft, z: Array, tau: Array) -> Array:
        q, nu = z[3 : 3 + p.nq], z[3 + p.nq :]
        part = craft.bodies[0]
        body = rigid_body(part.mass, part.com, part.inertia)
        nudot = accelerations(body, p.C(q), nu[3:], np.zeros(6))
        return np.concatenate([nu[:3], p.Gamma(q) @ nu[3:], nudot])

    return simulate_own_state(
        craft,
        z0,
        rate,
        lambda craft, z: state_of(p, z),
        no_load,
        forward_dynamics,
        TIMES,
        rtol=rtol,
        atol=0.1 * rtol,
        formulation=f"attitude_lagrange, {name}",
    )


def state_of(p: AbstractParameterisation, z: Array) -> tuple[Array, Array]:
    """(q, v) in gyrostat's order."""
    C, nu = p.C(z[3 : 3 + p.nq]), z[3 + p.nq :]
    return np.concatenate([quat_from_rotation(C.T), z[:3]]), np.concatenate([nu[3:], C @ nu[:3]])


def no_load(craft: Spacecraft, t: object, q: Array, v: Array) -> Array:
    """Nothing acts."""
    return np.zeros(craft.nv)


@cache
def all_tumbles() -> dict[str, Trajectory]:
    """By parameterisation."""
    return {name: tumble(name) for name in PARAMETERISATIONS}


def margins() -> dict[str, float]:
    """The smallest margin from each parameterisation's singularity over the motion."""
    own = {name: traj.data["own_state"].values for name, traj in all_tumbles().items()}
    return {name: min(abs(p.margin(z[3 : 3 + p.nq])) for z in own[name]) for name, p in PARAMETERISATIONS.items()}


def gains(name: str) -> Array:
    """Largest element of Gamma over time: what amplifies round-off near a singularity."""
    p = PARAMETERISATIONS[name]
    return np.array([np.abs(p.Gamma(z[3 : 3 + p.nq])).max() for z in all_tumbles()[name].data["own_state"].values])
