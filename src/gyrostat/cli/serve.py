"""`gyrostat serve`: a scenario against the clock on the wall, its loads from a socket."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from ..model.names import printable
from .files import RESULT, Trust, check_outputs
from .output import console, errors, sentence
from .run import NOT_REACHED
from .stopping import signals
from .telling import tell

LOOPBACK = ("127.0.0.1", "localhost", "::1")


def rate_of(text: str) -> float:
    """In Hz, of "1 kHz" or "500"."""
    found = re.fullmatch(r"\s*([0-9.]+(?:[eE][+-]?[0-9]+)?)\s*(k?)(?:Hz)?\s*", text)
    rate = float(found[1]) * (1e3 if found[2] else 1.0) if found and found[1].count(".") < 2 else 0.0
    if not 0.0 < rate <= 1e5:
        raise typer.BadParameter(f"'{text}': expected a rate up to 100 kHz, such as 1kHz.", param_hint="--rate")
    return rate


def go_before_others() -> None:
    """Real-time scheduling, at the lowest of its priorities: above all that has none."""
    if not hasattr(os, "sched_setscheduler"):
        raise typer.BadParameter("this system has no real-time scheduling.", param_hint="--realtime")
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(os.sched_get_priority_min(os.SCHED_FIFO)))
    except PermissionError:
        raise typer.BadParameter(
            "the system does not allow it to this user. Allow it (ulimit -r, CAP_SYS_NICE), or leave it out.",
            param_hint="--realtime",
        ) from None


def _listening(sim: Any, dt: float, host: str, port: int) -> Any:
    from ..serving import Server

    try:
        return Server(sim, dt, host, port)
    except (OSError, TypeError, UnicodeError) as error:
        raise ValueError(f"cannot listen at '{host}', port {port}: {error}. Choose another --host or --port.") from None


def serve(
    scenario: Annotated[
        Path, typer.Argument(help="Scenario file (.toml) of one craft.", exists=True, dir_okay=False, readable=True)
    ],
    rate: Annotated[str, typer.Option(help="Steps per second, such as 1kHz.")] = "1kHz",
    host: Annotated[str, typer.Option(help="Address to listen at; this machine alone by default.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="0 takes a free one.", min=0, max=65535)] = 8090,
    realtime: Annotated[
        bool, typer.Option("--realtime", help="Go before other programs of this machine; the system must allow it.")
    ] = False,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Keep the run, .nc or .mat.")] = None,
    trust: Trust = False,
) -> None:
    """Step a SCENARIO against the clock on the wall: loads come in, states go out over a socket. The law of the file
    does not act. It ends when the scenario's time is over, when the client leaves, or by Ctrl-C.
    """
    from ..scenario import load

    dt = 1.0 / rate_of(rate)
    check_outputs([scenario], {"--out": (out, RESULT)})
    with signals() as stopping:
        try:
            work = load(scenario, trust=trust)
            sim = work.simulation(record=out is not None)
            sim.step({}, dt)  # everything is compiled before the clock runs
            sim.reset(work.q0, work.v0)
            if work.options.get("control") is not None:
                errors().print(sentence("note: the control law of the file does not act; loads come from the client."))
            if host not in LOOPBACK:
                errors().print(sentence(f"note: whoever reaches {host} can load the craft."), style="yellow")
            with _listening(sim, dt, host, port) as server:
                if realtime:
                    go_before_others()
                stopping()  # from now on a signal asks, and the report is printed
                where = "{}:{}".format(*server.address)
                typer.echo(f"{printable(work.name)}: listening at {where}, {1.0 / dt:g} steps per second")
                report = server.serve(round(work.duration / dt), stopping)
        except KeyboardInterrupt:
            raise typer.Exit(stopping.exit_code) from None
        for words in report.told:
            errors().print(sentence(f"note: a client was refused: {words}"), style="yellow")
        console().print(Text(printable(str(report))), soft_wrap=True)
        if out is not None:
            with stopping.saving():
                trajectory = sim.trajectory()
                trajectory.save(out)
            tell(console(), trajectory)
            console().print(Text(printable(f"wrote {out}"), style="green"), soft_wrap=True)
    if stopping.received is not None:
        raise typer.Exit(stopping.exit_code)
    raise typer.Exit(NOT_REACHED if report.failed else 0)
