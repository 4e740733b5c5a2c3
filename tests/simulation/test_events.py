"""Events against closed forms: when they happen, to round-off, with every integrator;
what they record, stop and change.
"""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algebra import maximum, sin, where

METHODS = {
    "dop853": {"integrator": "dop853", "rtol": 1e-12, "atol": 1e-14},
    "rk45": {"integrator": "rk45", "rtol": 1e-12, "atol": 1e-14},
    "gauss6": {"integrator": "gauss6", "step": 0.02},
    "gauss16": {"integrator": "gauss16", "rtol": 1e-12, "atol": 1e-14},
    "rk4": {"integrator": "rk4", "step": 0.002},
}
STIFFNESS, MASS, BASE = 9.0, 2.0, 10.0
OMEGA = np.sqrt(STIFFNESS * (1 / MASS + 1 / BASE))  # of two masses and a spring between them


def oscillator(**joint):
    """A mass on a spring along x, on a free base: the stretch is cos(omega t)."""
    base = gs.Body("base", BASE, inertia=(1.0, 1.0, 1.0))
    slider = gs.Joint("slider", "prismatic", "base", axis=(1, 0, 0), **joint)
    return gs.Spacecraft.build("oscillator", [base, gs.Body("mass", MASS, inertia=(0.1, 0.1, 0.1), joint=slider)])


def stretched(craft, x=1.0):
    q = gs.neutral(craft)
    q[7] = x
    return q


@pytest.mark.parametrize("method", METHODS)
def test_crossings_of_an_oscillator(method):
    craft = oscillator(stiffness=STIFFNESS)
    level = 0.3
    events = [
        gs.When(lambda craft, t, q, v: q[7] - level, "both"),
        gs.When(lambda craft, t, q, v: q[7] - level, "rising", direction=1),
        gs.When(lambda craft, t, q, v: q[7] - level, "falling", direction=-1),
    ]
    traj = gs.simulate(craft, stretched(craft), None, (0, 10), events=events, save_at=[10.0], **METHODS[method])
    turns = 2 * np.pi * np.arange(8)
    falls, rises = (turns + np.arccos(level)) / OMEGA, (turns + 2 * np.pi - np.arccos(level)) / OMEGA
    wanted = {"falling": falls[falls < 10], "rising": rises[rises < 10]}
    wanted["both"] = np.sort(np.concatenate(list(wanted.values())))
    for name, times in wanted.items():
        found = [e for e in traj.events if e.name == name]
        np.testing.assert_allclose([e.t for e in found], times, atol=2e-12 if method != "rk4" else 2e-10)
        np.testing.assert_allclose([e.q[7] for e in found], level, atol=1e-13)
    assert [e.t for e in traj.events] == sorted(e.t for e in traj.events)


@pytest.mark.parametrize("method", METHODS)
def test_a_terminal_event_ends_the_run_there(method):
    craft = oscillator(stiffness=STIFFNESS)
    stop = gs.When(lambda craft, t, q, v: v[6], "turns", terminal=True, direction=1)
    times = np.linspace(0, 10, 101)
    traj = gs.simulate(craft, stretched(craft), None, (0, 10), events=stop, save_at=times, **METHODS[method])
    end = np.pi / OMEGA  # at rest, at the other end
    assert traj.status == ("stopped",) and traj.ok and [e.name for e in traj.events] == ["turns"]
    assert abs(traj.events[0].t - end) < 1e-11 and float(traj.data["t_end"]) == traj.events[0].t
    q, v = traj.final
    assert abs(q[7] + 1) < 1e-9 and abs(v[6]) < 1e-11
    np.testing.assert_array_equal(np.isnan(traj.q[:, 7]), times > end)
    np.testing.assert_allclose(traj.q[times <= end, 7], np.cos(OMEGA * times[times <= end]), atol=1e-9)
    again = gs.simulate(craft, resume=traj, t_span=(0, 20))
    assert again.status == ("stopped",) and len(again.events) == 1


