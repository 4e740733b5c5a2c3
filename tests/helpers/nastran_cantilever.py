"""A cantilever of bars with lumped masses, solved here, and Nastran's files of it: bulk data, punch and OP2."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from struct import pack

import numpy as np
from scipy.linalg import eigh

LENGTH, EI, RHO_A, BARS = 6.0, {"y": 1500.0, "z": 2500.0}, 1.5, 10


@dataclass(frozen=True)
class Cantilever:
    """grids: their numbers; x (grids,); squares (modes,); shapes T1 .. R3 in basic axes (grids, 6, modes), of modal
    mass one.
    """

    grids: list[int]
    x: np.ndarray
    squares: np.ndarray
    shapes: np.ndarray
    masses: np.ndarray


def cantilever(modes: int = 4, tip: float = 0.0) -> Cantilever:
    """The slowest in both planes; tip: a point mass more at the end."""
    x = np.linspace(0.0, LENGTH, BARS + 1)
    m = RHO_A * LENGTH / BARS * np.array([0.5, *[1.0] * (BARS - 1), 0.5])
    m[-1] += tip
    found = []
    for plane, (way, turn, sign) in {"y": (1, 5, 1.0), "z": (2, 4, -1.0)}.items():
        K = _bending(EI[plane], LENGTH / BARS)
        w, s = np.arange(2, 2 * BARS + 2, 2), np.arange(3, 2 * BARS + 2, 2)  # without those at the root
        slope = -np.linalg.solve(K[np.ix_(s, s)], K[np.ix_(s, w)])
        squares, u = eigh(K[np.ix_(w, w)] + K[np.ix_(w, s)] @ slope, np.diag(m[1:]))
        for k in range(min(modes, BARS)):
            shape = np.zeros((BARS + 1, 6))
            shape[1:, way], shape[1:, turn] = u[:, k], sign * (slope @ u[:, k])
            found.append((squares[k], shape))
    found.sort(key=lambda one: one[0])
    squares, shapes = zip(*found[:modes], strict=True)
    return Cantilever([10 * k + 1 for k in range(BARS + 1)], x, np.array(squares), np.stack(shapes, axis=2), m)


def _bending(EI: float, l: float) -> np.ndarray:
    """Hermite's, unknowns (w, w') at each edge."""
    own = EI / l**3 * np.array([[12, 6 * l, -12, 6 * l], [6 * l, 4 * l * l, -6 * l, 2 * l * l],
                                [-12, -6 * l, 12, -6 * l], [6 * l, 2 * l * l, -6 * l, 4 * l * l]])  # fmt: skip
    K = np.zeros((2 * BARS + 2, 2 * BARS + 2))
    for e in range(BARS):
        K[2 * e : 2 * e + 4, 2 * e : 2 * e + 4] += own
    return K


def write_model(path: Path, own: Cantilever, *, head="SOL 103\nCEND\nSPC = 1\nMETHOD = 1\nBEGIN BULK\n", more="",
                system=0, unit=1.0, tonne=1.0, cards=True) -> Path:  # fmt: skip
    """Bars whose material has all the mass; lengths in `unit` m, masses in `tonne` kg. system: of the results."""
    rho = RHO_A / 1e-4 / tonne * unit**3
    lines = [f"GRID,{g},,{float(x / unit)!r},0.,0.,{system or ''}" for g, x in zip(own.grids, own.x, strict=True)]
    if cards:
        lines += [f"MAT1,1,7.+10,,.3,{float(rho)!r}", f"PBAR,1,1,{1e-4 / unit**2!r},2.-8,3.-8,1.-8"]
        lines += [f"CBAR,{k + 1},1,{a},{b},0.,1.,0." for k, (a, b) in enumerate(pairwise(own.grids))]
    path.write_text(head + "\n".join(lines) + "\n" + f"SPC1,1,123456,{own.grids[0]}\n" + more + "ENDDATA\n")
    return path


def write_punch(path: Path, own: Cantilever, shapes=None, title="EIGENVECTOR", kind="REAL OUTPUT") -> Path:
    lines = []
    for k, square in enumerate(own.squares):
        lines += ["$TITLE   = CANTILEVER", "$SUBTITLE=", "$LABEL   =", f"${title}", f"${kind}"]
        lines += ["$SUBCASE ID =           1", f"$EIGENVALUE = {square: .7E}  MODE = {k + 1:5d}"]  # fmt: skip
        for grid, six in zip(own.grids, own.shapes if shapes is None else shapes, strict=True):
            lines.append(f"{grid:10d}       G" + "".join(f"{value:18.6E}" for value in six[:3, k]))
            lines.append(f"{'-CONT-':18s}" + "".join(f"{value:18.6E}" for value in six[3:, k]))
    path.write_text("".join(f"{line:<72s}{at:8d}\n" for at, line in enumerate(lines, 1)))
    return path


def write_op2(path: Path, own: Cantilever, *, analysis=2, table=7, masses=None) -> Path:
    """Tables LAMA (the modal masses) and OUGV1 of a run by MSC Nastran. analysis, table: their codes; static
    displacements are 1 and 1.
    """
    out = bytearray()

    def record(data: bytes) -> None:
        out.extend(pack("<3i", 4, len(data) // 4, 4) + pack("<i", len(data)) + data + pack("<i", len(data)))

    def marker(*values: int) -> None:
        for value in values:
            out.extend(pack("<3i", 4, value, 4))

    def begin(name: bytes, code: int) -> None:
        marker(2)
        out[-12:] = pack("<3i", 4, 2, 4) + pack("<i8si", 8, name, 8)
        marker(-1)
        record(pack("<7i", 102, 0, 0, 0, 512, 0, 0))
        marker(-2, 1, 0)
        record(pack("<8s5i", b"OUG1    " if code != 9 else b"LAMA    ", 11, 19, 26, 0, 1))

    def ident(words: list[int]) -> bytes:
        return pack(f"<{len(words)}i", *words) + bytes(4 * (50 - len(words))) + b" " * 384

    marker(3)
    out.extend(pack("<i3ii", 12, 11, 19, 26, 12))
    record(b"NASTRAN FORT TAPE ID CODE - ")
    record(b"XXXXXXXX")
    marker(-1, 0)
    numbers = range(1, len(own.squares) + 1)
    if analysis == 2:
        begin(b"LAMA    ", 9)
        marker(-3, 1, 0)
        record(ident([22, 9, 0, 1]))
        marker(-4, 1, 0)
        rows = zip(numbers, own.squares, np.ones(len(own.squares)) if masses is None else masses, strict=True)
        record(b"".join(pack("<2i5f", k, k, s, s**0.5, s**0.5 / (2 * np.pi), m, m * s) for k, s, m in rows))
        marker(-5, 1, 0, 0)
    begin(b"OUGV1   ", table)
    at = -3
    for k, square in zip(numbers, own.squares, strict=True):
        value = int.from_bytes(pack("<f", square), "little", signed=True)
        marker(at, 1, 0)
        record(ident([10 * analysis + 2, table, 0, 1, k, value, 0, 0, 1, 8]))
        marker(at - 1, 1, 0)
        record(
            b"".join(pack("<2i6f", 10 * g + 2, 1, *six[:, k - 1]) for g, six in zip(own.grids, own.shapes, strict=True))
        )
        at -= 2
    marker(at, 1, 0, 0, 0)
    path.write_bytes(bytes(out))
    return path
