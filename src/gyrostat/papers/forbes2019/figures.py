"""Pictures of the runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...simulation import Trajectory
from ...simulation.phased_run import PhasedRun
from ..panels import drawable, panels
from .nonholonomic import inclination, sleigh_closed_form
from .servicing import MuJoCoDrift
from .tumbling import TIMES, all_tumbles, gains

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def tumble_figure() -> Figure:
    """The motion, how far each parameterisation is from quaternions, and what Gamma amplifies."""
    figure, ((left, middle, right),) = panels(1, 3, "one tumbling body, nineteen parameterisations")
    runs = all_tumbles()
    rates = runs["quaternion"].v[:, :3]
    for k, name in enumerate("xyz"):
        left.plot(TIMES, rates[:, k], label=f"rate {name}")
    left.set(ylabel="angular velocity in B [rad/s]", xlabel="time [s]")
    left.legend(fontsize="small")
    R = runs["quaternion"].frame("body")[0]
    for name, run in runs.items():
        color, width = _line(name)
        off = np.abs(run.frame("body")[0] - R).max(axis=(1, 2))
        if name != "quaternion":
            middle.semilogy(TIMES, drawable(off), color=color, lw=width, label=_label(name))
        right.plot(TIMES, gains(name), color=color, lw=width, label=_label(name))
    middle.axhline(1e-13, color="gray", ls=":", label="required")
    middle.set(ylabel="difference of R_NB from quaternions'", xlabel="time [s]")
    right.set(ylabel="largest element of Gamma", xlabel="time [s]")
    _legend_beside(figure, right, middle)
    return figure


def nonholonomic_figure(sleigh: Trajectory, steady: Trajectory, nodding: Trajectory) -> Figure:
    """Path and rates of the sleigh against the closed form; paths and inclinations of the disc."""
    figure, ((path, rates), (rolling, leaning)) = panels(2, 2, "Chaplygin's sleigh (above), rolling disc (below)")
    V, w = sleigh_closed_form(sleigh.time)
    path.plot(sleigh.q[:, 4], sleigh.q[:, 5])
    path.plot(*sleigh.q[0, 4:6], "o", ms=4, label="start")
    path.set(xlabel="x [m]", ylabel="y [m]", aspect="equal")
    path.legend(fontsize="small")
    rates.plot(sleigh.time, sleigh.v[:, 3], label="speed V [m/s]")
    rates.plot(sleigh.time, sleigh.v[:, 2], label="turn rate w [rad/s]")
    rates.plot(sleigh.time, V, "k--", lw=0.8, label="closed form")
    rates.plot(sleigh.time, w, "k--", lw=0.8)
    rates.set(xlabel="time [s]", ylabel="V, w")
    rates.legend(fontsize="small")
    for run, label in ((steady, "steady"), (nodding, "other spin: nods")):
        rolling.plot(run.q[:, 4], run.q[:, 5], label=label)
        leaning.plot(run.time, np.degrees(inclination(run)), label=label)
    rolling.set(xlabel="x of the centre [m]", ylabel="y [m]", aspect="equal")
    leaning.set(xlabel="time [s]", ylabel="inclination of the plane [deg]")
    rolling.legend(fontsize="small")
    leaning.legend(fontsize="small")
    return figure


def holding_figure(held: Trajectory, theirs: MuJoCoDrift | None) -> Figure:
    """Two arms and a client of 500 kg: joints, loads at the grips, violation and momentum over a minute."""
    figure, ((joints, loads), (open_, drift)) = panels(2, 2, "two six-link arms hold a client of 500 kg")
    time, on = held.time, held.constraint_loads().on_second
    for side, style in (("L", "-"), ("R", "--")):
        for k in (1, 2, 3, 4, 5, 6):
            at = held.craft.joint_named(f"{side}{k}").q_at
            joints.plot(time, np.degrees(held.q[:, at] - held.q[0, at]), style, color=f"C{k}", lw=0.9)
    joints.set(ylabel="change of joint angles [deg]\nleft -, right --", xlabel="time [s]")
    for k, side in enumerate(("left", "right")):
        loads.plot(time, np.linalg.norm(on[:, k, 3:], axis=1), color=f"C{k}", label=f"force, {side} [N]")
        loads.plot(time, np.linalg.norm(on[:, k, :3], axis=1), "--", color=f"C{k}", label=f"torque, {side} [N m]")
    loads.set(ylabel="on the grips", xlabel="time [s]")
    loads.legend(fontsize="small")
    h = held.momentum()
    open_.semilogy(time, drawable(np.abs(held.constraint_residuals().position).max(axis=1)), label="gyrostat")
    drift.semilogy(time, drawable(np.abs(h - h[0]).max(axis=1)), label="gyrostat")
    if theirs is not None:
        open_.semilogy(theirs.time, drawable(theirs.position), label="MuJoCo's weld, RK4, 1 ms")
        drift.semilogy(theirs.time, drawable(theirs.momentum), label="MuJoCo's weld, RK4, 1 ms")
    open_.axhline(1e-10, color="gray", ls=":", label="required")
    open_.set(ylabel="hands off their grips [m, rad]", xlabel="time [s]")
    drift.set(ylabel="change of momentum [N s, N m s]", xlabel="time [s]")
    open_.legend(fontsize="small")
    drift.legend(fontsize="small")
    return figure


def capture_figure(run: PhasedRun) -> Figure:
    """Approach, grasp, detumbling, release."""
    figure, ((gap, rates), (wheels, energy)) = panels(2, 2, "capture of a tumbling client, detumbled by wheels and arm")
    traj, craft = run.trajectory, run.craft
    time = traj.time
    distance = np.linalg.norm(traj.frame("grip_L")[1] - traj.frame("hand_L")[1], axis=1)
    gap.plot(time, distance)
    gap.set(ylabel="grip from hand [m]", xlim=(0, 40))
    for name, label in (("client", "client"), ("bus", "servicer's bus")):
        rates.plot(time, np.linalg.norm(traj.v[:, craft.joint(name).v_at][:, :3], axis=1), label=label)
    rates.set(ylabel="|angular velocity| [rad/s]")
    for k, axis in enumerate("xyz"):
        wheels.plot(time, traj.v[:, craft.nv - 3 + k], label=f"wheel {axis}")
    wheels.set(ylabel="wheel speeds [rad/s]", xlabel="time [s]")
    energy.plot(time, traj.kinetic_energy(), label="kinetic energy")
    energy.plot(
        time,
        traj.kinetic_energy()[0] + traj.data["work"].values,
        "k--",
        lw=0.8,
        label="start + work - loss at the grasp",
    )
    energy.set(ylabel="[J]", xlabel="time [s]")
    jump = run["hold"].capture
    assert jump is not None
    for panel in (gap, rates, wheels, energy):
        for phase in run.phases[1:]:
            panel.axvline(phase.trajectory.time[0], color="gray", ls=":", lw=0.8)
    rates.annotate(
        f"grasp: {np.linalg.norm(jump.on_second[0, 3:]):.2f} N s, {jump.energy_lost:.3f} J lost",
        (run["hold"].trajectory.time[0], rates.get_ylim()[1]),
        textcoords="offset points",
        xytext=(6, -12),
        fontsize="small",
    )
    for panel, where in ((rates, "center right"), (wheels, "upper left"), (energy, "upper left")):
        panel.legend(fontsize="small", loc=where)
    return figure


def _line(name: str) -> tuple[str, float]:
    colors = {
        "direction_cosines": "C0",
        "two_vectors": "C1",
        "quaternion": "C2",
        "axis_angle": "C3",
        "rotation_vector": "C4",
    }
    colors |= {"rodrigues": "C5", "modified_rodrigues": "C6"}
    return colors.get(name, "0.6"), 1.2 if name in colors else 0.7


def _label(name: str) -> str:
    return "Euler angles, 12 sequences" if name.startswith("euler") else name.replace("_", " ")


def _legend_beside(figure: Any, *panels: Any) -> None:
    """One legend for all panels, each label once, at the right."""
    found: dict[str, Any] = {}
    for panel in panels:
        handles, labels = panel.get_legend_handles_labels()
        found |= dict(zip(labels, handles, strict=True))
    figure.legend(found.values(), found.keys(), fontsize="small", loc="outside right center")
