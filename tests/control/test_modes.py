"""The five manoeuvring modes: what may act, and what is conserved (section 6 of the corrected digest of Wilde et al.
2018).
"""

from dataclasses import replace

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algebra import cos, rotation, sin, wrench_to_parent
from gyrostat.control import MODES, commanded_loads, through_center_of_mass, wheel_pyramid
from gyrostat.control.commanded import joint_count
from gyrostat.kinematics import body_twists, inertial_poses, joint_poses
from manoeuvring_crafts import small_servicer, state

TIGHT = {"rtol": 1e-13, "atol": 1e-13}
SPAN = (0.0, 8.0)


def commands(craft, t, mode):
    """Accelerations that swing everything to and fro."""
    joints = np.array([0.4 * cos(1.3 * t), -0.5 * sin(0.9 * t)])
    turn = np.array([0.02 * cos(t), -0.03 * sin(0.7 * t), 0.025 * cos(0.5 * t)])
    push = np.array([0.01 * sin(t), 0.02 * cos(0.8 * t), -0.015 * cos(1.1 * t)])
    may = MODES[mode]
    return {
        "joints": joints,
        "turn": turn if may.couple or may.turns_by_wheels else None,
        "push": push if may.force else None,
    }


def law_of(mode):
    def law(craft, t, q, v):
        return commanded_loads(craft, q, v, mode, **commands(craft, t, mode)).tau

    return law


@pytest.fixture(scope="module")
def runs():
    """One run of the same arm motion in each mode, from the same moving state."""
    craft = small_servicer()
    q, v = state(craft, 3, 0.05, wheel_speed=30.0)
    return {mode: gs.simulate(craft, q, v, SPAN, control=law_of(mode), mode=mode, **TIGHT) for mode in MODES}


def drift(x):
    return np.abs(x - x[0]).max()


def size_of(trajectory, kind):
    """Largest sum over the bodies, the wheels included, of the magnitudes of their own "linear" momenta, or of the
    angular ones about the "origin" or the centre of mass, "com".
    """
    craft, sizes = trajectory.craft, []
    for q, v in zip(trajectory.q, trajectory.v, strict=True):
        X_NB, V = inertial_poses(craft, q), body_twists(craft, q, v, joint_poses(craft, q))
        h = [wrench_to_parent(X_NB[B], craft.inertia(B) @ V[B]) for B, _ in craft.base_to_tip]
        point = gs.center_of_mass(craft, q) if kind == "com" else np.zeros(3)
        parts = [x[3:] if kind == "linear" else x[:3] - np.cross(point, x[3:]) for x in h]
        sizes.append(sum(map(np.linalg.norm, parts)))
    return max(sizes)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("mode", MODES)
def test_commanded_accelerations_happen(mode, seed):
    """What is commanded comes true in the forward dynamics, and loads that the mode forbids are exactly zero."""
    craft = small_servicer()
    q, v = state(craft, seed, 1.0, wheel_speed=50.0)
    asked = commands(craft, 0.7 + seed, mode)
    done = commanded_loads(craft, q, v, mode, **asked)
    vdot = gs.forward_dynamics(craft, q, v, done.tau)
    scale = np.abs(vdot).max()
    np.testing.assert_allclose(vdot, done.vdot, atol=1e-13 * scale, rtol=1e-11)
    np.testing.assert_allclose(vdot[6:8], asked["joints"], atol=1e-13 * scale)
    if asked["turn"] is not None:
        np.testing.assert_allclose(vdot[:3], asked["turn"], atol=1e-13 * scale)
    if asked["push"] is not None:
        np.testing.assert_allclose(vdot[3:6], asked["push"], atol=1e-13 * scale)
    may = MODES[mode]
    assert not np.any(done.tau[3:6]) or may.force
    assert not np.any(done.tau[:3]) or may.couple or may.force
    assert np.any(done.tau[8:]) == may.turns_by_wheels
    if mode == "translation-flying":
        np.testing.assert_allclose(done.tau[:6], through_center_of_mass(craft, q, done.tau[3:6]), atol=1e-12)


def test_wheels_share_a_turn_with_least_torque_and_null_motion_is_unseen():
    craft = small_servicer()
    q, v = state(craft, 1, 1.0, wheel_speed=20.0)
    asked = commands(craft, 0.3, "rotation-floating")
    plain = commanded_loads(craft, q, v, "rotation-floating", **asked)
    moved = commanded_loads(craft, q, v, "rotation-floating", null_motion=np.array([3.0, -1.0, 2.0, 5.0]), **asked)
    np.testing.assert_allclose(moved.vdot[:8], plain.vdot[:8], atol=1e-12)
    assert np.abs(moved.vdot[8:] - plain.vdot[8:]).max() > 0.1
    assert np.linalg.norm(0.05 * plain.vdot[8:]) < np.linalg.norm(0.05 * moved.vdot[8:])