@pytest.mark.parametrize("method", METHODS)
def test_a_slider_that_bounces(method):
    """Force-free between bounces: straight lines; at x = 0 its relative speed is reversed and
    halved, momentum is kept.
    """
    craft = oscillator()
    reduced = MASS * BASE / (MASS + BASE)

    def bounce(craft, t, q, v):
        jump = -1.5 * v[6] * reduced
        v = v.copy()
        base = -jump / BASE
        v[3] += base
        v[6] += jump / MASS - base
        return q, v

    q, v = stretched(craft), np.zeros(7)
    v[6] = -0.8
    event = gs.When(lambda craft, t, q, v: q[7], "bounce", direction=-1, effect=bounce)

    def pull(craft, t, q, v):
        return np.array([0, 0, 0, 0, 0, 0, -0.6 * reduced])  # a constant pull: the slider falls with 0.6 m/s^2

    options = dict(METHODS[method], control=pull, events=event)
    traj = gs.simulate(craft, q, v, (0, 5.0), save_at=np.linspace(0, 5.0, 40), **options)
    times, speed, t = [], 0.8, 0.0
    first = (-0.8 + np.sqrt(0.64 + 1.2)) / 0.6
    speed = 0.8 + 0.6 * first
    t = first
    while t < 5.0:
        times.append(t)
        speed *= 0.5
        t += 2 * speed / 0.6
    assert len(times) >= 3
    np.testing.assert_allclose([e.t for e in traj.events], times, atol=1e-12)
    assert all(abs(e.q[7]) < 1e-14 and e.v[6] < 0 for e in traj.events)  # the state before the effect

    def height(s):
        before = [x for x in times if x <= s]
        if not before:
            return 1 - 0.8 * s - 0.3 * s * s
        up = (0.8 + 0.6 * first) * 0.5 ** len(before)
        return up * (s - before[-1]) - 0.3 * (s - before[-1]) ** 2

    np.testing.assert_allclose(traj.q[:, 7], [height(s) for s in traj.time], atol=1e-11)
    assert np.abs(traj.momentum()[:, 3:]).max() > 0  # the base moves, too
    np.testing.assert_allclose(traj.momentum(), np.broadcast_to(traj.momentum()[0], traj.momentum().shape), atol=1e-12)


def test_bounces_within_one_step_are_not_missed():
    """Steps of 0.5 s, bounces that come ever faster: none is jumped over until they are shorter than round-off."""
    craft = oscillator()
    reduced = MASS * BASE / (MASS + BASE)

    def bounce(craft, t, q, v):
        v = v.copy()
        v[3] += 1.6 * v[6] * reduced / BASE
        v[6] *= -0.6
        return q, v

    event = gs.When(lambda craft, t, q, v: q[7], "bounce", direction=-1, effect=bounce)
    pull = lambda craft, t, q, v: np.array([0, 0, 0, 0, 0, 0, -reduced])
    last = np.sqrt(2) * (1 + 2 * 0.6 / 0.4)  # when the bounces have become infinitely many
    options = {"control": pull, "events": event, "integrator": "dop853", "step": 0.5}
    traj = gs.simulate(craft, stretched(craft), None, (0, last - 1e-3), save_at=[last - 1e-3], **options)
    fall = np.sqrt(2)
    times = fall * (1 + 2 * np.cumsum(np.append(0, 0.6 ** np.arange(1, 40))))
    times = times[times < last - 1e-3]
    assert len(times) > 15
    np.testing.assert_allclose([e.t for e in traj.events], times, atol=1e-11)


def test_an_effect_that_switches_without_turning_back_happens_once():
    """The function passes through zero and goes on: the jump (a kick to the base) is not repeated."""
    craft = oscillator()
    q, v = stretched(craft), np.zeros(7)
    v[6] = -1.0

    def kick(craft, t, q, v):
        v = v.copy()
        v[4] += 0.25
        return q, v

    event = gs.When(lambda craft, t, q, v: q[7] - 0.5, effect=kick)
    traj = gs.simulate(craft, q, v, (0, 2), events=event, save_at=[0.25, 2.0])
    assert [round(e.t, 12) for e in traj.events] == [0.5]
    np.testing.assert_allclose(traj.v[:, 4], [0, 0.25], atol=1e-14)
    np.testing.assert_allclose(traj.q[1, 5], 0.25 * 1.5, atol=1e-13)


