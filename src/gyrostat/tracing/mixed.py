"""LLVM assembly that computes in single precision on memory of doubles.

What stands in memory is read and written as doubles: time, state, results, and values that wait there. A time loop in
double precision can so call a right-hand side that costs half as much, twice as many lanes wide.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from .ir import _READ, _WRITTEN, Code


class Mixed(Code):
    """`Code` whose arithmetic is of floats."""

    def __init__(self, lanes: int) -> None:
        super().__init__(lanes, "float")
        self._kept = f"<{lanes} x double>"

    def fresh(self) -> Self:
        return type(self)(self.lanes)

    def in_double(self) -> Code:  # type: ignore[override]
        wide = Code(self.lanes)
        wide.lines, wide.needs, wide.label = self.lines, self.needs, self.label
        wide.name = self.name  # type: ignore[method-assign]
        return wide

    def place(self, pointer: str, number: int | str) -> str:
        return self.let(f"getelementptr {self._kept}, ptr {pointer}, i64 {number}")

    def load(self, pointer: str, number: int | str) -> str:
        return self.narrow(self.let(f"load {self._kept}, ptr {self.place(pointer, number)}, align 8"))

    def store(self, value: str, pointer: str, number: int | str) -> None:
        self.do(f"store {self._kept} {self.widen(value)}, ptr {self.place(pointer, number)}, align 8")

    def load_told(self, pointer: str, places: str, k: int) -> str:
        return self.narrow(self.let(f"load {self._kept}, ptr {self._told(pointer, places, k)}, align 8{_READ}"))

    def store_told(self, value: str, pointer: str, places: str, k: int) -> None:
        wide = self.widen(value)
        self.do(f"store {self._kept} {wide}, ptr {self._told(pointer, places, k)}, align 8{_WRITTEN}")

    def table_of_places(self, name: str, places: Sequence[int]) -> str:
        return Code(self.lanes).table_of_places(name, places)
