"""# Wheels against the arm

An arm that moves turns the base under it. Reaction wheels can hold the attitude, if they are told what the arm does:
the law below commands joint *and* base accelerations, and the wheels get whatever torque that takes (mode
"rotation-floating"). Wheels that see only the attitude error chase it; and wheels have limits: the same slew in half
the time asks for more than they can give, which the run reports and does not hide. Either way the torque is internal:
linear momentum, and angular momentum with the wheels included, stay what they were, and the run says so.
"""

import numpy as np

import gyrostat as gs
from gyrostat import control, models
from gyrostat.models import elbow_up
from gyrostat.view.style import figure_style

craft = models.servicer7()
start = elbow_up(craft)
there = start[7:14] + np.radians([80, 30, 0, -40, 0, 30, 0])


def arm(duration):
    """Joint accelerations that bring the arm there in so many seconds."""
    return control.joint_acceleration(control.joint_path(start[7:14], there, control.MinimumJerk(duration)))


upright = control.pose_reference(start[:4])


def turned(run):
    """Angle of the base from where it was, in degrees, over time."""
    return np.degrees(np.linalg.norm(control.attitude_error(run.q[:, :4], start[:4]), axis=-1))


# Four ways: wheels that know what the arm does, the same in half the time, wheels that see the error alone, none.
laws = {
    "wheels that know the arm": ("rotation-floating", control.wheel_attitude(lambda t: upright, arm(30.0))),
    "the same, too fast": ("rotation-floating", control.wheel_attitude(lambda t: upright, arm(15.0))),
    "wheels that see the error": (
        "rotation-floating",
        control.wheel_attitude(
            lambda t: upright, arm(30.0), feed_forward=False, inertia=gs.mass_matrix(craft, start)[:3, :3]
        ),
    ),
    "no wheels": (
        "floating",
        lambda craft, t, q, v: control.commanded_loads(craft, q, v, "floating", joints=arm(30.0)(craft, t, q, v)).tau,
    ),
}
runs = {}
for name, (mode, law) in laws.items():
    runs[name] = gs.simulate(
        craft, start, np.zeros(craft.nv), (0, 40), control=law, mode=mode, actuators=gs.Actuators()
    )
    print(f"{name}: the base turns by up to {turned(runs[name]).max():.2g} deg\n{runs[name]}\n")

# Fed forward, the base stays where it is to round-off, until a wheel saturates.
with figure_style():
    import matplotlib.pyplot as plt

    figure, (above, below) = plt.subplots(2, 1, sharex=True, figsize=(8, 6), layout="constrained")
    for name, run in runs.items():
        above.semilogy(run.time, np.maximum(turned(run), 1e-10), label=name)
    above.set(title="attitude error", ylabel="deg")
    above.yaxis.set_major_formatter("{x:.0e}")
    above.legend()
    below.plot(runs["wheels that know the arm"].time, runs["wheels that know the arm"].v[:, -4:] * 60 / (2 * np.pi))
    below.set(title="wheel speeds, fed forward", ylabel="rpm", xlabel="s")
    figure.savefig("wheels_against_the_arm.png", dpi=120)
