"""Functions of time as tables of Chebyshev polynomials, with the error that was measured."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...algebra import Array
from ...tracing.tables import Pieces


class Fitted(NamedTuple):
    pieces: Pieces
    error: float  # the largest that was found between nodes, in the units of the function


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
    # between the nodes, where the error of interpolation is largest, on some hundreds of places at most
    some = middles[:: max(1, count // 40)]
    between = (some[:, None] + 0.5 * width * np.cos(np.pi * np.arange(terms + 1) / terms) * (1 - 1e-9)).ravel()
    error = float(np.abs(pieces(between) - np.asarray(f(between)).reshape(len(between), -1)).max())
    return Fitted(pieces, error)
