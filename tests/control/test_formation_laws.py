"""Formation control: tracking by passivity, adaptation, transfers, station keeping, consensus."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from exact import exact, exact_craft, rate, size
from formation_crafts import armed, box
from gyrostat.algebra import Pose, exp_se3, exp_so3, log_so3, quat_from_rotation, rotation
from gyrostat.control.formation_adaptive import adaptive_law, parameters_of, rigid_regressor
from gyrostat.control.formation_consensus import attitude_consensus, attitude_error
from gyrostat.control.formation_reference import Target, fixed_target, hill_target, offset_target
from gyrostat.control.formation_tracking import (
    generalised_force,
    pose_error,
    reference_motion,
    target_of_member,
    tracking_law,
)
from gyrostat.control.formation_transfer import Impulse, hill_thrust, kepler_motion, least_energy_transfer, two_impulses
from gyrostat.environment import Orbit, bounded_velocity, differential_gravity, two_body_gravity
from gyrostat.formation import Coupling, Formation, Group, ring, simulate, simulate_impulses
from gyrostat.formulations import spatial_forms as forms
from random_trees import random_spacecraft, random_state

ORBIT = Orbit.circular(500e3, 0.9)
ELLIPTIC = Orbit.from_elements(7.5e6, 0.05, 0.9)


# ---- references


@pytest.mark.parametrize("orbit", [ORBIT, ELLIPTIC], ids=["circular", "elliptic"])
def test_hill_target_moves_as_it_says(orbit):
    """Twist and acceleration are the derivatives of the pose, by differences of the closed form."""
    R_HD, rho, t, h = exp_so3(np.array([0.3, -0.2, 0.5])), np.array([10.0, -20.0, 5.0]), 700.0, 1.0

    def target(s):
        return hill_target(orbit, t + s, rho, R_HD)

    here = target(0.0)
    # fourth-order differences over a second: errors of n^5 h^4 times the size, 1e-14
    slope = [
        (8 * (target(h)[0][k] - target(-h)[0][k]) - (target(2 * h)[0][k] - target(-2 * h)[0][k])) / (12 * h)
        for k in (0, 1)
    ]
    W = here.X_ND.R.T @ slope[0]
    np.testing.assert_allclose([W[2, 1], W[0, 2], W[1, 0]], here.V[:3], atol=1e-12)
    np.testing.assert_allclose(here.X_ND.R.T @ slope[1], here.V[3:], atol=1e-11)
    Vdot = (8 * (target(h).V - target(-h).V) - (target(2 * h).V - target(-2 * h).V)) / (12 * h)
    np.testing.assert_allclose(here.Vdot, Vdot, atol=1e-12)


def test_a_slot_beside_a_leader():
    rng = np.random.default_rng(0)
    X_LD = Pose(rotation(rng.normal(size=4)), rng.normal(size=3))
    leader = Target(Pose(rotation(rng.normal(size=4)), rng.normal(size=3)), rng.normal(size=6), rng.normal(size=6))
    slot = offset_target(leader, X_LD)
    Theta = forms.relative_twist(leader.X_ND, slot.X_ND, leader.V, slot.V)
    np.testing.assert_allclose(Theta, 0, atol=1e-14)
    np.testing.assert_allclose(
        forms.relative_acceleration(X_LD, leader.V, np.zeros(6), leader.Vdot, slot.Vdot), 0, atol=1e-14
    )


# ---- the tracking law


def test_pose_error_rates_are_derivatives():
    """To thirty digits, target moving and accelerating."""
    rng = np.random.default_rng(1)
    craft = exact_craft(random_spacecraft(1, links=0, base="free"))
    q, v = (exact(x) for x in random_state(random_spacecraft(1, links=0, base="free"), 4))
    V, Vdot = exact(rng.normal(size=6)), exact(rng.normal(size=6))
    X0 = Pose(rotation(exact(rng.normal(size=4))), exact(rng.normal(size=3)))

    def target(s):
        half = V + s * Vdot / 2
        step = exp_so3(half[:3] * s)
        return Target(Pose(X0.R @ step, X0.p + X0.R @ half[3:] * s), V + s * Vdot, Vdot)  # right to second order in s

    def errors(q, v, s):
        return pose_error(Pose(rotation(q[:4]), q[4:7]), v, target(s))

    here, h = errors(q, v, 0 * V[0]), exact(1e-18)[()]
    qdot = gs.configuration_rate(craft, q, v)
    after, before = errors(q + h * qdot, v, h), errors(q - h * qdot, v, -h)
    np.testing.assert_allclose(((after.e - before.e) / (2 * h)).astype(float), here.edot.astype(float), atol=1e-14)
    rates = ((after.carried - before.carried) / (2 * h)).astype(float)
    np.testing.assert_allclose(rates, here.carried_rate.astype(float), atol=1e-13)


def test_reference_motion_is_consistent():
    """vdot_r is the derivative of v_r where s = 0 or not, to thirty digits, joints included."""
    craft = armed()
    q, v = (exact(x) for x in random_state(craft, 2))
    craft = exact_craft(craft)
    target = fixed_target(np.eye(3), np.array([1.0, 2.0, 3.0]))
    reference, s = reference_motion(craft, q, v, target, 0.3, [0.2, -0.1])
    slope = rate(lambda q, v: reference_motion(craft, q, v, target, 0.3, [0.2, -0.1])[0].v[:-1], craft, q, v)
    assert size(slope - reference.vdot[:-1]) < 1e-30
    assert size(v - reference.v - s) == 0


@pytest.mark.parametrize("choice", ["skew", "lie"])
def test_lyapunov_function_falls_as_promised(choice):
    """d/dt 1/2 s^T M s = -k s^T M s to round-off with the skew C; not with a C that is not skew."""
    craft = armed()
    q, v = random_state(craft, 5, speed=0.5)
    target = Target(Pose(np.eye(3), np.zeros(3)), np.array([0.1, 0.2, -0.1, 0.3, 0, 0]), np.zeros(6))
    law = tracking_law(lambda craft, t: target, bandwidth=0.3, joints=[0.4, 0.2], choice=choice)
    tau = law(craft, 0.0, q, v)
    vdot = gs.forward_dynamics(craft, q, v, tau)
    reference, s = reference_motion(craft, q, v, target, 0.3, [0.4, 0.2])
    M = gs.mass_matrix(craft, q)
    Mdot = gs.coriolis_matrix(craft, q, v) + gs.coriolis_matrix(craft, q, v).T
    found = s @ M @ (vdot - reference.vdot) + 0.5 * s @ Mdot @ s
    promised = -0.6 * s @ M @ s
    if choice == "skew":
        assert found == pytest.approx(promised, rel=1e-11)
    else:
        assert found != pytest.approx(promised, rel=1e-4)


def test_generalised_force_of_wrenches():
    craft = random_spacecraft(6, links=5)
    q, v = random_state(craft, 6)
    wrenches = np.random.default_rng(6).normal(size=(craft.nbodies, 6))
    with_them = gs.bias_force(craft, q, v, wrenches=wrenches)
    np.testing.assert_allclose(
        generalised_force(craft, q, wrenches), gs.bias_force(craft, q, v) - with_them, atol=1e-11
    )


def test_station_keeping_of_a_craft_with_an_arm():
    """From 30 m away and upside down to 2 m behind the reference, nadir-pointing, arm stretched, gravity gradient on."""
    craft = armed()
    formation = Formation({"tug": craft}, orbit=ORBIT)
    state = formation.hill_state({"tug": ([20.0, -30.0, 5.0], [0.0, 0.1, 0.0])})
    state["tug"][0][0, :4] = quat_from_rotation(rotation(state["tug"][0][0, :4]) @ exp_so3(np.array([2.5, 0.5, -0.3])))
    environment = two_body_gravity(ORBIT)
    law = tracking_law(
        lambda craft, t: hill_target(ORBIT, t, (0.0, -2.0, 0.0)),
        bandwidth=0.05,
        joints=[0.3, -0.5],
        environment=environment,
    )
    run = simulate(formation, state, (0, 400), environment=environment, control=law, rtol=1e-10)
    rho, rhodot = run.hill("tug")
    assert np.linalg.norm(rho[-1] - [0, -2, 0]) < 1e-4
    assert np.linalg.norm(rhodot[-1]) < 1e-5
    member = run.member("tug")
    np.testing.assert_allclose(member.q[-1, 7:9], [0.3, -0.5], atol=1e-5)
    R_NH = hill_target(ORBIT, 400.0, np.zeros(3)).X_ND.R
    assert np.linalg.norm(log_so3(R_NH.T @ member.R_NB[-1])) < 1e-4
    assert run.groups["tug"].audit.energy < 1e-8


def test_leader_and_followers():
    """Followers take slots in the axes of a leader that tumbles freely; its acceleration is what its own dynamics says."""

    def law(craft, t, q, v, q_leader, v_leader, slot):
        free = gs.forward_dynamics(leader_craft, q_leader, v_leader, np.zeros(6))
        there = offset_target(target_of_member(leader_craft, q_leader, v_leader, free), Pose(np.eye(3), slot))
        return tracking_law(lambda craft, t: there, bandwidth=0.5)(craft, t, q, v)

    leader_craft = box("leader", 100.0, (10.0, 12.0, 15.0))
    formation = Formation({"leader": Group(leader_craft, ["leader"]), "wing": Group(box(), ["a", "b", "c"])})
    state = formation.neutral()
    state["leader"][1][0] = [0.02, 0.03, -0.01, 0.1, 0.0, 0.05]
    state["wing"][0][:, 4:7] = [[5.0, 0, 0], [0, 5.0, 0], [0, 0, 5.0]]
    slots = np.array([[3.0, 0, 0], [0, 4.0, 0], [-2.0, -2.0, 1.0]])
    run = simulate(
        formation,
        state,
        (0, 60),
        control={"wing": Coupling(law, {"leader": "leader"})},
        inputs={"wing": {"slot": slots}},
        rtol=1e-9,
    )
    for k, name in enumerate("abc"):
        seen = run.relative(name, to="leader")
        np.testing.assert_allclose(seen.position[-1], slots[k], atol=1e-6)
        assert seen.angle[-1] < 1e-6
        assert np.abs(seen.w_Lj[-1]).max() < 1e-6


def test_joints_that_cannot_be_held_are_named():
    craft = random_spacecraft(0, links=2, kinds=("spherical",), base="free")
    q, v = random_state(craft, 0)
    law = tracking_law(lambda craft, t: fixed_target(np.eye(3), np.zeros(3)))
    with pytest.raises(ValueError, match="is spherical; the tracking law holds simple joints only"):
        law(craft, 0.0, q, v)
    with pytest.raises(ValueError, match=r"joints has shape \(3,\); expected \(2,\)"):
        tracking_law(lambda craft, t: fixed_target(np.eye(3), np.zeros(3)), joints=np.zeros(3))(
            armed(), 0.0, gs.neutral(armed()), np.zeros(9)
        )


# ---- adaptive


def test_regressor_is_linear_in_the_parameters():
    craft = random_spacecraft(3, links=0, base="free")
    body = craft.bodies[0]
    rng = np.random.default_rng(3)
    V, V_r, Vdot_r = rng.normal(size=(3, 6))
    M = craft.inertia("base").matrix
    expected = M @ Vdot_r + forms.coriolis(M, V) @ V_r
    Y = rigid_regressor(V, V_r, Vdot_r)
    np.testing.assert_allclose(Y @ parameters_of(body.mass, body.com, body.inertia), expected, rtol=1e-12, atol=1e-11)


def test_adaptive_tracking_without_knowing_the_craft():
    """Guessed half as heavy, balanced and round, it follows a screw motion to 1e-6 m; without adaptation it lags for ever."""
    craft = box("heavy", 30.0, (3.0, 4.0, 5.0), com=(0.05, -0.03, 0.02))
    screw = np.array([0.05, 0.03, -0.02, 0.1, -0.05, 0.2])
    guess = parameters_of(15.0, (0, 0, 0), np.diag([1.0, 1.0, 1.0]))
    true = parameters_of(30.0, (0.05, -0.03, 0.02), np.diag([3.0, 4.0, 5.0]))

    def target(craft, t):
        return Target(exp_se3(screw * t), screw, np.zeros(6))

    errors = {}
    for gamma in (0.0, 5000.0):
        law = adaptive_law(target, guess, bandwidth=0.2, damping=2.0, adaptation=gamma)
        run = gs.simulate(craft, None, None, (0, 600), control=law, rtol=1e-9)
        ends = [
            pose_error(Pose(rotation(q[:4]), q[4:7]), v, target(craft, t)).e
            for t, q, v in zip(run.time, run.q, run.v, strict=True)
        ]
        errors[gamma] = np.abs(ends[-1]).max()
        if gamma:
            z = run.data["z"].values
            # the Lyapunov function bounds the parameters' error by its first value
            s0 = reference_motion(craft, run.q[0], run.v[0], target(craft, 0.0), 0.2)[1]
            first = s0 @ gs.mass_matrix(craft, run.q[0]) @ s0 + ((guess - true) ** 2).sum() / gamma
            assert (((z - true) ** 2).sum(axis=1) / gamma <= first * (1 + 1e-9)).all()
            assert np.abs(z[-1] - z[0]).max() > 0.1
    assert errors[5000.0] < 1e-6
    assert errors[0.0] > 1e-2


def test_adaptive_tracking_in_orbit():
    """The pull of differential gravity is learnt with the mass; what is left is its gradient over the unknown 6 cm to the centre of
    mass: 3 n^2 c m / (K Lambda), 7e-5 m."""
    craft = box("heavy", 30.0, (3.0, 4.0, 5.0), com=(0.05, -0.03, 0.02))
    formation = Formation({"tug": craft}, orbit=ORBIT)
    state = formation.hill_state({"tug": [2.0, -5.0, 1.0]})

    def target(craft, t):
        return hill_target(ORBIT, t, (0.0, -2.0, 0.0), exp_so3(np.array([0.0, 0.0, 0.4])))

    def gravity(t, p):
        return differential_gravity(ORBIT.planet.mu, ORBIT.state(t).r, p)

    law = adaptive_law(
        target, parameters_of(15.0, (0, 0, 0), np.diag([1.0, 1.0, 1.0])), damping=1.0, adaptation=500.0, gravity=gravity
    )
    run = simulate(formation, state, (0, 1000), environment=two_body_gravity(ORBIT), control=law, rtol=1e-9)
    assert np.linalg.norm(run.hill("tug")[0][-1] - [0, -2, 0]) < 2e-4
    with pytest.raises(ValueError, match="flies rigid craft"):
        law.output(armed(), 0.0, gs.neutral(armed()), np.zeros(9), np.zeros(10))


# ---- transfers


@pytest.mark.parametrize("orbit", [ORBIT, ELLIPTIC], ids=["circular", "elliptic"])
def test_two_impulses_in_the_true_motion(orbit):
    """A member 2 km away moves to a bounded orbit 500 m away within 40 minutes, and stays within centimetres for two orbits."""
    craft = box()
    formation = Formation({"a": craft}, orbit=orbit)
    rho0, rho1, t1 = np.array([200.0, -2000.0, 300.0]), np.array([100.0, 500.0, -50.0]), 2400.0
    u0 = bounded_velocity(orbit, 0.0, rho0)
    u1 = bounded_velocity(orbit, t1, rho1)
    state = formation.hill_state({"a": (rho0, u0)})
    burns = two_impulses(orbit, 0.0, t1, (rho0, u0), (rho1, u1))
    end = t1 + 2 * orbit.period
    times = np.array([0.0, 1000.0, t1, t1 + orbit.period, end])
    run = simulate_impulses(
        formation,
        state,
        (0, end),
        {"a": burns},
        save_at=times,
        environment=two_body_gravity(orbit, gradient_force=False),
        rtol=1e-12,
    )
    rho, rhodot = run.hill("a")
    np.testing.assert_allclose(rho[0], rho0, atol=1e-9)
    np.testing.assert_allclose(rho[2], rho1, atol=1e-5)
    np.testing.assert_allclose(rhodot[2], u1, atol=1e-8)
    np.testing.assert_allclose(rho[-1], rho1, atol=1e-2)
    linear = two_impulses(orbit, 0.0, t1, (rho0, u0), (rho1, u1), exact=False)
    reached, _ = kepler_motion(orbit, 0.0, t1, rho0, u0 + linear[0].dv_H)
    assert 1e-2 < np.linalg.norm(reached - rho1) < 5.0
    audit = run.groups["a"].audit
    assert audit.linear < 1e-10
    assert audit.energy < 1e-10


@pytest.mark.parametrize("seed", range(12))
def test_two_impulses_arrive_or_are_refused(seed):
    """From metres to 300 km, over part of a turn or more, on any ellipse: the true motion is where and as fast as it was asked to be."""
    rng = np.random.default_rng(seed)
    arrived = 0
    for _ in range(25):
        e = rng.choice([0.0, 0.01, 0.1, 0.3])
        orbit = Orbit.from_elements(rng.uniform(6.9e6, 9e6) / (1 - e), e, *rng.uniform(0, 3, size=4))
        size, t0 = 10 ** rng.uniform(1, 5.5), rng.uniform(0, 1000)
        rho0, rho1, u0, u1 = (
            size * rng.normal(size=3),
            size * rng.normal(size=3),
            rng.normal(size=3),
            rng.normal(size=3),
        )
        t1 = t0 + rng.uniform(0.05, 1.45) * orbit.period
        try:
            first, second = two_impulses(orbit, t0, t1, (rho0, u0), (rho1, u1))
        except ValueError as refused:
            assert "two impulses" in str(refused)
            continue
        rho, u = kepler_motion(orbit, t0, t1, rho0, u0 + first.dv_H)
        assert np.linalg.norm(rho - rho1) < 1e-6
        assert np.linalg.norm(u + second.dv_H - u1) < 1e-9
        arrived += 1
    assert arrived >= 22


def test_a_goal_that_cannot_be_reached_is_refused():
    with pytest.raises(ValueError, match="two impulses: 2e.07 m in 1000 s; the true motion .* exact=False"):
        two_impulses(ORBIT, 0.0, 1000.0, (np.zeros(3), np.zeros(3)), (np.array([0.0, 2e7, 0.0]), np.zeros(3)))
    with pytest.raises(ValueError, match="start holds .* three finite numbers each"):
        two_impulses(ORBIT, 0.0, 1000.0, (np.zeros(2), np.zeros(3)), (np.zeros(3), np.zeros(3)))


def test_several_impulses_at_one_instant_add_up():
    """Of one member and of two: as their sums; audits count all of them."""
    formation = Formation({"a": box(), "b": armed()}, orbit=ORBIT)
    state = formation.hill_state({"a": [0, 100.0, 0], "b": [0, -100.0, 0]})
    x, y, z = 0.1 * np.eye(3)
    options = {"environment": two_body_gravity(ORBIT), "rtol": 1e-11, "save_at": [0.0, 10.0, 30.0]}
    apart = {"a": [Impulse(10.0, x), Impulse(10.0, y), Impulse(10.0, -3 * z)], "b": [Impulse(10.0, y), Impulse(0.0, z)]}
    summed = {"a": [Impulse(10.0, x + y - 3 * z)], "b": [Impulse(0.0, z), Impulse(10.0, y)]}
    runs = [simulate_impulses(formation, state, (0, 30), burns, **options) for burns in (apart, summed)]
    for member in "ab":
        for one, other in zip(runs[0].hill(member), runs[1].hill(member), strict=True):
            np.testing.assert_allclose(one, other, atol=1e-9)
    assert max(max(a.energy, a.linear) for a in runs[0].audits.values()) < 1e-9
    with pytest.raises(ValueError, match="at the very end of t_span .* Let it end later"):
        simulate_impulses(formation, state, (0, 30), {"a": [Impulse(30.0, x)]})
    with pytest.raises(ValueError, match="impulse of 'a' at 5.0 s is .*; expected three finite numbers"):
        simulate_impulses(formation, state, (0, 30), {"a": [Impulse(5.0, np.array([1.0, np.nan, 0.0]))]})


def test_impulses_of_several_members_at_their_own_times():
    formation = Formation({"a": box(), "b": armed()}, orbit=ORBIT)
    state = formation.hill_state({"a": [0, 100.0, 0], "b": [0, -100.0, 0]})
    burns = {
        "a": [Impulse(10.0, np.array([0.0, 0.0, 0.1]))],
        "b": [Impulse(0.0, np.array([0.0, 0.0, -0.2])), Impulse(20.0, np.zeros(3))],
    }
    run = simulate_impulses(formation, state, (0, 30), burns, environment=two_body_gravity(ORBIT))
    assert len(run.time) == 401
    _, u = run.hill("a")
    before, after = run.time < 10.0, run.time >= 10.0
    assert np.abs(u[before, 2]).max() < 1e-3
    assert u[after, 2][0] == pytest.approx(0.1, abs=1e-3)
    assert run.hill("b")[1][0, 2] == pytest.approx(-0.2, abs=1e-9)
    assert max(a.energy for a in run.audits.values()) < 1e-9
    with pytest.raises(ValueError, match="impulse of 'a' at 50.0 s lies outside"):
        simulate_impulses(formation, state, (0, 30), {"a": [Impulse(50.0, np.zeros(3))]})


def test_bad_transfers():
    x = (np.zeros(3), np.zeros(3))
    with pytest.raises(ValueError, match="expected the second after the first"):
        two_impulses(ORBIT, 10.0, 5.0, x, x)
    with pytest.raises(ValueError, match="a multiple of half the period"):
        two_impulses(ORBIT, 0.0, ORBIT.period, x, x)
    with pytest.raises(ValueError, match="expected a circular orbit"):
        least_energy_transfer(ELLIPTIC, 0.0, 100.0, x, x)


def test_least_energy_transfer_arrives_and_is_least():
    """Flown in the true field it arrives to what the linear model misses; its cost is below that of two impulses spread out."""
    craft = box()
    formation = Formation({"a": craft}, orbit=ORBIT)
    start, end, t1 = ([30.0, -50.0, 10.0], [0.0, 0.0, 0.0]), ([0.0, -10.0, 0.0], [0.0, 0.0, 0.0]), 1500.0
    u = least_energy_transfer(ORBIT, 0.0, t1, start, end)
    state = formation.hill_state({"a": start})
    law = hill_thrust(ORBIT, u, 10.0)
    run = simulate(formation, state, (0, t1), environment=two_body_gravity(ORBIT), control=law, rtol=1e-11)
    rho, rhodot = run.hill("a")
    np.testing.assert_allclose(rho[-1], end[0], atol=5e-3)  # separation^2 / radius, and what follows from it
    np.testing.assert_allclose(rhodot[-1], 0, atol=1e-5)
    assert not np.any(u(t1 + 1.0))
    assert not np.any(u(-1.0))
    # any other thrust that arrives costs more: add one that the linear model does not feel at the end
    times = np.linspace(0, t1, 3001)
    own = np.array([u(t) for t in times])
    detour = np.array(
        [
            a(t)
            for t in times
            for a in (
                least_energy_transfer(ORBIT, 0.0, t1 / 2, (np.zeros(3), np.zeros(3)), ([5.0, 0, 0], np.zeros(3))),
            )
        ]
    )
    back = least_energy_transfer(ORBIT, t1 / 2, t1, ([5.0, 0, 0], np.zeros(3)), (np.zeros(3), np.zeros(3)))
    other = own + detour + np.array([back(t) for t in times])
    assert np.trapezoid((other**2).sum(axis=1), times) > np.trapezoid((own**2).sum(axis=1), times)
    cross_term = np.trapezoid((own * (other - own)).sum(axis=1), times)
    assert abs(cross_term) < 1e-3 * np.trapezoid((own**2).sum(axis=1), times)


# ---- consensus


def test_attitude_error():
    R = exp_so3(np.array([0.01, -0.02, 0.03]))
    base = quat_from_rotation(exp_so3(np.array([1.0, 2.0, 0.5])))
    turned = quat_from_rotation(rotation(base) @ R)
    np.testing.assert_allclose(attitude_error(base, turned), [0.01, -0.02, 0.03], atol=2e-5)
    np.testing.assert_allclose(attitude_error(base, -turned), attitude_error(base, turned), atol=1e-15)


def test_consensus_of_eight_on_a_ring():
    """Scattered by up to a radian and turning, of other inertias: all point the same way, and turn together, without a leader."""
    names = [f"m{k}" for k in range(8)]
    rng = np.random.default_rng(2)
    inertia = np.array([[a, 0, 0, b, 0, c] for a, b, c in rng.uniform(0.4, 0.6, size=(8, 3))])
    formation = Formation({"ring": Group(box(), names, {"hull.inertia": inertia})})
    state = formation.neutral()
    for k in range(8):
        state["ring"][0][k, :4] = quat_from_rotation(exp_so3(0.6 * rng.normal(size=3)))
        state["ring"][1][k, :3] = 0.05 * rng.normal(size=3)
    law = attitude_consensus(0.4, 1.0)
    run = simulate(formation, state, (0, 120), control={"ring": Coupling(law, {"near": ring(names)})}, rtol=1e-9)
    apart = np.array([run.relative(n, to="m0").angle for n in names[1:]])
    assert apart[:, 0].max() > 0.5
    assert apart[:, -1].max() < 1e-3
    rates = np.array([run.member(n).w_N[-1] for n in names])
    assert np.abs(rates - rates[0]).max() < 1e-4
    worst = apart.max(axis=0)
    assert worst[200:].max() < worst[:200].max()
