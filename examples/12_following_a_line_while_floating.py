"""# Following a line while floating

Joint rates that would draw a line if the base stood still do not draw it when the base gives way. The generalised
Jacobian J* knows how it gives way. Both laws below are open loop: neither sees the end effector. With J* the tool
follows a metre of line to a fraction of a millimetre; with the fixed-base Jacobian it ends decimetres beside it.
"""

import numpy as np

import gyrostat as gs
from gyrostat import control, models
from gyrostat.models import elbow_up
from gyrostat.view.style import figure_style

craft = models.servicer7()
start = elbow_up(craft)
tool = gs.frame_pose(craft, start, "tool")
line = control.line(tool, tool.p + np.array([-0.6, 0.8, 0.0]), control.MinimumJerk(20.0))
task = control.Task("tool")

# The same law twice; `base_moves=False` makes it believe in a base that stands still.
runs = {
    name: gs.simulate(
        craft,
        start,
        np.zeros(craft.nv),
        (0, 20),
        control=control.resolved_rate(line, task, base_moves=moves),
        mode="floating",
    )
    for name, moves in (("generalised Jacobian", True), ("fixed-base Jacobian", False))
}
wanted = np.array([line(t).X.p for t in runs["generalised Jacobian"].time])
misses = {name: np.linalg.norm(run.frame("tool")[1] - wanted, axis=1) for name, run in runs.items()}
for name, run in runs.items():
    print(f"{name}: at most {1e3 * misses[name].max():.3g} mm beside the line\n{run}")
    print(control.singularity_report(craft, run.time, run.q, run.v, task), "\n")

with figure_style():
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
    left.plot(wanted[:, 0], wanted[:, 1], "k:", linewidth=3, label="wanted")
    for name, run in runs.items():
        p = run.frame("tool")[1]
        left.plot(p[:, 0], p[:, 1], label=name)
        right.semilogy(run.time, np.maximum(1e3 * misses[name], 1e-10), label=name)
    left.set(title="the tool's path", xlabel="x, m", ylabel="y, m", aspect="equal")
    left.legend()
    right.axhline(1.0, color="grey", linewidth=0.8)
    right.set(title="distance from the line", xlabel="s", ylabel="mm")
    right.yaxis.set_major_formatter("{x:.0e}")
    right.legend()
    figure.savefig("line_while_floating.png", dpi=120)
