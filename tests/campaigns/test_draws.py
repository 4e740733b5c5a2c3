"""Run k is the same whatever is asked with it; every distribution is what it says."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from gyrostat import campaigns as c
from gyrostat.campaigns import targets
from gyrostat.campaigns.sampling import SAMPLINGS, uniforms

COLUMNS = [("a.mass", 0), ("b.com", 0), ("b.com", 1), ("b.com", 2)]


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_run_k_depends_on_the_seed_and_on_k_alone(sampling):
    whole = uniforms(sampling, 11, COLUMNS, 0, 500, 500)
    assert ((whole > 0) & (whole < 1)).all()
    for start, stop in ((499, 500), (0, 1), (17, 203), (4, 8), (250, 250 + 61)):
        assert (uniforms(sampling, 11, COLUMNS, start, stop, 500) == whole[start:stop]).all()
    assert not np.isclose(uniforms(sampling, 12, COLUMNS, 0, 500, 500), whole).any(axis=1).all()
    assert len(np.unique(whole.round(12))) > 450


def test_a_further_dispersion_changes_no_other():
    for sampling in ("random", "latin"):
        alone = uniforms(sampling, 5, COLUMNS[1:], 0, 64, 64)
        assert (uniforms(sampling, 5, COLUMNS, 0, 64, 64)[:, 1:] == alone).all()


@pytest.mark.parametrize("runs", [1, 2, 7, 64, 1000])
def test_a_latin_hypercube_has_one_run_in_every_stratum(runs):
    u = uniforms("latin", 3, COLUMNS, 0, runs, runs)
    for column in u.T:
        assert (np.sort((column * runs).astype(int)) == np.arange(runs)).all()


def test_groups_for_sobol_indices_differ_in_one_name_at_a_time():
    u = uniforms("saltelli", 3, COLUMNS, 0, 40, 40).reshape(10, 4, 4)
    A, B, first, second = (u[:, k] for k in range(4))
    assert (A != B).all()
    assert (first[:, 0] == B[:, 0]).all() and (first[:, 1:] == A[:, 1:]).all()
    assert (second[:, 1:] == B[:, 1:]).all() and (second[:, 0] == A[:, 0]).all()


N = 6000
NUMBERS = np.arange(N)


def drawn(distribution, shape=(), nominal=None, seed=1):
    u = uniforms("random", seed, [("x", i) for i in range(distribution.columns(shape))], 0, N, N)
    return distribution.draw(u, shape, nominal, NUMBERS)


@pytest.mark.parametrize(
    ("distribution", "truth"),
    [
        (c.normal(2.0, 0.3), stats.norm(2.0, 0.3)),
        (c.truncated_normal(1.0, 0.5, 0.8, 3.0), stats.truncnorm(-0.4, 4.0, 1.0, 0.5)),
        (c.uniform(-1.0, 4.0), stats.uniform(-1.0, 5.0)),
        (c.log_normal(3.0, 0.2), stats.lognorm(0.2, scale=3.0)),
        (c.from_scipy(stats.weibull_min(1.5, scale=2.0)), stats.weibull_min(1.5, scale=2.0)),
    ],
)
def test_numbers_have_their_distribution(distribution, truth):
    assert stats.kstest(drawn(distribution), truth.cdf).pvalue > 1e-3
    assert stats.kstest(drawn(distribution, (3,))[:, 2], truth.cdf).pvalue > 1e-3


def test_attitudes_and_directions_prefer_none():
    q = drawn(c.attitude(), (4,))
    assert np.abs(np.linalg.norm(q, axis=1) - 1).max() < 1e-12
    angle = 2 * np.arccos(np.abs(q[:, 0]))
    assert stats.kstest(angle, lambda x: (x - np.sin(x)) / np.pi).pvalue > 1e-3  # of uniform rotations
    assert np.abs(q.T @ q / N - np.eye(4) / 4).max() < 0.015
    d = drawn(c.direction(c.uniform(1.0, 2.0)), (3,))
    size = np.linalg.norm(d, axis=1)
    assert stats.kstest(size - 1.0, "uniform").pvalue > 1e-3
    for k in range(3):
        assert stats.kstest(0.5 + 0.5 * d[:, k] / size, "uniform").pvalue > 1e-3


def test_inertias_are_those_of_bodies_however_wide():
    nominal = np.array([2.0, 0.1, -0.2, 3.0, 0.05, 4.5])
    for xx, xy, xz, yy, yz, zz in drawn(c.inertia(1.0), (6,), nominal)[:1000]:
        a, b, top = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        assert a > 0 and a + b >= top * (1 - 1e-12)
    narrow = drawn(c.inertia(0.02), (6,), nominal)
    assert np.abs(narrow.mean(axis=0) - nominal).max() < 0.01 and 0.005 < narrow[:, 5].std() / 4.5 < 0.03


def test_discrete_values_come_as_often_as_their_weights_say():
    found = drawn(c.discrete([1.0, 5.0, 7.0], [1, 0, 3]))
    counts = [np.count_nonzero(found == x) for x in (1.0, 5.0, 7.0)]
    assert counts[1] == 0 and stats.binomtest(counts[0], N, 0.25).pvalue > 1e-3
    assert (drawn(c.rows(np.arange(2 * N).reshape(N, 2)), (2,))[:, 0] == 2 * NUMBERS).all()


def test_correlated_quantities_keep_their_own_distributions():
    both = c.correlated([c.normal(0, 1), c.uniform(0, 1)], [[1, 0.8], [0.8, 1]])
    u = both.mixed(uniforms("random", 2, COLUMNS[:2], 0, N, N))
    assert np.corrcoef(stats.norm.ppf(u).T)[0, 1] == pytest.approx(0.8, abs=0.02)
    assert stats.kstest(u[:, 0], "uniform").pvalue > 1e-3 and stats.kstest(u[:, 1], "uniform").pvalue > 1e-3


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: c.normal(0, -1), "sd is -1"),
        (lambda: c.uniform(2, 1), "low < high"),
        (lambda: c.discrete([1, 2], [1]), "expected 2 numbers"),
        (lambda: c.correlated([c.normal(0, 1)] * 2, [[1, 2], [2, 1]]), "positive definite"),
        (lambda: c.scaled(3.0), "expected a distribution"),
        (lambda: c.log_normal(-1, 1), "more than zero"),
    ],
)
def test_what_is_no_distribution_is_refused(make, words):
    with pytest.raises((ValueError, TypeError), match=words):
        make()


EVERY = [
    (c.normal(2.0, 0.3), ()),
    (c.normal([2.0, 1.0, 0.0], 0.3), (3,)),
    (c.truncated_normal(1.0, 0.5, 0.8, 3.0), ()),
    (c.uniform(-1.0, 4.0), (3,)),
    (c.log_normal(3.0, 0.2), ()),
    (c.from_scipy(stats.weibull_min(1.5, scale=2.0)), ()),
    (c.attitude(), (4,)),
    (c.direction(c.uniform(1.0, 2.0)), (3,)),
    (c.inertia(0.3), (6,)),
    (c.discrete([1.0, 5.0, 7.0]), ()),
    (c.scaled(c.normal(1.0, 0.1)), ()),
]


@pytest.mark.parametrize(("distribution", "shape"), EVERY, ids=lambda x: type(x).__name__)
def test_a_value_drawn_alone_has_the_bits_of_one_drawn_among_many(distribution, shape):
    nominal = np.array([2.0, 0.1, -0.2, 3.0, 0.05, 4.5]) if shape == (6,) else np.asarray(1.7)
    columns = [("x", i) for i in range(distribution.columns(shape))]

    def draw(start, stop):
        u = uniforms("random", 1, columns, start, stop, 400)
        return distribution.draw(u, shape, nominal, np.arange(start, stop))

    whole = draw(0, 400)
    assert all(draw(k, k + 1)[0].tobytes() == whole[k].tobytes() for k in range(400))
    assert draw(100, 117).tobytes() == whole[100:117].tobytes()


def test_correlated_and_turned_values_drawn_alone_have_the_bits_of_those_among_many():
    C = [[1, 0.8, 0.1], [0.8, 1, -0.3], [0.1, -0.3, 1]]
    three = c.correlated([c.normal(0, 1)] * 3, C)
    u = uniforms("random", 2, COLUMNS[:3], 0, 400, 400)
    whole, turns = three.mixed(u), targets._turned_by(np.array([0.5, 0.5, -0.5, 0.5]), u)
    L = np.linalg.cholesky(C)
    assert stats.norm.ppf(whole) == pytest.approx(stats.norm.ppf(u) @ L.T, abs=1e-9)
    for k in range(400):
        assert three.mixed(u[k : k + 1])[0].tobytes() == whole[k].tobytes()
        assert targets._turned_by(np.array([0.5, 0.5, -0.5, 0.5]), u[k : k + 1])[0].tobytes() == turns[k].tobytes()
