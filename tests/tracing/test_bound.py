"""Calls tied to arrays, and machine code called from elsewhere, equal the kernel's own calls."""

import ctypes

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import tracing
from random_trees import ALL_KINDS, random_spacecraft, random_state

ROUNDING = 1e-13  # relative: the compiler pairs sums otherwise in scalar code


@pytest.fixture(scope="module")
def craft():
    return random_spacecraft(3, links=5, kinds=ALL_KINDS, base="free")


@pytest.fixture(scope="module")
def dynamics(craft):
    return tracing.compile(gs.forward_dynamics, craft)


def states(craft, count, seed=0):
    rng = np.random.default_rng(seed)
    q = np.array([random_state(craft, 100 * seed + k)[0] for k in range(count)])
    return q, rng.normal(size=(count, craft.nv)), rng.normal(size=(count, craft.nv))


def assert_close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=0, atol=ROUNDING * np.max(np.abs(expected)))


def test_a_bound_call_reads_the_arrays_as_they_stand(craft, dynamics):
    q, v, tau = (x[0].copy() for x in states(craft, 1))
    call = dynamics.bind(q, v, tau)
    first = call().copy()
    assert_close(first, dynamics(q, v, tau))
    q[:], v[:], tau[:] = (x[0] for x in states(craft, 1, seed=1))
    assert call() is call.out
    assert_close(call.out, dynamics(q, v, tau))
    assert np.max(np.abs(call.out - first)) > 1e-3


def test_a_bound_call_writes_to_the_array_given(craft, dynamics):
    q, v, tau = (x[0] for x in states(craft, 1))
    out = np.full(craft.nv, np.nan)
    assert dynamics.bind(q, v, tau, out=out)() is out
    assert_close(out, dynamics(q, v, tau))


def test_a_bound_batch_has_the_bits_of_the_plain_call(craft, dynamics):
    q, v, tau = states(craft, 13)
    call = dynamics.bind(q, v, tau[0])  # one load for all states
    expected = dynamics(q, v, tau[0])
    np.testing.assert_array_equal(call(), expected)
    v *= 0.5
    np.testing.assert_array_equal(call(), dynamics(q, v, tau[0]))


def test_nested_results_are_bound_as_they_are_nested(craft):
    def several(craft, q, v):
        return {"momentum": gs.momentum(craft, q, v), "energy": gs.kinetic_energy(craft, q, v)}

    kernel = tracing.compile(several, craft)
    q, v, _ = (x[0] for x in states(craft, 1))
    call, expected = kernel.bind(q, v), kernel(q, v)
    found = call()
    assert_close(found["momentum"], expected["momentum"])
    assert_close(found["energy"], expected["energy"])


def test_single_precision_is_bound_too(craft):
    kernel = tracing.compile(gs.mass_matrix, craft, dtype=np.float32)
    q = states(craft, 1)[0][0].astype(np.float32)
    expected = gs.mass_matrix(craft, q.astype(float))
    np.testing.assert_allclose(kernel.bind(q)(), expected, atol=1e-5 * np.max(np.abs(expected)))


def test_parameters_are_looked_at_in_each_call(craft):
    name = f"{craft.bodies[1].name}.mass"
    kernel = tracing.compile(gs.kinetic_energy, craft, parameters=[name])
    q, v, _ = (x[0] for x in states(craft, 1))
    mass = np.array(craft.value(name))
    call = kernel.bind(q, v, parameters={name: mass})
    assert_close(call(), gs.kinetic_energy(craft, q, v))
    mass[...] = 2.0 * mass
    assert_close(call(), gs.kinetic_energy(craft.with_values({name: float(mass)}), q, v))
    mass[...] = -1.0
    with pytest.raises(ValueError, match="mass"):
        call()
    with pytest.raises(ValueError, match="parameters"):
        kernel.entry()


def test_what_cannot_be_read_or_written_in_place_is_refused(craft, dynamics):
    q, v, tau = (x[0] for x in states(craft, 1))
    with pytest.raises(TypeError, match=r"'v' is list.*C-contiguous"):
        dynamics.bind(q, list(v), tau)
    with pytest.raises(TypeError, match=r"'v' is ndarray float32"):
        dynamics.bind(q, v.astype(np.float32), tau)
    with pytest.raises(TypeError, match=r"'v' is ndarray float64, not C-contiguous"):
        dynamics.bind(q, np.repeat(v, 2)[::2], tau)
    with pytest.raises(ValueError, match=r"'v' has shape"):
        dynamics.bind(q, v[:-1].copy(), tau)
    with pytest.raises(ValueError, match=r"shares memory with 'tau'"):
        dynamics.bind(q, v, tau, out=tau)
    with pytest.raises(ValueError, match=r"batch shape \(1,\)"):
        dynamics.bind(np.tile(q, (3, 1)), v[None], tau)
    with pytest.raises(ValueError, match=r"^out: "):
        dynamics.bind(q, v, tau, out=np.zeros(craft.nv + 1))


def test_machine_code_can_be_called_by_its_address(craft, dynamics):
    entry = dynamics.entry()
    assert entry.signature.startswith("void forward_dynamics(const double *q, const double *v, const double *tau, ")
    q, v, tau = (x[0] for x in states(craft, 1))
    out, work = np.zeros(craft.nv), np.zeros(entry.work)
    count = entry.signature.count("*")
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * count)(entry.address)
    function(*(x.ctypes.data for x in (q, v, tau, out, work)))
    np.testing.assert_array_equal(out, dynamics.bind(q, v, tau)())
