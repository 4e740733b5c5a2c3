"""# Monte Carlo, with an answer

The arm unfolds while the base floats, under a joint law that believes in the masses on the drawing. The requirement:
*the joints end within 0.5 degrees, in 99 % of all cases, with 95 % confidence.* Masses, inertias, the start and the
law's gain are known within limits only. A campaign draws them, flies each run in compiled code, keeps of each what was
asked for, and answers: met, not met, or not yet known.
"""

import numpy as np

import gyrostat as gs
from gyrostat import models, outcomes
from gyrostat.campaigns import added, direction, inertia, normal, scaled, uniform
from gyrostat.view.style import figure_style

craft = models.servicer()
goal = np.radians([40.0, 50.0, -70.0, 20.0, 30.0, 0.0])


def unfold(craft, t, q, v, gain):
    """Critically damped, by the inertia that the drawing's masses give the arm on its floating base."""
    M = gs.generalized_inertia(craft, q)
    return np.concatenate([np.zeros(6), M @ (gain**2 * (goal - q[7:]) - 2 * gain * v[6:])])


def miss(craft, t, q, v):
    return gs.algebra.norm(q[7:] - goal)


# What is kept of each run: three numbers, reduced in the compiled loop. No run is stored.
answers = {
    "miss": outcomes.last(miss, unit="rad"),
    "turned": outcomes.largest(outcomes.attitude_error()),
    "effort": outcomes.integral(outcomes.control_effort()),
}
# What is not known for certain.
spread = {
    "link_2.mass": scaled(normal(1.0, 0.05)),
    "link_3.mass": scaled(normal(1.0, 0.05)),
    "base.inertia": inertia(0.05),  # always that of a real body
    "rate:base": direction(uniform(0.0, 2e-4)),  # rad/s, about any axis
    "q0:joint_2": added(normal(0.0, 0.02)),  # rad
    "input:gain": uniform(0.35, 0.45),  # rad/s
}
found = gs.campaign(
    craft,
    spread,
    runs=2000,
    seed=11,
    t_span=(0.0, 30.0),
    control=unfold,
    rtol=1e-8,
    outcomes=answers,
    requirements=["miss < 0.5 deg in 99 % of runs, with 95 % confidence"],
)
print(found)

# What drives the answer, and the worst run once more, alone and with its history: the same run, bit for bit.
for driver in found.drivers("miss", 3):
    print(f"rank correlation of the miss with {driver.name}: {driver.correlation:+.2f}")
k, value = found.worst("miss", 1)[0]
alone = found.case(k)
print(
    f"run {k} is the worst, {np.degrees(value):.2f} deg; flown again: {np.degrees(alone.outcomes['miss'][0]):.2f} deg"
)

# Histories of a few runs, made once more, and where all of them end.
with figure_style():
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
    some = found.histories([*range(30), k], save_at=np.linspace(0.0, 30.0, 121))
    missed = np.degrees(np.linalg.norm(some.q[..., 7:] - goal, axis=-1))
    left.semilogy(some.time, missed[:-1].T, color="#9aa5b1", linewidth=0.8)
    left.semilogy(some.time, missed[-1], color="#ef4444", label=f"run {k}, the worst")
    left.axhline(0.5, linestyle=":", color="#1f2933", label="asked for at the end")
    left.set(title="how far from the goal", xlabel="s", ylabel="deg")
    left.yaxis.set_major_formatter("{x:g}")
    left.legend()
    right.hist(np.degrees(found.outcomes["miss"]), bins=50)
    right.axvline(0.5, linestyle=":", color="#1f2933")
    right.set(title=f"{len(found.outcomes['miss'])} runs", xlabel="miss at the end, deg", ylabel="runs")
    figure.savefig("campaign.png", dpi=120)
