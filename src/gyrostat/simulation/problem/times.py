"""Times of a run. Outside they are the user's; inside the engine they count from the start,
so that steps are as fine wherever that is.

At t = 1.7e9 s, seconds since 1970, neighbouring numbers are 0.24 microseconds apart: no step could be shorter,
no sample more exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...algebra import Array
from ...algebra.reals import reals
from ..engine.status import Stop
from ..result.trajectory import Trajectory

DEFAULT_TIMES = 401


@dataclass(frozen=True)
class Times:
    """span: (start, end), and save: times to keep, as users see them.

    epoch: where the engine's time is zero. step: if it is fixed.
    """

    epoch: float
    span: Array
    save: Array
    step: float | None = None

    def inside(self, t: Any) -> Array:
        """As the engine counts them; whole numbers of fixed steps are that, however coarse the user's clock."""
        t = np.asarray(t, dtype=float)
        since = t - self.epoch
        if self.step is None or self.epoch == 0.0:
            return since
        whole = self.step * np.round(since / self.step)
        return np.where(np.abs(whole - since) <= np.spacing(np.abs(t)), whole, since)

    def outside(self, t: Any) -> Array:
        """As users see them; the end of the span is exactly that."""
        return np.where(t == self.end, self.span[1], self.epoch + np.asarray(t))

    @property
    def begin(self) -> float:
        """Of the span, inside."""
        return float(self.inside(self.span[0]))

    @property
    def end(self) -> float:
        return float(self.inside(self.span[1]))

    @property
    def resolution(self) -> float:
        """Times nearer than this are one; two neighbouring numbers of the user's clock are two."""
        coarse = 0.75 * float(np.spacing(np.abs(self.span)).max()) if self.epoch else 0.0
        return max(1e-12 * max(1.0, abs(self.begin), abs(self.end)), coarse)

    def require_length(self) -> None:
        """Raises a ValueError for a span in which no step could be made."""
        if 0.0 < self.end - self.begin <= self.resolution:
            raise ValueError(
                f"t_span is ({self.span[0]}, {self.span[1]}): times nearer than {self.resolution:.2g} s count as one "
                "here. Give a later end, or the start itself for the state there."
            )

    def stops(self, breakpoints: Sequence[float], periods: Iterable[float], at_saves: bool) -> tuple[Array, Array]:
        """Inside: times at which steps must end, the last the end of the span; what each is. periods: of sampled
        controllers, whose samples are counted from the epoch.
        """
        begin, end, close = self.begin, self.end, self.resolution
        entries: list[tuple[float, Stop]] = []
        for period in sorted(set(periods)):
            last = int(np.floor((end + close) / period))
            entries += [(t, Stop.sample) for t in np.minimum(period * np.arange(1, last + 1), end)]
        entries += [(t, Stop.breakpoint) for t in (*self.inside(breakpoints).ravel(), end)]
        entries += [(t, Stop.save) for t in (self.inside(self.save) if at_saves else ())]
        found: list[tuple[float, Stop]] = []
        for t, kind in sorted(e for e in entries if begin + close < e[0] <= end):
            if found and t - found[-1][0] <= close:
                kinds = {kind, found[-1][1]}
                found[-1] = (end if end - t <= close else found[-1][0], Stop.of(kinds))
            else:
                found.append((t, kind))
        return np.array([t for t, _ in found]), np.array([float(kind) for _, kind in found])

    def saves(self, stops: Array) -> Array:
        """Inside: the time of each row to save; of some it may be the same.

        One that is the start or a stop but for round-off is that: a row is written where the step ends.
        """
        save, ends = self.inside(self.save), np.append(self.begin, stops)
        after = np.minimum(np.searchsorted(ends, save), len(ends) - 1)
        for stop in (ends[after], ends[np.maximum(after - 1, 0)]):
            save = np.where(np.abs(stop - save) <= self.resolution, stop, save)
        return save


def times_of(t_span: Any, save_at: Any, step: float | None, resume: Trajectory | None = None) -> Times:
    """What was asked for, checked; the epoch is the start of the span, or that of the run which is continued."""
    if t_span is None:
        if resume is None:
            raise TypeError("simulate needs t_span=(start, end) in seconds.")
        t_span = resume.data.attrs["t_span"]
    try:
        span = reals(t_span, "t_span")
    except ValueError:
        span = np.zeros(0)
    if span.shape != (2,) or not np.isfinite(span).all() or not span[0] <= span[1]:
        raise ValueError(f"t_span is {t_span!r}; expected (start, end) in seconds, the end not before the start.")
    if resume is not None and span[1] < resume.data.attrs["t_span"][1]:
        raise ValueError(
            f"t_span ends at {span[1]} s; the run that is continued was made to {resume.data.attrs['t_span'][1]} s."
        )
    epoch = float(span[0]) if resume is None else float(resume.data.attrs["t0"])
    if save_at is None:
        return Times(epoch, span, _default_times(span, step, resume), step)
    try:
        save = np.atleast_1d(reals(save_at, "save_at"))
    except ValueError:
        save = np.zeros((0, 0))
    if save.ndim != 1 or not np.isfinite(save).all() or (np.diff(save) <= 0).any():
        raise ValueError("save_at must be increasing times in seconds.")
    if len(save) and (save[0] < span[0] or save[-1] > span[1]):
        raise ValueError(f"save_at runs from {save[0]} to {save[-1]} s, beyond t_span ({span[0]}, {span[1]}).")
    return Times(epoch, span, save, step)


def _default_times(span: Array, step: float | None, resume: Trajectory | None) -> Array:
    begin, end = span
    if resume is not None:
        if tuple(span) == tuple(resume.data.attrs["t_span"]):
            return resume.time
        begin = resume.time[-1]
    if step is None:
        save = np.linspace(begin, end, DEFAULT_TIMES)
    else:
        steps = max(1, round((end - begin) / step))
        every = max(1, -(-steps // (DEFAULT_TIMES - 1)))
        save = begin + step * np.arange(0, steps + 1, every)
        save = np.append(save[save < end - 1e-9 * step], end)
    save = np.unique(save)
    return save if resume is None else np.concatenate([resume.time, save[save > begin]])
