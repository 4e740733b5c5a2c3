"""C that gyrostat wrote, compiled and called."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gyrostat.tracing.graph import Graph

COMPILERS = [name for name in ("gcc", "clang", "cc") if shutil.which(name)][:2]
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Wconversion", "-ffp-contract=off"]
needs_compiler = pytest.mark.skipif(not COMPILERS, reason="no C compiler here")


def library(files: Any, folder: Path, compiler: str | None = None, flags: tuple[str, ...] = ("-O1",)) -> ctypes.CDLL:
    """All its sources but the test, as a shared library."""
    sources = [path for path in files.write(folder) if path.suffix == ".c" and not path.stem.endswith("_test")]
    compiler = compiler or COMPILERS[0]
    out = folder / f"{sources[0].stem}-{compiler}{''.join(flags)}.so"
    command = [compiler, *STRICT, *flags, "-shared", "-fPIC", *map(str, sources), "-lm", "-o", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:3000]
    return ctypes.CDLL(str(out))


def call(function: Any, graph: Graph, values: list[np.ndarray], dtype: Any = np.float64) -> list[np.ndarray]:
    """The outputs of one call."""
    number = ctypes.c_double if dtype == np.float64 else ctypes.c_float
    function.restype = None
    arguments: list[Any] = []
    kept = []
    for port, value in zip(graph.inputs, values, strict=True):
        if port.shape == ():
            arguments.append(number(float(value)))
        else:
            kept.append(np.ascontiguousarray(value, dtype=dtype))
            arguments.append(kept[-1].ctypes.data_as(ctypes.c_void_p))
    outputs = [np.zeros(port.shape, dtype=dtype) for port in graph.outputs]
    arguments += [output.ctypes.data_as(ctypes.c_void_p) for output in outputs]
    function(*arguments)
    return outputs
