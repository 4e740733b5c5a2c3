"""`gyrostat export`: what was computed here, for other tools."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from ..io import load
from ..model import Spacecraft, nearest
from ..model.names import printable
from .export_fmu import fmu
from .files import Trust, model_file
from .output import BaseKind, console, print_findings

if TYPE_CHECKING:
    from ..export import CFiles

export = typer.Typer(no_args_is_help=True, help="Write what is computed here for other tools.")
export.command("fmu")(fmu)
# Functions of a spacecraft whose arguments are numbers, or the name of a frame
FUNCTIONS = (
    "forward_dynamics",
    "inverse_dynamics",
    "mass_matrix",
    "bias_force",
    "coriolis_matrix",
    "kinetic_energy",
    "momentum",
    "reaction_wrenches",
    "center_of_mass",
    "configuration_rate",
    "forward_kinematics",
    "frame_pose",
    "jacobian",
    "jacobian_rate",
    "generalized_inertia",
    "generalized_jacobian",
    "generalized_jacobian_rate",
)


Craft = Annotated[
    Path, typer.Argument(metavar="CRAFT", help="A file, or a bundled spacecraft by name.", callback=model_file)
]
Functions = Annotated[str, typer.Option(help=f"Which, with commas between: {', '.join(FUNCTIONS)}.")]
FrameName = Annotated[str | None, typer.Option(help="Of functions that ask for one, as the Jacobians do.")]
FileName = Annotated[str | None, typer.Option(help="Of the files.", show_default="the craft's")]
Folder = Annotated[Path, typer.Option("--out", "-o", help="Folder to write to.", file_okay=False)]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace files that exist.")]


@export.command("c")
def c(
    source: Craft,
    functions: Functions = "forward_dynamics",
    frame: FrameName = None,
    name: FileName = None,
    out: Folder = Path(),
    single: Annotated[bool, typer.Option("--float", help="Numbers of 32 bits in place of 64.")] = False,
    test: Annotated[bool, typer.Option("--test", help="Also a main with reference vectors.")] = False,
    overwrite: Overwrite = False,
    base: BaseKind = None,
    trust: Trust = False,
) -> None:
    """Write functions of CRAFT as C99 for flight software: one .c, one .h, no allocation, no library but math.h."""
    from ..export import c_files

    craft, graphs, prefix = _graphs(source, functions, frame, name, base, trust)
    files = c_files(graphs, prefix, craft=craft, dtype="float" if single else "double", test=test)
    _write([files], out, overwrite)


@export.command("mex")
def mex(
    source: Craft,
    functions: Functions = "forward_dynamics",
    frame: FrameName = None,
    name: FileName = None,
    out: Folder = Path(),
    overwrite: Overwrite = False,
    base: BaseKind = None,
    trust: Trust = False,
) -> None:
    """Write functions of CRAFT for MATLAB, Octave and Simulink: C, a MEX file and an S-function of each."""
    from ..export import mex_files

    _, graphs, _ = _graphs(source, functions, frame, name, base, trust)
    _write([mex_files(graph, own) for own, graph in graphs.items()], out, overwrite)


def _graphs(
    source: Path, functions: str, frame: str | None, name: str | None, base: str | None, trust: bool
) -> tuple[Spacecraft, dict[str, Any], str]:
    """The craft, the graphs by their names in C, and what these begin with."""
    from ..tracing.c99 import identifier

    craft = load(source, base=base, trust=trust)
    print_findings(console(), craft.findings)
    prefix = identifier(name or craft.name)
    return craft, {f"{prefix}_{wanted}": _traced(wanted, craft, frame) for wanted in _wanted(functions)}, prefix


def _write(written: Sequence[CFiles], out: Path, overwrite: bool) -> None:
    there = [path for files in written for path in files.texts if (out / path).exists()]
    if there and not overwrite:
        raise typer.BadParameter(
            f"'{out / there[0]}' exists already. Choose another --name or --out, or pass --overwrite."
        )
    screen = console()
    for files in written:
        for own, count in files.operations.items():
            screen.print(printable(f"{own}: {count} operations, at most {files.stack_bytes[own]} bytes of locals"))
        for path in files.write(out):
            screen.print(Text(printable(f"wrote {path}"), style="green"), soft_wrap=True)


def _wanted(functions: str) -> list[str]:
    names = [name.strip() for name in functions.split(",") if name.strip()]
    for name in names:
        if name not in FUNCTIONS:
            raise typer.BadParameter(
                f"'{name}' cannot be exported. {nearest(name, FUNCTIONS)}", param_hint="--functions"
            )
    return list(dict.fromkeys(names))


def _traced(wanted: str, craft: Spacecraft, frame: str | None) -> Any:
    import gyrostat as gs

    from ..tracing.recording import trace

    function = getattr(gs, wanted)
    asks = "frame" in inspect.signature(function).parameters
    if asks and frame is None:
        known = ", ".join([*(f.name for f in craft.frames), *(b.name for b in craft.bodies)])
        raise typer.BadParameter(
            f"{wanted} is that of a frame: give --frame. {craft.name} has: {known}.", param_hint="--frame"
        )
    return trace(function, craft, static={"frame": frame} if asks else None)
