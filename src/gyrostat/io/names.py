"""Names of elements and attributes that a format does not know:
misspelt, misplaced, doubled, or somebody's extension.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..model import nearest
from .report import Report
from .xml_reader import Element


@dataclass(frozen=True)
class Vocabulary:
    """What an element may hold. once, many: children that may stand there so often.
    attributes: None if somebody else judges them.

    moves: whether it is part of the dynamics. closed: whether it has no extensions.
    """

    attributes: frozenset[str] | None = frozenset()
    once: frozenset[str] = frozenset()
    many: frozenset[str] = frozenset()
    moves: bool = True
    closed: bool = False

    @property
    def children(self) -> frozenset[str]:
        return self.once | self.many


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def misspelt(name: str, known: Iterable[str]) -> str:
    """The known name that this one was meant to be; empty if it is like none.

    Up to one slip, or two in longer names.
    """
    written = name.casefold()
    if len(written) > 40:
        return ""
    slips, best = min(((_slips(written, other.casefold()), other) for other in known), default=(99, ""))
    return best if slips <= (1 if min(len(written), len(best)) <= 5 else 2) else ""


def _slips(a: str, b: str) -> int:
    """Letters left out, added, exchanged or replaced between two words (optimal string alignment)."""
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        older, before, row = before, row, [i]
        for j, y in enumerate(b, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
    return row[-1]


class NameCheck:
    """Walks a document along a vocabulary. What it does not know, it does not enter.

    Where the dynamics would change, a slip is an error; where only the looks would, a warning. What is like nothing
    known is an extension, and noted once with its count.
    """

    def __init__(self, report: Report, vocabulary: Mapping[str, Vocabulary]) -> None:
        self.report, self.vocabulary = report, vocabulary
        self.extensions: dict[str, tuple[int, Element]] = {}  # what -> how often, and where first

    def walk(self, root: Element) -> None:
        stack = [(root, f"<{root.tag}>", True)]
        while stack:
            element, place, moves = stack.pop()
            known = self.vocabulary[element.tag]
            moves = moves and known.moves
            self._attributes(element, place, moves)
            self._doubled(element, place, moves)
            inside = []
            for child in element.children:
                if child.tag not in known.children:
                    self._child(child, element, place, moves)
                elif child.tag in self.vocabulary:
                    inside.append((child, _named(child) or place, moves))
            stack.extend(reversed(inside))
        for what, (count, where) in self.extensions.items():
            times = f"{count} times, " if count > 1 else ""
            message = f"is not part of the dynamics: ignored ({times}first in line {where.line})."
            self.report.note("ignored", what, message, "", where.line, where.file)

    def _child(self, child: Element, parent: Element, place: str, moves: bool) -> None:
        known = self.vocabulary[parent.tag]
        meant = misspelt(child.tag, known.children)
        homes = [tag for tag, other in self.vocabulary.items() if other.moves and child.tag in other.children]
        if meant:
            message, hint = f"<{parent.tag}> has an unknown element <{child.tag}>.", f"Did you mean <{meant}>?"
        elif homes and moves:
            message, hint = f"<{child.tag}> stands in <{parent.tag}>.", f"Put it into <{homes[0]}>."
        elif known.closed:
            message, hint = f"<{parent.tag}> has an unknown element <{child.tag}>.", nearest(child.tag, known.children)
        else:
            top = parent.tag in ("robot", "mujoco")
            self._extension(f"<{child.tag}>" if top else f"<{child.tag}> in <{parent.tag}>", child)
            return
        self._add(moves, "unknown-element", place, message, hint, child)

    def _attributes(self, element: Element, place: str, moves: bool) -> None:
        known = self.vocabulary[element.tag].attributes
        if known is None:
            return
        for name in element.attributes:
            if name in known or name == "xmlns" or ":" in name:
                continue
            meant = misspelt(name, known - element.attributes.keys())
            elsewhere = any(v.moves and name in (v.attributes or ()) for v in self.vocabulary.values())
            if not meant and not (moves and elsewhere):
                self._extension(f"'{name}' of <{element.tag}>", element)
                continue
            hint = f"Did you mean '{meant}'?" if meant else nearest(name, sorted(known))
            message = f"<{element.tag}> has an unknown attribute '{name}'."
            self._add(moves, "unknown-attribute", place, message, hint, element)

    def _doubled(self, element: Element, place: str, moves: bool) -> None:
        seen: dict[str, Element] = {}
        for child in element.children:
            first = seen.setdefault(child.tag, child)
            if first is not child and child.tag in self.vocabulary[element.tag].once:
                message = f"<{element.tag}> has two <{child.tag}> elements; the first is in line {first.line}."
                self._add(moves, "duplicate-element", place, message, "Keep one.", child)

    def _add(self, moves: bool, code: str, place: str, message: str, hint: str, where: Element) -> None:
        self.report.add("error" if moves else "warning", code, place, message, hint, where.line, where.file)

    def _extension(self, what: str, element: Element) -> None:
        count, where = self.extensions.get(what, (0, element))
        self.extensions[what] = count + 1, where


def _named(element: Element) -> str:
    name = element.attributes.get("name")
    return f"{element.tag} '{name}'" if name and element.tag in ("link", "body", "joint", "material") else ""
