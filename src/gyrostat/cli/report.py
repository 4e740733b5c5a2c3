"""`gyrostat report`: plots and audit of a result, or of two side by side."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from ..model.names import name_of, printable
from .files import REPORT, SCENE, check_outputs
from .output import console
from .telling import tell

About = Annotated[
    str | None,
    typer.Option(help="Body, frame or member in the middle; 'orbit': the point that N follows.", show_default="chief"),
]
Axes = Annotated[str | None, typer.Option(help="Of the scene: inertial, hill or body.", show_default="hill in orbits")]
Sun = Annotated[str | None, typer.Option(help="Date of t = 0, for day and night, such as 2030-03-01.", metavar="DATE")]


def report(
    result: Annotated[
        Path, typer.Argument(help="Result of a run (.nc or .mat).", exists=True, dir_okay=False, readable=True)
    ],
    compare: Annotated[
        Path | None,
        typer.Option(help="Another result of the same craft, dashed in every plot.", exists=True, dir_okay=False),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="File to write.", show_default="RESULT.html here")
    ] = None,
    scene: Annotated[Path | None, typer.Option(help="Write the animated 3-D scene, too.")] = None,
    about: About = None,
    axes: Axes = None,
    sun: Sun = None,
) -> None:
    """Write a report about a RESULT that `gyrostat run` or `Trajectory.save` kept."""
    from ..io.results_any import load_result
    from ..view.report import write_report

    out = Path(f"{result.stem}.html") if out is None else out
    check_outputs([result, compare], {"--out": (out, REPORT), "--scene": (scene, SCENE)})
    trajectory = load_result(result)
    other = None if compare is None else load_result(compare)
    screen = console()
    tell(screen, trajectory)
    text = trajectory.data.attrs.get("scenario")
    title = _title(text) or name_of(result)
    if scene is not None:
        trajectory.to_html(scene, title=title, about=about, axes=axes, sun=sun)
    link = scene.name if scene is not None and scene.resolve().parent == out.resolve().parent else ""
    names = (name_of(result), "" if compare is None else name_of(compare))
    write_report(trajectory, out, title=title, scenario=text, scene=link, compare=other, names=names)
    for path in filter(None, (out, scene)):
        screen.print(Text(printable(f"wrote {path}"), style="green"), soft_wrap=True)


def _title(scenario: str | None) -> str:
    """That of the scenario that was run; empty if there is none."""
    try:
        return str(tomllib.loads(scenario or "").get("name", ""))
    except tomllib.TOMLDecodeError:
        return ""
