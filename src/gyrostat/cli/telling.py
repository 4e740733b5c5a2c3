"""What is said about a run on the terminal: its summary, what a person must know first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..model.names import printable
from ..simulation.result.audit import FAIR, GOOD, drift_words

if TYPE_CHECKING:
    from ..simulation import Trajectory
    from ..simulation.result.summary import Summary

STYLES = {"good": "bold green", "fair": "bold yellow", "poor": "bold red"}


def tell(screen: Console, trajectory: Trajectory) -> None:
    """The summary of a run, and how it was computed."""
    summary, state = trajectory.summary, trajectory.state
    tell_verdict(screen, summary)
    steps, rejected = int(state.steps.sum()), int(state.rejections.sum())
    screen.print(f"{steps} steps ({rejected} rejected), {trajectory.data.attrs['integrator']}")
    tell_details(screen, summary)


def tell_verdict(screen: Console, summary: Summary) -> None:
    """Did it work, and what happened."""
    verdict = summary.verdict[0].upper() + summary.verdict[1:]
    screen.print(Text(printable(f"{verdict}."), style=STYLES[summary.level]), soft_wrap=True)
    for requirement in summary.requirements:
        style = "green" if requirement.met else "bold red"
        screen.print(Text(printable(f"  {requirement}"), style=style), soft_wrap=True)
    for row in summary.happened:
        screen.print(Text(printable(f"  {row}")), soft_wrap=True)


def tell_details(screen: Console, summary: Summary) -> None:
    """Figures, notes and the audit."""
    if summary.figures:
        table = Table("figure", "peak", "limit", "at the end", "", box=None)
        for column in table.columns[1:4]:
            column.justify = "right"
        for row in summary.figures:
            peak, final = (("" if x is None else f"{x:.4g} {row.unit}") for x in (row.peak, row.final))
            share = row.share
            style = "" if share is None or share < 1.0 - 1e-9 else "yellow"
            limit = "" if row.limit is None else f"{row.limit:.4g} {row.unit}"
            where = "" if row.run is None else f"in run {row.run}"
            table.add_row(Text(printable(row.name), style=style), peak, limit, final, where)
        screen.print(table)
    for note in summary.notes:
        screen.print(Text(printable(f"note: {note}")), soft_wrap=True)
    table = Table("audit", "relative drift", box=None)
    table.columns[1].justify = "right"
    for name, drift in summary.audit:
        style = "yellow" if drift is None else "green" if drift < GOOD else "yellow" if drift < FAIR else "bold red"
        table.add_row(name, Text(drift_words(drift), style=style))
    screen.print(table)
    for line in summary.warnings:
        screen.print(Text(printable(f"audit: {line}"), style="yellow"), soft_wrap=True)
