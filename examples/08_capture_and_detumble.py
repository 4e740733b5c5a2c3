"""# Capture and detumble

A servicer with wheels waits, its arm bent, while a tumbling client drifts towards its hand. When the grip is near
enough the hand closes. Velocities jump by an impulse inside the pair, so momentum is what it was and some energy is
lost. From then on both are one craft, whose wheels take the tumble.
"""

import numpy as np

import gyrostat as gs
from gyrostat import constraints, control, models, outcomes

servicer, client = models.servicer7(), gs.load("client")
both = gs.together("servicing", [servicer, client])

# The client turns about its grip, which comes straight at the hand at 1 cm/s from 5 cm away.
q_servicer = models.elbow_up(servicer)
hand = gs.frame_pose(servicer, q_servicer, "tool")
grip = gs.frame_pose(client, gs.neutral(client), "grip")
attitude = gs.algebra.exp_so3(np.array([0.2, -0.1, 0.3]))
approach = np.array([0.6, -0.64, -0.48])  # a unit vector, towards the hand
spin = np.array([0.010, -0.006, 0.015])  # rad/s, in the client's axes
place = gs.algebra.Pose(attitude, hand.p - 0.05 * approach - attitude @ grip.p)
motion = np.concatenate([spin, attitude.T @ (0.01 * approach) - np.cross(spin, grip.p)])
q, v = gs.joined_state(
    both,
    [
        (servicer, q_servicer, np.zeros(servicer.nv)),
        (client, client.q({"client_base": place}), client.v({"client_base": motion})),
    ],
)


# The hand closes when the grip is within two centimetres of it.
def gap(craft, t, q, v):
    apart = gs.frame_pose(craft, q, "grip").p - gs.frame_pose(craft, q, "tool").p
    return gs.algebra.norm(apart) - 0.02


# `attach` makes what the weld holds one tree: from then on the law of the servicer sees a craft with a heavy hand.
run = gs.simulate_phases(
    both,
    q,
    v,
    [
        gs.Phase(60.0, "wait", until=gap),
        gs.Phase(
            240.0,
            "take, and stop",
            grasp=[constraints.weld("tool", "grip", name="claw")],
            attach=["claw"],
            control=control.on("servicer7", control.detumble_by_wheels(rate=0.03, joint_damping=0.5)),
        ),
    ],
    rtol=1e-11,
    outcomes={"left": outcomes.last(outcomes.body_rate("client"))},
)
print(run)

# The impulse on the grip, what it cost, and what is left of the tumble.
torque_part, force_part = np.split(run["take, and stop"].capture.on_second[0], 2)
print(f"impulse on the grip: {np.linalg.norm(force_part):.3f} N s and {np.linalg.norm(torque_part):.3f} N m s")
print(f"the client turned at {np.degrees(np.linalg.norm(spin)):.2f} deg/s; now at", end=" ")
print(f"{np.degrees(float(run.trajectory.outcomes['left'])):.4f} deg/s, and the wheels hold its momentum")
run.trajectory.plot(what=["base", "wheels"]).savefig("capture.png")
run.trajectory.to_html("capture.html")
