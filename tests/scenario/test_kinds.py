"""Kinds of scenarios: a registry whose entries know nothing of each other; defaults that stand once;
no key without effect.
"""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import scenario
from gyrostat.model import ModelError
from gyrostat.scenario.kinds import KINDS
from gyrostat.simulation.problem.request import MAX_STEPS
from gyrostat.simulation.problem.settings import DEFAULTS

FOLDER = Path(scenario.__file__).parent
FILES = sorted(FOLDER.rglob("*.py"))
DOCS = Path(__file__).resolve().parents[2] / "docs"


def load(folder, text):
    path = folder / "case.toml"
    path.write_text(text)
    return scenario.load(path)


def imports(path):
    """(module within the folder as path parts, names, inside a function) of its relative imports."""
    package = path.relative_to(FOLDER).parts[:-1]
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inside = {id(n) for f in ast.walk(tree) if isinstance(f, ast.FunctionDef) for n in ast.walk(f)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and 0 < node.level <= len(package) + 1:
            base = package[: len(package) + 1 - node.level]
            names = [alias.name for alias in node.names]
            yield (*base, *(node.module or "").split(".")), names, id(node) in inside


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(FOLDER)))
def test_modules_take_nothing_private_of_each_other_and_import_nothing_late(path):
    """What had to be imported inside a function was a cycle."""
    for module, names, late in imports(path):
        assert not any(name.startswith("_") for name in names), f"{path.name} takes {names} of {'.'.join(module)}"
        assert not late, f"{path.name} imports {'.'.join(module)} inside a function"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(FOLDER)))
def test_nothing_is_asserted_of_what_a_kind_may_lack(path):
    assert not any(isinstance(node, ast.Assert) for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_kinds_do_not_know_each_other(kind):
    """Their modules import parts and the registry's own `Kind`, no other kind."""
    own = Path(kind.build.__code__.co_filename).stem
    others = {Path(other.build.__code__.co_filename).stem for other in KINDS if other is not kind}
    for module, _, _ in imports(FOLDER / "kinds" / f"{own}.py"):
        assert module[-1] not in others


def test_every_table_of_every_kind_is_found_by_its_keys():
    tables = {kind.marks[:1]: kind.tables for kind in KINDS}
    assert ("environment", "orbit") in tables[()] and ("start",) in tables[()]
    assert {("phase", "until"), ("phase", "grasp"), ("target", "start"), ("waypoint",)} <= tables["phase",].keys()
    assert {("member",), ("station",), ("environment", "orbit")} <= tables["member",].keys()


# ---- defaults stand in the simulation alone

PLAIN = 'spacecraft = "servicer"\n[run]\nduration = "1 s"\n'


@pytest.mark.parametrize(("duration", "every", "rows"), [(1.1, 0.1, 12), (0.3, 0.1, 4), (1.0, 0.3, 5), (0.7, 0.7, 2)])
def test_rows_are_saved_every_so_often_and_once_at_the_end(tmp_path, duration, every, rows):
    """1.1 / 0.1 is a little more than 11 in floating point: the end is one row all the same."""
    text = PLAIN.replace('"1 s"', str(duration)) + f"save_every = {every}\n"
    times = load(tmp_path, text).options["save_at"]
    assert len(times) == rows and times[0] == 0.0 and times[-1] == duration
    assert np.diff(times).min() > 0.05


def test_a_file_that_says_nothing_gives_the_simulation_nothing(tmp_path):
    work = load(tmp_path, PLAIN)
    assert {name: x for name, x in work.options.items() if len(np.atleast_1d(x))} == {}
    attrs = work.simulate(progress=False).data.attrs
    assert {name: attrs[name] for name in ("integrator", "rtol", "atol", "formulation", "seed")} == {
        name: DEFAULTS[name] for name in ("integrator", "rtol", "atol", "formulation", "seed")
    }


def test_the_defaults_that_editors_and_the_page_show_are_those_of_the_simulation():
    run = scenario.json_schema()["$defs"]["Run"]["properties"]
    for name in ("integrator", "rtol", "atol", "formulation", "seed"):
        assert f"; {DEFAULTS[name]} by default." in run[name]["description"]
    rows = [line for line in (DOCS / "scenarios.md").read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    shown = {row.split("|")[1].strip(): row.split("|")[2].strip() for row in rows}
    assert shown["`rtol`, `atol`"] == f"{DEFAULTS['rtol']:g}, {DEFAULTS['atol']:g}"
    assert shown["`integrator`"] == f'`"{DEFAULTS["integrator"]}"`' and shown["`max_steps`"] == str(MAX_STEPS)


# ---- no key without effect


def test_a_duration_beside_phases_is_refused_with_its_line(tmp_path):
    text = scenario.example("capture").replace("[run]", '[run]\nduration = "5 s"')
    with pytest.raises(ModelError, match="unknown key 'duration'.*The phases say how long") as caught:
        load(tmp_path, text)
    assert caught.value.findings[0].line == 1 + text.splitlines().index('duration = "5 s"')


def test_more_states_than_memory_has_are_refused(tmp_path):
    with pytest.raises(ModelError, match="save_every asks for 1e\\+07 states; 2000000 are the most"):
        load(tmp_path, PLAIN + "save_every = 1e-7\n")


def test_the_most_steps_stand_once():
    for function in (gs.simulate, gs.formation.simulate):
        assert inspect.signature(function).parameters["max_steps"].default == MAX_STEPS
    given = re.compile(rf"steps\w*(: int)? = {MAX_STEPS:_}", re.IGNORECASE)
    places = [path.name for path in FOLDER.parent.rglob("*.py") if given.search(path.read_text(encoding="utf-8"))]
    assert places == ["request.py"]
