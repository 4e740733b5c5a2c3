"""What a reader finds in a file, with its place; and the door through which a reader builds a spacecraft."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from ..model import Body, Finding, Frame, Membership, ModelError, Spacecraft, Thruster
from ..model.findings import Level

MAX_ERRORS = 50


class Report:
    """Findings about one file, in the order in which they were made."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.findings: list[Finding] = []
        self.errors = 0

    def add(
        self,
        level: Level,
        code: str,
        element: str,
        message: str,
        hint: str = "",
        line: int | None = None,
        file: str = "",
    ) -> None:
        self.findings.append(Finding(level, message, hint, element, file or self.file, line, code))
        self.errors += level == "error"
        if self.errors == MAX_ERRORS:
            message = f"has {MAX_ERRORS} errors; reading stopped."
            self.findings.append(Finding("error", message, file=self.file, code="too-many-errors"))
            raise ModelError(self.findings)

    def error(
        self, code: str, element: str, message: str, hint: str = "", line: int | None = None, file: str = ""
    ) -> None:
        self.add("error", code, element, message, hint, line, file)

    def warning(
        self, code: str, element: str, message: str, hint: str = "", line: int | None = None, file: str = ""
    ) -> None:
        self.add("warning", code, element, message, hint, line, file)

    def note(
        self, code: str, element: str, message: str, hint: str = "", line: int | None = None, file: str = ""
    ) -> None:
        self.add("note", code, element, message, hint, line, file)

    def raise_errors(self) -> None:
        """Stop here if any error was found; the exception carries every finding."""
        if any(f.level == "error" for f in self.findings):
            raise ModelError(self.findings)


def fail(code: str, file: str, message: str, hint: str = "", line: int | None = None, element: str = "") -> ModelError:
    """An exception with a single error."""
    return ModelError([Finding("error", message, hint, element, file, line, code)])


def build(
    report: Report,
    name: str,
    bodies: Iterable[Body],
    frames: Iterable[Frame] = (),
    thrusters: Iterable[Thruster] = (),
    memberships: Iterable[Membership] = (),
    *,
    lines: Mapping[str, tuple[str, int]],
) -> Spacecraft:
    """`Spacecraft.build`, with the file and line of each finding looked up in `lines`:
    {"joint 'elbow'": (file, line)}.
    """

    def located(f: Finding) -> Finding:
        if f.line is None and f.element in lines:
            file, line = lines[f.element]
            return replace(f, file=file, line=line)
        return replace(f, file=f.file or report.file)

    report.raise_errors()
    try:
        craft = Spacecraft.build(
            name,
            bodies,
            frames=frames,
            thrusters=thrusters,
            findings=report.findings,
            source=report.file,
            memberships=memberships,
        )
    except ModelError as error:
        raise ModelError(located(f) for f in error.findings) from None
    return replace(craft, findings=tuple(located(f) for f in craft.findings))
