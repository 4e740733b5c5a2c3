"""What is said about a campaign on the terminal: the answer first, then figures, what drives them, the worst runs."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..campaigns.requirements import Judged
from ..model.names import printable

if TYPE_CHECKING:
    from ..campaigns import Campaign

STYLES = {Judged.met: "bold green", Judged.not_met: "bold red", Judged.open: "bold yellow"}
SHARES = (0.01, 0.5, 0.99)
MOST_REASONS = 5
WORST = 3


def tell_campaign(screen: Console, found: Campaign, alone: str) -> None:
    """alone: the command that runs case {k} by itself."""
    plan = found.plan
    _say(screen, f"{plan.craft.name}: {found.runs} of {plan.runs} runs, {len(found.failures)} failed", "bold")
    if found.complete or found.confidences:
        for verdict in found.verdicts:
            _say(screen, f"  {verdict}", STYLES[verdict.judged])
    elif found.requirements:
        _say(screen, "  Requirements are judged when no run is missing: --resume, without --shard.", "yellow")
    for note in found.told_precision:
        _say(screen, f"  {note}", "yellow" if note.otherwise else "")
    for why, count in Counter(_reason(why) for why in found.failures.values()).most_common(MOST_REASONS):
        _say(screen, f"  failed: {count} x {why}", "red")
    if found.runs > len(found.failures):
        screen.print(_figures(found))
    _worst(screen, found, alone)


def _figures(found: Campaign) -> Table:
    table = Table("outcome", *(f"{100 * share:g} %" for share in SHARES), "least", "largest", "driven by", box=None)
    for column in table.columns[1:6]:
        column.justify = "right"
    for one in found.plan.outcomes:
        shown = found.shown(one)
        values = shown.factor * found.outcomes[one.name]
        seen = values[np.isfinite(values)]
        numbers = [*np.quantile(seen, SHARES), seen.min(), seen.max()] if len(seen) else []
        drivers = [d for d in found.drivers(one.name, 2) if d.chance < 1e-3]
        names = ", ".join(f"{d.name} ({d.correlation:+.2f})" for d in drivers)
        cells = [f"{x:.4g}" for x in numbers] or [""] * 5
        table.add_row(Text(printable(shown.title)), *cells, Text(printable(names)))
    return table


def _worst(screen: Console, found: Campaign, alone: str) -> None:
    for one in found.plan.outcomes:
        shown = found.shown(one)
        cases = ", ".join(f"{k} ({_number(shown.factor * x, shown.unit)})" for k, x in found.worst(one.name, WORST))
        if cases:
            _say(screen, f"worst {one.name}: run {cases}")
    if found.runs:
        k = found.worst(found.plan.outcomes[0].name, 1)[0][0]
        _say(screen, f"alone, with its histories:   {alone.replace('{k}', str(k))}")


def _number(x: float, unit: str) -> str:
    return f"{x:.4g} {unit}".rstrip()


def _reason(why: str) -> str:
    """Without the time, which differs from run to run."""
    return why.partition(" at t = ")[0]


def _say(screen: Console, text: str, style: str = "") -> None:
    screen.print(Text(printable(text), style=style), soft_wrap=True)
