"""# A formation in low orbit

Six small satellites circle a seventh at 300 m, as seen from it, without any thrust: each is on an orbit of its own, of
the same period. Over a sphere the pattern closes. The oblate Earth pulls it apart, slowly; two impulses bring one
member home to 50 m.
"""

import numpy as np

import gyrostat as gs
from gyrostat.control.transfers import two_impulses
from gyrostat.environment import Orbit, bounded_velocity, combined, two_body_gravity, zonal_gravity
from gyrostat.formation import Formation, Group, simulate_impulses
from gyrostat.view.style import figure_style

orbit = Orbit.circular(altitude=550e3, inclination=np.radians(53.0))
cube = gs.Spacecraft.build("cube", [gs.Body("hull", 12.0, inertia=(0.2, 0.2, 0.1))])
names = [f"cube {k}" for k in range(7)]
formation = Formation({"cubes": Group(cube, names)}, orbit=orbit)

# In the Hill frame (x radial, y along-track, z normal): a circle as seen from above, tilted so that it stays one.
start = {"cube 0": (np.zeros(3), np.zeros(3))}
for k, name in enumerate(names[1:]):
    a = 2 * np.pi * k / 6
    rho = 300.0 * np.array([0.5 * np.sin(a), np.cos(a), np.sin(a)])
    rhodot = 300.0 * orbit.n * np.array([0.5 * np.cos(a), -np.sin(a), np.cos(a)])
    start[name] = (rho, bounded_velocity(orbit, 0.0, rho, rhodot))
state = formation.hill_state(start)

# Three orbits, over a sphere and over the oblate Earth.
sphere = two_body_gravity(orbit)
times = np.linspace(0.0, 3 * orbit.period, 301)
for title, environment in (("a sphere", sphere), ("the oblate Earth", combined(sphere, zonal_gravity(orbit)))):
    run = gs.simulate(formation, state, (0.0, times[-1]), environment=environment, save_at=times, rtol=1e-11)
    miss = [np.linalg.norm(np.ptp(run.hill(n, about="cube 0")[0][::100], axis=0)) for n in names[1:]]
    print(f"over {title}: after three orbits members are {min(miss):.2g} to {max(miss):.2g} m from where they were")

# One of them comes near: the impulses are exact for the true motion, not for the linear model alone.
goal = np.array([0.0, -50.0, 0.0])
burns = two_impulses(orbit, 0.0, 2000.0, start["cube 1"], (goal, np.zeros(3)))
run = simulate_impulses(
    formation,
    state,
    (0.0, 2010.0),
    {"cube 1": burns},
    environment=sphere,
    save_at=np.linspace(0, 2010, 202),
    rtol=1e-11,
)
rho, _ = run.hill("cube 1", about="cube 0")
near = run.closest_approach()
print(f"cube 1 moves from {np.linalg.norm(rho[0]):.0f} m to {np.linalg.norm(rho[-1]):.3f} m with", end=" ")
print(f"{sum(np.linalg.norm(burn.dv_H) for burn in burns):.3f} m/s; nobody comes nearer than {near.distance:.0f} m")

# The pattern from above, in the Hill frame, and the way of the one that comes home.
with figure_style():
    import matplotlib.pyplot as plt

    figure, at = plt.subplots(figsize=(7, 4.2), layout="constrained")
    for name in names[1:]:
        way = run.hill(name, about="cube 0")[0]
        at.plot(way[:, 1], way[:, 0], label=name)
        at.plot(way[-1, 1], way[-1, 0], "o", color=at.lines[-1].get_color(), markersize=5)
    at.plot(0, 0, "k+", markersize=9)
    at.set(title="a third of an orbit, seen from cube 0", xlabel="along-track, m", ylabel="radial, m", aspect="equal")
    at.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    figure.savefig("formation.png", dpi=120)
run.to_html("formation.html")  # all of them, in the Hill frame
