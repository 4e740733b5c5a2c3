"""Other libraries' integrators on the same motions: SciPy around Pinocchio, heyoka's Taylor method, MuJoCo's RK4.

One thread each.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import gyrostat as gs
from manoeuvre import CRAFT, KD, KP, PHASE, START, SWING, Case


def scipy_around_pinocchio(case: Case, rtol: float, atol: float) -> Callable[[], np.ndarray]:
    """SciPy's DOP853 with `pin.aba` and a NumPy control law as right-hand side; only for the manoeuvre."""
    import pinocchio as pin
    from scipy.integrate import solve_ivp

    from gyrostat.verification.peers.pinocchio import Pinocchio

    peer = Pinocchio(CRAFT)
    model, data = peer.model, peer.data
    if not np.array_equal(peer.to[:6], [3, 4, 5, 0, 1, 2]):
        raise RuntimeError("Pinocchio's rates are not in the order that this benchmark writes by hand.")
    to_q = [4, 5, 6, 1, 2, 3, 0, *range(7, 13)]  # position first, scalar last
    to_v = [3, 4, 5, 0, 1, 2, *range(6, 12)]  # linear first; its own inverse
    tau = np.zeros(12)

    def rhs(t: float, y: np.ndarray) -> np.ndarray:
        q, v = y[:13], y[13:]
        w, x, z = PHASE * t, y[1:4], v[:3]
        tau[6:] = KP * (START + 0.5 * SWING * (1.0 - np.cos(w)) - q[7:]) + KD * (
            0.5 * SWING * PHASE * np.sin(w) - v[6:]
        )
        vdot = pin.aba(model, data, q[to_q], v[to_v], tau)
        out = np.empty(25)
        out[0] = -0.5 * (x @ z)
        out[1:4] = 0.5 * (q[0] * z + (x[1] * z[2] - x[2] * z[1], x[2] * z[0] - x[0] * z[2], x[0] * z[1] - x[1] * z[0]))
        out[4:7] = data.liMi[1].rotation @ v[3:6]
        out[7:13] = v[6:]
        out[13:] = vdot[to_v]
        return out

    y0 = np.concatenate([case.q0, case.v0])
    return lambda: solve_ivp(rhs, (0.0, case.T), y0, method="DOP853", rtol=rtol, atol=atol, t_eval=[case.T]).y[:, -1]


class _Symbol:
    """A heyoka expression with the methods by which gyrostat's algebra calls elementary functions;
    exact zeros and ones vanish.
    """

    def __init__(self, expression: Any) -> None:
        self.expression = expression

    def _with(self, other: Any, operate: Callable[[Any, Any], Any]) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        return _Symbol(operate(self.expression, other.expression if isinstance(other, _Symbol) else float(other)))

    def __add__(self, other: Any) -> Any:
        return self if _is(other, 0.0) else self._with(other, lambda a, b: a + b)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self if _is(other, 0.0) else self._with(other, lambda a, b: a - b)

    def __rsub__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: b - a)

    def __mul__(self, other: Any) -> Any:
        if _is(other, 0.0):
            return 0.0
        return self if _is(other, 1.0) else self._with(other, lambda a, b: a * b)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a / b)

    def __rtruediv__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: b / a)

    def __neg__(self) -> Any:
        return _Symbol(-self.expression)

    def sin(self) -> Any:
        import heyoka as hy

        return _Symbol(hy.sin(self.expression))

    def cos(self) -> Any:
        import heyoka as hy

        return _Symbol(hy.cos(self.expression))


def _is(x: Any, value: float) -> bool:
    return isinstance(x, int | float | np.floating) and x == value


def _rhs(case: Case, t: Any, x: Any) -> Any:
    q, v = x[:13], x[13:]
    return np.concatenate(
        [gs.configuration_rate(CRAFT, q, v), gs.forward_dynamics(CRAFT, q, v, case.law(CRAFT, t, q, v))]
    )


