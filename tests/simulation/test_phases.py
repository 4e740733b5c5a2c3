"""Runs in phases: every option of `simulate` reaches every phase, what remembers goes on,
and constraints begin and end as they are told.
"""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import constraints as gc
from gyrostat.papers.forbes2019 import crafts, servicing
from gyrostat.simulation import phases as module
from gyrostat.simulation.phase import Phase
from gyrostat.simulation.phases import simulate_phases
from gyrostat.simulation.simulate_craft import simulate
from manoeuvre import start

CRAFT, Q, V = start()
V = V + 0.01
GRIP = gc.weld("tool", "base", name="grip")
HALVES = [Phase(0.7, "first"), Phase(1.3, "second")]


def pd(craft, t, q, v):
    return np.concatenate([np.zeros(6), -2.0 * v[6:] - 3.0 * q[7:]])


def memory():
    output = lambda craft, t, q, v, z: np.concatenate([np.zeros(6), -2.0 * v[6:] - z])
    return gs.Controller(output, np.full(6, 0.1), derivative=lambda craft, t, q, v, z: q[7:])


def sampled():
    output = lambda craft, t, q, v, z: np.concatenate([np.zeros(6), -0.05 * v[6:] - z])
    return gs.Controller(output, np.full(6, 0.02), update=lambda craft, t, q, v, z: z + 0.01 * q[7:], period=0.15)


def end(run):
    return np.concatenate(run.phases[-1].end[1:])


# ---- every option


def test_every_option_of_simulate_reaches_every_phase_or_is_refused_by_name(monkeypatch):
    """By the signature of `simulate` itself: one that is added and forgotten fails here."""
    asked = []

    class Enough(Exception):
        pass

    def watched(request, after=None):
        asked.append(request)
        raise Enough

    monkeypatch.setattr(module, "prepare", watched)
    options = [p.name for p in inspect.signature(simulate).parameters.values() if p.kind is p.KEYWORD_ONLY]
    assert len(options) > 25
    # those that phases treat in a way of their own have tests of their own below
    own = {"constraints", "events", "outcomes", "save_at", "resume", "parameters", "runs", "locked", "prescribed"}
    with pytest.raises(TypeError, match="sensitivities= is no option of simulate_phases. Derivatives are not carried"):
        simulate_phases(CRAFT, Q, V, [Phase(1.0, "only")], sensitivities=["q0"])
    for name in set(options) - own - {"sensitivities"}:
        value = object()
        if name == "stabilisation":
            given = {name: value, "constraints": [gc.point("N", "base")]}
        else:
            given = {name: value}
        with pytest.raises(Enough):
            simulate_phases(CRAFT, Q, V, [Phase(1.0, "only")], **given)
        assert getattr(asked[-1], name) is value, name


@pytest.mark.parametrize(
    "options",
    [
        {"control": pd},
        {"environment": gs.environment.uniform_gravity((0.0, 0.5, -1.0))},
        {"control": pd, "actuators": gs.Actuators(lag=0.3)},
        {"control": memory()},
        {"control": sampled()},
        {"control": sampled(), "actuators": gs.Actuators(lag=0.2)},
        {"control": lambda craft, t, q, v, gain: gain * pd(craft, t, q, v), "inputs": {"gain": 0.4}},
        {"parameters": {"link_3.mass": 90.0}},
        {"locked": ["joint_2"]},
        {"prescribed": {"joint_2": lambda t: 0.3 * gs.algebra.cos(t)}},
        {"mode": "floating", "control": pd},
        {"conserve": "momentum", "control": pd},
        {"formulation": "lie_lagrange", "control": pd},
        {"integrator": "gauss16", "control": pd},
    ],
    ids=lambda o: " ".join(o),
)
def test_two_phases_are_one_run_cut_in_two(options):
    """Nothing is reset, dropped or begun anew at the cut: laws with memory,
    samples (not at the cut) and lagging motors go on.
    """
    v = V.copy()
    if "locked" in options:
        v[CRAFT.joint_named("joint_2").v_at] = 0.0
    options = {**options, "rtol": 1e-11, "atol": 1e-13}
    plain = gs.simulate(CRAFT, Q, v, (0.0, 2.0), rtol=1e-11, atol=1e-13)
    whole = gs.simulate(CRAFT, Q, v, (0.0, 2.0), **options)
    run = simulate_phases(CRAFT, Q, v, HALVES, **options)
    assert [r.phase.name for r in run.phases] == ["first", "second"] and run.ok
    for name in ("steps", "rejections"):
        parts = [getattr(r.trajectory.state, name) for r in run.phases]
        np.testing.assert_array_equal(getattr(run.trajectory.state, name), sum(parts))
    np.testing.assert_allclose(end(run), np.concatenate(whole.final), atol=1e-9)
    if "formulation" not in options and "integrator" not in options or "control" in options:
        assert np.abs(np.concatenate(whole.final) - np.concatenate(plain.final)).max() > 1e-4
    assert run.trajectory.audit.worst < 1e-9


