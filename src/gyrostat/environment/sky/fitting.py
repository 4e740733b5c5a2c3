"""Functions of time as tables of Chebyshev polynomials, with the error that was measured."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...algebra import Array
from ...tracing.tables import Pieces


class Fitted(NamedTuple):
    pieces: Pieces
    error: float  # twice the largest distance that was found, in the units of the function


def fitted(
    f: Callable[[Array], Array], start: float, end: float, *, length: float, terms: int = 13, tolerance: float = np.inf
) -> Fitted:
    """f(t) (n, ...) from start to end, on intervals of `length` at most, halved until the error is within tolerance."""
    count = max(1, int(np.ceil((end - start) / length - 1e-9)))
    error = np.inf
    for _ in range(8):
        found = _on(f, start, (end - start) / count, count, terms)
        error = found.error
        if error <= tolerance:
            return found
        count *= 2
    raise ValueError(
        f"a table of {terms} terms on {count // 2} intervals has an error of {error:.3g}, above {tolerance:.3g}: the "
        "function is not smooth enough."
    )


def aligned(f: Callable[[Array], Array], start: float, length: float, count: int, terms: int) -> Fitted:
    """On `count` intervals from start on: where f has kinks, which must be at their ends."""
    return _on(f, start, length, count, terms)


def _on(f: Callable[[Array], Array], start: float, width: float, count: int, terms: int) -> Fitted:
    angles = np.pi * (np.arange(terms) + 0.5) / terms
    middles = start + width * (np.arange(count) + 0.5)
    times = middles[:, None] + 0.5 * width * np.cos(angles)
    values = np.asarray(f(times.ravel()))
    values = values.reshape(count, terms, -1)
    waves = np.cos(np.outer(np.arange(terms), angles)) * (2.0 / terms)
    waves[0] /= 2.0
    coefficients = np.einsum("kj,ijc->ikc", waves, values)
    pieces = Pieces(start, width, coefficients)
    # between and at the extremes of the first polynomial left out, in every interval (in 400 of them at most)
    some = middles[:: -(-count // 400)]
    places = np.cos(np.pi * np.arange(2 * terms + 1) / (2 * terms)) * (1 - 1e-9)
    between = (some[:, None] + 0.5 * width * places).ravel()
    off = pieces(between) - np.asarray(f(between)).reshape(len(between), -1)
    return Fitted(pieces, 2.0 * float(np.linalg.norm(off, axis=1).max()))
