"""`gyrostat convert`: from one file format to another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from ..io import load, save
from ..model.names import printable
from .files import Trust, model_file
from .output import BaseKind, console, print_findings


def convert(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="SOURCE",
            help="URDF, MJCF (.xml), TOML or xacro; or a bundled spacecraft by name.",
            callback=model_file,
        ),
    ],
    target: Annotated[
        Path, typer.Argument(metavar="TARGET", help="File to write: .toml, .urdf, .xml (MJCF) or .sdf.", dir_okay=False)
    ],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace TARGET if it exists.")] = False,
    mesh_root: Annotated[
        Path | None, typer.Option(help="Another folder with meshes.", exists=True, file_okay=False)
    ] = None,
    base: BaseKind = None,
    trust: Trust = False,
) -> None:
    """Read SOURCE, write TARGET: the same spacecraft, the same dynamics, in the other format."""
    if target.exists() and not overwrite:
        raise typer.BadParameter(
            f"'{target}' exists already. Choose another name, or pass --overwrite.", param_hint="TARGET"
        )
    craft = load(source, base=base, mesh_root=mesh_root, trust=trust)
    save(craft, target)
    out = console()
    print_findings(out, craft.findings)
    out.print(
        Text(printable(f"{source} -> {target}: {craft.nbodies} bodies, nv {craft.nv}"), style="green"), soft_wrap=True
    )
