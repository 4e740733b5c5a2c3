"""`gyrostat film`: a result as a video."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress
from rich.text import Text

from ..model.names import name_of, printable
from .output import console, errors
from .report import About, Axes, Sun


def film(
    result: Annotated[Path, typer.Argument(help="Result of a run (.nc).", exists=True, dir_okay=False, readable=True)],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help=".mp4, .mkv or .mov.", show_default="RESULT.mp4 here")
    ] = None,
    rate: Annotated[float, typer.Option(help="Pictures per second.")] = 25.0,
    speed: Annotated[
        float | None, typer.Option(help="Seconds of the run per second of film.", show_default="a minute at most")
    ] = None,
    size: Annotated[str, typer.Option(help="Width and height in pixels.", metavar="WxH")] = "1280x720",
    run: Annotated[int, typer.Option(help="Which run of a batch.", min=0)] = 0,
    about: About = None,
    axes: Axes = None,
    sun: Sun = None,
) -> None:
    """Film the scene of a RESULT. Needs Chromium, and an encoder: pip install 'gyrostat\\[film]'."""
    from ..io.results_any import load_result
    from ..view.video import film as make

    wide, _, high = size.partition("x")
    if not (wide.isdigit() and high.isdigit()):
        raise typer.BadParameter(f"'{size}': expected two numbers, as in 1280x720.", param_hint="--size")
    out = Path(f"{result.stem}.mp4") if out is None else out
    trajectory = load_result(result)
    if run >= (count := len(trajectory.state.t)):
        raise typer.BadParameter(f"there are runs 0 to {count - 1}.", param_hint="--run")
    with Progress(console=errors(), transient=True) as bar:
        task = bar.add_task("pictures", total=None)
        make(
            trajectory, out, rate=rate, size=(int(wide), int(high)), speed=speed, title=name_of(result), run=run,
            about=about, axes=axes, sun=sun, progress=lambda k, of: bar.update(task, completed=k, total=of),
        )  # fmt: skip
    console().print(Text(printable(f"wrote {out}"), style="green"), soft_wrap=True)
