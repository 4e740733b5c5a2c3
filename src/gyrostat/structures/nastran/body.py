"""A flexible body of a Nastran model: lumps of its masses, moved by its normal modes.

The modes of the file are orthogonal in the masses that Nastran solved with. Those here are lumped; where they differ,
M = Phi^T m Phi is not quite diagonal, and the shapes are turned among each other as little as can be (Loewdin):

    Phi <- Phi D^-1/2 S^-1/2 D^1/2,   S = D^-1/2 M D^-1/2,  D = diag(M)                                      (1)

so that every mode has its own frequency of the file. How far S was from one is told, and beyond a fifth refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..._warned import warn_user
from ...algebra import Array
from ...model import FlexibleBody, Joint, Node
from ...model.findings import nearest
from ..shortening import shortened
from ..stiffening import turning
from .bulk import Bulk, read_bulk
from .modes import NormalModes, normal_modes

STILL = 1e-6  # of the largest motion: what moves less stands still
MIXED = 0.2  # of S: lumps that are so far off are not the masses of these modes
OFF = 0.05  # of a modal mass: lumps that are farther off are told


def nastran_body(
    name: str,
    model: str | Path,
    results: str | Path,
    *,
    root: int | Sequence[float] | None = None,
    modes: int | Sequence[int] | None = None,
    nodes: Mapping[str, int] | None = None,
    subcase: int | None = None,
    length: float = 1.0,
    mass: float = 1.0,
    stiffening: bool = True,
    joint: Joint | None = None,
    damping_ratios: Any = None,
    rotary: str = "exact",
    terms: str = "all",
) -> FlexibleBody:
    """The body of a model whose normal modes Nastran found, clamped at its root (SPC) in a run of SOL 103.

    model: .bdf, .dat or .nas, from which grids and masses come: those of elements, lumped, and CONM2. results: .op2 or
    .pch with the eigenvectors of all grids that carry mass.
    root: the grid, or the place in the basic system, at which the body's own frame stands, along the axes of the basic
    system; by default the one grid that no mode moves. modes: how many, the slowest first, or which, by number.
    nodes: {name: grid} that joints, frames and the rest name; others are "grid_7". subcase: where there are several.
    length, mass: one unit of the files in m and kg (1e-3 and 1e3 for mm and t).
    stiffening: second-order shapes, where beams, bars and rigid elements lead from the root to every mass one way;
    other models have none, which the craft's findings say. joint, damping_ratios, rotary, terms: as `gs.FlexibleBody`.
    """
    bulk, found = read_bulk(Path(model)), normal_modes(Path(results), subcase)
    found = _wanted(found, modes, results)
    moved = _in_basic(bulk, found, model, results)
    origin, start = _root(name, bulk, found, moved, root)
    named = _names(name, bulk, nodes or {})
    lumps, Phi, Psi, G = _places(bulk, found, moved, origin, start, named, stiffening)
    Phi = Phi * length
    G = None if G is None else G * length
    scale = _scale(Phi, Psi, length * np.ptp(np.array(list(bulk.positions.values())), axis=0).max())
    own = [Node(n, (r - origin) * length, m * mass, J * (mass * length**2)) for n, r, m, J in lumps]
    Phi, Psi = Phi / scale, Psi / scale
    mix = _orthogonal(name, own, Phi, Psi, scale / (length * np.sqrt(mass)), found)
    Phi, Psi = Phi @ mix, Psi @ mix
    if G is not None:
        G = np.einsum("iakl,km,ln->iamn", G / np.outer(scale, scale), mix, mix)
    return FlexibleBody(
        name, own, Phi, Psi, G,
        frequencies=np.sqrt(found.squares) / (2.0 * np.pi),
        damping_ratios=damping_ratios,
        joint=Joint("base", "free") if joint is None else joint,
        rotary=rotary,
        terms=terms,
        lines=_lines(bulk, found, named),
    )  # fmt: skip


def _lines(bulk: Bulk, found: NormalModes, named: dict[int, str]) -> tuple[tuple[str, str], ...]:
    have = set(found.grids)
    return tuple((named[a], named[b]) for a, b in dict.fromkeys(bulk.drawn) if a in have and b in have)


def _wanted(found: NormalModes, modes: int | Sequence[int] | None, results: str | Path) -> NormalModes:
    size = np.abs(found.squares).max()
    if isinstance(modes, int):
        if not 0 < modes <= len(found.numbers):
            raise ValueError(f"{results}: has {len(found.numbers)} modes; {modes} are asked for.")
        at = list(np.argsort(found.squares, kind="stable")[:modes])
    else:
        unknown = sorted(set(modes or ()) - set(found.numbers))
        if unknown:
            raise ValueError(f"{results}: has no mode {unknown[0]}; it has {found.numbers[0]} to {found.numbers[-1]}.")
        at = [found.numbers.index(k) for k in (found.numbers if modes is None else modes)]
    rigid = [found.numbers[k] for k in at if found.squares[k] <= 1e-8 * size]
    if rigid:
        least = found.squares[at].min()
        raise ValueError(
            f"{results}: mode {rigid[0]} has the eigenvalue {least:.3g}: the model moves freely. Clamp it where it is "
            "joined (SPC1 of all six directions), and run again."
        )
    masses = None if found.masses is None else found.masses[at]
    return found._replace(
        numbers=[found.numbers[k] for k in at], squares=found.squares[at], masses=masses, shapes=found.shapes[:, :, at]
    )


def _in_basic(bulk: Bulk, found: NormalModes, model: str | Path, results: str | Path) -> dict[int, tuple[Array, Array]]:
    """Phi and Psi (3, n) of each grid along the basic system's axes."""
    unknown = [grid for grid in found.grids if grid not in bulk.positions]
    if unknown:
        raise ValueError(f"{results}: has results of grid {unknown[0]}, which {model} does not have: these files are "
                         "not of one model.")  # fmt: skip
    moved = {
        grid: (bulk.turns[grid] @ six[:3], bulk.turns[grid] @ six[3:])
        for grid, six in zip(found.grids, found.shapes, strict=True)
    }
    missing = sorted({lump.grid for lump in bulk.lumps if lump.mass or lump.inertia.any()} - set(moved))
    if missing:
        raise ValueError(f"{results}: has no results of grid {missing[0]}, which carries mass. Ask for all grids: "
                         "DISPLACEMENT(PLOT) = ALL.")  # fmt: skip
    return moved


