"""Uniform numbers of the runs of a campaign: those of run k depend on the seed, on the name of what is dispersed and on
k, on nothing else. (A Latin hypercube also knows how many runs there are.)

Each column (a name, and a number within it) has its own stream: adding a dispersion changes no other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..algebra import Array
from ..model import nearest

SAMPLINGS = ("random", "latin", "sobol", "saltelli")
Column = tuple[str, int]  # of which dispersion, which of its numbers
MOST_SOBOL_RUNS = 2**30
ROUNDS = 6  # of the cipher that shuffles strata


def uniforms(sampling: str, seed: int, columns: Sequence[Column], start: int, stop: int, runs: int) -> Array:
    """(stop - start, columns), all within (0, 1). runs: of the whole campaign, for Latin hypercubes."""
    if sampling == "sobol":
        return _sobol(seed, len(columns), start, stop)
    if sampling == "saltelli":
        return _saltelli(seed, columns, start, stop)
    at = [_stream(stream_key(seed, *column), start, stop) for column in columns]
    if sampling == "latin":
        k = np.arange(start, stop, dtype=np.uint64)
        at = [
            (_shuffled(stream_key(seed, *column, "strata"), k, runs) + u) / runs
            for column, u in zip(columns, at, strict=True)
        ]
    return np.stack(at, axis=1) if at else np.zeros((stop - start, 0))


def must_be_sampling(sampling: str) -> None:
    if sampling not in SAMPLINGS:
        raise ValueError(
            f"sampling is {sampling!r}; expected one of {', '.join(SAMPLINGS)}. {nearest(sampling, SAMPLINGS)}"
        )


def stream_key(seed: int, *of: object) -> tuple[int, int]:
    """128 bits for a stream."""
    digest = hashlib.sha256("\0".join(map(str, (seed, *of))).encode()).digest()
    return int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:16], "little")


def _stream(key: tuple[int, int], start: int, stop: int) -> Array:
    """Numbers start to stop of a counter-based stream (Philox): each block of four is a function of key and counter."""
    first = start // 4
    raw = np.random.Philox(key=key, counter=first).random_raw(stop - 4 * first)[start - 4 * first :]
    return ((raw >> np.uint64(11)).astype(float) + 0.5) * 2.0**-53


def _sobol(seed: int, dimensions: int, start: int, stop: int) -> Array:
    """A scrambled Sobol sequence; half of its resolution is added, so that no number is 0."""
    from scipy.stats import qmc

    if stop > MOST_SOBOL_RUNS:
        raise ValueError(f"a Sobol sequence has {MOST_SOBOL_RUNS} points here; run {stop} was asked for.")
    if not dimensions:
        return np.zeros((stop - start, 0))
    key = stream_key(seed, "sobol")
    points = qmc.Sobol(
        dimensions, scramble=True, seed=np.random.Generator(np.random.Philox(np.random.SeedSequence(key)))
    )
    if start:
        points.fast_forward(start)
    with np.errstate(all="ignore"):
        return _without_warning(points, stop - start) + 2.0**-31


def _without_warning(points: Any, count: int) -> Array:
    """Of numbers of points that are no power of two: blocks are cut from one sequence."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return points.random(count)


def _saltelli(seed: int, columns: Sequence[Column], start: int, stop: int) -> Array:
    """For Sobol indices: runs in groups of one more than there are names, and one. The first of a group is a point A,
    the second an independent point B, each further one A with one name's numbers taken from B.
    """
    names = list(dict.fromkeys(name for name, _ in columns))
    size = len(names) + 2
    group, role = np.divmod(np.arange(start, stop), size)
    first, last = start // size, (stop - 1) // size + 1
    found = []
    for name, i in columns:
        A, B = (_stream(stream_key(seed, name, i, *which), first, last)[group - first] for which in ((), ("B",)))
        found.append(np.where((role == 1) | (role == 2 + names.index(name)), B, A))
    return np.stack(found, axis=1) if found else np.zeros((stop - start, 0))


def _shuffled(key: tuple[int, int], k: Array, count: int) -> Array:
    """Where a permutation of 0 .. count - 1 takes each k, without a table: a Feistel cipher on the next even number of
    bits, walked until it is back in range.
    """
    half = max(1, (max(count - 1, 1).bit_length() + 1) // 2)
    mask, shift = np.uint64((1 << half) - 1), np.uint64(half)
    out = k.copy()
    todo = np.ones(len(k), dtype=bool)
    while todo.any():
        left, right = out[todo] >> shift, out[todo] & mask
        for i in range(ROUNDS):
            left, right = right, left ^ (_mixed(right, key[i % 2] + i) & mask)
        out[todo] = (left << shift) | right
        todo = out >= count
    return out.astype(float)


def _mixed(x: Array, key: int) -> Array:
    """SplitMix64's finaliser of x + key."""
    with np.errstate(over="ignore"):
        z = x + np.uint64(key & (2**64 - 1)) + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))
