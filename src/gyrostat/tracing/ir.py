"""LLVM assembly, written line by line: a function's body on vectors of `lanes` doubles or floats."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Self

FAST = "contract nsz arcp reassoc"  # NaN and infinity keep their meaning: never nnan, ninf or afn
EXACT = "contract"  # fused multiply-add, but no reordering

_READ, _WRITTEN = ", !alias.scope !4, !noalias !5", ", !alias.scope !5, !noalias !4"
_SCOPES = (
    '!1 = distinct !{!1, !"values"}\n!2 = distinct !{!2, !1, !"read"}\n!3 = distinct !{!3, !1, !"written"}\n'
    "!4 = !{!2}\n!5 = !{!3}"
)


def block_names(inputs: int, outputs: int) -> tuple[list[str], list[str]]:
    """Names of the arguments that point to the lane blocks of inputs and outputs."""
    return [f"in{k}" for k in range(inputs)], [f"out{k}" for k in range(outputs)]


class Code:
    """The body of one function. Every method appends instructions and returns the name of the result."""

    whole = 2500  # nodes of a graph that stay in one function, where the most values stay in registers
    part = 1000  # nodes in one function of longer graphs: LLVM's time grows faster than the length of a function

    head = ""  # declares the function, where a target needs that, once its text is whole

    def __init__(self, lanes: int, scalar: str = "double") -> None:
        self.lanes, self.scalar = lanes, scalar
        self.vector = f"<{lanes} x {scalar}>"
        self.integers = f"<{lanes} x i64>"
        self.mask = f"<{lanes} x i1>"
        self.suffix = f"v{lanes}f{64 if scalar == 'double' else 32}"
        self.lines: list[str] = []
        self._cells: list[str] = []
        self.needs: dict[str, None] = {}  # library functions and intrinsics called, in order
        self.label = "entry"
        self._count = 0

    def fresh(self) -> Self:
        """The body of another function, for the same target."""
        return type(self)(self.lanes, self.scalar)

    def in_double(self) -> Self:
        """The same body, whose instructions from here on are of doubles."""
        wide = type(self)(self.lanes)
        wide.lines, wide.needs, wide.label = self.lines, self.needs, self.label
        wide.name = self.name  # type: ignore[method-assign]
        return wide

    def widen(self, a: str) -> str:
        return self.let(f"fpext {self.vector} {a} to <{self.lanes} x double>")

    def narrow(self, a: str) -> str:
        return self.let(f"fptrunc <{self.lanes} x double> {a} to {self.vector}")

    def name(self) -> str:
        self._count += 1
        return f"%t{self._count}"

    def let(self, text: str) -> str:
        """`result = text`."""
        result = self.name()
        self.lines.append(f"  {result} = {text}")
        return result

    def do(self, text: str) -> None:
        self.lines.append(f"  {text}")

    def begin(self, label: str) -> None:
        """Start a basic block."""
        self.lines.append(f"{label}:")
        self.label = label

    # numbers

    def const(self, x: float) -> str:
        return self.consts([x] * self.lanes)

    def consts(self, values: Sequence[float]) -> str:
        """One number for each lane."""
        return f"<{self.listed(values)}>"

    def listed(self, values: Sequence[float]) -> str:
        """Numbers as vectors and tables hold them."""
        return ", ".join([f"{self.scalar} 0x{self._bits(x):016X}" for x in values])

    def _bits(self, x: float) -> int:
        return struct.unpack(">Q", struct.pack(">d", x if self.scalar == "double" else as_float32(x)))[0]

    def op(self, op: str, a: str, b: str, flags: str = FAST) -> str:
        return self.let(f"{op} {flags} {self.vector} {a}, {b}")

    def add(self, a: str, b: str, flags: str = EXACT) -> str:
        return self.op("fadd", a, b, flags)

    def sub(self, a: str, b: str, flags: str = EXACT) -> str:
        return self.op("fsub", a, b, flags)

    def mul(self, a: str, b: str, flags: str = EXACT) -> str:
        return self.op("fmul", a, b, flags)

    def div(self, a: str, b: str, flags: str = EXACT) -> str:
        return self.op("fdiv", a, b, flags)

    def neg(self, a: str) -> str:
        return self.let(f"fneg {self.vector} {a}")

    def polynomial(self, x: str, coefficients: list[float]) -> str:
        """Horner's rule, highest power first."""
        value = self.const(coefficients[0])
        for c in coefficients[1:]:
            value = self.add(self.mul(value, x), self.const(c))
        return value

    def intrinsic(self, name: str, *args: str) -> str:
        """llvm.name on vectors."""
        full = f"@llvm.{name}.{self.suffix}"
        typed = [f"{self.vector} {a}" for a in args]
        self.needs[f"declare {self.vector} {full}({', '.join([self.vector] * len(args))})"] = None
        return self.let(f"call {self.vector} {full}({', '.join(typed)})")

    def call(self, name: str, *args: str) -> str:
        """One of the vector functions of functions.py."""
        self.needs[name] = None
        return self.let(f"call {self.vector} @{name}({', '.join(f'{self.vector} {a}' for a in args)})")

    def each_lane(self, name: str, *args: str) -> str:
        """The C library's scalar function, lane by lane; doubles."""
        self.needs[f"declare double @{name}({', '.join(['double'] * len(args))})"] = None
        result = "undef"
        for k in range(self.lanes):
            scalars = [self.let(f"extractelement {self.vector} {a}, i32 {k}") for a in args]
            value = self.let(f"call double @{name}({', '.join(f'double {s}' for s in scalars)})")
            result = self.let(f"insertelement {self.vector} {result}, double {value}, i32 {k}")
        return result

    # conditions

    def compare(self, how: str, a: str, b: str) -> str:
        return self.let(f"fcmp {how} {self.vector} {a}, {b}")

    def select(self, mask: str, a: str, b: str) -> str:
        return self.let(f"select {self.mask} {mask}, {self.vector} {a}, {self.vector} {b}")

    def logic(self, op: str, a: str, b: str) -> str:
        return self.let(f"{op} {self.mask} {a}, {b}")

    def invert(self, a: str) -> str:
        return self.logic("xor", a, "<" + ", ".join(["i1 true"] * self.lanes) + ">")

    # 64-bit integers

    def integer(self, k: int) -> str:
        return "<" + ", ".join([f"i64 {k}"] * self.lanes) + ">"

    def int_op(self, op: str, a: str, b: str | int) -> str:
        return self.let(f"{op} {self.integers} {a}, {self.integer(b) if isinstance(b, int) else b}")

    def compare_integers(self, how: str, a: str, b: str | int) -> str:
        return self.let(f"icmp {how} {self.integers} {a}, {self.integer(b) if isinstance(b, int) else b}")

    def choose_integers(self, mask: str, a: str, b: str) -> str:
        return self.let(f"select {self.mask} {mask}, {self.integers} {a}, {self.integers} {b}")

    def bits(self, a: str) -> str:
        return self.let(f"bitcast {self.vector} {a} to {self.integers}")

    def from_bits(self, a: str) -> str:
        return self.let(f"bitcast {self.integers} {a} to {self.vector}")

    def to_integers(self, a: str) -> str:
        return self.let(f"fptosi {self.vector} {a} to {self.integers}")

    def from_integers(self, a: str) -> str:
        return self.let(f"sitofp {self.integers} {a} to {self.vector}")

    # memory

    def place(self, pointer: str, number: int | str) -> str:
        """The address of a vector."""
        return self.let(f"getelementptr {self.vector}, ptr {pointer}, i64 {number}")

    def load(self, pointer: str, number: int | str) -> str:
        """Vector `number` behind `pointer`."""
        return self.let(f"load {self.vector}, ptr {self.place(pointer, number)}, align 8")

    def store(self, value: str, pointer: str, number: int | str) -> None:
        self.do(f"store {self.vector} {value}, ptr {self.place(pointer, number)}, align 8")

    def entries(self, table: str, places: str) -> str:
        """Of a constant table of doubles, one for each lane."""
        kind = f"<{self.lanes} x ptr>"
        address = self.let(f"getelementptr double, ptr @{table}, {self.integers} {places}")
        name = f"@llvm.masked.gather.{self.suffix}.v{self.lanes}p0"
        self.needs[f"declare {self.vector} {name}({kind}, i32, {self.mask}, {self.vector})"] = None
        every = self.truths([True] * self.lanes)
        return self.let(f"call {self.vector} {name}({kind} {address}, i32 8, {self.mask} {every}, {self.vector} undef)")

    def common_entry(self, table: str, place: str) -> str:
        """The same at a place that all lanes have in common: one load."""
        first = self.let(f"extractelement {self.vector} {place}, i64 0")
        at = self.let(f"fptosi {self.scalar} {first} to i64")
        entry = self.let(f"load double, ptr {self.let(f'getelementptr double, ptr @{table}, i64 {at}')}")
        if self.scalar != "double":
            entry = self.let(f"fptrunc double {entry} to {self.scalar}")
        return self._everywhere(entry)

    def constant_table(self, name: str, values: Sequence[float]) -> str:
        """Its definition."""
        return f"@{name} = internal constant [{len(values)} x double] [{Code(1).listed(values)}]"

    # values whose places a table tells: bytes behind a pointer

    def table_of_places(self, name: str, places: Sequence[int]) -> str:
        """Its definition. places: vectors behind the pointer."""
        size = self.lanes * (8 if self.scalar == "double" else 4)
        listed = ", ".join([f"i64 {size * at}" for at in places])
        return f"@{name} = internal constant [{len(places)} x i64] [{listed}]"

    def table_of_numbers(self, name: str, values: Sequence[float]) -> str:
        """Its definition, in the numbers of this code."""
        return f"@{name} = internal constant [{len(values)} x {self.scalar}] [{self.listed(values)}]"

    def place_in(self, table: str, k: int) -> str:
        """The address of entry k of a table of places."""
        return f"getelementptr (i64, ptr @{table}, i64 {k})"

    def number_in(self, table: str, k: int) -> str:
        """The address of entry k of a table of numbers."""
        return f"getelementptr ({self.scalar}, ptr @{table}, i64 {k})"

    def _told(self, pointer: str, places: str, k: int) -> str:
        """The address that entry k of the places tells."""
        self.needs[_SCOPES] = None
        return self.let(f"getelementptr i8, ptr {pointer}, i64 {self.load_word('i64', self.word(places, str(k)))}")

    def load_told(self, pointer: str, places: str, k: int) -> str:
        return self.let(f"load {self.vector}, ptr {self._told(pointer, places, k)}, align 8{_READ}")

    def store_told(self, value: str, pointer: str, places: str, k: int) -> None:
        """Where nothing is read that `load_told` reads in the same function."""
        self.do(f"store {self.vector} {value}, ptr {self._told(pointer, places, k)}, align 8{_WRITTEN}")

    def load_number(self, numbers: str, k: int) -> str:
        """Entry k of a table of numbers, in each lane."""
        entry = self.let(f"getelementptr {self.scalar}, ptr {numbers}, i64 {k}")
        return self._everywhere(self.load_word(self.scalar, entry))

    # control

    def rarely(self, mask: str, usual: Sequence[str], rare: Callable[[], Sequence[str]]) -> list[str]:
        """`rare()` if the mask holds in some lane, else the usual values."""
        some = self.any_lane(mask)
        before, cold, after = self.label, f"far{len(self.lines)}", f"near{len(self.lines)}"
        self.do(f"br i1 {some}, label %{cold}, label %{after}, !prof !0")
        self.begin(cold)
        others = rare()
        self.do(f"br label %{after}")
        self.begin(after)
        pairs = zip(usual, others, strict=True)
        return [self.let(f"phi {self.vector} [ {a}, %{before} ], [ {b}, %{cold} ]") for a, b in pairs]

    def repeat(self, start: str, stop: str, step: int, body: Callable[[str], None]) -> None:
        """`for k in range(start, stop, step): body(k)`; runs at least once."""
        before, label, counter, following = self.label, f"loop{len(self.lines)}", self.name(), self.name()
        self.do(f"br label %{label}")
        self.begin(label)
        place = len(self.lines)
        body(counter)
        self.do(f"{following} = add i64 {counter}, {step}")
        more = self.let(f"icmp slt i64 {following}, {stop}")
        # the body may have ended in another basic block than it began in
        self.lines.insert(place, f"  {counter} = phi i64 [ {start}, %{before} ], [ {following}, %{self.label} ]")
        self.do(f"br i1 {more}, label %{label}, label %end{label}")
        self.begin(f"end{label}")

    # ---- single values: truths (i1), counts (i64), numbers (double), and words of eight bytes in memory

    def truths(self, values: Sequence[bool]) -> str:
        """One truth for each lane."""
        return "<" + ", ".join(f"i1 {'true' if x else 'false'}" for x in values) + ">"

    def _lane_bits(self, mask: str) -> str:
        return self.let(f"bitcast {self.mask} {mask} to i{self.lanes}")

    def any_lane(self, mask: str) -> str:
        return self.let(f"icmp ne i{self.lanes} {self._lane_bits(mask)}, 0")

    def count_lanes(self, mask: str) -> str:
        kind, bits = f"i{self.lanes}", self._lane_bits(mask)
        self.needs[f"declare {kind} @llvm.ctpop.{kind}({kind})"] = None
        return self.let(f"zext {kind} {self.let(f'call {kind} @llvm.ctpop.{kind}({kind} {bits})')} to i64")

    def mask_lane(self, mask: str, k: int) -> str:
        return self.let(f"extractelement {self.mask} {mask}, i64 {k}")

    def not_true(self, a: str) -> str:
        return self.let(f"xor i1 {a}, true")

    def both_true(self, a: str, b: str) -> str:
        return self.let(f"and i1 {a}, {b}")

    def one_or_zero(self, a: str) -> str:
        return self.let(f"zext i1 {a} to i64")

    def choose(self, condition: str, a: str, b: str) -> str:
        return self.let(f"select i1 {condition}, i64 {a}, i64 {b}")

    def count_op(self, op: str, a: str, b: str) -> str:
        return self.let(f"{op} i64 {a}, {b}")

    def count_compare(self, how: str, a: str, b: str) -> str:
        return self.let(f"icmp {how} i64 {a}, {b}")

    def count_everywhere(self, a: str) -> str:
        """An integer as a number of every lane."""
        return self._everywhere(self.let(f"sitofp i64 {a} to {self.scalar}"))

    def count_to_number(self, a: str) -> str:
        return self.let(f"sitofp i64 {a} to double")

    def number_to_count(self, a: str) -> str:
        return self.let(f"fptosi double {a} to i64")

    def word(self, pointer: str, place: str) -> str:
        """The address of a word."""
        return self.let(f"getelementptr i64, ptr {pointer}, i64 {place}")

    def load_word(self, kind: str, address: str) -> str:
        return self.let(f"load {kind}, ptr {address}, align 8")

    def store_word(self, kind: str, value: str, address: str) -> None:
        self.do(f"store {kind} {value}, ptr {address}, align 8")

    def broadcast(self, number: str) -> str:
        return self._everywhere(number)

    def _everywhere(self, number: str) -> str:
        one = self.let(f"insertelement {self.vector} undef, {self.scalar} {number}, i64 0")
        return self.shuffle(one, [0] * self.lanes)

    def shuffle(self, vector: str, places: Sequence[int]) -> str:
        picks = ", ".join(f"i32 {k}" for k in places)
        return self.let(f"shufflevector {self.vector} {vector}, {self.vector} {vector}, <{self.lanes} x i32> <{picks}>")

    # ---- functions and their control

    def function(self, name: str, arguments: Sequence[str], returns_integer: bool) -> str:
        """The whole function, its body written: of pointers, and of integers whose names begin with "n_"."""
        signature = ", ".join(f"{'i64' if a.startswith('n_') else 'ptr'} %{a}" for a in arguments)
        head = f"define {'i64' if returns_integer else 'void'} @{name}({signature}) nounwind {{"
        return "\n".join([head, "entry:", *self._cells, *self.lines, "}"])

    def procedure(
        self,
        name: str,
        read: Sequence[str],
        written: Sequence[str],
        tables: Sequence[str] = (),
        *,
        own: bool,
        long: bool = False,
    ) -> None:
        """Make of these lines the whole function of pointers to what is read, to what is written, and to tables.

        own: of the module alone. long: with many values that wait in memory; those that cross cache lines cost a tenth,
        and callers' stacks are aligned to 16 bytes only.
        """
        marks = [f"ptr noalias readonly %{p}" for p in read] + [f"ptr noalias %{p}" for p in written]
        marks += [f"ptr noalias readonly %{p}" for p in tables]
        kind, aligned = "internal " if own else "", ' "stackrealign"' if long else ""
        head = f"define {kind}void @{name}({', '.join(marks)}) noinline nounwind{aligned} {{"
        self.lines = [head, "entry:", *self.lines, "  ret void", "}"]

    def elementary(self, name: str, arguments: Sequence[str], result: str, *, rare: bool) -> None:
        """Make of these lines a whole function of vectors."""
        typed = ", ".join(f"{self.vector} %{a}" for a in arguments)
        head = f"define internal {self.vector} @{name}({typed}) noinline nounwind{' cold' if rare else ''} {{"
        self.lines = [head, "entry:", *self.lines, f"  ret {self.vector} {result}", "}"]

    def argument(self, name: str) -> str:
        return f"%{name}"

    def cell(self, kind: str) -> str:
        """Memory of the function's own."""
        name = self.name()
        self._cells.append(f"  {name} = alloca {kind}")
        return name

    def call_address(self, function: str, *pointers: str) -> None:
        self.do(f"call void {function}({', '.join(f'ptr {p}' for p in pointers)})")

    def call_named(self, function: str, *pointers: str) -> None:
        self.call_address(f"@{function}", *pointers)

    def leave(self, value: str | None) -> None:
        self.do("ret void" if value is None else f"ret i64 {value}")

    def _labels(self, *names: str) -> list[str]:
        number = self.name()[1:]
        return [f"{name}_{number}" for name in names]

    @contextmanager
    def counted(self, start: str, stop: str) -> Iterator[str]:
        """for i in range(start, stop)."""
        before, (head, body, end) = self.label, self._labels("head", "body", "end")
        self.do(f"br label %{head}")
        self.begin(head)
        place, i = len(self.lines), self.name()
        self.do(f"br i1 {self.count_compare('slt', i, stop)}, label %{body}, label %{end}")
        self.begin(body)
        yield i
        following = self.count_op("add", i, "1")
        self.do(f"br label %{head}")
        # the body may have ended in another basic block than it began in
        self.lines.insert(place, f"  {i} = phi i64 [ {start}, %{before} ], [ {following}, %{self.label} ]")
        self.begin(end)

    @contextmanager
    def forever(self) -> Iterator[Callable[[str], None]]:
        """while True, left by calling what is given with a condition."""
        head, end = self._labels("repeat", "after")
        self.do(f"br label %{head}")
        self.begin(head)

        def leave_if(condition: str) -> None:
            (on,) = self._labels("on")
            self.do(f"br i1 {condition}, label %{end}, label %{on}")
            self.begin(on)

        yield leave_if
        self.do(f"br label %{head}")
        self.begin(end)

    @contextmanager
    def when(self, condition: str) -> Iterator[None]:
        """if condition."""
        then, end = self._labels("then", "endif")
        self.do(f"br i1 {condition}, label %{then}, label %{end}")
        self.begin(then)
        yield
        self.do(f"br label %{end}")
        self.begin(end)


def as_float32(x: float) -> float:
    """The nearest single-precision number (LLVM writes it with the bits of a double); infinity beyond the range."""
    try:
        return struct.unpack(">f", struct.pack(">f", x))[0]
    except OverflowError:
        return float("inf") if x > 0 else float("-inf")
