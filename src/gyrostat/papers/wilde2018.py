"""The two studies of Wilde, Kwok Choon, Grompone, Romano (2018), Front. Robot. AI 5:41: figures 5 to 8.

A planar four-link arm (tables 3, 4) and a spatial six-link one (tables 5, 6) on a floating base, at rest, joints at zero. One joint
at a time goes out at 0.1 rad/s for 10 s, rests 2 s, goes back for 20 s, rests 2 s, and returns, under computed torque control
(112)-(115) with K_P = K_D = 1 and a perfect model.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..algebra import Array, rotation_from_rpy
from ..control import RateProfile, computed_torque, one_joint_at_a_time
from ..formulations.generalized_jacobian import base_velocity_from_momentum, reduced_forward_dynamics
from ..formulations.generalized_jacobian.arm import Arm, arm_from_table
from ..io.writing import write_figure
from ..kinematics import configuration_rate, neutral
from ..model import Body, DHLink, Spacecraft
from .checks import Reproduction

if TYPE_CHECKING:
    from ..simulation import Trajectory

SETTLE = 20.0  # seconds after the last joint's cycle
ASSUMPTIONS = [
    (
        "Planar: the arm mounts at (0.1, 0, 0) m of the base, half its length; the paper does not say where. Mounted "
        "at the centre of mass instead, the base's largest rate is 0.135 rad/s, not 0.128, and its largest excursion "
        "in x 49 mm, not 57 mm."
    ),
    (
        "Spatial: the arm mounts at (1.75, 0, 0) m, half the base's length, joint 1 along +x of the base and x of J_1 "
        "along -z. The text's 'fully extended along x at zero angles' cannot hold with an axis of joint 1 along x "
        "(table 6 turns 90 degrees after link 1)."
    ),
    (
        "Spatial: table 5's moments are taken in the link frames L_i. Link 1's smallest moment is then not along the "
        "link; along the link it would change the end attitude by 5e-8 rad, and the pose on the way by 3e-6 at most."
    ),
    (
        "Spatial: link 1 has length 0.5 m in table 5 but d = 0.25 m in table 6; its moments fit 0.25 m, which is "
        "used. Its centre of mass falls into joint 2 by equation (10); in the middle of the link it would change the "
        "end attitude by 3e-6 rad, and the pose on the way by 2e-4 at most."
    ),
    (
        "The next joint starts as soon as one has ended (every 44 s); the paper does not say. Transients of "
        "neighbours then overlap, so a small net rotation of the base remains; with long pauses the base returns."
    ),
    (
        "The reference acceleration is not fed forward, as in (112). K_P = K_D = 1 is damping 0.5, which neither "
        "(113) nor (114) give."
    ),
    (
        "The paper tabulates no results: what is checked are laws and the words of the text, not its curves, number "
        "by number."
    ),
]


class Table(NamedTuple):
    """Base, links and mount: arguments of `Spacecraft.from_dh`."""

    name: str
    base: Body
    links: list[DHLink]
    mount_position: tuple[float, float, float]
    mount_rotation: Array

    @property
    def craft(self) -> Spacecraft:
        mount, turn = self.mount_position, self.mount_rotation
        return Spacecraft.from_dh(self.name, self.base, self.links, mount_position=mount, mount_rotation=turn)

    @property
    def arm(self) -> Arm:
        """The same in the paper's own description."""
        return arm_from_table(
            self.base, self.links, mount_position=self.mount_position, mount_rotation=self.mount_rotation
        )


def planar_table() -> Table:
    """Tables 3 and 4."""
    base = Body("base", 10.0, inertia=np.diag([0.5667, 0.5667, 0.0667]))
    link = DHLink(a=0.2, b=0.2, mass=2.0, inertia=(0.0065, 0.0321, 0.0277))
    return Table("wilde_planar", base, [link] * 4, (0.1, 0.0, 0.0), np.eye(3))


def spatial_table() -> Table:
    """Tables 5 and 6."""
    base = Body("base", 1700.0, inertia=np.diag([1434.0, 1434.0, 1735.0]))
    quarter = np.pi / 2
    rows = [
        (0.25, quarter, 0.0, 5.0, (0.0292, 0.0292, 0.0063)),
        (0.0, 0.0, 1.25, 50.0, (0.0625, 26.1, 26.1)),
        (0.0, 0.0, 1.25, 50.0, (0.0625, 26.1, 26.1)),
        (0.0, -quarter, 0.25, 10.0, (0.0125, 0.215, 0.215)),
        (0.0, 0.0, 0.125, 5.0, (0.0063, 0.0292, 0.0292)),
        (0.0, 0.0, 0.125, 5.0, (0.0063, 0.0292, 0.0292)),
    ]
    links = [DHLink(d=d, alpha=alpha, a=a, b=a, mass=mass, inertia=inertia) for d, alpha, a, mass, inertia in rows]
    return Table("wilde_spatial", base, links, (1.75, 0.0, 0.0), rotation_from_rpy(np.array([0.0, quarter, 0.0])))


TABLES: dict[str, Callable[[], Table]] = {"planar": planar_table, "spatial": spatial_table}


def planar_craft() -> Spacecraft:
    """The four-link arm on its base."""
    return planar_table().craft


def spatial_craft() -> Spacecraft:
    """The six-link arm on its base."""
    return spatial_table().craft


