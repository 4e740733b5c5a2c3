"""The audit: inside the loop whatever is saved, scaled by what moves, accounted for by name,
and silent about nothing.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import constraints as gc
from gyrostat.environment import uniform_gravity
from gyrostat.models import servicer
from gyrostat.simulation.result.audited import BALANCED
from random_trees import random_spacecraft, random_state

METHODS = [
    {"integrator": "rk4", "step": 0.5},
    {"integrator": "rk45", "rtol": 1e-4},
    {"integrator": "gauss6", "step": 0.5},
]


def arm():
    craft = servicer()
    return craft, gs.neutral(craft), np.r_[np.zeros(6), [0.1] * 6]


def by_name(traj):
    return {cause.who: cause for cause in traj.audit.causes}


# ---- inside the loop


@pytest.mark.parametrize("method", METHODS)
def test_the_audit_does_not_depend_on_what_is_saved(method):
    """rk4 at 0.5 s: 0.0 with save_at=[50.0] alone where the default saves show 2.6e-3."""
    audits = []
    for save in (None, [0.0, 50.0], [50.0], [7.3]):
        run = gs.simulate(*arm(), (0, 50), save_at=save, **method)
        assert run.ok
        audits.append((run.audit.linear, run.audit.angular, run.audit.energy))
    assert min(audits[2]) > 1e-9
    if "rtol" in method:  # the same steps, wherever rows are saved: scales alone may differ a little
        np.testing.assert_allclose(audits, [audits[0]] * 4, rtol=0.3)
    else:
        np.testing.assert_allclose(audits[:3], [audits[0]] * 3, rtol=0.3)


def test_every_deviation_of_a_run_that_comes_back_is_seen():
    """An error that is large in the middle and gone at the end:
    a law that is wrong about its own loads would leave such a trace.
    """
    craft, q, v = arm()
    run = gs.simulate(craft, q, v, (0, 50), integrator="rk4", step=0.25)
    energy = run.kinetic_energy()
    data = run.data.drop_vars(["audited", "audited_name"])
    whole = replace(run, data=data).audit
    ends = replace(run, data=data.isel(time=[0, -1])).audit
    assert run.audit.energy > 0.5 * whole.energy and run.audit.energy >= 0.99 * ends.energy
    assert np.ptp(energy) > 0


@pytest.mark.parametrize("span", [(0.0, 0.0), (5.0, 5.0)])
def test_where_nothing_was_audited_it_says_so(span):
    run = gs.simulate(*arm(), span)
    audit = run.audit
    assert audit.linear is audit.angular is audit.energy is audit.worst is None
    assert str(audit).count("not audited") == 3 and "0.0e" not in str(run)


def test_a_trajectory_without_looks_is_audited_at_its_saved_times_or_not_at_all():
    run = gs.simulate(*arm(), (0, 5), save_at=[0.0, 2.0, 5.0])
    data = run.data.drop_vars(["audited", "audited_name"])
    assert 0 < replace(run, data=data).audit.worst < 1e-8 and replace(run, data=data).audit.looks == 3
    assert replace(run, data=data.isel(time=[1])).audit.worst is None


def test_it_goes_through_files_batches_and_resumed_runs(tmp_path):
    craft, q, v = arm()
    Q, V = np.tile(q, (3, 1)), v * np.array([[1.0], [2.0], [0.5]])
    whole = gs.simulate(craft, Q, V, (0, 20), save_at=[20.0], integrator="rk4", step=0.25)
    each = [gs.simulate(craft, q, x, (0, 20), save_at=[20.0], integrator="rk4", step=0.25).audit.energy for x in V]
    assert whole.audit.energy == pytest.approx(max(each), rel=1e-12)
    with pytest.warns(gs.SimulationWarning, match="took 33 steps"):
        part = gs.simulate(craft, Q, V, (0, 20), save_at=[20.0], integrator="rk4", step=0.25, max_steps=33)
    assert part.audit.energy > 1e-9
    resumed = gs.simulate(craft, resume=gs.Trajectory.load(part.save(tmp_path / "part.nc")))
    assert resumed.audit == whole.audit
    assert gs.Trajectory.load(whole.save(tmp_path / "whole.nc")).audit == whole.audit


# ---- scaled by what moves


def test_a_body_that_turns_about_its_centre_of_mass_has_no_linear_momentum_to_lose():
    """1.0 before: the momentum is round-off, and was measured by itself."""
    c, w = np.array([6.0, 0, 0]), np.array([0.01, 0.02, 0.011])
    craft = gs.Spacecraft.build("offset", [gs.Body("body", 1000.0, c, (500.0, 12250.0, 12250.0))])
    run = gs.simulate(craft, np.r_[1, 0, 0, 0, -c], np.r_[w, -np.cross(w, c)], (0, 600))
    assert run.audit.worst < 1e-9
    coarse = gs.simulate(craft, np.r_[1, 0, 0, 0, -c], np.r_[w, -np.cross(w, c)], (0, 600), integrator="rk4", step=40.0)
    assert coarse.audit.worst > 1e-4  # and yet it sees


def test_far_away_and_fast_is_audited_as_at_rest():
    """The same internal motion, at 7000 km and 7.5 km/s: angular momentum and its loads have no lever to the origin."""
    craft, q, v = arm()
    q = np.r_[q[:7], 0.3, -0.4, 0.5, 0.2, -0.3, 0.1]

    def law(craft, t, q, v):
        return np.concatenate([[0.3, -0.2, 0.5, 1.0, 2.0, -1.0], -5.0 * v[6:]])

    near = gs.simulate(craft, q, v, (0, 20), control=law, rtol=1e-11)
    q[4:7], v[3:6] = [4e6, -5e6, 2.6e6], [5000.0, 4000.0, -4000.0]
    far = gs.simulate(craft, q, v, (0, 20), control=law, rtol=1e-11)
    assert near.audit.worst < 1e-9 and far.audit.worst < 1e-8
    np.testing.assert_allclose(
        by_name(far)["control on base"].impulse, by_name(near)["control on base"].impulse, rtol=1e-5
    )


def test_a_light_arm_beside_a_heavy_station_is_not_drowned():
    """Steps too coarse for an arm of 2 kg show, although 400 t drift beside it;
    and the station's own drift is no alarm.
    """
    station = gs.Spacecraft.build("station", [gs.Body("hull", 4e5, inertia=(1e8, 1.2e8, 1.4e8))])
    links = [gs.Body("bus", 4.0, inertia=(0.1, 0.12, 0.14))]
    for k in range(2):
        joint = gs.Joint(f"j{k}", "revolute", links[-1].name, (0.3, 0.05, 0), axis=(0, 1, 0))
        links.append(gs.Body(f"l{k}", 1.0, (0.2, 0, 0.03), (0.01, 0.02, 0.02), joint))
    cube = gs.Spacecraft.build("cube", links)
    both = gs.together("both", [station, cube])
    slow = (station, gs.neutral(station), np.r_[0, 0, 0, 0.001, 0, 0])
    fast = (cube, np.r_[gs.neutral(cube)[:4], 20.0, 0, 0, 0.5, -0.4], np.r_[0.3, -0.2, 0.4, 0, 0, 0, 2.0, -3.0])
    q, v = gs.joined_state(both, [slow, fast])
    fine = gs.simulate(both, q, v, (0, 10))
    coarse = gs.simulate(both, q, v, (0, 10), integrator="rk4", step=0.1)
    assert fine.audit.worst < 1e-9
    alone = gs.simulate(cube, fast[1], fast[2], (0, 10), integrator="rk4", step=0.1).audit
    assert (
        alone.worst > 1e-5 and coarse.audit.energy > 0.5 * alone.energy and coarse.audit.angular > 1e-3 * alone.angular
    )


# ---- by name


def test_a_law_that_pushes_another_crafts_base_is_named():
    """The design's own example: nothing there can push."""
    line = gs.Spacecraft.build(
        "servicer",
        [
            gs.Body("bus", 300.0, inertia=(80, 90, 100)),
            gs.Body("link", 10.0, (0.5, 0, 0), (0.1, 1, 1), gs.Joint("elbow", "revolute", "bus", (1, 0, 0))),
        ],
    )
    client = gs.Spacecraft.build("client", [gs.Body("bus", 200.0, inertia=(30, 40, 50))])
    both = gs.together("both", [line, client])
    at = both.member("client").v_at

    def law(craft, t, q, v):
        tau = np.zeros(craft.nv)
        tau[both.member("servicer").v_at[6]] = 2.0
        tau[at[:3]] = 33.0, -44.0, 0.0
        return tau

    q, v = gs.joined_state(
        both, [(line, gs.neutral(line), np.zeros(7)), (client, np.r_[1, 0, 0, 0, 5.0, 0, 0], np.zeros(6))]
    )
    run = gs.simulate(both, q, v, (0, 2), control=law)
    found = by_name(run)
    assert set(found) == {"control", "control on client.bus"}
    pushed = found["control on client.bus"]
    assert pushed.loads == {"N m": pytest.approx(55.0)}
    assert np.linalg.norm(pushed.impulse[:3]) == pytest.approx(110.0, rel=0.05) and pushed.impulse[3] == 0.0
    (line,) = run.audit.warnings
    assert line.startswith("control pushes client.bus with 55 N m (impulse 0 N s, ") and line.endswith(
        "; nothing there can"
    )
    assert line in str(run) and run.audit.worst < 1e-9
    only = gs.simulate(both, q, v, (0, 2), save_at=[2.0], control=law)
    assert only.audit.warnings == run.audit.warnings  # whatever was saved


