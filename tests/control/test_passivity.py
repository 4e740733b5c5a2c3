"""Tracking by passivity: its equation, its proof along runs, estimates that stay physical, wheels, springs, orbits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import gyrostat as gs
from exact import exact, exact_craft, rate, size
from formation_crafts import armed, box
from gyrostat.algebra import (
    Pose,
    RigidInertia,
    cos,
    cross,
    exp_se3,
    exp_so3,
    inertia_components,
    inertia_matrix,
    log_so3,
    quat_from_rotation,
    rotation,
    sin,
    skew,
)
from gyrostat.control import (
    CraftReference,
    JointReference,
    PoseReference,
    attitude_error,
    base_as_reference,
    computed_torque,
    estimated_inertias,
    hill_reference,
    offset_reference,
    passivity_tracking,
    pose_error,
    pose_reference,
    tracking_force,
    tracking_regressor,
)
from gyrostat.control.passivity import base_inertia, reference_velocity
from gyrostat.control.pseudo_inertia import (
    descent,
    divergence,
    estimate_of,
    first_factor,
    first_factors,
    pseudo_inertia,
)
from gyrostat.environment import Orbit, differential_gravity, two_body_gravity
from gyrostat.formation import Coupling, Formation, Group, simulate
from gyrostat.formulations import spatial_forms as forms
from laws import acceleration, servicer_like, state
from manoeuvring_crafts import small_servicer
from random_trees import random_inertia, random_spacecraft, random_state

CRAFT = small_servicer(wheels=False)
AMPLITUDE, OMEGA = np.array([0.6, 0.8]), np.array([1.1, 0.7])
LAST = 90.0  # s: errors are judged from here on
SPAN = (0.0, 120.0)
ORBIT = Orbit.circular(500e3, 0.9)


def wrong(seed, part=0.2):
    """Every mass, centre of mass and inertia off by +-20 %, each its own way."""
    rng = np.random.default_rng(seed)
    values = {}
    for body in CRAFT.bodies:
        for name, value in (("mass", body.mass), ("com", body.com), ("inertia", inertia_components(body.inertia))):
            values[f"{body.name}.{name}"] = value * (1 + part * rng.choice([-1.0, 1.0]))
    return CRAFT.with_values(values)


def joints(t):
    return JointReference(
        AMPLITUDE * np.array([1 - cos(w * t) for w in OMEGA]),
        AMPLITUDE * OMEGA * np.array([sin(w * t) for w in OMEGA]),
        AMPLITUDE * OMEGA**2 * np.array([cos(w * t) for w in OMEGA]),
    )


def everything(t):
    angle, rate, acceleration = 0.5 * (1 - cos(0.5 * t)), 0.25 * sin(0.5 * t), 0.125 * cos(0.5 * t)
    axis = np.array([1.0, 2.0, -2.0]) / 3
    p = np.array([0.3 * (1 - cos(0.6 * t)), 0.2 * (1 - cos(0.4 * t)), 0.0 * t])
    v = np.array([0.18 * sin(0.6 * t), 0.08 * sin(0.4 * t), 0.0 * t])
    a = np.array([0.108 * cos(0.6 * t), 0.032 * cos(0.4 * t), 0.0 * t])
    quat = np.concatenate([[cos(0.5 * angle)], axis * sin(0.5 * angle)])
    base = pose_reference(quat, p, w_ND_D=axis * rate, wdot_ND_D=axis * acceleration, v_N=v, a_N=a)
    return CraftReference(base, joints(t))


def fly(control, mode, span=SPAN, **more):
    start = {"q0": gs.neutral(CRAFT), "v0": np.zeros(CRAFT.nv)} | more
    return gs.simulate(CRAFT, t_span=span, control=control, mode=mode, rtol=1e-8, atol=1e-9, **start)


def joint_errors(run):
    return np.abs(run.q[:, 7:] - [joints(t).q for t in run.time])


def random_reference(craft, seed):
    rng = np.random.default_rng(seed)
    X = Pose(rotation(rng.normal(size=4)), rng.normal(size=3))
    n = len(craft.at(gs.Role.driven))
    return CraftReference(PoseReference(X, *rng.normal(size=(2, 6))), JointReference(*rng.normal(size=(3, n))))


# ---- the equation


@pytest.mark.parametrize("seed", range(20))
def test_force_and_regressor_are_m_and_the_christoffel_c(seed):
    """Any tree, joint kind and base; and with v_r = v the regressor is that of the dynamics."""
    craft = random_spacecraft(seed)
    q, v = random_state(craft, seed)
    v_r, vdot_r = np.random.default_rng(seed).normal(size=(2, craft.nv))
    expected = gs.mass_matrix(craft, q) @ vdot_r + gs.coriolis_matrix(craft, q, v) @ v_r
    scale = 1e-12 * max(1.0, np.abs(expected).max())
    np.testing.assert_allclose(tracking_force(craft, q, v, v_r, vdot_r), expected, atol=scale)
    rotors = np.concatenate([joint.armature * joint.rate(vdot_r) for joint in craft.joints])
    Y = tracking_regressor(craft, q, v, v_r, vdot_r)
    pi = gs.formulations.recursive.inertial_parameters(craft)
    np.testing.assert_allclose(Y @ pi + rotors, expected, atol=scale)
    own = gs.formulations.recursive.regressor(craft, q, v, vdot_r)
    np.testing.assert_allclose(tracking_regressor(craft, q, v, v, vdot_r), own, atol=1e-11)


def test_the_reference_velocity_has_its_exact_rate():
    """To thirty digits, joints included; the reference is at rest, the craft far from it."""
    craft = servicer_like(1, panels=0, wheels=2)
    q, v = (exact(x) for x in state(craft, 2))
    craft = exact_craft(craft)
    wanted = CraftReference(
        PoseReference(Pose(np.eye(3), np.array([1.0, 2.0, 3.0]))), JointReference(*np.zeros((3, 7)))
    )
    found = reference_velocity(craft, wanted, 0.0, q, v, 0.3)
    slope = rate(lambda q, v: reference_velocity(craft, wanted, 0.0, q, v, 0.3).v_r, craft, q, v)
    assert size(slope - found.vdot_r) < 1e-28
    acts = craft.at(gs.Role.base, gs.Role.driven)
    assert size((v - found.v_r - found.s)[acts]) == 0 and not found.s[craft.at(gs.Role.wheel)].any()


def energy(craft, q, s):
    """1/2 s^T M s with the wheels' spin inertia taken out."""
    acts, wheels = craft.at(gs.Role.base, gs.Role.driven), craft.at(gs.Role.wheel)
    M = gs.mass_matrix(craft, q)
    own, between, spin = (M[np.ix_(a, b)] for a, b in ((acts, acts), (acts, wheels), (wheels, wheels)))
    left = own - between @ np.linalg.solve(spin, between.T) if len(wheels) else own
    return 0.5 * s[acts] @ left @ s[acts]


