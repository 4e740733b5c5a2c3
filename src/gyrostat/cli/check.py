"""`gyrostat check`: what is in a spacecraft file, and what is wrong with it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from ..algebra import inertia_components, skew
from ..io import CheckResult
from ..io import check as check_file
from ..kinematics import center_of_mass, composite_inertia, mass_at, neutral, total_mass
from ..linear import flexibility
from ..model import Body, Joint, Spacecraft
from ..model.names import printable
from .files import Trust, model_file
from .flexible import flexible_dict, print_flexible
from .output import BaseKind, console, number, numbers, print_findings, summary

MAX_ROWS = 60


def check(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="URDF, MJCF (.xml), TOML or xacro; or a bundled spacecraft by name.",
            callback=model_file,
        ),
    ],
    strict: Annotated[bool, typer.Option("--strict", help="Treat warnings as errors.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, for machines.")] = False,
    mesh_root: Annotated[
        Path | None, typer.Option(help="Another folder with meshes.", exists=True, file_okay=False)
    ] = None,
    base: BaseKind = None,
    trust: Trust = False,
) -> None:
    """Show what is in a spacecraft FILE and what is wrong with it."""
    result = check_file(file, base=base, mesh_root=mesh_root, trust=trust)
    if result.craft is not None and result.craft.bends:
        bent = tuple(replace(f, file=f.file or str(file)) for f in flexibility(result.craft).findings)
        result = replace(result, findings=(*result.findings, *bent))
    failed = any(f.level == "error" or (strict and f.level == "warning") for f in result.findings)
    if as_json:
        typer.echo(json.dumps(as_dict(file, result, ok=not failed), indent=2))
    else:
        out = console()
        if result.craft is not None:
            print_craft(out, result.craft)
        print_findings(out, result.findings, strict=strict)
        verdict = Text("FAILED" if failed else "OK", style="bold red" if failed else "bold green")
        out.print(
            verdict.append(Text(f"  {printable(str(file))}: {summary(result.findings)}", style="")), soft_wrap=True
        )
    raise typer.Exit(1 if failed else 0)


def print_craft(out: Console, craft: Spacecraft) -> None:
    """The tree, the bodies, the joints and the totals at the neutral configuration."""
    out.print(
        Text.assemble((printable(craft.name), "bold"), f"   {craft.nbodies} bodies, nq {craft.nq}, nv {craft.nv}")
    )
    out.print(body_tree(craft))
    out.print(_bodies(craft))
    out.print(_joints(craft))
    if craft.bends:
        print_flexible(out, craft)
    q, mass = neutral(craft), total_mass(craft)
    out.print(f"total mass       {number(mass)} kg")
    if mass > 0:
        com = center_of_mass(craft, q)
        C = skew(com)
        inertia = composite_inertia(craft, q).I_o + mass * (C @ C)
        out.print(f"centre of mass   {numbers(com)} m, in inertial axes with every coordinate at zero")
        out.print(f"inertia about it {numbers(inertia_components(inertia))} kg m^2 (xx, xy, xz, yy, yz, zz)")
    for what, parts in (("frames", craft.frames), ("thrusters", craft.thrusters)):
        if parts:
            listed = ", ".join(f"{part.name} on {part.body}" for part in parts[:12])
            more = f", and {len(parts) - 12} more" if len(parts) > 12 else ""
            out.print(Text(printable(f"{what:<16} {listed}{more}")))


def body_tree(craft: Spacecraft) -> Tree:
    branches: dict[str, Tree] = {}
    for body in craft.bodies[:MAX_ROWS]:
        label = Text.assemble(
            (printable(body.name), "bold"), f"  {number(body.mass)} kg", (f"  {_moves(body.joint)}", "cyan")
        )
        branches[body.name] = Tree(label) if body.parent is None else branches[body.parent].add(label)
    tree = branches[craft.base]
    if craft.nbodies > MAX_ROWS:
        tree.add(Text(f"... and {craft.nbodies - MAX_ROWS} more bodies", style="dim"))
    return tree


def _moves(joint: Joint) -> str:
    axes = [getattr(joint, name) for name in ("axis", "axis2")[: joint.motion.axes]]
    turns = any(unit == "rad/s" for unit in joint.motion.v_units)
    way = f" {'about' if turns else 'along'} {' and '.join(map(numbers, axes))}" if axes else ""
    return f"{printable(joint.name)}: {joint.kind}{way}"


def _bodies(craft: Spacecraft) -> Table:
    table = Table("body", "mass", "centre of mass", "inertia about it", "xy, xz, yz", box=None)
    table.add_row("", "kg", "m", "xx, yy, zz, kg m^2", "kg m^2", style="dim")
    for body in craft.bodies[:MAX_ROWS]:
        mass, com, inertia = mass_at(craft, neutral(craft), body.name)
        xx, xy, xz, yy, yz, zz = inertia_components(inertia)
        products = numbers((xy, xz, yz), 4) if xy or xz or yz else ""
        table.add_row(Text(printable(body.name)), number(mass), numbers(com, 4), numbers((xx, yy, zz), 4), products)
    return table


def _joints(craft: Spacecraft) -> Table:
    table = Table(
        "joint", "kind", "range", "rate limit", "effort limit", "damping, friction", "spring, rotor", box=None
    )
    for body in craft.bodies[:MAX_ROWS]:
        joint, limits = body.joint, body.joint.limits
        table.add_row(
            Text(printable(joint.name)),
            joint.kind,
            _range(joint),
            _limit(limits.velocity, joint, joint.motion.v_units),
            _limit(limits.effort, joint, ["N" if unit.startswith("m") else "N m" for unit in joint.motion.v_units]),
            "" if not (joint.damping or joint.friction) else f"{number(joint.damping)}, {number(joint.friction)}",
            "" if not (joint.stiffness or joint.armature) else f"{number(joint.stiffness)}, {number(joint.armature)}",
        )
    return table


def _range(joint: Joint) -> str:
    lower, upper = joint.limits.lower, joint.limits.upper
    if np.isinf(lower) and np.isinf(upper):
        return ""
    if joint.motion.hinge:
        return f"{number(np.degrees(lower))} .. {number(np.degrees(upper))} deg"
    return f"{number(lower)} .. {number(upper)}{_unit(joint.motion.q_units)}"


def _limit(value: float, joint: Joint, units: Sequence[str]) -> str:
    """In the units that people read: deg/s, rpm of wheels; no unit where those of the joint's coordinates differ."""
    if np.isinf(value):
        return ""
    if set(units) == {"rad/s"}:
        return f"{number(value * 30 / np.pi)} rpm" if joint.motion.spins else f"{number(np.degrees(value))} deg/s"
    return f"{number(value)}{_unit(units)}"


