"""# A thousand dispersed runs

How well do we know where the base ends up, if the arm's masses are known to 5 % only? Initial states and parameters may
have a leading axis of runs: all of them are integrated at once, each on its own steps.
"""

import numpy as np

import gyrostat as gs
from gyrostat import models
from gyrostat.control.joint_motion import Waypoints
from gyrostat.control.joint_tracking import joint_computed_torque

RUNS = 1000
craft = models.servicer()
random = np.random.default_rng(7)
masses = {f"link_{k}.mass": craft.value(f"link_{k}.mass") * random.normal(1.0, 0.05, RUNS) for k in (2, 3, 4)}

# The law believes in the nominal craft; the runs do not have it.
names = [joint.name for joint in craft.joints[1:]]
paths = {
    name: Waypoints((15.0,), (np.radians(angle),)) for name, angle in zip(names, (60, 30, -60, 20, 0, 0), strict=True)
}
law = joint_computed_torque(paths, dict.fromkeys(names, 4.0), dict.fromkeys(names, 3.2), estimate=craft)

# One leading axis of q, and values for some masses: a thousand runs, compiled once.
q = np.broadcast_to(gs.neutral(craft), (RUNS, craft.nq))
run = gs.simulate(
    craft,
    q,
    np.zeros((RUNS, craft.nv)),
    (0.0, 20.0),
    control=law,
    parameters=masses,
    save_at=np.linspace(0, 20, 41),
    rtol=1e-8,
)
print(run)

# Where the base ends up, and how sure that is.
end = run.q[:, -1]
turned = np.degrees(2 * np.arccos(np.clip(np.abs(end[:, 0]), 0.0, 1.0)))
low, middle, high = np.quantile(turned, (0.05, 0.5, 0.95))
print(f"the base turns by {middle:.2f} deg; nine runs in ten end between {low:.2f} and {high:.2f} deg")
run.plot(what="base").savefig("dispersed.png")  # median, and a band with nine runs in ten
