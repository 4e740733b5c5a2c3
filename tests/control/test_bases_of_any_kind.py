"""Nothing assumes that v starts with the six rates of a free base, or that q starts with its pose: thrusters, wheels,
sensors, momentum.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import control
from gyrostat.algebra import quat_conjugate, quat_multiply, rotation
from gyrostat.control import Encoders, Imperfection, Instruments, Place, RateGyro, StarTracker
from gyrostat.control.detumble import angular_momentum_in_base
from gyrostat.control.thrusters import Pulses, thruster_matrix
from laws import servicer_like, state
from random_trees import BASES

KINDS = (*BASES, "universal", "revolute", "cartesian")


def craft_on(base, seed=1):
    """Jets on the base and on the arm; a sensor frame turned on the base."""
    craft = servicer_like(seed, base=base, arm=3, wheels=3)
    if base == "universal":
        craft = replace(
            craft,
            bodies=(
                replace(craft.bodies[0], joint=replace(craft.joints[0], axis=(1, 0, 0), axis2=(0, 0.6, 0.8))),
                *craft.bodies[1:],
            ),
        )
    rng = np.random.default_rng(seed)
    jets = [gs.Thruster(f"jet_{k}", "hull", rng.normal(size=3), rng.normal(size=3), 10.0) for k in range(8)]
    imu = gs.Frame("imu", "hull", (0.1, 0.2, 0), rotation(rng.normal(size=4)))
    return gs.Spacecraft.build(craft.name, craft.bodies, frames=[*craft.frames, imu], thrusters=jets)


def with_jet_on(craft, body):
    return replace(craft, thrusters=(gs.Thruster("far", body, (0.1, 0.2, 0.3), (1.0, -1.0, 0.5), 3.0),))


@pytest.mark.parametrize("base", KINDS)
def test_a_thruster_does_the_work_of_its_force(base):
    """tau . v = d . (velocity of the jet), for jets on the base and on the arm."""
    for craft in (craft_on(base), with_jet_on(craft_on(base), "link_1")):
        q, v = state(craft, 3)
        B = thruster_matrix(craft, q)
        for k, jet in enumerate(craft.thrusters):
            R = gs.frame_pose(craft, q, jet.body).R
            velocity = gs.jacobian(craft, q, jet.body, jet.position)[3:] @ v
            assert B[:, k] @ v == pytest.approx((R @ jet.direction) @ velocity, abs=1e-12)
    if base != "universal":
        np.testing.assert_allclose(thruster_matrix(craft_on(base)), thruster_matrix(craft_on(base), q), atol=1e-14)
    else:
        with pytest.raises(ValueError, match="sits on 'hull', whose joint is universal: its effect depends on q"):
            thruster_matrix(craft_on(base))


def test_thrusters_of_members_act_on_their_own_bases():
    crafts = [replace(craft_on(base, seed), name=f"c{seed}") for seed, base in enumerate(("free", "planar"))]
    both = gs.together("both", crafts)
    B = thruster_matrix(both)
    for k, member in enumerate(both.members):
        np.testing.assert_array_equal(member.v(B[:, 8 * k : 8 * k + 8].T).T, thruster_matrix(crafts[k]))
        np.testing.assert_array_equal(np.delete(B[:, 8 * k : 8 * k + 8], member.v_at, axis=0), 0.0)


@pytest.mark.parametrize("base", KINDS)
def test_wheel_axes_and_momentum_are_in_base_axes(base):
    craft = craft_on(base)
    q, v = state(craft, 4)
    R = gs.frame_pose(craft, q, "hull").R
    expected = [R.T @ gs.frame_pose(craft, q, w.name).R @ w.joint.axis for w in craft.wheels]
    np.testing.assert_allclose(control.wheel_axes(craft, q), np.array(expected).T, atol=1e-14)
    h = gs.momentum(craft, q, v, gs.center_of_mass(craft, q))[:3]
    np.testing.assert_allclose(angular_momentum_in_base(craft, q, v), R.T @ h, atol=1e-12)


@pytest.mark.parametrize("base", KINDS)
def test_perfect_instruments_show_the_state_itself(base):
    craft = craft_on(base)
    q, v = state(craft, 5)
    parts = {"encoders": Encoders(), "tachometers": Imperfection()}
    if base in ("free", "spherical"):
        parts["tracker"] = StarTracker()
    if base in ("free", "spherical", "planar", "revolute"):
        parts["gyro"] = RateGyro("imu")
    seen_q, seen_v = Instruments(**parts).read(craft, q, v, Place())
    np.testing.assert_allclose(seen_q, q, atol=1e-14)
    np.testing.assert_allclose(seen_v, v, atol=1e-13)


@pytest.mark.parametrize("base", KINDS)
def test_imperfect_instruments_change_what_they_read_and_nothing_else(base):
    craft = craft_on(base)
    q, v = state(craft, 6)
    off = Imperfection(bias=0.25)
    nb, nq = craft.joints[0].nv, craft.joints[0].nq
    seen_q, seen_v = Instruments(encoders=Encoders(off), tachometers=off).read(craft, q, v, Place())
    np.testing.assert_allclose(seen_q - q, [0.0] * nq + [0.25] * (craft.nq - nq), atol=1e-14)
    np.testing.assert_allclose(seen_v - v, [0.0] * nb + [0.25] * (craft.nv - nb), atol=1e-14)
    if base in ("fixed", "cartesian", "universal"):
        with pytest.raises(ValueError, match=f"a gyro cannot tell the rates of a base that is {base}"):
            Instruments(gyro=RateGyro("imu")).read(craft, q, v, Place())
    else:
        turning = Instruments(gyro=RateGyro("hull", Imperfection(bias=np.array([0.1, -0.2, 0.3])))).read(
            craft, q, v, Place()
        )[1]
        w = gs.frame_pose(craft, q, "hull").R.T @ (gs.jacobian(craft, q, "hull")[:3] @ (turning - v))
        if base in ("free", "spherical"):
            np.testing.assert_allclose(w, [0.1, -0.2, 0.3], atol=1e-13)
        else:  # a hinge shows what turns about its axis
            a = craft.joints[0].axis
            np.testing.assert_allclose(w, a * (a @ [0.1, -0.2, 0.3]), atol=1e-13)
        assert np.count_nonzero(turning - v) <= 3
    if base not in ("free", "spherical"):
        with pytest.raises(ValueError, match=f"q of .* holds none, for its base is {base}"):
            Instruments(tracker=StarTracker()).read(craft, q, v, Place())


@pytest.mark.parametrize("base", KINDS)
def test_a_star_tracker_reads_the_attitude_of_the_base_not_of_its_joint(base):
    craft = craft_on(base)
    q, v = state(craft, 7)
    read = StarTracker()(craft, q, v, Place())
    np.testing.assert_allclose(rotation(read), gs.frame_pose(craft, q, "hull").R, atol=1e-13)
    turned = StarTracker(Imperfection(bias=np.array([0.01, -0.02, 0.03])))(craft, q, v, Place())
    np.testing.assert_allclose(control.attitude_error(read, turned), [0.01, -0.02, 0.03], atol=1e-13)
    assert quat_multiply(quat_conjugate(read), turned)[0] > 0.99


@pytest.mark.parametrize("base", ["free", "planar", "spherical"])
def test_pulses_make_the_bases_load_on_bases_that_are_not_free_too(base):
    craft = craft_on(base)
    q, v = gs.neutral(craft), np.zeros(craft.nv)
    nb = craft.joints[0].nv
    wanted = thruster_matrix(craft)[:nb] @ np.linspace(0.5, 2.0, 8)  # within reach

    def law(craft, t, q, v):
        return np.concatenate([wanted, np.zeros(craft.nv - nb)])

    pulses = Pulses(craft, period=0.5)
    run = gs.simulate(craft, q, v, (0, 2.0), control=pulses.controller(law), rtol=1e-8)
    report = pulses.report(run.data["held_z"].values[-1])
    assert report.missing.shape == (nb,) and np.abs(report.missing).max() < 1e-9
    made = thruster_matrix(craft)[:nb] @ (10.0 * report.on_time)
    np.testing.assert_allclose(made, 2.0 * wanted, atol=0.06 * 10.0 * np.abs(wanted).max())


def test_pulses_are_for_one_spacecraft():
    with pytest.raises(ValueError, match="Pulses is for one spacecraft"):
        Pulses(gs.together("both", [craft_on("free"), replace(craft_on("free"), name="other")]), 1.0)


@pytest.mark.parametrize("base", ["fixed", "spherical", "planar"])
def test_laws_for_free_bases_say_so(base):
    craft = craft_on(base)
    q, v = state(craft, 8)
    upright = control.pose_reference(np.array([1.0, 0, 0, 0]))
    arm = lambda craft, t, q, v: np.zeros(3)
    laws = {
        "detumble_by_couple": control.detumble_by_couple(1.0),
        "detumble_by_wheels": control.detumble_by_wheels(),
        "wheel_attitude": control.wheel_attitude(lambda t: upright, arm),
        "coordinated": control.coordinated(lambda t: upright, arm),
        "gyro_attitude": control.gyro_attitude(lambda t: upright, size=1.0),
        "reactionless": control.reactionless(arm),
        "computed_torque": control.computed_torque(
            lambda t: control.JointReference(np.zeros(3), np.zeros(6), np.zeros(6))
        ),
    }
    for name, law in laws.items():
        with pytest.raises(ValueError, match=f"{name} needs a base that is free; that of .* is {base}"):
            law(craft, 0.0, q, v)


def test_attitude_laws_look_where_the_base_points_not_where_its_joint_frame_does():
    """A free base whose joint frame is turned in N: the attitude error closes to the wanted one."""
    craft = craft_on("free")
    assert np.abs(craft.joints[0].rotation - np.eye(3)).max() > 0.1
    q, v = state(craft, 9, speed=0.0)
    wanted = np.array([0.8, 0.1, -0.5, 0.3])
    wanted /= np.linalg.norm(wanted)
    law = control.wheel_attitude(
        lambda t: control.pose_reference(wanted), lambda craft, t, q, v: -v[craft.at("driven")]
    )
    run = gs.simulate(craft, q, v, (0, 60), control=law, mode="rotation-floating", rtol=1e-8)
    R = gs.frame_pose(craft, run.q[-1], "hull").R
    assert np.abs(R - rotation(wanted)).max() < 1e-4
