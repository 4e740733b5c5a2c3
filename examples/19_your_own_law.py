"""# Your own law, traced

A law is a function of (craft, t, q, v) that returns a load for every velocity. Write it in NumPy; it is called once
with symbols, and what it did is compiled with the dynamics. Here one keeps the hand where it is in space while the base
drifts and turns: with the generalised Jacobian, damped where the arm is nearly singular. Then the law is tried with a
thousand stiffnesses at once, and asked for its derivative.
"""

import numpy as np

import gyrostat as gs
from gyrostat import models
from gyrostat.view.style import figure_style

craft = models.servicer()
start = craft.q({f"joint_{k}": angle for k, angle in enumerate(np.radians([20.0, 50.0, -80.0, 15.0, 40.0, 0.0]), 1)})
HELD = gs.frame_pose(craft, start, "tool").p


# Loops, matrices, `solve_spd`: what stands here is compiled. Only branches on values must be written as `where`.
def hold_the_hand(craft, t, q, v, stiffness):
    """Joint torques that pull the tool's point back to HELD, as a spring and a damper in space would."""
    J = gs.generalized_jacobian(craft, q, "tool")[3:]  # of the point's velocity, by the joints alone
    point = gs.frame_pose(craft, q, "tool").p
    velocity = (gs.jacobian(craft, q, "tool") @ v)[3:]  # the base's part too
    inertia = gs.algebra.solve_spd(
        J @ gs.algebra.solve_spd(gs.generalized_inertia(craft, q), J.T) + 1e-6 * np.eye(3), np.eye(3)
    )
    wanted = stiffness * (HELD - point) - 2.0 * gs.algebra.sqrt(stiffness) * velocity
    return np.concatenate([np.zeros(6), J.T @ inertia @ wanted - 2.0 * v[6:]])


# Called with numbers it is plain Python, to be stepped through with a debugger; traced it is machine code.
nudge = np.zeros(craft.nv)
nudge[:6] = [0.01, -0.006, 0.008, 0.004, 0.0, -0.003]  # the base turns and drifts
print("torques now:", hold_the_hand(craft, 0.0, start, nudge, 4.0)[6:].round(3), "N m")
free = gs.simulate(craft, start, nudge, (0.0, 20.0))
held = gs.simulate(craft, start, nudge, (0.0, 20.0), control=hold_the_hand, inputs={"stiffness": 4.0})
print(held)


def moved(run):
    """How far the hand is from where it was at the end, in mm."""
    return 1e3 * np.linalg.norm(gs.frame_pose(craft, run.q[-1], "tool").p - HELD)


print(f"after 20 s the hand has moved {moved(free):.1f} mm without the law, {moved(held):.1f} mm with it")

# Many at once, each with its own stiffness, and how the end answers to it.
tried = {"stiffness": np.linspace(0.5, 8.0, 1000)}
starts, ends = np.tile(start, (1000, 1)), [20.0]
many = gs.simulate(craft, starts, nudge, (0.0, 20.0), control=hold_the_hand, inputs=tried, rtol=1e-8, save_at=ends)
hand = gs.compile(lambda craft, q: gs.frame_pose(craft, q, "tool").p, craft)(many.q[:, -1])
left_over = 1e3 * np.linalg.norm(hand - HELD, axis=1)
print(f"stiffness 0.5, 2 and 8 per s^2 leave {left_over[0]:.1f}, {left_over[200]:.1f} and {left_over[-1]:.1f} mm")
# And how the end answers to the stiffness, exactly, from one run.
by = gs.simulate(
    craft,
    start,
    nudge,
    (0.0, 20.0),
    control=hold_the_hand,
    inputs={"stiffness": 4.0},
    sensitivities=["input:stiffness"],
)
slope = by.sensitivity("tool", "input:stiffness").position[-1]
print("the hand's place at the end, by the stiffness:", (1e3 * slope).round(3), "mm for each 1/s^2")

# What cannot be compiled still runs, from Python at each step, and a warning says at which line and how much slower.
with figure_style():
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.4), layout="constrained")
    for label, run in (("without the law", free), ("with it", held)):
        left.plot(run.time, 1e3 * np.linalg.norm(run.frame("tool")[1] - HELD, axis=1), label=label)
    left.set(title="the hand, from where it was", xlabel="s", ylabel="mm")
    left.legend()
    right.plot(tried["stiffness"], left_over)
    right.set(title="a thousand stiffnesses", xlabel="1/s²", ylabel="mm left after 20 s")
    figure.savefig("own_law.png", dpi=120)
