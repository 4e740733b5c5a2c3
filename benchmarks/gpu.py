"""Figures of a CUDA card: functions, closed loops, campaigns, adaptive steps; values are checked first.

    PYTHONPATH=src python benchmarks/gpu.py [--quick]

Needs NumPy, CuPy and gyrostat's source only. Writes benchmarks/results/gpu.json after each case, so that a run that is
cut short leaves what it has; a case whose peer is not installed says so. Kernels are timed by events of the card. The
values are those of the CPU kernel (of the graph in NumPy, where there is no llvmlite), to 1e-12.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.util
import json
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from arms import arm, states
from jax_arm import functions as jax_functions

import gyrostat as gs
from gyrostat import tracing
from gyrostat.algebra import scan
from gyrostat.formulations import dual_quaternion, generalized_jacobian
from gyrostat.models import servicer
from gyrostat.simulation.engine.integrate import integrate
from gyrostat.simulation.engine.on_card import integrate_on_card
from gyrostat.simulation.prepare import Prepared, prepare
from gyrostat.simulation.problem.request import Request
from gyrostat.tracing import cards
from gyrostat.tracing.cuda_kernel import CudaKernel
from gyrostat.tracing.drivers import used_components

RESULTS = Path(__file__).parent / "results" / "gpu.json"
TOLERANCE = 1e-12
HAVE_LLVM = importlib.util.find_spec("llvmlite") is not None
MOVING = 25  # numbers in q and v of the servicer
KP = np.array([60.0, 90.0, 60.0, 3.0, 0.4, 0.1])
KD = np.array([400.0, 600.0, 300.0, 12.0, 1.2, 0.2])
Sizes = dict[str, int]
FULL: Sizes = {"states": 2**20, "runs": 2**18, "campaign": 1_000_000, "tumbling": 2**17, "steps": 10_000, "long": 2**16}
QUICK: Sizes = {"states": 256, "runs": 8, "campaign": 16, "tumbling": 4, "steps": 40, "long": 64}


# ---- measuring


class Watch:
    """Seconds that kernels take on the card: of each launch, by its events."""

    def __init__(self) -> None:
        self.card, self.seconds = cards.card(), 0.0
        self._launch = self.card.launch
        self.card.launch = self._timed  # type: ignore[method-assign]

    def _timed(self, *given: Any) -> None:
        self.seconds += self.of(lambda: self._launch(*given))

    def of(self, call: Callable[[], Any]) -> float:
        cuda = getattr(self.card.xp, "cuda", None)
        if cuda is None:  # a card that is none
            begun = time.perf_counter()
            call()
            return time.perf_counter() - begun
        start, stop = cuda.Event(), cuda.Event()
        start.record()
        call()
        stop.record()
        stop.synchronize()
        return float(cuda.get_elapsed_time(start, stop)) * 1e-3

    def median(self, call: Callable[[], Any], repeats: int = 7) -> float:
        call()
        return statistics.median(self._of_launches(call) for _ in range(repeats))

    def _of_launches(self, call: Callable[[], Any]) -> float:
        before = self.seconds
        call()
        return self.seconds - before


def checked(found: Any, expected: Any, what: str, tolerance: float = TOLERANCE) -> float:
    """The largest error, relative to the largest value; above the tolerance nothing is timed."""
    error = float(np.abs(found - expected).max() / np.abs(expected).max())
    if not error <= tolerance:
        raise AssertionError(f"{what}: values differ by {error:.1e} from the CPU's; expected {tolerance:.0e} at most")
    return error


def on_cpu(graph: tracing.Graph, inputs: list[Any]) -> tuple[Any, ...]:
    return tracing.Kernel(graph).flat(inputs) if HAVE_LLVM else graph.evaluate(*inputs)


def resources(kernel: CudaKernel, entry: str = "lanes") -> dict[str, int]:
    """Registers and bytes of local memory of a thread."""
    driver = getattr(getattr(cards.card().xp, "cuda", None), "driver", None)
    if driver is None:
        return {}
    pointer = kernel._module.get_function(entry).ptr
    return {
        "registers": int(driver.funcGetAttribute(4, pointer)),
        "local_bytes": int(driver.funcGetAttribute(3, pointer)),
    }


# ---- functions


def function_case(
    watch: Watch, function: Callable[..., Any], craft: gs.Spacecraft, count: int, dtypes: Any = (np.float64,)
) -> Any:
    """States per second, by lanes (a warp reads one piece) and in rows."""
    xp, graph = watch.card.xp, tracing.trace(function, craft)
    drawn = dict(zip(("q", "v", "tau"), states(craft, count), strict=True))
    inputs = [drawn[port.name] for port in graph.inputs]
    few = [x[:200] for x in inputs]
    expected = on_cpu(graph, few)
    moved = sum(map(len, used_components(graph))) + sum(port.size for port in graph.outputs)
    found: dict[str, Any] = {"operations": len(graph), "counts": graph.counts, "numbers moved": moved, "states": count}
    for dtype in dtypes:
        begun = time.perf_counter()
        kernel = CudaKernel(graph, dtype=dtype)
        compiling = time.perf_counter() - begun
        given = [xp.asarray(x, dtype=dtype) for x in inputs]
        results = kernel(*[x[:200] for x in given])
        flat = [results] if len(graph.outputs) == 1 else list(_leaves(results))
        bound = TOLERANCE if dtype == np.float64 else 1e-2
        error = max(checked(cards.card().host(y), e, graph.name, bound) for y, e in zip(flat, expected, strict=True))
        lanes = [kernel.to_lanes(x, port.shape) for x, port in zip(given, graph.inputs, strict=True)]
        rate = {
            layout: count / watch.median(lambda k=kernel, a=a, layout=layout: k(*a, layout=layout))
            for layout, a in (("lanes", lanes), ("rows", given))
        }
        size = np.dtype(dtype).itemsize
        found[np.dtype(dtype).name] = {
            "per_second": rate,
            "error": error,
            "seconds_to_compile": compiling,
            "bytes_per_second": rate["lanes"] * moved * size,
            **resources(kernel),
        }
    return found


def _leaves(value: Any) -> Any:
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, tuple | list) else [value]:
        yield from _leaves(one) if isinstance(one, dict | tuple | list) else [one]


def rollout_cost(craft: gs.Spacecraft, q: Any, v: Any, tau: Any) -> Any:
    """Of forty steps under a constant load: where the end stands from the start. Rates of some degrees per second, for
    which steps of 10 ms are short.
    """
    v = 0.1 * v

    def step(x: Any, k: Any) -> Any:
        w = x["v"] + 0.01 * gs.forward_dynamics(craft, x["q"], x["v"], tau)
        return {"q": gs.step_configuration(craft, x["q"], 0.01 * w), "v": w}

    end = scan(step, {"q": q, "v": v}, 40)
    return np.array([np.sum((end["q"][7:] - q[7:]) ** 2) + np.sum(end["v"] ** 2)])


# ---- runs


def law(craft: gs.Spacecraft, t: Any, q: Any, v: Any) -> Any:
    return np.concatenate([np.zeros(6), -KP * q[7:] - KD * v[6:]])


def prepared(count: int, end: float, rate: float = 0.1, **options: Any) -> Prepared:
    """Runs of the servicer from random states of its joints, all of them stable at 10 ms. rate: of joints, rad/s."""
    craft, rng = servicer(), np.random.default_rng(1)
    q, v = np.tile(gs.neutral(craft), (count, 1)), np.zeros((count, craft.nv))
    q[:, 7:] += rng.uniform(-0.7, 0.7, size=(count, 6))  # bounded: 10 ms are too long for this law on a folded arm
    v[:, 6:] += rate * rng.normal(size=(count, 6))
    return prepare(Request(craft=craft, q0=q, v0=v, t_span=(0.0, end), save_at=[end], device="cuda", **options))


def went(p: Prepared) -> Any:
    return integrate_on_card(p.system, p.plan, p.state, p.constants)


def moving(outcome: Any) -> Any:
    """q and v where the runs end."""
    return outcome.state.y[:, :MOVING]


def by_hand(p: Prepared, steps: int, h: float) -> Any:
    """The classical method, in NumPy, on the graph of the right-hand side."""
    graph, n, x = p.system.rhs.graph, p.system.n, None
    x = np.hstack([p.state.t[:, None], p.state.y, p.state.held, p.constants])

    def f(t: float, y: Any) -> Any:
        x[:, 0], x[:, 1 : 1 + n] = t, y
        return graph.evaluate(x)[0]

    y = p.state.y.copy()
    for k in range(steps):
        t = k * h
        k1 = f(t, y)
        k2 = f(t + 0.5 * h, y + 0.5 * h * k1)
        k3 = f(t + 0.5 * h, y + 0.5 * h * k2)
        k4 = f(t + h, y + h * k3)
        y = y + h * (k1 / 6 + k2 / 3 + k3 / 3 + k4 / 6)
    return y


def closed_loop(watch: Watch, sizes: Sizes) -> Any:
    """RK4 at 10 ms under joint PD, in registers."""
    fixed = {"control": law, "integrator": "rk4", "step": 0.01}
    short = prepared(64, 0.2, **fixed)
    error = checked(moving(went(short)), by_hand(short, 20, 0.01)[:, :MOVING], "closed loop")
    runs, steps = sizes["runs"], sizes["steps"] // 10
    p = prepared(runs, steps * 0.01, **fixed)
    seconds = watch.median(lambda: went(p), 3)
    return {"runs": runs, "steps": steps, "steps_per_second": runs * steps / seconds, "error after 20 steps": error}


def dispersed(count: int, end: float, begin: int = 0) -> Prepared:
    """Masses of all links, each its own; what is asked of a run is reduced on the card."""
    rng = np.random.default_rng(2 + begin)
    masses = {b.name: b.mass * (1.0 + 0.05 * rng.normal(size=count)) for b in servicer().bodies[1:]}
    outcomes = {
        "largest rate": gs.outcomes.largest(lambda craft, t, q, v: v[6] * v[6]),
        "effort": gs.outcomes.integral(lambda craft, t, q, v: q[7] * q[7]),
    }
    parameters = {f"{name}.mass": m for name, m in masses.items()}
    return prepared(count, end, control=law, integrator="rk4", step=0.01, parameters=parameters, outcomes=outcomes)


def campaign(watch: Watch, sizes: Sizes) -> Any:
    """End to end: dispersions drawn, runs made ready, integrated, reduced, and their outcomes on the host."""
    end = sizes["steps"] * 0.01
    few = dispersed(32, min(0.2, end))
    steps = round(float(few.plan.stops[-1]) / 0.01)
    error = checked(moving(went(few)), by_hand(few, steps, 0.01)[:, :MOVING], "campaign")
    begun, before = time.perf_counter(), watch.seconds
    p = dispersed(sizes["campaign"], end)
    ready = time.perf_counter() - begun
    outcome = went(p)
    total, kernels = time.perf_counter() - begun, watch.seconds - before
    found = {"runs": sizes["campaign"], "seconds": total, "seconds of it preparing": ready, "kernels": kernels}
    found |= {"steps_per_second": float(outcome.state.steps.sum()) / kernels, "error after 20 steps": error}
    if HAVE_LLVM:
        many = dispersed(min(10_000, sizes["campaign"]), end)
        card, cpu = went(many), integrate(many.system, many.plan, many.state, many.constants)
        found["card against CPU"] = float(np.abs(moving(card) - moving(cpu)).max())
    return found


def tumbling(watch: Watch, sizes: Sizes, rate: float) -> Any:
    """DOP853 at rtol 1e-9: arms that tumble for 50 s without a law. rate: of joints at first, rad/s."""
    options = {"integrator": "dop853", "rtol": 1e-9, "atol": 1e-12, "rate": rate}
    sharper = options | {"rtol": 1e-12, "atol": 1e-14}
    few, sharp = prepared(64, 0.5 / rate, **options), prepared(64, 0.5 / rate, **sharper)
    apart = checked(moving(went(few)), moving(went(sharp)), "tumbling arms at two tolerances", 1e-6)
    p = prepared(sizes["tumbling"], 50.0, **options)
    begun, before = time.perf_counter(), watch.seconds
    outcome = went(p)
    kernels = watch.seconds - before
    attempts = outcome.state.steps + outcome.state.rejections
    found = {"runs": sizes["tumbling"], "runs_per_second": sizes["tumbling"] / kernels, "between tolerances": apart}
    found |= {"rhs_per_second": 12.0 * float(attempts.sum()) / kernels, "seconds": time.perf_counter() - begun}
    found |= {"steps": {"mean": float(attempts.mean()), "most": float(attempts.max())}}
    if HAVE_LLVM:
        integrate(few.system, few.plan, few.state, few.constants)  # compiled
        some = prepared(max(1, sizes["tumbling"] // 32), 50.0, **options)
        begun = time.perf_counter()
        integrate(some.system, some.plan, some.state, some.constants)
        found["CPU runs_per_second"] = len(some.state.t) / (time.perf_counter() - begun)
        found["CPU cores"] = tracing.kernel.pool.cores()
    return found


# ---- peers and ceilings


def against_jax(watch: Watch, sizes: Sizes) -> Any:
    """The same arm, vmapped, on the same card."""
    import jax

    if jax.default_backend() != "gpu":
        return {"skipped": f"JAX runs on {jax.default_backend()} here"}
    jax.config.update("jax_enable_x64", True)
    craft, count = arm(6), sizes["states"]
    rng = np.random.default_rng(3)
    inputs = [rng.normal(size=(count, n)) for n in (craft.nq, craft.nv, craft.nv)]
    theirs = jax.jit(jax.vmap(jax_functions(craft)["forward_dynamics"]))
    given = [jax.device_put(x) for x in inputs]
    result = np.asarray(theirs(*given))[:200]
    ours = gs.compile(gs.forward_dynamics, craft, target="cuda")
    lanes = [ours.to_lanes(x, x.shape[1:]) for x in inputs]
    error = checked(cards.card().host(ours(*[x[:200] for x in inputs])), result, "JAX", 1e-9)
    times = []
    for _ in range(5):
        begun = time.perf_counter()
        theirs(*given).block_until_ready()
        times.append(time.perf_counter() - begun)
    jax_rate, rate = count / statistics.median(times), count / watch.median(lambda: ours(*lanes, layout="lanes"))
    return {
        "jax_per_second": jax_rate,
        "per_second": rate,
        "ratio": rate / jax_rate,
        "error": error,
        "jax": jax.__version__,
    }


def against_mjx(watch: Watch, sizes: Sizes) -> Any:
    """MJX's accelerations of the same arm, vmapped, on the same card, in float64 (MuJoCo Warp has float32 alone)."""
    import jax
    from mujoco import mjx

    if jax.default_backend() != "gpu":
        return {"skipped": f"JAX runs on {jax.default_backend()} here"}
    return mjx_case(watch, jax, mjx, sizes["long"])