@pytest.mark.parametrize("method", ["dop853", "gauss16"])
def test_an_effect_where_a_load_switches_happens_once(method):
    """Steps across a switch become as short as round-off: the side on which the effect has left the motion is told."""
    craft = oscillator()

    def law(craft, t, q, v):
        return np.concatenate([np.zeros(6), [where(q[7] > 0.3, -3.0, 2.0)]])

    def faster(craft, t, q, v):
        return q, np.concatenate([v[:6], [1.1 * v[6] - 0.05]])

    hit = gs.When(lambda craft, t, q, v: q[7] - 0.3, "hit", direction=1, effect=faster)
    v = np.zeros((12, 7))
    v[:, 6] = 0.4 + 1e-6 * np.arange(-20, -8)
    q = np.tile(gs.neutral(craft), (12, 1))
    options = {"control": law, "events": hit, "save_at": [1.0]}
    traj = gs.simulate(craft, q, v, (0, 1), **options, **METHODS[method])
    assert [sum(e.run == k for e in traj.events) for k in range(12)] == [1] * 12


@pytest.mark.parametrize("t0", [0.0, 100.0, 1e4])
def test_an_effect_where_a_load_switches_by_the_clock_happens_once_however_late_it_is(t0):
    """Far from zero, times that differ look the same: it happened three to six times."""
    craft = oscillator()
    law = lambda craft, t, q, v: np.concatenate([np.zeros(6), [where(t < t0 + 0.5, 2.0, -1.0)]])
    kick = gs.When(lambda craft, t, q, v: t - (t0 + 0.5), "kick", effect=lambda craft, t, q, v: (q, 1.2 * v))
    traj = gs.simulate(
        craft, None, [0, 0, 0, 0, 0, 0, 0.1], (t0, t0 + 1.0), control=law, events=kick, **METHODS["dop853"]
    )
    assert len(traj.events) == 1
    both = 1 / MASS + 1 / BASE
    assert traj.v[-1, 6] == pytest.approx(1.2 * (0.1 + both) - 0.5 * both, abs=1e-9)


@pytest.mark.parametrize("method", ["dop853", "gauss16", "rk4"])
def test_a_row_at_the_instant_of_an_effect_has_the_state_after_it(method):
    """As in phases, in steps, and at the end."""
    craft = oscillator(stiffness=STIFFNESS)
    kick = gs.When(lambda craft, t, q, v: t - 0.2, effect=lambda craft, t, q, v: (q, v + np.arange(7.0)))
    whole, cut = (
        gs.simulate(craft, stretched(craft), np.zeros(7), (0, end), events=kick, save_at=[0.1, 0.2], **METHODS[method])
        for end in (0.3, 0.2)
    )
    np.testing.assert_array_equal(whole.v[1], cut.final[1])
    np.testing.assert_array_equal(cut.v[1], cut.final[1])
    assert whole.v[1, 5] == 5.0 and whole.v[0, 5] == 0.0


def test_several_events_in_one_step_come_in_order_and_those_after_an_effect_are_judged_anew():
    craft = oscillator()
    q, v = stretched(craft), np.zeros(7)
    v[6] = -1.0

    def stand_still(craft, t, q, v):
        return q, np.zeros(7)

    events = [
        gs.When(lambda craft, t, q, v: q[7] - 0.2, "never"),
        gs.When(lambda craft, t, q, v: q[7] - 0.4, "halt", effect=stand_still),
        gs.When(lambda craft, t, q, v: q[7] - 0.6, "second"),
        gs.When(lambda craft, t, q, v: q[7] - 0.8, "first"),
        gs.When(lambda craft, t, q, v: t - 1.5, "clock"),
    ]
    traj = gs.simulate(craft, q, v, (0, 2), events=events, integrator="dop853", step=2.0, save_at=[2.0])
    assert [e.name for e in traj.events] == ["first", "second", "halt", "clock"]
    np.testing.assert_allclose([e.t for e in traj.events], [0.2, 0.4, 0.6, 1.5], atol=1e-13)
    np.testing.assert_allclose(traj.final[0][7], 0.4, atol=1e-13)


