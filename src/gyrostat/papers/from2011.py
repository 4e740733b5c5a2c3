"""From, Pettersen & Gravdahl (2011), Acta Astronautica 69: what the paper states, shown in runs. It has no numerical example.

1. A craft tumbles past pitch = +90 and -90 degrees: Lagrange's equations on SE(3) do not notice, roll-pitch-yaw rates (16), (17) do.
2. The dynamically equivalent manipulator (35)-(44) and the free-floating craft, side by side for a minute.
3. The same tumble with (26) as printed, which makes energy from nothing, and with (28) as printed, which pins the base.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..algebra import Array, quat_from_rotation, rotation, rotation_from_rpy, rpy_from_rotation, sin, solve_spd
from ..formulations import lie_lagrange
from ..formulations.lie_lagrange.equivalent_manipulator import equivalent_manipulator, equivalent_state
from ..formulations.lie_lagrange.paper.ground_test_bed import rpy_rate
from ..io.writing import write_figure
from ..kinematics import configuration_rate, step_configuration
from ..model import Body, Frame, Joint, Spacecraft
from .checks import Reproduction

if TYPE_CHECKING:
    from ..simulation import Trajectory

PASS_AT, END = 5.0, 10.0  # s: when the singular attitude is passed, and the end of a tumble
MISS = 1e-6  # rad, by which it is missed
PATIENCE = 2000  # steps, after which the run with Euler angles is given up
MINUTE = np.linspace(0.0, 60.0, 241)
ASSUMPTIONS = [
    "The paper has no numerical example: craft, states and torques are ours.",
    "Twists are angular first here and linear first in the paper; equations are those of docs/errata/from2011.md.",
]
REMARKS = [
    "Agrees: no singularity on SE(3) x R^n; the equivalent manipulator moves as the craft does, at any momentum.",
    "Does not agree: (7), (22), (26), (28), (31), (39), (40) as printed are wrong; see docs/errata/from2011.md.",
]


def craft() -> Spacecraft:
    """A 120 kg bus, its origin not at its centre of mass, with shoulder, elbow, telescope and wrist."""
    x, y, z = np.eye(3)
    rod = _array(0.05, 0.9, 0.9)
    shoulder = Joint("shoulder", "revolute", "bus", _array(0.6, 0.0, 0.3), axis=z)
    elbow = Joint("elbow", "revolute", "upper_arm", _array(1.2, 0.0, 0.0), axis=y)
    telescope = Joint("telescope", "prismatic", "forearm", _array(0.6, 0.0, 0.0), axis=x)
    wrist = Joint("wrist", "revolute", "boom", _array(0.9, 0.0, 0.0), axis=x)
    bodies = [
        Body("bus", 120.0, _array(0.05, -0.02, 0.1), _array(18.0, 0.4, -0.3, 24.0, 0.2, 15.0)),
        Body("upper_arm", 12.0, _array(0.6, 0.0, 0.0), rod, shoulder),
        Body("forearm", 9.0, _array(0.5, 0.0, 0.0), rod, elbow),
        Body("boom", 6.0, _array(0.4, 0.0, 0.0), rod, telescope),
        Body("hand", 4.0, _array(0.1, 0.0, 0.05), _array(0.03, 0.05, 0.05), wrist),
    ]
    return Spacecraft.build("from2011", bodies, frames=[Frame("tool", "hand", _array(0.3, 0.0, 0.1))])


def _array(*numbers: float) -> Array:
    return np.array(numbers)


def moving_state(rates: float = 1.0) -> tuple[Array, Array]:
    """q and v with linear and angular momentum and every joint in motion."""
    body = craft()
    v = rates * np.array([0.5, 0.9, -0.6, 0.2, -0.1, 0.15, 0.4, -0.5, 0.1, 0.6])
    q = step_configuration(
        body, np.array([1.0, *np.zeros(10)]), np.array([0.2, 0.3, -0.4, 0, 0, 0, 0.5, -0.8, 0.1, 0.4])
    )
    return q, v


# ---- 1: tumbling


class Steps(NamedTuple):
    """A run step by step: times reached, states, and whether it came to its end."""

    t: Array
    y: Array
    finished: bool

    @property
    def sizes(self) -> Array:
        return np.diff(self.t)


def start_of_tumble(pitch: float) -> tuple[Array, Array]:
    """State from which the free craft reaches `pitch` (rad), missed by MISS, at PASS_AT."""
    body = craft()
    q, v = moving_state()
    q[:4] = quat_from_rotation(rotation_from_rpy(np.array([0.3, pitch - np.sign(pitch) * MISS, -0.7])))
    back = stepped(_on_group(body, lie_lagrange.forward_dynamics), (PASS_AT, 0.0), np.concatenate([q, v]))
    return back.y[-1, : body.nq], back.y[-1, body.nq :]


def closest_approach(q: Array, v: Array) -> float:
    """Distance in rad from the singular attitude at PASS_AT: the cosine of the pitch."""
    body = craft()
    run = stepped(_on_group(body, lie_lagrange.forward_dynamics), (0.0, PASS_AT), np.concatenate([q, v]))
    R = rotation(run.y[-1, :4])
    return float(np.hypot(R[0, 0], R[1, 0]))


def tumble(q: Array, v: Array, forward_dynamics: Callable[..., Array] = lie_lagrange.forward_dynamics) -> Steps:
    """Free motion on SE(3) x R^n, step by step."""
    return stepped(_on_group(craft(), forward_dynamics), (0.0, END), np.concatenate([q, v]))


def tumble_in_rpy(q: Array, v: Array) -> Steps:
    """The same motion with roll, pitch and yaw for the attitude: y = (rpy, position, joints, v)."""
    body = craft()
    from ..tracing import compile

    forward = compile(lie_lagrange.forward_dynamics, body)

    def rhs(t: float, y: Array) -> Array:
        at, rates = np.concatenate([[1.0, 0.0, 0.0, 0.0], y[3:10]]), y[10:]
        R = rotation_from_rpy(y[:3])
        vdot = forward(at, rates, np.zeros(body.nv))
        return np.concatenate([rpy_rate(y[:3], rates[:3]), R @ rates[3:6], rates[6:], vdot])

    return stepped(rhs, (0.0, END), np.concatenate([rpy_from_rotation(rotation(q[:4])), q[4:], v]))


def stepped(rhs: Callable[[float, Array], Array], span: tuple[float, float], y: Array) -> Steps:
    """SciPy's DOP853 at rtol 1e-10, every step kept; given up after PATIENCE steps."""
    from scipy.integrate import DOP853

    solver = DOP853(rhs, span[0], y, span[1], rtol=1e-10, atol=1e-12)
    t, states = [span[0]], [y]
    while solver.status == "running" and len(t) <= PATIENCE:
        solver.step()
        t.append(float(solver.t))
        states.append(solver.y)
    return Steps(np.array(t), np.array(states), solver.status == "finished")