def test_the_common_law_and_environment_act_unless_a_phase_has_its_own():
    gravity = gs.environment.uniform_gravity((0.0, 1.0, 0.0))
    phases = [Phase(0.5, "both"), Phase(0.5, "free", control=None, environment=None), Phase(0.5, "own", control=pd)]
    law = lambda craft, t, q, v: np.full(craft.nv, 0.2) * (np.arange(craft.nv) > 5)
    run = simulate_phases(CRAFT, Q, V, phases, control=law, environment=gravity)
    both, free, own = (r.trajectory.signals for r in run.phases)
    assert np.abs(both["command"][:, 6:] - 0.2).max() == 0.0 and np.abs(both["wrenches"]).max() > 1.0
    assert np.abs(free["command"]).max() == 0.0 and np.abs(free["wrenches"]).max() == 0.0
    np.testing.assert_allclose(own["command"][3], pd(CRAFT, 0, run["own"].trajectory.q[3], run["own"].trajectory.v[3]))
    assert np.abs(own["wrenches"]).max() > 1.0


def test_a_law_of_another_phase_starts_with_its_own_memory():
    laws = memory(), memory()
    run = simulate_phases(CRAFT, Q, V, [Phase(0.7, control=laws[0]), Phase(0.5, control=laws[1])])
    np.testing.assert_allclose(run.phases[1].trajectory.data["z"][0], 0.1)
    same = simulate_phases(CRAFT, Q, V, [Phase(0.7, control=laws[0]), Phase(0.5, control=laws[0])])
    np.testing.assert_array_equal(same.phases[1].trajectory.data["z"][0], same.phases[0].trajectory.data["z"][-1])
    assert np.abs(same.phases[1].trajectory.data["z"][0] - 0.1).max() > 0.01


def test_times_to_save_are_those_of_the_whole_run():
    times = np.array([0.0, 0.1, 0.7, 0.9, 1.55, 2.0])
    run = simulate_phases(CRAFT, Q, V, HALVES, save_at=times, rtol=1e-11)
    np.testing.assert_array_equal(run.trajectory.time, times)
    whole = gs.simulate(CRAFT, Q, V, (0, 2.0), save_at=times, rtol=1e-11)
    np.testing.assert_allclose(run.trajectory.q, whole.q, atol=1e-9)
    few = simulate_phases(CRAFT, Q, V, HALVES, save_at=[1.9])
    np.testing.assert_array_equal(few.trajectory.time, [1.9])


def test_breakpoints_are_times_of_the_whole_run():
    """A pulse of a microsecond in the second phase is not stepped over."""
    at = CRAFT.joint_named("joint_3").v_at.start
    pulse = lambda craft, t, q, v: np.eye(craft.nv)[at] * gs.algebra.where((t > 1.5) & (t < 1.5 + 1e-6), 1e6, 0.0)
    seen = simulate_phases(CRAFT, Q, 0 * V, HALVES, control=pulse, breakpoints=[1.5, 1.5 + 1e-6])
    assert np.abs(end(seen)[-6:]).max() > 1e-3


