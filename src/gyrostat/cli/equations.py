"""`gyrostat equations`: the equations of motion of a spacecraft, typeset."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from ..io import load
from ..io.writing import check_writable
from ..model.names import printable
from .files import Trust, model_file
from .output import BaseKind, console, print_findings


def equations(
    source: Annotated[
        Path,
        typer.Argument(metavar="CRAFT", help="A file, or a bundled spacecraft by name.", callback=model_file),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="File to write: .html or .tex.", show_default="CRAFT-equations.html"),
    ] = None,
    frame: Annotated[
        str | None, typer.Option(help="Whose generalised Jacobian is shown.", show_default="the last")
    ] = None,
    show: Annotated[
        str | None, typer.Option(help="Which of M, C, h, p, H, J, with commas between.", show_default="M, C, H, J")
    ] = None,
    digits: Annotated[int, typer.Option(help="Of numbers on the page.", min=1, max=17)] = 5,
    base: BaseKind = None,
    trust: Trust = False,
) -> None:
    """Write the equations of motion of CRAFT in symbols: matrices, and what they have in common named once."""
    from ..export import equations as typeset

    craft = load(source, base=base, trust=trust)
    out = Path(f"{craft.name}-equations.html") if out is None else out
    check_writable(out)
    wanted = None if show is None else [name.strip() for name in show.split(",") if name.strip()]
    found = typeset(craft, frame=frame, show=wanted, digits=digits)
    screen = console()
    print_findings(screen, craft.findings)
    screen.print(printable(f"{', '.join(found.shown)}: {len(found.symbolic.subexpressions)} named subexpressions"))
    screen.print(Text(printable(f"wrote {found.save(out)}"), style="green"), soft_wrap=True)
