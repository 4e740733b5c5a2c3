"""Normal modes in an OP2 or a punch file: natural frequencies, and how every grid moves in each mode."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...algebra import Array
from .peer import Silent, quietly, reader

WANTED = "expected real normal modes (SOL 103) with DISPLACEMENT or VECTOR output of all grids"


class NormalModes(NamedTuple):
    """Of one run. numbers: of its modes; squares: eigenvalues, (rad/s)^2; masses: modal ones, None where the file does
    not say. grids: numbers (grids,); shapes: T1, T2, T3, R1, R2, R3 in each grid's own system (grids, 6, modes).
    """

    numbers: list[int]
    squares: Array
    masses: Array | None
    grids: list[int]
    shapes: Array


def normal_modes(path: Path, subcase: int | None = None) -> NormalModes:
    """From .op2, or from .pch (punch)."""
    if not path.exists():
        raise FileNotFoundError(f"{path}: there is no such file.")
    if path.suffix.lower() == ".op2":
        return _of_op2(path, subcase)
    if path.suffix.lower() in (".pch", ".pun", ".punch"):
        return _of_punch(path, subcase)
    raise ValueError(f"{path}: results have the suffix '{path.suffix}'; expected .op2 or .pch. An .f06 is a listing "
                     "for people: run again with PARAM,POST,-1 for an .op2.")  # fmt: skip


def _chosen(path: Path, subcases: Sequence[int], wanted: int | None) -> int:
    if wanted is None and len(subcases) > 1:
        raise ValueError(f"{path}: holds modes of subcases {', '.join(map(str, subcases))}; say which: subcase=.")
    if wanted is not None and wanted not in subcases:
        raise ValueError(f"{path}: has no modes of subcase {wanted}; it has {', '.join(map(str, subcases))}.")
    return subcases[0] if wanted is None else wanted


def _of_op2(path: Path, subcase: int | None) -> NormalModes:
    with path.open("rb") as file:
        start = file.read(4)
    if start not in (b"\x04\0\0\0", b"\0\0\0\x04", b"\x08\0\0\0", b"\0\0\0\x08"):
        raise ValueError(f"{path}: does not begin as an OP2 does (found {start!r}); {WANTED}.")
    op2 = reader("OP2", path)(debug=None, log=Silent())
    quietly(path, lambda: op2.read_op2(str(path), build_dataframe=False))
    found = {int(getattr(key, "isubcase", key)): table for key, table in op2.eigenvectors.items()}
    if not found:
        raise ValueError(f"{path}: holds no eigenvectors{_instead(op2)}; {WANTED}.")
    table = found[_chosen(path, sorted(found), subcase)]
    if np.iscomplexobj(table.data) or table.analysis_code != 2:
        raise ValueError(f"{path}: its eigenvectors are {'complex' if np.iscomplexobj(table.data) else 'not those'} "
                         f"of normal modes (analysis code {table.analysis_code}); {WANTED}.")  # fmt: skip
    numbers = [int(mode) for mode in np.ravel(table.modes)]
    squares = np.array(np.ravel(table.eigns), dtype=float)
    masses = None
    for values in op2.eigenvalues.values():
        order = {int(mode): k for k, mode in enumerate(np.ravel(values.mode))}
        if all(mode in order for mode in numbers):
            rows = [order[mode] for mode in numbers]
            masses, squares = (np.asarray(x, dtype=float)[rows] for x in (values.generalized_mass, values.eigenvalues))
    kept = table.node_gridtype[:, 1] == 1  # grids; not scalar points
    grids = [int(grid) for grid in table.node_gridtype[kept, 0]]
    return NormalModes(numbers, squares, masses, grids, np.moveaxis(np.asarray(table.data, float)[:, kept], 0, 2))


def _instead(op2: Any) -> str:
    """What else an OP2 holds, in words."""
    kinds = {"displacements": "displacements", "velocities": "velocities", "accelerations": "accelerations",
             "temperatures": "temperatures", "spc_forces": "forces of constraints"}  # fmt: skip
    found = [words for name, words in kinds.items() if getattr(op2, name, None)]
    return f", but {' and '.join(found)}" if found else ""


# ---- punch

_MODE = re.compile(r"EIGENVALUE\s*=\s*(\S+)\s+MODE\s*=\s*(\d+)")
_OTHER = ("DISPLACEMENTS", "VELOCITY", "ACCELERATION", "ELEMENT", "SPCF", "MPCF", "OLOADS", "GRID POINT")


class _Punch:
    """What is read of a punch file so far: modes of each subcase, and what else there is."""

    def __init__(self, path: Path) -> None:
        self.path, self.kind, self.case = path, "", 1
        self.cases: dict[int, dict[int, tuple[float, dict[int, list[float]]]]] = {}
        self.others: list[str] = []
        self.rows: dict[int, list[float]] | None = None  # of the mode that now comes
        self.last: int | None = None  # the grid whose numbers go on

    def head(self, title: str, at: int) -> None:
        """A line that begins with $."""
        self.rows = self.last = None
        if title.startswith("EIGENVECTOR"):
            self.kind = "modes"
        elif title.startswith(_OTHER):
            self.kind = "other"
            self.others.append(title.split("=")[0].strip().lower())
        elif title.startswith("SUBCASE ID"):
            self.case = int(_real(title.split("=")[1], self.path, at))
        elif self.kind == "modes" and title.startswith(("REAL-IMAGINARY", "MAGNITUDE", "POINT ID")):
            raise ValueError(f"{self.path}, line {at}: '{title.lower()}' are not normal modes by mode; {WANTED}.")
        elif self.kind == "modes" and (match := _MODE.search(title)):
            self.rows = {}
            self.cases.setdefault(self.case, {})[int(match[2])] = (_real(match[1], self.path, at), self.rows)

    def row(self, line: str, at: int) -> None:
        """A grid's six numbers come in two lines."""
        if self.kind != "modes" or self.rows is None:
            return
        values = [_real(line[k : k + 18], self.path, at) for k in range(18, len(line), 18)]
        if line.startswith("-CONT-"):
            if self.last is not None:
                self.rows[self.last] += values
            return
        self.last = None
        if line[10:18].strip() == "G":  # no scalar point
            self.last = int(_real(line[:10], self.path, at))
            self.rows[self.last] = values


