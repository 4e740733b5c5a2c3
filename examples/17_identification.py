"""# Identification with exact derivatives

The arm has grasped a payload; nobody knows its mass or where its centre of mass is. Joint torques are commanded, and
gyros and encoders tell how the craft moves. How each measurement answers to each unknown comes with the motion itself,
exactly and in the same compiled loop (`sensitivities=`), so that Gauss and Newton's method finds the unknowns in a few
runs; the same derivatives say how well they can be known before anything is measured.
"""

import numpy as np

import gyrostat as gs
from gyrostat import models
from gyrostat.view.style import figure_style

craft = models.servicer()
PAYLOAD = craft.bodies[-1].name
UNKNOWN = [f"{PAYLOAD}.mass", f"{PAYLOAD}.com"]
NOISE = 2e-5  # rad/s, of each rate that is measured


def shake(craft, t, q, v):
    """Smooth torques at different frequencies: a motion that shows what it should."""
    pushes = [(1.2 + 0.3 * k) * gs.algebra.sin((0.5 + 0.13 * k) * t + k) for k in range(6)]
    return np.concatenate([np.zeros(6), np.array(pushes) - 3.0 * v[6:]])


def fly(mass, com, **more):
    values = {UNKNOWN[0]: mass, UNKNOWN[1]: com}
    times = np.linspace(0.0, 30.0, 121)
    return gs.simulate(craft, control=shake, t_span=(0.0, 30.0), save_at=times, rtol=1e-9, parameters=values, **more)


# The truth, which nobody is told, and what is measured of it.
MEASURED = [0, 1, 2, *range(6, 12)]  # body rates by gyros, joint rates by encoders
true_mass, true_com = 27.0, np.array([0.22, -0.06, 0.11])
random = np.random.default_rng(5)
clean = fly(true_mass, true_com).v[:, MEASURED]
measured = clean + NOISE * random.normal(size=clean.shape)

# From the masses on the drawing on: a run with its derivatives, J; the correction that fits the measurements best.
guess, steps = np.array([craft.value(UNKNOWN[0]), *craft.value(UNKNOWN[1])]), []
for step in range(6):
    run = fly(guess[0], guess[1:], sensitivities=UNKNOWN)
    by_mass = run.sensitivity("v", UNKNOWN[0])[:, MEASURED]
    by_com = run.sensitivity("v", UNKNOWN[1])[:, MEASURED]
    J = np.concatenate([by_mass[..., None], by_com], axis=-1).reshape(-1, 4)
    left = (measured - run.v[:, MEASURED]).ravel()
    print(f"step {step}: {guess[0]:.4f} kg at {guess[1:].round(4)} m, residual {np.sqrt(np.mean(left**2)):.2e} rad/s")
    steps.append(abs(guess - [true_mass, *true_com]))
    correction = np.linalg.lstsq(J, left, rcond=None)[0]
    guess = guess + correction
    if abs(correction).max() < 1e-7:
        break

# How well: the covariance of the estimate, from the same derivatives. The true error lies within three sigma.
sigma = NOISE * np.sqrt(np.diag(np.linalg.inv(J.T @ J)))
error = guess - [true_mass, *true_com]
for name, unit, e, s in zip(["mass", "x", "y", "z"], ["kg", "m", "m", "m"], error, sigma, strict=True):
    print(f"{name:>4}: off by {e:+.1e} {unit}, expected {s:.1e} {unit}")

with figure_style():
    import matplotlib.pyplot as plt

    figure, at = plt.subplots(figsize=(8, 3.4), layout="constrained")
    for k, (name, unit) in enumerate(zip(["mass", "x", "y", "z"], ["kg", "m", "m", "m"], strict=True)):
        (line,) = at.semilogy([row[k] for row in steps], "o-", label=f"{name}, {unit}")
        at.axhline(sigma[k], linestyle=":", color=line.get_color(), linewidth=1.0)
    at.set(title="error of each unknown; dotted: what the noise leaves, one sigma", xlabel="step")
    at.set_xticks(range(len(steps)))
    at.yaxis.set_major_formatter("{x:.0e}")
    at.legend()
    figure.savefig("identification.png", dpi=120)