def test_control_of_a_sprung_joint_is_named_and_thrusters_are():
    bodies = [gs.Body("bus", 100.0, inertia=(20, 25, 30))]
    for name, stiffness in (("panel", 30.0), ("arm", 0.0)):
        joint = gs.Joint(
            f"{name} joint", "revolute", "bus", (0, 1, 0), axis=(1, 0, 0), stiffness=stiffness, damping=0.2
        )
        bodies.append(gs.Body(name, 5.0, (0, 0.5, 0.1), (1.0, 0.1, 1.0), joint))
    craft = gs.Spacecraft.build("craft", bodies, thrusters=[gs.Thruster("t", "bus", (0, 0, -1), (0, 0, 1))])

    def law(craft, t, q, v):
        return np.array([0, 0, 0, 0, 0, 2.0, 0.5, -0.3])

    run = gs.simulate(craft, None, [0.0] * 8, (0, 5), control=law)
    pushes = {line.split(" (")[0]: line for line in run.audit.warnings}
    assert "there is no motor" in pushes["control pushes passive joint 'panel joint' with 0.5 N m"]
    assert "by 1 thrusters, if anything" in pushes["control pushes bus with 2 N"]
    assert run.audit.worst < 1e-9
    python = gs.simulate(craft, None, [0.0] * 8, (0, 5), control=law)
    assert python.audit.warnings == run.audit.warnings