def test_events_are_watched_in_every_phase_and_a_terminal_one_ends_the_run():
    crossing = lambda craft, t, q, v: gs.algebra.sin(9.0 * t)
    run = simulate_phases(CRAFT, Q, V, HALVES, events=gs.When(crossing, "crossing"), max_step=0.1)
    np.testing.assert_allclose([e.t for e in run.trajectory.events], np.arange(1, 6) * np.pi / 9, atol=1e-9)
    stop = gs.When(lambda craft, t, q, v: t - 0.5, "enough", terminal=True)
    run = simulate_phases(CRAFT, Q, V, HALVES, events=[stop])
    assert len(run.phases) == 1 and run.ok and run.phases[0].ended_by == "enough"
    assert run.phases[0].end[0] == pytest.approx(0.5, abs=1e-12)


def test_the_effect_of_the_event_a_phase_waits_for_is_part_of_its_end():
    kick = gs.When(lambda craft, t, q, v: t - 0.3, "kick", effect=lambda craft, t, q, v: (q, 2.0 * v))
    run = simulate_phases(CRAFT, Q, V, [Phase(1.0, "wait", until=kick), Phase(0.1, "after")])
    before = run["wait"].trajectory.events[-1].v
    assert run["wait"].happened
    np.testing.assert_allclose(run["wait"].end[2], 2.0 * before)
    np.testing.assert_allclose(run["after"].trajectory.v[0], 2.0 * before)


# ---- constraints


def pair():
    craft, q, v = servicing.before_the_grasp()
    reach = lambda craft, t, q, v: (
        gs.algebra.norm(gs.frame_pose(craft, q, "grip_L").p - gs.frame_pose(craft, q, "hand_L").p) - 0.05
    )
    return craft, q, v, reach


def test_a_bounce_keeps_the_other_constraints():
    """Before, a grasp that bounced off took all constraints of its phase with it."""
    craft, q, v, reach = pair()
    hold = gc.as_it_is(gc.point("N", "bus", name="hold"), gc.relative_pose(craft, q, "N", "bus"))
    touch = gc.point("hand_L", "grip_L", name="touch")
    phases = [
        Phase(20.0, "approach", until=reach, constraints=[hold]),
        Phase(1.0, "away", grasp=[touch], constraints=[hold], restitution=0.5),
    ]
    run = simulate_phases(craft, q, v, phases, rtol=1e-11)
    away = run["away"]
    assert [c.title for c in away.constraints] == ["hold"]
    assert np.abs(away.trajectory.constraint_residuals().position).max() < 1e-9
    held, grasped = (gc.residuals(craft, 0.0, run["approach"].end[1], away.capture.v, [c]) for c in (hold, touch))
    before = gc.residuals(craft, 0.0, *run["approach"].end[1:], [touch]).velocity
    assert np.abs(held.velocity).max() < 1e-12
    np.testing.assert_allclose(grasped.velocity, -0.5 * before, atol=1e-12)


def test_common_constraints_hold_in_every_phase():
    craft, q, v, reach = pair()
    hold = gc.as_it_is(gc.point("N", "bus", name="hold"), gc.relative_pose(craft, q, "N", "bus"))
    grip = gc.weld("hand_L", "grip_L", name="grip")
    phases = [
        Phase(20.0, "approach", until=reach),
        Phase(2.0, "hold", grasp=[grip]),
        Phase(1.0, "go", release=["grip"]),
    ]
    run = simulate_phases(craft, q, v, phases, constraints=[hold], rtol=1e-11)
    assert [[c.title for c in r.constraints] for r in run.phases] == [["hold"], ["grip", "hold"], ["hold"]]
    p = np.concatenate([r.trajectory.frame("bus")[1] for r in run.phases])
    assert np.nanmax(np.abs(p - p[0])) < 1e-9


