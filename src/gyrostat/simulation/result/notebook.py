"""What notebooks show of runs: the summary, as the terminal and the report have it."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from ...model.notebook import COLORS, table
from .audit import drift_words

if TYPE_CHECKING:
    from .summary import Summary
    from .trajectory import Trajectory


def trajectory_html(trajectory: Trajectory) -> str:
    t, state = trajectory.time, trajectory.state
    runs = f"{len(state.t)} runs, " if trajectory.batched else ""
    how = f"{trajectory.data.attrs.get('integrator', '')}, {int(state.steps.sum())} steps"
    head = f"<div>{escape(trajectory.craft.name)}: {runs}{t[0]:g} to {t[-1]:g} s at {len(t)} times, {escape(how)}</div>"
    return head + summary_html(trajectory.summary)


def summary_html(summary: Summary) -> str:
    verdict = summary.verdict[0].upper() + summary.verdict[1:]
    parts = [f'<div style="color:{COLORS[summary.level]}"><b>{escape(verdict)}.</b></div>']
    parts += [f"<div>{escape(line)}</div>" for line in summary.failures]
    asked = [
        ("met" if r.met else "NOT MET", r.name, f"{r.value:.4g}", r.limit_words, r.unit) for r in summary.requirements
    ]
    happened = [(h.what, h.name, h.when, h.details) for h in summary.happened]
    figures = [(f.name, *(_of(x, f.unit) for x in (f.peak, f.limit, f.final))) for f in summary.figures]
    parts.append(table(("", "requirement", "found", "limit", "unit"), asked))
    parts.append(table(("what happened", "", "when", ""), happened))
    parts.append(table(("figure", "peak", "limit", "at the end"), figures))
    parts += [f"<div>note: {escape(note)}</div>" for note in summary.notes]
    parts.append(table(("audit", "relative drift"), [(name, drift_words(drift)) for name, drift in summary.audit]))
    parts += [f'<div style="color:{COLORS["fair"]}">audit: {escape(line)}</div>' for line in summary.warnings]
    return "".join(parts)


def _of(x: float | None, unit: str) -> str:
    return "" if x is None else f"{x:.4g} {unit}"
