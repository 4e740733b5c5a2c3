"""What each instrument reads: the truth by another way, its statistics, and when it sees nothing."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp

import gyrostat as gs
from gyrostat.algebra import log_so3, quat_conjugate, quat_log, quat_multiply, rotation
from gyrostat.control import (
    Accelerometer,
    CoarseSunSensors,
    Encoders,
    FineSunSensor,
    HorizonSensor,
    Imperfection,
    Instruments,
    Lidar,
    Magnetometer,
    Place,
    PoseCamera,
    RateGyro,
    SatelliteNavigation,
    StarTracker,
    Tachometers,
)
from gyrostat.control.sensor import Sampled
from gyrostat.environment import Celestial, Orbit
from gyrostat.kinematics.line_of_sight import clear_view

MOUNT = rotation(np.array([0.8, 0.3, -0.4, 0.33]))
SUN = Celestial("Sun", 1.327e20, 6.957e8, lambda t: np.array([1.2e11, -0.6e11, 0.4e11]))
MOON = Celestial("Moon", 4.9e12, 1.7374e6, lambda t: np.array([-2.0e8, 3.0e8, 0.5e8]))
ORBIT = Orbit.circular(600e3, 0.8, node=0.4, argument=1.0)
RNG = np.random.default_rng(12)


def dipole(t, r):
    m, d = np.array([0.1, -0.2, 1.0]), np.linalg.norm(r) if r.dtype == float else (r @ r) ** 0.5
    return 8e15 * (3 * (m @ r) * r / d**5 - m / d**3)


def craft():
    hull = gs.Body(
        "hull", 40.0, (0.02, 0, 0), np.array([3.0, 4.0, 5.0]), shapes=(gs.model.Shape("box", (1.0, 0.6, 0.4)),)
    )
    arm = gs.Body(
        "arm",
        3.0,
        (0.4, 0, 0),
        np.array([0.02, 0.3, 0.3]),
        joint=gs.Joint("elbow", "revolute", "hull", (0.5, 0, 0), axis=(0, 1, 0)),
    )
    frames = [gs.Frame("eye", "hull", (0.1, -0.2, 0.3), MOUNT), gs.Frame("tip", "arm", (0.8, 0.1, 0.0))]
    return gs.Spacecraft.build("seer", [hull, arm, gs.Wheel("wheel", "hull", (0, 0, 1), 0.05)], frames=frames)


CRAFT = craft()


def state(k=0):
    rng = np.random.default_rng(k)
    q = gs.neutral(CRAFT)
    q[:4] = rng.normal(size=4)
    q[:4] /= np.linalg.norm(q[:4])
    q[4:7], q[7] = rng.normal(size=3), 0.4
    return q, rng.normal(size=CRAFT.nv)


def sensors(errors=None):
    e = errors or Imperfection()
    return {
        "gyro": RateGyro("eye", e),
        "tracker": StarTracker(e),
        "encoders": Encoders(e),
        "tachometers": Tachometers(e),
        "magnetometer": Magnetometer("eye", ORBIT, dipole, e),
        "sun_sensor": FineSunSensor("eye", ORBIT, SUN, imperfection=e),
        "sun_cells": CoarseSunSensors("eye", ORBIT, SUN, np.vstack([np.eye(3), -np.eye(3)]), e),
        "horizon": HorizonSensor("eye", ORBIT, imperfection=e),
        "navigation": SatelliteNavigation("eye", ORBIT, e),
        "fixed": SatelliteNavigation("eye", ORBIT, e, fixed=True, name="fixed"),
        "camera": PoseCamera("eye", "tip", imperfection=e),
        "lidar": Lidar("eye", "tip", field_of_view=np.pi, imperfection=e),
        "accelerometer": Accelerometer("tip", e),
    }


def read(sensor, q, v, place=None, t=100.0, z=None):
    sampled = Sampled(sensor, CRAFT, 0.1)
    z = np.zeros(sampled.size) if z is None else z
    return sampled.read(CRAFT, t, q, v, z, place or Place())


def off(name, reading, exact):
    """What the errors made of it, as they were put in."""
    if name == "tracker":
        return quat_log(quat_multiply(quat_conjugate(exact), reading))
    if name == "camera":
        turn = quat_log(quat_multiply(quat_conjugate(exact[:4]), reading[:4]))
        return np.concatenate([turn, reading[4:] - exact[4:]])
    if name in ("sun_sensor", "horizon"):  # of a rotation, what is across the direction
        return np.cross(exact, reading) @ np.linalg.svd(exact[None])[2][1:].T
    return reading - exact


def test_every_instrument_has_the_statistics_that_were_asked_for_and_noise_of_its_own():
    q, v = state(1)
    sigma, count, found = 1e-3, 1200, {}
    noisy = sensors(Imperfection(noise=sigma))

    def readings(craft, t, q, v, k):
        return [read(s, q, v, Place(4, 0, k), t)[0].value for s in noisy.values()]

    kernel = gs.compile(readings, CRAFT, inputs={"k": ()})
    rows = kernel(100.0, q, v, np.arange(count, dtype=float))
    for (name, exact), many in zip(sensors().items(), rows, strict=True):
        truth = read(exact, q, v)[0].value
        found[name] = np.array([off(name, one, truth) for one in many])
        np.testing.assert_allclose(many[7], read(noisy[name], q, v, Place(4, 0, 7))[0].value, rtol=1e-12, atol=1e-14)
    for name, x in found.items():
        assert np.abs(x.mean(axis=0)).max() < 4.5 * sigma / np.sqrt(count), name
        np.testing.assert_allclose(x.std(axis=0), sigma, rtol=4.5 / np.sqrt(2 * count), err_msg=name)
    every = np.corrcoef(np.hstack(list(found.values())).T)
    assert np.abs(every[~np.eye(len(every), dtype=bool)]).max() < 4.7 / np.sqrt(count)


def test_what_is_read_is_what_is_there():
    q, v = state(2)
    here = {name: read(s, q, v)[0].value for name, s in sensors().items()}
    R = rotation(q[:4]) @ MOUNT
    p = ORBIT.state(100.0).r + q[4:7] + rotation(q[:4]) @ np.array([0.1, -0.2, 0.3])
    s = SUN.position(0.0) - p
    s /= np.linalg.norm(s)
    np.testing.assert_allclose(R @ here["sun_sensor"], s, atol=1e-14)
    np.testing.assert_allclose(R @ here["horizon"], -p / np.linalg.norm(p), atol=1e-14)
    np.testing.assert_allclose(R @ here["magnetometer"], dipole(0.0, p), rtol=1e-12)
    np.testing.assert_allclose(here["sun_cells"][:3] - here["sun_cells"][3:], R.T @ s, atol=1e-14)
    np.testing.assert_allclose(here["tachometers"], v[6:])
    tip = gs.forward_kinematics(CRAFT, q)
    k = CRAFT.index("arm")
    there = R.T @ (tip.p_NB[k] + tip.R_NB[k] @ np.array([0.8, 0.1, 0.0]) + ORBIT.state(100.0).r - p)
    np.testing.assert_allclose(here["camera"][4:], there, atol=1e-8)
    np.testing.assert_allclose(rotation(here["camera"][:4]), R.T @ tip.R_NB[k], atol=1e-14)
    distance, azimuth, elevation = here["lidar"]
    c = np.cos(elevation)
    found = distance * np.array([c * np.sin(azimuth), np.sin(elevation), c * np.cos(azimuth)])
    np.testing.assert_allclose(found, there, atol=1e-8)


@pytest.mark.parametrize("name", ["navigation", "fixed"])
def test_velocity_is_the_rate_of_position(name):
    q, v = state(3)
    h = 1e-2
    before, now, after = (
        read(sensors()[name], gs.step_configuration(CRAFT, q, s * h * v), v, t=100.0 + s * h)[0].value
        for s in (-1, 0, 1)
    )
    np.testing.assert_allclose((after - before)[:3] / (2 * h), now[3:], atol=2e-3)


def test_an_accelerometer_on_an_arm_feels_the_change_of_velocity_whatever_caused_it():
    """Of a run with a torque in the elbow: the integral of the acceleration over each sample, by quadrature."""
    push = np.zeros(CRAFT.nv)
    push[6], push[0] = 2.0, 3.0
    q, v = state(4)
    v *= 0.2
    t = np.linspace(0.0, 0.1, 41)
    traj = gs.simulate(CRAFT, q, v, (0, 0.1), control=lambda c, t, q, v: push, save_at=t, rtol=1e-12)

    def acceleration_N(k):
        vdot = gs.forward_dynamics(CRAFT, traj.q[k], traj.v[k], push)
        J, Jdot = gs.jacobian(CRAFT, traj.q[k], "tip"), gs.kinematics.jacobian_rate(CRAFT, traj.q[k], traj.v[k], "tip")
        return (J @ vdot + Jdot @ traj.v[k])[3:]

    rows = np.array([acceleration_N(k) for k in range(41)])
    weights = np.array([1, *([4, 2] * 19), 4, 1]) / 120.0
    sensor = Accelerometer("tip")
    first, z = read(sensor, traj.q[0], traj.v[0])
    assert not first.value.any()
    found = read(sensor, traj.q[-1], traj.v[-1], Place(0, 0, 1), 100.1, z)[0].value
    ends = [gs.forward_kinematics(CRAFT, traj.q[k]).R_NB[CRAFT.index("arm")] for k in (0, -1)]
    midway = Slerp([0.0, 1.0], Rotation.from_matrix(ends))(0.5)
    np.testing.assert_allclose(found, midway.inv().apply(weights @ rows), rtol=1e-7)


# ---- when nothing is seen


def angle(a, b):
    return np.arccos(np.clip(a @ b / np.linalg.norm(a) / np.linalg.norm(b), -1, 1))


def test_a_star_tracker_is_blind_near_sun_moon_and_the_planets_edge():
    tracker = StarTracker(frame="eye", orbit=ORBIT, exclusions=((SUN, 0.9), (MOON, 0.5)), limb=0.3)
    seen = []
    for k in range(120):
        q, v = state(k)
        look, p = rotation(q[:4]) @ MOUNT[:, 2], gs.kinematics.frame_pose(CRAFT, q, "eye").p + ORBIT.state(100.0).r
        expected = (
            angle(look, SUN.position(0) - p) > 0.9
            and angle(look, MOON.position(0) - p) > 0.5
            and angle(look, -p) > np.arcsin(ORBIT.planet.radius / np.linalg.norm(p)) + 0.3
        )
        reading, z = read(tracker, q, v)
        assert bool(reading.fresh) == expected == bool(z[-1])
        seen.append(expected)
    assert 10 < sum(seen) < 110


def test_sun_sensors_see_nothing_in_the_planets_shadow():
    away = -SUN.position(0) / np.linalg.norm(SUN.position(0))
    across = np.cross(away, [0.0, 0.0, 1.0])
    dark = Orbit.from_state(7e6 * away, 7.6e3 * across / np.linalg.norm(across))
    q, v = state(1)
    fine = FineSunSensor("eye", dark, SUN)
    cells = CoarseSunSensors("eye", dark, SUN, np.vstack([np.eye(3), -np.eye(3)]))
    assert read(fine, q, v, t=0.0)[0].fresh == 0.0 and not read(cells, q, v, t=0.0)[0].value.any()
    narrow = [FineSunSensor("eye", ORBIT, SUN, 0.7), HorizonSensor("eye", ORBIT, 0.7)]
    for k in range(60):
        q, v = state(k)
        X = gs.kinematics.frame_pose(CRAFT, q, "eye")
        p = ORBIT.state(100.0).r + X.p
        for sensor, to in zip(narrow, (SUN.position(0) - p, -p), strict=True):
            assert bool(read(sensor, q, v)[0].fresh) == (angle(X.R[:, 2], to) < 0.7)


@pytest.mark.parametrize("normals", [(0.0, 0.0, 1.0), [(1.0, 0.0)], [(1.0, 0.0, 0.0), (0.0, 0.0, 0.0)]])
def test_sun_cells_look_in_directions(normals):
    with pytest.raises(ValueError, match=r"sensor 'sun_cells': normals have shape .*; expected directions \(n, 3\)"):
        CoarseSunSensors("eye", ORBIT, SUN, normals)


@pytest.mark.parametrize("shape", [("box", (1.0, 0.6, 0.4)), ("sphere", (0.45,)), ("cylinder", (0.3, 1.1))])
def test_own_bodies_hide_what_is_behind_them(shape):
    """Against points along the segment, each asked whether it lies inside."""
    turned, at = rotation(np.array([0.7, -0.2, 0.5, 0.46])), np.array([0.1, 0.2, -0.1])
    turned = turned / np.cbrt(np.linalg.det(turned))
    body = gs.Body(
        "hull", 1.0, inertia=[1, 1, 1], shapes=(gs.model.Shape(*shape, position=tuple(at), rotation=turned),)
    )
    one = gs.Spacecraft.build("one", [body])
    q, s, hidden = gs.neutral(one), np.linspace(0, 1, 4001)[:, None], 0
    q[:4], q[4:7] = np.array([0.5, 0.5, -0.1, 0.7]) / np.linalg.norm([0.5, 0.5, -0.1, 0.7]), [0.3, -0.2, 0.4]
    for _ in range(150):
        a, b = RNG.normal(size=(2, 3)) + np.array([0.4, 0.0, 0.3])
        x = (((1 - s) * a + s * b - q[4:7]) @ rotation(q[:4]) - at) @ turned
        if shape[0] == "box":
            inside = (np.abs(x) < 0.5 * np.array(shape[1])).all(axis=1)
        elif shape[0] == "sphere":
            inside = np.linalg.norm(x, axis=1) < shape[1][0]
        else:
            inside = (np.linalg.norm(x[:, :2], axis=1) < shape[1][0]) & (np.abs(x[:, 2]) < 0.5 * shape[1][1])
        assert bool(clear_view(one, q, a, b, ["hull"])) == (not inside.any())
        hidden += inside.any()
    assert 15 < hidden < 135


def test_a_camera_holds_what_it_saw_last_while_its_own_arm_is_in_between():
    """In a compiled run: the target drifts behind the hull, and a law sees it stand still."""
    body = gs.Body("hull", 40.0, inertia=[3.0, 4.0, 5.0], shapes=(gs.model.Shape("box", (0.4, 0.4, 0.4)),))
    chaser = gs.Spacecraft.build("chaser", [body], frames=[gs.Frame("eye", "hull", (0, 0, -1.0))])
    target = gs.Spacecraft.build("target", [gs.Body("rock", 5.0, inertia=[1.0, 1.0, 1.0])])
    both = gs.together("both", [chaser, target])
    camera = PoseCamera("eye", "rock", 1.2, hidden_by=["hull"])
    q, v = gs.neutral(both), np.zeros(both.nv)
    at, moves = both.joint_named("target.base"), 1.0
    q[at.q_at.start + 4 : at.q_at.start + 7] = [-2.0, 0.0, 2.0]
    v[at.v_at.start + 3] = moves
    keep = gs.Controller(lambda c, t, q, v, z: np.zeros(c.nv), np.zeros(8), period=0.1,
        update=lambda c, t, q, v, z, *, camera: np.concatenate([camera.value, [camera.fresh]]))  # fmt: skip
    instruments = Instruments(more=[camera])
    times = np.arange(40) * 0.1 + 0.05
    traj = gs.simulate(both, q, v, (0, 4), control=instruments.controller(keep, craft=both), save_at=times, rtol=1e-9)
    z = traj.data["held_z"].values
    x, fresh = z[:, 4], z[:, 7].astype(bool)
    true = -2.0 + moves * (times - 0.05)
    behind = np.abs(true) < 0.5 * 1.0  # the hull's top face is 0.2 wide each way, at 1.2 of 3 m
    assert not fresh[np.abs(true) < 0.45].any() and fresh[np.abs(true) > 0.8].all() and behind.any()
    np.testing.assert_allclose(x[fresh], true[fresh], atol=1e-9)
    gone = np.flatnonzero(~fresh)
    np.testing.assert_allclose(x[gone], true[gone[0] - 1], atol=1e-9)
    counts = instruments.arrivals(z[-1], both, 0.1, own=8)
    assert counts == {"camera": fresh.sum()}


def test_a_field_of_view_that_is_never_met_is_said():
    frames = [gs.Frame("eye", "hull", (0, 0, 1.0)), gs.Frame("mark", "hull", (0, 0.2, 0.5))]
    one = gs.Spacecraft.build("one", [gs.Body("hull", 1.0, inertia=[1, 1, 1])], frames=frames)
    with pytest.raises(ValueError, match="on the same body as 'eye' and never in its field of view"):
        Sampled(PoseCamera("eye", "mark", 0.5), one, 0.1)
    away = HorizonSensor("eye", ORBIT, 0.1)
    instruments = Instruments(more=[away])
    control = instruments.controller(lambda craft, t, q, v, horizon: np.zeros(6), 0.1, craft=one)
    traj = gs.simulate(one, None, None, (0, 1), control=control)
    with pytest.warns(UserWarning, match="sensor 'horizon' of one: nothing was in its field of view at any sample"):
        instruments.arrivals(traj.data["held_z"].values[-1], one, 0.1)
    with pytest.raises(ValueError, match="it keeps 3.5 rad from the Sun"):
        StarTracker(frame="eye", orbit=ORBIT, exclusions=((SUN, 3.5),))
    with pytest.raises(ValueError, match="field_of_view is 0.0 rad"):
        HorizonSensor("eye", ORBIT, 0.0)


def test_turning_about_a_direction_leaves_it():
    """The rotation of a sun sensor's noise is a rotation: the reading stays a unit vector."""
    q, v = state(5)
    s = read(FineSunSensor("eye", ORBIT, SUN, imperfection=Imperfection(noise=0.3)), q, v)[0].value
    assert abs(np.linalg.norm(s) - 1) < 1e-14 and log_so3(MOUNT).shape == (3,)
