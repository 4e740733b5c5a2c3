"""Flexible bodies of beams, plates and truss booms: finite elements, reduced to a few shapes when the body is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..model import FlexibleBody, Joint, Node
from .beam_mesh import beam_mesh
from .mesh import Mesh
from .plate_mesh import PlateSection, plate_mesh
from .reduction import reduced
from .sections import Section
from .truss_mesh import Bar, truss_mesh


def beam(
    name: str,
    length: float,
    section: Section | Callable[[float], Section],
    *,
    modes: int = 4,
    motions: Sequence[str] | None = None,
    stations: Mapping[str, float] | None = None,
    interfaces: Mapping[str, Sequence[str]] | None = None,
    elements: int = 20,
    **options: Any,
) -> FlexibleBody:
    """A straight beam along x, clamped at its own frame.

    section: as from `gyrostat.structures.tube`, or a function of x. motions: of "y", "z", "twist", "stretch"; all by
    default, the slowest `modes` of them. stations: names of nodes with their x in m, {"tip": length} by default.
    interfaces: {station: motions of "x", "y", "z", "rx", "ry", "rz"} that get shapes of their own (Craig-Bampton),
    beside the modes: for stations that carry something heavy.
    options: joint, damping_ratios, shapes, lines of `FlexibleBody`; stiffening=False leaves second-order shapes out,
    terms="leading" counts them at less cost.

    Raises ValueError for a station that is not on the beam.
    """
    _above_zero(f"beam '{name}'", length=length, modes=modes, elements=elements)
    places = {"tip": length} if stations is None else stations
    for station, x in places.items():
        if not 0 < x <= length:
            raise ValueError(f"beam '{name}': station '{station}' is at {x} m; expected above 0, at most {length} m.")
    return _body(name, beam_mesh(length, section, elements, places), modes, interfaces, motions, **options)


def plate(
    name: str,
    length: float,
    width: float,
    section: PlateSection,
    *,
    modes: int = 6,
    stations: Mapping[str, tuple[float, float]] | None = None,
    interfaces: Mapping[str, Sequence[str]] | None = None,
    root: float | None = None,
    elements: tuple[int, int] = (8, 4),
    **options: Any,
) -> FlexibleBody:
    """A thin plate, 0 <= x <= length and |y| <= width / 2, whose side x = 0 is clamped; within `root` (m) about its
    middle if that is given.

    stations: names of nodes with their (x, y), {"tip": (length, 0)} by default. Everything else as for `beam`.

    Raises ValueError for a station that is not on the plate.
    """
    _above_zero(f"plate '{name}'", length=length, width=width, modes=modes, elements=min(elements))
    places = {"tip": (length, 0.0)} if stations is None else stations
    for station, (x, y) in places.items():
        if not (0 < x <= length and abs(y) <= width / 2):
            raise ValueError(
                f"plate '{name}': station '{station}' is at ({x}, {y}) m; expected 0 < x <= {length}, |y| <= "
                f"{width / 2}."
            )
    mesh = plate_mesh(length, width, section, elements, places, {"x0": "clamped"}, root)
    return _body(name, mesh, modes, interfaces, None, **options)


def truss_boom(
    name: str,
    length: float,
    radius: float,
    bays: int,
    longeron: Bar,
    batten: Bar,
    diagonal: Bar,
    *,
    sides: int = 3,
    joint_mass: float = 0.0,
    modes: int = 6,
    stations: Mapping[str, int] | None = None,
    interfaces: Mapping[str, Sequence[str]] | None = None,
    **options: Any,
) -> FlexibleBody:
    """A boom of hinged bars along x: `bays` bays between frames that are polygons of that circumradius, the first
    clamped.

    joint_mass: kg at each corner. stations: names of nodes with the number of their frame, {"tip": bays} by default.
    Everything else as for `beam`.

    Raises ValueError for fewer than three sides, a negative mass, or a station at a frame that is not there.
    """
    _above_zero(f"truss_boom '{name}'", length=length, radius=radius, bays=bays, modes=modes)
    places = {"tip": bays} if stations is None else stations
    for station, frame in places.items():
        if not 0 < frame <= bays:
            raise ValueError(
                f"truss_boom '{name}': station '{station}' is at frame {frame}; expected one of 1 to {bays}."
            )
    if sides < 3 or joint_mass < 0:
        raise ValueError(
            f"truss_boom '{name}': sides is {sides}, joint_mass {joint_mass}; expected 3 or more, and no less than 0."
        )
    mesh = truss_mesh(length, bays, radius, sides, longeron, batten, diagonal, joint_mass, places)
    return _body(name, mesh, modes, interfaces, None, **options)


def _body(
    name: str,
    mesh: Mesh,
    modes: int,
    interfaces: Mapping[str, Sequence[str]] | None,
    motions: Sequence[str] | None,
    *,
    stiffening: bool = True,
    terms: str = "all",
    damping_ratios: Any = None,
    joint: Joint | None = None,
    shapes: Any = (),
    lines: Any = (),
) -> FlexibleBody:
    few = reduced(mesh, modes, interfaces, motions, stiffening)
    names = {at: station for station, at in few.stations.items()}
    lumps = [
        Node(names.get(k, f"point_{k + 1}"), r, m)
        for k, (r, m) in enumerate(zip(few.positions, few.masses, strict=True))
    ]
    return FlexibleBody(
        name,
        lumps,
        few.Phi,
        few.Psi,
        few.G,
        few.squares * few.modal_masses,
        damping_ratios=damping_ratios,
        joint=Joint("base", "free") if joint is None else joint,
        shapes=tuple(shapes),
        lines=tuple(lines),
        interfaces=tuple(interfaces or ()),
        terms=terms,
    )


def _above_zero(what: str, **given: float) -> None:
    for name, value in given.items():
        if not value > 0:
            raise ValueError(f"{what}: {name} is {value}; expected a number above zero.")
