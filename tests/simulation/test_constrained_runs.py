"""Runs under constraints: closed loops, driven motions, capture and release, batches, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import constraints as gc
from gyrostat.model.assembly import attach, transfer_state
from gyrostat.papers.forbes2019 import crafts, servicing
from gyrostat.simulation import SimulationWarning
from gyrostat.simulation.phase import Phase
from gyrostat.simulation.phases import simulate_phases


@pytest.fixture(scope="module")
def held():
    return servicing.two_arm_run()


@pytest.fixture(scope="module")
def captured():
    return servicing.capture_run()


# ---- two arms, one client of 500 kg, 60 s


def test_two_arms_stay_closed_and_keep_momentum(held):
    found, h = held.constraint_residuals(), held.momentum()
    assert held.time[-1] == 60.0 and gs.total_mass(held.craft) > 900.0
    assert np.abs(found.position).max() <= 1e-9
    assert np.abs(found.velocity).max() <= 1e-9
    assert np.abs(h - h[0]).max() <= 1e-9 * np.abs(h).max()
    assert held.audit.worst < 1e-9
    assert np.ptp(held.q[:, 7:19], axis=0).max() > 0.1  # the arms did move


def test_wrenches_balance_the_clients_motion(held):
    """Rate of the client's momentum about each time's origin = sum of the wrenches at both grips, moved there."""
    traj, loads = held, held.constraint_loads()
    craft = traj.craft
    at, body = craft.joint("client"), craft.body("client")
    R, p = traj.frame("client")
    w, v, wdot, vdot = (x[:, at.v_at][:, part] for x in (traj.v, traj.vdot) for part in (slice(0, 3), slice(3, 6)))
    c = body.com
    a_com = np.einsum("tij,tj->ti", R, vdot + np.cross(w, v) + np.cross(wdot, c) + np.cross(w, np.cross(w, c)))
    turned = np.einsum("tij,tj->ti", R, wdot @ body.inertia + np.cross(w, w @ body.inertia))
    com = p + R @ c
    force, torque = body.mass * a_com, turned
    for k, grip in enumerate(("grip_L", "grip_R")):
        arm = traj.frame(grip)[1] - com
        wrench = loads.on_second[:, k]
        force = force - wrench[:, 3:]
        torque = torque - wrench[:, :3] - np.cross(arm, wrench[:, 3:])
    size = np.abs(loads.on_second).max()
    assert size > 1.0
    assert np.abs(force).max() < 1e-9 * size and np.abs(torque).max() < 1e-9 * size


def test_any_formulation_and_integrator():
    craft, constraints, q, v = crafts.two_arms(0.02)
    ends = [
        gs.simulate(craft, q, v, (0, 2.0), constraints=constraints, control=crafts.wave, **options).final[0]
        for options in ({}, {"formulation": "lie_lagrange"}, {"integrator": "rk4", "step": 0.005})
    ]
    assert np.abs(ends[0] - ends[1]).max() < 1e-9 and np.abs(ends[0] - ends[2]).max() < 1e-7


# ---- other loops


def test_four_bar_deploys_with_redundant_rows():
    """A free bus: the loop of four parallel hinges has three redundant rows; violation, momentum and energy stay."""
    craft, constraints, q = crafts.four_bar()
    push = gs.joint_torques(craft, {"crank": 0.5})
    run = gs.simulate(
        craft, q, None, (0, 6.0), constraints=constraints, control=lambda craft, t, q, v: push, rtol=1e-11
    )
    assert np.abs(run.constraint_residuals().position).max() < 1e-9
    assert run.audit.worst < 1e-9
    assert np.ptp(run.q[:, 7]) > 0.3
    loads = run.constraint_loads().multipliers
    # out of the plane nothing is carried: least norm
    assert np.abs(loads[:, [0, 1, 4]]).max() < 1e-6 * np.abs(loads).max()


def test_driven_hinge_follows_its_angle():
    craft, constraints, q = crafts.four_bar()
    start = q[7]
    motion = gc.driven(gc.angle("bus", "crank"), lambda t: start + 0.2 * (1.0 - gs.algebra.cos(0.8 * t)))
    run = gs.simulate(craft, q, None, (0, 6.0), constraints=[*constraints, motion], rtol=1e-11)
    wanted = start + 0.2 * (1.0 - np.cos(0.8 * run.time))
    assert np.abs(run.q[:, 7] - wanted).max() < 1e-9
    assert run.audit.worst < 1e-9  # the ideal motor's work is counted


def test_batches_with_their_own_masses():
    craft, constraints, q, v = crafts.two_arms(0.02)
    masses = np.array([400.0, 500.0, 600.0])
    run = gs.simulate(
        craft,
        np.tile(q, (3, 1)),
        np.tile(v, (3, 1)),
        (0, 3.0),
        constraints=constraints,
        control=crafts.wave,
        parameters={"client.mass": masses},
    )
    found = run.constraint_residuals()
    assert found.position.shape[0] == 3 and np.abs(found.position).max() < 1e-9
    alone = gs.simulate(
        craft.with_values({"client.mass": 600.0}), q, v, (0, 3.0), constraints=constraints, control=crafts.wave
    )
    assert np.abs(alone.final[0] - run.final[0][2]).max() < 1e-9
    assert np.abs(run.final[0][0] - run.final[0][2]).max() > 1e-4


def test_passive_joints_are_felt():
    """Springs and dampers of the model act under constraints, too."""
    craft, constraints, q = crafts.four_bar()
    soft = craft.with_values({"crank.stiffness": 5.0, "crank.damping": 2.0})
    run = gs.simulate(soft, q, None, (0, 4.0), constraints=constraints, rtol=1e-11)
    assert np.abs(run.constraint_residuals().position).max() < 1e-9 and run.audit.worst < 1e-9
    assert np.ptp(run.q[:, 7]) > 0.01


# ---- capture and release


def test_capture_conserves_momentum_and_the_loss_is_the_impulses_work(captured):
    grasp = servicing.grasp_of(captured)
    assert grasp.momentum_change <= 1e-12 and grasp.energy_mismatch <= 1e-12
    assert captured["hold"].capture.energy_lost > 0 and np.linalg.norm(grasp.impulse[3:]) > 0.1


def test_the_event_is_where_it_was_asked_for(captured):
    _, q, _ = captured["approach"].end
    craft = captured.craft
    gap = gs.frame_pose(craft, q, "grip_L").p - gs.frame_pose(craft, q, "hand_L").p
    assert np.linalg.norm(gap) == pytest.approx(servicing.REACH, rel=1e-9)


def test_the_client_is_detumbled_by_the_wheels(captured):
    traj = captured["hold"].trajectory
    rates = np.linalg.norm(traj.v[:, traj.craft.joint("client").v_at][:, :3], axis=1)
    assert rates[0] > 0.02 and rates[-1] < 0.05 * rates[0]
    assert np.abs(captured["hold"].trajectory.constraint_residuals().position).max() < 1e-9
    assert np.abs(traj.v[-1, -3:]).max() > 5.0  # the wheels have it


def test_released_both_float_on(captured):
    traj = captured["release"].trajectory
    assert captured["release"].capture is None and captured["release"].constraints == ()
    client, at = crafts.client(), traj.craft.joint("client")
    h = np.array([gs.momentum(client, q[at.q_at], v[at.v_at]) for q, v in zip(traj.q, traj.v, strict=True)])
    assert np.abs(h - h[0]).max() < 1e-9 * np.abs(h).max()  # nothing acts on the client any more


def test_all_phases_as_one_trajectory(captured):
    traj = captured.trajectory
    assert (np.diff(traj.time) > 0).all()
    assert traj.time[0] == 0.0 and traj.time[-1] == captured["release"].trajectory.time[-1]
    assert traj.audit.worst < 1e-9  # the loss at the grasp is in the balance
    assert [event.name for event in traj.events] == ["approach"]
    assert "impulses" in str(captured) and "J lost" in str(captured)


def test_after_the_grasp_as_one_tree(captured):
    """gs.attach: the tree moves as the welded pair does."""
    hold = captured["hold"]
    craft = captured.craft
    traj = hold.trajectory
    pose = gc.relative_pose(craft, traj.q[0], "hand_L", "grip_L")
    tree = attach(crafts.servicer("L"), crafts.client(), at="hand_L", by="grip_L", pose=pose)
    q0, v0 = transfer_state(craft, traj.q[0], traj.v[0], tree)
    rest = captured["approach"].trajectory.q[0]
    rest_tree, _ = transfer_state(craft, rest, traj.v[0], tree)
    law = lambda craft, t, q, v: servicing.hold_and_detumble(craft, q, v, rest_tree)
    alone = gs.simulate(tree, q0, v0, (traj.time[0], traj.time[40]), control=law, save_at=traj.time[:41], rtol=1e-11)
    q, v = transfer_state(craft, traj.q[40], traj.v[40], tree)
    assert np.abs(alone.final[0] - q).max() < 1e-8 and np.abs(alone.final[1] - v).max() < 1e-8


def test_bounce_off_with_restitution():
    craft, q, v = servicing.before_the_grasp()
    reach = lambda craft, t, q, v: (
        gs.algebra.norm(gs.frame_pose(craft, q, "grip_L").p - gs.frame_pose(craft, q, "hand_L").p) - 0.05
    )
    touch = gc.point("hand_L", "grip_L", name="touch")
    run = simulate_phases(
        craft, q, v, [Phase(20.0, "approach", until=reach), Phase(1.0, "away", grasp=[touch], restitution=0.5)]
    )
    away = run["away"]
    assert away.constraints == () and away.capture is not None and away.capture.energy_lost > 0
    _, q, before = run["approach"].end
    h = gs.momentum(craft, q, before)
    assert np.abs(gs.momentum(craft, q, away.capture.v) - h).max() <= 1e-12 * np.abs(h).max()


def test_a_phase_without_its_event_ends_the_run():
    craft, q, v = servicing.before_the_grasp()
    never = lambda craft, t, q, v: t + 1.0
    with pytest.warns(SimulationWarning, match="phase 'approach' ended at t = 1 s without its event"):
        run = simulate_phases(craft, q, v, [Phase(1.0, "approach", until=never), Phase(1.0, "hold")])
    assert len(run.phases) == 1
    with pytest.raises(ValueError, match="no phase 'hold'; there are 'approach'"):
        run["hold"]


def test_releasing_what_does_not_hold_is_refused():
    craft, q, v = servicing.before_the_grasp()
    with pytest.raises(ValueError, match="releases 'grip', which does not hold; what holds: nothing"):
        simulate_phases(craft, q, v, [Phase(1.0, "free", release=["grip"])])


# ---- what is refused


def test_open_constraints_are_refused_with_the_way_out():
    craft, q = crafts.pair()
    with pytest.raises(
        ValueError, match="weld of hand_L and grip_L does not hold at the start: it is open by .*gs.constraints.project"
    ):
        gs.simulate(craft, q, None, (0, 1), constraints=[gc.weld("hand_L", "grip_L")])