def mjx_case(watch: Watch, jax: Any, mjx: Any, count: int) -> Any:
    from gyrostat.verification.peers.mujoco import MuJoCo

    jax.config.update("jax_enable_x64", True)
    craft = arm(6)
    peer = MuJoCo(craft)
    q, v, tau = states(craft, count)
    qpos, qvel = (
        np.array(x) for x in zip(*((peer.qpos(a), peer.T(a) @ b) for a, b in zip(q, v, strict=True)), strict=True)
    )
    model = mjx.put_model(peer.model)
    empty = mjx.make_data(model)

    def kinetic(qpos: Any, qvel: Any) -> Any:
        found = mjx.forward(model, empty.replace(qpos=qpos, qvel=qvel))
        return 0.5 * qvel @ mjx.full_m(model, found) @ qvel, found.qacc

    theirs = jax.jit(jax.vmap(kinetic))
    given = [jax.device_put(x) for x in (qpos, qvel)]
    energy, _ = theirs(*given)
    own = gs.compile(gs.kinetic_energy, craft)(q, v)
    error = checked(np.asarray(energy), own, "MJX", 1e-9)
    ours = gs.compile(gs.forward_dynamics, craft, target="cuda")
    lanes = [ours.to_lanes(x, x.shape[1:]) for x in (q, v, tau)]
    times = []
    for _ in range(5):
        begun = time.perf_counter()
        theirs(*given)[1].block_until_ready()
        times.append(time.perf_counter() - begun)
    mjx_rate, rate = count / statistics.median(times), count / watch.median(lambda: ours(*lanes, layout="lanes"))
    return {"mjx_per_second": mjx_rate, "per_second": rate, "ratio": rate / mjx_rate, "error": error}


