"""What must hold in the experiment of Valverde & Tsiotras (2018), whatever the variant and the formulation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...algebra import Array, dq_dot
from ...formulations import decoupled, dual_quaternion, recursive
from ...model import Spacecraft
from ...simulation import Trajectory, simulate
from ...tracing import compile
from ..checks import Check, at_most
from ..serial_chain import totals
from .crafts import END, PULSES, torques, two_arms
from .experiment import own_momentum, wave
from .tables import chain


def experiment_checks(traj: Trajectory, variant: str) -> list[Check]:
    """Every law that the experiment obeys in any variant, measured on a run; momentum and energy once more with the
    numbers of the paper alone.

    The centre of mass of `decoupled` runs may wander ten times further: it is positions from the joint angles against
    velocities of their own, and those drift apart more where velocities are inertial. In turn their linear momentum is
    linear in the state.
    """
    t, own = traj.time, "own_state" in traj.data
    apart = own and traj.data.attrs["formulation"] == "decoupled"
    h = own_momentum(traj) if own else traj.momentum()
    energy, com = traj.kinetic_energy(), traj.center_of_mass()
    calm = [(t >= a) & (t <= b) for a, b in ((5.0, 10.0), (12.0, 20.0), (22.0, END))]
    drift = max(float(np.ptp(energy[window])) for window in calm)
    work = traj.data["work"].values
    printed = totals(chain(variant), traj.q, traj.v)
    found = [
        at_most("linear momentum", _longest(h[:, 3:]), 3e-14 if apart else 1e-12, " N s"),
        at_most("angular momentum about the origin", _longest(h[:, :3]), 3e-12, " N m s"),
        at_most("centre of mass from its start", _longest(com - com[0]), 1e-11 if apart else 1e-12, " m"),
        at_most(
            "momentum by the paper's numbers", _longest(printed.momentum), 3e-11 if apart else 3e-12, " N s, N m s"
        ),
        at_most("energy by the paper's numbers less work", float(np.abs(printed.energy - work).max()), 3e-13, " J"),
        at_most("kinetic energy while no torque acts", drift, 3e-14, " J"),
        at_most("kinetic energy less the work of the torques", float(np.abs(energy - work).max()), 3e-13, " J"),
        at_most(
            "base rate about z against closed form", float(np.abs(traj.v[:, 2] - _base_rate(t)).max()), 3e-15, " rad/s"
        ),
    ]
    if own and not apart:
        found += _state_checks(traj.craft, traj.data["own_state"].values)
    return found


def _longest(rows: Array) -> float:
    return float(np.linalg.norm(rows, axis=1).max())


def _base_rate(t: Array) -> Array:
    """Joint 1 turns about z of the base, whose inertia is a sphere's: w_z' = -tau_1 / 50 whatever the arm does."""
    start, stop = PULSES[0]
    return -0.01 * (1.0 - np.cos(np.clip(t, start, stop) - start))


def acceleration_check(traj: Trajectory) -> Check:
    """The formulations of the experiment against `recursive` at the saved states."""
    tau = np.array([torques(traj.craft, t, traj.q[0], traj.v[0]) for t in traj.time])
    reference = compile(recursive.forward_dynamics, traj.craft)(traj.q, traj.v, tau)
    worst = max(
        float(np.abs(compile(module.forward_dynamics, traj.craft)(traj.q, traj.v, tau) - reference).max())
        for module in (dual_quaternion, decoupled)
    )
    return at_most("accelerations against articulated bodies", worst, 1e-14, " rad/s^2, m/s^2")


def _state_checks(craft: Spacecraft, x: Array) -> list[Check]:
    """What holds the redundant state (43) together: integrated, not imposed."""
    pose = np.array([dq_dot(row[:8], row[:8]) for row in x])
    held = compile(dual_quaternion.joint_constraints, craft, inputs={"x": (x.shape[1],)})(x)
    return [
        at_most("norm of the base's attitude quaternion", float(np.abs(pose[:, 0] - 1.0).max()), 3e-14),
        at_most("real and dual part of the base's pose orthogonal", float(np.abs(0.5 * pose[:, 4]).max()), 3e-15, " m"),
        at_most("velocities that the joints hold", float(np.abs(held).max()), 1e-13, " rad/s, m/s"),
    ]


def condition_numbers(craft: Spacecraft, q: Array) -> Array:
    """2-norm condition of S (57) at each configuration, (times,): figure 5C.

    It depends on the joint angles alone, and on the units.
    """
    still, none = np.zeros(craft.nv), np.zeros(craft.nv)
    return np.array([np.linalg.cond(dual_quaternion.assemble(craft, row, still, none).S) for row in q])


def angle_spread(runs: Sequence[Trajectory]) -> float:
    """Largest difference of the joint angles at the end between runs, rad."""
    ends = np.array([traj.q[-1, 7:] for traj in runs])
    return float(np.ptp(ends, axis=0).max())


def appendix_checks(t_end: float = 10.0) -> list[Check]:
    """The two arms waved by sines in every joint: momentum, and accelerations against articulated bodies at the end."""
    craft = two_arms()
    traj = simulate(craft, t_span=(0.0, t_end), control=wave, formulation="dual_quaternion", rtol=1e-12, atol=1e-13)
    h = traj.momentum()
    q, v = traj.final
    tau = wave(craft, t_end, q, v)
    a, b = dual_quaternion.forward_dynamics(craft, q, v, tau), recursive.forward_dynamics(craft, q, v, tau)
    return [
        at_most("linear momentum", float(np.abs(h[:, 3:]).max()), 3e-13, " N s"),
        at_most("angular momentum about the origin", float(np.abs(h[:, :3]).max()), 1e-12, " N m s"),
        at_most(
            "accelerations against articulated bodies, relative", float(np.abs(a - b).max() / np.abs(b).max()), 3e-14
        ),
    ]
