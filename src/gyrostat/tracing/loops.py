"""A small language for compiled loops on vectors of lanes, so that an integrator reads like its textbook.

`Function` builds one function of a `Module`; `Vector` and `Mask` are one value per lane in it, `Integer`, `Number` and
`Truth` single ones, all with Python's operators; `Block` and `Pointer` are memory. What is written with them knows no
target: how each operation is spelt is up to the writer, the same `Code` that writes kernels. Only fused multiply-add is
allowed to the compiler, no reordering: each lane computes the same bits whatever the others do.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Generic, Self, TypeVar

from .ir import EXACT, Code


class Module:
    """Functions that call each other, and what they need from outside. code: whose words they are written in."""

    def __init__(self, code: Callable[[int], Code] = Code) -> None:
        self.code = code
        self.functions: list[Function] = []

    def add(self, function: Function) -> None:
        self.functions.append(function)

    def text(self) -> str:
        """LLVM assembly."""
        needs = {need: None for function in self.functions for need in function.code.needs}
        return "\n".join([*needs, *(function.text() for function in self.functions)]) + "\n"


class _Value:
    """The name of a result, in the function that computes it."""

    def __init__(self, function: Function, name: str) -> None:
        self.f, self.name = function, name


Answer = TypeVar("Answer")  # of a comparison


class _Quantity(_Value, ABC, Generic[Answer]):
    """What numbers of lanes and single integers have in common: sums, differences, products and order."""

    @abstractmethod
    def _op(self, op: str, a: Any, b: Any) -> Self: ...

    @abstractmethod
    def _compare(self, how: str, other: Any) -> Answer: ...

    def __add__(self, other: Any) -> Self:
        return self._op("add", self, other)

    def __radd__(self, other: Any) -> Self:
        return self._op("add", other, self)

    def __sub__(self, other: Any) -> Self:
        return self._op("sub", self, other)

    def __rsub__(self, other: Any) -> Self:
        return self._op("sub", other, self)

    def __mul__(self, other: Any) -> Self:
        return self._op("mul", self, other)

    def __rmul__(self, other: Any) -> Self:
        return self._op("mul", other, self)

    def __lt__(self, other: Any) -> Answer:
        return self._compare("lt", other)

    def __le__(self, other: Any) -> Answer:
        return self._compare("le", other)

    def __gt__(self, other: Any) -> Answer:
        return self._compare("gt", other)

    def __ge__(self, other: Any) -> Answer:
        return self._compare("ge", other)

    def equals(self, other: Any) -> Answer:
        return self._compare("eq", other)


class Vector(_Quantity["Mask"]):
    """One number per lane."""

    def _op(self, op: str, a: Any, b: Any) -> Vector:
        f = self.f
        return Vector(f, f.code.op(f"f{op}", f.vector(a).name, f.vector(b).name, EXACT))

    def _compare(self, how: str, other: Any) -> Mask:
        return Mask(self.f, self.f.code.compare(f"o{how}", self.name, self.f.vector(other).name))

    def __truediv__(self, other: Any) -> Vector:
        return self._op("div", self, other)

    def __rtruediv__(self, other: Any) -> Vector:
        return self._op("div", other, self)


class Mask(_Value):
    """One truth value per lane."""

    def __and__(self, other: Mask) -> Mask:
        return Mask(self.f, self.f.code.logic("and", self.name, other.name))

    def __or__(self, other: Mask) -> Mask:
        return Mask(self.f, self.f.code.logic("or", self.name, other.name))

    def __invert__(self) -> Mask:
        return Mask(self.f, self.f.code.invert(self.name))

    def where(self, a: Any, b: Any) -> Vector:
        f = self.f
        return Vector(f, f.code.select(self.name, f.vector(a).name, f.vector(b).name))

    def any(self) -> Truth:
        """Does it hold in some lane?"""
        return Truth(self.f, self.f.code.any_lane(self.name))

    def count(self) -> Integer:
        """In how many lanes it holds."""
        return Integer(self.f, self.f.code.count_lanes(self.name))

    def lane(self, k: int) -> Truth:
        """Does it hold in lane k?"""
        return Truth(self.f, self.f.code.mask_lane(self.name, k))


class Truth(_Value):
    """A single truth value."""

    def __invert__(self) -> Truth:
        return Truth(self.f, self.f.code.not_true(self.name))

    def __and__(self, other: Truth) -> Truth:
        return Truth(self.f, self.f.code.both_true(self.name, other.name))

    def integer(self) -> Integer:
        """1 or 0."""
        return Integer(self.f, self.f.code.one_or_zero(self.name))

    def where(self, a: Integer | int, b: Integer | int) -> Integer:
        a, b = self.f.integer(a), self.f.integer(b)
        return Integer(self.f, self.f.code.choose(self.name, a.name, b.name))


class Integer(_Quantity[Truth]):
    """A single 64-bit integer; what is divided is not negative."""

    def _op(self, op: str, a: Any, b: Any) -> Integer:
        return Integer(self.f, self.f.code.count_op(op, self.f.integer(a).name, self.f.integer(b).name))

    def _compare(self, how: str, other: Any) -> Truth:
        signed = how if how == "eq" else f"s{how}"
        return Truth(self.f, self.f.code.count_compare(signed, self.name, self.f.integer(other).name))

    def __floordiv__(self, other: Any) -> Integer:
        return self._op("udiv", self, other)

    def __mod__(self, other: Any) -> Integer:
        return self._op("urem", self, other)

    def number(self) -> Number:
        return Number(self.f, self.f.code.count_to_number(self.name))


class Number(_Value):
    """A single double."""

    def integer(self) -> Integer:
        """Towards zero."""
        return Integer(self.f, self.f.code.number_to_count(self.name))


class Pointer(_Value):
    """Memory of single doubles, 64-bit integers or addresses, all eight bytes wide."""

    def at(self, i: Integer | int) -> Pointer:
        """Eight bytes a place."""
        return Pointer(self.f, self.f.code.word(self.name, self.f.integer(i).name))

    def _load(self, kind: str, i: Integer | int) -> str:
        return self.f.code.load_word(kind, self.at(i).name)

    def number(self, i: Integer | int = 0) -> Number:
        return Number(self.f, self._load("double", i))

    def integer(self, i: Integer | int = 0) -> Integer:
        return Integer(self.f, self._load("i64", i))

    def pointer(self, i: Integer | int = 0) -> Pointer:
        return Pointer(self.f, self._load("ptr", i))

    def store(self, i: Integer | int, value: Number | Integer) -> None:
        kind = "double" if isinstance(value, Number) else "i64"
        self.f.code.store_word(kind, value.name, self.at(i).name)


class Block(_Value):
    """Vectors in memory, one after the other: `block[i]`, `block[i] = value`, i an int or a loop's counter."""

    def __getitem__(self, i: Integer | int) -> Vector:
        return Vector(self.f, self.f.code.load(self.name, self.f.integer(i).name))

    def __setitem__(self, i: Integer | int, value: Any) -> None:
        self.f.code.store(self.f.vector(value).name, self.name, self.f.integer(i).name)

    def _address(self, i: Integer | int) -> str:
        return self.f.code.place(self.name, self.f.integer(i).name)

    def address(self, i: Integer | int) -> Pointer:
        """The lanes of vector i, one by one."""
        return Pointer(self.f, self._address(i))

    def after(self, i: Integer | int) -> Block:
        """The block that begins at vector i."""
        return Block(self.f, self._address(i))


