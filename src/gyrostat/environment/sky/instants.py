"""Instants, by astropy.time: t is counted in SI seconds (TAI) from an epoch."""

from __future__ import annotations

import warnings
from datetime import UTC, datetime
from typing import Any

import numpy as np

from .libraries import library


def instant(epoch: Any, scale: str = "utc") -> Any:
    """An astropy Time of an ISO string, a datetime, a Julian date or a Time.

    scale: utc, tai, tt or tdb, of strings and Julian dates; a datetime with a zone is UTC whatever its zone.
    """
    time = library("astropy.time", "an epoch of the real sky")
    if scale not in ("utc", "tai", "tt", "tdb"):
        raise ValueError(f"epoch: scale is {scale!r}; expected 'utc', 'tai', 'tt' or 'tdb'.")
    if isinstance(epoch, time.Time):
        return epoch
    if isinstance(epoch, datetime) and epoch.tzinfo is not None:
        epoch, scale = epoch.astimezone(UTC).replace(tzinfo=None), "utc"
    kind = "jd" if isinstance(epoch, int | float | np.floating) else None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # years whose leap seconds nobody knows yet
            found = time.Time(epoch, scale=scale, format=kind)
            year = float(found.tt.jyear)
    except (ValueError, TypeError) as error:
        raise ValueError(
            f"epoch {epoch!r} is no date ({str(error).splitlines()[0]}); expected '2026-06-01T12:00:00', a datetime, a "
            "Julian date or an astropy Time."
        ) from None
    if not 1900.0 < year < 2200.0:
        raise ValueError(f"epoch {epoch!r} is the year {year:.0f}; expected one from 1900 to 2200.")
    return found


def after(epoch: Any, t: Any) -> Any:
    """The instants t seconds after an epoch, as a Time in TAI."""
    time = library("astropy.time", "an epoch of the real sky")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return epoch.tai + time.TimeDelta(np.asarray(t, dtype=float), format="sec", scale="tai")
