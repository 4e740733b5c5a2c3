"""`gyrostat reproduce`: the experiments of the source papers, with their figures and a table of checks."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..model import nearest
from ..model.names import printable
from ..papers.checks import Reproduction
from .output import console, errors
from .stopping import ends_at_once

PAPERS = {
    "valverde2018": "Valverde & Tsiotras (2018): dual quaternions",
    "wilde2018": "Wilde et al. (2018): generalised Jacobian",
    "from2011": "From, Pettersen & Gravdahl (2011): Lagrange on Lie groups",
    "forbes2019": "Forbes (2019): any attitude parameterisation, constraints, capture",
    "ploen2004": "Ploen, Hadaegh & Scharf (2004): formations, the four forms of a rigid body",
}


def reproduce(
    paper: Annotated[str, typer.Argument(help=f"One of: {', '.join(PAPERS)}.")],
    out: Annotated[
        Path | None, typer.Option(help="Folder for the figures; by default the paper's name.", file_okay=False)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, for machines.")] = False,
) -> None:
    """Run the experiments of a source PAPER: figures, checks, and what agrees with it or does not."""
    if paper not in PAPERS:
        raise ValueError(f"no experiment is named '{paper}'. {nearest(paper, PAPERS)}")
    module = importlib.import_module(f"gyrostat.papers.{paper}")
    with ends_at_once(), errors().status(f"{paper}: running"):
        result = module.reproduce(out or Path(paper))
    if as_json:
        typer.echo(json.dumps(as_dict(paper, result), indent=2))
    else:
        print_reproduction(console(), PAPERS[paper], result)
    raise typer.Exit(0 if result.passed else 1)


def print_reproduction(out: Console, title: str, result: Reproduction) -> None:
    """The table of checks, the sentences, the files."""
    table = Table("check", "measured", "required", "", title=title, title_justify="left", box=None)
    for check in result.checks:
        verdict = Text("ok" if check.passed else "FAILED", style="green" if check.passed else "bold red")
        table.add_row(Text(check.name), Text(check.measured), Text(check.required), verdict)
        if check.comment:
            table.add_row(Text(f"  {check.comment}", style="dim"))
    out.print(table)
    for remark in result.remarks:
        out.print(Text(remark), soft_wrap=True)
    for assumption in result.assumptions:
        out.print(Text(f"Assumed: {assumption}", style="dim"), soft_wrap=True)
    for path in result.figures:
        out.print(Text(f"wrote {printable(str(path))}"), soft_wrap=True)
    failed = sum(not check.passed for check in result.checks)
    style, word = ("bold red", "FAILED") if failed else ("bold green", "OK")
    out.print(Text.assemble((word, style), f"  {len(result.checks) - failed} of {len(result.checks)} checks hold."))


def as_dict(paper: str, result: Reproduction) -> dict[str, object]:
    """For machines."""
    return {
        "paper": paper,
        "passed": result.passed,
        "checks": [check._asdict() for check in result.checks],
        "remarks": list(result.remarks),
        "assumptions": list(result.assumptions),
        "figures": [str(path) for path in result.figures],
    }
