"""XML as a tree of elements that know their lines, read with the standard library's expat and bounded on every side.

Refused: document types and entities, files over 16 MB, nesting over 64, more than 10 000 links or bodies or 500 000
elements, names over 1000 characters.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from ..model import ModelError
from .bounded import read_file
from .report import fail

MAX_BYTES = 16 * 1024 * 1024
MAX_DEPTH = 64
MAX_LINKS = 10_000
MAX_ELEMENTS = 500_000
MAX_NAME = 1000


@dataclass(slots=True)
class Element:
    """One XML element: its tag, attributes, children, and where it starts."""

    tag: str
    attributes: dict[str, str]
    file: str
    line: int
    children: list[Element] = field(default_factory=list)

    def all(self, tag: str) -> list[Element]:
        return [child for child in self.children if child.tag == tag]

    def first(self, tag: str) -> Element | None:
        return next((child for child in self.children if child.tag == tag), None)

    def walk(self) -> Iterator[Element]:
        """This element and all below it, in document order."""
        stack = [self]
        while stack:
            element = stack.pop()
            yield element
            stack.extend(reversed(element.children))


def read_bytes(path: Path) -> bytes:
    """The file's content, refused if it is missing or too large."""
    return read_file(path, MAX_BYTES)


def parse_xml(data: bytes, file: str) -> Element:
    """The root element of an XML document."""
    if len(data) > MAX_BYTES:
        raise fail("too-large", file, f"is longer than {MAX_BYTES // 2**20} MB.")
    reading = _Reading(file)
    try:
        reading.parser.Parse(data, True)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code) or "malformed"
        raise fail(
            "xml", file, f"is not well-formed XML: {reason} (column {error.offset + 1}).", "Mend the XML.", error.lineno
        ) from None
    except (LookupError, UnicodeError, ValueError) as error:
        if isinstance(error, ModelError):
            raise
        what = f"cannot be decoded: {error}."
        raise fail("xml", file, what, "Save the file as UTF-8.", reading.parser.CurrentLineNumber) from None
    return reading.document.children[0]


class _Reading:
    """The tree as far as expat has read, and how much that is."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.document = Element("", {}, file, 0)
        self.open_elements = [self.document]
        self.links = self.elements = 0
        self.parser = parser = expat.ParserCreate()
        parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.StartDoctypeDeclHandler = self.refuse_doctype
        parser.EntityDeclHandler = self.refuse_doctype

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.links += tag in ("link", "body")
        self.elements += 1
        line = self.parser.CurrentLineNumber
        if len(self.open_elements) > MAX_DEPTH:
            what = f"elements are nested more than {MAX_DEPTH} deep."
            raise fail("too-deep", self.file, what, "Flatten the file.", line, f"<{tag}>")
        if self.links > MAX_LINKS:
            what = f"has more than {MAX_LINKS} links."
            raise fail("too-many-links", self.file, what, "Split the model.", line, f"<{tag}>")
        if self.elements > MAX_ELEMENTS:
            what = f"has more than {MAX_ELEMENTS} elements."
            raise fail("too-many-links", self.file, what, "Split the model.", line)
        if len(attributes.get("name", "")) > MAX_NAME or len(tag) > MAX_NAME:
            raise fail("long-name", self.file, f"a name is longer than {MAX_NAME} characters.", "Shorten it.", line)
        element = Element(tag, attributes, self.file, line)
        self.open_elements[-1].children.append(element)
        self.open_elements.append(element)

    def end(self, tag: str) -> None:
        self.open_elements.pop()

    def refuse_doctype(self, name: str, *_: object) -> None:
        raise fail(
            "doctype",
            self.file,
            f"declares a document type or entity '{name}'; a model needs none, and they can hide attacks.",
            "Remove the <!DOCTYPE ...> and write entities out.",
            self.parser.CurrentLineNumber,
        )
