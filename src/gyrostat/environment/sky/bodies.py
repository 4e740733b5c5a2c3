"""Sun, Moon and planets from astropy's built-in series or from JPL's files, as tables."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...algebra import Array
from ...model.names import printable
from ..ephemeris import Celestial
from .fitting import fitted
from .instants import after
from .libraries import library


class Known(NamedTuple):
    """mu in m^3/s^2, radius in m, number in JPL's files, and an interval in days that 13 terms describe well."""

    mu: float
    radius: float
    number: int
    days: float


BODIES = {
    "sun": Known(1.32712440041e20, 6.957e8, 10, 8.0),
    "moon": Known(4.902800118e12, 1.7374e6, 301, 2.0),
    "mercury": Known(2.203186855e13, 2.4397e6, 1, 8.0),
    "venus": Known(3.24858592e14, 6.0518e6, 2, 8.0),
    "mars": Known(4.282837362e13, 3.3895e6, 4, 8.0),
    "jupiter": Known(1.267127641e17, 6.9911e7, 5, 8.0),
    "saturn": Known(3.79405848418e16, 5.8232e7, 6, 8.0),
    "uranus": Known(5.794556400e15, 2.5362e7, 7, 8.0),
    "neptune": Known(6.836527100580e15, 2.4622e7, 8, 8.0),
}
EARTH_NUMBER, CENTRE = 399, 0


def celestial(name: str, epoch: Any, start: float, end: float, source: Any = "builtin") -> Celestial:
    """Seen from Earth's centre, geometric, in GCRF axes, from start to end, seconds after the epoch.

    source: "builtin" (ERFA's series: Sun to some 10 km, Moon to some 10 km in truth), or the path of a .bsp of JPL.
    The table is within 0.1 m of the Moon of its source, 10 m of the others.
    """
    if name not in BODIES:
        raise ValueError(f"sky: '{name}' is not known; expected one of {', '.join(BODIES)}.")
    known = BODIES[name]
    tolerance = 0.1 if name == "moon" else 10.0
    opened = nullcontext(None) if source == "builtin" else _kernel(Path(source))
    with opened as kernel:
        place = _builtin(name, epoch) if kernel is None else _from_file(name, known.number, epoch, kernel, source)
        found = fitted(place, start, end, length=known.days * 86400.0, tolerance=tolerance)
    return Celestial(name.capitalize(), known.mu, known.radius, found.pieces, (start, end), found.error)


def _builtin(name: str, epoch: Any) -> Callable[[Array], Array]:
    coordinates = library("astropy.coordinates", "the place of Sun and Moon")

    def place(t: Array) -> Array:
        time = after(epoch, t)
        with warnings.catch_warnings(), coordinates.solar_system_ephemeris.set("builtin"):
            warnings.simplefilter("ignore")
            there, here = (coordinates.get_body_barycentric(body, time) for body in (name, "earth"))
        return np.asarray((there - here).xyz.to_value("m").T)

    return place


@contextmanager
def _kernel(path: Path) -> Iterator[Any]:
    """An open file of JPL's."""
    spk = library("jplephem.spk", "a JPL ephemeris")
    if not path.is_file():
        raise ValueError(
            f"sky: there is no ephemeris file '{path}'. Put JPL's de440s.bsp there (ssd.jpl.nasa.gov), or take the "
            "built-in series: ephemeris='builtin'. Nothing is fetched."
        )
    with path.open("rb") as file:
        try:
            daf = library("jplephem.daf", "a JPL ephemeris").DAF(file)
            _demand_end(daf, path.stat().st_size)
            kernel = spk.SPK(daf)
        except Exception as error:  # noqa: BLE001 - of a damaged file, whatever the library runs into
            why = printable(str(error))[:120]
            raise ValueError(f"sky: '{path}' is no ephemeris of JPL's format SPK ({why}).") from None
        try:
            yield kernel
        finally:
            kernel.close()


def _demand_end(daf: Any, size: int) -> None:
    """Its records name the next one each; damaged, they may go round for ever."""
    most = 1 + size // 1024
    for count, (_, summaries, _) in enumerate(daf.summary_records()):
        if count > most or not 0 <= summaries <= daf.summaries_per_record:
            raise ValueError("its table of segments has no end")


def _from_file(name: str, number: int, epoch: Any, kernel: Any, source: Any) -> Callable[[Array], Array]:
    path, links = Path(source), {segment.target: segment for segment in kernel.segments}

    def chain(target: int) -> list[Any]:
        found: list[Any] = []
        while target != CENTRE:
            if len(found) > len(links):
                raise ValueError(f"sky: '{path.name}' is damaged: its bodies refer to each other in a circle.")
            if target not in links:
                raise ValueError(
                    f"sky: '{path.name}' does not say where {name} is (body {target}); it has "
                    f"{', '.join(map(str, sorted(links)))}. Take another file, or ephemeris='builtin'."
                )
            found.append(links[target])
            target = links[target].center
        return found

    there, here = chain(number), chain(EARTH_NUMBER)

    def place(t: Array) -> Array:
        tdb = after(epoch, t).tdb
        for segment in (*there, *here):
            if (tdb.jd < segment.start_jd).any() or (tdb.jd > segment.end_jd).any():
                raise ValueError(
                    f"sky: '{path.name}' knows {name} from JD {segment.start_jd} to {segment.end_jd} (TDB); the run "
                    f"goes from {tdb.jd.min():.4f} to {tdb.jd.max():.4f}. Take another file or another epoch."
                )

        def total(segments: list[Any]) -> Array:
            return np.asarray(sum(segment.compute(tdb.jd1, tdb.jd2)[:3] for segment in segments))

        try:
            with np.errstate(all="ignore"):
                found = 1e3 * (total(there) - total(here)).T
            if not np.isfinite(found).all():
                raise ValueError("what it holds is not finite")
        except Exception as error:  # noqa: BLE001 - of a damaged file, whatever the library runs into
            why = printable(str(error))[:120]
            raise ValueError(f"sky: '{path.name}' is damaged where it is about {name}: {why}.") from None
        return found

    return place
