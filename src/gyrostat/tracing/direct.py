"""A kernel as a built-in function of Python: one state, read from NumPy's arrays by machine code.

    direct(inputs..., outputs...)    computes and gives the last output; None if an argument is not what it can read
    bound()                          calls `lanes` with one record, and gives one object

What a call costs otherwise is looking into arrays from Python, four times the arithmetic. The machine code looks
itself: at an object's type, at the value of a float (of Python's or NumPy's), and at an array's data, shape, kind and
flags, where the headers of Python and NumPy put them for all extension modules that are compiled against them.
`available` compares a few objects first; where anything lies elsewhere (other Pythons, builds without the GIL), kernels
do without.

Both functions run under the GIL and run nothing of Python's: one at a time.
"""

from __future__ import annotations

import ctypes
import functools
import struct
import sys
import sysconfig
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..algebra.elementary import Array
from . import memory
from .graph import Graph, Port
from .ir import Code
from .tree import LEAF, unflatten

_TYPE, _VALUE = 8, 16  # in an object: its type; in a float: its value
_DATA, _AXES, _SHAPE, _KIND, _FLAGS = 16, 24, 32, 56, 64  # in an array
_READABLE, _WRITABLE = 0x101, 0x501  # C-contiguous and aligned; and may be written
_FASTCALL, _NOARGS = 0x80, 0x04  # how a built-in function takes its arguments
_FACTS = (
    "array",
    "kind",
    "float",
    "float64",
    "none",
    "keep",
    "work",
)  # addresses that `direct` finds behind its own object

# ---- machine code


def direct_function(graph: Graph, scalar: str) -> Code:
    """`direct`: checks, then `rows` on a record of the arrays that were given."""
    code = Code(1, scalar)
    ports = [*graph.inputs, *graph.outputs]
    facts = _load(code, "ptr", "%self", _DATA)
    fact = {name: _load(code, "i64", facts, 8 * k) for k, name in enumerate(_FACTS)}
    keep, none = (code.let(f"inttoptr i64 {fact[name]} to ptr") for name in ("keep", "none"))
    record = code.let(f"alloca i64, i64 {4 + 2 * len(ports)}")
    for k, value in enumerate((fact["work"], "0", "1", "1")):
        _store(code, value, record, k)
    _go_on_if(code, code.let(f"icmp eq i64 %count, {len(ports)}"))
    last = ""
    for k, port in enumerate(ports):
        last = _load(code, "ptr", "%given", 8 * k)
        inside = k < len(graph.inputs)
        data = _data(code, last, port, fact, _READABLE if inside else _WRITABLE, inside and scalar == "double")
        _store(code, code.let(f"ptrtoint ptr {data} to i64"), record, 4 + 2 * k)
        _store(code, "0", record, 5 + 2 * k)
    code.do(f"call void @rows(ptr {record})")
    code.do(f"call void {keep}(ptr {last})")
    code.do(f"ret ptr {last}")
    code.begin("no")
    code.do(f"call void {keep}(ptr {none})")
    code.do(f"ret ptr {none}")
    head = "define ptr @direct(ptr %self, ptr %given, i64 %count) nounwind {"
    code.lines = [head, "entry:", *code.lines, "}"]
    return code


def bound_function(scalar: str) -> Code:
    """`bound`: `lanes` on the record, whose address stands behind its own object, with the object that it gives."""
    code = Code(1, scalar)
    facts = _load(code, "ptr", "%self", _DATA)
    record, given, keep = (_load(code, "ptr", facts, 8 * k) for k in range(3))
    code.do(f"call void @lanes(ptr {record})")
    code.do(f"call void {keep}(ptr {given})")
    head = "define ptr @bound(ptr %self, ptr %nothing) nounwind {"
    code.lines = [head, "entry:", *code.lines, f"  ret ptr {given}", "}"]
    return code


def _data(code: Code, thing: str, port: Port, fact: dict[str, str], flags: int, number: bool) -> str:
    """The address of an argument's numbers; a scalar may be a float (number)."""
    kind = _load(code, "i64", thing, _TYPE)
    start, joined = code.label, f"l{code.name()[1:]}"
    value = ""
    if port.shape == () and number:
        value = code.let(f"getelementptr i8, ptr {thing}, i64 {_VALUE}")
        array = f"l{code.name()[1:]}"
        floats = [code.let(f"icmp eq i64 {kind}, {fact[name]}") for name in ("float", "float64")]
        code.do(f"br i1 {code.let(f'or i1 {floats[0]}, {floats[1]}')}, label %{joined}, label %{array}")
        code.begin(array)
    _go_on_if(code, code.let(f"icmp eq i64 {kind}, {fact['array']}"))
    _go_on_if(code, code.let(f"icmp eq i64 {_load(code, 'i64', thing, _KIND)}, {fact['kind']}"))
    _go_on_if(code, code.let(f"icmp eq i32 {_load(code, 'i32', thing, _AXES)}, {len(port.shape)}"))
    found = code.let(f"and i32 {_load(code, 'i32', thing, _FLAGS)}, {flags}")
    _go_on_if(code, code.let(f"icmp eq i32 {found}, {flags}"))
    shape = _load(code, "ptr", thing, _SHAPE) if port.shape else ""
    for axis, size in enumerate(port.shape):
        _go_on_if(code, code.let(f"icmp eq i64 {_load(code, 'i64', shape, 8 * axis)}, {size}"))
    data = _load(code, "ptr", thing, _DATA)
    if not value:
        return data
    end = code.label
    code.do(f"br label %{joined}")
    code.begin(joined)
    return code.let(f"phi ptr [ {value}, %{start} ], [ {data}, %{end} ]")


