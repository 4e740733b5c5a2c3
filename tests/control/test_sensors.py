"""Sensors: what they read, how noisy, at which samples; the same numbers in any batch."""

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algebra import quat_conjugate, quat_log, quat_multiply, rotation
from gyrostat.control import (
    Encoders,
    ForceTorque,
    Imperfection,
    Instruments,
    Place,
    RateGyro,
    StarTracker,
)
from gyrostat.control.imperfection import biased_walk
from gyrostat.control.motors import Motors
from gyrostat.control.thrusters import Pulses
from manoeuvring_crafts import small_servicer, state

CRAFT = small_servicer()


def readings(sensor, q, v, count=4000, seed=3):
    return np.array([sensor(CRAFT, q, v, Place(seed, 0, k)) for k in range(count)])


def test_perfect_sensors_read_the_truth():
    q, v = state(CRAFT, 1, 0.5, wheel_speed=9.0)
    here = Place()
    np.testing.assert_allclose(RateGyro("bus")(CRAFT, q, v, here), v[:3], atol=1e-14)
    np.testing.assert_allclose(StarTracker()(CRAFT, q, v, here), q[:4], atol=1e-14)
    np.testing.assert_allclose(Encoders()(CRAFT, q, v, here), q[7:9])
    w_N = gs.jacobian(CRAFT, q, "tool")[:3] @ v
    R = gs.forward_kinematics(CRAFT, q).R_NB[CRAFT.index("lower")]
    np.testing.assert_allclose(RateGyro("tool")(CRAFT, q, v, here), R.T @ w_N, atol=1e-13)


def test_noise_and_bias_have_the_size_that_was_asked_for():
    """Mean and spread of 4000 readings, within four standard errors."""
    q, v = state(CRAFT, 1, 0.5)
    bias, noise = np.array([1e-3, -2e-3, 0.0]), np.array([1e-4, 2e-4, 5e-4])
    read = readings(RateGyro("bus", Imperfection(bias, noise)), q, v) - v[:3]
    assert (np.abs(read.mean(axis=0) - bias) < 4 * noise / np.sqrt(4000)).all()
    np.testing.assert_allclose(read.std(axis=0), noise, rtol=4 / np.sqrt(2 * 4000))
    assert np.abs(np.corrcoef(read.T)[np.triu_indices(3, 1)]).max() < 0.07
    turned = readings(StarTracker(Imperfection(noise=3e-5, channel=1)), q, v)
    small = np.array([quat_log(quat_multiply(quat_conjugate(q[:4]), r)) for r in turned])
    np.testing.assert_allclose(small.std(axis=0), 3e-5, rtol=4 / np.sqrt(2 * 4000))
    assert np.abs(np.corrcoef(small[:, 0], read[:, 0])[0, 1]) < 0.07  # another channel


def test_quantisation_rounds_to_the_nearest_count():
    q, v = state(CRAFT, 1, 0.5)
    quantum = 2 * np.pi / 4096
    read = Encoders(Imperfection(quantum=quantum))(CRAFT, q, v, Place())
    np.testing.assert_allclose(read / quantum, np.round(q[7:9] / quantum), atol=1e-9)


def test_readings_depend_on_their_place_alone():
    q, v = state(CRAFT, 1, 0.5)
    sensor = RateGyro("bus", Imperfection(noise=1.0))
    a = sensor(CRAFT, q, v, Place(1, 2, 3))
    assert np.array_equal(a, sensor(CRAFT, q, v, Place(1, 2, 3)))
    for other in (Place(2, 2, 3), Place(1, 3, 3), Place(1, 2, 4)):
        assert not np.any(sensor(CRAFT, q, v, other) == a)


def test_a_wrist_sensor_feels_the_tools_inertia():
    """Second opinion: the wrench at the elbow is the rate of change of momentum of what it carries."""
    q, v = state(CRAFT, 4, 0.5, wheel_speed=5.0)
    vdot = gs.forward_dynamics(CRAFT, q, v, np.zeros(CRAFT.nv))
    read = ForceTorque("elbow").wrench(CRAFT, q, v, vdot)
    lower, k = CRAFT.body("lower"), CRAFT.index("lower")

    def momentum_of_lower(h):
        qh = gs.step_configuration(CRAFT, q, h * v + 0.5 * h * h * vdot)
        vh = v + h * vdot
        poses = gs.forward_kinematics(CRAFT, qh)
        com = poses.p_NB[k] + poses.R_NB[k] @ lower.com
        J = gs.jacobian(CRAFT, qh, "lower", lower.com)
        w, vc = (J @ vh)[:3], (J @ vh)[3:]
        angular = poses.R_NB[k] @ lower.inertia @ poses.R_NB[k].T @ w
        origin = gs.forward_kinematics(CRAFT, q).p_NB[k]
        return np.concatenate([angular + np.cross(com - origin, lower.mass * vc), lower.mass * vc])

    rate = (momentum_of_lower(1e-5) - momentum_of_lower(-1e-5)) / 2e-5
    R = gs.forward_kinematics(CRAFT, q).R_NB[k]
    np.testing.assert_allclose(np.concatenate([R @ read[:3], R @ read[3:]]), rate, atol=1e-7)


