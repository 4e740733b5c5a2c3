"""`gyrostat verify`: is the dynamics of this spacecraft computed right? Every way of computing
it against every other.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..io import load
from ..model.names import printable
from ..verification import Comparison, VerifyReport
from ..verification import verify as compare
from .files import Trust, model_file
from .output import console, errors


def verify(
    file: Annotated[
        Path,
        typer.Argument(help="URDF, MJCF (.xml), TOML or xacro; or a bundled spacecraft by name.", callback=model_file),
    ],
    peers: Annotated[bool, typer.Option("--peers", help="Also against Pinocchio and MuJoCo, where installed.")] = False,
    states: Annotated[int, typer.Option(help="How many random states.", min=1)] = 20,
    seed: Annotated[int, typer.Option(help="Of the random states.")] = 0,
    compiled: Annotated[bool, typer.Option(help="Also machine code against plain NumPy.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, for machines.")] = False,
    base: Annotated[str | None, typer.Option(help="Kind of the base's joint, in place of the file's.")] = None,
    trust: Trust = False,
) -> None:
    """Compute the dynamics of the spacecraft in FILE by every formulation and compare them, state by state."""
    craft = load(file, base=base, trust=trust)
    with errors().status("verifying") as status:
        report = compare(
            craft,
            states=states,
            seed=seed,
            peers=peers,
            compiled=compiled,
            progress=lambda text: status.update(f"verifying: {text}"),
        )
    if as_json:
        typer.echo(json.dumps({"file": str(file)} | report.as_dict(), indent=2))
    else:
        print_report(console(), report)
    raise typer.Exit(0 if report.passed else 1)


def print_report(out: Console, report: VerifyReport) -> None:
    """A line for each quantity, every failure, and who could not take part."""
    out.print(Text.assemble((printable(report.craft), "bold"), f"   {report.states} random states, seed {report.seed}"))
    table = Table("quantity", "computed by", "pairs", "worst disagreement", "allowed", "", box=None)
    for quantity in dict.fromkeys(c.quantity for c in report.comparisons):
        rows = [c for c in report.comparisons if c.quantity == quantity]
        names = list(
            dict.fromkeys(name for c in rows for name in (c.first, c.second) if not name.endswith(", compiled"))
        )
        worst = max(rows, key=lambda c: c.worst)
        passed = all(c.passed for c in rows)
        table.add_row(
            quantity,
            Text(", ".join(names)),
            str(len(rows)),
            f"{worst.worst:.1e}  {worst.first} / {worst.second}",
            f"{worst.allowed:.0e}",
            Text("ok" if passed else "DIFFER", style="green" if passed else "bold red"),
        )
    out.print(table)
    for c in report.comparisons:
        if not c.passed:
            out.print(Text(_sentence(c), style="red"), soft_wrap=True)
    for name, reason in report.absent.items():
        out.print(Text.assemble((f"not compared: {name}: ", "yellow"), printable(reason)), soft_wrap=True)
    if report.passed:
        verdict = Text.assemble(("OK", "bold green"), f"  {len(report.comparisons)} comparisons agree.")
    elif not report.comparisons:
        verdict = Text("FAILED  there was nothing to compare.", style="bold red")
    else:
        failed = sum(not c.passed for c in report.comparisons)
        verdict = Text.assemble(("FAILED", "bold red"), f"  {failed} of {len(report.comparisons)} comparisons differ.")
    out.print(verdict)


def _sentence(c: Comparison) -> str:
    return f"{c.quantity}: {c.first} and {c.second} differ by {c.worst:.2e}; expected at most {c.allowed:.0e}."
