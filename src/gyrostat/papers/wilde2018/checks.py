"""What must hold in the two studies of Wilde et al. (2018), and which of the paper's statements do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...algebra import Array, angle_between, rotation
from ...kinematics import composite_inertia
from ..checks import Check, at_most, holds
from ..serial_chain import totals
from .experiment import closed_form, manoeuvre, run, run_kinematic, run_reduced
from .tables import chain

if TYPE_CHECKING:
    from ...simulation import Trajectory

PERIOD = 44.0
LONG = 124.0  # seconds per joint: transients die out, exp(-40)


def planar_checks(trajectory: Trajectory) -> list[Check]:
    """Figures 5 and 6."""
    common = _common("planar", trajectory)
    w, p = _base_motion(trajectory)
    rates = trajectory.v[:, 6:]
    cycles = [_cycle(trajectory, k) for k in range(4)]
    strokes = [
        at[(trajectory.time[at] >= PERIOD * k + 12) & (trajectory.time[at] <= PERIOD * k + 32)]
        for k, at in enumerate(cycles)
    ]
    ratio = [float(np.abs(w[at, 2]).max() / np.abs(rates[at, k]).max()) for k, at in enumerate(strokes)]
    steady = np.abs(rates).max(axis=1) > 0.05  # away from reversals, where signs of overlapping transients differ
    opposite = (w[:, 2] * rates.sum(axis=1))[steady].max()
    deviation = [float(np.abs(p[at] - p[at][0]).max()) for at in cycles]
    craft = trajectory.craft
    arm_inertia = _inertia_about_joint_1(trajectory)
    own = float(craft.body("base").inertia[2, 2])
    flat = max(np.abs(w[:, :2]).max(), np.abs(p[:, 2]).max())
    return [
        *common,
        at_most("planar: no rotation about x, y and no motion along z", float(flat), 0.0, comment="figure 5"),
        holds("planar: base turns against the active joint", opposite < 0, f"{opposite:.1e}", "< 0", "figure 5A"),
        holds(
            "planar: peak base rate / joint rate, joints 1 to 4",
            max(ratio) < 1 and bool(np.all(np.diff(ratio) < 0)),
            ", ".join(f"{r:.2f}" for r in ratio),
            "< 1, falling",
            "figure 5A: the reaction becomes smaller outwards",
        ),
        holds(
            "planar: base x never below its start, y both ways",
            p[:, 0].min() > -1e-4 and p[:, 1].min() < -1e-3 < 1e-3 < p[:, 1].max(),
            f"x from {p[:, 0].min():.1e} m, y {p[:, 1].min():.3f} to {p[:, 1].max():.3f} m",
            "x > -0.1 mm",
            "figure 5B; up to what overlapping transients leave",
        ),
        *_return_checks("planar", trajectory, between=(1e-6, 1e-3)),
        holds(
            "statement refuted: 'base has higher inertia than the manipulator'",
            arm_inertia > own,
            f"arm about joint 1 {arm_inertia:.2f}, base {own:.2f} kg m2",
            "arm larger",
            "the base's rate is smaller all the same",
        ),
        holds(
            "statement refuted: position deviation falls outwards",
            deviation[0] < deviation[1],
            ", ".join(f"{d:.4f}" for d in deviation) + " m",
            "joint 1 < joint 2",
            "with the arm mounted 0.1 m from the centre of mass",
        ),
    ]


def spatial_checks(trajectory: Trajectory) -> list[Check]:
    """Figures 7 and 8."""
    common = _common("spatial", trajectory)
    w, p = _base_motion(trajectory)
    cycles = [_cycle(trajectory, k) for k in range(6)]
    first = min(np.abs(w[cycles[0]]).max(axis=0).min() / 0.1, np.abs(p[cycles[0]] - p[0]).max(axis=0).min())
    settled = [at[len(at) // 2 :] for at in cycles]  # the previous joint has come to rest
    w_B = trajectory.v[:, :3]
    off_axis = max(np.abs(w_B[at][:, [0, 2]]).max() for at in settled[2:4])
    pitch = min(np.abs(w_B[at][:, 1]).max() for at in settled[1:4])
    sideways = [float(np.abs(p[at, 1] - p[at[0], 1]).max()) for at in settled]
    return [
        *common,
        holds(
            "spatial: joint 1 turns and moves the base in all axes",
            first > 1e-3,
            f"least axis {first:.3f}",
            "> 0.001",
            "figure 7, of 0.1 rad/s and in m",
        ),
        holds(
            "spatial: joints 2 to 4 pitch about y alone",
            pitch > 1e-3 and off_axis < 1e-10 * pitch,
            f"y {pitch:.3f}, x and z {off_axis:.0e} rad/s",
            "x, z < 1e-10 of y",
            "figure 7A; in base axes, once joint 1 has settled",
        ),
        holds(
            "statement refuted: 'only x and z when joints 2-6 are active'",
            sideways[4] > 1e-5 and sideways[5] > 1e-6,
            f"joint 5 {1e3 * sideways[4]:.2f} mm, joint 6 {1e3 * sideways[5]:.3f} mm in y",
            "not zero",
            "at q = 0 axes 5 and 6 are parallel to axis 1; too small to see in figure 7B",
        ),
        *_return_checks("spatial", trajectory, between=(1e-4, 1e-1)),
    ]


def _return_checks(case: str, trajectory: Trajectory, between: tuple[float, float]) -> list[Check]:
    """The base returns to its start where joints come to rest one after the other, and not quite where they overlap."""
    left = float(angle_between(rotation(trajectory.q[-1, :4]), np.eye(3)))
    return [
        at_most(
            f"{case}: base back at its start, joints {LONG:g} s apart",
            _return_error(case),
            1e-11,
            comment="each path is retraced",
        ),
        holds(
            f"{case}: net rotation, joints 44 s apart",
            between[0] < left < between[1],
            f"{left:.1e} rad",
            "small, not zero",
            "not holonomic",
        ),
    ]


def _common(case: str, trajectory: Trajectory) -> list[Check]:
    """What both studies must show."""
    craft, profile, _ = manoeuvre(case)
    n = craft.nv - 6
    expected = np.array([np.concatenate(closed_form(profile, t)) for t in trajectory.time])
    joints = np.abs(np.hstack([trajectory.q[:, 7:], trajectory.v[:, 6:]]) - expected).max()
    total = trajectory.momentum(about="base")
    base = base_momentum(trajectory)
    linear = np.abs(total[:, 3:]).max() / np.abs(base[:, 3:]).max()
    angular = np.abs(total[:, :3]).max() / np.abs(base[:, :3]).max()
    center = trajectory.center_of_mass()
    reduced_q, reduced_rates = run_reduced(case)
    reduced = max(np.abs(trajectory.q - reduced_q).max(), np.abs(trajectory.v[:, 6:] - reduced_rates).max())
    kinematic = np.abs(trajectory.q[:, :7] - run_kinematic(case)).max()
    other = run(case, formulation="generalized_jacobian")
    formulations = max(np.abs(trajectory.q - other.q).max(), np.abs(trajectory.v - other.v).max())
    printed = totals(chain(case), trajectory.q, trajectory.v)
    work = trajectory.data["work"].values
    return [
        at_most(
            f"{case}: joints against the closed form",
            joints,
            1e-11,
            comment="(112)-(115); no property of the craft enters",
        ),
        at_most(f"{case}: linear momentum, of the base's own", linear, 1e-11, comment="figure 6A, 8A"),
        at_most(f"{case}: angular momentum, of the base's own", angular, 1e-11, comment="figure 6B, 8B"),
        at_most(f"{case}: centre of mass moves by", np.abs(center - center[0]).max(), 1e-12, " m"),
        at_most(f"{case}: energy against the motors' work", trajectory.audit.energy, 1e-11),
        at_most(
            f"{case}: full = reduced model", reduced, 1e-11, comment=f"(39) of {n + 6}, (50) of {n} degrees of freedom"
        ),
        at_most(f"{case}: full = kinematics (109) alone", kinematic, 1e-11, comment="base pose"),
        at_most(f"{case}: recursive = the paper's formulation", formulations, 1e-11),
        at_most(
            f"{case}: momentum by the tables' numbers, of the base's own",
            float(np.abs(printed.momentum).max() / np.abs(base).max()),
            1e-11,
        ),
        at_most(
            f"{case}: energy by the tables' numbers against the motors' work",
            float(np.abs(printed.energy - work).max() / np.abs(printed.energy).max()),
            1e-11,
        ),
    ]


def base_momentum(trajectory: Trajectory) -> Array:
    """[angular about the base's centre of mass; linear] of the base alone, in N, (times, 6)."""
    base = trajectory.craft.body(trajectory.craft.base)
    R = np.array([rotation(q[:4]) for q in trajectory.q])
    w_B, v_B = trajectory.v[:, :3], trajectory.v[:, 3:6]
    angular = np.einsum("tij,tj->ti", R, w_B @ base.inertia)
    return np.hstack([angular, base.mass * np.einsum("tij,tj->ti", R, v_B)])


def _base_motion(trajectory: Trajectory) -> tuple[Array, Array]:
    """Angular velocity in N and position, (times, 3) each."""
    R = np.array([rotation(q[:4]) for q in trajectory.q])
    return np.einsum("tij,tj->ti", R, trajectory.v[:, :3]), trajectory.q[:, 4:7] - trajectory.q[0, 4:7]


def _cycle(trajectory: Trajectory, k: int) -> Array:
    """Rows of joint k's cycle."""
    return np.flatnonzero((trajectory.time >= PERIOD * k) & (trajectory.time <= PERIOD * (k + 1)))


def _return_error(case: str) -> float:
    """How far the base is from its start after all joints have come to rest one by one."""
    end = run(case, period=LONG).q
    settled = np.abs(end[-1, :7] - end[0, :7])
    return float(settled.max())


def _inertia_about_joint_1(trajectory: Trajectory) -> float:
    """Of the stretched planar arm alone, about joint 1's axis, in kg m2."""
    craft = trajectory.craft
    whole = composite_inertia(craft.with_values({"base.mass": 0.0, "base.inertia": np.zeros(6)}), trajectory.q[0])
    x = craft.joint("link_1").position[0]
    return float(whole.I_o[2, 2] - 2.0 * whole.h[0] * x + whole.m * x * x)
