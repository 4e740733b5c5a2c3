"""tools/mutants puts faults where it says, and sees what tests see, in a small package made for it."""

from __future__ import annotations

import ast
import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parents[1] / "tools" / "mutants"
SOURCE = '''"""Docstring with 5 + 5."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from math import sqrt

LIMIT: float = 2.0


def force(k: int, x, *, damped=True, label="1 + 1"):
    """k x - 3."""
    if x < 0 and damped:
        raise ValueError(f"x is {x + 1}")
    print("x", 1 + 1)
    return -k * x + scaled(x, k, factor=LIMIT, description="words")


def scaled(x, k, factor=1.0, description=""):
    return factor * x  # µ: more bytes than characters
'''


@pytest.fixture(scope="module")
def tool():
    sys.path.insert(0, str(TOOLS))
    try:
        yield (
            importlib.import_module("mutations"),
            importlib.import_module("covering"),
            importlib.import_module("campaign"),
        )
    finally:
        sys.path.remove(str(TOOLS))


@pytest.fixture
def package(tmp_path):
    folder = tmp_path / "src" / "gyrostat" / "control"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").write_text("")
    (folder / "__init__.py").write_text("")
    (folder / "law.py").write_text(SOURCE, encoding="utf-8")
    return tmp_path


def found(tool, root):
    return tool[0].mutations(root, "src/gyrostat/control/law.py")


def test_every_kind_of_fault_is_found_and_words_are_left_alone(tool, package):
    texts = {(m.kind, m.before, m.after) for m in found(tool, package)}
    call = 'scaled(x, k, factor=LIMIT, description="words")'
    expected = {
        ("constant", "2.0", "(4.0)"),
        ("constant", "1.0", "(2.0)"),
        ("constant", "0", "(1)"),
        ("constant", "True", "(False)"),
        ("condition", "x < 0 and damped", "(x < 0 or damped)"),
        ("condition negated", "x < 0 and damped", "(not (x < 0 and damped))"),
        ("dropped condition", "x < 0 and damped", "(damped)"),
        ("comparison", "x < 0", "(x > 0)"),
        ("dropped statement", 'print("x", 1 + 1)', "pass"),
        ("sign", "-k", "(k)"),
        ("operator", "-k * x", "(-k / x)"),
        ("operator", "factor * x", "(factor / x)"),
        ("dropped term", "-k * x", "(x)"),
        ("dropped argument", call, "(scaled(x, k, description='words'))"),
        ("swapped arguments", call, "(scaled(k, x, factor=LIMIT, description='words'))"),
    }
    assert expected <= texts
    assert not any("5 + 5" in m[1] or m[1] == "x + 1" or m[1] == "1 + 1" or "sqrt" in m[1] for m in texts)


def test_each_fault_stands_at_its_place_and_parses(tool, package):
    source = (package / "src/gyrostat/control/law.py").read_text(encoding="utf-8")
    every = found(tool, package)
    for m in every:
        assert source[m.start : m.stop] == m.before
        assert source[: m.start].count("\n") + 1 == m.line
        assert ast.dump(ast.parse(m.applied(source))) != ast.dump(ast.parse(source))
        with pytest.raises(ValueError, match="the source has changed"):
            m.applied("x = 1\n" + source)
    assert len({m.id for m in every}) == len(every)
    assert {m.where for m in every} == {"module", "force", "scaled"}


def test_a_campaign_tells_what_tests_see_from_what_they_do_not(tool, package, monkeypatch, capsys):
    """One test file looks at the force and not at its limit for negative x; the run goes on where it was stopped."""
    _, covering, campaign = tool
    (package / "tests" / "control").mkdir(parents=True)
    (package / "tests" / "control" / "test_law.py").write_text(
        "from gyrostat.control.law import force\n\ndef test_force():\n    assert force(3, 2.0) == -2.0\n"
    )
    (package / "tests" / "test_other.py").write_text("def test_other():\n    assert True\n")
    for command in (["git", "init", "-q"], ["git", "add", "-A"]):
        subprocess.run(command, cwd=package, check=True)
    monkeypatch.setattr(campaign, "ROOT", package)
    monkeypatch.setattr(campaign, "STORE", package / ".cache" / "mutants")
    monkeypatch.setattr(sys, "argv", ["campaign.py", "map"])
    assert campaign.main() == 0
    known = covering.Covering(package, campaign.STORE / "covering.json", campaign.sources())
    line = SOURCE.splitlines().index('    return -k * x + scaled(x, k, factor=LIMIT, description="words")') + 1
    assert known.tests_of("src/gyrostat/control/law.py", line) == ["tests/control/test_law.py"]
    assert known.tests_of("src/gyrostat/control/law.py", line - 2) == []  # raise: nobody goes there
    assert not known.stale(campaign.test_files())
    wanted = ("-k", "2.0", "x < 0", "x < 0 and damped", 'print("x", 1 + 1)')
    some = [m for m in found(tool, package) if m.before in wanted and m.kind != "condition negated"]
    count = str(len(some))
    monkeypatch.setattr(campaign, "chosen", lambda *_: some)
    monkeypatch.setattr(sys, "argv", ["campaign.py", "run", "--count", count, "-n", "2"])
    assert campaign.main() == 0
    rows = [json.loads(line) for line in (campaign.STORE / "results-1.jsonl").read_text().splitlines()]
    verdict = {(row["kind"], row["text"].split(": ", 2)[2]): row["outcome"] for row in rows}
    assert verdict["sign", "`-k` became `(k)`"] == "killed"
    assert verdict["constant", "`2.0` became `(4.0)`"] == "killed"
    assert verdict["comparison", "`x < 0` became `(x > 0)`"] == "killed"
    assert verdict["condition", "`x < 0 and damped` became `(x < 0 or damped)`"] == "killed"
    assert verdict["dropped condition", "`x < 0 and damped` became `(x < 0)`"] == "survived"
    assert verdict["dropped statement", '`print("x", 1 + 1)` became `pass`'] == "survived"
    assert (package / "src/gyrostat/control/law.py").read_text(encoding="utf-8") == SOURCE  # untouched
    capsys.readouterr()
    assert campaign.main() == 0
    assert f"{count} done before, 0 to do" in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", ["campaign.py", "report", "--count", count])
    assert campaign.main() == 1  # survivors are not explained
    assert "Survivors, not explained" in capsys.readouterr().out
