"""LLVM assembly, written line by line: a function's body on vectors of `lanes` doubles or floats."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

FAST = "contract nsz arcp reassoc"  # NaN and infinity keep their meaning: never nnan, ninf or afn
EXACT = "contract"  # fused multiply-add, but no reordering


class Code:
    """The body of one function. Every method appends instructions and returns the name of the result."""

    def __init__(self, lanes: int, scalar: str = "double") -> None:
        self.lanes, self.scalar = lanes, scalar
        self.vector = f"<{lanes} x {scalar}>"
        self.integers = f"<{lanes} x i64>"
        self.mask = f"<{lanes} x i1>"
        self.suffix = f"v{lanes}f{64 if scalar == 'double' else 32}"
        self.lines: list[str] = []
        self.needs: dict[str, None] = {}  # library functions and intrinsics called, in order
        self.label = "entry"
        self._count = 0

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
        return "<" + ", ".join(f"{self.scalar} 0x{self._bits(x):016X}" for x in values) + ">"

    def _bits(self, x: float) -> int:
        return struct.unpack(">Q", struct.pack(">d", x if self.scalar == "double" else _as_float32(x)))[0]

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

    def bits(self, a: str) -> str:
        return self.let(f"bitcast {self.vector} {a} to {self.integers}")

    def from_bits(self, a: str) -> str:
        return self.let(f"bitcast {self.integers} {a} to {self.vector}")

    def to_integers(self, a: str) -> str:
        return self.let(f"fptosi {self.vector} {a} to {self.integers}")

    def from_integers(self, a: str) -> str:
        return self.let(f"sitofp {self.integers} {a} to {self.vector}")

    # memory

    def load(self, pointer: str, place: int | str) -> str:
        """Vector number `place` behind `pointer`."""
        address = self.let(f"getelementptr {self.vector}, ptr {pointer}, i64 {place}")
        return self.let(f"load {self.vector}, ptr {address}, align 8")

    def store(self, value: str, pointer: str, place: int | str) -> None:
        address = self.let(f"getelementptr {self.vector}, ptr {pointer}, i64 {place}")
        self.do(f"store {self.vector} {value}, ptr {address}, align 8")

    # control

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


def _as_float32(x: float) -> float:
    """The nearest single-precision number (LLVM writes it with the bits of a double); infinity beyond the range."""
    try:
        return struct.unpack(">f", struct.pack(">f", x))[0]
    except OverflowError:
        return float("inf") if x > 0 else float("-inf")
