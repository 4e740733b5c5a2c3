"""docs/models.md says what was measured: measured again."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from shared_files import shared

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture(scope="module")
def script():
    pytest.importorskip("pinocchio", reason="one of the readers that are compared")
    spec = importlib.util.spec_from_file_location("make_models_table", DOCS / "make_models_table.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_what_the_script_measures(script):
    """Where other versions of the peers are installed, only our own column must stay true."""
    shared("models")
    stored = (DOCS / "models.md").read_text(encoding="utf-8")
    if script.versions() in stored:
        assert stored == script.page()
    for rows in (script.published(), script.habits()):
        for name, cells in rows.items():
            line = next(line for line in stored.splitlines() if line.startswith(f"| {name} |"))
            assert line.endswith(f"| {cells['gyrostat']} |"), line


def test_nothing_published_is_lost(script):
    """The right mass and number of rates is what a reader that keeps every link finds."""
    shared("models")
    expected = {
        "astrobee.urdf": "12 rates, 9.58 kg",
        "SSRMS_Canadarm2.urdf": "13 rates, 1505.32 kg",
        "sats_dock.xml": "12 rates, 2 kg",
    }
    for name, cells in script.published().items():
        file = name.split("/")[1]
        assert expected.get(file, cells["MuJoCo"]) in cells["gyrostat"]