def test_an_event_at_a_breakpoint_and_at_the_start():
    craft = oscillator()
    q, v = stretched(craft), np.zeros(7)
    v[6] = -0.5
    at_break = gs.When(lambda craft, t, q, v: t - 1.0, "t is 1")
    at_start = gs.When(lambda craft, t, q, v: q[7] - 1.0, "leaves the start")
    traj = gs.simulate(craft, q, v, (0, 3), events=[at_break, at_start], breakpoints=[1.0])
    assert [(e.name, e.t) for e in traj.events] == [("t is 1", 1.0)]


def test_events_of_a_batch_belong_to_their_runs():
    craft = oscillator(stiffness=STIFFNESS)
    sizes = np.linspace(0.5, 1.5, 11)
    q = np.array([stretched(craft, x) for x in sizes])
    event = gs.When(lambda craft, t, q, v: q[7] - 0.4, terminal=True)
    traj = gs.simulate(craft, q, np.zeros(7), (0, 1), events=event, rtol=1e-12, atol=1e-14)
    assert [e.run for e in traj.events] == list(range(11)) and set(traj.status) == {"stopped"}
    np.testing.assert_allclose([e.t for e in traj.events], np.arccos(0.4 / sizes) / OMEGA, atol=1e-12)


def test_events_may_ask_for_inputs_and_the_runs_own_values():
    craft = oscillator()
    q, v = np.array([stretched(craft)] * 3), np.zeros(7)
    v[6] = -1.0

    def level(craft, t, q, v, height, run):
        return q[7] - height + 0.0 * run - 0.01 * craft.body("mass").mass

    heights, masses = np.array([0.2, 0.4, 0.6]), np.array([1.0, 2.0, 3.0])
    traj = gs.simulate(craft, q, v, (0, 2), events=level, inputs={"height": heights}, parameters={"mass.mass": masses})
    np.testing.assert_allclose([e.t for e in traj.events], 1 - heights - 0.01 * masses, atol=1e-13)


COARSE = {
    "dop853": {"integrator": "dop853", "rtol": 1e-9},
    "rk45": {"integrator": "rk45", "rtol": 1e-7},
    "gauss16": {"integrator": "gauss16", "rtol": 1e-9},
    "gauss16, long steps": {"integrator": "gauss16", "rtol": 1e-5},
    "gauss6": {"integrator": "gauss6", "step": 0.2},
    "rk4": {"integrator": "rk4", "step": 0.02},
}


def drifting():
    """A base that moves at 1 m/s along x, and is within 0.1 m of x = 5 m for 0.2 s;
    one step of its motion is longer.
    """
    craft = gs.Spacecraft.build("block", [gs.Body("base", BASE, inertia=(1.0, 1.0, 1.0))])
    return craft, np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0])


def near(craft, t, q, v):
    return 0.01 - (q[4] - 5.0) ** 2


@pytest.mark.parametrize("options", [{}, {"integrator": "gauss16"}, {"integrator": "rk4", "step": 5.0}, {"step": 10.0}])
def test_two_changes_of_sign_within_one_step_are_seen(options):
    craft, v = drifting()
    events = [gs.When(near, "both"), gs.When(near, "in", direction=1), gs.When(near, "out", direction=-1)]
    traj = gs.simulate(craft, None, v, (0, 10), events=events, save_at=[10.0], **options)
    found = {name: [e.t for e in traj.events if e.name == name] for name in ("both", "in", "out")}
    np.testing.assert_allclose(found["both"], [4.9, 5.1], atol=1e-12)
    np.testing.assert_allclose(found["in"], [4.9], atol=1e-12)
    np.testing.assert_allclose(found["out"], [5.1], atol=1e-12)
    stopped = gs.simulate(craft, None, v, (0, 10), events=gs.When(near, terminal=True), save_at=[10.0], **options)
    assert stopped.status == ("stopped",) and abs(stopped.final[0][4] - 4.9) < 1e-12


