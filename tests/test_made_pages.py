"""Pages and drawings that are made from the code say what the code says now."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_the_page_of_public_names_is_current():
    script = loaded(ROOT / "docs" / "make_api.py")
    stored, now = script.PAGE.read_text(encoding="utf-8").splitlines(), script.page().splitlines()
    changed = sorted(set(stored) ^ set(now))
    assert stored == now, "run `python docs/make_api.py`; lines that differ:\n" + "\n".join(changed[:20])


def test_drawings_of_the_architecture_are_current():
    script = loaded(ROOT / "docs" / "make_drawings.py")
    for name, draw in script.DRAWINGS.items():
        stored = (ROOT / "docs" / "images" / name).read_text(encoding="utf-8")
        assert stored == draw(), f"{name}: run `python docs/make_drawings.py`"


def test_files_that_the_architecture_names_exist():
    """`engine/stepper.py`, `test_events.py`: somewhere in the repository."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    files = [path.as_posix() for path in ROOT.rglob("*.py") if ".venv" not in path.parts]
    for name in set(re.findall(r"`([\w/]+\.py)`", page)):
        assert any(path.endswith(f"/{name}") for path in files), name


def loaded(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
