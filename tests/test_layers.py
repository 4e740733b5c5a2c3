"""Imports go down only, and `import gyrostat` loads NumPy alone."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import gyrostat

SOURCE = Path(gyrostat.__file__).parent
# The design's order; its `simulate` is the folder `simulation`, as `gs.simulate` is a function
LAYERS = (
    "_parts",
    "_warned",
    "algebra",
    "attitude",
    "model",
    "structures",
    "kinematics",
    "formulations",
    "constraints",
    "tracing",
    "workspace",
    "environment",
    "control",
    "outcomes",
    "simulation",
    "linear",
    "formation",
    "io",
    "campaigns",
    "scenario",
    "serving",
    "export",
    "gym",
    "verification",
    "interop",
    "view",
    "papers",
    "cli",
)
DATA = {"models"}  # folders of the package that hold files, no code of a layer
# (module, layer): methods that hand their work upwards, from inside a function
ALLOWED = {
    ("environment/files.py", "io"): "files of orbits and fields are read and written as carefully as those of models",
    ("simulation/result/trajectory.py", "io"): "Trajectory.save and Trajectory.load are where a user looks for files",
    ("simulation/phased_run.py", "io"): "PhasedRun.save is where a user looks for files",
    ("formation/trajectory.py", "view"): "FormationTrajectory.plot and its like are where a user looks for pictures",
    ("formation/trajectory.py", "io"): "FormationTrajectory.save and load are where a user looks for files",
    ("tracing/kernel.py", "export"): "Kernel.to_c is where a user looks for C",
    ("campaigns/found.py", "view"): "Campaign.report is where a user looks for the page",
    ("linear/modal.py", "view"): "Modes.to_html is where a user looks for pictures",
    ("simulation/result/trajectory.py", "view"): "Trajectory.plot and its like are where a user looks for pictures",
}


def modules() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def layer_of(path: Path) -> str | None:
    """A folder, or a module of the package itself; None for `__init__.py`,
    which gathers the public names of all layers.
    """
    top = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    return None if top in ("__init__", "__main__") else top


def imported_layers(path: Path) -> list[tuple[str, int, bool]]:
    """(layer, line, inside a function) of every import of gyrostat by this file; typing-only imports do not run."""
    found: list[tuple[str, int, bool]] = []
    package = ["gyrostat", *path.relative_to(SOURCE).parts[:-1]]

    def visit(node: ast.AST, inside: bool) -> None:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            for other in node.orelse:
                visit(other, inside)
            return
        if isinstance(node, ast.Import):
            for alias in node.names:
                add(alias.name.split("."), node.lineno, inside)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            full = base + (node.module.split(".") if node.module else [])
            for alias in node.names:
                add([*full, alias.name], node.lineno, inside)
        inside = inside or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        for child in ast.iter_child_nodes(node):
            visit(child, inside)

    def add(name: list[str], line: int, inside: bool) -> None:
        if name[0] == "gyrostat":
            found.append((name[1] if len(name) > 1 else "", line, inside))

    visit(ast.parse(path.read_text(encoding="utf-8")), False)
    return found


def test_everything_in_the_package_belongs_to_a_layer():
    assert {layer_of(path) for path in modules()} - DATA - {None} <= set(LAYERS)


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_go_down_only(path):
    mine = layer_of(path)
    if mine is None or mine in DATA:
        return
    assert mine in LAYERS, f"{path.relative_to(SOURCE)} belongs to no layer: {', '.join(LAYERS)}"
    for name, line, inside in imported_layers(path):
        where = f"{path.relative_to(SOURCE)}:{line}"
        if name == "__version__" or (name in DATA and LAYERS.index(mine) >= LAYERS.index("io")):
            continue
        if name not in LAYERS:  # `import gyrostat` itself, or a name of the whole package
            assert LAYERS.index(mine) >= LAYERS.index("papers"), f"{where} imports the whole package"
            continue
        up = LAYERS.index(name) > LAYERS.index(mine)
        allowed = inside and (str(path.relative_to(SOURCE)), name) in ALLOWED
        assert not up or allowed, f"{where}: {mine} imports {name}, which stands above it"


def test_this_test_sees_upward_imports(tmp_path, monkeypatch):
    """The check itself, on a package made wrong on purpose."""
    monkeypatch.setattr(sys.modules[__name__], "SOURCE", tmp_path)
    (tmp_path / "algebra" / "deep").mkdir(parents=True)
    bad = tmp_path / "algebra" / "deep" / "bad.py"
    bad.write_text(
        "from ...model import Body\nimport gyrostat.io\ndef f():\n    from ...cli import main\nfrom .. import so3\n"
    )
    assert imported_layers(bad) == [("model", 1, False), ("io", 2, False), ("cli", 4, True), ("algebra", 5, False)]
    with pytest.raises(AssertionError, match="algebra imports model"):
        test_imports_go_down_only(bad)


def test_nothing_in_the_allow_list_is_stale():
    for (module, layer), reason in ALLOWED.items():
        assert reason and any(name == layer and inside for name, _, inside in imported_layers(SOURCE / module)), module


def test_import_loads_numpy_alone():
    """Third-party modules are those found in site-packages; what NumPy itself loads is NumPy's."""
    code = (
        "import sys, numpy; before = set(sys.modules); import gyrostat; new = set(sys.modules) - before; "
        "tops = {n.split('.')[0] for n in new} - set(sys.stdlib_module_names) - {'gyrostat', 'numpy'}; "
        "print(sorted(tops))"
    )
    environment = {**os.environ, "PYTHONPATH": str(SOURCE.parent)}
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"


NAMES_OF_KINDS = {
    "revolute",
    "prismatic",
    "cylindrical",
    "universal",
    "spherical",
    "cartesian",
    "planar",
    "free",
    "wheel",
}
# files and other programs speak of kinds by name
KNOW_KINDS = {
    "model",
    "io",
    "verification",
    "papers",
    "cli",
    "models",
}


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_kinds_of_joints_are_asked_for_properties_and_not_for_their_names(path):
    """A new kind is then one class in the model, and nothing else has to learn its name."""
    if layer_of(path) in KNOW_KINDS or layer_of(path) is None or "paper" in path.parts or path.name == "arm.py":
        return  # a paper's own state and its Denavit-Hartenberg table have kinds of their own
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Compare) and isinstance(node.left, ast.Attribute) and node.left.attr == "kind":
            compared = {c.value for part in node.comparators for c in ast.walk(part) if isinstance(c, ast.Constant)}
            assert not compared & NAMES_OF_KINDS, f"{path.relative_to(SOURCE)}:{node.lineno} asks for {compared}"
