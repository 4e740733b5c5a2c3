"""The page of a campaign: the answer first, then distributions and limits, what drives them, worst cases."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra import Array
from ..campaigns.distributions import Changed, Correlated, Distribution
from ..campaigns.requirements import Judged
from ..control.controller import signature_of
from ..io.writing import write_text
from ..outcomes import Kept, Outcome
from .style import PALETTE, adaptive_svg, figure_style

if TYPE_CHECKING:
    from ..campaigns import Campaign

GRADES = {Judged.met: "good", Judged.not_met: "poor", Judged.open: "fair"}
PERCENTS = (50.0, 95.0, 99.0, 99.7)
MOST_POINTS = 2000  # of a scatter
MOST_CASES = 5
BANDS = 200  # runs that are made once more for bands over time
MOMENTS = 160
FAR = 3.0  # times the width of what there is: limits beyond are not drawn
WITH_BANDS = (Kept.last, Kept.largest, Kept.smallest, Kept.integral, Kept.mean)  # of a signal as it is
SHADES = ((0.01, 0.99, 0.16), (0.05, 0.95, 0.22), (0.25, 0.75, 0.30))


def write_campaign_report(
    campaign: Campaign,
    path: str | Path,
    *,
    title: str | None = None,
    command: str = "",
    bands: int = BANDS,
    scene: str = "",
) -> Path:
    """command: that reruns one case, with {k} where its number stands. bands: how many runs are made once more to show
    how signals spread over time. scene: address of the page with the worst cases, to link to.
    """
    import jinja2

    loader = jinja2.PackageLoader("gyrostat.view", "templates")
    environment = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    plan, over_time = campaign.plan, _over_time(campaign, bands)
    page = environment.get_template("campaign.html").render(
        title=title or f"{plan.craft.name}: campaign",
        verdicts=[
            (v.judged.value.capitalize(), GRADES[v.judged], str(v).partition(": ")[2]) for v in campaign.verdicts
        ],
        facts=[
            ("Spacecraft", plan.craft.name),
            ("Runs", f"{campaign.runs} of {plan.runs}"),
            ("Failed", str(len(campaign.failures))),
            ("Seed", str(plan.seed)),
            ("Sampling", plan.sampling),
            ("Time", f"{plan.t_span[0]:g} to {plan.t_span[1]:g} s"),
        ],
        single=[
            (s.outcome, f"{s.largest:.2g}", f"{s.median:.2g}", f"{s.spread:.4g}", f"{s.otherwise} of {s.runs}")
            for s in campaign.told_precision
        ],
        dispersions=[(", ".join(names), _words(how)) for names, how in plan.dispersions.items()],
        percents=PERCENTS,
        outcomes=[_outcome(campaign, one, command, over_time.get(one.name, "")) for one in plan.outcomes],
        scene=scene,
        failures=sorted(campaign.failures.items())[:20],
        command=command,
    )
    return write_text(path, page)


def _over_time(campaign: Campaign, bands: int) -> dict[str, str]:
    """How the signals of outcomes spread over time, by the outcome: from the first runs, and the worst of all."""
    there = [int(k) for k in campaign.numbers if int(k) not in campaign.failures][:bands]
    able = [one for one in campaign.plan.outcomes if one.kept in WITH_BANDS and not _asks(one.function)]
    if len(there) < 2 or not able:
        return {}
    worst = {
        one.name: [k for k, _ in campaign.worst(one.name, MOST_CASES) if k not in campaign.failures] for one in able
    }
    numbers = list(dict.fromkeys([*there, *(k for several in worst.values() for k in several)]))
    runs = campaign.histories(numbers, save_at=np.linspace(*campaign.plan.t_span, MOMENTS), progress=False)
    found = {}
    for one in able:
        shown = campaign.shown(one)
        factor = 1.0 if one.kept is Kept.integral else shown.factor  # of the signal, whose unit is another
        values = factor * np.asarray(runs.signal(one.function), dtype=float)
        limits = [
            factor * r.limit for r in campaign.requirements if r.outcome == one.name and one.kept is not Kept.integral
        ]
        rows = [numbers.index(k) for k in worst[one.name]]
        found[one.name] = _bands(
            runs.time, values[: len(there)], values[rows], worst[one.name], one, shown.title, limits
        )
    return found


def _asks(function: Any) -> bool:
    """For more than the state: loads, inputs, noise."""
    return bool(signature_of(("craft", "t", "q", "v"), (function, 4)).parameters.keys() - {"craft", "t", "q", "v"})


def _bands(
    time: Array, values: Array, worst: Array, numbers: list[int], one: Outcome, title: str, limits: list[float]
) -> str:
    """values (runs, times): median, and what holds 50, 90 and 98 % of the runs; the worst, one line each."""
    signal = title if one.kept is not Kept.integral else f"integrand of {one.name}"
    with figure_style(adaptive=True):
        figure, at = _axes(f"Over time: {len(values)} runs and the worst of all", "time [s]", signal)
        for low, high, alpha in SHADES:
            a, b = np.nanquantile(values, (low, high), axis=0)
            at.fill_between(time, a, b, color=PALETTE[0], alpha=alpha, linewidth=0, label=f"{100 * (high - low):g} %")
        at.plot(time, np.nanmedian(values, axis=0), color=PALETTE[0], label="median")
        for line, k in zip(worst[:3], numbers, strict=False):
            at.plot(time, line, color=PALETTE[1], linewidth=0.9, label=f"run {k}")
        for limit in limits:
            at.axhline(limit, color=PALETTE[4], linewidth=1.2, linestyle=(0, (4, 2)))
        at.margins(x=0)
        at.legend(loc="upper left", bbox_to_anchor=(1.0, 1.02), borderaxespad=0.3)
        return adaptive_svg(figure)


def _outcome(campaign: Campaign, one: Outcome, command: str, over_time: str) -> dict[str, Any]:
    shown = campaign.shown(one)
    name, title, factor = one.name, shown.title, shown.factor
    values = factor * campaign.outcomes[name]
    seen = np.isfinite(values)
    limits = [factor * r.limit for r in campaign.requirements if r.outcome == name]
    drivers = campaign.drivers(name, 8)
    pictures = []
    if seen.sum() > 1:
        pictures = [_histogram(values[seen], title, limits), _distribution(values[seen], title, limits, len(values))]
        pictures += [_scatter(campaign.values[d.name][seen], values[seen], d.name, title) for d in drivers[:2]]
    pictures += [over_time] if over_time else []
    independent = campaign.plan.sampling in ("random", "saltelli")
    rows = [campaign.percentile(name, p) for p in PERCENTS] if independent else []
    return {
        "name": title,
        "percentiles": [(f"{factor * x.value:.5g}", _between(factor * x.low, factor * x.high)) for x in rows],
        "pictures": pictures,
        "drivers": [
            (d.name, f"{d.correlation:+.3f}", "< 1e-16" if d.chance < 1e-16 else f"{d.chance:.1e}") for d in drivers
        ],
        "worst": [
            (k, f"{factor * x:.6g}", command.replace("{k}", str(k))) for k, x in campaign.worst(name, MOST_CASES)
        ],
    }


def _between(low: float, high: float) -> str:
    """Bounds that too few runs have are none."""
    if np.isinf(low) and np.isinf(high):
        return "too few runs to say"
    if np.isinf(high):
        return f"{low:.5g} or more"
    return f"{high:.5g} or less" if np.isinf(low) else f"{low:.5g} to {high:.5g}"


def _axes(title: str, x: str, y: str) -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 2.8), layout="constrained")
    at = figure.subplots()
    at.set_title(title)
    at.set(xlabel=x, ylabel=y)
    return figure, at


def _limits(at: Any, limits: list[float], values: Array) -> None:
    """A line at each; one far outside of what there is would leave that no room, and is told at the edge."""
    low, high = float(values.min()), float(values.max())
    room = FAR * (high - low)
    for limit in limits:
        if low - room <= limit <= high + room:
            at.axvline(limit, color=PALETTE[4], linewidth=1.2, linestyle=(0, (4, 2)))
        else:
            above = limit > high
            words = f"limit {limit:g} \u2192" if above else f"\u2190 limit {limit:g}"
            place, side = ((0.99, 0.9), "right") if above else ((0.01, 0.5), "left")
            at.text(*place, words, transform=at.transAxes, ha=side, color=PALETTE[4])


def _words(how: Any) -> str:
    """As in "scaled by normal: mean 1, sd 0.05"."""
    if isinstance(how, Changed):
        return f"{how.how} {'by' if how.how == 'scaled' else 'to'}: {_words(how.by)}"
    if isinstance(how, Correlated):
        rows = "; ".join(", ".join(f"{x:g}" for x in row) for row in how.correlation)
        return f"together ({rows}): {' | '.join(_words(part) for part in how.parts)}"
    name = re.sub(r"(?<!^)(?=[A-Z])", " ", type(how).__name__).lower()
    return f"{name} {', '.join(f'{key} {_value(x)}' for key, x in vars(how).items())}".strip()


def _value(x: Any) -> str:
    if isinstance(x, Distribution):
        return _words(x)
    text = f"{x:g}" if isinstance(x, float) else str(x)
    return text if len(text) <= 60 else f"{text[:60]} ..."


def _histogram(values: Array, title: str, limits: list[float]) -> str:
    with figure_style(adaptive=True):
        figure, at = _axes("Histogram", title, "runs")
        at.hist(values, bins=min(60, max(8, int(np.sqrt(len(values))))), color=PALETTE[0], alpha=0.8)
        _limits(at, limits, values)
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
        _limits(at, limits, values)
        return adaptive_svg(figure)


def _scatter(x: Array, y: Array, name: str, title: str) -> str:
    with figure_style(adaptive=True):
        figure, at = _axes(f"Driven by {name}", name, title)
        at.scatter(x[:MOST_POINTS], y[:MOST_POINTS], s=5, alpha=0.45, color=PALETTE[1], linewidths=0)
        return adaptive_svg(figure)