class Function:
    """A function under construction, of pointers and of 64-bit integers (whose names begin with "n_")."""

    def __init__(
        self, module: Module, name: str, lanes: int, arguments: Sequence[str], *, returns_integer: bool = False
    ) -> None:
        self.name, self.lanes, self.code = name, lanes, module.code(lanes)
        self._arguments, self._returns_integer = tuple(arguments), returns_integer
        module.add(self)

    def text(self) -> str:
        return self.code.function(self.name, self._arguments, self._returns_integer)

    # ---- values

    def vector(self, x: Any) -> Vector:
        return x if isinstance(x, Vector) else Vector(self, self.code.const(float(x)))

    def lane_by_lane(self, values: Sequence[float]) -> Vector:
        """A constant with its own number in each lane."""
        return Vector(self, self.code.consts([float(x) for x in values]))

    def only(self, k: int) -> Mask:
        """Lane k alone."""
        return Mask(self, self.code.truths([m == k for m in range(self.lanes)]))

    def integer(self, i: Integer | int) -> Integer:
        return i if isinstance(i, Integer) else Integer(self, str(i))

    def argument(self, name: str) -> Pointer:
        return Pointer(self, self.code.argument(name))

    def integer_argument(self, name: str) -> Integer:
        return Integer(self, self.code.argument(name))

    def sum(self, weights: Any, blocks: Any, i: Any) -> Vector:
        """sum_j weights[j] blocks[j][i], zero weights left out."""
        total = None
        for w, block in zip(weights, blocks, strict=True):
            if w is not None and not (isinstance(w, float) and w == 0.0):
                term = block[i] * w
                total = term if total is None else total + term
        return self.vector(0.0) if total is None else total

    def sqrt(self, x: Vector) -> Vector:
        return Vector(self, self.code.intrinsic("sqrt", x.name))

    def abs(self, x: Vector) -> Vector:
        return Vector(self, self.code.intrinsic("fabs", x.name))

    def max(self, a: Vector, b: Any) -> Vector:
        b = self.vector(b)
        return (a > b).where(a, b)

    def min(self, a: Vector, b: Any) -> Vector:
        b = self.vector(b)
        return (a < b).where(a, b)

    def root(self, x: Vector, n: int) -> Vector:
        """x^(1/n), by square roots where n is a power of two, else lane by lane by the C library."""
        while n % 2 == 0:
            x, n = self.sqrt(x), n // 2
        return x if n == 1 else Vector(self, self.code.each_lane("pow", x.name, self.code.const(1.0 / n)))

    def broadcast(self, number: Number) -> Vector:
        return Vector(self, self.code.broadcast(number.name))

    def shuffle(self, x: Vector, places: Sequence[int]) -> Vector:
        """Lane k gets what stands in lane places[k]."""
        return Vector(self, self.code.shuffle(x.name, places))

    def call(self, function: Pointer, *arguments: _Value) -> None:
        """Call a function by its address."""
        self.code.call_address(function.name, *(a.name for a in arguments))

    def call_named(self, name: str, *arguments: _Value) -> None:
        self.code.call_named(name, *(a.name for a in arguments))

    # ---- control

    @contextmanager
    def loop(self, count: Integer | int, start: Integer | int = 0) -> Iterator[Integer]:
        """for i in range(start, count)."""
        with self.code.counted(self.integer(start).name, self.integer(count).name) as i:
            yield Integer(self, i)

    @contextmanager
    def repeat(self) -> Iterator[Callable[[Truth], None]]:
        """while True: leave it by `leave_if`."""
        with self.code.forever() as leave_if:
            yield lambda condition: leave_if(condition.name)

    @contextmanager
    def when(self, condition: Truth) -> Iterator[None]:
        """if condition:"""
        with self.code.when(condition.name):
            yield

    def variable(self, value: Any) -> Block:
        """A vector that a loop may change: read and written as `cell[0]`."""
        cell = Block(self, self.code.cell(self.code.vector))
        cell[0] = value
        return cell

    def counter(self, value: Integer | int) -> Counter:
        """An integer that a loop may change."""
        return Counter(self, self.code.cell("i64"), self.integer(value))

    def end(self, value: Integer | None = None) -> None:
        self.code.leave(None if value is None else value.name)


class Counter:
    """An integer in memory."""

    def __init__(self, function: Function, name: str, value: Integer) -> None:
        self._place = Pointer(function, name)
        self.set(value)

    def get(self) -> Integer:
        return self._place.integer()

    def set(self, value: Integer | int) -> None:
        self._place.store(0, self._place.f.integer(value))