def heyoka_system(case: Case, through_our_graph: bool) -> list[tuple[Any, Any]]:
    """The equations as heyoka's expressions: NumPy's functions called with them,
    or our graph translated, with all it shares.
    """
    import heyoka as hy

    names = [hy.expression(f"x{k}") for k in range(25)]
    if not through_our_graph:
        symbols = np.array([_Symbol(name) for name in names], dtype=object)
        found = [e.expression for e in _rhs(case, _Symbol(hy.time), symbols)]
        return list(zip(names, found, strict=True))
    from peers import heyoka_expressions

    graph = gs.tracing.trace(lambda t, x: _rhs(case, t, x), None, inputs={"t": (), "x": (25,)})
    return list(zip(names, heyoka_expressions(graph, [[hy.time], names]), strict=True))


def heyoka_one(case: Case, system: list[tuple[Any, Any]], tol: float) -> Callable[[], np.ndarray]:
    """One run by the adaptive Taylor method (compact mode: without it this system does not compile in minutes)."""
    import heyoka as hy

    hy.set_nthreads(1)
    y0 = np.concatenate([case.q0, case.v0])
    integrator = hy.taylor_adaptive(system, y0.copy(), tol=tol, compact_mode=True)

    def call() -> np.ndarray:
        integrator.time, integrator.state[:] = 0.0, y0
        integrator.propagate_until(case.T)
        return integrator.state.copy()

    return call


def heyoka_batch(case: Case, system: list[tuple[Any, Any]], tol: float, runs: int) -> Callable[[], np.ndarray]:
    """Runs, as many at a time as fill a vector, each with its own steps."""
    import heyoka as hy

    hy.set_nthreads(1)
    width = hy.recommended_simd_size()
    if runs % width:
        raise ValueError(f"{runs} runs do not fill vectors of {width}.")
    y0 = np.concatenate(case.states(runs), axis=1).reshape(-1, width, 25).transpose(0, 2, 1).copy()
    integrator = hy.taylor_adaptive_batch(system, y0[0].copy(), tol=tol, compact_mode=True)

    def call() -> np.ndarray:
        ends = []
        for block in y0:
            integrator.set_time(np.zeros(width))
            integrator.state[:] = block
            integrator.propagate_until([case.T] * width)
            ends.append(integrator.state.T.copy())
        return np.concatenate(ends)

    return call


def mujoco_rollout(case: Case, runs: int, steps: int, step: float) -> tuple[Callable[[], np.ndarray], Any]:
    """`mujoco.rollout` with RK4; the PD law as affine actuators. Returns the call and how to read its states."""
    import mujoco
    from mujoco import rollout

    from gyrostat.verification.peers.mujoco import MuJoCo

    peer = MuJoCo(CRAFT)
    target = START + SWING
    for k, joint in enumerate(CRAFT.joints[1:]):
        actuator = peer.spec.add_actuator(name=joint.name, target=f"{joint.name}/0", trntype=mujoco.mjtTrn.mjTRN_JOINT)
        actuator.biastype = mujoco.mjtBias.mjBIAS_AFFINE
        actuator.biasprm[:3] = [KP[k] * target[k], -KP[k], -KD[k]]
    model = peer.spec.compile()
    model.opt.gravity[:] = 0.0
    model.opt.integrator, model.opt.timestep = mujoco.mjtIntegrator.mjINT_RK4, step
    peer.model, peer.data = model, mujoco.MjData(model)
    q, v = case.states(runs)
    first = np.array([np.concatenate([[0.0], peer.qpos(a), peer.T(a) @ b]) for a, b in zip(q, v, strict=True)])
    data = mujoco.MjData(model)

    def call() -> np.ndarray:
        return rollout.rollout(model, data, first, nstep=steps)[0][:, -1]

    def read(row: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        qpos, qvel = row[1:14], row[14:26]
        q = np.concatenate([qpos[3:7], qpos[:3], qpos[7:]])
        return q, np.linalg.solve(peer.T(q), qvel)

    return call, read
