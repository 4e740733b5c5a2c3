"""The site: every page is in it, no warning, every link leads somewhere, nothing comes from the network."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("sphinx")
pytest.importorskip("myst_nb")
ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    out = tmp_path_factory.mktemp("site")
    script = str(ROOT / "docs" / "make_site.py")
    done = subprocess.run([sys.executable, script, str(out), "--fast"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return out / "html"


def test_every_page_is_in_it_and_warnings_are_errors(site):
    """Sphinx warns of a page that no table of contents lists, and of a link that leads nowhere."""
    for page in (ROOT / "docs").rglob("*.md"):
        name = page.relative_to(ROOT / "docs").with_suffix(".html").as_posix().removeprefix("site/")
        assert (site / name).is_file(), name
    for example in (ROOT / "examples").glob("[0-9]*.py"):
        assert (site / "tutorials" / f"{example.stem}.html").is_file()
        assert list((site / "_downloads").rglob(f"{example.stem}.ipynb"))


def test_no_page_asks_the_network_for_anything(site):
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert not re.search(r"<(?:script|link|img)[^>]*(?:src|href)=\"(?:https?:)?//", text), page.name


def test_pictures_that_pages_show_are_there(site):
    for page in site.rglob("*.html"):
        for source in re.findall(r"<img[^>]*src=\"([^\"]+)\"", page.read_text(encoding="utf-8")):
            assert source.startswith("data:") or (page.parent / source).is_file(), f"{page.name}: {source}"


def test_every_public_name_is_in_the_reference_with_what_it_says():
    spec = importlib.util.spec_from_file_location("make_reference", ROOT / "docs" / "make_reference.py")
    reference = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reference)
    pages = reference.pages()
    counted = sum(len(re.findall(r"^## ", text, re.MULTILINE)) for text in pages.values())
    assert counted > 400
    for page, text in pages.items():
        for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
            name, _, rest = section.partition("\n")
            assert len(re.sub(r"```.*?```", "", rest, count=1, flags=re.DOTALL).split()) >= 2, (
                f"{page}: {name} says nothing"
            )


def test_every_name_of_the_top_level_has_an_example_that_runs():
    """Its block stands on docs/by-example.md, which runs as printed (tests/test_pages.py), and uses the name."""
    import gyrostat as gs

    spec = importlib.util.spec_from_file_location("make_reference", ROOT / "docs" / "make_reference.py")
    reference = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reference)
    shown = reference.examples()
    rooms = {name for name, home in gs._HOME.items() if not home}
    assert set(shown) == set(gs.__all__) - rooms
    for name, block in shown.items():
        assert re.search(rf"\b(gs\.)?{name}\b", block), name
