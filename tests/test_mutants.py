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


def test_a_fault_stays_the_same_while_its_function_does(tool, package):
    def keys():
        return {m.key for m in found(tool, package)}

    law, before = package / "src/gyrostat/control/law.py", keys()
    law.write_text("# a comment\n" + SOURCE.replace("k x - 3", "other words"), encoding="utf-8")
    assert {m.key for m in found(tool, package) if m.where != "force"} <= before
    law.write_text(SOURCE.replace("return factor * x", "return factor * x * 1"), encoding="utf-8")
    kept = {m.key for m in found(tool, package) if m.where != "scaled"}
    assert kept <= before and not {m.key for m in found(tool, package) if m.where == "scaled"} & before


def test_faults_are_drawn_from_every_package_and_a_change_elsewhere_draws_no_others(tool, package, monkeypatch):
    campaign = tool[2]
    monkeypatch.setattr(campaign, "ROOT", package)
    other = package / "src" / "gyrostat" / "scenario"
    other.mkdir()
    (other / "big.py").write_text("".join(f"def f{k}(x):\n    return x + {k}\n" for k in range(40)))
    drawn = campaign.chosen(12, 3, ("control", "scenario"))
    assert {m.file.split("/")[2] for m in drawn} == {"control", "scenario"}
    assert len({(m.file, m.line) for m in drawn}) == 12
    (other / "big.py").write_text((other / "big.py").read_text().replace("return x + 7", "return x - 70"))
    again = campaign.chosen(12, 3, ("control", "scenario"))
    assert len({m.key for m in drawn} & {m.key for m in again}) >= 11


def test_cases_of_one_test_take_turns_with_others(tool):
    server = importlib.import_module("server")
    assert server.by_turns(["a[1]", "a[2]", "a[3]", "b", "c[1]", "c[2]"]) == [
        "a[1]",
        "b",
        "c[1]",
        "a[2]",
        "c[2]",
        "a[3]",
    ]


HELD = """
from functools import cached_property, wraps

def logged(function):
    @wraps(function)
    def inner(*args):
        return function(*args) + 0.5
    return inner

LIMIT = logged(lambda: 1.0)()

@logged
def force(x, k=2.0):
    return k * x

class Law:
    @property
    def gain(self):
        return max(self.sizes(), key=lambda s: s + 1)

    @staticmethod
    def sizes():
        return [n * 3 for n in range(4)]

TABLE = {"force": force, "sizes": Law.sizes}
"""


@pytest.mark.parametrize(
    "before, after, asked, value",
    [
        ("k * x", "k + x", lambda m: m.TABLE["force"](5.0), 7.5),  # whoever holds it, behind a decorator
        ("+ 0.5", "+ 0.25", lambda m: m.force(5.0), 10.25),  # of a closure that was made on import
        ("range(4)", "range(3)", lambda m: m.Law().gain, 6),
        ("s + 1", "-s", lambda m: m.Law().gain, 0),
    ],
)
def test_a_fault_is_put_into_functions_that_are_imported(tool, tmp_path, monkeypatch, before, after, asked, value):
    in_place = importlib.import_module("in_place")
    path = tmp_path / "held_functions.py"
    path.write_text(HELD)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, path.stem, raising=False)
    module = importlib.import_module(path.stem)
    assert asked(module) != value
    assert in_place.put_in(str(path), HELD, HELD.replace(before, after))
    assert asked(module) == value and module.LIMIT == 1.5


def test_a_fault_outside_functions_is_not(tool, tmp_path):
    in_place = importlib.import_module("in_place")
    for before, after in (("k=2.0", "k=3.0"), ("TABLE = {", "TABLES = {"), ("1.0", "2.0")):
        assert not in_place.put_in(str(tmp_path / "nobody_imported_it.py"), HELD, HELD.replace(before, after))


def test_a_campaign_tells_what_tests_see_from_what_they_do_not(tool, package, monkeypatch, capsys):
    """One test file looks at the force and not at its limit for negative x; the run goes on where it was stopped."""
    _, covering, campaign = tool
    (package / "tests" / "control").mkdir(parents=True)
    (package / "tests" / "control" / "test_law.py").write_text(
        "from gyrostat.control.law import LIMIT, force\n\ndef test_limit():\n    assert LIMIT == 2.0\n\n"
        "def test_force():\n    assert force(3, 2.0) == -2.0\n"
    )
    (package / "tests" / "model").mkdir()
    (package / "tests" / "model" / "test_other.py").write_text("def test_other():\n    assert True\n")
    (package / "pyproject.toml").write_text('[tool.pytest.ini_options]\nfilterwarnings = ["error"]\n')
    for command in (["git", "init", "-q"], ["git", "add", "-A"]):
        subprocess.run(command, cwd=package, check=True)
    monkeypatch.setattr(campaign, "ROOT", package)
    monkeypatch.setattr(campaign, "STORE", package / ".cache" / "mutants")
    monkeypatch.setattr(sys, "argv", ["campaign.py", "map"])
    assert campaign.main() == 0
    known = covering.Covering(package, campaign.STORE / "covering.json", campaign.sources())
    line = SOURCE.splitlines().index('    return -k * x + scaled(x, k, factor=LIMIT, description="words")') + 1
    test = "tests/control/test_law.py::test_force"
    both = [test, "tests/control/test_law.py::test_limit"]
    assert list(known.tests) == ["tests/control/test_law.py", "tests/model/test_other.py"]
    assert not any(row.failed for row in known.tests.values())  # that one executes no source is no failure
    assert known.tests_of("src/gyrostat/control/law.py", line) == both
    assert known.tests_of("src/gyrostat/control/law.py", line - 2) == []  # raise: nobody goes there
    limit = SOURCE.splitlines().index("LIMIT: float = 2.0") + 1
    assert known.tests_of("src/gyrostat/control/law.py", limit) == both
    law = package / "src/gyrostat/control/law.py"
    law.write_text("# one line\n# and another\n" + SOURCE, encoding="utf-8")  # the map goes along
    moved = covering.Covering(package, campaign.STORE / "covering.json", campaign.sources())
    assert moved.tests_of("src/gyrostat/control/law.py", line + 2) == both
    assert moved.tests_of("src/gyrostat/control/law.py", line) == []
    assert moved.stale(campaign.test_files()) and not moved.stale(campaign.test_files(), sources=False)
    law.write_text(SOURCE, encoding="utf-8")
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
    for command in (["git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "first"],):
        subprocess.run(command, cwd=package, check=True)
    page = package / "docs" / "mutants.md"
    page.parent.mkdir()
    page.write_text(f"# Faults\n\nWords.\n\n{campaign.HEADING}\n\nan older one\n")
    monkeypatch.setattr(sys, "argv", ["campaign.py", "report", "--count", count, "--write"])
    assert campaign.main() == 1
    text = page.read_text()
    assert text.startswith("# Faults\n\nWords.\n") and "older" not in text and "| control | 7 | 71 % |" in text
