"""Tutorials of the site: each example as a notebook, its docstring and comments as prose, run, with its pictures."""

from __future__ import annotations

import ast
import os
import re
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
NOT_RUN = {"14_learning_to_reach"}  # takes minutes and PyTorch; its page has the curve of a run


def names() -> list[str]:
    return [path.stem for path in sorted(EXAMPLES.glob("[0-9]*.py"))]


def title(name: str) -> str:
    head = ast.get_docstring(ast.parse((EXAMPLES / f"{name}.py").read_text(encoding="utf-8"))) or name
    return head.splitlines()[0].removeprefix("# ")


def write(folder: Path, *, execute: bool) -> None:
    """Notebooks, scripts and the index of tutorials in `folder`."""
    folder.mkdir(parents=True)
    for name in names():
        source = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8")
        book = notebook(source)
        if execute and name not in NOT_RUN:
            run(book)
        nbformat.write(book, folder / f"{name}.ipynb")
        (folder / f"{name}.py").write_text(source, encoding="utf-8")
    rows = [
        f"| [{title(n)}]({n}.ipynb) | {{download}}`.py <{n}.py>` | {{download}}`.ipynb <{n}.ipynb>` |" for n in names()
    ]
    table = "\n".join(["| | script | notebook |", "|---|---|---|", *rows])
    listed = "\n".join(names())
    page = f"# Tutorials\n\nEach is a program of `examples/`, run as it stands.\n\n{table}\n\n"
    page += f"```{{toctree}}\n:hidden:\n\n{listed}\n```\n"
    (folder / "index.md").write_text(page, encoding="utf-8")


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
