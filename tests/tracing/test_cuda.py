"""The text for CUDA computes what the LLVM kernel does: compiled as C++ here (helpers/host_card.py), and by NVRTC."""

from __future__ import annotations

import importlib
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import algebra, tracing
from gyrostat.tracing import cards
from gyrostat.tracing.cuda import CudaCode
from gyrostat.tracing.cuda_kernel import CudaKernel
from gyrostat.tracing.cuda_text import module_text
from host_card import needs_gxx, put_in_place
from random_trees import random_spacecraft, random_state

TIGHT = {"rtol": 1e-12, "atol": 1e-12}


@pytest.fixture
def host_card(monkeypatch):
    return put_in_place(monkeypatch)


def states(craft, count, seed):
    q, v = map(np.array, zip(*[random_state(craft, 1000 * seed + k) for k in range(count)], strict=True))
    return q, v, np.random.default_rng(seed).normal(size=(count, craft.nv))


def everything(x):
    """All operations, loops and tables, of four numbers."""
    a, b, c, d = x
    table, squares = np.linspace(-3.0, 3.0, 13), np.linspace(-3.0, 3.0, 13) ** 2
    loop = algebra.scan(lambda s, k: {"p": s["p"] * 0.9 + algebra.sin(s["r"] + k) * b, "r": s["r"] - 0.1 * s["p"]},
                        {"p": a, "r": c}, 7)  # fmt: skip
    return np.array([
        a + b, a - b, a * b, -a, 1.0 / b, algebra.sqrt(abs(c)), abs(a) ** b, algebra.sin(a), algebra.cos(a),
        algebra.sin(1e6 * d), algebra.cos(1e6 * d), algebra.atan2(a, b), algebra.exp(a), algebra.log(abs(b)), abs(c),
        algebra.minimum(a, b), algebra.maximum(a, b), algebra.sign(a), algebra.floor(3.0 * a), a % b, (-a) % 0.7,
        algebra.where((a < b) & ~(c <= d) | (a < 0.0), c, d), tracing.interp(a, table, squares),
        tracing.uniform(3, algebra.floor(1e3 * a), 2, 7), tracing.normal(5, algebra.floor(1e3 * b)),
        loop["p"], loop["r"],
    ])  # fmt: skip


@needs_gxx
def test_every_operation_is_that_of_the_llvm_kernel(host_card):
    graph = tracing.trace(everything, None, inputs={"x": (4,)})
    x = 2.0 * np.random.default_rng(1).normal(size=(300, 4))
    expected, found = tracing.Kernel(graph)(x), CudaKernel(graph)(x)
    np.testing.assert_allclose(found, expected, **TIGHT)
    uniform = 23  # random numbers are the same to the bit
    assert np.array_equal(found[:, uniform], expected[:, uniform])


@needs_gxx
def test_numbers_that_are_none_come_out_as_they_do_from_llvm(host_card):
    def f(x):
        a, b = x
        alone = [algebra.exp(a), algebra.log(a), algebra.sign(a)]
        both = [algebra.minimum(a, b), algebra.maximum(a, b), algebra.atan2(a, b), algebra.where(a < b, 1.0, 2.0)]
        return np.array([*alone, *both])

    graph = tracing.trace(f, None, inputs={"x": (2,)})
    special = [0.0, -0.0, 1.0, -2.0, np.inf, -np.inf, np.nan]
    x = np.array([(a, b) for a in special for b in special])
    np.testing.assert_array_equal(CudaKernel(graph)(x), tracing.Kernel(graph)(x))


@needs_gxx
@pytest.mark.parametrize("seed", [3, 8])
def test_dynamics_of_a_random_tree(host_card, seed):
    """Forward dynamics and mass matrix by name, of a branched tree, in rows and by lanes."""
    craft = random_spacecraft(seed)
    q, v, tau = states(craft, 70, seed)

    def f(craft, q, v, tau):
        return {"vdot": gs.forward_dynamics(craft, q, v, tau), "M": gs.mass_matrix(craft, q)}

    usual, card = gs.compile(f, craft), gs.compile(f, craft, target="cuda")
    expected, found = usual(q, v, tau), card(q, v, tau)
    blocks = card(*(card.to_lanes(x, x.shape[1:]) for x in (q, v)), tau[0], layout="lanes")
    again = usual(q, v, tau[0])
    for name in ("vdot", "M"):
        scale = np.abs(expected[name]).max()
        np.testing.assert_allclose(found[name], expected[name], rtol=0, atol=1e-12 * scale)
        rows = host_card.host(card.from_lanes(blocks[name], 70))
        np.testing.assert_allclose(rows, again[name], rtol=0, atol=1e-12 * scale)


@needs_gxx
def test_a_graph_cut_into_pieces(host_card, monkeypatch):
    craft = gs.load("servicer")
    q, v, tau = states(craft, 5, 4)
    expected = gs.compile(gs.forward_dynamics, craft)(q, v, tau)
    monkeypatch.setattr(CudaCode, "whole", 300)
    monkeypatch.setattr(CudaCode, "part", 300)
    cut = gs.compile(gs.forward_dynamics, craft, target="cuda")
    assert cut.text.count("part4(") > 1 and cut.text.count("__noinline__ void part") > 4
    np.testing.assert_allclose(cut(q, v, tau), expected, rtol=1e-11)


