"""# Moving the arm without moving the base

Seven joints, and three numbers (the base's angular velocity) to keep at zero: four dimensions of joint motion are left
that do not turn the base at all, its *reaction null space*. No wheels, no thrusters. The arm goes as far towards a
wished pose as it can that way. Driven to the same end along a straight line in joint space,
it turns the base on the way.
"""

import numpy as np

import gyrostat as gs
from gyrostat import control, models
from gyrostat.models import elbow_up
from gyrostat.view.style import figure_style

craft = models.servicer7()
start = elbow_up(craft)
wish = start[7:14] + np.array([1.2, -1.0, 1.6, -1.2, 2.0, 1.0, -1.0])


def turned(run):
    """Angle of the base from where it was, in rad, over time."""
    return np.linalg.norm(control.attitude_error(run.q[:, :4], start[:4]), axis=-1)


# In the reaction null space: towards the wish, as far as that goes without turning the base.
quiet = gs.simulate(
    craft,
    start,
    np.zeros(craft.nv),
    (0, 80),
    control=control.reactionless(control.towards(wish, 0.3, 0.3)),
    mode="floating",
)
moved = quiet.q[-1, 7:14] - start[7:14]
print(f"the arm moved by up to {abs(moved).max():.2f} rad, the base by {turned(quiet).max():.1e} rad\n{quiet}\n")

# To the same joint angles by the straight way, for comparison.
arm = control.joint_acceleration(control.joint_path(start[7:14], quiet.q[-1, 7:14], control.MinimumJerk(80.0)))
plain = gs.simulate(
    craft,
    start,
    np.zeros(craft.nv),
    (0, 80),
    control=lambda craft, t, q, v: control.commanded_loads(craft, q, v, "floating", joints=arm(craft, t, q, v)).tau,
    mode="floating",
)
print(f"straight to the same joint angles: the base turned by up to {turned(plain).max():.1e} rad on the way")

with figure_style():
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    left.plot(quiet.time, quiet.q[:, 7:14] - start[7:14], label=[j.name for j in craft.joints[1:8]])
    left.set(title="what the arm does, without reaction", xlabel="s", ylabel="rad", ylim=(-1.3, 3.0))
    left.legend(ncols=2)
    for name, run in (("in the reaction null space", quiet), ("straight in joint space", plain)):
        right.semilogy(run.time, np.maximum(turned(run), 1e-14), label=name)
    right.set(title="how far the base turns", xlabel="s", ylabel="rad")
    right.yaxis.set_major_formatter("{x:.0e}")
    right.legend()
    figure.savefig("reaction_null_space.png", dpi=120)
