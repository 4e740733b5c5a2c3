"""Weights of dense output: sums of rows of numbers, and the cubic through both ends of a step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .method import Row


def combined(scales: Sequence[Any], rows: Sequence[Row]) -> list[Any]:
    """sum_k scales[k] rows[k], component by component; zeros left out, None where all are."""
    total: list[Any] = [None] * max(map(len, rows))
    for scale, row in zip(scales, rows, strict=True):
        for j, x in enumerate(row):
            if x != 0.0:
                total[j] = scale * x if total[j] is None else total[j] + scale * x
    return total


def hermite(b: Row) -> Callable[[Any], list[Any]]:
    """Cubic through y, y_new and their derivatives, for a method with weights b."""

    def weights(theta: Any) -> list[Any]:
        square = theta * theta
        blend, start, end = square * (3.0 - 2.0 * theta), theta * (1.0 - theta) * (1.0 - theta), square * (theta - 1.0)
        first = (1.0, *[0.0] * len(b))
        last = (*[0.0] * len(b), 1.0)
        return combined([blend, start, end], [(*b, 0.0), first, last])

    return weights
