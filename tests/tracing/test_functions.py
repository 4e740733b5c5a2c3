"""Every elementary function, compiled, against 50-digit arithmetic; NumPy is a second opinion on special values."""

import mpmath
import numpy as np
import pytest

import gyrostat as gs
from gyrostat import algebra, tracing
from gyrostat.tracing.random import normal, seed_number, uniform, whole

mpmath.mp.dps = 50
RNG = np.random.default_rng(20)
SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 5e-324, 2.2e-308, 1e308, -1e308])


def compiled(function, arguments=1, dtype=np.float64):
    wrapped = {1: lambda a: function(a), 2: lambda a, b: function(a, b), 4: lambda a, b, c, d: function(a, b, c, d)}[
        arguments
    ]
    return tracing.compile(wrapped, None, inputs=dict.fromkeys("abcd"[:arguments], ()), dtype=dtype, threads=1)


def ulps(found, exact):
    """Error in units of the exact value's last place."""
    return max(
        float(abs(mpmath.mpf(float(f)) - e) / mpmath.mpf(float(np.spacing(abs(float(e))))))
        for f, e in zip(found, exact, strict=True)
    )


def spread(low, high, count=1500):
    """Numbers of both signs, log-uniform in magnitude."""
    return RNG.choice([-1.0, 1.0], count) * 10 ** RNG.uniform(low, high, count)


def near_multiples_of_half_pi():
    k = RNG.integers(-63000, 63000, 1500)
    return np.concatenate([k * (np.pi / 2), np.nextafter(k * (np.pi / 2), np.inf)])


@pytest.mark.parametrize("name", ["sin", "cos"])
def test_sine_and_cosine_within_2_ulp_or_1e_24(name):
    x = np.concatenate([spread(-12, 5, 4000), near_multiples_of_half_pi(), np.linspace(-8, 8, 2001)])
    found = compiled(getattr(algebra, name))(x)
    for a, f in zip(x, found, strict=True):
        exact = getattr(mpmath, name)(mpmath.mpf(a))
        error = abs(mpmath.mpf(f) - exact)
        assert error <= max(2 * np.spacing(abs(float(exact))), 1e-24), (a, f)


@pytest.mark.parametrize("name", ["sin", "cos"])
def test_large_angles_are_right_too(name):
    x = np.concatenate([spread(5, 300), [1e5, np.nextafter(1e5, 2e5), 1e22, 1.7e308]])
    assert ulps(compiled(getattr(algebra, name))(x), [getattr(mpmath, name)(mpmath.mpf(a)) for a in x]) <= 1.0


def test_a_large_angle_in_one_lane_changes_no_other():
    x = RNG.normal(size=64)
    sine = compiled(algebra.sin)
    alone = sine(x)
    x[3], x[40] = 1e9, np.inf
    others = np.delete(np.arange(64), [3, 40])
    assert np.array_equal(sine(x)[others], alone[others])


@pytest.mark.parametrize(
    ("name", "x", "tolerance"),
    [
        ("exp", np.concatenate([spread(-10, 2.8), np.linspace(-745, 709, 999)]), 2),
        ("log", abs(np.concatenate([spread(-307, 307), 1 + spread(-15, -0.3), [5e-324, 1e-310]])), 2),
        ("sqrt", abs(spread(-300, 300)), 1),
        ("tan", spread(-10, 4), 6),
        ("asin", np.concatenate([spread(-10, 0), [1.0, -1.0]]), 4),
        ("acos", np.concatenate([spread(-10, 0), [-1.0]]), 4),
        ("atan", spread(-10, 10), 3),
    ],
)
def test_functions_of_one_argument(name, x, tolerance):
    exact = [getattr(mpmath, name)(mpmath.mpf(float(a))) for a in x]
    keep = [k for k, e in enumerate(exact) if abs(e) > 1e-307]
    found = compiled(getattr(algebra, name))(x)
    assert ulps(found[keep], [exact[k] for k in keep]) <= tolerance


def test_angle_of_a_point():
    y, x = spread(-8, 8, 4000), spread(-8, 8, 4000)
    found = compiled(algebra.atan2, 2)(y, x)
    assert ulps(found, [mpmath.atan2(mpmath.mpf(a), mpmath.mpf(b)) for a, b in zip(y, x, strict=True)]) <= 3


