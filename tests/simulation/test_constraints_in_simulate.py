"""`gs.simulate(constraints=...)`: closed loops with every other option, and what the constraints did."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import constraints as gc
from gyrostat.constraints import Stabilisation, constraint_loads, residuals
from gyrostat.papers.forbes2019 import crafts
from gyrostat.simulation.problem.equations import Equations
from random_trees import random_rotation, random_state


@pytest.fixture(scope="module")
def four_bar():
    return crafts.four_bar()


def push(craft, t, q, v):
    return gs.joint_torques(craft, {"crank": 0.5 - 0.1 * v[6]})


def memory(craft):
    at = craft.joint_named("crank").v_at

    def output(craft, t, q, v, z):
        return gs.joint_torques(craft, {"crank": -2.0 * v[at] - 0.5 * z + 0.3})

    return gs.Controller(output, [0.0], derivative=lambda craft, t, q, v, z: v[at])


def sampled(craft):
    at = craft.joint_named("crank").v_at
    output = lambda craft, t, q, v, z: gs.joint_torques(craft, {"crank": 0.4 - 0.3 * v[at] - 0.1 * z})
    return gs.Controller(output, [0.0], update=lambda craft, t, q, v, z: z + v[at], period=0.13)


def limited(craft):
    """With end stops within reach."""
    limits = gs.Limits(lower=0.5, upper=0.95)
    bodies = [replace(b, joint=replace(b.joint, limits=limits)) if b.name == "crank" else b for b in craft.bodies]
    return gs.Spacecraft.build(craft.name, bodies, frames=craft.frames)


OPTIONS = {
    "law with memory": lambda c: {"control": memory(c)},
    "sampled law with memory": lambda c: {"control": sampled(c)},
    "law called from Python": lambda c: {"control": lambda craft, t, q, v: 1.0 * push(craft, t, q, v)},
    "lagging motors": lambda c: {"control": push, "actuators": gs.Actuators(saturate=False, lag=0.2)},
    "end stops": lambda c: {"control": push, "stops": gs.Stops(stiffness=50.0, damping=1.0)},
    "inputs": lambda c: {
        "control": lambda craft, t, q, v, gain: gain * push(craft, t, q, v),
        "inputs": {"gain": 1.4},
    },
    "parameters": lambda c: {"control": push, "parameters": {"crank.mass": 3.3}},
    "conserved momentum": lambda c: {"control": push, "conserve": "momentum"},
    "environment": lambda c: {"control": push, "environment": gs.environment.uniform_gravity((0.0, 0.1, 0.2))},
    "mode": lambda c: {"control": push, "mode": "floating"},
}


@pytest.mark.parametrize("name", OPTIONS)
def test_loads_and_violations_with_every_option(four_bar, name):
    """The loads that the trajectory shows are those that NumPy computes from its states and from what else acted."""
    craft, constraints, q = four_bar
    craft = limited(craft) if name == "end stops" else craft
    options = OPTIONS[name](craft)
    traj = gs.simulate(craft, q, None, (0, 3.0), constraints=constraints, rtol=1e-11, **options)
    assert traj.ok and traj.audit.worst < 1e-9
    loads, open_by = traj.constraint_loads(), traj.constraint_residuals()
    assert np.ptp(traj.q[:, 7]) > 0.01 and np.abs(loads.multipliers).max() > 0.01
    assert np.abs(open_by.position).max() < 1e-9 and np.abs(open_by.velocity).max() < 1e-9
    own = craft.with_values(options.get("parameters", {}))
    outer = options.get("environment")
    for k in (3, 170, 400):
        t, state = traj.time[k], (traj.q[k], traj.v[k])
        wrenches = None if outer is None else outer.wrenches(own, t, *state)
        expected = constraint_loads(own, t, *state, traj.tau[k], constraints, wrenches=wrenches)
        for found, wanted in zip(loads, expected, strict=True):
            np.testing.assert_allclose(found[k], wanted, atol=1e-9 * np.abs(loads.multipliers).max())
        violated = residuals(own, t, *state, constraints)
        np.testing.assert_allclose(open_by.position[k], violated.position, atol=1e-12)
        np.testing.assert_allclose(open_by.velocity[k], violated.velocity, atol=1e-12)


def test_locked_joints_and_prescribed_motions_carry_loads_of_the_loop(four_bar):
    """A crank that is held or driven: the loop stays closed, and its load is that of inverse dynamics with the
    constraints' wrenches.
    """
    craft, constraints, q = four_bar
    for options in ({"locked": ["crank"]}, {"prescribed": {"crank": lambda t: 0.1 * gs.algebra.cos(t)}}):
        v = None
        traj = gs.simulate(
            craft,
            q,
            v,
            (0, 2.0),
            constraints=constraints,
            environment=gs.environment.uniform_gravity((0, 0.3, 0)),
            **options,
        )
        loads = traj.constraint_loads()
        assert traj.ok and np.abs(traj.constraint_residuals().position).max() < 1e-9
        wrenches = traj.signals["wrenches"].values
        np.testing.assert_allclose(
            gs.compile(gs.inverse_dynamics, craft, inputs={"wrenches": None})(
                traj.q, traj.v, traj.vdot, wrenches=wrenches
            ),
            traj.tau,
            atol=1e-9,
        )
        assert np.isfinite(loads.on_second).all()


def test_a_batch_shows_the_loads_of_each_run(four_bar):
    craft, constraints, q = four_bar
    masses = np.array([1.0, 4.0, 9.0])
    options = {"constraints": constraints, "control": push, "rtol": 1e-11}
    traj = gs.simulate(craft, np.tile(q, (3, 1)), None, (0, 2.0), parameters={"crank.mass": masses}, **options)
    assert traj.constraint_loads().multipliers.shape == (3, 401, sum(c.size for c in constraints))
    alone = gs.simulate(craft, q, None, (0, 2.0), parameters={"crank.mass": 9.0}, **options)
    np.testing.assert_array_equal(traj.constraint_loads().on_second[2], alone.constraint_loads().on_second)
    assert np.abs(np.diff(traj.constraint_loads().multipliers, axis=0)).max() > 1e-3


def test_momentum_holds_to_round_off_at_a_loose_tolerance(four_bar):
    """`conserve` with constraints between the craft's own bodies."""
    craft, constraints, q = four_bar
    v = np.zeros(craft.nv)
    v[:6] = 0.02, -0.03, 0.05, 0.1, 0.2, -0.1
    q, v = gc.project(craft, 0.0, q, v, constraints)
    drift = []
    for options in ({}, {"conserve": "momentum"}):
        traj = gs.simulate(craft, q, v, (0, 20.0), constraints=constraints, control=push, rtol=1e-5, **options)
        h = traj.momentum("com")
        drift.append(np.abs(h - h[0]).max() / np.abs(h).max())
    assert drift[1] < 1e-14 < 1e3 * drift[1] < drift[0]