def test_wheels_may_turn_the_base_while_it_is_pushed():
    craft = small_servicer()
    q, v = state(craft, 2, 0.5, wheel_speed=20.0)
    turn, push = np.array([0.1, 0.2, -0.1]), np.array([0.3, 0.0, 0.1])
    done = commanded_loads(craft, q, v, "translation-flying", joints=np.array([0.2, 0.1]), turn=turn, push=push)
    vdot = gs.forward_dynamics(craft, q, v, done.tau)
    np.testing.assert_allclose(vdot[:6], [*turn, *push], atol=1e-12)
    np.testing.assert_allclose(done.tau[:6], through_center_of_mass(craft, q, done.tau[3:6]), atol=1e-12)


@pytest.mark.parametrize("mode", ["floating", "rotation-floating"])
def test_floating_modes_conserve_both_momenta(runs, mode):
    """<= 1e-10, and 1e-11 for the total angular momentum with wheels: both are held to 1e-11."""
    h = runs[mode].momentum()
    assert drift(h[:, 3:]) < 1e-11 * size_of(runs[mode], "linear")
    assert drift(h[:, :3]) < 1e-11 * size_of(runs[mode], "origin")
    assert drift(runs[mode].momentum("com")[:, :3]) < 1e-11 * size_of(runs[mode], "com")
    assert runs[mode].mode_audit.ok


def test_rotation_flying_conserves_linear_momentum_and_turns_by_its_couple(runs):
    trajectory = runs["rotation-flying"]
    h = trajectory.momentum()
    assert drift(h[:, 3:]) < 1e-10 * size_of(trajectory, "linear")
    couple = np.array([rotation(q[:4]) @ tau[:3] for q, tau in zip(trajectory.q, trajectory.tau, strict=True)])
    impulse = trapezoid(couple, trajectory.time)
    assert np.abs(h[-1, :3] - h[0, :3]).max() > 0.1  # it changes what it must
    np.testing.assert_allclose(h[-1, :3] - h[0, :3], impulse, atol=2e-4)  # the trapezoidal rule's error
    assert trajectory.mode_audit.ok and trajectory.audit.angular < 1e-10


def trapezoid(y, t):
    return ((y[1:] + y[:-1]) * np.diff(t)[:, None] / 2).sum(axis=0)


def test_translation_flying_conserves_angular_momentum_about_the_centre_of_mass(runs):
    trajectory = runs["translation-flying"]
    assert drift(trajectory.momentum("com")[:, :3]) < 1e-10 * size_of(trajectory, "com")
    h = trajectory.momentum()
    force = np.array([rotation(q[:4]) @ tau[3:6] for q, tau in zip(trajectory.q, trajectory.tau, strict=True)])
    assert np.abs(h[-1, 3:] - h[0, 3:]).max() > 0.5
    np.testing.assert_allclose(h[-1, 3:] - h[0, 3:], trapezoid(force, trajectory.time), atol=1e-3)
    assert trajectory.mode_audit.ok and trajectory.mode_audit.thrust_offset < 1e-12


def test_translation_flying_turns_as_floating_does(runs):
    """Thrust through the centre of mass leaves the attitude history as it is without thrust."""
    np.testing.assert_allclose(runs["translation-flying"].q[:, :4], runs["floating"].q[:, :4], atol=1e-10)
    assert np.abs(runs["translation-flying"].q[-1, 4:7] - runs["floating"].q[-1, 4:7]).max() > 0.05


def test_rotation_flying_translates_as_rotation_floating_does(runs):
    """The same attitude history by wheels or by a couple: the base's translation is the same."""
    np.testing.assert_allclose(runs["rotation-flying"].q[:, :9], runs["rotation-floating"].q[:, :9], atol=1e-9)
    assert np.abs(runs["rotation-flying"].v[-1, 8:] - runs["rotation-floating"].v[-1, 8:]).max() > 1.0  # wheel speeds


def test_flying_changes_everything_by_its_impulses(runs):
    trajectory = runs["flying"]
    dh = trajectory.momentum() - trajectory.momentum()[0]
    assert np.abs(dh[-1]).min() > 1e-3
    impulse = trajectory.data["impulse"].values
    np.testing.assert_allclose(dh[:, 3:], impulse[:, 3:], atol=1e-10 * size_of(trajectory, "linear"))
    about_com = trajectory.momentum("com")[:, :3]
    np.testing.assert_allclose(about_com - about_com[0], impulse[:, :3], atol=1e-10 * size_of(trajectory, "com"))