def _root(
    name: str, bulk: Bulk, found: NormalModes, moved: dict[int, tuple[Array, Array]], root: Any
) -> tuple[Array, list[int]]:
    """Where the body's frame is, and the grids that stand still in every mode."""
    phi = np.array([moved[grid][0] for grid in found.grids])
    psi = np.array([moved[grid][1] for grid in found.grids])
    size, turn = np.abs(phi).max(axis=(0, 1)), np.abs(psi).max(axis=(0, 1))
    still = (np.abs(phi) <= STILL * size).all(axis=(1, 2)) & (np.abs(psi) <= STILL * np.maximum(turn, 1e-300)).all(
        axis=(1, 2)
    )
    held = [grid for grid, one in zip(found.grids, still, strict=True) if one]
    if not held:
        raise ValueError(f"body '{name}': every grid moves in its modes. Clamp the model at its root, and have results "
                         "of that grid, too.")  # fmt: skip
    if root is None:
        if len(held) > 1:
            raise ValueError(f"body '{name}': grids {_few(held)} stand still; say at which the body's frame is: root=, "
                             "a grid, or a place in the basic system.")  # fmt: skip
        return bulk.positions[held[0]], held
    if isinstance(root, int | np.integer):
        if int(root) not in bulk.positions:
            raise ValueError(f"body '{name}': root is grid {root}, which does not exist; expected one of {_few(held)}.")
        if int(root) not in held:
            raise ValueError(f"body '{name}': grid {root} moves in its modes; expected one that is clamped, of "
                             f"{_few(held)}: shapes move nodes, never the body's own frame.")  # fmt: skip
        return bulk.positions[int(root)], held
    place = np.asarray(root, dtype=float)
    if place.shape != (3,) or not np.isfinite(place).all():
        raise ValueError(f"body '{name}': root is {root!r}; expected a grid's number, or three coordinates.")
    return place, held


def _few(grids: Sequence[int]) -> str:
    return ", ".join(map(str, grids[:6])) + (", ..." if len(grids) > 6 else "")


def _names(name: str, bulk: Bulk, nodes: Mapping[str, int]) -> dict[int, str]:
    for node, grid in nodes.items():
        if grid not in bulk.positions:
            near = nearest(str(grid), [str(k) for k in bulk.positions])
            raise ValueError(f"body '{name}': node '{node}' is grid {grid}, which does not exist. {near}")
    return {grid: f"grid_{grid}" for grid in bulk.positions} | {grid: node for node, grid in nodes.items()}


