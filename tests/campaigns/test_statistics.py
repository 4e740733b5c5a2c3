"""Bounds cover as often as they say; indices and tails are the known ones."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from gyrostat import campaigns as c
from gyrostat.campaigns.rare import split
from gyrostat.campaigns.requirements import Judged, judge
from gyrostat.campaigns.sampling import uniforms
from gyrostat.campaigns.sensitivity import drivers, indices


@pytest.mark.parametrize(("hits", "runs"), [(0, 10), (10, 10), (3, 10), (997, 1000), (1, 5000)])
def test_intervals_of_a_proportion_are_those_of_scipy(hits, runs):
    for method in ("exact", "wilson"):
        found = c.proportion(hits, runs, 0.95, method=method)
        other = stats.binomtest(hits, runs).proportion_ci(0.95, method=method)
        assert (found.low, found.high) == pytest.approx((other.low, other.high), abs=1e-12)


@pytest.mark.parametrize("p", [0.003, 0.05, 0.31, 0.9])
def test_the_exact_bounds_cover_at_least_as_often_as_they_say(p):
    """Summed over all that can happen in 60 runs."""
    runs = 60
    chance = stats.binom.pmf(np.arange(runs + 1), runs, p)
    above = np.array([c.at_least(k, runs, 0.9) <= p for k in range(runs + 1)])
    below = np.array([c.at_most(k, runs, 0.9) >= p for k in range(runs + 1)])
    assert chance[above].sum() >= 0.9 and chance[below].sum() >= 0.9


def test_percentiles_and_tolerance_bounds_cover_over_2000_campaigns():
    random = np.random.default_rng(5)
    truth = stats.lognorm(0.7).ppf(0.9)
    inside = beyond = 0
    for _ in range(2000):
        x = random.lognormal(0.0, 0.7, 300)
        found = c.quantile(x, 0.9, 0.9)
        inside += found.low <= truth <= found.high
        beyond += c.tolerance_bound(x, 0.9, 0.9) >= truth
    assert inside / 2000 > 0.9 - 3 * 0.0067 and inside / 2000 < 0.97
    assert beyond / 2000 > 0.9 - 3 * 0.0067 and beyond / 2000 < 0.97


def test_the_runs_that_a_requirement_takes():
    assert c.runs_for(0.95, 0.95) == 59  # Wilks
    assert c.runs_for(0.997, 0.95) == 998
    assert c.runs_for(0.95, 0.95, failures=1) == 93
    assert c.tolerance_bound(np.arange(58.0), 0.95) == np.inf and c.tolerance_bound(np.arange(59.0), 0.95) == 58.0


def test_a_wrong_verdict_is_as_rare_as_the_confidence_says_over_2000_campaigns():
    """At the limit itself both answers are wrong: each comes in at most 5 % of the campaigns."""
    random = np.random.default_rng(8)
    wanted = c.require("x", below=0.9, share=0.9, confidence=0.95)
    judged = [judge(wanted, random.uniform(size=400)).judged for _ in range(2000)]
    assert 0.02 < judged.count(Judged.met) / 2000 < 0.05 + 3 * 0.0049
    assert 0.02 < judged.count(Judged.not_met) / 2000 < 0.05 + 3 * 0.0049


def test_requirements_are_read_and_say_how_many_more_runs_they_need():
    wanted = c.requirement_from_text("pointing error < 0.5 deg in 99.7 % of runs, with 90 % confidence")
    assert wanted.outcome == "pointing error" and wanted.limit == pytest.approx(np.radians(0.5))
    assert (wanted.share, wanted.confidence, wanted.below) == (pytest.approx(0.997), 0.9, True)
    assert c.requirement_from_text("fuel > 3 in 90 %").confidence == 0.95
    values = np.zeros(500)
    open_ = judge(wanted, values)
    assert open_.judged is Judged.open and open_.more is not None
    assert judge(wanted, np.zeros(500 + open_.more)).judged is Judged.met
    assert abs(500 + open_.more - c.runs_for(0.997, 0.9)) < 5
    values[0] = np.nan  # a run that failed meets nothing
    assert judge(wanted, values).failing == 1
    for text in ("pointing 0.5", "x < 3 parsec in 99 % of runs", "x < 1 in 100 % of runs"):
        with pytest.raises(ValueError, match="expected|parsec"):
            c.requirement_from_text(text)


def test_sobol_indices_of_ishigamis_function():
    columns, n = [("x1", 0), ("x2", 0), ("x3", 0)], 40_000
    x = np.pi * (2.0 * uniforms("saltelli", 3, columns, 0, 5 * n, 5 * n) - 1.0)
    y = np.sin(x[:, 0]) + 7.0 * np.sin(x[:, 1]) ** 2 + 0.1 * x[:, 2] ** 4 * np.sin(x[:, 0])
    exact = {"x1": (0.31391, 0.55759), "x2": (0.44241, 0.44241), "x3": (0.0, 0.24368)}
    for name, first, total in indices(["x1", "x2", "x3"], y, 0.999):
        for found, truth in zip((first, total), exact[name], strict=True):
            assert found.low < truth < found.high and found.high - found.low < 0.1


def test_drivers_are_found_by_rank():
    random = np.random.default_rng(0)
    a, b, nothing = random.normal(size=(3, 2000))
    found = drivers({"a": a, "b": b, "nothing": nothing, "same": np.ones(2000)}, np.exp(3 * a) - 0.2 * b)
    assert [one.name for one in found][:1] == ["a"] and len(found) == 3
    assert found[0].correlation == pytest.approx(stats.spearmanr(a, np.exp(3 * a) - 0.2 * b).statistic, abs=1e-12)
    assert found[-1].chance > 1e-3


def test_a_probability_of_one_in_a_million_from_ten_thousand_runs():
    """A linear outcome of five numbers has a normal tail; the stated variation is what repetitions show."""
    a = np.array([1.0, -2.0, 0.5, 3.0, 0.1])
    limit = stats.norm.isf(1e-6) * np.linalg.norm(a)
    found = [split(lambda z, _: z @ a, 5, limit, 1500, seed) for seed in range(40)]
    estimates = np.array([one.probability for one in found])
    assert max(one.runs for one in found) < 12_000
    spread = estimates.std() / estimates.mean()
    assert abs(estimates.mean() - 1e-6) < 4 * estimates.std() / np.sqrt(40)
    assert 0.5 < np.mean([one.variation for one in found]) / spread < 2.0
    assert spread < 0.5
