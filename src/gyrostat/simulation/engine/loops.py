"""A small language for compiled loops on vectors of lanes, so that an integrator reads like its textbook.

`Function` builds one LLVM function; `Vector` and `Mask` are values in it, with Python's operators. Only fused multiply-add is
allowed to the compiler, no reordering: each lane computes the same bits whatever the others do.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import ir

DOUBLE, INT, BIT, POINTER = ir.DoubleType(), ir.IntType(64), ir.IntType(1), ir.PointerType()
_FLAGS = ("contract",)


class Vector:
    """One number per lane."""

    def __init__(self, function: Function, value: Any) -> None:
        self.f, self.value = function, value

    def _op(self, name: str, a: Any, b: Any) -> Vector:
        make = getattr(self.f.b, name)
        return Vector(self.f, make(self.f.vector(a).value, self.f.vector(b).value, flags=_FLAGS))

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
        return Mask(self.f, self.f.b.fcmp_ordered(how, self.value, self.f.vector(other).value))

    def __lt__(self, other: Any) -> Mask:
        return self._compare("<", other)

    def __le__(self, other: Any) -> Mask:
        return self._compare("<=", other)

    def __gt__(self, other: Any) -> Mask:
        return self._compare(">", other)

    def __ge__(self, other: Any) -> Mask:
        return self._compare(">=", other)

    def equals(self, other: Any) -> Mask:
        return self._compare("==", other)


class Mask:
    """One truth value per lane."""

    def __init__(self, function: Function, value: Any) -> None:
        self.f, self.value = function, value

    def __and__(self, other: Mask) -> Mask:
        return Mask(self.f, self.f.b.and_(self.value, other.value))

    def __or__(self, other: Mask) -> Mask:
        return Mask(self.f, self.f.b.or_(self.value, other.value))

    def __invert__(self) -> Mask:
        return Mask(self.f, self.f.b.not_(self.value))

    def where(self, a: Any, b: Any) -> Vector:
        return Vector(self.f, self.f.b.select(self.value, self.f.vector(a).value, self.f.vector(b).value))

    def any(self) -> Any:
        """A single truth value: does it hold in some lane?"""
        bits = ir.IntType(self.f.lanes)
        return self.f.b.icmp_unsigned("!=", self.f.b.bitcast(self.value, bits), bits(0))


class Block:
    """Vectors in memory, one after the other: `block[i]`, `block[i] = value`, i an int or a loop's counter."""

    def __init__(self, function: Function, pointer: Any) -> None:
        self.f, self.pointer = function, pointer

    def __getitem__(self, i: Any) -> Vector:
        load = self.f.b.load(self.address(i), typ=self.f.type)
        load.align = 8
        return Vector(self.f, load)

    def __setitem__(self, i: Any, value: Any) -> None:
        self.f.b.store(self.f.vector(value).value, self.address(i)).align = 8

    def address(self, i: Any) -> Any:
        return self.f.b.gep(self.pointer, [self.f.integer(i)], source_etype=self.f.type)

    def after(self, i: Any) -> Block:
        """The block that begins at vector i."""
        return Block(self.f, self.address(i))


