"""# The free-floating surprise

Move two joints out, and back the same way: everything is where it was. Move them around a loop instead, and each joint
is back where it was, but the base has turned. Angular momentum is zero all the while; it is a constraint on rates that
cannot be integrated to one on positions. Spacecraft use this to turn without fuel, and planners trip over it.
"""

import numpy as np

import gyrostat as gs
from gyrostat import models
from gyrostat.simulation.floating import FloatingPose
from gyrostat.view.style import figure_style

craft = models.servicer()
start = gs.neutral(craft)
start[7:] = np.radians([0.0, 60.0, -90.0, 0.0, 0.0, 0.0])
first, second = np.radians([80.0, 0, 0, 0, 0, 0]), np.radians([0, 70.0, -60.0, 0, 0, 0])


def turned(q):
    """Angle between the attitude now and at the start, in degrees."""
    relative = gs.algebra.quat_multiply(gs.algebra.quat_conjugate(start[:4]), q[:4])
    return np.degrees(2 * np.arctan2(np.linalg.norm(relative[1:]), abs(relative[0])))


# First there and back: each joint returns by the way it came, and so does the base.
there_and_back = FloatingPose(craft, start)
for step in (first, second, -second, -first):
    there_and_back.move(step)
print(f"there and back: the base has turned by {turned(there_and_back.q):.1e} deg")

# Now around a loop: out by the first joint, then the second and third, back by the first, back by the others. Each leg
# is cut into twenty, to see how the base turns on the way.
loop, seen = FloatingPose(craft, start), [0.0]
for step in (first, second, -first, -second):
    for _ in range(20):
        loop.move(step / 20)
        seen.append(turned(loop.q))
print(
    f"around a loop:  the base has turned by {turned(loop.q):.2f} deg; the joints are back to "
    f"{abs(loop.q - start)[7:].max():.0e}"
)

# What linear momentum says is different: the centre of mass is where it was, by whatever way the joints went.
com_moved = np.linalg.norm(gs.center_of_mass(craft, loop.q) - gs.center_of_mass(craft, start))
print(f"the centre of mass moved by {com_moved:.0e} m: linear momentum *is* such a constraint on positions")

with figure_style():
    import matplotlib.pyplot as plt

    figure, at = plt.subplots(figsize=(8, 3.2), layout="constrained")
    at.plot(np.linspace(0, 4, len(seen)), seen)
    at.set(title="how far the base has turned, around the loop", ylabel="deg", xlabel="leg of the loop")
    at.set_xticks(range(5))
    figure.savefig("surprise.png", dpi=120)
