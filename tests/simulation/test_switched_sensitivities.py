"""Derivatives of motion through loads that switch: where, sign, floor, mod in laws, stops with damping."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import gyrostat as gs
from exact import mp
from exact_runs import ExactRun, differences
from gyrostat.algebra import floor, scan, sign, sin, where
from same_trajectory import same

TIGHT = {"rtol": 1e-13, "atol": 1e-15}
END = 0.3


def crane():
    """A base, two links that share a slider on a spring, a wheel across: off every axis."""
    slider = gs.Joint("slider", "prismatic", "upper", (0.5, 0, 0), axis=(0, 0, 1), stiffness=3.0, damping=0.4)
    bodies = [
        gs.Body("base", 30.0, (0.02, 0.01, 0.0), (3.0, 4.0, 5.0)),
        gs.Body("upper", 4.0, (0.3, 0, 0.1), (0.02, 0.2, 0.2), gs.Joint("shoulder", "revolute", "base", (0.4, 0, 0))),
        gs.Body("lower", 3.0, (0.2, 0, 0), (0.02, 0.1, 0.1), slider),
        gs.Wheel("wheel", "base", (0, 0.6, 0.8), 0.05),
    ]
    craft = gs.Spacecraft.build("crane", bodies)
    q, v = gs.neutral(craft), np.zeros(craft.nv)
    q[7:], v[:] = [0.4, -0.1], [0.1, -0.2, 0.15, 0.05, 0.0, -0.1, 0.3, -0.2, 4.0]
    return craft, q, v


def place(q, v, gain):
    """What passes zero: of the state, and of what is varied."""
    return q[7] - 0.4 - gain[2] - 0.1 * q[8] + 0.02 * v[0]


def loads(q, v, gain, side):
    """side: of the switch, a number that is 0 below and 1 above."""
    return np.concatenate(
        [np.zeros(6), [gain[0] * sin(q[7]) + 2.0 * side, 0.7 * side * v[7], 0.03 * v[1] + 0.2 * side]]
    )


def by_where(craft, t, q, v, gain):
    return loads(q, v, gain, where(place(q, v, gain) > 0.0, 1.0, 0.0))


def by_sign(craft, t, q, v, gain):
    return loads(q, v, gain, 0.5 - 0.5 * sign(-place(q, v, gain)))


def by_floor(number):
    """Which whole number is passed does not matter: what is found by its sign changes it the other way at odd ones."""

    def law(craft, t, q, v, gain):
        return loads(q, v, gain, floor(number + 3.0 * place(q, v, gain)) - (number - 1.0))

    return law


def by_mod(craft, t, q, v, gain):
    """A saw of period 2, less its teeth."""
    x = 6.0 + place(q, v, gain)
    return loads(q, v, gain, 0.5 * (x - x % 2.0) - 2.0)


def by_two(craft, t, q, v, gain):
    """Of one place, written in two ways, in a product: neither side of one alone is met."""
    x = place(q, v, gain)
    return loads(q, v, gain, where(x > 0.0, 1.0, 0.0) * where(-x >= 0.0, 3.0, 1.0))


LAWS = {"where": by_where, "sign": by_sign, "mod": by_mod, "two": by_two}
LAWS |= {f"floor at {number}": by_floor(float(number)) for number in (-2, 0, 1, 4, 5)}
NAMES = ["lower.mass", "slider.stiffness", "input:gain"]
GIVEN = {"inputs": {"gain": np.array([-2.0, -0.5, 0.05])}, "sensitivities": NAMES, "save_at": [0.0, END]}


def direction_of(traj, seed=1):
    return np.random.default_rng(seed).normal(size=traj.data.sizes["by"]) * 0.3


@pytest.fixture(scope="module")
def expected():
    """Along a direction of what is varied, in thirty digits: one law up to the switch, the other from there on."""
    craft, q0, v0 = crane()
    low, high = (lambda c, t, q, v, gain, side=side: loads(q, v, gain, side) for side in (0.0, 1.0))
    traj = gs.simulate(craft, q0, v0, (0.0, 0.01), control=low, **GIVEN | {"save_at": [0.01]})
    direction, at = direction_of(traj), traj.equations.layout
    first, second = ExactRun(traj, q0, v0, 0.1), ExactRun(traj, q0, v0, 0.1)
    second.equations = replace(traj.equations, control=gs.Controller(high, []))
    guess = switched_at(craft, q0, v0)

    def run(eps):
        g = lambda x: place(x[at["q"]], x[at["v"]], x[at["input gain"]])
        x = first.to_event(first.start(direction, eps), g, guess)
        x = second.advance(x, mp.mpf(END))
        return np.concatenate([x[at["q"]], x[at["v"]]])

    return differences(run)


def ends(traj):
    return np.concatenate([traj.data["q_by"].values[-1], traj.data["v_by"].values[-1]]) @ direction_of(traj)


def switched_at(craft, q0, v0):
    """When, told by an event of the same run without derivatives."""
    gain = GIVEN["inputs"]["gain"]
    events = lambda craft, t, q, v: place(q, v, gain)
    run = gs.simulate(craft, q0, v0, (0.0, END), control=by_where, inputs=GIVEN["inputs"], events=events, **TIGHT)
    (event,) = run.events
    return event.t


@pytest.mark.parametrize("kind", LAWS)
def test_a_law_that_switches_as_differences_in_thirty_digits(kind, expected):
    craft, q0, v0 = crane()
    traj = gs.simulate(craft, q0, v0, (0.0, END), control=LAWS[kind], **GIVEN, **TIGHT)
    assert traj.ok and traj.events == ()  # nobody asked for one
    found = ends(traj)
    for part in (slice(0, craft.nq), slice(craft.nq, None)):
        np.testing.assert_allclose(found[part], expected[part], rtol=0, atol=1e-9 * np.abs(expected[part]).max())


@pytest.mark.parametrize("number", [1, 5])
def test_it_jumps_once_however_round_off_falls(number, expected):
    """At the switch its function has either sign by rounding: what is passed there and back again counts for nothing.
    Three of these tolerances gave twice the jump.
    """
    craft, q0, v0 = crane()
    for rtol in (1e-13, 3e-13, 1e-12, 2e-12, 3e-12, 5e-12, 1e-11, 2e-11, 4e-11, 1e-10):
        traj = gs.simulate(craft, q0, v0, (0.0, END), control=by_floor(float(number)), **GIVEN, rtol=rtol, atol=1e-15)
        np.testing.assert_allclose(ends(traj), expected, rtol=0, atol=1e-7, err_msg=str(rtol))


def arm():
    joint = gs.Joint("j", "revolute", "base", axis=(0, 0, 1))
    fixed = gs.Body("base", 10.0, (0, 0, 0), (1, 1, 1), gs.Joint("hold", "fixed"))
    return gs.Spacecraft.build("arm", [fixed, gs.Body("link", 2.0, (0.5, 0, 0), (0.1, 0.1, 0.2), joint)])


def pushed(craft, t, q, v, push, turn):
    return np.array([where(q[0] < turn, push[0], -push[1])])


@pytest.mark.parametrize(
    "options", [TIGHT, {"rtol": 1e-10, "integrator": "rk45"}, {"rtol": 1e-11, "integrator": "gauss16"}]
)
def test_closed_form_of_a_push_that_turns_about(options):
    """theta'' = a / J up to an angle, -b / J beyond it."""

    def end(a, b, turn, v0, m):
        J = 0.2 + m / 4
        dt = 1.5 - (mp.sqrt(v0 * v0 + 2 * a / J * turn) - v0) * J / a
        w = mp.sqrt(v0 * v0 + 2 * a / J * turn)
        return turn + w * dt - b / J * dt * dt / 2

    given = {"inputs": {"push": np.array([0.5, 0.2]), "turn": 0.3}, "save_at": [1.5]}
    names = ["input:push", "input:turn", "v0", "link.mass"]
    traj = gs.simulate(arm(), [0.0], [0.1], (0, 1.5), control=pushed, sensitivities=names, **given, **options)
    found = np.concatenate([np.ravel(traj.sensitivity("q", name)[-1]) for name in names])
    with mp.workdps(30):
        at = (0.5, 0.2, 0.3, 0.1, 2.0)
        expected = [float(mp.diff(end, at, tuple(int(i == k) for i in range(5)))) for k in range(5)]
    np.testing.assert_allclose(found, expected, rtol=max(100 * options["rtol"], 1e-11))


def test_loads_that_only_bend_do_not_jump():
    """A one-sided spring by where: the derivatives are those of the same law by max, which has no switch."""
    craft, q0, v0 = crane()

    def spring(push):
        def law(craft, t, q, v, gain):
            return np.concatenate([np.zeros(6), [-300.0 * push(place(q, v, gain)), 0.0, 0.0]])

        return law

    one = gs.simulate(craft, q0, v0, (0.0, END), control=spring(lambda x: where(x > 0.0, x, 0.0)), **GIVEN, **TIGHT)
    two = gs.simulate(craft, q0, v0, (0.0, END), control=spring(lambda x: (x + abs(x)) / 2), **GIVEN, **TIGHT)
    np.testing.assert_allclose(ends(one), ends(two), rtol=0, atol=1e-9 * np.abs(ends(two)).max())


def test_a_motion_that_slides_along_a_switch_is_refused():
    craft, q0, v0 = crane()

    def dry(craft, t, q, v, gain):
        return np.concatenate([np.zeros(6), [-20.0 * sign(v[6]), 0.0, 0.0]])

    with pytest.raises(
        ValueError, match=r"at t = 0\.\d+ s the motion of crane begins to slide along a switch"
    ) as error:
        gs.simulate(craft, q0, v0, (0.0, END), control=dry, **GIVEN)
    assert error.value.trajectory.t_end > 0.0


def test_a_batch_has_the_derivatives_of_each_run_and_an_interrupted_run_goes_on_bit_for_bit(tmp_path):
    craft, q0, v0 = crane()
    masses = np.array([2.0, 3.0, 4.5])
    given = {"control": by_where, "rtol": 1e-9, **GIVEN}
    alike = {"inputs": {"gain": np.tile(GIVEN["inputs"]["gain"], (3, 1))}}
    batch = gs.simulate(craft, q0, v0, (0.0, END), parameters={"lower.mass": masses}, **given | alike)
    for k, mass in enumerate(masses):
        alone = gs.simulate(craft, q0, v0, (0.0, END), parameters={"lower.mass": mass}, runs=k, **given)
        np.testing.assert_array_equal(batch.data["v_by"].values[k], alone.data["v_by"].values)
    whole = gs.simulate(craft, q0, v0, (0.0, END), **given)
    steps = int(whole.state.steps[0])
    assert steps > 6
    for most in (3, steps // 2, steps - 2):
        with pytest.warns(UserWarning, match="steps and reached only"):
            part = gs.simulate(craft, q0, v0, (0.0, END), max_steps=most, **given)
        part.save(tmp_path / "part.nc")
        same(gs.simulate(craft, resume=gs.Trajectory.load(tmp_path / "part.nc"), control=by_where), whole)


def test_the_motion_itself_and_events_that_were_asked_for_are_as_without_derivatives():
    craft, q0, v0 = crane()
    gain = GIVEN["inputs"]["gain"]
    asked = gs.When(lambda craft, t, q, v: place(q, v, gain) - 0.01, "passed", direction=1)
    given = {"control": by_where, "inputs": GIVEN["inputs"], "save_at": [END], "events": asked, **TIGHT}
    plain = gs.simulate(craft, q0, v0, (0.0, END), **given)
    traj = gs.simulate(craft, q0, v0, (0.0, END), sensitivities=NAMES, **given)
    assert [e.name for e in traj.events] == [e.name for e in plain.events] == ["passed"]
    np.testing.assert_allclose(traj.events[0].t, plain.events[0].t, rtol=0, atol=1e-11)
    np.testing.assert_allclose(traj.v[-1], plain.v[-1], rtol=0, atol=1e-10)
    assert traj.event_sensitivity("input:gain").shape == (1, 3)


@pytest.mark.parametrize(("factor", "end"), [(1.2, 1.5), (-0.5, 1.7), (None, 1.5)])
def test_an_event_exactly_where_a_load_switches(factor, end):
    """theta'' = a / J up to an angle, where the rate jumps (on or back) or the run ends; -b / J beyond."""
    inputs, names = {"push": np.array([0.5, 0.2]), "turn": 0.3}, ["input:push", "input:turn", "v0"]

    def effect(craft, t, q, v):
        return q, factor * v

    at = gs.When(lambda craft, t, q, v, turn: q[0] - turn, "at", factor is None, 1, None if factor is None else effect)

    def state(a, b, turn, v0):
        w = mp.sqrt(v0 * v0 + 2 * a / 0.7 * turn)
        dt = end - (w - v0) * 0.7 / a
        if factor is None:
            return turn, w, end - dt
        w, rate = factor * w, (a if factor < 0 else -b) / mp.mpf(0.7)
        return turn + w * dt + rate * dt * dt / 2, w + rate * dt, mp.mpf(end)

    traj = gs.simulate(
        arm(), [0.0], [0.1], (0, end), control=pushed, inputs=inputs, sensitivities=names, events=at, **TIGHT
    )
    assert [e.name for e in traj.events] == ["at"]
    found = [
        np.concatenate([np.ravel(traj.sensitivity(what, name, at_end=True)) for name in names]) for what in ("q", "v")
    ]
    found.append(np.concatenate([np.ravel(traj.sensitivity("t_end", name)) for name in names]))
    with mp.workdps(30):
        start = (0.5, 0.2, 0.3, 0.1)
        for part, of in zip(found, (0, 1, 2), strict=True):
            by = [mp.diff(lambda *p, of=of: state(*p)[of], start, [int(i == j) for i in range(4)]) for j in range(4)]
            np.testing.assert_allclose(part, np.array(by, dtype=float), rtol=1e-9, atol=1e-9)


def test_an_event_that_meets_a_switch_by_chance_is_refused():
    """It depends on what is varied in another way: which of them comes first decides."""
    event = gs.When(lambda craft, t, q, v: q[0] - 0.3, "at", effect=lambda craft, t, q, v: (q, 1.2 * v))
    inputs = {"push": np.array([0.5, 0.2]), "turn": 0.3}
    options = {"control": pushed, "inputs": inputs, "events": event, "sensitivities": ["input:turn"]}
    other = gs.When(lambda craft, t, q, v: q[0] - 0.3 * (1 + 0.5 * (q[0] - 0.3)), "too", effect=event.effect)
    smooth = {"control": lambda craft, t, q, v: np.array([0.5]), "sensitivities": ["v0"]}
    apart = gs.When(lambda craft, t, q, v: t - 0.5, "clock", effect=lambda craft, t, q, v: (q, 1.1 * v))
    alike = gs.simulate(arm(), [0.0], [0.1], (0, 1.5), **smooth, events=[event, other, apart])
    assert [e.name for e in alike.events] == ["clock", "at", "too"]
    when = alike.events[1].t
    late = gs.When(lambda craft, t, q, v: t - when, "late", effect=apart.effect)
    with pytest.raises(ValueError, match="several things happen at one instant.*event 'at', event 'late'"):
        gs.simulate(arm(), [0.0], [0.1], (0, 1.5), **smooth, events=[event, apart, late])
    with pytest.raises(ValueError, match="several things happen at one instant.*a load that switches, event 'at'"):
        gs.simulate(arm(), [0.0], [0.1], (0, 1.5), **options)


def test_switches_inside_a_loop_are_refused_unless_nothing_moves_them():
    def looped(side):
        def law(craft, t, q, v, push, turn):
            return scan(lambda x, k: x + push[0] * side(q, k, turn), np.zeros(1) * v, 3)

        return law

    given = {"inputs": {"push": np.array([0.5, 0.2]), "turn": 0.3}, "sensitivities": ["input:push"], "save_at": [0.1]}
    counted = looped(lambda q, k, turn: where(k < 1.5, 1.0, 0.2))
    traj = gs.simulate(arm(), [0.0], [0.1], (0, 0.1), control=counted, **given)
    np.testing.assert_allclose(traj.sensitivity("v", "input:push")[-1], [[2.2 * 0.1 / 0.7, 0.0]], rtol=1e-9)
    for side in (lambda q, k, turn: where(q[0] < turn + k, 1.0, -1.0), lambda q, k, turn: sign(q[0] - k)):
        with pytest.raises(ValueError, match="compares what moves inside a loop"):
            gs.simulate(arm(), [0.0], [0.1], (0, 0.1), control=looped(side), **given)
