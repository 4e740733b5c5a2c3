"""The short form of `make faults`: a few of each fault, none of which may end wrong."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
CAMPAIGN = ROOT / "tools" / "faults" / "campaign.py"
SHORT = {
    "disk": 25,
    "signals": 6,
    "results": 300,
    "scenarios": 200,
    "meshes": 2,
    "kernels": 20,
    "campaigns": 5,
    "endurance": 1,
}


def campaign(*arguments, **options):
    command = [sys.executable, str(CAMPAIGN), *map(str, arguments)]
    return subprocess.run(command, check=False, capture_output=True, text=True, **options)


@pytest.mark.parametrize("part", SHORT)
def test_no_fault_ends_wrong(part, tmp_path):
    store = tmp_path / "counts.json"
    done = campaign("--only", part, "--count", SHORT[part], "--first", 100_000, "--minutes", 0.05, "--store", store)
    assert done.returncode == 0, done.stdout + done.stderr
    tally = json.loads(store.read_text())[part]
    assert tally["tried"] >= SHORT[part] and tally["wrong"] == []


@pytest.fixture
def tally():
    sys.path.insert(0, str(CAMPAIGN.parent))
    try:
        yield importlib.import_module("tally")
    finally:
        sys.path.remove(str(CAMPAIGN.parent))


def test_a_worker_that_dies_or_hangs_is_counted_and_the_rest_goes_on(tmp_path, tally, monkeypatch):
    (tmp_path / "campaign.py").write_text(
        "import os, sys\n"
        "print('ready', flush=True)\n"
        "for seed in range(int(sys.argv[3]), int(sys.argv[4])):\n"
        "    if seed % 3 == 1:\n"
        "        os.abort()\n"
        "    if seed == 3:\n"
        "        os.read(os.pipe()[0], 1)  # for ever\n"
        '    print(\'{"outcomes": {"good": 1}, "wrong": []}\', flush=True)\n'
    )
    monkeypatch.setattr(tally, "HERE", tmp_path / "tally.py")
    found = tally.tried("part", 0, 6, 1.0)
    assert found.tried == 6 and found.outcomes == {"good": 3, "died": 3}
    assert [text.split(":")[0] for text in found.wrong] == [f"part, seed {k}" for k in (1, 3, 4)]
    assert "exit code -6" in found.wrong[0] and "no answer" in found.wrong[1]


def test_slow_is_not_hung_asleep_and_endless_are(tally, monkeypatch):
    """A process counts as hung by what it does: the clock on the wall runs on while others have the processor."""
    watching = importlib.import_module("watching")
    monkeypatch.setattr(watching, "LOOKS", 0.05)

    def tried(code, asleep, computing):
        process = subprocess.Popen([sys.executable, "-SEc", code], stdout=subprocess.PIPE, text=True)
        return watching.communicate(process, asleep, computing)[0]

    with pytest.raises(watching.Hung, match="it slept"):
        tried("import os; os.read(os.pipe()[0], 1)", 0.2, 60.0)
    with pytest.raises(watching.Hung, match="it went on"):
        tried("while True: pass", 60.0, 0.1)
    busy = "import time\nwhile time.process_time() < 0.5: pass\nprint('done', flush=True)"
    below = f"import subprocess, sys; subprocess.run([sys.executable, '-SEc', {busy!r}])"  # itself asleep
    assert tried(below, 0.2, 60.0) == "done\n"


def test_a_worker_that_cannot_even_begin_ends_the_campaign(tmp_path, tally, monkeypatch):
    (tmp_path / "campaign.py").write_text("raise SystemExit(7)\n")
    monkeypatch.setattr(tally, "HERE", tmp_path / "tally.py")
    with pytest.raises(RuntimeError, match="before the first fault, with exit code 7"):
        tally.tried("part", 0, 6, 1.0)


def test_the_counts_of_all_parts_go_between_the_marks_of_the_page(tmp_path):
    """Whatever stands around them stays; a part that is tried again takes the place of its old counts."""
    page, store = tmp_path / "page.md", tmp_path / "counts.json"
    page.write_text("# Faults\n\n<!-- counts of make faults -->\nold\n<!-- end of counts -->\n\nEnd.\n")
    known = {"tried": 12000, "outcomes": {"good": 11999, "bad": 1}, "wrong": ["x"], "notes": ["flat"], "seconds": 600.0}
    store.write_text(json.dumps({"kernels": known | {"when": "2026-01-02", "where": "a machine"}, "results": {}}))
    done = campaign("--only", "results", "--count", 5, "--store", store, "--page", page)
    assert done.returncode == 0, done.stderr
    text = page.read_text()
    assert text.startswith("# Faults\n\n<!-- counts") and text.endswith("<!-- end of counts -->\n\nEnd.\n")
    assert "old" not in text and "a machine" in text
    assert "| result files changed, two thirds with a digest that fits | 5 |" in text
    assert "| 12,000 | 11,999 good; 1 bad; flat | 1 | 10 | 2026-01-02 |" in text
