"""`gyrostat demo`: a first look at a free-floating spacecraft with an arm."""

from __future__ import annotations

import numpy as np
from rich.console import Console
from rich.table import Table

from ..formulations.recursive import (
    center_of_mass,
    forward_dynamics,
    frame_pose,
    jacobian,
    mass_matrix,
    momentum,
    neutral,
    total_mass,
)
from ..model import Spacecraft
from ..models import servicer
from .check import body_tree
from .output import console, number, numbers


def demo() -> None:
    """Load the bundled servicer (1.8 t, six-joint arm) and show how it reacts when its joints are driven."""
    out = console()
    craft = servicer()
    out.print(f"[bold]{craft.name}[/bold]: a spacecraft with a six-joint arm, floating freely. Nothing holds its base.")
    out.print(body_tree(craft))
    q = neutral(craft)
    q[7:] = np.radians([20.0, 40.0, -70.0, 30.0, 25.0, 0.0])
    out.print(
        f"\nWith its arm bent: mass {number(total_mass(craft))} kg, centre of mass {numbers(center_of_mass(craft, q))} m, ",
        end="",
    )
    out.print(f"end effector at {numbers(frame_pose(craft, q, 'tool').p)} m.")
    M = mass_matrix(craft, q)
    out.print(
        f"Its mass matrix is {M.shape[0]} x {M.shape[1]} (base rotation 3, base translation 3, joints {craft.nv - 6}), "
        f"condition number {np.linalg.cond(M):.0f}.\n"
    )
    _drive_each_joint(out, craft, q, M)
    out.print(
        "\nPush a joint and the base turns the other way: arm and base share one momentum, which no joint can change.\n"
        "Next: [bold]gyrostat check FILE[/bold] shows what is in your own URDF, MJCF or TOML file."
    )


def _drive_each_joint(out: Console, craft: Spacecraft, q: np.ndarray, M: np.ndarray) -> None:
    """At rest, 1 N m on one joint at a time: who accelerates, and what happens to the momentum."""
    table = Table(
        "1 N m on", "joint turns", "with the base held", "base turns", "end effector moves", "momentum rate", box=None
    )
    table.add_row("", "mrad/s^2", "mrad/s^2", "mrad/s^2", "mm/s^2", "of its parts", style="dim")
    J = jacobian(craft, q, "tool")
    for joint in craft.joints[1:]:
        tau = np.zeros(craft.nv)
        tau[joint.v_at] = 1.0
        vdot = forward_dynamics(craft, q, np.zeros(craft.nv), tau)
        held = np.linalg.solve(M[6:, 6:], tau[6:])[joint.v_at.start - 6]
        base_only = np.concatenate([vdot[:6], np.zeros(craft.nv - 6)])
        rate = np.abs(momentum(craft, q, vdot)[:3]).max() / np.abs(momentum(craft, q, base_only)[:3]).max()
        table.add_row(
            joint.name,
            f"{1e3 * vdot[joint.v_at][0]:.4g}",
            f"{1e3 * held:.4g}",
            f"{1e3 * np.linalg.norm(vdot[:3]):.4g}",
            f"{1e3 * np.linalg.norm((J @ vdot)[3:]):.4g}",
            f"{rate:.0e}",
        )
    out.print(table)
