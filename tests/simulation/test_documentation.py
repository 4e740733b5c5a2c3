"""The pages on simulation are programs that run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize(("name", "least"), [("simulation.md", 8), ("derivatives.md", 2), ("functions-for-laws.md", 2)])
def test_the_page_runs(name, least):
    page = DOCS / name
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    assert len(blocks) >= least
    space: dict = {"__name__": "page"}
    for block in blocks:
        line = text[: text.index(block)].count("\n")
        exec(compile("\n" * line + block, str(page), "exec"), space)  # noqa: S102 (errors point at the page's own lines)
