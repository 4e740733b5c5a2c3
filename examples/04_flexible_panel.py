"""# A flexible panel

A solar panel bends. Cut it into rigid pieces joined by sprung hinges, k = E I / d for pieces of length d, and its
slowest vibration comes close to that of the beam, w = 1.8751^2 sqrt(E I / (mu L^4)), ever closer with more pieces.
This is the quick way, with nothing but joints; the tutorial on slewing two arrays has real flexible bodies.
"""

import numpy as np

import gyrostat as gs
from gyrostat.view.style import figure_style

LENGTH, MU, EI = 6.0, 2.0, 150.0  # m, kg/m, N m^2
beam = 1.8751040687**2 * np.sqrt(EI / (MU * LENGTH**4))


def panel(pieces, base="fixed"):
    """Pieces of equal length along y; half a piece before the first hinge,
    so that hinges sit in the middle of what they bend.
    """
    d = LENGTH / pieces
    mass = MU * d
    inertia = mass * d**2 / 12
    bodies = [gs.Body("bus", 500.0, inertia=(300.0, 300.0, 300.0), joint=gs.Joint("base", base))]
    for k in range(pieces):
        place = (0.0, d / 2 if k == 0 else d, 0.0)
        joint = gs.Joint(f"hinge_{k + 1}", "revolute", bodies[-1].name, place, axis=(1.0, 0.0, 0.0), stiffness=EI / d)
        long = d if k < pieces - 1 else d / 2
        own = mass * long / d
        bodies.append(gs.Body(f"piece_{k + 1}", own, (0.0, long / 2, 0.0), (own * long**2 / 12, 1e-6, inertia), joint))
    return gs.Spacecraft.build("panel", bodies)


def slowest(pieces):
    """Of the linear vibrations M x'' + K x = 0, rad/s."""
    craft = panel(pieces)
    M = gs.mass_matrix(craft, gs.neutral(craft))
    K = np.diag([joint.stiffness for joint in craft.joints[1:]])
    return np.sqrt(np.linalg.eigvals(np.linalg.solve(M, K)).real.min())


# Twice as many pieces, a quarter of the error.
for pieces in (2, 4, 8, 16):
    print(
        f"{pieces:3d} pieces: {slowest(pieces):.5f} rad/s, {100 * (slowest(pieces) / beam - 1):+.2f} % from the beam's "
        f"{beam:.5f}"
    )

# Now free the bus and let the bent panel go: it swings, the bus swings back, and nothing is lost.
craft = panel(8, base="free")
q = gs.neutral(craft)
q[7:] = np.radians(1.0)
run = gs.simulate(craft, q, np.zeros(craft.nv), (0.0, 30.0))
print(run)

with figure_style():
    import matplotlib.pyplot as plt

    figure, at = plt.subplots(figsize=(8, 3.2), layout="constrained")
    lean = np.degrees(run.q[:, 7:].sum(axis=1))  # all hinges together
    turn = np.degrees(2 * run.q[:, 1])  # of the bus about x, small
    at.plot(run.time, lean, label="the panel's tip, from the bus")
    at.plot(run.time, turn, label="the bus")
    at.set(title="the panel swings, the bus swings back", xlabel="s", ylabel="deg")
    at.legend()
    figure.savefig("panel.png", dpi=120)
