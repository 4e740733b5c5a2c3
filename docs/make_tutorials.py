"""Tutorials of the site: each example as a notebook, its docstring and comments as prose, run, with its pictures."""

from __future__ import annotations

import ast
import base64
import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
NOT_RUN = {"14_learning_to_reach": "learning_to_reach.png"}  # takes minutes and PyTorch; the curve of a run is kept
# Which, in what order, and what each teaches
GROUPS = {
    "Start here": {
        0: "Load a craft, ask it questions, run it with a law, read the audit, look at the result.",
        1: "A URDF of your own: findings with their lines, frames, what a millimetre costs on a floating base.",
        2: "Joints go around a loop and come back; the base does not. Why, and what is conserved.",
        12: "A metre of line with the tool, open loop, while the base gives way: the generalised Jacobian.",
        11: "The reaction null space: an arm with seven joints moves, and its base does not turn.",
        10: "Reaction wheels that know what the arm will do; what happens when they saturate.",
    },
    "Tumbling, bending, sloshing": {
        3: "A satellite that turns over by itself: events, and a closed form to compare with.",
        4: "A panel that bends, from rigid pieces and springs, and how fast that converges.",
        15: "Flexible solar arrays, and a turn that does not make them ring: input shaping.",
        5: "Liquid in a tank as a pendulum, under thrust.",
    },
    "Several craft, and loops": {
        8: "Two spacecraft meet, the hand closes, the wheels take the tumble: phases, impulses, welds.",
        7: "Seven satellites in low orbit, relative motion, impulses.",
        9: "Constraints: a four-bar linkage on a floating base, driven, with its loads.",
    },
    "Laws, and what becomes of them": {
        19: "Write a law in NumPy, have it compiled, try a thousand gains, ask for its derivative.",
        13: "Linear models with python-control: gains by LQR, and how far the linear model is right.",
        18: "The simulated law as C99, compiled and flown against the simulation.",
        14: "Reinforcement learning: thousands of Gymnasium environments side by side.",
    },
    "Many runs, and what they say": {
        6: "A thousand runs with dispersed masses, at once.",
        16: "A Monte-Carlo campaign that answers: met, not met, or not yet known.",
        17: "Unknown masses found from measurements, by exact derivatives of the motion.",
    },
}


def names() -> list[str]:
    """In the order of the index."""
    found = {int(path.stem[:2]): path.stem for path in sorted(EXAMPLES.glob("[0-9]*.py"))}
    order = [number for group in GROUPS.values() for number in group]
    assert sorted(order) == sorted(found), "every example stands in one group of docs/make_tutorials.py"
    return [found[number] for number in order]


def source_of(name: str) -> str:
    return (EXAMPLES / f"{name}.py").read_text(encoding="utf-8")


def title(name: str) -> str:
    return (ast.get_docstring(ast.parse(source_of(name))) or name).splitlines()[0].removeprefix("# ")


def write(folder: Path, *, execute: bool) -> None:
    """Notebooks, scripts, pictures and the index of tutorials in `folder`; what is downloaded is without results."""
    for place in (folder, folder / "downloads", folder / "pictures"):
        place.mkdir(parents=True)
    for name in names():
        source = source_of(name)
        book = notebook(source)
        nbformat.write(book, folder / "downloads" / f"{name}.ipynb")
        (folder / "downloads" / f"{name}.py").write_text(source, encoding="utf-8")
        if execute and name not in NOT_RUN:
            run(book)
        keep_a_picture(book, name, folder / "pictures" / f"{name}.png")
        offered = f"{{download}}`{name}.py <downloads/{name}.py>` · {{download}}`{name}.ipynb <downloads/{name}.ipynb>`"
        book.cells[0]["source"] += f"\n\n{offered}"
        nbformat.write(book, folder / f"{name}.ipynb")
    (folder / "index.md").write_text(index(folder), encoding="utf-8")


