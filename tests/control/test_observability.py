"""What directions tell of attitude and gyro bias: what stays unknown is what theory says, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import expm

import gyrostat as gs
from formation_crafts import box
from gyrostat.algebra import quat_multiply, rotation, skew
from gyrostat.control import Imperfection, Instruments, Measurement, Space, ekf
from gyrostat.control.sensor import AbstractSensor

CRAFT, T, SAMPLES = box(), 0.5, 120
SUN, FIELD = np.array([0.6, 0.0, 0.8]), np.array([0.0, 1.0, 0.0])  # in N
READ, TURN, DRIFT = 1e-3, 0.1, 1e-2  # rad of readings; rad and rad/s of what is known at first
BIAS = np.array([2e-3, -1e-3, 3e-3])


class Seen(AbstractSensor):
    """A direction that stays in N, in the axes of the hull: a sun sensor, a magnetometer over a short while."""

    imperfection = Imperfection()

    def __init__(self, name, s):
        self.name, self.s = name, s

    def truth(self, craft, t, q, v, *before):
        return rotation(q[:4]).T @ self.s


def covariance(directions, w):
    """Of (attitude, bias) at the last sample, by the filter in a compiled run. It begins at the truth, so that it
    linearises there.
    """

    def dynamics(t, x):
        return np.concatenate([0.5 * quat_multiply(x[:4], np.concatenate([[0.0], w + BIAS - x[4:]])), np.zeros(3)])

    def along(s):
        return Measurement(lambda craft, t, q, v, x: rotation(x[:4]).T @ s, READ)

    names = [f"direction_{k}" for k in range(len(directions))]
    filt = ekf(
        dynamics,
        {name: along(s) for name, s in zip(names, directions, strict=True)},
        x0=np.concatenate([[1.0, 0, 0, 0], BIAS]),
        P0=[TURN**2] * 3 + [DRIFT**2] * 3,
        space=Space("quaternion", 3),
        steps=4,
    )
    seen = [Seen(name, s) for name, s in zip(names, directions, strict=True)]
    control = Instruments(more=seen, estimator=filt).controller(lambda craft, t, q, v: np.zeros(6), T, craft=CRAFT)
    end = (SAMPLES - 0.5) * T
    run = gs.simulate(CRAFT, None, [*w, 0, 0, 0], (0, end), control=control, save_at=[end], rtol=1e-11, atol=1e-12)
    return filt.read(run.data["held_z"].values[-1]).P, rotation(run.q[-1, :4])


def by_information(directions, w):
    """Second opinion: P = Phi (P0^-1 + sum Phi_k^T H_k^T H_k Phi_k / READ^2)^-1 Phi^T, with d' = -w x d - e, the body
    turning about w, and y = s + s x d in its axes.
    """
    A = np.block([[-skew(w), -np.eye(3)], [np.zeros((3, 6))]])
    information = np.diag([TURN**-2.0] * 3 + [DRIFT**-2.0] * 3)
    for k in range(SAMPLES):
        Phi, R_BN = expm(A * k * T), expm(-skew(w) * k * T)
        for s in directions:
            H = np.hstack([skew(R_BN @ s), np.zeros((3, 3))]) @ Phi
            information = information + H.T @ H / READ**2
    return Phi @ np.linalg.inv(information) @ Phi.T, Phi


AXIS = np.array([0.0, 0.0, 0.05])  # a principal axis: the rate stays; not along the Sun
CASES = {
    "one, at rest": ([SUN], np.zeros(3), 2),
    "one, turning": ([SUN], AXIS, 1),
    "one, turning about it": ([np.array([0.0, 0.0, 1.0])], AXIS, 2),
    "two, at rest": ([SUN, FIELD], np.zeros(3), 0),
    "two, turning": ([SUN, FIELD], AXIS, 0),
}


@pytest.mark.parametrize("name", CASES)
def test_as_many_directions_stay_unknown_as_theory_says(name):
    """Of one direction the turn about it stays as unknown as it was, and the bias along it where it does not move in
    the body. Two leave nothing.
    """
    directions, w, unknown = CASES[name]
    P, R_NB = covariance(directions, w)
    expected, Phi = by_information(directions, w)
    np.testing.assert_allclose(P, expected, rtol=2e-4, atol=1e-9)
    back = np.linalg.inv(Phi @ np.diag([TURN] * 3 + [DRIFT] * 3))
    sizes, which = np.linalg.eigh(back @ P @ back.T)  # of what is known now of the start: 1 as before, 0 all
    np.testing.assert_allclose(sizes[6 - unknown :], 1.0, rtol=1e-4)
    assert (sizes[: 6 - unknown] < 0.05).all()
    along = (SAMPLES - 1) * T
    about = np.concatenate([R_NB.T @ directions[0], np.zeros(3)])
    if unknown == 1:
        np.testing.assert_allclose(np.abs(which[:3, -1] @ directions[0]), 1.0, atol=1e-6)
        assert about @ P @ about == pytest.approx(TURN**2, rel=1e-2)
    if unknown == 2:
        plane = np.kron(np.eye(2), directions[0])  # (2, 6): the turn about it, the bias along it
        np.testing.assert_allclose(np.linalg.norm(plane @ which[:, -2:]), np.sqrt(2), atol=1e-6)
        assert about @ P @ about == pytest.approx(TURN**2 + along**2 * DRIFT**2, rel=1e-4)
