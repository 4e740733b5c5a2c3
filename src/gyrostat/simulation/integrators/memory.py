"""What the next step of a method needs to know of the steps before: kept, run by run, while a run stands in no lane.

A row of `State.past` holds entries of the run's lane and blocks among its stages; `Remembered` says which. Where the first number is 0
there is nothing to look back at, as at the start and after a jump: the row is all zeros and is not recalled; `start` has the last word.
"""

from __future__ import annotations

from typing import NamedTuple

from ..engine.context import Lane
from .methods import Collocation, Method, Tableau


class Remembered(NamedTuple):
    """Entries of the lane, the first of them positive where there is a past; and places of blocks among the K.

    lasting: entries that are kept and recalled in any case; they stand at the end of the row.
    """

    entries: tuple[Lane, ...] = ()
    places: tuple[int, ...] = ()
    lasting: tuple[Lane, ...] = ()


def remembered(method: Method, lanes: int) -> Remembered:
    """Collocation: the size of the step before and its stages, `lanes` of them in each block; what is known of its iterations. Explicit
    methods with step control: the error before. The others: nothing.
    """
    if isinstance(method, Collocation):
        blocks = len(method.c) // lanes
        places = tuple(range(1 + blocks, 1 + 2 * blocks))
        return Remembered((Lane.h_before,), places, (Lane.h_fixed_point, Lane.wait))
    if isinstance(method, Tableau) and method.errors:
        return Remembered(lasting=(Lane.error_root,))
    return Remembered()


def past_numbers(method: Method, n: int, lanes: int, of_a_run: int) -> int:
    """The length of a row, `of_a_run` the lanes that a run has to itself."""
    entries, places, lasting = remembered(method, lanes)
    return len(entries) + len(places) * n * of_a_run + len(lasting)