def _on_group(body: Spacecraft, forward_dynamics: Callable[..., Array]) -> Callable[[float, Array], Array]:
    from ..tracing import compile

    forward, rate = compile(forward_dynamics, body), compile(configuration_rate, body)
    no_load = np.zeros(body.nv)
    return lambda t, y: np.concatenate([rate(y[: body.nq], y[body.nq :]), forward(y[: body.nq], y[body.nq :], no_load)])


# ---- 2: the equivalent manipulator


def loads(t: Any, joints: Array, rates: Array) -> Array:
    """Base couple (3) and joint loads (4): waves, and springs and dampers that keep the arm within its reach."""
    couple = np.array([0.8 * sin(0.7 * t), 0.5 * sin(0.4 * t + 1.0), -0.6 * sin(0.5 * t + 2.0)])
    waves = np.array([6.0 * sin(0.6 * t), -5.0 * sin(0.5 * t + 0.5), 4.0 * sin(0.8 * t + 0.2), 0.05 * sin(0.9 * t)])
    springs = np.array([8.0, 8.0, 20.0, 0.1]) * joints + np.array([4.0, 4.0, 6.0, 0.05]) * rates
    return np.concatenate([couple, waves - springs])


def side_by_side() -> tuple[Trajectory, Trajectory]:
    """The craft in space and its equivalent manipulator, a minute under the same loads, at rtol 1e-13."""
    from ..simulation import simulate

    body = craft()
    manipulator = equivalent_manipulator(body)
    q, v = moving_state(0.3)
    start, scale = equivalent_state(body, q, v), equivalent_state(body, q, np.ones(body.nv)).v

    def in_space(craft: Spacecraft, t: Any, q: Array, v: Array) -> Array:
        load = loads(t, q[7:], v[6:])
        return np.concatenate([load[:3], np.zeros(3), load[3:]])

    def on_ground(craft: Spacecraft, t: Any, q: Array, v: Array) -> Array:
        return loads(t, q[4:] / scale[3:], v[3:] / scale[3:]) / scale

    settings: dict[str, Any] = {
        "t_span": (0.0, 60.0),
        "save_at": MINUTE,
        "rtol": 1e-13,
        "atol": 1e-14,
        "progress": False,
    }
    space = simulate(body, q, v, control=in_space, formulation="lie_lagrange", **settings)
    return space, simulate(manipulator, start.q, start.v, control=on_ground, **settings)


