"""What `gyrostat reproduce` claims of each paper holds, could have failed, and every paper has the same shape."""

from __future__ import annotations

import importlib

import matplotlib.image
import pytest

from gyrostat.cli.reproduce import PAPERS
from gyrostat.papers.checks import Reproduction

FIGURES = {
    "valverde2018": ["figure_5_A", "figure_6_A", "figure_5_B", "figure_6_B"],
    "wilde2018": ["figure_5", "figure_6", "figure_7", "figure_8"],
    "from2011": ["tumble", "equivalent_manipulator", "as_printed"],
    "forbes2019": ["tumbling", "nonholonomic", "two_arms", "capture"],
    "ploen2004": ["interferometer", "hill_frame", "linear_models"],
}
COUNTS = {"valverde2018": 91, "wilde2018": 46, "from2011": 21, "forbes2019": 25, "ploen2004": 25}


@pytest.mark.parametrize("paper", PAPERS)
def test_every_check_holds(reproduced, paper):
    failed = [f"{c.name}: {c.measured}, required {c.required}" for c in reproduced(paper).checks if not c.passed]
    assert not failed
    assert reproduced(paper).passed and len(reproduced(paper).checks) == COUNTS[paper]


@pytest.mark.parametrize("paper", PAPERS)
def test_no_bound_is_a_thousand_times_looser_than_what_is_met(reproduced, paper):
    """Round-off counts as 1e-17 of anything here: a smaller value is luck. A bound of zero is exact."""
    bounded = [check for check in reproduced(paper).checks if check.bound]
    loose = [f"{c.name}: {c.measured}, {c.required}" for c in bounded if c.bound >= 1000 * max(c.value, 1e-17)]
    assert bounded and not loose


@pytest.mark.parametrize("paper", PAPERS)
def test_no_statement_is_made_twice(reproduced, paper):
    names = [check.name for check in reproduced(paper).checks]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("paper", PAPERS)
def test_figures_are_written_and_not_blank(reproduced, paper):
    figures = reproduced(paper).figures
    assert [path.stem for path in figures] == [f"{paper}_{name}" for name in FIGURES[paper]]
    for path in figures:
        picture = matplotlib.image.imread(path)
        assert min(picture.shape[:2]) > 300 and picture[..., :3].std() > 0.05


@pytest.mark.parametrize("paper", PAPERS)
def test_papers_have_one_shape(reproduced, paper):
    for module in ("crafts", "checks", "figures", "reproduction"):
        importlib.import_module(f"gyrostat.papers.{paper}.{module}")
    result = reproduced(paper)
    assert isinstance(result, Reproduction)
    assert result.assumptions == importlib.import_module(f"gyrostat.papers.{paper}.reproduction").ASSUMPTIONS