@pytest.mark.parametrize("seed", range(6))
def test_the_energy_of_s_falls_exactly_as_promised(seed):
    """(3), with springs, dampers, friction, rotors and wheels at speed, far from a reference that moves: by differences
    along the motion.
    """
    craft = servicer_like(seed, panels=0)
    geared = [
        replace(b, joint=replace(b.joint, rotor_inertia=1e-4, gear_ratio=50.0)) if b.name == "link_2" else b
        for b in craft.bodies
    ]
    craft = gs.Spacecraft.build("craft", geared)
    q, v = state(craft, seed)
    v[craft.at(gs.Role.wheel)] *= 100.0
    wanted, h = random_reference(craft, seed), 1e-6
    tau = passivity_tracking(lambda t: wanted, bandwidth=0.7, damping=0.4, gain=3.0)(craft, 0.0, q, v)
    assert not tau[craft.at(gs.Role.wheel)].any()
    vdot = acceleration(craft, q, v, tau)

    def at(step):
        twist = wanted.base.twist + 0.5 * step * wanted.base.rate
        X = Pose(exp_so3(step * twist[:3]) @ wanted.base.X.R, wanted.base.X.p + step * twist[3:])
        (p, w, a), base = wanted.joints, PoseReference(X, wanted.base.twist + step * wanted.base.rate, wanted.base.rate)
        moved = CraftReference(base, JointReference(p + step * w + 0.5 * step**2 * a, w + step * a, a))
        there = gs.step_configuration(craft, q, step * v + 0.5 * step**2 * vdot)
        return energy(craft, there, reference_velocity(craft, moved, 0.0, there, v + step * vdot, 0.7).s)

    s = reference_velocity(craft, wanted, 0.0, q, v, 0.7).s
    promised = -2 * 0.4 * energy(craft, q, s) - 3.0 * s @ s
    assert (at(h) - at(-h)) / (2 * h) == pytest.approx(promised, rel=1e-6)


