"""Compiled functions equal the NumPy functions, wherever a state sits in a batch, on any number of threads."""

import os
import pickle
import platform
import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import algebra, tracing
from gyrostat.algebra import sin, where
from gyrostat.tracing import kernel as kernels
from gyrostat.tracing import machine
from gyrostat.tracing.build import build
from gyrostat.tracing.ir import Code
from random_trees import ALL_KINDS, random_spacecraft, random_state

TOLERANCE = 1e-12  # relative: a few hundred roundings in another order


@pytest.fixture(scope="module")
def craft():
    return random_spacecraft(5, links=5, kinds=("revolute", "spherical", "prismatic"), base="free")


@pytest.fixture(scope="module")
def dynamics(craft):
    return tracing.compile(gs.forward_dynamics, craft)


def batch_of_states(craft, count, seed=0):
    q = np.array([random_state(craft, 1000 * seed + k)[0] for k in range(min(count, 20))])
    rng = np.random.default_rng(seed)
    return q[rng.integers(len(q), size=count)], rng.normal(size=(count, craft.nv)), rng.normal(size=(count, craft.nv))


def assert_close(found, expected):
    np.testing.assert_allclose(
        found, expected, rtol=TOLERANCE, atol=TOLERANCE * (np.abs(expected).max(initial=0.0) + 1e-300)
    )