@pytest.mark.parametrize("base", ["free", "fixed", "planar", "spherical"])
def test_every_cause_balances_and_is_named(base):
    """Gravity, motors, springs, dampers, a prescribed joint, a locked one,
    a constraint to N and the base's support, all at once.
    """
    craft = random_spacecraft(11, links=8, base=base, kinds=("revolute", "prismatic", "universal"), rotors=True)
    single = [j.name for j in craft.joints[1:] if j.nv == 1]
    changed = [
        replace(b, joint=replace(b.joint, damping=0.7, stiffness=2.0)) if b.joint.name == single[0] else b
        for b in craft.bodies
    ]
    craft = gs.Spacecraft.build(craft.name, changed)
    q, v = random_state(craft, 3, speed=0.3)
    v[craft.joint_named(single[2]).v_at] = 0.0
    anchor = gc.distance("N", craft.bodies[-1].name, 1.0)
    here = gs.frame_pose(craft, q, craft.bodies[-1].name).p
    constraints = [gc.as_it_is(anchor, gs.algebra.Pose(np.eye(3), here))]
    motions, locked = {single[1]: lambda t: 0.2 * gs.algebra.cos(3.0 * t)}, single[2]
    q, v = gc.project(craft, 0.0, q, v, constraints) if base == "free" else (q, v)

    def law(craft, t, q, v):
        return 0.4 * gs.algebra.cos(t) * np.ones(craft.nv) - 0.1 * v

    options = {"control": law, "environment": uniform_gravity([0.2, -0.1, 0.4]), "rtol": 1e-12, "atol": 1e-14}
    if base == "free":
        run = gs.simulate(craft, q, v, (0, 3), constraints=constraints, **options)
    else:
        run = gs.simulate(craft, q, v, (0, 3), prescribed=motions, locked=locked, **options)
    assert run.ok and run.audit.worst < 1e-9
    found = by_name(run)
    expected = {"control", "environment", "dampers and friction", f"control on passive joint '{single[0]}'"}
    if base != "fixed":
        expected.add(f"control on {craft.base}")
    if base == "free":
        expected.add(f"constraint to N: {constraints[0].title}")
    else:
        expected |= {
            f"prescribed joint '{single[1]}'",
            f"locked or steady joint '{locked}'",
            f"support of {craft.base}",
        }
    assert set(found) == expected
    assert found["dampers and friction"].work < 0 and found["control"].impulse is None
    for who in expected - {"control", "dampers and friction"} - {w for w in expected if "joint" in w}:
        assert np.linalg.norm(found[who].impulse) > 1e-3, who
    h, energy = run.momentum("com"), run.kinetic_energy() + run.spring_energy()
    impulse = sum(np.array(c.impulse) for c in found.values() if c.impulse is not None)
    np.testing.assert_allclose(h[-1] - h[0], impulse, atol=1e-8)
    assert energy[-1] - energy[0] == pytest.approx(sum(c.work for c in found.values()), abs=1e-8)
    np.testing.assert_allclose(run.data["impulse"][-1], impulse, atol=1e-12)