def damping(craft, t, q, v):
    return np.concatenate([-50.0 * v[:3], np.zeros(3), -20.0 * v[6:8], np.zeros(4)])


def test_a_noisy_loop_is_the_same_in_any_batch_and_settles_at_the_noise():
    instruments = Instruments(
        StarTracker(Imperfection(noise=1e-5, channel=1)),
        RateGyro("bus", Imperfection(noise=1e-4, channel=2)),
        Encoders(Imperfection(quantum=1e-4)),
        Imperfection(noise=1e-4, channel=3),
    )
    controller = instruments.controller(damping, 0.1)
    q, v = state(CRAFT, 1, 0.1)
    options = {"t_span": (0, 30), "control": controller, "seed": 5, "rtol": 1e-8}
    alone = gs.simulate(CRAFT, q, v, runs=7, **options)
    batch = gs.simulate(CRAFT, np.array([q] * 3), np.array([v] * 3), runs=[6, 7, 8], **options)
    assert np.array_equal(batch.q[1], alone.q)
    assert np.abs(batch.v[0] - batch.v[2]).max() > 1e-9
    assert np.abs(alone.v[-1, :3]).max() < 1e-2


def test_sampling_holds_between_samples():
    controller = Instruments(gyro=RateGyro("bus", Imperfection(noise=1e-3))).controller(damping, 1.0)
    trajectory = gs.simulate(CRAFT, t_span=(0, 5), control=controller, save_at=np.arange(0.1, 5, 0.2), rtol=1e-8)
    held = trajectory.data["held"].values[:, 0].reshape(5, 5)
    assert (held == held[:, :1]).all() and len(np.unique(held)) == 5


def test_a_walking_bias_spreads_as_the_square_root_of_time():
    """200 walks of 100 steps: variance walk^2 t."""
    ends = []
    for run in range(200):
        bias = np.zeros(3)
        for k in range(100):
            bias = biased_walk(bias, 1e-3, 0.25, Place(1, run, k))
        ends.append(bias)
    np.testing.assert_allclose(np.std(ends), 1e-3 * np.sqrt(25.0), rtol=4 / np.sqrt(2 * 600))


def test_a_gyro_for_the_base_must_sit_there():
    with pytest.raises(ValueError, match="must sit on 'bus'"):
        Instruments(gyro=RateGyro("tool")).read(CRAFT, *state(CRAFT, 1), Place())


def test_turned_gyros_read_in_their_own_axes():
    R = rotation(np.array([0.9, 0.1, -0.3, 0.2]))
    craft = gs.Spacecraft.build("c", CRAFT.bodies, frames=[gs.Frame("imu", "bus", (0.1, 0, 0), R)])
    q, v = state(craft, 2, 0.3)
    np.testing.assert_allclose(RateGyro("imu")(craft, q, v, Place()), R.T @ v[:3], atol=1e-14)
    seen = Instruments(gyro=RateGyro("imu")).read(craft, q, v, Place())[1]
    np.testing.assert_allclose(seen, v, atol=1e-14)


def correlation(one, other):
    return np.abs(
        np.corrcoef(np.asarray(one).reshape(len(one), -1).T, np.asarray(other).reshape(len(other), -1).T)
    ).max(initial=0.0, where=~np.eye(np.asarray(one)[0].size + np.asarray(other)[0].size, dtype=bool))


def test_sensors_left_at_their_defaults_have_noise_of_their_own():
    """Star tracker, gyros on two bodies, encoders, tachometers, on two craft: no two correlate (500 samples: 0.15 is
    3.4 sigma).
    """
    from dataclasses import replace

    q, v = state(CRAFT, 1, 0.0)
    noisy = Imperfection(noise=1.0)
    both = [CRAFT, replace(CRAFT, name="another")]
    places = [Place(3, 0, k) for k in range(500)]
    sensors = {
        "tracker": StarTracker(noisy),
        "bus": RateGyro("bus", noisy),
        "tool": RateGyro("tool", noisy),
        "encoders": Encoders(noisy),
    }
    read = {
        (name, craft.name): np.array([s(craft, q, v, p) for p in places])
        for name, s in sensors.items()
        for craft in both
    }
    for craft in both:
        read["tracker", craft.name] = np.array([StarTracker(noisy).turn(craft, p)[1:] for p in places])
        tachometers = Instruments(tachometers=noisy)
        read["tachometers", craft.name] = np.array([tachometers.read(craft, q, v, p)[1][6:] for p in places])
    read["walk", ""] = np.array([biased_walk(np.zeros(3), 1.0, 1.0, p) for p in places])
    names = list(read)
    for i, one in enumerate(names):
        for other in names[i + 1 :]:
            assert correlation(read[one], read[other]) < 0.2, (one, other)