def _of_punch(path: Path, subcase: int | None) -> NormalModes:
    punch = _Punch(path)
    for at, whole in enumerate(path.read_text(errors="replace").splitlines(), 1):
        line = whole[:72].rstrip()
        if line.startswith("$"):
            punch.head(line[1:].strip(), at)
        elif line:
            punch.row(line, at)
    if not punch.cases:
        instead = f", but {', '.join(dict.fromkeys(punch.others))}" if punch.others else ""
        raise ValueError(f"{path}: holds no eigenvectors{instead}; {WANTED} (PUNCH).")
    return _of_rows(path, punch.cases[_chosen(path, sorted(punch.cases), subcase)])


def _real(text: str, path: Path, at: int) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{path}, line {at}: '{text.strip()}' is not a number.") from None


def _of_rows(path: Path, modes: dict[int, tuple[float, dict[int, list[float]]]]) -> NormalModes:
    numbers = sorted(modes)
    grids = list(modes[numbers[0]][1])
    for mode in numbers:
        rows = modes[mode][1]
        if list(rows) != grids or any(len(row) != 6 for row in rows.values()) or not rows:
            raise ValueError(f"{path}: mode {mode} does not have six numbers for each grid of mode {numbers[0]}: is "
                             "the file cut off?")  # fmt: skip
    shapes = np.array([[modes[mode][1][grid] for mode in numbers] for grid in grids])  # (grids, modes, 6)
    squares = np.array([modes[mode][0] for mode in numbers])
    return NormalModes(numbers, squares, None, grids, np.swapaxes(shapes, 1, 2))