def test_with_a_coriolis_matrix_that_is_not_skew_it_does_not():
    craft = armed()
    craft = gs.Spacecraft.build("no wheels", [b for b in craft.bodies if b.joint.kind != "wheel"])
    q, v = random_state(craft, 5, speed=0.5)
    wanted = random_reference(craft, 5)
    found = reference_velocity(craft, wanted, 0.0, q, v, 0.3)
    M, s = gs.mass_matrix(craft, q), found.s
    Mdot = gs.coriolis_matrix(craft, q, v) + gs.coriolis_matrix(craft, q, v).T
    for choice, holds in (("skew", True), ("lie", False)):
        tau = M @ (found.vdot_r - 0.6 * s) + forms.coriolis_matrix(craft, q, v, choice=choice) @ found.v_r
        sdot = gs.forward_dynamics(craft, q, v, tau) - found.vdot_r
        fell = s @ M @ sdot + 0.5 * s @ Mdot @ s
        assert bool(fell == pytest.approx(-0.6 * s @ M @ s, rel=1e-10)) is holds


def test_with_true_parameters_the_error_is_zero_from_the_start():
    law = passivity_tracking(everything, bandwidth=1.0, damping=0.0, gain=20.0, adaptation=1.0, estimate=CRAFT)
    run = fly(law, "flying", (0, 10))
    assert joint_errors(run).max() < 1e-6
    assert np.abs(run.data["z"].values - run.data["z"].values[0]).max() < 1e-3


def test_a_far_reference_that_turns_does_not_swing_the_craft():
    """100 m away, turning at 0.1 rad/s: the approach is straight in N, at the bandwidth."""
    craft = box("far", 30.0, (3.0, 4.0, 5.0))
    spin = np.array([0.0, 0.0, 0.1])

    def turning(t):
        return PoseReference(Pose(exp_so3(spin * t), np.zeros(3)), np.array([*spin, 0, 0, 0]))

    q, v = gs.neutral(craft), np.zeros(6)
    q[4:7] = [100.0, 0.0, 0.0]
    law = passivity_tracking(turning, bandwidth=0.05, damping=1.0)
    run = gs.simulate(craft, q, v, (0, 200), control=law, rtol=1e-9)
    assert np.abs(run.q[:, 5:7]).max() < 1e-6
    late = run.time > 50
    decay = np.polyfit(run.time[late], np.log(run.q[late, 4]), 1)[0]
    assert decay == pytest.approx(-0.05, rel=1e-3)


# ---- learning


def some_body(rng):
    mass = rng.uniform(1, 20)
    return gs.Spacecraft.build("c", [gs.Body("b", mass, rng.normal(size=3), random_inertia(rng, mass))]).inertia("b")


def mass_properties(M):
    """Mass, centre of mass, and inertia about it."""
    c = M.h / M.m
    C = skew(c)
    I = M.I_o + M.m * (C @ C)
    return M.m, c, 0.5 * (I + I.T)