@pytest.mark.parametrize("mode", MODES)
def test_work_and_energy_balance_in_every_mode(runs, mode):
    assert runs[mode].audit.energy < 1e-10
    assert f"mode {mode}:" in str(runs[mode])


# ---- what may not act is refused


def constant(tau):
    return lambda craft, t, q, v: np.array(tau, dtype=float)


def test_loads_that_the_mode_forbids_are_refused_by_name():
    craft = small_servicer()
    none = np.zeros(12)
    turned, pushed, driven = (none + np.eye(12)[k] for k in (1, 4, 9))
    cases = [
        ("floating", turned, "turns the base"),
        ("floating", pushed, "pushes the base"),
        ("floating", driven, "drives wheel 'wheel_2'"),
        ("rotation-floating", turned, "turns the base"),
        ("rotation-floating", pushed, "pushes the base"),
        ("rotation-flying", pushed, "pushes the base"),
        ("translation-flying", turned, "turns the base"),
    ]
    for mode, tau, message in cases:
        with pytest.raises(ValueError, match=f"mode '{mode}': the control law {message}"):
            gs.simulate(craft, t_span=(0, 1), control=constant(tau), mode=mode)


def test_a_law_that_depends_on_the_state_is_refused_before_it_runs():
    craft = small_servicer()

    def law(craft, t, q, v):
        return np.concatenate([-v[:3], np.zeros(craft.nv - 3)])  # zero at rest, yet not zero by itself

    with pytest.raises(ValueError, match="turns the base"):
        gs.simulate(craft, t_span=(0, 1), control=law, mode="floating")


def test_a_law_that_cannot_be_traced_is_refused_when_it_acts():
    craft = small_servicer()

    def law(craft, t, q, v):
        tau = np.zeros(craft.nv)
        if float(t) > 0.5:
            tau[0] = 1.0
        return tau

    with pytest.raises(ValueError, match="turns the base"), pytest.warns(gs.SimulationWarning):
        gs.simulate(craft, t_span=(0, 1), control=law, mode="floating")


def test_thrust_beside_the_centre_of_mass_is_reported():
    craft = small_servicer()
    tau = np.zeros(12)
    tau[3] = 5.0
    with pytest.warns(gs.SimulationWarning, match="beside the craft's centre of mass"):
        trajectory = gs.simulate(craft, t_span=(0, 2), control=constant(tau), mode="translation-flying")
    c = gs.center_of_mass(craft, gs.neutral(craft))
    assert not trajectory.mode_audit.ok
    assert trajectory.mode_audit.thrust_offset >= np.linalg.norm(np.cross(c, [1, 0, 0])) * (1 - 1e-9)


def test_the_thrusts_distance_from_the_centre_of_mass_is_that_of_its_line_whatever_the_arm_does():
    craft = small_servicer()
    offset, force = np.array([0.0, 0.03, -0.04]), np.array([2.0, 0.0, 0.0])

    def law(craft, t, q, v):
        tau = np.zeros(craft.nv)
        tau[6:9] = 3.0, -2.0, 1.0
        return tau + np.concatenate(
            [through_center_of_mass(craft, q, force) + np.concatenate([np.cross(offset, force), np.zeros(3)]), tau[6:]]
        )

    with pytest.warns(gs.SimulationWarning, match="beside the craft's centre of mass"):
        trajectory = gs.simulate(craft, t_span=(0, 0.2), control=law, mode="translation-flying", rtol=1e-9)
    assert trajectory.mode_audit.thrust_offset == pytest.approx(0.05, rel=1e-9)


def test_modes_ask_for_what_they_need():
    bare = small_servicer(wheels=False)
    with pytest.raises(ValueError, match=r"three independent axes; small servicer has 0"):
        gs.simulate(bare, t_span=(0, 1), mode="rotation-floating")
    two = gs.Spacecraft.build("two", [gs.Body("b", 1, inertia=(1, 1, 1)), *wheel_pyramid("b", 1e-3)[:2]])
    with pytest.raises(ValueError, match="has 2"):
        gs.simulate(two, t_span=(0, 1), mode="rotation-floating")
    held = gs.Spacecraft.build("held", [gs.Body("b", 1, inertia=(1, 1, 1), joint=gs.Joint("base", "spherical"))])
    with pytest.raises(ValueError, match="needs a base that is free"):
        gs.simulate(held, t_span=(0, 1), mode="floating")
    with pytest.raises(ValueError, match="mode 'floatign' is not known"):
        gs.simulate(bare, t_span=(0, 1), mode="floatign")
    with pytest.raises(ValueError, match="takes a force and a couple"):
        gs.simulate(bare, t_span=(0, 1), mode="rotation-flying", locked=["base"])
    with pytest.raises(ValueError, match="wheels may not act"):
        gs.simulate(small_servicer(), t_span=(0, 1), mode="floating", locked=["wheel_1"])
    q, v = state(bare, 0)
    for mode, given, message in (
        ("rotation-flying", {}, "give turn="),
        ("flying", {"turn": np.zeros(3)}, "give push="),
        ("floating", {"turn": np.zeros(3)}, "nothing that could turn"),
        ("rotation-flying", {"turn": np.zeros(3), "push": np.zeros(3)}, "nothing that could push"),
    ):
        with pytest.raises(ValueError, match=message):
            commanded_loads(bare, q, v, mode, joints=np.zeros(joint_count(bare)), **given)


