"""A formation's motion as the Trajectory of one spacecraft, the virtual tree: what reports, files,
plots and scenes take.

The leader's base is the tree's base; every follower's base is on a free joint whose coordinates are its relative pose.
Loads on members' bases appear as external wrenches, as they are: nothing passes through the virtual joints.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..algebra import Array
from ..formulations.recursive import forward_dynamics
from ..formulations.spatial_forms import virtual_tree
from ..model import Spacecraft
from ..simulation.engine.status import Status
from ..simulation.engine.system import State
from ..simulation.result.burnt import BURNT
from ..simulation.result.dataset import coordinates
from ..simulation.result.trajectory import Trajectory
from ..tracing import compile
from .told import relative_motion, what_happened

if TYPE_CHECKING:
    import xarray

    from .trajectory import FormationTrajectory

MOST = 50  # members of a tree: beyond, look at groups


def as_tree(run: FormationTrajectory, leader: str | None = None) -> Trajectory:
    """States, loads and audit integrals of all members, about `leader` (the first member by default)."""
    formation = run.formation
    leader = formation.names[0] if leader is None else leader
    formation.place(leader)
    burning = [g for g, trajectory in run.groups.items() if trajectory.data.attrs.get(BURNT)]
    if burning:
        raise ValueError(
            f"the craft of group '{burning[0]}' burn propellant, and a tree of members has one mass for all times. "
            f"Look at run.groups['{burning[0]}'] instead."
        )
    if len(formation) > MOST:
        raise ValueError(
            f"a tree of {len(formation)} members is too large; {MOST} at most. Look at run.groups instead."
        )
    craft = virtual_tree(formation.crafts, leader)
    q, v = tree_states(run, craft, leader)
    tau, wrenches = _loads(run, craft)
    vdot = compile(forward_dynamics, craft, inputs={"wrenches": None})(q, v, tau, wrenches=wrenches)
    data = _dataset(run, craft, q, v, tau, wrenches, vdot)
    data = data.assign(relative_motion(run, leader))
    data.attrs |= what_happened(run, leader)
    return Trajectory(
        craft,
        data,
        _state(run),
        np.zeros((1, 1)),
        interrupted=run.interrupted,
    )


def tree_states(run: FormationTrajectory, craft: Spacecraft, leader: str) -> tuple[Array, Array]:
    """q (times, nq) and v (times, nv) of the tree."""
    q, v = np.zeros((len(run.time), craft.nq)), np.zeros((len(run.time), craft.nv))
    first = run.member(leader)
    for name in run.formation:
        member = run.member(name)
        for joint in member.craft.joints:
            here = craft.joint_named(f"{name}/{joint.name}")
            q[:, here.q_at], v[:, here.v_at] = member.q[:, joint.q_at], member.v[:, joint.v_at]
        if name != leader:
            seen = run.relative(name, to=leader)
            here = craft.joint_named(f"{name}/{member.craft.joints[0].name}")
            quat = _relative_quaternions(first.q[:, :4], member.q[:, :4])
            q[:, here.q_at] = np.hstack([quat, seen.position])
            v[:, here.v_at] = np.hstack([seen.w_Lj, seen.velocity])
    return q, v


def _relative_quaternions(a: Array, b: Array) -> Array:
    """conj(a) b (times, 4), continuous in time as far as a and b are."""
    s, u, t, w = a[:, :1], -a[:, 1:], b[:, :1], b[:, 1:]
    return np.hstack([s * t - (u * w).sum(axis=1, keepdims=True), s * w + t * u + np.cross(u, w)])


def _loads(run: FormationTrajectory, craft: Spacecraft) -> tuple[Array, Array]:
    """Joint loads (times, nv), and external wrenches (times, nbodies, 6) with those of the bases' actuators."""
    tau, wrenches = np.zeros((len(run.time), craft.nv)), np.zeros((len(run.time), craft.nbodies, 6))
    for group, trajectory in run.groups.items():
        own, outer = trajectory.signals["tau"].values, trajectory.signals["wrenches"].values
        for k, name in enumerate(run.formation.groups[group].names):
            for joint in trajectory.craft.joints[1:]:
                tau[:, craft.joint_named(f"{name}/{joint.name}").v_at] = own[k][:, joint.v_at]
            for i, body in enumerate(trajectory.craft.bodies):
                wrenches[:, craft.index(f"{name}/{body.name}")] = outer[k][:, i]
            wrenches[:, craft.index(f"{name}/{trajectory.craft.base}")] += own[k][:, :6]
    return tau, wrenches


def _dataset(
    run: FormationTrajectory, craft: Spacecraft, q: Array, v: Array, tau: Array, wrenches: Array, vdot: Array
) -> xarray.Dataset:
    import xarray

    groups = list(run.groups.values())
    first = groups[0].data
    work = sum(t.data["work"].values.sum(axis=0) for t in groups)
    impulse = np.array(sum(t.data["impulse"].values.sum(axis=0) for t in groups))
    impulse[:, :3] = np.nan  # about the centre of mass of the whole it is not the sum of those about the members'
    loads = {"units": "N m, N"}
    data = xarray.Dataset(
        {
            "q": (("time", "q_name"), q, {"long_name": "configuration"}),
            "v": (("time", "v_name"), v, {"long_name": "velocity"}),
            "work": (("time",), work, {"units": "J", "long_name": "work of all loads"}),
            "impulse": (
                ("time", "wrench"),
                impulse,
                {"long_name": "impulse of external loads; angular about the centre of mass: not known of the whole"},
            ),
            "command": (("time", "v_name"), tau, loads),
            "tau": (("time", "v_name"), tau, loads | {"long_name": "loads in the joints"}),
            "wrenches": (("time", "body", "wrench"), wrenches, loads | {"long_name": "external wrenches"}),
            "vdot": (("time", "v_name"), vdot, {"units": "rad/s^2, m/s^2", "long_name": "accelerations"}),
        },
        coords=coordinates(craft, run.time),
    )
    failures = tuple(message for t in groups for message in t.failures)
    data.attrs = first.attrs | {"model": craft.name, "inputs": {}, "functions": [], "failures": failures}
    last = int(np.flatnonzero(np.isfinite(q).all(axis=1))[-1])  # that all members have reached
    end = {"t_end": ((), run.time[last]), "q_end": (("q_name",), q[last]), "v_end": (("v_name",), v[last])}
    return data.assign(end)


def _state(run: FormationTrajectory) -> State:
    """What a report says of the run: how far, how many steps. It cannot be continued as a tree."""
    states = [t.state for t in run.groups.values()]
    nothing = np.zeros((1, 0))
    state = State.begin(np.array([min(float(s.t.min()) for s in states)]), nothing, nothing, np.zeros(1))
    state.g, state.of_method, state.measured = nothing, nothing, nothing
    state.steps[:] = sum(s.steps.sum() for s in states)
    state.rejections[:] = sum(s.rejections.sum() for s in states)
    state.status[:] = Status.done if run.ok else max(float(s.status.max()) for s in states)
    return state
