"""One page that says what was run, did it work, how well momentum and energy were kept, and shows what happened.

No network; one script of its own, without which the page is whole, but still.
"""

from __future__ import annotations

import json
from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra import inertia_components
from ..io.writing import write_text
from ..kinematics import mass_at, neutral, total_mass
from ..simulation.result.audit import FAIR, GOOD, CauseAudit, drift_words
from .charts import Mark, card
from .groups import panels
from .panels import must_match
from .runs import runs_of

if TYPE_CHECKING:
    from ..simulation import Trajectory

SECTIONS = (
    ("relative", "Relative motion", "Where the members are, a ring at the start, a point at the end."),
    ("joints", "Joints", "What each joint did."),
    ("flexible", "Flexible bodies", "How they bent, and the frequency at which each mode rang most."),
    ("wheels", "Wheels", "Speeds relative to what carries them."),
    ("thrust", "Thrust", "What control pushed bases with, by thrusters or from outside."),
    ("base", "Base", "How bases moved. Rotation is measured from where they started."),
    ("momentum", "Momentum", "Constant unless something acts from outside."),
    ("energy", "Energy", "Kinetic energy follows the work that motors, springs, dampers and the environment do."),
    ("actuators", "Actuators", "What acted in the joints: motors, springs, dampers and friction together."),
    ("reactions", "Reaction wrenches", "The whole load through each joint, motor included, on the outer body."),
)
MOST_BODIES = 60
MOST_MARKS = 24


def write_report(
    trajectory: Trajectory,
    path: str | Path,
    *,
    title: str | None = None,
    scenario: str | None = None,
    scene: str = "",
    compare: Trajectory | None = None,
    names: tuple[str, str] = ("this", "other"),
) -> Path:
    """Write the report.

    scenario: the text of the file that was run. scene: address of the animated page, to link to. compare: another run
    of the same craft, dashed in every plot; names: what to call the two.
    """
    page = report_html(trajectory, title=title, scenario=scenario, scene=scene, compare=compare, names=names)
    return write_text(path, page)


def report_html(
    trajectory: Trajectory,
    *,
    title: str | None = None,
    scenario: str | None = None,
    scene: str = "",
    compare: Trajectory | None = None,
    names: tuple[str, str] = ("this", "other"),
) -> str:
    """The report as text."""
    import jinja2

    if compare is not None:
        must_match(trajectory, compare)
    loader = jinja2.PackageLoader("gyrostat.view", "templates")
    environment = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    marks = marks_of(trajectory)
    sections: list[dict[str, Any]] = []
    charts: list[dict[str, Any]] = []
    for group, heading, words in SECTIONS:
        others = panels(compare, group) if compare is not None else []
        cards = [
            card(trajectory.time, panel, marks, None if compare is None else (compare.time, others[k]))
            for k, panel in enumerate(panels(trajectory, group))
        ]
        charts += [one.data for one in cards]
        if cards:
            sections.append({"id": group, "heading": heading, "words": words, "cards": cards})
    script = _script()
    return environment.get_template("report.html").render(
        title=title or trajectory.craft.name,
        facts=_facts(trajectory),
        failures=trajectory.failures,
        notes=[note[0].upper() + note[1:] for note in trajectory.summary.notes],
        interrupted=trajectory.interrupted and not trajectory.failures,
        reached=_reached(trajectory),
        audit=[(name, drift_words(drift), _grade(drift)) for name, drift in trajectory.audit.rows()],
        audit_warnings=[line[0].upper() + line[1:] + "." for line in trajectory.audit.warnings],
        causes=[_cause(cause) for cause in trajectory.audit.causes],
        summary=trajectory.summary,
        sections=sections,
        charts=_json(charts),
        script=script,
        script_digest=b64encode(sha256(script.encode()).digest()).decode(),
        number=_Number(),
        runs=runs_of(trajectory),
        craft=_craft(trajectory),
        scenario=scenario,
        scene=scene,
        batched=trajectory.batched,
        names=names if compare is not None else None,
        other=[drift_words(drift) for _, drift in compare.audit.rows()] if compare is not None else [],
    )


def marks_of(trajectory: Trajectory) -> list[Mark]:
    """Where phases begin, and what else happened at an instant: lines across all charts over time."""
    found: dict[float, str] = {}
    for row in sorted(trajectory.summary.happened, key=lambda h: h.what != "phase"):
        if row.run is None and row.t > trajectory.time[0]:
            found.setdefault(row.t, row.name if row.what in ("phase", "event") else f"{row.what} {row.name}")
    return [Mark(float(t), label) for t, label in sorted(found.items())[:MOST_MARKS]]


class _Number:
    """Counts the charts of a page."""

    def __init__(self) -> None:
        self._at = -1

    def next(self) -> int:
        self._at += 1
        return self._at


def _script() -> str:
    return (files("gyrostat.view") / "templates" / "charts.js").read_text(encoding="utf-8")


def _json(content: Any) -> str:
    """As it may stand in a page: nothing in it ends the element."""
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _grade(drift: float | None) -> str:
    return "fair" if drift is None else "good" if drift < GOOD else "fair" if drift < FAIR else "poor"


def _cause(cause: CauseAudit) -> tuple[str, str, str, str]:
    """Who, linear and angular impulse, work."""
    if cause.impulse is None:
        return cause.who, "", "", f"{cause.work:.4g}"
    linear, angular = (float(np.linalg.norm(part)) for part in (cause.impulse[3:], cause.impulse[:3]))
    return cause.who, f"{linear:.4g}", f"{angular:.4g}", f"{cause.work:.4g}"


def _reached(trajectory: Trajectory) -> str:
    return f"{float(np.min(trajectory.t_end)):.6g} s"


def _facts(trajectory: Trajectory) -> list[tuple[str, str]]:
    attributes: dict[str, Any] = dict(trajectory.data.attrs)
    time, state = trajectory.time, trajectory.state
    tolerance = (
        f"step {attributes['step']:g} s"
        if attributes.get("step")
        else f"rtol {np.max(attributes.get('rtol', 0)):.1e}, atol {np.max(attributes.get('atol', 0)):.1e}"
    )
    facts = [
        ("Spacecraft", trajectory.craft.name),
        ("Mass", f"{float(total_mass(trajectory.craft)):.6g} kg"),
        ("Degrees of freedom", str(trajectory.craft.nv)),
        ("Time", f"{time[0]:g} to {time[-1]:g} s"),
        ("Integrator", f"{attributes.get('integrator', '')}, {tolerance}"),
        ("Steps", f"{int(state.steps.sum())} ({int(state.rejections.sum())} rejected)"),
        ("Equations", str(attributes.get("formulation", ""))),
        ("gyrostat", str(attributes.get("gyrostat", ""))),
    ]
    if trajectory.batched:
        facts.insert(1, ("Runs", str(len(state.t))))
    return facts


def _craft(trajectory: Trajectory) -> dict[str, Any]:
    craft = trajectory.craft
    rows = []
    for body in craft.bodies[:MOST_BODIES]:
        mass, com, inertia = mass_at(craft, neutral(craft), body.name)
        xx, _, _, yy, _, zz = (float(x) for x in inertia_components(inertia))
        rows.append(
            (
                body.name,
                body.parent or "",
                body.joint.kind,
                f"{float(mass):.5g}",
                ", ".join(f"{float(x):.4g}" for x in com),
                f"{xx:.4g}, {yy:.4g}, {zz:.4g}",
            )
        )
    return {"rows": rows, "more": max(0, craft.nbodies - MOST_BODIES)}
