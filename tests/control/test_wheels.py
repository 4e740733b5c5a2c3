"""Reaction wheels: sharing a torque, momenta, limits, and what is said about saturation."""

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.control import (
    commanded_loads,
    momentum_capacity,
    share_torque,
    towards_speeds,
    wheel_axes,
    wheel_momenta,
    wheel_pyramid,
)
from manoeuvring_crafts import small_servicer, state


def test_sharing_is_exact_least_and_null_motion_is_unseen():
    """Against NumPy's pseudo-inverse."""
    rng = np.random.default_rng(0)
    for count in (3, 4, 6):
        axes = rng.normal(size=(3, count))
        axes /= np.linalg.norm(axes, axis=0)
        torque, wish = rng.normal(size=3), rng.normal(size=count)
        tau = share_torque(axes, torque)
        np.testing.assert_allclose(tau, -np.linalg.pinv(axes) @ torque, atol=1e-12)
        moved = share_torque(axes, torque, wish)
        np.testing.assert_allclose(axes @ moved, -torque, atol=1e-12)
        np.testing.assert_allclose(moved - tau, (np.eye(count) - np.linalg.pinv(axes) @ axes) @ wish, atol=1e-12)


def test_a_pyramid_turns_evenly_about_all_axes_and_any_three_suffice():
    axes = np.array([wheel.joint.axis for wheel in wheel_pyramid("bus", 0.1)]).T
    np.testing.assert_allclose(axes @ axes.T, 4 / 3 * np.eye(3), atol=1e-12)
    for k in range(4):
        assert np.linalg.matrix_rank(np.delete(axes, k, axis=1), tol=1e-6) == 3


def test_axes_and_momenta_add_up_to_what_the_craft_has_more_than_with_still_wheels():
    """Total angular momentum = that of the craft with wheels turning along + axes @ J W."""
    craft = small_servicer()
    q, v = state(craft, 5, 0.4, wheel_speed=40.0)
    along = v.copy()
    along[-4:] = 0.0  # relative to the bus
    R_NB = gs.algebra.rotation(q[:4])
    extra = R_NB @ wheel_axes(craft, q) @ (0.05 * v[-4:])
    about = gs.center_of_mass(craft, q)
    np.testing.assert_allclose(
        gs.momentum(craft, q, v, about)[:3] - gs.momentum(craft, q, along, about)[:3], extra, atol=1e-12
    )
    expected = 0.05 * (v[-4:] + wheel_axes(craft, q).T @ v[:3])
    np.testing.assert_allclose(wheel_momenta(craft, q, v), expected, atol=1e-12)
    np.testing.assert_allclose(momentum_capacity(craft), 0.05 * 600.0)


def test_a_wheel_alone_on_a_body_exchanges_momentum_exactly():
    """Closed form: a constant motor torque tau turns the body by -tau t / (I - J) and the wheel by tau t / J relative
    to inertia.
    """
    I, J, tau, T = 5.0, 0.1, 0.2, 10.0
    craft = gs.Spacecraft.build("top", [gs.Body("bus", 10.0, inertia=(I, I, I)), gs.Wheel("w", "bus", (0, 0, 1), J)])

    def law(craft, t, q, v):
        return np.array([0, 0, 0, 0, 0, 0, tau])

    v = gs.simulate(craft, t_span=(0, T), control=law, rtol=1e-12).final[1]
    np.testing.assert_allclose(v[2], -tau * T / (I - J), rtol=1e-12)
    np.testing.assert_allclose(v[6] + v[2], tau * T / J, rtol=1e-12)


# ---- limits


def slew(turn):
    def law(craft, t, q, v):
        return commanded_loads(craft, q, v, "rotation-floating", joints=-v[6:8], turn=np.array(turn) - 0.0 * v[:3]).tau

    return law


