"""Thrusters: their matrix, sharing of a wrench by non-negative least squares, pulses, propellant."""

import numpy as np
import pytest
from scipy.optimize import lsq_linear, nnls

import gyrostat as gs
from gyrostat.algebra import cos, quat_exp, sin
from gyrostat.control import Imperfection, Instruments, RateGyro, StarTracker, attitude_error
from gyrostat.control.allocation import allocate
from gyrostat.control.thrusters import G0, Pulses, propellant_rate, thruster_matrix, without_propellant
from manoeuvring_crafts import small_servicer, state


def random_set(rng, count):
    d, p = rng.normal(size=(count, 3)), rng.normal(size=(count, 3))
    d /= np.linalg.norm(d, axis=1)[:, None]
    return np.concatenate([np.cross(p, d).T, d.T])


@pytest.mark.parametrize("seed", range(12))
def test_allocation_is_as_near_as_scipys_nnls(seed):
    """Sets of 7 to 16 thrusters in any direction: the residual is NNLS's, zero where it is."""
    rng = np.random.default_rng(seed)
    B, w = random_set(rng, int(rng.integers(7, 17))), rng.normal(size=6)
    D = 1 / np.linalg.norm(B, axis=1)
    f, missing = allocate(B, w, 1e6)
    _, best = nnls(D[:, None] * B, D * w)
    assert f.min() >= 0.0
    np.testing.assert_allclose(missing, w - B @ f, atol=1e-14)
    assert np.linalg.norm(D * missing) <= best + 1e-5  # the ridge of the linear solves


def test_allocation_of_pairs_is_exact_thrifty_and_traced():
    craft = small_servicer()
    B = thruster_matrix(craft)[:6]
    kernel = gs.compile(lambda craft, w: allocate(B, w, 10.0), craft, inputs={"w": (6,)})
    rng = np.random.default_rng(1)
    for _ in range(10):
        w = rng.normal(size=6) * [1, 1, 1, 3, 3, 3]
        f, missing = allocate(B, w, 10.0)
        assert np.abs(missing).max() < 1e-13
        np.testing.assert_allclose(f.sum(), nnls(B, w)[0].sum(), rtol=1e-9)
        traced = kernel(w)
        np.testing.assert_allclose(traced.efforts, f, atol=1e-12)


def test_allocation_beyond_the_limits_says_what_is_missing():
    craft = small_servicer()
    B = thruster_matrix(craft)[:6]
    w = np.array([0.0, 0.0, 0.0, 50.0, 0.0, 0.0])  # two thrusters of 10 N push along x
    f, missing = allocate(B, w, 10.0)
    np.testing.assert_allclose(missing, [0, 0, 0, 30.0, 0, 0], atol=1e-6)
    assert f.max() <= 10.0


def test_the_matrix_makes_the_wrench_of_a_force_at_a_point():
    """On the base and on the arm: the generalised force does the force's work."""
    craft = small_servicer()
    arm = gs.Thruster("arm", "lower", (0.3, 0.1, -0.2), (1.0, 2.0, 0.5))
    craft = gs.Spacecraft.build(craft.name, craft.bodies, frames=craft.frames, thrusters=[craft.thrusters[3], arm])
    q, v = state(craft, 2, 1.0, wheel_speed=3.0)
    T = thruster_matrix(craft, q)
    R_NB = gs.forward_kinematics(craft, q).R_NB
    for k, thruster in enumerate(craft.thrusters):
        velocity = gs.jacobian(craft, q, thruster.body, thruster.position)[3:] @ v
        force = R_NB[craft.index(thruster.body)] @ thruster.direction
        np.testing.assert_allclose(T[:, k] @ v, force @ velocity, atol=1e-12)
    with pytest.raises(ValueError, match="depends on q"):
        thruster_matrix(craft)
    with pytest.raises(ValueError, match="has no thrusters"):
        thruster_matrix(gs.Spacecraft.build("none", [gs.Body("b", 1, inertia=(1, 1, 1))]))


# ---- pulses


END = 0.01  # s: runs end within the last part of a period, and not with the first of another


def craft_with(on_time, isp=220.0, max_thrust=10.0):
    craft = small_servicer()
    thrusters = [
        gs.Thruster(t.name, t.body, t.position, t.direction, max_thrust, on_time, isp) for t in craft.thrusters
    ]
    return gs.Spacecraft.build(craft.name, craft.bodies, frames=craft.frames, thrusters=thrusters)


def wanting(wrench):
    return lambda craft, t, q, v: np.concatenate([wrench(t), np.zeros(craft.nv - 6)])


