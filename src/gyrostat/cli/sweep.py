"""`gyrostat sweep`: the campaign of a scenario file; its answer, its page, and any of its runs alone."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from rich.text import Text

from ..model.names import printable
from .campaign_telling import tell_campaign
from .files import OUTCOMES, REPORT, SCENE, Trust, check_outputs
from .keeping import keep
from .output import command, console, errors, sentence
from .run import INTERRUPTED, NOT_MET, NOT_REACHED
from .stopping import signals
from .telling import tell

if TYPE_CHECKING:
    from ..campaigns import Campaign
    from ..scenario import Scenario


def sweep(
    scenario: Annotated[
        Path,
        typer.Argument(help="Scenario file with a [campaign] (.toml).", exists=True, dir_okay=False, readable=True),
    ],
    runs: Annotated[int | None, typer.Option(help="In place of the file's.", min=1)] = None,
    seed: Annotated[int | None, typer.Option(help="In place of the file's.", min=0)] = None,
    store: Annotated[
        Path | None, typer.Option(help="Folder that keeps the runs.", show_default="SCENARIO.campaign here")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Make only what is missing in the store.")] = False,
    shard: Annotated[
        str | None, typer.Option(help="The i-th of n parts, of a job array: they share one store.", metavar="I/N")
    ] = None,
    executor: Annotated[str, typer.Option(help="local: all cores of this machine. dask: a cluster.")] = "local",
    scheduler: Annotated[
        str | None, typer.Option(help="Of a Dask cluster; without it, one of this machine's cores.", metavar="ADDRESS")
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Write the page: one HTML file.")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Outcomes and dispersed values (.nc); of a case, its result.")
    ] = None,
    case: Annotated[int | None, typer.Option(help="One run alone, as it was in the campaign.", min=0)] = None,
    scene: Annotated[
        Path | None, typer.Option(help="Animated 3-D scene: of the case, or of the worst runs side by side.")
    ] = None,
    histories: Annotated[
        Path | None, typer.Option(help="Zarr store of the runs over time (.zarr), a chunk for each block of runs.")
    ] = None,
    histories_of: Annotated[
        str | None, typer.Option(help="Which runs, such as 3,17,100-149.", show_default="all of them", metavar="RUNS")
    ] = None,
    trust: Trust = False,
) -> None:
    """Run the campaign of a SCENARIO: many dispersed runs, and whether what is required of them is met.

    What is made is kept in the store, block by block; Ctrl-C loses nothing that was complete.
    """
    from ..scenario import load

    if case is not None and (resume or shard is not None):
        raise typer.BadParameter("one run alone needs no store: leave out --resume and --shard.", param_hint="--case")
    pages = {"--report": (report, REPORT), "--scene": (scene, SCENE)}
    check_outputs([scenario], {**pages, "--out": (out, OUTCOMES)})
    if histories is not None and histories.suffix != ".zarr":
        raise typer.BadParameter(f"'{histories}': histories are written as a store, .zarr.", param_hint="--histories")
    chosen = _which(histories, histories_of, case, resume)
    place = Path(f"{scenario.stem}.campaign") if store is None else store
    how = {"executor": _executor(executor, scheduler), "shard": _shard(shard), "store": place, "resume": resume}
    again = _again(scenario, runs, seed)
    with signals() as stopping:
        work = load(scenario, trust=trust)
        if case is not None:
            raise typer.Exit(_one(work, case, {"runs": runs, "seed": seed}, _Pages(report, scene, out)))
        try:
            code = _all(
                work,
                {"runs": runs, "seed": seed, **how},
                again,
                _Pages(report, scene, out, histories, chosen),
                stopping,
            )
        except KeyboardInterrupt:
            errors().print(sentence(f"{stopping.words}. The blocks that are complete are kept in '{place}'."))
            errors().print(sentence(f"Go on with:   {again}{_of_store(store)} --resume"))
            raise typer.Exit(stopping.exit_code) from None
    raise typer.Exit(code)


class _Pages(NamedTuple):
    """What is asked for."""

    report: Path | None
    scene: Path | None
    out: Path | None
    histories: Path | None = None
    chosen: list[int] | None = None

    @property
    def link(self) -> str:
        """From the report to the scene, where they lie side by side."""
        if self.scene is None or self.report is None or self.scene.resolve().parent != self.report.resolve().parent:
            return ""
        return self.scene.name


def _all(work: Scenario, how: dict[str, Any], again: str, pages: _Pages, stopping: Any) -> int:
    """The campaign, told and written; the exit code."""
    from ..simulation.engine.interruption import stop_when

    screen, written = console(), []
    with stop_when(stopping):
        found = work.sweep(**how)
        if pages.histories is not None:
            if found.complete or found.confidences:
                written.append(found.save_histories(pages.histories, pages.chosen, resume=how["resume"]))
            else:
                errors().print(sentence("Histories are written when no run is missing: --resume, without --shard."))
    alone = f"{again} --case {{k}} --report case-{{k}}.html --scene case-{{k}}-scene.html"
    tell_campaign(screen, found, alone)
    if pages.out is not None:
        written.append(found.save(pages.out))
    if pages.scene is not None:
        written.append(found.scene(found.plan.outcomes[0].name, pages.scene, title=f"{work.name}: the worst runs"))
    if pages.report is not None:
        written.append(found.report(pages.report, title=work.name, command=alone, scene=pages.link))
    for path in (*written, how["store"]):
        screen.print(Text(printable(f"wrote {path}"), style="green"), soft_wrap=True)
    return exit_code(found)


def exit_code(found: Campaign) -> int:
    """4 unless all that is required is shown; a part of a campaign is not judged."""
    if not found.complete and not found.confidences:
        return 0
    if found.requirements and found.met is not True:
        return NOT_MET
    return NOT_REACHED if len(found.failures) == found.runs else 0


def _one(work: Scenario, k: int, which: dict[str, Any], pages: _Pages) -> int:
    """Run k alone with its histories; the exit code."""
    from ..view.report import write_report

    screen = console()
    trajectory = work.case(k, **which)
    title = f"{work.name}: run {k}"
    screen.print(Text(printable(title), style="bold"), soft_wrap=True)
    tell(screen, trajectory)
    for name, value in trajectory.outcomes.items():
        screen.print(Text(printable(f"  {name} = {float(value[0]):.17g}")), soft_wrap=True)
    own = Path(f"{work.path.stem if work.path else 'scenario'}-{k}.nc")
    written, problem = keep(trajectory, pages.out or own)
    if pages.scene is not None:
        written.append(trajectory.to_html(pages.scene, title=title))
    if pages.report is not None:
        written.append(write_report(trajectory, pages.report, title=title, scenario=work.text, scene=pages.link))
    for path in written:
        screen.print(Text(printable(f"wrote {path}"), style="green"), soft_wrap=True)
    if problem:
        errors().print(sentence(problem), style="bold red")
    return INTERRUPTED if trajectory.interrupted else NOT_REACHED if trajectory.failures else 1 if problem else 0


def _again(scenario: Path, runs: int | None, seed: int | None) -> str:
    given = "".join(f" --{name} {x}" for name, x in (("runs", runs), ("seed", seed)) if x is not None)
    return f"{command()} sweep {shlex.quote(str(scenario))}{given}"


def _of_store(store: Path | None) -> str:
    return "" if store is None else f" --store {shlex.quote(str(store))}"


def _executor(executor: str, scheduler: str | None) -> str | None:
    if executor not in ("local", "dask"):
        raise typer.BadParameter(f"'{executor}': expected local or dask.", param_hint="--executor")
    return f"dask:{scheduler}" if scheduler else "dask" if executor == "dask" else None


def _shard(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    i, slash, n = text.partition("/")
    if not (slash and i.isdecimal() and n.isdecimal() and 1 <= int(i) <= int(n)):
        raise typer.BadParameter(f"'{text}': expected the i-th of n parts, such as 2/8.", param_hint="--shard")
    return int(i), int(n)


def _which(histories: Path | None, text: str | None, case: int | None, resume: bool) -> list[int] | None:
    """Whose histories; None for all."""
    if histories is None:
        if text is not None:
            raise typer.BadParameter("of which store? Give --histories PATH.zarr, too.", param_hint="--histories-of")
        return None
    if case is not None:
        raise typer.BadParameter("one run alone goes into --out case.nc.", param_hint="--histories")
    if histories.exists() and not resume:
        raise typer.BadParameter(
            f"'{histories}' is there already. Go on with it: --resume; or choose another.", param_hint="--histories"
        )
    if text is None:
        return None
    found: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not (first.isdecimal() and (not dash or last.isdecimal())) or (dash and int(last) < int(first)):
            raise typer.BadParameter(f"'{part}': expected runs such as 3,17,100-149.", param_hint="--histories-of")
        found += range(int(first), int(last or first) + 1)
    return found
