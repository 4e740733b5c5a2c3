"""`gyrostat run`: a scenario file in; a result, its audit, a report and a scene out."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..io.writing import check_writable
from .files import Trust
from .output import console, errors, safe, sentence

if TYPE_CHECKING:
    from ..scenario import Scenario
    from ..simulation import Trajectory

BLEW_UP, INTERRUPTED = 3, 130
GOOD, FAIR = 1e-9, 1e-5


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
    view: Annotated[bool, typer.Option("--view", help="Show the run in the browser at the end.")] = False,
    port: Annotated[int, typer.Option(help="For --view.", min=1, max=65535)] = 8080,
    trust: Trust = False,
) -> None:
    """Run a SCENARIO and keep its result. Ctrl-C stops it and keeps what there is."""
    from ..scenario import load

    out = Path(f"{scenario.stem}.nc") if out is None else out
    if out.suffix not in (".nc", ".mat"):
        raise typer.BadParameter(f"'{out}': results are written as .nc or .mat.", param_hint="--out")
    picture = Path(f"{scenario.stem}.png") if plot else None
    work = load(scenario, trust=trust)
    check_writable(out, report, scene, picture)
    screen = console()
    screen.print(Text(safe(f"{work.name}: {work.craft.name}, {work.duration:g} s"), style="bold"), soft_wrap=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        trajectory = work.simulate()
    for message in dict.fromkeys(str(w.message) for w in caught if str(w.message) not in trajectory.failures):
        errors().print(sentence(f"note: {message}"), style="yellow")
    print_audit(screen, trajectory)
    written = [trajectory.save(out)]
    if trajectory.failures or trajectory.interrupted:
        if out.suffix == ".mat":  # NetCDF alone holds the state to go on from
            written.append(trajectory.save(out.with_suffix(".nc")))
        print_unfinished(trajectory, out.with_suffix(".nc"))
    if report is not None:
        from ..view.report import write_report

        link = scene.name if scene is not None and scene.resolve().parent == report.resolve().parent else ""
        written.append(write_report(trajectory, report, title=work.name, scenario=work.text, scene=link))
    if scene is not None:
        written.append(write_scene(work, trajectory, scene))
    if picture is not None:
        from ..io.writing import write_figure

        written.append(write_figure(picture, trajectory.plot()))
    for path in written:
        screen.print(Text(safe(f"wrote {path}"), style="green"), soft_wrap=True)
    if view:
        from .view import serve

        serve(trajectory.craft, trajectory, port=port)
    if trajectory.failures:
        raise typer.Exit(BLEW_UP)
    if trajectory.interrupted:
        raise typer.Exit(INTERRUPTED)


def write_scene(work: Scenario, trajectory: Trajectory, path: Path) -> Path:
    """The animated page: a formation in the Hill frame of its orbit, everything else in inertial axes."""
    orbit = getattr(work, "orbit", None)
    if orbit is None:
        return trajectory.to_html(path, title=work.name)
    from ..view.formation_scene import tree_to_html

    return tree_to_html(trajectory, orbit, path, title=work.name)


def print_audit(screen: Console, trajectory: Trajectory) -> None:
    """Steps, and how well momentum and energy were kept."""
    state = trajectory.state
    steps, rejected = int(state.steps.sum()), int(state.rejections.sum())
    screen.print(f"{steps} steps ({rejected} rejected), {trajectory.data.attrs['integrator']}")
    told = "\n".join(str(trajectory.data.attrs.get(name, "")) for name in ("phases", "formation"))
    for line in (*filter(None, told.splitlines()), *(f"note: {note}" for note in trajectory.notes)):
        screen.print(Text(safe(line)), soft_wrap=True)
    table = Table("audit", "relative drift", box=None)
    table.columns[1].justify = "right"
    for name, drift in trajectory.audit.rows():
        style = "green" if drift < GOOD else "yellow" if drift < FAIR else "bold red"
        table.add_row(name, Text(f"{drift:.1e}", style=style))
    screen.print(table)


def print_unfinished(trajectory: Trajectory, out: Path) -> None:
    """Why the run ended early, and where its last good state is."""
    for message in trajectory.failures:
        errors().print(sentence(message), style="bold red")
    if trajectory.interrupted and not trajectory.failures:
        errors().print(
            sentence(f"Stopped at t = {float(np.min(trajectory.state.t)):.6g} s. What there is was kept."),
            style="yellow",
        )
    errors().print(sentence(f"The last good state is in '{out}' (variables state_t and state_y)."))