def test_driven_constraints_and_effects_are_named():
    """An effect's jump was 0.46 of the audit before."""
    a = gs.Spacecraft.build("a", [gs.Body("A", 100.0, inertia=(20, 25, 30))])
    b = gs.Spacecraft.build("b", [gs.Body("B", 10.0, inertia=(1, 1.2, 1.4))])
    both = gs.together("both", [a, b])
    held = [gc.revolute("A", "B"), gc.driven(gc.angle("A", "B"), lambda t: 0.05 * t**2)]
    q, v = gc.project(both, 0.0, gs.neutral(both), np.r_[0.1, 0.2, -0.1, 0.3, 0, 0, np.zeros(6)], held)

    def kick(craft, t, q, v):
        v = np.array(v)
        R = gs.algebra.rotation(q[:4]).T @ np.array([0.5, -0.2, 0.1])
        v[3:6] += R
        v[9:12] += gs.algebra.rotation(q[7:11]).T @ np.array([0.5, -0.2, 0.1])
        return q, v

    event = gs.When(lambda craft, t, q, v: t - 1.7, "kick", effect=kick)
    run = gs.simulate(both, q, v, (0, 4), constraints=held, events=event, rtol=1e-11)
    found = by_name(run)
    assert set(found) == {"driven constraint: driven angle of A and B", "constraints", "effect of event 'kick'"}
    effect = found["effect of event 'kick'"]
    np.testing.assert_allclose(effect.impulse, np.r_[np.zeros(3), 110.0 * np.array([0.5, -0.2, 0.1])], atol=1e-9)
    T = run.kinetic_energy()
    assert effect.work == pytest.approx(
        T[-1] - T[0] - found["driven constraint: driven angle of A and B"].work, rel=1e-6
    )
    assert found["driven constraint: driven angle of A and B"].work > 0.01 and run.audit.worst < 1e-9
    batch = gs.simulate(
        both, np.tile(q, (3, 1)), np.tile(v, (3, 1)), (0, 4), constraints=held, events=event, rtol=1e-11
    )
    assert batch.audit.worst < 1e-9


