"""CUDA C++, written line by line: a function's body for one thread, which is one lane.

What is the same for all targets is elsewhere (emission.py, functions.py, loop_functions.py, loops.py); this file spells
it. Numbers are `double` or `float`, conditions `bool`, integers `i64`; memory of a thread's own is an array of its own,
which the card lays out so that neighbouring threads touch neighbouring words.

What is known when the text is written (`known`: sizes, addresses, the names of functions) stands in it as a literal,
and branches that it decides are left out: a loop written once for all spacecraft becomes one for this spacecraft.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Self

from .ir import EXACT, Code, as_float32

_OPERATORS = {"fadd": "+", "fsub": "-", "fmul": "*", "fdiv": "/"}
_ORDER = {"olt": "<", "ole": "<=", "ogt": ">", "oge": ">=", "oeq": "==", "une": "!="}
_ORDER |= {"slt": "<", "sle": "<=", "sgt": ">", "sge": ">=", "eq": "==", "ne": "!="}
_WORDS = {"and": "&", "or": "|", "xor": "^", "add": "+", "sub": "-", "mul": "*", "udiv": "/", "urem": "%"}
_SHIFTS = {"shl": "<<", "lshr": ">>"}
_KINDS = {"ptr": "double*"}
_TRUTHS = {True: "true", False: "false"}

PREAMBLE = """#define gs_infinity (1.0 / 0.0)
#define gs_nan (0.0 / 0.0)
typedef long long i64;
typedef unsigned long long u64;
template <class T> static __device__ __forceinline__ T gs_minimum(T a, T b) {
  return a != a ? a : b != b ? b : b < a ? b : a;
}
template <class T> static __device__ __forceinline__ T gs_maximum(T a, T b) {
  return a != a ? a : b != b ? b : a < b ? b : a;
}
template <class T, int S> struct Strided {
  T* first;
  __device__ __forceinline__ T& operator[](i64 i) const { return first[i * S]; }
};
"""

_LOOKED_UP = "gs_c"  # begins the names of numbers in the card's constant memory
_MOST_LOOKED_UP = 6000  # of the 8192 that there is room for


def with_preamble(text: str) -> str:
    """The whole text of a module: what it is written with, the numbers that it looks up, and itself.

    An instruction reads a number from constant memory as it reads a register; written out, one that needs more than
    32 bits takes two instructions more. Numbers that would not all fit are written out.
    """
    names = sorted(set(re.findall(rf"\b{_LOOKED_UP}[0-9a-f]{{16}}\b", text)))
    values = {name: f"({_number(int(name.removeprefix(_LOOKED_UP), 16))!r})" for name in names}
    if len(names) > _MOST_LOOKED_UP:
        return PREAMBLE + re.sub(rf"\b{_LOOKED_UP}[0-9a-f]{{16}}\b", lambda match: values[match[0]], text)
    return PREAMBLE + "".join(f"static __constant__ double {name} = {x};\n" for name, x in values.items()) + text


def _bits(x: float) -> int:
    return int.from_bytes(struct.pack(">d", x), "big")


def _number(bits: int) -> float:
    return float(struct.unpack(">d", bits.to_bytes(8, "big"))[0])


class CudaCode(Code):
    """The body of one function. known: what stands at addresses ("ctx->words + 20"), as text."""

    part = 2400  # longer functions spill; shorter ones hand more from one to the next through memory

    def __init__(self, lanes: int = 1, scalar: str = "double", known: Mapping[str, str] | None = None) -> None:
        super().__init__(1, scalar)
        self.vector, self.integers, self.mask, self.suffix = scalar, "i64", "bool", "" if scalar == "double" else "f"
        self.known = dict(known or {})

    def fresh(self) -> Self:
        return type(self)(1, self.scalar, self.known)

    def name(self) -> str:
        self._count += 1
        return f"t{self._count}"

    def let(self, text: str, kind: str = "") -> str:
        result = self.name()
        self.lines.append(f"  {kind or self.scalar} const {result} = {text};")
        return result

    def do(self, text: str) -> None:
        self.lines.append(f"  {text};")

    # numbers

    def consts(self, values: Sequence[float]) -> str:
        (x,) = map(float, values)
        if math.isnan(x) or math.isinf(x):
            return "gs_nan" if math.isnan(x) else "gs_infinity" if x > 0 else "(-gs_infinity)"
        if self.scalar == "double" and (bits := _bits(x)) % 2**32:
            return f"{_LOOKED_UP}{bits:016x}"
        text = f"{x if self.scalar == 'double' else as_float32(x)!r}{self.suffix}"
        return f"({text})" if text.startswith("-") else text

    def op(self, op: str, a: str, b: str, flags: str = EXACT) -> str:
        return self.let(f"{a} {_OPERATORS[op]} {b}")

    def neg(self, a: str) -> str:
        return self.let(f"-{a}")

    def intrinsic(self, name: str, *args: str) -> str:
        spelt = f"gs_{name}" if name in ("minimum", "maximum") else f"{name}{self.suffix}"
        return self.let(f"{spelt}({', '.join(args)})")

    def call(self, name: str, *args: str) -> str:
        self.needs[name] = None
        return self.let(f"{name}({', '.join(args)})")

    def each_lane(self, name: str, *args: str) -> str:
        return self.let(f"{name}({', '.join(args)})")

    def widen(self, a: str) -> str:
        return self.let(f"(double){a}", "double")

    def narrow(self, a: str) -> str:
        return self.let(f"({self.scalar}){a}")

    # conditions

    def compare(self, how: str, a: str, b: str) -> str:
        return self.let(f"{a} != {a} || {b} != {b}" if how == "uno" else f"{a} {_ORDER[how]} {b}", "bool")

    def select(self, mask: str, a: str, b: str) -> str:
        return self.let(f"{mask} ? {a} : {b}")

    def logic(self, op: str, a: str, b: str) -> str:
        return self.let(f"{a} {_WORDS[op]} {b}", "bool")

    def invert(self, a: str) -> str:
        return self.let(f"!{a}", "bool")

    def truths(self, values: Sequence[bool]) -> str:
        return _TRUTHS[values[0]]

    # 64-bit integers of the lane

    def integer(self, k: int) -> str:
        return f"(i64){k}ULL" if k >= 2**63 else f"{k}LL" if k >= 0 else f"({k}LL)"

    def int_op(self, op: str, a: str, b: str | int) -> str:
        b = self.integer(b) if isinstance(b, int) else b
        if op in _SHIFTS or op in ("add", "sub", "mul"):  # those of signed integers may not overflow
            return self.let(f"(i64)((u64){a} {(_SHIFTS | _WORDS)[op]} (u64){b})", "i64")
        return self.let(f"{a} {'>>' if op == 'ashr' else _WORDS[op]} {b}", "i64")

    def compare_integers(self, how: str, a: str, b: str | int) -> str:
        return self.let(f"{a} {_ORDER[how]} {b}", "bool")

    def choose_integers(self, mask: str, a: str, b: str) -> str:
        return self.let(f"{mask} ? {a} : {b}", "i64")

    def bits(self, a: str) -> str:
        return self.let(f"__double_as_longlong({a})", "i64")

    def from_bits(self, a: str) -> str:
        return self.let(f"__longlong_as_double({a})")

    def to_integers(self, a: str) -> str:
        return self.let(f"(i64){a}", "i64")

    def from_integers(self, a: str) -> str:
        return self.let(f"({self.scalar}){a}")

    count_everywhere = from_integers

    # memory

    def place(self, pointer: str, number: int | str) -> str:
        return f"({pointer} + {number})"

    def load(self, pointer: str, number: int | str) -> str:
        return self.let(f"{pointer}[{number}]")

    def store(self, value: str, pointer: str, number: int | str) -> None:
        self.do(f"{pointer}[{number}] = {value}")

    def entries(self, table: str, places: str) -> str:
        return self.let(f"{table}[{places}]")

    def common_entry(self, table: str, place: str) -> str:
        return self.let(f"({self.scalar}){table}[(i64){place}]")

    def constant_table(self, name: str, values: Sequence[float]) -> str:
        double = type(self)()
        return f"static __device__ const double {name}[] = {{{', '.join(double.const(x) for x in values)}}};"

    # single values

    def any_lane(self, mask: str) -> str:
        return mask

    def mask_lane(self, mask: str, k: int) -> str:
        return mask

    def count_lanes(self, mask: str) -> str:
        return self.let(f"(i64){mask}", "i64")

    def one_or_zero(self, a: str) -> str:
        return self.count_lanes(a)

    def not_true(self, a: str) -> str:
        return _TRUTHS[a == "false"] if a in ("true", "false") else self.let(f"!{a}", "bool")

    def both_true(self, a: str, b: str) -> str:
        if "false" in (a, b):
            return "false"
        return b if a == "true" else a if b == "true" else self.let(f"{a} && {b}", "bool")

    def choose(self, condition: str, a: str, b: str) -> str:
        return self.let(f"{condition} ? {a} : {b}", "i64")

    def count_op(self, op: str, a: str, b: str) -> str:
        if a.isdecimal() and b.isdecimal():
            x, y = int(a), int(b)
            return (
                str({"add": x + y, "sub": x - y, "mul": x * y}[op])
                if op != "udiv" and op != "urem"
                else str(x // y if op == "udiv" else x % y)
            )
        return self.let(f"{a} {_WORDS[op]} {b}", "i64")

    def count_compare(self, how: str, a: str, b: str) -> str:
        if a.isdecimal() and b.isdecimal():
            x, y = int(a), int(b)
            return _TRUTHS[{"eq": x == y, "slt": x < y, "sle": x <= y, "sgt": x > y, "sge": x >= y}[how]]
        return self.let(f"{a} {_ORDER[how]} {b}", "bool")

    def count_to_number(self, a: str) -> str:
        return self.let(f"(double){a}", "double")

    def number_to_count(self, a: str) -> str:
        return self.let(f"(i64){a}", "i64")

    def word(self, pointer: str, place: str) -> str:
        """An address as text, by which it is found among what is known: constants are added up."""
        pointer = "ctx->words" if pointer == "ctx" else pointer
        start, _, last = pointer.rpartition(" + ")
        if last.isdecimal() and place.isdecimal():
            pointer, place = start, str(int(last) + int(place))
        return pointer if place == "0" else f"{pointer} + {place}"

    def load_word(self, kind: str, address: str) -> str:
        if address in self.known:
            return self.known[address]
        kind = _KINDS.get(kind, kind)
        return self.let(f"*({kind}*)({address})", kind)

    def store_word(self, kind: str, value: str, address: str) -> None:
        self.do(f"*({_KINDS.get(kind, kind)}*)({address}) = {value}")

    def broadcast(self, number: str) -> str:
        return number

    def shuffle(self, vector: str, places: Sequence[int]) -> str:
        return vector

    # functions

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
        names = (*read, *written, *tables)
        kinds = ", ".join(f"class A{k}" for k in range(len(names)))
        typed = ", ".join(f"A{k} {n}" for k, n in enumerate(names))
        self._whole(f"template <{kinds}> static __device__ __forceinline__ void {name}({typed})")

    def elementary(self, name: str, arguments: Sequence[str], result: str, *, rare: bool) -> None:
        typed = ", ".join(f"double {a}" for a in arguments)
        self.do(f"return {result}")
        self._whole(f"static __device__ {'__noinline__ ' if rare else ''}double {name}({typed})")

    def _whole(self, head: str) -> None:
        """Make of these lines the whole function; it is declared by its first line."""
        self.head = f"{head};"
        self.lines = [f"{head} {{", *self._cells, *self.lines, "}"]

    def set_apart(self) -> None:
        """Called where it is used, instead of copied in: its values stay in registers of their own."""
        self.head, self.lines[0] = (x.replace("__forceinline__", "__noinline__", 1) for x in (self.head, self.lines[0]))

    def function(self, name: str, arguments: Sequence[str], returns_integer: bool) -> str:
        typed = ", ".join(_argument(a) for a in arguments)
        body = self.fresh()
        body.lines, body._cells = self.lines, self._cells
        body._whole(f"static __device__ __noinline__ {'i64' if returns_integer else 'void'} {name}({typed})")
        self.head = body.head
        return "\n".join(body.lines)

    def argument(self, name: str) -> str:
        return name

    def cell(self, kind: str) -> str:
        name = self.name()
        self._cells.append(f"  {kind} {name}[1];")
        return name

    def call_address(self, function: str, *pointers: str) -> None:
        self.do(f"{function}({', '.join(pointers)})")

    call_named = call_address

    def leave(self, value: str | None) -> None:
        self.do("return" if value is None else f"return {value}")

    # control

    @contextmanager
    def _block(self, head: str) -> Iterator[None]:
        self.lines.append(f"  {head} {{")
        yield
        self.lines.append("  }")

    def rarely(self, mask: str, usual: Sequence[str], rare: Callable[[], Sequence[str]]) -> list[str]:
        found = []
        for value in usual:
            found.append(self.name())
            self.lines.append(f"  {self.scalar} {found[-1]} = {value};")
        with self._block(f"if ({mask})"):
            for one, other in zip(found, rare(), strict=True):
                self.do(f"{one} = {other}")
        return found

    def repeat(self, start: str, stop: str, step: int, body: Callable[[str], None]) -> None:
        k = self.name()
        self.lines.append("  #pragma unroll 1")
        with self._block(f"for (i64 {k} = {start}; {k} < {stop}; {k} += {step})"):
            body(k)

    @contextmanager
    def counted(self, start: str, stop: str) -> Iterator[str]:
        if start.isdecimal() and stop.isdecimal() and int(stop) - int(start) <= 1:
            with self.when(_TRUTHS[int(start) < int(stop)]):
                yield start
            return
        i = self.name()
        with self._block(f"for (i64 {i} = {start}; {i} < {stop}; ++{i})"):
            yield i

    @contextmanager
    def forever(self) -> Iterator[Callable[[str], None]]:
        with self._block("while (true)"):
            yield lambda condition: self.do(f"if ({condition}) break")

    @contextmanager
    def when(self, condition: str) -> Iterator[None]:
        """What is known never to hold is left out."""
        before = len(self.lines)
        if condition in ("true", "false"):
            yield
            del self.lines[before if condition == "false" else len(self.lines) :]
            return
        with self._block(f"if ({condition})"):
            yield


def _argument(name: str) -> str:
    return f"i64 {name}" if name.startswith("n_") else f"Memory* {name}" if name == "ctx" else f"i64* {name}"
