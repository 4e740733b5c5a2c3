"""# Linear design

`gs.linearize` gives the exact A and B of everything that `gs.simulate` would take into account, in tangent coordinates,
so that linear tools apply: here python-control chooses gains for base attitude, wheels and arm together
(`pip install 'gyrostat[control]'`). The loop that they close is then run on the nonlinear craft. The only
modes that a controller without thrusters cannot move are those of the conserved momentum; they are taken out first.
"""

import control as ct
import numpy as np

import gyrostat as gs
from gyrostat.control.wheels import wheel_pyramid
from gyrostat.view.style import figure_style

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
plant = linear.to_control()  # python-control's StateSpace, with our names of states, inputs and outputs
print(f"{plant.nstates} states, {plant.ninputs} inputs; the first: {plant.state_labels[0]}, {plant.input_labels[0]}")

# Attitude, joints, and their rates are what the law looks at; position and wheel speeds follow from them.
names = [f"base w{axis}" for axis in "xyz"] + ["shoulder", "elbow"]
keep = [linear.state(f"{name} ({unit})") for unit in ("rad", "rad/s") for name in names]
motors = craft.at(gs.Role.driven, gs.Role.wheel)  # joints and wheels
A_k, B_k = linear.A[np.ix_(keep, keep)], linear.B[np.ix_(keep, motors)]
Q = np.diag([4.0, 4, 4, 9, 9, 4, 4, 4, 4, 4])
R = np.diag([0.02, 0.02, 0.5, 0.5, 0.5, 0.5])
K, _, poles = ct.lqr(A_k, B_k, Q, R)
print("closed-loop poles:", np.round(np.sort_complex(poles), 3))
closed = ct.ss(A_k - B_k @ K, np.eye(10), np.eye(10), 0)


def law(craft, t, q, v):
    """tau = -K x, x the tangent coordinates from `at`: [attitude error, joint errors, rates]."""
    dq = gs.configuration_difference(craft, at, q)
    x = np.concatenate([dq[:3], dq[6:8], v[:3], v[6:8]])
    u = -(K @ x)
    return np.concatenate([np.zeros(6), u])


# Eight degrees off is no small angle; the loop is closed on the craft itself, not on A and B.
off = np.concatenate([np.radians([4.0, -3.0, 5.0]), np.zeros(3), np.radians([6.0, -8.0]), np.zeros(4)])
run = gs.simulate(
    craft, gs.step_configuration(craft, at, off), still, (0, 60), control=law, mode="rotation-floating", rtol=1e-10
)
print(run)
left = gs.configuration_difference(craft, at, run.q[-1])
print(f"after 60 s: {np.degrees(abs(left[[0, 1, 2, 6, 7]]).max()):.1e} deg left of {np.degrees(abs(off).max()):.0f}")

# How the linear model says that it goes, and how it does: they part by what is left out at this size of angles.
times = run.time[run.time <= 20.0]
first = np.concatenate([off[[0, 1, 2, 6, 7]], np.zeros(5)])
said = ct.initial_response(closed, times, first).outputs
done = np.array([gs.configuration_difference(craft, at, q)[[0, 1, 2, 6, 7]] for q in run.q[: len(times)]]).T
with figure_style():
    import matplotlib.pyplot as plt

    figure, plot = plt.subplots(figsize=(8, 3.6), layout="constrained")
    for k, name in enumerate(["x", "y", "z", "shoulder", "elbow"]):
        (line,) = plot.plot(times, np.degrees(done[k]), label=name)
        plot.plot(times, np.degrees(said[k]), "--", color=line.get_color(), linewidth=1.0)
    plot.set(title="back from eight degrees off; dashed: the linear model", xlabel="s", ylabel="deg")
    plot.legend()
    figure.savefig("linear_design.png", dpi=120)
