"""Independent modules are compiled at the same time."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import tracing
from gyrostat.simulation.engine import block, compiling, system_cache
from gyrostat.tracing import kernel as kernels
from gyrostat.tracing import machine, pool
from gyrostat.tracing.llvm import assembly
from random_trees import random_spacecraft

SLOW = ("LLVMPY_RunNewModulePassManager", "LLVMPY_TargetMachineEmitToMemory")


def modules(count):
    return [assembly(tracing.trace(lambda x, k=k: x**2 + k, None, inputs={"x": (2,)}), 2).text for k in range(count)]


@pytest.mark.parametrize("name", SLOW)
def test_threads_are_inside_llvm_at_once(name, monkeypatch):
    """Each waits for the other before the long call is made: a lock around it would keep them apart."""
    met, usual = threading.Barrier(2, timeout=60), machine.unlocked

    def unlocked(asked):
        function = usual(asked)
        if asked == name:
            met.wait()
        return function

    texts = modules(2)
    alone = [machine.machine_code(text) for text in texts]
    monkeypatch.setattr(machine, "unlocked", unlocked)
    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(machine.machine_code, texts)) == alone


def test_the_long_calls_need_no_lock_of_llvmlites():
    """They end while another thread holds it."""
    lock = machine._llvm().ffi.lib._lock
    for name in SLOW:
        function = machine.unlocked(name)
        assert not hasattr(function, "_lock")
        assert getattr(machine._llvm().ffi.lib, name)._lock is lock


def test_many_threads_compile_what_one_does():
    craft = random_spacecraft(2)
    graphs = [tracing.trace(f, craft) for f in (gs.forward_dynamics, gs.inverse_dynamics, gs.mass_matrix, gs.momentum)]
    texts = [assembly(graph, 4).text for graph in graphs] * 2
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(machine.machine_code, texts))
    assert found == [machine.machine_code(text) for text in texts]


def test_a_broken_module_is_an_error_and_the_next_one_compiles():
    with pytest.raises(RuntimeError, match="parsing error"):
        machine.machine_code("define void @block( {")
    assert machine.machine_code(modules(1)[0])


def test_together_raises_the_first_error_when_all_have_come_to_rest():
    done = []

    def fails():
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        pool.together([lambda: done.append(1), fails])
    pool.together([])
    pool.together([lambda: done.append(2)])
    assert done[-1] == 2


def test_a_run_that_is_compiled_side_by_side_is_the_same(monkeypatch):
    monkeypatch.setenv("GYROSTAT_CACHE", "off")
    craft, asked = random_spacecraft(5, links=3), []
    law = gs.Controller(lambda craft, t, q, v: -0.1 * v, period=0.05)

    def run(together):
        """All machine code made anew."""
        compiling._kernels.clear()
        system_cache._made.clear()
        block._library.cache_clear()
        monkeypatch.setattr(pool, "together", together)
        q, v = gs.neutral(craft), 0.01 * np.ones(craft.nv)
        return gs.simulate(craft, q, v, (0.0, 0.3), control=law, events=[lambda craft, t, q, v: v[0]])

    def counted(calls):
        asked.append(len(calls))
        usual(calls)

    usual = pool.together
    found = run(counted)
    assert max(asked) >= 3  # the loop, accelerations, and what is beside them
    again = run(lambda calls: [call() for call in calls])
    assert np.array_equal(found.v, again.v)


@pytest.mark.parametrize("taken", [10, 3_000, 10**9])
def test_who_takes_which_blocks_changes_no_bit(monkeypatch, taken):
    """One at a time, some, or all by whoever comes first; Ctrl-C is looked for between pieces."""
    craft, rng, seen = random_spacecraft(1), np.random.default_rng(1), []
    alone, shared = (tracing.compile(gs.forward_dynamics, craft, threads=n) for n in (1, 2))
    usual = pool.run
    monkeypatch.setattr(kernels, "_WORTH_A_THREAD", 10)
    monkeypatch.setattr(kernels, "_TAKEN", taken)
    monkeypatch.setattr(kernels, "_WORTH_A_LOOK", 10_000)
    monkeypatch.setattr(
        pool, "run", lambda share, shares, threads: (seen.append(shares), usual(share, shares, threads))
    )
    q, v = np.tile(gs.neutral(craft), (333, 1)), rng.normal(size=(333, craft.nv))
    assert np.array_equal(alone(q, v, v), shared(q, v, v))
    operations = 42 * len(alone.graph)
    assert seen == [operations // 10_000, 2 * (operations // 20_000)]