def test_powers():
    a, b = abs(spread(-3, 3)), spread(-2, 1)
    assert (
        ulps(compiled(lambda a, b: a**b, 2)(a, b), [mpmath.mpf(x) ** mpmath.mpf(y) for x, y in zip(a, b, strict=True)])
        <= 1
    )
    for n in (-3, -1, 0, 1, 2, 3, 7, 16):
        np.testing.assert_allclose(compiled(lambda a, n=n: a**n)(a), a ** float(n), rtol=1e-14)
    np.testing.assert_allclose(compiled(lambda a: a**0.5)(a), np.sqrt(a), rtol=1e-15)
    np.testing.assert_allclose(compiled(lambda a: 2.0**a)(b), 2.0**b, rtol=1e-14)


@pytest.mark.parametrize("name", ["sin", "cos", "exp", "log", "sqrt", "absolute", "sign", "floor"])
def test_special_values_are_those_of_numpy(name):
    function = getattr(algebra, name)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(compiled(function)(SPECIAL), function(SPECIAL), rtol=1e-15)


@pytest.mark.parametrize("name", ["atan2", "minimum", "maximum"])
def test_special_values_of_two_arguments(name):
    function = getattr(algebra, name)
    a, b = (m.ravel() for m in np.meshgrid(SPECIAL, SPECIAL))
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(compiled(function, 2)(a, b), function(a, b), rtol=1e-15)


