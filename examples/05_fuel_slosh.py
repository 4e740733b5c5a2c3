"""# Fuel slosh

Liquid in a tank swings under thrust like a pendulum. With the pendulum's hinge in the centre of mass of the dry craft
(mass M), its length l and a thrust T through that point, it swings at

    w = sqrt(T / (M l))

whatever the mass of the fuel: heavier fuel accelerates less, but drags the craft along sideways just so much more.
"""

import numpy as np

import gyrostat as gs

M, FUEL, LENGTH, THRUST = 800.0, 200.0, 0.6, 400.0  # kg, kg, m, N
bodies = [
    gs.Body("craft", M, inertia=(300.0, 500.0, 500.0)),
    gs.Body("fuel", FUEL, (-LENGTH, 0.0, 0.0), joint=gs.Joint("slosh", "revolute", "craft", axis=(0.0, 0.0, 1.0))),
]
craft = gs.Spacecraft.build("tanker", bodies)
w = np.sqrt(THRUST / (M * LENGTH))
period = 2 * np.pi / w


# The thruster is outside the craft, so its force stands in the base's places of tau, and the audit names it as a cause.
def thrust(craft, t, q, v):
    return gs.joint_torques(craft, {"base": [0.0, 0.0, 0.0, THRUST, 0.0, 0.0]})


# A small swing to begin with; an event each time the fuel crosses the middle, in one direction.
q = gs.neutral(craft)
q[7] = np.radians(0.1)
crossing = gs.When(lambda craft, t, q, v: q[7], "crosses", direction=-1)
run = gs.simulate(craft, q, np.zeros(craft.nv), (0.0, 3.5 * period), control=thrust, events=[crossing])
print(run)
measured = np.mean(np.diff([event.t for event in run.events]))
print(f"period {measured:.6f} s; theory {period:.6f} s")
run.plot(what="joints").savefig("slosh.png")
