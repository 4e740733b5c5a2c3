"""# A closed loop

Two arms that hold one beam, a pantograph that deploys, a four-bar hinge: loops that a tree does not have. A constraint
closes them. Here four bars of unequal length hang on a free base; one crank is driven at a constant rate, the others
follow, and the base swings against them. The three hinge axes are parallel, so the last hinge is redundant: it is
recognised, and the loads are those of least norm.
"""

import numpy as np

import gyrostat as gs
from gyrostat import constraints

CRANK, COUPLER, ROCKER, GROUND = 0.3, 0.9, 0.7, 1.0  # m; Grashof's: the crank turns all the way round


def bar(name, mass, length, parent, place):
    inertia = (1e-3 * mass, mass * length**2 / 12, mass * length**2 / 12)
    joint = gs.Joint(f"{name}_hinge", "revolute", parent, place, axis=(0.0, 0.0, 1.0))
    return gs.Body(name, mass, (length / 2, 0.0, 0.0), inertia, joint)


craft = gs.Spacecraft.build(
    "four_bar",
    [
        gs.Body("base", 40.0, (0.3, 0.1, -0.05), (6.0, 7.0, 8.0)),
        bar("crank", 1.0, CRANK, "base", (0.0, 0.0, 0.0)),
        bar("coupler", 2.0, COUPLER, "crank", (CRANK, 0.0, 0.0)),
        bar("rocker", 1.5, ROCKER, "base", (GROUND, 0.0, 0.0)),
    ],
    frames=[
        gs.Frame("coupler_tip", "coupler", (COUPLER, 0.0, 0.0)),
        gs.Frame("rocker_tip", "rocker", (ROCKER, 0.0, 0.0)),
    ],
)

# A guess near the closed loop; `project` finds the closed one beside it, momentum unchanged.
RATE = 0.8  # rad/s
loop = constraints.revolute("coupler_tip", "rocker_tip", (0.0, 0.0, 1.0), name="last hinge")
turn = constraints.driven(constraints.angle("base", "crank", (0.0, 0.0, 1.0), name="motor"), lambda t: 0.5 + RATE * t)
q = craft.q({"crank_hinge": 0.5, "coupler_hinge": 0.3, "rocker_hinge": 1.7})
q, v = constraints.project(craft, 0.0, q, np.zeros(craft.nv), [loop, turn])
run = gs.simulate(craft, q, v, (0.0, 4 * np.pi / RATE), constraints=[loop, turn], rtol=1e-11)
print(run)


# The textbook's rocker angle, from the crank's alone (Freudenstein's equation), is what the simulation has.
def rocker(crank):
    x, y = GROUND - CRANK * np.cos(crank), -CRANK * np.sin(crank)
    diagonal = np.hypot(x, y)
    inner = np.arccos((diagonal**2 + ROCKER**2 - COUPLER**2) / (2 * diagonal * ROCKER))
    return np.pi - inner + np.arctan2(y, x)


seen = run.q[:, craft.joint_named("rocker_hinge").q_at].ravel()
theory = rocker(run.q[:, craft.joint_named("crank_hinge").q_at].ravel())
off = np.abs(np.angle(np.exp(1j * (seen - theory)))).max()
print(f"two turns of the crank: the rocker is where Freudenstein has it to {off:.1e} rad")

motor = np.linalg.norm(run.constraint_loads().on_second[:, 1, :3], axis=-1)  # of the second constraint
print(f"the motor's torque reaches {motor.max():.2f} N m; momentum is kept to {run.audit.linear:.0e}")
run.plot(what="joints").savefig("four_bar.png")
