"""`gyrostat run`: a scenario file in; a result, its audit, a report and a scene out."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.text import Text

from ..io.writing import WriteError, check_writable
from ..model.names import printable
from .files import PICTURE, REPORT, RESULT, SCENE, Trust, check_outputs
from .keeping import keep, keep_part, partial_of
from .output import command, console, errors, sentence
from .stopping import Stopping, signals
from .telling import tell
from .times import seconds

if TYPE_CHECKING:
    from ..scenario import Scenario
    from ..simulation import Trajectory

INTERRUPTED = 130  # of a run that has made all the steps it may
NOT_REACHED = 3  # exit code of a run that blew up
NOT_MET = 4  # of one that missed a requirement, or the event that a phase waits for


def run(
    scenario: Annotated[
        Path, typer.Argument(help="Scenario file (.toml).", exists=True, dir_okay=False, readable=True)
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Result file, .nc or .mat.", show_default="SCENARIO.nc here")
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Write a report with plots: one HTML file.")] = None,
    scene: Annotated[Path | None, typer.Option(help="Write the animated 3-D scene: one HTML file.")] = None,
    plot: Annotated[bool, typer.Option("--plot", help="Write the plots as SCENARIO.png.")] = False,
    compact: Annotated[
        bool, typer.Option("--compact", help="Keep the result compressed, with seven digits over time.")
    ] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from what an interrupted run left (OUT.partial.nc).")
    ] = False,
    checkpoint_every: Annotated[
        str | None,
        typer.Option(help='Keep what there is so often, such as "10 min", in OUT.partial.nc.', metavar="TIME"),
    ] = None,
    view: Annotated[bool, typer.Option("--view", help="Show the run in the browser at the end.")] = False,
    port: Annotated[int, typer.Option(help="For --view.", min=1, max=65535)] = 8080,
    trust: Trust = False,
) -> None:
    """Run a SCENARIO and keep its result. Ctrl-C, or a signal to terminate, stops it and keeps what there is."""
    from ..scenario import load

    out = Path(f"{scenario.stem}.nc") if out is None else out
    wanted = _Wanted(out, report, scene, Path(f"{scenario.stem}.png") if plot else None, compact, trust)
    wanted.check(scenario)
    every = seconds(checkpoint_every, "--checkpoint-every")
    with signals() as stopping:
        try:
            work = load(scenario, trust=trust)
            work.require_told()
            trajectory, code = _run(work, scenario, wanted, resume, every, stopping)
        except KeyboardInterrupt:
            errors().print(f"{stopping.words} before there was anything to keep.")
            raise typer.Exit(stopping.exit_code) from None
    if view:
        from .view import serve

        serve(trajectory.craft, trajectory, port=port)
    raise typer.Exit(code)


@dataclass(frozen=True)
class _Wanted:
    """The files that a run is asked for."""

    out: Path
    report: Path | None
    scene: Path | None
    picture: Path | None
    compact: bool
    trust: bool

    def check(self, scenario: Path) -> None:
        """Before a long run: each has the suffix of its kind and a name of its own, and none is the input."""
        pages = {"--report": (self.report, REPORT), "--scene": (self.scene, SCENE)}
        check_outputs([scenario], {"--out": (self.out, RESULT), **pages, "--plot": (self.picture, PICTURE)})
        check_writable(partial_of(self.out))

    def again(self, scenario: Path) -> str:
        """The command that goes on from what there is."""
        out = "" if self.out == Path(f"{scenario.stem}.nc") else f" --out {self.out}"
        return f"{command()} run {scenario}{out}{' --trust' if self.trust else ''} --resume"


def _run(
    work: Scenario, scenario: Path, wanted: _Wanted, resume: bool, every: float | None, stopping: Stopping
) -> tuple[Trajectory, int]:
    """The run, saved, and the exit code."""
    from ..simulation.engine.interruption import stop_when
    from ..simulation.result.summary import remember

    partial = partial_of(wanted.out)
    _check_partial(partial, resume)
    screen = console()
    screen.print(Text(printable(f"{work.name}: {work.craft.name}, {work.lasts}"), style="bold"), soft_wrap=True)
    options: dict[str, Any] = {"resume": partial} if resume else {}
    if every is not None:
        options |= {"checkpoint": partial, "checkpoint_every": every}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for category in (DeprecationWarning, PendingDeprecationWarning):  # of libraries, to those who write programs
            warnings.simplefilter("ignore", category)
        made: Any = None
        try:
            with stop_when(stopping):
                made = work.run(**options)
            trajectory = work.told(made)
        except Exception as error:
            with stopping.saving():
                _keep_what_there_is(getattr(error, "trajectory", made), scenario, wanted)
            raise
        remember(trajectory, [str(w.message) for w in caught])
        told = len(caught)
        with stopping.saving():
            kept, problem = keep(trajectory, wanted.out, made, compact=wanted.compact)
            if not trajectory.interrupted and not problem and (resume or every is not None):
                partial.unlink(missing_ok=True)  # the complete one has taken its place
        pictures, problems = _write_pictures(work, trajectory, wanted) if stopping.received is None else ([], [])
    for message in dict.fromkeys(str(w.message) for w in caught[told:]):
        errors().print(sentence(f"note: {message}"), style="yellow")
    tell(screen, trajectory)
    for path in (*kept, *pictures):
        screen.print(Text(printable(f"wrote {path}"), style="green"), soft_wrap=True)
    if not trajectory.ok:
        print_unfinished(trajectory, kept[-1], scenario, wanted, stopping)
    for text in filter(None, (problem, *problems)):
        errors().print(sentence(text), style="bold red")
    if stopping.received is not None:
        return trajectory, stopping.exit_code
    summary = trajectory.summary
    if any(row.what == "missed" for row in summary.happened) or (not summary.met and not trajectory.failures):
        return trajectory, NOT_MET
    if trajectory.failures:
        return trajectory, NOT_REACHED
    return trajectory, INTERRUPTED if trajectory.interrupted else 1 if problem or problems else 0


def _keep_what_there_is(left: Any, scenario: Path, wanted: _Wanted) -> None:
    """Of a run that an exception ended, such as one of a law in Python."""
    if left is None:
        return
    try:
        kept, problem = keep_part(left, wanted.out)
    except Exception as error:  # noqa: BLE001  (the law that ended it may not even tell its loads)
        errors().print(sentence(f"What there is of the run could not be kept: {error}"), style="yellow")
    else:
        words = f"{problem} The run has ended early. What there is was kept in '{kept[-1]}'."
        errors().print(sentence(words.strip()), style="yellow")
        errors().print(sentence(f"Once what is wrong is mended, go on with:   {wanted.again(scenario)}"))


def _check_partial(partial: Path, resume: bool) -> None:
    """What an interrupted run has left is there to go on from; without --resume it is only mentioned."""
    if resume and not partial.is_file():
        raise ValueError(f"--resume: there is no '{partial}' to go on from. Run it without --resume.")
    if not resume and partial.is_file():
        errors().print(
            sentence(
                f"note: '{partial}' holds an interrupted run. This one begins anew; --resume would go on from there."
            )
        )


def _write_pictures(work: Scenario, trajectory: Trajectory, wanted: _Wanted) -> tuple[list[Path], list[str]]:
    """Report, scene and plots, and words about those that could not be written: the result is safe already."""
    scene = wanted.scene

    def report(path: Path) -> Path:
        from ..view.report import write_report

        link = scene.name if scene is not None and scene.resolve().parent == path.resolve().parent else ""
        return write_report(trajectory, path, title=work.name, scenario=work.text, scene=link)

    def picture(path: Path) -> Path:
        from ..io.writing import write_figure

        return write_figure(path, trajectory.plot())

    written: list[Path] = []
    problems: list[str] = []
    writers = (
        (wanted.report, report),
        (scene, lambda path: trajectory.to_html(path, title=work.name)),
        (wanted.picture, picture),
    )
    for path, write in writers:
        if path is not None:
            try:
                written.append(write(path))
            except WriteError as error:
                problems.append(str(error))
    return written, problems


def print_unfinished(trajectory: Trajectory, kept: Path, scenario: Path, wanted: _Wanted, stopping: Stopping) -> None:
    """Why the run ended early, where its last good state is, and how to go on."""
    for message in trajectory.failures:
        errors().print(sentence(message), style="bold red")
    if trajectory.failures:
        errors().print(sentence(f"The last good state is in '{kept}' (variables state_t and state_y)."))
        return
    words = stopping.words if stopping.received is not None else "Stopped"
    reached = f"{words} at t = {float(np.min(trajectory.t_end)):.6g} s. What there is was kept in '{kept}'."
    errors().print(sentence(reached), style="yellow")
    errors().print(sentence(f"Go on with:   {wanted.again(scenario)}"))