# ---- 3: as printed


def printed_forward_dynamics(craft: Spacecraft, q: Array, v: Array, tau: Array) -> Array:
    """(26) as printed: ad_P, P = (M v)_V, where K(P) should be. In angular-first order -ad_P is -[h^ 0; p^ h^]."""
    from ..algebra import skew

    parts = lie_lagrange.coriolis_parts(craft, q, v)
    M = lie_lagrange.mass_matrix(craft, q)
    h, p = (M @ v)[:3], (M @ v)[3:6]
    wrong = -np.block([[skew(h), np.zeros((3, 3))], [skew(p), skew(h)]])
    K = np.block([[wrong, np.zeros((6, craft.nv - 6))], [np.zeros((craft.nv - 6, 6)), parts.K[6:, 6:]]])
    return solve_spd(M, tau - (parts.Mdot - 0.5 * parts.A + K) @ v)


def pinned_mass_matrix(q: Array) -> Array:
    """(28) as printed: M without the rows and columns of the base's velocity, which is the craft with its base pinned."""
    kept = [k for k in range(craft().nv) if k not in (3, 4, 5)]
    return lie_lagrange.mass_matrix(craft(), q)[np.ix_(kept, kept)]


def reproduce(out_dir: str | Path) -> Reproduction:
    """Three figures as PNG in `out_dir`, and the table of checks."""
    from .from2011_checks import equation_checks, equivalence_checks, printed_checks, tumble_checks
    from .from2011_figures import equivalence_figure, printed_figure, tumble_figure

    folder = Path(out_dir)
    folder.mkdir(parents=True, exist_ok=True)
    starts = {sign: start_of_tumble(sign * np.pi / 2) for sign in (1, -1)}
    group = {sign: tumble(*start) for sign, start in starts.items()}
    euler = {sign: tumble_in_rpy(*start) for sign, start in starts.items()}
    printed = tumble(*starts[1], printed_forward_dynamics)
    runs = side_by_side()
    drawn = {
        "tumble": tumble_figure(group, euler),
        "equivalent_manipulator": equivalence_figure(*runs),
        "as_printed": printed_figure(group[1], printed),
    }
    figures = []
    for name, figure in drawn.items():
        figures.append(write_figure(folder / f"from2011_{name}.png", figure))
    checks = [
        *equation_checks(),
        *tumble_checks(starts, group, euler),
        *equivalence_checks(*runs),
        *printed_checks(group[1], printed),
    ]
    return Reproduction(checks, figures, ASSUMPTIONS, REMARKS)
