"""Pages and drawings that are made from the code say what the code says now."""

from __future__ import annotations

import importlib
import importlib.util
import re
from pathlib import Path
from types import ModuleType

import gyrostat

ROOT = Path(__file__).resolve().parents[1]


def test_the_page_of_public_names_is_current():
    script = loaded(ROOT / "docs" / "make_api.py")
    stored, now = script.PAGE.read_text(encoding="utf-8").splitlines(), script.page().splitlines()
    changed = sorted(set(stored) ^ set(now))
    assert stored == now, "run `python docs/make_api.py`; lines that differ:\n" + "\n".join(changed[:20])


def test_the_page_of_what_scenario_files_can_name_is_current():
    script = loaded(ROOT / "docs" / "make_scenario_keys.py")
    assert script.PAGE.read_text(encoding="utf-8") == script.page(), "run `python docs/make_scenario_keys.py`"


def test_the_page_of_missions_is_current():
    script = loaded(ROOT / "docs" / "make_missions.py")
    assert script.PAGE.read_text(encoding="utf-8") == script.page(), "run `python docs/make_missions.py`"


def test_drawings_of_the_architecture_are_current():
    script = loaded(ROOT / "docs" / "make_drawings.py")
    for name, draw in script.DRAWINGS.items():
        stored = (ROOT / "docs" / "images" / name).read_text(encoding="utf-8")
        assert stored == draw(), f"{name}: run `python docs/make_drawings.py`"


def test_tables_of_speed_are_those_of_the_benchmarks():
    script = loaded(ROOT / "docs" / "make_performance.py")
    found = []
    for page in script.PAGES:
        text = page.read_text(encoding="utf-8")
        found += script.pieces(text)
        assert text == script.written(text), f"{page.name}: run `python docs/make_performance.py`"
        assert text.count("<!-- measured: ") == len(script.pieces(text)), page.name
    assert set(found) == set(script.PIECES)


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


def test_names_that_pages_examples_and_docstrings_mention_exist():
    """`gs.simulate`, `gs.control.line`, `from gyrostat.x import y`: as far as they lead through modules."""
    paths = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    paths += [*(ROOT / "examples").glob("*.py"), *(ROOT / "src").rglob("*.py")]
    missing = []
    for path in paths:
        for line in path.read_text(encoding="utf-8").splitlines():
            for name in re.findall(r"\bgs((?:\.[A-Za-z]\w*)+)", line):
                missing += [f"{path.name}: gs{name}"] if not leads_somewhere(gyrostat, name[1:].split(".")) else []
            for room, names in re.findall(r"^from (gyrostat[\w.]*) import ([\w, ]+)$", line):
                found = [name.split(" as ")[0].strip() for name in names.split(",")]
                missing += [f"{path.name}: {room}.{name}" for name in found if not importable(room, name)]
    assert missing == []


def importable(room, name):
    return hasattr(importlib.import_module(room), name) or importlib.util.find_spec(f"{room}.{name}") is not None


def leads_somewhere(place, names):
    for name in names:
        if not isinstance(place, ModuleType):
            return True  # attributes of objects are not looked for
        if not hasattr(place, name):
            return False
        place = getattr(place, name)
    return True