def test_a_grasp_of_an_inertial_point_is_an_impulse_by_name():
    """1.2 before."""
    craft = gs.Spacecraft.build(
        "h", [gs.Body("body", 300.0, inertia=(80, 90, 100))], frames=[gs.Frame("hand", "body", (1.0, 0, 0))]
    )
    phases = [gs.Phase(1.0, "free"), gs.Phase(1.0, "hold", grasp=[gc.point("N", "hand", name="hold")])]
    run = gs.simulate_phases(craft, gs.neutral(craft), np.r_[0.1, 0.2, 0.3, 0.5, 0.1, 0], phases)
    whole = run.trajectory
    assert whole.audit.worst < 1e-9 and whole.audit.looks > 4
    found = by_name(whole)
    assert set(found) == {"capture: hold", "constraint to N: hold"}
    before, after = run["free"].end, run["hold"].trajectory
    h = [gs.momentum(craft, q, v, gs.center_of_mass(craft, q)) for q, v in (before[1:], (after.q[0], after.v[0]))]
    np.testing.assert_allclose(found["capture: hold"].impulse, h[1] - h[0], atol=1e-9)
    assert (
        found["capture: hold"].work == pytest.approx(-run["hold"].capture.energy_lost)
        and found["capture: hold"].work < 0
    )
    assert np.linalg.norm(found["constraint to N: hold"].impulse) > 1.0


def test_a_capture_between_bodies_has_no_impulse_and_a_false_one_is_found():
    h = gs.Spacecraft.build(
        "h", [gs.Body("hb", 300.0, inertia=(80, 90, 100))], frames=[gs.Frame("hand", "hb", (1.0, 0, 0))]
    )
    k = gs.Spacecraft.build(
        "k", [gs.Body("kb", 200.0, inertia=(30, 40, 50))], frames=[gs.Frame("grip", "kb", (-1.0, 0, 0))]
    )
    both = gs.together("hk", [h, k])
    start = gs.joined_state(
        both, [(h, gs.neutral(h), np.zeros(6)), (k, np.r_[1, 0, 0, 0, 2.0, 0, 0], np.r_[0.1, 0.2, 0.3, 0, 0.1, 0])]
    )
    run = gs.simulate_phases(
        both, *start, [gs.Phase(0.5, "near"), gs.Phase(1.0, "hold", grasp=[gc.weld("hand", "grip")])]
    )
    found = by_name(run.trajectory)
    assert set(found) == {"capture: weld of hand and grip", "constraints"}
    assert found["capture: weld of hand and grip"].impulse is None and run.trajectory.audit.worst < 1e-9
    hold = run.phases[1]
    false = replace(hold, capture=hold.capture._replace(v=hold.capture.v + np.r_[np.zeros(3), 0.01, np.zeros(8)]))
    joined = replace(run, phases=(run.phases[0], false)).trajectory
    assert joined.audit.linear > 1e-3 and joined.audit.energy > 1e-5
    seen = dict(zip(joined.data["audited_name"].values, joined.data["audited"].values, strict=True))
    up, down = (np.array([seen[f"{how} {name}"] for name in BALANCED]) for how in ("largest", "smallest"))
    np.testing.assert_allclose(up, -down, atol=1e-9)  # which way a jump went is not told: it counts either way
    assert up.max() > 1.0


