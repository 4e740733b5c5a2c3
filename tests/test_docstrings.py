"""Docstrings of public functions say what they give and when they refuse; what is offered has words, all of it."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import re
import textwrap
from pathlib import Path

import pytest

import gyrostat as gs

DOCS = Path(__file__).resolve().parents[1] / "docs"
REFUSES = re.compile(r"rais|refus|error|must|expected|needs?\b|only", re.IGNORECASE)
SHAPE = re.compile(r"\([^()]*,[^()]*\)|\(n\w*\)|shape|same|scalar|like|each|way back|float")


def loaded(name):
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def public_functions():
    """By the name under which a user finds them; each once."""
    reference = loaded("make_reference")
    rooms = [name for name, home in gs._HOME.items() if not home]
    found = {f"gs.{name}": getattr(gs, name) for name in gs.__all__ if name not in rooms}
    for room in [*rooms, *reference.BESIDE]:
        module = importlib.import_module(f"gyrostat.{room}")
        found |= {f"{room}.{key}": getattr(module, key) for key in reference._api().offered(module)}
    once = {}
    for name, value in found.items():
        if inspect.isfunction(value):
            once.setdefault(value, name)
    return {name: value for value, name in once.items()}


FUNCTIONS = public_functions()


def test_there_are_hundreds():
    assert len(FUNCTIONS) > 400


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_that_refuses_says_when(name):
    """Its own `raise` statements; what it calls says so itself."""
    function = FUNCTIONS[name]
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    raised = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Raise) and node.exc is not None and "AssertionError" not in ast.unparse(node.exc)
    ]
    if raised:
        said = inspect.getdoc(function) or ""
        assert REFUSES.search(said), f"{name} raises {ast.unparse(raised[0].exc)[:120]}; it does not say when"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_that_gives_arrays_says_of_what_shape(name):
    function = FUNCTIONS[name]
    if re.search(r"\bArray\b", str(inspect.signature(function).return_annotation)):
        assert SHAPE.search(inspect.getdoc(function) or ""), f"{name}: of what shape is what it gives?"


def test_the_count_is_all_of_all():
    """`python docs/make_site.py --count`: public names and those that say something, blocks and those looked at."""
    pytest.importorskip("nbformat", reason="the site is made with the extra docs")
    found = loaded("make_site").counted()
    assert found["names"] == found["documented"] > 600
    assert found["top level"] == found["by example"] > 60
    assert found["blocks"] == found["looked at"] > 120