def keep_a_picture(book: Any, name: str, place: Path) -> None:
    """The first one that the tutorial shows; of one that is not run, the stored one, which its page gets, too."""
    if name in NOT_RUN:
        stored = EXAMPLES.parent / "docs" / "images" / NOT_RUN[name]
        shutil.copy(stored, place)
        book.cells = [cell for cell in book.cells if "remove-input" not in cell.metadata.get("tags", [])]
        book.cells.append(new_markdown_cell(f"![What a run gave](pictures/{name}.png)", id="picture"))
        return
    shown = [o.data["image/png"] for c in book.cells for o in c.get("outputs", []) if "image/png" in o.get("data", {})]
    if shown:
        place.write_bytes(base64.b64decode(shown[0]))


def index(folder: Path) -> str:
    """Cards by group."""
    parts = ["# Tutorials\n", "Each is a program of `examples/`, run as it stands: what you see is what it printed.\n"]
    by_number = {int(name[:2]): name for name in names()}
    for group, members in GROUPS.items():
        parts += [f"## {group}\n", "::::{grid} 1 2 2 3\n:gutter: 3\n"]
        for number, taught in members.items():
            name = by_number[number]
            has_picture = (folder / "pictures" / f"{name}.png").is_file()
            picture = f":img-top: pictures/{name}.png\n:img-alt: {title(name)}\n" if has_picture else ""
            head = f":::{{grid-item-card}} {title(name)}\n:link: {name}\n:link-type: doc\n{picture}"
            parts.append(f"{head}\n{taught}\n:::\n")
        parts.append("::::\n")
    listed = "\n".join(names())
    return "\n".join([*parts, f"```{{toctree}}\n:hidden:\n\n{listed}\n```\n"])


def notebook(source: str) -> Any:
    cells: list[Any] = []
    for prose, code in pieces(source):
        cells += [new_markdown_cell(prose)] if prose else []
        cells += [new_code_cell(code)] if code else []
        for picture in re.findall(r"savefig\(\"([\w.]+\.png)\"", code):
            shown = f'from IPython.display import Image\n\nImage("{picture}")'
            cells.append(new_code_cell(shown, metadata={"tags": ["remove-input"]}))
    for k, cell in enumerate(cells):
        cell["id"] = f"cell-{k}"  # the same on every build
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return new_notebook(cells=cells, metadata={"kernelspec": kernel})


def pieces(source: str) -> list[tuple[str, str]]:
    """(prose, code): the docstring first; a comment that stands alone before statements begins another piece."""
    tree, lines = ast.parse(source), source.splitlines()
    found: list[tuple[str, list[str]]] = [(ast.get_docstring(tree) or "", [])]
    body = tree.body[1:] if ast.get_docstring(tree) else tree.body
    done = tree.body[0].end_lineno if ast.get_docstring(tree) else 0
    for statement in body:
        decorated = [d.lineno for d in getattr(statement, "decorator_list", [])]
        first = min([statement.lineno, *decorated])
        before = lines[done : first - 1]
        comment = [line for line in before if line.startswith("#")]
        if comment and before[0] == "":
            found.append((" ".join(line.removeprefix("#").strip() for line in comment), []))
        elif found[-1][1]:
            found[-1][1].extend(line for line in before if line == "" or line.startswith("#"))
        found[-1][1].extend(lines[first - 1 : statement.end_lineno])
        done = statement.end_lineno
    return [(prose, "\n".join(code).strip("\n")) for prose, code in found]


def run(book: Any) -> None:
    """Run in an empty folder; pictures become part of the notebook."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "MPLBACKEND": "agg", "COLUMNS": "100"}
        there, quiet = {"metadata": {"path": folder}}, ["--IPKernelApp.log_level=40"]
        client = NotebookClient(book, timeout=600, kernel_name="python3", resources=there, extra_arguments=quiet)
        client.execute(env=environment)
    for cell in book.cells:  # as the script prints: not the value of a cell's last line
        if cell.cell_type == "code" and "remove-input" not in cell.metadata.get("tags", []):
            cell["outputs"] = [output for output in cell["outputs"] if output.output_type != "execute_result"]
