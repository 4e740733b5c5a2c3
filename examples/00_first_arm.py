"""# A first arm

The whole way once: load a spacecraft with an arm, ask it a few questions, drive two joints, look at the result.
The craft is a bundled one, a base of a ton and a half with six joints; any URDF, MJCF or TOML file will do as well.
"""

import numpy as np

import gyrostat as gs
from gyrostat import models

craft = gs.load(models.file("servicer"))  # or your own: gs.load("craft.urdf")
print(craft)

# A configuration is one array: attitude (quaternion, scalar first), position, then the joints.
q = gs.neutral(craft)
q[craft.joint_named("joint_2").q_at] = np.radians(60.0)
q[craft.joint_named("joint_3").q_at] = np.radians(-90.0)

print("mass", gs.total_mass(craft), "kg, centre of mass", gs.center_of_mass(craft, q).round(3), "m")
print("end effector at", gs.frame_pose(craft, q, "tool").p.round(3), "m")
print("mass matrix", gs.mass_matrix(craft, q).shape)


# A controller is a function of time and state that returns a load for every velocity: here a spring and a damper on two
# joints.
def hold(craft, t, q, v):
    return gs.joint_torques(craft, {"joint_1": -20.0 * (q[7] - 0.5) - 100.0 * v[6], "joint_2": 2.0 - 100.0 * v[7]})


# The law is compiled together with the dynamics and the integrator. What comes back is the run and its audit: how far
# momentum and energy are from where the laws of mechanics put them. Small numbers there mean that nothing was lost.
run = gs.simulate(craft, q, np.zeros(craft.nv), (0.0, 20.0), control=hold)
print(run)  # what was done, and how well momentum and energy were kept

# Joints on top, the base below: nothing pushes it from outside, and yet it turns and moves, against the arm.
run.plot(what=["joints", "base"]).savefig("first_arm.png")

# The run can be kept and read again, and looked at in three dimensions.
run.save("first_arm.nc")
run.to_html("first_arm.html")  # open it in a browser
