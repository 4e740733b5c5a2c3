"""What notebooks show: tables of plain text whatever names hold, and a scene that plays inside a cell."""

from __future__ import annotations

from html.parser import HTMLParser

import gyrostat as gs
from browser import Browser, needs_browser
from formation_crafts import armed, box
from gyrostat.formation import Formation, simulate
from gyrostat.model import Finding


class Cells(HTMLParser):
    """The texts of a page's cells, and its tags; raises nothing, so balance is counted."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.cells, self.tags, self._open, self.text = [], set(), 0, ""
        self.feed(html)
        assert self._open == 0

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self._open += 1
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_endtag(self, tag):
        self._open -= 1

    def handle_data(self, data):
        self.text += data
        if self.cells:
            self.cells[-1] += data


def test_a_spacecraft_is_a_table_of_its_bodies():
    craft = gs.Spacecraft.build("<b>odd</b>", [gs.Body("hull & <i>", 10.0, (0.1, 0, 0), (1.0, 1.0, 1.0))])
    found = Cells(craft._repr_html_())
    assert found.tags <= {"div", "b", "table", "thead", "tbody", "tr", "th", "td"}
    assert "hull & <i>" in found.cells and "10" in found.cells and "0.1, 0, 0" in found.cells
    assert "<b>odd</b>: 1 bodies, 10 kg, nv = 6" in found.text


def test_a_run_says_what_the_terminal_says(short_run):
    found = Cells(short_run._repr_html_())
    assert "Reached its end." in found.text
    for row in short_run.summary.figures:
        assert row.name in found.cells and f"{row.peak:.4g} {row.unit}" in found.cells
    for name, drift in short_run.summary.audit:
        assert found.cells[found.cells.index(name) + 1] == f"{drift:.1e}"


def test_findings_and_kernels():
    finding = Finding("warning", "mass is <0>", "Give one.", "body 'a'", "x.urdf", 3)
    assert Cells(finding._repr_html_()).text == "warning: x.urdf:3: body 'a': mass is <0> Give one."
    kernel = gs.compile(gs.forward_dynamics, armed())
    cells = Cells(kernel._repr_html_()).cells
    assert [cells[k + 1] for k, cell in enumerate(cells) if cell == "q"] == [f"({armed().nq},)"]


def test_a_formation_shows_its_summary():
    formation = Formation({"a": box(), "b": box()})
    run = simulate(formation, formation.state({"b": ({"hull": [1, 0, 0, 0, 5.0, 0, 0]}, {})}), (0.0, 1.0))
    assert "5 m, a and b" in Cells(run._repr_html_()).cells


@needs_browser
def test_the_scene_plays_inside_a_cell(short_run, tmp_path):
    page = tmp_path / "notebook.html"
    page.write_text(f"<!doctype html><html><body>{short_run.show(height=400)._repr_html_()}</body></html>")
    with Browser(tmp_path, width=800, height=600) as browser:
        browser.open(page.as_uri())
        cell = "document.querySelector('iframe').contentDocument"
        browser.until(f"{cell} && {cell}.querySelector('canvas') !== null")
        browser.until(f"{cell}.querySelector('#gyrostat output').textContent.startsWith('t = ')")
        assert browser.errors == []
        assert browser.run("document.querySelector('iframe').getBoundingClientRect().height") == 400
