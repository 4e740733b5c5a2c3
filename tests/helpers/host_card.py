"""A card that is none: CUDA text compiled as C++ by g++, its threads run one after the other, arrays of NumPy.

The words that CUDA adds to C++ are defined in `SHIM`; nothing of the text is changed. What a thread computes is thus
what the card's would, but for the last digits where compilers contract products and sums differently.

GYROSTAT_REAL_CARD=1 puts a card that there is in its place.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gyrostat.tracing import cards

REAL = bool(os.environ.get("GYROSTAT_REAL_CARD"))
needs_gxx = pytest.mark.skipif(not REAL and shutil.which("g++") is None, reason="no g++ here")
no_card = pytest.mark.skipif(REAL, reason="changes the text, or compares bits that a card contracts otherwise")
FOLDER = Path(__file__).resolve().parents[2] / ".cache" / "host_card"

SHIM = r"""
#include <cmath>
#include <cstring>
using namespace std;
#define __device__
#define __global__
#define __constant__
#define __shared__ static
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(...)
#define __grid_constant__
static struct { unsigned x; } blockIdx, threadIdx, blockDim;
static inline long long __double_as_longlong(double x) { long long i; memcpy(&i, &x, 8); return i; }
static inline double __longlong_as_double(long long i) { double x; memcpy(&x, &i, 8); return x; }
static inline bool __all_sync(unsigned, bool x) { return x; }
static inline unsigned long long atomicAdd(unsigned long long* p, unsigned long long n) {
  unsigned long long before = *p; *p += n; return before;
}
"""
FLAGS = ("-std=c++17", "-O1", "-ffp-contract=off", "-fno-strict-aliasing", "-shared", "-fPIC", "-Wno-unknown-pragmas")


class HostCard(cards.Card):
    """As `Card`, but on the host."""

    def __init__(self) -> None:
        super().__init__(np)
        self.launches: list[str] = []
        self.texts: dict[str, Any] = {}  # with the libraries made of them

    @property
    def name(self) -> str:
        return "host"

    def module(self, text: str) -> Any:
        given, text = (
            text,
            SHIM + text + "".join(map(_launcher, re.findall(r'extern "C" __global__ void (.*?)\{', text, re.DOTALL))),
        )
        key = hashlib.sha256("\n".join([*FLAGS, text]).encode()).hexdigest()
        if key not in self._modules:
            FOLDER.mkdir(parents=True, exist_ok=True)
            source, library = FOLDER / f"{key}.cpp", FOLDER / f"{key}.so"
            if not library.exists():
                source.write_text(text)
                made = library.with_suffix(f".{id(self)}.part")
                command = ["g++", *FLAGS, str(source), "-o", str(made)]
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                assert done.returncode == 0, done.stderr[:3000]
                made.rename(library)
            self._modules[key] = ctypes.CDLL(str(library))
        self.texts[given] = self._modules[key]
        return self._modules[key]

    def launch(self, module: Any, name: str, threads: int, per_block: int, arguments: Any) -> None:
        self.launches.append(name)
        given = [ctypes.c_int64(x) if isinstance(x, int) else x.ctypes.data_as(ctypes.c_void_p) for x in arguments]
        launch = getattr(module, f"launch_{name}")
        launch.restype = None
        launch(ctypes.c_int(-(-threads // per_block)), ctypes.c_int(per_block), *given)

    def resident(self) -> int:
        return 6

    def stream_of(self, like: Any) -> Any:
        return contextlib.nullcontext()

    def host(self, x: Any) -> Any:
        return np.array(x)


class RealCard(cards.Card):
    """One that there is, which says what it did."""

    def __init__(self) -> None:
        import cupy

        super().__init__(cupy)
        self.launches: list[str] = []
        self.texts: dict[str, Any] = {}

    def module(self, text: str) -> Any:
        self.texts[text] = super().module(text)
        return self.texts[text]

    def launch(self, module: Any, name: str, threads: int, per_block: int, arguments: Any) -> None:
        self.launches.append(name)
        super().launch(module, name, threads, per_block, arguments)


def _launcher(head: str) -> str:
    """A function that calls a kernel for each thread of each block."""
    match = re.fullmatch(r"(?:__launch_bounds__\(\S+\) )?(\w+)\((.*)\)\s*", head.strip(), re.DOTALL)
    assert match is not None, head
    name, arguments = match.groups()
    names = [re.split(r"[\s*]", one)[-1] for one in arguments.split(",")]
    return (
        f'\nextern "C" void launch_{name}(int blocks, int threads, {arguments}) {{ blockDim.x = threads;\n'
        f"  for (int b = 0; b < blocks; b++) for (int k = 0; k < threads; k++) {{ blockIdx.x = b; threadIdx.x = k; "
        f"{name}({', '.join(names)}); }} }}\n"
    )


def put_in_place(monkeypatch: pytest.MonkeyPatch) -> HostCard | RealCard:
    """All that asks for a card gets this one."""
    found = RealCard() if REAL else HostCard()
    monkeypatch.setattr(cards, "card", lambda: found)
    return found
