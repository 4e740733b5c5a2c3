"""docs/api.md, every public name with its line, made from the code: `python docs/make_api.py`.

A name's line is the first sentence of its docstring; a constant's is the comment beside its definition. A room offers
what its `__init__.py` imports under its own name (`from .x import y as y`) or defines, or what its `__all__` lists.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import gyrostat as gs

PAGE = Path(__file__).resolve().parent / "api.md"
HEAD = """# Public names

Made from the code by `python docs/make_api.py`; `import gyrostat as gs` gives all of them, each loaded when first used.
What is used day by day stands at the top; the rest is in rooms: `gs.control.line`, or
`from gyrostat.control import line`.
What is not listed here may change without notice.
"""


def page() -> str:
    rooms = [name for name, home in gs._HOME.items() if not home]
    top = [name for name in gs.__all__ if name not in rooms]
    parts = [
        HEAD,
        "## At the top\n",
        table({f"gs.{name}": getattr(gs, name) for name in sorted(top, key=str.lower)}, gs),
    ]
    for room in rooms:
        module = getattr(gs, room)
        parts += [f"## gs.{room}\n", f"{sentence(inspect.getdoc(module) or '')}\n"]
        parts.append(table({name: getattr(module, name) for name in sorted(offered(module), key=str.lower)}, module))
    return "\n".join(parts)


def table(values: dict[str, Any], place: ModuleType) -> str:
    rows = [f"| `{name}` | {line(name.removeprefix('gs.'), value, place)} |" for name, value in values.items()]
    return "\n".join(["| name | what it is |", "|---|---|", *rows, ""])


def offered(module: ModuleType) -> list[str]:
    """The names that a room means to give."""
    if hasattr(module, "__all__"):
        return list(module.__all__)
    found: list[str] = []
    for node in parsed(module).body:
        if isinstance(node, ast.ImportFrom):
            found += [alias.name for alias in node.names if alias.asname == alias.name]
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
            found.append(node.name)
    return found


def line(name: str, value: Any, place: ModuleType) -> str:
    own = inspect.isroutine(value) or inspect.isclass(value) or inspect.ismodule(value)
    text = sentence(inspect.getdoc(value) or "") if own else comment(name, place)
    if not text:
        raise SystemExit(f"{place.__name__}.{name} has no line: give it a docstring, or a comment where it is defined.")
    return text.replace("|", "\\|")


def sentence(doc: str) -> str:
    """The first one, on one line."""
    paragraph = " ".join(doc.split("\n\n")[0].split())
    first = re.split(r"(?<=\.)(?<!e\.g\.)(?<!al\.)\s", paragraph)[0]
    return f"{first.rstrip(':.')}." if first else ""


def comment(name: str, place: ModuleType) -> str:
    """Beside or above the assignment, in the module where it stands."""
    module = home(name, place)
    lines = inspect.getsource(module).splitlines()
    for node in parsed(module).body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            beside = lines[node.lineno - 1].partition("  # ")[2]
            above = lines[node.lineno - 2].removeprefix("# ") if lines[node.lineno - 2].startswith("# ") else ""
            text = sentence(beside or above)
            return text[:1].upper() + text[1:]
    return ""


def home(name: str, place: ModuleType) -> ModuleType:
    """The module that assigns the name: imports are followed."""
    for node in ast.walk(parsed(place)):
        if isinstance(node, ast.ImportFrom) and name in {alias.asname or alias.name for alias in node.names}:
            package = place.__name__ if hasattr(place, "__path__") else place.__name__.rpartition(".")[0]
            there = importlib.import_module("." * node.level + (node.module or ""), package)
            return home(name, there)
    return place


def parsed(module: ModuleType) -> ast.Module:
    return ast.parse(inspect.getsource(module))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
