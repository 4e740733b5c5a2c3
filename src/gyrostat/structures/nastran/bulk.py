"""Grids and masses of a Nastran input file: where they are, which way each grid's results point, lumped masses."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...algebra import Array
from .peer import Silent, quietly, reader

SLENDER = ("CBAR", "CBEAM", "CROD", "CONROD", "CTUBE", "CBEND")
RIGID = ("RBE2", "RBAR", "RROD")


class Lump(NamedTuple):
    """A mass that a grid carries at an arm (basic system), with its inertia about itself."""

    name: str
    grid: int
    arm: Array  # (3,)
    mass: float
    inertia: Array  # (3, 3)


class Bulk(NamedTuple):
    """positions: of each grid in the basic system; turns: from its displacement system to the basic one (3, 3).

    links: pairs of grids that slender or rigid elements join, None where others (plates, solids) carry, too.
    drawn: pairs that any element joins.
    """

    positions: dict[int, Array]
    turns: dict[int, Array]
    lumps: list[Lump]
    links: list[tuple[int, int]] | None
    drawn: list[tuple[int, int]]


def read_bulk(path: Path) -> Bulk:
    """Of a .bdf, .dat or .nas, with what it includes."""
    if not path.exists():
        raise FileNotFoundError(f"{path}: there is no such file.")
    bdf = reader("BDF", path)(debug=None, log=Silent())
    text = path.read_text(errors="replace")
    alone = not any(line.strip().upper().startswith("BEGIN") for line in text.splitlines())
    quietly(path, lambda: bdf.read_bdf(str(path), punch=alone))
    _refuse(path, bdf)
    factor = float(bdf.params["WTMASS"].values[0]) if "WTMASS" in bdf.params else 1.0
    positions = {int(k): np.array(grid.get_position(), dtype=float) for k, grid in bdf.nodes.items()}
    turns = {int(k): _axes(grid.cd_ref, positions[int(k)]) for k, grid in bdf.nodes.items()}
    links, drawn = _links(bdf)
    return Bulk(positions, turns, _lumps(path, bdf, factor, positions), links, drawn)


def _refuse(path: Path, bdf: Any) -> None:
    """What this reader cannot take as it is meant, by name."""
    if bdf.sol not in (None, 103):
        raise ValueError(f"{path}: is of SOL {bdf.sol}; expected normal modes, SOL 103.")
    if not bdf.nodes:
        raise ValueError(f"{path}: has no GRID; expected the bulk data of the model whose modes are read.")
    if getattr(bdf, "superelement_models", None):
        raise ValueError(f"{path}: has superelements, which are not read. Give one model, or run without them.")
    unread = {card.type for card in bdf.masses.values()} - {"CONM2"}
    unread |= {card.type for cards in bdf.nsms.values() for card in cards}
    if unread:
        raise ValueError(f"{path}: has masses by {', '.join(sorted(unread))}, which are not read. Give them as CONM2.")


def _axes(system: Any, at: Array) -> Array:
    """(3, 3): columns are the axes in which results of a grid at that place are given."""
    axes = np.array(system.beta(), dtype=float)  # rows
    kind = system.type[-1]
    if kind == "R" or system.cid == 0:
        return axes.T
    x, y, z = axes @ (at - np.array(system.origin, dtype=float))
    around = np.arctan2(y, x)
    c, s = np.cos(around), np.sin(around)
    if kind == "C":
        return axes.T @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    down = np.arctan2(np.hypot(x, y), z)
    ct, st = np.cos(down), np.sin(down)
    return axes.T @ np.array([[st * c, ct * c, -s], [st * s, ct * s, c], [ct, -st, 0.0]])


def _lumps(path: Path, bdf: Any, factor: float, positions: dict[int, Array]) -> list[Lump]:
    """An element's mass goes to its grids in equal parts, as Nastran's lumped masses do."""
    shared: dict[int, float] = {}
    for element in bdf.elements.values():
        mass = float(element.Mass() or 0.0) if hasattr(element, "Mass") else 0.0
        grids = [int(k) for k in element.node_ids if k]
        for grid in grids if mass else []:
            shared[grid] = shared.get(grid, 0.0) + factor * mass / len(grids)
    lumps = [Lump(f"grid_{grid}", grid, np.zeros(3), mass, np.zeros((3, 3))) for grid, mass in sorted(shared.items())]
    for number, card in sorted(bdf.masses.items()):
        grid, R = int(card.Nid()), np.eye(3)
        arm = np.array(card.X, dtype=float)
        if card.Cid() > 0:
            if card.cid_ref.type[-1] != "R":
                raise ValueError(f"{path}: CONM2 {number} is given in system {card.Cid()}, which is not rectangular.")
            R = np.array(card.cid_ref.beta(), dtype=float)
            arm = R.T @ arm
        elif card.Cid() < 0:
            arm = arm - positions[grid]  # its place itself
        xx, xy, yy, xz, yz, zz = (float(value) for value in card.I)
        inertia = R.T @ np.array([[xx, -xy, -xz], [-xy, yy, -yz], [-xz, -yz, zz]]) @ R
        lumps.append(Lump(f"conm2_{number}", grid, arm, factor * float(card.mass), factor * inertia))
    missing = sorted({lump.grid for lump in lumps} - set(positions))
    if missing:
        raise ValueError(f"{path}: grid {missing[0]} carries mass, but there is no such GRID.")
    return lumps


def _links(bdf: Any) -> tuple[list[tuple[int, int]] | None, list[tuple[int, int]]]:
    slender, drawn, others = [], [], False
    for element in bdf.elements.values():
        grids = [int(k) for k in element.node_ids if k]
        pairs = list(pairwise(grids))
        drawn += pairs + ([(grids[-1], grids[0])] if len(grids) > 2 else [])
        if element.type in SLENDER:
            slender += pairs[:1]
        elif len(grids) > 1:
            others = True
    for element in bdf.rigid_elements.values():
        if element.type in RIGID:
            first = [int(k) for k in element.independent_nodes]
            pairs = [(first[0], int(k)) for k in element.dependent_nodes if int(k) != first[0]]
            slender, drawn = slender + pairs, drawn + pairs
    return (None if others or not slender else slender), drawn
