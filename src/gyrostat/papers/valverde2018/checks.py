"""What must hold in the experiment of Valverde & Tsiotras (2018), whatever the variant and the formulation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...algebra import Array, dq_dot
from ...formulations import decoupled, dual_quaternion, recursive
from ...model import Spacecraft
from ...simulation import Trajectory
from ...tracing import compile
from ..checks import Check, at_most
from .crafts import END, PULSES, torques
from .experiment import own_momentum


def checks(traj: Trajectory) -> list[Check]:
    """Every law that the experiment obeys in any variant, measured on a run.

    The centre of mass of `decoupled` runs may wander ten times further: it is positions from the joint angles against velocities of
    their own, and those drift apart more where velocities are inertial.
    """
    t, craft, own = traj.time, traj.craft, "own_state" in traj.data
    h = own_momentum(traj) if own else traj.momentum()
    energy, com = traj.kinetic_energy(), traj.center_of_mass()
    loose = 10.0 if own and traj.data.attrs["formulation"] == "decoupled" else 1.0
    early = t <= PULSES[0][0]
    at_rest = max(np.abs(traj.q[early] - traj.q[0]).max(), np.abs(traj.v[early]).max(), energy[early].max())
    calm = [(t >= a) & (t <= b) for a, b in ((5.0, 10.0), (12.0, 20.0), (22.0, END))]
    drift = max(float(np.ptp(energy[window])) for window in calm)
    work = traj.data["work"].values
    found = [
        at_most("nothing moves before the first pulse", at_rest, 0.0),
        at_most("linear momentum", _longest(h[:, 3:]), 1e-12, " N s"),
        at_most("angular momentum about the origin", _longest(h[:, :3]), 1e-12, " N m s"),
        at_most("centre of mass from its start", _longest(com - com[0]), loose * 1e-12, " m"),
        at_most("kinetic energy while no torque acts", drift, 1e-13, " J"),
        at_most("kinetic energy less the work of the torques", float(np.abs(energy - work).max()), 1e-13, " J"),
        at_most(
            "base rate about z against closed form", float(np.abs(traj.v[:, 2] - _base_rate(t)).max()), 1e-14, " rad/s"
        ),
        at_most("accelerations against articulated bodies", _accelerations(traj), 1e-13, " rad/s^2, m/s^2"),
    ]
    if own and traj.data.attrs["formulation"] == "dual_quaternion":
        found += _state_checks(craft, traj.data["own_state"].values)
    return found


def _longest(rows: Array) -> float:
    return float(np.linalg.norm(rows, axis=1).max())


def _base_rate(t: Array) -> Array:
    """Joint 1 turns about z of the base, whose inertia is a sphere's: w_z' = -tau_1 / 50 whatever the arm does."""
    start, stop = PULSES[0]
    return -0.01 * (1.0 - np.cos(np.clip(t, start, stop) - start))


def _accelerations(traj: Trajectory) -> float:
    """This experiment's formulations against `recursive` at the saved states."""
    tau = np.array([torques(traj.craft, t, None, None) for t in traj.time])  # type: ignore[arg-type]
    reference = compile(recursive.forward_dynamics, traj.craft)(traj.q, traj.v, tau)
    return max(
        float(np.abs(compile(module.forward_dynamics, traj.craft)(traj.q, traj.v, tau) - reference).max())
        for module in (dual_quaternion, decoupled)
    )


def _state_checks(craft: Spacecraft, x: Array) -> list[Check]:
    """What holds the redundant state (43) together, integrated or not."""
    pose = np.array([dq_dot(row[:8], row[:8]) for row in x])
    y = x[:, 8 + craft.nq - 7 :].reshape(len(x), -1, 8)
    held = compile(dual_quaternion.joint_constraints, craft, inputs={"x": (x.shape[1],)})(x)
    return [
        at_most("norm of the base's attitude quaternion", float(np.abs(pose[:, 0] - 1.0).max()), 1e-13),
        at_most("real and dual part of the base's pose orthogonal", float(np.abs(0.5 * pose[:, 4]).max()), 1e-13, " m"),
        at_most("velocities that the joints hold", float(np.abs(held).max()), 1e-13, " rad/s, m/s"),
        at_most("scalar rows of the dual velocities", float(np.abs(y[:, :, [0, 4]]).max()), 0.0),
    ]


def condition_numbers(craft: Spacecraft, q: Array) -> Array:
    """2-norm condition of S (57) at each configuration, (times,): figure 5C. It depends on the joint angles alone, and on the units."""
    still, none = np.zeros(craft.nv), np.zeros(craft.nv)
    return np.array([np.linalg.cond(dual_quaternion.assemble(craft, row, still, none).S) for row in q])


def angle_spread(runs: Sequence[Trajectory]) -> float:
    """Largest difference of the joint angles at the end between runs, rad."""
    ends = np.array([traj.q[-1, 7:] for traj in runs])
    return float(np.ptp(ends, axis=0).max())