def test_a_grasp_onto_the_inertial_frame_is_an_impulse_in_the_audit():
    """Its momentum comes from outside: 1.2 in the audit's balance, as if it were an error, before it was counted."""
    craft, q, v, _ = pair()
    anchor = gc.point("N", "client", name="anchor")
    for grasp in (anchor, gc.point("client", "N", name="anchor")):
        run = simulate_phases(craft, q, v, [Phase(1.0, "free"), Phase(2.0, "held", grasp=[grasp])], rtol=1e-11)
        assert np.abs(run["held"].impulse).max() > 1.0
        h = run.trajectory.momentum()
        assert np.abs(h[-1] - h[0]).max() > 1.0
        assert run.trajectory.audit.worst < 1e-9


def test_masses_of_the_run_are_those_that_are_struck():
    craft, q, v, reach = pair()
    grip = gc.weld("hand_L", "grip_L", name="grip")
    phases = [Phase(20.0, "approach", until=reach), Phase(0.5, "hold", grasp=[grip])]
    own = {"client.mass": 900.0}
    run = simulate_phases(craft, q, v, phases, parameters=own, rtol=1e-11)
    heavy = simulate_phases(craft.with_values(own), q, v, phases, rtol=1e-11)
    np.testing.assert_allclose(run["hold"].capture.v, heavy["hold"].capture.v, atol=1e-9)
    assert run.trajectory.audit.worst < 1e-9
    light = simulate_phases(craft, q, v, phases, rtol=1e-11)
    assert np.abs(light["hold"].capture.v - run["hold"].capture.v).max() > 1e-4


@pytest.mark.parametrize("option", ["locked", "prescribed"])
def test_a_joint_that_is_held_does_not_jump_at_a_grasp(option):
    craft, q, v, reach = pair()
    grip = gc.weld("hand_L", "grip_L", name="grip")
    still = {"locked": ["L2", "L4"], "prescribed": {"L2": 0.0, "L4": lambda t: 0.0 * t}}[option]
    phases = [Phase(20.0, "approach", until=reach), Phase(2.0, "hold", grasp=[grip])]
    run = simulate_phases(craft, q, v, phases, rtol=1e-11, **{option: still})
    at = [craft.joint_named(name).v_at.start for name in ("L2", "L4")]
    assert np.abs(run["hold"].capture.v[at]).max() == 0.0 and np.abs(run["hold"].trajectory.v[:, at]).max() < 1e-12
    h = gs.momentum(craft, run["approach"].end[1], run["approach"].end[2])
    np.testing.assert_allclose(gs.momentum(craft, run["approach"].end[1], run["hold"].capture.v), h, atol=1e-9)
    assert run.trajectory.audit.worst < 1e-9
    free = simulate_phases(craft, q, v, phases, rtol=1e-11)
    assert np.abs(free["hold"].capture.v[at]).max() > 1e-4


def test_stabilisation_of_all_phases_and_of_one():
    craft, constraints, q = crafts.four_bar()
    moved = q.copy()
    moved[7] += 3e-7
    phases = [Phase(1.0, "first"), Phase(1.0, "second", stabilisation=(0.0, 0.0))]
    run = simulate_phases(craft, moved, None, phases, constraints=constraints, stabilisation=(3.0, 1.0))
    psi = [np.abs(r.trajectory.constraint_residuals().position).max(axis=1) for r in run.phases]
    assert psi[0][-1] < 0.3 * psi[0][0] and psi[1][-1] > 0.9 * psi[1][0] - 1e-12


# ---- interruption


def test_an_interrupted_run_goes_on_bit_for_bit():
    craft, q, v, reach = pair()
    rest = q.copy()
    law = gs.Controller(
        lambda craft, t, q, v, z: servicing.hold_and_detumble(craft, q, v, rest) * (1.0 + 0.1 * z[0]),
        [0.0],
        derivative=lambda craft, t, q, v, z: np.array([1.0]),
    )
    phases = [
        Phase(20.0, "approach", until=reach),
        Phase(3.0, "hold", grasp=[gc.weld("hand_L", "grip_L", name="grip")]),
        Phase(2.0, "go", release=["grip"]),
    ]
    options = {"control": law, "parameters": {"client.mass": 480.0}}
    whole = simulate_phases(craft, q, v, phases, **options)
    for steps in (15, 300):
        with pytest.warns(gs.SimulationWarning, match=f"took {steps} steps"):
            part = simulate_phases(craft, q, v, phases, max_steps=steps, **options)
        assert not part.ok and len(part.phases) < 3
        rest_of_it = simulate_phases(craft, phases=phases, resume=part, max_steps=10**6)
        assert rest_of_it.ok
        np.testing.assert_array_equal(rest_of_it.trajectory.q, whole.trajectory.q)
        np.testing.assert_array_equal(rest_of_it.trajectory.data["work"], whole.trajectory.data["work"])