FUNCTIONS = {
    "forward_dynamics": {},
    "inverse_dynamics": {},
    "mass_matrix": {},
    "coriolis_matrix": {},
    "reaction_wrenches": {},
    "forward_kinematics": {},
    "momentum": {},
    "kinetic_energy": {},
    "center_of_mass": {},
    "regressor": {},
    "step_configuration": {},
    "configuration_rate": {},
    "jacobian": {"static": {"frame": "tool", "point": (0.1, 0.2, 0.3)}},
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("seed", range(4))
def test_compiled_equals_numpy_on_random_trees(name, seed):
    craft = random_spacecraft(seed, kinds=ALL_KINDS)
    function = getattr(gs.formulations.recursive, name, None) or getattr(gs.kinematics, name)
    options = FUNCTIONS[name]
    kernel = tracing.compile(function, craft, **options)
    q, v = random_state(craft, seed)
    values = {"q": q, "v": v, "vdot": v[::-1].copy(), "tau": 3 * v, "dv": 0.5 * v}
    arguments = {port.name: values[port.name] for port in kernel.graph.inputs}
    found = kernel(**arguments)
    expected = function(craft, **arguments, **options.get("static", {}))
    for f, e in zip(*(x if isinstance(x, tuple) else (x,) for x in (found, expected)), strict=True):
        assert_close(f, np.asarray(e, dtype=float))
    for f, e in zip(kernel.graph.evaluate(**arguments), found if isinstance(found, tuple) else (found,), strict=True):
        assert_close(f, e)


def test_the_same_bits_wherever_a_state_sits(craft, dynamics):
    q, v, tau = batch_of_states(craft, 37)
    together = dynamics(q, v, tau)
    for k in (0, 1, 7, 8, 31, 36):
        assert np.array_equal(dynamics(q[k], v[k], tau[k]), together[k])
    order = np.random.default_rng(1).permutation(37)
    assert np.array_equal(dynamics(q[order], v[order], tau[order]), together[order])
    assert np.array_equal(dynamics(q[5:], v[5:], tau[5:]), together[5:])


def test_the_same_bits_on_any_number_of_threads(craft):
    q, v, tau = batch_of_states(craft, 5003)
    kernels = [tracing.compile(gs.forward_dynamics, craft, threads=n) for n in (1, 2, 3, None)]
    results = [kernel(q, v, tau) for kernel in kernels]
    for other in results[1:]:
        assert np.array_equal(other, results[0])


@pytest.mark.parametrize("poison", [np.nan, np.inf, 1e300])
def test_nan_and_infinity_stay_in_their_lane(craft, dynamics, poison):
    q, v, tau = batch_of_states(craft, 24)
    clean = dynamics(q, v, tau)
    q[10, 7], v[3], tau[21] = poison, poison, poison
    dirty = dynamics(q, v, tau)
    others = np.delete(np.arange(24), [10, 3, 21])
    assert np.array_equal(dirty[others], clean[others])
    if not np.isfinite(poison):
        assert not np.isfinite(dirty[[3, 21]]).all(axis=1).any()


def test_batch_shapes_broadcast(craft, dynamics):
    q, v, tau = batch_of_states(craft, 12)
    expected = dynamics(q, v, np.tile(tau[0], (12, 1)))
    assert np.array_equal(dynamics(q, v, tau[0]), expected)
    assert np.array_equal(dynamics(q, v, tau[:1]), expected)
    assert np.array_equal(dynamics(q.reshape(3, 4, -1), v.reshape(3, 4, -1), tau[0]), expected.reshape(3, 4, -1))
    grid = dynamics(q[:3, None], v[None, :4], tau[0])
    assert grid.shape == (3, 4, craft.nv)
    assert np.array_equal(grid[2, 3], dynamics(q[2], v[3], tau[0]))
    assert dynamics(q[:0], v[:0], tau[:0]).shape == (0, craft.nv)


def test_views_lists_and_other_dtypes(craft, dynamics):
    q, v, tau = batch_of_states(craft, 12)
    expected = dynamics(q, v, tau)
    states = np.concatenate([q, v, tau], axis=1)
    views = np.split(states, np.cumsum([craft.nq, craft.nv]), axis=1)
    assert np.array_equal(dynamics(*views), expected)
    assert np.array_equal(dynamics(q[::2], v[::2], tau[::2]), expected[::2])
    assert np.array_equal(dynamics(q[::-1], v[::-1], tau[::-1]), expected[::-1])
    assert np.array_equal(dynamics(np.asfortranarray(q), v, tau), expected)
    assert np.array_equal(dynamics(q[0].tolist(), v[0], tau[0]), expected[0])
    zero = dynamics(q[0], np.zeros(craft.nv, dtype=int), tau[0])
    assert np.array_equal(zero, dynamics(q[0], np.zeros(craft.nv), tau[0]))


def test_out(craft, dynamics):
    q, v, tau = batch_of_states(craft, 12)
    expected = dynamics(q, v, tau)
    out = np.full_like(expected, np.nan)
    assert dynamics(q, v, tau, out=out) is out
    assert np.array_equal(out, expected)
    one = np.empty(craft.nv)
    assert np.array_equal(dynamics(q[3], v[3], tau[3], out=one), expected[3])
    assert np.array_equal(dynamics(q, v, tau, out=v), expected)  # an input may be overwritten
    with pytest.raises(ValueError, match="Expected a writable"):
        dynamics(q, v, tau, out=np.empty((12, craft.nv + 1)))
    with pytest.raises(ValueError, match="float64"):
        dynamics(q, v, tau, out=np.empty((12, craft.nv), dtype=np.float32))


def test_arrays_laid_out_by_lane(craft, dynamics):
    q, v, tau = batch_of_states(craft, 21)
    expected = dynamics(q, v, tau)
    by_lane = [dynamics.to_lanes(x, x.shape[1:]) for x in (q, v, tau)]
    assert by_lane[0].shape == (-(-21 // dynamics.lanes), craft.nq, dynamics.lanes)
    assert np.array_equal(dynamics.from_lanes(dynamics(*by_lane, layout="lanes"), 21), expected)
    out = np.empty((len(by_lane[0]), craft.nv, dynamics.lanes))
    assert dynamics(by_lane[0], by_lane[1], tau[0], layout="lanes", out=out) is out
    assert np.array_equal(dynamics.from_lanes(out, 21), dynamics(q, v, tau[0]))
    with pytest.raises(ValueError, match="to_lanes"):
        dynamics(q, v, tau, layout="lanes")
    with pytest.raises(ValueError, match="'rows' or 'lanes'"):
        dynamics(q, v, tau, layout="columns")


def test_wrong_calls_say_what_is_wrong(craft, dynamics):
    q, v, tau = batch_of_states(craft, 4)
    with pytest.raises(ValueError, match=rf"'v' has shape \(4, {craft.nq}\). Expected \(..., {craft.nv}\)"):
        dynamics(q, q, tau)
    with pytest.raises(ValueError, match="batch shapes do not fit"):
        dynamics(q, v[:3], tau)
    with pytest.raises(TypeError, match="misses 'tau'"):
        dynamics(q, v)
    with pytest.raises(TypeError, match="takes 3 arguments"):
        dynamics(q, v, tau, tau)
    with pytest.raises(TypeError, match="both by position and by name"):
        dynamics(q, v, tau, v=v)
    with pytest.raises(TypeError, match="has no input speed"):
        dynamics(q, v, tau, speed=1)
    with pytest.raises(TypeError, match="complex128"):
        dynamics(q * 1j, v, tau)
    with pytest.raises(TypeError, match="cannot be named 'out'"):
        tracing.compile(lambda out: out, None, inputs={"out": ()})
    with pytest.raises(TypeError, match="float64 or float32"):
        tracing.compile(gs.forward_dynamics, craft, dtype=np.int32)


def test_single_precision(craft):
    kernel = tracing.compile(gs.mass_matrix, craft, dtype=np.float32)
    q = batch_of_states(craft, 9)[0]
    found = kernel(q)
    assert found.dtype == np.float32
    expected = np.array([gs.mass_matrix(craft, x) for x in q])
    np.testing.assert_allclose(found, expected, atol=3e-5 * np.abs(expected).max())
    assert np.array_equal(kernel(q[4].astype(np.float32)), found[4])


def test_parameters_are_inputs(craft):
    names = ["body_2.mass", "base.inertia", "body_3.com"]
    kernel = tracing.compile(gs.forward_dynamics, craft, parameters=names)
    q, v, tau = batch_of_states(craft, 6)
    rng = np.random.default_rng(3)
    values = {name: np.asarray(craft.value(name)) for name in names}
    dispersed = {name: x * rng.uniform(0.9, 1.1, size=(6, *x.shape)) for name, x in values.items()}
    found = kernel(q, v, tau, parameters=dispersed)
    for k in range(6):
        other = craft.with_values({name: x[k] for name, x in dispersed.items()})
        assert_close(found[k], gs.forward_dynamics(other, q[k], v[k], tau[k]))
    nominal = kernel(q, v, tau, parameters=values)
    assert_close(nominal, np.array([gs.forward_dynamics(craft, *x) for x in zip(q, v, tau, strict=True)]))
    with pytest.raises(TypeError, match=r"misses 'parameters/base.inertia'"):
        kernel(q, v, tau, parameters={"body_2.mass": 1.0})


def test_optional_and_nested_inputs(craft):
    q, v, tau = (x[0] for x in batch_of_states(craft, 1))
    wrenches = np.random.default_rng(2).normal(size=(craft.nbodies, 6))
    kernel = tracing.compile(gs.forward_dynamics, craft, inputs={"wrenches": None})
    assert_close(kernel(q, v, tau, wrenches), gs.forward_dynamics(craft, q, v, tau, wrenches=wrenches))
    joint = next(j for j in craft.joints if j.nv == 1)
    kernel = tracing.compile(gs.hybrid_dynamics, craft, inputs={"prescribed": {joint.name: (1,)}})
    found = kernel(q, v, tau, prescribed={joint.name: [0.3]})
    expected = gs.hybrid_dynamics(craft, q, v, tau, prescribed={joint.name: [0.3]})
    assert type(found) is type(expected)
    assert_close(found.vdot, expected.vdot)
    assert_close(found.tau, expected.tau)


class Both(NamedTuple):
    power: object
    parts: dict


def test_nested_outputs_and_user_functions(craft):
    def law(craft, t, q, v, gain):
        tau = -gain * v + sin(t)
        return Both(tau @ v, {"tau": tau, "pair": [q[:2], 1.5], "none": None})

    kernel = tracing.compile(law, craft, inputs={"gain": ()})
    q, v, _ = batch_of_states(craft, 5)
    found = kernel(np.arange(5.0), q, v, 2.0)
    assert isinstance(found, Both) and found.parts["none"] is None
    assert found.power.shape == (5,) and found.parts["tau"].shape == (5, craft.nv)
    assert np.array_equal(found.parts["pair"][1], np.full(5, 1.5))
    single = kernel(3.0, q[3], v[3], 2.0)
    assert single.power == found.power[3] and isinstance(single.power, float)
    assert_close(found.power[3], law(craft, 3.0, q[3], v[3], 2.0).power)


def test_several_spacecraft(craft):
    chaser = random_spacecraft(8, links=3, kinds=("revolute",), base="free")

    def relative(chaser, target, q_C, v_C, q_T, v_T):
        return gs.momentum(chaser, q_C, v_C) - gs.momentum(target, q_T, v_T)

    shapes = {"q_C": chaser.nq, "v_C": (chaser.nv,), "q_T": craft.nq, "v_T": (craft.nv,)}
    name = f"{craft.name}/base.mass"
    kernel = tracing.compile(relative, (chaser, craft), inputs=shapes, parameters=[name])
    q_C, v_C = random_state(chaser, 1)
    q_T, v_T = random_state(craft, 2)
    heavier = craft.with_values({"base.mass": 99.0})
    assert_close(kernel(q_C, v_C, q_T, v_T, parameters={name: 99.0}), relative(chaser, heavier, q_C, v_C, q_T, v_T))
    with pytest.raises(ValueError, match="no spacecraft is named"):
        tracing.compile(relative, (chaser, craft), inputs=shapes, parameters=["nobody/base.mass"])


def test_kernels_can_be_pickled(craft, dynamics):
    q, v, tau = batch_of_states(craft, 5)
    again = pickle.loads(pickle.dumps(dynamics))
    assert np.array_equal(again(q, v, tau), dynamics(q, v, tau))


def test_long_graphs_are_cut(craft, monkeypatch):
    """The same results with values, conditions among them, handed from function to function."""

    def law(craft, q, v, tau):
        near = v[0] < 0.1
        return where(near & (v[1] > 0), 1.0, 2.0) * gs.forward_dynamics(craft, q, v, tau)

    whole = tracing.Kernel(tracing.trace(law, craft))
    monkeypatch.setattr(Code, "whole", 50)
    monkeypatch.setattr(Code, "part", 50)
    monkeypatch.setenv("GYROSTAT_CACHE", "off")
    cut = tracing.Kernel(tracing.trace(law, craft))
    q, v, tau = batch_of_states(craft, 20)
    assert_close(cut(q, v, tau), whole(q, v, tau))
    for k in (0, 19):
        assert_close(cut(q[k], v[k], tau[k]), law(craft, q[k], v[k], tau[k]))


def test_functions_without_inputs_or_operations():
    assert tracing.compile(lambda: np.array([1.0, 2.0]), None)().tolist() == [1.0, 2.0]
    same = tracing.compile(lambda x: x, None, inputs={"x": (3,)})
    assert np.array_equal(same(np.arange(6.0).reshape(2, 3)), np.arange(6.0).reshape(2, 3))


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="names of x86 processors")
@pytest.mark.parametrize(("name", "features", "lanes"), [("x86-64-v3", "+avx2,+fma", 4), ("x86-64", "+sse2", 2)])
def test_narrower_vectors(craft, dynamics, monkeypatch, name, features, lanes):
    """Code for older processors runs here too."""
    monkeypatch.setattr(machine, "host", lambda: (name, features))

    def law(craft, q, v, tau):
        noise = tracing.normal(3, 1, 2, 5) + tracing.interp(v[0], [0.0, 1.0, 2.0], [0.0, 1.0, 0.0])
        odd = algebra.exp(sin(1e6 * v[1])) + algebra.atan2(v[2], v[3]) + algebra.log(1 + v[4] * v[4]) + v[5] % 0.3
        return gs.forward_dynamics(craft, q, v, tau) + noise + odd + algebra.floor(v[0]) + algebra.minimum(v[1], v[2])

    q, v, tau = batch_of_states(craft, 11)
    for dtype, tolerance in ((np.float64, 1e-11), (np.float32, 2e-2)):
        kernel = tracing.compile(law, craft, dtype=dtype)
        assert kernel.lanes == lanes * (8 // np.dtype(dtype).itemsize)
        if dtype is np.float32:
            kernel = tracing.compile(gs.inverse_dynamics, craft, dtype=dtype)
            expected = np.array([gs.inverse_dynamics(craft, *x) for x in zip(q, v, tau, strict=True)])
            tolerance = 1e-5
        else:
            expected = np.array([law(craft, *x) for x in zip(q, v, tau, strict=True)])
        np.testing.assert_allclose(kernel(q, v, tau), expected, atol=tolerance * np.abs(expected).max())


def test_memory_is_reused_only_when_nobody_holds_it():
    double = tracing.compile(lambda x: 2 * x, None, inputs={"x": ()})
    x = np.arange(300_000.0)
    kept = [double(x)[k::2] for k in range(3)]  # views keep their memory
    again = [double(x + k) for k in range(4)]
    del again[1]
    again.append(double(x - 7))
    for k, view in enumerate(kept):
        assert np.array_equal(view, 2 * x[k::2])
    assert (
        np.array_equal(again[-1], 2 * (x - 7))
        and np.array_equal(again[0], 2 * x)
        and np.array_equal(again[1], 2 * (x + 2))
    )
    addresses = {double(x).ctypes.data for _ in range(10)}
    assert len(addresses) <= 2


LEAK = """
import resource, sys
import gyrostat as gs
from gyrostat.tracing import machine, trace
from gyrostat.tracing.llvm import assembly

text, _ = assembly(trace(gs.forward_dynamics, gs.load("servicer")), 2, "double")

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)

codes = {machine.machine_code(text) for _ in range(6)}
before = peak()
codes |= {machine.machine_code(text) for _ in range(30)}
text = "define double @f(double %x) {\\n ret double %x\\n}\\n"
code = machine.machine_code(text)

def load(count):
    before = peak()
    for _ in range(count):
        machine.Library(code, ["f"])
    return (peak() - before) / count

each = (peak() - before) / 30
load(200)
print(len(codes), each, load(800))
"""


@pytest.mark.skipif(os.name == "nt", reason="asks POSIX how much memory is held")
def test_compiling_gives_its_memory_back():
    """100 MB for 1000 compilations are allowed; LLVM's passes held 0.65 MB each, what was loaded and is gone 8 kB."""
    done = subprocess.run([sys.executable, "-c", LEAK], capture_output=True, text=True, check=True)
    codes, compiled, loaded = done.stdout.split()
    assert codes == "1" and float(compiled) < 100e3 and float(loaded) < 2e3


def test_a_lazy_kernel_compiles_no_more_than_is_asked_for(craft, dynamics, monkeypatch):
    """For a compiled loop the graph alone; the loops over a batch when it is called, with the same bits. The address
    that a loop was given stays good.
    """
    built = []

    def counted(*args, loops=True):
        built.append(loops)
        return build(*args, loops=loops)

    monkeypatch.setattr(kernels, "build", counted)
    lazy = tracing.Kernel(dynamics.graph, lazy=True)
    assert built == []
    address = lazy.block_address
    assert built == [False] and lazy.work_numbers <= dynamics.work_numbers
    q, v, tau = batch_of_states(craft, 11)
    assert np.array_equal(lazy(q, v, tau), dynamics(q, v, tau))
    assert np.array_equal(lazy(q[0], v[0], tau[0]), dynamics(q[0], v[0], tau[0]))
    assert built == [False, True] and lazy.block_address == address
    again = pickle.loads(pickle.dumps(tracing.Kernel(dynamics.graph, lazy=True)))
    assert built == [False, True] and np.array_equal(again(q, v, tau), dynamics(q, v, tau))
