"""The card: CUDA modules in its memory, compiled by NVRTC and kept on disk; arrays there, and calls. All through CuPy.

`import gyrostat` needs none of it. A `Card` is found when it is first asked for, with a message where there is none.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import cache

INSTALL = "pip install 'gyrostat[cuda]' (CUDA 12), or pip install cupy-cuda13x (CUDA 13)"
OPTIONS = ("-std=c++17",)
ON_CARD = 2  # kDLCUDA of DLPack


class NoCardError(RuntimeError):
    """No CUDA card can be used here."""


@functools.cache
def card() -> Card:
    """That of this process: CuPy's present one."""
    try:
        import cupy
    except ImportError as error:
        raise ImportError(
            f"CuPy is not installed, and running on a CUDA card needs it: {INSTALL}.", name="cupy"
        ) from error
    try:
        found = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise NoCardError(
            f"CuPy {cupy.__version__} finds no CUDA card here ({error}). It needs an NVIDIA card, its driver, and the "
            f"CuPy of that driver's CUDA: {INSTALL}. On the CPU: leave target= or device= out."
        ) from error
    if not found:
        raise NoCardError(
            f"CuPy {cupy.__version__} finds no CUDA card here: look at CUDA_VISIBLE_DEVICES, or leave target= or "
            "device= out, to compute on the CPU."
        )
    return Card(cupy)


class Card:
    """xp: the array module whose arrays lie there."""

    def __init__(self, cupy: Any) -> None:
        self.xp = cupy
        self._modules: dict[str, Any] = {}

    @property
    def name(self) -> str:
        properties = self.xp.cuda.runtime.getDeviceProperties(self.xp.cuda.Device().id)
        return str(properties["name"].decode())

    def module(self, text: str) -> Any:
        """The kernels of a text: compiled at first, then found on disk, or in memory."""
        arch = f"sm_{self.xp.cuda.Device().compute_capability}"
        version = ".".join(map(str, self.xp.cuda.nvrtc.getVersion()))
        key = hashlib.sha256("\n".join(["cuda", arch, version, *OPTIONS, text]).encode()).hexdigest()
        if key not in self._modules:
            code = cache.load(key)
            if code is None:
                code = compiled(text, arch, self.xp.cuda.nvrtc)
                cache.store(key, code)
            self._modules[key] = self.xp.cuda.function.Module()
            self._modules[key].load(code)
        return self._modules[key]

    def launch(self, module: Any, name: str, threads: int, per_block: int, arguments: Sequence[Any]) -> None:
        """On the present stream. Integers are 64 bits wide."""
        given = tuple(np.int64(x) if isinstance(x, int) else x for x in arguments)
        module.get_function(name)((-(-threads // per_block),), (per_block,), given)

    def resident(self) -> int:
        """Threads of 255 registers that it holds at a time."""
        properties = self.xp.cuda.runtime.getDeviceProperties(self.xp.cuda.Device().id)
        return int(properties["multiProcessorCount"]) * (int(properties["regsPerMultiprocessor"]) // 256)

    def taken(self, x: Any, dtype: np.dtype) -> Any:
        """An array of any library there, copied only if it is elsewhere, or of another kind."""
        if not isinstance(x, self.xp.ndarray | np.ndarray) and hasattr(x, "__dlpack__"):
            on_card = x.__dlpack_device__()[0] == ON_CARD
            x = self.xp.from_dlpack(x) if on_card else np.from_dlpack(x)
        return self.xp.asarray(x, dtype=dtype)

    def given(self, y: Any, like: Any) -> Any:
        """In the library of `like`, and where that lies: on the host, or on the card."""
        library = type(like).__module__.partition(".")[0]
        if isinstance(like, self.xp.ndarray) and self.xp is not np:
            return y
        on_card = like.__dlpack_device__()[0] == ON_CARD
        found = y if on_card else self.host(y)
        if library == "torch":
            return importlib.import_module("torch").from_dlpack(found)
        if library in ("jax", "jaxlib"):
            import jax

            return jax.dlpack.from_dlpack(found) if on_card else jax.device_put(found, next(iter(like.devices())))
        return found

    def stream_of(self, like: Any) -> Any:
        """PyTorch has streams of its own; CuPy's present one serves the others."""
        if type(like).__module__.partition(".")[0] == "torch" and like.is_cuda:
            torch = importlib.import_module("torch")
            return self.xp.cuda.ExternalStream(torch.cuda.current_stream(like.device).cuda_stream)
        return contextlib.nullcontext()

    def array(self, x: Any) -> Any:
        """A copy there."""
        return self.xp.array(np.ascontiguousarray(x))

    def columns(self, x: Any) -> Any:
        """A copy of rows there, turned about, which the card does sooner."""
        return self.xp.ascontiguousarray(self.array(x).T)

    def rows(self, x: Any) -> Any:
        """Columns there as rows of the host."""
        return self.host(self.xp.ascontiguousarray(x.T))

    def host(self, x: Any) -> Any:
        return self.xp.asnumpy(x)


def compiled(text: str, arch: str, nvrtc: Any, options: Sequence[str] = ()) -> bytes:
    """Machine code of a card, by NVRTC, which needs no card to make it."""
    program = nvrtc.createProgram(text, "gyrostat.cu", (), ())
    try:
        nvrtc.compileProgram(program, (*OPTIONS, f"-arch={arch}", *options))
        return bytes(nvrtc.getCUBIN(program))
    except nvrtc.NVRTCError as error:
        raise RuntimeError(f"NVRTC refuses gyrostat's text: {nvrtc.getProgramLog(program)}") from error
    finally:
        nvrtc.destroyProgram(program)