def test_conserve_is_refused_where_a_constraint_binds_the_craft_to_the_inertial_frame(four_bar):
    craft, constraints, q = four_bar
    p = gs.frame_pose(craft, q, "bus").p
    anchor = gc.as_it_is(gc.point("N", "bus", name="anchor"), gs.algebra.Pose(np.eye(3), p))
    with pytest.raises(ValueError, match=r"the anchor binds .* to the inertial frame"):
        gs.simulate(craft, q, None, (0, 1), constraints=[*constraints, anchor], conserve="momentum")
    held = gs.simulate(craft, q, None, (0, 1), constraints=[*constraints, anchor], control=push)
    assert np.abs(held.frame("bus")[1] - p).max() < 1e-9 and np.abs(held.data["impulse"]).max() > 1e-3
    assert held.audit.worst < 1e-9


# ---- stabilisation is a setting


def opened(craft, q):
    moved = q.copy()
    moved[7] += 3e-7  # within what a run may start with
    return moved


def test_stabilisation_is_kept_when_a_run_goes_on_and_in_its_file(four_bar, tmp_path):
    craft, constraints, q = four_bar
    options = {"constraints": constraints, "control": push, "stabilisation": Stabilisation(20.0, 0.7)}
    whole = gs.simulate(craft, opened(craft, q), None, (0, 3.0), **options)
    usual = gs.simulate(craft, opened(craft, q), None, (0, 3.0), constraints=constraints, control=push)
    assert (whole.q != usual.q).any()
    with pytest.warns(gs.SimulationWarning, match="took 5 steps"):
        part = gs.simulate(craft, opened(craft, q), None, (0, 3.0), max_steps=5, **options)
    np.testing.assert_array_equal(gs.simulate(craft, resume=part).q, whole.q)
    read = gs.Trajectory.load(part.save(tmp_path / "part.nc"))
    resumed = gs.simulate(craft, resume=read, constraints=constraints, control=push)
    np.testing.assert_array_equal(resumed.q, whole.q)


