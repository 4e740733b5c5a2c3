"""`gyrostat init` and `gyrostat schema`: a scenario to start from, and its description for editors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from ..model.names import printable
from .files import SCHEMA, check_outputs
from .output import command, console


def init(
    file: Annotated[Path, typer.Argument(help="File to write.", dir_okay=False)] = Path("scenario.toml"),
    example: Annotated[
        str | None, typer.Option(help='Write a bundled example instead; "list" says which there are.', metavar="NAME")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace FILE if it exists.")] = False,
) -> None:
    """Write a commented scenario FILE that runs as it is."""
    from ..io.writing import write_text
    from ..scenario import EXAMPLES, template
    from ..scenario import example as example_text

    if example == "list":
        for name, what in EXAMPLES.items():
            console().print(Text(printable(f"{name}: {what}")), soft_wrap=True)
        return
    if example is not None and example not in EXAMPLES:
        known = "; ".join(f"{name}: {what}" for name, what in EXAMPLES.items())
        raise typer.BadParameter(f"'{example}' is not known. Choose one of {known}.", param_hint="--example")
    if file.exists() and not overwrite:
        raise typer.BadParameter(
            f"'{file}' exists already. Choose another name, or pass --overwrite.", param_hint="FILE"
        )
    write_text(file, template() if example is None else example_text(example))
    console().print(
        Text(
            printable(f"wrote {file}\nrun it:   {command()} run {file} --report report.html --scene scene.html"),
            style="green",
        )
    )


def schema(
    out: Annotated[Path | None, typer.Option("--out", "-o", help="File to write, instead of the screen.")] = None,
) -> None:
    """Print the JSON schema of scenario files, formations included, for editors that complete and check them."""
    from ..io.writing import write_text
    from ..scenario import json_schema

    check_outputs([], {"--out": (out, SCHEMA)})
    text = json.dumps(json_schema(), indent=2) + "\n"
    if out is None:
        typer.echo(text, nl=False)
    else:
        write_text(out, text)
        console().print(Text(printable(f"wrote {out}"), style="green"))