@pytest.mark.parametrize("seed", range(10))
def test_theta_zero_is_the_first_guess_and_every_theta_a_body(seed):
    rng = np.random.default_rng(seed)
    M = some_body(rng)
    L_0 = first_factor(M)
    back = estimate_of(L_0, np.zeros(10))
    assert back.m == pytest.approx(M.m, rel=1e-13)
    np.testing.assert_allclose(back.h, M.h, atol=1e-12)
    np.testing.assert_allclose(back.I_o, M.I_o, atol=1e-11)
    wild = estimate_of(L_0, rng.normal(scale=2.0, size=10))
    gs.Spacecraft.build("w", [gs.Body("w", *mass_properties(wild))])  # judged as any model is


def parameters(M):
    return np.array([M.m, *M.h, *inertia_components(M.I_o)])


@pytest.mark.parametrize("seed", range(5))
def test_the_divergence_changes_as_the_proof_needs(seed):
    """(3): d/dt D = -gain slope . (pi - pi_true), for any slope, body and truth; by differences."""
    rng = np.random.default_rng(seed)
    guess, true = some_body(rng), some_body(rng)
    L_0, theta, slope = first_factor(guess), 0.5 * rng.normal(size=10), rng.normal(size=10)
    step, h = descent(L_0, theta, slope, 0.3), 1e-5
    found = (divergence(L_0, theta + h * step, true) - divergence(L_0, theta - h * step, true)) / (2 * h)
    promised = -0.3 * slope @ (parameters(estimate_of(L_0, theta)) - parameters(true))
    assert found == pytest.approx(promised, rel=1e-5)
    assert divergence(L_0, theta, true) > 0 and divergence(L_0, theta, estimate_of(L_0, theta)) == pytest.approx(
        0.0, abs=1e-9
    )


def test_learning_feels_no_frame_and_no_unit():
    """The same body seen in turned, displaced axes, in grams and millimetres, learns the same thing from the same
    power.
    """
    rng = np.random.default_rng(1)
    guess, slope = some_body(rng), rng.normal(size=10)
    T = np.eye(4)  # r' = 1000 (R r + p), m' = 1000 m: P' = 1000 T P T^T
    T[:3, :3], T[:3, 3] = 1e3 * rotation(rng.normal(size=4)), 1e3 * rng.normal(size=3)

    def elsewhere(M):
        P = 1e3 * T @ pseudo_inertia(M) @ T.T
        S = P[:3, :3]
        return RigidInertia(P[3, 3], P[:3, 3], np.trace(S) * np.eye(3) - S)

    units = np.array([parameters(elsewhere(RigidInertia(x[0], x[1:4], inertia_matrix(x[4:])))) for x in np.eye(10)]).T
    here = estimate_of(first_factor(guess), 0.7 * descent(first_factor(guess), np.zeros(10), slope, 1.0))
    L_0 = first_factor(elsewhere(guess))
    there = estimate_of(L_0, 0.7 * descent(L_0, np.zeros(10), np.linalg.solve(units.T, slope), 1.0))
    rates = [
        descent(L, np.zeros(10), x, 1.0)
        for L, x in ((first_factor(guess), slope), (L_0, np.linalg.solve(units.T, slope)))
    ]
    assert np.linalg.norm(rates[0]) > 0.1
    h = 1e-6
    slopes = [
        (parameters(elsewhere(estimate_of(first_factor(guess), h * rates[0]))) - parameters(elsewhere(guess))) / h,
        (parameters(estimate_of(L_0, h * rates[1])) - parameters(elsewhere(guess))) / h,
    ]
    np.testing.assert_allclose(slopes[1], slopes[0], rtol=1e-4, atol=1e-4 * np.abs(slopes[0]).max())
    assert here.m > 0 and there.m > 0


def lack(craft, estimate, memory):
    """Sum over the bodies of D(true || estimate)."""
    factors = first_factors(estimate).items()
    return sum(divergence(L_0, memory[10 * k : 10 * k + 10], craft.inertia(B)) for k, (B, L_0) in enumerate(factors))


