"""The `gyrostat` command. Every failure ends in a sentence and an exit code, never in a traceback."""

from __future__ import annotations

import sys
import warnings
from typing import Annotated

import typer

from .. import __version__
from ..model import ModelError
from .check import check
from .convert import convert
from .demo import demo
from .equations import equations
from .export import export
from .film import film
from .init import init, schema
from .output import errors, open_streams, place_of, print_findings, sentence
from .report import report
from .reproduce import reproduce
from .run import run as run_scenario
from .serve import serve
from .sweep import sweep
from .verify import verify
from .view import view

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help="Dynamics of spacecraft that carry robot arms, wheels and each other.",
    epilog="Exit codes: 0 all well, 1 errors in the input, 2 wrong usage, 3 a run that did not reach its end, 4 a "
    "requirement or an awaited event missed (of a campaign: a requirement that is not shown), 128 + n "
    "ended by signal n (130: Ctrl-C).",
)
app.command()(demo)
app.command()(init)
app.command("run")(run_scenario)
app.command()(sweep)
app.command()(serve)
app.command()(view)
app.command()(report)
app.command()(film)
app.command()(check)
app.command()(convert)
app.command()(verify)
app.command()(reproduce)
app.command()(schema)
app.command()(equations)
app.add_typer(export, name="export")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"gyrostat {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an unexpected failure.")] = False,
) -> None:
    """Options that stand before the command."""


def _note(message: Warning | str, *_: object, **__: object) -> None:
    """A warning is for the user: its words, not the line of code that gave it."""
    errors().print(sentence(f"note: {message}"), style="yellow")


def run() -> None:
    """Entry point of the console script."""
    debug = "--debug" in sys.argv[1:]
    open_streams()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal without Unicode still shows everything else
    warnings.showwarning = _note
    try:
        app(prog_name="gyrostat")
    except KeyboardInterrupt:
        errors().print("Stopped.")
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
    except ModelError as error:
        print_findings(errors(), error.findings)
        sys.exit(1)
    except Exception as error:
        if debug:
            raise
        expected, own = isinstance(error, ValueError | MemoryError), place_of(error)
        kind = "" if expected and str(error) and own is None else f"{type(error).__name__}: "
        failed = "gyrostat failed" if own is None else own
        errors().print(sentence(f"{failed}: {kind}{error}"), style="bold red")
        if not expected and own is None:
            errors().print(
                "This should not happen. Please report it, with the output of the same command after `gyrostat "
                "--debug`."
            )
        sys.exit(1)
