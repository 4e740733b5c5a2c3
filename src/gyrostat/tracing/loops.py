"""A small language for compiled loops on vectors of lanes, so that an integrator reads like its textbook.

`Function` builds one function of a `Module`; `Vector` and `Mask` are one value per lane in it, `Integer`, `Number` and `Truth` single ones,
all with Python's operators; `Block` and `Pointer` are memory. What is written with them knows no target: the LLVM assembly comes from the
same `Code` as that of kernels. Only fused multiply-add is allowed to the compiler, no reordering: each lane computes the same bits whatever
the others do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from .ir import EXACT, Code


class Module:
    """Functions that call each other, and what they need from outside."""

    def __init__(self) -> None:
        self._functions: list[Function] = []

    def add(self, function: Function) -> None:
        self._functions.append(function)

    def text(self) -> str:
        """LLVM assembly."""
        needs = {need: None for function in self._functions for need in function.code.needs}
        return "\n".join([*needs, *(function.text() for function in self._functions)]) + "\n"


class _Value:
    """The name of a result, in the function that computes it."""

    def __init__(self, function: Function, name: str) -> None:
        self.f, self.name = function, name


class Vector(_Value):
    """One number per lane."""

    def _op(self, op: str, a: Any, b: Any) -> Vector:
        f = self.f
        return Vector(f, f.code.op(op, f.vector(a).name, f.vector(b).name, EXACT))

    def __add__(self, other: Any) -> Vector:
        return self._op("fadd", self, other)

    def __radd__(self, other: Any) -> Vector:
        return self._op("fadd", other, self)

    def __sub__(self, other: Any) -> Vector:
        return self._op("fsub", self, other)

    def __rsub__(self, other: Any) -> Vector:
        return self._op("fsub", other, self)

    def __mul__(self, other: Any) -> Vector:
        return self._op("fmul", self, other)

    def __rmul__(self, other: Any) -> Vector:
        return self._op("fmul", other, self)

    def __truediv__(self, other: Any) -> Vector:
        return self._op("fdiv", self, other)

    def __rtruediv__(self, other: Any) -> Vector:
        return self._op("fdiv", other, self)

    def _compare(self, how: str, other: Any) -> Mask:
        return Mask(self.f, self.f.code.compare(how, self.name, self.f.vector(other).name))

    def __lt__(self, other: Any) -> Mask:
        return self._compare("olt", other)

    def __le__(self, other: Any) -> Mask:
        return self._compare("ole", other)

    def __gt__(self, other: Any) -> Mask:
        return self._compare("ogt", other)

    def __ge__(self, other: Any) -> Mask:
        return self._compare("oge", other)

    def equals(self, other: Any) -> Mask:
        return self._compare("oeq", other)


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

    def _bits(self) -> str:
        code = self.f.code
        return code.let(f"bitcast {code.mask} {self.name} to i{code.lanes}")

    def any(self) -> Truth:
        """Does it hold in some lane?"""
        return Truth(self.f, self.f.code.let(f"icmp ne i{self.f.lanes} {self._bits()}, 0"))

    def count(self) -> Integer:
        """In how many lanes it holds."""
        code, kind = self.f.code, f"i{self.f.lanes}"
        code.needs[f"declare {kind} @llvm.ctpop.{kind}({kind})"] = None
        ones = code.let(f"call {kind} @llvm.ctpop.{kind}({kind} {self._bits()})")
        return Integer(self.f, code.let(f"zext {kind} {ones} to i64"))

    def lane(self, k: int) -> Truth:
        """Does it hold in lane k?"""
        return Truth(self.f, self.f.code.let(f"extractelement {self.f.code.mask} {self.name}, i64 {k}"))


class Truth(_Value):
    """A single truth value."""

    def __invert__(self) -> Truth:
        return Truth(self.f, self.f.code.let(f"xor i1 {self.name}, true"))

    def __and__(self, other: Truth) -> Truth:
        return Truth(self.f, self.f.code.let(f"and i1 {self.name}, {other.name}"))

    def integer(self) -> Integer:
        """1 or 0."""
        return Integer(self.f, self.f.code.let(f"zext i1 {self.name} to i64"))

    def where(self, a: Integer | int, b: Integer | int) -> Integer:
        a, b = self.f.integer(a), self.f.integer(b)
        return Integer(self.f, self.f.code.let(f"select i1 {self.name}, i64 {a.name}, i64 {b.name}"))


class Integer(_Value):
    """A single 64-bit integer; what is divided is not negative."""

    def _op(self, op: str, a: Any, b: Any) -> Integer:
        return Integer(self.f, self.f.code.let(f"{op} i64 {self.f.integer(a).name}, {self.f.integer(b).name}"))

    def __add__(self, other: Any) -> Integer:
        return self._op("add", self, other)

    def __sub__(self, other: Any) -> Integer:
        return self._op("sub", self, other)

    def __mul__(self, other: Any) -> Integer:
        return self._op("mul", self, other)

    def __floordiv__(self, other: Any) -> Integer:
        return self._op("udiv", self, other)

    def __mod__(self, other: Any) -> Integer:
        return self._op("urem", self, other)

    def _compare(self, how: str, other: Any) -> Truth:
        return Truth(self.f, self.f.code.let(f"icmp {how} i64 {self.name}, {self.f.integer(other).name}"))

    def __lt__(self, other: Any) -> Truth:
        return self._compare("slt", other)

    def __gt__(self, other: Any) -> Truth:
        return self._compare("sgt", other)

    def __ge__(self, other: Any) -> Truth:
        return self._compare("sge", other)

    def equals(self, other: Any) -> Truth:
        return self._compare("eq", other)

    def number(self) -> Number:
        return Number(self.f, self.f.code.let(f"sitofp i64 {self.name} to double"))


class Number(_Value):
    """A single double."""

    def integer(self) -> Integer:
        """Towards zero."""
        return Integer(self.f, self.f.code.let(f"fptosi double {self.name} to i64"))


class Pointer(_Value):
    """Memory of single doubles, 64-bit integers or addresses, all eight bytes wide."""

    def at(self, i: Integer | int) -> Pointer:
        """Eight bytes a place."""
        return Pointer(self.f, self.f.code.let(f"getelementptr i64, ptr {self.name}, i64 {self.f.integer(i).name}"))

    def _load(self, kind: str, i: Integer | int) -> str:
        return self.f.code.let(f"load {kind}, ptr {self.at(i).name}, align 8")

    def number(self, i: Integer | int = 0) -> Number:
        return Number(self.f, self._load("double", i))

    def integer(self, i: Integer | int = 0) -> Integer:
        return Integer(self.f, self._load("i64", i))

    def pointer(self, i: Integer | int = 0) -> Pointer:
        return Pointer(self.f, self._load("ptr", i))

    def store(self, i: Integer | int, value: Number | Integer) -> None:
        kind = "double" if isinstance(value, Number) else "i64"
        self.f.code.do(f"store {kind} {value.name}, ptr {self.at(i).name}, align 8")


class Block(_Value):
    """Vectors in memory, one after the other: `block[i]`, `block[i] = value`, i an int or a loop's counter."""

    def __getitem__(self, i: Integer | int) -> Vector:
        return Vector(self.f, self.f.code.load(self.name, self.f.integer(i).name))

    def __setitem__(self, i: Integer | int, value: Any) -> None:
        self.f.code.store(self.f.vector(value).name, self.name, self.f.integer(i).name)

    def _address(self, i: Integer | int) -> str:
        return self.f.code.let(f"getelementptr {self.f.code.vector}, ptr {self.name}, i64 {self.f.integer(i).name}")

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
        self.name, self.lanes, self.code = name, lanes, Code(lanes)
        self._result = "i64" if returns_integer else "void"
        self._cells: list[str] = []
        self._signature = ", ".join(f"{'i64' if a.startswith('n_') else 'ptr'} %{a}" for a in arguments)
        module.add(self)

    def text(self) -> str:
        head = f"define {self._result} @{self.name}({self._signature}) nounwind {{"
        return "\n".join([head, "entry:", *self._cells, *self.code.lines, "}"])

    # ---- values

    def vector(self, x: Any) -> Vector:
        return x if isinstance(x, Vector) else Vector(self, self.code.const(float(x)))

    def lane_by_lane(self, values: Sequence[float]) -> Vector:
        """A constant with its own number in each lane."""
        return Vector(self, self.code.consts([float(x) for x in values]))

    def only(self, k: int) -> Mask:
        """Lane k alone."""
        return Mask(self, "<" + ", ".join(f"i1 {'true' if m == k else 'false'}" for m in range(self.lanes)) + ">")

    def integer(self, i: Integer | int) -> Integer:
        return i if isinstance(i, Integer) else Integer(self, str(i))

    def argument(self, name: str) -> Pointer:
        return Pointer(self, f"%{name}")

    def integer_argument(self, name: str) -> Integer:
        return Integer(self, f"%{name}")

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
        code = self.code
        one = code.let(f"insertelement {code.vector} undef, double {number.name}, i64 0")
        return self._shuffle(one, [0] * self.lanes)

    def shuffle(self, x: Vector, places: Sequence[int]) -> Vector:
        """Lane k gets what stands in lane places[k]."""
        return self._shuffle(x.name, places)

    def _shuffle(self, name: str, places: Sequence[int]) -> Vector:
        code, picks = self.code, ", ".join(f"i32 {k}" for k in places)
        kind = f"<{self.lanes} x i32>"
        return Vector(self, code.let(f"shufflevector {code.vector} {name}, {code.vector} {name}, {kind} <{picks}>"))

    def call(self, function: Pointer, *arguments: _Value) -> None:
        """Call a function by its address."""
        self.code.do(f"call void {function.name}({', '.join(f'ptr {a.name}' for a in arguments)})")

    def call_named(self, name: str, *arguments: _Value) -> None:
        self.code.do(f"call void @{name}({', '.join(f'ptr {a.name}' for a in arguments)})")

    # ---- control

    @contextmanager
    def loop(self, count: Integer | int, start: Integer | int = 0) -> Iterator[Integer]:
        """for i in range(start, count)."""
        code, count, start = self.code, self.integer(count), self.integer(start)
        before, (head, body, end) = code.label, self._labels("head", "body", "end")
        code.do(f"br label %{head}")
        code.begin(head)
        place, i = len(code.lines), Integer(self, code.name())
        inside = i < count
        code.do(f"br i1 {inside.name}, label %{body}, label %{end}")
        code.begin(body)
        yield i
        following = i + 1
        code.do(f"br label %{head}")
        # the body may have ended in another basic block than it began in
        ways = f"[ {start.name}, %{before} ], [ {following.name}, %{code.label} ]"
        code.lines.insert(place, f"  {i.name} = phi i64 {ways}")
        code.begin(end)

    @contextmanager
    def repeat(self) -> Iterator[Any]:
        """while True: leave it by `leave_if`."""
        code, (head, end) = self.code, self._labels("repeat", "after")
        code.do(f"br label %{head}")
        code.begin(head)

        def leave_if(condition: Truth) -> None:
            (on,) = self._labels("on")
            code.do(f"br i1 {condition.name}, label %{end}, label %{on}")
            code.begin(on)

        yield leave_if
        code.do(f"br label %{head}")
        code.begin(end)

    @contextmanager
    def when(self, condition: Truth) -> Iterator[None]:
        """if condition:"""
        code, (then, end) = self.code, self._labels("then", "endif")
        code.do(f"br i1 {condition.name}, label %{then}, label %{end}")
        code.begin(then)
        yield
        code.do(f"br label %{end}")
        code.begin(end)

    def _labels(self, *names: str) -> list[str]:
        number = self.code.name()[1:]
        return [f"{name}_{number}" for name in names]

    def variable(self, value: Any) -> Block:
        """A vector that a loop may change: read and written as `cell[0]`."""
        cell = Block(self, self._cell(self.code.vector))
        cell[0] = value
        return cell

    def counter(self, value: Integer | int) -> Counter:
        """An integer that a loop may change."""
        return Counter(self, self._cell("i64"), self.integer(value))

    def _cell(self, kind: str) -> str:
        name = self.code.name()
        self._cells.append(f"  {name} = alloca {kind}")
        return name

    def end(self, value: Integer | None = None) -> None:
        self.code.do("ret void" if value is None else f"ret i64 {value.name}")


class Counter:
    """An integer in memory."""

    def __init__(self, function: Function, name: str, value: Integer) -> None:
        self._place = Pointer(function, name)
        self.set(value)

    def get(self) -> Integer:
        return self._place.integer()

    def set(self, value: Integer | int) -> None:
        self._place.store(0, self._place.f.integer(value))