def _go_on_if(code: Code, truth: str) -> None:
    label = f"l{code.name()[1:]}"
    code.do(f"br i1 {truth}, label %{label}, label %no")
    code.begin(label)


def _load(code: Code, kind: str, pointer: str, offset: int) -> str:
    place = code.let(f"getelementptr i8, ptr {pointer}, i64 {offset}")
    return code.let(f"load {kind}, ptr {place}, align 4")


def _store(code: Code, value: str, record: str, k: int) -> None:
    code.do(f"store i64 {value}, ptr {code.let(f'getelementptr i64, ptr {record}, i64 {k}')}, align 8")


# ---- in Python


class _Method(ctypes.Structure):
    """PyMethodDef."""

    _fields_ = (("name", ctypes.c_char_p), ("code", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p))


class Direct:
    """One state at a time, on arrays as they lie.

    alone: the result is one array, which `call(*inputs, fresh())` gives.
    """

    def __init__(self, graph: Graph, dtype: np.dtype, library: Any, work: int) -> None:
        self.structure, self.inputs, self.dtype = graph.structure, graph.inputs, dtype
        self._work = memory.aligned((work,), dtype)
        self._things = np.ndarray, dtype, float, np.float64, None
        facts = [*map(id, self._things), _keep_address(), memory.address(self._work)]
        self._facts, self._library = np.array(facts, dtype=np.int64), library
        self._method = _Method(b"direct", library.address("direct"), _FASTCALL, None)
        self.call = _built_in(self._method, self._facts)
        self.empty = [functools.partial(np.empty, port.shape, dtype) for port in graph.outputs]
        self.alone = graph.structure is LEAF and graph.outputs[0].shape != ()
        self.fresh: Callable[[], Any] = self.empty[0] if self.alone else tuple

    def several(self, args: Sequence[Any]) -> Any:
        """The results, nested, in new arrays; None where `call` gives none."""
        outputs = [empty() for empty in self.empty]
        if self.call(*args, *outputs) is None:
            return None
        if self.structure is LEAF:
            return outputs[0][()]
        return unflatten(self.structure, (y[()] for y in outputs))

    def in_one_piece(self, args: Sequence[Any]) -> Any:
        """The results for arrays that are right but for how they lie; None if there is more to say."""
        if len(args) != len(self.inputs):
            return None
        for x, port in zip(args, self.inputs):  # noqa: B905 (as many, and soon)
            if type(x) is not np.ndarray or x.shape != port.shape or x.dtype is not self.dtype:
                return None
        pieces = [x.copy() for x in args]
        return self.call(*pieces, self.fresh()) if self.alone else self.several(pieces)


def bound_call(library: Any, record: Array, given: Any) -> tuple[Callable[[], Any], Any]:
    """A built-in function that calls `lanes` with the record and gives that object; and what must live as long."""
    facts = np.array([memory.address(record), id(given), _keep_address()], dtype=np.int64)
    method = _Method(b"bound", library.address("bound"), _NOARGS, None)
    return _built_in(method, facts), (library, record, given, method)


@functools.cache
def available() -> bool:
    """Objects lie in memory as the machine code reads them."""
    if sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED") or sys.byteorder != "little":
        return False
    if struct.calcsize("P") != 8:
        return False
    for number in (0.1, np.float64(0.2)):
        value = ctypes.c_double.from_address(id(number) + _VALUE).value
        if _at(id(number) + _TYPE) != id(type(number)) or value != number:
            return False
    return all(_lies_as_expected(x) for x in (np.zeros((2, 3)), np.zeros((2, 3, 2), np.float32)[:, :, 0], np.zeros(())))


def _lies_as_expected(x: Array) -> bool:
    place, flags = id(x), ctypes.c_int32.from_address(id(x) + _FLAGS).value
    shape = _at(place + _SHAPE)
    return (
        _at(place + _TYPE) == id(np.ndarray)
        and _at(place + _DATA) == x.__array_interface__["data"][0]
        and ctypes.c_int32.from_address(place + _AXES).value == x.ndim
        and tuple(_at(shape + 8 * k) for k in range(x.ndim)) == x.shape
        and _at(place + _KIND) == id(x.dtype)
        and (flags & _WRITABLE == _WRITABLE) == x.flags.c_contiguous
    )


def _at(address: int) -> int:
    return ctypes.c_int64.from_address(address).value


def _keep_address() -> int:
    """Of Py_IncRef."""
    return ctypes.cast(ctypes.pythonapi.Py_IncRef, ctypes.c_void_p).value or 0


def _built_in(method: _Method, own: Any) -> Callable[..., Any]:
    """A built-in function of that method; `own` is its self. The method must live as long."""
    kind = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    made: Callable[..., Any] = kind(("PyCFunction_NewEx", ctypes.pythonapi))(ctypes.addressof(method), own, None)
    return made
