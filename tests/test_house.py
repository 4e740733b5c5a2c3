"""tools/house.py sees what it is asked to see, in a small package made for it."""

from __future__ import annotations

import ast
import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
BODY = "".join(f"    total = total + weights[{k}] * values[{k}] - offset\n" for k in range(12))


@pytest.fixture(scope="module")
def house():
    spec = importlib.util.spec_from_file_location("house_tool", ROOT / "tools" / "house.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["house_tool"] = module
    spec.loader.exec_module(module)
    return module


def package(folder, **files):
    paths = []
    for name, text in files.items():
        path = folder / "gyrostat" / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        paths.append(path)
    return folder / "gyrostat", paths


def test_the_same_code_in_two_files_is_found_once(house, tmp_path):
    text = f"def f(weights, values, offset, total):\n{BODY}    return total\n"
    same, *others = house.repetitions(*package(tmp_path, first=text, second='"""Another file."""\n\n' + text))
    assert same == ["first.py:1-14 and second.py:3-16"] and others == [[], []]


def test_code_with_other_names_is_alike(house, tmp_path):
    text = f"def f(weights, values, offset, total):\n{BODY}    return total\n"
    other = text.replace("weights", "w").replace("values", "x").replace("offset", "b").replace("total", "y")
    same, alike, contracts = house.repetitions(*package(tmp_path, first=text, second=other))
    assert same == contracts == [] and alike == ["first.py:1-14 and second.py:1-14"]


def test_signatures_that_are_alike_are_a_contract_and_bodies_are_not(house, tmp_path):
    """Nine lines of a common body are one too few; ten are a repetition, signature or not."""
    signature = "def {name}(\n" + "".join(f"    option_{k}: float = {k}.0,\n" for k in range(12)) + ") -> float:\n"
    lines = [line + "\n" for line in BODY.splitlines()]
    found = {}
    for size in (9, 10):
        text = signature + "".join(lines[:size])
        files = package(tmp_path, first=text.format(name="f"), second="x = 1\n" + text.format(name="f"))
        found[size] = house.repetitions(*files)
    assert found[9] == ([], [], [f"first.py:1-23 and second.py:2-24: {house.SIGNATURE}"])
    assert found[10] == (["first.py:1-24 and second.py:2-25"], [], [])


def test_tables_may_be_alike_but_not_the_same(house, tmp_path):
    """A row a thing is data; the same rows in two places are a copy."""
    rows = "".join(f'    "name {k}": lambda a, b: a + {k} * b,\n' for k in range(12))
    one, other = f"X = {{\n{rows}}}\n", f"X = {{\n{rows.replace('name', 'other')}}}\n"
    assert house.repetitions(*package(tmp_path, first=one, second=other))[:2] == ([], [])
    assert house.repetitions(*package(tmp_path, first=one, second=one))[0] == ["first.py:1-14 and second.py:1-14"]


def test_nothing_is_written_twice_but_by_contract(house):
    """Over the whole package; what is left, and why, is listed in docs/architecture.md."""
    source = ROOT / "src" / "gyrostat"
    same, alike, contracts = house.repetitions(source, sorted(source.rglob("*.py")))
    assert same == [] and alike == []
    assert all(any(name in pair for pair in contracts) for names in house.CONTRACTS for name in names)


def test_nine_lines_imports_and_docstrings_are_no_repetition(house, tmp_path):
    nine = "\n".join(line.strip() for line in BODY.splitlines()[:9])
    text = '"""A long\n' + "docstring\n" * 20 + '"""\n' + "from a import b\n" * 20 + nine
    assert house.repetitions(*package(tmp_path, first=text, second=text)) == ([], [], [])


def test_imports_for_type_checkers_do_not_count(house, tmp_path):
    files = {
        "__init__": "",
        "low": "x = 1\n",
        "high": "from typing import TYPE_CHECKING\nfrom .low import x\nfrom . import low\nimport numpy\n"
        "if TYPE_CHECKING:\n    from .other import y\ndef f():\n    import gyrostat.other\n",
        "other": "y = 2\n",
    }
    source, paths = package(tmp_path, **files)
    edges = house.import_edges(source, {path: ast.parse(path.read_text()) for path in paths})
    assert edges == {("gyrostat.high", "gyrostat.low"), ("gyrostat.high", "gyrostat.other")}


def test_a_file_is_touched_if_one_of_its_functions_runs(house):
    """The module's own lines do not count: a file that is only imported is not touched."""
    touched = house.files_touched(ROOT, "simulate")
    assert "simulation/simulate_craft.py" in touched and "control/passive.py" in touched
    assert "io/urdf.py" not in touched and "formulations/dual_quaternion/elimination.py" not in touched
