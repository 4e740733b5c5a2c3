"""The experiment of section 4 of Valverde & Tsiotras (2018): three pulses, 70 s, nothing from outside."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from ...algebra import Array, sin
from ...formulations import decoupled, dual_quaternion
from ...kinematics import neutral
from ...model import Spacecraft
from ...simulation import Trajectory, simulate
from ...tracing import compile
from ..own_state import simulate_own_state
from .crafts import END, PULSES, spacecraft, torques

RTOL, ATOL = 2.3e-14, 1e-14  # the paper: 2.22e-14, the floor of its integrator, and 1e-14


class OwnState(NamedTuple):
    """How a formulation's own state begins, changes, reads as (q, v), and what momentum it holds."""

    begin: Any
    rate: Any
    state_of: Any
    momentum: Any
    forward_dynamics: Any


OWN_STATES = {
    "dual_quaternion": OwnState(
        dual_quaternion.paper_state,
        dual_quaternion.paper_state_rate,
        dual_quaternion.state_from_paper,
        dual_quaternion.momentum_of_paper_state,
        dual_quaternion.forward_dynamics,
    ),
    "decoupled": OwnState(
        decoupled.decoupled_state,
        decoupled.decoupled_state_rate,
        decoupled.state_from_decoupled,
        decoupled.momentum_of_decoupled_state,
        decoupled.forward_dynamics,
    ),
}


def run(
    variant: str = "A",
    formulation: str = "dual_quaternion",
    state: Literal["paper", "minimal"] = "paper",
    rtol: float = RTOL,
    atol: float = ATOL,
    *,
    save_every: float = 0.5,
) -> Trajectory:
    """The experiment, 0 to 70 s. Steps end at the switches of the torques and at every saved time,
    so that no row is interpolated.

    state="paper" integrates the formulation's own state: (43) for `dual_quaternion`, inertial velocities for
    `decoupled`; "minimal" ours. `traj.q` and `traj.v` are always ours.
    """
    craft = spacecraft(variant)
    switches = [t for pulse in PULSES for t in pulse]
    times = np.unique(np.concatenate([np.arange(0.0, END, save_every), switches, [END]]))
    q, v = neutral(craft), np.zeros(craft.nv)
    if state == "minimal":
        return simulate(
            craft,
            q,
            v,
            (0.0, END),
            control=torques,
            formulation=formulation,
            breakpoints=times[1:-1],
            save_at=times,
            rtol=rtol,
            atol=atol,
        )
    if state != "paper":
        raise ValueError(f"state '{state}' is not known; expected 'paper' or 'minimal'.")
    if formulation not in OWN_STATES:
        raise ValueError(
            f"formulation '{formulation}' has no state of its own; expected {' or '.join(OWN_STATES)}, or "
            "state='minimal'."
        )
    own = OWN_STATES[formulation]
    return simulate_own_state(
        craft,
        own.begin(craft, q, v),
        own.rate,
        own.state_of,
        torques,
        own.forward_dynamics,
        times,
        rtol=rtol,
        atol=atol,
        formulation=formulation,
    )


def own_momentum(traj: Trajectory) -> Array:
    """[angular; linear] about the inertial origin from the state that was integrated,
    not from q and v, (times, 6): figure 6.
    """
    measure, x = OWN_STATES[traj.data.attrs["formulation"]].momentum, traj.data["own_state"].values

    def momentum(craft: Spacecraft, x: Array) -> Array:
        return measure(craft, x)

    return compile(momentum, traj.craft, inputs={"x": (x.shape[1],)})(x)


def wave(craft: Spacecraft, t: object, q: Array, v: Array) -> Array:
    """Small sines of different frequency in every joint, with some damping: for the appendix's two arms."""
    joints = np.arange(craft.nv - 6)
    push = np.array([0.2 * sin((0.5 + 0.1 * k) * t) for k in joints])  # type: ignore[operator]
    return np.concatenate([np.zeros(6), push - 0.3 * v[6:]])
