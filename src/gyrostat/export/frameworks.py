"""Compiled functions as differentiable functions of JAX and of PyTorch: values, and both kinds of derivatives, by
our own kernels."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..algebra import Array
from ..tracing.graph import Port
from ..tracing.kernel import Kernel
from ..tracing.products import against, along
from ..tracing.tree import unflatten
from .extras import demand


class Derivatives:
    """A kernel and those of its derivatives, each compiled when first asked for. All take and give flat lists of
    arrays."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel, self.graph, self.dtype = kernel, kernel.graph, kernel.dtype

    @functools.cached_property
    def along(self) -> Kernel:
        return Kernel(along(self.graph), threads=self.kernel.threads, dtype=self.dtype)

    @functools.cached_property
    def against(self) -> Kernel:
        return Kernel(against(self.graph), threads=self.kernel.threads, dtype=self.dtype)

    def value(self, *arrays: Any) -> tuple[Array, ...]:
        return self.kernel.flat(arrays)

    def change(self, *arrays: Any) -> tuple[Array, ...]:
        return self.along.flat(arrays)

    def gradient(self, *arrays: Any) -> tuple[Array, ...]:
        return self.against.flat(arrays)

    def batch(self, shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
        """Leading axes of arguments of those shapes, taken together."""
        lead = []
        for port, shape in zip(self.graph.inputs, shapes, strict=True):
            at = len(shape) - len(port.shape)
            if at < 0 or tuple(shape[at:]) != port.shape:
                raise ValueError(
                    f"{self.graph.name}: '{port.name}' has shape {tuple(shape)}; expected (..., {port.shape})."
                )
            lead.append(tuple(shape[:at]))
        return tuple(np.broadcast_shapes(*lead))

    def nested(self, leaves: Sequence[Any]) -> Any:
        return unflatten(self.graph.structure, iter(leaves))


def to_jax(kernel: Kernel) -> Callable[..., Any]:
    """The compiled function as one of JAX: `jit`, `vmap`, `grad`, `jvp`, `jacfwd` and `jacrev` work; first derivatives
    are exact.

    Called like the kernel, with any leading batch axes. The work is done by our compiled code on the host, which XLA
    reaches by a callback (`jax.pure_callback`): nothing needs a C++ toolchain, and arrays on other devices are copied.
    A kernel of float64 needs `jax.config.update("jax_enable_x64", True)`.
    """
    jax = demand("jax", "jax", "JAX")
    jnp = jax.numpy
    own = Derivatives(kernel)

    def called(function: Callable[..., tuple[Array, ...]], ports: Sequence[Port], *arrays: Any) -> Any:
        batch = arrays[0].shape[: arrays[0].ndim - len(own.graph.inputs[0].shape)]
        wanted = tuple(jax.ShapeDtypeStruct(batch + port.shape, own.dtype) for port in ports)

        def host(*given: Any) -> tuple[Array, ...]:
            return function(*(np.asarray(x) for x in given))

        return jax.pure_callback(host, wanted, *arrays, vmap_method="broadcast_all")

    change = _linear(jax, own, called)

    @jax.custom_jvp
    def flat(*arrays: Any) -> Any:
        return called(own.value, own.graph.outputs, *arrays)

    @flat.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        return flat(*primals), tuple(change.bind(*primals, *tangents))

    def function(*args: Any, **named: Any) -> Any:
        values = [jnp.asarray(x, dtype=own.dtype) for x in kernel.in_order(args, named)]
        if values and values[0].dtype != own.dtype:
            raise TypeError(
                f"{own.graph.name} computes in {own.dtype}, and JAX gives it {values[0].dtype}. Call "
                f"jax.config.update('jax_enable_x64', True) first, or compile with dtype=np.float32."
            )
        batch = own.batch([x.shape for x in values])
        spread = [jnp.broadcast_to(x, batch + p.shape) for x, p in zip(values, own.graph.inputs, strict=True)]
        return own.nested(flat(*spread))

    function.__name__ = function.__qualname__ = own.graph.name
    return function


def _linear(jax: Any, own: Derivatives, called: Callable[..., Any]) -> Any:
    """The change of the outputs, as a primitive that is linear in the changes of the inputs: JAX can turn it round,
    and map it."""
    ad, batching, mlir = (demand(f"jax.interpreters.{name}", "jax", "JAX") for name in ("ad", "batching", "mlir"))
    outputs, inputs = own.graph.outputs, own.graph.inputs
    primitive = demand("jax.extend.core", "jax", "JAX").Primitive(f"change_of_{own.graph.name}")
    primitive.multiple_results = True

    def compute(*arrays: Any) -> Any:
        return called(own.change, outputs, *arrays)

    def shapes(*arrays: Any) -> Any:
        batch = arrays[0].shape[: len(arrays[0].shape) - len(inputs[0].shape)]
        return [jax.core.ShapedArray(batch + port.shape, own.dtype) for port in outputs]

    def turned(weights: Any, *arrays: Any) -> Any:
        at = arrays[: len(inputs)]
        weights = [ad.instantiate_zeros(w) for w in weights]
        return (*(None for _ in at), *called(own.gradient, inputs, *at, *weights))

    def mapped(arrays: Any, axes: Any) -> Any:
        size = next(x.shape[k] for x, k in zip(arrays, axes, strict=True) if k is not None)
        front = [
            jax.numpy.broadcast_to(x, (size, *x.shape)) if k is None else jax.numpy.moveaxis(x, k, 0)
            for x, k in zip(arrays, axes, strict=True)
        ]
        return primitive.bind(*front), [0] * len(outputs)

    primitive.def_impl(compute)
    primitive.def_abstract_eval(shapes)
    mlir.register_lowering(primitive, mlir.lower_fun(compute, multiple_results=True))
    ad.primitive_transposes[primitive] = turned
    batching.primitive_batchers[primitive] = mapped
    return primitive


def to_torch(kernel: Kernel) -> Callable[..., Any]:
    """The compiled function as one of PyTorch: backward, forward-mode derivatives and `torch.func.vmap` work; first
    derivatives are exact.

    Called like the kernel, with any leading batch axes. The work is done by our compiled code on the host; tensors on
    other devices are copied there and back.
    """
    torch = demand("torch", "torch", "PyTorch")
    own = Derivatives(kernel)
    call = _in_autograd(torch, own)

    def function(*args: Any, **named: Any) -> Any:
        wanted = torch.float64 if own.dtype == np.float64 else torch.float32
        values = [torch.as_tensor(x, dtype=wanted) for x in kernel.in_order(args, named)]
        batch = own.batch([tuple(x.shape) for x in values])
        spread = [x.expand(batch + p.shape) for x, p in zip(values, own.graph.inputs, strict=True)]
        return own.nested(call.apply(*spread))

    function.__name__ = function.__qualname__ = own.graph.name
    return function


def _in_autograd(torch: Any, own: Derivatives) -> Any:
    """The function and its derivatives, as PyTorch calls and maps them."""

    def run(function: Callable[..., tuple[Array, ...]], tensors: Sequence[Any]) -> tuple[Any, ...]:
        device = tensors[0].device if tensors else "cpu"
        arrays = [x.detach().cpu().numpy() for x in tensors]
        return tuple(torch.from_numpy(np.ascontiguousarray(y)).to(device) for y in function(*arrays))

    class Call(torch.autograd.Function):
        @staticmethod
        def forward(*tensors: Any) -> Any:
            return run(own.value, tensors)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx: Any, *weights: Any) -> Any:
            return Backward.apply(*ctx.saved_tensors, *weights)

        @staticmethod
        def jvp(ctx: Any, *changes: Any) -> Any:
            return run(own.change, (*ctx.saved_tensors, *changes))

        @staticmethod
        def vmap(info: Any, in_dims: Any, *tensors: Any) -> Any:
            return Call.apply(*_in_front(tensors, in_dims, info.batch_size)), (0,) * len(own.graph.outputs)

    class Backward(torch.autograd.Function):
        """The gradient, which can be mapped over a batch; it has no derivative of its own."""

        @staticmethod
        def forward(*tensors: Any) -> Any:
            return run(own.gradient, tensors)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            return

        @staticmethod
        def backward(ctx: Any, *weights: Any) -> Any:
            raise NotImplementedError(
                f"{own.graph.name}: second derivatives are not carried to PyTorch. Compile gs.jacobian_of(...) and "
                "differentiate that."
            )

        @staticmethod
        def vmap(info: Any, in_dims: Any, *tensors: Any) -> Any:
            return Backward.apply(*_in_front(tensors, in_dims, info.batch_size)), (0,) * len(own.graph.inputs)

    return Call


def _in_front(tensors: Sequence[Any], in_dims: Sequence[int | None], size: int) -> list[Any]:
    """The mapped axis first, in all of them."""
    return [
        x.expand(size, *x.shape) if axis is None else x.movedim(axis, 0)
        for x, axis in zip(tensors, in_dims, strict=True)
    ]