class Function:
    """An LLVM function under construction, of pointers and 64-bit integers."""

    def __init__(self, module: ir.Module, name: str, lanes: int, arguments: list[str], *, returns: Any = None) -> None:
        self.module, self.lanes = module, lanes
        self.type = ir.VectorType(DOUBLE, lanes)
        kinds = [INT if a.startswith("n_") else POINTER for a in arguments]
        self.function = ir.Function(module, ir.FunctionType(returns or ir.VoidType(), kinds), name)
        self.function.attributes.add("nounwind")
        self.arguments = dict(zip(arguments, self.function.args, strict=True))
        self.b = ir.IRBuilder(self.function.append_basic_block("entry"))

    # ---- values

    def vector(self, x: Any) -> Vector:
        if isinstance(x, Vector):
            return x
        return Vector(self, ir.Constant(self.type, [float(x)] * self.lanes))

    def integer(self, i: Any) -> Any:
        return INT(i) if isinstance(i, int) else i

    def sum(self, weights: Any, blocks: Any, i: Any) -> Vector:
        """sum_j weights[j] blocks[j][i], zero weights left out."""
        total = None
        for w, block in zip(weights, blocks, strict=True):
            if w is not None and not (isinstance(w, float) and w == 0.0):
                term = block[i] * w
                total = term if total is None else total + term
        return self.vector(0.0) if total is None else total

    def _intrinsic(self, name: str, *args: Vector) -> Vector:
        full = f"llvm.{name}.v{self.lanes}f64"
        callee = self.module.globals.get(full) or ir.Function(
            self.module, ir.FunctionType(self.type, [self.type] * len(args)), full
        )
        return Vector(self, self.b.call(callee, [a.value for a in args]))

    def sqrt(self, x: Vector) -> Vector:
        return self._intrinsic("sqrt", x)

    def abs(self, x: Vector) -> Vector:
        return self._intrinsic("fabs", x)

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
        if n == 1:
            return x
        callee = self.module.globals.get("pow") or ir.Function(
            self.module, ir.FunctionType(DOUBLE, [DOUBLE] * 2), "pow"
        )
        value = x.value
        for k in range(self.lanes):
            one = self.b.call(callee, [self.b.extract_element(x.value, INT(k)), DOUBLE(1.0 / n)])
            value = self.b.insert_element(value, one, INT(k))
        return Vector(self, value)

    # ---- memory

    def block(self, name: str) -> Block:
        return Block(self, self.arguments[name])

    def pointer_at(self, table: str, place: int) -> Any:
        """The pointer stored in entry `place` of a table of 64-bit words."""
        return self.b.load(self.b.gep(self.arguments[table], [INT(place)], source_etype=INT), typ=POINTER)

    def integer_at(self, table: str, place: int) -> Any:
        return self.b.load(self.b.gep(self.arguments[table], [INT(place)], source_etype=INT), typ=INT)

    def number_at(self, pointer: Any, i: Any) -> Any:
        """The double number i behind a pointer, as a scalar."""
        return self.b.load(self.b.gep(pointer, [self.integer(i)], source_etype=DOUBLE), typ=DOUBLE)

    def broadcast(self, scalar: Any) -> Vector:
        value = self.b.insert_element(ir.Constant(self.type, ir.Undefined), scalar, INT(0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), self.lanes), [0] * self.lanes)
        return Vector(self, self.b.shuffle_vector(value, value, zeros))

    def shuffle(self, x: Vector, places: list[int]) -> Vector:
        """Lane k gets what stands in lane places[k]."""
        mask = ir.Constant(ir.VectorType(ir.IntType(32), self.lanes), places)
        return Vector(self, self.b.shuffle_vector(x.value, x.value, mask))

    def call(self, pointer: Any, *arguments: Any) -> None:
        """Call a function by its address."""
        kind = ir.FunctionType(ir.VoidType(), [POINTER] * len(arguments))
        self.b.call(_Callee(pointer, kind), list(arguments))

    def call_named(self, name: str, *arguments: Any) -> Any:
        return self.b.call(self.module.globals[name], list(arguments))

    # ---- control

    @contextmanager
    def loop(self, count: Any, start: Any = 0) -> Iterator[Any]:
        """for i in range(start, count)."""
        before, head = self.b.block, self.b.append_basic_block("head")
        body, end = self.b.append_basic_block("body"), self.b.append_basic_block("end")
        count = self.integer(count)
        self.b.branch(head)
        self.b.position_at_end(head)
        i = self.b.phi(INT)
        i.add_incoming(self.integer(start), before)
        self.b.cbranch(self.b.icmp_signed("<", i, count), body, end)
        self.b.position_at_end(body)
        yield i
        i.add_incoming(self.b.add(i, INT(1)), self.b.block)
        self.b.branch(head)
        self.b.position_at_end(end)

    @contextmanager
    def repeat(self) -> Iterator[Any]:
        """while True: leave it by `leave_if`."""
        head, end = self.b.append_basic_block("repeat"), self.b.append_basic_block("after")
        self.b.branch(head)
        self.b.position_at_end(head)

        def leave_if(condition: Any) -> None:
            on = self.b.append_basic_block("on")
            self.b.cbranch(condition, end, on)
            self.b.position_at_end(on)

        yield leave_if
        self.b.branch(head)
        self.b.position_at_end(end)

    def when(self, condition: Any) -> Any:
        """if condition: (a single truth value)."""
        return self.b.if_then(condition)

    def variable(self, value: Any) -> Any:
        """A vector that a loop may change: read and written as `cell[0]`."""
        cell = Block(self, self._alloca(self.type))
        cell[0] = value
        return cell

    def counter(self, value: Any) -> Any:
        """An integer that a loop may change, by its address; see `get` and `set`."""
        place = self._alloca(INT)
        self.b.store(self.integer(value), place)
        return place

    def get(self, place: Any) -> Any:
        return self.b.load(place, typ=INT)

    def set(self, place: Any, value: Any) -> None:
        self.b.store(self.integer(value), place)

    def _alloca(self, kind: Any) -> Any:
        with self.b.goto_entry_block():
            place = self.b.alloca(kind)
        place.type = POINTER  # llvmlite gives it a typed pointer still
        return place

    def end(self, value: Any = None) -> None:
        if value is None:
            self.b.ret_void()
        else:
            self.b.ret(self.integer(value))


class _Callee:
    """An address with a function type, as llvmlite's `call` wants it."""

    def __init__(self, value: Any, kind: ir.FunctionType) -> None:
        self._value, self.function_type, self.type = value, kind, value.type

    def get_reference(self) -> str:
        return self._value.get_reference()
