"""Filters of anything: against linear theory, and 200 runs against a tumbling target whose inertia nobody knows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import expm

import gyrostat as gs
from formation_crafts import box
from gyrostat.control import (
    Imperfection,
    Instruments,
    Measurement,
    Place,
    PoseCamera,
    SatelliteNavigation,
    Space,
    consistency,
    ekf,
    inertia_ratios,
    nees,
    tumbling_target,
    ukf,
)
from gyrostat.control.target_filter import SPACE, inertia_of_ratios, true_state
from gyrostat.environment import PlanetCentered

RUNS, T = 200, 1.0
SAMPLES = np.array([0.0, 60.0, 150.0, 300.0])


def resting(craft, t, q, v):
    return np.zeros(craft.nv)


# ---- a target that tumbles


def scene(inertia):
    eye = gs.Frame("eye", "hull", (0.1, 0.0, 0.4))
    mark = gs.Frame("mark", "rock", (0.2, -0.1, 0.3), gs.algebra.rotation(np.array([0.6, 0.0, 0.8, 0.0])))
    chaser = gs.Spacecraft.build("chaser", [gs.Body("hull", 40.0, inertia=[3.0, 4.0, 5.0])], frames=[eye])
    return gs.together(
        "scene", [chaser, gs.Spacecraft.build("target", [gs.Body("rock", 50.0, inertia=inertia)], frames=[mark])]
    )


INERTIA = np.array([[8.0, 0.6, -0.4], [0.6, 12.0, 0.9], [-0.4, 0.9, 15.0]])
SCENE = scene(INERTIA)
QUAT = np.array([0.7, 0.1, -0.5, 0.5]) / 1.0
BELIEVED = np.concatenate([QUAT, [0.25, -0.2, 0.1], [0.2, 0.3, 6.0], [2e-3, -1e-3, 1e-3], inertia_ratios(INERTIA)])
SIGMA = np.array([0.03] * 3 + [0.003] * 3 + [0.1] * 3 + [0.01] * 3 + [0.01] * 5)
CAMERA = PoseCamera("eye", "mark", 1.5, imperfection=Imperfection(noise=[1e-2] * 3 + [2e-2] * 3, lost=0.1))


def starts(runs, seed, sigma=SIGMA):
    """States and inertias that are off from what is believed as much as the filter thinks."""
    rng = np.random.default_rng(seed)
    q, v = np.tile(gs.neutral(SCENE), (runs, 1)), np.zeros((runs, SCENE.nv))
    joint, truths, inertias = SCENE.body("rock").joint, [], []
    for k in range(runs):
        x = SPACE.tidy(SPACE.plus(BELIEVED, sigma * rng.normal(size=17)))
        q[k, joint.q_at] = [*x[:4], *x[7:10]]
        v[k, joint.v_at] = [*x[4:7], *(gs.algebra.rotation(x[:4]).T @ x[10:13])]
        truths.append(x[13:])
        J = 8.0 * inertia_of_ratios(x[13:])
        inertias.append([J[0, 0], J[0, 1], J[0, 2], J[1, 1], J[1, 2], J[2, 2]])
    return q, v, np.array(truths), np.array(inertias)


def flown(unscented, off, runs):
    """Errors and estimates at the samples, of runs whose ratios of inertia are off by so much."""
    sigma = np.concatenate([SIGMA[:12], [off] * 5])
    filt = tumbling_target(CAMERA, BELIEVED, sigma, target="rock", unscented=unscented, steps=2)
    control = Instruments(more=[CAMERA], estimator=filt).controller(resting, T, craft=SCENE)
    q, v, ratios, inertias = starts(runs, 4, sigma)
    times = np.sort(np.concatenate([SAMPLES, SAMPLES + 0.25]))
    traj = gs.simulate(
        SCENE, q, v, (0.0, times[-1]), control=control, save_at=times, integrator="rk4", step=0.25, seed=9,
        parameters={"rock.inertia": inertias},
    )  # fmt: skip
    found = filt.read(traj.data["held_z"].values[:, 1::2])
    true = true_state(SCENE, traj.q[:, ::2], traj.v[:, ::2], "rock")
    true[..., 13:] = ratios[:, None]
    errors = np.array([[SPACE.minus(true[i, k], found.x[i, k]) for k in range(len(SAMPLES))] for i in range(runs)])
    return errors, found


@pytest.mark.parametrize(("unscented", "off"), [(False, 0.005), (True, 0.03)], ids=["extended", "unscented"])
def test_of_200_runs_nees_and_nis_are_within_their_95_percent_bounds(unscented, off):
    """The extended filter believes too much of itself where ratios are off by some percent; the unscented does not."""
    errors, found = flown(unscented, off, RUNS)
    for k in (1, 2, 3):
        for told in (consistency(nees(errors, found.P)[:, k], 17), consistency(found.nis[:, k, 0], 6)):
            assert told.ok, str(told)


@pytest.mark.parametrize("unscented", [False, True], ids=["extended", "unscented"])
def test_the_ratios_of_inertia_are_found_to_one_percent(unscented):
    errors, _ = flown(unscented, 0.05, 40)
    assert np.abs(errors[:, 0, 12:]).max() > 0.1
    assert np.abs(errors[:, -1, 12:] / np.array([1.5, 1.9, 1.0, 1.0, 1.0])).max() < 0.01


def test_laws_see_the_estimate_of_the_target_in_place_of_its_state():
    """At the last sample, what a law was shown, kept in its memory, is the estimate to the last bit."""
    filt = tumbling_target(CAMERA, BELIEVED, SIGMA, target="rock")
    joint = SCENE.body("rock").joint
    keep = gs.Controller(
        lambda craft, t, q, v, z: np.zeros(craft.nv), np.zeros(7), period=T,
        update=lambda craft, t, q, v, z: q[joint.q_at],
    )  # fmt: skip
    control = Instruments(more=[CAMERA], estimator=filt).controller(keep, craft=SCENE)
    q, v, *_ = starts(1, 5)
    traj = gs.simulate(SCENE, q[0], v[0], (0, 4.5), control=control, save_at=[0, 4.5], integrator="rk4", step=0.5)
    z = traj.data["held_z"].values[-1]
    np.testing.assert_allclose(z[:7], filt.read(z).x[[0, 1, 2, 3, 7, 8, 9]], rtol=1e-13)


# ---- what is linear is known


def drifting(sigma):
    """A craft that drifts, by satellite navigation: position is read, velocity follows."""
    F = np.zeros((6, 6))
    F[:3, 3:] = np.eye(3)
    R = np.array([sigma] * 3 + [10 * sigma] * 3)
    sensor = SatelliteNavigation("hull", PlanetCentered(), Imperfection(noise=R))
    told = {"navigation": Measurement(lambda craft, t, q, v, x: x, R)}
    options = {"x0": np.zeros(6), "P0": [4.0] * 3 + [0.25] * 3, "noise": [0.0] * 3 + [1e-3] * 3, "space": Space(6)}
    return F, R, sensor, told, options


def test_of_a_linear_motion_both_filters_are_the_kalman_filter():
    craft, (F, R, sensor, told, options) = box(), drifting(0.3)
    q, v = gs.neutral(craft), np.array([0, 0, 0, 0.4, -0.2, 0.1])
    A, P, x = expm(F * T), np.diag(options["P0"]), np.zeros(6)
    found = []
    for make in (ekf, ukf):
        filt = make(lambda t, x: np.concatenate([x[3:], np.zeros(3)]), told, **options)
        control = Instruments(more=[sensor], estimator=filt).controller(resting, T, craft=craft)
        traj = gs.simulate(
            craft, q, v, (0, 8.5), control=control, save_at=[0.5, 8.5], integrator="rk4", step=0.5, seed=6
        )
        found.append(filt.read(traj.data["held_z"].values[-1]))
    for k in range(9):
        if k:
            x, P = A @ x, A @ P @ A.T + T * np.diag(options["noise"])
        at = q.copy()
        at[4:7] = k * T * v[3:]
        y = sensor(craft, at, v, Place(6, 0, k)) - x
        K = P @ np.linalg.inv(P + np.diag(R**2))
        x, P = x + K @ y, (np.eye(6) - K) @ P
    for one in found:
        np.testing.assert_allclose(one.x, x, rtol=1e-9)
        np.testing.assert_allclose(one.P, P, rtol=1e-9, atol=1e-14)


def test_space_leaves_and_differs_as_its_parts_do():
    space, rng = Space("quaternion", 2, "quaternion"), np.random.default_rng(1)
    x = space.tidy(rng.normal(size=10))
    d = rng.normal(size=8)
    assert (space.components, space.size) == (10, 8)
    np.testing.assert_allclose(space.minus(space.plus(x, d), x), d, rtol=1e-12)


def test_a_filter_that_believes_too_much_is_told():
    rng = np.random.default_rng(3)
    good, proud = rng.normal(size=(400, 5)), 1.3 * rng.normal(size=(400, 5))
    P = np.broadcast_to(np.eye(5), (400, 5, 5))
    assert consistency(nees(good, P), 5).ok and "not consistent" not in str(consistency(nees(good, P), 5))
    assert "not consistent" in str(consistency(nees(proud, P), 5))


def test_what_cannot_be_is_said():
    told = {"camera": Measurement(lambda craft, t, q, v, x: x, 0.1)}
    with pytest.raises(ValueError, match=r"x0 has shape \(2,\)"):
        ekf(lambda t, x: x, told, x0=np.zeros(2), P0=1.0, space=Space(3))
    with pytest.raises(ValueError, match="P0 must be positive definite"):
        ekf(lambda t, x: x, told, x0=np.zeros(3), P0=0.0, space=Space(3))
    with pytest.raises(ValueError, match="it has no measurements"):
        ekf(lambda t, x: x, {}, x0=np.zeros(3), P0=1.0, space=Space(3))
    filt = ekf(lambda t, x: x, told, x0=np.zeros(3), P0=1.0, space=Space(3))
    control = Instruments(estimator=filt).controller(resting, T, craft=box())
    with pytest.raises(ValueError, match="measures by 'camera', and there is no such instrument; there are none"):
        gs.simulate(box(), None, None, (0, 1), control=control)
    with pytest.raises(ValueError, match="camera's noise is 0.0"):
        tumbling_target(PoseCamera("eye", "rock"), BELIEVED, SIGMA, target="rock")
    with pytest.raises(ValueError, match="'rock' has its centre of mass at"):
        off = gs.together(
            "s", [box("a"), gs.Spacecraft.build("b", [gs.Body("rock", 1.0, (0.1, 0, 0), inertia=[1, 1, 1])])]
        )
        true_state(off, gs.neutral(off), np.zeros(off.nv), "rock")


def test_between_samples_the_time_of_the_dynamics_goes_on():
    """Simpson's rule, which the classical method is where the rate depends on time alone, is exact for a cubic."""
    space, seen = Space(2), {"eye": Measurement(lambda craft, t, q, v, x: x, 1.0)}
    filter_ = ekf(
        lambda t, x: np.array([4.0 * t**3, 0.5 + 0.0 * t]), seen, x0=[0, 0], P0=np.eye(2), space=space, steps=2
    )
    t, T = 1.7, 0.6
    np.testing.assert_allclose(filter_.flow(np.array([2.0, 3.0]), t, T), [2.0 + t**4 - (t - T) ** 4, 3.3], rtol=1e-14)
