"""Blocks of a batch taken by threads from one counter, in machine code: no thread waits for Python in between.

    taking(record, next, entry, parts, few, end)

takes a part of what is left from where `next` stands up to `end`, at least `few` blocks, and calls `entry` (`rows` or
`lanes` of a kernel) with the thread's own record of them. Long pieces first, since memory is read ahead where it is
read in order; short ones at last, so that all end together. A thread that comes late takes fewer.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
from typing import Any

from . import cache, machine

_TEXT = """
define void @taking(ptr %record, ptr %next, ptr %entry, i64 %parts, i64 %few, i64 %end) nounwind {
start:
  %first_at = getelementptr i64, ptr %record, i64 1
  %last_at = getelementptr i64, ptr %record, i64 2
  br label %take
take:
  %first = load atomic i64, ptr %next monotonic, align 8
  %left = sub i64 %end, %first
  %some = icmp sgt i64 %left, 0
  br i1 %some, label %try, label %done
try:
  %part = sdiv i64 %left, %parts
  %small = icmp slt i64 %part, %few
  %wanted = select i1 %small, i64 %few, i64 %part
  %over = icmp slt i64 %left, %wanted
  %taken = select i1 %over, i64 %left, i64 %wanted
  %last = add i64 %first, %taken
  %answer = cmpxchg ptr %next, i64 %first, i64 %last monotonic monotonic
  %own = extractvalue { i64, i1 } %answer, 1
  br i1 %own, label %work, label %take
work:
  store i64 %first, ptr %first_at
  store i64 %last, ptr %last_at
  call void %entry(ptr %record)
  br label %take
done:
  ret void
}
"""


@functools.cache
def _compiled() -> tuple[Any, machine.Library]:
    key = hashlib.sha256(f"{_TEXT}\n{machine.identity()}".encode()).hexdigest()
    code = cache.load(key)
    if code is None:
        code = machine.machine_code(_TEXT)
        cache.store(key, code)
    library = machine.Library(code, ("taking",))
    kinds = [ctypes.c_void_p] * 3 + [ctypes.c_int64] * 3
    return ctypes.CFUNCTYPE(None, *kinds)(library.address("taking")), library


def taking() -> Any:
    """The function, to be called with addresses and numbers; it runs without the GIL."""
    return _compiled()[0]