@needs_gxx
def test_derivatives_through_a_loop_backward(host_card):
    def end(x):
        return np.array([algebra.scan(lambda s, k: s + 0.1 * algebra.sin(s * x[1]) - 0.01 * k, x[0], 30)])

    slopes = tracing.jacobian_of(end, "x")
    graph = tracing.trace(slopes, None, inputs={"x": (2,)})
    x = np.random.default_rng(2).normal(size=(9, 2))
    np.testing.assert_allclose(CudaKernel(graph)(x), tracing.Kernel(graph)(x), **TIGHT)


@needs_gxx
def test_single_precision(host_card):
    craft = gs.load("servicer")
    q, v, tau = states(craft, 40, 5)
    card = gs.compile(gs.forward_dynamics, craft, target="cuda", dtype=np.float32)
    found, expected = card(q, v, tau), gs.compile(gs.forward_dynamics, craft)(q, v, tau)
    assert found.dtype == np.float32
    assert 1e-9 < np.abs(found - expected).max() / np.abs(expected).max() < 1e-4


@needs_gxx
def test_arrays_of_other_libraries_go_in_and_come_out(host_card):
    jax = pytest.importorskip("jax")
    jax.config.update("jax_default_device", jax.devices("cpu")[0])
    craft = gs.load("servicer")
    q, v, tau = states(craft, 6, 6)
    card = gs.compile(gs.forward_dynamics, craft, target="cuda", dtype=np.float32)
    found = card(*(jax.numpy.asarray(x, dtype="float32") for x in (q, v, tau)))
    assert isinstance(found, jax.Array) and found.shape == (6, craft.nv)
    np.testing.assert_array_equal(np.asarray(found), card(*(x.astype(np.float32) for x in (q, v, tau))))


@needs_gxx
def test_results_are_written_where_one_says(host_card):
    craft = gs.load("servicer")
    q, v, tau = states(craft, 6, 7)
    card = gs.compile(gs.forward_dynamics, craft, target="cuda")
    out = host_card.xp.full((6, craft.nv), np.nan)
    assert card(q, v, tau, out=out) is out
    np.testing.assert_array_equal(host_card.host(out), card(q, v, tau))
    with pytest.raises(ValueError, match=r"cupy.empty\(\(6, 12\)"):
        card(q, v, tau, out=host_card.xp.zeros((5, craft.nv)))
    with pytest.raises(ValueError, match="batch shapes do not fit"):
        card(q, v[:4], tau)
    with pytest.raises(ValueError, match="has shape"):
        card(q[:, :5], v, tau)
    assert card(q[:0], v[:0], tau[:0]).shape == (0, craft.nv)


@needs_gxx
def test_parameters_are_inputs_and_are_checked(host_card):
    craft = gs.load("servicer")
    name = f"{craft.bodies[2].name}.mass"
    q, v, tau = states(craft, 6, 8)
    masses = np.linspace(5.0, 9.0, 6)
    card = gs.compile(gs.forward_dynamics, craft, target="cuda", parameters=[name])
    found = card(q, v, tau, parameters={name: masses})
    expected = [
        gs.forward_dynamics(craft.with_values({name: m}), *row) for m, *row in zip(masses, q, v, tau, strict=True)
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    with pytest.raises(ValueError, match="mass"):
        card(q, v, tau, parameters={name: -masses})


def test_threads_are_the_cpus_and_targets_have_names():
    craft = gs.load("servicer")
    with pytest.raises(ValueError, match="threads= are those of the CPU"):
        gs.compile(gs.forward_dynamics, craft, target="cuda", threads=2)
    with pytest.raises(ValueError, match='expected "cpu" or "cuda"'):
        gs.compile(gs.forward_dynamics, craft, target="gpu")


@pytest.mark.skipif(importlib.util.find_spec("cupy") is not None, reason="CuPy is here")
def test_where_there_is_no_cupy_a_message_says_how_to_install_it():
    with pytest.raises(ImportError, match=r"CuPy is not installed.*pip install 'gyrostat\[cuda\]'"):
        gs.compile(gs.forward_dynamics, gs.load("servicer"), target="cuda")


@pytest.mark.skipif(importlib.util.find_spec("cupy") is None, reason="no CuPy")
def test_where_there_is_no_card_a_message_says_so():
    """In a process that sees none."""
    code = "from gyrostat.tracing import cards; cards.card()"
    env = os.environ | {"CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=False)
    assert "NoCardError" in done.stderr and "pip install" in done.stderr


def test_nvrtc_compiles_the_text():
    """For a Hopper card, where NVRTC is installed: it needs none to compile."""
    nvrtc = pytest.importorskip("cupy").cuda.nvrtc
    try:
        nvrtc.getVersion()
    except Exception as error:  # noqa: BLE001  (CuPy is here, its compiler is not)
        pytest.skip(f"no NVRTC: {error}")
    for graph in (
        tracing.trace(everything, None, inputs={"x": (4,)}),
        tracing.trace(gs.forward_dynamics, gs.load("servicer")),
    ):
        for scalar in ("double", "float"):
            assert cards.compiled(module_text(graph, scalar), "sm_90", nvrtc)[:4] == b"\x7fELF"


@needs_gxx
@pytest.mark.parametrize("case", ["forward dynamics", "closed loop", "campaign", "tumbling"])
def test_the_benchmark_of_a_card_runs_through(host_card, monkeypatch, case):
    """All but its clocks: a lease of a card is short."""
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[2] / "benchmarks"))
    gpu = importlib.import_module("gpu")
    found = gpu.measure(gpu.QUICK, case)
    (result,) = (value for name, value in found.items() if name.startswith(case))
    assert not {"failed", "skipped"} & result.keys(), result