def test_violations_die_out_as_the_stabilisation_says(four_bar):
    """psi'' + 2 z w psi' + w^2 psi = 0."""
    craft, constraints, q = four_bar
    w = 3.0
    traj = gs.simulate(craft, opened(craft, q), None, (0, 2.0), constraints=constraints, stabilisation=(w, 1.0))
    found, t = traj.constraint_residuals().position, traj.time
    k = int(np.argmax(np.abs(found[0])))
    expected = found[0, k] * (1.0 + w * t) * np.exp(-w * t)
    assert abs(found[0, k]) > 1e-8
    np.testing.assert_allclose(found[:, k], expected, atol=1e-5 * abs(found[0, k]))


@pytest.mark.parametrize("wrong, words", [((-1.0, 1.0), "expected a frequency"), (3.0, "expected gs.constraints")])
def test_a_wrong_stabilisation_is_refused(four_bar, wrong, words):
    craft, constraints, q = four_bar
    with pytest.raises((ValueError, TypeError), match=words):
        gs.simulate(craft, q, None, (0, 1), constraints=constraints, stabilisation=wrong)


# ---- files, resumption, the cache


def test_a_file_holds_loads_violations_and_titles(four_bar, tmp_path):
    craft, constraints, q = four_bar
    traj = gs.simulate(craft, q, None, (0, 1.0), constraints=constraints, control=push)
    read = gs.Trajectory.load(traj.save(tmp_path / "run.nc"))
    for found, wanted in zip(read.constraint_loads(), traj.constraint_loads(), strict=True):
        np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(read.constraint_residuals().position, traj.constraint_residuals().position)
    assert list(read.signals["constraint"].values) == [c.title for c in constraints]
    assert list(read.signals["row_of"].values) == [c.title for c in constraints for _ in range(c.size)]


def test_it_goes_on_bit_for_bit(four_bar):
    craft, constraints, q = four_bar
    options = {"constraints": constraints, "control": push}
    whole = gs.simulate(craft, q, None, (0, 3.0), **options)
    with pytest.warns(gs.SimulationWarning, match="took 5 steps"):
        part = gs.simulate(craft, q, None, (0, 3.0), max_steps=5, **options)
    np.testing.assert_array_equal(gs.simulate(craft, resume=part).q, whole.q)


@pytest.fixture
def traced(monkeypatch):
    """How often the right-hand side has been run on symbols."""
    counts = []
    rhs = Equations.rhs
    monkeypatch.setattr(Equations, "rhs", lambda self, x: (counts.append(x.dtype == object), rhs(self, x))[1])
    return counts


def test_the_equations_with_constraints_and_motions_are_made_once(four_bar, traced):
    craft, constraints, q = four_bar
    craft = craft.with_values({"crank.mass": 1.7})
    turn = gc.driven(gc.angle("bus", "crank"), lambda t: q[7] + 0.1 * t * t)
    for options in (
        {"constraints": constraints},
        {"constraints": [*constraints, turn]},
        {"constraints": constraints, "prescribed": {"crank": lambda t: 0.1 * t}},
    ):
        first = gs.simulate(craft, q, None, (0, 1), **options)
        made = len(traced)
        again = gs.simulate(craft, q, None, (0, 1), **options)
        assert len(traced) == made > 0
        np.testing.assert_array_equal(again.q, first.q)