@pytest.mark.parametrize("bases", [("planar", "free"), ("fixed", "spherical"), ("free", "planar")])
@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_supports_of_bases_take_their_part_of_a_capture(bases, restitution):
    """A false alarm of 0.1 before: momentum that the support of a base takes was nowhere."""

    def craft(name, base):
        joint = (
            gs.Joint(f"{name}_base", base, axis=(0.6, 0, 0.8)) if base == "planar" else gs.Joint(f"{name}_base", base)
        )
        arm = gs.Joint(f"{name}_arm", "revolute", name, (0.5, 0.1, 0.0), axis=(0, 0.6, 0.8))
        link = gs.Body(f"{name}_link", 4.0, (0.3, 0.1, 0.0), (0.3, 0.5, 0.6), arm)
        return gs.Spacecraft.build(name, [gs.Body(name, 30.0, (0.1, 0.0, 0.2), (5, 6, 7), joint), link])

    both = gs.together("both", [craft("one", bases[0]), craft("two", bases[1])])
    v = 0.2 * np.random.default_rng(3).normal(size=both.nv)
    grip = gc.point("one_link", "two_link", name="grip")
    phases = [gs.Phase(0.2, "near"), gs.Phase(0.3, "meet", grasp=[grip], restitution=restitution)]
    run = gs.simulate_phases(both, gs.neutral(both), v, phases, rtol=1e-11)
    assert run.trajectory.audit.worst < 1e-9
    q, before, after = (*run["near"].end[1:], run["meet"].trajectory.v[0])
    h = [gs.momentum(both, q, x, gs.center_of_mass(both, q)) for x in (before, after)]
    np.testing.assert_allclose(by_name(run.trajectory)["capture: grip"].impulse, h[1] - h[0], atol=1e-12)
    assert np.abs(h[1] - h[0]).max() > 1e-3


def test_springs_store_what_they_take():
    """On joints of every kind; dampers and motors take and give by name."""
    bodies = [gs.Body("bus", 50.0, inertia=(8, 9, 10))]
    for k, kind in enumerate(("planar", "spherical", "universal", "cylindrical", "prismatic")):
        joint = gs.Joint(kind, kind, "bus", (0.5, 0.1 * k, 0), stiffness=4.0, axis=(0, 0, 1))
        bodies.append(gs.Body(f"b{k}", 2.0, (0.2, 0.1, 0), (0.2, 0.25, 0.3), joint))
    craft = gs.Spacecraft.build("sprung", bodies)
    rng = np.random.default_rng(2)
    v = 0.4 * rng.normal(size=craft.nv)
    run = gs.simulate(craft, None, v, (0, 30), rtol=1e-12, atol=1e-14)
    assert run.audit.causes == () and run.audit.worst < 1e-9 and run.spring_energy().max() > 0.2
    np.testing.assert_allclose(run.kinetic_energy() + run.potential_energy(), run.kinetic_energy()[0], rtol=1e-9)


def test_end_stops_lose_what_they_damp_and_are_named_only_where_they_are():
    hinge = gs.Joint("hinge", "revolute", "base", (0.5, 0, 0), axis=(0, 0.6, 0.8), limits=gs.Limits(-0.2, 0.2))
    bodies = [
        gs.Body("base", 10.0, inertia=(3.0, 2.0, 2.5)),
        gs.Body("arm", 2.0, (0.3, 0.1, 0.0), (0.1, 0.2, 0.2), hinge),
    ]
    craft = gs.Spacecraft.build("limited", bodies)
    v = np.array([0.1, 0.0, -0.2, 0.0, 0.0, 0.0, 1.0])
    options = {"t_span": (0.0, 1.0), "rtol": 1e-11, "atol": 1e-13}
    run = gs.simulate(craft, None, v, stops=gs.Stops(stiffness=60.0, damping=2.0), **options)
    lost = next(cause for cause in run.audit.causes if cause.who == "dampers, friction and stops")
    assert run.audit.worst < 1e-9 and lost.work < -0.05
    bare = gs.simulate(craft, None, v, **options)
    assert not [cause for cause in bare.audit.causes if "dampers" in cause.who]


def test_what_a_coarse_run_loses_is_the_same_share_wherever_the_craft_is():
    """Sizes are about the centre of mass: a kilometre away nothing is larger."""
    craft, q, v = arm()
    away = q.copy()
    away[4:7] = 800.0, -500.0, 300.0
    near, far = (gs.simulate(craft, x, v, (0, 20), integrator="rk4", step=1.0).audit for x in (q, away))
    assert near.angular > 1e-10
    assert far.angular == pytest.approx(near.angular, rel=0.05)
