"""# Linear design

`gs.linearize` gives the exact A and B of everything that `gs.simulate` would take into account, in tangent coordinates,
so that linear tools apply (`linear.to_control()` hands them to python-control): here SciPy's Riccati solver chooses
gains for base attitude, wheels and arm together. The loop that they close is then run on the nonlinear craft. The only
modes that a controller without thrusters cannot move are those of the conserved momentum; they are taken out first.
"""

import numpy as np
from scipy.linalg import solve_continuous_are

import gyrostat as gs
from gyrostat.control.wheels import wheel_pyramid

bodies = [
    gs.Body("bus", 100.0, inertia=(20.0, 25.0, 30.0)),
    gs.Body("upper", 10.0, (0.5, 0, 0), (0.1, 1, 1), gs.Joint("shoulder", parent="bus", position=(0.8, 0, 0.1))),
    gs.Body(
        "lower", 8.0, (0.4, 0, 0), (0.1, 1, 1), gs.Joint("elbow", parent="upper", position=(1, 0, 0), axis=(0, 1, 0))
    ),
    *wheel_pyramid("bus", 0.05),
]
craft = gs.Spacecraft.build("linear", bodies)
at = gs.neutral(craft)
at[7:9] = [0.4, 0.8]
still = np.zeros(craft.nv)
linear = gs.linearize(craft, at)

# attitude, joints, and their rates: position and wheel speeds follow
names = [f"base w{axis}" for axis in "xyz"] + ["shoulder", "elbow"]
keep = [linear.state(f"{name} ({unit})") for unit in ("rad", "rad/s") for name in names]
motors = craft.at(gs.Role.driven, gs.Role.wheel)  # joints and wheels
A_k, B_k = linear.A[np.ix_(keep, keep)], linear.B[np.ix_(keep, motors)]
Q = np.diag([4.0, 4, 4, 9, 9, 4, 4, 4, 4, 4])
R = np.diag([0.02, 0.02, 0.5, 0.5, 0.5, 0.5])
K = np.linalg.solve(R, B_k.T @ solve_continuous_are(A_k, B_k, Q, R))
poles = np.linalg.eigvals(A_k - B_k @ K)
print("closed-loop poles:", np.round(np.sort_complex(poles), 3))


def law(craft, t, q, v):
    """tau = -K x, x the tangent coordinates from `at`: [attitude error, joint errors, rates]."""
    dq = gs.configuration_difference(craft, at, q)
    x = np.concatenate([dq[:3], dq[6:8], v[:3], v[6:8]])
    u = -(K @ x)
    return np.concatenate([np.zeros(6), u])


off = np.concatenate([np.radians([4.0, -3.0, 5.0]), np.zeros(3), np.radians([6.0, -8.0]), np.zeros(4)])
run = gs.simulate(
    craft, gs.step_configuration(craft, at, off), still, (0, 60), control=law, mode="rotation-floating", rtol=1e-10
)
print(run)
left = gs.configuration_difference(craft, at, run.q[-1])
print(f"after 60 s: {np.degrees(abs(left[[0, 1, 2, 6, 7]]).max()):.1e} deg left of {np.degrees(abs(off).max()):.0f}")
