"""The host: how wide its vectors are, and how assembly becomes machine code in memory."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import itertools
import os
from collections.abc import Sequence
from typing import Any

from .pool import held


@functools.cache
def _llvm() -> Any:
    """LLVM, imported and made ready at first use: `import gyrostat` stays quick and needs NumPy alone."""
    import llvmlite.binding as llvm

    with contextlib.suppress(RuntimeError):  # newer versions do this when they are imported
        llvm.initialize_native_target()
    with contextlib.suppress(RuntimeError):
        llvm.initialize_native_asmprinter()
    return llvm


@functools.cache
def host() -> tuple[str, str]:
    """CPU name and features as LLVM writes them; 512-bit vectors are used wherever the CPU has them."""
    features = _llvm().get_host_cpu_features().flatten()
    return _llvm().get_host_cpu_name(), features + ",-prefer-256-bit" if "+avx512f" in features.split(",") else features


def host_lanes(scalar: str) -> int:
    """How many numbers fill a vector register."""
    features = host()[1].split(",")
    doubles = 8 if "+avx512f" in features and "+avx512dq" in features else 4 if "+avx2" in features else 2
    return doubles if scalar == "double" else 2 * doubles


def identity() -> str:
    """What compiled code depends on besides its assembly."""
    import llvmlite

    llvm = _llvm()
    return "\n".join((*host(), llvm.get_process_triple(), llvmlite.__version__, str(llvm.llvm_version_info)))


def _c_library() -> Any:
    if os.name == "nt":
        return ctypes.CDLL("ucrtbase")
    process = ctypes.CDLL(None)
    return process if hasattr(process, "fmod") else ctypes.CDLL("libm.so.6")


def _target_machine() -> Any:
    llvm = _llvm()
    name, features = host()
    target = llvm.Target.from_triple(llvm.get_process_triple())
    return target.create_target_machine(cpu=name, features=features, opt=2, reloc="pic", codemodel="small")


@held()
def machine_code(assembly: str) -> bytes:
    """The object file of a module. Threads compile side by side: each in an LLVM context of its own.

    Signals are held: a handler that raises between two lines of llvmlite's lock would leave it taken for ever. What is
    made is closed here, each before what it stands on: the traceback of an exception keeps it, in any order.
    """
    llvm = _llvm()
    with contextlib.ExitStack() as made:

        def closed(x: Any) -> Any:
            return made.enter_context(contextlib.closing(x))

        machine, context = closed(_target_machine()), closed(llvm.create_context())
        module = closed(llvm.parse_assembly(assembly, context))
        module.verify()
        tuning = closed(llvm.create_pipeline_tuning_options(speed_level=2))
        tuning.slp_vectorization = tuning.loop_vectorization = tuning.loop_unrolling = False
        builder = closed(llvm.create_pass_builder(machine, tuning))
        passes = builder.getModulePassManager()
        try:
            unlocked("LLVMPY_RunNewModulePassManager")(passes, module, builder)
        finally:
            _free(passes)
        return _object(machine, module)


def unlocked(name: str) -> Any:
    """A function of LLVM without the lock that llvmlite puts around every call, for what shares a context; the long
    ones below work in one that nobody shares.
    """
    function = getattr(_llvm().ffi.lib, name)
    return getattr(function, "_cfn", function)


def _object(machine: Any, module: Any) -> bytes:
    """As `machine.emit_object(module)`."""
    ffi = _llvm().ffi
    with ffi.OutputString() as problem:
        buffer = unlocked("LLVMPY_TargetMachineEmitToMemory")(machine, module, 1, problem)
        if not buffer:
            raise RuntimeError(str(problem))
    try:
        return ctypes.string_at(ffi.lib.LLVMPY_GetBufferStart(buffer), ffi.lib.LLVMPY_GetBufferSize(buffer))
    finally:
        ffi.lib.LLVMPY_DisposeMemoryBuffer(buffer)


def _free(passes: Any) -> None:
    """Give back a pass manager with all that its passes hold.

    llvmlite leaves that undone (0.65 MB for the forward dynamics of a six-link arm): among the bases of its class, the
    empty `_dispose` of `ObjectRef` stands before the right one.
    `detach` keeps a version with another order from freeing it again.
    """
    dispose = getattr(_llvm().newpassmanagers.NewPassManager, "_dispose", None)
    if dispose is not None:
        dispose(passes)
        passes.detach()


@functools.lru_cache(maxsize=1)
def _linker(process: int, group: int) -> Any:
    """Loads object files: all sections of one in one piece of memory, so that they reach each other.

    Of each that is gone it keeps the name and some 8 kB; a linker of which all are gone gives everything back.
    """
    return _llvm().create_lljit_compiler(_target_machine(), use_jit_link=True)


_TOGETHER = 64  # libraries of a linker
_numbers = itertools.count()


class Library:
    """Machine code in memory; it stays there as long as this object."""

    @held()
    def __init__(self, code: bytes, names: Sequence[str]) -> None:
        builder = _llvm().JITLibraryBuilder().add_object_img(code)
        for name in names:
            builder.export_symbol(name)
        library = _c_library()
        for name in ("sin", "cos", "pow", "fmod"):
            builder.import_symbol(name, ctypes.cast(getattr(library, name), ctypes.c_void_p).value)
        number = next(_numbers)
        self._linker = _linker(os.getpid(), number // _TOGETHER)
        self._loaded = builder.link(self._linker, f"gyrostat{number}")

    def address(self, name: str) -> int:
        return self._loaded[name]
