"""Every name that gyrostat offers exists, and the names that come later are what their modules hold."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import gyrostat as gs


@pytest.mark.parametrize("name", sorted(n for n in dir(gs) if not n.startswith("_")))
def test_name_exists(name):
    assert getattr(gs, name) is not None


def test_names_for_type_checkers_are_those_that_come_later():
    tree = ast.parse(Path(gs.__file__).read_text(encoding="utf-8"))
    block = next(n for n in tree.body if isinstance(n, ast.If))
    typed = {alias.asname for n in block.body for alias in n.names}
    assert typed == set(gs._HOME)


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="gyrostat has no attribute 'forward_dynamic'"):
        _ = gs.forward_dynamic
