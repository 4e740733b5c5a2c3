"""What Valverde & Tsiotras (2018) print: section 4 and tables 3 to 5, as they stand there,
and what was built in their place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...algebra import Array, Pose, dual_inertia, rotation_about
from ...formulations.common.joint_maps import joint_map
from ...model import Joint, Spacecraft
from ..checks import Check
from ..serial_chain import Link
from ..tables import Entry, agreement, plain_joints
from .crafts import torques

if TYPE_CHECKING:
    from ...simulation import Trajectory

# Section 4: M of bodies 1 to 4, diag(1, m, m, m, 1, Ixx, Iyy, Izz) in kg and kg m^2
DUAL_INERTIAS = {
    "base": (1, 10, 10, 10, 1, 50, 50, 50),
    "link_1": (1, 5, 5, 5, 1, 2, 2, 1),
    "link_2": (1, 5, 5, 5, 1, 1, 2, 2),
    "link_3": (1, 5, 5, 5, 1, 1, 2, 2),
}
# Section 4: from a body's centre of mass to a joint (or the end effector) on it, in its axes, m
OFFSETS = {
    ("base", "joint_1"): (0, 0, 2.0),
    ("link_1", "joint_1"): (0, 0, -1.5),
    ("link_1", "joint_2"): (0, 0, 1.5),
    ("link_2", "joint_2"): (-1.5, 0, 0),
    ("link_2", "joint_3"): (1.5, 0, 0),
    ("link_3", "joint_3"): (-1.5, 0, 0),
    ("link_3", "end_effector"): (1.5, 0, 0),
}
# (78): amplitude sin(t - phase) while start < t < stop, in N m (printed N) and s, about z of joints 1 to 3
TORQUES = ((0.5, 2, 2, 5), (0.5, 10, 10, 12), (0.5, 20, 20, 22))
FINAL_TIME, ABSOLUTE_TOLERANCE = 70, 1e-14
# Appendix: arms, links of each, joint types of each
TWO_ARMS = (2, 5, 3)
# Not printed: orientation of joint 2 about x, degrees
ASSUMED_TILTS = {"A": 90.0, "B": 0.0, "C": -90.0}
# Table 3: degrees of freedom; tables 4 and 5: rows deleted from the unit matrix of eight for V, Lambda, V_act. The
# columns of the cylinder's V_act are printed [f_z, tau_z]; its coordinates of table 3 are [theta, z], and so are our
# loads.
JOINTS = {
    "revolute": (1, (1, 5, 8), (1, 4, 5), (1, 2, 3, 4, 5, 6, 7)),
    "prismatic": (1, (1, 4, 5), (1, 5, 8), (1, 2, 3, 5, 6, 7, 8)),
    "spherical": (3, (1, 5, 6, 7, 8), (1, 2, 3, 4, 5), (1, 2, 3, 4, 5)),
    "cylindrical": (2, (1, 4, 5, 8), (1, 4, 5, 8), (1, 2, 3, 5, 6, 7)),
    "cartesian": (3, (1, 2, 3, 4, 5), (1, 5, 6, 7, 8), (1, 5, 6, 7, 8)),
}


def chain(variant: str) -> list[Link]:
    """The arm of section 4 from the numbers above alone."""
    tilts = {"joint_1": 0.0, "joint_2": ASSUMED_TILTS[variant], "joint_3": 0.0}
    links = [Link(DUAL_INERTIAS["base"][1], np.array(DUAL_INERTIAS["base"][5:]))]
    for k, (joint, tilt) in enumerate(tilts.items(), start=1):
        before, after = ("base" if k == 1 else f"link_{k - 1}"), f"link_{k}"
        to_joint = Pose(
            rotation_about(np.array([1.0, 0.0, 0.0]), np.radians(tilt)), np.array(OFFSETS[before, joint], dtype=float)
        )
        to_com = Pose(np.eye(3), -np.array(OFFSETS[after, joint], dtype=float))
        diagonal = DUAL_INERTIAS[after]
        links.append(Link(diagonal[1], np.array(diagonal[5:]), to_joint, to_com))
    return links


def craft_checks(craft: Spacecraft, variant: str) -> list[Check]:
    """The craft of section 4 against what is printed, and against what was assumed where nothing is."""
    inertias = [
        Entry(f"M of {name}", np.diag(printed), dual_inertia(craft.body(name).mass, craft.body(name).inertia))
        for name, printed in DUAL_INERTIAS.items()
    ]
    offsets = [
        Entry(f"{body} to {joint}", printed, _offset(craft, body, joint)) for (body, joint), printed in OFFSETS.items()
    ]
    assumed = [Entry("base, centre of mass", np.zeros(3), craft.body("base").com)]
    for name, tilt in (("joint_1", 0.0), ("joint_2", ASSUMED_TILTS[variant]), ("joint_3", 0.0)):
        turned = rotation_about(np.array([1.0, 0.0, 0.0]), np.radians(tilt))
        assumed.append(Entry(f"{name}, orientation", turned, craft.joint_named(name).rotation))
    return [
        agreement("section 4: masses and inertias", inertias),
        agreement("section 4: geometry", offsets),
        agreement("section 4: revolute joints about z, nothing else in them", plain_joints(craft, "revolute")),
        agreement("frames", assumed, "as assumed: not in the paper"),
    ]


def _offset(craft: Spacecraft, body: str, joint: str) -> Array:
    """From the body's centre of mass to a joint or frame on it."""
    com = craft.body(body).com
    if joint == "end_effector":
        return craft.locate(joint)[1].p - com
    found = craft.joint_named(joint)
    return found.position - com if found.parent == body else -com


