"""# Your own URDF

Any URDF is read; what is odd in it is said, with its line. Here a small one is written first, a gripper on a
free-flying cube. Fixed joints are merged, and stay addressable as frames.
"""

from pathlib import Path

import numpy as np

import gyrostat as gs

URDF = """
<robot name="free_flyer">
  <link name="cube"><inertial><mass value="9.6"/>
    <inertia ixx="0.15" iyy="0.15" izz="0.16" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><geometry><box size="0.3 0.3 0.3"/></geometry></visual></link>
  <link name="arm"><inertial><origin xyz="0.1 0 0"/><mass value="0.4"/>
    <inertia ixx="0.0002" iyy="0.0015" izz="0.0015" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="camera"/>
  <joint name="shoulder" type="revolute"><parent link="cube"/><child link="arm"/>
    <origin xyz="0.15 0 0"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" effort="0.5" velocity="1"/></joint>
  <joint name="camera_mount" type="fixed"><parent link="arm"/><child link="camera"/><origin xyz="0.2 0 0"/></joint>
</robot>
"""
Path("free_flyer.urdf").write_text(URDF)

# First what the reader thinks of the file, each finding with its line. Nothing is dropped in silence.
for finding in gs.check("free_flyer.urdf").findings:  # errors, warnings and notes, each with its line
    print(finding.level, "|", finding)

# The base is free unless the file or you say otherwise: `gs.load(..., base="fixed")` puts it on a stand.
craft = gs.load("free_flyer.urdf")
q = gs.neutral(craft)

# What a millimetre of camera motion costs: the generalised Jacobian knows that the cube recoils, the ordinary one does
# not.
held = gs.jacobian(craft, q, "camera")[:, 6:]
floating = gs.generalized_jacobian(craft, q, "camera")
print("camera moves per rad of the shoulder:", np.linalg.norm(held[3:]), "m with the cube held,", end=" ")
print(np.linalg.norm(floating[3:]), "m floating")


# The motor turns the arm by a radian and stops it; the cube turns against it, and stands where the arm has left it.
def swing(craft, t, q, v):
    return gs.joint_torques(craft, {"shoulder": 3e-4 * gs.algebra.sin(np.pi / 5.0 * t)})


run = gs.simulate(craft, q, None, (0.0, 10.0), control=swing)
run.plot(what=["joints", "base"]).savefig("free_flyer.png")

# gyrostat's own format keeps everything, to the last bit.
gs.save(craft, "free_flyer.toml")
again = gs.load("free_flyer.toml")
