"""Kernels called by other languages' means, and on files in place of memory."""

from __future__ import annotations

import cffi
import numpy as np
import pytest

import gyrostat as gs
from gyrostat import tracing
from random_trees import random_spacecraft, random_state


def energy_and_rates(craft, q, v, tau):
    return {"energy": gs.kinetic_energy(craft, q, v), "vdot": gs.forward_dynamics(craft, q, v, tau)}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_cffi_calls_an_entry_by_its_signature(dtype):
    """Several outputs, one of them a number; either precision."""
    craft = random_spacecraft(4)
    kernel = tracing.compile(energy_and_rates, craft, dtype=dtype)
    entry, ffi = kernel.entry(), cffi.FFI()
    function = ffi.cast("void (*)(" + entry.signature.split("(", 1)[1], entry.address)
    (q, v), tau = random_state(craft, 4), np.random.default_rng(4).normal(size=craft.nv)
    given = [np.asarray(x, dtype=dtype) for x in (q, v, tau)]
    out = [np.empty(port.shape, dtype=dtype) for port in kernel.graph.outputs]
    scalar = "double *" if dtype == np.float64 else "float *"
    work = np.empty(entry.work, dtype=dtype)
    function(*(ffi.cast(scalar, x.ctypes.data) for x in (*given, *out, work)))
    expected = kernel(*given)
    for port, found in zip(kernel.graph.outputs, out, strict=True):
        np.testing.assert_allclose(found, expected[port.name], rtol=1e-11 if dtype == np.float64 else 1e-3, atol=1e-5)


def test_batches_may_lie_in_files(tmp_path):
    """Read and written in place: the file of the results holds them, and the results are those of arrays."""
    craft, count = random_spacecraft(5), 1003
    kernel = tracing.compile(gs.forward_dynamics, craft)
    rng, (q, _) = np.random.default_rng(5), random_state(craft, 5)
    given = np.tile(q, (count, 1)), rng.normal(size=(count, craft.nv)), rng.normal(size=(count, craft.nv))
    files = []
    for k, x in enumerate((*given, np.zeros((count, craft.nv)))):
        files.append(np.memmap(tmp_path / f"{k}.bin", float, "w+", shape=x.shape))
        files[-1][:] = x
        files[-1].flush()
    *inputs, out = files
    assert kernel(*(np.memmap(x.filename, float, "r", shape=x.shape) for x in inputs), out=out) is out
    out.flush()
    stored = np.fromfile(tmp_path / "3.bin").reshape(out.shape)
    np.testing.assert_array_equal(stored, kernel(*given))
    pieces = [kernel(*(x[k : k + 100] for x in given)) for k in range(0, count, 100)]
    np.testing.assert_array_equal(stored, np.concatenate(pieces))