def test_pulses_make_the_wanted_impulse():
    """Over many periods the impulse is that of the wish, less what is carried: at most a shortest pulse each."""
    craft = craft_with(0.05)
    pulses = Pulses(craft, 1.0, 20)

    def wrench(t):
        return np.array([0.3 * sin(0.2 * t), -0.2, 0.1 * cos(0.3 * t), 1.5 + sin(0.1 * t), -0.4, 0.2])

    trajectory = gs.simulate(craft, t_span=(0, 60 - END), control=pulses.controller(wanting(wrench)), mode="flying")
    made = trajectory.data["held"].values[:, :6]
    report = pulses.report(trajectory)
    np.testing.assert_array_equal(report.on_time, pulses.report(trajectory.data["held_z"].values)[1][-1])
    wished = sum(wrench(float(k)) for k in range(60))
    B = thruster_matrix(craft)[:6]
    total = B @ (10.0 * report.on_time)
    np.testing.assert_allclose(total + B @ report.carried + report.missing, wished, atol=1e-9)
    assert report.carried.max() < 10.0 * 0.05 and not report.unmet.any()
    assert np.abs(report.missing).max() < 1e-9
    assert np.abs(made).max() > 5.0  # pulses, not the wish itself
    assert trajectory.audit.linear < 1e-9


def test_no_pulse_is_shorter_than_the_valve_can_do():
    """A wish of 0.02 N on a 10 N thruster: 2 ms per second, given as one pulse of 50 ms or a little more when it is
    due.
    """
    craft = craft_with(0.05)
    pulses = Pulses(craft, 1.0, 20)
    controller = pulses.controller(wanting(lambda t: np.array([0, 0, 0, 0.04, 0, 0])))
    trajectory = gs.simulate(
        craft, t_span=(0, 100), control=controller, mode="flying", save_at=np.arange(0, 100.01, 0.05)
    )
    report = pulses.report(trajectory.data["held_z"].values)
    pushing = [k for k, t in enumerate(craft.thrusters) if t.name.startswith("+x")]
    steps = np.diff(report.on_time[:, pushing], axis=0)
    assert (report.pulses[-1, pushing] == 4).all() or (report.pulses[-1, pushing] == 3).all()
    np.testing.assert_allclose(steps[steps > 1e-12], 0.05, rtol=0.05)
    assert (report.carried[-1, pushing] < 0.5).all()
    assert (report.pulses[-1].sum()) == report.pulses[-1, pushing].sum()


def test_more_than_continuous_thrust_is_reported_as_lost():
    craft = craft_with(0.05)
    pulses = Pulses(craft, 1.0, 10)
    controller = pulses.controller(wanting(lambda t: np.array([0, 0, 0, 50.0, 0, 0])))
    trajectory = gs.simulate(craft, t_span=(0, 10 - END), control=controller, mode="flying")
    report = pulses.report(trajectory.data["held_z"].values[-1])
    np.testing.assert_allclose(report.missing[3], 30.0 * 10, rtol=1e-6)
    np.testing.assert_allclose(trajectory.data["impulse"].values[0, 3:], 0.0)
    assert np.abs(trajectory.data["held"].values[:, 3]).max() <= 20.0 + 1e-9


def test_noisy_pointing_by_pulses_ends_in_a_small_limit_cycle():
    """Sensors, law, allocation, pulses, dynamics: one compiled loop, the same in any batch."""
    craft = craft_with(0.02)
    pulses = Pulses(craft, 0.5, 10)
    instruments = Instruments(
        StarTracker(Imperfection(noise=1e-4, channel=1)), RateGyro("bus", Imperfection(noise=1e-4, channel=2))
    )

    def law(craft, t, q, v):
        torque = 30.0 * (0.04 * attitude_error(q[:4], np.array([1.0, 0, 0, 0])) - 0.4 * v[:3])
        return np.concatenate([torque, np.zeros(3), -20.0 * v[6:8], np.zeros(4)])

    off = gs.neutral(craft)
    off[:4] = quat_exp(np.array([0.1, -0.08, 0.12]))
    control = pulses.controller(law, instruments)
    options = {"t_span": (0, 100), "control": control, "mode": "flying", "rtol": 1e-8, "seed": 3}
    alone = gs.simulate(craft, off, np.zeros(craft.nv), runs=4, **options)
    pair = gs.simulate(craft, np.array([off, off]), np.zeros((2, craft.nv)), runs=[4, 5], **options)
    assert np.array_equal(pair.q[0], alone.q) and not np.array_equal(pair.q[1], alone.q)
    error = np.array([np.linalg.norm(attitude_error(q[:4], np.array([1.0, 0, 0, 0]))) for q in alone.q])
    assert error[0] > 0.15 and error[-100:].max() < 0.02
    report = pulses.report(alone.data["held_z"].values[-1])
    assert report.pulses.sum() > 20 and report.propellant > 0


def test_pulses_ask_for_what_they_need():
    craft = craft_with(0.5)
    with pytest.raises(ValueError, match="shorter than the shortest pulse"):
        Pulses(craft, 0.2)
    with pytest.raises(ValueError, match="has no max_thrust"):
        Pulses(craft_with(0.0, max_thrust=np.inf), 1.0)


# ---- propellant