@pytest.mark.parametrize("method", COARSE)
@pytest.mark.parametrize("depth", [1e-2, 1e-4, -1e-4])
def test_a_level_just_below_the_crest_is_crossed_twice_and_one_just_above_never(method, depth):
    """The stretch cos(omega t) rises above 1 - depth for a short while only, within one step."""
    craft = oscillator(stiffness=STIFFNESS)
    event = gs.When(lambda craft, t, q, v: q[7] - (1.0 - depth))
    traj = gs.simulate(craft, stretched(craft), None, (0, 10), events=event, save_at=[10.0], **COARSE[method])
    half = np.arccos(1.0 - depth) if depth > 0 else np.nan
    times = np.ravel([(2 * np.pi * n + np.array([-half, half])) / OMEGA for n in range(10)])
    times = times[(times > 0) & (times < 10)]
    assert len(times) == (0 if depth < 0 else 7)
    np.testing.assert_allclose([e.t for e in traj.events], times, atol=1e-3)


def test_looking_for_events_changes_no_bit_of_the_run():
    craft = oscillator(stiffness=STIFFNESS)
    q = np.array([stretched(craft, x) for x in np.linspace(0.5, 1.5, 13)])
    for options in COARSE.values():
        plain = gs.simulate(craft, q, None, (0, 5), save_at=[2.0, 5.0], **options)
        seen = gs.simulate(
            craft, q, None, (0, 5), save_at=[2.0, 5.0], events=lambda craft, t, q, v: q[7] - 0.99, **options
        )
        assert seen.events
        np.testing.assert_array_equal(seen.q, plain.q)
        np.testing.assert_array_equal(seen.v, plain.v)


@pytest.mark.parametrize("options", [{}, {"integrator": "gauss16"}, {"integrator": "rk4", "step": 5.0}, {"step": 10.0}])
def test_a_function_that_swings_many_times_within_one_step_is_followed(options):
    """Three of eight were seen before, by dop853."""
    craft, v = drifting()
    wave = gs.When(lambda craft, t, q, v: 0.1 + sin(8.0 * np.pi * q[4] / 10.0), "wave")
    traj = gs.simulate(craft, None, v, (0, 10), events=wave, save_at=[10.0], **options)
    phase = np.ravel(
        [[np.pi + np.arcsin(0.1) + 2 * np.pi * n, 2 * np.pi - np.arcsin(0.1) + 2 * np.pi * n] for n in range(4)]
    )
    np.testing.assert_allclose([e.t for e in traj.events], phase * 10.0 / (8.0 * np.pi), atol=1e-11)
    assert traj.state.steps[0] < 40 and not traj.notes


@pytest.mark.parametrize("method", ["dop853", "rk45", "gauss16"])
def test_every_half_turn_of_a_spinning_body_is_seen(method):
    """2 of 22 before, by dop853: a body that spins steadily is integrated in few, long steps."""
    craft = gs.Spacecraft.build("top", [gs.Body("body", 10.0, inertia=(2.0, 2.0, 3.0))])
    rate = 0.7

    def seen(craft, t, q, v):
        return 1.0 - 2.0 * (q[2] ** 2 + q[3] ** 2)  # x axis of the body along that of N

    traj = gs.simulate(craft, None, [0, 0, rate, 0, 0, 0], (0, 100), events=seen, integrator=method, rtol=1e-9)
    times = (np.arange(22) + 0.5) * np.pi / rate
    np.testing.assert_allclose([e.t for e in traj.events], times[times < 100], atol=1e-6)
    assert len(times[times < 100]) == 22