RATE = {"turn": 0.2, "push": 0.1}


@pytest.mark.parametrize(
    "first, second",
    [
        ({"pose": gs.algebra.Pose(np.eye(3), np.array([0.0, 0.0, 0.1]))}, {}),
        ({"axis": (0.0, 0.0, 1.0)}, {"axis": (0.0, 0.1, 1.0)}),
    ],
)
def test_constraints_of_the_same_shape_are_told_apart(first, second):
    """Two free bodies held together in another way move in another way, whatever ran before."""
    bodies = [gs.Body(n, mass=2.0, com=(0.1, 0.2, 0.0), inertia=(1, 2, 2.5)) for n in "ab"]
    both = gs.together("both", [gs.Spacecraft.build(f"craft {b.name}", [b]) for b in bodies])
    v = np.array([0.3, 0.1, 0.2, 0.0, 0.1, 0.0, 0.0, 0.2, 0.1, -0.1, 0.0, 0.2])
    ends = []
    for options in (first, second, first, second):
        grip = gc.weld("a", "b", **options) if "axis" not in options else gc.revolute("a", "b", options["axis"])
        q, w = gc.project(both, 0.0, gs.neutral(both), v, [grip])
        ends.append(np.concatenate(gs.simulate(both, q, w, (0, 1), constraints=[grip]).final))
    np.testing.assert_array_equal(ends[0], ends[2])
    np.testing.assert_array_equal(ends[1], ends[3])
    assert np.abs(ends[0] - ends[1]).max() > 1e-3


def test_what_a_driven_motion_reads_from_outside_counts_at_each_call(four_bar, monkeypatch):
    craft, constraints, q = four_bar
    turn = gc.driven(gc.angle("bus", "crank"), lambda t: q[7] + 0.5 * RATE["turn"] * t * t)
    ends = []
    for rate in (0.2, 0.4, 0.2):
        monkeypatch.setitem(RATE, "turn", rate)
        ends.append(gs.simulate(craft, q, None, (0, 1), constraints=[*constraints, turn]).final[0])
        assert ends[-1][7] == pytest.approx(q[7] + 0.5 * rate, abs=1e-9)
    np.testing.assert_array_equal(ends[0], ends[2])


def test_a_motion_that_only_python_can_compute_drives_the_loop(four_bar):
    craft, constraints, q = four_bar
    options = {"constraints": constraints, "rtol": 1e-8}
    with pytest.warns(gs.SimulationWarning, match="called from Python at each step"):
        slow = gs.simulate(craft, q, None, (0, 0.3), prescribed={"crank": lambda t: math.cos(t)}, **options)
    quick = gs.simulate(craft, q, None, (0, 0.3), prescribed={"crank": lambda t: gs.algebra.cos(t)}, **options)
    np.testing.assert_allclose(slow.q, quick.q, atol=1e-12)
    np.testing.assert_allclose(slow.constraint_loads().multipliers, quick.constraint_loads().multipliers, atol=1e-9)


# ---- what is refused


def test_what_did_not_constrain_shows_nothing(four_bar):
    craft, _, q = four_bar
    with pytest.raises(ValueError, match="it had no constraints="):
        gs.simulate(craft, q, None, (0, 0.1)).constraint_loads()


def test_a_loop_that_is_open_at_the_start_is_refused_in_every_run(four_bar):
    craft, constraints, q = four_bar
    qs = np.tile(q, (3, 1))
    qs[2, 7] += 0.1
    with pytest.raises(ValueError, match="does not hold at the start"):
        gs.simulate(craft, qs, None, (0, 1), constraints=constraints)


