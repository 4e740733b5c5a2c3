"""# A tumbling target

A dead satellite that spins about its middle axis turns over, again and again, with nothing acting on it. Theory knows
how often: for moments A < B < C, angular momentum h and energy T,

    period = 4 K(m) / sqrt((C - B)(h^2 - 2 A T) / (A B C)),     m = (B - A)(2 C T - h^2) / ((C - B)(h^2 - 2 A T))

with the complete elliptic integral K (if h^2 > 2 B T; else A and C change places).
A rendezvous has to be there at the right time.
"""

import numpy as np
from scipy.special import ellipk

import gyrostat as gs
from gyrostat.view.style import figure_style

A, B, C = 400.0, 900.0, 1100.0  # kg m^2
craft = gs.Spacecraft.build("target", [gs.Body("hull", 1500.0, inertia=(A, B, C))])
v = np.array([1e-4, np.radians(5.0), 1e-3, 0.0, 0.0, 0.0])  # nearly all about the middle axis

# What theory says.
h2 = (A * v[0]) ** 2 + (B * v[1]) ** 2 + (C * v[2]) ** 2
T2 = A * v[0] ** 2 + B * v[1] ** 2 + C * v[2] ** 2
a, c = (A, C) if h2 > B * T2 else (C, A)
m = (B - a) * (c * T2 - h2) / ((c - B) * (h2 - a * T2))
period = 4 * ellipk(m) / np.sqrt((c - B) * (h2 - a * T2) / (a * B * c))

# What the simulation finds: an event each time the rate about the middle axis changes its sign.
run = gs.simulate(
    craft, gs.neutral(craft), v, (0.0, period), events=[gs.When(lambda craft, t, q, v: v[1], "turns over")]
)
print(run)
for event in run.events:
    print(f"it {event.name} at {event.t:.2f} s")
print(
    f"theory: every {period / 2:.2f} s; after {period:.2f} s it spins as at the start, to "
    f"{abs(run.v[-1] - v).max():.0e} rad/s"
)
flips = np.diff([event.t for event in run.events])

# Angular velocity in the body's own axes: minutes of quiet, then it is over in seconds.
with figure_style():
    import matplotlib.pyplot as plt

    figure, at = plt.subplots(figsize=(8, 3.2), layout="constrained")
    at.plot(run.time, np.degrees(run.v[:, :3]), label=["small moment", "middle", "large"])
    at.set(title="angular velocity, in the body's axes", xlabel="s", ylabel="deg/s")
    at.legend()
    figure.savefig("tumbling_target.png", dpi=120)
run.to_html("tumbling_target.html")