def test_torque_saturates_and_says_so():
    craft = small_servicer(max_torque=0.5)
    trajectory = gs.simulate(
        craft, t_span=(0, 5), control=slew([0.0, 0.0, 0.2]), mode="rotation-floating", actuators=gs.Actuators()
    )
    wheels = slice(8, 12)
    assert np.abs(trajectory.tau[:, wheels]).max() <= 0.5
    asked = np.abs(trajectory.signals["command"].values[:, wheels]).max()
    assert asked > 2.0
    worst = {row.joint: row for row in trajectory.saturation}
    assert set(worst) == {f"wheel_{k}" for k in (1, 2, 3, 4)}
    row = worst["wheel_1"]
    assert row.held and row.reason == "effort" and row.limit == 0.5 and row.first == 0.0 and row.fraction == 1.0
    assert "saturation: 'wheel_1'" in str(trajectory) and "held there" in str(trajectory)
    assert trajectory.mode_audit.ok  # saturated or not, the torque is internal


def test_a_command_beyond_the_limit_that_is_not_held_is_reported_too():
    craft = small_servicer(max_torque=0.5)
    trajectory = gs.simulate(craft, t_span=(0, 1), control=slew([0.0, 0.0, 0.2]))
    assert trajectory.saturation and not trajectory.saturation[0].held
    assert "NOT held there" in str(trajectory)


@pytest.mark.parametrize("way", [1.0, -1.0])
def test_speed_saturates_smoothly_and_momentum_is_still_conserved(way):
    """The wheels reach their largest speed, go no faster, and the base keeps the momentum that they cannot take."""
    craft = small_servicer(max_torque=2.0, max_speed=50.0)
    trajectory = gs.simulate(
        craft,
        t_span=(0, 60),
        control=slew([0.0, 0.0, 0.05 * way]),
        mode="rotation-floating",
        actuators=gs.Actuators(),
        rtol=1e-12,
        atol=1e-12,
    )
    speeds = np.abs(trajectory.v[:, 8:])
    assert 49.5 < speeds.max() < 50.5  # the motors stop pushing at 50; the base, given way, still turns by a little
    rows = {row.joint: row for row in trajectory.saturation}
    assert rows["wheel_1"].reason == "speed" and "largest speed reached" in str(trajectory)
    h = trajectory.momentum()
    assert np.abs(h - h[0]).max() < 1e-9
    assert way * trajectory.v[-1, 2] < 0.4  # without the limit: 0.05 * 60 = 3 rad/s


def test_nothing_is_said_where_nothing_saturates():
    craft = small_servicer()
    trajectory = gs.simulate(craft, t_span=(0, 1), control=slew([0.0, 0.0, 0.01]), actuators=gs.Actuators())
    assert trajectory.saturation == () and "saturation" not in str(trajectory)


def test_a_speed_limit_needs_a_torque_limit():
    wheel = gs.Wheel("w", "bus", (0, 0, 1), 0.1, max_speed=10.0)
    craft = gs.Spacecraft.build("top", [gs.Body("bus", 10.0, inertia=(5, 5, 5)), wheel])
    with pytest.raises(ValueError, match="max_speed but no max_torque"):
        gs.simulate(craft, t_span=(0, 1), actuators=gs.Actuators(), control=lambda craft, t, q, v: 0.0 * v)


def test_null_motion_levels_the_speeds_without_turning_the_base():
    craft = small_servicer()
    q, v = gs.neutral(craft), np.zeros(craft.nv)
    v[8:] = [40.0, -40.0, 40.0, -40.0]  # along the null direction: no net momentum

    def law(craft, t, q, v):
        null = towards_speeds(craft, v, np.zeros(4), 0.2) / 0.05
        return commanded_loads(
            craft, q, v, "rotation-floating", joints=np.zeros(2), turn=np.zeros(3), null_motion=null
        ).tau

    trajectory = gs.simulate(craft, q, v, (0, 20), control=law, mode="rotation-floating", rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(trajectory.v[-1, 8:], np.exp(-0.2 * 20) * v[8:], rtol=1e-6)
    assert np.abs(trajectory.v[:, :3]).max() < 1e-12
