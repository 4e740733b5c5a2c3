"""The text of a scenario file and where its keys stand, for messages."""

from __future__ import annotations

from ..io.report import Report
from ..io.toml_text import Place, key_lines, line_of


class Source:
    """The text of a file and where its keys stand, for messages; and whether files that it names may run code."""

    def __init__(self, file: str, text: str, trust: bool = False) -> None:
        self.file, self.text, self.trust = file, text, trust
        self.lines = key_lines(text)
        self.report = Report(file)

    def line(self, place: Place) -> int | None:
        """Line of a key, or of the table it stands in."""
        return line_of(self.lines, place)

    def error(self, code: str, place: Place, message: str, hint: str = "", key: str = "") -> None:
        """key: of the table at `place`, where the line is that key's."""
        self.report.error(code, words(place), message, hint, self.line((*place, key) if key else place))


def words(place: Place) -> str:
    """As in "waypoint 2, joints"."""
    words: list[str] = []
    for part in place:
        if isinstance(part, int) and words:
            words[-1] += f" {part + 1}"
        else:
            words.append(str(part))
    return ", ".join(words)
