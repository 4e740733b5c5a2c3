"""The door: every name that gyrostat offers exists, rooms are found by `import` too, and nothing else leaks out."""

from __future__ import annotations

import ast
import contextlib
import inspect
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import gyrostat as gs

SOURCE = Path(gs.__file__).parent
ROOMS = [name for name, home in gs._HOME.items() if not home]


@pytest.mark.parametrize("name", gs.__all__)
def test_name_exists_and_has_a_line_that_says_what_it_is(name):
    assert (inspect.getdoc(getattr(gs, name)) or "").strip()


def test_there_are_about_sixty_names_and_a_few_rooms():
    assert 50 <= len(gs.__all__) - len(ROOMS) <= 75 and len(ROOMS) <= 20
    assert len(set(gs.__all__)) == len(gs.__all__)


def test_nothing_but_the_offered_names_leaks_out():
    """In a process of its own: what other tests import becomes an attribute of the package."""
    code = (
        "import gyrostat as gs; print(sorted(n for n in vars(gs) if not n.startswith('_'))); "
        "print(sorted(set(dir(gs)) - set(gs.__all__)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["[]", "['__version__']"]


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_are_there_at_once_and_import_finds_them(room):
    """`gs.room` in a fresh process; `import gyrostat.room` and `from gyrostat import room` give the same module."""
    code = (
        f"import gyrostat as gs; first = gs.{room}; import gyrostat.{room} as second; from gyrostat import {room} as "
        f"third; assert first is second is third and first.__name__ == 'gyrostat.{room}' and first.__doc__"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_star_import_brings_what_all_says():
    code = "from gyrostat import *; import gyrostat; assert set(gyrostat.__all__) <= set(globals())"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_names_for_type_checkers_are_those_that_are_offered():
    tree = ast.parse((SOURCE / "__init__.py").read_text(encoding="utf-8"))
    block = next(n for n in tree.body if isinstance(n, ast.If))
    assert all(isinstance(n, ast.ImportFrom) and n.level == 1 for n in block.body)
    typed = {alias.asname: n.module or "" for n in block.body for alias in n.names}
    assert typed == gs._HOME


def test_unknown_name_is_an_attribute_error_that_knows_the_nearest():
    code = "import gyrostat as gs; gs.forward_dynamic"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "gyrostat has no attribute 'forward_dynamic'" in done.stderr and "'forward_dynamics'" in done.stderr


# ---- one word for one thing: docs/conventions.md, "Words"

ON_A_BODY = {
    "bent_bias",
    "bent_inertia",
    "modal_pull",
    "stiffened",
    "box_plates",
    "Frame",
    "inertia_at",
    "kinetic_energy_of",
    "mass_at",
    "Modes",
    "momentum_of",
    "Plate",
    "Sphere",
    "Tank",
    "Thruster",
    "thrusters_in_pairs",
    "without_propellant",
}
OF_THE_TREE = {"path_from_base", "joint_acceleration_bias"}  # walk from body to body


def public_functions():
    """(where, name, function or class) of all rooms and of the top."""
    for room in (None, *ROOMS):
        place = gs if room is None else getattr(gs, room)
        names = getattr(place, "__all__", [name for name in vars(place) if not name.startswith("_")])
        for name in names:
            value = getattr(place, name)
            if callable(value) and str(getattr(value, "__module__", "")).startswith("gyrostat"):
                yield room or "gyrostat", name, value


def test_a_parameter_called_body_takes_bodies_alone():
    """What takes frames too is called `frame`; a moving part sits on its `parent`."""
    odd = []
    for room, name, value in public_functions():
        with contextlib.suppress(ValueError):  # classes of Python's own have no signature
            if "body" in inspect.signature(value).parameters and name not in ON_A_BODY | OF_THE_TREE:
                odd.append(f"{room}.{name}")
    assert odd == []


def test_frame_takes_a_frame_or_a_body():
    craft = gs.models.servicer()
    q, v, frame = gs.neutral(craft), np.ones(craft.nv), craft.frames[0]
    shifted = frame.position
    for function, before in (
        (gs.jacobian, (q,)),
        (gs.jacobian_rate, (q, v)),
        (gs.generalized_jacobian, (q,)),
        (gs.generalized_jacobian_rate, (q, v)),
    ):
        by_frame = function(craft, *before, frame=frame.name)
        by_body = function(craft, *before, frame=frame.body, point=shifted)
        np.testing.assert_allclose(by_frame, by_body, atol=1e-14)
    by_frame = gs.workspace.measures(craft, q, frame=frame.name)
    by_body = gs.workspace.measures(craft, q, frame=frame.body, point=shifted)
    np.testing.assert_allclose(by_frame.smallest, by_body.smallest, rtol=1e-12)


# ---- functions and modules have different names, so that `import package.module as m` gives a module


def packages():
    return [path.parent for path in sorted(SOURCE.rglob("__init__.py"))]


def own_names(package):
    """What its `__init__.py` defines, or imports from a module."""
    for node in ast.walk(ast.parse((package / "__init__.py").read_text(encoding="utf-8"))):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (alias.asname or alias.name for alias in node.names)


@pytest.mark.parametrize("package", packages(), ids=lambda path: str(path.relative_to(SOURCE.parent)))
def test_no_name_of_a_package_hides_a_module_of_it(package):
    modules = {path.stem for path in package.glob("*.py")} | {
        path.parent.name for path in package.glob("*/__init__.py")
    }
    assert sorted(modules & set(own_names(package))) == []