def test_remainders_are_those_of_numpy():
    a, b = spread(-5, 20, 4000), spread(-3, 3, 4000)
    a[:9], b[:9] = [6, -6, 5.5, -5.5, 0, 1e300, 7, np.nan, np.inf], [3, 3, 2, 2, 1, 3, np.inf, 1, 1]
    with np.errstate(all="ignore"):
        assert np.array_equal(compiled(lambda a, b: a % b, 2)(a, b), a % b, equal_nan=True)
    k, y = RNG.integers(-1000, 1000, 500), abs(spread(-3, 3, 500))
    assert np.array_equal(compiled(lambda a, b: a // b, 2)(k + 0.5, np.ones(500)), k)
    assert np.array_equal(compiled(lambda a, b: a // b, 2)(k * y * 1.0000001, y), k * y * 1.0000001 // y)


def test_conditions_and_selection():
    a, b = RNG.normal(size=(2, 100))
    a[5] = np.nan

    def choose(a, b):
        both = (a > 0) & ~(b <= 0.2) | (a >= 1.0)
        return algebra.where(both, a + b, algebra.where(a < b, 1.0, b))

    assert np.array_equal(
        compiled(choose, 2)(a, b), np.array([choose(x, y) for x, y in zip(a, b, strict=True)]), equal_nan=True
    )


@pytest.mark.parametrize("columns", [(), (2, 3)])
def test_interpolation_is_that_of_numpy(columns):
    xp = np.sort(RNG.normal(size=13))
    fp = RNG.normal(size=(13, *columns))
    x = np.concatenate([RNG.normal(size=200) * 2, xp, [np.inf, -np.inf]])
    expected = np.stack([np.interp(x, xp, c) for c in fp.reshape(13, -1).T], axis=-1).reshape(x.shape + columns)
    np.testing.assert_allclose(tracing.interp(x, xp, fp), expected, atol=1e-14)
    np.testing.assert_allclose(compiled(lambda a: tracing.interp(a, xp, fp))(x), expected, atol=1e-14)
    assert np.all(np.isnan(compiled(lambda a: tracing.interp(a, xp, fp))(np.nan)))


def test_interpolation_refuses_bad_tables():
    with pytest.raises(ValueError, match="strictly increasing"):
        tracing.interp(0.0, [0, 2, 1], [0, 0, 0])
    with pytest.raises(ValueError, match="NaN"):
        tracing.interp(0.0, [0, 1, 2], [0, np.nan, 0])


def test_uniform_numbers_have_the_same_bits_compiled():
    keys = RNG.integers(-(2**40), 2**40, size=(4, 1000)).astype(float)
    expected = uniform(*keys)
    assert np.array_equal(compiled(uniform, 4)(*keys), expected)
    assert np.all((expected > 0) & (expected < 1))
    np.testing.assert_allclose(compiled(normal, 4)(*keys), normal(*keys), rtol=1e-12)


def test_random_numbers_pass_simple_statistics():
    run, sample = (m.ravel() for m in np.meshgrid(np.arange(300), np.arange(300)))
    u = uniform(7, run, sample, 1)
    counts = np.histogram(u, bins=100, range=(0, 1))[0]
    assert ((counts - 900) ** 2 / 900).sum() < 160  # chi-squared, 99 degrees of freedom: 1e-4 in the tail
    table = u.reshape(300, 300) - 0.5
    for other in (np.roll(table, 1, 0), np.roll(table, 1, 1), uniform(8, run, sample, 1).reshape(300, 300) - 0.5):
        assert abs((table * other).mean() * 12) < 4 / 300  # neighbours in run, sample and seed are uncorrelated
    n = normal(7, run, sample, 1)
    assert abs(n.mean()) < 4 / 300 and abs(n.var() - 1) < 0.02 and abs((n**4).mean() - 3) < 0.1


def test_normal_is_the_inverse_distribution():
    u = uniform(1, np.arange(2000))
    exact = [mpmath.sqrt(2) * mpmath.erfinv(2 * mpmath.mpf(float(p)) - 1) for p in u[:200]]
    np.testing.assert_allclose(normal(1, np.arange(200)), [float(e) for e in exact], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("name", ["sin", "cos", "exp", "sqrt", "atan"])
def test_single_precision(name):
    x = RNG.normal(size=100).astype(np.float32) ** 2
    function = getattr(algebra, name)
    found = compiled(function, dtype=np.float32)(x)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, function(x.astype(float)), rtol=1.2e-7)


LARGE = [2**53, 2**53 + 1, 2**53 + 2, 2**62, 2**63 - 1, 2**63, 2**63 + 1, 2**64, 2**64 + 1, 3**80, 3**80 + 1]


@pytest.mark.parametrize("place", range(4))
def test_every_bit_of_a_key_counts(place):
    """Before, 2^53 and 2^53 + 1 were one, and all from 2^63 on."""
    keys = [[1] * place + [key] + [1] * (3 - place) for key in (*LARGE, *(-k for k in LARGE))]
    numbers = [uniform(*k) for k in keys]
    assert len(set(numbers)) == len(keys)
    other = (place + 1) % 4  # a traced value, beside keys that are known when it is recorded

    def beside(x):
        return np.array([uniform(*(x if j == other else e for j, e in enumerate(k))) for k in keys])

    np.testing.assert_array_equal(gs.compile(beside, None, inputs={"x": ()})(1.0), numbers)


def test_keys_that_floats_hold_are_themselves():
    for key in (0, 1, -7, 2**53, -(2**53)):
        assert whole(key) == key and uniform(key) == uniform(float(key))
    np.testing.assert_array_equal(whole(np.arange(5)), np.arange(5.0))
    many = np.array([3, 2**53 + 1, 2**62 + 1])
    np.testing.assert_array_equal(whole(many), [3.0, whole(2**53 + 1), whole(2**62 + 1)])
    np.testing.assert_array_equal(uniform(many), [uniform(int(k)) for k in many])


def test_large_keys_are_mixed_without_a_pattern():
    """Neighbours far beyond 2^53: as many different streams, evenly spread."""
    u = np.array([uniform(2**80 + k) for k in range(4000)])
    assert len(set(u)) == 4000 and abs(u.mean() - 0.5) < 0.02 and abs(np.corrcoef(u[1:], u[:-1])[0, 1]) < 0.05


def test_seeds_of_numpy():
    entropy = np.random.SeedSequence(123456789012345678901234567890).entropy
    assert seed_number(np.random.SeedSequence(entropy)) == entropy == seed_number(entropy)
    children = np.random.SeedSequence(7).spawn(3)
    numbers = [seed_number(s) for s in (np.random.SeedSequence(7), *children)] + [seed_number([7, 0]), seed_number([7])]
    assert len(set(numbers)) == 6
    assert seed_number(children[0]) == seed_number(np.random.SeedSequence(7, spawn_key=(0,)))
    for wrong in (1.5, "7", True, None, [], [1.5], [-1]):
        with pytest.raises(TypeError, match="expected a whole number"):
            seed_number(wrong)
