"""Rows to lanes and back, in registers: W rows of numbers become one vector of W lanes for each column."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .ir import Code


def tiles(columns: int, lanes: int, used: Iterable[int]) -> list[tuple[int, int]]:
    """(first column, width) of tiles that cover the used columns of a row; widths are powers of two.

    A tile that would leave the row is moved back to end with it: it may overlap its neighbour.
    """
    wanted, found = sorted(used), []
    while wanted:
        width = 1
        while width < min(lanes, wanted[-1] - wanted[0] + 1) and 2 * width <= columns:
            width *= 2
        start = min(wanted[0], columns - width)
        found.append((start, width))
        wanted = [column for column in wanted if column >= start + width]
    return found


def runs(found: list[tuple[int, int]]) -> list[tuple[int, int, int]]:
    """Tiles of one width that follow each other, as (first column, width, how many)."""
    joined: list[tuple[int, int, int]] = []
    for start, width in found:
        if joined and joined[-1][1] == width and start == joined[-1][0] + width * joined[-1][2]:
            joined[-1] = (*joined[-1][:2], joined[-1][2] + 1)
        else:
            joined.append((start, width, 1))
    return joined


def load_tile(code: Code, rows: Sequence[str], start: str, width: int) -> list[str]:
    """One vector per column `start`, ..., `start + width - 1` of the rows that the pointers `rows` point at."""
    short = f"<{width} x {code.scalar}>"
    pieces = []
    for pointer in rows:
        address = code.let(f"getelementptr {code.scalar}, ptr {pointer}, i64 {start}")
        pieces.append(code.let(f"load {short}, ptr {address}, align {_align(code)}"))
    # vector k holds rows k, k + width, k + 2 width, ... side by side
    vectors = [_join(code, pieces[k::width], width) for k in range(width)]
    return _exchange(code, vectors, width)


def store_tile(code: Code, columns: Sequence[str], rows: Sequence[str], start: str) -> None:
    """The inverse: write the columns' vectors to the rows."""
    width = len(columns)
    vectors = _exchange(code, list(columns), width)
    for k, vector in enumerate(vectors):
        for part, pointer in enumerate(rows[k::width]):
            piece = vector
            if width < code.lanes:
                piece = _shuffle(code, code.vector, vector, "undef", range(part * width, (part + 1) * width))
            address = code.let(f"getelementptr {code.scalar}, ptr {pointer}, i64 {start}")
            code.do(f"store <{width} x {code.scalar}> {piece}, ptr {address}, align {_align(code)}")


def _align(code: Code) -> int:
    return 8 if code.scalar == "double" else 4


def _shuffle(code: Code, kind: str, a: str, b: str, order: Iterable[int]) -> str:
    picks = [f"i32 {k}" for k in order]
    return code.let(f"shufflevector {kind} {a}, {kind} {b}, <{len(picks)} x i32> <{', '.join(picks)}>")


def _join(code: Code, pieces: list[str], width: int) -> str:
    """Short vectors laid end to end, pair by pair."""
    while len(pieces) > 1:
        kind = f"<{width} x {code.scalar}>"
        pieces = [_shuffle(code, kind, a, b, range(2 * width)) for a, b in zip(pieces[::2], pieces[1::2], strict=True)]
        width *= 2
    return pieces[0]


def _exchange(code: Code, vectors: list[str], width: int) -> list[str]:
    """Transpose every width x width square that `width` vectors hold: log2(width) rounds of pairwise exchanges."""
    step = width // 2
    while step:
        low = [k + (0 if k & step == 0 else code.lanes - step) for k in range(code.lanes)]
        high = [k + (step if k & step == 0 else code.lanes) for k in range(code.lanes)]
        for k in range(width):
            if k & step == 0:
                a, b = vectors[k], vectors[k + step]
                vectors[k] = _shuffle(code, code.vector, a, b, low)
                vectors[k + step] = _shuffle(code, code.vector, a, b, high)
        step //= 2
    return vectors
