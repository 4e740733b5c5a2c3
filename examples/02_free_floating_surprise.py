"""# The free-floating surprise

Move two joints out, and back the same way: everything is where it was. Move them around a loop instead, and each joint
is back where it was, but the base has turned. Angular momentum is zero all the while; it is a constraint on rates that
cannot be integrated to one on positions. Spacecraft use this to turn without fuel, and planners trip over it.
"""

import numpy as np

import gyrostat as gs
from gyrostat import models
from gyrostat.simulation.floating import FloatingPose

craft = models.servicer()
start = gs.neutral(craft)
start[7:] = np.radians([0.0, 60.0, -90.0, 0.0, 0.0, 0.0])
first, second = np.radians([80.0, 0, 0, 0, 0, 0]), np.radians([0, 70.0, -60.0, 0, 0, 0])


def turned(q):
    """Angle between the attitude now and at the start, in degrees."""
    relative = gs.algebra.quat_multiply(gs.algebra.quat_conjugate(start[:4]), q[:4])
    return np.degrees(2 * np.arctan2(np.linalg.norm(relative[1:]), abs(relative[0])))


there_and_back = FloatingPose(craft, start)
for step in (first, second, -second, -first):
    there_and_back.move(step)
print(f"there and back: the base has turned by {turned(there_and_back.q):.1e} deg")

loop = FloatingPose(craft, start)
for step in (first, second, -first, -second):
    loop.move(step)
print(
    f"around a loop:  the base has turned by {turned(loop.q):.2f} deg; the joints are back to "
    f"{abs(loop.q - start)[7:].max():.0e}"
)

com_moved = np.linalg.norm(gs.center_of_mass(craft, loop.q) - gs.center_of_mass(craft, start))
print(f"the centre of mass moved by {com_moved:.0e} m: linear momentum *is* such a constraint on positions")