@pytest.mark.parametrize("mode", ["flying", "floating"])
def test_the_lyapunov_function_falls(mode):
    """1/2 s^T M s + D(P_true || P) / adaptation never rises: the proof, checked along a run that starts in a tumble."""
    adaptation, rng = 0.05, np.random.default_rng(1)
    path = everything if mode == "flying" else joints
    law = passivity_tracking(
        path, bandwidth=1.0, damping=0.0, gain=30.0, mode=mode, adaptation=adaptation, estimate=wrong(3)
    )
    v = np.concatenate([0.3 * rng.normal(size=6), np.zeros(2)])
    run = fly(law, mode, (0, 20), v0=v)
    values = []
    for t, q, v, z in zip(run.time, run.q, run.v, run.data["z"].values, strict=True):
        s = reference_velocity(CRAFT, path(t), t, q, v, 1.0, z[-6:] if mode == "floating" else None).s
        values.append(0.5 * s @ gs.mass_matrix(CRAFT, q) @ s + lack(CRAFT, wrong(3), z) / adaptation)
    values = np.array(values)
    assert np.diff(values).max() < 1e-6 * values[0] and values[-1] < 0.9 * values[0]


@pytest.mark.parametrize("seed", [1, 3, 5])
@pytest.mark.parametrize(("adaptation", "speed"), [(0.05, 0.3), (1.0, 1.0), (20.0, 1.0)])
@pytest.mark.parametrize("told", [True, False], ids=["velocity told", "velocity not told"])
def test_masses_twenty_percent_off_in_a_tumble_never_make_an_estimate_singular(told, adaptation, speed, seed):
    """What blew up at once: a craft that starts tumbling, its base's velocity unknown to the law at first. Told of it,
    the joints follow, too.
    """
    rng = np.random.default_rng(seed)
    v = np.concatenate([speed * rng.normal(size=6), np.zeros(2)])
    options = {"bandwidth": 1.0, "damping": 0.0, "gain": 20.0, "mode": "floating", "estimate": wrong(seed)}
    options |= {"base_velocity": v[:6]} if told else {}
    run = fly(passivity_tracking(joints, adaptation=adaptation, **options), "floating", (0, 20), v0=v)
    assert run.status == ("done",) and np.isfinite(run.data["z"].values).all()
    inertias = [M for z in run.data["z"].values for M in estimated_inertias(wrong(seed), z).values()]
    assert min(np.linalg.eigvalsh(pseudo_inertia(M))[0] for M in inertias) > 0
    if told:
        without = fly(passivity_tracking(joints, **options), "floating", (0, 20), v0=v)
        late = run.time > 15.0
        assert joint_errors(run)[late].max() < joint_errors(without)[late].max()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_computed_torque_with_wrong_mass_properties_stays_stable(seed):
    """+-20 % in everything: errors are bounded, do not grow, and stay small; with the true model they are tiny."""
    errors = {}
    for name, estimate in (("wrong", wrong(seed)), ("true", CRAFT)):
        law = computed_torque(joints, kp=9.0, kd=6.0, estimate=estimate, feed_forward=True)
        errors[name] = joint_errors(fly(law, "floating", (0, 60)))
    early, late = (errors["wrong"][k].max() for k in (slice(100, 250), slice(250, None)))
    assert errors["wrong"].max() < 0.15 and late < 1.2 * early
    assert errors["true"].max() < 1e-6 and late > 1e-3


def test_learning_takes_the_error_below_one_percent():
    """Flying, whole craft: joints, attitude and position, against the same law that does not learn."""
    gain = np.array([40.0] * 3 + [120.0] * 3 + [10.0] * 2)
    worst = {}
    for adaptation in (0.0, 200.0):
        law = passivity_tracking(
            everything, bandwidth=1.0, damping=0.0, gain=gain, adaptation=adaptation, estimate=wrong(3)
        )
        run = fly(law, "flying")
        late = run.time > LAST
        wanted = [everything(t).base.X for t in run.time]
        attitude = attitude_error(run.q[:, :4], np.array([quat_from_rotation(X.R) for X in wanted]))
        place = np.abs(run.q[:, 4:7] - [X.p for X in wanted]).max(axis=1)
        worst[adaptation] = [joint_errors(run)[late].max(), np.abs(attitude)[late].max(), place[late].max()]
        assert run.mode_audit.ok
    assert (np.array(worst[200.0]) < 0.01 * np.array(worst[0.0])).all()


