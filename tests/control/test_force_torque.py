"""The wrist sensor in the loop: the mean wrench through a joint, by closed forms, and the chain of errors on top."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.control import ForceTorque, Imperfection, Instruments, Place
from gyrostat.control.sensor import Sampled
from gyrostat.environment import uniform_gravity

M, L, I = 3.0, 0.8, 0.25  # kg, m to the centre of mass, kg m^2 about z there
T = 0.01


def pendulum(spin=1.0):
    """A link that swings about z on ground that turns about z, or stands (spin 0)."""
    kind = {"axis": (0, 0, 1)} if spin else {}
    ground = gs.Body(
        "ground", 50.0, inertia=[1, 1, 4.0], joint=gs.Joint("ground", "revolute" if spin else "fixed", **kind)
    )
    hinge = gs.Joint("hinge", "revolute", "ground", (0.5 * spin, 0, 0), axis=(0, 0, 1))
    return gs.Spacecraft.build("p", [ground, gs.Body("link", M, com=(L, 0, 0), inertia=[0.1, I, I], joint=hinge)])


def keeping(craft, sensor, loads=None):
    """A law that keeps the last reading in its memory, behind the sensor."""

    def keep(craft, t, q, v, z, *, force_torque):
        return force_torque.value

    def output(craft, t, q, v, z):
        return np.zeros(craft.nv) if loads is None else np.asarray(loads)

    law = gs.Controller(output, np.zeros(6), update=keep, period=T)
    return Instruments(more=[sensor]).controller(law, craft=craft)


def swung(sensor, steps, craft=None, q=None, v=None, environment=None, loads=None, **options):
    """Readings (..., steps, 6) at samples 0, T, ...; and the run saved in the middle of each sample before them."""
    craft = pendulum(0) if craft is None else craft
    times = (np.arange(steps) + 0.5) * T
    run = gs.simulate(
        craft, q, v, (0.0, times[-1]), save_at=times, control=keeping(craft, sensor, loads), environment=environment,
        integrator="rk4", step=T / 2, **options,
    )  # fmt: skip
    return run.data["held_z"].values[..., :6], run


def test_a_swinging_link_is_held_by_its_weight_and_its_path():
    """Force = m (a_com - g), torque about the hinge = (I + m L^2) a - L m g_t = the hinge's own load: 0."""
    g = 9.81
    read, run = swung(ForceTorque("hinge", environment=uniform_gravity([-g, 0, 0])), 150, q=[1.2], v=[0.5],
                      environment=uniform_gravity([-g, 0, 0]))  # fmt: skip
    at, w = run.q[:-1, 0], run.v[:-1, 0]  # the middles of the samples that end with readings 1, 2, ...
    alpha = M * L * g * np.sin(at) / (I + M * L * L)
    force = np.stack([-M * L * w**2 + M * g * np.cos(at), M * L * alpha - M * g * np.sin(at)], axis=-1)
    most = np.abs(force).max() * (T * np.abs(w).max()) ** 2 / 8  # of the middle against the mean
    assert np.abs(read[1:, 3:5] - force).max() < most
    assert np.abs(read[1:, [0, 1, 5]]).max() < 1e-9
    assert np.abs(read[1:, 2]).max() < most * L  # nobody drives it


def test_what_is_read_nears_the_mean_with_the_square_of_the_period():
    """On ground that turns, and with a motor: a second opinion is forward dynamics in the middle of the sample."""
    craft, loads = pendulum(), [0.3, 0.7]
    off = []
    for period in (0.04, 0.02):
        sensor = ForceTorque("hinge")
        sampled = Sampled(sensor, craft, period)
        times = np.array([0.0, 0.5, 1.0]) * period
        run = gs.simulate(craft, [0.0, 0.4], [0.9, -1.6], (0, period), save_at=times, control=lambda c, t, q, v: loads,
                          rtol=1e-12, atol=1e-13)  # fmt: skip
        _, z = sampled.read(craft, 0.0, run.q[0], run.v[0], np.zeros(sampled.size), Place(0, 0, 0))
        reading, _ = sampled.read(craft, period, run.q[2], run.v[2], z, Place(0, 0, 1))
        vdot = gs.forward_dynamics(craft, run.q[1], run.v[1], loads)
        true = sensor.wrench(craft, run.q[1], run.v[1], vdot)
        assert true[2] == pytest.approx(0.7, abs=1e-9)  # the load of its own motor is in it
        off.append(np.abs(reading.value - true).max())
    assert off[0] < 2e-3 and off[0] / off[1] == pytest.approx(4.0, rel=0.1)


