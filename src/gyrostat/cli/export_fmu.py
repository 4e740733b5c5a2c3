"""`gyrostat export fmu`: a scenario for the tools that speak FMI."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from ..model.names import printable
from .files import Trust
from .output import console, print_findings
from .times import seconds


def fmu(
    scenario: Annotated[
        Path, typer.Argument(help="Scenario file (.toml).", exists=True, dir_okay=False, readable=True)
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="File to write, .fmu.", show_default="SCENARIO.fmu here")
    ] = None,
    fmi: Annotated[str, typer.Option("--fmi", help="Version of FMI: 3.0 or 2.0.")] = "3.0",
    kinds: Annotated[
        str | None, typer.Option(help="co-simulation, model-exchange, or both with a comma.", show_default="both")
    ] = None,
    step: Annotated[
        str | None,
        typer.Option(
            help='Step of co-simulation by rk4, such as "10 ms".', metavar="TIME", show_default="the scenario's"
        ),
    ] = None,
    outputs: Annotated[
        str, typer.Option(help="More than the scenario's, with commas: momentum,reaction_wrenches,tau,...")
    ] = "",
    frames: Annotated[str, typer.Option(help="Frames and bodies whose poses are outputs, with commas.")] = "",
    parameters: Annotated[str, typer.Option(help="What can be tuned, with commas: link_6.mass,...")] = "",
    loads: Annotated[
        str | None,
        typer.Option(
            help='Joints whose loads are inputs, with commas; "all"; or "none".',
            show_default="all without a law, none with one",
        ),
    ] = None,
    name: Annotated[str | None, typer.Option(help="Model identifier.", show_default="of the file")] = None,
    binary: Annotated[
        bool | None,
        typer.Option("--binary/--no-binary", help="A Linux binary.", show_default="if there is a C compiler"),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a file that exists.")] = False,
    trust: Trust = False,
) -> None:
    """Write a SCENARIO as an FMU: co-simulation and model exchange, with its sources."""
    from ..export import fmu as write
    from ..scenario import load

    path = Path(f"{scenario.stem}.fmu") if out is None else out
    if path.exists() and not overwrite:
        raise typer.BadParameter(f"'{path}' exists already. Choose another --out, or pass --overwrite.")
    work = load(scenario, trust=trust)
    made = write(
        work,
        path,
        version=fmi,
        kinds=None if kinds is None else _listed(kinds),
        step=seconds(step, "--step"),
        outputs=_listed(outputs),
        frames=_listed(frames),
        parameters=_listed(parameters),
        loads={None: None, "all": True, "none": False}.get(loads, _listed(loads or "")),
        name=name,
        binary=binary,
    )
    screen, variables = console(), made.variables
    print_findings(screen, work.craft.findings)
    screen.print(
        printable(
            f"FMI {made.version}, {' and '.join(made.kinds)}: {len(variables.inputs)} inputs, "
            f"{len(variables.outputs)} outputs, {len(variables.parameters)} tunable parameters, "
            f"{len(variables.states)} states" + (f"; binary for {made.binary}" if made.binary else "")
        ),
        soft_wrap=True,
    )
    for note in made.notes:
        screen.print(Text(printable(f"note: {note}"), style="yellow"), soft_wrap=True)
    screen.print(Text(printable(f"wrote {made.path}"), style="green"), soft_wrap=True)


def _listed(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