def test_learning_on_a_floating_base():
    """Nothing acts on the base (the mode checks it); its reference is chosen so that the unactuated rows hold."""
    gain = np.array([10.0] * 3 + [40.0] * 3 + [10.0] * 2)
    worst = {}
    for adaptation in (0.0, 500.0):
        law = passivity_tracking(
            joints, bandwidth=1.0, damping=0.0, gain=gain, mode="floating", adaptation=adaptation, estimate=wrong(3)
        )
        run = fly(law, "floating")
        worst[adaptation] = joint_errors(run)[run.time > LAST].max()
        assert run.mode_audit.ok
    assert worst[500.0] < 0.01 * worst[0.0] and worst[0.0] > 1e-3


def test_on_a_floating_base_the_unactuated_rows_hold():
    """(5) at any state and estimate: with the base's reference acceleration that was chosen, it needs no load."""
    rng = np.random.default_rng(6)
    gain = rng.uniform(5.0, 20.0, CRAFT.nv)
    law = passivity_tracking(
        joints, bandwidth=1.3, damping=0.7, gain=gain, mode="floating", adaptation=1.0, estimate=wrong(2)
    )
    q = gs.step_configuration(CRAFT, gs.neutral(CRAFT), rng.normal(size=CRAFT.nv))
    v, t, V_r = rng.normal(size=CRAFT.nv), 0.8, rng.normal(size=6)
    z = np.concatenate([law.state0[:-6], V_r])
    rates, believed = law.derivative(CRAFT, t, q, v, z), wrong(2)
    wanted = joints(t)
    v_r = np.concatenate([V_r, wanted.qdot + 1.3 * (wanted.q - q[7:])])
    vdot_r = np.concatenate([rates[-6:], wanted.qddot + 1.3 * (wanted.qdot - v[6:])])
    s = v - v_r
    tau = tracking_force(believed, q, v, v_r, vdot_r - 0.7 * s) - gain * s
    assert np.abs(tau[:6]).max() < 1e-9 and np.abs(gain * s)[:6].max() > 1.0
    np.testing.assert_allclose(law.output(CRAFT, t, q, v, z), np.concatenate([np.zeros(6), tau[6:]]), atol=1e-9)


def test_the_base_inertia_of_estimates_is_that_of_the_mass_matrix():
    craft = random_spacecraft(3, base="free", kinds=("revolute", "spherical", "wheel"))
    q = random_state(craft, 3)[0]
    inertias = {b.name: craft.inertia(b.name) for b in craft.bodies}
    np.testing.assert_allclose(base_inertia(craft, q, inertias), gs.mass_matrix(craft, q)[:6, :6], atol=1e-11)


def test_learning_beside_wheels_that_spin():
    """Wheels at speed are known and gyroscopic; hull and arm are learnt all the same."""
    craft = servicer_like(2, panels=0, arm=2)
    v = np.zeros(craft.nv)
    v[craft.at(gs.Role.wheel)] = [200.0, -150.0, 100.0, 50.0]
    guess = craft.with_values(
        {"hull.mass": 1.2 * craft.value("hull.mass"), "link_1.mass": 0.8 * craft.value("link_1.mass")}
    )
    turning = pose_reference(np.array([0.9, 0.1, -0.3, 0.2]))
    wanted = CraftReference(turning, JointReference(np.array([0.4, -0.6]), np.zeros(2), np.zeros(2)))
    options = {"bandwidth": 0.5, "damping": 0.0, "gain": 60.0, "adaptation": 0.5, "estimate": guess}
    run = gs.simulate(craft, None, v, (0, 60), control=passivity_tracking(lambda t: wanted, **options), rtol=1e-8)
    e = pose_error(gs.frame_pose(craft, run.q[-1], "hull"), wanted.base.X)
    assert np.abs(e).max() < 1e-4 and np.abs(run.q[-1, 7:9] - [0.4, -0.6]).max() < 1e-4
    assert set(estimated_inertias(guess, run.data["z"].values[-1])) == {"hull", "link_0", "link_1"}