def test_phases_stop_where_one_fails():
    blow = lambda craft, t, q, v: np.concatenate([np.zeros(6), v[6:] * 10.0 ** (40 * t)])
    with pytest.warns(gs.SimulationWarning):
        run = simulate_phases(CRAFT, Q, V, HALVES, control=blow, max_steps=3000)
    assert len(run.phases) == 1 and not run.ok


def test_an_event_that_never_comes_is_a_failure_of_the_whole():
    never = lambda craft, t, q, v: t + 1.0
    with pytest.warns(gs.SimulationWarning, match="phase 'approach' ended at t = 1 s without its event"):
        run = simulate_phases(CRAFT, Q, V, [Phase(1.0, "approach", until=never), Phase(1.0, "hold")])
    assert not run.ok and "without its event" in run.trajectory.failures[0]


# ---- what is refused


@pytest.mark.parametrize(
    "options, words",
    [
        ({"t_span": (0, 1)}, "t_span= is no option of simulate_phases. The phases say how long"),
        ({"rtoll": 1e-8}, "simulate has no option 'rtoll'.*rtol"),
        ({"parameters": {"link_3.mass": [40.0, 50.0]}}, "one run at a time.*'link_3.mass' is given for several"),
        ({"runs": [1, 2]}, "one run at a time.*'runs' is given for several"),
    ],
)
def test_options_that_phases_do_not_have(options, words):
    with pytest.raises((TypeError, ValueError), match=words):
        simulate_phases(CRAFT, Q, V, HALVES, **options)


@pytest.mark.parametrize(
    "arguments, words",
    [
        ({"options": {"control": pd}}, r"control= is no option of a phase. Give Phase\(control"),
        ({"options": {"parameters": {}}}, "They belong to the whole run"),
        ({"options": {"t_span": (0, 1)}}, "The phases say how long"),
        ({"options": {"rtoll": 1e-8}}, "simulate has no option 'rtoll'"),
        ({"restitution": 0.5}, "restitution= belongs to grasp="),
        ({"duration": -1.0}, "duration of -1.0 s"),
        ({"duration": "1"}, "duration is '1'; expected a time in seconds"),
        ({"grasp": GRIP}, "grasp is Combined.*; expected a list of constraints"),
        ({"constraints": [1]}, r"constraints is \[1\]; expected a list of constraints"),
        ({"release": "grip"}, r"release is 'grip'; expected a list, \['grip'\]"),
        ({"grasp": [GRIP], "restitution": 1.5}, r"restitution is 1.5; expected 0 \(held\) to 1 \(elastic\)"),
    ],
)
def test_phases_that_cannot_be(arguments, words):
    with pytest.raises((TypeError, ValueError), match=words):
        Phase(**{"duration": 1.0, "name": "odd", **arguments})


@pytest.mark.parametrize("phases", [[], [1], Phase(1.0, "alone"), None])
def test_phases_come_in_a_list(phases):
    with pytest.raises(TypeError, match=r"expected a list, \[gs.Phase\(duration, name\), ...\], of one or more"):
        simulate_phases(CRAFT, Q, V, phases)


