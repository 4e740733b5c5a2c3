"""Rows of a run that is made step by step: at each of its times the state there, and what was held from then on."""

from __future__ import annotations

import numpy as np

from ...algebra import Array


class Recording:
    """n: how many numbers of a row are the state; the rest is held."""

    def __init__(self, runs: int, n: int, n_held: int) -> None:
        self._n, self._count = n, 0
        self._times, self._rows = np.empty(64), np.empty((64, runs, n + n_held))

    def begin_step(self, t: float, rows: Array) -> None:
        """A step begins at time t; rows: (runs, state and held)."""
        if self._count == len(self._times):
            self._times, self._rows = (np.concatenate([x, np.empty_like(x)]) for x in (self._times, self._rows))
        self._times[self._count], self._rows[self._count] = t, rows

    def end_step(self, held: Array) -> None:
        """It has been made. held: from its beginning on, (runs, n_held)."""
        self._rows[self._count, :, self._n :] = held
        self._count += 1

    def with_now(self, t: float, rows: Array) -> tuple[Array, Array]:
        """Times, and rows (runs, times, numbers), those of the present last."""
        times, kept = self._times[: self._count], self._rows[: self._count]
        return np.append(times, t), np.concatenate([kept, rows[None]]).transpose(1, 0, 2)

    def copy(self) -> Recording:
        other = Recording.__new__(Recording)
        other._n, other._count = self._n, self._count
        other._times, other._rows = self._times[: max(self._count, 1)].copy(), self._rows[: max(self._count, 1)].copy()
        return other
