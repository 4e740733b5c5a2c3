"""Outcomes: what the compiled loop keeps of a run against closed forms and against the same run saved densely."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import trapezoid

import gyrostat as gs
from gyrostat import outcomes
from gyrostat.algebra import cos, sin

W = 1.3  # rad/s


def pendulum() -> gs.Spacecraft:
    """A sprung flap on a fixed base: theta'' = -W^2 theta."""
    flap = gs.Body(
        "flap",
        mass=2.0,
        com=(0.0, 0.0, 0.0),
        inertia=np.diag([1.0, 1.5, 0.7]),
        joint=gs.Joint("hinge", "revolute", "base", axis=(0, 0, 1), stiffness=0.7 * W * W),
    )
    base = gs.Body("base", mass=1.0, inertia=np.eye(3), joint=gs.Joint("root", "fixed"))
    return gs.Spacecraft.build("pendulum", [base, flap])


CRAFT = pendulum()
ANGLE = outcomes.Signal(lambda craft, t, q, v: q[0], "angle", "rad")
ASKED = {
    "top": outcomes.largest(ANGLE),
    "bottom": outcomes.smallest(ANGLE),
    "end": outcomes.last(ANGLE),
    "area": outcomes.integral(ANGLE),
    "average square": outcomes.mean(lambda craft, t, q, v: q[0] * q[0]),
    "up": outcomes.time_of(ANGLE, 0.1, +1),
    "down": outcomes.time_of(ANGLE, 0.1, -1),
    "never": outcomes.time_of(ANGLE, 9.0),
    "above": outcomes.time_in(ANGLE, 0.1),
    "calm": outcomes.settling_time(ANGLE, 0.1),
    "fast ripple": outcomes.largest(lambda craft, t, q, v: sin(3.0 * t) + q[0]),
}
END = 17.3


@pytest.mark.parametrize("method", ["dop853", "rk45", "rk4"])
def test_closed_forms_of_a_harmonic_motion(method: str) -> None:
    amplitude, rate = 0.3, 0.2
    size, phase = np.hypot(amplitude, rate / W), np.arctan2(rate / W, amplitude)  # theta = size cos(W t - phase)
    options = {"step": 0.01} if method == "rk4" else {"rtol": 1e-10}
    run = gs.simulate(CRAFT, [amplitude], [rate], (0.0, END), integrator=method, outcomes=ASKED, **options)
    found = run.outcomes
    t = np.linspace(0.0, END, 2_000_001)
    theta = size * np.cos(W * t - phase)
    crossings = t[:-1][np.sign(theta[:-1] - 0.1) != np.sign(theta[1:] - 0.1)]
    rising = [x for x in crossings if -np.sin(W * x - phase) > 0]
    falling = [x for x in crossings if -np.sin(W * x - phase) < 0]
    area = size / W * (np.sin(W * END - phase) + np.sin(phase))
    square = 0.5 * size**2 * (END + (np.sin(2 * (W * END - phase)) + np.sin(2 * phase)) / (2 * W)) / END
    exact = {
        "top": (size, 1e-9),
        "bottom": (-size, 1e-9),
        "end": (theta[-1], 1e-7),
        "area": (area, 1e-7),
        "average square": (square, 1e-7),
        "up": (rising[0], 2e-5),
        "down": (falling[0], 2e-5),
        "above": (np.mean(theta > 0.1) * END, 2e-5),
        "calm": (falling[-1] if theta[-1] < 0.1 else np.inf, 2e-5),
        "fast ripple": (np.max(np.sin(3 * t) + theta), 1e-6),
    }
    for name, (value, error) in exact.items():
        assert found[name] == pytest.approx(value, abs=error), name
    assert np.isinf(found["never"])


def spun() -> tuple[gs.Spacecraft, np.ndarray, np.ndarray]:
    """A tumbling servicer with everything off-axis, in a batch that does not fill its lanes."""
    craft = gs.load(gs.models.file("servicer"))
    rng = np.random.default_rng(3)
    q = gs.step_configuration(craft, gs.neutral(craft), 0.3 * rng.normal(size=craft.nv))
    return craft, np.tile(q, (3, 1)), 0.2 * rng.normal(size=(3, craft.nv))


def test_between_steps_the_loop_sees_what_a_dense_run_shows_and_lanes_interruptions_and_pauses_change_no_bit() -> None:
    craft, q, v = spun()
    tool = craft.bodies[-1].name
    asked = {
        "far": outcomes.largest(outcomes.position_error((0.1, 2.0, 0.3), tool)),
        "near": outcomes.smallest(outcomes.position_error((0.1, 2.0, 0.3), tool)),
        "turned": outcomes.largest(outcomes.attitude_error()),
        "pointed": outcomes.largest(outcomes.pointing_error((0, 0, 1), (1, 2, 3), tool)),
        "energy": outcomes.mean(outcomes.kinetic_energy()),
        "spin": outcomes.largest(outcomes.body_rate()),
        "H": outcomes.last(outcomes.angular_momentum()),
    }
    dense = np.linspace(0.0, 9.0, 4001)
    run = gs.simulate(craft, q, v, (0.0, 9.0), outcomes=asked, save_at=dense)
    distance = np.linalg.norm(run.frame(tool)[1] - np.array([0.1, 2.0, 0.3]), axis=-1)
    assert run.outcomes["far"] == pytest.approx(distance.max(axis=1), rel=1e-6)
    assert (run.outcomes["far"] >= distance.max(axis=1) - 1e-9).all()
    assert run.outcomes["near"] == pytest.approx(distance.min(axis=1), rel=1e-6)
    assert (run.outcomes["near"] <= distance.min(axis=1) + 1e-9).all()
    assert run.outcomes["spin"] == pytest.approx(np.linalg.norm(run.v[..., :3], axis=-1).max(axis=1), rel=1e-5)
    angles = 2.0 * np.arccos(np.minimum(np.abs(run.q[..., 0]), 1.0))
    assert (run.outcomes["turned"] >= angles.max(axis=1) - 1e-6).all()  # it has a corner at pi, where rows miss it
    assert run.outcomes["turned"] == pytest.approx(angles.max(axis=1), rel=1e-4)
    R, wanted = run.frame(tool)[0], np.array([1.0, 2.0, 3.0]) / np.sqrt(14.0)
    assert run.outcomes["pointed"] == pytest.approx(np.arccos(R[..., 2] @ wanted).max(axis=1), rel=1e-5)
    assert run.outcomes["energy"] == pytest.approx(trapezoid(run.kinetic_energy(), dense) / 9.0, rel=1e-6)
    momentum = np.linalg.norm(run.momentum("com")[:, -1, :3], axis=-1)
    assert run.outcomes["H"] == pytest.approx(momentum, rel=1e-9)

    unwatched = gs.simulate(craft, q, v, (0.0, 9.0), save_at=dense)
    assert (unwatched.q == run.q).all() and (unwatched.v == run.v).all()

    alone = gs.simulate(craft, q[1:2], v[1:2], (0.0, 9.0), outcomes=asked)
    halfway = gs.simulate(craft, q, v, (0.0, 4.5), outcomes=asked)
    on = gs.simulate(craft, resume=halfway, t_span=(0.0, 9.0))
    whole = gs.simulate(craft, q, v, (0.0, 9.0), outcomes=asked, breakpoints=[4.5])
    for name in asked:
        assert alone.outcomes[name][0] == run.outcomes[name][1]
        assert (on.outcomes[name] == whole.outcomes[name]).all()
    with pytest.raises(ValueError, match="give those that it began with"):
        gs.simulate(craft, resume=halfway, t_span=(0.0, 9.0), outcomes={"far": asked["far"]})


def test_loads_that_jump_are_seen_on_both_sides_and_stepping_keeps_outcomes() -> None:
    craft = CRAFT
    driven = gs.Spacecraft.build(
        "driven",
        [
            craft.bodies[0],
            gs.Body(
                "flap",
                2.0,
                (0, 0, 0),
                (1.0, 1.5, 0.7),
                gs.Joint("hinge", "revolute", "base", axis=(0, 0, 1), limits=gs.Limits(effort=2.0)),
            ),
        ],
    )
    law = gs.Controller(lambda craft, t, q, v: np.array([1.0 - 2.0 * t]), np.zeros(0), period=0.25)
    asked = {
        "torque": outcomes.smallest(outcomes.Signal(lambda craft, t, q, v, command: command[0], "torque")),
        "share": outcomes.largest(outcomes.torque_share()),
        "reversal": outcomes.time_of(lambda craft, t, q, v, command: command[0], 0.0, -1),
        "impulse": outcomes.integral(lambda craft, t, q, v, command: command[0]),
        "rate": outcomes.last(lambda craft, t, q, v: v[0]),
    }
    run = gs.simulate(driven, [0.0], [0.0], (0.0, 2.0), control=law, outcomes=asked)
    assert run.outcomes["torque"] == 1.0 - 2.0 * 1.75
    assert run.outcomes["share"] == 2.5 / 2.0
    assert run.outcomes["reversal"] == 0.5  # zero at the sample at 0.5
    assert run.outcomes["impulse"] == pytest.approx(sum(1.0 - 0.5 * k for k in range(8)) * 0.25, abs=1e-12)
    assert 0.7 * run.outcomes["rate"] == pytest.approx(run.outcomes["impulse"], abs=1e-12)
    sim = gs.Simulation(driven, control=law, outcomes=asked)
    sim.reset([0.0], [0.0])
    for _ in range(8):
        sim.step(dt=0.25)
    stepped = sim.trajectory().outcomes
    for name in ("torque", "share", "reversal", "impulse"):
        assert stepped[name] == pytest.approx(run.outcomes[name], abs=1e-12), name


def test_what_cannot_be_kept_is_refused_by_name() -> None:
    top = outcomes.largest(ANGLE)
    with pytest.raises(ValueError, match="'gauss16' knows no states there"):
        gs.simulate(CRAFT, [0.1], [0.0], (0, 1), integrator="gauss16", outcomes=top)
    assert gs.simulate(CRAFT, [0.1], [0.0], (0, 1), integrator="gauss16", outcomes=outcomes.last(ANGLE)).outcomes
    with pytest.raises(ValueError, match="two outcomes are called"):
        gs.simulate(CRAFT, [0.1], [0.0], (0, 1), outcomes=[top, top])
    with pytest.raises(TypeError, match="expected one of gs.outcomes"):
        gs.simulate(CRAFT, [0.1], [0.0], (0, 1), outcomes=[ANGLE])
    with pytest.raises(TypeError, match="no option of a formation"):
        gs.simulate(
            gs.Formation({"a": gs.Group(gs.load(gs.models.file("servicer")), ["one", "two"])}),
            t_span=(0, 1),
            outcomes=top,
        )
    with pytest.raises(ValueError, match="has no wheels"):
        gs.simulate(CRAFT, [0.1], [0.0], (0, 1), outcomes=outcomes.largest(outcomes.wheel_speed()))
    with pytest.raises(ValueError, match="has no key 'frme'"):
        outcomes.outcome_from_table({"outcome": "largest", "of": "attitude_error", "frme": "tool"})
    with pytest.raises(ValueError, match="needs the key 'below'"):
        outcomes.outcome_from_table({"outcome": "settling_time", "of": "body_rate"})
    found = outcomes.outcome_from_table({"outcome": "time_in", "of": "body_rate", "above": 0.1, "name": "fast"})
    assert (found.name, found.unit) == ("fast", "s")


def test_a_failed_run_has_no_outcomes_and_a_saved_one_keeps_them(tmp_path) -> None:
    run = gs.simulate(CRAFT, [0.3], [0.2], (0.0, END), outcomes=ASKED)
    again = gs.Trajectory.load(run.save(tmp_path / "run.nc"))
    assert again.outcomes == run.outcomes
    with pytest.warns(gs.SimulationWarning, match="stopped at"):
        lost = gs.simulate(
            CRAFT,
            [0.3],
            [0.2],
            (0.0, 2.0),
            environment=lambda craft, t, q, v: np.full((2, 6), 1.0) / (1.0 - t),
            outcomes=outcomes.largest(ANGLE),
        )
    assert np.isnan(lost.outcomes["largest angle"])


@pytest.mark.parametrize("cuts", [(5.0, 9.1), (17.0, 17.2), (0.4, 3.0, 16.9)])
def test_cut_into_phases_a_run_has_the_outcomes_of_the_whole(cuts) -> None:
    """Times in which phase they may be; of what holds through several of them, too."""
    start, state = 100.0, ([0.3], [0.2])
    asked = {**ASKED, "always": outcomes.settling_time(ANGLE, 9.0), "not yet": outcomes.settling_time(ANGLE, -9.0)}
    whole = gs.simulate(CRAFT, *state, (start, start + END), outcomes=asked, rtol=1e-10)
    phases = [gs.Phase(b - a, f"from {a}") for a, b in zip((0.0, *cuts), (*cuts, END), strict=True)]
    run = gs.simulate_phases(CRAFT, *state, phases, t0=start, outcomes=asked, rtol=1e-10)
    found = run.trajectory.outcomes
    assert set(found) == set(asked) and found["always"] == start and np.isinf(found["not yet"])
    for name, value in whole.outcomes.items():
        assert found[name] == pytest.approx(value, abs=1e-6 if "ripple" in name else 2e-5), name
    settled = [float(result.trajectory.outcomes["calm"]) for result in run.phases]
    assert cuts != (17.0, 17.2) or settled[-1] > found["calm"]  # calm since an earlier phase


def test_when_a_level_is_passed_is_refused_where_a_jump_may_pass_it() -> None:
    held = gs.constraints.weld("flap", "base", name="grip")
    phases = [gs.Phase(1.0, "free"), gs.Phase(1.0, "caught", grasp=[held])]
    asked = outcomes.time_of(lambda craft, t, q, v: v[0], 0.1, name="slow")
    with pytest.raises(ValueError, match="'slow' asks when a level is passed, and phase 'caught' begins with a jump"):
        gs.simulate_phases(CRAFT, [0.3], [0.2], phases, outcomes=asked)


def test_the_top_within_a_long_step_is_found() -> None:
    """cos(t - phase) in one step of a second, wherever in it the top lies: by parabolas through the best points."""
    phases = np.linspace(0.02, 0.98, 25)
    tops = {f"{p}": outcomes.largest(outcomes.Signal(lambda craft, t, q, v, p=p: cos(t - p), f"{p}")) for p in phases}
    lows = {
        f"-{p}": outcomes.smallest(outcomes.Signal(lambda craft, t, q, v, p=p: -cos(t - p), f"-{p}")) for p in phases
    }
    run = gs.simulate(CRAFT, [0.0], [0.0], (0.0, 1.0), integrator="rk4", step=1.0, outcomes=tops | lows)
    for name in tops:
        assert abs(run.outcomes[name] - 1.0) < 2e-7 and abs(run.outcomes[f"-{name}"] + 1.0) < 2e-7, name


def test_what_happens_at_the_end_of_a_step_happens_at_that_very_time() -> None:
    """t0 + (t1 - t0) is not always t1."""
    ends = 1e-6 * np.cumprod(np.random.default_rng(2).uniform(2.0, 3.0, 24))
    assert sum(a + (b - a) != b for a, b in pairwise(ends)) > 2
    asked = {
        str(k): outcomes.time_of(outcomes.Signal(lambda craft, t, q, v, end=end: t - end, str(k)), 0.0, +1)
        for k, end in enumerate(ends[:-1])
    }
    run = gs.simulate(
        CRAFT, [0.1], [0.0], (0.0, ends[-1]), integrator="rk4", step=100.0, breakpoints=ends, outcomes=asked
    )
    assert [run.outcomes[str(k)] for k in range(len(asked))] == list(ends[:-1])


def test_an_effect_that_ends_the_run_is_part_of_its_extremes() -> None:
    """The rate after the last impact is one that the craft has."""
    craft = gs.Spacecraft.build("box", [gs.Body("box", 10.0, inertia=(1.0, 2.0, 3.0))])
    speed = outcomes.Signal(lambda craft, t, q, v: v[3], "speed", "m/s")
    asked = {"most": outcomes.largest(speed), "least": outcomes.smallest(speed)}
    asked |= {"up": outcomes.time_of(speed, 1.5, direction=1), "down": outcomes.time_of(speed, 0.7)}
    for factor, most, least, up, down in ((2.0, 2.0, 1.0, 0.5, np.inf), (0.5, 1.0, 0.5, np.inf, 0.5)):
        hit = gs.When(lambda c, t, q, v: t - 0.5, "hit", True, 0, lambda c, t, q, v, f=factor: (q, f * v))
        run = gs.simulate(craft, None, [0, 0, 0, 1.0, 2, 3], (0, 1), events=hit, outcomes=asked)
        found = [float(run.outcomes[name]) for name in ("most", "least", "up", "down")]
        assert found == pytest.approx([most, least, up, down])
