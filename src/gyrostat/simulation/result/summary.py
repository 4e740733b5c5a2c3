"""What a person must know about a run, said once: the terminal, the report and the file all draw from it.

It is made of the run and of its attributes alone, which a file keeps; so a run that was saved and read says the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .audit import drift_words
from .figures import Figure, figures_of

if TYPE_CHECKING:
    from .audit import Audit
    from .trajectory import Trajectory

HAPPENED, REQUIREMENTS, FIGURES, WARNED = "happened", "requirements", "figures", "warned"  # attributes of a run
MOST_EVENTS = 40  # of one run or batch that are told one by one


class Happening(NamedTuple):
    """One thing that happened: when, of what sort ("phase", "event", "impulse"), and what of it is worth knowing.

    until: when a phase ended. impulses: N s, one for each point of contact. energy_lost: J.
    """

    t: float
    what: str
    name: str
    words: str = ""
    until: float | None = None
    impulses: tuple[float, ...] = ()
    energy_lost: float | None = None
    run: int | None = None

    @property
    def when(self) -> str:
        return f"{self.t:.6g} s" if self.until is None else f"{self.t:.6g} to {self.until:.6g} s"

    @property
    def details(self) -> str:
        """Everything but what, when and name."""
        parts = [self.words] if self.words else []
        if self.impulses:
            parts.append(f"impulses {', '.join(f'{f:.3g}' for f in self.impulses)} N s")
        if self.energy_lost is not None:
            parts.append(f"{self.energy_lost:.4g} J lost")
        return "; ".join(parts)

    def __str__(self) -> str:
        return f"{self.what} {self.name}: {self.when}" + (f"; {self.details}" if self.details else "")


class Requirement(NamedTuple):
    """One requirement: what was found, what was asked for, and by how much it was met (negative: missed)."""

    name: str
    value: float
    limit: Any  # a number, or [lowest, largest]
    margin: float
    met: bool
    unit: str = ""

    @property
    def limit_words(self) -> str:
        if isinstance(self.limit, Sequence) and not isinstance(self.limit, str):
            return " to ".join(f"{float(x):.4g}" for x in self.limit)
        return self.limit if isinstance(self.limit, str) else f"{float(self.limit):.4g}"

    def __str__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        word = "met" if self.met else "NOT MET"
        found = f"{word}: {self.name}: {self.value:.4g}{unit}"
        return f"{found}, limit {self.limit_words}{unit}, margin {self.margin:.3g}{unit}"


@dataclass(frozen=True)
class Summary:
    """What happened, did it work, peak and final figures, and what else is worth knowing."""

    title: str
    verdict: str
    level: str  # "good", "fair" (worth a look) or "poor" (it did not work)
    failures: tuple[str, ...]
    requirements: tuple[Requirement, ...]
    happened: tuple[Happening, ...]
    figures: tuple[Figure, ...]
    notes: tuple[str, ...]
    audit: tuple[tuple[str, float | None], ...]
    warnings: tuple[str, ...] = ()

    @property
    def met(self) -> bool:
        """True if no requirement was missed."""
        return all(r.met for r in self.requirements)

    def __str__(self) -> str:
        """All of it as text, what a person must know first."""
        lines = [f"{self.title}: {self.verdict}", *self.failures, *map(str, self.requirements)]
        lines += [*map(str, self.happened), *map(str, self.figures), *(f"note: {note}" for note in self.notes)]
        lines.append("audit: " + ", ".join(f"{name} {drift_words(drift)}" for name, drift in self.audit))
        return "\n".join([*lines, *(f"audit: {line}" for line in self.warnings)])


def summarised(trajectory: Trajectory) -> Summary:
    """Of a trajectory, one run or a batch."""
    attributes = trajectory.data.attrs
    happened = told_happenings(attributes.get(HAPPENED, ()))
    known = {(h.name, h.t) for h in happened}
    events = [
        Happening(float(e.t), "event", e.name, run=e.run if trajectory.batched else None)
        for e in trajectory.events
        if (e.name, float(e.t)) not in known
    ]
    notes = list(trajectory.notes)
    if len(events) > MOST_EVENTS:
        notes.append(f"{len(events)} events happened; the first {MOST_EVENTS} are told.")
    if trajectory.mode_audit is not None:
        notes.append(str(trajectory.mode_audit))
    known_words = " ".join([*notes, *trajectory.failures])
    notes += [message for message in attributes.get(WARNED, ()) if message not in known_words]
    runs = len(trajectory.state.t)
    return assembled(
        trajectory.craft.name,
        failures=trajectory.failures,
        interrupted=f"interrupted at {float(np.min(trajectory.t_end)):.6g} s" if trajectory.interrupted else "",
        runs=runs if trajectory.batched else 1,
        requirements=attributes.get(REQUIREMENTS, ()),
        happened=(*happened, *sorted(events, key=lambda e: e.t)[:MOST_EVENTS]),
        figures=(*told_figures(attributes.get(FIGURES, ())), *figures_of(trajectory)),
        notes=notes,
        audit=trajectory.audit,
    )


def remember(trajectory: Trajectory, messages: Iterable[str]) -> None:
    """Keep what a run warned of: its summary, its report and its file say it, too."""
    trajectory.data.attrs[WARNED] = list(dict.fromkeys(messages))
    vars(trajectory).pop("summary", None)  # made anew, with them


def assembled(
    title: str,
    *,
    failures: Sequence[str],
    interrupted: str,
    runs: int,
    requirements: Iterable[Any],
    happened: Iterable[Happening],
    figures: Iterable[Figure],
    notes: Iterable[str],
    audit: Audit,
) -> Summary:
    """With its verdict."""
    asked, happened = tuple(_of(Requirement, r) for r in requirements), tuple(happened)
    missed = [r.name for r in asked if not r.met]
    if failures:
        first = "did not reach its end" if runs == 1 else f"{len(failures)} of {runs} runs did not reach their end"
        first += "".join(f": {h.name} never happened" for h in happened if h.what == "missed")
    else:
        first = interrupted or ("reached its end" if runs == 1 else f"all {runs} runs reached their end")
    told = f", {len(asked) - len(missed)} of {len(asked)} requirements met" if asked else ""
    told += f"; not met: {', '.join(missed)}" if missed else ""
    notes = tuple(notes)
    doubtful = interrupted or audit.warnings or (notes and not asked)  # what was asked for and met is good
    level = "poor" if failures or missed else "fair" if doubtful else "good"
    order = tuple(sorted(asked, key=lambda r: r.met))  # what was missed comes first
    order_of = {"event": 0, "phase": 1}  # what ends a phase, what begins, what is done there
    events = tuple(sorted(happened, key=lambda h: (h.t, order_of.get(h.what, 2))))
    return Summary(
        title,
        first + told,
        level,
        tuple(failures),
        order,
        events,
        tuple(figures),
        notes,
        tuple(audit.rows()),
        audit.warnings,
    )


def told_happenings(rows: Iterable[Mapping[str, Any]]) -> list[Happening]:
    """From attributes, as a run or a file has them."""
    return [_of(Happening, {**row, "impulses": tuple(row.get("impulses", ()))}) for row in rows]


def told_figures(rows: Iterable[Mapping[str, Any]]) -> list[Figure]:
    return [_of(Figure, row) for row in rows]


def _of(kind: Any, row: Any) -> Any:
    """A row of attributes; what it holds beyond the fields is for others."""
    return row if isinstance(row, kind) else kind(**{name: row[name] for name in kind._fields if name in row})