def test_learning_without_knowing_the_craft():
    """Guessed half as heavy, balanced and round, it follows a screw motion to 1e-6 m; without learning it lags for
    ever.
    """
    craft = box("heavy", 30.0, (3.0, 4.0, 5.0), com=(0.05, -0.03, 0.02))
    guess = box("heavy", 15.0, (1.0, 1.0, 1.0))
    screw = np.array([0.05, 0.03, -0.02, 0.1, -0.05, 0.2])

    def along(t):
        X = exp_se3(screw * t)
        w, v = X.R @ screw[:3], X.R @ screw[3:]
        return PoseReference(X, np.concatenate([w, v]), np.concatenate([np.zeros(3), cross(w, v)]))

    errors = {}
    for adaptation in (0.0, 2e4):
        law = passivity_tracking(along, bandwidth=0.2, damping=0.0, gain=2.0, adaptation=adaptation, estimate=guess)
        run = gs.simulate(craft, None, None, (0, 600), control=law, rtol=1e-9)
        errors[adaptation] = np.abs(pose_error(gs.frame_pose(craft, run.q[-1], "hull"), along(600.0).X)).max()
    assert errors[2e4] < 1e-6
    assert errors[0.0] > 1e-2


def test_learning_in_orbit():
    """The pull of differential gravity is learnt with the mass; what is left is its gradient over the unknown 6 cm to
    the centre of mass: 3 n^2 c m / (K Lambda), 7e-5 m.
    """
    craft = box("heavy", 30.0, (3.0, 4.0, 5.0), com=(0.05, -0.03, 0.02))
    formation = Formation({"tug": craft}, orbit=ORBIT)
    state = formation.hill_state({"tug": [2.0, -5.0, 1.0]})
    law = passivity_tracking(
        lambda t: hill_reference(ORBIT, t, (0.0, -2.0, 0.0), exp_so3(np.array([0.0, 0.0, 0.4]))),
        bandwidth=0.1,
        damping=0.0,
        gain=1.0,
        adaptation=10.0,
        estimate=box("heavy", 15.0, (1.0, 1.0, 1.0)),
        gravity=lambda t, p: differential_gravity(ORBIT.planet.mu, ORBIT.state(t).r, p),
    )
    run = simulate(formation, state, (0, 1000), environment=two_body_gravity(ORBIT), control=law, rtol=1e-9)
    assert np.linalg.norm(run.hill("tug")[0][-1] - [0, -2, 0]) < 2e-4


# ---- in formations


def test_station_keeping_of_a_craft_with_an_arm():
    """From 30 m away and upside down to 2 m behind the reference, nadir-pointing, arm out, gravity gradient on."""
    craft = armed()
    formation = Formation({"tug": craft}, orbit=ORBIT)
    state = formation.hill_state({"tug": ([20.0, -30.0, 5.0], [0.0, 0.1, 0.0])})
    state["tug"][0][0, :4] = quat_from_rotation(rotation(state["tug"][0][0, :4]) @ exp_so3(np.array([2.5, 0.5, -0.3])))
    environment = two_body_gravity(ORBIT)
    arm = JointReference(np.array([0.3, -0.5]), np.zeros(2), np.zeros(2))
    law = passivity_tracking(
        lambda t: CraftReference(hill_reference(ORBIT, t, (0.0, -2.0, 0.0)), arm),
        bandwidth=0.05,
        environment=environment,
    )
    run = simulate(formation, state, (0, 400), environment=environment, control=law, rtol=1e-10)
    rho, rhodot = run.hill("tug")
    assert np.linalg.norm(rho[-1] - [0, -2, 0]) < 1e-4
    assert np.linalg.norm(rhodot[-1]) < 1e-5
    member = run.member("tug")
    np.testing.assert_allclose(member.q[-1, 7:9], [0.3, -0.5], atol=1e-5)
    R_NH = hill_reference(ORBIT, 400.0, np.zeros(3)).X.R
    assert np.linalg.norm(log_so3(R_NH.T @ member.R_NB[-1])) < 1e-4
    assert run.groups["tug"].audit.energy < 1e-8


