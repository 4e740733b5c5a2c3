"""Which saved times a chart needs: all of them, or of many the extremes, so that no peak is lost."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ..algebra import Array

MOST = 600  # points of a line on a page


def kept(values: Sequence[Array], most: int = MOST) -> Array:
    """Indices: of each of equal pieces of time, where each of the values is smallest and largest."""
    count = len(values[0])
    if count <= most:
        return np.arange(count)
    edges = np.linspace(0, count, max(2, most // (2 * len(values))) + 1).astype(int)
    found = {0, count - 1}
    for one in values:
        for begin, end in pairwise(edges):
            piece = one[begin:end]
            seen = np.flatnonzero(np.isfinite(piece))
            if len(seen):
                found |= {begin + seen[np.argmin(piece[seen])], begin + seen[np.argmax(piece[seen])]}
            if len(seen) < len(piece):
                found.add(begin + int(np.flatnonzero(~np.isfinite(piece))[0]))  # where it breaks
    return np.array(sorted(found))