@pytest.mark.parametrize(
    "later, words",
    [
        ({"release": ["grip"]}, "phase 'later' releases 'grip', which does not hold; what holds: nothing"),
        ({"attach": ["grip"]}, "phase 'later' attaches 'grip', which does not hold"),
        ({"grasp": [gc.point("tool", "base", name="pin")], "attach": ["pin"]}, "'pin' leaves 3 freedoms"),
        ({"grasp": [GRIP], "attach": ["grip"]}, "'tool' and 'base' become one tree where one of them is on the base"),
        ({"grasp": [gc.weld("toll", "base")]}, "has no body or frame 'toll'. Did you mean 'tool'"),
        ({"constraints": [gc.point("tool", "bose")]}, "has no body or frame 'bose'. Did you mean 'base'"),
    ],
)
def test_what_cannot_follow_is_refused_before_the_first_step(later, words):
    """It was when the phase came, and what had been flown until then was lost."""
    flown = []

    def law(craft, t, q, v):
        flown.append(float(t))
        return np.zeros(12)

    with pytest.raises(ValueError, match=words):
        simulate_phases(CRAFT, Q, V, [Phase(1.0, "first"), Phase(1.0, "later", **later)], control=law)
    assert not flown


def test_a_start_by_names():
    by_name = simulate_phases(CRAFT, {"joint_2": 0.3}, {"joint_1": 0.02, "joint_5": -0.1}, HALVES)
    q, v = CRAFT.q({"joint_2": 0.3}), CRAFT.v({"joint_1": 0.02, "joint_5": -0.1})
    np.testing.assert_array_equal(end(by_name), end(simulate_phases(CRAFT, q, v, HALVES)))


def test_a_batch_is_refused():
    with pytest.raises(ValueError, match="one run at a time.*'q0' is given for several"):
        simulate_phases(CRAFT, np.tile(Q, (3, 1)), V, HALVES)


def test_two_events_of_one_name_are_refused():
    reach = lambda craft, t, q, v: t - 0.5
    with pytest.raises(ValueError, match="waits for an event named 'reach', and events= has another"):
        simulate_phases(
            CRAFT, Q, V, [Phase(1.0, "reach", until=reach)], events=gs.When(lambda craft, t, q, v: t - 0.2, "reach")
        )


def test_what_a_continued_run_may_not_change():
    part = simulate_phases(CRAFT, Q, V, HALVES)
    with pytest.raises(ValueError, match="Leave them out"):
        simulate_phases(CRAFT, Q, phases=HALVES, resume=part)
    with pytest.raises(ValueError, match="the run had the phases 'first', 'second'"):
        simulate_phases(CRAFT, phases=HALVES[1:], resume=part)
    with pytest.raises(TypeError, match="expected what simulate_phases returned"):
        simulate_phases(CRAFT, phases=HALVES, resume=part.trajectory)


def test_work_and_impulse_of_many_phases_are_those_of_the_whole_at_every_saved_time():
    """Also where phases end between saved times."""
    times = np.linspace(0.0, 2.0, 9)
    options = {"control": pd, "environment": gs.environment.uniform_gravity((0.3, 0.5, -1.0)), "save_at": times}
    options |= {"rtol": 1e-11, "atol": 1e-13}
    phases = [Phase(length, f"part {k}") for k, length in enumerate((0.35, 0.6, 0.4, 0.65))]
    whole = gs.simulate(CRAFT, Q, V, (0.0, 2.0), **options)
    cut = simulate_phases(CRAFT, Q, V, phases, **options).trajectory
    np.testing.assert_allclose(np.intersect1d(cut.time, times), times)
    at = np.searchsorted(cut.time, times)
    for name in ("work", "impulse"):
        wanted = whole.data[name].values
        assert np.abs(wanted[-1]).max() > 1.0
        np.testing.assert_allclose(cut.data[name].values[at], wanted, rtol=1e-8, atol=1e-9)


def test_a_phase_that_waits_for_nothing_did_not_end_by_its_event():
    late = gs.When(lambda craft, t, q, v: t - 0.2, "late")
    run = simulate_phases(CRAFT, Q, V, [Phase(0.1, "by the clock"), Phase(0.5, "waits", until=late)])
    assert [(r.happened, r.ended_by) for r in run.phases] == [(False, None), (True, "late")]
    assert run.phases[1].end[0] == pytest.approx(0.2)