def test_channels_that_are_asked_for_are_shared():
    q, v = state(CRAFT, 1, 0.0)
    for channel in (5, "one and the same"):
        shared = Imperfection(noise=1.0, channel=channel)
        one, two = RateGyro("bus", shared)(CRAFT, q, v, Place(1)), RateGyro("tool", shared)(CRAFT, q, v, Place(1))
        np.testing.assert_allclose(one, two, atol=1e-14)
    assert not np.any(RateGyro("bus", Imperfection(noise=1.0, channel=6))(CRAFT, q, v, Place(1)) == one)


def test_channels_by_name_are_the_same_everywhere_and_exact_as_floats():
    from gyrostat.control.imperfection import CHANNELS, channel_number

    assert channel_number("servicer: star tracker") == 776476374301
    numbers = [channel_number(f"sensor {k}") for k in range(10_000)]
    assert len(set(numbers)) == 10_000 and min(numbers) >= 1_000_000
    assert max(numbers) * CHANNELS + CHANNELS < 2**53


def weak(craft, t, q, v, gain):
    return gain * damping(craft, t, q, v)


def test_laws_get_what_they_ask_for_by_name_through_instruments_pulses_and_motors():
    """An input reaches the law behind each of them, and changes the run."""
    q, v = state(CRAFT, 1, 0.1)
    wrapped = {
        "instruments": Instruments(gyro=RateGyro("bus")).controller(weak, 0.1),
        "pulses": Pulses(CRAFT, 0.5).controller(weak),
        "motors": Motors().driving(weak),
        "motors of a Controller": Motors().driving(gs.Controller(weak, period=0.1)),
    }
    for name, law in wrapped.items():
        ends = [gs.simulate(CRAFT, q, v, (0, 1), control=law, inputs={"gain": g}).v[-1] for g in (0.1, 1.0)]
        assert np.abs(ends[0] - ends[1]).max() > 1e-3, name
        with pytest.raises(TypeError, match="asks for 'gain', which this run does not have"):
            gs.simulate(CRAFT, q, v, (0, 1), control=law)


def test_a_sampled_law_keeps_its_memory_behind_instruments():
    """A running sum of readings, against the same sum without instruments that change anything."""
    summing = gs.Controller(
        lambda craft, t, q, v, z: np.concatenate([-5.0 * z, np.zeros(craft.nv - 3)]),
        np.zeros(3),
        update=lambda craft, t, q, v, z: z + v[:3],
        period=0.1,
    )
    q, v = state(CRAFT, 1, 0.1)
    plain, fed, biased = (
        gs.simulate(CRAFT, q, v, (0, 2), control=law, rtol=1e-9)
        for law in (
            summing,
            Instruments(gyro=RateGyro("bus")).controller(summing),
            Instruments(gyro=RateGyro("bus", Imperfection(bias=0.01))).controller(summing, 0.1),
        )
    )
    np.testing.assert_allclose(fed.v, plain.v, atol=1e-9)
    assert np.abs(biased.v[-1] - plain.v[-1]).max() > 1e-3


def test_laws_that_cannot_be_fed_are_refused_by_name():
    sampled = gs.Controller(damping, period=0.1)
    continuous = gs.Controller(lambda craft, t, q, v, z: z, [0.0], derivative=lambda craft, t, q, v, z: z)
    with pytest.raises(ValueError, match=r"the law is sampled every 0.1 s.*Leave period= out"):
        Instruments().controller(sampled, 0.2)
    with pytest.raises(ValueError, match=r"the law acts at all times.*update= and period="):
        Instruments().controller(continuous)
    with pytest.raises(TypeError, match="give period= in seconds"):
        Instruments().controller(damping)
    with pytest.raises(TypeError, match="pulses have a memory of their own"):
        Pulses(CRAFT, 0.5).controller(sampled)


@pytest.mark.parametrize("every", [2, 3, 7, 49, 98, 103, 187])
def test_every_nth_sample_is_read_compiled_as_counted(every):
    """1/49 is not exact: 49 times it lies below one."""
    rarely = Imperfection(every=every)
    taken = gs.compile(
        lambda craft, sample: np.array([rarely.taken(Place(0, 0, sample))]), CRAFT, inputs={"sample": ()}
    )
    samples = np.arange(20 * every)
    np.testing.assert_array_equal(taken(samples.astype(float))[:, 0], samples % every == 0)