def test_leader_and_followers():
    """Followers take slots in the axes of a leader that tumbles freely; its acceleration follows from its dynamics."""

    def law(craft, t, q, v, q_leader, v_leader, slot):
        free = gs.forward_dynamics(leader_craft, q_leader, v_leader, np.zeros(6))
        there = offset_reference(base_as_reference(leader_craft, q_leader, v_leader, free), Pose(np.eye(3), slot))
        return passivity_tracking(lambda t: there, bandwidth=0.5)(craft, t, q, v)

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


# ---- what is refused


def test_what_the_law_does_not_know_is_refused_by_name():
    hold = CraftReference(PoseReference(Pose(np.eye(3), np.zeros(3))), JointReference(*np.zeros((3, 7))))
    law = passivity_tracking(lambda t: hold, bandwidth=1.0)

    def flies(craft):
        return law(craft, 0.0, gs.neutral(craft), np.zeros(craft.nv))

    flies(servicer_like(1, panels=0))
    with pytest.raises(
        ValueError, match="drives every joint, but 'hinge_0' of .* has no motor .*control.computed_torque"
    ):
        flies(servicer_like(1, panels=1))
    with pytest.raises(ValueError, match="but 'hinge_0', 'hinge_1' of .* have no motor"):
        flies(servicer_like(1, panels=2))
    with pytest.raises(ValueError, match="passivity_tracking needs a base that is free; that of .* is planar"):
        flies(servicer_like(1, panels=0, base="planar"))
    ball = gs.Body("b", 1.0, inertia=(1, 1, 1), joint=gs.Joint("ball", "spherical", "bus"))
    with pytest.raises(ValueError, match="joint 'ball' of c is spherical, whose rates are no derivatives"):
        flies(gs.Spacecraft.build("c", [gs.Body("bus", 10.0, inertia=(5, 5, 5)), ball]))
    with pytest.raises(TypeError, match="says nothing of the 7 driven joints"):
        passivity_tracking(lambda t: hold.base, bandwidth=1.0)(
            servicer_like(1, panels=0), 0.0, *state(servicer_like(1, panels=0), 1)
        )
    with pytest.raises(TypeError, match="in mode 'floating' follows a JointReference"):
        gs.simulate(
            CRAFT, None, None, (0, 1), control=passivity_tracking(lambda t: hold, bandwidth=1.0, mode="floating")
        )
    wheel = gs.Wheel("rw", "bus", (0, 0, 1), 0.1)
    wheel = replace(wheel, joint=replace(wheel.joint, rotor_inertia=1e-3))
    with pytest.raises(ValueError, match="wheel 'rw' of c has a geared rotor"):
        flies(gs.Spacecraft.build("c", [gs.Body("bus", 10.0, inertia=(5, 5, 5)), wheel]))


def test_options_that_do_not_fit_are_refused():
    def law(**more):
        return passivity_tracking(joints, **({"bandwidth": 1.0} | more))

    with pytest.raises(ValueError, match="mode is 'rotation-flying'; expected 'flying' or 'floating'"):
        law(mode="rotation-flying")
    with pytest.raises(ValueError, match="to learn, it needs estimate="):
        law(adaptation=1.0)
    with pytest.raises(ValueError, match="an environment's loads hold the true masses"):
        law(adaptation=1.0, estimate=CRAFT, environment=two_body_gravity(ORBIT))
    with pytest.raises(ValueError, match="bandwidth 0.0 must be positive"):
        law(bandwidth=0.0)
    flat = gs.Spacecraft.build("flat", [gs.Body("plate", 1.0, inertia=(1.0, 1.0, 2.0))])
    with pytest.raises(ValueError, match="body 'plate' of flat has no volume: mass 1 kg, .* give it some thickness"):
        law(adaptation=1.0, estimate=flat)
    assert list(first_factors(CRAFT)) == [b.name for b in CRAFT.bodies]