def test_propellant_follows_from_impulse():
    craft = craft_with(0.0, isp=200.0)
    pulses = Pulses(craft, 1.0, 10)
    controller = pulses.controller(wanting(lambda t: np.array([0, 0, 0, 3.0, 0, 0])))
    trajectory = gs.simulate(craft, t_span=(0, 20 - END), control=controller, mode="flying")
    report = pulses.report(trajectory.data["held_z"].values[-1])
    np.testing.assert_allclose(report.propellant, 3.0 * 20 / (200.0 * G0), rtol=1e-9)
    np.testing.assert_allclose(propellant_rate(craft, np.full(12, 2.0)), 24.0 / (200 * G0))


def test_a_long_burn_in_stages_approaches_the_rocket_equation():
    """dv = Isp g0 ln(m0 / m1); half the stage, a quarter of the error (the mass in the middle of each stage)."""
    isp, thrust, T = 200.0, 40.0, 2000.0
    craft = gs.Spacecraft.build("rocket", [gs.Body("tank", 100.0, inertia=(10, 10, 10))])
    flow = thrust / (isp * G0)

    def burn(stages):
        v, used = 0.0, 0.0
        for _ in range(stages):
            dt = T / stages
            now = without_propellant(craft, used + 0.5 * flow * dt)
            tau = np.array([0, 0, 0, thrust, 0, 0])
            v = v + gs.forward_dynamics(now, gs.neutral(now), np.zeros(6), tau)[3] * dt
            used += flow * dt
        return v

    exact = isp * G0 * np.log(100.0 / (100.0 - flow * T))
    errors = [abs(burn(n) - exact) for n in (10, 20, 40)]
    assert errors[2] < 1e-4 * exact
    np.testing.assert_allclose([errors[0] / errors[1], errors[1] / errors[2]], 4.0, rtol=0.02)


def test_propellant_leaves_the_mass_properties_of_the_rest():
    """Taking a point mass out and putting it back as a body of its own gives the same inertia."""
    craft = gs.Spacecraft.build("c", [gs.Body("b", 50.0, (0.1, 0.2, -0.1), (5.0, 0.1, 0.2, 6.0, -0.1, 7.0))])
    tank = np.array([0.4, -0.3, 0.2])
    lighter = without_propellant(craft, 4.0, tank=tank)
    drop = gs.Body("drop", 4.0, joint=gs.Joint("weld", "fixed", "b", tank))
    together = gs.Spacecraft.build("t", [lighter.bodies[0], drop])
    q = gs.neutral(craft)
    np.testing.assert_allclose(gs.mass_matrix(together, q), gs.mass_matrix(craft, q), atol=1e-12)


def test_a_report_of_what_no_pulses_made_says_so():
    craft = craft_with(0.05)
    pulses = Pulses(craft, 1.0, 20)
    with pytest.raises(ValueError, match="no sampled law with a memory"):
        pulses.report(gs.simulate(craft, t_span=(0, 1)))
    with pytest.raises(ValueError, match="found a memory of shape"):
        pulses.report(np.zeros(7))


def test_many_thrusters_are_one_loop_and_reach_every_load_there_is():
    """24 on eight corners: the graph does not grow with the steps, and what they give is within limits and exact."""
    corners = [(x, y, z) for x in (-1.0, 1.2) for y in (-0.8, 0.7) for z in (-0.6, 0.9)]
    jets = [gs.Thruster(f"{k} {axis}", "hub", p, -np.sign(p[axis]) * np.eye(3)[axis], 5.0)
            for k, p in enumerate(corners) for axis in range(3)]  # fmt: skip
    craft = gs.Spacecraft.build("hub", [gs.Body("hub", 400.0, inertia=[90.0, 110.0, 100.0])], thrusters=jets)
    B = thruster_matrix(craft)[:6]
    kernel = gs.compile(lambda craft, w: allocate(B, w, 5.0), craft, inputs={"w": (6,)})
    assert len(kernel.graph.nodes) < 1_000
    wanted = np.random.default_rng(4).normal(size=(50, 6)) * 3
    efforts, missing = kernel(wanted)
    assert (efforts >= 0).all() and (efforts <= 5.0).all() and np.abs(missing).max() < 1e-12
    np.testing.assert_allclose(efforts @ B.T, wanted, atol=1e-12)


@pytest.mark.parametrize("seed", range(12))
def test_allocation_within_limits_is_as_near_as_scipys_bounded_least_squares(seed):
    """More is wanted than there is: about half of the actuators end at their limits."""
    rng = np.random.default_rng(seed)
    B, most = rng.normal(size=(6, 14)), rng.uniform(0.2, 1.5, 14)
    wanted = 2.5 * B @ (rng.uniform(0.0, 1.3, 14) * most)
    D = 1.0 / np.linalg.norm(B, axis=1)
    f, missing = allocate(B, wanted, most)
    best = lsq_linear(D[:, None] * B, D * wanted, bounds=(0.0, most), tol=1e-14)
    assert (f >= 0.0).all() and (f <= most).all()
    np.testing.assert_allclose(missing, wanted - B @ f, atol=1e-12)
    assert np.linalg.norm(D * missing) == pytest.approx(np.sqrt(2.0 * best.cost), abs=1e-6)