def run_checks(traj: Trajectory) -> list[Check]:
    """Loads and duration of a run against (77), (78) and section 4."""
    loads = []
    for t in np.union1d(traj.time, np.arange(0.0, FINAL_TIME, 0.05)):
        printed = np.zeros(9)
        for k, (amplitude, phase, start, stop) in enumerate(TORQUES):
            printed[6 + k] = amplitude * np.sin(t - phase) if start <= t < stop else 0.0
        loads.append(Entry(f"loads at {t:g} s", printed, torques(traj.craft, t, traj.q[0], traj.v[0])))
    settings = [
        Entry("final time", FINAL_TIME, traj.time[-1]),
        Entry("absolute tolerance", ABSOLUTE_TOLERANCE / 1e-14, traj.data.attrs["atol"] / 1e-14),
    ]
    return [agreement("(77), (78): loads over time", loads), agreement("section 4: how it was run", settings)]


def joint_checks() -> list[Check]:
    """Tables 3, 4 and 5 against the matrices used for each kind of joint."""
    entries = []
    for kind, (freedom, no_reaction, free, no_load) in JOINTS.items():
        joint = Joint("j", kind, q_at=slice(0, 7))
        maps = joint_map(joint, np.concatenate([joint.motion.neutral(), np.zeros(7)])[: joint.nq])
        V_act = _kept(no_load)[::-1].T if kind == "cylindrical" else _kept(no_load).T
        entries += [
            Entry(f"table 3, {kind}: degrees of freedom", freedom, joint.nv),
            Entry(f"table 4, {kind}: V", _kept(no_reaction).T, maps.V),
            Entry(f"table 4, {kind}: Lambda", _kept(free), maps.Lambda),
            Entry(f"table 5, {kind}: V_act", V_act, maps.V_act),
        ]
    return [agreement("tables 3 to 5: R, P, S, C, U", entries)]


def appendix_layout_check(craft: Spacecraft) -> Check:
    """The appendix's craft: how many arms, of how many links, with how many types of joints."""
    arms, links, types = TWO_ARMS
    starts = [k for k, joint in enumerate(craft.joints) if joint.parent == craft.base]
    entries = [Entry("arms", arms, len(starts))]
    for start, stop in zip(starts, [*starts[1:], len(craft.joints)], strict=True):
        kinds = [joint.kind for joint in craft.joints[start:stop]]
        entries += [Entry("links of an arm", links, len(kinds)), Entry("joint types of an arm", types, len(set(kinds)))]
    return agreement("layout", entries)


def _kept(deleted: tuple[int, ...]) -> Array:
    """E with those rows deleted, counted from one as in the paper."""
    return np.delete(np.eye(8), [row - 1 for row in deleted], axis=0)