def test_an_effect_that_breaks_a_constraint_is_refused_and_one_that_keeps_it_is_not():
    """Before: the rod was stretched by the blow, and pulled back over seconds without a word."""
    one = gs.Spacecraft.build("one", [gs.Body("A", 20.0, inertia=(2.0, 3.0, 4.0))])
    two = gs.Spacecraft.build("two", [gs.Body("B", 5.0, inertia=(0.5, 0.6, 0.7))])
    both = gs.together("both", [one, two])
    rod = gc.distance("A", "B", 1.5)
    q, v = gs.neutral(both), np.zeros(12)
    q[11:14] = 1.5 * np.array([0.6, 0.0, 0.8])
    blow = np.r_[np.zeros(9), 0.3, -0.2, 0.5]

    def run(effect):
        event = gs.When(lambda craft, t, q, v: t - 0.4, "blow", effect=effect)
        return gs.simulate(both, q, v, (0, 1), constraints=[rod], events=[event])

    with pytest.raises(ValueError, match="the distance of A and B does not hold after the effect of event 'blow'"):
        run(lambda craft, t, q, v: (q, v + blow))
    kept = run(lambda craft, t, q, v: (q, gc.capture(craft, q, v + blow, [rod], t=t).v))
    assert kept.ok and np.abs(kept.constraint_residuals().position).max() < 1e-9
    assert np.abs(kept.v[-1]).max() > 0.1


def crane():
    """A bus with a slide and a hinge on it, none along a coordinate axis."""
    slide = gs.Joint("slide", "prismatic", "bus", (0.2, 0.1, -0.3), axis=(0.6, 0.0, 0.8))
    elbow = gs.Joint("elbow", "revolute", "boom", (0.7, 0.1, 0.2), axis=(0.0, 0.6, 0.8))
    bodies = [
        gs.Body("bus", 20.0, (0.1, -0.2, 0.05), (3.0, 4.0, 5.0)),
        gs.Body("boom", 2.0, (0.3, 0.0, 0.1), (0.1, 0.2, 0.2), slide),
        gs.Body("hand", 1.0, (0.2, 0.1, 0.0), (0.05, 0.06, 0.07), elbow),
    ]
    return gs.Spacecraft.build("crane", bodies, frames=[gs.Frame("tip", "hand", (0.4, -0.1, 0.3))])


def rod_on_crane(first, second, driven=False):
    craft = crane()
    q = gs.neutral(craft)
    q[-2:] = 0.4, 0.7
    apart = gc.relative_pose(craft, q, first, second).p
    rod = gc.distance(first, second, float(np.linalg.norm(apart)), name="tie")
    if driven:
        rod = gc.driven(rod, lambda t: 0.05 * t**2)
    return craft, q, rod


@pytest.mark.parametrize(
    "second, options, joints",
    [
        ("boom", {"prescribed": {"slide": lambda t: 0.2}}, "'slide'"),
        ("boom", {"prescribed": {"slide": [0.1]}}, "'slide'"),
        ("tip", {"prescribed": {"slide": [0.1], "elbow": lambda t: 0.3 * gs.algebra.cos(t)}}, "'slide', 'elbow'"),
        ("tip", {"prescribed": {"elbow": lambda t: 0.3}, "locked": ["slide"]}, "'elbow'"),
    ],
)
def test_a_rod_that_joints_decide_which_move_as_told_is_refused_by_name(second, options, joints):
    craft, q, rod = rod_on_crane("bus", second)
    with pytest.raises(ValueError, match=rf"the tie binds what joints .* decide alone \({joints}\)"):
        gs.simulate(craft, q, t_span=(0.0, 0.5), constraints=[rod], **options)