def test_the_environment_is_not_the_modes_business():
    """A push from outside changes the momentum; what is conserved is the rest."""
    craft = small_servicer()

    trajectory = gs.simulate(craft, t_span=(0, 3), environment=breeze, mode="floating", **TIGHT)
    assert trajectory.mode_audit.ok and trajectory.mode_audit.lines[0].change > 0.01
    assert "less the environment's impulse" in str(trajectory.mode_audit)


def breeze(craft, t, q, v):
    return np.concatenate([np.array([[0.0, 0.01, 0.0, 0.02, 0.0, 0.0]]), np.zeros((craft.nbodies - 1, 6))])


@pytest.mark.parametrize("through", [True, False])
def test_with_an_environment_the_thrusts_own_line_is_judged(through):
    craft = small_servicer()

    def law(craft, t, q, v):
        force = np.array([3.0, 0.0, 1.0])
        wrench = through_center_of_mass(craft, q, force) if through else np.concatenate([np.zeros(3), force])
        return np.concatenate([wrench, np.zeros(craft.nv - 6)])

    options = {"t_span": (0, 2), "control": law, "environment": breeze, "mode": "translation-flying"}
    if through:
        assert gs.simulate(craft, **options).mode_audit.ok
    else:
        with pytest.warns(gs.SimulationWarning, match="beside the craft's centre of mass"):
            assert not gs.simulate(craft, **options).mode_audit.ok


@pytest.mark.parametrize(
    ("settings", "limit"),
    [({"rtol": 1e-13}, 1.1e-10), ({"rtol": 1e-8}, 1e-6), ({"rtol": 1e-13, "step": 0.01}, 1e-6)],
)
@pytest.mark.parametrize("rows", [slice(3, 6), slice(0, 3)])
def test_the_audit_finds_what_is_twice_its_limit_and_passes_half_of_it(runs, settings, limit, rows):
    """A run whose momentum was seen elsewhere during one look: linear and angular momentum, exact and fixed steps."""
    run = runs["floating"]
    assert all(line.deviation < 2e-11 for line in run.mode_audit.lines)
    line, kind = (0, "linear") if rows.start else (1, "angular")
    (seen,) = np.flatnonzero(run.data["audited_name"].values == f"largest {kind} momentum y")

    def tampered(by):
        data = run.data.copy(deep=True)
        data["audited"].values[seen] += by
        data.attrs |= settings
        return replace(run, data=data).mode_audit

    unit = tampered(1e-3).lines[line].deviation / 1e-3
    assert tampered(0.5 * limit / unit).ok
    broken = tampered(2.0 * limit / unit)
    assert not broken.lines[line].ok and not broken.ok and "(BROKEN)" in str(broken)


def test_a_coarse_fixed_step_breaks_the_mode_with_a_warning():
    craft = small_servicer()
    q, v = state(craft, 3, 1.0, wheel_speed=30.0)
    options = {"mode": "floating", "integrator": "rk4"}
    assert gs.simulate(craft, q, v, (0, 2), step=0.002, **options).mode_audit.ok
    with pytest.warns(gs.SimulationWarning, match="the integrator's error is that large"):
        assert not gs.simulate(craft, q, v, (0, 2), step=0.1, **options).mode_audit.ok


@pytest.mark.parametrize("environment", [None, breeze])
def test_a_run_read_from_a_file_is_audited_as_it_was(tmp_path, environment):
    craft = small_servicer()
    q, v = state(craft, 3, 0.05, wheel_speed=30.0)
    run = gs.simulate(craft, q, v, (0, 2), mode="floating", environment=environment, **TIGHT)
    again = gs.Trajectory.load(run.save(tmp_path / "run.nc"))
    assert again.mode_audit.ok and str(again.mode_audit) == str(run.mode_audit)
