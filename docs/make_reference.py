"""Reference pages of the site, one for each room of public names, and one for the command line, made from the code."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from types import ModuleType
from typing import Any

import gyrostat as gs

BESIDE = ("gym", "interop", "structures")  # rooms that are asked for by their whole name
HERE = Path(__file__).resolve().parent


def _api() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_api", HERE / "make_api.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pages() -> dict[str, str]:
    """Text of each page by its name."""
    api = _api()
    rooms = [name for name, home in gs._HOME.items() if not home]
    top = {name: getattr(gs, name) for name in sorted(gs.__all__, key=str.lower) if name not in rooms}
    found = {"top": room("gs", "What is used day by day: `import gyrostat as gs`.", top, api, gs)}
    for name in [*rooms, *BESIDE]:
        module = importlib.import_module(f"gyrostat.{name}")
        offered = {key: getattr(module, key) for key in sorted(api.offered(module), key=str.lower)}
        head = plain(api.sentence(inspect.getdoc(module) or ""))
        found[name] = room(f"gyrostat.{name}" if name in BESIDE else f"gs.{name}", head, offered, api, module)
    rows = "\n".join(f"| [{called(page)}]({page}.md) | {first_line(text)} |" for page, text in found.items())
    found["index"] = INDEX.format(rows=rows, rooms="\n".join(found))
    found["command-line"] = command_line()
    return found


INDEX = """# Reference

`import gyrostat as gs` gives everything; each name is loaded when it is first used. Units are SI and radians,
frames and orders those of [the conventions](../conventions.md).

| names | what they are for |
|---|---|
{rows}

| files and commands | |
|---|---|
| [Command line](command-line.md) | `gyrostat` and what it can do, option by option |
| [Scenario keys](../scenario-keys.md) | every law, sensor, environment and distribution that a scenario file can name |
| [Craft files](../file-format.md) | gyrostat's own TOML, and what is read of URDF and MJCF |
| [Units](../units.md) | of numbers in files |
| [Published files](../models.md) | what three readers make of them |
| [All names on one page](../api.md) | each with its line |

```{{toctree}}
:hidden:
:maxdepth: 1

{rooms}
command-line
../scenario-keys
../units
../models
../api
```
"""


def called(page: str) -> str:
    return "gs" if page == "top" else f"gyrostat.{page}" if page in BESIDE else f"gs.{page}"


def first_line(page: str) -> str:
    return page.split("\n\n")[1].strip().replace("|", "\\|")


def room(title: str, head: str, values: dict[str, Any], api: ModuleType, place: ModuleType) -> str:
    parts = [f"# {title}\n", f"{head}\n"]
    shown = examples() if title == "gs" else {}
    for name, value in values.items():
        parts += [f"## {name}\n", *described(name, value, api, place)]
        if name in shown:
            parts.append(
                f"As on [the page of examples](../by-example.md), where what it uses is made:\n\n{shown[name]}\n"
            )
    return "\n".join(parts)


def examples() -> dict[str, str]:
    """The block of docs/by-example.md for each name: those in the headings above it."""
    text = (HERE / "by-example.md").read_text(encoding="utf-8")
    sections = re.findall(r"^### ([^\n]+)\n\n(```python\n.*?^```)$", text, re.MULTILINE | re.DOTALL)
    return {name: block for names, block in sections for name in names.split(", ")}


def described(name: str, value: Any, api: ModuleType, place: ModuleType) -> list[str]:
    if not callable(value):
        return [f"{api.line(name, value, place)}\n"]
    parts = [f"```python\n{signature(name, value)}\n```\n", *text(inspect.getdoc(value) or "")]
    if inspect.isclass(value):
        for key, member in sorted(vars(value).items()):
            shown = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
            if not key.startswith("_") and inspect.isfunction(shown) and inspect.getdoc(shown):
                called = f".{key}" if isinstance(member, property) else signature(f".{key}", shown)
                parts += [f"```python\n{called}\n```\n", *text(inspect.getdoc(shown) or "")]
    return parts


def signature(name: str, value: Any) -> str:
    """With annotations as written, one argument a line where it is long."""
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return name
    parts, kinds = [], [parameter.kind for parameter in found.parameters.values()]
    for parameter in found.parameters.values():
        if parameter.name == "self":
            continue
        first_by_name = parameter.kind is parameter.KEYWORD_ONLY and parameter.VAR_POSITIONAL not in kinds
        if first_by_name and "*" not in parts:
            parts.append("*")
        parts.append(argument(parameter))
    back = "" if found.return_annotation is found.empty else f" -> {worded(found.return_annotation)}"
    line = f"{name}({', '.join(parts)}){back}"
    inner = ",\n    ".join(parts)
    return line if len(line) < 100 else f"{name}(\n    {inner},\n){back}"


def argument(parameter: inspect.Parameter) -> str:
    stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    shown = f"{stars}{parameter.name}"
    if parameter.annotation is not parameter.empty:
        shown += f": {worded(parameter.annotation)}"
    if parameter.default is not parameter.empty:
        default = parameter.default
        printed = default.__name__ if inspect.isclass(default) or inspect.isfunction(default) else repr(default)
        shown += f" = {'...' if '<' in printed or chr(10) in printed else printed}"
    return shown


def worded(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))


def text(doc: str) -> list[str]:
    """Paragraphs as prose; what is indented or set in columns (equations, lists of arguments) as it stands."""
    parts = []
    for block in re.split(r"\n\s*\n", doc.strip("\n")):
        lines = block.split("\n")
        as_it_stands = any(line.startswith("    ") or re.search(r"\S {2,}\S", line) for line in lines)
        if as_it_stands:
            parts.append(f"```text\n{textwrap.dedent(block).rstrip()}\n```\n")
        elif all(line.startswith(("- ", "  ")) for line in lines):
            parts.append(
                "\n".join(plain(line) if line.startswith("  ") else f"- {plain(line[2:])}" for line in lines) + "\n"
            )
        else:
            parts.append(f"{plain(' '.join(block.split()))}\n")
    return parts


def plain(sentence: str) -> str:
    """Markdown that shows these characters; what stands between backticks is code already."""
    pieces = sentence.split("`")
    for k in range(0, len(pieces), 2):
        for sign in "\\*_<>[]{}|#":
            pieces[k] = pieces[k].replace(sign, f"\\{sign}")
    return "`".join(pieces)


def command_line() -> str:
    """As typer describes it."""
    words = [sys.executable, "-m", "typer", "gyrostat.cli.main", "utils", "docs", "--name", "gyrostat"]
    found = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    return found.replace("# `gyrostat`", "# Command line\n\n`gyrostat`", 1)
