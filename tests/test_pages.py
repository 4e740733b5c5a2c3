"""Every page is a program: its code blocks run as printed, one after the other, in an empty folder."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest

import gyrostat as gs
from gyrostat import scenario

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
LANGUAGES = {"python", "toml", "c", "", "{toctree}"}
FENCE = re.compile(
    r"^(?:<!-- (?P<mark>[^\n]*?) -->\n)?```(?P<language>[\w{{}}-]*)\n(?P<code>.*?)^```$", re.DOTALL | re.MULTILINE
)

CRAFT = 'spacecraft = "servicer7"\n'  # of tables that are printed alone
MET = '[target]\nspacecraft = "client"\n[target.start]\nposition = [5.0, 0.0, 0.0]\n'


HOW_TO = (ROOT / "docs" / "site" / "howto.md").read_text(encoding="utf-8")


class Block(NamedTuple):
    language: str
    code: str
    line: int
    needs: str  # a package that this block needs and the suite may not have: <!-- needs NAME -->


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found = []
    for match in FENCE.finditer(text):
        mark = match["mark"] or ""
        needs = mark.removeprefix("needs ") if mark.startswith("needs ") else ""
        found.append(Block(match["language"], match["code"], text[: match.start("code")].count("\n"), needs))
    assert text.count("\n```") + text.startswith("```") == 2 * len(found), f"{page.name}: a fence without its end"
    return found


def pages_with(language: str) -> list[Path]:
    return [page for page in PAGES if any(block.language == language for block in blocks(page))]


def named(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def test_there_are_no_other_languages():
    """What is printed in another one would not be looked at here."""
    assert {block.language for page in PAGES for block in blocks(page)} <= LANGUAGES


@pytest.mark.parametrize("page", pages_with("python"), ids=named)
def test_python_runs_as_printed(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    space: dict = {"__name__": "page"}
    for block in blocks(page):
        if block.language == "python" and (not block.needs or importlib.util.find_spec(block.needs)):
            code = "\n" * block.line + block.code  # errors point at the page's own lines
            exec(compile(code, str(page), "exec"), space)  # noqa: S102 (pages of this repository)
    written = "".join(squeezed(header.read_text(encoding="utf-8")) for header in tmp_path.rglob("*.h"))
    for block in blocks(page):
        for line in block.code.splitlines() if block.language == "c" else ():
            assert squeezed(line) in written, f"{named(page)}: no header that the page writes has: {line}"


def squeezed(code: str) -> str:
    """Without white space: declarations are printed on the page in one line."""
    return re.sub(r"\s", "", code)


@pytest.mark.parametrize("page", pages_with("toml"), ids=named)
def test_tables_are_read_as_printed(page, tmp_path):
    """A spacecraft is loaded; a scenario, or what a scenario may have besides, is checked key by key."""
    for k, block in enumerate(block for block in blocks(page) if block.language == "toml"):
        table, path = tomllib.loads(block.code), tmp_path / f"block_{k}.toml"
        if "body" in table:
            path.write_text(block.code, encoding="utf-8")
            assert gs.load(path).findings == ()
            continue
        head = "" if table.keys() & {"spacecraft", "member"} else CRAFT + (MET if "phase" in table else "")
        tail = "" if table.keys() & {"run", "phase"} else '[run]\nduration = "1 s"\n'
        path.write_text(head + block.code + tail, encoding="utf-8")
        assert scenario.load(path) is not None


def commands() -> list[tuple[Path, str]]:
    """Lines of unmarked blocks that begin with gyrostat."""
    lines = [
        (page, line)
        for page in PAGES
        for block in blocks(page)
        if not block.language
        for line in block.code.splitlines()
    ]
    return [(page, line.split("#")[0].strip()) for page, line in lines if line.startswith("gyrostat ")]


def test_commands_name_what_the_command_line_has():
    """Each command and each option that a page prints is in the help of that command."""
    helps: dict[str, str] = {}
    for page, line in commands():
        words = line.split()[1:]
        name = " ".join(words[:2]) if words[0] == "export" else words[0]
        if name not in helps:
            asked = ["gyrostat", *name.split(), "--help"]
            helps[name] = said(asked)
        for word in words:
            if word.startswith("--"):
                assert word.split("=")[0] in helps[name], f"{named(page)}: {line}"


def said(words: list[str]) -> str:
    done = subprocess.run([sys.executable, "-m", *words], capture_output=True, text=True, check=False, env=wide())
    assert done.returncode == 0, f"{' '.join(words)}: {done.stderr}"
    return done.stdout


def wide() -> dict[str, str]:
    return {**os.environ, "COLUMNS": "200"}


def test_every_page_begins_with_what_it_is_for():
    """A title, then a sentence: no table, code or heading before it."""
    for page in PAGES:
        lines = [line for line in page.read_text(encoding="utf-8").splitlines() if line.strip()]
        assert lines[0].startswith("# ") and re.match(r"[A-Za-z`*\[]", lines[1]), f"{named(page)}: {lines[1][:60]}"
        if page.parent.name == "docs" and f"\n{page.stem}\n" in HOW_TO:
            assert lines[1].startswith("Read this page") or page.stem in {"by-example", "missions"}, named(page)


def test_what_pages_name_as_shown_by_is_there():
    """Tests, benchmarks and make targets that a page names."""
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for name in re.findall(r"`((?:tests|benchmarks|tools|examples)/[\w/.-]*)`", text):
            assert (ROOT / name).exists(), f"{named(page)}: {name}"
        for target in re.findall(r"`make ([\w-]+)[ `]", text):
            assert target in targets, f"{named(page)}: make {target}"