def ceilings(watch: Watch, sizes: Sizes) -> Any:
    """What the card can do: bytes of a copy, float64 instructions by its clock."""
    xp = watch.card.xp
    x = xp.ones(sizes["states"] * 256)
    y = xp.empty_like(x)
    copy = statistics.median(watch.of(lambda: xp.copyto(y, x)) for _ in range(8))
    found = {"copied_bytes_per_second": 2.0 * x.nbytes / copy}
    if hasattr(xp, "cuda"):
        device = xp.cuda.runtime.getDeviceProperties(xp.cuda.Device().id)
        clock = 1e3 * float(device.get("clockRate") or xp.cuda.runtime.deviceGetAttribute(13, xp.cuda.Device().id))
        found |= {"multiprocessors": device["multiProcessorCount"], "clock_hz": clock}
        found["float64_instructions_per_second"] = 64.0 * device["multiProcessorCount"] * clock  # of Hopper
    return found


def cases(sizes: Sizes) -> dict[str, Callable[[Watch], Any]]:
    states, few = sizes["states"], sizes["long"]
    frame = servicer().bodies[-1].name

    def jacobian(craft: gs.Spacecraft, q: Any) -> Any:
        return generalized_jacobian.generalized_jacobian(craft, q, frame)

    gradient = tracing.jacobian_of(rollout_cost, "tau")
    return {
        "ceilings": lambda w: ceilings(w, sizes),
        "forward dynamics": lambda w: function_case(
            w, gs.forward_dynamics, servicer(), states, (np.float64, np.float32)
        ),
        "closed loop, RK4": lambda w: closed_loop(w, sizes),
        "campaign": lambda w: campaign(w, sizes),
        "tumbling arms, DOP853": lambda w: tumbling(w, sizes, 0.1),
        "arms that tumble fast, DOP853": lambda w: tumbling(w, sizes, 1.0),
        "JAX": lambda w: against_jax(w, sizes),
        "MJX": lambda w: against_mjx(w, sizes),
        "generalised Jacobian": lambda w: function_case(w, jacobian, servicer(), states),
        "dual quaternions": lambda w: function_case(w, dual_quaternion.forward_dynamics, servicer(), states),
        "gradient of a rollout": lambda w: function_case(w, gradient, servicer(), few // 4),
        "30 links": lambda w: function_case(w, gs.forward_dynamics, arm(30), few),
        "linearisation": lambda w: function_case(w, tracing.linear_motion, servicer(), few),
    }


def fractions(found: dict[str, Any]) -> None:
    """Of the floor, the larger of arithmetic and bytes."""
    top, fd = found.get("ceilings", {}), found.get("forward dynamics", {})
    if "float64_instructions_per_second" not in top or "float64" not in fd:
        return
    fused = fd["operations"] - min(fd["counts"].get("add", 0) + fd["counts"].get("sub", 0), fd["counts"].get("mul", 0))
    arithmetic = top["float64_instructions_per_second"] / fused
    memory = top["copied_bytes_per_second"] / (8.0 * fd["numbers moved"])
    rate = fd["float64"]["per_second"]["lanes"]
    fd["floor"] = {
        "per_second by arithmetic": arithmetic,
        "by bytes": memory,
        "reached": rate / min(arithmetic, memory),
    }


def measure(sizes: Sizes, only: str = "") -> dict[str, Any]:
    """All cases; each is printed and stored when it is done."""
    watch = Watch()
    cuda = getattr(watch.card.xp, "cuda", None)
    found: dict[str, Any] = {
        "card": watch.card.name,
        "driver": None if cuda is None else cuda.runtime.driverGetVersion(),
        "date": datetime.date.today().isoformat(),
        "versions": {"numpy": np.__version__, "python": platform.python_version()}
        | ({} if cuda is None else {"cupy": watch.card.xp.__version__, "nvrtc": cuda.nvrtc.getVersion()}),
        "checked against": "the CPU kernel" if HAVE_LLVM else "the graph in NumPy",
        "sizes": sizes,
    }
    for name, case in cases(sizes).items():
        if only not in name:
            continue
        begun = time.perf_counter()
        try:
            found[name] = case(watch)
        except ImportError as error:
            found[name] = {"skipped": str(error)}
        except Exception as error:  # noqa: BLE001  (the other cases go on; this one says what was wrong)
            found[name] = {"failed": f"{type(error).__name__}: {error}"}
        fractions(found)
        print(f"{name} ({time.perf_counter() - begun:.0f} s): {json.dumps(found[name])}", flush=True)
        if cuda is not None:
            RESULTS.write_text(json.dumps(found, indent=1) + "\n")
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to see that it runs")
    parser.add_argument("--only", default="", help="cases whose name holds this")
    given = parser.parse_args()
    measure(QUICK if given.quick else FULL, given.only)
