"""What notebooks show of spacecraft and findings: small tables of plain text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .findings import Finding
    from .spacecraft import Spacecraft

COLORS = {
    "good": "#0f8a5f",
    "fair": "#b7791f",
    "poor": "#d03030",
    "note": "inherit",
    "warning": "#b7791f",
    "error": "#d03030",
}
MOST_ROWS = 40


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Of plain text."""
    rows = list(rows)
    if not rows:
        return ""
    head = "".join(f'<th style="text-align:left">{escape(x)}</th>' for x in heads)
    body = "".join(
        "<tr>" + "".join(f'<td style="text-align:left">{escape(x)}</td>' for x in row) + "</tr>"
        for row in rows[:MOST_ROWS]
    )
    more = f"<div>and {len(rows) - MOST_ROWS} more</div>" if len(rows) > MOST_ROWS else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def craft_html(craft: Spacecraft) -> str:
    rows = [
        (
            body.name,
            body.parent or "",
            f"{body.joint.name} ({body.joint.kind})",
            _number(body.mass),
            _center(craft, body.name),
        )
        for body in craft.bodies
    ]
    mass = _number(sum(body.mass for body in craft.bodies))
    head = f"<b>{escape(craft.name)}</b>: {craft.nbodies} bodies, {mass} kg, nv = {craft.nv}"
    found = "".join(finding_html(finding) for finding in craft.findings if finding.level != "note")
    return f"<div>{head}</div>{table(('body', 'on', 'joint', 'mass, kg', 'centre of mass, m'), rows)}{found}"


def _center(craft: Spacecraft, body: str) -> str:
    """Of a flexible body, where nothing is bent."""
    flexible = craft.flexible(body)
    if flexible is None:
        return ", ".join(_number(x) for x in craft.body(body).com)
    m, h, _ = flexible.undeformed
    return ", ".join(_number(x) for x in h / m) + f" (bends: {flexible.n} modes)"


def _number(x: Any) -> str:
    try:
        return f"{float(x):.5g}"
    except (TypeError, ValueError):  # a symbol of a recording
        return str(x)[:20]


def finding_html(finding: Finding) -> str:
    level = f'<b style="color:{COLORS[finding.level]}">{finding.level}</b>'
    return f"<div>{level}: {escape(str(finding))}</div>"
