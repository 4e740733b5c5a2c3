"""TOML text: what it holds, and on which line each key stands, for messages."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import Any

from ..report import fail

# ten thousand bodies take 1.5 MB, a boom of twelve modes 4 MB; tomllib reads 0.7 MB a second, and long lists faster
MAX_BYTES = 8 * 1024 * 1024
MAX_DOTS = 10_000  # in one line, as a root of the sum of squares: tomllib's time for a dotted key grows as the square
_HEADER = re.compile(r"\s*(\[\[?)\s*([A-Za-z0-9_\-. ]+?)\s*\]\]?\s*(#.*)?$")
_KEY = re.compile(r"\s*([A-Za-z0-9_\-]+)\s*=")
Place = tuple[str | int, ...]


def parse_toml(data: bytes, file: str) -> tuple[str, dict[str, Any]]:
    """The text and what it holds. Raises a `ModelError` with the line of the first mistake."""
    if sum(line.count(b".") ** 2 for line in data.splitlines()) > MAX_DOTS**2:
        raise fail("too-deep", file, "holds lines with thousands of dots: keys nested too deeply.", "Break the lines.")
    try:
        text = data.decode("utf-8-sig")
        return text, tomllib.loads(text)
    except UnicodeDecodeError as error:
        raise fail("toml", file, f"is not UTF-8 text: {error}.", "Save the file as UTF-8.") from None
    except ValueError as error:  # TOMLDecodeError, or a number beyond Python's own limits
        at = re.search(r"at line (\d+)", str(error))
        raise fail(
            "toml", file, f"is not valid TOML: {error}.", "Mend the syntax.", int(at[1]) if at else None
        ) from None
    except RecursionError:
        raise fail("too-deep", file, "is nested too deeply.", "Flatten the file.") from None


def key_lines(text: str) -> dict[Place, int]:
    """Lines of tables and keys, found by their look: tomllib keeps none. Good for messages, not for reading."""
    found: dict[Place, int] = {}
    count: dict[Place, int] = {}
    at: Place = ()
    for number, line in enumerate(text.splitlines(), start=1):
        header = _HEADER.match(line)
        if header:
            names = [name.strip() for name in header[2].split(".")]
            at = ()
            for k, name in enumerate(names):
                at = (*at, name)
                if header[1] == "[[" and k == len(names) - 1:
                    count[at] = count.get(at, -1) + 1
                if at in count:
                    at = (*at, count[at])
            for key in [key for key in count if len(key) > len(at) and key[: len(at)] == at and header[1] == "[["]:
                del count[key]
            found.setdefault(at, number)
        elif pair := _KEY.match(line):
            found.setdefault((*at, pair[1]), number)
    return found


def line_of(lines: Mapping[Place, int], place: Place) -> int | None:
    """Line of a key, or of the first that stands in it, or of the table it stands in."""
    for k in range(len(place), 0, -1):
        if place[:k] in lines:
            return lines[place[:k]]
        inside = [line for key, line in lines.items() if key[:k] == place[:k]]
        if inside:
            return min(inside)
    return None


def reason_of(item: Any, key: str) -> str:
    """What pydantic found wrong with the value of a key, as the end of a sentence: "expected ..."."""
    kind, value, limits = item["type"], item["input"], item.get("ctx", {})
    if kind == "list_type":
        return (
            f"is one table; expected [[{key}]], which may be repeated"
            if isinstance(value, dict)
            else "expected a list in brackets"
        )
    if kind in ("too_short", "too_long") and isinstance(value, list):
        bound = limits["min_length"] if kind == "too_short" else limits["max_length"]
        return f"expected {'at least' if kind == 'too_short' else 'at most'} {bound} items, found {len(value)}"
    if kind in ("dict_type", "model_type"):
        return f"expected a table, such as [{key}]"
    plain = {
        "string_type": "expected text in quotes",
        "string_too_short": "expected text that is not empty",
        "bool_type": "expected true or false",
    }
    reason = item["msg"].removeprefix("Value error, ").removeprefix("Assertion failed, ").rstrip(".")
    return plain.get(kind, (reason[:1].lower() + reason[1:]).replace("input should be", "expected"))
