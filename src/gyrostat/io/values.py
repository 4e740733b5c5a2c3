"""Numbers in attributes: read strictly, judged by name."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from ..algebra import Array
from ..model.validation import LARGEST
from .report import Report
from .xml_reader import Element

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def malformed(text: str) -> str:
    """Why `text` is no finite number; empty if it is one."""
    if _NUMBER.fullmatch(text):
        return "" if abs(float(text)) < LARGEST else f"'{_short(text)}' is too large for a number"
    if text.lower().lstrip("+-") in ("nan", "inf", "infinity"):
        return f"'{text}' is not finite"
    return f"'{_short(text)}' is no number"


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."


def vector(report: Report, element: Element, name: str, default: Sequence[float], place: str) -> Array:
    """The attribute `name` as an array as long as `default`, which stands in where it is missing or wrong."""
    fallback = np.array(default, dtype=float)
    text = element.attributes.get(name)
    if text is None:
        return fallback
    words = text.split()
    reasons = [reason for reason in map(malformed, words) if reason]
    if reasons:
        code = "not-finite" if "not finite" in reasons[0] else "malformed-number"
        hint = (
            "Write a decimal point and separate numbers by spaces, as in 2.5 or 1e-3." if code != "not-finite" else ""
        )
        message = f'{name}="{_short(text)}": {reasons[0]}; expected {_count(len(fallback))}.'
        report.error(code, place, f"<{element.tag}> {message}", hint, element.line, element.file)
        return fallback
    if len(words) != len(fallback):
        message = f'<{element.tag}> {name}="{_short(text)}" holds {_count(len(words))}; expected {len(fallback)}.'
        report.error("wrong-shape", place, message, "Separate them by spaces.", element.line, element.file)
        return fallback
    return np.array([float(word) for word in words])


def _count(n: int) -> str:
    return "one finite number" if n == 1 else f"{n} numbers"


def number(report: Report, element: Element, name: str, default: float, place: str) -> float:
    """The attribute `name` as a float."""
    return float(vector(report, element, name, [default], place)[0])