def _places(
    bulk: Bulk,
    found: NormalModes,
    moved: dict[int, tuple[Array, Array]],
    origin: Array,
    start: list[int],
    named: dict[int, str],
    stiffening: bool,
) -> tuple[list[tuple[str, Array, float, Array]], Array, Array, Array | None]:
    """Lumps as (name, place, mass, inertia), with Phi, Psi and G of each: grids first, then masses on arms."""
    grids = found.grids
    own: dict[int, tuple[float, Array]] = {grid: (0.0, np.zeros((3, 3))) for grid in grids}
    arms = []
    for lump in bulk.lumps:
        if np.any(np.abs(lump.arm) > 0):
            arms.append(lump)
        else:
            m, J = own[lump.grid]
            own[lump.grid] = (m + lump.mass, J + lump.inertia)
    lumps = [(named[grid], bulk.positions[grid], *own[grid]) for grid in grids]
    lumps += [(lump.name, bulk.positions[lump.grid] + lump.arm, lump.mass, lump.inertia) for lump in arms]
    Psi = np.array([moved[grid][1] for grid in (*grids, *(lump.grid for lump in arms))])
    Phi = np.array([moved[grid][0] for grid in (*grids, *(lump.grid for lump in arms))])
    offset = np.array([np.zeros(3)] * len(grids) + [lump.arm for lump in arms])
    Phi = Phi + np.cross(Psi, offset[:, :, None], axis=1)
    G = _second_order(bulk, grids, moved, start) if stiffening else None
    if G is not None:
        at = {grid: k for k, grid in enumerate(grids)}
        G = G[[*range(len(grids)), *(at[lump.grid] for lump in arms)]] + turning(Psi, offset)
    return lumps, Phi, Psi, G


def _second_order(
    bulk: Bulk, grids: list[int], moved: dict[int, tuple[Array, Array]], start: list[int]
) -> Array | None:
    """Where slender and rigid elements lead from what is clamped to each mass, one way; None elsewhere."""
    if bulk.links is None:
        return None
    at = {grid: k for k, grid in enumerate(grids)}
    links = [(at[a], at[b]) for a, b in bulk.links if a in at and b in at]
    positions = np.array([bulk.positions[grid] for grid in grids])
    Phi, Psi = (np.array([moved[grid][part] for grid in grids]) for part in (0, 1))
    G, _ = shortened(positions, Phi, Psi, links, [at[grid] for grid in start])
    loaded = [at[lump.grid] for lump in bulk.lumps]
    return None if G is None or np.isnan(G[loaded]).any() else np.nan_to_num(G)


def _scale(Phi: Array, Psi: Array, size: float) -> Array:
    """Each shape as large as one metre where it moves most; one radian where it hardly moves."""
    far, turn = np.abs(Phi).max(axis=(0, 1)), np.abs(Psi).max(axis=(0, 1))
    return np.where(far > 0.02 * size * turn, far, turn)


def _orthogonal(name: str, lumps: list[Node], Phi: Array, Psi: Array, size: Array, found: NormalModes) -> Array:
    """(1). size: what the file's shapes were divided by, in the files' units."""
    M: Array = np.zeros((Phi.shape[2], Phi.shape[2]))
    for node, phi, psi in zip(lumps, Phi, Psi, strict=True):
        M = M + node.mass * phi.T @ phi + psi.T @ node.inertia @ psi
    D = np.sqrt(np.diag(M))
    if not (D > 0).all():
        k = found.numbers[int(np.argmin(D))]
        raise ValueError(f"body '{name}': mode {k} moves no mass that was read. Leave it out (modes=), or give masses.")
    S = M / np.outer(D, D)
    off = np.abs(S - np.eye(len(S)))
    if off.max(initial=0.0) > MIXED:
        k, l = (found.numbers[at] for at in np.unravel_index(off.argmax(), off.shape))
        raise ValueError(
            f"body '{name}': modes {k} and {l} are not orthogonal in the masses that were read: their product is "
            f"{off.max():.2g} of their own; expected below {MIXED}. Are model and results of one run, and are all "
            "masses in it CONM2 or of elements?"
        )
    if found.masses is not None:
        _compared(name, D**2 * size**2 / found.masses - 1.0, found)
    values, U = np.linalg.eigh(S)
    return np.asarray((U / np.sqrt(values) @ U.T) * D / D[:, None])


def _compared(name: str, off: Array, found: NormalModes) -> None:
    """Tell where lumps have other modal masses than Nastran's own."""
    worst = int(np.abs(off).argmax())
    if np.abs(off[worst]) > OFF:
        warn_user(
            f"body '{name}': in mode {found.numbers[worst]} the masses that were read have "
            f"{100 * (1 + off[worst]):.3g} % of the modal mass that Nastran found. Frequencies are the file's; loads "
            "on the craft follow these masses. Are all masses CONM2 or of elements, and is WTMASS the run's?"
        )