@pytest.mark.parametrize("options", [{}, {"integrator": "gauss16"}, {"integrator": "rk4", "step": 1.0}])
def test_what_swings_too_fast_to_be_followed_is_told(options, tmp_path):
    """A thousand swings in ten seconds, whose steps could be as long as the run."""
    craft, v = drifting()
    fast = gs.When(lambda craft, t, q, v: sin(200.0 * np.pi * q[4]) + 0.3, "fast")
    with pytest.warns(
        gs.SimulationWarning, match=r"event 'fast' swings faster than it could be followed: looks .* s apart"
    ):
        traj = gs.simulate(craft, None, v, (0, 10), events=fast, save_at=[10.0], **options)
    assert len(traj.events) < 2000
    (note,) = traj.notes
    assert note.startswith("event 'fast' swings faster") and note in str(traj)
    assert gs.Trajectory.load(traj.save(tmp_path / "run.nc")).notes == traj.notes
    short = {**options, "step": 0.002} if "step" in options else {**options, "max_step": 0.004}
    whole = gs.simulate(craft, None, v, (0, 10), events=fast, save_at=[10.0], **short)
    assert len(whole.events) == 2000 and not whole.notes


@pytest.mark.parametrize("method", METHODS)
def test_a_function_that_jumps_is_found_and_not_called_fast(method):
    craft, v = drifting()
    step = gs.When(lambda craft, t, q, v: where(q[4] < 3.3, -1.0, 2.0), "step")
    corner = gs.When(lambda craft, t, q, v: maximum(q[4] - 7.7, 0.0) - 1e-3, "corner")
    traj = gs.simulate(craft, None, v, (0, 10), events=[step, corner], save_at=[10.0], **METHODS[method])
    assert [(e.name, round(e.t, 9)) for e in traj.events] == [("step", 3.3), ("corner", 7.701)] and not traj.notes


@pytest.mark.parametrize("integrator", ["dop853", "gauss16"])
def test_effects_of_one_instant_all_happen_one_after_the_other(integrator):
    """Two clocks that ring together: a push, then a doubling of the speed that it has left."""
    craft = gs.Spacecraft.build("box", [gs.Body("hull", 2.0, inertia=np.ones(3), joint=gs.Joint("hull", "free"))])
    push = gs.When(
        lambda craft, t, q, v: t - 0.3, "push", effect=lambda craft, t, q, v: (q, v + np.repeat([0.0, 1.0], 3))
    )
    double = gs.When(lambda craft, t, q, v: 0.3 - t, "double", effect=lambda craft, t, q, v: (q, 2.0 * v))
    v = np.array([0.0, 0.0, 0.0, 0.5, 0.0, 0.0])
    run = gs.simulate(craft, None, v, (0, 1), events=[push, double], integrator=integrator, save_at=[0.0, 1.0])
    assert [(event.name, round(event.t, 9)) for event in run.events] == [("push", 0.3), ("double", 0.3)]
    np.testing.assert_allclose(run.v[-1, 3:6], [3.0, 2.0, 2.0], rtol=1e-12)
    assert run.audit.worst < 1e-12


def test_an_effect_does_not_move_a_locked_joint():
    """Before, the joint went on at the speed of the kick although it was locked."""
    craft = gs.load("servicer")
    joint = craft.joint_named(craft.joints[1].name)
    dv = np.zeros(craft.nv)
    dv[joint.v_at] = 0.1

    def kick(at):
        return gs.When(lambda craft, t, q, v: t - 0.2, "kick", effect=lambda craft, t, q, v: (q, v + at))

    with pytest.raises(ValueError, match=f"effect of event 'kick' moves joint '{joint.name}', which is locked"):
        gs.simulate(craft, t_span=(0.0, 0.4), events=[kick(dv)], locked=[joint.name])
    dv[joint.v_at], dv[0] = 0.0, 0.1
    run = gs.simulate(craft, t_span=(0.0, 0.4), events=[kick(dv)], locked=[joint.name])
    assert run.ok and not run.v[:, joint.v_at].any()