def test_a_driven_rod_between_locked_joints_is_refused_and_one_at_rest_is_idle():
    craft, q, rod = rod_on_crane("bus", "tip", driven=True)
    with pytest.raises(ValueError, match=r"decide alone \('slide', 'elbow'\)"):
        gs.simulate(craft, q, t_span=(0.0, 0.5), constraints=[rod], locked=["slide", "elbow"])
    craft, q, rod = rod_on_crane("bus", "tip")
    v = np.array([0.1, -0.2, 0.3, 0.02, 0.0, -0.01, 0.0, 0.0])
    run = gs.simulate(craft, q, v, (0.0, 0.5), constraints=[rod], locked=["slide", "elbow"])
    bare = gs.simulate(craft, q, v, (0.0, 0.5), locked=["slide", "elbow"])
    assert run.ok and np.abs(run.constraint_loads().multipliers).max() == 0.0
    np.testing.assert_allclose(run.q, bare.q, atol=1e-9)


def test_a_rod_turns_a_free_joint_while_the_other_moves_as_told():
    craft, q, rod = rod_on_crane("bus", "tip")
    run = gs.simulate(craft, q, t_span=(0.0, 1.0), constraints=[rod], prescribed={"slide": [0.1]}, rtol=1e-10)
    assert run.ok and run.v[-1, craft.joint_named("slide").v_at] == pytest.approx(0.1, rel=1e-9)
    assert np.abs(run.constraint_residuals().position).max() < 1e-9
    assert np.abs(run.v[-1, craft.joint_named("elbow").v_at]).max() > 1e-2


@pytest.mark.parametrize("seed", range(6))
def test_a_single_row_that_a_turned_planar_joint_implies_up_to_round_off_is_idle(seed):
    """Its own part of Pi M^-1 Pi^T is some 1e-33: nothing but round-off."""
    rng = np.random.default_rng(seed)
    axis = rng.normal(size=3)
    table = gs.Joint("table", "planar", "bus", rng.normal(size=3), rotation=random_rotation(rng), axis=axis)
    bodies = [
        gs.Body("bus", 20.0, (0.1, -0.2, 0.05), (3.0, 4.0, 5.0)),
        gs.Body("puck", 2.0, (0.3, 0.0, 0.1), (0.1, 0.2, 0.2), table),
    ]
    craft = gs.Spacecraft.build("air table", bodies)
    q, v = random_state(craft, seed, speed=0.5)
    normal = craft.joint_named("table").rotation @ (axis / np.linalg.norm(axis))
    bond = gc.grasped(craft, 0.0, q, gc.plane("bus", "puck", normal=normal))
    run = gs.simulate(craft, q, v, (0.0, 0.3), constraints=[bond], max_steps=2000)
    assert run.ok and np.abs(run.constraint_loads().multipliers).max() == 0.0
    assert np.abs(run.constraint_residuals().position).max() < 1e-13


def test_momentum_is_conserved_by_construction_for_one_spacecraft_alone():
    one = gs.Spacecraft.build("one", [gs.Body("A", 20.0, inertia=(2.0, 3.0, 4.0))])
    two = gs.Spacecraft.build("two", [gs.Body("B", 5.0, inertia=(0.5, 0.6, 0.7))])
    with pytest.raises(ValueError, match="for one spacecraft.* pair is put together of one, two"):
        gs.simulate(gs.together("pair", [one, two]), t_span=(0.0, 1.0), conserve="momentum")


def test_a_rod_between_asteroids_holds():
    """Rows are small where bodies are heavy: that is no round-off."""
    one, two = (gs.Spacecraft.build(n, [gs.Body(f"rock {n}", 1e12, inertia=(1e16, 2e16, 2.5e16))]) for n in "ab")
    craft = gs.together("pair", [one, two])
    q, v = gs.neutral(craft), np.zeros(craft.nv)
    q[11], v[10] = 1000.0, 1.0
    rod = gc.distance("rock a", "rock b", 1000.0)
    run = gs.simulate(craft, q, v, (0.0, 100.0), constraints=[rod], rtol=1e-10)
    force = 0.5e12 * 1.0**2 / 1000.0  # reduced mass times speed squared over length
    np.testing.assert_allclose(np.abs(run.constraint_loads().multipliers), force, rtol=1e-6)
    assert np.abs(run.constraint_residuals().position).max() < 1e-5