def test_ground_that_stands_carries_what_hangs_from_it():
    """At rest in a field of gravity the joint of a fixed base reads the weight of all, and its torque."""
    craft = pendulum(0)
    field = uniform_gravity([0, 0, -2.0])
    read, _ = swung(ForceTorque("ground", environment=field), 3, q=[0.0], v=[0.0], environment=field)
    np.testing.assert_allclose(read, np.tile([0, -2.0 * M * L, 0, 0, 0, 2.0 * (M + 50.0)], (3, 1)), atol=1e-9)
    assert craft.nv == 1


def test_its_errors_have_the_size_that_was_asked_for_and_are_its_own():
    craft = pendulum(0)
    errors = Imperfection(noise=0.2, bias=[0, 0, 0.1, 0, 0, 0], lost=0.25, delay=2 * T)
    exact, _ = swung(ForceTorque("hinge"), 400, q=[0.3], v=[0.0])
    read, _ = swung(ForceTorque("hinge", Imperfection(noise=0.2, bias=errors.bias)), 400, q=[0.3], v=[0.0], seed=2)
    off = read - exact
    assert np.abs(off.mean(axis=0) - errors.bias).max() < 4 * 0.2 / 20
    np.testing.assert_allclose(off.std(axis=0), 0.2, rtol=4 / np.sqrt(800))
    assert np.abs(np.corrcoef(off.T)[np.triu_indices(6, 1)]).max() < 0.2
    other = Instruments(
        more=[ForceTorque("hinge", Imperfection(noise=1.0)), ForceTorque("ground", Imperfection(noise=1.0), name="b")]
    )
    uses = {sensor.use(craft) for sensor in other.sensors}
    assert len(uses) == 2  # a channel of noise each


def test_it_is_the_same_in_any_batch():
    craft = pendulum()
    sensor = ForceTorque("hinge", Imperfection(noise=0.1, walk=0.1, lost=0.2, delay=2 * T, every=2))
    q, v = np.array([[0.0, 0.1], [0.2, 0.4], [0.1, -1.0]]), np.array([[0.1, 0.2], [0.9, -1.6], [0.3, 0.0]])
    batch, all_runs = swung(sensor, 40, craft, q, v, seed=3, runs=[4, 5, 6])
    alone, run = swung(sensor, 40, craft, q[1], v[1], seed=3, runs=5)
    np.testing.assert_array_equal(batch[1], alone)
    np.testing.assert_array_equal(all_runs.v[1], run.v)
    assert np.abs(batch[0] - batch[1]).max() > 0.1


def test_a_law_yields_to_what_it_feels():
    """Admittance: the hinge is driven along the torque that it feels; the motor's push stays in the reading."""

    def yielding(craft, t, q, v, *, force_torque):
        return np.array([0.5 * force_torque.value[2] + 0.2])

    craft = pendulum(0)
    control = Instruments(more=[ForceTorque("hinge")]).controller(yielding, T, craft=craft)
    run = gs.simulate(craft, None, [0.0], (0, 0.3), control=control, save_at=[0.295], rtol=1e-10)
    assert run.data["held"].values[-1, 0] == pytest.approx(0.2 / (1 - 0.5), rel=1e-6)  # u = 0.5 u + 0.2


def test_joints_that_cannot_be_felt_are_refused_by_name():
    hull = gs.Body("hull", 100.0, inertia=[10, 10, 10])
    hand = gs.Body("hand", 5.0, inertia=[1, 1, 1], joint=gs.Joint("wrist", "revolute", "hull", axis=(0, 0, 1)))
    jet = gs.Thruster("jet", "hand", (0, 0, 0), (1, 0, 0), 2.0)
    craft = gs.Spacecraft.build("c", [hull, hand], thrusters=[jet])
    for joint, words in (("base", "free base.*Name one that holds: wrist"), ("wrist", "'jet' on 'hand' pushes beyond"),
                         ("wrst", "no joint 'wrst'")):  # fmt: skip
        with pytest.raises(ValueError, match=words):
            Instruments(more=[ForceTorque(joint)]).controller(lambda c, t, q, v: np.zeros(7), T, craft=craft)
    with pytest.raises(ValueError, match="keeps a memory from sample to sample"):
        ForceTorque("wrist")(pendulum(), [0, 0], [0, 0], Place())