def manoeuvre(case: str, period: float = 44.0) -> tuple[Spacecraft, RateProfile, float]:
    """Craft, reference, and duration in s."""
    if case not in TABLES:
        raise ValueError(f"case is '{case}'; expected one of {', '.join(map(repr, TABLES))}.")
    craft = TABLES[case]().craft
    n = craft.nv - 6
    return craft, one_joint_at_a_time(n, period=period), n * period + SETTLE


def run(
    case: str, *, period: float = 44.0, formulation: str = "recursive", craft: Spacecraft | None = None
) -> Trajectory:
    """The full model (N + 6 degrees of freedom) under computed torque control, saved every half second.

    `craft`: another one of the same joints, to see what an assumption matters.
    """
    from ..simulation import simulate

    own, profile, duration = manoeuvre(case, period)
    return simulate(
        own if craft is None else craft,
        t_span=(0.0, duration),
        control=computed_torque(profile),
        breakpoints=profile.breakpoints,
        formulation=formulation,
        rtol=1e-13,
        atol=1e-15,
        save_at=np.linspace(0.0, duration, round(2 * duration) + 1),
        progress=False,
    )


def run_reduced(case: str, *, period: float = 44.0) -> tuple[Array, Array]:
    """q and joint rates at the times of `run`, by the reduced equations (50) and (109), N degrees of freedom."""
    craft, profile, duration = manoeuvre(case, period)
    control = computed_torque(profile)

    def rhs(craft: Spacecraft, t: Any, y: Array) -> Array:
        q, qdot = y[: craft.nq], y[craft.nq :]
        v = np.concatenate([base_velocity_from_momentum(craft, q, qdot), qdot])
        qddot = reduced_forward_dynamics(craft, q, qdot, control(craft, t, q, v)[6:])
        return np.concatenate([configuration_rate(craft, q, v), qddot])

    start = np.concatenate([neutral(craft), np.zeros(craft.nv - 6)])
    y = _integrated(rhs, craft, start, profile, duration)
    return y[:, : craft.nq], y[:, craft.nq :]


def run_kinematic(case: str, *, period: float = 44.0) -> Array:
    """Base pose (times, 7) at the times of `run`, by integrating (109) along the joints' closed form: no dynamics at all."""
    craft, profile, duration = manoeuvre(case, period)

    def rhs(craft: Spacecraft, t: Any, y: Array) -> Array:
        angles, rates = closed_form(profile, t)
        q = np.concatenate([y, angles])
        return configuration_rate(craft, q, np.concatenate([base_velocity_from_momentum(craft, q, rates), rates]))[:7]

    return _integrated(rhs, craft, neutral(craft)[:7], profile, duration)


def closed_form(profile: RateProfile, t: Any) -> tuple[Array, Array]:
    """Joint angles and rates of the loop e'' + e' + e = 0 from rest: a sum over the jumps dr of the reference rate.

    q = sum dr (x - exp(-x/2) sin(w x) / w),  x = t - t_jump > 0,  w = sqrt(3) / 2: no property of the craft enters.
    """
    from ..algebra import cos, exp, maximum, sin

    w = 0.75**0.5
    q: Array = np.zeros(profile.n)
    qdot: Array = np.zeros(profile.n)
    for time, jump in zip(profile.times, profile.jumps, strict=True):
        x = maximum(t - time, 0.0)
        decay, s, c = exp(-0.5 * x), sin(w * x), cos(w * x)
        q = q + jump * (x - decay * s / w)
        qdot = qdot + jump * (1.0 - decay * (c - s / (2.0 * w)))
    return q, qdot


def _integrated(
    rhs: Callable[..., Array], craft: Spacecraft, start: Array, profile: RateProfile, duration: float
) -> Array:
    """States at the times of `run`, by SciPy's DOP853 from jump to jump on the compiled function: an integrator of its own."""
    from scipy.integrate import solve_ivp

    from ..tracing import compile

    kernel = compile(rhs, craft, inputs={"y": start.shape})
    times = np.linspace(0.0, duration, round(2 * duration) + 1)
    edges = np.unique([0.0, *profile.breakpoints, duration])
    rows, y = [start[None]], start
    for begin, end in pairwise(edges):
        inside = times[(times > begin) & (times <= end)]
        before = np.nextafter(end, begin)  # at `end` itself the reference has jumped
        at = inside if len(inside) and inside[-1] == end else np.append(inside, end)
        solution = solve_ivp(
            lambda t, y, before=before: kernel(min(t, before), y), (begin, end), y, "DOP853", at, rtol=1e-13, atol=1e-15
        )
        y = solution.y[:, -1]
        rows.append(solution.y.T[: len(inside)])
    return np.concatenate(rows)


def reproduce(out_dir: str | Path) -> Reproduction:
    """Both studies: figures 5 to 8 as PNG in `out_dir`, and the table of checks."""
    from .wilde2018_checks import planar_checks, spatial_checks
    from .wilde2018_figures import momentum_figure, motion_figure

    folder = Path(out_dir)
    folder.mkdir(parents=True, exist_ok=True)
    checks, figures = [], []
    for case, numbers, check in (("planar", (5, 6), planar_checks), ("spatial", (7, 8), spatial_checks)):
        trajectory = run(case)
        for number, draw in zip(numbers, (motion_figure, momentum_figure), strict=True):
            path = folder / f"wilde2018_figure_{number}.png"
            figures.append(write_figure(path, draw(trajectory, f"figure {number}: {case}")))
        checks += check(trajectory)
    return Reproduction(checks, figures, ASSUMPTIONS)