def _unit(units: Sequence[str]) -> str:
    return f" {units[0]}" if len(set(units)) == 1 and units[0] else ""


def as_dict(file: Path, result: CheckResult, *, ok: bool) -> dict[str, Any]:
    """The result of a check for machines; infinite limits are null."""
    found = [
        {
            "level": f.level,
            "code": f.code,
            "file": f.file,
            "line": f.line,
            "element": f.element,
            "message": f.message,
            "hint": f.hint,
        }
        for f in result.findings
    ]
    out: dict[str, Any] = {"file": str(file), "ok": ok, "findings": found, "craft": None}
    craft = result.craft
    if craft is not None:
        mass = float(total_mass(craft))
        out["craft"] = {
            "name": craft.name,
            "nq": craft.nq,
            "nv": craft.nv,
            "mass": mass,
            "com": center_of_mass(craft, neutral(craft)).tolist() if mass > 0 else None,
            "bodies": [_body_dict(craft, body) for body in craft.bodies],
            **({"flexible": flexible_dict(craft)} if craft.bends else {}),
            "frames": [{"name": frame.name, "body": frame.body} for frame in craft.frames],
            "thrusters": [{"name": thruster.name, "body": thruster.body} for thruster in craft.thrusters],
        }
    return out


def _body_dict(craft: Spacecraft, body: Body) -> dict[str, Any]:
    mass, com, inertia = mass_at(craft, neutral(craft), body.name)
    return {
        "name": body.name,
        "parent": body.parent,
        "mass": mass,
        "com": com.tolist(),
        "inertia": inertia_components(inertia).tolist(),
        "joint": _joint_dict(body.joint),
    }


def _joint_dict(joint: Joint) -> dict[str, Any]:
    limits = {name: getattr(joint.limits, name) for name in ("lower", "upper", "velocity", "effort")}
    return {
        "name": joint.name,
        "kind": joint.kind,
        "axis": joint.axis.tolist() if joint.motion.axes else None,
        "limits": {name: None if np.isinf(value) else value for name, value in limits.items()},
    }
