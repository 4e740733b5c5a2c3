"""Compiled functions inside JAX and PyTorch: values, gradients of both kinds, batches, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.export import to_jax, to_torch
from gyrostat.tracing.kernel import Kernel
from gyrostat.tracing.products import against, along
from gyrostat.tracing.recording import trace
from random_trees import random_spacecraft, random_state


def batch_of(craft, seed, count=5):
    rng = np.random.default_rng(seed)
    states = [random_state(craft, seed + k) for k in range(count)]
    q, v = (np.stack(x) for x in zip(*states, strict=True))
    return q, v, rng.normal(size=(count, craft.nv))


@pytest.mark.parametrize("seed", range(20))
def test_products_with_the_jacobian_in_both_directions(seed):
    craft = random_spacecraft(seed, links=3)
    graph = trace(gs.forward_dynamics, craft)
    q, v, tau = batch_of(craft, seed, 1)
    q, v, tau = q[0], v[0], tau[0]
    J = np.hstack(gs.jacobian_of(gs.forward_dynamics, ("q", "v", "tau"))(craft, q, v, tau))
    rng = np.random.default_rng(seed)
    changes = [rng.normal(size=x.shape) for x in (q, v, tau)]
    (found,) = Kernel(along(graph)).flat([q, v, tau, *changes])
    expected = J @ np.concatenate(changes)
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12 * np.abs(expected).max())
    weights = rng.normal(size=craft.nv)
    gradient = np.concatenate(Kernel(against(graph)).flat([q, v, tau, weights]))
    np.testing.assert_allclose(gradient, weights @ J, rtol=1e-11, atol=1e-12 * np.abs(weights @ J).max())


# ---- JAX


@pytest.fixture(scope="module")
def jax():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    return jax


@pytest.mark.parametrize("seed", range(20))
def test_jax_values_of_twenty_craft(seed, jax):
    craft = random_spacecraft(seed, links=3)
    kernel = gs.compile(gs.forward_dynamics, craft)
    function = jax.jit(to_jax(kernel))
    q, v, tau = batch_of(craft, seed)
    np.testing.assert_allclose(function(q[0], v[0], tau[0]), kernel(q[0], v[0], tau[0]), rtol=1e-12)
    np.testing.assert_allclose(function(q, v, tau[0]), kernel(q, v, tau[0]), rtol=1e-12)
    np.testing.assert_allclose(jax.vmap(function, in_axes=(0, 0, None))(q, v, tau[1]), kernel(q, v, tau[1]), rtol=1e-12)


def test_jax_grad_jvp_and_jacobians(jax):
    from jax.test_util import check_grads

    craft = random_spacecraft(4, links=3)
    q, v, tau = batch_of(craft, 4)
    function = to_jax(gs.compile(gs.forward_dynamics, craft))
    check_grads(function, (q[0], v[0], tau[0]), order=1, modes=("fwd", "rev"), eps=1e-6, atol=1e-5, rtol=1e-5)
    exact = gs.jacobian_of(gs.forward_dynamics, "v")(craft, q[0], v[0], tau[0])
    for mode in (jax.jacfwd, jax.jacrev):
        found = mode(function, argnums=1)(q[0], v[0], tau[0])
        np.testing.assert_allclose(found, exact, rtol=1e-10, atol=1e-11 * np.abs(exact).max())

    def cost(load):
        return (function(q, v, load) ** 2).sum()  # one load, many states: its gradient adds up

    found = jax.jit(jax.grad(cost))(tau[0])
    single = sum(jax.grad(lambda x, k=k: (function(q[k], v[k], x) ** 2).sum())(tau[0]) for k in range(len(q)))
    np.testing.assert_allclose(found, single, rtol=1e-11)
    rows = jax.vmap(jax.grad(lambda a, b, c: function(a, b, c).sum(), argnums=2))(q, v, tau)
    ones = np.ones(craft.nv)
    for k in range(len(q)):
        B = gs.jacobian_of(gs.forward_dynamics, "tau")(craft, q[k], v[k], tau[k])
        np.testing.assert_allclose(rows[k], ones @ B, rtol=1e-10, atol=1e-12 * np.abs(B).max())


def test_jax_parameters_and_several_outputs(jax):
    craft = random_spacecraft(6, links=2)
    kernel = gs.compile(gs.forward_kinematics, craft)
    q, v, _ = batch_of(craft, 6, 1)
    for found, expected in zip(to_jax(kernel)(q[0]), kernel(q[0]), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    name = f"{craft.bodies[1].name}.mass"
    energy = to_jax(gs.compile(gs.kinetic_energy, craft, parameters=[name]))
    slope = jax.grad(lambda m: energy(q[0], v[0], parameters={name: m}))(craft.value(name))
    assert float(slope) == pytest.approx(float(gs.jacobian_of(gs.kinetic_energy, name)(craft, q[0], v[0])), rel=1e-10)


def test_values_that_no_spacecraft_has_are_refused_however_a_kernel_is_called():
    craft = random_spacecraft(6, links=2)
    name = f"{craft.bodies[1].name}.mass"
    kernel = gs.compile(gs.kinetic_energy, craft, parameters=[name])
    q, v, _ = batch_of(craft, 6, 1)
    with pytest.raises(ValueError, match="mass is -1.0 kg"):
        kernel(q[0], v[0], parameters={name: -1.0})
    with pytest.raises(ValueError, match="mass is -1.0 kg"):
        kernel.flat(kernel.in_order((q[0], v[0]), {"parameters": {name: -1.0}}))


def test_jax_shapes_and_types_are_refused(jax):
    craft = random_spacecraft(1, links=2)
    function = to_jax(gs.compile(gs.mass_matrix, craft))
    with pytest.raises(ValueError, match="'q' has shape"):
        function(np.zeros(3))
    with pytest.raises(TypeError, match="misses 'q'"):
        function()
    jax.config.update("jax_enable_x64", False)
    try:
        with pytest.warns(UserWarning), pytest.raises(TypeError, match="jax_enable_x64"):
            function(gs.neutral(craft))
    finally:
        jax.config.update("jax_enable_x64", True)


# ---- PyTorch

ITS_OWN = pytest.mark.filterwarnings(
    "ignore:.*torch.jit.script:FutureWarning"
)  # when forward derivatives are first used


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch")


@ITS_OWN
@pytest.mark.parametrize("seed", range(20))
def test_torch_values_of_twenty_craft_and_gradcheck(seed, torch):
    craft = random_spacecraft(seed, links=2)
    kernel = gs.compile(gs.forward_dynamics, craft)
    function = to_torch(kernel)
    q, v, tau = (torch.tensor(x, requires_grad=True) for x in batch_of(craft, seed, 2))
    arrays = [x.detach().numpy() for x in (q, v, tau)]
    np.testing.assert_allclose(function(q, v, tau).detach(), kernel(*arrays), rtol=1e-12)
    scale = float(np.abs(kernel(*arrays)).max())
    assert torch.autograd.gradcheck(
        lambda *x: function(*x) / scale, (q, v, tau[0]), check_forward_ad=True, atol=1e-5, rtol=1e-4
    )


@ITS_OWN
def test_torch_vmap_and_second_derivatives(torch):
    craft = random_spacecraft(3, links=2)
    kernel = gs.compile(gs.forward_dynamics, craft)
    function = to_torch(kernel)
    q, v, tau = (torch.tensor(x) for x in batch_of(craft, 3, 4))
    mapped = torch.func.vmap(function, in_dims=(0, 0, None))(q, v, tau[0])
    np.testing.assert_allclose(mapped, kernel(q.numpy(), v.numpy(), tau[0].numpy()), rtol=1e-12)
    rows = torch.func.vmap(torch.func.grad(lambda a, b, c: function(a, b, c).sum(), argnums=2))(q, v, tau)
    for k in range(4):
        B = gs.jacobian_of(gs.forward_dynamics, "tau")(craft, *(x[k].numpy() for x in (q, v, tau)))
        np.testing.assert_allclose(rows[k], B.sum(axis=0), rtol=1e-10, atol=1e-12 * np.abs(B).max())
    load = tau[0].clone().requires_grad_()
    (slope,) = torch.autograd.grad((function(q[0], v[0], load) ** 2).sum(), load, create_graph=True)
    with pytest.raises(NotImplementedError, match="second derivatives are not carried to PyTorch"):
        torch.autograd.grad(slope.sum(), load)


# ---- where they are not installed


@pytest.mark.parametrize(("make", "module", "extra"), [(to_jax, "jax", "jax"), (to_torch, "torch", "torch")])
def test_without_the_framework_the_message_says_what_to_install(make, module, extra, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, module, None)
    craft = random_spacecraft(1, links=1)
    with pytest.raises(ImportError, match=rf"pip install 'gyrostat\[{extra}\]'"):
        make(gs.compile(gs.mass_matrix, craft))
