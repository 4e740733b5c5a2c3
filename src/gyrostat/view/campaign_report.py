"""The page of a campaign: the answer first, then distributions and limits, what drives them, worst cases."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra import Array
from ..campaigns.requirements import Judged
from ..io.writing import write_text
from .style import PALETTE, adaptive_svg, figure_style

if TYPE_CHECKING:
    from ..campaigns import Campaign

GRADES = {Judged.met: "good", Judged.not_met: "poor", Judged.open: "fair"}
PERCENTS = (50.0, 95.0, 99.0, 99.7)
MOST_POINTS = 2000  # of a scatter
MOST_CASES = 5


def write_campaign_report(campaign: Campaign, path: str | Path, *, title: str | None = None, command: str = "") -> Path:
    """command: that reruns one case, with {k} where its number stands."""
    import jinja2

    loader = jinja2.PackageLoader("gyrostat.view", "templates")
    environment = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    plan = campaign.plan
    page = environment.get_template("campaign.html").render(
        title=title or f"{plan.craft.name}: campaign",
        verdicts=[(v.judged.value, GRADES[v.judged], str(v)) for v in campaign.verdicts],
        facts=[
            ("Spacecraft", plan.craft.name),
            ("Runs", f"{campaign.runs} of {plan.runs}"),
            ("Failed", str(len(campaign.failures))),
            ("Seed", str(plan.seed)),
            ("Sampling", plan.sampling),
            ("Time", f"{plan.t_span[0]:g} to {plan.t_span[1]:g} s"),
        ],
        dispersions=[(", ".join(names), str(how)) for names, how in plan.dispersions.items()],
        percents=PERCENTS,
        outcomes=[_outcome(campaign, one.name, str(one), command) for one in plan.outcomes],
        failures=sorted(campaign.failures.items())[:20],
        command=command,
    )
    return write_text(path, page)


def _outcome(campaign: Campaign, name: str, title: str, command: str) -> dict[str, Any]:
    values = campaign.outcomes[name]
    seen = np.isfinite(values)
    limits = [one.limit for one in campaign.requirements if one.outcome == name]
    drivers = campaign.drivers(name, 8)
    pictures = []
    if seen.sum() > 1:
        pictures = [_histogram(values[seen], title, limits), _distribution(values[seen], title, limits, len(values))]
        pictures += [_scatter(campaign.values[one.name][seen], values[seen], one.name, title) for one in drivers[:2]]
    independent = campaign.plan.sampling in ("random", "saltelli")
    rows = [campaign.percentile(name, p) for p in PERCENTS] if independent else []
    return {
        "name": title,
        "percentiles": [(f"{x.value:.5g}", f"{x.low:.5g} to {x.high:.5g}") for x in rows],
        "pictures": pictures,
        "drivers": [(d.name, f"{d.correlation:+.3f}", f"{d.chance:.1e}") for d in drivers],
        "worst": [(k, f"{x:.6g}", command.replace("{k}", str(k))) for k, x in campaign.worst(name, MOST_CASES)],
    }


def _axes(title: str, x: str, y: str) -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 2.8), layout="constrained")
    at = figure.subplots()
    at.set_title(title)
    at.set(xlabel=x, ylabel=y)
    return figure, at


def _limits(at: Any, limits: list[float]) -> None:
    for limit in limits:
        at.axvline(limit, color=PALETTE[4], linewidth=1.2, linestyle=(0, (4, 2)))


def _histogram(values: Array, title: str, limits: list[float]) -> str:
    with figure_style(adaptive=True):
        figure, at = _axes("Histogram", title, "runs")
        at.hist(values, bins=min(60, max(8, int(np.sqrt(len(values))))), color=PALETTE[0], alpha=0.8)
        _limits(at, limits)
        return adaptive_svg(figure)


def _distribution(values: Array, title: str, limits: list[float], runs: int) -> str:
    """The share of runs beyond each value, where tails can be seen; runs that failed are beyond all."""
    with figure_style(adaptive=True):
        figure, at = _axes("Share of runs beyond, logarithmic", title, "share")
        x = np.sort(values)
        keep = np.unique(np.geomspace(1, len(x), 800).astype(int))
        at.step(x[-keep], (keep + runs - len(x)) / runs, color=PALETTE[0], where="post")
        at.set_yscale("log")
        at.yaxis.set_major_formatter(lambda share, _: f"{share:g}")  # names may hold $: no formula is drawn here
        _limits(at, limits)
        return adaptive_svg(figure)


def _scatter(x: Array, y: Array, name: str, title: str) -> str:
    with figure_style(adaptive=True):
        figure, at = _axes(f"Driven by {name}", name, title)
        at.scatter(x[:MOST_POINTS], y[:MOST_POINTS], s=5, alpha=0.45, color=PALETTE[1], linewidths=0)
        return adaptive_svg(figure)
