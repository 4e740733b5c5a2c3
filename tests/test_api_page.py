"""docs/api.md lists what the code offers, in the code's own words."""

from __future__ import annotations

import importlib.util
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs"


def test_the_page_of_public_names_is_current():
    spec = importlib.util.spec_from_file_location("make_api", DOCS / "make_api.py")
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    stored, now = script.PAGE.read_text(encoding="utf-8").splitlines(), script.page().splitlines()
    changed = sorted(set(stored) ^ set(now))
    assert stored == now, "run `python docs/make_api.py`; lines that differ:\n" + "\n".join(changed[:20])
